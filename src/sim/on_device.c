/* From a scene to a device's arrays and back. */
#include "sim/on_device.h"

#include "contact/pierce.h"
#include "core/vec.h"
#include "linalg/chol_plan.h"
#include "sim/newton.h"
#include "terms/term.h"

/* ---- what is covered */

static pl_status refuse(const pl_scene *scene, const char *what)
{
    return pl_fail(
        scene->ctx, PL_ERROR_ARGUMENT,
        "device \"%s\": devices do not cover %s (docs/device.md); run it with device \"cpu\"",
        scene->params.values->def.device, what);
}

static pl_status check_scene(const pl_model *model)
{
    static const struct {
        pl_owner owner;
        const char *name;
    } parts[] = {{PL_OWNER_ATTACHMENT, "attachments"},
                 {PL_OWNER_MUSCLE, "muscles"},
                 {PL_OWNER_CABLE, "cables"},
                 {PL_OWNER_CHAMBER, "chambers"}};
    const pl_scene *scene = model->scene;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (scene->parts[parts[k].owner].count > 0)
            return refuse(scene, parts[k].name);
    if (model->surface)
        return refuse(scene, "bodies that touch each other or themselves (body_contact, self_contact)");
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mean_volume)
            return refuse(scene, "bodies with mean_volume");
    for (int c = 0; c < scene->collider_count; c++)
        if (pl_collider_surface(scene->colliders[c].shape))
            return refuse(scene, "colliders that are meshes");
    return PL_OK;
}

static pl_status check_values(const pl_scene *scene, const pl_matter *matter)
{
    if (matter->values->def.integrator != PL_EULER)
        return refuse(scene, "integrators other than \"euler\"");
    if (matter->viscous)
        return refuse(scene, "viscosity");
    if (matter->stiffens)
        return refuse(scene, "yeoh2 and yeoh3");
    return PL_OK;
}

/* ---- life */

pl_status pl_on_device_create(const pl_model *model, pl_on_device **out)
{
    const pl_scene *scene = model->scene;
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    pl_chol_plan *plan = NULL;
    pl_on_device *d = NULL;
    const char *name = scene->params.values->def.device;
    *out = NULL;
    if (!name || strcmp(name, "cpu") == 0)
        return PL_OK;
    PL_TRY(check_scene(model));
    int m = scene->vertex_count * scene->collider_count;
    PL_NEW(ctx, d, 1, done);
    PL_NEW(ctx, d->shapes, PL_SHAPE_SIZE * scene->collider_count, done);
    PL_NEW(ctx, d->pins, PL_PIN_SIZE * scene->pin_vertex_count, done);
    PL_NEW(ctx, d->slots, 6 * m, done);
    PL_NEW(ctx, d->active, m, done);
    PL_NEW(ctx, d->guess, 3 * scene->vertex_count, done);
    PL_CHECK(pl_chol_plans_get(model->plans, ctx, 3, 0, NULL, &plan), done);
    pl_system_def def = {.device = name,
                         .elements = model->elements,
                         .supernodes = &plan->supernodes,
                         .colliders = scene->collider_count,
                         .bodies = scene->body_count,
                         .body_of = scene->body_of,
                         .pins = scene->pin_vertex_count,
                         .pin_vertex = scene->pin_vertex};
    PL_CHECK(pl_system_create(ctx, &def, &d->system), done);
    *out = d;
    d = NULL;
done:
    pl_chol_plan_release(plan);
    pl_on_device_destroy(ctx, d);
    return status;
}

void pl_on_device_destroy(pl_context *ctx, pl_on_device *d)
{
    if (!d)
        return;
    pl_system_destroy(d->system);
    pl_free(ctx, d->shapes);
    pl_free(ctx, d->pins);
    pl_free(ctx, d->slots);
    pl_free(ctx, d->active);
    pl_free(ctx, d->guess);
    pl_free(ctx, d);
}

void pl_on_device_forget(pl_on_device *d)
{
    if (d)
        d->forward = d->sweep = (pl_device_memory){0};
}

/* ---- both ways */

/* Whose turn it is: the other's factor is lost. */
static pl_status take_turn(pl_on_device *d, const pl_scene *scene, const pl_matter *matter,
                           bool sweeping)
{
    if (d->sweeping != sweeping)
        pl_on_device_forget(d);
    d->sweeping = sweeping;
    if (d->values == matter->values)
        return PL_OK;
    PL_TRY(check_values(scene, matter));
    pl_on_device_forget(d);
    d->values = NULL;
    PL_TRY(pl_system_use(d->system, matter->elastic, matter->mass, matter->damping,
                         matter->values->of[PL_FRICTION]));
    d->values = matter->values;
    return PL_OK;
}

