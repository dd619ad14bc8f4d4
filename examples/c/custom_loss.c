/*
 * A loss of one's own: a ball is thrown onto a floor with friction, and should pass through a given
 * point at half time and be slow at the end,
 *
 *     L = |c(T/2) - g|^2 + w |dc/dt(T)|^2,      c the mean of the vertices.
 *
 * Its gradient with respect to the velocity the ball is thrown with comes from one backward sweep, and
 * is compared here with central differences of whole simulations.
 */
#include <pliant/pliant.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct throw_loss {
    int vertex_count, steps;
    double goal[3], weight;
} throw_loss;

/* Called for every step, last first: adds the terms of this step and their derivatives. */
static bool evaluate(void *user, int step, const double *q, const double *v, double *value, double *dq,
                     double *dv)
{
    const throw_loss *loss = user;
    int n = loss->vertex_count;
    if (step != loss->steps && step != loss->steps / 2)
        return true;
    bool last = step == loss->steps;
    const double *of = last ? v : q;
    double *derivative = last ? dv : dq, weight = last ? loss->weight : 1.0;
    for (int k = 0; k < 3; k++) {
        double miss = last ? 0.0 : -loss->goal[k];
        for (int i = 0; i < n; i++)
            miss += of[3 * i + k] / n;
        *value += weight * miss * miss;
        for (int i = 0; i < n; i++)
            derivative[3 * i + k] += 2.0 * weight * miss / n;
    }
    return true;
}

static pl_scene *make_scene(pl_context *ctx)
{
    pl_scene *scene = NULL;
    pl_mesh *ball = NULL;
    pl_scene_create(ctx, NULL, &scene);
    pl_mesh_ellipsoid(ctx, (const double[]){0.1, 0.1, 0.1}, 0.05, &ball);
    pl_mesh_transform(ball, 1.0, (const double[]){1, 0, 0, 0}, (const double[]){0.0, 0.0, 0.15});
    pl_body_def body = pl_body_def_default();
    body.mesh = ball;
    pl_scene_add_body(scene, &body, NULL);
    pl_mesh_free(ctx, ball);
    pl_collider_def floor = pl_collider_def_default();
    floor.friction = 0.3;
    return pl_scene_add_collider(scene, &floor, NULL) == PL_OK ? scene : NULL;
}

/* The loss of a ball thrown with `velocity`, and its gradient unless that is NULL; NaN on failure. */
static double throw_ball(pl_scene *scene, throw_loss *loss, const double velocity[3],
                         double gradient[3])
{
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *all = NULL;
    pl_adjoint_info info = {.loss = NAN};
    pl_rollout_def run = pl_rollout_def_default();
    run.steps = loss->steps;
    if (pl_sim_create(scene, &sim) != PL_OK || pl_state_create(scene, &state) != PL_OK)
        goto done;
    for (int i = 0; i < 3 * loss->vertex_count; i++)
        state->v[i] = velocity[i % 3];
    if (pl_gradient_create(scene, run.steps, PL_BIT(PL_VELOCITY), &all) != PL_OK ||
        pl_rollout_run(sim, state, &run, &rollout) != PL_OK ||
        pl_rollout_backward(rollout, NULL, evaluate, loss, all, &info) != PL_OK)
        goto done;
    for (int k = 0; k < 3 && gradient; k++) {
        gradient[k] = 0.0;
        for (int i = 0; i < loss->vertex_count; i++)
            gradient[k] += all->of[PL_VELOCITY][3 * i + k];
    }
done:
    pl_gradient_destroy(scene, all);
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    return info.loss;
}

int main(void)
{
    pl_context *ctx = NULL;
    pl_context_def one_thread = pl_context_def_default();
    one_thread.threads = 1; /* so small a scene gains nothing from more */
    if (pl_context_create(&one_thread, &ctx) != PL_OK)
        return 1;
    pl_scene *scene = make_scene(ctx);
    double velocity[3] = {1.0, 0.2, 0.5}, gradient[3], worst = 0.0;
    throw_loss loss = {.steps = 40, .goal = {0.3, 0.1, 0.1}, .weight = 0.01};
    loss.vertex_count = pl_scene_get_info(scene).vertex_count;
    printf("loss %.8f\n", throw_ball(scene, &loss, velocity, gradient));
    for (int k = 0; k < 3; k++) {
        const double step = 1e-5;
        double moved[3] = {velocity[0], velocity[1], velocity[2]};
        moved[k] = velocity[k] + step;
        double difference = throw_ball(scene, &loss, moved, NULL);
        moved[k] = velocity[k] - step;
        difference = (difference - throw_ball(scene, &loss, moved, NULL)) / (2.0 * step);
        printf("dL/dv%c  adjoint % .8f  difference % .8f\n", "xyz"[k], gradient[k], difference);
        worst = fmax(worst, fabs(gradient[k] - difference) / fabs(difference));
    }
    if (!(worst < 1e-4))
        fprintf(stderr, "they differ by %g: %s\n", worst, pl_context_error(ctx));
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
    return worst < 1e-4 ? 0 : 1;
}
