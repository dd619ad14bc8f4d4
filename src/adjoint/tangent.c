/* The forward sweep: the trajectory's derivative along a direction, with the untransposed systems. */
#include "adjoint/sweep.h"

typedef struct forward {
    pl_sweep sweep;
    const pl_gradient *direction;
    pl_tangent_fn visit;
    void *user;
    double *dq, *dv, *da;    /* [n, 3] where the substep begins, and where it ends, */
    double *dq1, *dv1, *da1; /* where the one before it began */
    double *v;
} forward;

static pl_status visit_state(forward *f, int step, const double *q, const double *v)
{
    if (!f->visit(f->user, step, q, v, f->dq, f->dv))
        return pl_fail(f->sweep.rollout->sim->ctx, PL_ERROR_INTERRUPTED, "stopped at step %d", step);
    return PL_OK;
}

static void swap(double **a, double **b)
{
    double *spare = *a;
    *a = *b, *b = spare;
}

static pl_status forward_block(void *user, const pl_tape *tape, const pl_state *start)
{
    forward *f = user;
    pl_sweep *s = &f->sweep;
    int n3 = 3 * s->rollout->sim->scene->vertex_count;
    pl_sim_forget(s->rollout->sim); /* as where a limited tape begins anew */
    for (int k = 0; k < tape->count; k++) {
        const pl_tape_entry *e = &tape->entries[k];
        if (e->step % PL_FORGET_EVERY == 0 && e->from == 0)
            pl_sim_forget(s->rollout->sim);
        const double *dq[] = {f->dq, f->dq1}, *dv[] = {f->dv, f->dv1}, *da[] = {f->da, f->da1};
        PL_TRY(pl_sweep_substep(s, tape, k, start));
        pl_scheme_combine(e->scheme, e->h, n3, dq, dv, s->dp);
        pl_scheme_combine(e->scheme, e->h, n3, dv, da, s->dw);
        s->dq1 = f->dq1;
        s->dv1 = f->dv1;
        pl_push(s, f->direction, f->dq, f->dv);
        PL_TRY(pl_linear_solve(&s->linear, false));
        swap(&f->dq, &f->dq1);
        swap(&f->dv, &f->dv1);
        swap(&f->da, &f->da1);
        s->da = f->da;
        pl_push_on(s, f->dq, f->dv);
        for (int i = 0; i < n3; i++)
            f->v[i] = (e->q[i] - s->linear.sub.p[i]) / e->h;
        if (e->to == 1)
            PL_TRY(visit_state(f, s->step + 1, e->q, f->v));
    }
    return PL_OK;
}

pl_status pl_rollout_tangent(pl_rollout *r, const pl_adjoint_def *def, const pl_gradient *direction,
                             pl_tangent_fn visit, void *user, pl_adjoint_info *info)
{
    pl_sim *sim = r->sim;
    pl_status status = PL_OK;
    size_t n3 = 3 * (size_t)sim->scene->vertex_count;
    double began = pl_milliseconds(), recomputing = r->recomputing;
    int recomputed = r->recomputed;
    if (direction->steps < r->steps)
        return pl_fail(sim->ctx, PL_ERROR_ARGUMENT, "direction: made for %d steps, the rollout has %d",
                       direction->steps, r->steps);
    forward f = {.direction = direction, .visit = visit, .user = user};
    PL_TRY(pl_sweep_create(r, def, 1, &f.sweep));
    double **vectors[] = {&f.dq, &f.dv, &f.da, &f.dq1, &f.dv1, &f.da1, &f.v};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(sim->ctx, *vectors[k], n3, done);
    if (direction->of[PL_POSITION])
        memcpy(f.dq, direction->of[PL_POSITION], sizeof(double) * n3);
    if (direction->of[PL_VELOCITY])
        memcpy(f.dv, direction->of[PL_VELOCITY], sizeof(double) * n3);
    PL_CHECK(visit_state(&f, 0, r->checkpoints[0]->q, r->checkpoints[0]->v), done);
    PL_CHECK(pl_rollout_forward(r, forward_block, &f), done);
    if (info)
        *info = (pl_adjoint_info){
            .iterations = f.sweep.linear.iterations,
            .max_iterations = f.sweep.linear.max_iterations,
            .factorizations = f.sweep.linear.factorizations,
            .residual = f.sweep.linear.residual,
            .error = f.sweep.linear.error,
            .recomputed = r->recomputed - recomputed,
            .milliseconds = pl_milliseconds() - began - (r->recomputing - recomputing),
        };
done:
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        pl_free(sim->ctx, *vectors[k]);
    pl_sweep_free(&f.sweep);
    return status;
}
