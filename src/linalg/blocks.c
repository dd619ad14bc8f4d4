/* Products and sums of vectors by blocks. */
#include "linalg/blocks.h"

#define BLOCK         512 /* unknowns that are added up at once, at least */
#define MOST_BLOCKS   64
#define AT_ONCE       16   /* vectors */
#define WORTH_THREADS 3000 /* unknowns: from here on threads pay for their start */

static int block_count(int size)
{
    return pl_smaller(size / BLOCK + 1, MOST_BLOCKS);
}

static size_t edge(int size, int b)
{
    return (size_t)size * (size_t)b / (size_t)block_count(size);
}

/* The same for at most AT_ONCE vectors. */
static void few_dots(const pl_context *ctx, int size, int count, const double *vectors, const double *x,
                     double *out)
{
    double part[MOST_BLOCKS][AT_ONCE];
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (size > WORTH_THREADS)
    for (int b = 0; b < block_count(size); b++)
        for (int i = 0; i < count; i++) {
            const double *v = vectors + (size_t)i * (size_t)size;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (size_t e = edge(size, b); e < edge(size, b + 1); e++)
                sum += v[e] * x[e];
            part[b][i] = sum;
        }
    for (int i = 0; i < count; i++) {
        out[i] = 0;
        for (int b = 0; b < block_count(size); b++)
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
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (size > WORTH_THREADS)
    for (int b = 0; b < block_count(size); b++)
        for (int i = 0; i < count; i++) {
            const double *v = vectors + (size_t)i * (size_t)size;
            for (size_t e = edge(size, b); e < edge(size, b + 1); e++)
                x[e] -= c[i] * v[e];
        }
}
