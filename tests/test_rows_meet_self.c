/* Bodies that touch themselves: folding, twisting, gradients, what is refused. */
#include "common_meet.h"

/* A strip of cloth of 40 by 10 cm that stands nearly upright, its lower edge at height z. */
static pl_mesh *strip_mesh(pl_context *ctx, double cell, double z, double lean)
{
    const double from[3] = {0, 0, z};
    double about[4];
    pl_mesh *mesh = world_cloth(ctx, 0.4, 0.1, cell, 0, 0, 0);
    uint64_t seed = 5;
    for (int i = 0; i < 3 * mesh->vertex_count; i++) /* no vertex folds just onto another */
        mesh->vertices[i] += i % 3 < 2 ? 4e-3 * test_random(&seed) : 0;
    world_turn(0, 1, 0, lean - 1.5707963, about);
    pl_mesh_transform(mesh, 1, about, from);
    return mesh;
}

static pl_body_def cloth_body(bool self_contact)
{
    pl_body_def def = world_body(PL_COROTATED, PL_EXACT, 2e5);
    def.density = 300, def.bending = 1e-4;
    def.contact_offset = OFFSET;
    def.self_contact = self_contact;
    return def;
}

static test_world falling_strip(pl_context *ctx, double mu, bool self_contact)
{
    test_world w = world_new(ctx, touching(0.01, -9.81, mu));
    world_add(&w, cloth_body(self_contact), strip_mesh(ctx, 0.05, 0.02, 0.05));
    world_floor(&w, 0, 0.5);
    world_start(&w);
    return w;
}

