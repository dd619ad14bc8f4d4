/* A block slides down a slope: how far does it get, and how does that depend on the friction? */
#include <pliant/pliant.h>

#include <stdio.h>
#include <string.h>

/* The loss: the mean x of the vertices after the last step. */
static bool final_x(void *user, int step, const double *q, const double *v, double *value, double *dq,
                    double *dv)
{
    const pl_scene_info *info = user;
    (void)v, (void)dv;
    for (int i = 0; i < info->vertex_count && step == 100; i++) {
        *value += q[3 * i] / info->vertex_count;
        dq[3 * i] += 1.0 / info->vertex_count;
    }
    return true;
}

int main(void)
{
    pl_context *ctx = NULL;
    pl_scene *scene = NULL;
    pl_mesh *mesh = NULL;
    pl_context_def one_thread = pl_context_def_default();
    one_thread.threads = 1; /* so small a scene gains nothing from more */
    pl_context_create(&one_thread, &ctx);
    pl_scene_create(ctx, NULL, &scene);
    /* cos and sin of 10 degrees: block and slope are turned by 20 about y, and fall along x */
    const double turn[4] = {0.98480775301220806, 0.0, 0.17364817766693036, 0.0}, origin[3] = {0.0};
    pl_mesh_box(ctx, (const double[]){0.12, 0.12, 0.08}, 0.04, &mesh);
    pl_mesh_transform(mesh, 1.0, turn, origin);
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    pl_scene_add_body(scene, &body, NULL);
    pl_collider_def slope = pl_collider_def_default();
    slope.friction = 0.2;
    memcpy(slope.pose + 3, turn, sizeof turn);
    pl_scene_add_collider(scene, &slope, NULL);

    pl_sim *sim = NULL;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_adjoint_info info;
    pl_sim_create(scene, &sim);
    pl_state_create(scene, &state);
    pl_rollout_def run = pl_rollout_def_default();
    run.steps = 100;
    pl_scene_info size = pl_scene_get_info(scene);
    pl_gradient_create(scene, run.steps, PL_BIT(PL_FRICTION) | PL_BIT(PL_YOUNG), &gradient);
    if (pl_rollout_run(sim, state, &run, &rollout) != PL_OK ||
        pl_rollout_backward(rollout, NULL, final_x, &size, gradient, &info) != PL_OK)
        return fprintf(stderr, "%s\n", pl_context_error(ctx)), 1;
    double young = 0.0;
    for (int e = 0; e < size.element_count; e++)
        young += gradient->of[PL_YOUNG][e];
    printf("x = %.6f m, dx/dmu = %.6f m, dx/dE = %.3e m/Pa\n", info.loss, gradient->of[PL_FRICTION][0],
           young);

    pl_gradient_destroy(scene, gradient);
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
    return 0;
}
