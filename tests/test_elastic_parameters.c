/* What E, nu and k_b mean, and the derivatives of the gradient with respect to them. */
#include "elastic_fixture.h"

/* z . d(grad)/d(xi_e) for a few elements of every body, against differences of the gradient. */
static void check_parameter(fixture *f, double *parameter, const double *derivative, const double *q,
                            const double *z, const char *name)
{
    double *g = fixture_array(3 * (size_t)f->n, sizeof *g), largest = fixture_max(f->m, derivative);
    double worst = 0.0;
    for (int e = 0; e < f->m; e += 29) {
        double kept = parameter[e], best = 1e300;
        for (double step = 0.05; step > 1e-4; step *= 0.25) {
            const double at[4] = {-2, -1, 1, 2}, c[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
            double h = step * kept, sum = 0.0;
            for (int s = 0; s < 4; s++) {
                parameter[e] = kept + at[s] * h;
                pl_elastic_set_material(f->el, f->young, f->poisson, f->bending);
                pl_elastic_evaluate(f->el, q, false, 1.0, NULL, g, NULL);
                sum += c[s] * fixture_dot(3 * f->n, g, z) / h;
            }
            best = fmin(best, fabs(sum - derivative[e]));
        }
        parameter[e] = kept;
        worst = fmax(worst, best / largest);
    }
    pl_elastic_set_material(f->el, f->young, f->poisson, f->bending);
    print_message("%s: %.2g\n", name, worst);
    assert_true(largest > 0.0);
    assert_true(worst < 1e-9);
    free(g);
}

static void test_derivatives(void **state)
{
    (void)state;
    fixture f = fixture_all(2);
    double *q = fixture_array(3 * (size_t)f.n, sizeof *q),
           *z = fixture_array(3 * (size_t)f.n, sizeof *z);
    double *out = fixture_array(3 * (size_t)f.n, sizeof *out);
    double *d = fixture_array(3 * (size_t)f.m, sizeof *d),
           *t = fixture_array(3 * (size_t)f.m, sizeof *t);
    fixture_deform(&f, 0.15, 4, q);
    fixture_random(3 * f.n, 5, z);
    pl_elastic_param_vjp(f.el, q, z, 1.0, d, d + f.m, d + 2 * f.m);
    check_parameter(&f, f.young, d, q, z, "young");
    check_parameter(&f, f.poisson, d + f.m, q, z, "poisson");
    check_parameter(&f, f.bending, d + 2 * f.m, q, z, "bending");

    /* Forwards and backwards are transposes, adding to what is there, with their scale. */
    fixture_random(3 * f.m, 6, t);
    pl_elastic_param_jvp(f.el, q, t, t + f.m, t + 2 * f.m, 0.5, out);
    pl_elastic_param_jvp(f.el, q, NULL, t + f.m, NULL, 0.5, out);
    pl_elastic_param_jvp(f.el, q, NULL, t + f.m, NULL, -0.5, out);
    double forward = fixture_dot(3 * f.n, z, out), backward = 0.5 * fixture_dot(3 * f.m, d, t);
    assert_close(forward / backward, 1.0, 1e-12);
    pl_elastic_param_vjp(f.el, q, z, -1.0, d, NULL, d + 2 * f.m);
    assert_close(fixture_max(f.m, d), 0.0, 0.0);
    assert_true(fixture_max(f.m, d + f.m) > 0.0);
    assert_close(fixture_max(f.m, d + 2 * f.m), 0.0, 0.0);
    free(q), free(z), free(out), free(d), free(t);
    fixture_free(&f);
}

/* The gradient is linear in every element's E: two sets of values add up. */
static void test_per_element(void **state)
{
    (void)state;
    fixture f = fixture_all(1);
    int n = 3 * f.n;
    double *q = fixture_array((size_t)n, 8), *g[3], *half = fixture_array((size_t)f.m, 8);
    for (int i = 0; i < 3; i++)
        g[i] = fixture_array((size_t)n, 8);
    fixture_deform(&f, 0.1, 8, q);
    memset(f.bending, 0, (size_t)f.m * sizeof *f.bending);
    for (int part = 0; part < 3; part++) {
        for (int e = 0; e < f.m; e++)
            half[e] = f.young[e] * (part == 2 ? 1.0 : (e + part) % 2 ? 0.25 : 0.75);
        pl_elastic_set_material(f.el, half, f.poisson, f.bending);
        pl_elastic_evaluate(f.el, q, false, 1.0, NULL, g[part], NULL);
    }
    for (int i = 0; i < n; i++)
        assert_close(g[0][i] + g[1][i], g[2][i], 1e-14 * fixture_max(n, g[2]));
    for (int i = 0; i < 3; i++)
        free(g[i]);
    free(q), free(half);
    fixture_free(&f);
}

/* A strip pulled by the strain s that contracts by nu s shows the stress E s along, none across. */
static void check_uniaxial(bool cloth, pl_material model, double tolerance)
{
    fixture f = {.body_count = 1};
    const double E = 2000.0, nu = 0.35, s = 1e-4;
    if (cloth)
        fixture_sheet(&f.bodies[0], 4, 3, (double[]){0.1, 0, 0}, (double[]){0, 0.1, 0});
    else
        fixture_box(&f.bodies[0], (int[]){4, 3, 3}, 0.1);
    f.bodies[0].model = model;
    f.bodies[0].reading = PL_EXACT;
    fixture_finish(&f, 1);
    for (int e = 0; e < f.m; e++)
        f.young[e] = E, f.poisson[e] = nu;
    pl_elastic_set_material(f.el, f.young, f.poisson, f.bending);
    double *q = fixture_array(3 * (size_t)f.n, 8), *cauchy = fixture_array(9 * (size_t)f.m, 8);
    double *mises = fixture_array((size_t)f.m, 8), *energy = fixture_array((size_t)f.m, 8), total = 0.0;
    for (int i = 0; i < 3 * f.n; i++)
        q[i] = f.rest[i] * (i % 3 == 0 ? 1.0 + s : 1.0 - nu * s);
    pl_elastic_fields(f.el, q, NULL, energy, cauchy, mises);
    for (int e = 0; e < f.m; e++) {
        total += energy[e];
        assert_close(energy[e] / (0.5 * E * s * s * pl_elements_volume(f.elements)[e]), 1.0, tolerance);
        assert_close(mises[e] / (E * s), 1.0, tolerance);
        for (int c = 0; c < 9; c++)
            assert_close(cauchy[9 * e + c] / (E * s), c == 0, tolerance);
    }
    assert_close(pl_elastic_evaluate(f.el, q, false, 1.0, NULL, NULL, NULL).energy / total, 1.0, 1e-12);
    free(q), free(cauchy), free(mises), free(energy);
    fixture_free(&f);
}

static void test_uniaxial(void **state)
{
    (void)state;
    for (int cloth = 0; cloth < 2; cloth++) {
        /* Co-rotational: linear in the stretches; Cauchy's division by area is of order s = 1e-4. */
        check_uniaxial(cloth, PL_COROTATED, 2e-4);
        /* Neo-Hookean: its own second-order terms, a few s. */
        check_uniaxial(cloth, PL_NEO_HOOKEAN, 5e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_per_element),
        cmocka_unit_test(test_uniaxial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
