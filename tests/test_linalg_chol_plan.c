/* Plans of factors: shared by factors, contexts and threads, and kept. Sharing does not show. */
#include "common_alloc.h"
#include "common_factor.h"

#include "linalg/chol_plan.h"
#include "linalg/chol_plans.h"

enum { SIDE = 12, N = SIDE * SIDE * SIDE, LAST = 20 };

static double b[3 * N];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * N; i++)
        b[i] = sin(0.7 * i);
    return 0;
}

/* The cube, softer or stiffer, and vertices to eliminate last. */
typedef struct cube {
    pl_context *ctx;
    pl_pattern pattern;
    double *values[2];
    int last[LAST];
} cube;

static cube make(void)
{
    cube c = {.ctx = test_context(1)};
    c.values[0] = test_laplacian(c.ctx, SIDE, 0.05, &c.pattern);
    c.values[1] = calloc(9 * (size_t)c.pattern.nnz, sizeof(double));
    assert_non_null(c.values[1]);
    for (int i = 0; i < 9 * c.pattern.nnz; i++)
        c.values[1][i] = 3 * c.values[0][i];
    for (int i = 0; i < LAST; i++)
        c.last[i] = 7 * i;
    return c;
}

static void discard(cube *c)
{
    pl_pattern_free(c->ctx, &c->pattern);
    free(c->values[0]), free(c->values[1]);
    pl_context_destroy(c->ctx);
}

/* What a factor of its own says. */
static void solve_alone(cube *c, int which, double *exact, double *rough)
{
    pl_chol *chol = test_chol(c->ctx, &c->pattern, 3, LAST, c->last);
    assert_ok(c->ctx, pl_chol_factor(chol, c->values[which]));
    assert_ok(c->ctx, pl_chol_solve(chol, b, exact));
    assert_int_equal(pl_chol_factor_rough(chol, c->values[which]), PL_ROUGH_GOOD);
    assert_ok(c->ctx, pl_chol_correct(chol, b, rough));
    pl_chol_destroy(chol);
}

static void assert_same_order(const pl_chol_plan *p, const pl_chol_plan *q)
{
    assert_int_equal(p->symbolic->n, q->symbolic->n);
    assert_memory_equal(p->symbolic->Perm, q->symbolic->Perm, sizeof(int) * p->symbolic->n);
}

