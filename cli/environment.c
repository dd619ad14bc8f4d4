/*
 * What libraries read from the environment when they are loaded can only be mended by setting it and
 * starting again, once. A user's own settings are respected.
 *
 * OPENBLAS_CORETYPE: Debian's OpenBLAS chooses kernels by CPU model; one newer than the library gets
 * its oldest kernels (core type Prescott or Nehalem, SSE only) although it has AVX2 or AVX-512, at half
 * the speed.
 *
 * OMP_WAIT_POLICY: threads that spin while they wait gain nothing here on an idle machine (measured on
 * bodies of 1,200 and 4,200 vertices) and make a busy one ten times slower.
 */
#include "cli.h"
#include "environment.h"

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

void cli_choose_environment(char **argv)
{
    bool changed = false;
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : better_core(openblas_get_corename());
    if (core)
        changed = setenv("OPENBLAS_CORETYPE", core, 1) == 0;
    if (!getenv("OMP_WAIT_POLICY"))
        changed = setenv("OMP_WAIT_POLICY", "passive", 1) == 0 || changed;
    if (changed)
        execv("/proc/self/exe", argv); /* comes back only on failure: then go on, only slower */
}
