/* Supernodal triangular solves. */
#include "linalg/triangular.h"

#include "backend/backend.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#define SHARES 8 /* a part is at most this fraction of the factor */
#define WORTH_THREADS                                                                                  \
    1500000               /* values: from here on a solve takes 20 times as long as waking a thread */
#define WORTH_A_PART  200 /* a part smaller than this fraction is left to the top */
#define BLOCK         128 /* columns inverted at once */
#define PIECES        4   /* of a supernode */
#define WORTH_PIECES  600000  /* of its values */
#define WORTH_HALVING 3000000 /* values of a factor: fewer stay in the cache */

/* First and last supernode of subtrees, as found on the way down from the roots. */
typedef struct subtrees {
    int *first_descendant; /* [count] */
    double *weight;        /* [count] values of the subtree */
    double total;
} subtrees;

int pl_triangular_parent(const pl_triangular *t, const pl_supernodes *l, int k)
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
        int parent = pl_triangular_parent(t, l, k);
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
    double share = tree->total / SHARES;
    for (int k = 0; k < l->count; k++) {
        int parent = pl_triangular_parent(t, l, k);
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
static pl_status divide(pl_triangular *t, const pl_supernodes *l)
{
    subtrees tree = {0};
    pl_status status = PL_OK;
    PL_CHECK(measure_tree(t, l, &tree), done);
    PL_NEW(t->ctx, t->parts, l->count + 1, done);
    t->part_count = find_parts(t, l, &tree, t->parts);
    qsort(t->parts, (size_t)t->part_count, sizeof *t->parts, larger_first);
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
    size_t height = 0, widest = 0, top = (size_t)t->top_count;
    for (int k = 0; k < l->count; k++) {
        size_t rows = (size_t)(l->begin[k + 1] - l->begin[k]);
        size_t columns = (size_t)(l->first[k + 1] - l->first[k]);
        height = rows > height ? rows : height;
        widest = columns > widest ? columns : widest;
        t->largest = rows * columns > t->largest ? rows * columns : t->largest;
    }
    height = PL_STRIP_ROWS(height);
    size_t each = top + height + 4 * (widest + 4);
    t->storage = pl_alloc(t->ctx, each * (size_t)(t->part_count + 1), sizeof *t->storage);
    t->panels = pl_alloc(t->ctx, 2 * (size_t)t->ctx->threads * t->largest, sizeof *t->panels);
    t->piece = 9 * (widest + 4);
    t->pieces = pl_alloc(t->ctx, PIECES * t->piece, sizeof *t->pieces);
    if (!t->storage || !t->panels || !t->pieces)
        return PL_ERROR_MEMORY;
    for (int p = 0; p <= t->part_count; p++) {
        pl_part *part = &t->parts[p];
        part->outside = t->storage + each * (size_t)p;
        part->own = (float *)(part->outside + top);
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
            values += (size_t)(PL_STRIP_ROWS(pl_smaller(rows - r, PL_STRIP)) *
                               pl_smaller(columns, r + PL_STRIP));
        t->single_at[k + 1] = t->single_at[k] + values;
        /* A vertex's three unknowns have the same neighbours, so they stay together, in their order. */
        for (int i = columns; i < rows; i += 3, at++) {
            assert(row[i + 2] == row[i] + 2 && l->order[row[i] + 2] == l->order[row[i]] + 2);
            t->triple[at] = row[i];
        }
        t->triple_from[k + 1] = at;
    }
    PL_NEW(t->ctx, t->single, t->single_at[l->count], done);
    if (t->backend->half && t->single_at[l->count] >= WORTH_HALVING)
        PL_NEW(t->ctx, t->half, t->single_at[l->count], done);
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
    PL_NEW(ctx, t->scale, l->n / 3, done);
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
    void *arrays[] = {t->in_part, t->on_path, t->super_of, t->place,     t->top_of, t->top_column,
                      t->x,       t->y,       t->single,   t->single_at, t->triple, t->triple_from,
                      t->storage, t->panels,  t->parts,    t->pieces,    t->half,   t->scale};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(t->ctx, arrays[k]);
    *t = (pl_triangular){0};
}

static int thread_count(const pl_triangular *t)
{
    return t->entries < WORTH_THREADS ? 1 : t->ctx->threads;
}

void pl_triangular_scale(pl_triangular *t, const pl_pattern *pattern, const double *blocks)
{
    for (int v = 0; v < pattern->n; v++) {
        const double *block = blocks + 9 * (size_t)pattern->diag[v];
        t->scale[v] = pl_half_scale(fmax(fmax(block[0], block[4]), block[8]));
    }
}

pl_panel pl_triangular_panel(const pl_supernodes *l, int k)
{
    int columns = l->first[k + 1] - l->first[k], height = l->begin[k + 1] - l->begin[k];
    return (pl_panel){
        .columns = columns,
        .below = height - columns,
        .height = height,
        .first = l->first[k],
        .row = l->row + l->begin[k] + columns,
    };
}

float *pl_triangular_scratch(const pl_triangular *t, int thread)
{
    return t->panels + 2 * (size_t)thread * t->largest;
}

/* [L11^-1; L21 L11^-1], a block of its columns at a time. */
static void invert_panel(const pl_panel *p, int threads, const float *l, float *x)
{
    size_t height = (size_t)p->height;
    int blocks = (p->columns + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int b = 0; b < blocks; b++) {
        int first = b * BLOCK, width = pl_smaller(BLOCK, p->columns - first), left = p->columns - first;
        float *block = x + (size_t)first * height, *corner = block + first;
        for (int j = 0; j < width; j++) {
            memset(block + (size_t)j * height, 0, sizeof *block * (size_t)p->columns);
            corner[(size_t)j * (height + 1)] = 1;
        }
        const float *diagonal = l + (size_t)first * (height + 1);
        cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, left, width, 1,
                    diagonal, p->height, corner, p->height);
        if (p->below > 0)
            cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p->below, width, left, 1,
                        diagonal + left, p->height, corner, p->height, 0, block + p->columns,
                        p->height);
    }
}

