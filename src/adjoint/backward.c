/*
 * The reverse sweep. From dL/dq, dL/dv and dL/da after a substep to those before it:
 *
 *     adjoint system with g = dL/dq + (1/h) dL/dv,    v = (q - p)/h
 *     dL/dp = -(1/h) dL/dv + explicit dependence,   dL/dw, dL/dq0, dL/dv0 = explicit dependences
 * (pull.c)
 *
 * The states that p and w are made of get their share (sim/integrator.h).
 */
#include "adjoint/sweep.h"

typedef struct backward {
    pl_sweep sweep;
    pl_loss_fn loss;
    void *user;
    pl_gradient *gradient;
    double value;
    double *dq, *dv, *da;    /* [n, 3] after the substep, */
    double *dq0, *dv0, *da0; /* before it, */
    double *dq1, *dv1, *da1; /* and before the one before it, by the substeps done so far */
    double *v;               /* [n, 3] after it */
} backward;

/* Adds the loss term of the state after `step` steps. */
static pl_status add_loss(backward *b, int step, const double *q, const double *v)
{
    pl_context *ctx = b->sweep.rollout->sim->ctx;
    if (!b->loss(b->user, step, q, v, &b->value, b->dq, b->dv))
        return pl_fail(ctx, PL_ERROR_INTERRUPTED, "the loss stopped the sweep at step %d", step);
    for (int i = 0; i < 3 * b->sweep.rollout->sim->scene->vertex_count; i++)
        if (!isfinite(b->dq[i]) || !isfinite(b->dv[i]))
            return pl_fail(ctx, PL_ERROR_NUMERIC,
                           "step %d: the loss's derivative at vertex %d is not finite", step, i / 3);
    return PL_OK;
}

/* A substep back: what was before it is now after it. */
static void shift(double **after, double **before, double **earlier)
{
    double *spare = *after;
    *after = *before, *before = *earlier, *earlier = spare;
}

static pl_status reverse_substep(backward *b, const pl_tape *tape, int k, const pl_state *start)
{
    pl_sweep *s = &b->sweep;
    const pl_tape_entry *e = &tape->entries[k];
    int n3 = 3 * s->rollout->sim->scene->vertex_count;
    PL_TRY(pl_sweep_substep(s, tape, k, start));
    double h = e->h;
    const double *c = e->scheme->c;
    double b0 = h * e->scheme->b[0], b1 = h * e->scheme->b[1];
    if (e->to == 1) {
        for (int i = 0; i < n3; i++)
            b->v[i] = (e->q[i] - s->linear.sub.p[i]) / h;
        PL_TRY(add_loss(b, s->step + 1, e->q, b->v));
    }
    s->da = b->da;
    s->dq1 = b->dq1;
    s->dv1 = b->dv1;
    memset(b->dq1, 0, sizeof(double) * (size_t)n3);
    memset(b->dv1, 0, sizeof(double) * (size_t)n3);
    PL_TRY(pl_pull_solve(s, b->dq, b->dv));
    pl_pull(s, b->gradient, b->dq0, b->dv0);
    for (int i = 0; i < n3; i++) {
        b->dq0[i] += c[0] * s->dp[i];
        b->dv0[i] += c[0] * s->dw[i] + b0 * s->dp[i];
        b->dq1[i] += c[1] * s->dp[i];
        b->dv1[i] += c[1] * s->dw[i] + b1 * s->dp[i];
        b->da0[i] += b0 * s->dw[i];
        b->da1[i] = b1 * s->dw[i];
    }
    shift(&b->dq, &b->dq0, &b->dq1);
    shift(&b->dv, &b->dv0, &b->dv1);
    shift(&b->da, &b->da0, &b->da1);
    return PL_OK;
}

static pl_status reverse_block(void *user, const pl_tape *tape, const pl_state *start)
{
    backward *b = user;
    /* Where a limited tape begins anew, so does the factor: the same gradient, bit for bit. */
    pl_sim_forget(b->sweep.rollout->sim);
    for (int k = tape->count - 1; k >= 0; k--) {
        if ((tape->entries[k].step + 1) % PL_FORGET_EVERY == 0 && tape->entries[k].to == 1)
            pl_sim_forget(b->sweep.rollout->sim);
        PL_TRY(reverse_substep(b, tape, k, start));
    }
    return PL_OK;
}

static pl_status check_gradient(const pl_rollout *r, const pl_gradient *g)
{
    if (g->steps < r->steps)
        return pl_fail(r->sim->ctx, PL_ERROR_ARGUMENT,
                       "gradient: made for %d steps, the rollout has %d", g->steps, r->steps);
    return PL_OK;
}

pl_status pl_rollout_backward(pl_rollout *r, const pl_adjoint_def *def, pl_loss_fn loss,
                              void *loss_user, pl_gradient *gradient, pl_adjoint_info *info)
{
    pl_sim *sim = r->sim;
    pl_status status = PL_OK;
    size_t n3 = 3 * (size_t)sim->scene->vertex_count;
    double began = pl_milliseconds(), recomputing = r->recomputing;
    int recomputed = r->recomputed;
    PL_TRY(check_gradient(r, gradient));
    backward b = {.loss = loss, .user = loss_user, .gradient = gradient};
    PL_TRY(pl_sweep_create(r, def, -1, &b.sweep));
    double **vectors[] = {&b.dq, &b.dv, &b.da, &b.dq0, &b.dv0, &b.da0, &b.dq1, &b.dv1, &b.da1, &b.v};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(sim->ctx, *vectors[k], n3, done);
    PL_CHECK(pl_rollout_reverse(r, reverse_block, &b), done);
    PL_CHECK(add_loss(&b, 0, r->checkpoints[0]->q, r->checkpoints[0]->v), done);
    for (size_t i = 0; i < n3; i++) {
        if (gradient->of[PL_POSITION])
            gradient->of[PL_POSITION][i] += b.dq[i];
        if (gradient->of[PL_VELOCITY])
            gradient->of[PL_VELOCITY][i] += b.dv[i];
    }
    if (info)
        *info = (pl_adjoint_info){
            .loss = b.value,
            .iterations = b.sweep.linear.iterations,
            .max_iterations = b.sweep.linear.max_iterations,
            .factorizations = b.sweep.linear.factorizations,
            .residual = b.sweep.linear.residual,
            .error = b.sweep.linear.error,
            .recomputed = r->recomputed - recomputed,
            .milliseconds = pl_milliseconds() - began - (r->recomputing - recomputing),
        };
done:
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        pl_free(sim->ctx, *vectors[k]);
    pl_sweep_free(&b.sweep);
    return status;
}
