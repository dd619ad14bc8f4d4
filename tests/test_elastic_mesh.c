/* Whole meshes: rigid motion, the patch test, tangent against gradient, threads, failures. */
#include "elastic_fixture.h"

#include "core/vec.h"
#include "linalg/sparse.h"

static const double turn[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};

static void test_rigid_motion(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    /* The sheets are flat, so bending is at rest as well. */
    double *q = fixture_array(3 * (size_t)f.n, sizeof *q),
           *g = fixture_array(3 * (size_t)f.n, sizeof *g);
    for (int i = 0; i < f.n; i++) {
        pl_mat3_vec(turn, f.rest + 3 * i, q + 3 * i);
        q[3 * i + 1] += 2.0;
    }
    pl_elastic_result r = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, g, NULL);
    assert_int_equal(r.inadmissible, -1);
    /* Positions near 2 m round at 4e-16 m: strains of 4e-15 in cells of 0.1 m, E = 100 Pa, h^2 = 0.01.
     */
    assert_true(fixture_max(3 * f.n, g) < 1e-13);
    assert_close(r.energy, 0.0, 1e-13);
    free(q);
    free(g);
    fixture_free(&f);
}

/* A linear displacement is in equilibrium inside a body of one material. */
static void test_patch(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    for (int e = 0; e < f.m; e++)
        f.young[e] = 100.0, f.poisson[e] = 0.3, f.bending[e] = 0.0;
    pl_elastic_set_material(f.el, f.young, f.poisson, f.bending);
    double *q = fixture_array(3 * (size_t)f.n, sizeof *q),
           *g = fixture_array(3 * (size_t)f.n, sizeof *g);
    fixture_deform(&f, 0.0, 1, q);
    pl_elastic_evaluate(f.el, q, false, 1.0, NULL, g, NULL);
    assert_true(fixture_max(3 * f.n, g) > 1e-2);
    int inner = 0;
    for (int b = 0; b < f.body_count; b++) {
        int nodes[3] = {4, 3, 4};
        if (f.bodies[b].cloth)
            nodes[0] = 6, nodes[1] = 4, nodes[2] = 1;
        for (int i = 0; i < f.bodies[b].vertex_count; i++) {
            int at[3] = {i % nodes[0], i / nodes[0] % nodes[1], i / nodes[0] / nodes[1]};
            bool inside = true;
            for (int c = 0; c < (f.bodies[b].cloth ? 2 : 3); c++)
                inside &= at[c] > 0 && at[c] + 1 < nodes[c];
            if (!inside)
                continue;
            inner++;
            for (int c = 0; c < 3; c++)
                assert_close(g[3 * (f.bodies[b].vertex_offset + i) + c], 0.0, 1e-14);
        }
    }
    assert_int_equal(inner, 6 * 4 + 2 * 8);
    free(q);
    free(g);
    fixture_free(&f);
}

static void test_tangent(void **state)
{
    (void)state;
    fixture f = fixture_all(2);
    int n = 3 * f.n;
    const pl_pattern *p = pl_elastic_pattern(f.el);
    double *q = fixture_array((size_t)n, sizeof *q), *d = fixture_array((size_t)n, sizeof *d);
    double *Kd = fixture_array((size_t)n, sizeof *Kd), *x = fixture_array((size_t)n, sizeof *x);
    double *g = fixture_array((size_t)n, sizeof *g), *sum = fixture_array((size_t)n, sizeof *sum);
    double *mass = fixture_array((size_t)f.n, sizeof *mass);
    double *K = fixture_array(9 * (size_t)p->nnz, sizeof *K);
    const double scale = 0.25;
    fixture_deform(&f, 0.15, 5, q);
    fixture_random(n, 6, d);
    for (int i = 0; i < f.n; i++)
        mass[i] = 1.0 + i;
    assert_int_equal(pl_elastic_evaluate(f.el, q, false, scale, mass, g, K).inadmissible, -1);
    for (int i = 0; i < f.n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            int mirror = pl_pattern_find(p, p->col[k], i);
            for (int c = 0; c < 9; c++)
                assert_true(K[9 * k + c] == K[9 * mirror + 3 * (c % 3) + c / 3] || k == mirror);
            for (int c = 0; c < 9 && k == mirror; c++)
                assert_close(K[9 * k + c], K[9 * k + 3 * (c % 3) + c / 3], 1e-14 * fabs(K[9 * k]));
        }
    pl_bsr_multiply(2, p, K, d, Kd);
    double best = 1e300;
    for (double h = 1e-3; h > 1e-6; h *= 0.25) {
        const double at[4] = {-2, -1, 1, 2}, c[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < n; i++)
                x[i] = q[i] + at[s] * h * d[i];
            pl_elastic_evaluate(f.el, x, false, 1.0, NULL, g, NULL);
            for (int i = 0; i < n; i++)
                sum[i] += scale * c[s] * g[i] / h;
        }
        double error = 0.0;
        for (int i = 0; i < n; i++)
            error = fmax(error, fabs(sum[i] + mass[i / 3] * d[i] - Kd[i]));
        best = fmin(best, error / (fixture_max(n, sum)));
    }
    print_message("tangent against gradient: %.2g\n", best);
    assert_true(best < 1e-10);
    free(q), free(d), free(Kd), free(x), free(g), free(sum), free(mass), free(K);
    fixture_free(&f);
}

