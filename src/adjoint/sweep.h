/*
 * What backward and tangent sweeps share: the drives around a substep, and how the step's explicit
 * dependences (on the state before it, inputs, parameters) enter.
 */
#ifndef PL_SWEEP_H
#define PL_SWEEP_H

#include "adjoint/linear.h"
#include "terms/term.h"

typedef struct pl_sweep {
    pl_rollout *rollout;
    pl_linear linear;
    pl_drive before, after; /* at the start and the end of the time step */
    pl_drive part;          /* at the end of the substep */
    double *pose_start;     /* [collider_count, 7] at the start of the substep */
    double *mass_work;      /* [n, 2] per vertex: of mass and of damping */
    double *v0, *v1;        /* [n, 3] velocities before the substep, and before the one before it */
    double *p, *w;          /* [n, 3] of the substep (sim/integrator.h) */
    const double *a;        /* [n, 3] at its end, where accelerations are kept, else NULL */
    double *dp, *dw;        /* [n, 3] derivatives by these, or along a direction */
    double *dq1, *dv1;      /* [n, 3] the same of the state before the substep's start: the caller's */
    double *da;             /* [n, 3] the same of a, NULL with a */
    double *z;     /* [n, 3] what contacts' forces are pulled by, or their change by the rows' own */
    int step;      /* the time step, from 0 in this rollout */
    int direction; /* of the walk along the tape: -1 or 1 */
} pl_sweep;

/* direction: -1 from the tape's end to its beginning, 1 from its beginning on. */
pl_status pl_sweep_create(pl_rollout *rollout, const pl_adjoint_def *def, int direction, pl_sweep *out);
void pl_sweep_free(pl_sweep *s);

/* Sets up the linearised substep `k` of a tape whose first step starts from `start`. */
pl_status pl_sweep_substep(pl_sweep *s, const pl_tape *tape, int k, const pl_state *start);

/* The substep as terms see it. */
static inline pl_slope pl_sweep_slope(const pl_sweep *s)
{
    const pl_linear *l = &s->linear;
    return (pl_slope){.at = &l->sub,
                      .q = l->q,
                      .u = l->u,
                      .row = s->step,
                      .before = &s->before,
                      .after = &s->after,
                      .q1 = s->dq1,
                      .v1 = s->dv1,
                      .p = s->dp,
                      .w = s->dw,
                      .a = s->a};
}

/*
 * Accelerations that are kept, a = (v - w)/h - y, have y = M^-1 H^T lambda of the contacts in them.
 *
 * The adjoint system with its right-hand side (l->rhs) for derivatives dq, dv, s->da [n, 3] by what the
 * substep leads to, solved; s->dp and s->dw = what these say of p and w directly.
 */
pl_status pl_pull_solve(pl_sweep *s, const double *dq, const double *dv);
/* gradient, dq0 [n, 3], dv0 [n, 3], s->dp, s->dw, s->dq1 and s->dv1 += what the solved adjoint (z, w)
 * says of each explicit dependence of the substep. */
void pl_pull(pl_sweep *s, pl_gradient *gradient, double *dq0, double *dv0);

/* The right-hand side (l->rhs) of the tangent system along `direction`, (dq0, dv0), (s->dp, s->dw),
 * s->dq1 and s->dv1. */
void pl_push(pl_sweep *s, const pl_gradient *direction, const double *dq0, const double *dv0);
/* dq, dv, s->da [n, 3] = where the solved tangent leads. */
void pl_push_on(pl_sweep *s, double *dq, double *dv);

#endif
