/* One cell of the matrix of gradients: material, reading, element, collider, regime. */
#ifndef PL_TEST_ADJOINT_MATRIX_H
#define PL_TEST_ADJOINT_MATRIX_H

#include "adjoint_check.h"

typedef enum regime { FREE, STICK, SLIP, IMPACT } regime;

static const char *const regime_names[] = {"free", "stick", "slip", "impact"};
static const char *const shape_names[] = {"half-space", "sphere", "box", "cylinder", "capsule", "mesh"};

/* A collider whose highest point is at the origin, flat or round there. */
static inline void matrix_collider(test_world *w, pl_shape shape, double friction)
{
    pl_collider_def c = pl_collider_def_default();
    pl_mesh *block = NULL;
    c.shape = shape;
    c.friction = friction;
    if (shape == PL_SPHERE)
        c.size[0] = 0.5;
    if (shape == PL_BOX)
        c.size[0] = 0.4, c.size[1] = 0.3, c.size[2] = 0.5;
    if (shape == PL_CYLINDER || shape == PL_CAPSULE) { /* lying along y */
        c.size[0] = 0.5, c.size[1] = 0.3;
        world_turn(1, 0, 0, 1.5707963267948966, c.pose + 3);
    }
    if (shape != PL_HALF_SPACE)
        c.pose[2] = -0.5;
    if (shape == PL_MESH) {
        block = world_grid(w->ctx, 3, 3, 3, 0.5, -0.5, -0.45, -0.5);
        c.surface = block;
    }
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &c, NULL));
    pl_mesh_free(w->ctx, block);
}

/* A small body over a collider, pulled by a weak pin, pushed by a force and by wind. */
static inline test_problem matrix_problem(pl_context *ctx, pl_material model, pl_reading reading,
                                          bool cloth, pl_shape shape, regime r)
{
    pl_scene_def def = world_def(0.01,
                                 r == SLIP    ? 4
                                 : r == STICK ? 0.6
                                              : 0.3,
                                 r == SLIP ? 1 : 0.1, -9.81);
    def.tolerance = 1e-13; /* differences see what a step leaves over */
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(model, reading, cloth ? 2e5 : 1e5);
    body.damping = 0.4;
    body.bending = cloth ? 2e-3 : 0;
    body.thickness = 5e-3;
    if (r == IMPACT)
        body.velocity[0] = 0.4, body.velocity[2] = -1;
    else if (r == SLIP)
        body.velocity[0] = 0.3, body.velocity[2] = -0.1;
    double gap = r == FREE ? 0.1 : r == IMPACT ? 0.013 : 2e-4;
    /* off the middle of the shape, so that nothing is symmetric by accident */
    world_add(&w, body,
              cloth ? world_cloth(ctx, 0.08, 0.04, 0.04, -0.03, -0.017, gap)
                    : world_grid(ctx, 3, 2, 2, 0.04, -0.03, -0.017, gap));
    const int held[] = {1, 5};
    world_pin(&w, 0, 2, held, 0.5);
    pl_force_def force = pl_force_def_default();
    pl_wind_def wind = pl_wind_def_default();
    force.per = PL_PER_MASS;
    wind.drag = 0.5;
    assert_ok(ctx, pl_scene_add_force(w.scene, &force, NULL));
    assert_ok(ctx, pl_scene_add_wind(w.scene, &wind, NULL));
    matrix_collider(&w, shape, r == STICK ? 0.8 : 0.15);
    world_start(&w);
    return test_problem_new(w, 10, (double[3]){0.3, 0.1, -0.2}, (double[3]){0.4, 0.2, -0.1});
}

static inline void matrix_check(pl_context *ctx, pl_material model, pl_reading reading, bool cloth,
                                pl_shape shape, regime r, unsigned wanted)
{
    char name[160];
    static const char *const models[] = {"ARAP", "co-rotated", "Neo-Hookean"};
    snprintf(name, sizeof name, "%s%s %s, %s, %s", reading == PL_PROJECTIVE ? "projective " : "",
             models[model], cloth ? "cloth" : "tets", shape_names[shape], regime_names[r]);
    test_problem p = matrix_problem(ctx, model, reading, cloth, shape, r);
    test_check_problem(&p, name, wanted);
    assert_true(r == FREE ? p.contacts == 0 : p.contacts > 0);
    test_problem_free(&p);
}

#endif