/* Enough elements for several portions and for threads to be woken. */
static fixture fixture_large(int threads)
{
    fixture f = {.body_count = 2};
    fixture_box(&f.bodies[0], (int[]){15, 14, 14}, 0.1);
    f.bodies[0].model = PL_NEO_HOOKEAN;
    fixture_sheet(&f.bodies[1], 40, 30, (double[]){0.1, 0.0, 0.0}, (double[]){0.0, 0.1, 0.0});
    f.bodies[1].reading = PL_PROJECTIVE;
    fixture_finish(&f, threads);
    return f;
}

/* Bit for bit the same on any number of threads. */
static void compare_threads(fixture (*make)(int threads), bool clamp)
{
    double *kept[3] = {0}, energy = 0.0;
    for (int threads = 1; threads <= 3; threads++) {
        fixture f = make(threads);
        size_t n = 3 * (size_t)f.n, nnz = (size_t)pl_elastic_pattern(f.el)->nnz;
        double *q = fixture_array(n, sizeof *q);
        double *now[3] = {fixture_array(n, 8), fixture_array(9 * nnz, 8), fixture_array(n, 8)};
        fixture_deform(&f, 0.15, 5, q);
        double e = pl_elastic_evaluate(f.el, q, clamp, 0.1, NULL, now[0], now[1]).energy;
        pl_elastic_param_jvp(f.el, q, f.young, f.poisson, f.bending, 1.0, now[2]);
        for (int i = 0; i < 3; i++)
            if (threads == 1) {
                kept[i] = now[i];
                energy = e;
            } else {
                assert_memory_equal(kept[i], now[i], (i == 1 ? 9 * nnz : n) * sizeof(double));
                assert_true(e == energy);
                free(now[i]);
            }
        free(q);
        fixture_free(&f);
    }
    for (int i = 0; i < 3; i++)
        free(kept[i]);
}

static void test_threads(void **state)
{
    (void)state;
    compare_threads(fixture_all, true);
    compare_threads(fixture_large, false);
}

/* Turning one tet of the exact Neo-Hookean body inside out is noticed, and named. */
static void test_inadmissible(void **state)
{
    (void)state;
    fixture f = fixture_all(2);
    double *q = fixture_array(3 * (size_t)f.n, sizeof *q);
    int before = 0;
    for (int b = 0; b < f.body_count; before += f.bodies[b++].element_count) {
        const pl_elastic_body *body = &f.bodies[b];
        memcpy(q, f.rest, 3 * (size_t)f.n * sizeof *q);
        /* Reflecting the body turns all of its tets inside out; cloth does not mind. */
        for (int i = 0; i < body->vertex_count; i++)
            q[3 * (body->vertex_offset + i)] *= -1.0;
        bool expected = body->model == PL_NEO_HOOKEAN && body->reading == PL_EXACT && !body->cloth;
        int found = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).inadmissible;
        assert_int_equal(found, expected ? before : -1);
        if (!expected)
            continue;
        /* Only the last element of the body: its last vertex through the opposite corner. */
        memcpy(q, f.rest, 3 * (size_t)f.n * sizeof *q);
        int last = body->vertex_offset + body->vertex_count - 1;
        for (int c = 0; c < 3; c++)
            q[3 * last + c] -= 0.25;
        found = pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).inadmissible;
        assert_in_range(found, before + body->element_count - 6, before + body->element_count - 1);
    }
    free(q);
    fixture_free(&f);
}

/* Rows of the constant matrix add up to the diagonal given; where all vertices on the boundary are held
 * it bounds the tangent at rest. */
