/* Supernodal triangular solves. */
#include "linalg/triangular.h"

#include <cblas.h>
#include <lapacke.h>

#define SHARES        16      /* a part is at most this fraction of the factor */
#define WORTH_THREADS 1000000 /* values: from here on threads pay for their start */
#define WORTH_A_PART  200     /* a part smaller than this fraction is left to the top */

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

/* Scratch of the parts and the top in one piece. */
static pl_status reserve_parts(pl_triangular *t, const pl_supernodes *l)
{
    size_t height = 0, top = (size_t)t->top_count;
    for (int k = 0; k < l->count; k++) {
        size_t rows = (size_t)(l->begin[k + 1] - l->begin[k]);
        height = rows > height ? rows : height;
    }
    size_t each = top + 2 * height;
    t->storage = pl_alloc(t->ctx, each * (size_t)(t->part_count + 1), sizeof *t->storage);
    if (!t->storage)
        return PL_ERROR_MEMORY;
    for (int p = 0; p <= t->part_count; p++) {
        pl_part *part = &t->parts[p];
        part->outside = t->storage + each * (size_t)p;
        part->gathered = part->outside + top;
        part->own = (float *)(part->gathered + height);
        part->below = part->own + height;
    }
    return PL_OK;
}

pl_status pl_triangular_create(pl_context *ctx, const pl_supernodes *l, size_t entries,
                               pl_triangular *out)
{
    pl_status status = PL_OK;
    pl_triangular *t = out;
    *t = (pl_triangular){.ctx = ctx, .n = l->n, .count = l->count, .entries = entries};
    PL_NEW(ctx, t->in_part, l->count, done);
    PL_NEW(ctx, t->on_path, l->count, done);
    PL_NEW(ctx, t->super_of, l->n, done);
    PL_NEW(ctx, t->place, l->n, done);
    PL_NEW(ctx, t->top_of, l->n, done);
    PL_NEW(ctx, t->top_column, l->n, done);
    PL_NEW(ctx, t->x, l->n, done);
    PL_NEW(ctx, t->y, l->n, done);
    PL_NEW(ctx, t->single, entries, done);
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; j < l->first[k + 1]; j++)
            t->super_of[j] = k;
    for (int j = 0; j < l->n; j++)
        t->place[l->order[j]] = j;
    PL_CHECK(divide(t, l), done);
    PL_CHECK(reserve_parts(t, l), done);
done:
    if (status != PL_OK)
        pl_triangular_free(t);
    return status;
}

void pl_triangular_free(pl_triangular *t)
{
    void *arrays[] = {t->in_part, t->on_path, t->super_of, t->place,   t->top_of, t->top_column,
                      t->x,       t->y,       t->single,   t->storage, t->parts};
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

/* In single precision a supernode [L11; L21] is kept as [L11^-1; L21 L11^-1]: one product each way
 * instead of a triangular solve, which is short and slow, and a product. */
static void round_supernode(pl_triangular *t, const pl_supernodes *l, int k)
{
    panel p = get_panel(l, k, t->x);
    float *block = t->single + p.at;
    for (int j = 0; j < p.columns; j++)
        for (int i = 0; i < p.height; i++) {
            size_t at = (size_t)j * (size_t)p.height + (size_t)i;
            block[at] = i < j ? 0 : (float)l->value[p.at + at];
        }
    LAPACKE_strtri_work(LAPACK_COL_MAJOR, 'L', 'N', p.columns, block, p.height);
    if (p.below > 0)
        cblas_strmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, p.below,
                    p.columns, 1, block, p.height, t->single + p.under, p.height);
}

void pl_triangular_round(pl_triangular *t, const pl_supernodes *l)
{
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 16)
    for (int k = 0; k < l->count; k++)
        round_supernode(t, l, k);
}

/* Own part by the diagonal block; part->gathered gets what it takes from the rows below. */
static void forward_single(const pl_triangular *t, const panel *p, pl_part *part)
{
    for (int j = 0; j < p->columns; j++)
        part->own[j] = (float)p->x[j];
    cblas_sgemv(CblasColMajor, CblasNoTrans, p->height, p->columns, 1, t->single + p->at, p->height,
                part->own, 1, 0, part->below, 1);
    for (int j = 0; j < p->columns; j++)
        p->x[j] = part->below[j];
    for (int i = 0; i < p->below; i++)
        part->gathered[i] = part->below[p->columns + i];
}

static void forward_double(const pl_supernodes *l, const panel *p, pl_part *part)
{
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, p->columns, l->value + p->at,
                p->height, p->x, 1);
    if (p->below > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, p->below, p->columns, 1, l->value + p->under,
                    p->height, p->x, 1, 0, part->gathered, 1);
}

static void backward_single(const pl_triangular *t, const panel *p, pl_part *part)
{
    for (int j = 0; j < p->columns; j++)
        part->below[j] = (float)p->x[j];
    for (int i = 0; i < p->below; i++)
        part->below[p->columns + i] = (float)-part->gathered[i];
    cblas_sgemv(CblasColMajor, CblasTrans, p->height, p->columns, 1, t->single + p->at, p->height,
                part->below, 1, 0, part->own, 1);
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

static void forward(pl_triangular *t, const pl_supernodes *l, sweep s, int k, pl_part *part, int inside,
                    double *x)
{
    if (s == PATHS && !t->on_path[k])
        return;
    panel p = get_panel(l, k, x);
    if (in_double(t, s, k))
        forward_double(l, &p, part);
    else
        forward_single(t, &p, part);
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
    for (int i = 0; i < p.below; i++)
        part->gathered[i] = x[p.row[i]];
    if (in_double(t, s, k))
        backward_double(l, &p, part);
    else
        backward_single(t, &p, part);
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
    for (int p = 0; p < t->part_count; p++)
        for (int i = 0; i < t->top_count; i++)
            x[t->top_column[i]] += t->parts[p].outside[i];
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

void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, bool exact, const double *b,
                         double *x)
{
    sweep all = exact ? DOUBLE : SINGLE;
    for (int j = 0; j < l->n; j++)
        t->x[j] = b[l->order[j]];
    forward_all(t, l, all, t->x);
    backward_all(t, l, all, t->x);
    for (int j = 0; j < l->n; j++)
        x[l->order[j]] = t->x[j];
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
    for (int j = 0; j < l->n; j++)
        t->x[j] = b[l->order[j]];
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
    for (int j = 0; j < l->n; j++)
        x[l->order[j]] = t->x[j];
}
