/* Multifrontal Cholesky in single precision. */
#include "linalg/multifrontal.h"

#include <cblas.h>
#include <lapacke.h>
#include <omp.h>

#define BLOCK         128 /* columns factored at once */
#define TILE          192 /* columns of the rest that one thread subtracts at once */
#define WORTH_THREADS 4e6 /* flops of a front: from here on its blocks are shared */

/* One supernode's front. */
typedef struct front {
    int columns, below, height;
    float *value; /* [height, columns] column-major: F11, F21 */
    float *rest;  /* [below, below] column-major: F22, lower triangle */
    int threads;
} front;

/* Its columns are at `value` while it is worked on, by a thread or by several. */
static front get_front(const pl_multifrontal *m, const pl_supernodes *l, int k, int thread, int threads,
                       float *value)
{
    size_t from = m->rest_from[k];
    pl_panel p = pl_panel_of(l, k);
    double flops = (double)p.columns * p.height * p.height;
    return (front){
        .columns = p.columns,
        .below = p.below,
        .height = p.height,
        .value = value,
        .rest = m->rest + from + (from < m->left ? 0 : (size_t)thread * m->room),
        .threads = flops < WORTH_THREADS ? 1 : threads,
    };
}

/* ---- Symbolic ---- */

/* The places of A's blocks: those of column vertex v are the transposes of v's row. */
static pl_status place_entries(pl_multifrontal *m, const pl_pattern *pattern, const pl_supernodes *l,
                               const pl_triangular *t)
{
    pl_status status = PL_OK;
    int *local = NULL, count = 0;
    PL_NEW(m->ctx, m->entry, (pattern->nnz + pattern->n) / 2, done);
    PL_NEW(m->ctx, m->entry_from, l->count + 1, done);
    PL_NEW(m->ctx, local, l->n, done);
    for (int k = 0; k < l->count; k++) {
        int height = l->begin[k + 1] - l->begin[k];
        for (int i = 0; i < height; i++)
            local[l->row[l->begin[k] + i]] = i;
        for (int j = l->first[k]; j < l->first[k + 1]; j += 3) {
            int v = l->order[j] / 3;
            for (int e = pattern->row[v]; e < pattern->row[v + 1]; e++) {
                int row = t->place[3 * pattern->col[e]];
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
    pl_free(m->ctx, local);
    return status;
}

static pl_status list_children(pl_multifrontal *m, const pl_supernodes *l, const pl_triangular *t)
{
    pl_status status = PL_OK;
    int *filled = NULL;
    PL_NEW(m->ctx, m->child_from, l->count + 1, done);
    PL_NEW(m->ctx, m->child, l->count, done);
    PL_NEW(m->ctx, filled, l->count, done);
    for (int k = 0; k < l->count; k++) {
        int parent = pl_triangular_parent(t, l, k);
        if (parent >= 0)
            m->child_from[parent + 1]++;
    }
    for (int k = 0; k < l->count; k++)
        m->child_from[k + 1] += m->child_from[k];
    for (int k = 0; k < l->count; k++) {
        int parent = pl_triangular_parent(t, l, k);
        if (parent >= 0)
            m->child[m->child_from[parent] + filled[parent]++] = k;
    }
done:
    pl_free(m->ctx, filled);
    return status;
}

/* Where the vertices below each supernode are in its parent's front. */
static pl_status find_positions(pl_multifrontal *m, const pl_supernodes *l, const pl_triangular *t)
{
    pl_status status = PL_OK;
    PL_NEW(m->ctx, m->position, t->triple_from[l->count], done);
    PL_NEW(m->ctx, m->run_end, t->triple_from[l->count], done);
    for (int k = 0; k < l->count; k++) {
        int parent = pl_triangular_parent(t, l, k), from = t->triple_from[k],
            end = t->triple_from[k + 1];
        const int *row = parent < 0 ? NULL : l->row + l->begin[parent];
        for (int i = from, at = 0; i < end; i++) {
            while (row[at] != t->triple[i])
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
    size_t below = (size_t)pl_panel_of(l, k).below;
    return below * below;
}

static bool left_to_top(const pl_supernodes *l, const pl_triangular *t, int k)
{
    int parent = pl_triangular_parent(t, l, k);
    return t->in_part[k] && parent >= 0 && !t->in_part[parent];
}

/* What is not left to the top. */
static void place_rest(pl_multifrontal *m, const pl_supernodes *l, const pl_triangular *t, int k,
                       rooms *r)
{
    if (rest_values(l, k) > 0 && !left_to_top(l, t, k))
        m->rest_from[k] = m->left + take_room(r, rest_values(l, k), pl_triangular_parent(t, l, k));
    empty_rooms(r, k);
}

static pl_status place_rests(pl_multifrontal *m, const pl_supernodes *l, const pl_triangular *t)
{
    pl_status status = PL_OK;
    rooms r = {0};
    PL_NEW(m->ctx, m->rest_from, l->count, done);
    PL_NEW(m->ctx, r.live, l->count + 1, done);
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
    size_t rooms_of_threads = (size_t)m->ctx->threads * m->room;
    PL_NEW(m->ctx, m->rest, m->left + (r.peak > rooms_of_threads ? r.peak : rooms_of_threads), done);
done:
    pl_free(m->ctx, r.live);
    return status;
}

pl_status pl_multifrontal_create(pl_context *ctx, const pl_pattern *pattern, const pl_supernodes *l,
                                 const pl_triangular *t, bool keep_schur, pl_multifrontal *out)
{
    pl_status status = PL_OK;
    pl_multifrontal *m = out;
    *m = (pl_multifrontal){.ctx = ctx, .pattern = pattern};
    PL_CHECK(place_entries(m, pattern, l, t), done);
    PL_CHECK(list_children(m, l, t), done);
    PL_CHECK(find_positions(m, l, t), done);
    PL_CHECK(place_rests(m, l, t), done);
    if (keep_schur) {
        size_t columns = (size_t)(l->n - l->first[l->count - 1]);
        PL_NEW(ctx, m->schur, columns * columns, done);
    }
done:
    if (status != PL_OK)
        pl_multifrontal_free(m);
    return status;
}

void pl_multifrontal_free(pl_multifrontal *m)
{
    void *arrays[] = {m->entry,   m->entry_from, m->child_from, m->child, m->position,
                      m->run_end, m->rest_from,  m->rest,       m->schur};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(m->ctx, arrays[k]);
    *m = (pl_multifrontal){0};
}

/* ---- Numeric ---- */

/* Three columns of a child's rest, those of its vertex j, added to the parent's front. */
static void add_columns(const pl_multifrontal *m, const front *child, int from, int count, int j,
                        const front *parent)
{
    const int *position = m->position + from, *run_end = m->run_end + from;
    for (int c = 0; c < 3; c++) {
        int column = position[j] + c;
        const float *source = child->rest + (size_t)(3 * j + c) * (size_t)child->below;
        float *target = column < parent->columns
                            ? parent->value + (size_t)column * (size_t)parent->height
                            : parent->rest + (size_t)(column - parent->columns) * (size_t)parent->below;
        int above = column < parent->columns ? 0 : parent->columns;
        for (int i = j; i < count; i = run_end[i]) {
            const float *s = source + 3 * i;
            float *d = target + (position[i] - above);
            for (int r = 0; r < 3 * (run_end[i] - i); r++)
                d[r] += s[r];
        }
    }
}

static void assemble(const pl_multifrontal *m, const pl_supernodes *l, const pl_triangular *t,
                     const double *blocks, int k, int thread, const front *f)
{
    memset(f->value, 0, sizeof(float) * (size_t)f->height * (size_t)f->columns);
    /* By threads, because most of it is pages that are touched for the first time. */
#pragma omp parallel for num_threads(f->threads) schedule(static, 64) if (f->threads > 1)
    for (int j = 0; j < f->below; j++)
        memset(f->rest + (size_t)j * (size_t)(f->below + 1), 0, sizeof(float) * (size_t)(f->below - j));
    for (int e = m->entry_from[k]; e < m->entry_from[k + 1]; e++) {
        const pl_front_entry *entry = &m->entry[e];
        const double *from = blocks + 9 * (size_t)entry->block;
        float *to = f->value + entry->at,
              scale = t->scale[entry->vertex[0]] * t->scale[entry->vertex[1]];
        for (int c = 0; c < 3; c++, to += f->height)
            for (int r = 0; r < 3; r++)
                to[r] = scale * (float)from[3 * c + r];
    }
    for (int i = m->child_from[k]; i < m->child_from[k + 1]; i++) {
        int child = m->child[i], from = t->triple_from[child], count = t->triple_from[child + 1] - from;
        front c = get_front(m, l, child, thread, 1, NULL);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 8) if (f->threads > 1)
        for (int j = 0; j < count; j++)
            add_columns(m, &c, from, count, j, f);
    }
}

/* What columns [first, first + width) take from those of tile [begin, end) on their right. */
static void reduce_tile(const front *f, int first, int width, int begin, int end)
{
    const float *left = f->value + (size_t)first * (size_t)f->height + begin;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, f->height - begin, end - begin, width, -1,
                left, f->height, left, f->height, 1,
                f->value + (size_t)begin * (size_t)f->height + begin, f->height);
}

/* L11 and L21, a block of columns at a time. */
static bool factor_columns(const front *f)
{
    size_t height = (size_t)f->height;
    for (int first = 0; first < f->columns; first += BLOCK) {
        int width = pl_smaller(BLOCK, f->columns - first), next = first + width;
        float *diagonal = f->value + (size_t)first * (height + 1);
        if (LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', width, diagonal, f->height) != 0)
            return false;
        int strips = (f->height - next + TILE - 1) / TILE;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
        for (int s = 0; s < strips; s++)
            cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        pl_smaller(TILE, f->height - next - s * TILE), width, 1, diagonal, f->height,
                        diagonal + width + s * TILE, f->height);
        int tiles = (f->columns - next + TILE - 1) / TILE;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
        for (int s = 0; s < tiles; s++)
            reduce_tile(f, first, width, next + s * TILE,
                        pl_smaller(next + (s + 1) * TILE, f->columns));
    }
    return true;
}

/* F22 - L21 L21^T, the lower triangle. */
static void reduce_rest(const front *f)
{
    const float *l21 = f->value + f->columns;
    int tiles = (f->below + TILE - 1) / TILE;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
    for (int s = 0; s < tiles; s++) {
        int begin = s * TILE, width = pl_smaller(TILE, f->below - begin),
            under = f->below - begin - width;
        float *corner = f->rest + (size_t)begin * ((size_t)f->below + 1);
        cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, width, f->columns, -1, l21 + begin,
                    f->height, 1, corner, f->below);
        if (under > 0)
            cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, under, width, f->columns, -1,
                        l21 + begin + width, f->height, l21 + begin, f->height, 1, corner + width,
                        f->below);
    }
}

/* By one thread, or by `threads` of which this is the first. */
static bool factor_front(const pl_multifrontal *m, const pl_supernodes *l, pl_triangular *t,
                         const double *blocks, int k, int thread, int threads)
{
    float *scratch = pl_triangular_scratch(t, thread);
    front f = get_front(m, l, k, thread, threads, scratch);
    assemble(m, l, t, blocks, k, thread, &f);
    if (m->schur && k == l->count - 1)
        memcpy(m->schur, f.value, sizeof(float) * (size_t)f.columns * (size_t)f.columns);
    if (!factor_columns(&f))
        return false;
    reduce_rest(&f);
    pl_triangular_store(t, l, k, f.threads, scratch);
    return true;
}

bool pl_multifrontal_factor(pl_multifrontal *m, const pl_supernodes *l, pl_triangular *t,
                            const double *blocks)
{
    int threads = m->ctx->threads;
    bool made = true;
    pl_triangular_take(t, m->pattern, l, blocks);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(&& : made)
    for (int p = 0; p < t->part_count; p++)
        for (int k = t->parts[p].begin; made && k < t->parts[p].end; k++)
            made = factor_front(m, l, t, blocks, k, omp_get_thread_num(), 1);
    for (int k = 0; made && k < l->count; k++)
        if (!t->in_part[k])
            made = factor_front(m, l, t, blocks, k, 0, threads);
    return made;
}
