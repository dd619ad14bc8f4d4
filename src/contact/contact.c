/* Contacts of a step: detection, frames, the contact Jacobian H. */
#include "contact/contact.h"

#include "core/vec.h"

#include <assert.h>

void pl_contact_set_free(pl_context *ctx, pl_contact_set *set)
{
    pl_free(ctx, set->points);
    pl_free(ctx, set->spare);
    pl_free(ctx, set->close);
    *set = (pl_contact_set){0};
}

/* Two tangents to n, chosen by n alone. */
static void complete_frame(double frame[9])
{
    const double *n = frame;
    int small = fabs(n[0]) <= fabs(n[1]) ? (fabs(n[0]) <= fabs(n[2]) ? 0 : 2)
                                         : (fabs(n[1]) <= fabs(n[2]) ? 1 : 2);
    double axis[3] = {0};
    axis[small] = 1;
    pl_cross3(axis, n, frame + 3);
    double length = pl_norm3(frame + 3);
    for (int k = 0; k < 3; k++)
        frame[3 + k] /= length;
    pl_cross3(n, frame + 3, frame + 6);
}

/* Where the collider's own point that is at x when its pose is `from` goes when it is `to`, minus x. */
static void material_drift(const double from[7], const double to[7], const double x[3], double drift[3])
{
    double r0[9], r1[9], arm[3], local[3];
    pl_quat_to_mat3(from + 3, r0);
    pl_quat_to_mat3(to + 3, r1);
    pl_sub3(x, from, arm);
    pl_mat3_tvec(r0, arm, local);
    pl_mat3_vec(r1, local, drift);
    for (int k = 0; k < 3; k++)
        drift[k] = (to[k] - from[k]) + (drift[k] - arm[k]);
}

void pl_contact_place(const pl_obstacles *o, int v, int c, const double x0[3], pl_contact_point *out)
{
    pl_surface_point surface;
    pl_collider_query(o->shapes[c], o->pose_end + 7 * c, x0, &surface);
    *out = (pl_contact_point){
        .count = 1,
        .vertex = {v, -1, -1, -1},
        .beta = {1},
        .collider = c,
        .body = o->body_of[v],
        .gap = surface.distance,
    };
    out->mu = o->friction[c * o->body_count + out->body];
    memcpy(out->frame, surface.normal, sizeof surface.normal);
    complete_frame(out->frame);
    memcpy(out->curvature, surface.curvature, sizeof surface.curvature);
    material_drift(o->pose_start + 7 * c, o->pose_end + 7 * c, x0, out->drift);
}

static bool close_to(const pl_obstacles *o, int c, const double x[3], double margin)
{
    pl_surface_point surface;
    if (!pl_collider_near(o->shapes[c], o->pose_end + 7 * c, x, margin))
        return false;
    pl_collider_query(o->shapes[c], o->pose_end + 7 * c, x, &surface);
    return surface.distance < margin;
}

/* Marks the pairs of vertex and collider that are close at q, in addition to those that are; returns
 * whether there were any. */
static bool mark_close(const pl_context *ctx, const pl_obstacles *o, int n, const double *q,
                       double margin, char *close)
{
    bool any = false;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)                                    \
    reduction(||                                                                                       \
              : any) if (n > ctx->limits.thread_vertices)
    for (int v = 0; v < n; v++)
        for (int c = 0; c < o->count; c++) {
            char *mark = &close[(size_t)v * (size_t)o->count + (size_t)c];
            bool found = !*mark && close_to(o, c, q + 3 * (size_t)v, margin);
            *mark = *mark || found;
            any = any || found;
        }
    return any;
}

