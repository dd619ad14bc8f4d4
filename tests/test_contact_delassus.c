/* W between contacts, its inverse, and what of both stays when frames turn or vertices change. */
#include "common_factor.h"

#include "contact/delassus.h"
#include "core/vec.h"

enum { SIDE = 4, CONTACTS = 12, SIZE = 3 * CONTACTS };

#define STEP 0.01 /* s */

/* Contact c at vertex 2 c + from, its frame turned by `angle` and a little more from contact to
 * contact. */
static void place(pl_context *ctx, pl_contact_set *set, int from, double angle)
{
    pl_contact_set_clear(set);
    for (int c = 0; c < CONTACTS; c++) {
        double a = angle + 0.1 * c, axis[3] = {0.6, 0, 0.8}, q[4] = {cos(a / 2)};
        for (int k = 0; k < 3; k++)
            q[1 + k] = sin(a / 2) * axis[k];
        pl_contact_point p = {.vertex = 2 * c + from};
        pl_quat_to_mat3(q, p.frame);
        assert_ok(ctx, pl_contact_set_touch(ctx, set, &p));
    }
}

typedef struct fixture {
    pl_pattern pattern;
    double *values;
    pl_chol *chol;
    pl_delassus d;
    pl_contact_set set;
} fixture;

static void make(pl_context *ctx, fixture *f)
{
    *f = (fixture){0};
    f->values = test_laplacian(ctx, SIDE, 0.5, &f->pattern);
    f->chol = test_chol(ctx, &f->pattern, 3, 0, NULL);
    assert_ok(ctx, pl_chol_factor(f->chol, f->values));
    assert_ok(ctx, pl_delassus_create(ctx, f->pattern.n, NULL, &f->d));
}

static void discard(pl_context *ctx, fixture *f)
{
    pl_delassus_free(ctx, &f->d);
    pl_chol_destroy(f->chol);
    pl_pattern_free(ctx, &f->pattern);
    pl_contact_set_free(ctx, &f->set);
    free(f->values);
}

/* Column by column: h^2 H E^-1 H^T by solves in double precision. W is made in single. */
static void check_w(pl_context *ctx, fixture *f)
{
    enum { N = SIDE * SIDE * SIDE };
    double column[3 * N], exact[SIZE * SIZE];
    for (int j = 0; j < SIZE; j++) {
        double unit[3] = {j % 3 == 0, j % 3 == 1, j % 3 == 2}, at[3];
        memset(column, 0, sizeof column);
        pl_contact_scatter(&f->set, j / 3, STEP * STEP, unit, column);
        assert_ok(ctx, pl_chol_solve(f->chol, column, column));
        for (int c = 0; c < CONTACTS; c++) {
            pl_contact_gather(&f->set, c, column, at);
            for (int k = 0; k < 3; k++)
                exact[(3 * c + k) * SIZE + j] = at[k];
        }
    }
    const double *w = pl_delassus_wide(ctx, &f->d);
    assert_true(test_relative_difference(SIZE * SIZE, w, exact) < 3e-7);
    for (int i = 0; i < SIZE * SIZE; i++)
        assert_true(pl_delassus_single(ctx, &f->d)[i] == (float)w[i]);
    for (int c = 0; c < CONTACTS; c++) {
        const double *own = w + 3 * c * (SIZE + 1);
        assert_close(f->d.rho[c], (own[0] + own[SIZE + 1] + own[2 * SIZE + 2]) / 3, 1e-15 * own[0]);
    }
}

