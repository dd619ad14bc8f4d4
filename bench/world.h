/*
 * Scenes made by calls, as benchmarks and studies use them: a world is a scene with its sim and state.
 * The first call that fails is kept in `status`; those after it do nothing, so a scene reads as a list.
 */
#ifndef PL_BENCH_WORLD_H
#define PL_BENCH_WORLD_H

#include <pliant/pliant.h>

typedef struct bench_world {
    pl_context *ctx;
    pl_status status;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    int body; /* the last one added */
} bench_world;

void bench_open(bench_world *w, pl_context *ctx, const pl_scene_def *def);
/* A grid of nodes whose lowest corner is at the origin; NULL after a failure. */
pl_mesh *bench_grid(bench_world *w, int nx, int ny, int nz, double spacing);
/* Turns the mesh by `angle` about an axis and puts its lowest vertex at height `lowest`. */
void bench_place(pl_mesh *mesh, const double axis[3], double angle, double lowest);
/* Takes the mesh over. */
void bench_add(bench_world *w, pl_mesh *mesh, const pl_body_def *def);
/* The half-space z <= 0. */
void bench_floor(bench_world *w, double friction);
/* A box 1 m wide whose upper face is at z = top. */
void bench_shelf(bench_world *w, double friction, double thickness, double top);
/* Gravity of 9.81 m/s^2 as it acts on a slope of this many degrees: downhill is +x. */
void bench_slope(pl_scene_def *def, double degrees);
/* Pins the last body's vertices that lie at an end of its bounding box. */
void bench_pin(bench_world *w, int axis, bool upper);
/* Sim and state. */
pl_status bench_start(bench_world *w);
void bench_close(bench_world *w);

/* Mean of one coordinate of all vertices, m. */
double bench_mean(const pl_state *state, int axis);

#endif
