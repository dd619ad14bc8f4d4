/* A gingerbread man lying on his back, head towards +x: as a solid 70 mm thick, and as cloth. */
#include "shape/figure.h"

#define THICK 0.07
/* Limbs of a flat figure: upright walls need no radius along z, so they are cut from tall parts. */
#define DISC(x, y, rx, ry, blend)                                                                      \
    {                                                                                                  \
        PL_BALL, {x, y, 0}, {rx, ry, 1}, {0}, blend                                                    \
    }

static const pl_part outline[] = {
    DISC(0.270, 0, 0.110, 0.105, 0),
    DISC(0.040, 0, 0.170, 0.120, 0.05),
    {PL_LIMB, {0.120, 0.050, 0}, {0.130, 0.270, 0}, {0.065, 0.060}, 0.04},
    {PL_LIMB, {-0.060, 0.060, 0}, {-0.290, 0.120, 0}, {0.075, 0.068}, 0.04},
};

#define LIE(x0, y0, x1, y1) PL_BETWEEN(x0, y0, -1, x1, y1, 1)

static const pl_figure_group groups[] = {
    {"head", false, LIE(0.18, -0.3, 0.5, 0.3), 0},
    {"hand_left", true, LIE(0, 0.26, 0.3, 0.5), 0},
    {"hand_right", true, LIE(0, -0.5, 0.3, -0.26), 0},
    {"foot_left", true, LIE(-0.5, 0.02, -0.29, 0.3), 0},
    {"foot_right", true, LIE(-0.5, -0.3, -0.29, -0.02), 0},
};

const pl_figure pl_figure_gingerbread_cloth = {
    .info = {"gingerbread-cloth",
             "the gingerbread man as cloth; groups hand_left, hand_right, foot_left, foot_right "
             "(vertices), "
             "head (elements)",
             true,
             700,
             {-0.37, -0.34, 0},
             {0.39, 0.34, 0}},
    .kind = PL_FIGURE_SHEET,
    .parts = outline,
    .part_count = PL_COUNT(outline),
    .groups = groups,
    .group_count = PL_COUNT(groups),
};

const pl_figure pl_figure_gingerbread = {
    .info =
        {"gingerbread",
         "a gingerbread man lying on the ground; groups hand_left, hand_right, foot_left, foot_right "
         "(vertices), head (elements)",
         false,
         1500,
         {-0.37, -0.34, 0},
         {0.39, 0.34, THICK}},
    .kind = PL_FIGURE_SLAB,
    .parts = outline,
    .part_count = PL_COUNT(outline),
    .groups = groups,
    .group_count = PL_COUNT(groups),
};
