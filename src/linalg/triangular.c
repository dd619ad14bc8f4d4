/* Supernodal triangular solves. */
#include "linalg/triangular.h"

#include "backend/backend.h"

#include <assert.h>
#include <cblas.h>
#include <lapacke.h>
#include <omp.h>

#define SHARES 8 /* a part is at most this fraction of the factor */
#define WORTH_THREADS                                                                                  \
    1500000 /* values: from here on a solve takes 20 times as long as waking a thread, */
#define WORTH_ROUNDING 200000 /* and making its single-precision form */
#define WORTH_A_PART   200    /* a part smaller than this fraction is left to the top */

#define ROUNDERS 4 /* threads that make the single-precision form: each needs a scratch */

/* First and last supernode of subtrees, as found on the way down from the roots. */
typedef struct subtrees {
    int *first_descendant; /* [count] */
    double *weight;        /* [count] values of the subtree */
    double total;
} subtrees;

static int parent_of(const pl_triangular *t, const pl_supernodes *l, int k)
{
    int below = l->begin[k] + l->first[k + 1] - l->first[k];
    return below < l->begin[k + 1] ? t->super_of[l->row[below]] : -1;
}

static pl_status measure_tree(const pl_triangular *t, const pl_supernodes *l, subtrees *out)
{
    out->first_descendant = pl_alloc(t->ctx, (size_t)l->count, sizeof(int));
    out->weight = pl_alloc(t->ctx, (size_t)l->count, sizeof(double));
    if (!out->first_descendant || !out->weight)
        return PL_ERROR_MEMORY;
    for (int k = 0; k < l->count; k++)
        out->first_descendant[k] = k;
    for (int k = 0; k < l->count; k++) {
        double own = (double)(l->begin[k + 1] - l->begin[k]) * (l->first[k + 1] - l->first[k]);
        int parent = parent_of(t, l, k);
        out->weight[k] += own;
        out->total += own;
        if (parent < 0)
            continue;
        out->weight[parent] += out->weight[k];
        if (out->first_descendant[k] < out->first_descendant[parent])
            out->first_descendant[parent] = out->first_descendant[k];
    }
    return PL_OK;
}

/* Subtrees of a share at most, neighbours joined up to a share. A supernode is the root of such a
 * subtree when its own fits and its parent's does not; walking in order meets them from left to right.
 */
static int find_parts(const pl_triangular *t, const pl_supernodes *l, const subtrees *tree,
                      pl_part *parts)
{
    int count = 0;
    double share = tree->total / SHARES, weight = 0;
    for (int k = 0; k < l->count; k++) {
        int parent = parent_of(t, l, k);
        if (tree->weight[k] > share || (parent >= 0 && tree->weight[parent] <= share))
            continue;
        bool joins = count > 0 && parts[count - 1].end == tree->first_descendant[k] &&
                     weight + tree->weight[k] <= share;
        if (joins) {
            parts[count - 1].end = k + 1;
            weight += tree->weight[k];
        } else {
            if (count > 0 && weight < tree->total / WORTH_A_PART)
                count--;
            parts[count++] = (pl_part){.begin = tree->first_descendant[k], .end = k + 1};
            weight = tree->weight[k];
        }
    }
    return count;
}

