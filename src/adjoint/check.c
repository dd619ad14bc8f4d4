/*
 * The gradient check (pliant/check.h): adjoint against tangent against central differences, kind by
 * kind and direction by direction, and the regimes of contact that the rollout went through.
 */
#include "adjoint/check.h"

#include "core/vec.h"

#include <float.h>

#define LOOSER  10    /* times the tolerance: what that changes the loss by is its noise */
#define LITTLE  1e-10 /* of the loss: noise beyond this hides derivatives that are not nothing */
#define SHORTER 4     /* tenths of a step that are tried where the moved scene cannot be simulated */
#define ROUGH   0.03  /* of what the loss bends by over ten times the step: smooth ones by 0.01 */

typedef struct check {
    pl_context *ctx;
    const pl_check_def *def;
    pl_trial trial;
    pl_rollout *rollout; /* unperturbed, with its tape */
    pl_gradient *gradient;
    pl_check_result *result;
    double value;          /* of the loss, being summed */
    double noise;          /* of the loss: its rounding, and what solves to a tolerance leave of it */
    double *dq, *dv;       /* [n, 3] of a loss term */
    double *previous;      /* [n, 3] positions a step ago */
    double *previous_pose; /* [collider_count, 7] */
    int *active, *was_active; /* [n, collider_count + body_count] by vertex and whom it touches, in this
                                 step and the one before */
    int done, total;          /* rollouts */
} check;

pl_check_def pl_check_def_default(void)
{
    pl_check_def def = {
        .steps = 20,
        .wanted = ~0ull,
        .directions = 2,
        .step = 1e-3,
        .step_count = 5,
        .tolerance = 1e-5,
        .sweep_tolerance = 1e-7,
        .newton_tolerance = 1e-13,
        .seed = 1,
        .adjoint = pl_adjoint_def_default(),
    };
    def.adjoint.tolerance = 1e-11;
    return def;
}

static pl_status check_def(pl_context *ctx, const pl_check_def *d)
{
    if (!d->loss)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "loss: expected a function");
    if (d->steps < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "steps = %d: expected >= 1", d->steps);
    if (d->directions < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "directions = %d: expected >= 0", d->directions);
    if (d->step_count < 2 || d->step_count > PL_CHECK_STEPS_MAX)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "step_count = %d: expected 2 to %d", d->step_count,
                       PL_CHECK_STEPS_MAX);
    if (!(d->step > 0) || !(d->step < 0.5))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "step = %g: expected in (0, 0.5)", d->step);
    if (!(d->tolerance > 0) || !(d->sweep_tolerance > 0) || !(d->newton_tolerance >= 0))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "tolerances: expected > 0");
    return PL_OK;
}

/* ------------------------------------------------------------------------------- regimes */

/* How the collider's own point at x moved from one pose to the other. */
static void collider_motion(const double from[7], const double to[7], const double x[3], double out[3])
{
    double a[9], b[9], r[3], local[3];
    pl_quat_to_mat3(from + 3, a);
    pl_quat_to_mat3(to + 3, b);
    pl_sub3(x, from, r);
    pl_mat3_tvec(a, r, local);
    pl_mat3_vec(b, local, out);
    for (int k = 0; k < 3; k++)
        out[k] += to[k] - x[k];
}

/* Of a contact between bodies, or of a body and a collider. */
static double friction_of(const check *c, const pl_contact *p)
{
    const pl_scene *scene = c->trial.sim->scene;
    double *const *of = c->trial.params->values->of;
    int body[2] = {scene->body_of[p->vertex[0]], scene->body_of[p->vertex[p->count - 1]]};
    int first = pl_smaller(body[0], body[1]), second = body[0] + body[1] - first;
    return p->collider >= 0 ? of[PL_FRICTION][p->collider * scene->body_count + first]
                            : of[PL_BODY_FRICTION][first * scene->body_count + second];
}