/* Values in the strips above row r, a multiple of PL_STRIP. */
static size_t strips_above(const pl_panel *p, int r)
{
    size_t inside = (size_t)pl_smaller(r, p->columns / PL_STRIP * PL_STRIP) / PL_STRIP;
    size_t full = (size_t)r / PL_STRIP - inside;
    return PL_STRIP * (PL_STRIP * inside * (inside + 1) / 2 + (size_t)p->columns * full);
}

/* A panel, column-major, into strips. */
static void store_strips(pl_triangular *t, const pl_panel *p, int k, int threads, const float *from)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int r = 0; r < p->height; r += PL_STRIP) {
        int rows = pl_smaller(p->height - r, PL_STRIP), filled = PL_STRIP_ROWS(rows);
        int width = pl_smaller(p->columns, r + PL_STRIP);
        size_t at = t->single_at[k] + strips_above(p, r);
        float *to = t->single + at;
        for (int j = 0; j < width; j++, to += filled) {
            memcpy(to, from + (size_t)j * (size_t)p->height + (size_t)r, sizeof *to * (size_t)rows);
            memset(to + rows, 0, sizeof *to * (size_t)(filled - rows));
        }
        if (t->half)
            t->backend->half->round(t->single + at, (size_t)(filled * width), t->half + at);
    }
}

void pl_triangular_store(pl_triangular *t, const pl_supernodes *l, int k, int threads, float *scratch)
{
    pl_panel p = pl_triangular_panel(l, k);
    float *inverse = scratch + t->largest;
    invert_panel(&p, threads, scratch, inverse);
    store_strips(t, &p, k, threads, inverse);
}

void pl_triangular_round(pl_triangular *t, const pl_supernodes *l, const double *value)
{
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 8)
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_triangular_panel(l, k);
        float *columns = pl_triangular_scratch(t, omp_get_thread_num());
        for (int j = 0; j < p.columns; j++) {
            const double *from = value + (size_t)l->at[k] + (size_t)j * (size_t)l->stride[k];
            for (int i = 0; i < p.height; i++)
                columns[(size_t)j * (size_t)p.height + (size_t)i] =
                    t->scale[l->order[l->row[l->begin[k] + i]] / 3] * (float)from[i];
        }
        pl_triangular_store(t, l, k, 1, columns);
    }
}

/* Rows at which a supernode is cut into pieces of about the same size, or into one piece where the
 * parts are what threads share. */
static int cut(const pl_triangular *t, const pl_panel *p, const pl_part *part, int cuts[PIECES + 1])
{
    size_t values = (size_t)p->height * (size_t)p->columns;
    int pieces = part == &t->parts[t->part_count] && values > WORTH_PIECES ? PIECES : 1;
    size_t whole = strips_above(p, (p->height + PL_STRIP - 1) / PL_STRIP * PL_STRIP);
    cuts[0] = 0;
    for (int k = 1; k < pieces; k++) {
        cuts[k] = cuts[k - 1];
        while (strips_above(p, cuts[k]) < whole * (size_t)k / (size_t)pieces)
            cuts[k] += PL_STRIP;
    }
    cuts[pieces] = p->height;
    return pieces;
}

