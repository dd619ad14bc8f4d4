/* Tux, a penguin standing on two feet, and a rubber duck floating on its flat belly. */
#include "shape/figure.h"

static const pl_part tux_parts[] = {
    /* body, belly, head */
    {PL_BALL, {0, 0, 0.215}, {0.150, 0.165, 0.210}, {0}, 0},
    {PL_BALL, {0.045, 0, 0.190}, {0.130, 0.135, 0.165}, {0}, 0.02},
    {PL_BALL, {0.005, 0, 0.455}, {0.105, 0.105, 0.115}, {0}, 0.09},
    /* beak, above and below; eyes */
    {PL_BALL, {0.125, 0, 0.432}, {0.085, 0.062, 0.026}, {10, 0}, 0.01},
    {PL_BALL, {0.110, 0, 0.412}, {0.065, 0.050, 0.020}, {14, 0}, 0.01},
    {PL_BALL, {0.085, 0.036, 0.490}, {0.026, 0.030, 0.038}, {0}, 0.008},
    /* flippers */
    {PL_BALL, {-0.015, 0.180, 0.245}, {0.052, 0.030, 0.150}, {6, 18}, 0.03},
    /* feet, tail */
    {PL_BALL, {0.090, 0.080, 0.014}, {0.125, 0.072, 0.040}, {0}, 0.015},
    {PL_LIMB, {-0.120, 0, 0.070}, {-0.200, 0, 0.030}, {0.050, 0.026}, 0.03},
};

static const pl_figure_group tux_groups[] = {
    {"feet", true, PL_GROUND, 0},
    {"back", true, {PL_LIMB, {-0.150, 0, 0.200}, {-0.120, 0, 0.340}, {0.03, 0.03}, 0}, 0.3},
    {"beak", true, PL_BETWEEN(0.120, -0.1, 0.38, 0.300, 0.1, 0.46), 0},
    {"head", false, PL_BETWEEN(-0.2, -0.2, 0.39, 0.3, 0.2, 0.7), 0},
    {"flipper_left", false, PL_BETWEEN(-0.2, 0.150, 0.08, 0.2, 0.4, 0.40), 0},
    {"flipper_right", false, PL_BETWEEN(-0.2, -0.4, 0.08, 0.2, -0.150, 0.40), 0},
};

const pl_figure pl_figure_tux = {
    .info =
        {"tux",
         "a penguin; groups feet, back, beak (vertices), head, flipper_left, flipper_right (elements)",
         false,
         2000,
         {-0.23, -0.26, 0},
         {0.23, 0.26, 0.58}},
    .kind = PL_FIGURE_SOLID,
    .parts = tux_parts,
    .part_count = PL_COUNT(tux_parts),
    .groups = tux_groups,
    .group_count = PL_COUNT(tux_groups),
};

static const pl_part duck_parts[] = {
    /* body, breast, tail */
    {PL_BALL, {-0.010, 0, 0.090}, {0.200, 0.140, 0.115}, {0}, 0},
    {PL_BALL, {0.100, 0, 0.125}, {0.095, 0.105, 0.100}, {0}, 0.06},
    {PL_LIMB, {-0.130, 0, 0.130}, {-0.225, 0, 0.215}, {0.075, 0.020}, 0.06},
    /* head, beak, eyes */
    {PL_BALL, {0.105, 0, 0.290}, {0.098, 0.092, 0.095}, {0}, 0.05},
    {PL_BALL, {0.205, 0, 0.285}, {0.070, 0.060, 0.020}, {-8, 0}, 0.008},
    {PL_BALL, {0.190, 0, 0.266}, {0.058, 0.052, 0.020}, {6, 0}, 0.02},
    {PL_BALL, {0.165, 0.052, 0.325}, {0.020, 0.020, 0.022}, {0}, 0.006},
    /* wings */
    {PL_BALL, {-0.035, 0.132, 0.125}, {0.115, 0.034, 0.060}, {18, 0}, 0.012},
};

static const pl_figure_group duck_groups[] = {
    {"feet", true, PL_GROUND, 0},
    {"back", true, {PL_LIMB, {-0.120, 0, 0.200}, {0.000, 0, 0.210}, {0.03, 0.03}, 0}, 0.3},
    {"beak", true, PL_BETWEEN(0.200, -0.1, 0.22, 0.400, 0.1, 0.34), 0},
    {"head", false, PL_BETWEEN(-0.1, -0.2, 0.215, 0.4, 0.2, 0.5), 0},
    {"tail", false, PL_BETWEEN(-0.4, -0.2, 0.14, -0.150, 0.2, 0.5), 0},
    {"wings", false, PL_BETWEEN(-0.15, 0.125, 0.05, 0.1, 0.3, 0.22), 0},
};

const pl_figure pl_figure_duck = {
    .info = {"duck",
             "a rubber duck; groups feet, back, beak (vertices), head, tail, wings (elements)",
             false,
             900,
             {-0.26, -0.18, 0},
             {0.29, 0.18, 0.40}},
    .kind = PL_FIGURE_SOLID,
    .parts = duck_parts,
    .part_count = PL_COUNT(duck_parts),
    .groups = duck_groups,
    .group_count = PL_COUNT(duck_groups),
};
