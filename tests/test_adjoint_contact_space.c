/* The preconditioner's contact space against a plain dense solve with S = Dl + Dd W. */
#include "common_alloc.h"

#include "adjoint/contact_space.h"
#include "contact/law.h"

#include <lapacke.h>

enum { COUNT = 24, SIZE = 3 * COUNT };

typedef struct problem {
    pl_law_linear laws[COUNT];
    double rho[COUNT], s[SIZE * SIZE]; /* s row-major */
    float w[SIZE * SIZE];
} problem;

/* W = h^2 H M^-1 H^T/2 plus a smooth part that couples everything, below rho in every direction. */
static void make_w(problem *p)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            p->w[SIZE * i + j] = (float)(0.5 / COUNT * cos(0.1 * (i - j)) * (i % 3 == j % 3));
    for (int i = 0; i < SIZE; i++)
        p->w[(SIZE + 1) * i] += 0.3f;
    for (int c = 0; c < COUNT; c++)
        p->rho[c] = 1;
}

/* A contact pressed by `force` that has moved by `slip`; open when the force is small. */
static void place(problem *p, int c, double mu, double force, double slip)
{
    pl_law law = {.mu = mu, .epsilon2 = 0.5e-12, .rho = p->rho[c]};
    double d_mu[3], angle = 0.7 * c, direction[2] = {cos(angle), sin(angle)};
    pl_law_point point = {.delta_n = law.epsilon2 / force, .direction = {direction[0], direction[1]}};
    point.x_hat = slip + point.delta_n / fmax(mu, 1e-3);
    point.s = law.epsilon2 / point.x_hat;
    double held = mu * force - point.s;
    const double lambda[3] = {force, -held * direction[0], -held * direction[1]};
    pl_law_derivative(&law, &point, lambda, &p->laws[c], d_mu);
}

static void make_s(problem *p)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            int c = i / 3, r = i % 3;
            double sum = j / 3 == c ? p->laws[c].d_lambda[3 * r + j % 3] : 0;
            for (int k = 0; k < 3; k++)
                sum += p->laws[c].d_delta[3 * r + k] * p->w[SIZE * (3 * c + k) + j];
            p->s[SIZE * i + j] = sum;
        }
}

/* Largest difference from the dense answer, relative to its largest entry. */
static double error_of(pl_context *ctx, pl_contact_space *space, problem *p, bool transposed)
{
    double lu[SIZE * SIZE], x[SIZE], exact[SIZE], largest = 0, error = 0;
    int pivot[SIZE];
    uint64_t seed = 3;
    for (int i = 0; i < SIZE; i++)
        x[i] = exact[i] = test_random(&seed) - 0.5;
    memcpy(lu, p->s, sizeof lu);
    /* Row-major S is LAPACK's S^T. */
    assert_int_equal(LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, SIZE, SIZE, lu, SIZE, pivot), 0);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, transposed ? 'N' : 'T', SIZE, 1, lu, SIZE, pivot, exact,
                        SIZE);
    pl_contact_space_solve(ctx, space, p->laws, p->w, transposed, x);
    for (int i = 0; i < SIZE; i++) {
        largest = fmax(largest, fabs(exact[i]));
        error = fmax(error, fabs(x[i] - exact[i]));
    }
    return error / largest;
}

/* Contacts that stick, slide, slide fast, are open, have no friction: as many unknowns as they need.
 * The error is that of single precision, and what weak rows leave out: 1e-7 of what they hear of
 * others.
 */
static void test_rows_are_as_many_as_contacts_need(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    pl_contact_space space = {0};
    problem *p = calloc(1, sizeof *p);
    bool singular;
    int rows = 0;
    make_w(p);
    const struct {
        double mu, force, slip;
        int rows;
    } kinds[] = {
        {0.5, 1, 1e-12, 3}, {0.5, 1, 1, 2}, {0.5, 1, 1e8, 1}, {0.5, 1e-10, 1e-3, 0}, {0, 1, 0, 1}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (int k = 0; k < KINDS; k++) {
        for (int c = 0; c < COUNT; c++)
            place(p, c, kinds[k].mu, kinds[k].force, kinds[k].slip);
        make_s(p);
        assert_ok(ctx, pl_contact_space_factor(ctx, &space, COUNT, p->laws, p->rho, p->w, &singular));
        assert_false(singular);
        assert_int_equal(space.size, kinds[k].rows * COUNT);
        for (int transposed = 0; transposed < 2; transposed++)
            assert_true(error_of(ctx, &space, p, transposed) < 3e-7);
    }
    /* All kinds at once: the fewer-row ones among those with three. */
    for (int c = 0; c < COUNT; c++) {
        place(p, c, kinds[c % KINDS].mu, kinds[c % KINDS].force, kinds[c % KINDS].slip);
        rows += kinds[c % KINDS].rows;
    }
    make_s(p);
    assert_ok(ctx, pl_contact_space_factor(ctx, &space, COUNT, p->laws, p->rho, p->w, &singular));
    assert_int_equal(space.size, rows);
    for (int transposed = 0; transposed < 2; transposed++)
        assert_true(error_of(ctx, &space, p, transposed) < 3e-7);
    free(p);
    pl_contact_space_free(ctx, &space);
    pl_context_destroy(ctx);
}

static pl_status factor(pl_context *ctx, void *user)
{
    problem *p = user;
    pl_contact_space space = {0};
    bool singular;
    pl_status status = pl_contact_space_factor(ctx, &space, 2, p->laws, p->rho, p->w, &singular);
    if (status == PL_OK)
        status = pl_contact_space_factor(ctx, &space, COUNT, p->laws, p->rho, p->w, &singular);
    pl_contact_space_free(ctx, &space);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    problem *p = calloc(1, sizeof *p);
    make_w(p);
    for (int c = 0; c < COUNT; c++)
        place(p, c, 0.5, 1, 1e-12);
    assert_int_equal(test_fail_every_allocation(factor, p), 16);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_as_many_as_contacts_need),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