/* The marked pairs become the set; of those that were in it the forces stay. */
static pl_status take_marked(pl_context *ctx, const pl_obstacles *o, int n, const double *q0,
                             pl_contact_set *set)
{
    int found = 0, old = 0;
    for (int v = 0; v < n; v++)
        for (int c = 0; c < o->count; c++) {
            if (!set->close[(size_t)v * (size_t)o->count + (size_t)c])
                continue;
            PL_TRY(pl_grow(ctx, (void **)&set->spare, &set->spare_capacity, found + 1,
                           sizeof *set->spare));
            pl_contact_point *p = &set->spare[found++], *before = &set->points[old];
            pl_contact_place(o, v, c, q0 + 3 * (size_t)v, p);
            /* Both lists are sorted alike, and all that was in the set is marked. */
            if (old < set->count && before->vertex[0] == v && before->collider == c) {
                memcpy(p->lambda, before->lambda, sizeof p->lambda);
                old++;
            }
        }
    pl_contact_point *points = set->points;
    int capacity = set->capacity;
    set->points = set->spare, set->capacity = set->spare_capacity, set->count = found;
    set->spare = points, set->spare_capacity = capacity;
    return PL_OK;
}

static pl_status clear_marks(pl_context *ctx, const pl_obstacles *o, int n, pl_contact_set *set)
{
    size_t pairs = (size_t)n * (size_t)o->count;
    if (pairs > set->close_capacity) {
        pl_free(ctx, set->close);
        set->close_capacity = 0;
        set->close = pl_alloc(ctx, pairs, sizeof *set->close);
        if (!set->close)
            return PL_ERROR_MEMORY;
        set->close_capacity = pairs;
    }
    if (pairs > 0)
        memset(set->close, 0, pairs);
    return PL_OK;
}

pl_status pl_contacts_detect(pl_context *ctx, const pl_obstacles *o, int n, const double *q0,
                             const double *q, double margin, pl_contact_set *set)
{
    set->count = 0;
    PL_TRY(clear_marks(ctx, o, n, set));
    mark_close(ctx, o, n, q0, margin, set->close);
    mark_close(ctx, o, n, q, margin, set->close);
    return take_marked(ctx, o, n, q0, set);
}

pl_status pl_contacts_add(pl_context *ctx, const pl_obstacles *o, int n, const double *q0,
                          const double *q, double margin, pl_contact_set *set, int *added)
{
    int before = set->count;
    *added = 0;
    PL_TRY(clear_marks(ctx, o, n, set));
    for (int i = 0; i < before; i++)
        set->close[(size_t)set->points[i].vertex[0] * (size_t)o->count +
                   (size_t)set->points[i].collider] = true;
    if (!mark_close(ctx, o, n, q, margin, set->close))
        return PL_OK;
    PL_TRY(take_marked(ctx, o, n, q0, set));
    *added = set->count - before;
    return PL_OK;
}

void pl_contact_gather(const pl_contact_point *p, const double *x, double out[3])
{
    double sum[3] = {0};
    for (int k = 0; k < p->count; k++)
        pl_axpy3(p->beta[k], x + 3 * (size_t)p->vertex[k], sum);
    pl_mat3_vec(p->frame, sum, out);
}

void pl_contact_delta(const pl_contact_point *p, const double *u, double delta[3])
{
    double drift[3];
    pl_contact_gather(p, u, delta);
    pl_mat3_vec(p->frame, p->drift, drift);
    delta[0] += p->gap;
    delta[1] -= drift[1];
    delta[2] -= drift[2];
}

pl_contact pl_contact_tell(const pl_contact_point *p, const double *u)
{
    double tangent[3] = {0, p->lambda[1], p->lambda[2]}, delta[3];
    pl_contact_delta(p, u, delta);
    pl_contact out = {
        .vertex = p->vertex[0],
        .collider = p->collider,
        .gap = delta[0],
        .force_normal = p->lambda[0],
    };
    memcpy(out.normal, p->frame, sizeof out.normal);
    pl_mat3_tvec(p->frame, tangent, out.force_tangent);
    return out;
}

void pl_contact_scatter(const pl_contact_point *p, double s, const double f[3], double *out)
{
    double world[3];
    pl_mat3_tvec(p->frame, f, world);
    for (int k = 0; k < p->count; k++)
        pl_axpy3(s * p->beta[k], world, out + 3 * (size_t)p->vertex[k]);
}

void pl_contact_hold(const pl_contact_point *p, const double moved[3], double *x)
{
    assert(p->count == 1);
    pl_mat3_tvec(p->frame, moved, x + 3 * (size_t)p->vertex[0]);
}
