/* Loss terms and their residuals, against differences and against each other. */
#include "fit_files.h"

#include "fit/task.h"

/* A box and a cloth; every kind of term, with simulated targets at a slightly different velocity. */
static const char *const scene_text =
    "{\"version\": 1, \"time_step\": 0.01, \"steps\": 4, \"gravity\": [0, 0, -9.81],"
    " \"bodies\": ["
    "  {\"name\": \"cloth\", \"mesh\": {\"rectangle\": {\"width\": 0.3, \"height\": 0.2, \"cell\": "
    "0.1}},"
    "   \"transform\": {\"translate\": [1, 0, 0]},"
    "   \"material\": {\"young\": 1e5, \"bending\": 1e-3}},"
    "  {\"name\": \"box\", \"mesh\": {\"box\": {\"size\": [0.2, 0.2, 0.2], \"cell\": 0.1}},"
    "   \"material\": {\"young\": 1e5}}]}";

static const char *const task_text =
    "{\"version\": 1, \"scene\": \"scene.json\","
    " \"unknowns\": [{\"quantity\": \"velocity\", \"of\": \"box\", \"direction\": [1, 2, 0], "
    "\"initial\": 0,"
    "                 \"true\": 0.7, \"prior\": 0.3}],"
    " \"loss\": [{\"kind\": \"positions\", \"steps\": [2, 4]},"
    "  {\"kind\": \"velocities\", \"body\": \"box\", \"weight\": 0.1},"
    "  {\"kind\": \"markers\", \"body\": \"box\", \"points\": [[0.2, 0.05, 0.12], [0.1, 0.1, 0.22]], "
    "\"weight\": 2},"
    "  {\"kind\": \"centre_of_mass\", \"body\": \"box\"},"
    "  {\"kind\": \"point_cloud\", \"body\": \"box\", \"steps\": [3, 4], \"weight\": 3}]}";

typedef struct fixture {
    char directory[64];
    pl_context *ctx;
    pl_task *task;
    int n;
    double *q, *v;
} fixture;

/* A deformed state: the terms know nothing of dynamics. */
static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    files_make(f->directory);
    files_write(f->directory, "scene.json", scene_text);
    files_write(f->directory, "task.json", task_text);
    f->ctx = test_context(1);
    char path[128];
    snprintf(path, sizeof path, "%s/task.json", f->directory);
    assert_ok(f->ctx, pl_task_load(f->ctx, path, 0, NULL, &f->task));
    assert_ok(f->ctx, pl_task_complete(f->task, NULL, NULL));
    f->n = 3 * f->task->scene->vertex_count;
    f->q = malloc((size_t)f->n * sizeof(double));
    f->v = malloc((size_t)f->n * sizeof(double));
    uint64_t seed = 7;
    for (int i = 0; i < f->n; i++) {
        f->q[i] = f->task->scene->q0[i] + 0.03 * test_random(&seed);
        f->v[i] = test_random(&seed);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    pl_task_destroy(f->task);
    pl_context_destroy(f->ctx);
    files_remove(f->directory);
    free(f->q);
    free(f->v);
    free(f);
    return 0;
}

static double loss_at(const fixture *f, int step, const double *q, const double *v)
{
    double value = 0;
    assert_ok(f->ctx, pl_task_loss_at(f->task, step, q, v, &value, NULL, NULL));
    return value;
}

/* The derivative along random directions, against central differences. */
static void gradient_matches_differences(void **state)
{
    fixture *f = *state;
    size_t bytes = (size_t)f->n * sizeof(double);
    double *dq = calloc((size_t)f->n, 8), *dv = calloc((size_t)f->n, 8), *a = malloc(bytes),
           *b = malloc(bytes);
    uint64_t seed = 3;
    for (int step = 2; step <= 4; step++) {
        double value = 0, along = 0, length = 0, h = 1e-6, difference;
        memset(dq, 0, bytes);
        memset(dv, 0, bytes);
        assert_ok(f->ctx, pl_task_loss_at(f->task, step, f->q, f->v, &value, dq, dv));
        assert_close(value, loss_at(f, step, f->q, f->v), 0);
        double above, below;
        memcpy(a, f->q, bytes);
        memcpy(b, f->v, bytes);
        for (int i = 0; i < f->n; i++) {
            double u = test_random(&seed), w = test_random(&seed);
            along += u * dq[i] + w * dv[i];
            length += dq[i] * dq[i] + dv[i] * dv[i];
            a[i] += h * u;
            b[i] += h * w;
        }
        above = loss_at(f, step, a, b);
        for (int i = 0; i < f->n; i++) {
            a[i] = 2 * f->q[i] - a[i];
            b[i] = 2 * f->v[i] - b[i];
        }
        below = loss_at(f, step, a, b);
        difference = (above - below) / (2 * h);
        assert_true(length > 1e-6);
        assert_close(along, difference, 1e-8 * sqrt(length));
    }
    free(dq);
    free(dv);
    free(a);
    free(b);
}

/* The points of all terms, with their distances from the targets, make up the loss. */
static void points_make_up_the_loss(void **state)
{
    fixture *f = *state;
    double sum = 0, loss = 0;
    for (int k = 0; k < f->task->term_count; k++) {
        const pl_loss_term *term = &f->task->terms[k];
        int numbers = 3 * pl_term_rows(term);
        double *points = calloc((size_t)numbers, sizeof *points);
        for (int i = 0; i < term->step_count; i++)
            assert_ok(f->ctx, pl_term_points_at(f->task, term, term->steps[i], f->q, f->v, points));
        for (int i = 0; i < numbers; i++)
            sum += pow(pl_term_scale(term) * (points[i] - term->target[i]), 2);
        free(points);
    }
    for (int step = 1; step <= 4; step++)
        loss += loss_at(f, step, f->q, f->v);
    assert_true(loss > 1e-3);
    assert_close(sum, loss, 1e-13 * loss);
}

