/*
 * Vectors of doubles for the hot kernels, one lane per element: vd (values) and vm (masks, all bits set
 * or clear). The width follows the instruction set a file is compiled for, so that one source serves
 * all of them. Widths divide PL_LANES of backend.h.
 */
#ifndef PL_SIMD_H
#define PL_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/* A file may fix the width itself before including this one. */
#if defined(PL_WIDTH)
#elif defined(__AVX512F__)
#define PL_WIDTH 8
#elif defined(__AVX2__)
#define PL_WIDTH 4
#else
#define PL_WIDTH 2
#endif

typedef double vd __attribute__((vector_size(8 * PL_WIDTH)));
typedef long long vm __attribute__((vector_size(8 * PL_WIDTH)));
typedef unsigned long long vu __attribute__((vector_size(8 * PL_WIDTH)));

static inline vd v_set(double x)
{
    return x - (vd){0};
}

static inline vd v_load(const double *p)
{
    vd v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline void v_store(double *p, vd v)
{
    __builtin_memcpy(p, &v, sizeof v);
}

/* A mask with no lane set, the lanes that another leaves out, and a with its sign flipped where b is
 * negative. */
#define V_NONE       ((vm)v_set(0.0))
#define V_NOT(mask)  (~(mask))
#define V_FLIP(a, b) ((vd)((vu)(a) ^ ((vu)(b)&0x8000000000000000ull)))

/* mask ? a : b */
static inline vd v_select(vm mask, vd a, vd b)
{
#if defined(__AVX2__) && PL_WIDTH == 4
    return _mm256_blendv_pd(b, a, (vd)mask);
#else
    return (vd)((mask & (vm)a) | (~mask & (vm)b));
#endif
}

static inline bool v_any(vm mask)
{
#if defined(__AVX2__) && PL_WIDTH == 4
    return _mm256_movemask_pd((vd)mask) != 0;
#elif defined(__SSE2__) && PL_WIDTH == 2
    return _mm_movemask_pd((vd)mask) != 0;
#elif defined(__AVX512F__) && PL_WIDTH == 8
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#else
    long long any = 0;
    for (int i = 0; i < PL_WIDTH; i++)
        any |= mask[i];
    return any != 0;
#endif
}

static inline vd v_sqrt(vd x)
{
#if PL_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_sqrt_pd(x);
#elif PL_WIDTH == 4 && defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#elif PL_WIDTH == 2 && defined(__SSE2__)
    return _mm_sqrt_pd(x);
#else
    for (int i = 0; i < PL_WIDTH; i++)
        x[i] = sqrt(x[i]);
    return x;
#endif
}

static inline vd v_abs(vd x)
{
    return (vd)((vu)x & 0x7fffffffffffffffull);
}

static inline vd v_copysign(vd size, vd sign)
{
    return (vd)(((vu)size & 0x7fffffffffffffffull) | ((vu)sign & 0x8000000000000000ull));
}

/* a > b ? a : b, which is what the instructions do, also for zeros and NaN. */
static inline vd v_max(vd a, vd b)
{
#if PL_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_max_pd(a, b);
#elif PL_WIDTH == 4 && defined(__AVX2__)
    return _mm256_max_pd(a, b);
#elif PL_WIDTH == 2 && defined(__SSE2__)
    return _mm_max_pd(a, b);
#else
    return v_select(a > b, a, b);
#endif
}

/* Value c of every two from x and from y in turn: c = 0, 1. */
#if PL_WIDTH == 2
#define V_PAIRS(x, y, c) __builtin_shufflevector(x, y, c, 2 + (c))
#elif PL_WIDTH == 4
#define V_PAIRS(x, y, c) __builtin_shufflevector(x, y, c, 4 + (c), 2 + (c), 6 + (c))
#elif PL_WIDTH == 8
#define V_PAIRS(x, y, c)                                                                               \
    __builtin_shufflevector(x, y, c, 8 + (c), 2 + (c), 10 + (c), 4 + (c), 12 + (c), 6 + (c), 14 + (c))
#endif

#if PL_WIDTH >= 4
typedef double v4 __attribute__((vector_size(32))); /* four values of one lane */

/* Lane w's four values in out[w]. */
static inline __attribute__((always_inline)) void v_transpose(const vd in[4], v4 out[PL_WIDTH])
{
#if PL_WIDTH == 4
#define JOIN_(x, y, c) __builtin_shufflevector(x, y, c, (c) + 1, 4 + (c), 5 + (c))
#else
#define JOIN_(x, y, c) __builtin_shufflevector(x, y, c, (c) + 1, 8 + (c), 9 + (c))
#endif
    vd even[2] = {V_PAIRS(in[0], in[1], 0), V_PAIRS(in[2], in[3], 0)};
    vd odd[2] = {V_PAIRS(in[0], in[1], 1), V_PAIRS(in[2], in[3], 1)};
    out[0] = JOIN_(even[0], even[1], 0);
    out[1] = JOIN_(odd[0], odd[1], 0);
    out[2] = JOIN_(even[0], even[1], 2);
    out[3] = JOIN_(odd[0], odd[1], 2);
#if PL_WIDTH == 8
    out[4] = JOIN_(even[0], even[1], 4);
    out[5] = JOIN_(odd[0], odd[1], 4);
    out[6] = JOIN_(even[0], even[1], 6);
    out[7] = JOIN_(odd[0], odd[1], 6);
#endif
#undef JOIN_
}

/* p[0..3] += v */
static inline void v_add4(double *p, v4 v)
{
    v4 sum;
    __builtin_memcpy(&sum, p, sizeof sum);
    sum += v;
    __builtin_memcpy(p, &sum, sizeof sum);
}

/* Four values of lanes 0 to 3 to out + w * stride. Written out: a loop here would stay one. */
static inline void v_store_four(const v4 in[4], double *out, size_t stride)
{
    __builtin_memcpy(out, &in[0], sizeof in[0]);
    __builtin_memcpy(out + stride, &in[1], sizeof in[1]);
    __builtin_memcpy(out + 2 * stride, &in[2], sizeof in[2]);
    __builtin_memcpy(out + 3 * stride, &in[3], sizeof in[3]);
}
#endif

/* Lane w's `count` values to out + w * stride: value by value in, slot by slot out. */
static inline __attribute__((always_inline)) void v_store_slots(const vd *in, int count, double *out,
                                                                size_t stride)
{
    int c = 0;
#if PL_WIDTH >= 4
    for (; c + 4 <= count; c += 4) {
        v4 rows[PL_WIDTH];
        v_transpose(in + c, rows);
        v_store_four(rows, out + c, stride);
#if PL_WIDTH == 8
        v_store_four(rows + 4, out + (size_t)c + 4 * stride, stride);
#endif
    }
#endif
    for (; c < count; c++)
        for (int w = 0; w < PL_WIDTH; w++)
            out[(size_t)w * stride + (size_t)c] = in[c][w];
}

/* Adds lane w's nine values to those at out + at[w]; lanes one after the other, since places may be the
 * same. */
static inline __attribute__((always_inline)) void v_add_nine(const vd in[9], double *out, const int *at)
{
#if PL_WIDTH >= 4
    v4 low[PL_WIDTH], high[PL_WIDTH];
    v_transpose(in, low);
    v_transpose(in + 4, high);
    for (int w = 0; w < PL_WIDTH; w++) {
        double *p = out + at[w];
        v_add4(p, low[w]);
        v_add4(p + 4, high[w]);
        p[8] += in[8][w];
    }
#else
    for (int w = 0; w < PL_WIDTH; w++)
        for (int c = 0; c < 9; c++)
            out[at[w] + c] += in[c][w];
#endif
}

#if PL_WIDTH >= 4
/* p[0], p[1], q[0], q[1] */
static inline v4 v_load_two(const double *p, const double *q)
{
#if defined(__AVX2__)
    /* The second pair straight from memory: from a register it would take the port of the shuffles. */
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1);
#else
    return (v4){p[0], p[1], q[0], q[1]};
#endif
}
#endif