/* Marks the vertices of an active contact with whom they touch; whether none of them did before. */
static bool is_new(check *c, const pl_contact *p)
{
    const pl_scene *scene = c->trial.sim->scene;
    int partners = scene->collider_count + scene->body_count;
    int both = scene->body_of[p->vertex[0]] + scene->body_of[p->vertex[p->count - 1]];
    bool known = false;
    for (int k = 0; k < p->count; k++) {
        int partner = p->collider >= 0 ? p->collider
                                       : scene->collider_count + both - scene->body_of[p->vertex[k]];
        size_t place = (size_t)p->vertex[k] * (size_t)partners + (size_t)partner;
        known |= c->was_active[place];
        c->active[place] = 1;
    }
    return !known;
}

/* Counts a contact, unless it is out of touch. */
static void classify_contact(check *c, const pl_state *state, const pl_contact *p)
{
    const pl_sim *sim = c->trial.sim;
    pl_check_regimes *r = &c->result->regimes;
    double h = c->trial.params->values->def.time_step, rho = 0, moved[3] = {0}, point[3] = {0};
    for (int k = 0; k < p->count; k++) {
        double u[3];
        rho += h * h * p->weight[k] * p->weight[k] / sim->matter.mass[p->vertex[k]];
        pl_sub3(state->q + 3 * (size_t)p->vertex[k], c->previous + 3 * (size_t)p->vertex[k], u);
        pl_axpy3(p->weight[k], u, moved);
        pl_axpy3(p->weight[k], c->previous + 3 * (size_t)p->vertex[k], point);
    }
    if (rho * p->force_normal <= p->gap)
        return;
    if (p->collider >= 0) {
        double drift[3];
        collider_motion(c->previous_pose + 7 * p->collider,
                        state->input[PL_COLLIDER_POSE] + 7 * p->collider, point, drift);
        pl_axpy3(-1, drift, moved);
    }
    double mu = friction_of(c, p);
    r->impact += is_new(c, p);
    pl_axpy3(-pl_dot3(moved, p->normal), p->normal, moved);
    if (rho * (mu * p->force_normal - pl_norm3(p->force_tangent)) < pl_norm3(moved))
        r->slip++;
    else
        r->stick++;
    r->largest_force = fmax(r->largest_force, p->force_normal);
}

/* Counts the contacts of the step that led to `state`. */
static void classify(check *c, const pl_state *state, const pl_step_info *info)
{
    const pl_sim *sim = c->trial.sim;
    pl_check_regimes *r = &c->result->regimes, before = *r;
    size_t partners = (size_t)(sim->scene->collider_count + sim->scene->body_count);
    memset(c->active, 0, sizeof(int) * (size_t)sim->scene->vertex_count * partners);
    for (int k = 0; k < state->contact_count; k++)
        classify_contact(c, state, &state->contacts[k]);
    r->steps++;
    r->free_steps += r->slip == before.slip && r->stick == before.stick;
    r->slip_steps += r->slip > before.slip;
    r->stick_steps += r->stick > before.stick;
    r->impact_steps += r->impact > before.impact;
    r->splits += info->splits;
    int *swap = c->active;
    c->active = c->was_active, c->was_active = swap;
}

static void remember(check *c, const pl_state *state)
{
    memcpy(c->previous, state->q, sizeof(double) * 3 * (size_t)state->vertex_count);
    memcpy(c->previous_pose, state->input[PL_COLLIDER_POSE],
           sizeof(double) * 7 * (size_t)c->trial.sim->scene->collider_count);
}

static bool watch(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)step;
    classify(user, state, info);
    remember(user, state);
    return true;
}

/* ------------------------------------------------------------------------------- derivatives */

static bool loss_term(check *c, int step, const double *q, const double *v)
{
    size_t bytes = sizeof(double) * 3 * (size_t)c->trial.sim->scene->vertex_count;
    memset(c->dq, 0, bytes);
    memset(c->dv, 0, bytes);
    return c->def->loss(c->def->loss_user, step, q, v, &c->value, c->dq, c->dv);
}

