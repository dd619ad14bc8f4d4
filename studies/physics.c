/*
 * Cases whose answer is known from elsewhere: what the time step, the integrator and the elements leave
 * of it. Turek and Hron's beams CSM1 to 3, a free spin, a rod that swings, a ball that bounces and one
 * that rolls, a band over a cylinder, a silicone beam that was measured.
 */
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const char *const integrators[] = {"euler", "bdf2", "tr_bdf2"};

static void row(study_table *t, const char *what, const char *how, double expected, double found,
                bool met)
{
    study_cell(t, "%s", what);
    study_cell(t, "%s", how);
    study_cell(t, "%.4g", expected);
    study_cell(t, "%.4g", found);
    study_cell(t, "%s", met ? "yes" : "no");
}

static bool within(double found, double expected, double share)
{
    return fabs(found - expected) <= share * fabs(expected);
}

/* ---- Turek and Hron's beam: 0.35 x 0.02 m, plane strain, heavy with g = 2 m/s^2. It is held by a
 * cylinder of radius 0.05 m, behind which it ends: its edges are 1 mm longer than its middle. */

#define CYLINDER 0.05

pl_status physics_open_beam(study *s, bench_world *w, int cells, double young, double h,
                            pl_integrator integrator, int *tip)
{
    pl_context *ctx = s->ctx;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_mesh *mesh = NULL;
    int across = s->quick ? 4 : cells;
    def.time_step = h;
    def.integrator = integrator;
    def.gravity[1] = -2, def.gravity[2] = 0;
    bench_open(w, ctx, &def);
    if (w->status == PL_OK)
        w->status = pl_mesh_bar(ctx, 0.35, 0.02, 0.02 / across, 0.02 / across, &mesh);
    if (w->status != PL_OK)
        return w->status;
    int n = mesh->vertex_count, *all = malloc(sizeof *all * 2 * (size_t)n),
        *held = all ? all + n : NULL;
    pl_pin_def plane = pl_pin_def_default(), clamp = pl_pin_def_default();
    *tip = 0;
    for (int i = 0; all && i < n; i++) {
        const double *x = mesh->vertices + 3 * (size_t)i, *best = mesh->vertices + 3 * (size_t)*tip;
        all[i] = i;
        if (x[0] < 1e-9) {
            mesh->vertices[3 * (size_t)i] -= CYLINDER - sqrt(CYLINDER * CYLINDER - x[1] * x[1]);
            held[clamp.vertex_count++] = i;
        }
        if (x[0] - fabs(x[1]) > best[0] - fabs(best[1]))
            *tip = i;
    }
    body.young = young;
    body.poisson = 0.4;
    body.mean_volume = true;
    bench_add(w, mesh, &body);
    clamp.vertices = held;
    plane.vertex_count = n;
    plane.vertices = all;
    plane.normal[2] = 1;
    if (w->status == PL_OK)
        w->status = all ? pl_scene_add_pin(w->scene, &plane, NULL) : PL_ERROR_MEMORY;
    if (w->status == PL_OK)
        w->status = pl_scene_add_pin(w->scene, &clamp, NULL);
    free(all);
    return bench_start(w);
}

/* Rests: steps from rest go down the energy. */
static pl_status beam_at_rest(study *s, study_table *t, const char *what, double young, double expected)
{
    bench_world w;
    int tip;
    pl_status status = physics_open_beam(s, &w, 12, young, 10, PL_EULER, &tip);
    double start = status == PL_OK ? w.state->q[3 * tip + 1] : 0;
    for (int k = 0; status == PL_OK && k < 8; k++) {
        memset(w.state->v, 0, sizeof(double) * 3 * (size_t)w.state->vertex_count);
        status = pl_step(w.sim, w.state, NULL, NULL);
    }
    if (status == PL_OK) {
        double found = 1e3 * (w.state->q[3 * tip + 1] - start);
        row(t, what, "at rest", expected, found, within(found, expected, 0.02));
        study_aim(s, within(found, expected, s->quick ? 0.2 : 0.01), "%s: %.2f mm, %.2f expected", what,
                  found, expected);
    }
    bench_close(&w);
    return status;
}

