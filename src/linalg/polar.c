/*
 * Newton's iteration for the polar part, X <- (g X + (g X)^-T)/2, with g such that both summands are of
 * the same length (Higham), from X = F + cof F/|F|: cof F = U diag(s2 s3, s3 s1, s1 s2) V^T has the
 * singular vectors of F = U diag(s) V^T, so the rotation is the same, and where F is flat (s3 = 0, as
 * in a sheet) or turned inside out a little, X is neither. Four to six iterations.
 */
#include "linalg/polar.h"

#include "core/vec.h"
#include "linalg/svd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MOST_ITERATIONS 12
#define FAR             0.1  /* a change from which on g matters */
#define CLOSE           1e-5 /* a change as small as this leaves an error of its square */
#define SINGULAR        1e-6 /* det X over |F|^3 from which on singular values are asked */

static double length_of(const double a[9])
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += a[k] * a[k];
    return sqrt(sum);
}

/* The cofactors of a, which are det a times a^-T. */
static void cofactors(const double a[9], double out[9])
{
    pl_cross3(a + 3, a + 6, out);
    pl_cross3(a + 6, a, out + 3);
    pl_cross3(a, a + 3, out + 6);
}

static void by_singular_values(const double F[9], double R[9])
{
    double u[9], sigma[3], v[9];
    pl_svd3(F, u, sigma, v);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            R[3 * a + b] = pl_dot3(u + 3 * a, v + 3 * b);
}

void pl_polar3(const double F[9], double R[9])
{
    double x[9], c[9], size = length_of(F), change = INFINITY;
    cofactors(F, c);
    for (int i = 0; i < 9; i++)
        x[i] = F[i] + c[i] / size;
    cofactors(x, c);
    bool regular = pl_dot3(x, c) > SINGULAR * size * size * size;
    for (int k = 0; regular && k < MOST_ITERATIONS && change > CLOSE; k++) {
        double det = pl_dot3(x, c), g = change > FAR ? sqrt(length_of(c) / (det * length_of(x))) : 1;
        double of_x = 0.5 * g, of_inverse = 0.5 / (g * det), most = 0;
        for (int i = 0; i < 9; i++) {
            double next = of_x * x[i] + of_inverse * c[i];
            most = fmax(most, fabs(next - x[i]));
            x[i] = next;
        }
        change = most;
        cofactors(x, c);
    }
    if (change > CLOSE)
        by_singular_values(F, R);
    else
        memcpy(R, x, sizeof x);
}
