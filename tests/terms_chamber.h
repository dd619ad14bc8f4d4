/* A hollow cube whose cavity is a chamber. */
#ifndef PL_TEST_TERMS_CHAMBER_H
#define PL_TEST_TERMS_CHAMBER_H

#include "terms_derivatives.h"

#define YOUNG 1e5

/* A cube of 20 cm with walls of 5 cm, its lowest corner at (x, 0, z). */
static inline pl_mesh *hollow(pl_context *ctx, double x, double z)
{
    const double size[3] = {0.2, 0.2, 0.2}, unturned[4] = {1, 0, 0, 0}, corner[3] = {x, 0, z};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_hollow_box(ctx, size, 0.05, 0.05, &mesh));
    pl_mesh_transform(mesh, 1, unturned, corner);
    return mesh;
}

static inline double volume(const test_world *w, int chamber)
{
    double out;
    assert_ok(w->ctx, pl_chamber_volume(w->scene, chamber, w->state->q, &out));
    return out;
}

#endif
