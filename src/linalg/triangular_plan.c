/* What solves with a factor read, and who reads what: parts, sealed subtrees, the layout. */
#include "linalg/triangular_plan.h"

#include <stdlib.h>

#define SHARES       8      /* a part is at most this fraction of the factor */
#define WORTH_A_PART 200    /* a part smaller than this fraction is left to the top */
#define SEALED_MOST  250000 /* values of a sealed subtree: as many as fit the cache of a core */
#define AGAIN        1.25   /* reading them once more, from there, in times of reading them at all */

/* Subtrees of the elimination tree, by their roots. */
typedef struct subtrees {
    int *first_descendant; /* [count] */
    double *weight;        /* [count] values, */
    double *inside;        /* [count] and those in rows of the subtree itself */
    double total;
} subtrees;

static void free_tree(pl_context *ctx, subtrees *tree)
{
    pl_free(ctx, tree->first_descendant);
    pl_free(ctx, tree->weight);
    pl_free(ctx, tree->inside);
}

/* Adds supernode k's values to tree->inside of each subtree that it is in. */
static void count_inside(const pl_supernodes *l, int k, subtrees *tree)
{
    pl_panel p = pl_panel_of(l, k);
    int rows = 0;
    for (int root = k; root >= 0; root = l->parent[root]) {
        while (rows < p.below && p.row[rows] < l->first[root + 1])
            rows++;
        tree->inside[root] += p.columns * (0.5 * p.columns + rows);
    }
}

static pl_status measure_tree(pl_context *ctx, const pl_supernodes *l, subtrees *out)
{
    out->first_descendant = pl_alloc(ctx, (size_t)l->count, sizeof(int));
    out->weight = pl_alloc(ctx, (size_t)l->count, sizeof(double));
    out->inside = pl_alloc(ctx, (size_t)l->count, sizeof(double));
    if (!out->first_descendant || !out->weight || !out->inside)
        return PL_ERROR_MEMORY;
    for (int k = 0; k < l->count; k++)
        out->first_descendant[k] = k;
    for (int k = 0; k < l->count; k++) {
        double own = (double)(l->begin[k + 1] - l->begin[k]) * (l->first[k + 1] - l->first[k]);
        int parent = l->parent[k];
        out->weight[k] += own;
        out->total += own;
        count_inside(l, k, out);
        if (parent < 0)
            continue;
        out->weight[parent] += out->weight[k];
        if (out->first_descendant[k] < out->first_descendant[parent])
            out->first_descendant[parent] = out->first_descendant[k];
    }
    return PL_OK;
}

/* ---- Parts ---- */

/* Subtrees of a share at most, neighbours joined up to a share. A supernode is the root of such a
 * subtree when its own fits and its parent's does not; walking in order meets them from left to right.
 */
static int find_parts(const pl_supernodes *l, const subtrees *tree, pl_part *parts)
{
    int count = 0;
    double share = tree->total / SHARES;
    for (int k = 0; k < l->count; k++) {
        int parent = l->parent[k];
        if (tree->weight[k] > share || (parent >= 0 && tree->weight[parent] <= share))
            continue;
        bool joins = count > 0 && parts[count - 1].end == tree->first_descendant[k] &&
                     parts[count - 1].values + tree->weight[k] <= share;
        if (joins) {
            parts[count - 1].end = k + 1;
            parts[count - 1].values += tree->weight[k];
        } else {
            if (count > 0 && parts[count - 1].values < tree->total / WORTH_A_PART)
                count--;
            parts[count++] =
                (pl_part){.begin = tree->first_descendant[k], .end = k + 1, .values = tree->weight[k]};
        }
    }
    return count;
}

/* Threads take one part after the other: the largest first, so that they end together. */
static int larger_first(const void *a, const void *b)
{
    const pl_part *left = a, *right = b;
    if (left->values != right->values)
        return left->values < right->values ? 1 : -1;
    return left->begin < right->begin ? -1 : 1;
}

/* The tree cut into parts and top, and the top's columns numbered. */
static pl_status divide(pl_context *ctx, pl_triangular_plan *t, const subtrees *tree)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    PL_NEW(ctx, t->parts, l->count, done);
    PL_NEW(ctx, t->in_part, l->count, done);
    PL_NEW(ctx, t->top_of, l->n, done);
    PL_NEW(ctx, t->top_column, l->n, done);
    t->part_count = find_parts(l, tree, t->parts);
    qsort(t->parts, (size_t)t->part_count, sizeof *t->parts, larger_first);
    for (int p = 0; p < t->part_count; p++)
        for (int k = t->parts[p].begin; k < t->parts[p].end; k++)
            t->in_part[k] = true;
    for (int j = 0; j < l->n; j++)
        if (!t->in_part[l->super_of[j]]) {
            t->top_of[j] = t->top_count;
            t->top_column[t->top_count++] = j;
        }
done:
    return status;
}

/* What scratch has to hold. */
static void measure_supernodes(pl_triangular_plan *t)
{
    const pl_supernodes *l = t->supernodes;
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_panel_of(l, k);
        size_t rows = (size_t)(pl_panel_under(&p) + PL_STRIP_ROWS(p.below));
        size_t columns = (size_t)p.columns, values = columns * (size_t)p.height;
        t->tallest = rows > t->tallest ? rows : t->tallest;
        t->widest = columns > t->widest ? columns : t->widest;
        t->largest = values > t->largest ? values : t->largest;
    }
}

