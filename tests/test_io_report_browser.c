/* Opens reports in a real browser (tests/report_browser.py); skipped where there is none. */
#include "fit_files.h"
#include "report_sample.h"

#include <pliant/fit.h>
#include <pliant/io.h>

#include <sys/wait.h>
#include <unistd.h>

/* A ball that lands beside a turning block and slides against a stone: a small fit's own report. */
static const char *const scene_text =
    "{\"version\": 1, \"steps\": 40,"
    " \"bodies\": [{\"name\": \"ball\", \"mesh\": {\"ellipsoid\": {\"radii\": [0.1, 0.1, 0.08],"
    "   \"cell\": 0.05}}, \"transform\": {\"translate\": [0, 0, 0.1]}, \"velocity\": [0.8, 0, 0],"
    "   \"material\": {\"young\": 2e4, \"damping\": 2}}],"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"friction\": 0.5},"
    "  {\"name\": \"stone\", \"shape\": {\"mesh\": {\"ellipsoid\": {\"radii\": [0.1, 0.16, 0.1],"
    "   \"cell\": 0.04}}}, \"position\": [0.34, 0, 0.02]},"
    "  {\"name\": \"block\", \"shape\": {\"box\": {\"half_extents\": [0.05, 0.05, 0.1]}},"
    "   \"table\": [[0, 0, 0.3, 0.1, 1, 0, 0, 0], [0.4, 0.2, 0.3, 0.1, 0, 0, 0, 1]]}]}";

static const char *const task_text =
    "{\"version\": 1, \"name\": \"Ball and stone\", \"scene\": \"scene.json\","
    " \"unknowns\": [{\"name\": \"mu\", \"quantity\": \"friction\", \"of\": \"floor\","
    "   \"initial\": 0.5, \"true\": 0.2, \"lower\": 0.01, \"upper\": 1}],"
    " \"loss\": [{\"kind\": \"positions\"}, {\"kind\": \"markers\", \"steps\": [10, 30],"
    "   \"points\": [[0, -0.1, 0.1], [0, 0, 0.18], [0.1, 0, 0.1]]}, {\"kind\": \"point_cloud\"}],"
    " \"optimizer\": {\"method\": \"levenberg_marquardt\", \"iterations\": 2}}";

/* FOLDER/fit.html: what a fit wrote. */
static void write_fit(pl_context *ctx, const char *folder)
{
    char directory[64], out[128], path[256], kept[512];
    pl_task *task;
    pl_fit_result *result;
    pl_fit_def def = pl_fit_def_default();
    files_make(directory);
    files_write(directory, "scene.json", scene_text);
    files_write(directory, "task.json", task_text);
    snprintf(path, sizeof path, "%s/task.json", directory);
    assert_ok(ctx, pl_task_load(ctx, path, 0, NULL, &task));
    snprintf(out, sizeof out, "%s/out", directory);
    def.directory = out;
    assert_ok(ctx, pl_task_fit(task, &def, &result));
    pl_fit_result_free(task, result);
    pl_task_destroy(task);
    snprintf(path, sizeof path, "%s/report.html", out);
    snprintf(kept, sizeof kept, "%s/fit.html", folder);
    char command[800];
    snprintf(command, sizeof command, "cp '%s' '%s'", path, kept);
    assert_int_equal(system(command), 0);
    files_remove(out);
    files_remove(directory);
}

/* A bar with a muscle in its right half, which a cable pulls to the left. */
static const char *const driven_text =
    "{\"version\": 1, \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"mesh\": {\"bar\": {\"length\": 0.3, \"width\": 0.1, \"height\": 0.1, \"cell\": "
    "0.05}},"
    "   \"material\": {\"damping\": 5}}],"
    " \"pins\": [{\"body\": 0, \"vertices\": {\"group\": \"left\"}}],"
    " \"muscles\": [{\"body\": 0, \"elements\": {\"box\": [[0.15, -1, -1], [1, 1, 1]]}, \"direction\": "
    "[1, 0, 0],"
    "   \"table\": [[0, 0], [0.1, 0.25]]}],"
    " \"cables\": [{\"points\": [{\"fixed\": [-0.2, 0, 0.2]}, {\"body\": 0, \"at\": [0.1, 0, 0.05]}],"
    "   \"table\": [[0, 0.4], [0.1, 0.32]]}]}";