static void take_shapes(pl_on_device *d, const pl_substep *sub)
{
    const pl_scene *scene = sub->scene;
    for (int c = 0; c < scene->collider_count; c++) {
        double *out = d->shapes + PL_SHAPE_SIZE * c;
        out[0] = pl_collider_shape(scene->colliders[c].shape, out + 1);
        memcpy(out + 4, sub->pose_start + 7 * c, 7 * sizeof *out);
        memcpy(out + 11, sub->drive->of[PL_COLLIDER_POSE] + 7 * c, 7 * sizeof *out);
    }
}

static void take_pins(pl_on_device *d, const pl_substep *sub)
{
    const pl_scene *scene = sub->scene;
    for (int p = 0; p < scene->pin_count; p++)
        for (int k = scene->pins[p].first; k < scene->pins[p].first + scene->pins[p].count; k++) {
            double *out = d->pins + PL_PIN_SIZE * k;
            out[0] = 1 / sub->matter->values->of[PL_COMPLIANCE][p];
            memcpy(out + 1, sub->drive->of[PL_PIN_TARGET] + 3 * k, 3 * sizeof *out);
            memcpy(out + 4, scene->pins[p].normal, 3 * sizeof *out);
        }
}

/* ---- the step */

/* Forces that contacts had, in the world. */
static void take_forces(pl_on_device *d, const pl_scene *scene, const pl_state *warm)
{
    memset(d->slots, 0, sizeof(double) * 3 * (size_t)d->system->contacts);
    for (int k = 0; k < warm->contact_count; k++) {
        const pl_contact *c = &warm->contacts[k];
        if (c->kind != PL_CONTACT_COLLIDER || c->ridge >= 0)
            continue;
        double *out = d->slots + 3 * (c->vertex[0] * scene->collider_count + c->collider);
        memcpy(out, c->force_tangent, 3 * sizeof *out);
        pl_axpy3(c->force_normal, c->normal, out);
    }
}

/* Edges and faces between their vertices are not covered: an error where one touches. */
static pl_status check_edges(pl_solver *solver, const pl_substep *sub, const double *q)
{
    if (!solver->brushes.surface)
        return PL_OK;
    pl_obstacles o = pl_substep_obstacles(sub);
    PL_TRY(pl_brush_find(solver->ctx, &solver->brushes, &o, sub->q0, q, solver->matter->margin));
    if (solver->brushes.count == 0)
        return PL_OK;
    const pl_brush *b = &solver->brushes.found[0];
    return pl_fail(
        solver->ctx, PL_ERROR_ARGUMENT,
        "step %d: an edge or face at vertex %d touches collider \"%s\" between its vertices, "
        "which devices do not cover (docs/device.md); a finer mesh, or device \"cpu\"",
        sub->step + 1, b->vertex[0], sub->scene->colliders[b->collider].name);
}

/* What the device found, where the host's solver has it. */
static pl_status take_solution(pl_on_device *d, pl_solver *solver, const pl_substep *sub)
{
    pl_system *s = d->system;
    const pl_scene *scene = sub->scene;
    pl_contact_space *space = &solver->space;
    size_t m = 3 * (size_t)s->contacts;
    pl_obstacles o = pl_substep_obstacles(sub);
    PL_TRY(pl_system_read(s, PL_A_Q, 3 * (size_t)s->n, solver->iterate));
    memset(d->active, 0, sizeof *d->active * (size_t)s->contacts);
    if (s->state[PL_STATE_CONTACTS] > 0) {
        PL_TRY(pl_device_read(s->device, s->of[PL_A_ACTIVE], 0, sizeof(int) * (size_t)s->contacts,
                              d->active));
        PL_TRY(pl_system_read(s, PL_A_LAMBDA, m, d->slots));
        PL_TRY(pl_system_read(s, PL_A_DELTA, m, d->slots + m));
    }
    PL_TRY(pl_contacts_take(solver->ctx, &o, s->n, sub->q0, d->active, &space->set));
    PL_TRY(pl_newton_reserve_contacts(solver, space->set.count));
    for (int c = 0; c < space->set.count; c++) {
        pl_contact_point *p = &space->set.points[c];
        size_t slot = (size_t)p->vertex * (size_t)scene->collider_count + (size_t)p->collider;
        memcpy(p->lambda, d->slots + 3 * slot, sizeof p->lambda);
        memcpy(space->lambda + 3 * c, p->lambda, sizeof p->lambda);
        memcpy(space->delta + 3 * c, d->slots + m + 3 * slot, sizeof p->lambda);
        space->laws[c] = p->law;
        space->laws[c].epsilon2 = solver->matter->values->def.contact_epsilon2;
    }
    return PL_OK;
}

