/*
 * Scenes that the tests of step, contact and gradients share: a world is a scene with its sim and
 * state, filled by the world_add functions, then started. Nothing here checks physics.
 */
#ifndef PL_TEST_COMMON_SCENE_H
#define PL_TEST_COMMON_SCENE_H

#include "common.h"

typedef struct test_world {
    pl_context *ctx;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    int n; /* vertices */
} test_world;

/* Bodies pass through each other unless a test says otherwise. */
static inline pl_scene_def world_def(double h, double gx, double gy, double gz)
{
    pl_scene_def def = pl_scene_def_default();
    def.body_contact = false;
    def.time_step = h;
    def.gravity[0] = gx, def.gravity[1] = gy, def.gravity[2] = gz;
    return def;
}

static inline test_world world_new(pl_context *ctx, pl_scene_def def)
{
    test_world w = {.ctx = ctx};
    assert_ok(ctx, pl_scene_create(ctx, &def, &w.scene));
    return w;
}

/* A grid of nx by ny by nz nodes whose lowest corner is at (x, y, z). */
static inline pl_mesh *world_grid(pl_context *ctx, int nx, int ny, int nz, double spacing, double x,
                                  double y, double z)
{
    const int nodes[3] = {nx, ny, nz};
    const double unturned[4] = {1, 0, 0, 0}, corner[3] = {x, y, z};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_grid(ctx, nodes, spacing, PL_CUT_DIAGONAL, &mesh));
    pl_mesh_transform(mesh, 1, unturned, corner);
    return mesh;
}

static inline pl_mesh *world_cloth(pl_context *ctx, double width, double height, double cell, double x,
                                   double y, double z)
{
    const double unturned[4] = {1, 0, 0, 0}, corner[3] = {x, y, z};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_rectangle(ctx, width, height, cell, &mesh));
    pl_mesh_transform(mesh, 1, unturned, corner);
    return mesh;
}

/* Adds a body of this mesh, which is freed. */
static inline int world_add(test_world *w, pl_body_def def, pl_mesh *mesh)
{
    int body = -1;
    def.mesh = mesh;
    assert_ok(w->ctx, pl_scene_add_body(w->scene, &def, &body));
    pl_mesh_free(w->ctx, mesh);
    return body;
}

static inline pl_body_def world_body(pl_material model, pl_reading reading, double young)
{
    pl_body_def def = pl_body_def_default();
    def.model = model;
    def.reading = reading;
    def.young = young;
    return def;
}

/* A unit quaternion of `angle` rad about the axis (not necessarily unit). */
static inline void world_turn(double x, double y, double z, double angle, double quaternion[4])
{
    double length = sqrt(x * x + y * y + z * z), s = sin(0.5 * angle) / length;
    quaternion[0] = cos(0.5 * angle);
    quaternion[1] = s * x, quaternion[2] = s * y, quaternion[3] = s * z;
}

/* The product a b of two quaternions. */
static inline void world_multiply(const double a[4], const double b[4], double out[4])
{
    double r[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                   a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                   a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                   a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, r, sizeof r);
}

/* The half-space z <= `height`. */
static inline int world_floor(test_world *w, double height, double friction)
{
    int collider = -1;
    pl_collider_def def = pl_collider_def_default();
    def.friction = friction;
    def.pose[2] = height;
    assert_ok(w->ctx, pl_scene_add_collider(w->scene, &def, &collider));
    return collider;
}

static inline int world_pin(test_world *w, int body, int count, const int *vertices, double compliance)
{
    int pin = -1;
    pl_pin_def def = pl_pin_def_default();
    def.body = body;
    def.vertex_count = count;
    def.vertices = vertices;
    def.compliance = compliance;
    assert_ok(w->ctx, pl_scene_add_pin(w->scene, &def, &pin));
    return pin;
}

static inline void world_start(test_world *w)
{
    assert_ok(w->ctx, pl_sim_create(w->scene, &w->sim));
    assert_ok(w->ctx, pl_state_create(w->scene, &w->state));
    w->n = w->state->vertex_count;
}

/* A stiff bar held at one end in thick oil: what its end does tells little of how it began. */
static inline test_world world_oiled_bar(pl_context *ctx, pl_scene_def def)
{
    static const int held[] = {4, 9, 14, 19};
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e7);
    body.damping = 900;
    world_add(&w, body, world_grid(ctx, 5, 2, 2, 0.02, 0, 0, 0));
    world_pin(&w, 0, 4, held, 1e-9);
    world_start(&w);
    return w;
}

static inline pl_step_info world_step(test_world *w)
{
    pl_step_info info;
    assert_ok(w->ctx, pl_step(w->sim, w->state, NULL, &info));
    return info;
}

static inline pl_step_info world_steps(test_world *w, int count)
{
    pl_step_info info = {0};
    for (int k = 0; k < count; k++)
        info = world_step(w);
    return info;
}

static inline void world_free(test_world *w)
{
    pl_state_destroy(w->scene, w->state);
    pl_sim_destroy(w->sim);
    pl_scene_destroy(w->scene);
    *w = (test_world){0};
}

/* The largest difference of two arrays. */
static inline double world_distance(int count, const double *a, const double *b)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* Mean of a vertex array [n, 3]. */
static inline void world_mean(int n, const double *x, double mean[3])
{
    for (int k = 0; k < 3; k++)
        mean[k] = 0;
    for (int i = 0; i < 3 * n; i++)
        mean[i % 3] += x[i] / n;
}

/* Vertices of a mesh whose coordinate `axis` is within 1e-9 of `value`, into list; returns how many. */
static inline int world_select(const pl_mesh *mesh, int axis, double value, int *list)
{
    int count = 0;
    for (int i = 0; i < mesh->vertex_count; i++)
        if (fabs(mesh->vertices[3 * i + axis] - value) < 1e-9)
            list[count++] = i;
    return count;
}

/* A loss of pl_loss_fn: the mean of x^2 + z after the last step. */
typedef struct world_loss {
    int last, n;
    double factor; /* of the derivative: 1 is right */
} world_loss;

static inline bool world_loss_term(void *user, int step, const double *q, const double *v,
                                   double *value, double *dq, double *dv)
{
    const world_loss *loss = user;
    (void)v, (void)dv;
    for (int i = 0; step == loss->last && i < loss->n; i++) {
        *value += (q[3 * i] * q[3 * i] + q[3 * i + 2]) / loss->n;
        dq[3 * i] += loss->factor * 2 * q[3 * i] / loss->n;
        dq[3 * i + 2] += loss->factor / loss->n;
    }
    return true;
}

#endif
