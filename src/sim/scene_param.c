/* Parameters that change between rollouts. */
#include "sim/scene.h"

/* The owner's values in place, or an error. */
static pl_status locate(const pl_scene *scene, pl_param param, int owner, double **values, int *count)
{
    double *const of[] = {[PL_YOUNG] = scene->young,
                          [PL_POISSON] = scene->poisson,
                          [PL_DENSITY] = scene->density,
                          [PL_BENDING] = scene->bending,
                          [PL_DAMPING] = scene->damping};
    int owners = param == PL_FRICTION     ? scene->collider_count
                 : param == PL_COMPLIANCE ? scene->pin_count
                                          : scene->body_count;
    if ((int)param < 0 || param > PL_COMPLIANCE)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "param = %d: no such parameter", (int)param);
    if (owner < 0 || owner >= owners)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "owner = %d: the scene has %d %s", owner, owners,
                       param == PL_FRICTION     ? "colliders"
                       : param == PL_COMPLIANCE ? "pins"
                                                : "bodies");
    if (param == PL_FRICTION) {
        *values = scene->friction + (size_t)owner * (size_t)scene->body_count;
        *count = scene->body_count;
    } else if (param == PL_COMPLIANCE) {
        *values = &scene->pins[owner].compliance;
        *count = 1;
    } else {
        *values = of[param] + scene->bodies[owner].element_offset;
        *count = scene->bodies[owner].element_count;
    }
    return PL_OK;
}

static pl_status check_values(pl_context *ctx, pl_param param, int count, const double *values)
{
    if (param < PL_FRICTION)
        return pl_scene_check_param(ctx, param, count, values);
    for (int k = 0; k < count; k++) {
        if (param == PL_FRICTION && (!(values[k] >= 0) || !(values[k] <= 1e3)))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "friction = %g: expected 0 to 1000", values[k]);
        if (param == PL_COMPLIANCE && (!(values[k] >= 1e-15) || !(values[k] <= 1e15)))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "compliance = %g: expected 1e-15 to 1e15 m/N",
                           values[k]);
    }
    return PL_OK;
}

pl_status pl_scene_param_count(const pl_scene *scene, pl_param param, int owner, int *count)
{
    double *values;
    return locate(scene, param, owner, &values, count);
}

pl_status pl_scene_set_param(pl_scene *scene, pl_param param, int owner, int count,
                             const double *values)
{
    double *place = NULL;
    int have = 0;
    PL_TRY(locate(scene, param, owner, &place, &have));
    if (count != 1 && count != have)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "count = %d: expected 1 or %d", count, have);
    PL_TRY(check_values(scene->ctx, param, count, values));
    for (int k = 0; k < have; k++)
        place[k] = values[count == 1 ? 0 : k];
    scene->revision++;
    return PL_OK;
}

pl_status pl_scene_get_param(const pl_scene *scene, pl_param param, int owner, int count,
                             double *values)
{
    double *place = NULL;
    int have = 0;
    PL_TRY(locate(scene, param, owner, &place, &have));
    if (count != have)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "count = %d: expected %d", count, have);
    memcpy(values, place, sizeof(double) * (size_t)have);
    return PL_OK;
}
