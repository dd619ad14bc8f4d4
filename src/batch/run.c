/* Rollouts and reverse sweeps of all environments. */
#include "batch/batch.h"

pl_batch_run_def pl_batch_run_def_default(void)
{
    return (pl_batch_run_def){.steps = 100};
}

/* ------------------------------------------------------------------------------- forward */

static pl_status check_run(const pl_batch *b, const pl_batch_run_def *d)
{
    if (d->steps < 1)
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "steps = %d: expected >= 1", d->steps);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        const pl_channel_info *info = pl_channel_get((pl_channel)c);
        int given = d->inputs_for[c];
        if (!d->inputs.of[c])
            continue;
        if (info->role != PL_INPUT)
            return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "inputs.%s: not an input", info->name);
        if (given != 0 && given != 1 && given != b->environment_count)
            return pl_fail(b->ctx, PL_ERROR_ARGUMENT,
                           "inputs.%s: values for %d environments, expected 1 or the batch's %d",
                           info->name, given, b->environment_count);
    }
    return PL_OK;
}

typedef struct forward {
    pl_batch *batch;
    const pl_batch_run_def *def;
    pl_rollout **tapes; /* [environments]; NULL = none are kept */
    size_t budget;      /* of one environment */
} forward;

/* A memory budget's part when so many tapes are there at the same time. */
static size_t budget_of(const pl_batch_run_def *def, int tapes)
{
    size_t count = (size_t)tapes, budget = def->memory_budget;
    return budget == 0 ? 0 : budget > count ? budget / count : 1;
}

/* One environment's part of it. */
typedef struct course {
    const forward *of;
    int environment;
} course;

static void keep(const forward *f, int environment, int step, const pl_state *state)
{
    size_t size = 3 * (size_t)state->vertex_count;
    size_t at = ((size_t)environment * (size_t)(f->def->steps + 1) + (size_t)step) * size;
    if (f->def->q)
        memcpy(f->def->q + at, state->q, sizeof(double) * size);
    if (f->def->v)
        memcpy(f->def->v + at, state->v, sizeof(double) * size);
}

static bool after_step(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    const course *c = user;
    const forward *f = c->of;
    int e = c->environment;
    keep(f, e, step, state);
    if (f->def->info)
        f->def->info[(size_t)e * (size_t)f->def->steps + (size_t)(step - 1)] = *info;
    if (f->def->progress && !f->def->progress(f->def->progress_user, e, step, state, info))
        return false;
    return !atomic_load(&f->batch->interrupted);
}

/* The environment's part of the inputs. */
static pl_inputs inputs_of(const forward *f, int environment)
{
    pl_inputs own = f->def->inputs;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (own.of[c] && f->def->inputs_for[c] != 1)
            own.of[c] += (size_t)environment *
                         pl_channel_size(f->batch->scene, (pl_channel)c, f->def->steps) *
                         (size_t)pl_channel_get((pl_channel)c)->width;
    return own;
}

static pl_status run_one(const forward *f, pl_worker *w, int environment, bool tape, pl_rollout **out)
{
    pl_environment *env = &f->batch->environments[environment];
    course here = {f, environment};
    pl_rollout_def def = {.steps = f->def->steps,
                          .inputs = inputs_of(f, environment),
                          .tape = tape,
                          .memory_budget = f->budget,
                          .progress = after_step,
                          .progress_user = &here};
    keep(f, environment, 0, env->state);
    return pl_rollout_run_by(w->sim, env->params->values, env->state, &def, out);
}

static pl_status advance(void *user, pl_worker *w, int environment)
{
    const forward *f = user;
    pl_rollout *passing = NULL;
    pl_status status =
        run_one(f, w, environment, f->tapes != NULL, f->tapes ? &f->tapes[environment] : &passing);
    pl_rollout_destroy(passing);
    return status;
}

pl_status pl_batch_run(pl_batch *b, const pl_batch_run_def *def, pl_rollouts **out)
{
    pl_status status = PL_OK;
    forward f = {.batch = b, .def = def, .budget = budget_of(def, b->environment_count)};
    pl_rollouts *r = NULL;
    if (out)
        *out = NULL;
    PL_TRY(check_run(b, def));
    if (out) {
        PL_NEW(b->ctx, r, 1, done);
        *r = (pl_rollouts){.batch = b, .steps = def->steps};
        PL_NEW(b->ctx, r->of, b->environment_count, done);
        f.tapes = r->of;
        *out = r;
        r = NULL;
    }
    status = pl_pool_work(b, advance, &f);
done:
    pl_rollouts_destroy(r);
    return status;
}