/* Rows [first, last) of y = A x and of x = A^T y, A being supernode k. */
static void piece_forward(const pl_triangular *t, const pl_panel *p, int k, int first, int last,
                          const float *x, float *y)
{
    size_t at = t->single_at[k] + strips_above(p, first);
    if (t->halved)
        t->backend->half->forward(t->half + at, first, last, p->columns, x, y);
    else
        t->backend->panel_forward(t->single + at, first, last, p->columns, x, y);
}

static void piece_backward(const pl_triangular *t, const pl_panel *p, int k, int first, int last,
                           const float *y, float *sums, float *x)
{
    size_t at = t->single_at[k] + strips_above(p, first);
    if (t->halved)
        t->backend->half->backward(t->half + at, first, last, p->columns, y, sums, x);
    else
        t->backend->panel_backward(t->single + at, first, last, p->columns, y, sums, x);
}

/* part->all = A part->own */
static void multiply(const pl_triangular *t, const pl_panel *p, int k, pl_part *part)
{
    int cuts[PIECES + 1], pieces = cut(t, p, part, cuts);
    if (pieces == 1) {
        piece_forward(t, p, k, 0, p->height, part->own, part->all);
        return;
    }
#pragma omp parallel for num_threads(thread_count(t)) schedule(static)
    for (int i = 0; i < pieces; i++)
        piece_forward(t, p, k, cuts[i], cuts[i + 1], part->own, part->all);
}

/* part->own = A^T part->all */
static void multiply_transposed(const pl_triangular *t, const pl_panel *p, int k, pl_part *part)
{
    int cuts[PIECES + 1], pieces = cut(t, p, part, cuts);
    if (pieces == 1) {
        piece_backward(t, p, k, 0, p->height, part->all, part->sums, part->own);
        return;
    }
#pragma omp parallel for num_threads(thread_count(t)) schedule(static)
    for (int i = 0; i < pieces; i++) {
        float *x = t->pieces + (size_t)i * t->piece, *sums = x + t->piece / 9;
        piece_backward(t, p, k, cuts[i], cuts[i + 1], part->all, sums, x);
    }
    for (int j = 0; j < p->columns; j++) {
        part->own[j] = 0;
        for (int i = 0; i < pieces; i++)
            part->own[j] += t->pieces[(size_t)i * t->piece + (size_t)j];
    }
}

/* Own part by the diagonal block; what it takes from the rows below goes to part->all, and from there
 * to columns of the part, then of the top. */
