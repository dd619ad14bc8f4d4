/*
 * From a solved adjoint to gradients: dL/dp = -psi . dR/dp for everything p the substep's residual
 * (sim/substep.h) and laws depend on explicitly: terms and rows by themselves.
 *
 * A derivative x by the acceleration a = (q - p - h w)/h^2 - M^-1 H^T lambda that is kept adds x/h^2 to
 * those by q, -x/h^2 and -x/h to those by p and w, -H M^-1 x to those by lambda, and to those by rows
 * and masses what the force's own are, -M^-1 x.
 */
#include "adjoint/sweep.h"

#include "core/vec.h"
#include "rows/rows.h"

/* s->z = M^-1 x/h^2, and what follows from that for lambda and for rows that follow q. */
static void pull_sudden(pl_sweep *s)
{
    pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    double h2 = l->sub.h * l->sub.h;
    for (int i = 0; i < 3 * l->n; i++)
        s->z[i] = s->da[i] / (h2 * l->sub.matter->mass[i / 3]);
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        double *row = l->rhs + 3 * (size_t)(l->n + c);
        if (!pl_rows_sudden(p))
            continue;
        pl_contact_gather(&l->contacts, c, s->z, row);
        for (int k = 0; k < 3; k++)
            row[k] *= -h2;
        if (pl_rows_of(p)->bend)
            pl_rows_of(p)->bend(&slope, p, s->z, -h2, true, l->rhs);
    }
}

pl_status pl_pull_solve(pl_sweep *s, const double *dq, const double *dv)
{
    pl_linear *l = &s->linear;
    int n3 = 3 * l->n;
    double h = l->sub.h;
    memset(l->rhs + n3, 0, sizeof(double) * 3 * (size_t)l->contacts.count);
    for (int i = 0; i < n3; i++) {
        double by_v = s->a ? dv[i] + s->da[i] / h : dv[i];
        l->rhs[i] = dq[i] + by_v / h;
        s->dp[i] = -by_v / h;
        s->dw[i] = s->a ? -s->da[i] / h : 0;
    }
    if (s->a)
        pull_sudden(s);
    return pl_linear_solve(l, true);
}

static void pull_rows(const pl_sweep *s, const pl_slope *slope, pl_gradient *g, double *dq0)
{
    const pl_linear *l = &s->linear;
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        const double *w = l->solution + 3 * (size_t)l->n + 3 * (size_t)c;
        const double *z = s->a && pl_rows_sudden(p) ? s->z : l->solution;
        double a[3];
        pl_linear_pull(l, c, a);
        for (int k = 0; k < 3; k++)
            a[k] = -a[k];
        pl_rows_of(p)->vjp(slope, p, a, -pl_dot3(w, l->d_mu + 3 * c), z, g, dq0);
    }
}

void pl_pull(pl_sweep *s, pl_gradient *g, double *dq0, double *dv0)
{
    const pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    slope.z = s->a ? s->z : NULL;
    pl_terms_vjp(&slope, l->solution, s->mass_work, g, dq0, dv0);
    for (int i = 0; s->a && i < 3 * l->n; i++)
        s->z[i] = l->solution[i] - s->z[i];
    pull_rows(s, &slope, g, dq0);
}
