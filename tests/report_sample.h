/* A report with everything in it: a bouncing, squashing ellipsoid over each kind of collider, and a fit
 * that converges. Made of formulas; no simulation. */
#ifndef PL_TEST_REPORT_SAMPLE_H
#define PL_TEST_REPORT_SAMPLE_H

#include "common.h"

#include <pliant/report.h>

enum { SAMPLE_RINGS = 24, SAMPLE_SIDES = 40, SAMPLE_FRAMES = 121, SAMPLE_ITERATIONS = 14 };
enum { SAMPLE_VERTICES = (SAMPLE_RINGS - 1) * SAMPLE_SIDES + 2 + 1 }; /* the last is in no triangle */
enum { SAMPLE_TRIANGLES = 2 * SAMPLE_SIDES * (SAMPLE_RINGS - 1) };
#define SAMPLE_STEP 0.01

static inline int sample_vertex(int ring, int side)
{
    if (ring == 0)
        return 0;
    if (ring == SAMPLE_RINGS)
        return SAMPLE_VERTICES - 2;
    return 1 + (ring - 1) * SAMPLE_SIDES + side % SAMPLE_SIDES;
}

static inline void sample_triangles(int *triangles)
{
    int count = 0;
    for (int ring = 0; ring < SAMPLE_RINGS; ring++) {
        for (int side = 0; side < SAMPLE_SIDES; side++) {
            int corner[4] = {sample_vertex(ring, side), sample_vertex(ring + 1, side),
                             sample_vertex(ring + 1, side + 1), sample_vertex(ring, side + 1)};
            for (int half = 0; half < 2; half++) {
                if ((half == 0 && ring == SAMPLE_RINGS - 1) || (half == 1 && ring == 0))
                    continue;
                triangles[3 * count] = corner[0];
                triangles[3 * count + 1] = corner[half ? 2 : 1];
                triangles[3 * count + 2] = corner[half ? 3 : 2];
                count++;
            }
        }
    }
    assert_int_equal(count, SAMPLE_TRIANGLES);
}

/* Height of the lowest point at t: bounces that keep a part of their speed; squash while it touches. */
static inline double sample_height(double t, double keep, double *squash)
{
    double speed = 0, height = 0.5, start = 0;
    *squash = 0;
    for (int bounce = 0; bounce < 20; bounce++) {
        double duration = (speed + sqrt(speed * speed + 2 * 9.81 * height)) / 9.81;
        double touch = bounce == 0 ? 0 : 0.06;
        double since = t - start;
        if (since < touch) {
            *squash = 0.35 * sin(acos(-1) * since / touch) * speed / 3;
            return 0;
        }
        since -= touch;
        if (since < duration)
            return height + speed * since - 0.5 * 9.81 * since * since;
        start += touch + duration;
        speed = keep * (9.81 * duration - speed);
        height = 0;
        if (speed < 0.2)
            break;
    }
    return 0;
}

/* frames [SAMPLE_FRAMES, SAMPLE_VERTICES, 3] of a body that keeps `keep` of its speed. */
static inline void sample_frames(double keep, double *frames)
{
    const double pi = acos(-1), radii[3] = {0.16, 0.12, 0.10};
    for (int f = 0; f < SAMPLE_FRAMES; f++) {
        double squash, t = f * SAMPLE_STEP, low = sample_height(t, keep, &squash);
        double wide = 1 / sqrt(1 - squash);
        for (int ring = 0; ring <= SAMPLE_RINGS; ring++) {
            for (int side = 0; side < SAMPLE_SIDES; side++) {
                double a = pi * ring / SAMPLE_RINGS, b = 2 * pi * side / SAMPLE_SIDES;
                double *p =
                    frames + 3 * ((size_t)f * SAMPLE_VERTICES + (size_t)sample_vertex(ring, side));
                p[0] = -0.45 + 0.7 * keep * t + wide * radii[0] * sin(a) * cos(b);
                p[1] = wide * radii[1] * sin(a) * sin(b);
                p[2] = low + (1 - squash) * radii[2] * (1 + cos(a));
            }
        }
        double *unused = frames + 3 * ((size_t)f * SAMPLE_VERTICES + SAMPLE_VERTICES - 1);
        unused[0] = unused[1] = unused[2] = 1e6;
    }
}