/* FOLDER/driven.html: its motion. */
static void write_driven(pl_context *ctx, const char *folder)
{
    char path[512];
    pl_report *report;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    pl_rollout *rollout;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = 10;
    assert_ok(ctx, pl_scene_load_text(ctx, driven_text, strlen(driven_text), "driven", NULL, 0, NULL,
                                      &scene, NULL));
    assert_ok(ctx, pl_sim_create(scene, &sim));
    assert_ok(ctx, pl_state_create(scene, &state));
    assert_ok(ctx, pl_rollout_run(sim, state, &def, &rollout));
    assert_ok(ctx, pl_report_create(ctx, NULL, &report));
    assert_ok(ctx, pl_report_add_rollout(report, scene, rollout, NULL));
    snprintf(path, sizeof path, "%s/driven.html", folder);
    assert_ok(ctx, pl_report_write(report, path));
    pl_report_destroy(report);
    pl_rollout_destroy(rollout);
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
}

static void write_samples(pl_context *ctx, const char *folder)
{
    char path[512];
    pl_report_def def = pl_report_def_default();
    pl_report *report;
    def.title = "Bouncing ellipsoid </title><script>throw 1</script> & \"quotes\" – μ";
    def.subtitle = "sample of every part of a report";
    assert_ok(ctx, pl_report_create(ctx, &def, &report));
    sample_view(ctx, report);
    sample_fit(ctx, report);
    snprintf(path, sizeof path, "%s/full.html", folder);
    assert_ok(ctx, pl_report_write(report, path));
    pl_report_destroy(report);

    assert_ok(ctx, pl_report_create(ctx, NULL, &report));
    sample_trajectory(report, "body", NULL, 1, 0.7);
    sample_collider(ctx, report, "ground", PL_HALF_SPACE, 0, 0, 0, 0, 0, 0);
    snprintf(path, sizeof path, "%s/view.html", folder);
    assert_ok(ctx, pl_report_write(report, path));
    pl_report_destroy(report);

    double y[40], wave[40], error[40];
    for (int i = 0; i < 40; i++) {
        y[i] = i == 20 ? NAN : pow(10, 2 - 0.2 * i);
        wave[i] = 20 * (1.2 + sin(0.4 * i)) * pow(10, -0.1 * i);
        error[i] = 0.3 * wave[i];
    }
    double level = 1e-4;
    pl_plot_line lines[] = {
        {.name = "loss <&>", .count = 40, .y = y, .markers = true},
        {.name = "μ ± σ", .count = 40, .y = wave, .error = error, .dashed = true},
        {.name = "tolerance 10⁻⁴", .count = 1, .y = &level, .level = true, .dashed = true}};
    pl_plot plot = pl_plot_default();
    plot.title = "Loss \"and\" waves: 0123456789 (quick brown fox; jumps over lazy dogs)";
    plot.x_label = "iteration";
    plot.y_label = "loss, m²";
    plot.log_y = true;
    plot.lines = lines;
    plot.line_count = 3;
    snprintf(path, sizeof path, "%s/plot.svg", folder);
    assert_ok(ctx, pl_plot_write(ctx, &plot, path));
}

static void test_in_browser(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant-report-XXXXXX";
    const char *keep = getenv("PLIANT_REPORT_FOLDER"); /* leaves the files and pictures there */
    if (!keep)
        assert_non_null(mkdtemp(folder));
    pl_context *ctx = test_context(1);
    write_samples(ctx, keep ? keep : folder);
    write_fit(ctx, keep ? keep : folder);
    write_driven(ctx, keep ? keep : folder);
    pl_context_destroy(ctx);

    char script[512], command[1200];
    snprintf(script, sizeof script, "%s", __FILE__);
    char *slash = strrchr(script, '/');
    if (slash)
        slash[1] = 0;
    else
        script[0] = 0;
    snprintf(command, sizeof command, "python3 '%sreport_browser.py' '%s'", script,
             keep ? keep : folder);
    int result = system(command);
    if (!keep) {
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        assert_int_equal(system(command), 0);
    }
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 77 || WEXITSTATUS(result) == 127)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_browser)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
