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

static inline vd v_max(vd a, vd b)
{
    return v_select(a > b, a, b);
}

/* Lane w's `count` values to out + w * stride: value by value in, slot by slot out. */
static inline __attribute__((always_inline)) void v_store_slots(const vd *in, int count, double *out,
                                                                size_t stride)
{
    int c = 0;
#if defined(__AVX2__) && PL_WIDTH == 4
    for (; c + 4 <= count; c += 4) {
        vd a = _mm256_unpacklo_pd(in[c], in[c + 1]), b = _mm256_unpackhi_pd(in[c], in[c + 1]);
        vd d = _mm256_unpacklo_pd(in[c + 2], in[c + 3]), e = _mm256_unpackhi_pd(in[c + 2], in[c + 3]);
        v_store(out + c, _mm256_permute2f128_pd(a, d, 0x20));
        v_store(out + c + stride, _mm256_permute2f128_pd(b, e, 0x20));
        v_store(out + c + 2 * stride, _mm256_permute2f128_pd(a, d, 0x31));
        v_store(out + c + 3 * stride, _mm256_permute2f128_pd(b, e, 0x31));
    }
#endif
    for (; c < count; c++)
        for (int w = 0; w < PL_WIDTH; w++)
            out[(size_t)w * stride + (size_t)c] = in[c][w];
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
    vd s = f / (2.0 + f), z = s * s, sum = v_set(1.0 / 23.0);
    for (int k = 21; k >= 3; k -= 2)
        sum = sum * z + 1.0 / k;
    /* ln 2 in two pieces; the first has 32 trailing zero bits, so that e times it is exact. */
    const double high_part = 0x1.62e42feep-1, low_part = 0x1.a39ef35793c76p-33;
    return e * high_part + (f - (s * (f - 2.0 * z * sum) - e * low_part));
}

#endif
