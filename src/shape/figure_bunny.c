/* A rabbit sitting up, on a broad flat base of belly, haunches and paws. */
#include "shape/figure.h"

static const pl_part parts[] = {
    /* body, chest, haunches */
    {PL_BALL, {-0.03, 0, 0.125}, {0.170, 0.135, 0.155}, {0}, 0},
    {PL_BALL, {0.085, 0, 0.150}, {0.090, 0.095, 0.140}, {0}, 0.06},
    {PL_BALL, {-0.075, 0.100, 0.085}, {0.110, 0.058, 0.100}, {0}, 0.02},
    /* head, muzzle, cheeks */
    {PL_BALL, {0.135, 0, 0.315}, {0.105, 0.088, 0.090}, {0}, 0.04},
    {PL_BALL, {0.205, 0, 0.290}, {0.048, 0.050, 0.042}, {0}, 0.03},
    {PL_BALL, {0.165, 0.055, 0.285}, {0.045, 0.040, 0.042}, {0}, 0.03},
    /* ears */
    {PL_BALL, {0.080, 0.072, 0.470}, {0.046, 0.052, 0.140}, {-14, -14}, 0.03},
    /* paws */
    {PL_LIMB, {0.110, 0.055, 0.080}, {0.175, 0.058, 0.022}, {0.036, 0.036}, 0.02},
    {PL_LIMB, {-0.080, 0.125, 0.022}, {0.075, 0.130, 0.022}, {0.040, 0.038}, 0.015},
    /* tail */
    {PL_BALL, {-0.205, 0, 0.115}, {0.058, 0.058, 0.058}, {0}, 0.01},
};

static const pl_figure_group groups[] = {
    {"feet", true, {PL_BLOCK, {0, 0, 0}, {1, 1, 1e-9}, {0}, 0}, 0},
    {"head", false, {PL_BALL, {0.140, 0, 0.310}, {0.125, 0.100, 0.080}, {0}, 0}, 0},
    {"ears", false, {PL_BLOCK, {0.050, 0, 0.500}, {0.150, 0.150, 0.095}, {0}, 0}, 0},
    {"ear_tips", true, {PL_BLOCK, {0, 0, 0.700}, {1, 1, 0.110}, {0}, 0}, 0.5},
    {"back", true, {PL_LIMB, {-0.190, 0, 0.180}, {-0.050, 0, 0.285}, {0.03, 0.03}, 0}, 0.3},
    {"tail", false, {PL_BALL, {-0.220, 0, 0.115}, {0.055, 0.055, 0.055}, {0}, 0}, 0},
};

const pl_figure pl_figure_bunny = {
    .info = {"bunny",
             "a rabbit sitting up; groups feet, back, ear_tips (vertices), head, ears, tail (elements)",
             false,
             1000,
             {-0.27, -0.18, 0},
             {0.26, 0.18, 0.63}},
    .kind = PL_FIGURE_SOLID,
    .parts = parts,
    .part_count = PL_COUNT(parts),
    .groups = groups,
    .group_count = PL_COUNT(groups),
};
