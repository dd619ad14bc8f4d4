/*
 * Where the motion will be, foretold from accelerations.
 *
 * With a_1, a_2, ... the last substeps' accelerations, newest first, try q = p + h w + h^2 sum_j c_j
 * a_j. How elastic and contact forces answer to motions in the span of the a_j is known as far as it is
 * linear: each substep was in balance, so that forces changed by M times what the acceleration changed
 * by. That leaves of the balance of forces at q
 *
 *     r/h^2 = M (sum_j c_j b_{j+1} - b_1),    b_j = 2 a_j - a_{j+1},
 *
 * and c is what makes r^T M^-1 r least. Extrapolation by a polynomial is a choice of c too (a_1, or
 * 2 a_1 - a_2); but motion that oscillates and settles in a few modes is met to many digits.
 */
#ifndef PL_FORECAST_H
#define PL_FORECAST_H

#include "core/core.h"

#define PL_FORECAST_TERMS 5
#define PL_FORECAST_KEPT  (PL_FORECAST_TERMS + 2)

typedef struct pl_forecast {
    int n;             /* vertices */
    int count, newest; /* accelerations kept, and where the last one is */
    double *past;      /* [KEPT, n, 3] m/s^2 */
    double *work;      /* [n, 3] */
    double product[PL_FORECAST_TERMS + 1][PL_FORECAST_TERMS + 1]; /* b_i^T M b_j, newest first */
} pl_forecast;

pl_status pl_forecast_create(pl_context *ctx, int n, pl_forecast *out);
void pl_forecast_free(pl_context *ctx, pl_forecast *f);
/* Forgets the past. */
void pl_forecast_reset(pl_forecast *f);
/* The j-th acceleration, [n, 3], from 0 = newest on. */
const double *pl_forecast_past(const pl_forecast *f, int j);
/* Takes in an acceleration [n, 3] of vertices of these masses [n]. */
void pl_forecast_add(const pl_context *ctx, pl_forecast *f, const double *mass,
                     const double *acceleration);
/* c, how many of it there are (at first none), and r^T M^-1 r/h^4 as it should be then. */
int pl_forecast_fit(const pl_forecast *f, double c[PL_FORECAST_TERMS], double *left);

#endif