void pl_rollouts_destroy(pl_rollouts *r)
{
    if (!r)
        return;
    for (int e = 0; r->of && e < r->batch->environment_count; e++)
        pl_rollout_destroy(r->of[e]);
    pl_free(r->batch->ctx, r->of);
    pl_free(r->batch->ctx, r);
}

size_t pl_rollouts_bytes(const pl_rollouts *r)
{
    size_t sum = 0;
    for (int e = 0; e < r->batch->environment_count; e++)
        if (r->of[e])
            sum += pl_rollout_bytes(r->of[e]);
    return sum;
}

static pl_status check_tape(pl_context *ctx, const pl_rollout *rollout)
{
    return rollout ? PL_OK : pl_fail(ctx, PL_ERROR_ARGUMENT, "it failed in the run, there is no tape");
}

pl_status pl_rollouts_contacts(pl_rollouts *r, int environment, int step, int *count,
                               pl_contact **contacts)
{
    pl_batch *b = r->batch;
    pl_worker *w = &b->workers[0];
    if (environment < 0 || environment >= b->environment_count)
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "environment = %d: the batch has %d", environment,
                       b->environment_count);
    pl_rollout *rollout = r->of[environment];
    pl_status status = check_tape(&w->ctx, rollout);
    if (status == PL_OK) {
        rollout->sim = w->sim;
        status = pl_rollout_contacts(rollout, step, count, contacts);
    }
    if (status != PL_OK)
        pl_fail(b->ctx, status, "environment %d: %s", environment, w->ctx.error);
    return status;
}

/* ------------------------------------------------------------------------------- backward */

pl_status pl_batch_gradient_create(const pl_batch *b, int steps, pl_channels wanted, pl_gradient **out)
{
    pl_status status = PL_OK;
    pl_gradient *g;
    PL_TRY(pl_gradient_create(b->scene, steps, 0, &g));
    g->wanted = wanted;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (wanted & PL_BIT(c))
            PL_NEW(b->ctx, g->of[c],
                   (size_t)b->environment_count * pl_gradient_size(b->scene, (pl_channel)c, steps),
                   done);
    *out = g;
    g = NULL;
done:
    pl_gradient_destroy(b->scene, g);
    return status;
}

typedef struct reverse {
    pl_batch *batch;
    pl_rollout **tapes; /* [environments] */
    const pl_adjoint_def *def;
    pl_batch_loss_fn loss;
    void *user;
    pl_gradient *gradient;
    pl_adjoint_info *info;
} reverse;

typedef struct descent {
    const reverse *of;
    int environment;
} descent;

static bool loss_of(void *user, int step, const double *q, const double *v, double *value, double *dq,
                    double *dv)
{
    const descent *d = user;
    return !atomic_load(&d->of->batch->interrupted) &&
           d->of->loss(d->of->user, d->environment, step, q, v, value, dq, dv);
}

/* The environment's part of a gradient of all. */
static pl_gradient gradient_of(const pl_batch *b, const pl_gradient *all, int environment)
{
    pl_gradient own = *all;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (own.of[c])
            own.of[c] += (size_t)environment * pl_gradient_size(b->scene, (pl_channel)c, own.steps);
    return own;
}

static pl_status sweep_one(const reverse *r, pl_worker *w, int environment, pl_rollout *rollout)
{
    descent here = {r, environment};
    pl_gradient own = gradient_of(r->batch, r->gradient, environment);
    rollout->sim = w->sim; /* whichever took it forward, any takes it back */
    return pl_rollout_backward(rollout, r->def, loss_of, &here, &own,
                               r->info ? &r->info[environment] : NULL);
}

static pl_status sweep(void *user, pl_worker *w, int environment)
{
    const reverse *r = user;
    PL_TRY(check_tape(&w->ctx, r->tapes[environment]));
    return sweep_one(r, w, environment, r->tapes[environment]);
}

static pl_status check_gradient(const pl_batch *b, const pl_gradient *gradient, int steps)
{
    if (gradient->steps != steps)
        return pl_fail(b->ctx, PL_ERROR_ARGUMENT, "gradient: made for %d steps, the run has %d",
                       gradient->steps, steps);
    return PL_OK;
}

