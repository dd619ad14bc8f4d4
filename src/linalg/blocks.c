/* Products and sums of vectors by blocks. */
#include "linalg/blocks.h"

#define MOST_BLOCKS 64
#define AT_ONCE     16 /* vectors */

static int block_count(const pl_context *ctx, int size)
{
    return pl_smaller(size / ctx->limits.block_vectors + 1, MOST_BLOCKS);
}

/* Where block b of `count` begins. */
static size_t edge(int size, int count, int b)
{
    return (size_t)size * (size_t)b / (size_t)count;
}

static bool worth_threads(const pl_context *ctx, int size, int count)
{
    return (double)size * count > ctx->limits.thread_vectors;
}

/* The same for at most AT_ONCE vectors. */
static void few_dots(const pl_context *ctx, int size, int count, const double *vectors, const double *x,
                     double *out)
{
    int blocks = block_count(ctx, size);
    double part[MOST_BLOCKS][AT_ONCE];
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (worth_threads(ctx, size, count))
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < count; i++) {
            const double *v = vectors + (size_t)i * (size_t)size;
            size_t end = edge(size, blocks, b + 1);
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (size_t e = edge(size, blocks, b); e < end; e++)
                sum += v[e] * x[e];
            part[b][i] = sum;
        }
    for (int i = 0; i < count; i++) {
        out[i] = 0;
        for (int b = 0; b < blocks; b++)
            out[i] += part[b][i];
    }
}

void pl_dots(const pl_context *ctx, int size, int count, const double *vectors, const double *x,
             double *out)
{
    for (int i = 0; i < count; i += AT_ONCE)
        few_dots(ctx, size, pl_smaller(count - i, AT_ONCE), vectors + (size_t)i * (size_t)size, x,
                 out + i);
}

void pl_subtract(const pl_context *ctx, int size, int count, const double *vectors, const double *c,
                 double *x)
{
    int blocks = block_count(ctx, size);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (worth_threads(ctx, size, count))
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < count; i++) {
            const double *v = vectors + (size_t)i * (size_t)size;
            size_t end = edge(size, blocks, b + 1);
            for (size_t e = edge(size, blocks, b); e < end; e++)
                x[e] -= c[i] * v[e];
        }
}
