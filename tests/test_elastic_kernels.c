/* Every table of kernels that runs here, and eight lanes as for AVX-512 in plain C, against the scalar
 * one. */
#include "elastic_fixture.h"

#define PL_WIDTH 8
#include "backend/kernel_table.h"

static const pl_backend eight_lanes = KERNEL_TABLE("eight lanes");

/* Bodies of 1, 2, 3 and more blocks of elements: the widest kernels take two at a time. */
static fixture fixture_blocks(pl_material model, pl_reading reading)
{
    fixture f = {0};
    for (int k = 0; k < 4; k++) {
        fixture_box(&f.bodies[f.body_count++], (int[]){2 + k, 2, 2}, 0.1);
        fixture_sheet(&f.bodies[f.body_count++], 3 + 2 * k, 3, (double[]){0.1, 0.0, 0.02},
                      (double[]){0.01, 0.09, 0.0});
    }
    for (int b = 0; b < f.body_count; b++) {
        f.bodies[b].model = model;
        f.bodies[b].reading = reading;
    }
    fixture_finish(&f, 1);
    return f;
}

enum { ENERGY, GRADIENT, TANGENT, PARAMETERS, FORWARD, FIELDS, PRODUCT, RESULTS };

typedef struct results {
    double *values[RESULTS];
    int bad;
} results;

static void result_sizes(const fixture *f, int size[RESULTS])
{
    size[ENERGY] = 1;
    size[GRADIENT] = size[FORWARD] = size[PRODUCT] = 3 * f->n;
    size[TANGENT] = 9 * pl_elastic_pattern(f->el)->nnz;
    size[PARAMETERS] = 3 * f->m;
    size[FIELDS] = 11 * f->m;
}

static results evaluate(const fixture *f, const pl_backend *backend, const double *q, bool clamp)
{
    results r;
    int size[RESULTS];
    result_sizes(f, size);
    for (int k = 0; k < RESULTS; k++)
        r.values[k] = fixture_array((size_t)size[k], sizeof(double));
    double *dE = r.values[PARAMETERS], *fields = r.values[FIELDS];
    pl_elastic_set_backend(f->el, backend);
    pl_elastic_result found =
        pl_elastic_evaluate(f->el, q, clamp, 0.7, NULL, r.values[GRADIENT], r.values[TANGENT]);
    *r.values[ENERGY] = found.energy;
    r.bad = found.inadmissible;
    backend->multiply(pl_elastic_pattern(f->el), r.values[TANGENT], q, r.values[PRODUCT], 0, f->n);
    if (r.bad >= 0)
        return r;
    pl_elastic_param_vjp(f->el, q, f->rest, 1.0, dE, dE + f->m, dE + 2 * f->m);
    pl_elastic_param_jvp(f->el, q, f->young, f->poisson, f->bending, 1.0, r.values[FORWARD]);
    pl_elastic_fields(f->el, q, NULL, fields, fields + f->m, fields + 10 * f->m);
    return r;
}

static void results_free(results *r)
{
    for (int k = 0; k < RESULTS; k++)
        free(r->values[k]);
}

static void compare(const fixture *f, const results *a, const results *b, double tolerance)
{
    int size[RESULTS];
    result_sizes(f, size);
    assert_int_equal(a->bad, b->bad);
    for (int k = 0; k < RESULTS && a->bad < 0; k++) {
        double largest = fixture_max(size[k], b->values[k]);
        for (int i = 0; i < size[k]; i++)
            assert_close(a->values[k][i], b->values[k][i], tolerance * largest);
    }
}

/* With every material: tets and cloth, clamped or not. */
static void compare_tables(double amount, double tolerance)
{
    const pl_backend *list[PL_BACKEND_MAX];
    int count = pl_backend_list(list);
    const pl_backend *scalar = list[count - 1];
    list[count - 1] = &eight_lanes;
    for (int kind = 0; kind < 6; kind++) {
        fixture f = fixture_blocks((pl_material)(kind / 2), (pl_reading)(kind % 2));
        double *q = fixture_array(3 * (size_t)f.n, sizeof *q);
        fixture_deform(&f, amount, 9, q);
        for (int clamp = 0; clamp < 2; clamp++) {
            results expected = evaluate(&f, scalar, q, clamp);
            for (int b = 0; b < count; b++) {
                results got = evaluate(&f, list[b], q, clamp);
                compare(&f, &got, &expected, tolerance);
                results_free(&got);
            }
            results_free(&expected);
        }
        free(q);
        fixture_free(&f);
    }
}

static void test_tables(void **state)
{
    (void)state;
    compare_tables(0.15, 1e-13);
}

/* Some elements are inside out; where a sum of singular values is close to zero, rounding grows. */
static void test_tables_inverted(void **state)
{
    (void)state;
    compare_tables(0.8, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_tables_inverted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