static bool add_term(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)info;
    return loss_term(user, step, state->q, state->v);
}

/* The loss of a rollout from the trial as it stands. */
static pl_status evaluate(check *c, const pl_knob *k, const double *direction, double e, double *loss)
{
    pl_status status = PL_OK;
    pl_rollout *rollout = NULL;
    PL_TRY(pl_knob_turn(&c->trial, k, direction, e));
    c->value = 0;
    if (!loss_term(c, 0, c->trial.state->q, c->trial.state->v))
        status = pl_fail(c->ctx, PL_ERROR_INTERRUPTED, "the loss stopped the check");
    else
        status = pl_trial_run(&c->trial, false, add_term, c, &rollout);
    pl_rollout_destroy(rollout);
    *loss = c->value;
    c->done += c->done < c->total;
    if (status == PL_OK && c->def->progress &&
        !c->def->progress(c->def->progress_user, c->done, c->total))
        status = pl_fail(c->ctx, PL_ERROR_INTERRUPTED, "stopped");
    pl_status back = pl_knob_turn(&c->trial, k, direction, 0);
    return status == PL_OK ? back : status;
}

/* Of the loss: its slope, and how far it bends away from a line over e. */
static pl_status difference(check *c, const pl_knob *k, const double *d, bool one_sided, double e,
                            double *out, double *bend)
{
    double near, far, loss = c->result->loss;
    if (one_sided) {
        PL_TRY(evaluate(c, k, d, e, &near));
        PL_TRY(evaluate(c, k, d, 2 * e, &far));
        *out = (-3 * loss + 4 * near - far) / (2 * e);
        *bend = 0.5 * fabs(loss - 2 * near + far);
    } else {
        PL_TRY(evaluate(c, k, d, e, &near));
        PL_TRY(evaluate(c, k, d, -e, &far));
        *out = (near - far) / (2 * e);
        *bend = 0.5 * fabs(near - 2 * loss + far);
    }
    return PL_OK;
}

static bool tangent_term(void *user, int step, const double *q, const double *v, const double *dq,
                         const double *dv)
{
    check *c = user;
    double kept = c->value;
    if (!loss_term(c, step, q, v))
        return false;
    c->value = kept;
    for (int i = 0; i < 3 * c->trial.sim->scene->vertex_count; i++)
        c->value += c->dq[i] * dq[i] + c->dv[i] * dv[i];
    return true;
}

static pl_status tangent(check *c, const pl_knob *k, const double *d, double *out)
{
    pl_gradient *direction = NULL;
    pl_status status = PL_OK;
    PL_CHECK(pl_gradient_create(c->trial.sim->scene, c->trial.steps, PL_BIT(k->channel), &direction),
             done);
    memcpy(direction->of[k->channel], d, sizeof(double) * (size_t)k->count);
    c->value = 0;
    PL_CHECK(pl_rollout_tangent(c->rollout, &c->def->adjoint, direction, tangent_term, c, NULL), done);
    *out = c->value;
done:
    pl_gradient_destroy(c->trial.sim->scene, direction);
    return status;
}

/* ------------------------------------------------------------------------------- directions and rows
 */

/* Uniform in [-1, 1). */
static double random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(int64_t)(*seed >> 11) / (double)(1ll << 52) - 1.0;
}

