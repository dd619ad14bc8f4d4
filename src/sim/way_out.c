/* Ways out of one pair. */
#include "sim/way_out.h"

#include "core/vec.h"

#define CLEARLY (1 - 1e-3) /* times shorter: what is preferred to a way before it */
#define FAR     8          /* times the depth and the bodies' size: ways out of obstacles end here */

/* ---- Overlaps of the pair ---- */

void pl_pair_note(pl_pair_overlap *pair, int body, const pl_overlap *o)
{
    pl_overlap *known = &pair->deepest;
    double sign = o->body == body ? 1 : -1;
    bool alike = o->other < 0 || o->kind == known->kind;
    if (pair->count++ == 0 || (alike && o->depth > known->depth)) {
        *known = *o;
        if (sign < 0)
            known->body = o->other, known->other = o->body;
        for (int k = 0; k < 3; k++)
            known->out[k] *= sign;
    }
    if (isfinite(pl_norm3(o->out)))
        pl_axpy3(sign * o->depth, o->out, pair->mean);
}

typedef struct look {
    pl_pair_overlap *pair;
    int body;
} look;

static pl_status note(void *user, const pl_overlap *o)
{
    look *l = user;
    pl_pair_note(l->pair, l->body, o);
    return PL_OK;
}

pl_status pl_pair_look(pl_overlap_search *s, int body, int other, int collider, pl_pair_overlap *out)
{
    look l = {out, body};
    *out = (pl_pair_overlap){0};
    pl_overlap_search_pair(s, body, other, collider);
    return pl_overlaps_look(s, note, &l);
}

static pl_status stop(void *user, const pl_overlap *o)
{
    (void)o;
    *(bool *)user = true;
    return PL_ERROR_INTERRUPTED;
}

pl_status pl_pair_overlaps(pl_overlap_search *s, int body, int other, int collider, bool *out)
{
    *out = false;
    pl_overlap_search_pair(s, body, other, collider);
    pl_status status = pl_overlaps_look(s, stop, out);
    return *out ? PL_OK : status;
}

/* ---- Directions ---- */

void pl_body_shift(pl_scene *scene, int body, double by, const double along[3])
{
    const pl_body *b = &scene->bodies[body];
    for (int v = b->vertex_offset; v < b->vertex_offset + b->mesh->vertex_count; v++)
        pl_axpy3(by, along, scene->q0 + 3 * (size_t)v);
}

void pl_body_box(const pl_scene *scene, int body, double lower[3], double upper[3])
{
    const pl_body *b = &scene->bodies[body];
    for (int k = 0; k < 3; k++) {
        lower[k] = INFINITY, upper[k] = -INFINITY;
        for (int v = b->vertex_offset; v < b->vertex_offset + b->mesh->vertex_count; v++) {
            lower[k] = fmin(lower[k], scene->q0[3 * (size_t)v + (size_t)k]);
            upper[k] = fmax(upper[k], scene->q0[3 * (size_t)v + (size_t)k]);
        }
    }
}

/* From the middle of the other to that of the body. */
static void between_middles(const pl_overlap_search *s, const pl_overlap *o, double out[3])
{
    double box[6], middle[3];
    pl_body_box(s->m->scene, o->body, box, box + 3);
    for (int k = 0; k < 3; k++)
        middle[k] = 0.5 * (box[k] + box[3 + k]);
    if (o->other >= 0)
        pl_body_box(s->m->scene, o->other, box, box + 3);
    for (int k = 0; k < 3; k++)
        out[k] =
            middle[k] - (o->other < 0 ? s->pose[7 * o->collider + k] : 0.5 * (box[k] + box[3 + k]));
}

/* One more direction, where it is one. */
static void add(pl_ways *ways, int *count, double sign, const double along[3])
{
    double length = pl_norm3(along);
    for (int k = 0; k < 3 && isfinite(length) && length > 1e-12; k++)
        ways->unit[*count][k] = sign * along[k] / length;
    (*count)++;
}

