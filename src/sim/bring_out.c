/*
 * Starts brought out of what they are in: bodies are shifted as wholes, so that no strain and no
 * velocity changes. What overlaps gets a plane each (shifts.h): a body is to stay beyond it, out of an
 * obstacle at its deepest place, out of another body along the shortest way (way_out.h) that other
 * planes leave. Shifts are the least that meet all planes, and planes stay, so nothing goes to and fro.
 *
 * - Shifts that lead into an obstacle they began outside of get a plane where they enter it.
 * - Where planes cannot all be met, ways between bodies are chosen again, now that obstacles are known;
 *   then bodies with pins move too; then each obstacle is left along the shortest way as a whole.
 */
#include "sim/shifts.h"
#include "sim/way_out.h"

#include "core/vec.h"

#include <stdio.h>

#define ROUNDS  300
#define ROOMY   5e-3 /* of the size of a body: about as much room is left, at most */
#define CHOICES 4    /* times the bodies: how often ways between them are chosen again */
#define BLAME   1e-3 /* of the most: what less of has no part in a contradiction */
#define WITHIN  1e-7 /* m: to this planes are met; less than the room behind them */
#define STRIDE  0.4  /* of the least width of a body: farther apart obstacles are not looked for */
#define STRIDES 2000 /* at most */
#define HALVES  24   /* of a stride, to where a body enters an obstacle */
#define HELD    4    /* in each other's way that are told */

typedef struct shifts {
    pl_overlap_search search;
    pl_scene *scene;
    int bodies, others;     /* pairs are [bodies, others]: with bodies, then with colliders */
    pl_pair_overlap *found; /* [bodies, others] where bodies are now */
    bool *began_in;         /* [bodies, others] */
    int *trouble;           /* [bodies, others] how often there was no way for it: chosen earlier */
    double *before;         /* [n, 3] */
    double *x;              /* [bodies, 3] */
    bool *moves;            /* [bodies] */
    pl_shift_plane *planes;
    int plane_count, capacity;
    int held[HELD], held_count; /* bodies and colliders, as columns of pairs, in each other's way */
    int choices;                /* that were made again */
    bool wholly;                /* out of obstacles along the shortest way as a whole */
} shifts;

/* ---- Where bodies are ---- */

/* At their shifts, or part of the way there. */
static void place(const shifts *s, double part)
{
    memcpy(s->scene->q0, s->before, sizeof(double) * 3 * (size_t)s->scene->vertex_count);
    for (int b = 0; b < s->bodies; b++)
        pl_body_shift(s->scene, b, part, s->x + 3 * (size_t)b);
}

static pl_pair_overlap *pair_of(const shifts *s, const pl_overlap *o, int *row)
{
    bool swap = o->other >= 0 && o->other < o->body;
    int column = o->other < 0 ? s->bodies + o->collider : swap ? o->body : o->other;
    *row = swap ? o->other : o->body;
    return &s->found[*row * s->others + column];
}

static pl_status note(void *user, const pl_overlap *o)
{
    const shifts *s = user;
    int row;
    if (o->other == o->body)
        return pl_overlap_tell(s->search.m, o, 1, NULL);
    pl_pair_overlap *pair = pair_of(s, o, &row);
    pl_pair_note(pair, row, o);
    return PL_OK;
}

/* What overlaps now, s->found; with obstacles alone, or all. */
static pl_status look(shifts *s, bool all, bool *any)
{
    *any = false;
    memset(s->found, 0, sizeof *s->found * (size_t)(s->bodies * s->others));
    pl_overlap_search_all(&s->search);
    if (!all)
        memset(s->search.touches, 0, sizeof(bool) * (size_t)(s->bodies * s->bodies));
    PL_TRY(pl_overlaps_look(&s->search, note, s));
    for (int i = 0; i < s->bodies * s->others; i++)
        *any = *any || s->found[i].count > 0;
    return PL_OK;
}

/* ---- Planes ---- */

