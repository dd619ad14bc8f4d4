/* Volume resisted by patches: which tets they have, derivatives, what stays as it was, what no longer
 * locks. */
#include "terms_derivatives.h"

#include "terms/mean_volume.h"

extern const pl_term pl_term_mean_volume;

static pl_mesh *grid(pl_context *ctx, int x, int y, int z, double spacing)
{
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){x, y, z}, spacing, PL_CUT_ALTERNATING, &mesh));
    return mesh;
}

/* Every tet is in one patch, none is larger than allowed, few are small; cubes are patches. */
static void patches_cover_the_body(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int kind = 0; kind < 3; kind++) {
        pl_mesh *mesh = NULL;
        int count = 0;
        if (kind == 0)
            mesh = grid(ctx, 4, 3, 5, 0.1);
        else if (kind == 1)
            mesh = world_grid(ctx, 4, 3, 5, 0.1, 0, 0, 0);
        else
            assert_ok(ctx, pl_mesh_ellipsoid(ctx, (const double[3]){0.1, 0.1, 0.05}, 0.02, &mesh));
        int *of = malloc(sizeof *of * (size_t)mesh->tet_count),
            *size = calloc((size_t)mesh->tet_count, sizeof *size), small = 0;
        assert_ok(ctx, pl_mesh_patches(ctx, mesh, &count, of));
        for (int t = 0; t < mesh->tet_count; t++) {
            assert_in_range(of[t], 0, count - 1);
            size[of[t]]++;
            assert_true(kind > 0 || of[t] == of[t / 5 * 5]);
        }
        for (int p = 0; p < count; p++) {
            assert_in_range(size[p], 1, PL_PATCH_TETS);
            small += size[p] < 4;
        }
        if (small > (kind == 1 ? count / 4 : count / 20) || mesh->tet_count < 4 * count)
            fail_msg("mesh %d: %d tets in %d patches, %d of them small", kind, mesh->tet_count, count,
                     small);
        free(of);
        free(size);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

static test_world soft_block(pl_context *ctx, pl_scene_def def, double poisson, bool mean)
{
    test_world w = world_new(ctx, def);
    pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e4);
    body.poisson = poisson;
    body.mean_volume = mean;
    world_add(&w, body, grid(ctx, 3, 3, 2, 0.05));
    body.mean_volume = false;
    pl_mesh *other = world_grid(ctx, 2, 2, 2, 0.05, 0.3, 0, 0);
    world_add(&w, body, other);
    return w;
}

static void derivatives_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = soft_block(ctx, world_def(0.01, 0, 0, 0), 0.49, true);
    world_start(&w);
    double *q = term_shaken(&w, 0.01, 5);
    pl_substep s = term_substep(&w, 0.01);
    term_expect(&pl_term_mean_volume, &s, q, w.n, (term_limits){1e-9, 1e-8, 1e-12, 1e-7, 1e-13, 1e-12},
                "patches");
    free(q);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* Where all tets are strained alike, energy and stress are those of elements that resist by themselves.
 */
