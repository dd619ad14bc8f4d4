/* Plain bodies: trunk, cube, bar, sphere, and the rectangular cloths. */
#include "shape/figure.h"

/* An elephant's trunk, root on the ground, tip 2.617 m up. Cables run at 0.7 of the radius. */
#define TRUNK_LENGTH 2.617
#define TRUNK_ROOT   0.260
#define TRUNK_TIP    0.110
#define CABLE(x, y)                                                                                    \
    {                                                                                                  \
        PL_LIMB, {0.7 * TRUNK_ROOT * (x), 0.7 * TRUNK_ROOT * (y), 0},                                  \
            {0.7 * TRUNK_TIP * (x), 0.7 * TRUNK_TIP * (y), TRUNK_LENGTH - TRUNK_TIP}, {0, 0}, 0        \
    }

static const pl_part trunk_parts[] = {
    {PL_LIMB, {0, 0, 0}, {0, 0, TRUNK_LENGTH - TRUNK_TIP}, {TRUNK_ROOT, TRUNK_TIP}, 0},
};

static const pl_figure_group trunk_groups[] = {
    {"root", true, PL_GROUND, 0},
    {"tip", true, PL_BETWEEN(-1, -1, TRUNK_LENGTH - 0.5 * TRUNK_TIP, 1, 1, 3), 0},
    {"cable_front", true, CABLE(1, 0), 0.5},
    {"cable_rear", true, CABLE(-1, 0), 0.5},
    {"cable_left", true, CABLE(0, 1), 0.5},
    {"cable_right", true, CABLE(0, -1), 0.5},
};

const pl_figure pl_figure_trunk = {
    .info = {"trunk",
             "a tapering trunk, 2.617 m long, root on the ground; vertex groups root, tip, and "
             "cable_front, "
             "cable_rear, cable_left, cable_right, whose anchors follow each other by z",
             false,
             700,
             {-TRUNK_ROOT, -TRUNK_ROOT, 0},
             {TRUNK_ROOT, TRUNK_ROOT, TRUNK_LENGTH}},
    .kind = PL_FIGURE_SOLID,
    .parts = trunk_parts,
    .part_count = PL_COUNT(trunk_parts),
    .groups = trunk_groups,
    .group_count = PL_COUNT(trunk_groups),
};

static const pl_figure_group cube_groups[] = {
    {"bottom", true, PL_GROUND, 0},
    {"top", true, PL_BETWEEN(-1, -1, 0.3 - 1e-9, 1, 1, 1), 0},
    {"left", true, PL_BETWEEN(-1, 0.15 - 1e-9, -1, 1, 1, 1), 0},
    {"right", true, PL_BETWEEN(-1, -1, -1, 1, -0.15 + 1e-9, 1), 0},
};

const pl_figure pl_figure_cube = {
    .info = {"cube",
             "a cube with sides of 0.3 m; vertex groups bottom, top, left, right",
             false,
             500,
             {-0.15, -0.15, 0},
             {0.15, 0.15, 0.3}},
    .kind = PL_FIGURE_BOX,
    .groups = cube_groups,
    .group_count = PL_COUNT(cube_groups),
};

static const pl_figure_group bar_groups[] = {
    {"bottom", true, PL_GROUND, 0},
    {"back", true, PL_BETWEEN(-1, -1, -1, -0.5 + 1e-9, 1, 1), 0},
    {"front", true, PL_BETWEEN(0.5 - 1e-9, -1, -1, 1, 1, 1), 0},
};

const pl_figure pl_figure_bar = {
    .info = {"bar",
             "a bar of 1 x 0.2 x 0.2 m along x; vertex groups bottom, back (x = -0.5), front (x = 0.5)",
             false,
             700,
             {-0.5, -0.1, 0},
             {0.5, 0.1, 0.2}},
    .kind = PL_FIGURE_BOX,
    .groups = bar_groups,
    .group_count = PL_COUNT(bar_groups),
};

static const pl_part sphere_parts[] = {
    {PL_BALL, {0, 0, 0.2}, {0.2, 0.2, 0.2}, {0}, 0},
};

static const pl_figure_group sphere_groups[] = {
    {"bottom", true, PL_BETWEEN(-1, -1, -1, 1, 1, 0), 0.3},
    {"top", true, PL_BETWEEN(-1, -1, 0.4, 1, 1, 1), 0.3},
};

const pl_figure pl_figure_sphere = {
    .info = {"sphere",
             "a ball of radius 0.2 m; vertex groups bottom, top",
             false,
             500,
             {-0.2, -0.2, 0},
             {0.2, 0.2, 0.4}},
    .kind = PL_FIGURE_SOLID,
    .parts = sphere_parts,
    .part_count = PL_COUNT(sphere_parts),
    .groups = sphere_groups,
    .group_count = PL_COUNT(sphere_groups),
};

/* Cloths hang by their edge y = max: turn them about x to hang down. */
#define RING(x)                                                                                        \
    {                                                                                                  \
        PL_LIMB, {x, 1, 0}, {(x) + 1e-3, 1, 0}, {0, 0}, 0                                              \
    }

static const pl_figure_group curtain_groups[] = {
    {"top", true, PL_BETWEEN(-1, 1 - 1e-9, -1, 1, 2, 1), 0},
    {"bottom", true, PL_BETWEEN(-1, -2, -1, 1, -1 + 1e-9, 1), 0},
    {"ring0", true, RING(-0.750), 0.4},
    {"ring1", true, RING(-0.375), 0.4},
    {"ring2", true, RING(0), 0.4},
    {"ring3", true, RING(0.375), 0.4},
    {"ring4", true, RING(0.749), 0.4},
};

const pl_figure pl_figure_curtain = {
    .info = {"curtain",
             "a cloth of 1.5 x 2 m; vertex groups top, bottom, and ring0 to ring4 along the top",
             true,
             2000,
             {-0.75, -1, 0},
             {0.75, 1, 0}},
    .kind = PL_FIGURE_RECTANGLE,
    .groups = curtain_groups,
    .group_count = PL_COUNT(curtain_groups),
};

static const pl_figure_group towel_groups[] = {
    {"front", true, PL_BETWEEN(0.45 - 1e-9, -1, -1, 1, 1, 1), 0},
    {"back", true, PL_BETWEEN(-1, -1, -1, -0.45 + 1e-9, 1, 1), 0},
    {"grip_left", true, PL_BETWEEN(0.45, 0.25, 0, 1, 1, 1), 1.2},
    {"grip_right", true, PL_BETWEEN(0.45, -1, 0, 1, -0.25, 1), 1.2},
};

const pl_figure pl_figure_towel = {
    .info =
        {"towel",
         "a cloth of 0.9 x 0.5 m; vertex groups front, back (its short sides), grip_left, grip_right",
         true,
         1000,
         {-0.45, -0.25, 0},
         {0.45, 0.25, 0}},
    .kind = PL_FIGURE_RECTANGLE,
    .groups = towel_groups,
    .group_count = PL_COUNT(towel_groups),
};
