/* A rollout's tape: of each substep only its end positions and contact forces; the rest is recomputed.
 */
#ifndef PL_ROLLOUT_H
#define PL_ROLLOUT_H

#include "sim/sim.h"

typedef struct pl_tape_contact {
    int vertex, collider; /* of those of a vertex */
    double lambda[3];     /* in the contact's frame, N */
} pl_tape_contact;

typedef struct pl_tape_entry {
    int step;        /* the time step it is part of */
    double from, to; /* which part, */
    double length;   /* s, */
    double h;        /* and the scheme's */
    const pl_scheme *scheme;
    double *q;         /* [n, 3] at its end */
    double *v, *a;     /* [n, 3] where an integrator keeps accelerations, else NULL */
    int contact_count; /* those of vertices and colliders, then of edges and faces, then of bodies */
    pl_tape_contact *contacts;
    int brush_count;
    pl_brush *brushes; /* [brush_count] */
    int meeting_count;
    pl_meeting *meetings; /* [meeting_count] */
    double *live;         /* forces of live rows */
} pl_tape_entry;

typedef struct pl_tape {
    int count, capacity;
    pl_tape_entry *entries;
    size_t bytes;
} pl_tape;

struct pl_rollout {
    pl_sim *sim;
    pl_rollout_def def;
    pl_values *values; /* the parameters it was run with */
    int steps;
    bool whole;      /* the tape holds every step */
    pl_tape tape;    /* all steps, or those of one block or a few */
    int tape_from;   /* its first block (sim/checkpoint.h) */
    pl_state *begin; /* the state before its first step */
    int checkpoint_count;
    pl_state **checkpoints; /* [checkpoint_count], ascending in step; the first is the start */
    int next_kept;          /* block whose beginning the forward pass is to keep next */
    bool moved;             /* checkpoints are not where the forward pass left them */
    int recomputed;         /* steps run again so far */
    double recomputing;     /* what that took, ms */
    double *time;           /* [steps + 1] */
    size_t bytes;           /* most that tape and kept states took so far */
};

/* pl_rollout_run by given parameters. */
pl_status pl_rollout_run_by(pl_sim *sim, pl_values *values, pl_state *state, const pl_rollout_def *def,
                            pl_rollout **out);
/* The vertices of contact c; how many. */
int pl_tape_vertices(const pl_tape_entry *entry, int c, const int **vertices);
/* Contact c of the tape at its place in the substep, added to the set. */
pl_status pl_tape_place(const pl_substep *sub, const pl_obstacles *obstacles,
                        const pl_tape_entry *entry, int c, pl_contact_set *set);
/* Takes the first `count` entries off. */
void pl_tape_drop(const pl_sim *sim, pl_tape *tape, int count);

/* Positions after entry k, -1: before the first, which is `start`; -2: before that. And velocities
 * [n, 3], and accelerations, where an integrator keeps them. */
const double *pl_tape_positions(const pl_tape *tape, int k, const pl_state *start);
void pl_tape_velocities(const pl_tape *tape, int k, const pl_state *start, double *v);
const double *pl_tape_accelerations(const pl_tape *tape, int k, const pl_state *start);

/* The caller's inputs of one step. */
pl_inputs pl_rollout_inputs_at(const pl_rollout *r, int step);
/* What drives it at the end of time step `step`; -1 is its start, where only what moves is told. */
pl_status pl_rollout_drive(const pl_rollout *r, int step, pl_drive *out);
/* Runs `state` again on to step `to`, recording on the tape (NULL = not). */
pl_status pl_rollout_advance(pl_rollout *r, pl_state *state, int to, pl_tape *tape);

/* Forces of the live rows after a step, of a rollout whose tape is whole. */
const double *pl_rollout_live(const pl_rollout *r, int step);

/* Refuses a rollout without a tape. */
pl_status pl_rollout_need_tape(const pl_rollout *r);

/* Visits the states after 0, every, 2 every, ... steps, as they were; they are the caller's to look at
 * during the visit. */
typedef pl_status (*pl_replay_fn)(void *user, int step, const pl_state *state);
pl_status pl_rollout_replay(pl_rollout *r, int every, pl_replay_fn visit, void *user);

/* Visits the tape of blocks of steps, last ones first: visit(user, tape, start) gets the state before
 * the block's first step. */
typedef pl_status (*pl_block_fn)(void *user, const pl_tape *tape, const pl_state *start);
pl_status pl_rollout_reverse(pl_rollout *r, pl_block_fn visit, void *user);
/* The same, first block first. */
pl_status pl_rollout_forward(pl_rollout *r, pl_block_fn visit, void *user);

#endif
