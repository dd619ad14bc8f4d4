/*
 * A stiff block on a slope: its acceleration against g (sin t - mu cos t), and whether it sticks for
 * friction just above tan t.
 *
 *     slope DEGREES FRICTION_OVER_TAN SECONDS
 */
#include "statics.h"

/* Mean motion along (cos t, 0, -sin t), the downhill direction. */
static double downhill(const pl_state *state, const double *rows, double angle)
{
    double sum = 0.0;
    for (int i = 0; i < state->vertex_count; i++)
        sum += rows[3 * i] * cos(angle) - rows[3 * i + 2] * sin(angle);
    return sum / state->vertex_count;
}

int main(int argc, char **argv)
{
    double degrees = argc > 1 ? atof(argv[1]) : 20.0, ratio = argc > 2 ? atof(argv[2]) : 0.5;
    double seconds = argc > 3 ? atof(argv[3]) : 2.0, angle = degrees * acos(-1.0) / 180.0;
    double friction = ratio * tan(angle);
    pl_context *ctx = new_context();
    pl_scene *scene = NULL;
    pl_scene_def scene_def = pl_scene_def_default();
    check(ctx, pl_scene_create(ctx, &scene_def, &scene));
    pl_mesh *mesh = NULL;
    check(ctx, pl_mesh_box(ctx, (double[3]){0.12, 0.12, 0.04}, 0.04, &mesh));
    double turn[4] = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0};
    pl_mesh_transform(mesh, 1.0, turn, (double[3]){0.0});
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.young = 1e7;
    check(ctx, pl_scene_add_body(scene, &body, NULL));
    pl_collider_def slope = pl_collider_def_default();
    slope.friction = friction;
    memcpy(slope.pose + 3, turn, sizeof turn);
    check(ctx, pl_scene_add_collider(scene, &slope, NULL));

    pl_sim *sim = NULL;
    pl_state *state = NULL;
    check(ctx, pl_sim_create(scene, &sim));
    check(ctx, pl_state_create(scene, &state));
    /* The first half lets the start's vibration die; the second is measured. */
    int steps = (int)(seconds / scene_def.time_step + 0.5), half = steps / 2;
    double x = 0.0, v = 0.0;
    for (int i = 0; i < steps; i++) {
        if (i == half) {
            x = downhill(state, state->q, angle);
            v = downhill(state, state->v, angle);
        }
        check(ctx, pl_step(sim, state, NULL, NULL));
    }
    double time = (steps - half) * scene_def.time_step;
    double expected = fmax(0.0, 9.81 * (sin(angle) - friction * cos(angle)));
    printf("%g degrees, mu = %.6g = %g tan t: acceleration %.8f m/s^2 (expected %.8f), moved %.3e m in "
           "the "
           "second half of %g s\n",
           degrees, friction, ratio, (downhill(state, state->v, angle) - v) / time, expected,
           downhill(state, state->q, angle) - x, seconds);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
    return 0;
}