/* Two factors take turns; the plan's own context is gone, and nobody else refers to the plan. */
static void test_factors_share_a_plan(void **state)
{
    (void)state;
    static double exact[2][3 * N], rough[2][3 * N], x[3 * N];
    cube c = make();
    pl_chol_plan *plan;
    pl_chol *chol[2];
    pl_context *other = test_context(2), *gone = test_context(1);
    for (int k = 0; k < 2; k++)
        solve_alone(&c, k, exact[k], rough[k]);
    assert_ok(gone, pl_chol_plan_create(gone, &c.pattern, 3, LAST, c.last, &plan));
    pl_context_destroy(gone);
    assert_ok(c.ctx, pl_chol_create(c.ctx, plan, &chol[0]));
    assert_ok(other, pl_chol_create(other, plan, &chol[1]));
    pl_chol_plan_release(plan);
    for (int k = 0; k < 2; k++)
        assert_ok(other, pl_chol_factor(chol[k], c.values[k]));
    for (int k = 0; k < 2; k++) {
        assert_ok(other, pl_chol_solve(chol[k], b, x));
        assert_memory_equal(x, exact[k], sizeof x);
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(pl_chol_factor_rough(chol[k], c.values[k]), PL_ROUGH_GOOD);
    pl_chol_focus(chol[0], LAST, c.last);
    for (int k = 0; k < 2; k++) {
        assert_ok(other, pl_chol_correct(chol[k], b, x));
        assert_memory_equal(x, rough[k], sizeof x);
    }
    pl_chol_destroy(chol[0]);
    assert_ok(other, pl_chol_correct(chol[1], b, x));
    assert_memory_equal(x, rough[1], sizeof x);
    pl_chol_destroy(chol[1]);
    pl_context_destroy(other);
    discard(&c);
}

/* Threads find the same order at the same time, and factors of one plan at the same time. */
static void test_threads(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    static double exact[2][3 * N], rough[2][3 * N], x[CALLERS][3 * N];
    cube c = make();
    pl_context *ctx[CALLERS];
    pl_chol_plan *plan[CALLERS] = {NULL};
    bool good[CALLERS] = {false};
    for (int k = 0; k < CALLERS; k++)
        ctx[k] = test_context(1);
    for (int k = 0; k < 2; k++)
        solve_alone(&c, k, exact[k], rough[k]);
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
    for (int k = 0; k < CALLERS; k++)
        good[k] = pl_chol_plan_create(ctx[k], &c.pattern, 3, LAST, c.last, &plan[k]) == PL_OK;
    for (int k = 0; k < CALLERS; k++) {
        assert_true(good[k]);
        assert_same_order(plan[k], plan[0]);
    }
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
    for (int k = 0; k < CALLERS; k++) {
        pl_chol *chol;
        good[k] = pl_chol_create(ctx[k], plan[0], &chol) == PL_OK &&
                  pl_chol_factor_rough(chol, c.values[k % 2]) == PL_ROUGH_GOOD &&
                  pl_chol_correct(chol, b, x[k]) == PL_OK;
        pl_chol_destroy(chol);
    }
    for (int k = 0; k < CALLERS; k++) {
        assert_true(good[k]);
        assert_memory_equal(x[k], rough[k % 2], sizeof x[k]);
        pl_chol_plan_release(plan[k]);
        pl_context_destroy(ctx[k]);
    }
    discard(&c);
}

static pl_chol_plan *get(pl_chol_plans *plans, cube *c, int block, int last_count)
{
    pl_chol_plan *plan;
    assert_ok(c->ctx, pl_chol_plans_get(plans, c->ctx, block, last_count, c->last, &plan));
    assert_int_equal(plan->block, block);
    assert_int_equal(plan->last_count, last_count);
    assert_memory_equal(plan->last, c->last, sizeof(int) * (size_t)last_count);
    return plan;
}

/* Told apart by entries and by the vertices eliminated last; the oldest goes. */
static void test_plans_are_kept(void **state)
{
    (void)state;
    enum { KEPT = 4 };
    cube c = make();
    pl_chol_plans *plans;
    pl_chol_plan *plan[KEPT + 1], *again, *anew;
    assert_ok(c.ctx, pl_chol_plans_create(c.ctx, &c.pattern, &plans));
    plan[0] = get(plans, &c, 3, 0);
    plan[1] = get(plans, &c, 1, 0);
    plan[2] = get(plans, &c, 3, LAST);
    c.last[0] = 1;
    plan[3] = get(plans, &c, 3, LAST);
    for (int i = 0; i < KEPT; i++)
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(plan[i], plan[j]);
    again = get(plans, &c, 3, LAST);
    assert_ptr_equal(again, plan[3]);
    pl_chol_plan_release(again);
    again = get(plans, &c, 3, 0); /* is the newest now, */
    assert_ptr_equal(again, plan[0]);
    pl_chol_plan_release(again);
    plan[4] = get(plans, &c, 3, LAST - 1); /* so that another one goes: */
    again = get(plans, &c, 3, 0);
    assert_ptr_equal(again, plan[0]);
    pl_chol_plan_release(again);
    again = get(plans, &c, 1, 0);
    assert_ptr_not_equal(again, plan[1]);
    pl_chol_plan_release(again);
    /* What comes from there is what would be made. */
    assert_ok(c.ctx, pl_chol_plan_create(c.ctx, &c.pattern, 3, LAST - 1, c.last, &anew));
    assert_same_order(plan[4], anew);
    pl_chol_plan_release(anew);
    pl_chol_plans_destroy(plans);
    assert_int_equal(plan[1]->block, 1); /* those who have one keep it */
    for (int i = 0; i <= KEPT; i++)
        pl_chol_plan_release(plan[i]);
    discard(&c);
}

static void test_threads_get_the_same_plan(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    cube c = make();
    pl_chol_plans *plans;
    pl_context *ctx[CALLERS];
    pl_chol_plan *plan[CALLERS] = {NULL};
    assert_ok(c.ctx, pl_chol_plans_create(c.ctx, &c.pattern, &plans));
    for (int k = 0; k < CALLERS; k++)
        ctx[k] = test_context(1);
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
    for (int k = 0; k < CALLERS; k++)
        pl_chol_plans_get(plans, ctx[k], 3, k % 2 ? LAST : 0, c.last, &plan[k]);
    for (int k = 0; k < CALLERS; k++)
        pl_context_destroy(ctx[k]);
    for (int k = 0; k < CALLERS; k++) {
        assert_non_null(plan[k]);
        assert_ptr_equal(plan[k], plan[k % 2]);
    }
    assert_ptr_not_equal(plan[0], plan[1]);
    for (int k = 0; k < CALLERS; k++)
        pl_chol_plan_release(plan[k]);
    pl_chol_plans_destroy(plans);
    discard(&c);
}

/* A plan that cannot be made is not kept, and the ones that are stay. */
static pl_status run(pl_context *ctx, void *user)
{
    const cube *c = user;
    pl_chol_plans *plans = NULL;
    pl_chol_plan *plan = NULL;
    pl_status status = pl_chol_plans_create(ctx, &c->pattern, &plans);
    for (int k = 0; status == PL_OK && k < LAST; k += 6) {
        status = pl_chol_plans_get(plans, ctx, 3, k, c->last, &plan);
        pl_chol_plan_release(plan);
    }
    pl_chol_plans_destroy(plans);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    cube small = {.ctx = ctx};
    int count;
    for (int i = 0; i < LAST; i++)
        small.last[i] = i;
    free(test_cube_pattern(ctx, 3, &small.pattern, &count));
    assert_true(test_fail_every_allocation(run, &small) > 20);
    pl_pattern_free(ctx, &small.pattern);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_share_a_plan),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_plans_are_kept),
        cmocka_unit_test(test_threads_get_the_same_plan),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
