/*
 * Cook's membrane at large strain, in plane strain: a panel 48 mm wide, clamped at its left side of
 * 44 mm, pulled up by a dead load on its right side of 16 mm. Neo-Hookean, E = 200 MPa, nu = 0.35,
 * traction 4 MPa; the corner at (48, 60) rises by 6.147 mm (B. Mueller's thesis, 2015; Elmer's test).
 *
 *     cook_membrane CELLS [POISSON [TRACTION_MPA [mean]]]     mean: patches of tets keep their volume,
 * not each
 */
#include "statics.h"

static const double MM = 1e-3;

/* The unit grid bent to the panel's shape; one cell thick. */
static pl_mesh *panel(pl_context *ctx, int cells)
{
    pl_mesh *mesh = NULL;
    check(ctx,
          pl_mesh_grid(ctx, (int[3]){cells + 1, cells + 1, 2}, 1.0 / cells, PL_CUT_ALTERNATING, &mesh));
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *x = mesh->vertices + 3 * i, s = x[0], t = x[1];
        x[0] = 48.0 * MM * s;
        x[1] = MM * (44.0 * s + t * (44.0 - 28.0 * s));
        x[2] *= 48.0 * MM;
    }
    return mesh;
}

int main(int argc, char **argv)
{
    int cells = argc > 1 ? atoi(argv[1]) : 8;
    double traction = argc > 3 ? 1e6 * atof(argv[3]) : 4e6;
    pl_context *ctx = new_context();
    pl_mesh *mesh = panel(ctx, cells);
    int n = mesh->vertex_count, clamped = 0, sliding = 0, corner = 0;
    int *clamp = calloc((size_t)n, sizeof *clamp), *slide = calloc((size_t)n, sizeof *slide);
    double *force = calloc(3 * (size_t)n, sizeof *force);
    double area = 16.0 * MM * (48.0 * MM / cells);
    for (int i = 0; i < n; i++) {
        const double *x = mesh->vertices + 3 * i;
        if (x[0] < 1e-9)
            clamp[clamped++] = i;
        else
            slide[sliding++] = i;
        bool end = fabs(x[1] - 44.0 * MM) < 1e-9 || fabs(x[1] - 60.0 * MM) < 1e-9;
        if (x[0] > 48.0 * MM - 1e-9)
            force[3 * i + 1] = traction * area / (end ? 4.0 * cells : 2.0 * cells);
        if (x[0] + x[1] > mesh->vertices[3 * corner] + mesh->vertices[3 * corner + 1])
            corner = i;
    }

    pl_scene_def scene_def = pl_scene_def_default();
    scene_def.time_step = 10.0;
    scene_def.gravity[2] = 0.0;
    pl_scene *scene = NULL;
    check(ctx, pl_scene_create(ctx, &scene_def, &scene));
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.young = 200e6;
    body.poisson = argc > 2 ? atof(argv[2]) : 0.35;
    body.mean_volume = argc > 4 && !strcmp(argv[4], "mean");
    check(ctx, pl_scene_add_body(scene, &body, NULL));
    pl_pin_def pin = pl_pin_def_default();
    pin.vertex_count = clamped;
    pin.vertices = clamp;
    check(ctx, pl_scene_add_pin(scene, &pin, NULL));
    pin.vertex_count = sliding;
    pin.vertices = slide;
    pin.normal[2] = 1.0;
    check(ctx, pl_scene_add_pin(scene, &pin, NULL));

    pl_sim *sim = NULL;
    pl_state *state = NULL;
    check(ctx, pl_sim_create(scene, &sim));
    check(ctx, pl_state_create(scene, &state));
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = force};
    int steps = settle(sim, state, &inputs, 1e-8, 200);
    printf("cells %d  vertices %d  steps %d  corner rises by %.4f mm\n", cells, n, steps,
           (state->q[3 * corner + 1] - mesh->vertices[3 * corner + 1]) / MM);

    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
    free(force);
    free(slide);
    free(clamp);
    return 0;
}
