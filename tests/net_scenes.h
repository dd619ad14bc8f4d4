/*
 * Small scenes that between them take every path of a step and of its gradient: materials and
 * readings, solids and cloth, pins, forces, wind, colliders at rest and moving, what sticks, slips and
 * hits, several bodies, split steps, every forward solver. Each is a line of net_scenes.
 */
#ifndef PL_TEST_NET_SCENES_H
#define PL_TEST_NET_SCENES_H

#include "adjoint_check.h"

enum {
    NET_PINS = 1 << 0,   /* the nodes of least x follow a table that shifts and turns them */
    NET_SPRING = 1 << 1, /* two nodes on weak springs */
    NET_FORCES = 1 << 2, /* one of each kind */
    NET_WIND = 1 << 3,
    NET_COLLIDER = 1 << 4, /* its highest point at the origin, under the body */
    NET_MOVING = 1 << 5,   /* it slides, sinks and turns by a table */
    NET_PLATE = 1 << 6,    /* a box that comes down on the body */
    NET_SHEET = 1 << 7,    /* a second body, of cloth, over a sphere of its own */
    NET_INPUTS = 1 << 8,   /* forces, wind, pins and poses are given step by step, not by tables */
    NET_CABLES = 1 << 9,   /* one that slides from a fixed point through the body, and one held at its
                              points   that also pushes */
    NET_BLOCK = 1 << 10,   /* a second body, a block that falls on the first, which it touches */
};

typedef struct net_scene {
    const char *name;
    pl_material model;
    pl_reading reading;
    bool cloth;
    int nodes[3]; /* of the grid; the cells of cloth */
    double young; /* Pa */
    double damping, bending;
    unsigned parts;     /* NET_... */
    double velocity[3]; /* m/s */
    double spin;        /* rad/s about x */
    double tilt;        /* of gravity, towards x, m/s^2 */
    double gap;         /* over the collider, m */
    pl_shape shape;
    double friction;
    pl_solver_kind solver;
    pl_integrator integrator;
    double time_step;   /* 0 = 0.01 s */
    int max_iterations; /* 0 = the default */
    double slack;       /* times the usual tolerances of its digits; 0 = 1 */
    int first, steps;   /* the state kept at every 64th step is passed by most */
} net_scene;

