/* The tangent system's right-hand side: -dR/dp along a direction, the mirror image of pull.c. */
#include "adjoint/sweep.h"

#include "core/vec.h"
#include "rows/rows.h"

static void push_rows(pl_linear *l, const pl_slope *slope, const pl_gradient *d, const double *dq0)
{
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        double *row = l->rhs + 3 * (size_t)l->n + 3 * (size_t)c, d_delta[3] = {0}, d_mu = 0, pushed[3];
        pl_rows_of(p)->jvp(slope, p, d, dq0, d_delta, &d_mu, l->rhs);
        pl_mat3_vec(l->laws[c].d_delta, d_delta, pushed);
        for (int k = 0; k < 3; k++)
            row[k] = -pushed[k] - l->d_mu[3 * c + k] * d_mu;
    }
}

void pl_push(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    pl_terms_jvp(&slope, d, dq0, dv0, s->mass_work, l->rhs);
    push_rows(l, &slope, d, dq0);
}
