/* What a scene and a rollout tell about themselves: colliders as they were added, contacts of any step.
 */
#include "common_scene.h"

enum { SHAPES = 6, STEPS = 70 };

/* One of each shape under a falling slab; the box rises, the mesh turns. */
static void add_colliders(test_world *w)
{
    const double s = sqrt(0.5), time[] = {0, 0.2}, turn[] = {0, 0.4};
    const double rise[] = {0.1, 0, -0.06, 1, 0, 0, 0, 0.1, 0, -0.02, 1, 0, 0, 0};
    /* The second quaternion is the first one's neighbour with the other sign. */
    const double spin[] = {-0.1, 0.1, -0.05, 1, 0, 0, 0, -0.1, 0.1, -0.05, -s, 0, 0, -s};
    pl_mesh *block = world_grid(w->ctx, 3, 3, 3, 0.03, -0.03, -0.03, -0.03);
    const pl_collider_def defs[SHAPES] = {
        {.name = "floor", .pose = {0, 0, -0.1, 1}, .friction = 0.1},
        {.shape = PL_SPHERE, .size = {0.05}, .pose = {0, 0, -0.06, 1}, .friction = 0.2},
        {.shape = PL_BOX,
         .size = {0.04, 0.03, 0.02},
         .pose = {0, 0, 0, 1},
         .table = {2, time, rise},
         .friction = 0.3},
        {.shape = PL_CYLINDER, .size = {0.03, 0.05}, .pose = {0, 0.1, -0.06, s, s}, .friction = 0.4},
        {.shape = PL_CAPSULE, .size = {0.02, 0.05}, .pose = {-0.1, 0, -0.05, s, 0, s}, .friction = 0.5},
        {.shape = PL_MESH,
         .surface = block,
         .pose = {0, 0, 0, 1},
         .table = {2, turn, spin},
         .friction = 0}};
    for (int k = 0; k < SHAPES; k++)
        assert_ok(w->ctx, pl_scene_add_collider(w->scene, &defs[k], NULL));
    pl_mesh_free(w->ctx, block);
}

static test_world slab(pl_context *ctx)
{
    test_world w = world_new(ctx, world_def(0.01, 0.3, 0.1, -9.81));
    world_add(&w, world_body(PL_COROTATED, PL_EXACT, 3e4),
              world_grid(ctx, 8, 6, 2, 0.05, -0.17, -0.07, 0.02));
    return w;
}

/* The colliders of one scene, asked for and added to another, give the same motion bit for bit. */
static void test_colliders_read_back(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world a = slab(ctx), b = slab(ctx);
    add_colliders(&a);
    static const char *const names[SHAPES] = {"floor",     "collider1", "collider2",
                                              "collider3", "collider4", "collider5"};
    const double friction[SHAPES] = {0.1, 0.2, 0.3, 0.4, 0.5, 0};
    for (int k = 0; k < SHAPES; k++) {
        pl_collider_def def;
        assert_ok(ctx, pl_scene_collider(a.scene, k, &def));
        assert_string_equal(def.name, names[k]);
        assert_int_equal(def.shape, k);
        assert_true(def.friction == friction[k]);
        assert_int_equal(def.table.count, k == PL_BOX || k == PL_MESH ? 2 : 0);
        assert_int_equal(def.surface != NULL, k == PL_MESH);
        assert_ok(ctx, pl_scene_add_collider(b.scene, &def, NULL));
        if (k == PL_MESH) {
            assert_int_equal(def.surface->tet_count, 0);
            assert_int_equal(def.surface->triangle_count, 48); /* 6 sides of 2 x 2 squares */
            assert_true(def.table.value[10] > 0);              /* on the first row's side */
        }
        if (k == PL_BOX)
            assert_true(def.pose[2] == -0.06 && def.table.time[1] == 0.2 &&
                        def.table.value[9] == -0.02 && def.size[1] == 0.03);
    }
    world_start(&a);
    world_start(&b);
    unsigned touched = 0;
    for (int k = 0; k < STEPS; k++) {
        assert_ok(ctx, pl_step(a.sim, a.state, NULL, NULL));
        assert_ok(ctx, pl_step(b.sim, b.state, NULL, NULL));
        for (int c = 0; c < a.state->contact_count; c++)
            touched |= 1u << a.state->contacts[c].collider;
    }
    assert_int_equal(touched, (1u << SHAPES) - 1);
    assert_memory_equal(a.state->q, b.state->q, sizeof(double) * 3 * (size_t)a.n);
    world_free(&a);
    world_free(&b);
    pl_context_destroy(ctx);
}

typedef struct history {
    int count[STEPS + 1];
    pl_contact *contacts[STEPS + 1];
} history;

