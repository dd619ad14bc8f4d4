/* One element an item: the vectors of backend/simd.h as single numbers, masks as 0 or 1. */
#ifndef PL_SIMD_H
#define PL_SIMD_H

#define PL_WIDTH 1

typedef double vd;
typedef int vm;

#define V_NONE       0
#define V_NOT(mask)  (!(mask))
#define V_FLIP(a, b) ((b) < 0 ? -(a) : (a))

static inline vd v_set(double x)
{
    return x;
}

static inline vd v_select(vm mask, vd a, vd b)
{
    return mask ? a : b;
}

static inline bool v_any(vm mask)
{
    return mask != 0;
}

static inline vd v_sqrt(vd x)
{
    return sqrt(x);
}

static inline vd v_abs(vd x)
{
    return fabs(x);
}

static inline vd v_copysign(vd size, vd sign)
{
    return copysign(size, sign);
}

static inline vd v_max(vd a, vd b)
{
    return a > b ? a : b;
}

/* 2^-e for |x| in [2^e, 2^(e+1)); finite for zero. */
static inline vd v_inverse_power(vd x)
{
    return x > 0 ? ldexp(1.0, -ilogb(x)) : ldexp(1.0, 1022);
}

static inline vd v_log(vd x)
{
    return log(x);
}

#endif