static inline void sample_trajectory(pl_report *report, const char *name, const char *colour,
                                     double opacity, double keep)
{
    int *triangles = malloc(3 * SAMPLE_TRIANGLES * sizeof *triangles);
    double *frames = malloc(3ul * SAMPLE_FRAMES * SAMPLE_VERTICES * sizeof *frames);
    sample_triangles(triangles);
    sample_frames(keep, frames);
    pl_report_trajectory t = pl_report_trajectory_default();
    t.name = name;
    t.colour = colour;
    t.opacity = opacity;
    t.vertex_count = SAMPLE_VERTICES;
    t.triangle_count = SAMPLE_TRIANGLES;
    t.triangles = triangles;
    t.frame_count = SAMPLE_FRAMES;
    t.frames = frames;
    t.time_step = SAMPLE_STEP;
    int status = pl_report_add_trajectory(report, &t);
    free(triangles);
    free(frames);
    assert_int_equal(status, PL_OK);
}

static inline void sample_collider(pl_context *ctx, pl_report *report, const char *name, pl_shape shape,
                                   double size0, double size1, double size2, double x, double y,
                                   double z)
{
    pl_collider_def c = {.name = name, .shape = shape, .size = {size0, size1, size2}};
    memcpy(c.pose, (double[]){x, y, z, 1, 0, 0, 0}, sizeof c.pose);
    assert_ok(ctx, pl_report_add_collider(report, &c));
}

/* A capsule that turns and rises: a table of poses. */
static inline void sample_moving_collider(pl_context *ctx, pl_report *report)
{
    double time[] = {0, 0.6, 1.2}, half = sqrt(0.5);
    double value[] = {0.4, 0.35, 0.08, half, half, 0,    0,    0.4, 0.35, 0.25, 0.5,
                      0.5, 0.5,  0.5,  0.4,  0.35, 0.08, half, 0,   half, 0};
    pl_collider_def c = {.name = "turning capsule", .shape = PL_CAPSULE, .size = {0.05, 0.1}};
    c.table = (pl_table){.count = 3, .time = time, .value = value};
    assert_ok(ctx, pl_report_add_collider(report, &c));
}

/* A stone: the boundary of a solid mesh. */
static inline void sample_mesh_collider(pl_context *ctx, pl_report *report)
{
    pl_mesh *stone;
    assert_ok(ctx, pl_mesh_ellipsoid(ctx, (const double[]){0.07, 0.1, 0.06}, 0.03, &stone));
    pl_collider_def c = {.name = "stone", .shape = PL_MESH, .surface = stone};
    memcpy(c.pose, (double[]){0.25, -0.3, 0.05, 1, 0, 0, 0}, sizeof c.pose);
    assert_ok(ctx, pl_report_add_collider(report, &c));
    pl_mesh_free(ctx, stone);
}

/* Forces under the body while it touches: a ring of contacts, pressing up and dragging back. */
static inline void sample_contacts(pl_context *ctx, pl_report *report, double keep)
{
    enum { RING = 8 };
    int first[SAMPLE_FRAMES + 1] = {0};
    static double point[3 * RING * SAMPLE_FRAMES], normal[3 * RING * SAMPLE_FRAMES],
        tangent[3 * RING * SAMPLE_FRAMES];
    int count = 0;
    for (int f = 0; f < SAMPLE_FRAMES; f++) {
        double squash, t = f * SAMPLE_STEP, low = sample_height(t, keep, &squash);
        for (int i = 0; i < RING && low <= 0; i++, count++) {
            double a = 2 * acos(-1) * i / RING;
            double p[3] = {-0.45 + 0.7 * keep * t + 0.06 * cos(a), 0.05 * sin(a), 0};
            memcpy(point + 3 * count, p, sizeof p);
            memcpy(normal + 3 * count, (double[]){0, 0, 1 + 40 * squash}, sizeof p);
            memcpy(tangent + 3 * count, (double[]){-0.4 - 16 * squash, 0, 0}, sizeof p);
        }
        first[f + 1] = count;
    }
    pl_report_contacts c = {.name = "fitted",
                            .frame_count = SAMPLE_FRAMES,
                            .first = first,
                            .point = point,
                            .normal = normal,
                            .tangent = tangent,
                            .time_step = SAMPLE_STEP};
    assert_ok(ctx, pl_report_add_contacts(report, &c));
}