/* It crumples on a floor; its parts stay apart, and bear on each other. */
static void a_strip_folds(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    const double friction[] = {0, 0.5};
    for (int f = 0; f < 2; f++) {
        test_world w = falling_strip(ctx, friction[f], true);
        run_checked(&w, 40);
        double most = 0;
        for (int c = 0; c < w.state->contact_count; c++)
            if (w.state->contacts[c].kind != PL_CONTACT_COLLIDER)
                most = fmax(most, w.state->contacts[c].force_normal);
        assert_true(most > 1e-3);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

/* The smallest distance of vertices and edges to parts of the body they do not belong to. */
static double nearest(test_world *w)
{
    pl_meet_rules rules = pl_model_meet_rules(w->sim->model);
    double least = INFINITY;
    pl_meet_search *search = &w->sim->solver.search;
    assert_ok(w->ctx, pl_meet_find(w->ctx, search, &rules, w->state->q, w->state->q, 0.01));
    for (int k = 0; k < search->count; k++)
        least = fmin(least, pl_meet_place(&rules, &search->found[k], w->state->q).distance);
    return least;
}

/* A strip whose ends are turned against each other by a turn and a half and moved together. */
static test_world twisted(pl_context *ctx)
{
    test_world w = world_new(ctx, touching(0.01, 0, 0.2));
    pl_body_def def = cloth_body(true);
    def.damping = 1;
    pl_mesh *mesh = world_cloth(ctx, 0.3, 0.06, 0.03, 0, 0, 0);
    int left[8], right[8], lefts = 0, rights = 0;
    for (int i = 0; i < mesh->vertex_count; i++) {
        if (mesh->vertices[3 * i] < 1e-9)
            left[lefts++] = i;
        if (mesh->vertices[3 * i] > 0.3 - 1e-9)
            right[rights++] = i;
    }
    world_add(&w, def, mesh);
    world_pin(&w, 0, lefts, left, 1e-9);
    pl_pin_def pin = pl_pin_def_default();
    const double times[2] = {0, 0.6}, offsets[6] = {0, 0, 0, -0.08, 0, 0},
                 turns[8] = {1, 0, 0, 0, 1, 0, 0, 9.42};
    pin.body = 0, pin.vertex_count = rights, pin.vertices = right, pin.compliance = 1e-9;
    pin.offset = (pl_table){2, times, offsets};
    pin.rotation = (pl_table){2, times, turns};
    pin.pivot[0] = 0.3, pin.pivot[1] = 0.03;
    assert_ok(ctx, pl_scene_add_pin(w.scene, &pin, NULL));
    world_start(&w);
    return w;
}

static void a_strip_twists(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = twisted(ctx);
    run_checked(&w, 60);
    assert_true(nearest(&w) > 1e-4);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void gradients_of_folding(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = falling_strip(ctx, 0.3, true);
    world_steps(&w, 24);
    pl_check_regimes met = term_check(&w,
                                      PL_BIT(PL_BODY_FRICTION) | PL_BIT(PL_VELOCITY) |
                                          PL_BIT(PL_POSITION) | PL_BIT(PL_YOUNG) | PL_BIT(PL_BENDING),
                                      5, 1e-6, "folding");
    assert_true(met.slip + met.stick > 10);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A strip that is folded over at x = 0.2 m, to z above where it is not; for z < 0 through itself. */
static void fold(int n, const double *flat, double z, double *out)
{
    for (int i = 0; i < n; i++) {
        double x = flat[3 * i];
        out[3 * i] = x < 0.22 ? x : 0.44 - x;
        out[3 * i + 1] = flat[3 * i + 1];
        out[3 * i + 2] = x < 0.22 ? 0 : x < 0.26 || z > 0 ? fabs(z) : z;
    }
}

static void refuse(double offset, double rest, double start, const char *what)
{
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, touching(0.01, 0, 0));
    pl_body_def def = cloth_body(true);
    pl_mesh *mesh = world_cloth(ctx, 0.4, 0.1, 0.05, 0, 0, 0);
    double folded[3 * 100];
    assert_true(mesh->vertex_count <= 100);
    def.contact_offset = offset;
    if (start != 0) {
        fold(mesh->vertex_count, mesh->vertices, start, folded);
        def.positions = folded;
    }
    if (rest != 0) {
        fold(mesh->vertex_count, mesh->vertices, rest, folded);
        memcpy(mesh->vertices, folded, sizeof(double) * 3 * (size_t)mesh->vertex_count);
    }
    world_add(&w, def, mesh);
    assert_int_equal(pl_sim_create(w.scene, &w.sim), PL_ERROR_ARGUMENT);
    if (!strstr(pl_context_error(ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), what);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void impossible_starts_are_refused(void **state)
{
    (void)state;
    refuse(0.03, 0, 0, "at most 0.025 m, half of its shortest edge");
    refuse(5e-3, 8e-3, 0, "from another part of it at rest");
    refuse(5e-3, 0, 8e-3, "from another part of it, and surfaces are kept 0.01 m apart");
    refuse(0, 0, -0.02, "passing through the body itself by 0.02 m: unfold it");
}

/* Bodies that are told not to touch do not; nor does a pair that a scene told to is left out. */
static void pairs_are_told(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        test_world w = world_new(ctx, touching(0.01, -9.81, 0));
        pl_body_def def = cloth_body(false);
        world_add(&w, def, world_cloth(ctx, 0.1, 0.1, 0.05, 0, 0, 0.01));
        world_add(&w, def, world_cloth(ctx, 0.1, 0.1, 0.05, 0.013, 0.011, 0.03));
        const int corners[3] = {0, 4, 8};
        world_pin(&w, 0, 3, corners, 1e-9);
        assert_ok(ctx, pl_scene_set_body_contact(w.scene, 1, 0, k == 0));
        assert_int_equal(pl_scene_get_body_contact(w.scene, 0, 1), k == 0);
        assert_false(pl_scene_get_body_contact(w.scene, 1, 1));
        assert_false(pl_scene_get_body_contact(w.scene, 0, 2));
        assert_ok(ctx, pl_scene_set_body_friction(w.scene, 1, 0, 0.7));
        world_start(&w);
        bool met = false;
        for (int s = 0; s < 15; s++) {
            world_step(&w);
            for (int c = 0; c < w.state->contact_count; c++)
                met |= w.state->contacts[c].force_normal > 1e-4;
        }
        assert_int_equal(met, k == 0);
        assert_close(w.scene->params.values->of[PL_BODY_FRICTION][1], 0.7, 0);
        assert_int_equal(pl_scene_set_body_friction(w.scene, 0, 2, 0.1), PL_ERROR_ARGUMENT);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strip_folds),        cmocka_unit_test(a_strip_twists),
        cmocka_unit_test(gradients_of_folding), cmocka_unit_test(impossible_starts_are_refused),
        cmocka_unit_test(pairs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
