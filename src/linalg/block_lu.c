/* Elimination by groups of unknowns. */
#include "linalg/block_lu.h"

#include <cblas.h>
#include <lapacke.h>

void pl_block_lu_free(pl_context *ctx, pl_block_lu *b)
{
    void *arrays[] = {b->size,  b->start,    b->order,    b->rank,   b->first, b->later,
                      b->above, b->height,   b->diagonal, b->column, b->row,   b->value,
                      b->pivot, b->gathered, b->front,    b->tied};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *b = (pl_block_lu){0};
}

/* ---- The plan ---- */

static size_t words_of(const pl_block_lu *b)
{
    return ((size_t)b->count + 63) / 64;
}

static bool are_tied(const pl_block_lu *b, int i, int j)
{
    return b->tied[(size_t)i * words_of(b) + (size_t)j / 64] >> (j % 64) & 1;
}

static pl_status reserve_groups(pl_context *ctx, pl_block_lu *b, int count)
{
    pl_status status = PL_OK;
    if (count <= b->group_capacity)
        return PL_OK;
    int room = count + count / 2 + 8;
    pl_block_lu_free(ctx, b);
    PL_NEW(ctx, b->size, room, done);
    PL_NEW(ctx, b->start, room + 1, done);
    PL_NEW(ctx, b->order, room, done);
    PL_NEW(ctx, b->rank, room, done);
    PL_NEW(ctx, b->first, room + 1, done);
    PL_NEW(ctx, b->height, room, done);
    PL_NEW(ctx, b->diagonal, room, done);
    PL_NEW(ctx, b->column, room, done);
    PL_NEW(ctx, b->row, room, done);
    PL_NEW(ctx, b->tied, (size_t)room * (((size_t)room + 63) / 64), done);
    b->group_capacity = room;
done:
    if (status != PL_OK)
        pl_block_lu_free(ctx, b);
    return status;
}

pl_status pl_block_lu_begin(pl_context *ctx, pl_block_lu *b, int count, const int *size)
{
    PL_TRY(reserve_groups(ctx, b, count));
    b->count = count;
    b->total = 0;
    for (int g = 0; g < count; g++) {
        b->size[g] = size[g];
        b->start[g] = b->total;
        b->total += size[g];
    }
    b->start[count] = b->total;
    memset(b->tied, 0, sizeof *b->tied * (size_t)count * words_of(b));
    return PL_OK;
}

void pl_block_lu_tie(pl_block_lu *b, int i, int j)
{
    if (i == j)
        return;
    b->tied[(size_t)i * words_of(b) + (size_t)j / 64] |= (uint64_t)1 << (j % 64);
    b->tied[(size_t)j * words_of(b) + (size_t)i / 64] |= (uint64_t)1 << (i % 64);
}

/* Unknowns of the groups that g is tied to. */
static int degree(const pl_block_lu *b, int g)
{
    int sum = 0;
    const uint64_t *row = b->tied + (size_t)g * words_of(b);
    for (size_t w = 0; w < words_of(b); w++)
        for (uint64_t bits = row[w]; bits; bits &= bits - 1)
            sum += b->size[64 * w + (size_t)__builtin_ctzll(bits)];
    return sum;
}

/* Group g is gone, and those that it was tied to are tied to each other. Its own row stays. */
static void eliminate(pl_block_lu *b, int g)
{
    size_t words = words_of(b);
    const uint64_t *row = b->tied + (size_t)g * words;
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
            size_t i = 64 * w + (size_t)__builtin_ctzll(bits);
            uint64_t *other = b->tied + i * words;
            for (size_t k = 0; k < words; k++)
                other[k] |= row[k];
            other[i / 64] &= ~((uint64_t)1 << (i % 64));
            other[(size_t)g / 64] &= ~((uint64_t)1 << (g % 64));
            b->height[i] = degree(b, (int)i);
        }
}

/* By least degree; of equals the first. b->rank is -1 of groups that are left. */
static void find_order(pl_block_lu *b)
{
    for (int g = 0; g < b->count; g++) {
        b->rank[g] = -1;
        b->height[g] = degree(b, g);
    }
    for (int k = 0, from = 0; k < b->count; k++) {
        int best = -1;
        while (b->rank[from] >= 0)
            from++;
        for (int g = from; g < b->count && (best < 0 || b->height[best] > 0); g++)
            if (b->rank[g] < 0 && (best < 0 || b->height[g] < b->height[best]))
                best = g;
        b->order[k] = best;
        b->rank[best] = k;
        eliminate(b, best);
    }
}