/* Swings: half the way between the highest and the lowest in the last of five seconds. */
static pl_status beam_swings(study *s, study_table *t, pl_integrator integrator)
{
    bench_world w;
    int tip;
    pl_status status = physics_open_beam(s, &w, 8, 1.4e6, 0.01, integrator, &tip);
    double start = status == PL_OK ? w.state->q[3 * tip + 1] : 0, low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; status == PL_OK && k < 500; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        double y = 1e3 * (w.state->q[3 * tip + 1] - start);
        if (k >= 400) {
            low = fmin(low, y);
            high = fmax(high, y);
        }
        if (!study_progress(s, k + 1, 500))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        double found = 0.5 * (high - low);
        row(t, "CSM3, amplitude after 4 s, mm", integrators[integrator], 65.1, found,
            within(found, 65.1, 0.02));
        study_aim(s, integrator != PL_TR_BDF2 || within(found, 65.1, s->quick ? 0.1 : 0.02),
                  "%s: CSM3 swings by %.2f mm, 65.1 expected", integrators[integrator], found);
    }
    bench_close(&w);
    return status;
}

/* ---- a free block that turns */

static double turning(const bench_world *w)
{
    double sum = 0;
    for (int i = 0; i < w->state->vertex_count; i++) {
        const double *q = w->state->q + 3 * i, *v = w->state->v + 3 * i;
        sum += q[0] * v[1] - q[1] * v[0];
    }
    return sum;
}

static pl_status spin(study *s, study_table *t, pl_integrator integrator)
{
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    def.integrator = integrator;
    def.gravity[2] = 0;
    body.young = 1e6;
    body.angular_velocity[2] = 10;
    body.lumped_equally = true;
    bench_open(&w, s->ctx, &def);
    pl_mesh *mesh = bench_grid(&w, 3, 3, 2, 0.05);
    if (mesh)
        pl_mesh_transform(mesh, 1, (const double[4]){1, 0, 0, 0}, (const double[3]){-0.05, -0.05, 0});
    bench_add(&w, mesh, &body);
    pl_status status = bench_start(&w);
    double before = status == PL_OK ? turning(&w) : 0;
    for (int k = 0; status == PL_OK && k < 500; k++)
        status = pl_step(w.sim, w.state, NULL, NULL);
    if (status == PL_OK) {
        double kept = turning(&w) / before;
        row(t, "free spin, L kept after 5 s", integrators[integrator], 0.99, kept,
            kept >= 0.99 && kept < 1.001);
        study_aim(s,
                  kept > (integrator == PL_TR_BDF2 ? 0.99
                          : integrator == PL_BDF2  ? 0.95
                                                   : 0),
                  "%s keeps %.3f of a spin", integrators[integrator], kept);
    }
    bench_close(&w);
    return status;
}

/* ---- a rod of 7.906 Hz that swings along itself */

#define ROD_CELLS 20

static pl_status rod(study *s, study_table *t, pl_integrator integrator)
{
    const double length = sqrt(0.1), k1 = 0.5 * PI / length, omega = 2 * PI * 7.906, speed = 1e-3;
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    def.integrator = integrator;
    def.gravity[2] = 0;
    body.young = 1e5;
    body.poisson = 0;
    bench_open(&w, s->ctx, &def);
    bench_add(&w, bench_grid(&w, ROD_CELLS + 1, 2, 2, length / ROD_CELLS), &body);
    bench_pin(&w, 0, false);
    pl_status status = bench_start(&w);
    double energy[2] = {0, 0};
    for (int i = 0; status == PL_OK && i < w.state->vertex_count; i++)
        w.state->v[3 * i] = speed * sin(k1 * w.state->q[3 * i]);
    /* |modal velocity + i omega modal displacement|^2, after a period and after three */
    double *rest = status == PL_OK ? malloc(sizeof *rest * 3 * (size_t)w.state->vertex_count) : NULL;
    if (rest)
        memcpy(rest, w.state->q, sizeof *rest * 3 * (size_t)w.state->vertex_count);
    else if (status == PL_OK)
        status = PL_ERROR_MEMORY;
    for (int k = 1; status == PL_OK && k <= 38; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        double a = 0, b = 0;
        for (int i = 0; status == PL_OK && i < w.state->vertex_count; i++) {
            double shape = sin(k1 * rest[3 * i]);
            a += shape * w.state->v[3 * i];
            b += shape * omega * (w.state->q[3 * i] - rest[3 * i]);
        }
        if (k == 13 || k == 38)
            energy[k == 38] = a * a + b * b;
    }
    if (status == PL_OK) {
        double ratio = 0.5 * log(energy[0] / energy[1]) / (omega * 25 * 0.01);
        row(t, "rod of 7.9 Hz, damping ratio", integrators[integrator], 0.001, ratio, ratio <= 0.001);
        study_aim(s,
                  ratio < (integrator == PL_TR_BDF2 ? 0.001
                           : integrator == PL_BDF2  ? 0.04
                                                    : 0.3),
                  "%s damps a rod by %.4f", integrators[integrator], ratio);
    }
    free(rest);
    bench_close(&w);
    return status;
}

