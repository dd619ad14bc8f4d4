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
    double *dp, *dw;        /* [n, 3] derivatives by these, or along a direction */
    double *dq1;            /* [n, 3] the same of positions before the substep's start: the caller's */
    int step;               /* the time step, from 0 in this rollout */
    int direction;          /* of the walk along the tape: -1 or 1 */
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
                      .p = s->dp,
                      .w = s->dw};
}

/* gradient, dq0 [n, 3], dv0 [n, 3], s->dp, s->dw and s->dq1 += what the solved adjoint (z, w) says of
 * each explicit dependence of the substep. */
void pl_pull(pl_sweep *s, pl_gradient *gradient, double *dq0, double *dv0);

/* The right-hand side (l->rhs) of the tangent system along `direction`, (dq0, dv0), (s->dp, s->dw) and
 * s->dq1.
 */
void pl_push(pl_sweep *s, const pl_gradient *direction, const double *dq0, const double *dv0);

#endif
