/*
 * Debian's OpenBLAS chooses kernels by CPU model; one newer than the library gets its oldest kernels
 * (core type Prescott or Nehalem, SSE only) although it has AVX2 or AVX-512, at half the speed. The
 * choice is made when the library is loaded, so the way to mend it is to set OPENBLAS_CORETYPE and
 * start again, once. A user's own OPENBLAS_CORETYPE is respected.
 */
#include "cli.h"
#include "blas.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *openblas_get_corename(void);

static const char *better_core(const char *current)
{
#if defined(__x86_64__)
    static const char *const old[] = {"Prescott", "Nehalem",    "Core2",     "Penryn", "Dunnington",
                                      "Katmai",   "Coppermine", "Northwood", "Banias", "Unknown"};
    bool outdated = false;
    for (int i = 0; i < CLI_COUNT(old); i++)
        outdated = outdated || strcmp(current, old[i]) == 0;
    if (!outdated)
        return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#else
    (void)current;
#endif
    return NULL;
}

void cli_choose_blas_core(char **argv)
{
    if (getenv("OPENBLAS_CORETYPE"))
        return;
    const char *core = better_core(openblas_get_corename());
    if (core && setenv("OPENBLAS_CORETYPE", core, 1) == 0)
        execv("/proc/self/exe", argv); /* comes back only on failure: then go on, only slower */
}
