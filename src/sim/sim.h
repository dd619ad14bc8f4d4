/*
 * A simulation: the model it shares, what follows from its parameters, and a solver of its steps.
 * Sweeps over a rollout have a solver of their own (adjoint/linear.h) and touch none of this but the
 * scratch of `matter`.
 */
#ifndef PL_SIM_H
#define PL_SIM_H

#include "sim/model.h"
#include "sim/on_device.h"
#include "sim/solver.h"

struct pl_sim {
    pl_context *ctx;
    pl_scene *scene;
    pl_model *model;
    pl_matter matter;
    pl_solver solver;       /* of forward steps */
    pl_on_device *device;   /* that steps and sweeps are computed on; NULL: here */
    pl_matrix sweep_matrix; /* of sweeps, made with the first: none of its numbers outlive one, its
                               memory does */
    pl_meter sweep_meter;
    pl_drive drive;     /* of the step, */
    pl_drive part;      /* and of the substep */
    double *pose_start; /* [collider_count, 7] */
    double *p, *w;      /* [n, 3] of the substep, where it looks back further than its start */
    pl_state *backup;   /* the state before the step */
};

/* Goes by these parameters from now on. */
void pl_sim_use(pl_sim *sim, pl_values *values);
/* pl_element_fields by given parameters. */
void pl_element_fields_by(pl_sim *sim, pl_values *values, const pl_state *state, double *energy,
                          double *stress, double *von_mises);
/* Drops what is kept from step to step, so that results depend on the state alone. */
void pl_sim_forget(pl_sim *sim);

/* The factor is made anew at every multiple of this many steps whatever happened, so that a rollout
 * resumed there repeats the original bit for bit. */
#define PL_FORGET_EVERY 64

/* Called after each converged substep with the state it led to, for the tape. */
typedef pl_status (*pl_substep_fn)(void *user, const pl_sim *sim, const pl_substep *sub,
                                   const pl_state *state);
pl_status pl_step_recorded(pl_sim *sim, pl_values *values, pl_state *state, const pl_inputs *inputs,
                           pl_step_info *info, pl_substep_fn record, void *user);

/* ---- state.c */
/* Where inputs [PL_CHANNEL_COUNT] leave what moves. */
void pl_state_set_inputs(const pl_scene *scene, pl_state *state, double *const *input);
size_t pl_state_bytes(const pl_scene *scene, int contacts);
/* Room for the states that an integrator looks back at. */
pl_status pl_state_make_room(const pl_scene *scene, pl_state *state, pl_integrator integrator);
/* Where a substep of this length leads; a may be NULL where the state has none. */
void pl_state_push(pl_state *state, const double *q, const double *v, const double *a, double length);

/* ---- drive.c: from tables and inputs to what drives a step */
pl_status pl_drive_create(const pl_scene *scene, pl_drive *drive);
void pl_drive_free(pl_context *ctx, pl_drive *drive);
/* Targets of every pinned vertex at `time`, [pin_vertex_count, 3]. */
void pl_pin_targets(const pl_scene *scene, double time, double *target);
/* The scene's own drive at `time`, overridden by inputs (may be NULL); refuses what is not finite. */
pl_status pl_drive_resolve(const pl_scene *scene, double time, const pl_inputs *inputs,
                           pl_drive *drive);
/* What moves (pins, poses) a fraction s of the way from `start` [PL_CHANNEL_COUNT] to `end`; the rest
 * as at the end. */
void pl_drive_between(const pl_scene *scene, double *const *start, const pl_drive *end, double s,
                      pl_drive *out);
/* Poses [count, 7] a fraction s of the way between these; with 0 where they are from, bit for bit. */
void pl_poses_between(int count, const double *from, const double *to, double s, double *out);
/* Positions linearly; quaternions the same way on the nearer branch, normalised. */
void pl_pose_between(const double from[7], const double to[7], double s, double out[7]);

#endif