/* |W P - 1| */
static double inverse_error(pl_context *ctx, fixture *f)
{
    double worst = 0;
    const float *w = pl_delassus_single(ctx, &f->d);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = -(i == j);
            for (int k = 0; k < SIZE; k++)
                sum += (double)w[i * SIZE + k] * f->d.stiffness[k * SIZE + j];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void build(pl_context *ctx, fixture *f, double h)
{
    assert_ok(ctx, pl_delassus_build(ctx, &f->d, f->chol, h, &f->set));
}

static void test_inverse_lasts_as_long_as_the_vertices(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    fixture f;
    make(ctx, &f);
    place(ctx, &f.set, 0, 0);
    build(ctx, &f, STEP);
    check_w(ctx, &f);
    /* Made when it would have paid. */
    assert_false(pl_delassus_invert(ctx, &f.d, CONTACTS));
    pl_delassus_regret(&f.d, 0.5 * SIZE * SIZE * SIZE);
    assert_false(pl_delassus_invert(ctx, &f.d, CONTACTS));
    pl_delassus_regret(&f.d, 0.2 * SIZE * SIZE * SIZE);
    assert_true(pl_delassus_invert(ctx, &f.d, CONTACTS));
    assert_true(inverse_error(ctx, &f) < 1e-6);
    /* Frames turn: it turns too. */
    for (int k = 1; k <= 3; k++) {
        place(ctx, &f.set, 0, 0.4 * k);
        build(ctx, &f, STEP);
        check_w(ctx, &f);
        assert_true(f.d.stiff && inverse_error(ctx, &f) < 2e-6);
    }
    /* Another time step, other vertices, a new factor: all new. */
    build(ctx, &f, 2 * STEP);
    assert_false(f.d.stiff);
    assert_true(f.d.regret == 0);
    f.d.regret = INFINITY;
    assert_true(pl_delassus_invert(ctx, &f.d, CONTACTS));
    place(ctx, &f.set, 1, 0);
    build(ctx, &f, STEP);
    check_w(ctx, &f);
    assert_false(f.d.stiff);
    f.d.regret = INFINITY;
    assert_true(pl_delassus_invert(ctx, &f.d, CONTACTS));
    pl_delassus_reset(&f.d);
    build(ctx, &f, STEP);
    check_w(ctx, &f);
    assert_false(f.d.stiff);
    discard(ctx, &f);
    pl_context_destroy(ctx);
}

/* Contacts at the vertices eliminated last, all of which meet through the others: the factor tells W^-1
 * before it would have paid. */
static void test_inverse_told_by_factor(void **state)
{
    (void)state;
    pl_context *ctx = test_context(2);
    fixture f;
    int last[CONTACTS];
    make(ctx, &f);
    pl_chol_destroy(f.chol);
    for (int c = 0; c < CONTACTS; c++)
        last[c] = 2 * ((5 * c + 2) % CONTACTS) + 1;
    f.chol = test_chol(ctx, &f.pattern, 3, CONTACTS, last);
    assert_int_equal(pl_chol_factor_rough(f.chol, f.values), PL_ROUGH_GOOD);
    place(ctx, &f.set, 1, 0.2);
    build(ctx, &f, STEP);
    assert_true(pl_delassus_invert(ctx, &f.d, CONTACTS));
    assert_true(inverse_error(ctx, &f) < 3e-6);
    place(ctx, &f.set, 1, 0.7); /* and it turns with the frames */
    build(ctx, &f, STEP);
    assert_true(f.d.stiff && inverse_error(ctx, &f) < 3e-6);
    place(ctx, &f.set, 0, 0.2); /* other vertices: not told, and not worth it yet */
    build(ctx, &f, STEP);
    assert_false(pl_delassus_invert(ctx, &f.d, CONTACTS));
    place(ctx, &f.set, 1, 0.2);
    f.set.single = CONTACTS - 1; /* nor what is no contact of one vertex */
    pl_delassus_reset(&f.d);
    build(ctx, &f, STEP);
    assert_false(pl_delassus_invert(ctx, &f.d, CONTACTS));
    discard(ctx, &f);
    pl_context_destroy(ctx);
}

/* A vertex that touches two planes: W is singular, and is not tried again. */
static void test_singular(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    fixture f;
    make(ctx, &f);
    place(ctx, &f.set, 0, 0);
    f.set.points[5].vertex = f.set.entries[5].vertex = f.set.points[4].vertex;
    build(ctx, &f, STEP);
    f.d.regret = INFINITY;
    assert_false(pl_delassus_invert(ctx, &f.d, CONTACTS));
    assert_false(f.d.lasts);
    discard(ctx, &f);
    pl_context_destroy(ctx);
}

static void test_products(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    fixture f;
    make(ctx, &f);
    double x[SIZE], y[SIZE], exact[SIZE];
    float narrow[SIZE], image[SIZE];
    place(ctx, &f.set, 0, 0.3);
    build(ctx, &f, STEP);
    for (int i = 0; i < SIZE; i++) {
        x[i] = narrow[i] = (float)sin(i);
        exact[i] = y[i] = cos(i);
    }
    const double *w = pl_delassus_wide(ctx, &f.d);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            exact[i] += w[i * SIZE + j] * x[j];
    pl_delassus_multiply(ctx, CONTACTS, w, x, y);
    assert_true(test_relative_difference(SIZE, y, exact) < 1e-14);
    for (pl_product of = PL_PRODUCT_HALF; of <= PL_PRODUCT_SINGLE; of++) {
        pl_symmetric *product;
        assert_ok(ctx, pl_delassus_product(ctx, &f.d, CONTACTS, of, &product));
        pl_symmetric_multiply(ctx, product, narrow, image);
        for (int i = 0; i < SIZE; i++)
            y[i] = image[i] + cos(i);
        assert_true(test_relative_difference(SIZE, y, exact) < (product->half ? 3e-4 : 1e-6));
    }
    discard(ctx, &f);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse_lasts_as_long_as_the_vertices),
        cmocka_unit_test(test_inverse_told_by_factor),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
