/* Cholesky factors over a vertex pattern: solves, parts of the inverse, matrices that have no factor.
 */
#include "common_alloc.h"
#include "common_factor.h"

#include "linalg/chol_plan.h"

enum { SIDE = 6, N = SIDE * SIDE * SIDE };

/* What single precision leaves of values up to ten: 9e-6 here. */
#define SINGLE 2e-5

/* A pattern of the cells of a cube, and positive definite values on it. */
typedef struct matrix {
    pl_pattern pattern;
    int block;
    double *values; /* [nnz, block^2] */
} matrix;

static void make(pl_context *ctx, int block, matrix *m)
{
    int count, *cells = test_cube_pattern(ctx, SIDE, &m->pattern, &count);
    m->block = block;
    m->values = calloc((size_t)(m->pattern.nnz * block * block), sizeof(double));
    uint64_t seed = 3;
    for (int e = 0; e < count; e++) {
        double g[8 * 3]; /* every cell adds g g^T */
        for (int k = 0; k < 8 * block; k++)
            g[k] = test_random(&seed);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                int at = pl_pattern_find(&m->pattern, cells[8 * e + a], cells[8 * e + b]);
                for (int r = 0; r < block; r++)
                    for (int c = 0; c < block; c++)
                        m->values[block * block * at + block * r + c] +=
                            g[block * a + r] * g[block * b + c];
            }
    }
    for (int i = 0; i < N; i++)
        for (int r = 0; r < block; r++)
            m->values[block * block * m->pattern.diag[i] + (block + 1) * r] += 0.1;
    free(cells);
}

static void discard(pl_context *ctx, matrix *m)
{
    pl_pattern_free(ctx, &m->pattern);
    free(m->values);
}

/* y = A x for x, y [N, 3] */
static void multiply(const matrix *m, const double *x, double *y)
{
    for (int i = 0; i < N; i++)
        for (int r = 0; r < 3; r++) {
            y[3 * i + r] = 0;
            for (int k = m->pattern.row[i]; k < m->pattern.row[i + 1]; k++)
                for (int c = 0; c < m->block; c++)
                    y[3 * i + r] += m->block == 3
                                        ? m->values[9 * k + 3 * r + c] * x[3 * m->pattern.col[k] + c]
                                        : m->values[k] * x[3 * m->pattern.col[k] + r];
        }
}

static void fill(double *b)
{
    uint64_t seed = 7;
    for (int i = 0; i < 3 * N; i++)
        b[i] = test_random(&seed);
}

static void test_solve(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int block = 1; block <= 3; block += 2) {
        matrix m;
        double b[3 * N], x[3 * N], y[3 * N];
        make(ctx, block, &m);
        fill(b);
        pl_chol *chol = test_chol(ctx, &m.pattern, block, 0, NULL);
        assert_ok(ctx, pl_chol_factor(chol, m.values));
        assert_ok(ctx, pl_chol_solve(chol, b, x));
        multiply(&m, x, y);
        /* Condition below 1e3, so a backward stable solve leaves 1e-12 and less. */
        for (int i = 0; i < 3 * N; i++)
            assert_close(y[i], b[i], 1e-12);
        memcpy(y, b, sizeof y);
        assert_ok(ctx, pl_chol_solve(chol, y, y));
        assert_memory_equal(x, y, sizeof x);
        /* In single precision: 6e-8 times the condition, 1e3, at the worst. Twice, for the kept copy.
         */
        for (int again = 0; again < 2; again++) {
            assert_ok(ctx, pl_chol_correct(chol, b, y));
            double largest = 0;
            for (int i = 0; i < 3 * N; i++)
                largest = fmax(largest, fabs(x[i]));
            for (int i = 0; i < 3 * N; i++)
                assert_close(y[i], x[i], (block == 3 ? 6e-5 : 0) * largest);
        }
        pl_chol_cost cost = pl_chol_get_cost(chol);
        assert_true(cost.factor_entries >= (m.pattern.nnz + N) / 2.0 &&
                    cost.factor_flops > cost.factor_entries);
        pl_chol_destroy(chol);
        discard(ctx, &m);
    }
    pl_context_destroy(ctx);
}