static const net_scene net_scenes[] = {
    {"fall", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 3}, .young = 2e4,
     .damping = 0.4, .parts = NET_FORCES | NET_INPUTS, .velocity = {0.3, 0, 1}, .spin = 6, .first = 58,
     .steps = 12},
    {"swing", .model = PL_ARAP, .reading = PL_EXACT, .nodes = {5, 2, 2}, .young = 5e4, .damping = 0.2,
     .parts = NET_PINS | NET_FORCES | NET_WIND, .solver = PL_SOLVER_LAGGED, .steps = 66},
    {"bar", .model = PL_COROTATED, .reading = PL_EXACT, .nodes = {5, 3, 2}, .young = 8e4,
     .parts = NET_PINS | NET_FORCES, .solver = PL_SOLVER_DIRECT, .first = 60, .steps = 10},
    {"projective bar", .model = PL_ARAP, .reading = PL_PROJECTIVE, .nodes = {4, 2, 2}, .young = 1e5,
     .damping = 0.3, .parts = NET_PINS | NET_WIND, .solver = PL_SOLVER_CONSTANT, .first = 59,
     .steps = 10},
    {"projective block", .model = PL_COROTATED, .reading = PL_PROJECTIVE, .nodes = {3, 3, 2},
     .young = 1e5, .damping = 0.4, .parts = NET_SPRING | NET_FORCES | NET_COLLIDER | NET_INPUTS,
     .velocity = {0.3, 0, -0.2}, .tilt = 1, .gap = 3e-4, .shape = PL_HALF_SPACE, .friction = 0.3,
     .solver = PL_SOLVER_CONSTANT, .slack = 2, .first = 58, .steps = 12},
    {"slide", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2}, .young = 1e5,
     .parts = NET_COLLIDER | NET_FORCES, .velocity = {0.5, 0.1, -0.1}, .tilt = 2, .gap = 2e-4,
     .shape = PL_HALF_SPACE, .friction = 0.15, .steps = 66},
    {"ice", .model = PL_COROTATED, .reading = PL_EXACT, .nodes = {3, 3, 2}, .young = 5e4,
     .damping = 0.2, .parts = NET_COLLIDER | NET_MOVING | NET_WIND, .velocity = {0.2, 0, -0.3},
     .tilt = 1, .gap = 1e-3, .shape = PL_BOX, .first = 58, .steps = 14},
    {"stick", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 3, 3}, .young = 1e5,
     .damping = 0.4, .parts = NET_SPRING | NET_COLLIDER | NET_MOVING | NET_INPUTS,
     .velocity = {0, 0, -0.1}, .tilt = 1, .gap = 2e-4, .shape = PL_HALF_SPACE, .friction = 0.9,
     .solver = PL_SOLVER_LAGGED, .first = 57, .steps = 14},
    {"impact", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {6, 6, 2}, .young = 3e4,
     .parts = NET_COLLIDER, .velocity = {0.4, 0, -1.5}, .tilt = 0.5, .gap = 0.02, .shape = PL_BOX,
     .friction = 0.3, .first = 54, .steps = 20},
    {"ball", .model = PL_ARAP, .reading = PL_EXACT, .nodes = {4, 4, 2}, .young = 6e4, .damping = 0.3,
     .parts = NET_COLLIDER | NET_MOVING | NET_WIND, .velocity = {0.1, 0, -0.5}, .tilt = 0.5,
     .gap = 2e-3, .shape = PL_SPHERE, .friction = 0.4, .first = 58, .steps = 14},
    {"roller", .model = PL_COROTATED, .reading = PL_EXACT, .nodes = {3, 3, 2}, .young = 1e5,
     .damping = 0.1, .parts = NET_COLLIDER | NET_MOVING, .velocity = {0, 0.1, -0.2}, .gap = 5e-4,
     .shape = PL_CYLINDER, .friction = 0.6, .solver = PL_SOLVER_DIRECT, .first = 58, .steps = 12},
    {"hull", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 3, 2}, .young = 1e5,
     .damping = 0.4, .parts = NET_COLLIDER | NET_INPUTS, .velocity = {0.3, 0, -0.4}, .tilt = 0.3,
     .gap = 1e-3, .shape = PL_MESH, .friction = 0.2, .first = 58, .steps = 12},
    {"press", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 4, 3}, .young = 5e4,
     .parts = NET_COLLIDER | NET_PLATE | NET_SPRING, .gap = 2e-4, .friction = 0.5, .first = 58,
     .steps = 16},
    {"flag", .model = PL_ARAP, .reading = PL_EXACT, .cloth = true, .nodes = {4, 3}, .young = 1e5,
     .damping = 0.3, .bending = 2e-4, .parts = NET_PINS | NET_WIND | NET_FORCES, .steps = 66},
    {"drape", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .cloth = true, .nodes = {4, 4},
     .young = 2e5, .damping = 0.2, .bending = 1e-3, .parts = NET_COLLIDER | NET_WIND | NET_SPRING,
     .velocity = {0, 0, -0.5}, .gap = 1e-3, .shape = PL_CAPSULE, .friction = 0.3, .first = 56,
     .steps = 16},
    {"projective sheet", .model = PL_COROTATED, .reading = PL_PROJECTIVE, .cloth = true,
     .nodes = {3, 3}, .young = 2e5, .bending = 1e-3, .parts = NET_COLLIDER | NET_MOVING,
     .velocity = {0.3, 0, -0.4}, .gap = 2e-3, .shape = PL_HALF_SPACE, .solver = PL_SOLVER_LAGGED,
     .first = 58, .steps = 12},
    {"two bodies", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 2, 2}, .young = 1e5,
     .damping = 0.4,
     .parts = NET_SPRING | NET_FORCES | NET_WIND | NET_COLLIDER | NET_SHEET | NET_INPUTS,
     .velocity = {0.3, 0, -0.5}, .tilt = 0.3, .gap = 4e-3, .shape = PL_HALF_SPACE, .friction = 0.15,
     .first = 58, .steps = 12},
    {"split", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 2, 2}, .young = 1e5,
     .damping = 0.4, .parts = NET_SPRING | NET_FORCES | NET_COLLIDER | NET_INPUTS,
     .velocity = {0.3, 0, -2}, .tilt = 0.3, .gap = 4e-3, .shape = PL_HALF_SPACE, .friction = 0.15,
     .solver = PL_SOLVER_DIRECT, .time_step = 0.05, .max_iterations = 5, .first = 62, .steps = 3},
    {"towed", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2}, .young = 1e5,
     .parts = NET_COLLIDER | NET_CABLES, .velocity = {0.2, 0.1, -0.1}, .gap = 2e-4,
     .shape = PL_HALF_SPACE, .friction = 0.3, .first = 58, .steps = 12},
    {"second order", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2}, .young = 1e5,
     .damping = 0.3, .parts = NET_SPRING | NET_COLLIDER | NET_FORCES | NET_WIND | NET_MOVING,
     .velocity = {0.5, 0.1, -0.1}, .tilt = 2, .gap = 2e-4, .shape = PL_SPHERE, .friction = 0.2,
     .integrator = PL_BDF2, .first = 58, .steps = 12},
    {"second order, split", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 2, 2},
     .young = 1e5, .damping = 0.4, .parts = NET_SPRING | NET_FORCES | NET_COLLIDER | NET_INPUTS,
     .velocity = {0.3, 0, -2}, .tilt = 0.3, .gap = 4e-3, .shape = PL_HALF_SPACE, .friction = 0.15,
     .solver = PL_SOLVER_DIRECT, .integrator = PL_BDF2, .time_step = 0.05, .max_iterations = 9,
     .first = 60, .steps = 6},
    {"two stages", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2}, .young = 1e5,
     .damping = 0.3,
     .parts = NET_SPRING | NET_COLLIDER | NET_FORCES | NET_WIND | NET_MOVING | NET_CABLES,
     .velocity = {0.5, 0.1, -0.1}, .tilt = 2, .gap = 2e-4, .shape = PL_SPHERE, .friction = 0.2,
     .integrator = PL_TR_BDF2, .first = 58, .steps = 12},
    {"two stages, split", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {3, 2, 2},
     .young = 1e5, .damping = 0.4, .parts = NET_SPRING | NET_FORCES | NET_COLLIDER | NET_INPUTS,
     .velocity = {0.3, 0, -2}, .tilt = 0.3, .gap = 4e-3, .shape = PL_HALF_SPACE, .friction = 0.15,
     .solver = PL_SOLVER_DIRECT, .integrator = PL_TR_BDF2, .time_step = 0.05, .max_iterations = 6,
     .first = 60, .steps = 6},
    {"two stages, stacked", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2},
     .young = 1e5, .damping = 0.4, .parts = NET_COLLIDER | NET_BLOCK, .tilt = 1, .gap = 2e-4,
     .shape = PL_HALF_SPACE, .friction = 0.3, .integrator = PL_TR_BDF2, .first = 58, .steps = 12},
    {"stacked", .model = PL_NEO_HOOKEAN, .reading = PL_EXACT, .nodes = {4, 3, 2}, .young = 1e5,
     .damping = 0.4, .parts = NET_COLLIDER | NET_BLOCK, .tilt = 1, .gap = 2e-4, .shape = PL_HALF_SPACE,
     .friction = 0.3, .first = 58, .steps = 12},
};

