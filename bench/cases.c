/* The scenes of the benchmark. */
#include "bench.h"

#include <pliant/shape.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

static pl_scene_def scene_def(double h, pl_solver_kind solver)
{
    pl_scene_def def = pl_scene_def_default();
    def.time_step = h;
    def.solver = solver;
    return def;
}

/* Exact Neo-Hookean with equal node masses, as the peer has it. */
static pl_body_def peer_body(double young)
{
    pl_body_def body = pl_body_def_default();
    body.young = young;
    body.poisson = 0.4;
    body.lumped_equally = true;
    return body;
}

/* variant: nodes across. Hangs from its top face. */
static void build_bar(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.05, solver);
    pl_body_def body = peer_body(5e4);
    bench_open(w, w->ctx, &def);
    bench_add(w, bench_grid(w, c->variant, c->variant, 25, 0.02), &body);
    bench_pin(w, 2, true);
}

static void build_slide(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.01, solver);
    pl_body_def body = peer_body(1e5);
    (void)c;
    body.velocity[0] = 1;
    bench_open(w, w->ctx, &def);
    bench_add(w, bench_grid(w, 26, 25, 15, 0.02), &body);
    bench_floor(w, 0.3);
}

/* variant 0: on its edge; 1: nearly flat. */
static void build_drop(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.01, solver);
    pl_body_def body = peer_body(c->variant ? 1e5 : 1e6);
    const double y[3] = {0, 1, 0};
    body.velocity[2] = -1;
    bench_open(w, w->ctx, &def);
    pl_mesh *mesh = bench_grid(w, 26, 15, 25, 0.02);
    bench_place(mesh, y, c->variant ? 0.1 : acos(-1) / 4, 0.01);
    bench_add(w, mesh, &body);
    bench_floor(w, 0.3);
}

static pl_mesh *shape(bench_world *w, const char *name, int vertices, double scale)
{
    const double still[4] = {1, 0, 0, 0}, nowhere[3] = {0, 0, 0};
    pl_mesh *mesh = NULL;
    if (w->status == PL_OK)
        w->status = pl_shape_build(w->ctx, name, vertices, &mesh);
    if (mesh)
        pl_mesh_transform(mesh, scale, still, nowhere);
    return mesh;
}

/* Pins a group of the last body. */
static void pin_group(bench_world *w, const char *name)
{
    pl_body_info info;
    if (w->status != PL_OK || (w->status = pl_scene_body(w->scene, w->body, &info)) != PL_OK)
        return;
    const pl_group *group = pl_mesh_find_group(info.mesh, name, PL_GROUP_VERTEX);
    pl_pin_def def = pl_pin_def_default();
    def.body = w->body;
    def.vertex_count = group ? group->count : 0;
    def.vertices = group ? group->index : NULL;
    w->status = pl_scene_add_pin(w->scene, &def, NULL);
}

static const int figure_sizes[] = {1200, 5000, 9900};

/* variant: 10 times the model plus the size. Hangs by its hands; projective, as in the paper. */
static void build_armadillo(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.05, solver);
    pl_body_def body = pl_body_def_default();
    body.model = (pl_material)(c->variant / 10);
    body.reading = PL_PROJECTIVE;
    body.young = 1e4;
    bench_open(w, w->ctx, &def);
    bench_add(w, shape(w, "armadillo", figure_sizes[c->variant % 10], 0.2), &body);
    pin_group(w, "hand_left");
    pin_group(w, "hand_right");
}

/* variant: vertices. Clamped at one side, bends under its weight. */
static void build_cloth(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.01, solver);
    pl_body_def body = pl_body_def_default();
    pl_mesh *mesh = NULL;
    body.model = PL_ARAP;
    body.reading = PL_PROJECTIVE;
    body.bending = 0.1;
    bench_open(w, w->ctx, &def);
    if (w->status == PL_OK)
        w->status = pl_mesh_rectangle(w->ctx, 1, 1, 1 / (sqrt(c->variant) - 1), &mesh);
    bench_add(w, mesh, &body);
    bench_pin(w, 0, false);
}

/* variant: vertices. Slides down a slope of 25 degrees. */
static void build_bunny(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.01, solver);
    pl_body_def body = pl_body_def_default();
    const double z[3] = {0, 0, 1};
    body.reading = PL_PROJECTIVE;
    body.young = 1e7;
    bench_slope(&def, 25);
    bench_open(w, w->ctx, &def);
    pl_mesh *mesh = shape(w, "bunny", c->variant, 1);
    bench_place(mesh, z, 0, 1e-3);
    bench_add(w, mesh, &body);
    bench_floor(w, 0.1);
}

