/*
 * A rollout within a memory budget. Steps are run again from kept states, in blocks that begin at the
 * rollout's start and at multiples of PL_FORGET_EVERY, where a step depends on the state alone, so that
 * recomputed steps are the original ones bit for bit. The tape holds the newest blocks as far as the
 * budget goes, kept states follow the binomial schedule (sim/schedule.h) with blocks for pieces: as
 * many states as the budget has room for beside one block's tape and two states to work with.
 *
 * A budget too small for that is taken as the least that works: the start alone is kept.
 */
#ifndef PL_CHECKPOINT_H
#define PL_CHECKPOINT_H

#include "sim/rollout.h"

/* Before step k of the forward pass: at the beginning of a block, keeps the state if it is its turn and
 * makes room on the tape. */
pl_status pl_checkpoint_pass(pl_rollout *r, const pl_state *state, int k);
/* After the forward pass: drops what a whole tape does not need. */
void pl_checkpoint_finish(pl_rollout *r);
void pl_checkpoint_free(pl_rollout *r);

#endif