pl_status pl_rollouts_backward(pl_rollouts *rollouts, const pl_adjoint_def *def, pl_batch_loss_fn loss,
                               void *loss_user, pl_gradient *gradient, pl_adjoint_info *info)
{
    pl_batch *b = rollouts->batch;
    reverse r = {b, rollouts->of, def, loss, loss_user, gradient, info};
    PL_TRY(check_gradient(b, gradient, rollouts->steps));
    return pl_pool_work(b, sweep, &r);
}

typedef struct both {
    forward forward;
    reverse reverse;
} both;

static pl_status advance_and_sweep(void *user, pl_worker *w, int environment)
{
    both *of = user;
    pl_rollout *rollout;
    PL_TRY(run_one(&of->forward, w, environment, true, &rollout));
    pl_status status = sweep_one(&of->reverse, w, environment, rollout);
    pl_rollout_destroy(rollout);
    return status;
}

pl_status pl_batch_evaluate(pl_batch *b, const pl_batch_run_def *run, const pl_adjoint_def *def,
                            pl_batch_loss_fn loss, void *loss_user, pl_gradient *gradient,
                            pl_adjoint_info *info)
{
    both of = {{.batch = b, .def = run, .budget = budget_of(run, b->worker_count)},
               {b, NULL, def, loss, loss_user, gradient, info}};
    PL_TRY(check_run(b, run));
    PL_TRY(check_gradient(b, gradient, run->steps));
    return pl_pool_work(b, advance_and_sweep, &of);
}

typedef struct known {
    size_t size; /* numbers of a state */
    int steps;
    const double *dq, *dv;
} known;

static bool known_loss(void *user, int environment, int step, const double *q, const double *v,
                       double *value, double *dq, double *dv)
{
    const known *k = user;
    size_t at = ((size_t)environment * (size_t)(k->steps + 1) + (size_t)step) * k->size;
    (void)q, (void)v, (void)value;
    for (size_t i = 0; k->dq && i < k->size; i++)
        dq[i] += k->dq[at + i];
    for (size_t i = 0; k->dv && i < k->size; i++)
        dv[i] += k->dv[at + i];
    return true;
}

pl_status pl_rollouts_pull(pl_rollouts *rollouts, const pl_adjoint_def *def, const double *dq,
                           const double *dv, pl_gradient *gradient, pl_adjoint_info *info)
{
    known k = {3 * (size_t)rollouts->batch->scene->vertex_count, rollouts->steps, dq, dv};
    return pl_rollouts_backward(rollouts, def, known_loss, &k, gradient, info);
}

/* ------------------------------------------------------------------------------- tangents */

typedef struct tangent {
    pl_rollouts *rollouts;
    const pl_adjoint_def *def;
    const pl_gradient *direction;
    double *dq, *dv;
    pl_adjoint_info *info;
} tangent;

typedef struct ascent {
    const tangent *of;
    int environment;
} ascent;

static bool take_derivatives(void *user, int step, const double *q, const double *v, const double *dq,
                             const double *dv)
{
    const ascent *a = user;
    const tangent *t = a->of;
    size_t size = 3 * (size_t)t->rollouts->batch->scene->vertex_count;
    size_t at = ((size_t)a->environment * (size_t)(t->rollouts->steps + 1) + (size_t)step) * size;
    (void)q, (void)v;
    if (t->dq)
        memcpy(t->dq + at, dq, sizeof *dq * size);
    if (t->dv)
        memcpy(t->dv + at, dv, sizeof *dv * size);
    return true;
}

static pl_status push(void *user, pl_worker *w, int environment)
{
    const tangent *t = user;
    pl_rollout *rollout = t->rollouts->of[environment];
    pl_gradient own = gradient_of(t->rollouts->batch, t->direction, environment);
    ascent here = {t, environment};
    PL_TRY(check_tape(&w->ctx, rollout));
    rollout->sim = w->sim;
    return pl_rollout_tangent(rollout, t->def, &own, take_derivatives, &here,
                              t->info ? &t->info[environment] : NULL);
}

pl_status pl_rollouts_tangent(pl_rollouts *rollouts, const pl_adjoint_def *def,
                              const pl_gradient *direction, double *dq, double *dv,
                              pl_adjoint_info *info)
{
    tangent t = {rollouts, def, direction, dq, dv, info};
    PL_TRY(check_gradient(rollouts->batch, direction, rollouts->steps));
    return pl_pool_work(rollouts->batch, push, &t);
}