/* Bodies of a plane with pins move where nothing else of it does. */
static void let_move(shifts *s, const pl_shift_plane *p)
{
    if (s->moves[p->body] || (p->other >= 0 && s->moves[p->other]))
        return;
    s->moves[p->body] = true;
    if (p->other >= 0)
        s->moves[p->other] = true;
    for (int k = 0; k < s->plane_count; k++)
        s->planes[k].force = 0;
}

static bool is_of(const pl_shift_plane *p, const pl_overlap *o)
{
    return p->body == o->body && p->other == o->other && p->collider == o->collider;
}

/* What is left in between: doubled with every plane of the pair, as round things that slide along each
 * other would get ever smaller ones. */
static double room_for(const shifts *s, const pl_overlap *o)
{
    double room = PL_WAY_ROOM, lower[3], upper[3], size[3];
    pl_body_box(s->scene, o->body, lower, upper);
    pl_sub3(upper, lower, size);
    for (int k = 0; k < s->plane_count && room < ROOMY * pl_norm3(size); k++)
        if (is_of(&s->planes[k], o))
            room *= 2;
    return room;
}

/* One more: `by` farther along the way than where bodies are now, and some room. */
static pl_status add(shifts *s, const pl_overlap *o, const double along[3], double by)
{
    pl_shift_plane p = {.body = o->body, .other = o->other, .collider = o->collider};
    memcpy(p.normal, along, sizeof p.normal);
    p.least = pl_dot3(along, s->x + 3 * p.body) + by + room_for(s, o);
    if (p.other >= 0)
        p.least -= pl_dot3(along, s->x + 3 * p.other);
    let_move(s, &p);
    PL_TRY(pl_grow(s->scene->ctx, (void **)&s->planes, &s->capacity, s->plane_count + 1, sizeof p));
    s->planes[s->plane_count++] = p;
    return PL_OK;
}

static void hold(shifts *s, int column)
{
    for (int k = 0; k < s->held_count; k++)
        if (s->held[k] == column)
            return;
    if (s->held_count < HELD)
        s->held[s->held_count++] = column;
}

/* Planes that contradict each other, and between whom they are. */
static void note_held(shifts *s)
{
    double most = 0;
    s->held_count = 0;
    for (int k = 0; k < s->plane_count; k++)
        most = fmax(most, s->planes[k].blame);
    for (int k = 0; k < s->plane_count; k++) {
        pl_shift_plane *p = &s->planes[k];
        if (!(p->blame > BLAME * most))
            continue;
        p->at_odds = true;
        hold(s, p->body);
        hold(s, p->other < 0 ? s->bodies + p->collider : p->other);
    }
}

/* Shifts that meet all planes; forces begin anew where there are none. */
static pl_status meet(shifts *s, bool *met)
{
    PL_TRY(pl_shifts_find(s->scene->ctx, s->bodies, s->moves, s->plane_count, s->planes, WITHIN, s->x,
                          met));
    if (!*met) {
        note_held(s);
        for (int k = 0; k < s->plane_count; k++)
            s->planes[k].force = 0;
    }
    place(s, 1);
    return PL_OK;
}

/* Bars ways back through planes that the pair has. */
static void bar_ways_back(const shifts *s, const pl_overlap *o, pl_ways *ways)
{
    for (int k = 0; k < s->plane_count; k++)
        for (int w = 0; w < PL_WAY_COUNT && is_of(&s->planes[k], o); w++)
            if (pl_dot3(ways->unit[w], s->planes[k].normal) < 0)
                ways->barred[w] = true;
}

/* Out of an obstacle: where it is deepest, as far as that place tells, or as a whole. */
static pl_status leave(shifts *s, const pl_pair_overlap *pair)
{
    const pl_overlap *o = &pair->deepest;
    double harmless = s->search.harmless;
    int k = -1;
    pl_ways ways;
    if (s->wholly) {
        ways = pl_ways_of(&s->search, pair);
        bar_ways_back(s, o, &ways);
        s->search.harmless = 0;
        PL_TRY(pl_ways_shortest(&s->search, pair, &ways, &k));
        s->search.harmless = harmless;
    }
    return k < 0 ? add(s, o, o->out, o->depth) : add(s, o, ways.unit[k], ways.length[k]);
}