/* Values c and c + 1 of every other vertex of at[0 .. PL_WIDTH - 1] of x [n, 3]. */
static inline __attribute__((always_inline)) vd v_load_pairs(const double *x, const int *at, int c)
{
    x += c;
#if PL_WIDTH <= 2
    return v_load(x + 3 * (size_t)at[0]);
#else
    v4 low = v_load_two(x + 3 * (size_t)at[0], x + 3 * (size_t)at[2]);
#if PL_WIDTH == 4
    return low;
#else
    v4 high = v_load_two(x + 3 * (size_t)at[4], x + 3 * (size_t)at[6]);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
#endif
}

/* out[c][w] = x[3 at[w] + c]: the vectors [n, 3] of PL_WIDTH vertices, coordinate by coordinate. */
static inline __attribute__((always_inline)) void v_gather3(const double *x, const int *at, vd out[3])
{
#if PL_WIDTH == 1
    for (int c = 0; c < 3; c++)
        out[c] = v_load_pairs(x, at, c);
#else
    /* Each vertex as (x, y) and (y, z): four at a time would read past the last one. */
    vd even = v_load_pairs(x, at, 0), odd = v_load_pairs(x, at + 1, 0);
    out[0] = V_PAIRS(even, odd, 0);
    out[1] = V_PAIRS(even, odd, 1);
    even = v_load_pairs(x, at, 1), odd = v_load_pairs(x, at + 1, 1);
    out[2] = V_PAIRS(even, odd, 1);
#endif
}

/* 2^-e for |x| in [2^e, 2^(e+1)); finite for zero. */
static inline vd v_inverse_power(vd x)
{
    return (vd)(0x7fe0000000000000ull - ((vu)x & 0x7ff0000000000000ull));
}

/*
 * log x for normal x > 0. x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt 2), s = f / (2 + f), and
 * log(1 + f) = 2 atanh s = f - s (f - 2 (s^2/3 + s^4/5 + ...)); |s| < 0.172, so eleven terms reach
 * 2^-56.
 */
static inline vd v_log(vd x)
{
    vu bits = (vu)x;
    vd one_to_two = (vd)((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    vm high = one_to_two > M_SQRT2;
    vd f = v_select(high, 0.5 * one_to_two, one_to_two) - 1.0;
    /* An integer below 2^51 becomes a double by sitting in the low bits of 1.5 * 2^52. */
    vd e = (vd)((bits >> 52) + 0x4338000000000000ull) - 0x1.8p52 - 1023.0;
    e = v_select(high, e + 1.0, e);
    /* Horner's scheme in z^4, four terms at a time: a shorter chain of dependent operations. */
    vd s = f / (2.0 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    vd sum = (z * (1.0 / 23.0) + 1.0 / 21.0) * z2 + (z * (1.0 / 19.0) + 1.0 / 17.0);
    sum = sum * z4 + ((z * (1.0 / 15.0) + 1.0 / 13.0) * z2 + (z * (1.0 / 11.0) + 1.0 / 9.0));
    sum = sum * z2 + (z * (1.0 / 7.0) + 1.0 / 5.0);
    sum = sum * z + 1.0 / 3.0;
    /* ln 2 in two pieces; the first has 32 trailing zero bits, so that e times it is exact. */
    const double high_part = 0x1.62e42feep-1, low_part = 0x1.a39ef35793c76p-33;
    return e * high_part + (f - (s * (f - 2.0 * z * sum) - e * low_part));
}

#endif