/* The same for a channel, however many there are before it (FNV-1a). */
static uint64_t name_hash(pl_channel channel)
{
    uint64_t hash = 14695981039346656037ull;
    for (const char *c = pl_channel_get(channel)->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    return hash;
}

/* d in the knob's natural sizes; pushed inwards where a value is at the edge of its range. */
static void choose_direction(const check *c, const pl_knob *k, int index, pl_check_row *row, double *d)
{
    const double *g = c->gradient->of[k->channel];
    uint64_t seed = 1000003ull * c->def->seed + name_hash(k->channel) + (uint64_t)index;
    double most = 0;
    row->along_gradient = index == c->def->directions;
    for (int i = 0; i < k->count; i++)
        most = fmax(most, fabs(k->weight[i] * g[i]));
    for (int i = 0; i < k->count; i++) {
        double r = random_number(&seed), along = most > 0 ? k->weight[i] * g[i] / most : 1;
        d[i] = k->weight[i] * (row->along_gradient ? along : r);
        row->values += d[i] != 0;
        double lower, upper;
        pl_knob_range(&c->trial, k, i, &lower, &upper);
        bool low = k->base[i] <= lower, high = k->base[i] >= upper;
        row->one_sided |= d[i] != 0 && (low || high);
        d[i] = low ? fabs(d[i]) : high ? -fabs(d[i]) : d[i];
    }
}

/* How far the difference of step s may be off although its neighbour is close: where the loss is smooth
 * it bends by e^2, at a kink by e, and noise and jumps are the same for all e. */
static double roughness(const pl_check_row *row, const double *bends, int s)
{
    double most = 0;
    for (int k = s; k < row->step_count; k++)
        most = fmax(most, bends[k]);
    return most > ROUGH * bends[s - 1] ? most / row->steps[s] : 0;
}

/* What smaller steps say against the difference of step s, beyond what noise makes of them: another
 * slope, or a loss so jagged there that no larger step shows what its slope is. Bends of a step and of
 * smaller ones tell what noise there is, unless they are jags. What speaks against all of the
 * difference leaves nothing known. */
static double contradiction(const pl_check_row *row, const double *bends, double noise, int s)
{
    double most = 0, seen = 0;
    for (int k = row->step_count - 1; k > s; k--) {
        double apart = fabs(row->differences[k] - row->differences[s]);
        double jag = bends[k] > ROUGH * bends[k - 1] ? bends[k] - 2 * noise : 0;
        seen = fmax(seen, bends[k]);
        most = fmax(most, fmax(apart - 2 * fmin(noise, seen) / row->steps[k], jag / row->steps[k]));
    }
    return most <= fabs(row->differences[s]) ? most : INFINITY;
}

/* How far the difference of step s is from its neighbour, or may be off by the loss's own noise. */
static double doubt(const pl_check_row *row, double noise, int s)
{
    return fmax(fabs(row->differences[s] - row->differences[s - 1]), noise / row->steps[s]);
}

/* The difference with the least doubt, and the verdict. Derivatives that the loss's noise over
 * the largest step would hide are zero to all purposes, and agree with a difference that is no more
 * than noise. */
static void judge(const check *c, pl_check_row *row, const double *bends, double typical)
{
    const pl_check_def *def = c->def;
    double noise = c->noise, rounding = DBL_EPSILON * fabs(c->result->loss);
    int best = 1; /* by what is certain: the noise is what it may be at most */
    for (int s = 2; s < row->step_count; s++)
        if (doubt(row, rounding, s) < doubt(row, rounding, best))
            best = s;
    row->difference = row->differences[best];
    row->step = row->steps[best];
    row->uncertainty = fmax(doubt(row, noise, best),
                            fmax(roughness(row, bends, best), contradiction(row, bends, noise, best)));
    double scale =
        fmax(fmax(fabs(row->adjoint), fabs(row->tangent)), fmax(fabs(row->difference), typical));
    double hidden = fmin(noise, LITTLE * fabs(c->result->loss)) / row->steps[0];
    bool zero = fabs(row->adjoint) <= hidden && fabs(row->tangent) <= hidden &&
                fabs(row->difference) <= fmax(hidden, 3 * row->uncertainty);
    if (!zero) {
        row->error = fabs(row->adjoint - row->difference) / scale;
        row->sweep_error = fabs(row->adjoint - row->tangent) / scale;
    }
    row->verdict = PL_CHECK_FAILED;
    if (row->sweep_error <= def->sweep_tolerance || fabs(row->adjoint - row->tangent) <= hidden)
        row->verdict = row->error <= def->tolerance                 ? PL_CHECK_PASSED
                       : row->error * scale <= 3 * row->uncertainty ? PL_CHECK_UNRESOLVED
                                                                    : PL_CHECK_FAILED;
}

/* The difference of step *e, or of the largest one below it, by tenths, with which the scene can be
 * simulated: rubber that softens a little may have no shape any more. */
static pl_status next_difference(check *c, const pl_knob *k, const double *d, bool one_sided, double *e,
                                 double *out, double *bend)
{
    for (int tries = 0;; tries++, *e /= 10) {
        pl_status status = difference(c, k, d, one_sided, *e, out, bend);
        bool unsolved = status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC;
        if (!unsolved || tries == SHORTER)
            return status;
    }
}

static pl_status check_direction(check *c, const pl_knob *k, int index, double *d)
{
    pl_check_result *result = c->result;
    pl_check_row *row = &result->rows[result->row_count];
    const double *g = c->gradient->of[k->channel];
    double typical = 0, bends[PL_CHECK_STEPS_MAX];
    *row = (pl_check_row){.channel = k->channel, .step_count = c->def->step_count};
    choose_direction(c, k, index, row, d);
    if (row->values == 0)
        return PL_OK;
    for (int i = 0; i < k->count; i++) {
        row->adjoint += g[i] * d[i];
        typical += g[i] * d[i] * g[i] * d[i];
    }
    PL_TRY(tangent(c, k, d, &row->tangent));
    double e = c->def->step;
    for (int s = 0; s < row->step_count; s++, e /= 10) {
        PL_TRY(next_difference(c, k, d, row->one_sided, &e, &row->differences[s], &bends[s]));
        row->steps[s] = e;
    }
    judge(c, row, bends, sqrt(typical));
    result->row_count++;
    result->failed += row->verdict == PL_CHECK_FAILED;
    result->unresolved += row->verdict == PL_CHECK_UNRESOLVED;
    if (row->verdict != PL_CHECK_UNRESOLVED)
        result->worst_error = fmax(result->worst_error, row->error);
    result->worst_sweep_error = fmax(result->worst_sweep_error, row->sweep_error);
    return PL_OK;
}

static pl_status check_channel(check *c, pl_channel channel)
{
    pl_status status = PL_OK;
    pl_knob knob = {0};
    double *d = NULL;
    PL_CHECK(pl_knob_create(&c->trial, channel, &knob), done);
    PL_NEW(c->ctx, d, knob.count, done);
    for (int k = 0; k <= c->def->directions; k++)
        PL_CHECK(check_direction(c, &knob, k, d), done);
done:
    pl_free(c->ctx, d);
    pl_knob_free(c->ctx, &knob);
    return status;
}

/* What solves to a tolerance leave of the loss: what it changes by with one of ten times that. */
static pl_status find_noise(check *c)
{
    pl_values *values;
    pl_status status = PL_OK;
    pl_rollout *rollout = NULL;
    PL_TRY(pl_params_edit(c->trial.params, &values));
    double tolerance = values->def.tolerance;
    values->def.tolerance = fmin(LOOSER * tolerance, 0.5);
    c->value = 0;
    if (!loss_term(c, 0, c->trial.state->q, c->trial.state->v))
        status = pl_fail(c->ctx, PL_ERROR_INTERRUPTED, "the loss stopped the check");
    else
        status = pl_trial_run(&c->trial, false, add_term, c, &rollout);
    pl_rollout_destroy(rollout);
    PL_TRY(status);
    c->noise = fmax(DBL_EPSILON * fabs(c->result->loss), fabs(c->value - c->result->loss));
    PL_TRY(pl_params_edit(c->trial.params, &values));
    values->def.tolerance = tolerance;
    return pl_state_copy(c->trial.sim->scene, c->trial.start, c->trial.state);
}

/* The unperturbed rollout and its gradient. */
static pl_status sweep(check *c)
{
    const pl_check_def *def = c->def;
    PL_TRY(pl_state_copy(c->trial.sim->scene, c->trial.start, c->trial.state));
    remember(c, c->trial.start);
    PL_TRY(pl_trial_run(&c->trial, true, watch, c, &c->rollout));
    PL_TRY(pl_gradient_create(c->trial.sim->scene, def->steps, def->wanted, &c->gradient));
    PL_TRY(pl_rollout_backward(c->rollout, &def->adjoint, def->loss, def->loss_user, c->gradient,
                               &c->result->adjoint));
    c->result->loss = c->result->adjoint.loss;
    /* Knobs read their values from the trial's state: put it back to the start. */
    return pl_state_copy(c->trial.sim->scene, c->trial.start, c->trial.state);
}

static bool is_wanted(const check *c, int channel)
{
    return (c->def->wanted & PL_BIT(channel)) &&
           pl_scene_row_count(c->trial.sim->scene, (pl_channel)channel) > 0;
}

static pl_status allocate(check *c, pl_sim *sim, const pl_state *start)
{
    pl_status status = PL_OK;
    const pl_scene *scene = sim->scene;
    size_t n3 = 3 * (size_t)sim->scene->vertex_count,
           pairs =
               (size_t)sim->scene->vertex_count * (size_t)(scene->collider_count + scene->body_count);
    int kinds = 0;
    pl_values *values;
    PL_CHECK(pl_trial_create(sim, start, &c->def->inputs, c->def->steps, &c->trial), done);
    PL_CHECK(pl_params_edit(c->trial.params, &values), done);
    if (c->def->newton_tolerance > 0)
        values->def.tolerance = c->def->newton_tolerance;
    PL_NEW(c->ctx, c->result, 1, done);
    for (int k = 0; k < PL_CHANNEL_COUNT; k++)
        kinds += is_wanted(c, k);
    c->total = 2 * kinds * (c->def->directions + 1) * c->def->step_count;
    PL_NEW(c->ctx, c->result->rows, kinds * (c->def->directions + 1), done);
    double **vectors[] = {&c->dq, &c->dv, &c->previous};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PL_NEW(c->ctx, *vectors[k], n3, done);
    PL_NEW(c->ctx, c->previous_pose, 7 * scene->collider_count, done);
    PL_NEW(c->ctx, c->active, pairs, done);
    PL_NEW(c->ctx, c->was_active, pairs, done);
done:
    return status;
}

pl_status pl_check(pl_sim *sim, const pl_state *start, const pl_check_def *def, pl_check_result **out)
{
    pl_status status = PL_OK;
    pl_scene *scene = sim->scene;
    double began = pl_milliseconds();
    check c = {.ctx = sim->ctx, .def = def};
    *out = NULL;
    PL_TRY(check_def(sim->ctx, def));
    PL_CHECK(allocate(&c, sim, start), done);
    PL_CHECK(sweep(&c), done);
    PL_CHECK(find_noise(&c), done);
    for (int k = 0; k < PL_CHANNEL_COUNT; k++)
        if (is_wanted(&c, k))
            PL_CHECK(check_channel(&c, (pl_channel)k), done);
    c.result->milliseconds = pl_milliseconds() - began;
    *out = c.result;
    c.result = NULL;
done:
    pl_check_destroy(c.ctx, c.result);
    pl_rollout_destroy(c.rollout);
    pl_gradient_destroy(scene, c.gradient);
    pl_trial_free(&c.trial);
    void *arrays[] = {c.dq, c.dv, c.previous, c.previous_pose, c.active, c.was_active};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(c.ctx, arrays[k]);
    return status;
}

void pl_check_destroy(pl_context *ctx, pl_check_result *result)
{
    if (!result)
        return;
    pl_free(ctx, result->rows);
    pl_free(ctx, result);
}
