/* Scenes in which bodies touch each other or themselves. */
#ifndef COMMON_MEET_H
#define COMMON_MEET_H

#include "terms_derivatives.h"

#include "contact/meet.h"

#define OFFSET 5e-4 /* m, of every body */

static inline pl_scene_def touching(double h, double gz, double mu)
{
    pl_scene_def def = world_def(h, 0, 0, gz);
    def.body_contact = true;
    def.body_friction = mu;
    return def;
}

/* Every step is solved, and no surface is nearer to another than a tenth of what keeps them apart. */
static inline void run_checked(test_world *w, int steps)
{
    for (int k = 0; k < steps; k++) {
        pl_step_info info = world_step(w);
        assert_true(info.converged && info.residual <= 1e-10 && info.complementarity < 1e-8);
        for (int c = 0; c < w->state->contact_count; c++)
            assert_true(w->state->contacts[c].gap > 0);
    }
    pl_substep at = {.scene = w->scene,
                     .surface = w->sim->model->surface,
                     .offset = w->sim->model->offset,
                     .matter = &w->sim->matter};
    pl_meet_rules rules = pl_substep_meet_rules(&at);
    pl_meet_search *search = &w->sim->solver.search;
    assert_ok(w->ctx, pl_meet_find(w->ctx, search, &rules, w->state->q, w->state->q, 0));
    for (int k = 0; k < search->count; k++)
        assert_true(pl_meet_place(&rules, &search->found[k], w->state->q).distance > 1e-4);
}

#endif
