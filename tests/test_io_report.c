/* Reports: what the page's data holds, escaping, thinning and rounding of frames, failures. */
#include "report_sample.h"

#include <jansson.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

/* The data of a report, as the page's script would read it. */
static json_t *data_of(pl_context *ctx, const pl_report *report)
{
    char *html;
    size_t length;
    assert_ok(ctx, pl_report_html(report, &html, &length));
    assert_int_equal(strlen(html), length);
    char *start = strstr(html, "id=\"data\">");
    assert_non_null(start);
    start += strlen("id=\"data\">");
    char *end = strstr(start, "</script>");
    assert_non_null(end);
    json_error_t error;
    json_t *data = json_loadb(start, (size_t)(end - start), 0, &error);
    if (!data)
        fail_msg("the page's data is not JSON: %s at line %d", error.text, error.line);
    pl_free(ctx, html);
    return data;
}

static unsigned char *decode(const json_t *object, const char *key, size_t *count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    size_t length = strlen(text);
    assert_int_equal(length % 4, 0);
    unsigned char *bytes = malloc(length + 1);
    *count = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const char *digit = strchr(digits, text[i]);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4)
            bytes[(*count)++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    return bytes;
}

static pl_report *new_report(pl_context *ctx)
{
    pl_report *report;
    assert_ok(ctx, pl_report_create(ctx, NULL, &report));
    return report;
}

static const json_t *first(const json_t *data, const char *list)
{
    const json_t *view = json_object_get(data, "view");
    const json_t *item = json_array_get(json_object_get(view, list), 0);
    assert_non_null(item);
    return item;
}

/* ------------------------------------------------------------------------------- text */

static const char nasty[] = "</script><b>&amp; \"q\" 'a' \\ \n\t\x01 μ≥é 漢 \xf0\x9f\x99\x82";

