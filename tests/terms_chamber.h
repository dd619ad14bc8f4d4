/* A hollow cube whose cavity is a chamber. */
#ifndef PL_TEST_TERMS_CHAMBER_H
#define PL_TEST_TERMS_CHAMBER_H

#include "terms_derivatives.h"

#define YOUNG 1e5

/* A cube of 20 cm with walls of 5 cm, its lowest corner at (x, 0, z). */
static inline pl_mesh *hollow(pl_context *ctx, double x, double z)
{
    const double size[3] = {0.2, 0.2, 0.2}, unturned[4] = {1, 0, 0, 0}, corner[3] = {x, 0, z};
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_hollow_box(ctx, size, 0.05, 0.05, &mesh));
    pl_mesh_transform(mesh, 1, unturned, corner);
    return mesh;
}

static inline double volume(const test_world *w, int chamber)
{
    double out;
    assert_ok(w->ctx, pl_chamber_volume(w->scene, chamber, w->state->q, &out));
    return out;
}

/* One of a given pressure, or of gas. */
static inline pl_chamber_def chamber_of(bool gas, int body, double pressure, pl_table table)
{
    pl_chamber_def def = pl_chamber_def_default();
    def.body = body;
    def.gas = gas;
    def.pressure = pressure;
    def.table = table;
    return def;
}

static inline void add_chamber(test_world *w, int body, bool gas, double pressure, pl_table table)
{
    pl_chamber_def def = chamber_of(gas, body, pressure, table);
    assert_ok(w->ctx, pl_scene_add_chamber(w->scene, &def, NULL));
}

/* Such a cube, not yet started. */
static inline test_world cube_with(pl_context *ctx, pl_scene_def def, double z, bool gas,
                                   double pressure, pl_table table)
{
    test_world w = world_new(ctx, def);
    int body = world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, YOUNG), hollow(ctx, 0, z));
    add_chamber(&w, body, gas, pressure, table);
    return w;
}

/* What goes on in it. */
typedef struct chamber_kind {
    bool gas;
    double blown[3]; /* Pa, at 0, 0.05 and 0.1 s while it is thrown */
    double jump;     /* Pa, too much for one step */
} chamber_kind;

/* Thrown onto a rough floor meanwhile. */
static inline test_world thrown(pl_context *ctx, const chamber_kind *kind, pl_solver_kind solver)
{
    static const double time[] = {0, 0.05, 0.1};
    pl_scene_def def = world_def(0.01, 2, 0, -9.81);
    def.solver = solver;
    test_world w = cube_with(ctx, def, 1e-4, kind->gas, 0, (pl_table){3, time, kind->blown});
    world_floor(&w, 0, 0.2);
    world_start(&w);
    for (int i = 0; i < 3 * w.n; i += 3)
        w.state->v[i] = 0.3;
    return w;
}

static inline void check_gradients(const chamber_kind *kind)
{
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, kind, PL_SOLVER_AUTO);
    term_check(&w,
               PL_BIT(PL_PRESSURE) | PL_BIT(PL_FRICTION) | PL_BIT(PL_VELOCITY) | PL_BIT(PL_YOUNG) |
                   PL_BIT(PL_DENSITY),
               8, 1e-6, "thrown");
    world_steps(&w, 8);
    assert_true(w.state->contact_count > 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static inline void check_split_gradients(const chamber_kind *kind)
{
    pl_context *ctx = test_context(1);
    const double time[] = {0, 0.0999, 0.1}, jump[] = {0, 0, kind->jump};
    pl_scene_def def = world_def(0.05, 0, 0, 0);
    def.max_iterations = 3;
    def.solver = PL_SOLVER_DIRECT;
    test_world w = cube_with(ctx, def, 0, kind->gas, 0, (pl_table){3, time, jump});
    world_start(&w);
    term_check(&w, PL_BIT(PL_PRESSURE), 3, 1e-6, "split");
    int splits = 0;
    for (int k = 0; k < 3; k++)
        splits += world_step(&w).splits;
    assert_true(splits > 0);
    world_free(&w);
    pl_context_destroy(ctx);
}

static inline void check_solvers(const chamber_kind *kind)
{
    pl_context *ctx = test_context(1);
    test_world reference = thrown(ctx, kind, PL_SOLVER_DIRECT);
    world_steps(&reference, 10);
    for (int solver = PL_SOLVER_AUTO; solver <= PL_SOLVER_CONSTANT; solver++) {
        test_world w = thrown(ctx, kind, (pl_solver_kind)solver);
        world_steps(&w, 10);
        double apart = world_distance(3 * w.n, w.state->q, reference.state->q);
        /* Steps of the constant matrix end by its own measure, which is stiffer than the body. */
        if (!(apart < (solver == PL_SOLVER_CONSTANT ? 1e-8 : 1e-9)))
            fail_msg("solver %d: %.3g m apart", solver, apart);
        world_free(&w);
    }
    world_free(&reference);
    pl_context_destroy(ctx);
}

static inline void check_adjoints(const chamber_kind *kind)
{
    pl_context *ctx = test_context(1);
    test_world w = thrown(ctx, kind, PL_SOLVER_AUTO);
    term_compare_adjoints(&w, PL_PRESSURE, 8, "thrown");
    world_free(&w);
    pl_context_destroy(ctx);
}

#endif