enum { NET_SCENES = sizeof net_scenes / sizeof *net_scenes };

/* From where it was added, 1 cm aside, 4 mm down and an eighth of a radian round in 0.15 s. */
static inline void net_add_collider(test_world *w, pl_collider_def c, bool moving)
{
    static const double time[2] = {0, 0.15};
    double value[14], turn[4];
    memcpy(value, c.pose, sizeof c.pose);
    memcpy(value + 7, c.pose, sizeof c.pose);
    value[7] += 0.01, value[9] -= 0.004;
    world_turn(0, 1, 0.5, 0.125, turn);
    world_multiply(turn, c.pose + 3, value + 10);
    if (moving)
        c.table = (pl_table){2, time, value};
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &c, NULL));
}

static inline void net_collider(test_world *w, const net_scene *s)
{
    pl_collider_def c = pl_collider_def_default();
    pl_mesh *hull = NULL;
    c.shape = s->shape;
    c.friction = s->friction;
    c.size[0] = 0.3, c.size[1] = 0.2, c.size[2] = 0.3;
    if (s->shape == PL_CYLINDER || s->shape == PL_CAPSULE) /* lying along y */
        world_turn(1, 0, 0, 1.5707963267948966, c.pose + 3);
    if (s->shape != PL_HALF_SPACE)
        c.pose[2] = -0.3;
    if (s->shape == PL_MESH)
        c.surface = hull = world_grid(w->ctx, 3, 3, 3, 0.3, -0.31, -0.28, -0.3);
    net_add_collider(w, c, s->parts & NET_MOVING);
    pl_mesh_free(w->ctx, hull);
    if (s->parts & NET_PLATE) {
        pl_collider_def plate = pl_collider_def_default();
        plate.shape = PL_BOX;
        plate.friction = 0.4;
        plate.size[0] = plate.size[1] = 0.2, plate.size[2] = 0.05;
        plate.pose[2] = 0.05 + 0.04 * (s->nodes[2] - 1) + 3 * s->gap;
        net_add_collider(w, plate, true);
    }
}

