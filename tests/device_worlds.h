/*
 * What the tests of devices share: the backends, each of which passes the same tests, and scenes. Where
 * there is no OpenCL device (Debian: pocl-opencl-icd), its tests say so and are skipped.
 */
#ifndef PL_TEST_DEVICE_WORLDS_H
#define PL_TEST_DEVICE_WORLDS_H

#include "common_scene.h"

#include "sim/sim.h"
#include "terms/term.h"

static const char *const device_names[] = {"reference", "memcheck", "opencl"};
enum { DEVICES = 3 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

/* Skips the test where there is no such device. Under the address sanitizer there is no OpenCL: PoCL's
 * kernels keep memory of their own and are unloaded, so that the leak checker cannot tell whose it was.
 */
static inline void need_device(const char *name)
{
#ifdef SANITIZED
    print_message("skipped: %s under the address sanitizer\n", name);
    skip();
#endif
    pl_context *ctx = test_context(1);
    pl_device *device = NULL;
    bool there = pl_device_create(ctx, name, &device) == PL_OK;
    if (!there)
        print_message("skipped: %s\n", pl_context_error(ctx));
    pl_device_destroy(device);
    pl_context_destroy(ctx);
    if (!there)
        skip();
}

static inline pl_scene_def device_def(const char *device, double h)
{
    pl_scene_def def = world_def(h, 0, 0, -9.81);
    def.device = device;
    return def;
}

/* A block slides on a floor and comes to rest. */
static inline test_world device_block(pl_context *ctx, const char *device, pl_material model,
                                      pl_reading reading)
{
    test_world w = world_new(ctx, device_def(device, 0.01));
    pl_body_def body = world_body(model, reading, 1e5);
    body.velocity[0] = 0.3;
    body.damping = 0.2;
    world_add(&w, body, world_grid(ctx, 4, 3, 3, 0.03, 0, 0, 2e-4));
    world_floor(&w, 0, 0.2);
    world_start(&w);
    return w;
}

/* A cloth that bends, held at a corner, falls past a collider of some shape. */
static inline test_world device_cloth(pl_context *ctx, const char *device, pl_shape shape)
{
    test_world w = world_new(ctx, device_def(device, 0.01));
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e5);
    body.bending = 1e-4;
    int cloth = world_add(&w, body, world_cloth(ctx, 0.2, 0.2, 0.025, -0.093, -0.107, 0.002));
    const int corner[] = {0};
    world_pin(&w, cloth, 1, corner, 1e-6);
    pl_collider_def ball = pl_collider_def_default();
    ball.shape = shape;
    ball.size[0] = 0.15, ball.size[1] = 0.1, ball.size[2] = 0.1;
    ball.friction = 0.3;
    ball.pose[2] = shape == PL_SPHERE ? -0.15 : shape == PL_CAPSULE ? -0.25 : -0.005;
    assert_ok(ctx, pl_scene_add_collider(w.scene, &ball, NULL));
    world_start(&w);
    return w;
}

#endif
