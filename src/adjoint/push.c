/* The tangent system's right-hand side: -dR/dp along a direction, the mirror image of pull.c. */
#include "adjoint/sweep.h"

#include "core/vec.h"
#include "rows/rows.h"

static void push_rows(pl_sweep *s, const pl_slope *slope, const pl_gradient *d, const double *dq0)
{
    pl_linear *l = &s->linear;
    memset(s->z, 0, sizeof(double) * 3 * (size_t)l->n);
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        double *row = l->rhs + 3 * (size_t)l->n + 3 * (size_t)c, d_delta[3] = {0}, d_mu = 0, pushed[3];
        double *force = s->a && pl_rows_sudden(p) ? s->z : l->rhs;
        pl_rows_of(p)->jvp(slope, p, d, dq0, d_delta, &d_mu, force);
        pl_mat3_vec(l->laws[c].d_delta, d_delta, pushed);
        for (int k = 0; k < 3; k++)
            row[k] = -pushed[k] - l->d_mu[3 * c + k] * d_mu;
    }
    for (int i = 0; s->a && i < 3 * l->n; i++)
        l->rhs[i] += s->z[i];
}

void pl_push(pl_sweep *s, const pl_gradient *d, const double *dq0, const double *dv0)
{
    pl_linear *l = &s->linear;
    pl_slope slope = pl_sweep_slope(s);
    pl_terms_jvp(&slope, d, dq0, dv0, s->mass_work, l->rhs);
    push_rows(s, &slope, d, dq0);
}

/* Of a = (v - w)/h - M^-1 H^T lambda; s->z is h^2 dH^T lambda, s->mass_work dM. */
static void push_acceleration(pl_sweep *s, const double *dv)
{
    const pl_linear *l = &s->linear;
    const pl_substep *sub = &l->sub;
    pl_slope slope = pl_sweep_slope(s);
    double h = sub->h;
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        if (!pl_rows_sudden(p))
            continue;
        pl_contact_scatter(&l->contacts, c, h * h, l->solution + 3 * (size_t)(l->n + c), s->z);
        if (pl_rows_of(p)->bend)
            pl_rows_of(p)->bend(&slope, p, l->solution, h * h, false, s->z);
    }
    for (int i = 0; i < 3 * l->n; i++) {
        double contact = (l->q[i] - sub->p[i] - h * sub->w[i]) / (h * h) - s->a[i];
        double push = s->z[i] / (h * h) - s->mass_work[i / 3] * contact;
        s->da[i] = (dv[i] - s->dw[i]) / h - push / sub->matter->mass[i / 3];
    }
}

void pl_push_on(pl_sweep *s, double *dq, double *dv)
{
    for (int i = 0; i < 3 * s->linear.n; i++) {
        dq[i] = s->linear.solution[i];
        dv[i] = (dq[i] - s->dp[i]) / s->linear.sub.h;
    }
    if (s->a)
        push_acceleration(s, dv);
}