static bool keep(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)info;
    history *k = user;
    k->count[step] = state->contact_count;
    k->contacts[step] = malloc((size_t)(state->contact_count + 1) * sizeof(pl_contact));
    memcpy(k->contacts[step], state->contacts, (size_t)state->contact_count * sizeof(pl_contact));
    return true;
}

/* Member by member: what is between them has no value. */
static void assert_same(const pl_contact *a, const pl_contact *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->vertex, b->vertex, sizeof a->vertex);
    assert_memory_equal(a->weight, b->weight, sizeof a->weight);
    assert_true(a->kind == b->kind && a->collider == b->collider && a->ridge == b->ridge);
    assert_memory_equal(a->normal, b->normal, sizeof a->normal);
    assert_true(a->gap == b->gap && a->force_normal == b->force_normal);
    assert_memory_equal(a->force_tangent, b->force_tangent, sizeof a->force_tangent);
}

/* A rollout tells the contacts its states had, bit for bit: from a whole tape, from a limited one, from
 * an input that moves the colliders, and at its start. */
static void test_contacts_of_a_rollout(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static double poses[7 * SHAPES * STEPS];
    for (int k = 0; k < 3; k++) {
        test_world w = slab(ctx);
        add_colliders(&w);
        world_start(&w);
        for (int i = 0; i < STEPS * SHAPES; i++) {
            memcpy(poses + 7 * i, w.state->input[PL_COLLIDER_POSE] + 7 * (i % SHAPES),
                   7 * sizeof *poses);
            poses[7 * i + 2] += 1e-4 * i / SHAPES;
        }
        for (int i = 0; i < 20; i++) /* the rollout starts in contact, and not at step 0 */
            assert_ok(ctx, pl_step(w.sim, w.state, NULL, NULL));
        history kept = {0};
        keep(&kept, 0, w.state, NULL);
        pl_rollout *rollout;
        pl_rollout_def def = pl_rollout_def_default();
        def.steps = STEPS;
        def.memory_budget = k == 1;
        def.inputs.of[PL_COLLIDER_POSE] = k == 2 ? poses : NULL;
        def.progress = keep;
        def.progress_user = &kept;
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &def, &rollout));
        int most = 0;
        for (int step = 0; step <= STEPS; step += k == 1 ? 10 : 1) {
            int count = -1;
            pl_contact *contacts = NULL;
            assert_ok(ctx, pl_rollout_contacts(rollout, step, &count, &contacts));
            assert_int_equal(count, kept.count[step]);
            for (int c = 0; c < count; c++)
                assert_same(&contacts[c], &kept.contacts[step][c]);
            most = count > most ? count : most;
            pl_free(ctx, contacts);
        }
        assert_true(most >= 10);
        for (int step = 0; step <= STEPS; step++)
            free(kept.contacts[step]);
        pl_rollout_destroy(rollout);
        world_free(&w);
    }
    pl_context_destroy(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = slab(ctx);
    world_floor(&w, 0, 0.2);
    pl_collider_def def = {.friction = 7};
    for (int c = -1; c < 2; c += 2) {
        assert_int_equal(pl_scene_collider(w.scene, c, &def), PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), "1 colliders"));
    }
    assert_true(def.friction == 7);
    world_start(&w);
    pl_rollout_def run = pl_rollout_def_default();
    run.steps = 2;
    int count = 7;
    pl_contact *contacts = NULL;
    for (int tape = 0; tape < 2; tape++) {
        pl_rollout *rollout;
        run.tape = tape;
        assert_ok(ctx, pl_rollout_run(w.sim, w.state, &run, &rollout));
        assert_int_equal(pl_rollout_contacts(rollout, tape ? 3 : 1, &count, &contacts),
                         PL_ERROR_ARGUMENT);
        assert_non_null(strstr(pl_context_error(ctx), tape ? "0 to 2" : "tape"));
        pl_rollout_destroy(rollout);
    }
    assert_true(count == 7 && !contacts);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* A scene may be read and written without a body, but not begun. */
static void test_no_bodies(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_scene *scene = NULL;
    pl_state *start = NULL;
    pl_sim *sim = NULL;
    pl_scene_def def = pl_scene_def_default();
    assert_ok(ctx, pl_scene_create(ctx, &def, &scene));
    assert_int_equal(pl_state_create(scene, &start), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "bodies: the scene has none"));
    assert_int_equal(pl_sim_create(scene, &sim), PL_ERROR_ARGUMENT);
    assert_null(start);
    assert_null(sim);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colliders_read_back),
        cmocka_unit_test(test_contacts_of_a_rollout),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