static void forward(const pl_triangular *t, const pl_supernodes *l, int k, pl_part *part, int inside,
                    double *x)
{
    pl_panel p = pl_triangular_panel(l, k);
    double *own = x + p.first;
    for (int j = 0; j < p.columns; j++)
        part->own[j] = (float)own[j];
    multiply(t, &p, k, part);
    for (int j = 0; j < p.columns; j++)
        own[j] = part->all[j];
    const int *triple = t->triple + t->triple_from[k], *end = t->triple + t->triple_from[k + 1];
    const float *below = part->all + p.columns;
    for (; triple < end && *triple < inside; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            x[*triple + c] -= below[c];
    for (; triple < end; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            part->outside[t->top_of[*triple] + c] -= below[c];
}

static void backward(const pl_triangular *t, const pl_supernodes *l, int k, pl_part *part, double *x)
{
    pl_panel p = pl_triangular_panel(l, k);
    const int *triple = t->triple + t->triple_from[k];
    double *own = x + p.first;
    float *all = part->all;
    for (int j = 0; j < p.columns; j++)
        all[j] = (float)own[j];
    all += p.columns;
    for (int i = 0; i < p.below / 3; i++, all += 3) {
        const double *from = x + triple[i];
        all[0] = -(float)from[0];
        all[1] = -(float)from[1];
        all[2] = -(float)from[2];
    }
    for (int i = p.height; i < PL_STRIP_ROWS(p.height); i++)
        part->all[i] = 0;
    multiply_transposed(t, &p, k, part);
    for (int j = 0; j < p.columns; j++)
        own[j] = part->own[j];
}

/* x <- L^-1 x: the parts, what they subtract from the top, the top. */
static void forward_all(pl_triangular *t, const pl_supernodes *l, double *x)
{
    pl_part *top = &t->parts[t->part_count];
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++) {
        pl_part *part = &t->parts[p];
        memset(part->outside, 0, sizeof(double) * (size_t)t->top_count);
        for (int k = part->begin; k < part->end; k++)
            forward(t, l, k, part, l->first[part->end], x);
    }
    memset(top->outside, 0, sizeof(double) * (size_t)t->top_count);
    for (int p = 0; p < t->part_count; p++)
        for (int i = 0; i < t->top_count; i++)
            top->outside[i] += t->parts[p].outside[i];
    for (int i = 0; i < t->top_count; i++)
        x[t->top_column[i]] += top->outside[i];
    for (int k = 0; k < l->count; k++)
        if (!t->in_part[k])
            forward(t, l, k, top, l->n, x);
}

/* x <- L^-T x, but for the focus' paths if x is there already. */
static void backward_all(pl_triangular *t, const pl_supernodes *l, bool path_done, double *x)
{
    for (int k = l->count - 1; k >= 0; k--)
        if (!t->in_part[k] && !(path_done && t->on_path[k]))
            backward(t, l, k, &t->parts[t->part_count], x);
#pragma omp parallel for num_threads(thread_count(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++)
        for (int k = t->parts[p].end - 1; k >= t->parts[p].begin; k--)
            if (!(path_done && t->on_path[k]))
                backward(t, l, k, &t->parts[p], x);
}

/* x in the factor's order, scaled, and back: vertices stay together. */
static void permute(const pl_triangular *t, const pl_supernodes *l, const double *from, double *x)
{
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            x[j + c] = t->scale[l->order[j] / 3] * from[l->order[j] + c];
}

static void permute_back(const pl_triangular *t, const pl_supernodes *l, const double *x, double *to)
{
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            to[l->order[j] + c] = t->scale[l->order[j] / 3] * x[j + c];
}

void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, const double *b, double *x)
{
    permute(t, l, b, t->x);
    forward_all(t, l, t->x);
    backward_all(t, l, false, t->x);
    permute_back(t, l, t->x, x);
}

void pl_triangular_focus(pl_triangular *t, const pl_supernodes *l, int count, const int *vertices)
{
    int columns = 0;
    memset(t->on_path, 0, sizeof(bool) * (size_t)l->count);
    for (int i = 0; i < 3 * count; i++)
        for (int k = t->super_of[t->place[3 * vertices[i / 3] + i % 3]]; k >= 0 && !t->on_path[k];
             k = pl_triangular_parent(t, l, k)) {
            t->on_path[k] = true;
            columns += l->first[k + 1] - l->first[k];
        }
    t->closed = columns == 3 * count;
}

void pl_triangular_begin(pl_triangular *t, const pl_supernodes *l, const double *b, double *x)
{
    permute(t, l, b, t->x);
    forward_all(t, l, t->x);
    memcpy(t->y, t->x, sizeof(double) * (size_t)l->n);
    for (int k = l->count - 1; k >= 0; k--)
        if (t->on_path[k])
            backward(t, l, k, &t->parts[t->part_count], t->y);
    for (int j = 0; j < l->n; j++)
        if (t->on_path[t->super_of[j]])
            x[l->order[j]] = t->scale[l->order[j] / 3] * t->y[j];
}

/* t->x += L^-1 change */
static void add_change(pl_triangular *t, const pl_supernodes *l, const double *change)
{
    for (int j = 0; j < l->n; j++)
        t->y[j] = t->on_path[t->super_of[j]] ? t->scale[l->order[j] / 3] * change[l->order[j]] : 0;
    for (int k = 0; k < l->count; k++)
        if (t->on_path[k])
            forward(t, l, k, &t->parts[t->part_count], l->n, t->y);
    for (int j = 0; j < l->n; j++)
        t->x[j] += t->y[j];
}

void pl_triangular_end(pl_triangular *t, const pl_supernodes *l, const double *change,
                       const double *known, double *x)
{
    bool path_done = known && t->closed;
    if (!path_done)
        add_change(t, l, change);
    for (int j = 0; j < l->n && path_done; j++)
        if (t->on_path[t->super_of[j]])
            t->x[j] = known[l->order[j]] / t->scale[l->order[j] / 3];
    backward_all(t, l, path_done, t->x);
    permute_back(t, l, t->x, x);
}