/* Later groups of each, in the order of elimination, and where its blocks are. */
static pl_status lay_out(pl_context *ctx, pl_block_lu *b)
{
    int ties = 0;
    b->used = 0;
    b->operations = 0;
    for (int k = 0; k < b->count; k++) {
        int g = b->order[k];
        size_t size = (size_t)b->size[g], height = 0;
        b->first[k] = ties;
        for (int r = k + 1; b->height[g] > 0 && r < b->count; r++) {
            int i = b->order[r];
            if (!are_tied(b, g, i))
                continue;
            if (ties == b->tie_capacity) {
                int room = ties, same = ties;
                PL_TRY(pl_grow(ctx, (void **)&b->later, &room, ties + 1, sizeof *b->later));
                PL_TRY(pl_grow(ctx, (void **)&b->above, &same, ties + 1, sizeof *b->above));
                b->tie_capacity = room;
            }
            b->later[ties] = i;
            b->above[ties++] = (int)height;
            height += (size_t)b->size[i];
        }
        b->height[g] = (int)height;
        b->diagonal[g] = b->used;
        b->column[g] = b->diagonal[g] + size * size;
        b->row[g] = b->column[g] + height * size;
        b->used = b->row[g] + height * size;
        double s = b->size[g], h = b->height[g];
        b->operations += s * s * s * 2 / 3 + 2 * s * s * h + 2 * s * h * h;
    }
    b->first[b->count] = ties;
    return PL_OK;
}

pl_status pl_block_lu_plan(pl_context *ctx, pl_block_lu *b)
{
    pl_status status = PL_OK;
    int tallest = 0;
    find_order(b);
    PL_TRY(lay_out(ctx, b));
    for (int g = 0; g < b->count; g++)
        tallest = tallest > b->height[g] ? tallest : b->height[g];
    if (b->used > b->value_capacity) {
        pl_free(ctx, b->value);
        b->value_capacity = 0;
        PL_NEW(ctx, b->value, b->used + b->used / 2, done);
        b->value_capacity = b->used + b->used / 2;
    }
    if (tallest > b->tallest) {
        size_t room = (size_t)(tallest + tallest / 2);
        pl_free(ctx, b->front);
        pl_free(ctx, b->gathered);
        b->front = b->gathered = NULL, b->tallest = 0;
        PL_NEW(ctx, b->front, room * room, done);
        PL_NEW(ctx, b->gathered, room, done);
        b->tallest = (int)room;
    }
    status = pl_grow(ctx, (void **)&b->pivot, &b->pivot_capacity, b->total, sizeof *b->pivot);
done:
    return status;
}

/* ---- Numbers ---- */

void pl_block_lu_clear(pl_block_lu *b)
{
    memset(b->value, 0, sizeof *b->value * b->used);
}

/* How many of group g's rows below the diagonal come before those of a later group. */
static int rows_above(const pl_block_lu *b, int g, int later)
{
    int low = b->first[b->rank[g]], high = b->first[b->rank[g] + 1] - 1;
    while (low < high) {
        int half = (low + high) / 2;
        if (b->rank[b->later[half]] < b->rank[later])
            low = half + 1;
        else
            high = half;
    }
    return b->above[low];
}

double *pl_block_lu_block(const pl_block_lu *b, int i, int j, int *ld)
{
    if (i == j) {
        *ld = b->size[i];
        return b->value + b->diagonal[i];
    }
    if (b->rank[i] > b->rank[j]) {
        *ld = b->height[j];
        return b->value + b->column[j] + rows_above(b, j, i);
    }
    *ld = b->size[i];
    return b->value + b->row[i] + (size_t)rows_above(b, i, j) * (size_t)b->size[i];
}

/* What was multiplied in the front is subtracted from where it belongs. */
static void subtract_front(pl_block_lu *b, int k)
{
    int height = b->height[b->order[k]];
    for (int q = b->first[k]; q < b->first[k + 1]; q++)
        for (int p = b->first[k]; p < b->first[k + 1]; p++) {
            int ld, rows = b->size[b->later[p]], columns = b->size[b->later[q]];
            double *to = pl_block_lu_block(b, b->later[p], b->later[q], &ld);
            const double *from = b->front + (size_t)b->above[q] * (size_t)height + b->above[p];
            for (int j = 0; j < columns; j++)
                for (int i = 0; i < rows; i++)
                    to[(size_t)j * (size_t)ld + (size_t)i] -=
                        from[(size_t)j * (size_t)height + (size_t)i];
        }
}

/* Columns [first, first + count) of the k-th group's row of blocks become those of U, and as many rows
 * of its column of blocks those of L. */
static void divide(const pl_block_lu *b, int k, int first, int count)
{
    int g = b->order[k], size = b->size[g], height = b->height[g];
    const double *diagonal = b->value + b->diagonal[g];
    double *row = b->value + b->row[g] + (size_t)first * (size_t)size;
    double *column = b->value + b->column[g] + first;
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, count, row, size, 1, size, b->pivot + b->start[g], 1);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, size, count, 1, diagonal,
                size, row, size);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, count, size, 1,
                diagonal, size, column, height);
}

