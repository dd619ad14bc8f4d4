/* A substep for tests that look inside a solver. */
#ifndef PL_TEST_SIM_SUBSTEP_H
#define PL_TEST_SIM_SUBSTEP_H

#include "common_scene.h"

#include "sim/sim.h"

/* The substep that the world's sim would make from its state, driven as the last one was. */
static inline pl_substep world_substep(const test_world *w)
{
    pl_sim *sim = w->sim;
    return (pl_substep){.scene = sim->scene,
                        .pattern = sim->model->pattern,
                        .matter = &sim->matter,
                        .scheme = pl_schemes_get(PL_EULER),
                        .length = sim->matter.values->def.time_step,
                        .h = sim->matter.values->def.time_step,
                        .q0 = w->state->q,
                        .v0 = w->state->v,
                        .p = w->state->q,
                        .w = w->state->v,
                        .drive = &sim->drive,
                        .shapes = sim->solver.shapes,
                        .pose_start = w->state->input[PL_COLLIDER_POSE],
                        .live = sim->solver.live};
}

#endif
