/* Recordings of real simulations, and their way into a report. */
#include "report_sample.h"

#include "io/report.h"

typedef struct drop {
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
} drop;

/* A cube of 0.1 m, 1 kg, just above the ground, on a cable that stays slack. */
static drop make_drop(pl_context *ctx)
{
    drop d = {0};
    pl_scene_def def = pl_scene_def_default();
    assert_ok(ctx, pl_scene_create(ctx, &def, &d.scene));
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_box(ctx, (const double[]){0.1, 0.1, 0.1}, 0.05, &mesh));
    for (int i = 0; i < mesh->vertex_count; i++)
        mesh->vertices[3 * i + 2] += 0.001;
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.name = "cube";
    body.damping = 20;
    assert_ok(ctx, pl_scene_add_body(d.scene, &body, NULL));
    pl_mesh_free(ctx, mesh);
    pl_collider_def ground = pl_collider_def_default();
    assert_ok(ctx, pl_scene_add_collider(d.scene, &ground, NULL));
    const pl_point points[] = {{.body = -1, .position = {0, 0, 0.5}},
                               {.body = 0, .count = 1, .weights = {1}}};
    pl_cable_def cable = pl_cable_def_default();
    cable.point_count = 2;
    cable.points = points;
    cable.length = 0.6;
    assert_ok(ctx, pl_scene_add_cable(d.scene, &cable, NULL));
    assert_ok(ctx, pl_sim_create(d.scene, &d.sim));
    assert_ok(ctx, pl_state_create(d.scene, &d.state));
    return d;
}

static void free_drop(drop *d)
{
    pl_state_destroy(d->scene, d->state);
    pl_sim_destroy(d->sim);
    pl_scene_destroy(d->scene);
}

static void test_recording_shows_what_was_simulated(void **state)
{
    (void)state;
    enum { STEPS = 60 };
    pl_context *ctx = test_context(1);
    drop d = make_drop(ctx);
    pl_recording *recording;
    assert_ok(ctx, pl_recording_create(d.scene, &recording));
    assert_ok(ctx, pl_recording_add(recording, d.state));
    for (int i = 0; i < STEPS; i++) {
        assert_ok(ctx, pl_step(d.sim, d.state, NULL, NULL));
        assert_ok(ctx, pl_recording_add(recording, d.state));
    }
    double weight = 0;
    for (int c = 0; c < d.state->contact_count; c++)
        weight += d.state->contacts[c].force_normal;
    assert_close(weight, 9.81 * pl_scene_get_info(d.scene).mass,
                 0.02 * 9.81); /* it has nearly settled */

    pl_report *report, *other;
    assert_ok(ctx, pl_report_create(ctx, NULL, &report));
    assert_ok(ctx, pl_report_add_recording(report, recording, NULL));
    assert_non_null(strstr(report->trajectories.data, "\"name\":\"cube\""));
    assert_non_null(
        strstr(report->trajectories.data, "\"vertices\":26,\"frames\":61")); /* 27 without the middle */
    assert_true(report->contacts.length > 0);
    assert_non_null(strstr(report->cables.data, "{\"name\":\"cube\",\"times\":"));

    /* the same motion from a rollout gives the same trajectory and forces, to the last bit; a limited
       tape too, where steps are run again */
    pl_state *again;
    pl_rollout *rollout;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = STEPS;
    pl_sim *sim;
    assert_ok(ctx, pl_sim_create(d.scene, &sim));
    for (int k = 0; k < 3; k++) {
        pl_report_trajectory style = pl_report_trajectory_default();
        style.forces = k < 2;
        def.memory_budget = k == 1;
        assert_ok(ctx, pl_state_create(d.scene, &again));
        assert_ok(ctx, pl_rollout_run(sim, again, &def, &rollout));
        assert_ok(ctx, pl_report_create(ctx, NULL, &other));
        assert_ok(ctx, pl_report_add_rollout(other, d.scene, rollout, &style));
        assert_string_equal(report->trajectories.data, other->trajectories.data);
        assert_string_equal(report->cables.data, other->cables.data);
        if (style.forces)
            assert_string_equal(report->contacts.data, other->contacts.data);
        else
            assert_int_equal(other->contacts.length, 0);
        pl_report_destroy(other);
        pl_rollout_destroy(rollout);
        pl_state_destroy(d.scene, again);
    }
    def.tape = false;
    assert_ok(ctx, pl_rollout_run(d.sim, d.state, &def, &rollout));
    assert_int_equal(pl_report_add_rollout(report, d.scene, rollout, NULL), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(pl_context_error(ctx), "tape"));
    pl_rollout_destroy(rollout);
    pl_report_destroy(report);
    pl_sim_destroy(sim);
    pl_recording_destroy(recording);
    free_drop(&d);
    pl_context_destroy(ctx);
}

