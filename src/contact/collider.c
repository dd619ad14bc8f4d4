/*
 * Colliders: checks a definition, and moves queries between the world and the shape's frame:
 * x_local = R^T (x - p), n = R n_local, kappa = R kappa_local R^T.
 */
#include "contact/collider.h"

#include "contact/collider_mesh.h"
#include "contact/collider_shapes.h"
#include "core/vec.h"

struct pl_collider {
    pl_shape shape;
    double size[3];
    pl_collider_mesh *mesh;    /* PL_MESH only */
    double lower[3], upper[3]; /* the shape's bounding box in its own frame */
    double reach;              /* largest distance of the shape from its frame's origin */
    pl_ridges ridges;
};

pl_collider_def pl_collider_def_default(void)
{
    return (pl_collider_def){.shape = PL_HALF_SPACE, .friction = 0.5, .pose = {[3] = 1.0}};
}

/* ---------------------------------------------------------------------------------- the definition */

static pl_status check_pose(pl_context *ctx, const char *field, const double pose[7])
{
    for (int i = 0; i < 7; i++)
        if (!isfinite(pose[i]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "%s[%d] is %g, expected a finite number", field, i,
                           pose[i]);
    double norm = sqrt(pl_dot3(pose + 4, pose + 4) + pose[3] * pose[3]);
    if (!(fabs(norm - 1.0) <= 1e-6))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "%s[3..6] is a quaternion (w,x,y,z) of length %.9g, expected length 1", field,
                       norm);
    return PL_OK;
}

static pl_status check_table(pl_context *ctx, const pl_table *table)
{
    if (table->count < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "table.count is %d, expected >= 0", table->count);
    if (table->count > 0 && (!table->time || !table->value))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "table.%s is NULL but table.count is %d",
                       table->time ? "value" : "time", table->count);
    for (int i = 0; i < table->count; i++) {
        if (!isfinite(table->time[i]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "table.time[%d] is %g, expected a finite number", i,
                           table->time[i]);
        if (i > 0 && !(table->time[i] > table->time[i - 1]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "table.time[%d] is %g, expected more than table.time[%d] = %g", i,
                           table->time[i], i - 1, table->time[i - 1]);
        if (check_pose(ctx, "value", table->value + 7 * (size_t)i) != PL_OK)
            return pl_fail_within(ctx, PL_ERROR_ARGUMENT, "table row %d", i);
    }
    return PL_OK;
}

static pl_status check_size(pl_context *ctx, const pl_collider_def *def)
{
    static const struct {
        int count;
        const char *meaning[3];
    } sizes[] = {
        [PL_HALF_SPACE] = {0},
        [PL_SPHERE] = {1, {"radius"}},
        [PL_BOX] = {3, {"half extent along x", "half extent along y", "half extent along z"}},
        [PL_CYLINDER] = {2, {"radius", "half height"}},
        [PL_CAPSULE] = {2, {"radius", "half height"}},
        [PL_MESH] = {0},
    };
    if ((size_t)def->shape >= sizeof sizes / sizeof *sizes)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "shape is %d, expected a pl_shape", (int)def->shape);
    for (int i = 0; i < sizes[def->shape].count; i++)
        if (!(def->size[i] > 0.0 && def->size[i] <= PL_COLLIDER_LARGEST))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "size[%d] (%s) is %g, expected a number in (0, %g] m", i,
                           sizes[def->shape].meaning[i], def->size[i], PL_COLLIDER_LARGEST);
    return PL_OK;
}

static pl_status check_def(pl_context *ctx, const pl_collider_def *def)
{
    PL_TRY(check_size(ctx, def));
    if (def->shape == PL_MESH && !def->surface)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "surface is NULL, expected a mesh for this shape");
    if (!(def->friction >= 0.0 && isfinite(def->friction)))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "friction is %g, expected a finite number >= 0",
                       def->friction);
    PL_TRY(check_pose(ctx, "pose", def->pose));
    return check_table(ctx, &def->table);
}

/* ---------------------------------------------------------------------------------- life */

static double farthest_corner(const double lower[3], const double upper[3])
{
    double far[3];
    for (int i = 0; i < 3; i++)
        far[i] = fmax(fabs(lower[i]), fabs(upper[i]));
    return pl_norm3(far);
}