/* Obstacles that bodies began in; others are kept out of (stay_out). */
static pl_status leave_obstacles(shifts *s, bool *met)
{
    bool any = false;
    for (int i = 0; i < s->bodies * s->others; i++)
        if (i % s->others >= s->bodies && s->found[i].count > 0 && s->began_in[i]) {
            PL_TRY(leave(s, &s->found[i]));
            any = true;
        }
    return any ? meet(s, met) : PL_OK;
}

/* ---- Ways between bodies ---- */

/* The shortest way of two bodies that the planes there are leave. */
static pl_status part(shifts *s, const pl_pair_overlap *pair, bool *met)
{
    pl_ways ways = pl_ways_of(&s->search, pair);
    size_t size = 3 * (size_t)s->bodies;
    pl_status status = PL_OK;
    double *x;
    int k;
    PL_NEW(s->scene->ctx, x, size, done);
    memcpy(x, s->x, sizeof *x * size);
    for (*met = false; !*met;) {
        PL_CHECK(pl_ways_shortest(&s->search, pair, &ways, &k), done);
        if (k < 0)
            break;
        PL_CHECK(add(s, &pair->deepest, ways.unit[k], ways.length[k]), done);
        PL_CHECK(meet(s, met), done);
        if (*met)
            break;
        ways.barred[k] = true;
        s->plane_count--;
        memcpy(s->x, x, sizeof *x * size);
        place(s, 1);
    }
done:
    pl_free(s->scene->ctx, x);
    return status;
}

/* The pair of bodies to be parted next, or -1: that there was no way for, then the deepest. */
static int next_pair(const shifts *s)
{
    int next = -1;
    for (int i = 0; i < s->bodies * s->others; i++) {
        if (i % s->others >= s->bodies || s->found[i].count == 0)
            continue;
        if (next < 0 || s->trouble[i] > s->trouble[next] ||
            (s->trouble[i] == s->trouble[next] &&
             s->found[i].deepest.depth > s->found[next].deepest.depth))
            next = i;
    }
    return next;
}

/* Pairs of bodies one after the other, as far as those before left them in each other. */
static pl_status part_bodies(shifts *s, bool *met)
{
    for (int i = next_pair(s); i >= 0; i = next_pair(s)) {
        pl_pair_overlap now;
        PL_TRY(pl_pair_look(&s->search, i / s->others, i % s->others, -1, &now));
        s->found[i].count = 0;
        if (now.count == 0)
            continue;
        PL_TRY(part(s, &now, met));
        s->trouble[i] += !*met;
        if (!*met)
            return PL_OK;
    }
    return PL_OK;
}

/* ---- Obstacles on the way ---- */

/* Parts of the way there, so short that nothing passes an obstacle between them. */
static int count_strides(const shifts *s)
{
    double most = 1;
    for (int b = 0; b < s->bodies; b++) {
        double lower[3], upper[3], width = INFINITY;
        pl_body_box(s->scene, b, lower, upper);
        for (int k = 0; k < 3; k++)
            width = upper[k] > lower[k] ? fmin(width, upper[k] - lower[k]) : width;
        most = fmax(most, pl_norm3(s->x + 3 * (size_t)b) / (STRIDE * width));
    }
    return (int)ceil(fmin(most, STRIDES));
}

/* A plane where a body enters an obstacle, between two parts of the way. */
static pl_status enter(shifts *s, const pl_overlap *o, double from, double to)
{
    const double *x = s->x + 3 * (size_t)o->body;
    pl_pair_overlap at = {.count = 1, .deepest = *o}, here;
    for (int k = 0; k < HALVES; k++) {
        double middle = 0.5 * (from + to);
        place(s, middle);
        PL_TRY(pl_pair_look(&s->search, o->body, -1, o->collider, &here));
        *(here.count > 0 ? &to : &from) = middle;
        if (here.count > 0)
            at = here;
    }
    double away[3] = {-x[0], -x[1], -x[2]}, length = pl_norm3(away);
    bool back = pl_dot3(at.deepest.out, away) > 0;
    for (int k = 0; k < 3; k++)
        away[k] = back ? at.deepest.out[k] : away[k] / length;
    /* from s->x, all the way there, to where it enters */
    return add(s, o, away, (to - 1) * pl_dot3(away, x) + at.deepest.depth);
}

