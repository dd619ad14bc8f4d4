/* Outputs of rollouts that are over: the files that a call after every step would have written. */
#include "common.h"

#include <pliant/io.h>

#include <unistd.h>

enum { STEPS = 70 };

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"mesh\": {\"grid\": {\"nodes\": [3, 3, 2], \"spacing\": 0.1}},\n"
    " \"velocity\": [0.3, 0, 0], \"transform\": {\"translate\": [0, 0, 1e-5]}}],\n"
    " \"pins\": [{\"body\": 0, \"vertices\": [0], \"compliance\": 0.01}],\n"
    " \"colliders\": [{\"shape\": {\"half_space\": {}}, \"friction\": 0.3,\n"
    "                \"table\": [[0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0.1, 1, 0, 0, 0]]}]}";

typedef struct fixture {
    pl_context *ctx;
    pl_scene *scene;
    pl_sim *sim;
    pl_params *params;
    char folder[64];
    pl_step_info infos[STEPS];
} fixture;

static pl_output *open_output(fixture *f, const char *name)
{
    char path[128];
    pl_output_def def = pl_output_def_default();
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    def.directory = path;
    def.every = 10;
    pl_output *output = NULL;
    assert_ok(f->ctx, pl_output_create(f->sim, &def, &output));
    return output;
}

static pl_rollout *run(fixture *f, pl_rollout_def def)
{
    pl_state *state = NULL;
    pl_rollout *rollout = NULL;
    assert_ok(f->ctx, pl_state_create(f->scene, &state));
    def.steps = STEPS;
    assert_ok(f->ctx, pl_rollout_run(f->sim, state, &def, &rollout));
    pl_state_destroy(f->scene, state);
    return rollout;
}

typedef struct live {
    fixture *f;
    pl_output *output;
} live;

static bool write_step(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    live *l = user;
    l->f->infos[step - 1] = *info;
    return pl_output_step(l->output, state, info) == PL_OK;
}

/* Young's modulus of the whole body. */
static void set_young(pl_params *params, double young)
{
    assert_int_equal(pl_params_set(params, PL_YOUNG, 0, 1, &young), PL_OK);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = test_context(1);
    assert_ok(f->ctx, pl_scene_load_text(f->ctx, scene_text, sizeof scene_text - 1, "t", NULL, 0, NULL,
                                         &f->scene, NULL));
    assert_ok(f->ctx, pl_sim_create(f->scene, &f->sim));
    assert_ok(f->ctx, pl_params_create(f->scene, &f->params));
    set_young(f->params, 3e4);
    strcpy(f->folder, "/tmp/pliant-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));

    /* Expected: the scene has the parameters itself, and every step is written when it is made. */
    pl_state *start = NULL;
    live l = {f, open_output(f, "live")};
    set_young(pl_scene_params(f->scene), 3e4);
    assert_ok(f->ctx, pl_state_create(f->scene, &start));
    assert_ok(f->ctx, pl_output_step(l.output, start, NULL));
    pl_rollout_def def = pl_rollout_def_default();
    def.progress = write_step;
    def.progress_user = &l;
    pl_rollout_destroy(run(f, def));
    assert_ok(f->ctx, pl_output_finish(l.output, PL_OK));
    pl_output_destroy(l.output);
    pl_state_destroy(f->scene, start);
    set_young(pl_scene_params(f->scene), 1e6);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    pl_params_destroy(f->params);
    pl_sim_destroy(f->sim);
    pl_scene_destroy(f->scene);
    pl_context_destroy(f->ctx);
    free(f);
    return 0;
}

static void assert_same_files(fixture *f, const char *name)
{
    char command[256];
    snprintf(command, sizeof command,
             "test $(ls '%s/%s/volume' | wc -l) = 8 && diff -r -x summary.json '%s/live' '%s/%s'",
             f->folder, name, f->folder, f->folder, name);
    assert_int_equal(system(command), 0);
}

static void write_rollout(fixture *f, const char *name, size_t memory_budget)
{
    pl_rollout_def def = pl_rollout_def_default();
    def.params = f->params;
    def.memory_budget = memory_budget;
    pl_rollout *rollout = run(f, def);
    pl_output *output = open_output(f, name);
    assert_ok(f->ctx, pl_output_rollout(output, rollout, f->infos));
    assert_ok(f->ctx, pl_output_finish(output, PL_OK));
    pl_output_destroy(output);
    pl_rollout_destroy(rollout);
    assert_same_files(f, name);
}

static void a_whole_tape(void **state)
{
    write_rollout(*state, "whole", 0);
}

static void a_limited_tape(void **state)
{
    write_rollout(*state, "limited", 1);
}

static void refusals(void **state)
{
    fixture *f = *state;
    pl_rollout_def def = pl_rollout_def_default();
    def.tape = false;
    pl_rollout *rollout = run(f, def);
    pl_output *output = open_output(f, "none");
    assert_int_equal(pl_output_rollout(output, rollout, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "without a tape"));
    pl_rollout_destroy(rollout);

    pl_sim *other = NULL, *own = f->sim;
    assert_ok(f->ctx, pl_sim_create(f->scene, &other));
    f->sim = other;
    rollout = run(f, pl_rollout_def_default());
    f->sim = own;
    assert_int_equal(pl_output_rollout(output, rollout, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(f->ctx), "another sim"));
    pl_rollout_destroy(rollout);
    pl_sim_destroy(other);
    pl_output_destroy(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_tape, setup, teardown),
        cmocka_unit_test_setup_teardown(a_limited_tape, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
