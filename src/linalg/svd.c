/* One matrix through the vector kernel: all lanes compute the same. */
#include "linalg/svd.h"
#include "linalg/svd_simd.h"

static void broadcast(const double *F, int columns, vd out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < columns; j++)
            out[i][j] = v_set(F[columns * i + j]);
}

static void first_lane(vd in[3][3], int rows, int columns, double *out)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[columns * i + j] = in[i][j][0];
}

void pl_svd3(const double F[9], double U[9], double sigma[3], double V[9])
{
    vd f[3][3], u[3][3], s[3], v[3][3];
    broadcast(F, 3, f);
    v_svd3(f, u, s, v);
    first_lane(u, 3, 3, U);
    first_lane(v, 3, 3, V);
    for (int i = 0; i < 3; i++)
        sigma[i] = s[i][0];
}

void pl_svd32(const double F[6], double U[9], double sigma[2], double V[4])
{
    vd f[3][3], u[3][3], s[3], v[3][3];
    broadcast(F, 2, f);
    v_svd32(f, u, s, v);
    first_lane(u, 3, 3, U);
    first_lane(v, 2, 2, V);
    for (int i = 0; i < 2; i++)
        sigma[i] = s[i][0];
}