/* The text after "key":, cut at its end. */
static void field(const char *data, const char *key, char *out, size_t size)
{
    const char *at = strstr(data, key);
    assert_non_null(at);
    snprintf(out, size, "%.*s", (int)strcspn(at + strlen(key), ",}"), at + strlen(key));
}

static void test_long_recordings_are_thinned_evenly(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    drop d = make_drop(ctx);
    pl_recording *recording;
    assert_ok(ctx, pl_recording_create(d.scene, &recording));
    pl_report_def def = pl_report_def_default();
    def.max_frames = 1000;
    for (int i = 0; i < 1500; i++) {
        d.state->time = 1 + 0.5 * i;
        for (int k = 0; k < 3 * d.state->vertex_count; k++)
            d.state->q[k] = k % 3 == 0 ? i + k % 2 : k;
        assert_ok(ctx, pl_recording_add(recording, d.state));
    }
    pl_report *report;
    assert_ok(ctx, pl_report_create(ctx, &def, &report));
    assert_ok(ctx, pl_report_add_recording(report, recording, NULL));
    char frames[32];
    field(report->trajectories.data, "\"frames\":", frames, sizeof frames);
    assert_string_equal(frames,
                        "375"); /* 600 -> 300 at pace 2, 600 -> 300 at pace 4, then up to 1499 */
    pl_report *expected;        /* frames 0, 4, 8, ... added by hand */
    pl_recording *fourth;
    assert_ok(ctx, pl_recording_create(d.scene, &fourth));
    for (int i = 0; i < 1500; i += 4) {
        d.state->time = 1 + 0.5 * i;
        for (int k = 0; k < 3 * d.state->vertex_count; k++)
            d.state->q[k] = k % 3 == 0 ? i + k % 2 : k;
        assert_ok(ctx, pl_recording_add(fourth, d.state));
    }
    assert_ok(ctx, pl_report_create(ctx, &def, &expected));
    assert_ok(ctx, pl_report_add_recording(expected, fourth, NULL));
    assert_string_equal(report->trajectories.data, expected->trajectories.data);
    pl_report_destroy(expected);
    pl_report_destroy(report);
    pl_recording_destroy(fourth);
    pl_recording_destroy(recording);
    free_drop(&d);
    pl_context_destroy(ctx);
}

static void test_empty_recording_is_refused(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    drop d = make_drop(ctx);
    pl_recording *recording;
    pl_report *report;
    assert_ok(ctx, pl_recording_create(d.scene, &recording));
    assert_ok(ctx, pl_report_create(ctx, NULL, &report));
    assert_int_equal(pl_report_add_recording(report, recording, NULL), PL_ERROR_ARGUMENT);
    assert_int_equal(report->trajectories.length, 0);
    assert_ok(ctx, pl_recording_add(recording, d.state)); /* a single frame is a still picture */
    assert_ok(ctx, pl_report_add_recording(report, recording, NULL));
    pl_report_destroy(report);
    pl_recording_destroy(recording);
    free_drop(&d);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording_shows_what_was_simulated),
        cmocka_unit_test(test_long_recordings_are_thinned_evenly),
        cmocka_unit_test(test_empty_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