/* The tree cut into parts and top, and the top's columns numbered. */
static pl_status divide(pl_triangular *t, const pl_supernodes *l)
{
    subtrees tree = {0};
    pl_status status = PL_OK;
    PL_CHECK(measure_tree(t, l, &tree), done);
    PL_NEW(t->ctx, t->parts, l->count + 1, done);
    t->part_count = find_parts(t, l, &tree, t->parts);
    for (int p = 0; p < t->part_count; p++)
        for (int k = t->parts[p].begin; k < t->parts[p].end; k++)
            t->in_part[k] = true;
    for (int j = 0; j < l->n; j++)
        if (!t->in_part[t->super_of[j]]) {
            t->top_of[j] = t->top_count;
            t->top_column[t->top_count++] = j;
        }
done:
    pl_free(t->ctx, tree.first_descendant);
    pl_free(t->ctx, tree.weight);
    return status;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Scratch of the parts and the top in one piece. */
static pl_status reserve_parts(pl_triangular *t, const pl_supernodes *l)
{
    size_t height = 0, widest = 0, top = (size_t)t->top_count;
    for (int k = 0; k < l->count; k++) {
        size_t rows = (size_t)(l->begin[k + 1] - l->begin[k]);
        size_t columns = (size_t)(l->first[k + 1] - l->first[k]);
        height = rows > height ? rows : height;
        widest = columns > widest ? columns : widest;
        t->largest = rows * columns > t->largest ? rows * columns : t->largest;
    }
    height = PL_STRIP_ROWS(height);
    size_t each = top + 2 * height + 4 * (widest + 4);
    t->storage = pl_alloc(t->ctx, each * (size_t)(t->part_count + 1), sizeof *t->storage);
    t->rounding = pl_alloc(t->ctx, ROUNDERS * t->largest, sizeof *t->rounding);
    if (!t->storage || !t->rounding)
        return PL_ERROR_MEMORY;
    for (int p = 0; p <= t->part_count; p++) {
        pl_part *part = &t->parts[p];
        part->outside = t->storage + each * (size_t)p;
        part->gathered = part->outside + top;
        part->own = (float *)(part->gathered + height);
        part->all = part->own + height;
        part->sums = part->all + height;
    }
    return PL_OK;
}

/* Where each supernode's strips and the vertices below it begin. */
static pl_status lay_out(pl_triangular *t, const pl_supernodes *l)
{
    pl_status status = PL_OK;
    PL_NEW(t->ctx, t->triple, l->begin[l->count] / 3, done);
    PL_NEW(t->ctx, t->triple_from, l->count + 1, done);
    PL_NEW(t->ctx, t->single_at, l->count + 1, done);
    for (int k = 0, at = 0; k < l->count; k++) {
        int columns = l->first[k + 1] - l->first[k], rows = l->begin[k + 1] - l->begin[k];
        const int *row = l->row + l->begin[k];
        size_t values = 0;
        for (int r = 0; r < rows; r += PL_STRIP)
            values +=
                (size_t)(PL_STRIP_ROWS(smaller(rows - r, PL_STRIP)) * smaller(columns, r + PL_STRIP));
        t->single_at[k + 1] = t->single_at[k] + values;
        /* A vertex's three unknowns have the same neighbours, so they stay together, in their order. */
        for (int i = columns; i < rows; i += 3, at++) {
            assert(row[i + 2] == row[i] + 2 && l->order[row[i] + 2] == l->order[row[i]] + 2);
            t->triple[at] = row[i];
        }
        t->triple_from[k + 1] = at;
    }
    PL_NEW(t->ctx, t->single, t->single_at[l->count], done);
done:
    return status;
}

pl_status pl_triangular_create(pl_context *ctx, const pl_supernodes *l, size_t entries,
                               pl_triangular *out)
{
    pl_status status = PL_OK;
    pl_triangular *t = out;
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    *t = (pl_triangular){
        .ctx = ctx, .n = l->n, .count = l->count, .entries = entries, .backend = backends[0]};
    PL_NEW(ctx, t->in_part, l->count, done);
    PL_NEW(ctx, t->on_path, l->count, done);
    PL_NEW(ctx, t->super_of, l->n, done);
    PL_NEW(ctx, t->place, l->n, done);
    PL_NEW(ctx, t->top_of, l->n, done);
    PL_NEW(ctx, t->top_column, l->n, done);
    PL_NEW(ctx, t->x, l->n, done);
    PL_NEW(ctx, t->y, l->n, done);
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; j < l->first[k + 1]; j++)
            t->super_of[j] = k;
    for (int j = 0; j < l->n; j++)
        t->place[l->order[j]] = j;
    PL_CHECK(divide(t, l), done);
    PL_CHECK(reserve_parts(t, l), done);
    PL_CHECK(lay_out(t, l), done);
done:
    if (status != PL_OK)
        pl_triangular_free(t);
    return status;
}

void pl_triangular_free(pl_triangular *t)
{
    void *arrays[] = {t->in_part,    t->on_path,     t->super_of, t->place,    t->top_of,
                      t->top_column, t->x,           t->y,        t->single,   t->single_at,
                      t->triple,     t->triple_from, t->storage,  t->rounding, t->parts};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(t->ctx, arrays[k]);
    *t = (pl_triangular){0};
}

static int thread_count(const pl_triangular *t)
{
    return t->entries < WORTH_THREADS ? 1 : t->ctx->threads;
}

/* One supernode: its diagonal block and the rows below. */
typedef struct panel {
    int columns, below, height;
    size_t at, under;
    const int *row; /* of the rows below */
    double *x;      /* its own part of a vector */
} panel;

static panel get_panel(const pl_supernodes *l, int k, double *x)
{
    int columns = l->first[k + 1] - l->first[k], height = l->begin[k + 1] - l->begin[k];
    return (panel){
        .columns = columns,
        .below = height - columns,
        .height = height,
        .at = (size_t)l->at[k],
        .under = (size_t)l->at[k] + (size_t)columns,
        .row = l->row + l->begin[k] + columns,
        .x = x + l->first[k],
    };
}

