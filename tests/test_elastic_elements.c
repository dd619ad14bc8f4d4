/* Constant elements: shared by several energies, in several threads; their pattern with room for other
 * energies' pairs. */
#include "elastic_fixture.h"

/* Energy, gradient and tangent of one energy at one q. */
typedef struct outcome {
    double energy, *gradient, *tangent;
    size_t gradients, tangents;
} outcome;

static outcome make_outcome(const fixture *f)
{
    outcome o = {.gradients = 3 * (size_t)f->n,
                 .tangents = 9 * (size_t)pl_elements_pattern(f->elements)->nnz};
    o.gradient = fixture_array(o.gradients, sizeof *o.gradient);
    o.tangent = fixture_array(o.tangents, sizeof *o.tangent);
    return o;
}

static void free_outcome(outcome *o)
{
    free(o->gradient);
    free(o->tangent);
}

static void evaluate(pl_elastic *el, const double *q, outcome *o)
{
    o->energy = pl_elastic_evaluate(el, q, false, 0.5, NULL, o->gradient, o->tangent).energy;
}

static void assert_same_outcome(const outcome *a, const outcome *b)
{
    assert_true(a->energy == b->energy);
    assert_memory_equal(a->gradient, b->gradient, a->gradients * sizeof(double));
    assert_memory_equal(a->tangent, b->tangent, a->tangents * sizeof(double));
}

enum { WORKERS = 3, ROUNDS = 20 };

/* Each worker has a material of its own; together they get what each gets alone. */
static void test_shared(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    double *q = fixture_array(3 * (size_t)f.n, sizeof *q), *young[WORKERS];
    outcome alone[WORKERS], together[WORKERS];
    pl_context *ctx[WORKERS];
    pl_elastic *el[WORKERS];
    fixture_deform(&f, 0.1, 5, q);
    for (int w = 0; w < WORKERS; w++) {
        ctx[w] = test_context(1);
        assert_ok(ctx[w], pl_elastic_create(ctx[w], f.elements, &el[w]));
        young[w] = fixture_array((size_t)f.m, sizeof *young[w]);
        for (int e = 0; e < f.m; e++)
            young[w][e] = (1.0 + 0.1 * w) * f.young[e];
        alone[w] = make_outcome(&f);
        together[w] = make_outcome(&f);
        pl_elastic_set_material(f.el, young[w], f.poisson, f.bending);
        evaluate(f.el, q, &alone[w]);
    }
    assert_true(alone[0].energy < alone[1].energy && alone[1].energy < alone[2].energy);
#pragma omp parallel for num_threads(WORKERS) schedule(static, 1)
    for (int w = 0; w < WORKERS; w++)
        for (int round = 0; round < ROUNDS; round++) {
            pl_elastic_set_material(el[w], young[w], f.poisson, f.bending);
            evaluate(el[w], q, &together[w]);
        }
    for (int w = 0; w < WORKERS; w++) {
        assert_same_outcome(&alone[w], &together[w]);
        pl_elastic_destroy(el[w]);
        pl_context_destroy(ctx[w]);
        free_outcome(&alone[w]);
        free_outcome(&together[w]);
        free(young[w]);
    }
    free(q);
    fixture_free(&f);
}

/* Where entry (i, k) of the smaller pattern is in the larger one. */
static int entry_in(const pl_pattern *larger, const pl_pattern *smaller, int i, int k)
{
    int found = pl_pattern_find(larger, i, smaller->col[k]);
    assert_true(found >= 0);
    return found;
}

/* Other energies' pairs are in the pattern, hold nothing yet, and change nothing else. */
static void test_extra_stencils(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    int last = f.n - 1;
    const int triples[] = {0, last, 40, 3, 100, -1}, pairs[] = {7, last - 2};
    const pl_stencils extra[] = {{2, 3, triples}, {1, 2, pairs}};
    pl_elements *wider = NULL;
    pl_elastic *el = NULL;
    assert_ok(f.ctx, pl_elements_create(f.ctx, f.n, f.body_count, f.bodies, 2, extra, &wider));
    assert_ok(f.ctx, pl_elastic_create(f.ctx, wider, &el));
    pl_elastic_set_material(el, f.young, f.poisson, f.bending);

    const pl_pattern *p = pl_elements_pattern(f.elements), *w = pl_elastic_pattern(el);
    assert_ptr_equal(w, pl_elements_pattern(wider));
    const int added[][2] = {{0, last}, {0, 40}, {last, 40}, {3, 100}, {7, last - 2}};
    int count = sizeof added / sizeof *added;
    assert_int_equal(w->nnz, p->nnz + 2 * count);

    double *q = fixture_array(3 * (size_t)f.n, sizeof *q);
    double *A = fixture_array((size_t)p->nnz, sizeof *A), *B = fixture_array((size_t)w->nnz, sizeof *B);
    outcome plain = make_outcome(&f), wide = {0};
    wide.gradient = fixture_array(3 * (size_t)f.n, sizeof *wide.gradient);
    wide.tangent = fixture_array(9 * (size_t)w->nnz, sizeof *wide.tangent);
    fixture_deform(&f, 0.1, 5, q);
    evaluate(f.el, q, &plain);
    evaluate(el, q, &wide);
    pl_elastic_constant(f.el, 0.5, NULL, A);
    pl_elastic_constant(el, 0.5, NULL, B);
    assert_true(plain.energy == wide.energy);
    assert_memory_equal(plain.gradient, wide.gradient, plain.gradients * sizeof(double));
    for (int i = 0; i < f.n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            int l = entry_in(w, p, i, k);
            assert_true(A[k] == B[l]);
            for (int c = 0; c < 9; c++)
                assert_true(plain.tangent[9 * (size_t)k + c] == wide.tangent[9 * (size_t)l + c]);
        }
    for (int k = 0; k < 2 * count; k++) {
        int entry = pl_pattern_find(w, added[k / 2][k % 2], added[k / 2][1 - k % 2]);
        assert_true(entry >= 0);
        assert_true(B[entry] == 0.0);
        for (int c = 0; c < 9; c++)
            assert_true(wide.tangent[9 * (size_t)entry + c] == 0.0);
    }
    free_outcome(&plain);
    free_outcome(&wide);
    free(A);
    free(B);
    free(q);
    pl_elastic_destroy(el);
    pl_elements_destroy(wider);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_extra_stencils),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
