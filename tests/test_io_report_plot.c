/* Plots and CSV: ticks, gaps, what an SVG holds, exact numbers. */
#include "report_sample.h"

#include "io/plot.h"

#include <unistd.h>

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void test_linear_ticks_are_round(void **state)
{
    (void)state;
    pl_axis axis = {.from = 100, .to = 200};
    pl_axis_make(&axis, false, 0, 10, 0, 5);
    assert_int_equal(axis.tick_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_close(axis.ticks[i], 2 * i, 0);
        assert_close(pl_axis_at(&axis, axis.ticks[i]), 100 + 20 * i, 1e-12);
    }
    assert_string_equal(axis.labels[5], "10");
    pl_axis_make(&axis, false, -0.0031, 0.0004, 0, 4);
    for (int i = 0; i < axis.tick_count; i++)
        assert_close(axis.ticks[i], 0.001 * (i - 3), 1e-18);
    assert_int_equal(axis.tick_count, 4);
    assert_string_equal(axis.labels[0], "-0.003");
}

static void test_log_ticks_are_powers(void **state)
{
    (void)state;
    pl_axis axis = {.from = 0, .to = 1};
    pl_axis_make(&axis, true, 1e-9, 1e3, 0, 6);
    for (int i = 0; i < axis.tick_count; i++) {
        double e = log10(axis.ticks[i]);
        assert_close(e, round(e), 1e-12);
    }
    assert_int_equal(axis.tick_count, 5); /* every third */
    assert_close(pl_axis_at(&axis, 1e-3), 0.5, 1e-15);
    assert_string_equal(axis.labels[0], "10⁻⁹");
    assert_false(pl_axis_valid(&axis, 0));
    pl_axis_make(&axis, true, 2.1, 2.9, 0, 5); /* no power inside: ticks as on a linear axis */
    assert_true(axis.tick_count >= 3);
}

static void test_degenerate_ranges_stay_drawable(void **state)
{
    (void)state;
    const double cases[][2] = {
        {INFINITY, -INFINITY}, {0, 0}, {5, 5}, {1e-300, 1e-300}, {-1e300, 1e300}};
    for (int log = 0; log < 2; log++) {
        for (int i = 0; i < 5; i++) {
            if (log && cases[i][0] <= 0)
                continue;
            pl_axis axis = {.from = 0, .to = 1};
            pl_axis_make(&axis, log, cases[i][0], cases[i][1], 0.05, 5);
            assert_true(axis.high > axis.low && isfinite(axis.high) && isfinite(axis.low));
            assert_true(axis.tick_count <= PL_TICKS);
        }
    }
}

static pl_plot example(const pl_plot_line *lines, int count)
{
    pl_plot plot = pl_plot_default();
    plot.title = "a < b & \"c\"";
    plot.lines = lines;
    plot.line_count = count;
    return plot;
}

static void test_svg_holds_the_lines(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double y[] = {1, 2, NAN, 3, 4, INFINITY, 5}, error[] = {0.1, 0, 0, NAN, 0.2, 0, 0},
                 level = 2.5;
    const pl_plot_line lines[] = {
        {.name = "x", .colour = "#123456", .count = 7, .y = y, .error = error},
        {.name = "l", .count = 1, .y = &level, .level = true, .dashed = true}};
    pl_plot plot = example(lines, 2);
    pl_text svg = {.ctx = ctx};
    assert_ok(ctx, pl_plot_svg(ctx, &plot, &svg));
    assert_null(strstr(svg.data, "nan"));
    assert_null(strstr(svg.data, "inf"));
    assert_non_null(strstr(svg.data, "a &#60; b &#38; &#34;c&#34;"));
    /* two runs of values, one key in the legend, two error bars of three strokes */
    assert_int_equal(
        occurrences(svg.data, "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"#123456\""),
        2 + 1 + 6);
    assert_int_equal(occurrences(svg.data, "<circle"), 1);          /* 5 stands alone after a gap */
    assert_int_equal(occurrences(svg.data, "stroke-dasharray"), 2); /* the level and its key */
    assert_int_equal(occurrences(svg.data, "<svg"), occurrences(svg.data, "</svg>"));
    pl_text_free(&svg);
    pl_context_destroy(ctx);
}

/* Ticks between iterations say nothing; ticks between times do. */
static void test_counts_have_whole_ticks(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double y[] = {10, 20, 30, 40}, time[] = {0, 0.75, 1.5, 3};
    for (int timed = 0; timed < 2; timed++) {
        const pl_plot_line line = {.name = "x", .count = 4, .x = timed ? time : NULL, .y = y};
        pl_plot plot = example(&line, 1);
        plot.width = 900;
        pl_text svg = {.ctx = ctx};
        assert_ok(ctx, pl_plot_svg(ctx, &plot, &svg));
        assert_int_equal(occurrences(svg.data, ">1.5<"), timed);
        assert_int_equal(occurrences(svg.data, ">3<") + occurrences(svg.data, ">3.0<"), 1);
        pl_text_free(&svg);
    }
    pl_context_destroy(ctx);
}

static void test_plot_mistakes_are_named(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double y[] = {1};
    pl_plot_line line = {.count = 1, .y = y, .colour = "#12345g"};
    pl_plot plot = example(&line, 1);
    assert_int_equal(pl_plot_write(ctx, &plot, "/tmp/x.svg"), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "#12345g"));
    line.colour = NULL;
    assert_int_equal(pl_plot_write(ctx, &plot, "/tmp/x.png"), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "written as .svg"));
    plot.width = NAN;
    assert_int_equal(pl_plot_write(ctx, &plot, "/tmp/x.svg"), PL_ERROR_ARGUMENT);
    pl_context_destroy(ctx);
}

static void test_csv_keeps_every_digit(void **state)
{
    (void)state;
    char path[] = "/tmp/pliant-csv-XXXXXX", line[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    pl_context *ctx = test_context(1);
    const double a[] = {0.1, NAN, 1e-310}, b[] = {1.0 / 3, -INFINITY, 12345678.9};
    const char *names[] = {"plain", "with, comma and \"quote\""};
    assert_ok(ctx, pl_csv_write(ctx, path, 2, names, 3, (const double *[]){a, b}));
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    assert_string_equal(line, "plain,\"with, comma and \"\"quote\"\"\"\n");
    for (int r = 0; r < 3; r++) {
        assert_non_null(fgets(line, sizeof line, in));
        char *comma = strchr(line, ',');
        assert_non_null(comma);
        if (isnan(a[r]))
            assert_ptr_equal(comma, line);
        else
            assert_true(strtod(line, NULL) == a[r]);
        assert_true(strtod(comma + 1, NULL) == b[r]);
    }
    assert_null(fgets(line, sizeof line, in));
    fclose(in);
    unlink(path);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_ticks_are_round),
        cmocka_unit_test(test_log_ticks_are_powers),
        cmocka_unit_test(test_degenerate_ranges_stay_drawable),
        cmocka_unit_test(test_svg_holds_the_lines),
        cmocka_unit_test(test_counts_have_whole_ticks),
        cmocka_unit_test(test_plot_mistakes_are_named),
        cmocka_unit_test(test_csv_keeps_every_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
