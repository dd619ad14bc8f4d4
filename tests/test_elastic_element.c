/*
 * One element under chosen deformations: the gradient is the energy's derivative, the tangent the
 * gradient's, for every material, reading and kind of element, with equal singular values, compression
 * and (where the material allows) inversion.
 */
#include "common.h"

#include "core/vec.h"
#include "elastic/elastic.h"

#include <lapacke.h>

static const double tet_rest[12] = {0.1, 0.0, -0.05, 1.05, 0.1, 0.0, 0.15, 0.95, 0.1, 0.0, 0.2, 1.1};
static const double triangle_rest[9] = {0.1, 0.0, 0.3, 1.05, 0.1, 0.25, 0.15, 0.95, 0.1};
static const int corners[4] = {2, 0, 3, 1}, triangle_corners[3] = {2, 0, 1};

typedef struct one {
    pl_context *ctx;
    pl_elements *elements;
    pl_elastic *el;
    int n; /* vertices */
    const double *rest;
    bool cloth;
} one;

static one create_one(bool cloth, pl_material model, pl_reading reading)
{
    one o = {.ctx = test_context(1), .n = cloth ? 3 : 4, .cloth = cloth};
    o.rest = cloth ? triangle_rest : tet_rest;
    pl_elastic_body body = {.vertex_count = o.n,
                            .rest = o.rest,
                            .cloth = cloth,
                            .element_count = 1,
                            .elements = cloth ? triangle_corners : corners,
                            .model = model,
                            .reading = reading,
                            .thickness = 0.2};
    assert_ok(o.ctx, pl_elements_create(o.ctx, o.n, 1, &body, 0, NULL, &o.elements));
    assert_ok(o.ctx, pl_elastic_create(o.ctx, o.elements, &o.el));
    pl_elastic_set_material(o.el, (double[]){3.0}, (double[]){0.35}, (double[]){0.0});
    return o;
}

static void destroy_one(one *o)
{
    pl_elastic_destroy(o->el);
    pl_elements_destroy(o->elements);
    pl_context_destroy(o->ctx);
}

/* A rotation from a quaternion that is not special. */
static void rotation(uint64_t *seed, double R[9])
{
    double q[4], norm = 0.0;
    for (int i = 0; i < 4; i++)
        q[i] = test_random(seed), norm += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
    pl_quat_to_mat3(q, R);
}

/* q = U diag(s) V^T rest; for cloth s[2] scales what is across its plane only roughly, which is fine:
 * the two in-plane singular values are then near, not at, s[0] and s[1]. */
static void deform(const one *o, const double s[3], uint64_t seed, double *q)
{
    double U[9], V[9], x[3], y[3];
    rotation(&seed, U);
    rotation(&seed, V);
    if (o->cloth) {
        /* V's columns 0 and 1 in the sheet's plane. */
        double e[3], d[3];
        pl_sub3(o->rest + 3, o->rest, e);
        pl_sub3(o->rest + 6, o->rest, d);
        double c[3], normal[3], f[3], le = pl_norm3(e);
        pl_cross3(e, d, normal);
        double ln = pl_norm3(normal);
        for (int i = 0; i < 3; i++)
            e[i] /= le, normal[i] /= ln;
        pl_cross3(normal, e, f);
        for (int i = 0; i < 3; i++) {
            c[i] = 0.8 * e[i] + 0.6 * f[i];
            V[3 * i] = c[i], V[3 * i + 1] = -0.6 * e[i] + 0.8 * f[i], V[3 * i + 2] = normal[i];
        }
    }
    for (int k = 0; k < o->n; k++) {
        pl_mat3_tvec(V, o->rest + 3 * k, x);
        for (int i = 0; i < 3; i++)
            x[i] *= s[i];
        pl_mat3_vec(U, x, y);
        memcpy(q + 3 * k, y, sizeof y);
    }
}

static double energy_at(one *o, const double *q)
{
    pl_elastic_result r = pl_elastic_evaluate(o->el, q, false, 1.0, NULL, NULL, NULL);
    assert_int_equal(r.inadmissible, -1);
    return r.energy;
}

static void gradient_at(one *o, const double *q, double *g)
{
    assert_int_equal(pl_elastic_evaluate(o->el, q, false, 1.0, NULL, g, NULL).inadmissible, -1);
}

