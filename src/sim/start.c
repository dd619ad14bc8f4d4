/* Where a substep begins: forces, contacts, the first iterate. */
#include "sim/newton.h"

#include "core/vec.h"

#define AS_CLOSE 4.0 /* of the squared distance from balance: of two guesses in a row */

/* Forces of the last step's contacts, as far as they are contacts again; whether they are the same. */
static bool warm_start(pl_contact_set *set, const pl_state *state)
{
    int k = 0, again = 0;
    for (int c = 0; c < set->count; c++) {
        pl_contact_point *p = &set->points[c];
        while (k < state->contact_count && (state->contacts[k].vertex < p->vertex[0] ||
                                            (state->contacts[k].vertex == p->vertex[0] &&
                                             state->contacts[k].collider < p->collider)))
            k++;
        if (k == state->contact_count || state->contacts[k].vertex != p->vertex[0] ||
            state->contacts[k].collider != p->collider)
            continue;
        pl_mat3_vec(p->frame, state->contacts[k].force_tangent, p->lambda);
        p->lambda[0] = state->contacts[k].force_normal;
        again++;
    }
    return again == set->count && again == state->contact_count;
}

pl_obstacles pl_substep_obstacles(const pl_sim *sim, const pl_substep *sub)
{
    return (pl_obstacles){
        .count = sim->scene->collider_count,
        .shapes = sim->shapes,
        .pose_start = sub->pose_start,
        .pose_end = sub->drive->collider_pose,
        .body_count = sim->scene->body_count,
        .friction = sim->scene->friction,
        .body_of = sim->scene->body_of,
    };
}

/* The squared length of the residual at the point last evaluated, forces divided by masses. */
static double imbalance(pl_newton *s)
{
    pl_sim *sim = s->sim;
    double h2 = s->sub->h * s->sub->h, sum = 0;
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_scatter(&sim->contacts.points[c], -h2, sim->contacts.points[c].lambda,
                           sim->residual);
    for (int i = 0; i < 3 * sim->n; i++)
        sum += sim->residual[i] * sim->residual[i] / sim->mass[i / 3];
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_scatter(&sim->contacts.points[c], h2, sim->contacts.points[c].lambda, sim->residual);
    return sum;
}

/* sim->trial = q0 + h v0, of the first order + h^2 a with the last substep's acceleration, of the
 * second
 * + h^2 (a + da) with what that changed by; returns how far it is from balance. */
static double try_order(pl_newton *s, int order)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    double h = sub->h;
    for (int i = 0; i < 3 * sim->n; i++)
        sim->trial[i] =
            sub->q0[i] + h * sub->v0[i] +
            h * h * ((order > 0 ? sim->acceleration[i] : 0) + (order > 1 ? sim->jerk[i] : 0));
    return pl_newton_evaluate(s, sim->trial) ? imbalance(s) : INFINITY;
}

static void take_trial(pl_newton *s, int order, double imbalance)
{
    pl_sim *sim = s->sim;
    double *swap = sim->iterate;
    sim->iterate = sim->trial, sim->trial = swap;
    sim->guessed = order;
    sim->guess_imbalance = imbalance;
}

/* sim->iterate = q0 + h v0, shortened until it is admissible. */
static pl_status guess_admissible(pl_newton *s)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    double h = sub->h, t = 1;
    do {
        for (int i = 0; i < 3 * sim->n; i++)
            sim->iterate[i] = sub->q0[i] + t * h * sub->v0[i];
        t = t > 1e-3 ? 0.5 * t : 0;
    } while (!pl_newton_evaluate(s, sim->iterate) && (t > 0 || s->inadmissible < 0));
    if (s->inadmissible < 0)
        return PL_OK;
    const pl_body *body = pl_scene_body_with(sim->scene, s->inadmissible);
    return pl_fail(sim->ctx, PL_ERROR_NUMERIC,
                   "step %d: element %d of body \"%s\" is inverted where the step begins",
                   sub->step + 1, s->inadmissible - body->element_offset, body->name);
}

/* Of the orders known, each as long as it is closer to balance than the one before. */
static pl_status compare_all(pl_newton *s)
{
    pl_sim *sim = s->sim;
    PL_TRY(guess_admissible(s));
    if (!sim->accelerated)
        return PL_OK;
    bool better = true;
    sim->guessed = 0;
    sim->guess_imbalance = imbalance(s);
    for (int order = 1; better && order <= sim->accelerated; order++) {
        double there = try_order(s, order);
        better = there < sim->guess_imbalance;
        if (better)
            take_trial(s, order, there);
    }
    if (!better)
        pl_newton_evaluate(s, sim->iterate);
    return PL_OK;
}

/* Of the first and the second order the one closer to balance, if it comes as close as the last guess
 * did; tried last is what was better then, because it is evaluated afterwards. */
static bool compare_two(pl_newton *s)
{
    pl_sim *sim = s->sim;
    int likely = sim->guessed, other = 3 - likely;
    double limit = AS_CLOSE * sim->guess_imbalance, one = try_order(s, other);
    take_trial(s, other, one);
    double two = try_order(s, likely);
    if (two <= one)
        take_trial(s, likely, two);
    else if (one <= limit)
        pl_newton_evaluate(s, sim->iterate);
    return sim->guess_imbalance <= limit;
}

/* The first iterate. In smooth motion one of the higher orders is the best. */
static pl_status guess(pl_newton *s)
{
    pl_sim *sim = s->sim;
    bool smooth = sim->accelerated == 2 && sim->guessed > 0;
    if (!smooth || !compare_two(s))
        PL_TRY(compare_all(s));
    s->energy = s->potential;
    return PL_OK;
}

pl_status pl_newton_begin(pl_newton *s, const pl_state *warm)
{
    pl_sim *sim = s->sim;
    const pl_substep *sub = s->sub;
    const pl_scene *scene = sim->scene;
    double h = sub->h;
    pl_drive_external(scene, sim->mass, sub->drive, sub->q0, sub->v0, sim->external);
    memset(sim->spring, 0, sizeof(double) * 3 * (size_t)sim->n);
    for (int p = 0; p < scene->pin_count; p++)
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++)
            pl_axpy3(1 / scene->pins[p].compliance, sub->drive->pin_target + 3 * k,
                     sim->spring + 3 * (size_t)scene->pin_vertex[k]);
    for (int i = 0; i < 3 * sim->n; i++)
        sim->guess[i] = sub->q0[i] + h * sub->v0[i] + h * h * sim->external[i] / sim->mass[i / 3];
    pl_obstacles o = pl_substep_obstacles(sim, sub);
    PL_TRY(pl_contacts_detect(sim->ctx, &o, sim->n, sub->q0, sim->guess, sim->margin, &sim->contacts));
    if (warm_start(&sim->contacts, warm))
        pl_anderson_next(&sim->anderson);
    else
        pl_anderson_reset(&sim->anderson);
    pl_stage(sim, PL_STAGE_CONTACT);
    return guess(s);
}
