/* A rollout's states one after the other, each as it was: from a whole tape, or by running again. */
#include "sim/rollout.h"

/* Contacts of the tape into the state, which owns the array. */
static pl_status take_contacts(pl_rollout *r, int step, pl_state *state)
{
    pl_context *ctx = r->sim->ctx;
    pl_contact *contacts;
    int count;
    PL_TRY(pl_rollout_contacts(r, step, &count, &contacts));
    pl_free(ctx, state->contacts);
    state->contacts = contacts;
    state->contact_count = state->contact_capacity = count;
    return PL_OK;
}

/* From the start's state to that after step >= 1, by a whole tape. */
static pl_status take_tape(pl_rollout *r, int step, pl_state *state, pl_drive *drive)
{
    const pl_scene *scene = r->sim->scene;
    pl_inputs inputs = pl_rollout_inputs_at(r, step - 1);
    PL_TRY(pl_rollout_state(r, step, state->q, state->v));
    PL_TRY(take_contacts(r, step, state));
    PL_TRY(pl_drive_resolve(scene, r->time[step - 1] + r->values->def.time_step, &inputs, drive));
    pl_state_set_inputs(scene, state, drive->of);
    memcpy(state->live, pl_rollout_live(r, step), sizeof(double) * (size_t)state->live_count);
    state->time = r->time[step];
    state->step = r->checkpoints[0]->step + step;
    return PL_OK;
}

pl_status pl_rollout_replay(pl_rollout *r, int every, pl_replay_fn visit, void *user)
{
    const pl_scene *scene = r->sim->scene;
    pl_status status = PL_OK;
    pl_state *state = NULL;
    pl_drive drive = {0};
    PL_TRY(pl_rollout_need_tape(r));
    PL_CHECK(pl_drive_create(scene, &drive), done);
    PL_CHECK(pl_state_create(scene, &state), done);
    PL_CHECK(pl_state_copy(scene, r->checkpoints[0], state), done);
    for (int step = 0; step <= r->steps; step += every) {
        if (r->whole && step > 0)
            PL_CHECK(take_tape(r, step, state, &drive), done);
        else
            PL_CHECK(pl_rollout_advance(r, state, step, NULL), done);
        PL_CHECK(visit(user, step, state), done);
    }
done:
    pl_state_destroy(scene, state);
    pl_drive_free(r->sim->ctx, &drive);
    return status;
}
