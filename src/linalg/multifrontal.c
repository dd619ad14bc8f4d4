/* Multifrontal Cholesky in single precision. */
#include "linalg/multifrontal.h"

#include <cblas.h>
#include <lapacke.h>
#include <omp.h>

/* One supernode's front. */
typedef struct front {
    int columns, below, height;
    float *value; /* [height, columns] column-major: F11, F21 */
    float *rest;  /* [below, below] column-major: F22, lower triangle */
    int threads;
    int block; /* columns factored at once, */
    int tile;  /* and of the rest that one thread subtracts at once */
} front;

/* Its columns are at `value` while it is worked on, by a thread or by several. */
static front get_front(const pl_multifrontal *m, int k, int thread, int threads, float *value)
{
    const pl_multifrontal_plan *plan = m->plan;
    size_t from = plan->rest_from[k];
    pl_panel p = pl_panel_of(plan->triangular->supernodes, k);
    const pl_limits *limits = &m->ctx->limits;
    double flops = (double)p.columns * p.height * p.height;
    return (front){
        .columns = p.columns,
        .below = p.below,
        .height = p.height,
        .value = value,
        .rest = m->rest + from + (from < plan->left ? 0 : (size_t)thread * plan->room),
        .threads = flops < limits->thread_front ? 1 : threads,
        .block = limits->block_front,
        .tile = limits->tile_front,
    };
}

pl_status pl_multifrontal_create(pl_context *ctx, const pl_multifrontal_plan *plan,
                                 pl_multifrontal *out)
{
    pl_status status = PL_OK;
    pl_multifrontal *m = out;
    size_t of_threads = (size_t)ctx->threads * plan->room, schur = (size_t)plan->schur_size;
    *m = (pl_multifrontal){.ctx = ctx, .plan = plan};
    PL_NEW(ctx, m->rest, plan->left + (plan->top_room > of_threads ? plan->top_room : of_threads),
           done);
    if (schur > 0)
        PL_NEW(ctx, m->schur, schur * schur, done);
done:
    if (status != PL_OK)
        pl_multifrontal_free(m);
    return status;
}

void pl_multifrontal_free(pl_multifrontal *m)
{
    pl_free(m->ctx, m->rest);
    pl_free(m->ctx, m->schur);
    *m = (pl_multifrontal){0};
}

/* Three columns of a child's rest, those of its vertex j, added to the parent's front. */
static void add_columns(const pl_multifrontal_plan *m, const front *child, int from, int count, int j,
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

static void assemble(const pl_multifrontal *m, const pl_triangular *t, const double *blocks, int k,
                     int thread, const front *f)
{
    const pl_multifrontal_plan *plan = m->plan;
    const int *triple_from = plan->triangular->supernodes->triple_from;
    memset(f->value, 0, sizeof(float) * (size_t)f->height * (size_t)f->columns);
    /* By threads, because most of it is pages that are touched for the first time. */
#pragma omp parallel for num_threads(f->threads) schedule(static, 64) if (f->threads > 1)
    for (int j = 0; j < f->below; j++)
        memset(f->rest + (size_t)j * (size_t)(f->below + 1), 0, sizeof(float) * (size_t)(f->below - j));
    for (int e = plan->entry_from[k]; e < plan->entry_from[k + 1]; e++) {
        const pl_front_entry *entry = &plan->entry[e];
        const double *from = blocks + 9 * (size_t)entry->block;
        float *to = f->value + entry->at,
              scale = t->scale[entry->vertex[0]] * t->scale[entry->vertex[1]];
        for (int c = 0; c < 3; c++, to += f->height)
            for (int r = 0; r < 3; r++)
                to[r] = scale * (float)from[3 * c + r];
    }
    for (int i = plan->child_from[k]; i < plan->child_from[k + 1]; i++) {
        int child = plan->child[i], from = triple_from[child], count = triple_from[child + 1] - from;
        front c = get_front(m, child, thread, 1, NULL);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 8) if (f->threads > 1)
        for (int j = 0; j < count; j++)
            add_columns(plan, &c, from, count, j, f);
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
    for (int first = 0; first < f->columns; first += f->block) {
        int width = pl_smaller(f->block, f->columns - first), next = first + width;
        float *diagonal = f->value + (size_t)first * (height + 1);
        if (LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', width, diagonal, f->height) != 0)
            return false;
        int strips = (f->height - next + f->tile - 1) / f->tile;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
        for (int s = 0; s < strips; s++)
            cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        pl_smaller(f->tile, f->height - next - s * f->tile), width, 1, diagonal,
                        f->height, diagonal + width + s * f->tile, f->height);
        int tiles = (f->columns - next + f->tile - 1) / f->tile;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
        for (int s = 0; s < tiles; s++)
            reduce_tile(f, first, width, next + s * f->tile,
                        pl_smaller(next + (s + 1) * f->tile, f->columns));
    }
    return true;
}

/* F22 - L21 L21^T, the lower triangle. */
static void reduce_rest(const front *f)
{
    const float *l21 = f->value + f->columns;
    int tiles = (f->below + f->tile - 1) / f->tile;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1) if (f->threads > 1)
    for (int s = 0; s < tiles; s++) {
        int begin = s * f->tile, width = pl_smaller(f->tile, f->below - begin),
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
static bool factor_front(const pl_multifrontal *m, pl_triangular *t, const double *blocks, int k,
                         int thread, int threads)
{
    float *scratch = pl_triangular_scratch(t, thread);
    front f = get_front(m, k, thread, threads, scratch);
    assemble(m, t, blocks, k, thread, &f);
    if (m->schur && k == t->plan->supernodes->count - 1)
        memcpy(m->schur, f.value, sizeof(float) * (size_t)f.columns * (size_t)f.columns);
    if (!factor_columns(&f))
        return false;
    reduce_rest(&f);
    pl_triangular_store(t, k, f.threads, scratch);
    return true;
}

bool pl_multifrontal_factor(pl_multifrontal *m, pl_triangular *t, const double *blocks)
{
    const pl_triangular_plan *plan = t->plan;
    int threads = m->ctx->threads;
    bool made = true;
    pl_triangular_take(t, m->plan->pattern, blocks);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(&& : made)
    for (int p = 0; p < plan->part_count; p++)
        for (int k = plan->parts[p].begin; made && k < plan->parts[p].end; k++)
            made = factor_front(m, t, blocks, k, omp_get_thread_num(), 1);
    for (int k = 0; made && k < plan->supernodes->count; k++)
        if (!plan->in_part[k])
            made = factor_front(m, t, blocks, k, 0, threads);
    return made;
}
