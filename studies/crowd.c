/*
 * Soft blocks, a little tilted, that fall into a box: what a crowd costs, and whether it stays apart.
 * Their contacts are redundant, with friction, and together one law, by bodies.
 */
#include "soak.h"
#include "study.h"

#include "bench/world.h"

#include <math.h>
#include <string.h>

#define PITCH 0.13 /* m between the middles of blocks of 0.1 m */
#define MU    0.4

enum { SIZES = 4, USUAL = 3, STEPS = 24 }; /* all four take half an hour */

static const int sides[SIZES] = {1, 2, 3, 4};

typedef struct crowd_result {
    int contacts, splits, inside, unsolved;
    double iterations, inner;        /* a step, of those with contacts */
    double milliseconds, slowest;    /* of those */
    double complementarity, crossed; /* at most; the deepest a gap is negative, m */
} crowd_result;

/* In [-1, 1], another for each i. */
static double scattered(int i)
{
    return 2 * fmod(0.618033988749895 * (i + 1), 1) - 1;
}

static void add_walls(bench_world *w, double wide)
{
    for (int side = 0; w->status == PL_OK && side < 4; side++) {
        pl_collider_def def = pl_collider_def_default();
        double out = side % 2 ? -1 : 1, half = sqrt(0.5);
        def.friction = MU;
        def.pose[side / 2] = out * wide;
        def.pose[3] = half; /* turned so that z points inwards */
        def.pose[side < 2 ? 5 : 4] = (side < 2 ? -out : out) * half;
        w->status = pl_scene_add_collider(w->scene, &def, NULL);
    }
}

static void build(study *s, int side, bench_world *w)
{
    pl_scene_def def = pl_scene_def_default();
    def.body_friction = MU;
    bench_open(w, s->ctx, &def);
    for (int i = 0; w->status == PL_OK && i < side * side * side; i++) {
        pl_body_def body = pl_body_def_default();
        pl_mesh *mesh = bench_grid(w, 3, 3, 3, 0.05);
        double middle = 0.5 * (side - 1), angle = 0.04 * scattered(4 * i);
        double axis[3] = {scattered(4 * i + 1), scattered(4 * i + 2), scattered(4 * i + 3)};
        double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
        double turn[4] = {cos(angle)}, none[4] = {1}, centre[3] = {-0.05, -0.05, -0.05};
        double to[3] = {PITCH * (i % side - middle), PITCH * (i / side % side - middle),
                        0.08 + PITCH * (i / (side * side))};
        for (int k = 0; k < 3; k++)
            turn[1 + k] = sin(angle) * axis[k] / length;
        if (mesh) {
            pl_mesh_transform(mesh, 1, none, centre);
            pl_mesh_transform(mesh, 1, turn, to);
        }
        body.young = 1e5;
        bench_add(w, mesh, &body);
    }
    bench_floor(w, MU);
    add_walls(w, 0.5 * PITCH * side + 0.01);
    bench_start(w);
}

/* A step more, and what it took. */
static pl_status watch(bench_world *w, crowd_result *r, int *touching)
{
    pl_step_info info;
    double began = cli_seconds();
    pl_status status = pl_step(w->sim, w->state, NULL, &info);
    double took = 1e3 * (cli_seconds() - began);
    if (status != PL_OK)
        return status;
    r->splits += info.splits;
    r->unsolved += !info.converged || info.residual > 1e-10;
    r->complementarity = fmax(r->complementarity, info.complementarity);
    r->crossed = fmax(r->crossed, info.penetration);
    if (info.contacts == 0)
        return PL_OK;
    ++*touching;
    r->contacts = info.contacts > r->contacts ? info.contacts : r->contacts;
    r->iterations += info.iterations;
    r->inner += info.inner_iterations;
    r->milliseconds += took;
    r->slowest = fmax(r->slowest, took);
    return PL_OK;
}

/* DIR/crowd-N.html */
static pl_status write_page(study *s, const pl_recording *recording, int count)
{
    pl_report *report = NULL;
    pl_report_def def = pl_report_def_default();
    char path[512];
    def.title = "Soft blocks in a box";
    snprintf(path, sizeof path, "%s/crowd-%d.html", s->out, count);
    pl_status status = pl_report_create(s->ctx, &def, &report);
    if (status == PL_OK)
        status = pl_report_add_recording(report, recording, NULL);
    if (status == PL_OK)
        status = pl_report_write(report, path);
    pl_report_destroy(report);
    return status;
}

static pl_status run(study *s, int side, crowd_result *r)
{
    bench_world w;
    pl_recording *recording = NULL;
    int touching = 0;
    build(s, side, &w);
    pl_status status = w.status;
    if (status == PL_OK)
        status = pl_recording_create(w.scene, &recording);
    for (int k = 0; status == PL_OK && k < STEPS; k++) {
        status = pl_recording_add(recording, w.state);
        if (status == PL_OK)
            status = watch(&w, r, &touching);
        int inside = 0;
        if (status == PL_OK)
            status = soak_inside(s->ctx, w.scene, w.state, &inside);
        r->inside += inside;
    }
    if (touching > 0)
        r->iterations /= touching, r->inner /= touching, r->milliseconds /= touching;
    if (status == PL_OK && s->out)
        status = write_page(s, recording, side * side * side);
    pl_recording_destroy(recording);
    bench_close(&w);
    return status;
}

pl_status study_crowd(study *s)
{
    study_table table = study_table_new(
        "crowd", "blocks|contacts, at most|iterations|of the law|splits|vertices inside|"
                 "deepest (m)|complementarity|ms a step|slowest (ms)");
    pl_status status = PL_OK;
    int sizes = s->quick ? 1 : s->scenes > 0 ? s->scenes : USUAL, splits = 0, inside = 0, unsolved = 0;
    double crossed = 0;
    for (int k = 0; status == PL_OK && k < sizes && k < SIZES; k++) {
        crowd_result r = {0};
        status = run(s, sides[k], &r);
        study_cell(&table, "%d", sides[k] * sides[k] * sides[k]);
        study_cell(&table, "%d", r.contacts);
        study_cell(&table, "%.1f", r.iterations);
        study_cell(&table, "%.0f", r.inner);
        study_cell(&table, "%d", r.splits);
        study_cell(&table, "%d", r.inside);
        study_cell(&table, "%.1g", r.crossed);
        study_cell(&table, "%.1e", r.complementarity);
        study_cell(&table, "%.1f", r.milliseconds);
        study_cell(&table, "%.0f", r.slowest);
        splits += r.splits, inside += r.inside, unsolved += r.unsolved;
        crossed = fmax(crossed, r.crossed);
        if (status == PL_OK && !study_progress(s, k + 1, sizes))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        study_table_print(&table, stdout, false);
        printf("\n");
        study_aim(s, unsolved == 0, "every step is solved to 1e-10 m");
        study_aim(s, inside == 0 && crossed == 0, "nothing is inside another, no gap is negative");
        study_aim(s, splits == 0, "no step is split (%d)", splits);
        status = study_table_write(s, &table);
    }
    study_table_free(&table);
    return status;
}
