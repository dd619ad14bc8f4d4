/* Kept states, and sweeps over the blocks of a tape that does not hold them all. */
#include "sim/checkpoint.h"

#include "sim/schedule.h"

/* The block that step k of the rollout lies in, and a block's first step. */
static int block_of(const pl_rollout *r, int k)
{
    return (r->checkpoints[0]->step % PL_FORGET_EVERY + k) / PL_FORGET_EVERY;
}

static int block_start(const pl_rollout *r, int block)
{
    int k = block * PL_FORGET_EVERY - r->checkpoints[0]->step % PL_FORGET_EVERY;
    return k < 0 ? 0 : k < r->steps ? k : r->steps;
}

static int kept_block(const pl_rollout *r, int index)
{
    return block_of(r, r->checkpoints[index]->step - r->checkpoints[0]->step);
}

static size_t kept_bytes(const pl_rollout *r)
{
    size_t sum = 0;
    for (int k = 0; k < r->checkpoint_count; k++)
        sum += pl_state_bytes(r->sim->scene, r->checkpoints[k]->contact_count);
    return sum;
}

/* What a block being recorded takes, with the states to work with: a contact at every vertex, no step
 * split. */
static size_t working_bytes(const pl_sim *sim)
{
    const pl_integrator_info *info = pl_integrator_get(sim->matter.values->def.integrator);
    size_t vertex = (info->accelerations ? 9 : 3) * sizeof(double) + sizeof(pl_tape_contact);
    size_t substep = sizeof(pl_tape_entry) + vertex * (size_t)sim->scene->vertex_count;
    return PL_FORGET_EVERY * (size_t)info->substeps * substep +
           2 * pl_state_bytes(sim->scene, sim->scene->vertex_count);
}

/* How many states like this one may be kept from here on, the last one kept counted as one of them. */
static int states_left(const pl_rollout *r, const pl_state *state)
{
    size_t taken = kept_bytes(r) + working_bytes(r->sim), budget = r->def.memory_budget;
    size_t room =
        budget > taken ? (budget - taken) / pl_state_bytes(r->sim->scene, state->contact_count) : 0;
    return room < (size_t)r->steps ? (int)room + 1 : r->steps + 1;
}

static void note_bytes(pl_rollout *r)
{
    size_t work = r->begin ? 2 * pl_state_bytes(r->sim->scene, r->begin->contact_count) : 0;
    size_t now = kept_bytes(r) + r->tape.bytes + work;
    r->bytes = now > r->bytes ? now : r->bytes;
}

static pl_status keep(pl_rollout *r, const pl_state *state)
{
    pl_state **place = &r->checkpoints[r->checkpoint_count];
    PL_TRY(pl_state_create(r->sim->scene, place));
    r->checkpoint_count++;
    return pl_state_copy(r->sim->scene, state, *place);
}

static void drop_states_after(pl_rollout *r, int block)
{
    while (r->checkpoint_count > 1 && kept_block(r, r->checkpoint_count - 1) > block)
        pl_state_destroy(r->sim->scene, r->checkpoints[--r->checkpoint_count]);
}

/* The last kept state that is not after the block. */
static const pl_state *kept_before(const pl_rollout *r, int block)
{
    int k = r->checkpoint_count - 1;
    while (k > 0 && kept_block(r, k) > block)
        k--;
    return r->checkpoints[k];
}

/* Takes the tape's first block off it, and those after it whose beginning is not kept. */
static pl_status drop_tape_front(pl_rollout *r, const pl_state *now)
{
    int first = r->checkpoints[0]->step, last = block_of(r, now->step - first), count = 0;
    const pl_state *from;
    do {
        r->tape_from++;
        from = r->tape_from < last ? kept_before(r, r->tape_from) : now;
    } while (from->step - first != block_start(r, r->tape_from));
    while (count < r->tape.count && r->tape.entries[count].step < from->step)
        count++;
    pl_tape_drop(r->sim, &r->tape, count);
    return pl_state_copy(r->sim->scene, from, r->begin);
}

