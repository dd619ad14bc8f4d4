/*
 * From a solved adjoint to gradients: dL/dp = -psi . dR/dp for everything p the substep's residual
 * (sim/substep.h) and laws depend on explicitly: terms and rows by themselves.
 */
#include "adjoint/sweep.h"

#include "core/vec.h"
#include "rows/rows.h"

static void pull_rows(const pl_linear *l, const pl_slope *slope, pl_gradient *g, double *dq0)
{
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        const double *w = l->solution + 3 * (size_t)l->n + 3 * (size_t)c;
        double a[3];
        pl_linear_pull(l, c, a);
        for (int k = 0; k < 3; k++)
            a[k] = -a[k];
        pl_rows_of(p)->vjp(slope, p, a, -pl_dot3(w, l->d_mu + 3 * c), l->solution, g, dq0);
    }
}

void pl_pull(pl_sweep *s, pl_gradient *g, double *dq0, double *dv0)
{
    const pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    pl_terms_vjp(&slope, l->solution, s->mass_work, g, dq0, dv0);
    pull_rows(l, &slope, g, dq0);
}