static inline void net_pins(test_world *w, const net_scene *s, const pl_mesh *mesh)
{
    static const double time[3] = {0, 0.1, 0.6},
                        shift[9] = {0, 0, 0, 0.004, 0.01, 0.006, 0.02, 0.03, 0},
                        turn[12] = {0, 0.6, 0.8, 0, 0, 0.6, 0.8, 0.2, 0, 0.6, 0.8, -0.4};
    static const int held[2] = {1, 5};
    int list[64];
    if (s->parts & NET_PINS) {
        pl_pin_def pin = pl_pin_def_default();
        pin.vertex_count = world_select(mesh, 0, mesh->vertices[0], list);
        pin.vertices = list;
        pin.compliance = 1e-4;
        pin.offset = (pl_table){3, time, shift};
        pin.rotation = (pl_table){3, time, turn};
        pin.pivot[2] = 0.02;
        assert_ok(w->ctx, pl_scene_add_pin(w->scene, &pin, NULL));
    }
    if (s->parts & NET_SPRING)
        world_pin(w, 0, 2, held, 0.5);
}

static inline void net_forces(test_world *w, const net_scene *s)
{
    static const double time[2] = {0, 0.1}, value[6] = {0.02, 0, 0, 0.01, 0.05, 0.03};
    static const int group[3] = {0, 3, 7};
    for (int per = PL_PER_VERTEX; (s->parts & NET_FORCES) && per <= PL_PER_MASS; per++) {
        pl_force_def force = pl_force_def_default();
        force.per = (pl_force_per)per;
        if (per != PL_PER_MASS) {
            force.vertex_count = 3;
            force.vertices = group;
            force.table = (pl_table){2, time, value};
        }
        force.value[0] = 0.3, force.value[1] = -0.2;
        assert_ok(w->ctx, pl_scene_add_force(w->scene, &force, NULL));
    }
    if (s->parts & NET_WIND) {
        pl_wind_def wind = pl_wind_def_default();
        wind.drag = 0.5;
        wind.velocity[0] = 1.5, wind.velocity[1] = 2, wind.velocity[2] = 0.5;
        assert_ok(w->ctx, pl_scene_add_wind(w->scene, &wind, NULL));
    }
}