/* More columns than are solved at once, in no order, against single solves. */
static void test_inverse_block(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { ROWS = 30, COLS = 61, LD = 3 * COLS + 2 };
    for (int block = 1; block <= 3; block += 2) {
        matrix m;
        int rows[ROWS], cols[COLS];
        static float out[3 * ROWS * LD];
        make(ctx, block, &m);
        for (int i = 0; i < ROWS; i++)
            rows[i] = (37 * i + 11) % N;
        for (int j = 0; j < COLS; j++)
            cols[j] = (53 * j + 2) % N;
        for (int i = 0; i < 3 * ROWS * LD; i++)
            out[i] = 123;
        pl_chol *chol = test_chol(ctx, &m.pattern, block, 0, NULL);
        assert_ok(ctx, pl_chol_factor(chol, m.values));
        assert_ok(ctx, pl_chol_inverse_block(chol, ROWS, rows, COLS, cols, out, LD));
        for (int j = 0; j < COLS; j += 4)
            for (int c = 0; c < 3; c++) {
                double unit[3 * N] = {0};
                unit[3 * cols[j] + c] = 1;
                assert_ok(ctx, pl_chol_solve(chol, unit, unit));
                for (int i = 0; i < ROWS; i++)
                    for (int r = 0; r < 3; r++)
                        assert_close(out[(3 * i + r) * LD + 3 * j + c], unit[3 * rows[i] + r], SINGLE);
            }
        for (int i = 0; i < 3 * ROWS; i++) /* beyond its columns nothing is written */
            assert_true(out[i * LD + 3 * COLS] == 123);
        pl_chol_destroy(chol);
        discard(ctx, &m);
    }
    pl_context_destroy(ctx);
}

/* Vertices eliminated last: the same matrix, and its inverse between them from their supernodes alone.
 */
static void test_inverse_last(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    enum { COUNT = 2 * SIDE * SIDE, LD = 3 * COUNT + 4 };
    static float block[3 * COUNT * LD], trailing[3 * COUNT * LD];
    matrix m;
    int last[COUNT], count = 0;
    double b[3 * N], x[3 * N], y[3 * N];
    make(ctx, 3, &m);
    fill(b);
    /* A face, whose vertices meet only through the next layer or as neighbours: their supernodes form a
     * tree; and that layer, all of whose vertices meet through the rest. */
    for (int i = 0; i < COUNT; i++)
        last[i] = i < SIDE * SIDE ? (5 * i + 3) % (SIDE * SIDE) : i;
    pl_chol *plain = test_chol(ctx, &m.pattern, 3, 0, NULL);
    pl_chol *chol = test_chol(ctx, &m.pattern, 3, COUNT, last);
    assert_ok(ctx, pl_chol_factor(plain, m.values));
    assert_ok(ctx, pl_chol_factor(chol, m.values));
    assert_memory_equal(pl_chol_last(chol, &count), last, sizeof last);
    assert_int_equal(count, COUNT);
    assert_ok(ctx, pl_chol_solve(plain, b, x));
    assert_ok(ctx, pl_chol_solve(chol, b, y));
    for (int i = 0; i < 3 * N; i++)
        assert_close(x[i], y[i], 1e-12);
    assert_ok(ctx, pl_chol_inverse_block(plain, COUNT, last, COUNT, last, block, LD));
    assert_ok(ctx, pl_chol_inverse_last(chol, trailing, LD));
    for (int i = 0; i < 3 * COUNT; i++)
        for (int j = 0; j < 3 * COUNT; j++)
            assert_close(trailing[i * LD + j], block[i * LD + j], SINGLE);
    assert_int_equal((pl_chol_last(plain, &count), count), 0);
    pl_chol_destroy(plain);
    pl_chol_destroy(chol);
    discard(ctx, &m);
    pl_context_destroy(ctx);
}

/* A vertex that is none of the last meets ten of them, and an eleventh meets nine of those: CHOLMOD
 * makes one supernode of all, in which the first stands behind the eleventh. */