static void test_constant(void **state)
{
    (void)state;
    for (int model = PL_ARAP; model <= PL_NEO_HOOKEAN; model++)
        for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++) {
            fixture f = {.body_count = 1};
            fixture_box(&f.bodies[0], (int[]){5, 5, 5}, 0.1);
            f.bodies[0].model = (pl_material)model;
            f.bodies[0].reading = (pl_reading)reading;
            fixture_finish(&f, 2);
            for (int e = 0; e < f.m; e++)
                f.young[e] = 100.0, f.poisson[e] = 0.4;
            pl_elastic_set_material(f.el, f.young, f.poisson, f.bending);
            const pl_pattern *p = pl_elastic_pattern(f.el);
            double *A = fixture_array((size_t)p->nnz, sizeof *A),
                   *K = fixture_array(9 * (size_t)p->nnz, 8);
            double *u = fixture_array(3 * (size_t)f.n, 8), *Ku = fixture_array(3 * (size_t)f.n, 8);
            double *mass = fixture_array((size_t)f.n, sizeof *mass);
            for (int i = 0; i < f.n; i++)
                mass[i] = 0.5 + i;
            pl_elastic_constant(f.el, 2.0, mass, A);
            for (int i = 0; i < f.n; i++) {
                double sum = -mass[i];
                for (int k = p->row[i]; k < p->row[i + 1]; k++) {
                    sum += A[k];
                    assert_true(A[k] == A[pl_pattern_find(p, p->col[k], i)]);
                }
                assert_close(sum, 0.0, 1e-13 * A[p->diag[i]]);
            }
            pl_elastic_constant(f.el, 1.0, NULL, A);
            pl_elastic_evaluate(f.el, f.rest, false, 1.0, NULL, NULL, K);
            for (uint64_t seed = 1; seed < 30; seed++) {
                fixture_random(3 * f.n, seed, u);
                for (int i = 0; i < 3 * f.n; i++) {
                    const int at[3] = {i / 3 % 5, i / 15 % 5, i / 75};
                    for (int c = 0; c < 3; c++)
                        u[i] = at[c] == 0 || at[c] == 4 ? 0.0 : u[i];
                }
                pl_bsr_multiply(1, p, K, u, Ku);
                double uKu = fixture_dot(3 * f.n, u, Ku), uAu = 0.0;
                for (int i = 0; i < f.n; i++)
                    for (int k = p->row[i]; k < p->row[i + 1]; k++)
                        uAu += A[k] * pl_dot3(u + 3 * i, u + 3 * p->col[k]);
                assert_true(uKu > 0.0 && uKu < uAu);
            }
            free(A), free(K), free(u), free(Ku), free(mass);
            fixture_free(&f);
        }
}

typedef struct allocator {
    int live, made, fail_at;
} allocator;

static void *counting_realloc(void *user, void *ptr, size_t bytes)
{
    allocator *a = user;
    if (bytes == 0) {
        a->live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (a->made++ == a->fail_at)
        return NULL;
    a->live++;
    return malloc(bytes);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    bool failed = true;
    for (int fail_at = 1; failed; fail_at++) {
        allocator a = {.fail_at = fail_at};
        pl_context_def def = pl_context_def_default();
        def.threads = 1;
        def.realloc = counting_realloc;
        def.realloc_user = &a;
        pl_context *ctx = NULL;
        pl_elements *elements = NULL;
        pl_elastic *el = NULL;
        assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
        pl_status status = pl_elements_create(ctx, f.n, f.body_count, f.bodies, 0, NULL, &elements);
        if (status == PL_OK)
            status = pl_elastic_create(ctx, elements, &el);
        else
            assert_null(elements);
        failed = status != PL_OK;
        if (failed) {
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_null(el);
        }
        pl_elastic_destroy(el);
        pl_elements_destroy(elements);
        pl_context_destroy(ctx);
        assert_int_equal(a.live, 0);
        assert_true(fail_at < 100);
    }
    fixture_free(&f);
}

static void test_flat_element(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double rest[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    pl_elastic_body body = {
        .vertex_count = 4, .rest = rest, .element_count = 1, .elements = (int[]){0, 1, 2, 3}};
    pl_elements *elements = NULL;
    assert_int_equal(pl_elements_create(ctx, 4, 1, &body, 0, NULL, &elements), PL_ERROR_MESH);
    assert_null(elements);
    assert_non_null(strstr(pl_context_error(ctx), "body 0: element 0"));
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_tangent),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_inadmissible),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_flat_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