/* A panel, column-major, into strips. */
static void store_strips(const panel *p, const float *from, float *to)
{
    for (int r = 0; r < p->height; r += PL_STRIP) {
        int rows = smaller(p->height - r, PL_STRIP), filled = PL_STRIP_ROWS(rows);
        for (int j = 0; j < smaller(p->columns, r + PL_STRIP); j++, to += filled) {
            memcpy(to, from + (size_t)j * (size_t)p->height + (size_t)r, sizeof *to * (size_t)rows);
            memset(to + rows, 0, sizeof *to * (size_t)(filled - rows));
        }
    }
}

/* In single precision a supernode [L11; L21] is kept as [L11^-1; L21 L11^-1]: one product each way
 * instead of a triangular solve, which is short and slow, and a product. */
static void round_supernode(pl_triangular *t, const pl_supernodes *l, int k, float *block)
{
    panel p = get_panel(l, k, t->x);
    for (int j = 0; j < p.columns; j++)
        for (int i = 0; i < p.height; i++) {
            size_t at = (size_t)j * (size_t)p.height + (size_t)i;
            block[at] = i < j ? 0 : (float)l->value[p.at + at];
        }
    LAPACKE_strtri_work(LAPACK_COL_MAJOR, 'L', 'N', p.columns, block, p.height);
    if (p.below > 0)
        cblas_strmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, p.below,
                    p.columns, 1, block, p.height, block + p.columns, p.height);
    store_strips(&p, block, t->single + t->single_at[k]);
}

void pl_triangular_round(pl_triangular *t, const pl_supernodes *l)
{
    int threads = t->entries < WORTH_ROUNDING ? 1 : smaller(t->ctx->threads, ROUNDERS);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int k = 0; k < l->count; k++)
        round_supernode(t, l, k, t->rounding + (size_t)omp_get_thread_num() * t->largest);
}

/* Own part by the diagonal block; what it takes from the rows below goes to part->all. */
static void forward_single(const pl_triangular *t, const panel *p, int k, pl_part *part)
{
    for (int j = 0; j < p->columns; j++)
        part->own[j] = (float)p->x[j];
    t->backend->panel_forward(t->single + t->single_at[k], p->height, p->columns, part->own, part->all);
    for (int j = 0; j < p->columns; j++)
        p->x[j] = part->all[j];
}

static void forward_double(const pl_supernodes *l, const panel *p, pl_part *part)
{
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, p->columns, l->value + p->at,
                p->height, p->x, 1);
    if (p->below > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, p->below, p->columns, 1, l->value + p->under,
                    p->height, p->x, 1, 0, part->gathered, 1);
}

/* part->all has what is above the own columns' negative. */
static void backward_single(const pl_triangular *t, const panel *p, int k, const double *x,
                            pl_part *part)
{
    const int *triple = t->triple + t->triple_from[k];
    float *all = part->all;
    for (int j = 0; j < p->columns; j++)
        all[j] = (float)p->x[j];
    all += p->columns;
    for (int i = 0; i < p->below / 3; i++, all += 3) {
        const double *from = x + triple[i];
        all[0] = -(float)from[0];
        all[1] = -(float)from[1];
        all[2] = -(float)from[2];
    }
    for (int i = p->height; i < PL_STRIP_ROWS(p->height); i++)
        part->all[i] = 0;
    t->backend->panel_backward(t->single + t->single_at[k], p->height, p->columns, part->all,
                               part->sums, part->own);
    for (int j = 0; j < p->columns; j++)
        p->x[j] = part->own[j];
}

static void backward_double(const pl_supernodes *l, const panel *p, pl_part *part)
{
    if (p->below > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, p->below, p->columns, -1, l->value + p->under, p->height,
                    part->gathered, 1, 1, p->x, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, p->columns, l->value + p->at,
                p->height, p->x, 1);
}

/* Which supernodes a sweep visits, and in which precision. */
typedef enum sweep {
    SINGLE,  /* all */
    DOUBLE,  /* all */
    FOCUSED, /* all, those on a path to the focus in double */
    PATHS,   /* only these */
} sweep;

static bool in_double(const pl_triangular *t, sweep s, int k)
{
    return s == DOUBLE || (s != SINGLE && t->on_path[k]);
}

