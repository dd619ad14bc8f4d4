/* Contacts of a step: detection, frames, the contact Jacobian H. */
#include "contact/contact.h"

#include "core/vec.h"

#define FARTHEST_TURN 0.5 /* cosine of what a frame may turn by to follow its vertex */

void pl_contact_set_free(pl_context *ctx, pl_contact_set *set)
{
    pl_free(ctx, set->points);
    pl_free(ctx, set->entries);
    pl_free(ctx, set->spare);
    pl_free(ctx, set->close);
    *set = (pl_contact_set){0};
}

void pl_contact_set_clear(pl_contact_set *set)
{
    set->count = set->single = set->brushing = set->touching = set->entry_count = 0;
}

pl_status pl_contact_set_copy(pl_context *ctx, const pl_contact_set *from, pl_contact_set *to)
{
    PL_TRY(pl_grow(ctx, (void **)&to->points, &to->capacity, from->count, sizeof *to->points));
    PL_TRY(pl_grow(ctx, (void **)&to->entries, &to->entry_capacity, from->entry_count,
                   sizeof *to->entries));
    to->count = from->count, to->single = from->single;
    to->brushing = from->brushing, to->touching = from->touching;
    to->entry_count = from->entry_count;
    if (from->count == 0)
        return PL_OK;
    memcpy(to->points, from->points, sizeof *to->points * (size_t)from->count);
    memcpy(to->entries, from->entries, sizeof *to->entries * (size_t)from->entry_count);
    return PL_OK;
}

pl_status pl_contact_set_add(pl_context *ctx, pl_contact_set *set, const pl_contact_point *point,
                             int count, pl_stencil_entry **entries)
{
    PL_TRY(pl_grow(ctx, (void **)&set->points, &set->capacity, set->count + 1, sizeof *set->points));
    PL_TRY(pl_grow(ctx, (void **)&set->entries, &set->entry_capacity, set->entry_count + count,
                   sizeof *set->entries));
    pl_contact_point *p = &set->points[set->count++];
    *p = *point;
    p->first = set->entry_count;
    p->count = count;
    *entries = set->entries + set->entry_count;
    set->entry_count += count;
    return PL_OK;
}

void pl_contact_set_trim(pl_contact_set *set, int count)
{
    pl_contact_point *last = &set->points[set->count - 1];
    set->entry_count -= last->count - count;
    last->count = count;
}

void pl_contact_set_cut(pl_contact_set *set, int count)
{
    if (count < set->count)
        set->entry_count = set->points[count].first;
    set->count = count;
    set->single = pl_smaller(set->single, count);
    set->brushing = pl_smaller(set->brushing, count);
    set->touching = pl_smaller(set->touching, count);
}

pl_status pl_contact_set_touch(pl_context *ctx, pl_contact_set *set, const pl_contact_point *point)
{
    pl_stencil_entry *entry;
    PL_TRY(pl_contact_set_add(ctx, set, point, 1, &entry));
    entry->vertex = point->vertex;
    memcpy(entry->block, point->frame, sizeof entry->block);
    set->single = set->brushing = set->touching = set->count;
    return PL_OK;
}

void pl_contact_frame(double frame[9])
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
        .vertex = v,
        .collider = c,
        .body = o->body_of[v],
        .gap = surface.distance,
        .distance = surface.distance,
        .round = surface.round,
    };
    out->law.mu = o->friction[c * o->body_count + out->body];
    memcpy(out->frame, surface.normal, sizeof surface.normal);
    pl_contact_frame(out->frame);
    memcpy(out->curvature, surface.curvature, sizeof surface.curvature);
    material_drift(o->pose_start + 7 * c, o->pose_end + 7 * c, x0, out->drift);
}

/* The frame with another normal, its tangents turned by as little as need be. */
static void turn_frame(double frame[9], const double normal[3])
{
    double sum[3], *n = frame;
    for (int k = 0; k < 3; k++)
        sum[k] = n[k] + normal[k];
    double half = 1 + pl_dot3(n, normal);
    for (double *t = frame + 3; t < frame + 9; t += 3)
        pl_axpy3(-pl_dot3(t, normal) / half, sum, t);
    memcpy(n, normal, 3 * sizeof *n);
}

