/* States: positions, velocities, and what the last step left. */
#include "sim/scene.h"

#include "core/vec.h"
#include "rows/rows.h"
#include "sim/sim.h"
#include "terms/term.h"

void pl_pin_targets(const pl_scene *scene, double time, double *target)
{
    for (int p = 0; p < scene->pin_count; p++) {
        const pl_pin *pin = &scene->pins[p];
        double offset[3], turn[4], r[9];
        pl_curve_at(&pin->offset, time, offset);
        pl_curve_at(&pin->rotation, time, turn);
        double length = pl_norm3(turn), half = 0.5 * turn[3], s = length > 0 ? sin(half) / length : 0;
        double quaternion[4] = {cos(half), s * turn[0], s * turn[1], s * turn[2]};
        pl_quat_to_mat3(quaternion, r);
        for (int k = pin->first; k < pin->first + pin->count; k++) {
            const double *start = scene->q0 + 3 * (size_t)scene->pin_vertex[k];
            double arm[3];
            pl_sub3(start, pin->pivot, arm);
            pl_mat3_vec(r, arm, target + 3 * k);
            for (int i = 0; i < 3; i++)
                target[3 * k + i] =
                    half == 0 ? start[i] + offset[i] : pin->pivot[i] + target[3 * k + i] + offset[i];
        }
    }
}

/* Whether states keep where a channel was left. */
static bool moves(int channel)
{
    return pl_channel_get((pl_channel)channel)->blend != PL_BLEND_HELD;
}

static size_t input_count(const pl_scene *scene, int channel)
{
    return pl_channel_size(scene, (pl_channel)channel, 1) *
           (size_t)pl_channel_get((pl_channel)channel)->width;
}

void pl_state_set_inputs(const pl_scene *scene, pl_state *state, double *const *input)
{
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (moves(c))
            memcpy(state->input[c], input[c], sizeof(double) * input_count(scene, c));
}

size_t pl_state_bytes(const pl_scene *scene, int contacts)
{
    size_t numbers = 6 * (size_t)scene->vertex_count;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        numbers += moves(c) ? input_count(scene, c) : 0;
    numbers += (size_t)pl_rows_count(scene);
    const pl_integrator_info *info = pl_integrator_get(scene->params.values->def.integrator);
    if (info->states > 1)
        numbers += (info->accelerations ? 12 : 6) * (size_t)scene->vertex_count;
    return sizeof(pl_state) + sizeof(pl_contact) * (size_t)contacts + sizeof(double) * numbers;
}

pl_status pl_state_create(const pl_scene *scene, pl_state **out)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    *out = NULL;
    PL_TRY(pl_scene_must_have_bodies(scene));
    pl_state *s = pl_alloc(ctx, 1, sizeof *s);
    if (!s)
        return PL_ERROR_MEMORY;
    size_t n = (size_t)scene->vertex_count;
    s->vertex_count = scene->vertex_count;
    s->live_count = pl_rows_count(scene);
    PL_NEW(ctx, s->live, s->live_count, done);
    PL_NEW(ctx, s->q, 3 * n, done);
    PL_NEW(ctx, s->v, 3 * n, done);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        if (moves(c))
            PL_NEW(ctx, s->input[c], input_count(scene, c), done);
    memcpy(s->q, scene->q0, sizeof(double) * 3 * n);
    memcpy(s->v, scene->v0, sizeof(double) * 3 * n);
    pl_pin_targets(scene, 0, s->input[PL_PIN_TARGET]);
    for (int c = 0; c < scene->collider_count; c++)
        pl_curve_pose_at(&scene->colliders[c].pose, 0, s->input[PL_COLLIDER_POSE] + 7 * c);
    pl_terms_inputs(scene, 0, s->input);
    *out = s;
    s = NULL;
done:
    pl_state_destroy(scene, s);
    return status;
}

static void drop_accelerations(const pl_scene *scene, pl_state *state)
{
    pl_free(scene->ctx, state->a);
    pl_free(scene->ctx, state->a_before);
    state->a = state->a_before = NULL;
}

pl_status pl_state_make_room(const pl_scene *scene, pl_state *state, pl_integrator integrator)
{
    const pl_integrator_info *info = pl_integrator_get(integrator);
    double **wanted[] = {&state->q_before, &state->v_before, &state->a, &state->a_before};
    int count = info->accelerations ? 4 : info->states > 1 ? 2 : 0;
    for (int k = 0; k < count; k++) {
        if (*wanted[k])
            continue;
        *wanted[k] = pl_alloc(scene->ctx, 3 * (size_t)state->vertex_count, sizeof(double));
        state->before_length = 0;
        if (!*wanted[k])
            return PL_ERROR_MEMORY;
    }
    return PL_OK;
}

void pl_state_push(pl_state *state, const double *q, const double *v, const double *a, double length)
{
    size_t bytes = sizeof(double) * 3 * (size_t)state->vertex_count;
    if (state->q_before) {
        memcpy(state->q_before, state->q, bytes);
        memcpy(state->v_before, state->v, bytes);
        state->before_length = length;
    }
    if (state->a) {
        memcpy(state->a_before, state->a, bytes);
        memcpy(state->a, a, bytes);
    }
    memcpy(state->q, q, bytes);
    memcpy(state->v, v, bytes);
}

/* What integrators look back at, if there is something. */
static pl_status copy_before(const pl_scene *scene, const pl_state *from, pl_state *to)
{
    size_t bytes = sizeof(double) * 3 * (size_t)from->vertex_count;
    if (!from->a)
        drop_accelerations(scene, to);
    if (from->before_length > 0) {
        PL_TRY(pl_state_make_room(scene, to, from->a ? PL_TR_BDF2 : PL_BDF2));
        memcpy(to->q_before, from->q_before, bytes);
        memcpy(to->v_before, from->v_before, bytes);
    }
    if (from->before_length > 0 && from->a) {
        memcpy(to->a, from->a, bytes);
        memcpy(to->a_before, from->a_before, bytes);
    }
    to->before_length = from->before_length;
    return PL_OK;
}

pl_status pl_state_copy(const pl_scene *scene, const pl_state *from, pl_state *to)
{
    size_t n = (size_t)scene->vertex_count;
    PL_TRY(pl_grow(scene->ctx, (void **)&to->contacts, &to->contact_capacity, from->contact_count,
                   sizeof *to->contacts));
    memcpy(to->q, from->q, sizeof(double) * 3 * n);
    memcpy(to->v, from->v, sizeof(double) * 3 * n);
    PL_TRY(copy_before(scene, from, to));
    pl_state_set_inputs(scene, to, from->input);
    if (from->contact_count > 0)
        memcpy(to->contacts, from->contacts, sizeof *to->contacts * (size_t)from->contact_count);
    to->contact_count = from->contact_count;
    memcpy(to->live, from->live, sizeof(double) * (size_t)from->live_count);
    to->time = from->time;
    to->step = from->step;
    return PL_OK;
}

void pl_state_destroy(const pl_scene *scene, pl_state *s)
{
    if (!s)
        return;
    pl_free(scene->ctx, s->q);
    pl_free(scene->ctx, s->v);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        pl_free(scene->ctx, s->input[c]);
    pl_free(scene->ctx, s->contacts);
    pl_free(scene->ctx, s->live);
    pl_free(scene->ctx, s->q_before);
    pl_free(scene->ctx, s->v_before);
    drop_accelerations(scene, s);
    pl_free(scene->ctx, s);
}
