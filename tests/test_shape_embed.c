/* Embedded points follow linear motions exactly, inside and near the body. */
#include "test_shape_common.h"

static void follows_linear_motion(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *coarse = NULL, *fine = NULL;
    assert_ok(ctx, pl_shape_build(ctx, "duck", 200, &coarse));
    assert_ok(ctx, pl_shape_build(ctx, "duck", 1500, &fine));
    pl_embedding *e = NULL;
    assert_ok(ctx, pl_embedding_create(ctx, coarse, fine->vertex_count, fine->vertices, &e));
    assert_int_equal(e->count, fine->vertex_count);
    const double a[9] = {1.1, 0.3, -0.2, 0.1, 0.8, 0.4, -0.5, 0.2, 1.3}, b[3] = {0.5, -1, 2};
    double *q = malloc(24 * (size_t)coarse->vertex_count), *x = malloc(24 * (size_t)e->count);
    for (int k = 0; k < 3 * coarse->vertex_count; k++) {
        const double *p = coarse->vertices + k / 3 * 3, *row = a + k % 3 * 3;
        q[k] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + b[k % 3];
    }
    pl_embedding_apply(e, q, x);
    for (int k = 0; k < 3 * e->count; k++) {
        const double *p = fine->vertices + k / 3 * 3, *row = a + k % 3 * 3;
        assert_close(x[k], row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + b[k % 3], 1e-12);
    }
    for (int k = 0; k < e->count; k++) {
        double sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += e->weight[4 * k + i];
            /* Fine vertices are at most about a coarse cell outside: extrapolation stays mild. */
            assert_true(fabs(e->weight[4 * k + i]) < 3);
        }
        assert_close(sum, 1, 1e-14);
    }
    pl_embedding_destroy(ctx, e);
    free(q);
    free(x);
    pl_mesh_free(ctx, coarse);
    pl_mesh_free(ctx, fine);
    pl_context_destroy(ctx);
}

/* A point made inside a known tet is found there: all weights are those it was made with. */
static void finds_the_holding_tet(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_shape_build(ctx, "bunny", 300, &mesh));
    double *points = calloc((size_t)mesh->tet_count, 24);
    uint64_t seed = 4;
    for (int t = 0; t < mesh->tet_count; t++) {
        double w[4], sum = 0;
        for (int k = 0; k < 4; k++)
            sum += w[k] = 1.05 + test_random(&seed);
        for (int k = 0; k < 12; k++)
            points[3 * t + k % 3] +=
                w[k / 3] / sum * mesh->vertices[3 * mesh->tets[4 * t + k / 3] + k % 3];
    }
    pl_embedding *e = NULL;
    assert_ok(ctx, pl_embedding_create(ctx, mesh, mesh->tet_count, points, &e));
    for (int t = 0; t < mesh->tet_count; t++)
        assert_memory_equal(e->vertex + 4 * t, mesh->tets + 4 * t, 4 * sizeof(int));
    pl_embedding_destroy(ctx, e);
    free(points);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void refuses_what_it_cannot_place(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *cloth = NULL, *box = NULL;
    double point[3] = {0.1, NAN, 0.1};
    pl_embedding *e = NULL;
    assert_ok(ctx, pl_shape_build(ctx, "towel", 50, &cloth));
    assert_int_equal(pl_embedding_create(ctx, cloth, 1, cloth->vertices, &e), PL_ERROR_ARGUMENT);
    assert_null(e);
    pl_mesh_free(ctx, cloth);
    assert_ok(ctx, pl_mesh_box(ctx, (const double[]){1, 1, 1}, 0.5, &box));
    assert_int_equal(pl_embedding_create(ctx, box, 1, point, &e), PL_ERROR_ARGUMENT);
    point[1] = 0.1;
    box->tets[5] = 99;
    assert_int_equal(pl_embedding_create(ctx, box, 1, point, &e), PL_ERROR_MESH);
    assert_non_null(strstr(pl_context_error(ctx), "tet 1"));
    assert_null(e);
    pl_mesh_free(ctx, box);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_linear_motion),
        cmocka_unit_test(finds_the_holding_tet),
        cmocka_unit_test(refuses_what_it_cannot_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
