/* An output of a rollout that is over. */
#include "io/output.h"

#include "sim/rollout.h"

typedef struct writing {
    pl_output *output;
    const pl_step_info *infos;
} writing;

static pl_status write_state(void *user, int step, const pl_state *state)
{
    const writing *w = user;
    return pl_output_step(w->output, state, w->infos && step > 0 ? &w->infos[step - 1] : NULL);
}

pl_status pl_output_rollout(pl_output *output, pl_rollout *rollout, const pl_step_info *infos)
{
    if (rollout->sim != output->sim)
        return pl_fail(output->ctx, PL_ERROR_ARGUMENT, "rollout: of another sim than the output");
    writing w = {output, infos};
    output->values = rollout->values;
    pl_status status = pl_rollout_replay(rollout, 1, write_state, &w);
    output->values = NULL;
    return status;
}
