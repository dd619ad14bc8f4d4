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
    v_svd svd;
    broadcast(F, 3, svd.B);
    v_svd3(1, &svd);
    first_lane(svd.U, 3, 3, U);
    first_lane(svd.V, 3, 3, V);
    for (int i = 0; i < 3; i++)
        sigma[i] = svd.sigma[i][0];
}

void pl_svd32(const double F[6], double U[9], double sigma[2], double V[4])
{
    v_svd svd;
    broadcast(F, 2, svd.B);
    v_svd32(1, &svd);
    first_lane(svd.U, 3, 3, U);
    first_lane(svd.V, 2, 2, V);
    for (int i = 0; i < 2; i++)
        sigma[i] = svd.sigma[i][0];
}
