#include "loss.h"
#include "cli.h"

#include <pliant/check.h>

#include <string.h>

enum { DISTANCE, MEAN_X, MEAN_Y, MEAN_Z, SPEED, LOSS_COUNT };

static const char *const names[LOSS_COUNT] = {"distance", "x", "y", "z", "speed"};

const char *cli_loss_names(void)
{
    return "distance, x, y, z or speed";
}

bool cli_loss_find(const char *name, int steps, const pl_state *state, cli_loss *out)
{
    for (int k = 0; k < LOSS_COUNT; k++)
        if (strcmp(name, names[k]) == 0) {
            *out = (cli_loss){
                .kind = k, .last = steps, .vertex_count = state->vertex_count, .start = state->q};
            return true;
        }
    return false;
}

bool cli_loss_term(void *user, int step, const double *q, const double *v, double *value, double *dq,
                   double *dv)
{
    const cli_loss *loss = user;
    int n = loss->vertex_count;
    if (step != loss->last)
        return !cli_interrupted();
    for (int i = 0; i < 3 * n; i++) {
        double moved = q[i] - loss->start[i];
        switch (loss->kind) {
        case DISTANCE:
            *value += 0.5 * moved * moved / n;
            dq[i] += moved / n;
            break;
        case SPEED:
            *value += 0.5 * v[i] * v[i] / n;
            dv[i] += v[i] / n;
            break;
        default:
            if (i % 3 == loss->kind - MEAN_X) {
                *value += q[i] / n;
                dq[i] += 1.0 / n;
            }
        }
    }
    return true;
}

pl_channels cli_gradient_kinds(const char *list)
{
    pl_channels kinds = 0;
    while (list && *list) {
        char name[64];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        pl_channel channel = pl_channel_find(name);
        if (channel == PL_CHANNEL_COUNT)
            return 0;
        kinds |= PL_BIT(channel);
        list += length + (list[length] == ',');
    }
    return list ? kinds : ~0ull;
}

cli_kinds cli_name_kinds(const char *before, const char *behind)
{
    cli_kinds out;
    int used = snprintf(out.text, sizeof out.text, "%s", before);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        used += snprintf(out.text + used, sizeof out.text - (size_t)used, "%s%s",
                         c == 0       ? ""
                         : c % 7 == 0 ? ",\n"
                                      : ", ",
                         pl_channel_get((pl_channel)c)->name);
    snprintf(out.text + used, sizeof out.text - (size_t)used, "%s", behind);
    return out;
}