pl_status pl_checkpoint_pass(pl_rollout *r, const pl_state *state, int k)
{
    size_t budget = r->def.memory_budget;
    if (k == 0) {
        PL_TRY(keep(r, state));
        PL_TRY(pl_state_create(r->sim->scene, &r->begin));
        PL_TRY(pl_state_copy(r->sim->scene, state, r->begin));
    }
    int block = block_of(r, k), pieces = block_of(r, r->steps - 1) + 1 - block;
    if (budget == 0 || k != block_start(r, block))
        return PL_OK;
    note_bytes(r);
    if (block == r->next_kept) {
        int states = states_left(r, state);
        if (k > 0 && states > 1)
            PL_TRY(keep(r, state));
        r->next_kept =
            block + (states > 1 && pieces > 1 ? pl_schedule_next(states - (k > 0), pieces) : r->steps);
    }
    while (r->tape.count > 0 && kept_bytes(r) + r->tape.bytes + working_bytes(r->sim) > budget)
        PL_TRY(drop_tape_front(r, state));
    return PL_OK;
}

void pl_checkpoint_finish(pl_rollout *r)
{
    note_bytes(r);
    r->whole = r->tape_from == 0;
    if (r->whole)
        drop_states_after(r, 0);
}

void pl_checkpoint_free(pl_rollout *r)
{
    for (int k = 0; k < r->checkpoint_count; k++)
        pl_state_destroy(r->sim->scene, r->checkpoints[k]);
    pl_state_destroy(r->sim->scene, r->begin);
}

/* Runs `state` through its block, which becomes the tape. */
static pl_status record_block(pl_rollout *r, pl_state *state)
{
    int block = block_of(r, state->step - r->checkpoints[0]->step);
    pl_tape_drop(r->sim, &r->tape, r->tape.count);
    r->tape_from = block;
    PL_TRY(pl_state_copy(r->sim->scene, state, r->begin));
    pl_status status = pl_rollout_advance(r, state, block_start(r, block + 1), &r->tape);
    if (status != PL_OK)
        pl_tape_drop(r->sim, &r->tape, r->tape.count); /* not to be taken for the block */
    note_bytes(r);
    return status;
}

/* The block into the tape, from the last kept state before it; on the way states are kept as the
 * schedule has it when this block is the next to be gone through, then the one before it, and so on. */
static pl_status load_block(pl_rollout *r, int block)
{
    pl_status status = PL_OK;
    pl_state *state = NULL;
    int at;
    pl_tape_drop(r->sim, &r->tape, r->tape.count);
    PL_CHECK(pl_state_create(r->sim->scene, &state), done);
    PL_CHECK(pl_state_copy(r->sim->scene, kept_before(r, block), state), done);
    at = block_of(r, state->step - r->checkpoints[0]->step);
    if (at < block)
        drop_states_after(r, at);
    while (at < block) {
        int states = states_left(r, state);
        at += pl_schedule_next(states, block + 1 - at);
        PL_CHECK(pl_rollout_advance(r, state, block_start(r, at), NULL), done);
        if (states > 1)
            PL_CHECK(keep(r, state), done);
        r->moved = true;
    }
    PL_CHECK(record_block(r, state), done);
done:
    pl_state_destroy(r->sim->scene, state);
    return status;
}

static bool tape_ends_with(const pl_rollout *r, int block)
{
    const pl_tape *tape = &r->tape;
    return tape->count > 0 &&
           block_of(r, tape->entries[tape->count - 1].step - r->checkpoints[0]->step) == block;
}

pl_status pl_rollout_reverse(pl_rollout *r, pl_block_fn visit, void *user)
{
    PL_TRY(pl_rollout_need_tape(r));
    int end = block_of(r, r->steps - 1) + 1;
    if (r->moved) { /* by an earlier sweep: no use for this one */
        drop_states_after(r, 0);
        r->moved = false;
    }
    while (end > 0) {
        if (!tape_ends_with(r, end - 1))
            PL_TRY(load_block(r, end - 1));
        PL_TRY(visit(user, &r->tape, r->begin));
        end = r->tape_from;
    }
    return PL_OK;
}

pl_status pl_rollout_forward(pl_rollout *r, pl_block_fn visit, void *user)
{
    pl_status status = PL_OK;
    pl_state *state = NULL;
    PL_TRY(pl_rollout_need_tape(r));
    if (r->whole)
        return visit(user, &r->tape, r->begin);
    PL_CHECK(pl_state_create(r->sim->scene, &state), done);
    PL_CHECK(pl_state_copy(r->sim->scene, r->checkpoints[0], state), done);
    while (state->step < r->checkpoints[0]->step + r->steps) {
        PL_CHECK(record_block(r, state), done);
        PL_CHECK(visit(user, &r->tape, r->begin), done);
    }
done:
    pl_state_destroy(r->sim->scene, state);
    return status;
}
