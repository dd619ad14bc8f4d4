/* The paper's tasks at a tiny size: each reaches its target, and its gradient is right on the way. */
#include "fit_files.h"

#include "fit/fit.h"

typedef struct tiny {
    const char *name, *size;
    int steps;
    double step; /* of the differences */
} tiny;

#define VERTICES(n) "scene.bodies[0].mesh.vertices=" #n

static const tiny tasks[] = {
    {"armadillo_arap", VERTICES(100), 20, 1e-2},
    {"armadillo_corotated", VERTICES(100), 20, 1e-2},
    {"armadillo_neo_hookean", VERTICES(100), 20, 1e-2},
    {"armadillo_wind", VERTICES(100), 20, 1},
    {"cloth_bending", "scene.bodies[0].mesh.rectangle.cell=0.2", 50, 1e-2},
    {"gingerbread_poisson", VERTICES(120), 50, 1e-2},
    {"curtain_joint", VERTICES(80), 30, 1e-3},
    {"bunny_friction", VERTICES(120), 40, 1e-3},
    {"cow_lifting", VERTICES(150), 25, 1e-3},
    {"tux_pulling", VERTICES(100), 20, 1e-2},
    {"duck_velocity", VERTICES(100), 20, 1e-3},
    {"duck_velocity_friction", VERTICES(100), 20, 1e-3},
};

static void check_gradient(pl_context *ctx, const tiny *t, pl_task *task, const double *x)
{
    pl_evaluation *e;
    double g[2], difference[2], error[2], loss, off = 0, length = 0;
    assert_ok(ctx, pl_task_complete(task, NULL, NULL));
    assert_ok(ctx, pl_evaluation_create(task, &e));
    assert_ok(ctx, pl_evaluation_loss(e, x, &loss, g));
    assert_ok(ctx, pl_evaluation_difference(e, x, t->step, difference, error));
    for (int i = 0; i < task->n; i++) {
        off += (g[i] - difference[i]) * (g[i] - difference[i]);
        length += difference[i] * difference[i];
    }
    if (!(sqrt(off) <= 1e-5 * sqrt(length)))
        fail_msg("%s at %g: gradient %.9g, differences %.9g +- %.1g", t->name, x[0], g[0],
                 difference[0], error[0]);
    pl_evaluation_destroy(e);
}

static pl_task *load_tiny(pl_context *ctx, const tiny *t, int count, const char *const *more)
{
    const char *source = getenv("PLIANT_SOURCE"), *overrides[8];
    char path[1024], steps[32];
    pl_task *task;
    snprintf(path, sizeof path, "%s/scenes/tasks/%s.json", source ? source : ".", t->name);
    snprintf(steps, sizeof steps, "steps=%d", t->steps);
    overrides[0] = t->size;
    overrides[1] = steps;
    overrides[2] = "gradient_check.per_stage=0";
    for (int i = 0; i < count; i++)
        overrides[3 + i] = more[i];
    assert_ok(ctx, pl_task_load(ctx, path, 3 + count, overrides, &task));
    return task;
}

static void fit_to_the_truth(pl_context *ctx, const tiny *t, pl_task *task, double tolerance)
{
    pl_fit_def def = pl_fit_def_default();
    pl_fit_result *r;
    def.uncertainty = false;
    assert_ok(ctx, pl_task_fit(task, &def, &r));
    for (int i = 0; i < r->parameter_count; i++) {
        double found = r->values[(r->row_count - 1) * r->parameter_count + i];
        if (!(fabs(found - r->truth[i]) <= tolerance * fabs(r->truth[i])))
            fail_msg("%s: %s = %g, expected %g (%d iterations, loss %g: %s)", t->name, r->names[i],
                     found, r->truth[i], r->iterations, r->loss[r->row_count - 1],
                     pl_stop_text(r->stop));
    }
    pl_fit_result_free(task, r);
}

static void tiny_tasks_reach_their_targets(void **unused)
{
    (void)unused;
    static const char *const how[] = {"optimizer.method=levenberg_marquardt",
                                      "optimizer.stop_loss=1e-16", "optimizer.iterations=40",
                                      "continuation.start=0"};
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
        pl_task *task = load_tiny(ctx, &tasks[k], 4, how);
        check_gradient(ctx, &tasks[k], task, task->initial);
        fit_to_the_truth(ctx, &tasks[k], task, 1e-3);
        pl_task_destroy(task);
    }
    pl_context_destroy(ctx);
}

