/*
 * How far a clamped silicone beam of 100 x 30 x 30 mm sags under its own weight, and with a weight on
 * the top edge of its free end.
 *
 *     silicone_beam CELL_MM POISSON [mean]     mean: patches of tets resist changes of volume, not each
 */
#include "statics.h"

/* Mean drop of the free end, m. */
static double end_drop(const pl_mesh *mesh, const pl_group *end, const double *q)
{
    double drop = 0.0;
    for (int i = 0; i < end->count; i++)
        drop += (mesh->vertices[3 * end->index[i] + 2] - q[3 * end->index[i] + 2]) / end->count;
    return drop;
}

int main(int argc, char **argv)
{
    double cell = argc > 1 ? atof(argv[1]) * 1e-3 : 0.01, poisson = argc > 2 ? atof(argv[2]) : 0.45;
    pl_context *ctx = new_context();
    pl_mesh *mesh = NULL;
    check(ctx, pl_mesh_bar(ctx, 0.1, 0.03, 0.03, cell, &mesh));
    const pl_group *left = pl_mesh_find_group(mesh, "left", PL_GROUP_VERTEX);
    const pl_group *right = pl_mesh_find_group(mesh, "right", PL_GROUP_VERTEX);

    pl_scene_def scene_def = pl_scene_def_default();
    scene_def.time_step = 1.0;
    scene_def.gravity[2] = -9.80709;
    pl_scene *scene = NULL;
    check(ctx, pl_scene_create(ctx, &scene_def, &scene));
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.young = 263824.0;
    body.poisson = poisson;
    body.density = 1070.0;
    body.mean_volume = argc > 3 && !strcmp(argv[3], "mean");
    check(ctx, pl_scene_add_body(scene, &body, NULL));
    pl_pin_def pin = pl_pin_def_default();
    pin.vertex_count = left->count;
    pin.vertices = left->index;
    check(ctx, pl_scene_add_pin(scene, &pin, NULL));

    /* Along an edge the end vertices carry half as much as the others. */
    double *load = calloc(3 * (size_t)mesh->vertex_count, sizeof *load), shares = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < right->count; i++) {
            const double *x = mesh->vertices + 3 * right->index[i];
            if (x[2] < 0.015 - 1e-9)
                continue;
            double share = fabs(x[1]) > 0.015 - 1e-9 ? 0.5 : 1.0;
            if (pass == 0)
                shares += share;
            else
                load[3 * right->index[i] + 2] = -0.51012 * share / shares;
        }

    pl_sim *sim = NULL;
    pl_state *state = NULL;
    check(ctx, pl_sim_create(scene, &sim));
    check(ctx, pl_state_create(scene, &state));
    int steps = settle(sim, state, NULL, 1e-7, 50);
    double own = end_drop(mesh, right, state->q);
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = load};
    steps += settle(sim, state, &inputs, 1e-7, 50);
    double loaded = end_drop(mesh, right, state->q);
    printf("cell %g mm  nu %g  vertices %d  steps %d  own weight %.3f mm  with 0.510 N %.3f mm\n",
           cell * 1e3, poisson, mesh->vertex_count, steps, own * 1e3, loaded * 1e3);

    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
    free(load);
    return 0;
}
