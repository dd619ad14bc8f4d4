/* Block sparse kernels: gathering the tangent, and the product y = B x. */
#ifndef PL_SPARSE_KERNEL_H
#define PL_SPARSE_KERNEL_H

#include "backend/backend.h"
#include "backend/simd.h"

static void kernel_assemble_upper(const pl_assembly *a, int first, int last)
{
    const pl_pattern *p = a->pattern;
    for (int i = first; i < last; i++)
        for (int k = p->diag[i] + 1; k < p->row[i + 1]; k++) {
            double sum[9] = {0};
            for (int s = a->entry_begin[k]; s < a->entry_begin[k + 1]; s++) {
                const double *source = a->source + a->entry_from[s];
                for (int c = 0; c < 9; c++)
                    sum[c] += source[c];
            }
            for (int c = 0; c < 9; c++)
                sum[c] = a->scale * (sum[c] + (c % 4 ? 0.0 : a->isotropic[k]));
            double *here = a->out + 9 * (size_t)k, *there = a->out + 9 * (size_t)a->mirror[k];
            for (int c = 0; c < 9; c++) {
                here[c] = sum[c];
                there[c] = sum[3 * (c % 3) + c / 3];
            }
        }
}

static void kernel_assemble_diagonal(const pl_assembly *a, int first, int last)
{
    const pl_pattern *p = a->pattern;
    for (int i = first; i < last; i++) {
        double sum[9] = {0};
        for (int k = p->row[i]; k < p->row[i + 1]; k++)
            if (k != p->diag[i])
                for (int c = 0; c < 9; c++)
                    sum[c] -= a->out[9 * (size_t)k + (size_t)c];
        double *out = a->out + 9 * (size_t)p->diag[i], add = a->diagonal ? a->diagonal[i] : 0.0;
        /* Symmetric but for rounding. */
        out[1] = out[3] = 0.5 * (sum[1] + sum[3]);
        out[2] = out[6] = 0.5 * (sum[2] + sum[6]);
        out[5] = out[7] = 0.5 * (sum[5] + sum[7]);
        for (int c = 0; c < 9; c += 4)
            out[c] = sum[c] + add;
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
