/*
 * What others need for a step. CPU: DiffPD (C++/Eigen, its fastest method) measured on two cores, on
 * the scenes named bar-small, bar, slide, edge and flat; its residual is an absolute force, far looser
 * than a Newton step of 1e-10 m. GPU: the figures the method's paper gives for an RTX 5090.
 */
#include "bench.h"

#include <string.h>

static const bench_peer peers[] = {
    {"bar-small", 57, 58, 68, 92, 2e-8, 0, 0},
    {"bar", 261, 322, 331, 345, 6e-8, 6.2, 2.7},
    {"slide", 454, 811, 0, 638, 3e-3, 31.1, 71.9},
    {"edge", 1093, 1523, 0, 1147, 3e-3, 0, 0},
    {"flat", 3916, 529, 0, 506, 3e-3, 0, 0},
    {"armadillo-neo-hookean-1.2k", .gpu_forward = 3.71, .gpu_backward = 7.40},
    {"armadillo-neo-hookean-5k", .gpu_forward = 6.44, .gpu_backward = 16.0},
    {"armadillo-neo-hookean-10k", .gpu_forward = 11.6, .gpu_backward = 36.4},
    {"bunny-1.5k", .gpu_forward = 27.0, .gpu_backward = 23.5},
    {"bunny-4k", .gpu_forward = 28.3, .gpu_backward = 33.7},
    {"bunny-10k", .gpu_forward = 46.6, .gpu_backward = 91.5},
    {"cloth-2k", .gpu_forward = 1.35, .gpu_backward = 1.90},
    {"cloth-10k", .gpu_forward = 3.71, .gpu_backward = 4.46},
};

const bench_peer *bench_find_peer(const char *name)
{
    for (size_t k = 0; k < sizeof peers / sizeof *peers; k++)
        if (strcmp(peers[k].name, name) == 0)
            return &peers[k];
    return NULL;
}
