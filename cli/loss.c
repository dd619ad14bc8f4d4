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

unsigned cli_gradient_kinds(const char *list)
{
    unsigned kinds = 0;
    while (list && *list) {
        size_t length = strcspn(list, ",");
        unsigned kind = 1;
        while (pl_gradient_name(kind) && (strlen(pl_gradient_name(kind)) != length ||
                                          strncmp(pl_gradient_name(kind), list, length) != 0))
            kind <<= 1;
        if (!pl_gradient_name(kind))
            return 0;
        kinds |= kind;
        list += length + (list[length] == ',');
    }
    return list ? kinds : ~0u;
}