/* Planes for what is entered first on the straight way to where bodies are; *any: there is. */
static pl_status walk(shifts *s, bool *any)
{
    int strides = count_strides(s);
    *any = false;
    for (int k = 1; k <= strides && !*any; k++) {
        bool some;
        place(s, (double)k / strides);
        PL_TRY(look(s, false, &some));
        for (int i = 0; some && i < s->bodies * s->others; i++) {
            if (i % s->others < s->bodies || s->found[i].count == 0 || s->began_in[i])
                continue;
            PL_TRY(enter(s, &s->found[i].deepest, (double)(k - 1) / strides, (double)k / strides));
            *any = true;
        }
    }
    place(s, 1);
    return PL_OK;
}

static pl_status stay_out(shifts *s, bool *met)
{
    bool any = s->others > s->bodies;
    for (int k = 0; any && *met; k++) {
        PL_TRY(walk(s, &any));
        if (any)
            PL_TRY(meet(s, met));
        *met = *met && k < ROUNDS;
    }
    return PL_OK;
}

/* ---- All of them ---- */

/* Forgets planes: those between bodies that are at odds with others; all of those; all. */
typedef enum which { AT_ODDS, BETWEEN, ALL } which;

static int forget(shifts *s, which w)
{
    int kept = 0, count = s->plane_count;
    for (int k = 0; k < count; k++) {
        pl_shift_plane *p = &s->planes[k];
        bool stays = w != ALL && (p->other < 0 || (w == AT_ODDS && !p->at_odds));
        p->force = 0;
        p->at_odds = false;
        if (stays)
            s->planes[kept++] = *p;
    }
    s->plane_count = kept;
    return count - kept;
}

/* Lets all bodies move; false where they did. */
static bool let_all_move(shifts *s)
{
    bool any = false;
    for (int b = 0; b < s->bodies; b++) {
        any = any || !s->moves[b];
        s->moves[b] = true;
    }
    return any;
}

/* Out of obstacles as wholes from now on; false where that is so or none was begun in. */
static bool go_wholly(shifts *s)
{
    bool any = false;
    for (int i = 0; i < s->bodies * s->others; i++)
        any = any || (i % s->others >= s->bodies && s->began_in[i]);
    any = any && !s->wholly;
    s->wholly = true;
    return any;
}

/* Something else, once planes cannot all be met; *met is false where there is nothing left to try. */
static pl_status try_again(shifts *s, bool *met)
{
    *met = false;
    while (s->choices++ < CHOICES * s->bodies && forget(s, AT_ODDS) > 0) {
        PL_TRY(meet(s, met));
        if (*met)
            return PL_OK;
    }
    forget(s, BETWEEN);
    s->choices = 0;
    if (let_all_move(s))
        PL_TRY(meet(s, met));
    if (*met || !go_wholly(s))
        return PL_OK;
    forget(s, ALL);
    return meet(s, met);
}

static pl_status go(shifts *s, bool *met)
{
    *met = true;
    PL_TRY(leave_obstacles(s, met));
    if (*met)
        PL_TRY(part_bodies(s, met));
    return *met ? stay_out(s, met) : PL_OK;
}

/* Who is in whose way: "a", "b" and "c". */
static void name_held(const shifts *s, char *out, size_t size)
{
    *out = 0;
    for (int k = 0; k < s->held_count; k++) {
        int c = s->held[k];
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s\"%s\"",
                 k == 0                  ? ": "
                 : k + 1 < s->held_count ? ", "
                                         : " and ",
                 c < s->bodies ? s->scene->bodies[c].name : s->scene->colliders[c - s->bodies].name);
    }
    if (s->held_count > 0)
        snprintf(out + strlen(out), size - strlen(out), " are in each other's way");
}

