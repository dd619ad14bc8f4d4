/* Every kind of unknown: the loss's gradient and the residuals' Jacobian against finite differences. */
#include "fit_files.h"

#include "fit/task.h"

/* A block that lands on a turned floor and slides, pinned at one vertex, beside a cloth in the wind. */
static const char *const scene_text =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 12, \"tolerance\": 1e-12,"
    " \"bodies\": ["
    "  {\"name\": \"block\", \"mesh\": {\"box\": {\"size\": [0.2, 0.1, 0.1], \"cell\": 0.1}},"
    "   \"transform\": {\"translate\": [0, 0, 0.03]}, \"velocity\": [1, 0.3, -1],"
    "   \"material\": {\"young\": 5e4, \"poisson\": 0.3, \"damping\": 0.5}},"
    "  {\"name\": \"cloth\", \"mesh\": {\"rectangle\": {\"width\": 0.3, \"height\": 0.2, \"cell\": "
    "0.1}},"
    "   \"transform\": {\"translate\": [1, 0, 1]},"
    "   \"material\": {\"young\": 1e5, \"bending\": 1e-3, \"damping\": 0.5}}],"
    " \"pins\": [{\"body\": \"cloth\", \"vertices\": {\"group\": \"left\"}, \"compliance\": 1e-3,"
    "            \"offset\": [[0, 0, 0, 0], [0.1, 0, 0.02, 0.01]]}],"
    " \"forces\": [{\"body\": \"block\", \"per\": \"mass\", \"value\": [1, 0, 0]}],"
    " \"wind\": [{\"body\": \"cloth\", \"drag\": 2, \"velocity\": [1, 2, 3]}],"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"friction\": 0.3,"
    "                 \"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 3}}]}";

#define TASK(unknown)                                                                                  \
    "{\"version\": 1, \"scene\": \"scene.json\", \"unknowns\": [{" unknown "}],"                       \
    " \"loss\": [{\"kind\": \"positions\", \"steps\": [6, 12]}, {\"kind\": \"velocities\"}]}"

typedef struct example {
    const char *task;
    double step; /* of the differences, in x */
} example;

static const example examples[] = {
    {TASK("\"quantity\": \"young\", \"initial\": 5e4, \"true\": 8e4, \"map\": \"log\""), 1e-3},
    {TASK("\"quantity\": \"young\", \"for_each\": \"element\", \"initial\": 5e4, \"true\": 8e4, "
          "\"map\": \"log\""),
     1e-3},
    {TASK(
         "\"quantity\": \"poisson\", \"initial\": 0.3, \"true\": 0.2, \"map\": \"logit\", \"lower\": 0,"
         " \"upper\": 0.45"),
     1e-3},
    {TASK("\"quantity\": \"density\", \"initial\": 900, \"true\": 1000, \"map\": \"log\""), 1e-3},
    {TASK("\"quantity\": \"bending\", \"of\": \"cloth\", \"initial\": 1e-3, \"true\": 2e-3, \"map\": "
          "\"log\""),
     1e-3},
    {TASK("\"quantity\": \"damping\", \"initial\": 0.4, \"true\": 0.5"), 1e-3},
    {TASK("\"quantity\": \"friction\", \"of\": \"floor\", \"initial\": 0.3, \"true\": 0.2"), 1e-4},
    {TASK("\"quantity\": \"compliance\", \"initial\": 2e-3, \"true\": 1e-3, \"map\": \"log\""), 1e-3},
    {TASK("\"quantity\": \"force\", \"direction\": [0, 1, 0.5], \"initial\": 0, \"true\": 2"), 1e-2},
    {TASK("\"quantity\": \"force\", \"direction\": [0, 1, 0.5], \"for_each\": \"step\", \"initial\": "
          "0, \"true\": 2,"
          " \"smooth\": 1e-4, \"prior\": 1e-5"),
     1e-2},
    {TASK("\"quantity\": \"wind\", \"direction\": [1, 0, 1], \"initial\": 0, \"true\": 2"), 1e-2},
    {TASK("\"quantity\": \"pin_target\", \"direction\": [1, 0, 1], \"initial\": 0, \"true\": 0.01"),
     1e-4},
    {TASK("\"quantity\": \"collider_position\", \"direction\": [0, 0, 1], \"initial\": 0, \"true\": "
          "0.01"),
     1e-4},
    {TASK("\"quantity\": \"collider_rotation\", \"direction\": [0, 1, 0], \"initial\": 0, \"true\": "
          "0.05"),
     1e-4},
    {TASK("\"quantity\": \"velocity\", \"direction\": [1, 1, 0], \"initial\": 0, \"true\": 0.1"), 1e-3},
    {TASK("\"quantity\": \"velocity\", \"direction\": [1, 1, 0], \"for_each\": \"vertex\", "
          "\"initial\": 0,"
          " \"true\": 0.1"),
     1e-3},
    {TASK("\"quantity\": \"position\", \"direction\": [0, 0, 1], \"initial\": 0, \"true\": 0.01"),
     1e-4},
};