pl_ways pl_ways_of(const pl_overlap_search *s, const pl_pair_overlap *pair)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const pl_overlap *o = &pair->deepest;
    pl_scene_def def = pl_scene_get_def(s->m->scene);
    pl_ways ways = {0};
    int count = 0;
    double up[3] = {-def.gravity[0], -def.gravity[1], -def.gravity[2]}, apart[3];
    if (!(pl_norm3(up) > 0))
        memcpy(up, axes[2], sizeof up);
    between_middles(s, o, apart);
    add(&ways, &count, o->other < 0 ? 1 : -1, up); /* the other body is taken up */
    add(&ways, &count, 1, o->out);
    for (int k = 2; k >= 0; k--)
        for (int sign = -1; sign <= 1; sign += 2)
            add(&ways, &count, sign, axes[k]);
    add(&ways, &count, 1, pair->mean);
    add(&ways, &count, 1, apart);
    add(&ways, &count, o->other < 0 ? -1 : 1, up);
    return ways;
}

/* ---- The length of one ---- */

typedef struct walk {
    pl_overlap_search *s;
    const pl_overlap *o;
    const double *unit;
    double low, far; /* m: shorter ways are not looked for; a way ends here */
} walk;

/* Whether the pair overlaps with the body t m along the way. */
static pl_status overlaps_at(const walk *w, double t, bool *out)
{
    pl_scene *scene = w->s->m->scene;
    const pl_body *b = &scene->bodies[w->o->body];
    pl_status status = PL_OK;
    size_t size = 3 * (size_t)b->mesh->vertex_count;
    double *x = scene->q0 + 3 * (size_t)b->vertex_offset, *kept;
    PL_NEW(scene->ctx, kept, size, done);
    memcpy(kept, x, sizeof *x * size);
    pl_body_shift(scene, w->o->body, t, w->unit);
    status = pl_pair_overlaps(w->s, w->o->body, w->o->other, w->o->collider, out);
    memcpy(x, kept, sizeof *x * size);
done:
    pl_free(scene->ctx, kept);
    return status;
}

/* Free at `high`, which is brought down to the border that is nearest by doubling; 0: not even far out.
 */
static pl_status shorten(const walk *w, double *high)
{
    double low = 0, t = w->low;
    bool overlaps = true;
    while (overlaps && t < *high) {
        PL_TRY(overlaps_at(w, t, &overlaps));
        if (overlaps)
            low = t, t *= 2;
        else
            *high = t;
    }
    while (*high - low > fmax(PL_WAY_ROOM / 4, 1e-9 * *high)) {
        double middle = 0.5 * (low + *high);
        PL_TRY(overlaps_at(w, middle, &overlaps));
        *(overlaps ? &low : high) = middle;
    }
    return PL_OK;
}

/* The length along w->unit where it is below w->far; otherwise 0. */
static pl_status measure(const walk *w, double *length)
{
    bool overlaps;
    *length = 0;
    PL_TRY(overlaps_at(w, w->far, &overlaps));
    if (overlaps)
        return PL_OK;
    *length = w->far;
    return shorten(w, length);
}

/* Two bodies are apart once their boxes are; obstacles may have no end. */
static double far_out(const pl_overlap_search *s, const pl_overlap *o)
{
    double box[12], far = 0, size[2] = {0};
    int other = o->other < 0 ? o->body : o->other;
    pl_body_box(s->m->scene, o->body, box, box + 3);
    pl_body_box(s->m->scene, other, box + 6, box + 9);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 2; j++)
            size[j] += (box[6 * j + 3 + k] - box[6 * j + k]) * (box[6 * j + 3 + k] - box[6 * j + k]);
    far = sqrt(size[0]) + sqrt(size[1]);
    return o->other < 0 ? FAR * (o->depth + far)
                        : 1.01 * far + 4 * (s->m->offset[o->body] + s->m->offset[other]);
}

pl_status pl_ways_shortest(pl_overlap_search *s, const pl_pair_overlap *pair, pl_ways *ways, int *out)
{
    const pl_overlap *o = &pair->deepest;
    double far = far_out(s, o);
    *out = -1;
    for (int k = 0; k < PL_WAY_COUNT; k++)
        if (ways->length[k] > 0 && !ways->barred[k] &&
            (*out < 0 || ways->length[k] < CLEARLY * ways->length[*out]))
            *out = k;
    for (int k = 0; k < PL_WAY_COUNT; k++) {
        walk w = {.s = s, .o = o, .unit = ways->unit[k], .low = fmax(1e-3 * o->depth, PL_WAY_ROOM)};
        w.far = *out < 0 ? far : CLEARLY * ways->length[*out];
        if (ways->barred[k] || ways->length[k] > 0 || !(pl_norm3(w.unit) > 0))
            continue;
        PL_TRY(measure(&w, &ways->length[k]));
        if (ways->length[k] > 0)
            *out = k;
    }
    return PL_OK;
}