static void test_inverse_with_another_amid(void **state)
{
    (void)state;
    enum { ALL = 12, LAST = ALL - 1, LD = 3 * LAST };
    static float block[LD * LD], trailing[LD * LD];
    static const int first_meets[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                     second_meets[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const int last[LAST] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const pl_stencils met[] = {{.count = 1, .width = ALL - 1, .index = first_meets},
                               {.count = 1, .width = 10, .index = second_meets}};
    pl_context *ctx = test_context(1);
    pl_pattern pattern;
    pl_chol_plan *plan = NULL;
    pl_chol *chol = NULL;
    assert_ok(ctx, pl_pattern_create(ctx, ALL, 2, met, &pattern));
    double *values = test_laplacian_of(&pattern, 0.1);
    pl_chol *plain = test_chol(ctx, &pattern, 3, 0, NULL);
    assert_ok(ctx, pl_chol_plan_create(ctx, &pattern, 3, LAST, last, &plan));
    assert_int_equal(plan->inverse.size, 3 * ALL);
    assert_ok(ctx, pl_chol_create(ctx, plan, &chol));
    assert_ok(ctx, pl_chol_factor(plain, values));
    assert_ok(ctx, pl_chol_factor(chol, values));
    assert_ok(ctx, pl_chol_inverse_block(plain, LAST, last, LAST, last, block, LD));
    assert_ok(ctx, pl_chol_inverse_last(chol, trailing, LD));
    for (int i = 0; i < LD * LD; i++)
        assert_close(trailing[i], block[i], SINGLE);
    pl_chol_destroy(plain);
    pl_chol_destroy(chol);
    pl_chol_plan_release(plan);
    free(values);
    pl_pattern_free(ctx, &pattern);
    pl_context_destroy(ctx);
}

/* A layer, all of whose vertices meet through the rest: what the factor keeps of A there is the inverse
 * of A^-1 there. */
static void test_schur(void **state)
{
    (void)state;
    enum { COUNT = SIDE * SIDE, SIZE = 3 * COUNT };
    static float schur[SIZE * SIZE], inverse[SIZE * SIZE];
    pl_context *ctx = test_context(2);
    matrix m;
    int last[COUNT], layer[COUNT], other[COUNT];
    make(ctx, 3, &m);
    for (int i = 0; i < COUNT; i++) {
        layer[i] = SIDE * SIDE + i;
        last[i] = SIDE * SIDE + (5 * i + 3) % COUNT;
        other[i] = i;
    }
    pl_chol *chol = test_chol(ctx, &m.pattern, 3, COUNT, last);
    assert_int_equal(pl_chol_factor_rough(chol, m.values), PL_ROUGH_GOOD);
    assert_ok(ctx, pl_chol_inverse_block(chol, COUNT, layer, COUNT, layer, inverse, SIZE));
    assert_true(pl_chol_schur(chol, COUNT, layer, schur, SIZE));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += (double)schur[i * SIZE + k] * inverse[k * SIZE + j];
            assert_close(sum, i == j, 1e-5);
        }
    assert_false(pl_chol_schur(chol, COUNT, other, schur, SIZE)); /* vertices not eliminated last, */
    assert_false(pl_chol_schur(chol, COUNT - 1, layer, schur, SIZE)); /* or not all of them, */
    layer[3] = layer[2];
    assert_false(pl_chol_schur(chol, COUNT, layer, schur, SIZE)); /* or one of them twice; */
    layer[3] = layer[2] + 1;
    assert_ok(ctx, pl_chol_factor(chol, m.values)); /* a factor that has not kept it */
    assert_false(pl_chol_schur(chol, COUNT, layer, schur, SIZE));
    pl_chol_destroy(chol);
    discard(ctx, &m);
    pl_context_destroy(ctx);
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    matrix m;
    double b[3 * N], x[3 * N], y[3 * N];
    make(ctx, 3, &m);
    fill(b);
    pl_chol *chol = test_chol(ctx, &m.pattern, 3, 0, NULL);
    double *middle = &m.values[9 * m.pattern.diag[N / 2] + 4], kept = *middle;
    *middle = -1;
    assert_int_equal(pl_chol_factor(chol, m.values), PL_ERROR_NUMERIC);
    assert_non_null(strstr(pl_context_error(ctx), "positive definite"));
    *middle = kept;
    assert_ok(ctx, pl_chol_factor(chol, m.values));
    assert_ok(ctx, pl_chol_solve(chol, b, x));
    multiply(&m, x, y);
    for (int i = 0; i < 3 * N; i++)
        assert_close(y[i], b[i], 1e-12);
    pl_chol_destroy(chol);
    discard(ctx, &m);
    pl_context_destroy(ctx);
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    double first[3 * N], x[3 * N], b[3 * N];
    fill(b);
    for (int threads = 1; threads <= 3; threads++) {
        pl_context *ctx = test_context(threads);
        matrix m;
        make(ctx, 3, &m);
        pl_chol *chol = test_chol(ctx, &m.pattern, 3, 0, NULL);
        assert_ok(ctx, pl_chol_factor(chol, m.values));
        assert_ok(ctx, pl_chol_solve(chol, b, threads == 1 ? first : x));
        if (threads > 1)
            assert_memory_equal(first, x, sizeof x);
        pl_chol_destroy(chol);
        discard(ctx, &m);
        pl_context_destroy(ctx);
    }
}

static pl_status create_and_factor(pl_context *ctx, void *user)
{
    const matrix *m = user;
    pl_chol_plan *plan = NULL;
    pl_chol *chol = NULL;
    double b[3 * N];
    float out[9];
    const int vertex = 4;
    fill(b);
    pl_status status = pl_chol_plan_create(ctx, &m->pattern, 3, 1, &vertex, &plan);
    if (status == PL_OK)
        status = pl_chol_create(ctx, plan, &chol);
    if (status == PL_OK)
        status = pl_chol_factor(chol, m->values);
    if (status == PL_OK)
        status = pl_chol_solve(chol, b, b);
    if (status == PL_OK)
        status = pl_chol_inverse_block(chol, 1, &vertex, 1, &vertex, out, 3);
    if (status == PL_OK)
        status = pl_chol_inverse_last(chol, out, 3);
    pl_chol_destroy(chol);
    pl_chol_plan_release(plan);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    matrix m;
    make(ctx, 3, &m);
    assert_true(test_fail_every_allocation(create_and_factor, &m) >= 2);
    discard(ctx, &m);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solve),
        cmocka_unit_test(test_inverse_block),
        cmocka_unit_test(test_inverse_last),
        cmocka_unit_test(test_inverse_with_another_amid),
        cmocka_unit_test(test_schur),
        cmocka_unit_test(test_not_positive_definite),
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