/* That nothing passed through anything. */
static pl_status check_passage(pl_solver *solver, const pl_substep *sub, pl_substep_result *out)
{
    int vertex = -1, collider = -1;
    pl_obstacles o = pl_substep_obstacles(sub);
    if (o.count == 0)
        return PL_OK;
    PL_TRY(check_edges(solver, sub, solver->iterate));
    pl_pierce_find(&o, &solver->space.set, solver->n, sub->q0, solver->iterate, solver->matter->margin,
                   &vertex, &collider);
    if (vertex >= 0)
        *out = (pl_substep_result){
            .reason = "a body would pass through an obstacle", .vertex = vertex, .element = -1};
    return PL_OK;
}

/* The element of a slot. */
static int element_of(const pl_system *s, const pl_scene *scene, int slot)
{
    for (int g = 0; g < s->group_count; g++)
        if (slot >= s->groups[g].first && slot < s->groups[g].first + s->groups[g].slots)
            return pl_smaller(slot - s->groups[g].first, scene->bodies[g].element_count - 1) +
                   scene->bodies[g].element_offset;
    return -1;
}

pl_status pl_on_device_solve(pl_on_device *d, pl_solver *solver, const pl_substep *sub,
                             const pl_state *warm, pl_substep_result *out)
{
    const pl_scene_def *def = &sub->matter->values->def;
    pl_device_solution found;
    *out = (pl_substep_result){.reason = "not started"};
    PL_TRY(take_turn(d, sub->scene, sub->matter, false));
    take_shapes(d, sub);
    take_pins(d, sub);
    take_forces(d, sub->scene, warm);
    pl_terms_force(sub, solver->external);
    for (int i = 0; i < 3 * solver->n; i++)
        d->guess[i] = sub->q0[i] + sub->h * sub->v0[i];
    PL_TRY(check_edges(solver, sub, d->guess));
    pl_device_problem problem = {.step = sub->step + 1,
                                 .h = sub->h,
                                 .epsilon2 = def->contact_epsilon2,
                                 .margin = sub->matter->margin,
                                 .tolerance = def->tolerance,
                                 .max_iterations = def->max_iterations,
                                 .q0 = sub->q0,
                                 .v0 = sub->v0,
                                 .external = solver->external,
                                 .shapes = d->shapes,
                                 .pins = d->pins,
                                 .force = d->slots};
    PL_TRY(pl_device_newton(d->system, &d->forward, &problem, &found));
    pl_step_info *info = &solver->meter.info;
    info->iterations += found.iterations;
    info->linear_solves += found.linear;
    info->factorizations += found.factorizations;
    info->residual = found.move;
    info->energy_elastic = found.energy;
    *out = (pl_substep_result){.converged = found.converged,
                               .reason = found.reason,
                               .vertex = found.vertex,
                               .element =
                                   found.slot < 0 ? -1 : element_of(d->system, sub->scene, found.slot)};
    if (found.converged) {
        PL_TRY(take_solution(d, solver, sub));
        PL_TRY(check_passage(solver, sub, out));
    }
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    return PL_OK;
}

/* ---- its adjoint */

pl_status pl_on_device_adjoint(pl_on_device *d, const pl_substep *sub, const pl_contact_set *set,
                               const double *q, const double *g, double epsilon2, double tolerance,
                               int max_iterations, double *z, double *y, pl_device_answer *out)
{
    size_t m = (size_t)d->system->contacts;
    int colliders = sub->scene->collider_count;
    double *found = d->slots + 3 * m;
    PL_TRY(take_turn(d, sub->scene, sub->matter, true));
    take_shapes(d, sub);
    take_pins(d, sub);
    memset(d->active, 0, sizeof *d->active * m);
    memset(d->slots, 0, sizeof *d->slots * 3 * m);
    for (int c = 0; c < set->count; c++) {
        int slot = set->points[c].vertex * colliders + set->points[c].collider;
        d->active[slot] = 1;
        memcpy(d->slots + 3 * slot, set->points[c].lambda, 3 * sizeof(double));
    }
    pl_device_adjoint problem = {.h = sub->h,
                                 .epsilon2 = epsilon2,
                                 .tolerance = tolerance,
                                 .max_iterations = max_iterations,
                                 .q = q,
                                 .q0 = sub->q0,
                                 .g = g,
                                 .shapes = d->shapes,
                                 .pins = d->pins,
                                 .active = d->active,
                                 .lambda = d->slots,
                                 .contacts = set->count > 0};
    PL_TRY(pl_device_solve_adjoint(d->system, &d->sweep, &problem, z, found, out));
    for (int c = 0; c < set->count; c++)
        memcpy(y + 3 * c, found + 3 * (set->points[c].vertex * colliders + set->points[c].collider),
               3 * sizeof(double));
    return PL_OK;
}
