/* Levels of fronts, their lines, and what lines are assembled from. */
#include "device/fronts.h"

#include "device/layout.h"

#include <limits.h>

/* What is known of the tree while it is laid out. */
typedef struct tree {
    const pl_pattern *pattern;
    const pl_supernodes *l;
    int *level;  /* [count] of each supernode */
    int *number; /* [count] of its front */
    int *whose;  /* [count] the supernode of a front */
    int *local;  /* [n] line of a vertex, by place, in the front at hand */
} tree;

void pl_fronts_free(pl_context *ctx, pl_fronts *f)
{
    void *arrays[] = {f->level_fronts, f->level_lines,  f->level_most, f->front,         f->line_front,
                      f->line_place,   f->entry_from,   f->entry,      f->child_from,    f->child,
                      f->position,     f->unknown_from, f->unknown,    f->unknown_front, f->above_from,
                      f->above,        f->order};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *f = (pl_fronts){0};
}

static int height_of(const pl_supernodes *l, int k)
{
    return l->begin[k + 1] - l->begin[k];
}

static int columns_of(const pl_supernodes *l, int k)
{
    return l->first[k + 1] - l->first[k];
}

/* Levels from the leaves on, and fronts in their order. */
static pl_status order_fronts(pl_context *ctx, pl_fronts *f, tree *t)
{
    const pl_supernodes *l = t->l;
    pl_status status = PL_OK;
    for (int k = 0; k < l->count; k++) {
        int parent = l->parent[k], above = t->level[k] + 1;
        if (parent >= 0 && t->level[parent] < above)
            t->level[parent] = above;
        f->level_count = above > f->level_count ? above : f->level_count;
    }
    PL_NEW(ctx, f->level_fronts, f->level_count + 1, done);
    PL_NEW(ctx, f->level_lines, f->level_count + 1, done);
    PL_NEW(ctx, f->level_most, f->level_count, done);
    PL_NEW(ctx, f->unknown_from, f->level_count + 1, done);
    for (int level = 0, at = 0; level < f->level_count; level++) {
        for (int k = 0; k < l->count; k++) {
            if (t->level[k] != level)
                continue;
            t->number[k] = at;
            t->whose[at++] = k;
            f->lines += height_of(l, k) / 3;
            f->level_most[level] =
                columns_of(l, k) > f->level_most[level] ? columns_of(l, k) : f->level_most[level];
        }
        f->level_fronts[level + 1] = at;
        f->level_lines[level + 1] = f->lines;
    }
    f->count = l->count;
done:
    return status;
}

/* Fronts and their lines; rests are placed later. */
static void lay_lines(pl_fronts *f, const tree *t)
{
    const pl_supernodes *l = t->l;
    int line = 0, unknown = 0, level = 0;
    for (int k = 0; k < f->count; k++) {
        int s = t->whose[k], columns = columns_of(l, s);
        int *front = f->front + PL_FRONT_SIZE * k;
        front[PL_FRONT_COLUMNS] = columns;
        front[PL_FRONT_BELOW] = height_of(l, s) - columns;
        front[PL_FRONT_VALUES] = (int)f->values;
        front[PL_FRONT_FIRST] = l->first[s];
        front[PL_FRONT_LINE] = line;
        f->values += (size_t)columns * (size_t)height_of(l, s);
        for (int i = l->begin[s]; i < l->begin[s + 1]; i += 3) {
            f->line_front[line] = k;
            f->line_place[line++] = l->row[i] / 3;
        }
        for (int c = 0; c < columns; c++) {
            f->unknown[unknown] = l->first[s] + c;
            f->unknown_front[unknown++] = k;
        }
        while (level < f->level_count && f->level_fronts[level + 1] == k + 1)
            f->unknown_from[++level] = unknown;
    }
}

/* Room for what fronts leave, which lives from their level to their parent's; the first gap that fits.
 */
typedef struct room {
    size_t from, size;
    int until; /* the level that empties it */
} room;

static size_t take(room *rooms, int *count, size_t size, int until)
{
    size_t from = 0;
    int at = 0;
    for (; at < *count && rooms[at].from - from < size; at++)
        from = rooms[at].from + rooms[at].size;
    memmove(rooms + at + 1, rooms + at, sizeof *rooms * (size_t)(*count - at));
    rooms[at] = (room){from, size, until};
    ++*count;
    return from;
}

static pl_status place_rests(pl_context *ctx, pl_fronts *f, const tree *t)
{
    pl_status status = PL_OK;
    room *rooms = NULL;
    int count = 0;
    PL_NEW(ctx, rooms, f->count + 1, done);
    for (int level = 0; level < f->level_count; level++) {
        int kept = 0;
        for (int r = 0; r < count; r++)
            if (rooms[r].until >= level)
                rooms[kept++] = rooms[r];
        count = kept;
        for (int k = f->level_fronts[level]; k < f->level_fronts[level + 1]; k++) {
            int *front = f->front + PL_FRONT_SIZE * k, parent = t->l->parent[t->whose[k]];
            size_t below = (size_t)front[PL_FRONT_BELOW];
            if (below == 0)
                continue;
            size_t from = take(rooms, &count, below * below, t->level[parent]);
            front[PL_FRONT_REST] = (int)from;
            f->rests = from + below * below > f->rests ? from + below * below : f->rests;
        }
    }
    if (f->values > INT_MAX || f->rests > INT_MAX)
        status = pl_fail(ctx, PL_ERROR_MEMORY, "device: a factor of %zu values is more than fits",
                         f->values);
done:
    pl_free(ctx, rooms);
    return status;
}