/* So many columns of the k-th front: L U. */
static void multiply(const pl_block_lu *b, int k, int first, int count)
{
    int g = b->order[k], size = b->size[g], height = b->height[g];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, height, count, size, 1,
                b->value + b->column[g], height, b->value + b->row[g] + (size_t)first * (size_t)size,
                size, 0, b->front + (size_t)first * (size_t)height, height);
}

/* By pieces of the height that do not depend on the threads. */
static void in_pieces(const pl_context *ctx, const pl_block_lu *b, int k,
                      void (*work)(const pl_block_lu *, int, int, int))
{
    int piece = ctx->limits.block_lu, height = b->height[b->order[k]];
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(dynamic, 1) if (height > ctx->limits.thread_lu)
    for (int first = 0; first < height; first += piece)
        work(b, k, first, pl_smaller(piece, height - first));
}

bool pl_block_lu_factor(const pl_context *ctx, pl_block_lu *b)
{
    for (int k = 0; k < b->count; k++) {
        int g = b->order[k], size = b->size[g];
        if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, b->value + b->diagonal[g], size,
                                b->pivot + b->start[g]) != 0)
            return false;
        in_pieces(ctx, b, k, divide);
        in_pieces(ctx, b, k, multiply);
        subtract_front(b, k);
    }
    return true;
}

/* x at the later groups of the k-th, gathered or put back. */
static void gather(pl_block_lu *b, int k, double *x, bool back)
{
    for (int p = b->first[k]; p < b->first[k + 1]; p++) {
        double *at = x + b->start[b->later[p]], *here = b->gathered + b->above[p];
        memcpy(back ? at : here, back ? here : at, sizeof *x * (size_t)b->size[b->later[p]]);
    }
}

/* x_g <- (P L)^-1 x_g or U^-T x_g, and x_later less what that makes there. */
static void forward(pl_block_lu *b, int k, bool transposed, double *x)
{
    int g = b->order[k], size = b->size[g], height = b->height[g];
    double *own = x + b->start[g];
    const double *diagonal = b->value + b->diagonal[g];
    if (!transposed)
        LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, 1, own, size, 1, size, b->pivot + b->start[g], 1);
    cblas_dtrsv(CblasColMajor, transposed ? CblasUpper : CblasLower,
                transposed ? CblasTrans : CblasNoTrans, transposed ? CblasNonUnit : CblasUnit, size,
                diagonal, size, own, 1);
    if (height == 0)
        return;
    gather(b, k, x, false);
    if (transposed)
        cblas_dgemv(CblasColMajor, CblasTrans, size, height, -1, b->value + b->row[g], size, own, 1, 1,
                    b->gathered, 1);
    else
        cblas_dgemv(CblasColMajor, CblasNoTrans, height, size, -1, b->value + b->column[g], height, own,
                    1, 1, b->gathered, 1);
    gather(b, k, x, true);
}

/* x_g less what x_later makes there, then U^-1 or (P L)^-T. */
static void backward(pl_block_lu *b, int k, bool transposed, double *x)
{
    int g = b->order[k], size = b->size[g], height = b->height[g];
    double *own = x + b->start[g];
    const double *diagonal = b->value + b->diagonal[g];
    if (height > 0) {
        gather(b, k, x, false);
        if (transposed)
            cblas_dgemv(CblasColMajor, CblasTrans, height, size, -1, b->value + b->column[g], height,
                        b->gathered, 1, 1, own, 1);
        else
            cblas_dgemv(CblasColMajor, CblasNoTrans, size, height, -1, b->value + b->row[g], size,
                        b->gathered, 1, 1, own, 1);
    }
    cblas_dtrsv(CblasColMajor, transposed ? CblasLower : CblasUpper,
                transposed ? CblasTrans : CblasNoTrans, transposed ? CblasUnit : CblasNonUnit, size,
                diagonal, size, own, 1);
    if (transposed)
        LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, 1, own, size, 1, size, b->pivot + b->start[g], -1);
}

void pl_block_lu_solve(pl_block_lu *b, bool transposed, double *x)
{
    for (int k = 0; k < b->count; k++)
        forward(b, k, transposed, x);
    for (int k = b->count - 1; k >= 0; k--)
        backward(b, k, transposed, x);
}

bool pl_block_lu_mirrors(const pl_block_lu *b)
{
    bool negative = false;
    for (int g = 0; g < b->count; g++) {
        const double *diagonal = b->value + b->diagonal[g];
        for (int i = 0; i < b->size[g]; i++)
            negative ^= (diagonal[(size_t)i * ((size_t)b->size[g] + 1)] < 0) ^
                        (b->pivot[b->start[g] + i] != i + 1);
    }
    return negative;
}