/* ---- balls */

static void add_ball(bench_world *w, double radius, double cell, double above)
{
    pl_mesh *mesh = NULL;
    pl_body_def body = pl_body_def_default();
    body.young = 1e5;
    if (w->status == PL_OK)
        w->status = pl_mesh_ellipsoid(w->ctx, (const double[3]){radius, radius, radius}, cell, &mesh);
    if (mesh)
        bench_place(mesh, (const double[3]){1, 0, 0}, 0, above);
    bench_add(w, mesh, &body);
}

static double mean_speed(const pl_state *state, int axis)
{
    double sum = 0;
    for (int i = 0; i < state->vertex_count; i++)
        sum += state->v[3 * i + axis] / state->vertex_count;
    return sum;
}

static pl_status bounce(study *s, study_table *t, pl_integrator integrator)
{
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    def.integrator = integrator;
    def.time_step = 0.002;
    bench_open(&w, s->ctx, &def);
    add_ball(&w, 0.05, s->quick ? 0.025 : 0.015, 0.1);
    bench_floor(&w, 0);
    pl_status status = bench_start(&w);
    double fastest = 0, rebound = 0;
    for (int k = 0; status == PL_OK && k < 150; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        fastest = fmax(fastest, -mean_speed(w.state, 2));
        rebound = fmax(rebound, mean_speed(w.state, 2));
        if (!study_progress(s, k + 1, 150))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        double kept = rebound / fastest;
        row(t, "ball of 1e5 Pa, restitution, h = 0.002", integrators[integrator], 0.9, kept,
            kept >= 0.9);
        study_aim(s, integrator == PL_EULER || kept > 0.85, "%s: a ball rebounds with %.3f",
                  integrators[integrator], kept);
    }
    bench_close(&w);
    return status;
}

static pl_status roll(study *s, study_table *t, pl_integrator integrator)
{
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    def.integrator = integrator;
    def.time_step = 0.005;
    bench_slope(&def, 20);
    bench_open(&w, s->ctx, &def);
    add_ball(&w, 0.05, s->quick ? 0.025 : 0.0125, 1e-4);
    bench_floor(&w, 0.5);
    pl_status status = bench_start(&w);
    double moment = 0, spread = 0, expected = 5.0 / 7 * 9.81 * sin(20 * PI / 180);
    for (int k = 0; status == PL_OK && k < 200; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        double from_middle = (k + 1 - 120) * def.time_step; /* of the time from 0.2 to 1 s */
        if (k + 1 >= 40) {
            moment += from_middle * mean_speed(w.state, 0);
            spread += from_middle * from_middle;
        }
        if (!study_progress(s, k + 1, 200))
            status = study_stopped(s);
    }
    if (status == PL_OK) {
        double found = moment / spread; /* of the line through the speeds, which facets make uneven */
        row(t, "ball down 20 degrees, m/s^2, h = 0.005", integrators[integrator], expected, found,
            within(found, expected, 0.02));
    }
    bench_close(&w);
    return status;
}

/* ---- a band over half a turn of a cylinder, at 0.2 m/s and 0.1 m of radius */

static pl_status capstan(study *s, study_table *t)
{
    static const double friction[] = {0, 0.2, 0.4};
    pl_status status = PL_OK;
    for (size_t k = 0; status == PL_OK && k < sizeof friction / sizeof *friction; k++) {
        double found, expected = exp(friction[k] * PI);
        char what[80];
        status = physics_capstan(s, friction[k], 0.01, &found);
        if (status != PL_OK)
            return status;
        snprintf(what, sizeof what, "capstan, friction %g, tension ratio", friction[k]);
        row(t, what, integrators[PL_EULER], expected, found, within(found, expected, 0.002));
        study_aim(s, within(found, expected, 0.002),
                  "a capstan's tension is %.4f times as much, %.4f expected", found, expected);
    }
    return status;
}