/* Blocks of the pattern of each line: those of its vertex with the front's own. Counts, then fills. */
static void list_entries(pl_fronts *f, tree *t, bool fill)
{
    const pl_supernodes *l = t->l;
    for (int k = 0; k < f->count; k++) {
        const int *front = f->front + PL_FRONT_SIZE * k;
        int first = front[PL_FRONT_LINE], columns = front[PL_FRONT_COLUMNS] / 3;
        int end = first + columns + front[PL_FRONT_BELOW] / 3;
        for (int i = first; i < end; i++)
            t->local[f->line_place[i]] = i;
        for (int c = 0; c < columns; c++) {
            int u = l->order[front[PL_FRONT_FIRST] + 3 * c] / 3;
            for (int e = t->pattern->row[u]; e < t->pattern->row[u + 1]; e++) {
                int v = t->pattern->col[e], place = l->place[3 * v] / 3;
                if (3 * place < front[PL_FRONT_FIRST] + 3 * c)
                    continue;
                int at = f->entry_from[t->local[place] + (fill ? 0 : 1)]++;
                if (fill) {
                    f->entry[2 * at] = pl_pattern_find(t->pattern, v, u);
                    f->entry[2 * at + 1] = c;
                }
            }
        }
    }
}

/* Lines of parents that those below a front's columns go to, and, by vertex, the fronts they are in. */
static void list_children(pl_fronts *f, tree *t, bool fill)
{
    for (int k = 0; k < f->count; k++) {
        const int *front = f->front + PL_FRONT_SIZE * k;
        int parent = t->l->parent[t->whose[k]], below = front[PL_FRONT_BELOW] / 3;
        int first = front[PL_FRONT_LINE] + front[PL_FRONT_COLUMNS] / 3;
        if (below == 0)
            continue;
        const int *up = f->front + PL_FRONT_SIZE * t->number[parent];
        int lines = (up[PL_FRONT_COLUMNS] + up[PL_FRONT_BELOW]) / 3;
        for (int i = 0; i < lines; i++)
            t->local[f->line_place[up[PL_FRONT_LINE] + i]] = i;
        for (int j = 0; j < below; j++) {
            int place = f->line_place[first + j], to = up[PL_FRONT_LINE] + t->local[place];
            int at = f->child_from[to + (fill ? 0 : 1)]++;
            int by = f->above_from[place + (fill ? 0 : 1)]++;
            f->position[first + j] = t->local[place];
            if (fill) {
                f->child[2 * at] = f->above[2 * by] = k;
                f->child[2 * at + 1] = f->above[2 * by + 1] = j;
            }
        }
    }
}

static void add_up(int *from, int count)
{
    for (int k = 0; k < count; k++)
        from[k + 1] += from[k];
}

/* Filling has moved each beginning to the next one's. */
static void move_back(int *from, int count)
{
    memmove(from + 1, from, sizeof *from * (size_t)count);
    from[0] = 0;
}

static pl_status fill_lists(pl_context *ctx, pl_fronts *f, tree *t)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, f->entry_from, f->lines + 1, done);
    PL_NEW(ctx, f->child_from, f->lines + 1, done);
    PL_NEW(ctx, f->above_from, f->n + 1, done);
    PL_NEW(ctx, f->position, f->lines, done);
    list_entries(f, t, false);
    list_children(f, t, false);
    add_up(f->entry_from, f->lines);
    add_up(f->child_from, f->lines);
    add_up(f->above_from, f->n);
    PL_NEW(ctx, f->entry, 2 * f->entry_from[f->lines], done);
    PL_NEW(ctx, f->child, 2 * f->child_from[f->lines], done);
    PL_NEW(ctx, f->above, 2 * f->above_from[f->n], done);
    list_entries(f, t, true);
    list_children(f, t, true);
    move_back(f->entry_from, f->lines);
    move_back(f->child_from, f->lines);
    move_back(f->above_from, f->n);
done:
    return status;
}

pl_status pl_fronts_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                           pl_fronts *out)
{
    pl_status status = PL_OK;
    pl_fronts *f = out;
    tree t = {.pattern = pattern, .l = l};
    *f = (pl_fronts){.n = pattern->n};
    PL_NEW(ctx, t.level, l->count, done);
    PL_NEW(ctx, t.number, l->count, done);
    PL_NEW(ctx, t.whose, l->count, done);
    PL_NEW(ctx, t.local, pattern->n, done);
    PL_CHECK(order_fronts(ctx, f, &t), done);
    PL_NEW(ctx, f->front, PL_FRONT_SIZE * f->count, done);
    PL_NEW(ctx, f->line_front, f->lines, done);
    PL_NEW(ctx, f->line_place, f->lines, done);
    PL_NEW(ctx, f->unknown, 3 * f->n, done);
    PL_NEW(ctx, f->unknown_front, 3 * f->n, done);
    PL_NEW(ctx, f->order, 3 * f->n, done);
    memcpy(f->order, l->order, sizeof(int) * 3 * (size_t)f->n);
    lay_lines(f, &t);
    PL_CHECK(place_rests(ctx, f, &t), done);
    PL_CHECK(fill_lists(ctx, f, &t), done);
done:
    pl_free(ctx, t.level);
    pl_free(ctx, t.number);
    pl_free(ctx, t.whose);
    pl_free(ctx, t.local);
    if (status != PL_OK)
        pl_fronts_free(ctx, f);
    return status;
}