pl_status pl_collider_create(pl_context *ctx, const pl_collider_def *def, pl_collider **out)
{
    PL_TRY(check_def(ctx, def));
    pl_status status = PL_OK;
    pl_collider *collider = NULL;
    PL_NEW(ctx, collider, 1, done);
    collider->shape = def->shape;
    memcpy(collider->size, def->size, sizeof collider->size);
    if (def->shape == PL_MESH) {
        PL_CHECK(pl_collider_mesh_create(ctx, def->surface, &collider->mesh), done);
        pl_collider_mesh_bounds(collider->mesh, collider->lower, collider->upper);
    } else {
        pl_shape_bounds(def->shape, def->size, collider->lower, collider->upper);
    }
    collider->reach = farthest_corner(collider->lower, collider->upper);
    if (collider->mesh && !(collider->reach <= PL_COLLIDER_LARGEST)) {
        status = pl_fail(ctx, PL_ERROR_ARGUMENT,
                         "surface: reaches %g m from its origin, expected at most %g m",
                         collider->reach, PL_COLLIDER_LARGEST);
        goto done;
    }
    PL_CHECK(pl_ridges_create(ctx, def->shape, def->size, collider->mesh, &collider->ridges), done);
    *out = collider;
    collider = NULL;
done:
    pl_collider_destroy(ctx, collider);
    return status;
}

pl_shape pl_collider_shape(const pl_collider *collider, double size[3])
{
    memcpy(size, collider->size, sizeof collider->size);
    return collider->shape;
}

const pl_mesh *pl_collider_surface(const pl_collider *collider)
{
    return collider->mesh ? pl_collider_mesh_surface(collider->mesh) : NULL;
}

const pl_ridges *pl_collider_ridges(const pl_collider *collider)
{
    return &collider->ridges;
}

void pl_collider_destroy(pl_context *ctx, pl_collider *collider)
{
    if (!collider)
        return;
    pl_collider_mesh_destroy(ctx, collider->mesh);
    pl_ridges_free(ctx, &collider->ridges);
    pl_free(ctx, collider);
}

/* ---------------------------------------------------------------------------------- queries */

/* R of the pose. Normalised here because tables and inputs hold quaternions only near unit length. */
static void rotation(const double pose[7], double r[9])
{
    double s = 1.0 / sqrt(pl_dot3(pose + 4, pose + 4) + pose[3] * pose[3]);
    double q[4] = {s * pose[3], s * pose[4], s * pose[5], s * pose[6]};
    pl_quat_to_mat3(q, r);
}

/* x in the collider's frame, r its rotation; false if that is not finite. */
static bool into_frame(const double pose[7], const double x[3], double r[9], double local[3])
{
    double from[3];
    rotation(pose, r);
    pl_sub3(x, pose, from);
    pl_mat3_tvec(r, from, local);
    return isfinite(fabs(local[0]) + fabs(local[1]) + fabs(local[2]));
}

static void into_world(const double r[9], const pl_local_point *point, pl_surface_point *out)
{
    double *n = out->normal, axis[3];
    out->distance = point->distance;
    out->round = point->round;
    pl_mat3_vec(r, point->normal, n);
    pl_mat3_vec(r, point->axis, axis);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->curvature[3 * i + j] = point->bend * ((i == j) - n[i] * n[j] - axis[i] * axis[j]) +
                                        point->axis_bend * (axis[i] * axis[j]);
}

static const pl_surface_point nowhere = {.distance = NAN, .normal = {0.0, 0.0, 1.0}};

void pl_collider_query(const pl_collider *collider, const double pose[7], const double x[3],
                       pl_surface_point *out)
{
    double r[9], local[3];
    pl_local_point point;
    *out = nowhere;
    if (!into_frame(pose, x, r, local))
        return;
    if (collider->mesh)
        pl_collider_mesh_query(collider->mesh, local, &point);
    else
        pl_shape_query(collider->shape, collider->size, local, &point);
    into_world(r, &point, out);
}

void pl_collider_round(const pl_collider *collider, const double pose[7], const double x[3],
                       pl_surface_point *out)
{
    double r[9], local[3];
    pl_local_point point;
    *out = nowhere;
    if (!into_frame(pose, x, r, local))
        return;
    pl_shape_round(collider->shape, collider->size, local, &point);
    into_world(r, &point, out);
}

bool pl_collider_near(const pl_collider *collider, const double pose[7], const double x[3],
                      double margin)
{
    double r[9], from[3], local[3];
    pl_sub3(x, pose, from);
    double far = pl_norm3(from);
    /* What rounding may add to the bounds below; a NaN counts as near. */
    double slack = 1e-14 * (far + pl_norm3(x));
    if (far - collider->reach > margin + slack)
        return false;
    rotation(pose, r);
    pl_mat3_tvec(r, from, local);
    double outside = -INFINITY;
    for (int i = 0; i < 3; i++)
        outside =
            pl_larger(pl_larger(collider->lower[i] - local[i], local[i] - collider->upper[i]), outside);
    return !(outside > margin + slack);
}