/* ---- Sealed subtrees ---- */

/* Whether it is less to read what is inside twice, of each subtree, than all of it, or than its best
 * subtrees' and the rest. */
static void weigh_sealing(const pl_triangular_plan *t, const subtrees *tree, double *least, bool *worth)
{
    const pl_supernodes *l = t->supernodes;
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_panel_of(l, k);
        int parent = l->parent[k];
        double twice = AGAIN * tree->inside[k];
        least[k] += p.columns * (0.5 * p.columns + p.below); /* and its children's, already there */
        worth[k] = t->in_part[k] && tree->inside[k] <= SEALED_MOST && twice < least[k];
        least[k] = worth[k] ? twice : least[k];
        if (parent >= 0)
            least[parent] += least[k];
    }
}

static int count_borders(const pl_pattern *pattern, const pl_supernodes *l, const pl_sealed *s,
                         pl_border *out)
{
    int count = 0;
    for (int j = l->first[s->begin]; j < l->first[s->end]; j += 3) {
        int v = l->order[j] / 3;
        for (int e = pattern->row[v]; e < pattern->row[v + 1]; e++) {
            int other = l->place[3 * pattern->col[e]];
            if (other < l->first[s->end])
                continue;
            if (out)
                out[count] = (pl_border){.inside = j, .outside = other, .block = e};
            count++;
        }
    }
    return count;
}

static pl_status list_borders(pl_context *ctx, pl_triangular_plan *t, const pl_pattern *pattern)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    for (int i = 0; i < t->sealed_count; i++) {
        pl_sealed *s = &t->sealed[i];
        s->border_begin = t->border_count;
        s->border_end = t->border_count += count_borders(pattern, l, s, NULL);
    }
    PL_NEW(ctx, t->border, t->border_count, done);
    for (int i = 0; i < t->sealed_count; i++)
        count_borders(pattern, l, &t->sealed[i], t->border + t->sealed[i].border_begin);
done:
    return status;
}

static pl_status seal(pl_context *ctx, pl_triangular_plan *t, const pl_pattern *pattern,
                      const subtrees *tree)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    double *least = NULL;
    bool *worth = NULL;
    PL_NEW(ctx, least, l->count, done);
    PL_NEW(ctx, worth, l->count, done);
    PL_NEW(ctx, t->sealed, l->count, done);
    weigh_sealing(t, tree, least, worth);
    for (int k = l->count - 1; k >= 0; k = worth[k] ? tree->first_descendant[k] - 1 : k - 1) {
        if (!worth[k])
            continue;
        pl_sealed s = {.begin = tree->first_descendant[k], .end = k + 1};
        for (int i = s.begin; i < s.end; i++)
            t->sealed_by[i] = t->sealed_count;
        t->sealed[t->sealed_count++] = s;
    }
    PL_CHECK(list_borders(ctx, t, pattern), done);
done:
    pl_free(ctx, least);
    pl_free(ctx, worth);
    return status;
}

/* ---- Layout ---- */

/* Where each supernode's values begin. */
static pl_status lay_out(pl_context *ctx, pl_triangular_plan *t)
{
    const pl_supernodes *l = t->supernodes;
    pl_status status = PL_OK;
    PL_NEW(ctx, t->single_at, l->count + 1, done);
    PL_NEW(ctx, t->half_at, l->count + 1, done);
    PL_NEW(ctx, t->kept, l->count, done);
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_panel_of(l, k);
        t->single_at[k + 1] = t->single_at[k] + pl_panel_values(&p);
        int inside = t->sealed_by[k] < 0 ? l->n : l->first[t->sealed[t->sealed_by[k]].end];
        while (t->kept[k] < p.below && p.row[t->kept[k]] < inside)
            t->kept[k]++;
        p.below = t->kept[k];
        t->half_at[k + 1] = t->half_at[k] + pl_panel_values(&p);
    }
done:
    return status;
}

pl_status pl_triangular_plan_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                                    size_t entries, pl_triangular_plan *out)
{
    pl_status status = PL_OK;
    pl_triangular_plan *t = out;
    subtrees tree = {0};
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    *t = (pl_triangular_plan){.supernodes = l, .backend = backends[0], .entries = entries};
    PL_CHECK(measure_tree(ctx, l, &tree), done);
    PL_CHECK(divide(ctx, t, &tree), done);
    measure_supernodes(t);
    PL_NEW(ctx, t->sealed_by, l->count, done);
    for (int k = 0; k < l->count; k++)
        t->sealed_by[k] = -1;
    t->halves = t->backend->half && tree.total >= ctx->limits.half_factor;
    if (t->halves)
        PL_CHECK(seal(ctx, t, pattern, &tree), done);
    PL_CHECK(lay_out(ctx, t), done);
done:
    free_tree(ctx, &tree);
    if (status != PL_OK)
        pl_triangular_plan_free(ctx, t);
    return status;
}

void pl_triangular_plan_free(pl_context *ctx, pl_triangular_plan *t)
{
    void *arrays[] = {t->parts,   t->in_part, t->top_of, t->top_column, t->single_at,
                      t->half_at, t->kept,    t->sealed, t->sealed_by,  t->border};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *t = (pl_triangular_plan){0};
}
