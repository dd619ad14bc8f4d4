/* Opens reports in a real browser (tests/report_browser.py); skipped where there is none. */
#include "report_sample.h"

#include <sys/wait.h>
#include <unistd.h>

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
    plot.scale = 1;
    plot.lines = lines;
    plot.line_count = 3;
    snprintf(path, sizeof path, "%s/plot.svg", folder);
    assert_ok(ctx, pl_plot_write(ctx, &plot, path));
    snprintf(path, sizeof path, "%s/plot.png", folder);
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
