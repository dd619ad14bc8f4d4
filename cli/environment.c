/*
 * What libraries read from the environment when they are loaded can only be mended by setting it and
 * starting again. A user's own settings are respected.
 *
 * OPENBLAS_CORETYPE: Debian's OpenBLAS chooses kernels by CPU model; one newer than the library gets
 * its oldest kernels (core type Prescott or Nehalem, SSE only) although it has AVX2 or AVX-512, at half
 * the speed.
 *
 * OPENBLAS_NUM_THREADS: the threads are ours (core/context.c); OpenBLAS' own, made when it is loaded,
 * spin for a while for nothing.
 *
 * OMP_WAIT_POLICY: threads that wait asleep take some 0.1 ms to wake in a virtual machine, longer than
 * many of the products they share; threads that spin for as long as they wait make a busy machine ten
 * times slower. So they spin for a quarter of a millisecond if nothing else runs (650 contacts: 12 %
 * less time a step), and go to sleep at once if something does (two such runs at once: a third less).
 */
#include "cli.h"
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

#define LOOKS 5 /* a millisecond apart: programs that start together with this one are soon done */

/* Threads of any program that run now, this one among them; 0 if the system does not tell. */
static int running_threads(void)
{
    int running = 0;
    FILE *load = fopen("/proc/loadavg", "r");
    if (!load)
        return 0;
    if (fscanf(load, "%*f %*f %*f %d", &running) != 1)
        running = 0;
    fclose(load);
    return running;
}

static bool machine_is_idle(void)
{
    for (int k = 0; k < LOOKS; k++) {
        if (running_threads() == 1)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

/* By libgomp's name of it, and libomp's. */
static bool choose_waiting(void)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
        return false;
    if (!machine_is_idle())
        return setenv("OMP_WAIT_POLICY", "passive", 1) == 0;
    return setenv("GOMP_SPINCOUNT", "10000", 1) == 0 && setenv("KMP_BLOCKTIME", "1", 1) == 0;
}

static bool choose_blas(void)
{
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : better_core(openblas_get_corename());
    bool changed = core && setenv("OPENBLAS_CORETYPE", core, 1) == 0;
    if (!getenv("OPENBLAS_NUM_THREADS"))
        changed = setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0 || changed;
    return changed;
}

/* One after the other: OpenBLAS' threads would pass for something else that runs. */
void cli_choose_environment(char **argv)
{
    if (choose_blas() || choose_waiting())
        execv("/proc/self/exe", argv); /* comes back only on failure: then go on, only slower */
}