/* Subtracts the rows below: from columns of the part, then of the top. */
static void subtract_below(const pl_triangular *t, const panel *p, int k, pl_part *part, int inside,
                           double *x)
{
    const int *triple = t->triple + t->triple_from[k], *end = t->triple + t->triple_from[k + 1];
    const float *below = part->all + p->columns;
    for (; triple < end && *triple < inside; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            x[*triple + c] -= below[c];
    for (; triple < end; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            part->outside[t->top_of[*triple] + c] -= below[c];
}

static void forward(pl_triangular *t, const pl_supernodes *l, sweep s, int k, pl_part *part, int inside,
                    double *x)
{
    if (s == PATHS && !t->on_path[k])
        return;
    panel p = get_panel(l, k, x);
    if (!in_double(t, s, k)) {
        forward_single(t, &p, k, part);
        subtract_below(t, &p, k, part, inside, x);
        return;
    }
    forward_double(l, &p, part);
    for (int i = 0; i < p.below; i++) {
        int row = p.row[i];
        if (row < inside)
            x[row] -= part->gathered[i];
        else
            part->outside[t->top_of[row]] -= part->gathered[i];
    }
}

static void backward(pl_triangular *t, const pl_supernodes *l, sweep s, int k, pl_part *part, double *x)
{
    if (s == PATHS && !t->on_path[k])
        return;
    panel p = get_panel(l, k, x);
    if (!in_double(t, s, k)) {
        backward_single(t, &p, k, x, part);
        return;
    }
    for (int i = 0; i < p.below; i++)
        part->gathered[i] = x[p.row[i]];
    backward_double(l, &p, part);
}

/* x <- L^-1 x: the parts, what they subtract from the top, the top. A path is too short to share. */
static void forward_all(pl_triangular *t, const pl_supernodes *l, sweep s, double *x)
{
    pl_part *top = &t->parts[t->part_count];
    if (s == PATHS) {
        for (int k = 0; k < l->count; k++)
            forward(t, l, s, k, top, l->n, x);
        return;
    }
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++) {
        pl_part *part = &t->parts[p];
        memset(part->outside, 0, sizeof(double) * (size_t)t->top_count);
        for (int k = part->begin; k < part->end; k++)
            forward(t, l, s, k, part, l->first[part->end], x);
    }
    memset(top->outside, 0, sizeof(double) * (size_t)t->top_count);
    for (int p = 0; p < t->part_count; p++)
        for (int i = 0; i < t->top_count; i++)
            top->outside[i] += t->parts[p].outside[i];
    for (int i = 0; i < t->top_count; i++)
        x[t->top_column[i]] += top->outside[i];
    for (int k = 0; k < l->count; k++)
        if (!t->in_part[k])
            forward(t, l, s, k, top, l->n, x);
}

/* x <- L^-T x */
static void backward_all(pl_triangular *t, const pl_supernodes *l, sweep s, double *x)
{
    pl_part *top = &t->parts[t->part_count];
    for (int k = l->count - 1; k >= 0; k--)
        if (s == PATHS || !t->in_part[k])
            backward(t, l, s, k, top, x);
    if (s == PATHS)
        return;
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++)
        for (int k = t->parts[p].end - 1; k >= t->parts[p].begin; k--)
            backward(t, l, s, k, &t->parts[p], x);
}

/* x in the factor's order, and back: vertices stay together. */
static void permute(const pl_supernodes *l, const double *from, double *x)
{
    for (int j = 0; j < l->n; j += 3)
        memcpy(x + j, from + l->order[j], 3 * sizeof *x);
}

static void permute_back(const pl_supernodes *l, const double *x, double *to)
{
    for (int j = 0; j < l->n; j += 3)
        memcpy(to + l->order[j], x + j, 3 * sizeof *x);
}

void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, bool exact, const double *b,
                         double *x)
{
    sweep all = exact ? DOUBLE : SINGLE;
    permute(l, b, t->x);
    forward_all(t, l, all, t->x);
    backward_all(t, l, all, t->x);
    permute_back(l, t->x, x);
}

void pl_triangular_focus(pl_triangular *t, const pl_supernodes *l, int count, const int *vertices)
{
    memset(t->on_path, 0, sizeof(bool) * (size_t)l->count);
    for (int i = 0; i < 3 * count; i++)
        for (int k = t->super_of[t->place[3 * vertices[i / 3] + i % 3]]; k >= 0 && !t->on_path[k];
             k = parent_of(t, l, k))
            t->on_path[k] = true;
}

void pl_triangular_begin(pl_triangular *t, const pl_supernodes *l, const double *b, double *x)
{
    permute(l, b, t->x);
    forward_all(t, l, FOCUSED, t->x);
    memcpy(t->y, t->x, sizeof(double) * (size_t)l->n);
    backward_all(t, l, PATHS, t->y);
    for (int j = 0; j < l->n; j++)
        if (t->on_path[t->super_of[j]])
            x[l->order[j]] = t->y[j];
}

void pl_triangular_end(pl_triangular *t, const pl_supernodes *l, const double *change, double *x)
{
    for (int j = 0; j < l->n; j++)
        t->y[j] = t->on_path[t->super_of[j]] ? change[l->order[j]] : 0;
    forward_all(t, l, PATHS, t->y);
    for (int j = 0; j < l->n; j++)
        t->x[j] += t->y[j];
    backward_all(t, l, FOCUSED, t->x);
    permute_back(l, t->x, x);
}