/* The best agreement over a sweep of steps, relative to the largest component. Fourth-order central
 * differences, whose own error is smallest near h = 1e-3. */
static void check_derivatives(one *o, const double *q, const char *what, double worst[2])
{
    enum { N = 12 };
    int n = 3 * o->n;
    double g[N], tangent[16 * 9], best_g = 1e300, best_t = 1e300;
    pl_elastic_result r = pl_elastic_evaluate(o->el, q, false, 1.0, NULL, g, tangent);
    assert_int_equal(r.inadmissible, -1);
    const pl_pattern *p = pl_elastic_pattern(o->el);
    for (double h = 1e-2; h > 2e-5; h *= 0.25) {
        double error_g = 0.0, error_t = 0.0, size_g = 1e-1, size_t_ = 1e-1;
        for (int j = 0; j < n; j++) {
            double e[4], gs[4][N], x[N];
            const double at[4] = {-2, -1, 1, 2}, c[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
            double de = 0.0, dg[N] = {0};
            for (int s = 0; s < 4; s++) {
                memcpy(x, q, sizeof(double) * (size_t)n);
                x[j] += at[s] * h;
                e[s] = energy_at(o, x);
                gradient_at(o, x, gs[s]);
                de += c[s] * e[s] / h;
                for (int i = 0; i < n; i++)
                    dg[i] += c[s] * gs[s][i] / h;
            }
            error_g = fmax(error_g, fabs(de - g[j]));
            size_g = fmax(size_g, fabs(g[j]));
            for (int i = 0; i < n; i++) {
                int k = pl_pattern_find(p, i / 3, j / 3);
                double t = tangent[9 * k + 3 * (i % 3) + j % 3];
                error_t = fmax(error_t, fabs(dg[i] - t));
                size_t_ = fmax(size_t_, fabs(t));
            }
        }
        best_g = fmin(best_g, error_g / size_g);
        best_t = fmin(best_t, error_t / size_t_);
    }
    if (best_g > 1e-9 || best_t > 1e-9)
        fail_msg("%s: gradient off by %.2g, tangent by %.2g", what, best_g, best_t);
    worst[0] = fmax(worst[0], best_g);
    worst[1] = fmax(worst[1], best_t);
}

static const double admissible[][3] = {
    {1, 1, 1},       {1 + 1e-9, 1, 1 - 1e-9}, {1.3, 1.3, 0.8}, {1.3, 1.3 + 1e-7, 0.8},
    {2.5, 0.7, 0.6}, {0.6, 0.55, 0.5},        {1.2, 1.0, 0.9}, {1.1, 0.4, 0.4 - 1e-11},
    {1.6, 1.5, 1.5},
};
static const double inverted[][3] = {
    {1.2, 0.9, -0.3}, {1.0, 1.0, -0.5}, {0.8, 0.6, -0.4}, {1.3, 0.7, 0.0}, {2.0, 0.3, -0.05},
};

/* Where the projection of Neo-Hookean leaves its usual branch. */
static const double expanded[][3] = {{5.0, 5.0, 1.0}, {9.5, 1.0, 1.0}, {4.0, 3.0, 2.0}};

static void check_material(pl_material model, pl_reading reading, double worst[2])
{
    for (int cloth = 0; cloth < 2; cloth++) {
        one o = create_one(cloth, model, reading);
        char what[100];
        double q[12];
        for (size_t i = 0; i < sizeof admissible / sizeof *admissible; i++) {
            snprintf(what, sizeof what, "model %d reading %d cloth %d deformation %zu", (int)model,
                     (int)reading, cloth, i);
            deform(&o, admissible[i], 7 + i, q);
            check_derivatives(&o, q, what, worst);
        }
        for (size_t i = 0; i < sizeof inverted / sizeof *inverted && !cloth; i++) {
            if (model == PL_NEO_HOOKEAN && reading == PL_EXACT)
                continue;
            snprintf(what, sizeof what, "model %d reading %d inverted %zu", (int)model, (int)reading,
                     i);
            deform(&o, inverted[i], 3 + i, q);
            check_derivatives(&o, q, what, worst);
        }
        for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++) {
            snprintf(what, sizeof what, "model %d reading %d cloth %d expanded %zu", (int)model,
                     (int)reading, cloth, i);
            deform(&o, expanded[i], 17 + i, q);
            check_derivatives(&o, q, what, worst);
        }
        destroy_one(&o);
    }
}

