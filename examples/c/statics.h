/*
 * Equilibrium with a dynamic simulator. A step from rest minimises
 *
 *     energy(q) - f.q + |q - q_before|^2_M / (2 h^2),
 *
 * so repeating it with the velocity set to zero walks down to the nearest equilibrium, and for a large
 * h in a few strides.
 */
#ifndef STATICS_H
#define STATICS_H

#include <pliant/pliant.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the library's message if a call failed. */
static inline void check(pl_context *ctx, pl_status status)
{
    if (status == PL_OK)
        return;
    fprintf(stderr, "%s: %s\n", pl_status_name(status), pl_context_error(ctx));
    exit(1);
}

static inline pl_context *new_context(void)
{
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    pl_context *ctx = NULL;
    check(ctx, pl_context_create(&def, &ctx));
    return ctx;
}

/* Largest move of a vertex between two sets of positions, m. */
static inline double largest_move(int n, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < 3 * n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Steps from rest until no vertex moves by more than `still` (m), at most `most` steps; the number
 * done. */
static inline int settle(pl_sim *sim, pl_state *state, const pl_inputs *inputs, double still, int most)
{
    pl_context *ctx = pl_scene_context(pl_sim_scene(sim));
    size_t bytes = 3 * (size_t)state->vertex_count * sizeof(double);
    double *before = malloc(bytes);
    int done = 0;
    double moved = HUGE_VAL;
    while (before && done < most && moved > still) {
        memcpy(before, state->q, bytes);
        memset(state->v, 0, bytes);
        check(ctx, pl_step(sim, state, inputs, NULL));
        moved = largest_move(state->vertex_count, before, state->q);
        done++;
    }
    free(before);
    return done;
}

/*
 * The same with `count` vertices that keep their z but slide in x and y. Their pins hold all
 * directions: the targets of those vertices' pins, target [count, 3] within inputs->pin_target, follow
 * x and y until these springs are slack, while in z they move against what is left of the displacement
 * (an augmented Lagrangian). Starts with the targets at the rest positions.
 */
static inline int settle_in_plane(pl_sim *sim, pl_state *state, const pl_inputs *inputs, int count,
                                  const int *vertices, double *target, double still, int most)
{
    double *z = malloc((size_t)(count + 1) * sizeof *z), moved = HUGE_VAL;
    int done = 0;
    for (int i = 0; z && i < count; i++)
        z[i] = target[3 * i + 2];
    for (; z && done < most && moved > still; done++) {
        moved = 0.0;
        settle(sim, state, inputs, 0.0, 1);
        for (int i = 0; i < count; i++) {
            const double *q = state->q + 3 * vertices[i];
            double *t = target + 3 * i, rise = q[2] - z[i];
            moved = fmax(moved, fmax(fabs(rise), fmax(fabs(t[0] - q[0]), fabs(t[1] - q[1]))));
            memcpy(t, q, 2 * sizeof *t);
            t[2] -= rise;
        }
    }
    free(z);
    return done;
}

#endif