/* variant: blocks, each on a shelf of its own above the last, the lowest on the floor. */
static void build_stack(const bench_case *c, pl_solver_kind solver, bench_world *w)
{
    pl_scene_def def = scene_def(0.01, solver);
    pl_body_def body = peer_body(1e5);
    const double z[3] = {0, 0, 1}, storey = 0.15, thickness = 0.02;
    bench_open(w, w->ctx, &def);
    for (int k = 0; k < c->variant; k++) {
        pl_mesh *mesh = bench_grid(w, 11, 11, 6, 0.02);
        bench_place(mesh, z, 0, k * storey);
        bench_add(w, mesh, &body);
    }
    bench_floor(w, 0.3);
    for (int k = 1; k < c->variant; k++)
        bench_shelf(w, 0.3, thickness, k * storey);
}

/* One model of the armadillo in its three sizes; k is 10 times the model. */
#define ARMADILLO(model, setup, k)                                                                     \
    {"armadillo-" model "-1.2k", setup, BENCH_ELASTIC, 60, k == 20, build_armadillo, k},               \
        {"armadillo-" model "-5k", "the same", BENCH_ELASTIC, 12, false, build_armadillo, k + 1},      \
    {                                                                                                  \
        "armadillo-" model "-10k", "the same", BENCH_ELASTIC, 10, false, build_armadillo, k + 2        \
    }

const bench_case bench_cases[] = {
    {"bar-small", "7x7x25 nodes hang from the top, E 5e4, h 0.05", BENCH_ELASTIC, 60, true, build_bar,
     7},
    {"bar", "13x13x25 nodes, the same", BENCH_ELASTIC, 60, false, build_bar, 13},
    ARMADILLO("arap", "hangs by its hands, h 0.05", 10 * PL_ARAP),
    ARMADILLO("corotated", "the same", 10 * PL_COROTATED),
    ARMADILLO("neo-hookean", "the same", 10 * PL_NEO_HOOKEAN),
    {"cloth-2k", "1 m square with bending, clamped, h 0.01", BENCH_ELASTIC, 60, true, build_cloth,
     2100},
    {"cloth-5k", "the same", BENCH_ELASTIC, 12, false, build_cloth, 5000},
    {"cloth-10k", "the same", BENCH_ELASTIC, 10, false, build_cloth, 10200},
    {"slide", "26x25x15 nodes slide at 1 m/s, mu 0.3, E 1e5, h 0.01", BENCH_CONTACT, 60, false,
     build_slide, 0},
    {"edge", "26x15x25 nodes fall on an edge, E 1e6, h 0.01", BENCH_CONTACT, 60, false, build_drop, 0},
    {"flat", "the same, tilted by 0.1 rad, E 1e5", BENCH_CONTACT, 60, false, build_drop, 1},
    {"bunny-1.5k", "slides down 25 degrees, mu 0.1, E 1e7, h 0.01", BENCH_CONTACT, 60, true,
     build_bunny, 1500},
    {"bunny-4k", "the same", BENCH_CONTACT, 60, false, build_bunny, 4100},
    {"bunny-10k", "the same", BENCH_CONTACT, 60, false, build_bunny, 9800},
    {"stack", "4 blocks of 11x11x6 nodes rest on shelves above each other, mu 0.3, E 1e5, h 0.01",
     BENCH_CONTACT, 60, false, build_stack, 4},
};

const int bench_case_count = sizeof bench_cases / sizeof *bench_cases;

const bench_case *bench_find_case(const char *name)
{
    for (int k = 0; k < bench_case_count; k++)
        if (strcmp(bench_cases[k].name, name) == 0)
            return &bench_cases[k];
    return NULL;
}

bool bench_case_named(const bench_case *c, int count, const char *const *texts)
{
    for (int k = 0; k < count; k++) {
        const bench_case *exact = bench_find_case(texts[k]);
        if (exact ? exact == c : strstr(c->name, texts[k]) != NULL)
            return true;
    }
    return count == 0;
}

void bench_build(const bench_case *c, pl_context *ctx, pl_solver_kind solver, bench_world *w)
{
    w->ctx = ctx;
    c->build(c, solver, w);
    bench_start(w);
}