/* ---- the silicone beam of examples/c/silicone_beam.c */

static pl_status silicone(study *s, study_table *t)
{
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_mesh *mesh = NULL;
    def.time_step = 1;
    def.gravity[2] = -9.80709;
    bench_open(&w, s->ctx, &def);
    if (w.status == PL_OK)
        w.status = pl_mesh_bar(s->ctx, 0.1, 0.03, 0.03, s->quick ? 0.01 : 0.00375, &mesh);
    if (w.status != PL_OK)
        return w.status;
    int n = mesh->vertex_count;
    double *force = calloc(3 * (size_t)n, sizeof *force), *rest = malloc(sizeof *rest * 3 * (size_t)n),
           loads = 0;
    pl_status status = force && rest ? PL_OK : PL_ERROR_MEMORY;
    for (int pass = 0; status == PL_OK && pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            const double *x = mesh->vertices + 3 * (size_t)i;
            if (x[0] < 0.1 - 1e-9 || x[2] < 0.015 - 1e-9)
                continue;
            double share = fabs(x[1]) > 0.015 - 1e-9 ? 0.5 : 1; /* of an edge's ends */
            if (pass == 0)
                loads += share;
            else
                force[3 * i + 2] = -0.51012 * share / loads;
        }
    if (status == PL_OK)
        memcpy(rest, mesh->vertices, sizeof *rest * 3 * (size_t)n);
    body.young = 263824;
    body.poisson = 0.499;
    body.density = 1070;
    body.mean_volume = true;
    bench_add(&w, mesh, &body);
    bench_pin(&w, 0, false);
    status = status == PL_OK ? bench_start(&w) : status;
    for (int loaded = 0; status == PL_OK && loaded < 2; loaded++) {
        pl_inputs inputs = {.of[PL_VERTEX_FORCE] = loaded ? force : NULL};
        double drop = 0, expected = loaded ? 16.95 : 6.55;
        int ends = 0;
        for (int k = 0; status == PL_OK && k < 3; k++) {
            memset(w.state->v, 0, sizeof(double) * 3 * (size_t)n);
            status = pl_step(w.sim, w.state, &inputs, NULL);
        }
        for (int i = 0; status == PL_OK && i < n; i++)
            if (rest[3 * i] > 0.1 - 1e-9) {
                drop += rest[3 * i + 2] - w.state->q[3 * i + 2];
                ends++;
            }
        drop *= 1e3 / (ends > 0 ? ends : 1);
        row(t, loaded ? "silicone beam + 0.510 N, mm" : "silicone beam, own weight, mm",
            "nu 0.499, mean volume", expected, drop, within(drop, expected, 0.03));
        study_aim(s, within(drop, expected, s->quick ? 0.25 : 0.06),
                  "a silicone beam drops by %.2f mm, %.2f expected", drop, expected);
    }
    free(force);
    free(rest);
    bench_close(&w);
    return status;
}

pl_status study_physics(study *s)
{
    study_table t = study_table_new("physics", "case|how|expected|found|met");
    pl_status status = beam_at_rest(s, &t, "CSM1, u_y mm", 1.4e6, -66.10);
    if (status == PL_OK)
        status = beam_at_rest(s, &t, "CSM2, u_y mm", 5.6e6, -16.97);
    for (int i = PL_EULER; i <= PL_TR_BDF2; i++) {
        pl_status (*const cases[])(study *, study_table *, pl_integrator) = {beam_swings, spin, rod,
                                                                             bounce, roll};
        for (size_t k = 0; status == PL_OK && k < sizeof cases / sizeof *cases; k++)
            status = cases[k](s, &t, (pl_integrator)i);
    }
    if (status == PL_OK)
        status = capstan(s, &t);
    if (status == PL_OK)
        status = silicone(s, &t);
    if (status == PL_OK) {
        study_table_print(&t, stdout, false);
        printf("\n");
        status = study_table_write(s, &t);
    }
    study_table_free(&t);
    return status == PL_OK ? physics_cost(s) : status;
}
