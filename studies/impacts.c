/*
 * Does every step converge? A 0.1 m cube hits the floor: all materials and readings, four stiffnesses,
 * flat and corner first, straight down and obliquely, two time steps, four frictions: 768 runs.
 */
#include "study.h"

#include "bench/world.h"

#include <math.h>

static const char *const models[] = {"ARAP", "co-rotational", "Neo-Hookean"};
static const char *const readings[] = {"exact", "projective"};
static const double stiffness[] = {1e4, 1e5, 1e6, 1e7};
static const double time_steps[] = {0.01, 0.05};
static const double frictions[] = {0, 0.1, 0.5, 1.0};

typedef struct impact_case {
    int h, model, reading, young, tilt, speed, friction;
} impact_case;

/* Also of several runs together. */
typedef struct impact_result {
    int steps, iterations, most, splits, failures, runs;
    double complementarity, cone, penetration;
} impact_result;

static pl_status run_case(pl_context *ctx, const impact_case *k, int nodes, impact_result *r)
{
    bench_world w;
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    const double corner[3] = {1, -1, 0}, rest = k->tilt ? acos(1 / sqrt(3)) : 0;
    def.time_step = time_steps[k->h];
    body.model = (pl_material)k->model;
    body.reading = (pl_reading)k->reading;
    body.young = stiffness[k->young];
    body.velocity[0] = k->speed ? 3 : 0;
    body.velocity[2] = k->speed ? -5 : -2;
    bench_open(&w, ctx, &def);
    pl_mesh *mesh = bench_grid(&w, nodes, nodes, nodes, 0.1 / (nodes - 1));
    bench_place(mesh, corner, rest, 0.02);
    bench_add(&w, mesh, &body);
    bench_floor(&w, frictions[k->friction]);
    pl_status status = bench_start(&w);
    *r = (impact_result){.runs = 1};
    for (int i = 0; status == PL_OK && i < (k->h ? 20 : 40); i++) {
        pl_step_info info;
        status = pl_step(w.sim, w.state, NULL, &info);
        if (status != PL_OK)
            break;
        r->steps++;
        r->iterations += info.iterations;
        r->most = info.iterations > r->most ? info.iterations : r->most;
        r->splits += info.splits;
        r->complementarity = fmax(r->complementarity, info.complementarity);
        r->cone = fmax(r->cone, info.cone_violation);
        r->penetration = fmax(r->penetration, info.penetration);
    }
    bench_close(&w);
    r->failures = status == PL_ERROR_CONVERGENCE || status == PL_ERROR_NUMERIC;
    return r->failures ? PL_OK : status;
}

static void add(impact_result *sum, const impact_result *r)
{
    sum->runs += r->runs;
    sum->steps += r->steps;
    sum->iterations += r->iterations;
    sum->most = r->most > sum->most ? r->most : sum->most;
    sum->splits += r->splits;
    sum->failures += r->failures;
    sum->complementarity = fmax(sum->complementarity, r->complementarity);
    sum->cone = fmax(sum->cone, r->cone);
    sum->penetration = fmax(sum->penetration, r->penetration);
}

static void result_cells(study_table *table, const impact_result *r)
{
    study_cell(table, "%.2f", (double)r->iterations / (r->steps > 0 ? r->steps : 1));
    study_cell(table, "%d", r->most);
    study_cell(table, "%d", r->splits);
    study_cell(table, "%d", r->failures);
    study_cell(table, "%.1e", r->complementarity);
    study_cell(table, "%.1e", r->penetration);
}

static void case_row(study_table *table, const impact_case *k, const impact_result *r)
{
    study_cell(table, "%g", time_steps[k->h]);
    study_cell(table, "%s", models[k->model]);
    study_cell(table, "%s", readings[k->reading]);
    study_cell(table, "%.0e", stiffness[k->young]);
    study_cell(table, "%s", k->tilt ? "corner" : "flat");
    study_cell(table, "%s", k->speed ? "5 down 3 along" : "2 down");
    study_cell(table, "%g", frictions[k->friction]);
    result_cells(table, r);
}

/* The 16 runs of one material, stiffness and time step. */
static pl_status run_group(study *s, impact_case k, study_table *all, impact_result *sum, int *done,
                           int total)
{
    for (k.tilt = 0; k.tilt < 2; k.tilt++)
        for (k.speed = 0; k.speed < 2; k.speed++)
            for (k.friction = 0; k.friction < (s->quick ? 2 : 4); k.friction++) {
                impact_result r;
                pl_status status = run_case(s->ctx, &k, s->quick ? 3 : 4, &r);
                if (status != PL_OK)
                    return status;
                add(sum, &r);
                case_row(all, &k, &r);
                if (!study_progress(s, ++*done, total))
                    return study_stopped(s);
            }
    return PL_OK;
}

pl_status study_impacts(study *s)
{
    study_table all =
        study_table_new("impacts", "h (s)|model|reading|E (Pa)|tilt|speed (m/s)|mu|iterations|"
                                   "most|splits|failures|complementarity|penetration (m)");
    study_table groups =
        study_table_new("impacts-groups", "h (s)|model|reading|E (Pa)|runs|iterations|most|"
                                          "splits|failures|complementarity|penetration (m)");
    impact_result whole[2] = {{0}};
    int done = 0, levels = s->quick ? 2 : 4, total = 2 * 6 * levels * 4 * (s->quick ? 2 : 4);
    pl_status status = PL_OK;
    impact_case k = {0};
    for (k.h = 0; status == PL_OK && k.h < 2; k.h++)
        for (int material = 0; status == PL_OK && material < 6; material++)
            for (k.young = 0; status == PL_OK && k.young < levels; k.young++) {
                impact_result sum = {0};
                k.model = material / 2, k.reading = material % 2;
                status = run_group(s, k, &all, &sum, &done, total);
                add(&whole[k.h], &sum);
                study_cell(&groups, "%g", time_steps[k.h]);
                study_cell(&groups, "%s", models[k.model]);
                study_cell(&groups, "%s", readings[k.reading]);
                study_cell(&groups, "%.0e", stiffness[k.young]);
                study_cell(&groups, "%d", sum.runs);
                result_cells(&groups, &sum);
            }
    if (status == PL_OK) {
        study_table_print(&groups, stdout, false);
        printf("\n");
        double iterations[2];
        for (int h = 0; h < 2; h++) {
            iterations[h] = (double)whole[h].iterations / (whole[h].steps > 0 ? whole[h].steps : 1);
            study_aim(s, whole[h].failures == 0, "h = %g s: no failure in %d runs (%d)", time_steps[h],
                      whole[h].runs, whole[h].failures);
        }
        study_aim(s, iterations[0] <= 6,
                  "h = 0.01 s: at most 6 iterations a step (%.2f; h = 0.05 s: %.2f)", iterations[0],
                  iterations[1]);
        study_aim(s, whole[0].splits == 0, "h = 0.01 s: no step split (%d; h = 0.05 s: %d)",
                  whole[0].splits, whole[1].splits);
        status = study_table_write(s, &all);
    }
    if (status == PL_OK)
        status = study_table_write(s, &groups);
    study_table_free(&all);
    study_table_free(&groups);
    return status;
}