/* The deepest overlap of the start, of the first kind there is, and why it stays. */
static pl_status refuse(shifts *s)
{
    char held[512], trouble[640];
    const pl_overlap *worst = NULL;
    bool any;
    int count = 0;
    place(s, 0);
    PL_TRY(look(s, true, &any)); /* that there was some is why this is called */
    for (int i = 0; i < s->bodies * s->others; i++) {
        const pl_overlap *o = &s->found[i].deepest;
        if (s->found[i].count == 0)
            continue;
        count += s->found[i].count;
        if (!worst || o->kind < worst->kind || (o->kind == worst->kind && o->depth > worst->depth))
            worst = o;
    }
    name_held(s, held, sizeof held);
    snprintf(trouble, sizeof trouble,
             "bring_out found no way out for the bodies as wholes%s; move them apart", held);
    return pl_overlap_tell(s->search.m, worst, count, trouble);
}

static pl_status bring_out(shifts *s)
{
    bool any, met;
    PL_TRY(look(s, true, &any));
    for (int i = 0; i < s->bodies * s->others; i++)
        s->began_in[i] = s->found[i].count > 0;
    for (int k = 0; any && k < ROUNDS; k++) {
        PL_TRY(go(s, &met));
        if (!met)
            PL_TRY(try_again(s, &met));
        if (!met)
            return refuse(s);
        PL_TRY(look(s, true, &any));
    }
    return any ? refuse(s) : PL_OK;
}

static pl_status check_open(pl_scene *scene)
{
    PL_TRY(pl_scene_must_be_open(scene));
    PL_TRY(pl_scene_must_have_bodies(scene));
    if (scene->parts[PL_OWNER_ATTACHMENT].count > 0 || scene->parts[PL_OWNER_CABLE].count > 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                       "bring_out: expected before attachments and cables are added, which take their "
                       "lengths from where bodies are");
    return PL_OK;
}

/* Bodies with pins stay where they are as long as others can go. */
static pl_status shifts_create(const pl_model *m, shifts *s)
{
    pl_scene *scene = m->scene;
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    size_t size = 3 * (size_t)scene->vertex_count;
    *s = (shifts){.scene = scene, .bodies = scene->body_count};
    s->others = s->bodies + scene->collider_count;
    PL_TRY(pl_overlap_search_create(m, &s->search));
    PL_NEW(ctx, s->found, s->bodies * s->others, done);
    PL_NEW(ctx, s->began_in, s->bodies * s->others, done);
    PL_NEW(ctx, s->trouble, s->bodies * s->others, done);
    PL_NEW(ctx, s->before, size, done);
    PL_NEW(ctx, s->x, 3 * s->bodies, done);
    PL_NEW(ctx, s->moves, s->bodies, done);
    memcpy(s->before, scene->q0, sizeof *s->before * size);
    for (int b = 0; b < s->bodies; b++)
        s->moves[b] = true;
    for (int p = 0; p < scene->pin_vertex_count; p++)
        s->moves[scene->body_of[scene->pin_vertex[p]]] = false;
done:
    return status;
}

static void shifts_free(shifts *s)
{
    pl_context *ctx = s->scene->ctx;
    if (s->search.m)
        pl_overlap_search_free(&s->search);
    pl_free(ctx, s->found);
    pl_free(ctx, s->began_in);
    pl_free(ctx, s->trouble);
    pl_free(ctx, s->before);
    pl_free(ctx, s->x);
    pl_free(ctx, s->moves);
    pl_free(ctx, s->planes);
}

pl_status pl_scene_bring_out(pl_scene *scene, double *farthest)
{
    pl_status status = PL_OK;
    double most = 0;
    pl_model *m = NULL;
    shifts s = {.scene = scene};
    PL_TRY(check_open(scene));
    PL_CHECK(pl_model_take(scene, &m), done);
    PL_CHECK(shifts_create(m, &s), done);
    status = bring_out(&s);
    for (int b = 0; b < s.bodies; b++)
        most = fmax(most, pl_norm3(s.x + 3 * (size_t)b));
    if (status != PL_OK)
        memcpy(scene->q0, s.before, sizeof *s.before * 3 * (size_t)scene->vertex_count);
    else if (farthest)
        *farthest = most;
done:
    shifts_free(&s);
    pl_model_drop(m);
    return status;
}