static void test_any_text_is_safe(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report_def def = pl_report_def_default();
    def.title = "</title><script>alert('x')</script> & \"y\"";
    def.subtitle = nasty;
    pl_report *report;
    assert_ok(ctx, pl_report_create(ctx, &def, &report));
    assert_ok(ctx, pl_report_set_headline(report, nasty));
    assert_ok(ctx, pl_report_add_fact(report, nasty, nasty, nasty));
    assert_ok(ctx, pl_report_add_section(report, nasty, nasty));
    const char *cells[] = {nasty, NULL};
    assert_ok(ctx, pl_report_add_table(report, nasty, 2, (const char *[]){nasty, "b"}, 1, cells));
    json_t *data = data_of(ctx, report);
    assert_string_equal(json_string_value(json_object_get(data, "headline")), nasty);
    json_t *item = json_array_get(
        json_object_get(json_array_get(json_object_get(data, "sections"), 0), "items"), 0);
    json_t *row = json_array_get(json_object_get(item, "rows"), 0);
    assert_string_equal(json_string_value(json_array_get(row, 0)), nasty);
    assert_string_equal(json_string_value(json_array_get(row, 1)), "");
    json_decref(data);

    char *html;
    assert_ok(ctx, pl_report_html(report, &html, NULL));
    assert_null(strstr(html, "<script>alert"));
    assert_non_null(strstr(html, "<title>&#60;/title&#62;&#60;script&#62;alert(&#39;x&#39;)"));
    pl_free(ctx, html);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_broken_utf8_becomes_replacement(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    /* a lone continuation, a cut sequence, an overlong slash, a surrogate, then good text */
    assert_ok(ctx, pl_report_set_headline(report, "a\x80"
                                                  "b\xe2\x82"
                                                  "c\xc0\xaf"
                                                  "d\xed\xa0\x80"
                                                  "e\xc3"));
    json_t *data = data_of(ctx, report);
    const char *text = json_string_value(json_object_get(data, "headline"));
    assert_string_equal(text, "a\xef\xbf\xbd"
                              "b\xef\xbf\xbd"
                              "c\xef\xbf\xbd"
                              "d\xef\xbf\xbd"
                              "e\xef\xbf\xbd");
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_page_needs_no_other_file(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    sample_view(ctx, report);
    sample_fit(ctx, report);
    char *html;
    assert_ok(ctx, pl_report_html(report, &html, NULL));
    assert_null(strstr(html, "https://"));
    assert_null(strstr(html, "src="));
    assert_null(strstr(html, "@import"));
    assert_null(strstr(html, "fetch("));
    char *url = strstr(html, "http://"); /* the name of SVG, which is not fetched */
    assert_non_null(url);
    assert_memory_equal(url, "http://www.w3.org/2000/svg", 26);
    assert_null(strstr(url + 1, "http://"));
    pl_free(ctx, html);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- trajectories */

static void test_positions_are_kept_to_16_bits(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    sample_trajectory(report, "body", NULL, 1, 0.7);
    json_t *data = data_of(ctx, report);
    const json_t *t = first(data, "trajectories");
    enum { USED = SAMPLE_VERTICES - 1 };
    assert_int_equal(json_integer_value(json_object_get(t, "vertices")), USED);
    assert_int_equal(json_integer_value(json_object_get(t, "frames")), SAMPLE_FRAMES);
    size_t bytes;
    float *box = (float *)decode(t, "box", &bytes);
    assert_int_equal(bytes, SAMPLE_FRAMES * 6 * sizeof(float));
    uint16_t *stored = (uint16_t *)decode(t, "positions", &bytes);
    assert_int_equal(bytes, SAMPLE_FRAMES * USED * 6);
    double *frames = malloc(3ul * SAMPLE_FRAMES * SAMPLE_VERTICES * sizeof *frames);
    sample_frames(0.7, frames);
    for (int f = 0; f < SAMPLE_FRAMES; f++) {
        for (int i = 0; i < 3 * USED; i++) {
            double lower = box[6 * f + i % 3], upper = box[6 * f + 3 + i % 3];
            double x = lower + (upper - lower) * stored[(size_t)f * 3 * USED + (size_t)i] / 65535;
            double exact = frames[(size_t)f * 3 * SAMPLE_VERTICES + (size_t)i];
            /* half a step of the fraction, and the box's own rounding to float */
            assert_close(x, exact,
                         0.5 * (upper - lower) / 65535 + 1.2e-7 * (fabs(lower) + fabs(upper)));
        }
    }
    free(frames);
    free(box);
    free(stored);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

/* Adds one triangle that moves along x by 1 m a frame, and returns the kept times. */
static float *kept_times(pl_context *ctx, const pl_report_def *def, int frame_count, size_t *kept)
{
    pl_report *report;
    assert_ok(ctx, pl_report_create(ctx, def, &report));
    double *frames = calloc(9 * (size_t)frame_count, sizeof *frames);
    for (int f = 0; f < frame_count; f++)
        for (int i = 0; i < 3; i++)
            frames[9 * f + 3 * i] = f + (i == 1), frames[9 * f + 3 * i + 1] = i == 2;
    pl_report_trajectory t = pl_report_trajectory_default();
    t.vertex_count = 3;
    t.triangle_count = 1;
    t.triangles = (const int[]){0, 1, 2};
    t.frame_count = frame_count;
    t.frames = frames;
    t.start = 2;
    t.time_step = 0.5;
    assert_ok(ctx, pl_report_add_trajectory(report, &t));
    json_t *data = data_of(ctx, report);
    size_t bytes, box_bytes;
    float *times = (float *)decode(first(data, "trajectories"), "times", &bytes);
    float *box = (float *)decode(first(data, "trajectories"), "box", &box_bytes);
    *kept = bytes / sizeof *times;
    assert_int_equal(box_bytes, 6 * bytes);
    for (size_t k = 0; k < *kept; k++) /* the frame that is kept is the one of its time */
        assert_close(box[6 * k], (times[k] - 2) / 0.5, 0);
    free(box);
    free(frames);
    json_decref(data);
    pl_report_destroy(report);
    return times;
}

static void test_frames_are_thinned_to_the_budget(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report_def def = pl_report_def_default();
    size_t kept;
    float *times = kept_times(ctx, &def, 1000, &kept);
    assert_int_equal(kept, 300);
    assert_close(times[0], 2, 0);
    assert_close(times[299], 2 + 0.5 * 999, 0);
    for (int k = 1; k < 300; k++) /* 999 steps in 299 strides: 3 or 4 each */
        assert_true(times[k] - times[k - 1] >= 1.5f && times[k] - times[k - 1] <= 2);
    free(times);

    def.max_bytes = 18 * 10; /* ten frames of three vertices */
    free(kept_times(ctx, &def, 1000, &kept));
    assert_int_equal(kept, 10);
    def.max_bytes = 0; /* the first and the last remain */
    times = kept_times(ctx, &def, 1000, &kept);
    assert_int_equal(kept, 2);
    assert_close(times[1], 2 + 0.5 * 999, 0);
    free(times);
    free(kept_times(ctx, &def, 1, &kept));
    assert_int_equal(kept, 1);
    pl_context_destroy(ctx);
}

static void test_frames_that_blew_up_do_not_break_the_page(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    double frames[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, NAN, NAN, INFINITY, 0, 0, 0, -INFINITY, NAN};
    pl_report_trajectory t = pl_report_trajectory_default();
    t.vertex_count = 3;
    t.triangle_count = 1;
    t.triangles = (const int[]){0, 1, 2};
    t.frame_count = 2;
    t.frames = frames;
    assert_ok(ctx, pl_report_add_trajectory(report, &t));
    json_t *data = data_of(ctx, report);
    size_t bytes;
    float *box = (float *)decode(first(data, "trajectories"), "box", &bytes);
    for (int i = 0; i < 12; i++)
        assert_true(isfinite(box[i]));
    free(box);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_contacts_keep_their_frame_and_forces(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    const int starts[] = {0, 2, 2, 3};
    const double point[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double normal[] = {0, 0, 5, 0, 0, 1e-9, 0, 0, 7}, tangent[] = {1, 0, 0, 0, 0, 0, 0, 2, 0};
    pl_report_contacts c = {.frame_count = 3,
                            .first = starts,
                            .point = point,
                            .normal = normal,
                            .tangent = tangent,
                            .time_step = 0.1};
    assert_ok(ctx, pl_report_add_contacts(report, &c));
    json_t *data = data_of(ctx, report);
    size_t bytes;
    uint32_t *counts = (uint32_t *)decode(first(data, "contacts"), "counts", &bytes);
    assert_int_equal(bytes, 12);
    assert_memory_equal(counts, ((const uint32_t[]){1, 0, 1}), 12); /* 1e-9 N is no arrow */
    float *arrows = (float *)decode(first(data, "contacts"), "arrows", &bytes);
    const float expected[] = {1, 2, 3, 0, 0, 5, 1, 0, 0, 7, 8, 9, 0, 0, 7, 0, 2, 0};
    assert_int_equal(bytes, sizeof expected);
    assert_memory_equal(arrows, expected, sizeof expected);
    free(counts);
    free(arrows);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_points_keep_their_frames_and_model(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    const int starts[] = {0, 1, 1, 3};
    const double times[] = {0.1, 0.2, 0.7}, point[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double model[] = {1, 2, 4, 4, 5, 7, 7, 8, 10};
    pl_report_points p = {.name = "markers",
                          .frame_count = 3,
                          .times = times,
                          .first = starts,
                          .point = point,
                          .model = model};
    assert_ok(ctx, pl_report_add_points(report, &p));
    p.model = NULL;
    p.hidden = true;
    assert_ok(ctx, pl_report_add_points(report, &p));
    json_t *data = data_of(ctx, report);
    const json_t *set = first(data, "points");
    size_t bytes;
    uint32_t *counts = (uint32_t *)decode(set, "counts", &bytes);
    assert_int_equal(bytes, 12);
    assert_memory_equal(counts, ((const uint32_t[]){1, 0, 2}), 12);
    const struct {
        const char *name;
        float expected[9];
        size_t size;
    } arrays[] = {{"times", {0.1f, 0.2f, 0.7f}, 12},
                  {"positions", {1, 2, 3, 4, 5, 6, 7, 8, 9}, 36},
                  {"model", {1, 2, 4, 4, 5, 7, 7, 8, 10}, 36}};
    for (int i = 0; i < 3; i++) {
        void *numbers = decode(set, arrays[i].name, &bytes);
        assert_int_equal(bytes, arrays[i].size);
        assert_memory_equal(numbers, arrays[i].expected, bytes);
        free(numbers);
    }
    json_t *other = json_array_get(json_object_get(json_object_get(data, "view"), "points"), 1);
    assert_true(json_is_null(json_object_get(other, "model")));
    assert_true(json_is_true(json_object_get(other, "hidden")));
    assert_string_not_equal(json_string_value(json_object_get(set, "colour")),
                            json_string_value(json_object_get(other, "colour")));
    free(counts);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

/* Of a large cloud 20 000 points are kept, from its first to its last. */
static void test_large_clouds_are_thinned(void **state)
{
    (void)state;
    enum { N = 50000 };
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    double *point = calloc(3 * N, sizeof *point);
    for (int i = 0; i < N; i++)
        point[3 * i] = i;
    pl_report_points p = {
        .frame_count = 1, .times = (const double[]){0}, .first = (const int[]){0, N}, .point = point};
    assert_ok(ctx, pl_report_add_points(report, &p));
    json_t *data = data_of(ctx, report);
    size_t bytes;
    float *kept = (float *)decode(first(data, "points"), "positions", &bytes);
    assert_int_equal(bytes, 20000 * 3 * sizeof(float));
    assert_true(kept[0] == 0 && kept[3 * 19999] == N - 1);
    for (int i = 1; i < 20000; i++)
        assert_true(kept[3 * i] - kept[3 * i - 3] >= 2 && kept[3 * i] - kept[3 * i - 3] <= 3);
    free(kept);
    free(point);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_mesh_collider_brings_its_surface(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_create(ctx, 4, vertices, 1, (const int[]){0, 1, 2, 3}, 0, NULL, &mesh));
    pl_collider_def c = {.shape = PL_MESH, .surface = mesh, .pose = {0, 0, 0, 1, 0, 0, 0}};
    assert_ok(ctx, pl_report_add_collider(report, &c));
    pl_mesh_free(ctx, mesh);
    json_t *data = data_of(ctx, report);
    size_t bytes;
    free(decode(first(data, "colliders"), "triangles", &bytes));
    assert_int_equal(bytes, 4 * 3 * sizeof(int));
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

/* ------------------------------------------------------------------------------- curves and fits */

static void test_gaps_are_null(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    const double y[] = {1.5, NAN, INFINITY, -INFINITY, 0.1};
    pl_plot_line line = {.name = "y", .count = 5, .y = y};
    pl_plot plot = pl_plot_default();
    plot.lines = &line;
    plot.line_count = 1;
    assert_ok(ctx, pl_report_add_plot(report, &plot));
    json_t *data = data_of(ctx, report);
    json_t *item = json_array_get(
        json_object_get(json_array_get(json_object_get(data, "sections"), 0), "items"), 0);
    json_t *values = json_object_get(json_array_get(json_object_get(item, "lines"), 0), "y");
    assert_int_equal(json_array_size(values), 5);
    assert_close(json_number_value(json_array_get(values, 0)), 1.5, 0);
    for (size_t i = 1; i < 4; i++)
        assert_true(json_is_null(json_array_get(values, i)));
    assert_close(json_number_value(json_array_get(values, 4)), 0.1, 0);
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_fit_makes_headline_and_sections(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    const char *names[] = {"stiffness"}, *units[] = {"Pa"};
    const double loss[] = {1, 1e-2, 1e-4}, values[] = {2e5, 1.2e5, 1.01e5}, truth[] = {1e5};
    const double gradient[] = {3, 2, 1}, difference[] = {3, NAN, 1.001};
    pl_report_fit fit = {.parameter_count = 1,
                         .names = names,
                         .units = units,
                         .iteration_count = 3,
                         .loss = loss,
                         .values = values,
                         .truth = truth,
                         .gradient = gradient,
                         .difference_gradient = difference,
                         .seconds = 12};
    assert_ok(ctx, pl_report_add_fit(report, &fit));
    json_t *data = data_of(ctx, report);
    assert_string_equal(
        json_string_value(json_object_get(data, "headline")),
        "Identified stiffness to within 1.0 % of the true value, in 2 iterations and 12.0 s.");
    assert_true(json_is_false(json_object_get(data, "failed")));
    json_t *fact = json_array_get(json_object_get(data, "facts"), 0);
    assert_string_equal(json_string_value(json_object_get(fact, "value")), "101.00 kPa");
    json_t *sections = json_object_get(data, "sections");
    assert_int_equal(json_array_size(sections), 3); /* parameters, convergence, gradients; no run */
    json_t *error = json_array_get(json_object_get(json_array_get(sections, 2), "items"), 0);
    json_t *y = json_object_get(json_array_get(json_object_get(error, "lines"), 0), "y");
    assert_close(json_number_value(json_array_get(y, 0)), 0, 0);
    assert_true(json_is_null(json_array_get(y, 1)));
    assert_close(json_number_value(json_array_get(y, 2)), 0.001 / 1.001, 1e-11); /* 9 digits are kept */
    json_decref(data);

    /* A fit that failed says so in its place; there may be more iterations than rows. */
    pl_report *failed;
    assert_ok(ctx, pl_report_create(ctx, NULL, &failed));
    fit.failure = "Not identified: stiffness ended at its bound 1000";
    fit.made = 7;
    assert_ok(ctx, pl_report_add_fit(failed, &fit));
    data = data_of(ctx, failed);
    const char *headline = json_string_value(json_object_get(data, "headline"));
    assert_memory_equal(headline, fit.failure, strlen(fit.failure));
    assert_null(strstr(headline, "Identified"));
    assert_non_null(strstr(headline, ", in 7 iterations and 12.0 s."));
    assert_true(json_is_true(json_object_get(data, "failed")));
    json_decref(data);
    pl_report_destroy(failed);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

/* Numbers keep their decimal point where the user's language writes a comma. */
static void test_locale_does_not_matter(void **state)
{
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8"};
    bool found = false;
    for (int i = 0; i < 4 && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    sample_fit(ctx, report);
    json_t *data = data_of(ctx, report);
    json_t *fact = json_array_get(json_object_get(data, "facts"), 1);
    assert_string_equal(json_string_value(json_object_get(fact, "value")), "0.41997");
    json_decref(data);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
    setlocale(LC_NUMERIC, "C");
}

/* ------------------------------------------------------------------------------- failures */

static void test_mistakes_are_named_and_change_nothing(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    sample_trajectory(report, "body", NULL, 1, 0.7);
    char *before, *after;
    assert_ok(ctx, pl_report_html(report, &before, NULL));
    double frames[9] = {0};
    pl_report_trajectory t = pl_report_trajectory_default();
    t.vertex_count = 3;
    t.triangle_count = 1;
    t.triangles = (const int[]){0, 1, 3};
    t.frame_count = 1;
    t.frames = frames;
    assert_int_equal(pl_report_add_trajectory(report, &t), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "vertex 3 of 3"));
    t.triangles = (const int[]){0, 1, 2};
    t.opacity = 0;
    assert_int_equal(pl_report_add_trajectory(report, &t), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "opacity"));
    t.opacity = 1;
    t.colour = "red";
    assert_int_equal(pl_report_add_trajectory(report, &t), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "#rrggbb"));
    pl_collider_def c = {.shape = PL_MESH};
    assert_int_equal(pl_report_add_collider(report, &c), PL_ERROR_ARGUMENT);
    pl_report_contacts contacts = {.frame_count = 1, .first = (const int[]){2, 1}, .time_step = 1};
    assert_int_equal(pl_report_add_contacts(report, &contacts), PL_ERROR_ARGUMENT);
    pl_report_points points = {.frame_count = 2,
                               .times = (const double[]){1, 1},
                               .first = (const int[]){0, 1, 2},
                               .point = frames};
    assert_int_equal(pl_report_add_points(report, &points), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "times[1]"));
    points.times = (const double[]){1, 2};
    points.colour = "red";
    assert_int_equal(pl_report_add_points(report, &points), PL_ERROR_ARGUMENT);
    points.colour = NULL;
    points.first = (const int[]){0, 2, 1};
    assert_int_equal(pl_report_add_points(report, &points), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_report_add_fit(report, &(pl_report_fit){0}), PL_ERROR_ARGUMENT);
    pl_plot plot = pl_plot_default();
    plot.line_count = 1;
    assert_int_equal(pl_report_add_plot(report, &plot), PL_ERROR_ARGUMENT);
    assert_ok(ctx, pl_report_html(report, &after, NULL));
    assert_string_equal(before, after);
    pl_free(ctx, before);
    pl_free(ctx, after);
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

static void test_file_is_whole_or_absent(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant-report-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    pl_context *ctx = test_context(1);
    pl_report *report = new_report(ctx);
    assert_ok(ctx, pl_report_set_headline(report, "text"));
    snprintf(path, sizeof path, "%s/none/a.html", folder);
    assert_int_equal(pl_report_write(report, path), PL_ERROR_FILE);
    assert_non_null(strstr(pl_context_error(ctx), path));
    snprintf(path, sizeof path, "%s/a",
             folder); /* a folder is in the way: nothing may be left behind */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(pl_report_write(report, path), PL_ERROR_FILE);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0); /* fails unless it is empty */
    pl_report_destroy(report);
    pl_context_destroy(ctx);
}

typedef struct failing {
    long left; /* allocations until one fails; negative = none does */
    long alive;
} failing;

static void *failing_realloc(void *user, void *ptr, size_t bytes)
{
    failing *f = user;
    if (bytes == 0) {
        f->alive -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (f->left-- == 0)
        return NULL;
    f->alive += ptr == NULL;
    return realloc(ptr, bytes);
}

static pl_status build_small(pl_context *ctx, pl_report *report)
{
    double frames[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    pl_report_trajectory t = pl_report_trajectory_default();
    t.vertex_count = 3;
    t.triangle_count = 1;
    t.triangles = (const int[]){0, 1, 2};
    t.frame_count = 2;
    t.frames = frames;
    pl_status status = pl_report_add_trajectory(report, &t);
    const double one[] = {1, 0.5}, both[] = {1, 0.1, 0.1, 1}, parameters[] = {1, 2, 3, 4};
    pl_report_fit fit = {.parameter_count = 2,
                         .names = (const char *[]){"a", "b"},
                         .iteration_count = 2,
                         .loss = one,
                         .values = parameters,
                         .gradient = parameters,
                         .difference_gradient = parameters,
                         .correlation = both,
                         .seconds = 1};
    const pl_report_points points = {.frame_count = 2,
                                     .times = (const double[]){0, 1},
                                     .first = (const int[]){0, 1, 3},
                                     .point = frames,
                                     .model = frames + 9};
    if (status == PL_OK)
        status = pl_report_add_points(report, &points);
    if (status == PL_OK)
        status = pl_report_add_fit(report, &fit);
    if (status == PL_OK) {
        char *html;
        status = pl_report_html(report, &html, NULL);
        if (status == PL_OK)
            pl_free(ctx, html);
    }
    return status;
}

/* Each allocation fails once: the call says so, nothing leaks, and an addition that failed left no
 * trace. */
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (long at = 0; !done; at++) {
        failing f = {.left = -1};
        pl_context_def def = pl_context_def_default();
        def.realloc = failing_realloc;
        def.realloc_user = &f;
        pl_context *ctx;
        assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
        f.left = at;
        pl_report *report;
        pl_status status = pl_report_create(ctx, NULL, &report);
        if (status == PL_OK) {
            status = build_small(ctx, report);
            done = f.left >= 0;
            f.left = -1;
            json_decref(data_of(ctx, report));
            pl_report_destroy(report);
        }
        assert_int_equal(status, done ? PL_OK : PL_ERROR_MEMORY);
        assert_int_equal(f.alive, 1); /* the context */
        pl_context_destroy(ctx);
        assert_true(at < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_text_is_safe),
        cmocka_unit_test(test_broken_utf8_becomes_replacement),
        cmocka_unit_test(test_page_needs_no_other_file),
        cmocka_unit_test(test_positions_are_kept_to_16_bits),
        cmocka_unit_test(test_frames_are_thinned_to_the_budget),
        cmocka_unit_test(test_frames_that_blew_up_do_not_break_the_page),
        cmocka_unit_test(test_contacts_keep_their_frame_and_forces),
        cmocka_unit_test(test_points_keep_their_frames_and_model),
        cmocka_unit_test(test_large_clouds_are_thinned),
        cmocka_unit_test(test_mesh_collider_brings_its_surface),
        cmocka_unit_test(test_gaps_are_null),
        cmocka_unit_test(test_fit_makes_headline_and_sections),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_mistakes_are_named_and_change_nothing),
        cmocka_unit_test(test_file_is_whole_or_absent),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
