/* A seal 1.4 m long, resting on its belly, with the fourteen muscle regions of a crawling gait. */
#include "shape/figure.h"

static const pl_part parts[] = {
    /* body from the chest to the tail */
    {PL_LIMB, {0.060, 0, 0.160}, {0.300, 0, 0.210}, {0.190, 0.155}, 0},
    {PL_LIMB, {0.060, 0, 0.160}, {-0.300, 0, 0.115}, {0.190, 0.125}, 0.03},
    {PL_LIMB, {-0.300, 0, 0.115}, {-0.520, 0, 0.070}, {0.125, 0.065}, 0.03},
    /* neck, head, muzzle */
    {PL_LIMB, {0.300, 0, 0.230}, {0.460, 0, 0.370}, {0.140, 0.105}, 0.05},
    {PL_BALL, {0.510, 0, 0.430}, {0.125, 0.100, 0.095}, {0}, 0.05},
    {PL_BALL, {0.620, 0, 0.410}, {0.060, 0.062, 0.050}, {0}, 0.03},
    {PL_BALL, {0.665, 0, 0.430}, {0.025, 0.028, 0.022}, {0}, 0.015},
    /* flippers */
    {PL_LIMB, {0.230, 0.120, 0.110}, {0.160, 0.270, 0.050}, {0.075, 0.055}, 0.03},
    {PL_LIMB, {0.160, 0.270, 0.050}, {0.040, 0.370, 0.030}, {0.055, 0.035}, 0.02},
    {PL_LIMB, {0.160, 0.270, 0.040}, {0.110, 0.390, 0.025}, {0.050, 0.032}, 0.02},
    /* tail flukes */
    {PL_LIMB, {-0.500, 0.020, 0.065}, {-0.640, 0.095, 0.040}, {0.055, 0.045}, 0.02},
    {PL_LIMB, {-0.640, 0.095, 0.040}, {-0.700, 0.140, 0.032}, {0.045, 0.030}, 0.02},
};

#define LEFT(name, x0, y0, z0, x1, y1, z1)                                                             \
    {                                                                                                  \
        name "_left", false, PL_BETWEEN(x0, y0, z0, x1, y1, z1), 0                                     \
    }
#define RIGHT(name, x0, y0, z0, x1, y1, z1)                                                            \
    {                                                                                                  \
        name "_right", false, PL_BETWEEN(x0, -(y1), z0, x1, -(y0), z1), 0                              \
    }
#define PAIR(name, x0, y0, z0, x1, y1, z1)                                                             \
    LEFT(name, x0, y0, z0, x1, y1, z1), RIGHT(name, x0, y0, z0, x1, y1, z1)

static const pl_figure_group groups[] = {
    {"feet", true, PL_GROUND, 0},
    {"back", true, {PL_LIMB, {-0.250, 0, 0.250}, {0.200, 0, 0.350}, {0.03, 0.03}, 0}, 0.3},
    {"nose", true, PL_BETWEEN(0.640, -0.1, 0.3, 1, 0.1, 0.6), 0},
    {"head", false, PL_BETWEEN(0.440, -0.2, 0.3, 1, 0.2, 0.7), 0},
    PAIR("dorsal_fore", 0.00, 0.02, 0.200, 0.30, 0.25, 0.400),
    PAIR("dorsal_rear", -0.38, 0.02, 0.140, -0.02, 0.25, 0.400),
    PAIR("ventral_fore", 0.00, 0.02, 0.000, 0.30, 0.16, 0.120),
    PAIR("ventral_rear", -0.38, 0.02, 0.000, -0.02, 0.25, 0.100),
    PAIR("flipper", 0.00, 0.20, 0.000, 0.30, 0.45, 0.150),
    PAIR("tail", -0.80, 0.00, 0.000, -0.42, 0.25, 0.200),
    PAIR("neck", 0.32, 0.01, 0.180, 0.46, 0.25, 0.460),
};

const pl_figure pl_figure_seal = {
    .info =
        {"seal",
         "a seal, 1.4 m long; groups feet, back, nose (vertices), head and, each as _left and _right, "
         "dorsal_fore, dorsal_rear, ventral_fore, ventral_rear, flipper, tail, neck (elements)",
         false,
         2000,
         {-0.74, -0.43, 0},
         {0.70, 0.43, 0.54}},
    .kind = PL_FIGURE_SOLID,
    .parts = parts,
    .part_count = PL_COUNT(parts),
    .groups = groups,
    .group_count = PL_COUNT(groups),
};
