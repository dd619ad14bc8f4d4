/* Which kernel tables run on this processor. PL_HAVE_AVX2 and PL_HAVE_AVX512 come from kernels.cmake.
 */
#include "backend/backend.h"

extern const pl_backend pl_backend_scalar, pl_backend_baseline, pl_backend_avx2, pl_backend_avx512;

#ifdef PL_HAVE_AVX2
#include <cpuid.h>

/* F16C, which not every compiler's __builtin_cpu_supports knows. */
static bool converts_half(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

int pl_backend_list(const pl_backend *out[PL_BACKEND_MAX])
{
    int count = 0;
#ifdef PL_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && converts_half())
        out[count++] = &pl_backend_avx512;
#endif
#ifdef PL_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && converts_half())
        out[count++] = &pl_backend_avx2;
#endif
    out[count++] = &pl_backend_baseline;
    out[count++] = &pl_backend_scalar;
    return count;
}