/* Two blocks on a floor that a third one slides over: coefficients of single pairs. */
static const char *const pairs_text =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 12, \"tolerance\": 1e-12, \"body_friction\": 0.2,"
    " \"bodies\": ["
    "  {\"name\": \"left\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": 0.1}},"
    "   \"transform\": {\"translate\": [0, 0, 0.0001]}},"
    "  {\"name\": \"right\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cell\": 0.1}},"
    "   \"transform\": {\"translate\": [0.12, 0, 0.0001]}},"
    "  {\"name\": \"top\", \"mesh\": {\"box\": {\"size\": [0.2, 0.08, 0.1], \"cell\": 0.1}},"
    "   \"transform\": {\"translate\": [0.011, 0.013, 0.104]}, \"velocity\": [0.6, 0.1, -0.2]}],"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": {\"half_space\": {}}, \"friction\": 0.1}]}";

static const example pair_examples[] = {
    {TASK("\"quantity\": \"body_friction\", \"of\": \"top\", \"initial\": 0.2, \"true\": 0.3"), 1e-4},
    {TASK("\"quantity\": \"body_friction\", \"of\": \"top\", \"with\": \"left\", \"initial\": 0.2, "
          "\"true\": 0.3"),
     1e-4},
    {TASK("\"quantity\": \"body_friction\", \"of\": \"right\", \"with\": \"top\", \"initial\": 0.2, "
          "\"true\": 0.3"),
     1e-4},
    {TASK("\"quantity\": \"friction\", \"of\": \"floor\", \"with\": \"right\", \"initial\": 0.1, "
          "\"true\": 0.15"),
     1e-4},
};

static double norm(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum);
}

static void match_differences(const char *scene, size_t count, const example *cases)
{
    char directory[64], path[128];
    files_make(directory);
    files_write(directory, "scene.json", scene);
    snprintf(path, sizeof path, "%s/task.json", directory);
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < count; k++) {
        pl_task *task;
        pl_evaluation *e;
        files_write(directory, "task.json", cases[k].task);
        assert_ok(ctx, pl_task_load(ctx, path, 0, NULL, &task));
        assert_ok(ctx, pl_task_complete(task, NULL, NULL));
        assert_ok(ctx, pl_evaluation_create(task, &e));
        task->adjoint_tolerance = 1e-12;
        int n = task->n, m = task->residual_count;
        double *g = calloc((size_t)(4 * n), sizeof *g), *difference = g + n, *error = difference + n,
               *x = error + n;
        double *r = calloc((size_t)m, sizeof *r), *j = calloc((size_t)n * (size_t)m, sizeof *j), loss,
               sum = 0;
        memcpy(x, task->initial, (size_t)n * sizeof *x);
        assert_ok(ctx, pl_evaluation_loss(e, x, &loss, g));
        assert_ok(ctx, pl_evaluation_difference(e, x, cases[k].step, difference, error));
        double length = norm(n, difference, NULL);
        assert_true(length > 0);
        /* What the differences themselves are good for: their own error estimate, and rounding. */
        if (!(norm(n, g, difference) <= 1e-6 * length))
            fail_msg("%s: gradient off by %.2g of %.3g", cases[k].task, norm(n, g, difference) / length,
                     length);
        assert_ok(ctx, pl_evaluation_residual(e, x, r, j));
        for (int i = 0; i < m; i++)
            sum += r[i] * r[i];
        assert_close(sum / loss, 1, 1e-12);
        for (int i = 0; i < n; i++) {
            double along = 0;
            for (int l = 0; l < m; l++)
                along += 2 * j[(size_t)i * (size_t)m + (size_t)l] * r[l];
            difference[i] = along;
        }
        /* The same numbers by the adjoint and by tangents: only the linear solves differ. */
        if (!(norm(n, g, difference) <= 1e-8 * length))
            fail_msg("%s: tangent off by %.2g", cases[k].task, norm(n, g, difference) / length);
        free(g);
        free(r);
        free(j);
        pl_evaluation_destroy(e);
        pl_task_destroy(task);
    }
    pl_context_destroy(ctx);
    files_remove(directory);
}