static inline void sample_view(pl_context *ctx, pl_report *report)
{
    sample_trajectory(report, "initial guess", "#999999", 0.3, 0.5);
    sample_trajectory(report, "fitted", "#0072b2", 1, 0.72);
    sample_trajectory(report, "target", "#e69f00", 0.35, 0.73);
    sample_collider(ctx, report, "ground", PL_HALF_SPACE, 0, 0, 0, 0, 0, 0);
    sample_collider(ctx, report, "ball", PL_SPHERE, 0.08, 0, 0, -0.5, 0.4, 0.08);
    sample_collider(ctx, report, "step", PL_BOX, 0.1, 0.07, 0.04, 0.05, 0.42, 0.04);
    sample_collider(ctx, report, "post", PL_CYLINDER, 0.05, 0.12, 0, -0.2, 0.42, 0.12);
    sample_moving_collider(ctx, report);
    sample_mesh_collider(ctx, report);
    sample_contacts(ctx, report, 0.72);
}

static inline void sample_fit(pl_context *ctx, pl_report *report)
{
    enum { K = SAMPLE_ITERATIONS, P = 3 };
    const char *names[P] = {"Young's modulus", "friction", "density"},
               *units[P] = {"Pa", NULL, "kg/m³"};
    const double truth[P] = {1.25e5, 0.42, 1040}, start[P] = {4.0e4, 0.9, 1500};
    double loss[K], values[K * P], gradient[K * P], difference[K * P];
    uint64_t seed = 7;
    for (int k = 0; k < K; k++) {
        double left = pow(0.42, k) + 1e-4;
        loss[k] = 0.31 * left * left;
        for (int i = 0; i < P; i++) {
            double d = start[i] - truth[i], wave = cos(0.8 * k * i) * left;
            values[k * P + i] = truth[i] + d * wave;
            gradient[k * P + i] = 0.62 * wave / d;
            difference[k * P + i] = gradient[k * P + i] * (1 + 3e-7 * test_random(&seed));
        }
    }
    difference[5 * P] = NAN; /* one iteration without a check: a gap */
    const double error[P] = {310, 0.0021, 4.4};
    const double correlation[P * P] = {1, -0.31, 0.82, -0.31, 1, -0.12, 0.82, -0.12, 1};
    const char *stages[] = {"local step", "assembly", "factorisation", "solve",
                            "contact",    "adjoint",  "other"};
    const double seconds[] = {0.42, 0.31, 1.18, 0.55, 0.73, 0.94, 0.12};
    const char *settings[] = {"solver",    "lagged",      "time step", "0.01 s",           "steps",
                              "120",       "tolerance",   "1e-10 m",   "contact epsilon²", "5e-13 N m",
                              "optimiser", "Gauss-Newton"};
    const char *statistics[] = {
        "vertices",         "922",       "Newton iterations a step", "2.31", "factorisations", "318",
        "largest residual", "8.1e-11 m", "deepest penetration",      "0 m"};
    pl_report_fit fit = {.parameter_count = P,
                         .names = names,
                         .units = units,
                         .iteration_count = K,
                         .loss = loss,
                         .values = values,
                         .gradient = gradient,
                         .difference_gradient = difference,
                         .truth = truth,
                         .standard_error = error,
                         .correlation = correlation,
                         .seconds = 4.25,
                         .stage_count = 7,
                         .stages = stages,
                         .stage_seconds = seconds,
                         .setting_count = 6,
                         .settings = settings,
                         .statistic_count = 5,
                         .statistics = statistics};
    assert_ok(ctx, pl_report_add_fit(report, &fit));
}

#endif
