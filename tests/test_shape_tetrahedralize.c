/* Surfaces to meshes: analytic shapes, wanted counts, several pieces, thin parts, broken input. */
#include "test_shape_common.h"

static pl_mesh *mesh_soup(pl_context *ctx, const soup *s, pl_tetrahedralize_def def,
                          pl_tetrahedralize_report *report)
{
    pl_mesh *surface = soup_mesh(ctx, s), *mesh = NULL;
    assert_ok(ctx, pl_tetrahedralize(ctx, surface, &def, &mesh, report));
    pl_mesh_free(ctx, surface);
    return mesh;
}

static const double origin[3] = {0.1, 0.2, 0.3}, unit[3] = {1, 1, 1};

/* Halving the cell divides the missing volume by about four: chords of a curved surface. */
static void volume_converges(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int shape = 0; shape < 2; shape++) {
        soup *s = soup_new();
        if (shape == 0)
            soup_ball(s, origin, unit, 40);
        else
            soup_torus(s, 1, 0.45, 80, 40);
        double error[2];
        for (int k = 0; k < 2; k++) {
            pl_tetrahedralize_report r;
            pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = k ? 0.09 : 0.18}, &r);
            check_solid(ctx, mesh, 1);
            assert_true(r.min_dihedral > 10.7 && r.max_dihedral < 164.8);
            assert_int_equal(r.vertices, mesh->vertex_count);
            error[k] = r.volume_error;
            pl_mesh_free(ctx, mesh);
        }
        assert_true(error[0] < 0 && error[0] > -0.05);
        assert_true(error[1] / error[0] > 0.18 && error[1] / error[0] < 0.33);
        free(s);
    }
    pl_context_destroy(ctx);
}

/* The lattice fits the walls of this box: its volume is exact but for edges cut off by half cells. */
static void box_volume(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    soup *s = soup_new();
    soup_box(s, (double[3]){0, 0, 0}, (double[3]){1, 2, 1.5});
    double last = 1;
    for (int k = 0; k < 3; k++) {
        pl_tetrahedralize_report r;
        pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.37 / (1 << k)}, &r);
        check_solid(ctx, mesh, 1);
        assert_close(r.surface.volume, 3, 1e-12);
        assert_true(fabs(r.volume_error) < 0.4 * last && r.volume_error < 1e-9);
        last = fabs(r.volume_error);
        pl_mesh_free(ctx, mesh);
    }
    free(s);
    pl_context_destroy(ctx);
}

static void wanted_counts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    soup *s = soup_new();
    soup_ball(s, origin, (double[3]){1, 0.6, 0.3}, 20);
    soup_ball(s, (double[3]){1, 0.2, 0.3}, (double[3]){0.4, 0.4, 0.5}, 16);
    const int wanted[] = {100, 300, 1000, 5000};
    for (int k = 0; k < 4; k++) {
        pl_tetrahedralize_report r;
        pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.vertices = wanted[k]}, &r);
        assert_true(abs(mesh->vertex_count - wanted[k]) <= wanted[k] / 10);
        check_solid(ctx, mesh, 1);
        pl_mesh_free(ctx, mesh);
    }
    free(s);
    pl_context_destroy(ctx);
}

/* Two balls apart are two components, overlapping one, one within the other turned inward a shell. */
static void several_pieces(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double far[3] = {2.5, 0, 0}, near[3] = {1.2, 0, 0}, zero[3] = {0}, half[3] = {0.5, 0.5, 0.5};
    for (int c = 0; c < 3; c++) {
        soup *s = soup_new();
        soup_ball(s, zero, unit, 24);
        int outer = s->triangle_count;
        soup_ball(s, c == 0 ? far : c == 1 ? near : zero, c == 2 ? half : unit, 24);
        if (c == 2)
            soup_flip(s, outer, s->triangle_count - outer);
        pl_tetrahedralize_report r;
        pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.15}, &r);
        check_solid(ctx, mesh, c == 0 ? 2 : 1);
        assert_int_equal(r.surface.shells, 2);
        assert_int_equal(r.surface.inverted_shells, 0);
        double ball = 4 * M_PI / 3, d = 1.2;
        double lens = M_PI * (4 + d) * (2 - d) * (2 - d) / 12;
        double expected = c == 0 ? 2 * ball : c == 1 ? 2 * ball - lens : ball * 7 / 8;
        assert_close(r.volume / expected, 1, 0.03); /* facets and chords at this cell */
        assert_int_equal(r.surface.crossing > 0, c == 1);
        assert_int_equal(isnan(r.volume_error), c == 1);
        pl_mesh_free(ctx, mesh);
        free(s);
    }
    pl_context_destroy(ctx);
}