static void derivatives_match_differences(void **unused)
{
    (void)unused;
    match_differences(scene_text, sizeof examples / sizeof *examples, examples);
}

static void friction_of_pairs(void **unused)
{
    (void)unused;
    match_differences(pairs_text, sizeof pair_examples / sizeof *pair_examples, pair_examples);
}

/* What `with` does not go with, and pairs that are named twice over. */
static void pairs_that_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *task, *message;
    } cases[] = {
        {TASK("\"quantity\": \"young\", \"with\": \"left\", \"initial\": 1e5, \"true\": 2e5"),
         "unknowns[0].with: goes with friction and body_friction only"},
        {TASK("\"quantity\": \"body_friction\", \"with\": \"cat\", \"initial\": 0.2, \"true\": 0.3"),
         "unknowns[0].with: the scene has no body named \"cat\""},
        {TASK("\"quantity\": \"body_friction\", \"of\": \"all\", \"initial\": 0.2, \"true\": 0.3"),
         "unknowns[0].of: expected one body: pairs are named by \"of\" and \"with\""},
    };
    char directory[64], path[128];
    pl_context *ctx = test_context(1);
    files_make(directory);
    files_write(directory, "scene.json", pairs_text);
    snprintf(path, sizeof path, "%s/task.json", directory);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_task *task = NULL;
        files_write(directory, "task.json", cases[k].task);
        assert_int_equal(pl_task_load(ctx, path, 0, NULL, &task), PL_ERROR_ARGUMENT);
        if (!strstr(pl_context_error(ctx), cases[k].message))
            fail_msg("%s", pl_context_error(ctx));
    }
    pl_context_destroy(ctx);
    files_remove(directory);
}

static void maps_invert_each_other(void **unused)
{
    (void)unused;
    const pl_unknown kinds[] = {
        {.map = PL_MAP_NONE}, {.map = PL_MAP_LOG}, {.map = PL_MAP_LOGIT, .lower = -1, .upper = 3}};
    for (int k = 0; k < 3; k++)
        for (double p = 0.1; p < 3; p += 0.3) {
            double x = pl_map_to_x(&kinds[k], p), h = 1e-6;
            assert_close(pl_map_to_p(&kinds[k], x), p, 1e-14);
            double slope = (pl_map_to_p(&kinds[k], x + h) - pl_map_to_p(&kinds[k], x - h)) / (2 * h);
            assert_close(pl_map_slope(&kinds[k], x), slope, 1e-8);
        }
}

/* Where the slope is a thousandth of its largest or more, unless the start or the truth is nearer. */
static void logit_stays_where_it_has_a_slope(void **unused)
{
    (void)unused;
    static const struct {
        const char *task;
        double reach;
    } cases[] = {
        {TASK("\"quantity\": \"poisson\", \"initial\": 0.3, \"true\": 0.2, \"map\": \"logit\","
              " \"lower\": 0, \"upper\": 0.45"),
         7},
        {TASK("\"quantity\": \"poisson\", \"initial\": 0.3, \"true\": 0.0001, \"map\": \"logit\","
              " \"lower\": 0, \"upper\": 0.45"),
         8.411610}, /* log(0.4499 / 0.0001) */
    };
    char directory[64], path[128];
    files_make(directory);
    files_write(directory, "scene.json", scene_text);
    snprintf(path, sizeof path, "%s/task.json", directory);
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < 2; k++) {
        pl_task *task;
        files_write(directory, "task.json", cases[k].task);
        assert_ok(ctx, pl_task_load(ctx, path, 0, NULL, &task));
        assert_close(task->upper[0], cases[k].reach, 1e-6);
        assert_close(task->lower[0], -cases[k].reach, 1e-6);
        pl_task_destroy(task);
    }
    pl_context_destroy(ctx);
    files_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),    cmocka_unit_test(friction_of_pairs),
        cmocka_unit_test(pairs_that_are_refused),           cmocka_unit_test(maps_invert_each_other),
        cmocka_unit_test(logit_stays_where_it_has_a_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
