/* Where fronts find what they are assembled from, and where they leave it. */
#include "linalg/multifrontal_plan.h"

/* The places of A's blocks: those of column vertex v are the transposes of v's row. */
static pl_status place_entries(pl_context *ctx, pl_multifrontal_plan *m, const pl_pattern *pattern,
                               const pl_supernodes *l)
{
    pl_status status = PL_OK;
    int *local = NULL, count = 0;
    PL_NEW(ctx, m->entry, (pattern->nnz + pattern->n) / 2, done);
    PL_NEW(ctx, m->entry_from, l->count + 1, done);
    PL_NEW(ctx, local, l->n, done);
    for (int k = 0; k < l->count; k++) {
        int height = l->begin[k + 1] - l->begin[k];
        for (int i = 0; i < height; i++)
            local[l->row[l->begin[k] + i]] = i;
        for (int j = l->first[k]; j < l->first[k + 1]; j += 3) {
            int v = l->order[j] / 3;
            for (int e = pattern->row[v]; e < pattern->row[v + 1]; e++) {
                int row = l->place[3 * pattern->col[e]];
                if (row >= j)
                    m->entry[count++] = (pl_front_entry){
                        .block = e,
                        .vertex = {v, pattern->col[e]},
                        .at = (j - l->first[k]) * height + local[row],
                    };
            }
        }
        m->entry_from[k + 1] = count;
    }
done:
    pl_free(ctx, local);
    return status;
}

static pl_status list_children(pl_context *ctx, pl_multifrontal_plan *m, const pl_supernodes *l)
{
    pl_status status = PL_OK;
    int *filled = NULL;
    PL_NEW(ctx, m->child_from, l->count + 1, done);
    PL_NEW(ctx, m->child, l->count, done);
    PL_NEW(ctx, filled, l->count, done);
    for (int k = 0; k < l->count; k++) {
        int parent = l->parent[k];
        if (parent >= 0)
            m->child_from[parent + 1]++;
    }
    for (int k = 0; k < l->count; k++)
        m->child_from[k + 1] += m->child_from[k];
    for (int k = 0; k < l->count; k++) {
        int parent = l->parent[k];
        if (parent >= 0)
            m->child[m->child_from[parent] + filled[parent]++] = k;
    }
done:
    pl_free(ctx, filled);
    return status;
}

/* Where the vertices below each supernode are in its parent's front. */
static pl_status find_positions(pl_context *ctx, pl_multifrontal_plan *m, const pl_supernodes *l)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, m->position, l->triple_from[l->count], done);
    PL_NEW(ctx, m->run_end, l->triple_from[l->count], done);
    for (int k = 0; k < l->count; k++) {
        int parent = l->parent[k], from = l->triple_from[k], end = l->triple_from[k + 1];
        const int *row = parent < 0 ? NULL : l->row + l->begin[parent];
        for (int i = from, at = 0; i < end; i++) {
            while (row[at] != l->triple[i])
                at++;
            m->position[i] = at;
        }
        for (int i = end - 1; i >= from; i--)
            m->run_end[i] = i + 1 < end && m->position[i + 1] == m->position[i] + 3 ? m->run_end[i + 1]
                                                                                    : i + 1 - from;
    }
done:
    return status;
}

/* Room for the rests: a rest lives from its front to its parent's. Freed room is used again within a
 * part, by the thread's next part and by the top; what a part leaves to the top stays. Memory that is
 * touched for the first time costs more than what is computed in it. */
typedef struct room {
    size_t from, size;
    int until; /* the supernode that empties it */
} room;

typedef struct rooms {
    room *live;
    int count;
    size_t peak;
} rooms;

/* The first gap that fits. Live rooms are kept in ascending order. */
static size_t take_room(rooms *r, size_t size, int until)
{
    size_t from = 0;
    int at = 0;
    while (at < r->count && r->live[at].from - from < size) {
        from = r->live[at].from + r->live[at].size;
        at++;
    }
    memmove(r->live + at + 1, r->live + at, sizeof *r->live * (size_t)(r->count - at));
    r->live[at] = (room){from, size, until};
    r->count++;
    r->peak = from + size > r->peak ? from + size : r->peak;
    return from;
}

static void empty_rooms(rooms *r, int k)
{
    int kept = 0;
    for (int i = 0; i < r->count; i++)
        if (r->live[i].until != k)
            r->live[kept++] = r->live[i];
    r->count = kept;
}

static size_t rest_values(const pl_supernodes *l, int k)
{
    pl_panel p = pl_panel_of(l, k);
    return pl_front_rest(&p);
}

static bool left_to_top(const pl_supernodes *l, const pl_triangular_plan *t, int k)
{
    int parent = l->parent[k];
    return t->in_part[k] && parent >= 0 && !t->in_part[parent];
}

/* What is not left to the top. */
static void place_rest(pl_multifrontal_plan *m, const pl_supernodes *l, const pl_triangular_plan *t,
                       int k, rooms *r)
{
    if (rest_values(l, k) > 0 && !left_to_top(l, t, k))
        m->rest_from[k] = m->left + take_room(r, rest_values(l, k), l->parent[k]);
    empty_rooms(r, k);
}

static pl_status place_rests(pl_context *ctx, pl_multifrontal_plan *m, const pl_triangular_plan *t)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    rooms r = {0};
    PL_NEW(ctx, m->rest_from, l->count, done);
    PL_NEW(ctx, r.live, l->count + 1, done);
    for (int k = 0; k < l->count; k++)
        if (left_to_top(l, t, k)) {
            m->rest_from[k] = m->left;
            m->left += rest_values(l, k);
        }
    for (int p = 0; p < t->part_count; p++, r.count = 0)
        for (int k = t->parts[p].begin; k < t->parts[p].end; k++)
            place_rest(m, l, t, k, &r);
    m->room = r.peak;
    for (int k = 0; k < l->count; k++)
        if (!t->in_part[k])
            place_rest(m, l, t, k, &r);
    m->top_room = r.peak;
done:
    pl_free(ctx, r.live);
    return status;
}

pl_status pl_multifrontal_plan_create(pl_context *ctx, const pl_pattern *pattern,
                                      const pl_triangular_plan *t, bool keep_schur,
                                      pl_multifrontal_plan *out)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    pl_multifrontal_plan *m = out;
    *m = (pl_multifrontal_plan){
        .pattern = pattern,
        .triangular = t,
        .schur_size = keep_schur ? l->n - l->first[l->count - 1] : 0,
    };
    PL_CHECK(place_entries(ctx, m, pattern, l), done);
    PL_CHECK(list_children(ctx, m, l), done);
    PL_CHECK(find_positions(ctx, m, l), done);
    PL_CHECK(place_rests(ctx, m, t), done);
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_panel_of(l, k);
        m->front = pl_front_room(&p) > m->front ? pl_front_room(&p) : m->front;
    }
done:
    if (status != PL_OK)
        pl_multifrontal_plan_free(ctx, m);
    return status;
}

void pl_multifrontal_plan_free(pl_context *ctx, pl_multifrontal_plan *m)
{
    void *arrays[] = {m->entry,    m->entry_from, m->child_from, m->child,
                      m->position, m->run_end,    m->rest_from};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *m = (pl_multifrontal_plan){0};
}
