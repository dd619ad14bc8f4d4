/* Products with symmetric matrices. */
#include "linalg/symmetric.h"

#include <math.h>

pl_symmetric pl_symmetric_create(bool half)
{
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    return (pl_symmetric){.backend = backends[0], .half = half && backends[0]->half};
}

void pl_symmetric_free(pl_context *ctx, pl_symmetric *s)
{
    void *arrays[] = {s->strips, s->scale, s->x, s->y, s->across, s->sums};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *s = (pl_symmetric){.backend = s->backend, .half = s->half};
}

/* Values in the strips above row r, a multiple of PL_STRIP below the last strip. */
static size_t strips_above(int r)
{
    size_t strips = (size_t)(r / PL_STRIP);
    return PL_STRIP * PL_STRIP * strips * (strips + 1) / 2;
}

static pl_status reserve(pl_context *ctx, pl_symmetric *s, int size)
{
    pl_status status = PL_OK;
    if (size <= s->capacity)
        return PL_OK;
    int room = (size + size / 2 + PL_STRIP) / PL_STRIP * PL_STRIP;
    pl_symmetric_free(ctx, s);
    s->strips = pl_alloc(ctx, strips_above(room), s->half ? sizeof(pl_half) : sizeof(float));
    if (!s->strips)
        return PL_ERROR_MEMORY;
    PL_NEW(ctx, s->scale, room, fail);
    PL_NEW(ctx, s->x, room, fail);
    PL_NEW(ctx, s->y, room, fail);
    PL_NEW(ctx, s->across, PL_SYMMETRIC_PIECES * (room + 3), fail);
    PL_NEW(ctx, s->sums, PL_SYMMETRIC_PIECES * 8 * (room + 3), fail);
    s->capacity = room;
    return PL_OK;
fail:
    pl_symmetric_free(ctx, s);
    return status;
}

/* Pieces of about the same number of values; those of row r are about r^2 / 2. */
static void cut(pl_symmetric *s)
{
    for (int p = 1; p < PL_SYMMETRIC_PIECES; p++)
        s->cut[p] = (int)(s->size * sqrt((double)p / PL_SYMMETRIC_PIECES)) / PL_STRIP * PL_STRIP;
    s->cut[PL_SYMMETRIC_PIECES] = s->size;
}

static void store_strip(pl_symmetric *s, const float *a, int r)
{
    int rows = s->size - r < PL_STRIP ? s->size - r : PL_STRIP, filled = PL_STRIP_ROWS(rows);
    size_t at = strips_above(r);
    for (int j = 0; j < r + rows; j++, at += (size_t)filled) {
        float column[PL_STRIP] = {0};
        for (int i = j < r ? 0 : j - r; i < rows; i++)
            column[i] =
                a[(size_t)(r + i) * (size_t)s->size + (size_t)j] / (s->scale[r + i] * s->scale[j]);
        if (j >= r)
            column[j - r] *= 0.5F;
        if (s->half)
            s->backend->half->round(column, (size_t)filled, (pl_half *)s->strips + at);
        else
            memcpy((float *)s->strips + at, column, sizeof *column * (size_t)filled);
    }
}

pl_status pl_symmetric_store(pl_context *ctx, pl_symmetric *s, int size, const float *a)
{
    PL_TRY(reserve(ctx, s, size));
    s->size = size;
    cut(s);
    for (int i = 0; i < size; i++)
        s->scale[i] = 1 / pl_half_scale(a[(size_t)i * (size_t)(size + 1)]);
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static, 1) if (size > ctx->limits.thread_symmetric)
    for (int r = 0; r < size; r += PL_STRIP)
        store_strip(s, a, r);
    return PL_OK;
}

/* Piece p: its rows of s->y, and what it adds elsewhere. */
static void multiply_piece(pl_symmetric *s, int p)
{
    size_t each = (size_t)s->size + 3, at = strips_above(s->cut[p]);
    float *sums = s->sums + 8 * each * (size_t)p, *across = s->across + each * (size_t)p;
    if (s->half)
        s->backend->half->symmetric((pl_half *)s->strips + at, s->cut[p], s->cut[p + 1], s->x, s->y,
                                    sums, across);
    else
        s->backend->symmetric((float *)s->strips + at, s->cut[p], s->cut[p + 1], s->x, s->y, sums,
                              across);
}

void pl_symmetric_multiply(const pl_context *ctx, pl_symmetric *s, const float *x, float *y)
{
    int size = s->size, filled = PL_STRIP_ROWS(size);
    for (int i = 0; i < filled; i++)
        s->x[i] = i < size ? s->scale[i] * x[i] : 0;
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (size > ctx->limits.thread_symmetric)
    for (int p = 0; p < PL_SYMMETRIC_PIECES; p++)
        multiply_piece(s, p);
    for (int i = 0; i < size; i++) {
        float sum = s->y[i];
        for (int p = 0; p < PL_SYMMETRIC_PIECES; p++)
            sum += i < s->cut[p + 1] ? s->across[(size_t)(p * (size + 3) + i)] : 0;
        y[i] = s->scale[i] * sum;
    }
}