void pl_contact_follow(const pl_obstacles *o, const double x0[3], const double x[3],
                       pl_contact_point *p, pl_stencil_entry *entry)
{
    pl_contact_point start;
    pl_surface_point at;
    double u[3];
    if (!p->round)
        return;
    pl_contact_place(o, p->vertex, p->collider, x0, &start);
    pl_collider_round(o->shapes[p->collider], o->pose_end + 7 * p->collider, x, &at);
    p->follows = pl_dot3(at.normal, start.frame) > FARTHEST_TURN;
    p->gap = start.gap;
    memcpy(p->frame, start.frame, sizeof p->frame);
    memcpy(p->curvature, start.curvature, sizeof p->curvature);
    if (p->follows) {
        pl_sub3(x, x0, u);
        turn_frame(p->frame, at.normal);
        p->gap = at.distance - pl_dot3(at.normal, u);
        memcpy(p->curvature, at.curvature, sizeof p->curvature);
    }
    memcpy(entry->block, p->frame, sizeof entry->block);
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
    int known = set->single, old = 0;
    PL_TRY(pl_grow(ctx, (void **)&set->spare, &set->spare_capacity, known, sizeof *set->spare));
    if (known > 0)
        memcpy(set->spare, set->points, sizeof *set->spare * (size_t)known);
    pl_contact_set_clear(set);
    for (int v = 0; v < n; v++)
        for (int c = 0; c < o->count; c++) {
            pl_contact_point p;
            if (!set->close[(size_t)v * (size_t)o->count + (size_t)c])
                continue;
            pl_contact_place(o, v, c, q0 + 3 * (size_t)v, &p);
            /* Both lists are sorted alike, and all that was in the set is marked. */
            if (old < known && set->spare[old].vertex == v && set->spare[old].collider == c)
                memcpy(p.lambda, set->spare[old++].lambda, sizeof p.lambda);
            PL_TRY(pl_contact_set_touch(ctx, set, &p));
        }
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
    pl_contact_set_clear(set);
    PL_TRY(clear_marks(ctx, o, n, set));
    mark_close(ctx, o, n, q0, margin, set->close);
    mark_close(ctx, o, n, q, margin, set->close);
    return take_marked(ctx, o, n, q0, set);
}

pl_status pl_contacts_add(pl_context *ctx, const pl_obstacles *o, int n, const double *q0,
                          const double *q, double margin, pl_contact_set *set, int *added)
{
    int before = set->single;
    *added = 0;
    PL_TRY(clear_marks(ctx, o, n, set));
    for (int i = 0; i < before; i++)
        set->close[(size_t)set->points[i].vertex * (size_t)o->count + (size_t)set->points[i].collider] =
            true;
    if (!mark_close(ctx, o, n, q, margin, set->close))
        return PL_OK;
    PL_TRY(take_marked(ctx, o, n, q0, set));
    *added = set->single - before;
    return PL_OK;
}

pl_status pl_contacts_take(pl_context *ctx, const pl_obstacles *o, int n, const double *q0,
                           const int *marks, pl_contact_set *set)
{
    pl_contact_set_clear(set);
    PL_TRY(clear_marks(ctx, o, n, set));
    for (int k = 0; k < n * o->count; k++)
        set->close[k] = marks[k] != 0;
    return take_marked(ctx, o, n, q0, set);
}

void pl_contact_gather(const pl_contact_set *set, int c, const double *x, double out[3])
{
    const pl_stencil_entry *e = pl_contact_entries(set, c);
    pl_mat3_vec(e->block, x + 3 * (size_t)e->vertex, out);
    for (int k = 1; k < set->points[c].count; k++) {
        double part[3];
        pl_mat3_vec(e[k].block, x + 3 * (size_t)e[k].vertex, part);
        pl_axpy3(1, part, out);
    }
}

