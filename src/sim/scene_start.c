/*
 * What a scene's start is looked at for, once: bodies where others are that they do not touch and tets
 * that lock get a warning; what overlaps (overlap.h) is refused.
 */
#include "sim/model.h"

#include <stdio.h>

static void find_box(const double *q, int first, int count, double box[6])
{
    for (int k = 0; k < 3; k++)
        box[k] = HUGE_VAL, box[3 + k] = -HUGE_VAL;
    for (int i = 3 * first; i < 3 * (first + count); i++) {
        box[i % 3] = fmin(box[i % 3], q[i]);
        box[3 + i % 3] = fmax(box[3 + i % 3], q[i]);
    }
}

static bool boxes_meet(const double a[6], const double b[6])
{
    for (int k = 0; k < 3; k++)
        if (a[k] > b[3 + k] || b[k] > a[3 + k])
            return false;
    return true;
}

static pl_status warn_of_bodies(const pl_scene *scene, const double *q)
{
    pl_context *ctx = scene->ctx;
    int pairs = 0, first[2] = {0, 0};
    double *boxes = pl_alloc(ctx, (size_t)scene->body_count, 6 * sizeof *boxes);
    if (!boxes)
        return PL_ERROR_MEMORY;
    for (int b = 0; b < scene->body_count; b++) {
        find_box(q, scene->bodies[b].vertex_offset, scene->bodies[b].mesh->vertex_count, boxes + 6 * b);
        for (int a = 0; a < b; a++)
            if (!scene->touches[a * scene->body_count + b] &&
                boxes_meet(boxes + 6 * a, boxes + 6 * b) && pairs++ == 0)
                first[0] = a, first[1] = b;
    }
    pl_free(ctx, boxes);
    char others[48] = "";
    if (pairs > 1)
        snprintf(others, sizeof others, " (and %d more pair%s)", pairs - 1, pairs > 2 ? "s" : "");
    if (pairs > 0)
        pl_log(ctx, PL_LOG_WARNING,
               "the boxes around bodies \"%s\" and \"%s\"%s meet at the start: without body_contact "
               "bodies "
               "pass through each other",
               scene->bodies[first[0]].name, scene->bodies[first[1]].name, others);
    return PL_OK;
}

#define LOCKING 0.45 /* Poisson's ratio from which on linear tets are much too stiff */

static void warn_of_locking(const pl_scene *scene)
{
    const double *poisson = scene->params.values->of[PL_POISSON];
    for (int b = 0; b < scene->body_count; b++) {
        const pl_body *body = &scene->bodies[b];
        double most = 0;
        for (int e = body->element_offset; e < body->element_offset + body->element_count; e++)
            most = fmax(most, poisson[e]);
        if (body->cloth || body->mean_volume || body->model == PL_ARAP || !(most > LOCKING))
            continue;
        pl_log(scene->ctx, PL_LOG_WARNING,
               "body \"%s\" has a Poisson's ratio of %.3g, where tets that each keep their volume are "
               "much "
               "too stiff: set mean_volume, or stay below %.2g",
               body->name, most, LOCKING);
        return;
    }
}

pl_status pl_scene_check_start(const pl_model *model)
{
    pl_scene *scene = model->scene;
    if (scene->start_checked)
        return PL_OK;
    PL_TRY(pl_model_check_start(model));
    PL_TRY(warn_of_bodies(scene, scene->q0));
    warn_of_locking(scene);
    scene->start_checked = true;
    return PL_OK;
}
