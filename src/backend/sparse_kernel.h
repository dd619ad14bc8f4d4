/* Block sparse kernels: gathering the tangent, and the product y = B x. */
#ifndef PL_SPARSE_KERNEL_H
#define PL_SPARSE_KERNEL_H

#include "backend/backend.h"
#include "backend/simd.h"

static void kernel_gather(const pl_gathering *g, int first, int last)
{
    for (int i = first; i < last; i++) {
        double *out = g->out + 3 * (size_t)i;
#if PL_WIDTH >= 4
        v4 sum = {0}, next;
        for (int k = g->begin[i]; k < g->begin[i + 1]; k++) {
            memcpy(&next, g->force + g->from[k], sizeof next);
            sum += next;
        }
#else
        double sum[3] = {0};
        for (int k = g->begin[i]; k < g->begin[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                sum[c] += g->force[g->from[k] + c];
#endif
        for (int c = 0; c < 3; c++)
            out[c] = g->scale * sum[c] + (g->add ? out[c] : 0.0);
    }
}

/* A block of nine numbers as 4 + 4 + 1 where registers hold four. */
#if PL_WIDTH >= 4
typedef struct nine {
    v4 low, high;
    double last;
} nine;

static inline nine load_nine(const double *p)
{
    nine b;
    memcpy(&b.low, p, sizeof b.low);
    memcpy(&b.high, p + 4, sizeof b.high);
    b.last = p[8];
    return b;
}

static inline void store_nine(double *p, nine b)
{
    memcpy(p, &b.low, sizeof b.low);
    memcpy(p + 4, &b.high, sizeof b.high);
    p[8] = b.last;
}

static inline nine add_nine(nine a, nine b)
{
    return (nine){a.low + b.low, a.high + b.high, a.last + b.last};
}

/* scale (a + t I) */
static inline nine scale_nine(double scale, nine a, double t)
{
    v4 first = {t, 0.0, 0.0, 0.0};
    return (nine){scale * (a.low + first), scale * (a.high + first), scale * (a.last + t)};
}

static inline nine transpose_nine(nine a)
{
    return (nine){__builtin_shufflevector(a.low, a.high, 0, 3, 6, 1),
                  __builtin_shufflevector(a.low, a.high, 4, 7, 2, 5), a.last};
}
#else
typedef struct nine {
    double v[9];
} nine;

static inline nine load_nine(const double *p)
{
    nine b;
    memcpy(b.v, p, sizeof b.v);
    return b;
}

static inline void store_nine(double *p, nine b)
{
    memcpy(p, b.v, sizeof b.v);
}

static inline nine add_nine(nine a, nine b)
{
    for (int c = 0; c < 9; c++)
        a.v[c] += b.v[c];
    return a;
}

static inline nine scale_nine(double scale, nine a, double t)
{
    for (int c = 0; c < 9; c++)
        a.v[c] = scale * (a.v[c] + (c % 4 ? 0.0 : t));
    return a;
}

static inline nine transpose_nine(nine a)
{
    nine b;
    for (int c = 0; c < 9; c++)
        b.v[c] = a.v[3 * (c % 3) + c / 3];
    return b;
}
#endif

/* Entry k right of the diagonal, or left of it that of its mirror image. */
static inline __attribute__((always_inline)) nine assemble_entry(const pl_assembly *a, int k)
{
    nine sum = {0};
    int s = a->begin[k], end = a->begin[k + 1];
    __builtin_prefetch(a->share + a->from[s + PL_AHEAD]);
    __builtin_prefetch(a->share + a->from[s + PL_AHEAD] + 8);
    if (s < end)
        sum = load_nine(a->share + a->from[s++]);
    for (; s < end; s++)
        sum = add_nine(sum, load_nine(a->share + a->from[s]));
    return scale_nine(a->scale, sum, a->isotropic ? a->isotropic[k] : 0.0);
}

static void kernel_assemble(const pl_assembly *a, int first, int last)
{
    const pl_pattern *p = a->pattern;
    for (int i = first; i < last; i++) {
        nine sum = {0};
        double row[9], *out = a->out + 9 * (size_t)p->diag[i], add = a->diagonal ? a->diagonal[i] : 0.0;
        for (int k = p->row[i]; k < p->diag[i]; k++) {
            nine entry = transpose_nine(assemble_entry(a, k));
            sum = add_nine(sum, entry);
            store_nine(a->out + 9 * (size_t)k, entry);
        }
        for (int k = p->diag[i] + 1; k < p->row[i + 1]; k++) {
            nine entry = assemble_entry(a, k);
            sum = add_nine(sum, entry);
            store_nine(a->out + 9 * (size_t)k, entry);
        }
        store_nine(row, sum);
        /* Symmetric but for rounding. */
        out[1] = out[3] = -0.5 * (row[1] + row[3]);
        out[2] = out[6] = -0.5 * (row[2] + row[6]);
        out[5] = out[7] = -0.5 * (row[5] + row[7]);
        for (int c = 0; c < 9; c += 4)
            out[c] = add - row[c];
    }
}

#if defined(__AVX2__) && defined(__FMA__)
/* A block's nine numbers as 4 + 4 + 1, against x shifted to meet them. */
static void kernel_multiply(const pl_pattern *p, const double *blocks, const double *x, double *y,
                            int first, int last)
{
    for (int i = first; i < last; i++) {
        __m256d low = _mm256_setzero_pd(), high = low;
        double end = 0.0;
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            const double *b = blocks + 9 * (size_t)k, *xj = x + 3 * (size_t)p->col[k];
            __m256d xyzx = _mm256_set_pd(xj[0], xj[2], xj[1], xj[0]);
            __m256d yzxy = _mm256_permute4x64_pd(xyzx, 0x49);
            low = _mm256_fmadd_pd(_mm256_loadu_pd(b), xyzx, low);
            high = _mm256_fmadd_pd(_mm256_loadu_pd(b + 4), yzxy, high);
            end += b[8] * xj[2];
        }
        double l[4], h[4];
        _mm256_storeu_pd(l, low);
        _mm256_storeu_pd(h, high);
        y[3 * (size_t)i] = l[0] + l[1] + l[2];
        y[3 * (size_t)i + 1] = l[3] + h[0] + h[1];
        y[3 * (size_t)i + 2] = h[2] + h[3] + end;
    }
}
#else
static void kernel_multiply(const pl_pattern *p, const double *blocks, const double *x, double *y,
                            int first, int last)
{
    for (int i = first; i < last; i++) {
        double sum[3] = {0};
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            const double *b = blocks + 9 * (size_t)k, *xj = x + 3 * (size_t)p->col[k];
            for (int r = 0; r < 3; r++)
                sum[r] += b[3 * r] * xj[0] + b[3 * r + 1] * xj[1] + b[3 * r + 2] * xj[2];
        }
        memcpy(y + 3 * (size_t)i, sum, sizeof sum);
    }
}
#endif

#endif
