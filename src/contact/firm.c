/* The contact system through W^-1. */
#include "contact/firm.h"

#include "core/vec.h"

#define MOST_LOOSE 0.8 /* of the strong rows: the other LU is often an old one, and P is to be had */

void pl_firm_free(pl_context *ctx, pl_firm *f)
{
    void *arrays[] = {f->swapped, f->motion, f->force, f->work};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_schur_free(ctx, &f->moves);
    *f = (pl_firm){0};
}

pl_status pl_firm_reserve(pl_context *ctx, pl_firm *f, int m)
{
    pl_status status = PL_OK;
    if (m <= f->capacity)
        return PL_OK;
    pl_firm_free(ctx, f);
    PL_NEW(ctx, f->swapped, m, fail);
    PL_NEW(ctx, f->motion, 3 * m, fail);
    PL_NEW(ctx, f->force, 3 * m, fail);
    PL_NEW(ctx, f->work, 3 * m, fail);
    PL_CHECK(pl_schur_reserve(ctx, &f->moves, m), fail);
    f->capacity = m;
    return PL_OK;
fail:
    pl_firm_free(ctx, f);
    return status;
}

bool pl_firm_suits(int m, const double *rho, const pl_law_linear *linear, double give, double weak)
{
    int loose = 0, strong = 0;
    for (int c = 0; c < m; c++)
        for (int r = 0; r < 3; r++) {
            const double *dd = linear[c].d_delta + 3 * r, *dl = linear[c].d_lambda + 3 * r;
            double moved = rho[c] * rho[c] * pl_dot3(dd, dd), pressed = pl_dot3(dl, dl);
            loose += pressed > give * give * moved;
            strong += moved > weak * weak * pressed;
        }
    return loose <= MOST_LOOSE * strong;
}

bool pl_firm_factor(pl_context *ctx, pl_firm *f, int m, const float *p, const pl_law_linear *linear,
                    double give)
{
    for (int c = 0; c < m; c++) {
        memcpy(f->swapped[c].d_delta, linear[c].d_lambda, sizeof linear[c].d_lambda);
        memcpy(f->swapped[c].d_lambda, linear[c].d_delta, sizeof linear[c].d_delta);
    }
    pl_schur_factor(ctx, &f->moves, m, f->swapped, p, give);
    return f->moves.count > 0;
}

/* f->force = P x */
static void multiply(pl_context *ctx, pl_firm *f, pl_symmetric *product, const double *x)
{
    for (int i = 0; i < 3 * f->moves.count; i++)
        f->motion[i] = (float)x[i];
    pl_symmetric_multiply(ctx, product, f->motion, f->force);
}

void pl_firm_solve(pl_context *ctx, pl_firm *f, pl_symmetric *product, bool transposed, const double *x,
                   double *y)
{
    int size = 3 * f->moves.count;
    if (transposed) {
        multiply(ctx, f, product, x);
        for (int i = 0; i < size; i++)
            f->work[i] = f->force[i];
        pl_schur_solve(&f->moves, true, f->work, y);
    } else {
        pl_schur_solve(&f->moves, false, x, f->work);
        multiply(ctx, f, product, f->work);
        for (int i = 0; i < size; i++)
            y[i] = f->force[i];
    }
}