static inline void net_sheet(test_world *w)
{
    pl_body_def sheet = world_body(PL_COROTATED, PL_EXACT, 2e5);
    pl_collider_def ball = pl_collider_def_default();
    pl_wind_def wind = pl_wind_def_default();
    const int held[1] = {1};
    sheet.bending = 2e-3;
    sheet.thickness = 5e-3;
    sheet.velocity[2] = -0.3;
    ball.shape = PL_SPHERE;
    ball.size[0] = 0.4;
    ball.pose[0] = 0.8, ball.pose[2] = 0.1;
    ball.friction = 0.3;
    int body = world_add(w, sheet, world_cloth(w->ctx, 0.08, 0.08, 0.04, 0.77, -0.03, 0.505)), c = -1;
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &ball, &c));
    assert_ok(w->ctx, pl_scene_set_friction(w->scene, body, c, 0.4));
    world_pin(w, body, 1, held, 0.2);
    wind.body = body;
    assert_ok(w->ctx, pl_scene_add_wind(w->scene, &wind, NULL));
}

static inline void net_block(test_world *w)
{
    pl_body_def block = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e5);
    block.damping = 1;
    pl_mesh *mesh = world_grid(w->ctx, 3, 2, 2, 0.03, 0, 0, 0);
    double about[4], to[3] = {-0.021, -0.012, 0.043};
    world_turn(0, 0, 1, 0.2, about);
    pl_mesh_transform(mesh, 1, about, to);
    world_add(w, block, mesh);
}

static inline void net_cables(test_world *w)
{
    static const double time[] = {0, 1}, length[] = {0.31, 0.1};
    const pl_point chain[] = {
        {.body = -1, .position = {0.2, 0.02, 0.01}},
        {.body = 0, .count = 4, .vertices = {0, 5, 13, 18}, .weights = {0.1, 0.3, 0.4, 0.2}},
        {.body = 0, .count = 1, .vertices = {20}, .weights = {1}},
        {.body = 0, .count = 1, .vertices = {3}, .weights = {1}},
    };
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 3, cable.points = chain, cable.compliance = 1e-9;
    cable.table = (pl_table){2, time, length};
    assert_ok(w->ctx, pl_scene_add_cable(w->scene, &cable, NULL));
    cable.points = chain + 1, cable.segments = cable.two_way = true, cable.compliance = 1e-4;
    cable.table = (pl_table){0};
    assert_ok(w->ctx, pl_scene_add_cable(w->scene, &cable, NULL));
}

/* Solved to `tolerance` m, 0 = the default. */
static inline test_world net_world(pl_context *ctx, const net_scene *s, double tolerance)
{
    pl_scene_def def = world_def(s->time_step > 0 ? s->time_step : 0.01, s->tilt, 0.1, -9.81);
    pl_body_def body = world_body(s->model, s->reading, s->young);
    def.tolerance = tolerance > 0 ? tolerance : def.tolerance;
    def.solver = s->solver;
    def.integrator = s->integrator;
    def.max_iterations = s->max_iterations > 0 ? s->max_iterations : def.max_iterations;
    def.body_contact = s->parts & NET_BLOCK;
    def.body_friction = 0.2;
    test_world w = world_new(ctx, def);
    body.damping = s->damping;
    body.bending = s->bending;
    body.thickness = 5e-3;
    memcpy(body.velocity, s->velocity, sizeof body.velocity);
    body.angular_velocity[0] = s->spin;
    /* Off the middle of what it meets, so that nothing is symmetric by accident. */
    pl_mesh *mesh =
        s->cloth ? world_cloth(ctx, 0.04 * s->nodes[0], 0.04 * s->nodes[1], 0.04, -0.07, -0.05, s->gap)
                 : world_grid(ctx, s->nodes[0], s->nodes[1], s->nodes[2], 0.04, -0.05, -0.037, s->gap);
    body.mesh = mesh;
    assert_ok(ctx, pl_scene_add_body(w.scene, &body, NULL));
    net_pins(&w, s, mesh);
    pl_mesh_free(ctx, mesh);
    net_forces(&w, s);
    if (s->parts & NET_COLLIDER)
        net_collider(&w, s);
    if (s->parts & NET_SHEET)
        net_sheet(&w);
    if (s->parts & NET_BLOCK)
        net_block(&w);
    if (s->parts & NET_CABLES)
        net_cables(&w);
    world_start(&w);
    return w;
}

#endif