/* A hair much thinner than the cell falls to pieces: they are dropped and said. */
static void thin_parts(void **state)
{
    (void)state;
    journal j;
    pl_context *ctx = journal_context(&j);
    soup *s = soup_new();
    soup_ball(s, (double[3]){0, 0, 0}, unit, 24);
    soup_ball(s, (double[3]){1.6, 0, 0}, (double[3]){1.2, 0.1, 0.1}, 24);
    pl_tetrahedralize_report r;
    pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.33}, &r);
    check_solid(ctx, mesh, r.components);
    assert_true(r.dropped_volume > 1e-3 * r.volume);
    assert_non_null(strstr(j.text, "parts are thinner than the cell of 0.33 m"));
    pl_mesh_free(ctx, mesh);
    /* At half the hair's thickness only its tip is lost. */
    mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.09}, &r);
    check_solid(ctx, mesh, 1);
    assert_true(r.dropped_volume < 1e-4 * r.volume && r.volume > 4.17);
    pl_mesh_free(ctx, mesh);
    /* A plate thinner than any cell has nothing left, which is an error with the cell in it. */
    soup *plate = soup_new();
    soup_box(plate, (double[3]){0, 0, 0.013}, (double[3]){1, 1, 0.017});
    pl_mesh *surface = soup_mesh(ctx, plate), *none = NULL;
    pl_status status =
        pl_tetrahedralize(ctx, surface, &(pl_tetrahedralize_def){.cell = 0.3}, &none, NULL);
    if (status == PL_OK) {
        check_solid(ctx, none, 1);
        pl_mesh_free(ctx, none);
    } else {
        assert_int_equal(status, PL_ERROR_MESH);
        assert_non_null(strstr(pl_context_error(ctx), "0.3 m"));
    }
    pl_mesh_free(ctx, surface);
    free(plate);
    free(s);
    pl_context_destroy(ctx);
}

/* Each fault of a ball is reported by count and word, and the mesh is still the ball. */
static void broken_surfaces(void **state)
{
    (void)state;
    enum { HOLE, FLIPPED, INVERTED, SPLIT, DUPLICATE, DEGENERATE, CASES };
    static const char *const says[CASES] = {"edges have one triangle",
                                            "triangles were turned",
                                            "inside out",
                                            "",
                                            "repeated",
                                            "without area"};
    for (int c = 0; c < CASES; c++) {
        journal j;
        pl_context *ctx = journal_context(&j);
        soup *s = soup_new();
        soup_ball(s, origin, unit, 20);
        int n = s->triangle_count;
        if (c == HOLE)
            memmove(s->triangles + 3 * 300, s->triangles + 3 * 304, 12 * (size_t)(n - 304)),
                s->triangle_count -= 4;
        if (c == FLIPPED)
            soup_flip(s, 100, 60);
        if (c == INVERTED)
            soup_flip(s, 0, n);
        if (c == DUPLICATE)
            for (int k = 0; k < 10; k++)
                soup_triangle(s, s->triangles[3 * k + 1], s->triangles[3 * k + 2], s->triangles[3 * k]);
        if (c == DEGENERATE) {
            int v = s->triangles[300], w = s->triangles[301];
            const double *x = s->vertices + 3 * v, *y = s->vertices + 3 * w;
            int u = soup_vertex(s, (x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2);
            soup_triangle(s, v, w, u);
        }
        if (c == SPLIT) { /* no shared vertices at all, as in an STL file */
            soup *apart = soup_new();
            for (int k = 0; k < 3 * n; k++) {
                const double *x = s->vertices + 3 * s->triangles[k];
                apart->triangles[k] = soup_vertex(apart, x[0], x[1], x[2]);
            }
            apart->triangle_count = n;
            free(s);
            s = apart;
        }
        pl_tetrahedralize_report r;
        pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.2}, &r);
        check_solid(ctx, mesh, 1);
        assert_close(r.volume, 4 * M_PI / 3, 0.1);
        const pl_surface_report *q = &r.surface;
        assert_int_equal(q->open_edges, c == HOLE ? 6 : 0);
        assert_int_equal(q->turned, c == FLIPPED ? 60 : 0);
        assert_int_equal(q->inverted_shells, c == INVERTED ? 1 : 0);
        assert_int_equal(q->merged, c == SPLIT ? 3 * n - 762 : 0);
        assert_int_equal(q->duplicate, c == DUPLICATE ? 10 : 0);
        assert_int_equal(q->degenerate, c == DEGENERATE ? 1 : 0);
        assert_int_equal(q->shells, 1);
        assert_int_equal(isnan(q->volume), c == HOLE);
        if (!strstr(j.text, says[c]))
            fail_msg("case %d said: %s", c, j.text);
        if (c == SPLIT)
            assert_string_equal(j.text, "");
        pl_mesh_free(ctx, mesh);
        free(s);
        pl_context_destroy(ctx);
    }
}