static void uniform_strain_is_the_same(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double energy[2][200], stress[2][1800];
    for (int mean = 0; mean < 2; mean++) {
        test_world w = soft_block(ctx, world_def(0.01, 0, 0, 0), 0.49, mean);
        world_start(&w);
        const double m[9] = {1.1, 0.05, -0.1, 0.02, 0.95, 0.1, 0, -0.03, 1.02};
        for (int i = 0; i < w.n; i++)
            pl_mat3_vec(m, w.state->q + 3 * i, w.state->q + 3 * i);
        assert_true(pl_scene_get_info(w.scene).element_count <= 200);
        assert_ok(ctx, pl_element_fields(w.sim, w.state, energy[mean], stress[mean], NULL));
        for (int e = 0; mean && e < pl_scene_get_info(w.scene).element_count; e++) {
            assert_close(energy[1][e], energy[0][e], 1e-12 * energy[0][e]);
            for (int k = 0; k < 9; k++)
                assert_close(stress[1][9 * e + k], stress[0][9 * e + k],
                             1e-11 * fabs(stress[0][9 * e]));
        }
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* The sag of a clamped bar under its weight, as much thinner a material lets it: a nearly
 * incompressible one bends about as one with a Poisson's ratio of 0.3 does, where single tets hold it
 * back. */
static void it_does_not_lock(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double sag[3];
    for (int k = 0; k < 3; k++) {
        test_world w = world_new(ctx, world_def(0.5, 0, 0, -9.81));
        pl_body_def body = world_body(PL_NEO_HOOKEAN, PL_EXACT, 2e5);
        body.poisson = k == 0 ? 0.3 : 0.499;
        body.mean_volume = k == 2;
        pl_mesh *mesh = grid(ctx, 11, 4, 4, 0.01);
        int held[16], count = 0, end = 0;
        for (int i = 0; i < mesh->vertex_count; i++) {
            if (mesh->vertices[3 * i] < 1e-9)
                held[count++] = i;
            if (mesh->vertices[3 * i] > 0.1 - 1e-9)
                end = i;
        }
        world_add(&w, body, mesh);
        world_pin(&w, 0, count, held, 1e-9);
        world_start(&w);
        double before = w.state->q[3 * end + 2];
        for (int i = 0; i < 20; i++) {
            memset(w.state->v, 0, sizeof(double) * 3 * (size_t)w.n);
            world_step(&w);
        }
        sag[k] = before - w.state->q[3 * end + 2];
        world_free(&w);
    }
    if (!(sag[1] < 0.75 * sag[0] && sag[2] > 0.9 * sag[0] && sag[2] < 1.1 * sag[0]))
        fail_msg("sags by %g at 0.3, %g and %g at 0.499", sag[0], sag[1], sag[2]);
    pl_context_destroy(ctx);
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int i = PL_EULER; i <= PL_BDF2; i++) {
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.integrator = (pl_integrator)i;
        test_world w = soft_block(ctx, def, 0.45, true);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        for (int k = 0; k < w.n; k++)
            w.state->v[3 * k] += 0.5 + 5 * w.state->q[3 * k + 2], w.state->v[3 * k + 2] -= 0.3;
        pl_check_regimes met = term_check(&w,
                                          PL_BIT(PL_POSITION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) |
                                              PL_BIT(PL_POISSON) | PL_BIT(PL_FRICTION),
                                          8, 1e-6, "mean volume");
        assert_true(met.slip > 0);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

static void solvers_agree(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double q[3][200];
    for (int k = 0; k < 3; k++) {
        pl_scene_def def = world_def(0.01, 0.5, 0, -9.81);
        def.solver = (pl_solver_kind)(PL_SOLVER_DIRECT + k);
        test_world w = soft_block(ctx, def, 0.3, true);
        world_floor(&w, -1e-3, 0.3);
        world_start(&w);
        world_steps(&w, 10);
        assert_true(3 * w.n <= 200);
        memcpy(q[k], w.state->q, sizeof(double) * 3 * (size_t)w.n);
        double apart = world_distance(3 * w.n, q[k], q[0]);
        if (!(apart < 1e-8))
            fail_msg("solver %d: %g m", k, apart);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

static void others_are_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, 0));
    pl_mesh *solid = grid(ctx, 2, 2, 2, 0.1), *sheet = NULL;
    assert_ok(ctx, pl_mesh_rectangle(ctx, 0.1, 0.1, 0.05, &sheet));
    for (int k = 0; k < 3; k++) {
        pl_body_def def =
            world_body(k == 0 ? PL_COROTATED : PL_NEO_HOOKEAN, k == 1 ? PL_PROJECTIVE : PL_EXACT, 1e5);
        def.mesh = k == 2 ? sheet : solid;
        def.mean_volume = true;
        assert_int_equal(pl_scene_add_body(w.scene, &def, NULL), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), "mean_volume"));
    }
    pl_mesh_free(ctx, solid);
    pl_mesh_free(ctx, sheet);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_cover_the_body),
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(uniform_strain_is_the_same),
        cmocka_unit_test(it_does_not_lock),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
