/*
 * Contacts between bodies: how their geometry depends on where they were set up. With U = sum beta_k
 * u_k at the displacement u, F the force in the world and a_t its friction rows' cotangent there, q
 * fixed,
 *
 *     d delta_n = dn . U + sum_k d beta_k n . u_k - d offset
 *     d delta_f = -(T^T dn)(n . U) + T^T (sum_k d beta_k u_k - sum_k beta_k dq0_k)
 *     d F_k     = d beta_k F + beta_k (lambda_n dn - (lambda_f . dn) n)
 */
#include "contact/meet.h"
#include "core/vec.h"
#include "rows/rows.h"
#include "sim/solver.h"

/* The friction part of a vector in the frame, in the world. */
static void tangent_of(const pl_contact_point *p, const double in_frame[3], double out[3])
{
    double only[3] = {0, in_frame[1], in_frame[2]};
    pl_mat3_tvec(p->frame, only, out);
}

static double *friction(const pl_meet_rules *rules, const pl_contact_point *p, const pl_gradient *g)
{
    return g->of[PL_BODY_FRICTION] + pl_meet_pair(rules, &p->meeting);
}

static void vjp(const pl_slope *s, const pl_contact_point *p, const double a[3], double by_mu,
                const double *z, pl_gradient *g, double *dq0)
{
    const pl_substep *sub = s->at;
    pl_meet_rules rules = pl_substep_meet_rules(sub);
    pl_meeting_place place = pl_meet_place(&rules, &p->meeting, sub->q0);
    const double *n = p->frame;
    double h2 = sub->h * sub->h, moved[3] = {0}, pushed[3] = {0}, at[3], held[3], force[3], pull[3],
           by_normal[3], by_weight[4] = {0};
    if (g->of[PL_BODY_FRICTION])
        *friction(&rules, p, g) += by_mu;
    tangent_of(p, a, at);
    tangent_of(p, p->lambda, held);
    pl_mat3_tvec(p->frame, p->lambda, force);
    pl_mat3_tvec(p->frame, a, pull);
    for (int k = 0; k < place.count; k++) {
        size_t v = 3 * (size_t)p->meeting.vertex[k];
        pl_axpy3(place.weight[k], s->u + v, moved);
        pl_axpy3(h2 * place.weight[k], z + v, pushed);
        by_weight[k] = pl_dot3(pull, s->u + v) + h2 * pl_dot3(force, z + v);
        pl_axpy3(-place.weight[k], at, dq0 + v);
    }
    for (int k = 0; k < 3; k++)
        by_normal[k] = a[0] * moved[k] - pl_dot3(n, moved) * at[k] + p->lambda[0] * pushed[k] -
                       pl_dot3(n, pushed) * held[k];
    pl_meeting_vjp(&p->meeting, &place, sub->q0, by_normal, by_weight, -a[0], dq0);
}

static void jvp(const pl_slope *s, const pl_contact_point *p, const pl_gradient *d, const double *dq0,
                double d_delta[3], double *d_mu, double *rhs)
{
    const pl_substep *sub = s->at;
    pl_meet_rules rules = pl_substep_meet_rules(sub);
    pl_meeting_place place = pl_meet_place(&rules, &p->meeting, sub->q0);
    const double *n = p->frame;
    double h2 = sub->h * sub->h, dn[3], dw[4], d_offset, moved[3] = {0}, slid[3] = {0}, held[3],
           force[3], turn[3];
    pl_meeting_jvp(&p->meeting, &place, sub->q0, dq0, dn, dw, &d_offset);
    tangent_of(p, p->lambda, held);
    pl_mat3_tvec(p->frame, p->lambda, force);
    for (int k = 0; k < 3; k++)
        turn[k] = p->lambda[0] * dn[k] - pl_dot3(held, dn) * n[k];
    for (int k = 0; k < place.count; k++) {
        size_t v = 3 * (size_t)p->meeting.vertex[k];
        pl_axpy3(place.weight[k], s->u + v, moved);
        pl_axpy3(dw[k], s->u + v, slid);
        pl_axpy3(h2 * dw[k], force, rhs + v);
        pl_axpy3(h2 * place.weight[k], turn, rhs + v);
    }
    d_delta[0] = pl_dot3(dn, moved) + pl_dot3(n, slid) - d_offset;
    for (int k = 0; k < place.count; k++)
        pl_axpy3(-place.weight[k], dq0 + 3 * (size_t)p->meeting.vertex[k], slid);
    for (int r = 1; r < 3; r++)
        d_delta[r] =
            pl_dot3(p->frame + 3 * r, slid) - pl_dot3(p->frame + 3 * r, dn) * pl_dot3(n, moved);
    *d_mu = d->of[PL_BODY_FRICTION] ? *friction(&rules, p, d) : 0;
}

const pl_rows pl_rows_meet = {.name = "contact between bodies", .vjp = vjp, .jvp = jvp};
