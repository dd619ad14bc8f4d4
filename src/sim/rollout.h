/* A rollout's tape: of each substep only its end positions and contact forces; the rest is recomputed. */
#ifndef PL_ROLLOUT_H
#define PL_ROLLOUT_H

#include "sim/sim.h"

typedef struct pl_tape_contact {
    int vertex, collider;
    double lambda[3]; /* in the contact's frame, N */
} pl_tape_contact;

typedef struct pl_tape_entry {
    int step;        /* the time step it is part of */
    double from, to; /* which part */
    double h;
    double *q;       /* [n, 3] at its end */
    int contact_count;
    pl_tape_contact *contacts;
} pl_tape_entry;

typedef struct pl_tape {
    int count, capacity;
    pl_tape_entry *entries;
    size_t bytes;
} pl_tape;

struct pl_rollout {
    pl_sim *sim;
    pl_rollout_def def;
    int steps;
    bool whole;          /* the tape holds every step */
    pl_tape tape;        /* whole, or of one block of steps */
    int checkpoint_count;
    pl_state **checkpoints; /* [checkpoint_count], ascending in step; the first is the start */
    double *time;        /* [steps + 1] */
    size_t bytes;
};

void pl_tape_clear(pl_context *ctx, pl_tape *tape);

/* The caller's inputs of one step. */
pl_inputs pl_rollout_inputs_at(const pl_rollout *r, int step);
/* Runs `state` on to step `to`, recording on the tape (NULL = not). */
pl_status pl_rollout_advance(pl_rollout *r, pl_state *state, int to, pl_tape *tape);

/* Visits the tape of blocks of steps, last block first: visit(user, tape, start) gets the state before the
 * block's first step. */
typedef pl_status (*pl_block_fn)(void *user, const pl_tape *tape, const pl_state *start);
pl_status pl_rollout_reverse(pl_rollout *r, pl_block_fn visit, void *user);
/* The same, first block first. */
pl_status pl_rollout_forward(pl_rollout *r, pl_block_fn visit, void *user);

#endif