/* Half of the inverse curvature at the truth, 2 J^T J: the rule behind the rates of the task files. */
static double rate_of_the_rule(pl_context *ctx, pl_task *task)
{
    size_t m = (size_t)task->residual_count;
    double *r = calloc(m, sizeof *r), *jacobian = calloc(m, sizeof *jacobian), x[1];
    pl_evaluation *e;
    assert_int_equal(task->n, 1);
    assert_ok(ctx, pl_task_complete(task, NULL, NULL));
    assert_ok(ctx, pl_evaluation_create(task, &e));
    pl_task_true_x(task, x);
    assert_ok(ctx, pl_evaluation_residual(e, x, r, jacobian));
    double curvature = 2 * pl_dot((int)m, jacobian, jacobian);
    pl_evaluation_destroy(e);
    free(r);
    free(jacobian);
    return 0.5 / curvature;
}

/* Descent at one fixed rate: from a stiff start, from sticking, with softer contacts at first, and
 * through free flight. */
static void plain_descent_arrives(void **unused)
{
    (void)unused;
    static const tiny plain[] = {
        {"armadillo_arap", VERTICES(60), 10, 0},
        {"tux_pulling", VERTICES(60), 20, 0},
        {"bunny_friction", VERTICES(60), 40, 0},
        {"duck_velocity_friction", VERTICES(60), 10, 0},
    };
    /* few vertices make few contacts: each has to act from farther */
    static const char *const softer[] = {"continuation.start=0.1"};
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        pl_task *task = load_tiny(ctx, &plain[k], strcmp(plain[k].name, "bunny_friction") == 0, softer);
        assert_true(task->optimizer.method == PL_GRADIENT_DESCENT && task->optimizer.growth == 1);
        task->optimizer.rate = rate_of_the_rule(ctx, task);
        fit_to_the_truth(ctx, &plain[k], task, 1e-2);
        pl_task_destroy(task);
    }
    pl_context_destroy(ctx);
}

/* On both sides of where a body comes loose, and on the edge. */
static void gradients_hold_where_contacts_change(void **unused)
{
    (void)unused;
    static const struct {
        tiny tiny;
        double values[5];
    } edges[] = {
        {{"bunny_friction", VERTICES(60), 30, 1e-4}, {0.6, 0.47, 0.4663, 0.46, 0.4}},
        {{"cow_lifting", VERTICES(80), 25, 1e-4}, {9, 9.8, 9.81, 9.82, 10.5}},
        {{"tux_pulling", VERTICES(60), 20, 1e-3}, {1.5, 1.95, 1.962, 1.97, 2.5}},
        {{"duck_velocity_friction", VERTICES(60), 20, 1e-4}, {0.5, 1, 1.5, 2, 2.5}},
    };
    pl_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        pl_task *task = load_tiny(ctx, &edges[k].tiny, 0, NULL);
        for (int i = 0; i < 5; i++) {
            double x = pl_map_to_x(&task->unknowns[0], edges[k].values[i]);
            check_gradient(ctx, &edges[k].tiny, task, &x);
        }
        pl_task_destroy(task);
    }
    pl_context_destroy(ctx);
}

/* Half, then 90 % of the decrease, by hand. */
static void measures_follow_their_formula(void **unused)
{
    (void)unused;
    const double loss[] = {10, 9, 4, 2, 0.5, 0}, gradient[] = {1, 1, 1, 1, 1, 1};
    const double difference[] = {1.01, NAN, NAN, 1, 2, NAN};
    pl_fit_result r = {.row_count = 6,
                       .parameter_count = 1,
                       .loss = loss,
                       .gradient = gradient,
                       .difference = difference};
    pl_fit_stages s = pl_fit_measure(&r);
    assert_close(s.t50, 2 / 5.0, 0);
    assert_close(s.t90, 4 / 5.0, 0);
    assert_close(s.area[0], (1 + 0.9) / 2, 1e-15);
    assert_close(s.area[1], (0.4 + 0.2) / 2, 1e-15);
    assert_close(s.area[2], 0.05 / 2, 1e-15);
    assert_close(s.share[0], 100 * 1.9 / 5, 1e-13);
    assert_close(s.error[0], 0.01 / 1.01, 1e-15);
    assert_close(s.error[1], 0, 0);
    assert_close(s.error[2], 0.5, 0);
}

static void published_schema_is_current(void **unused)
{
    (void)unused;
    const char *source = getenv("PLIANT_SOURCE");
    char path[1024], *text = NULL, *published = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/docs/task.schema.json", source ? source : ".");
    pl_context *ctx = test_context(1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(published, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    assert_ok(ctx, pl_task_schema(ctx, &text));
    if (strcmp(text, published) != 0)
        fail_msg("docs/task.schema.json is out of date: pliant fit --schema > docs/task.schema.json");
    pl_free(ctx, text);
    free(published);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_tasks_reach_their_targets),
        cmocka_unit_test(plain_descent_arrives),
        cmocka_unit_test(gradients_hold_where_contacts_change),
        cmocka_unit_test(measures_follow_their_formula),
        cmocka_unit_test(published_schema_is_current),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