void pl_contact_delta(const pl_contact_set *set, int c, const double *u, double delta[3])
{
    const pl_contact_point *p = &set->points[c];
    double drift[3];
    if (p->live)
        memset(delta, 0, 3 * sizeof *delta);
    else
        pl_contact_gather(set, c, u, delta);
    pl_mat3_vec(p->frame, p->drift, drift);
    delta[0] += p->gap;
    delta[1] -= drift[1];
    delta[2] -= drift[2];
}

/* Of a brush: the normal out of the collider, its own being out of whatever has negative weights. */
static void tell_brush(const pl_contact_point *p, double share, pl_contact *out)
{
    double sign = p->weight[0] + p->weight[1] + p->weight[2] < 0 ? -1 : 1;
    double tangent[3] = {0, sign * share * p->lambda[1], sign * share * p->lambda[2]};
    out->count = p->count;
    out->ridge = p->brush.ridge;
    memcpy(out->vertex, p->brush.vertex, sizeof p->brush.vertex);
    for (int k = 0; k < 3; k++) {
        out->weight[k] = sign * p->weight[k];
        out->normal[k] = sign * p->frame[k];
    }
    pl_mat3_tvec(p->frame, tangent, out->force_tangent);
}

pl_contact pl_contact_tell(const pl_contact_set *set, int c, const double *u, double share)
{
    const pl_contact_point *p = &set->points[c];
    double tangent[3] = {0, share * p->lambda[1], share * p->lambda[2]}, delta[3];
    pl_contact_delta(set, c, u, delta);
    pl_contact out = {
        .count = 1,
        .vertex = {p->vertex},
        .weight = {1},
        .kind = PL_CONTACT_COLLIDER,
        .collider = p->collider,
        .ridge = -1,
        .gap = delta[0],
        .force_normal = share * p->lambda[0],
    };
    if (p->kind == PL_ROWS_BRUSH) {
        tell_brush(p, share, &out);
        return out;
    }
    if (p->kind == PL_ROWS_MEET) {
        out.kind = (pl_contact_kind)(PL_CONTACT_FACE + p->meeting.kind);
        out.count = p->count;
        memcpy(out.vertex, p->meeting.vertex, sizeof out.vertex);
        memcpy(out.weight, p->weight, sizeof out.weight);
    }
    memcpy(out.normal, p->frame, sizeof out.normal);
    pl_mat3_tvec(p->frame, tangent, out.force_tangent);
    return out;
}

void pl_contact_scatter(const pl_contact_set *set, int c, double s, const double f[3], double *out)
{
    const pl_stencil_entry *e = pl_contact_entries(set, c);
    for (int k = 0; k < set->points[c].count; k++) {
        double world[3];
        pl_mat3_tvec(e[k].block, f, world);
        pl_axpy3(s, world, out + 3 * (size_t)e[k].vertex);
    }
}

/* By the first row of a live block. */
static void hold_live(const pl_contact_set *set, int c, const double moved[3], double *x)
{
    const pl_stencil_entry *e = pl_contact_entries(set, c);
    double at[3], size = 0;
    pl_contact_gather(set, c, x, at);
    for (int k = 0; k < set->points[c].count; k++)
        size += pl_dot3(e[k].block, e[k].block);
    for (int k = 0; k < set->points[c].count; k++)
        pl_axpy3((moved[0] - at[0]) / size, e[k].block, x + 3 * (size_t)e[k].vertex);
}

void pl_contacts_hold(const pl_contact_set *set, const double *moved, double *x)
{
    for (int c = set->touching; c < set->count; c++)
        hold_live(set, c, moved + 3 * (size_t)c, x);
    for (int c = 0; c < set->single; c++) {
        const pl_stencil_entry *e = pl_contact_entries(set, c);
        pl_mat3_tvec(e->block, moved + 3 * (size_t)c, x + 3 * (size_t)e->vertex);
    }
}