/* |r|^2 over all steps is the loss, and 2 r . dr its derivative. */
static void residuals_agree_with_the_loss(void **state)
{
    fixture *f = *state;
    size_t m = (size_t)f->task->residual_count;
    double *r = calloc(m, 8), *dr = calloc(m, 8), *dq = calloc((size_t)f->n, 8),
           *dv = calloc((size_t)f->n, 8);
    double *u = calloc((size_t)f->n, 8), *w = calloc((size_t)f->n, 8);
    double loss = 0, along = 0, sum = 0, sum_along = 0;
    uint64_t seed = 5;
    for (int i = 0; i < f->n; i++) {
        u[i] = test_random(&seed);
        w[i] = test_random(&seed);
    }
    for (int step = 1; step <= 4; step++) {
        assert_ok(f->ctx, pl_task_loss_at(f->task, step, f->q, f->v, &loss, dq, dv));
        assert_ok(f->ctx, pl_task_residual_at(f->task, step, f->q, f->v, r));
        assert_ok(f->ctx, pl_task_residual_along(f->task, step, f->q, f->v, u, w, dr));
    }
    for (int i = 0; i < f->n; i++)
        along += u[i] * dq[i] + w[i] * dv[i];
    for (size_t k = 0; k < m; k++) {
        sum += r[k] * r[k];
        sum_along += 2 * r[k] * dr[k];
    }
    assert_close(sum / loss, 1, 1e-13);
    assert_close(sum_along / along, 1, 1e-12);
    free(r);
    free(dr);
    free(dq);
    free(dv);
    free(u);
    free(w);
}

static void regularisers_are_residuals(void **state)
{
    fixture *f = *state;
    size_t m = (size_t)f->task->residual_count;
    double *r = calloc(m, 8), *j = calloc(m, 8), x[1] = {0.25};
    pl_task_regularise(f->task, x, r, j);
    assert_close(r[m - 1] * r[m - 1], 0.3 * 0.25 * 0.25, 1e-16);
    assert_close(j[m - 1] * j[m - 1], 0.3, 1e-15);
    free(r);
    free(j);
}

/* A marker given off the surface sits on it; the masses of the centre sum to one. */
static void stencils_are_affine(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < f->task->term_count; k++) {
        const pl_loss_term *term = &f->task->terms[k];
        for (int p = 0; p < term->point_count; p++) {
            double sum = 0, x[3] = {0};
            for (int i = p * term->width; i < (p + 1) * term->width; i++) {
                sum += term->coefficient[i];
                for (int c = 0; c < 3; c++)
                    x[c] += term->coefficient[i] * f->task->scene->q0[3 * term->vertex[i] + c];
            }
            assert_close(sum, 1, 1e-14);
            if (term->kind == PL_TERM_MARKERS && p == 1)
                assert_close(fabs(x[0] - 0.1) + fabs(x[1] - 0.1) + fabs(x[2] - 0.2), 0, 1e-14);
            if (term->kind == PL_TERM_CENTRE)
                assert_close(fabs(x[0] - 0.1) + fabs(x[1] - 0.1) + fabs(x[2] - 0.1), 0, 1e-14);
        }
    }
}

/* A target read back from a file gives the same loss as the simulated one it was written from. */
static void target_files_round_trip(void **state)
{
    fixture *f = *state;
    const pl_loss_term *term = &f->task->terms[0];
    char path[128];
    snprintf(path, sizeof path, "%s/target.csv", f->directory);
    FILE *file = fopen(path, "w");
    fprintf(file, "step,x,y,z\n");
    for (int i = 0; i < term->step_count; i++)
        for (int j = term->first[i]; j < term->first[i + 1]; j++)
            fprintf(file, "%d,%.17g, %.17g ,%.17g\n", term->steps[i], term->target[3 * j],
                    term->target[3 * j + 1], term->target[3 * j + 2]);
    fclose(file);
    pl_loss_term copy = {0};
    assert_ok(f->ctx, pl_target_read(f->ctx, path, &copy));
    assert_int_equal(copy.step_count, term->step_count);
    assert_memory_equal(copy.steps, term->steps, (size_t)term->step_count * sizeof(int));
    assert_memory_equal(copy.first, term->first, (size_t)(term->step_count + 1) * sizeof(int));
    assert_memory_equal(copy.target, term->target,
                        3 * (size_t)term->first[term->step_count] * sizeof(double));
    pl_loss_term_free(f->ctx, &copy);

    const char *const bad[] = {"1,2,3\n",     "0,1,2,3\n",   "2,0,0,0\n1,0,0,0\n", "",
                               "1.5,0,0,0\n", "1,nan,0,0\n", "1,2,3,4,5\n"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        files_write(f->directory, "target.csv", bad[k]);
        memset(&copy, 0, sizeof copy);
        assert_int_equal(pl_target_read(f->ctx, path, &copy), PL_ERROR_PARSE);
        assert_non_null(strstr(pl_context_error(f->ctx), "target.csv"));
        pl_loss_term_free(f->ctx, &copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gradient_matches_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points_make_up_the_loss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(residuals_agree_with_the_loss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(regularisers_are_residuals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stencils_are_affine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(target_files_round_trip, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
