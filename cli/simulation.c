/* A scene file made ready to run, as the commands that simulate need it. */
#include "cli.h"

#include "core/core.h"

int cli_simulation_open(pl_context *ctx, const char *path, const cli_list *set, cli_simulation *out)
{
    *out = (cli_simulation){0};
    pl_status status = pl_scene_load(ctx, path, set->count, set->items, &out->scene, &out->file);
    bool read = status == PL_OK;
    if (read)
        status = pl_sim_create(out->scene, &out->sim);
    if (status == PL_OK)
        status = pl_state_create(out->scene, &out->state);
    if (status == PL_OK)
        return CLI_OK;
    if (read) /* what it cannot start from does not name the file */
        pl_fail_within(ctx, status, "%s", path);
    return cli_report(ctx, status);
}

void cli_simulation_close(cli_simulation *simulation)
{
    if (simulation->state)
        pl_state_destroy(simulation->scene, simulation->state);
    pl_sim_destroy(simulation->sim);
    pl_scene_destroy(simulation->scene);
    *simulation = (cli_simulation){0};
}