static void test_derivatives(void **state)
{
    (void)state;
    double worst[2] = {0};
    for (int model = PL_ARAP; model <= PL_NEO_HOOKEAN; model++)
        for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++)
            check_material((pl_material)model, (pl_reading)reading, worst);
    print_message("gradient %.2g, tangent %.2g\n", worst[0], worst[1]);
}

/* The element's tangent as a dense symmetric matrix [3n, 3n]. */
static void dense_tangent(one *o, const double *q, bool clamp, double *dense)
{
    double tangent[16 * 9];
    const pl_pattern *p = pl_elastic_pattern(o->el);
    assert_int_equal(pl_elastic_evaluate(o->el, q, clamp, 1.0, NULL, NULL, tangent).inadmissible, -1);
    for (int i = 0; i < 3 * o->n; i++)
        for (int j = 0; j < 3 * o->n; j++)
            dense[3 * o->n * i + j] =
                tangent[9 * pl_pattern_find(p, i / 3, j / 3) + 3 * (i % 3) + j % 3];
}

/* The clamped tangent is positive semi-definite and bounds the true one; where that is positive
 * semi-definite itself the two are the same. */
static void check_clamped(one *o, const double *q, int *indefinite)
{
    int n = 3 * o->n;
    double exact[144], clamped[144], difference[144], copy[144], w[12], size = 0.0;
    dense_tangent(o, q, false, exact);
    dense_tangent(o, q, true, clamped);
    for (int i = 0; i < n * n; i++) {
        difference[i] = clamped[i] - exact[i];
        size = fmax(size, fabs(exact[i]));
    }
    memcpy(copy, clamped, sizeof copy);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', n, copy, n, w), 0);
    assert_true(w[0] > -1e-13 * size);
    memcpy(copy, difference, sizeof copy);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', n, copy, n, w), 0);
    assert_true(w[0] > -1e-13 * size);
    double change = fmax(fabs(w[0]), fabs(w[n - 1]));
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', n, exact, n, w), 0);
    if (w[0] > -1e-13 * size)
        assert_true(change < 1e-13 * size);
    else
        (*indefinite)++;
}

static void test_clamped(void **state)
{
    (void)state;
    int indefinite = 0;
    double q[12];
    for (int model = PL_ARAP; model <= PL_NEO_HOOKEAN; model++)
        for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++)
            for (int cloth = 0; cloth < 2; cloth++) {
                one o = create_one(cloth, (pl_material)model, (pl_reading)reading);
                for (size_t i = 0; i < sizeof admissible / sizeof *admissible; i++) {
                    deform(&o, admissible[i], 7 + i, q);
                    check_clamped(&o, q, &indefinite);
                }
                for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++) {
                    deform(&o, expanded[i], 7 + i, q);
                    check_clamped(&o, q, &indefinite);
                }
                bool any = !cloth && (model != PL_NEO_HOOKEAN || reading != PL_EXACT);
                for (size_t i = 0; any && i < sizeof inverted / sizeof *inverted; i++) {
                    deform(&o, inverted[i], 7 + i, q);
                    check_clamped(&o, q, &indefinite);
                }
                destroy_one(&o);
            }
    assert_true(indefinite > 20);
}

/* sigma_2 + sigma_3 = 0 and sheets collapsed to a line or a point: nothing is infinite. */
static void test_singular(void **state)
{
    (void)state;
    static const double values[][3] = {{1, 0.5, -0.5}, {1, 1, -1}, {1, 0, 0}, {0, 0, 0}};
    for (int model = PL_ARAP; model <= PL_NEO_HOOKEAN; model++)
        for (int cloth = 0; cloth < 2; cloth++)
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                one o = create_one(cloth, (pl_material)model, PL_PROJECTIVE);
                double q[12], g[12], dense[144];
                deform(&o, values[i], 5, q);
                assert_true(isfinite(energy_at(&o, q)));
                gradient_at(&o, q, g);
                for (int j = 0; j < 3 * o.n; j++)
                    assert_true(isfinite(g[j]));
                for (int clamp = 0; clamp < 2; clamp++) {
                    dense_tangent(&o, q, clamp, dense);
                    for (int j = 0; j < 9 * o.n * o.n; j++)
                        assert_true(isfinite(dense[j]));
                }
                destroy_one(&o);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