/* A hole many cells wide: the winding number closes it where the surface would be. */
static void large_hole(void **state)
{
    (void)state;
    journal j = {0};
    pl_context *ctx = journal_context(&j);
    soup *s = soup_new();
    soup_box(s, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1});
    s->triangle_count--;
    pl_tetrahedralize_report r;
    pl_mesh *mesh = mesh_soup(ctx, s, (pl_tetrahedralize_def){.cell = 0.1}, &r);
    check_solid(ctx, mesh, 1);
    assert_int_equal(r.surface.open_edges, 3);
    assert_close(r.volume, 1, 0.02);
    pl_mesh_free(ctx, mesh);
    free(s);
    pl_context_destroy(ctx);
}

static void refusals(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    soup *s = soup_new();
    for (int k = 0; k < 3; k++)
        soup_vertex(s, k == 1, k == 2, 0);
    soup_triangle(s, 0, 1, 2);
    pl_mesh *surface = soup_mesh(ctx, s), *mesh = NULL;
    assert_int_equal(pl_tetrahedralize(ctx, surface, NULL, &mesh, NULL), PL_ERROR_MESH);
    assert_non_null(strstr(pl_context_error(ctx), "encloses no volume"));
    surface->vertices[4] = INFINITY;
    assert_int_equal(pl_tetrahedralize(ctx, surface, NULL, &mesh, NULL), PL_ERROR_MESH);
    assert_non_null(strstr(pl_context_error(ctx), "vertex 1"));
    pl_mesh_free(ctx, surface);
    memset(s, 0, sizeof *s);
    soup_box(s, (double[3]){0, 0, 0}, unit);
    surface = soup_mesh(ctx, s);
    const struct {
        pl_tetrahedralize_def def;
        const char *says;
    } bad[] = {{{.cell = -1}, "cell is -1"},
               {{.cell = NAN}, "cell is"},
               {{.vertices = -5}, "vertices is -5"},
               {{.cell = 1, .vertices = 5}, "not both"},
               {{.vertices = 2000000}, "2000000 vertices and 12000000 elements are too many"},
               {{.cell = 0.004}, "lattice points"},
               {{.cell = 1e-7}, "too small"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(pl_tetrahedralize(ctx, surface, &bad[k].def, &mesh, NULL), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), bad[k].says));
    }
    assert_null(mesh);
    pl_mesh_free(ctx, surface);
    free(s);
    pl_context_destroy(ctx);
}

/* The allocator fails once, at every allocation in turn: an error each time, and nothing leaks. */
typedef struct failing {
    int countdown, live;
} failing;

static void *failing_realloc(void *user, void *ptr, size_t bytes)
{
    failing *f = user;
    if (bytes == 0) {
        f->live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (f->countdown-- == 0)
        return NULL;
    f->live += ptr == NULL;
    return realloc(ptr, bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    soup *s = soup_new();
    soup_ball(s, (double[3]){0}, unit, 4);
    soup_ball(s, (double[3]){3, 0, 0}, unit, 4);
    pl_mesh surface = {.vertex_count = s->vertex_count,
                       .vertices = s->vertices,
                       .triangle_count = s->triangle_count,
                       .triangles = s->triangles};
    bool done = false;
    for (int fail_at = 0; !done; fail_at++) {
        failing f = {.countdown = -1};
        pl_context_def def = pl_context_def_default();
        def.threads = 1, def.realloc = failing_realloc, def.realloc_user = &f;
        pl_context *ctx = NULL;
        assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
        f.countdown = fail_at;
        pl_mesh *mesh = NULL, *shape = NULL;
        pl_embedding *embedding = NULL;
        pl_status status =
            pl_tetrahedralize(ctx, &surface, &(pl_tetrahedralize_def){.cell = 0.8}, &mesh, NULL);
        if (status == PL_OK)
            status = pl_embedding_create(ctx, mesh, 10, s->vertices, &embedding);
        if (status == PL_OK)
            status = pl_shape_build(ctx, "gingerbread-cloth", 100, &shape);
        done = f.countdown >= 0;
        assert_int_equal(status, done ? PL_OK : PL_ERROR_MEMORY);
        pl_mesh_free(ctx, mesh);
        pl_mesh_free(ctx, shape);
        pl_embedding_destroy(ctx, embedding);
        pl_context_destroy(ctx);
        assert_int_equal(f.live, 0);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_converges),
        cmocka_unit_test(box_volume),
        cmocka_unit_test(wanted_counts),
        cmocka_unit_test(several_pieces),
        cmocka_unit_test(thin_parts),
        cmocka_unit_test(broken_surfaces),
        cmocka_unit_test(large_hole),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
