/*
 * The capstan: a band is pulled over half a turn of a cylinder at a steady speed, with a given tension
 * behind. Ahead it is exp(mu pi) times as much (Euler, Eytelwein), whatever the radius, the speed and
 * the time step. A normal that lags by a time step leans against the motion by v h / R, as friction
 * does.
 */
#include "physics.h"

#include <math.h>
#include <stdlib.h>

#define PI      3.14159265358979323846
#define RADIUS  0.1
#define WIDTH   0.01
#define LEG     0.15 /* m of band that hang on either side at first */
#define BEHIND  5.0  /* N */
#define SPEED   0.2  /* m/s */
#define STIFF   1e-6 /* m/N of each pin */
#define SECONDS 0.3
#define MEAN    10 /* steps that the tension is a mean of */

typedef struct band {
    int across, along, count; /* vertices */
    double *rest, *start;     /* [count, 3] flat, and over the cylinder */
    double *speed;            /* [count, 3] */
    int *triangles;
} band;

/* A point of the band, s m from the top, its motion along the band. */
static void wrap(double s, double *x, double *v)
{
    double angle = fmax(fmin(s / RADIUS, 0.5 * PI), -0.5 * PI), beyond = fabs(s) - 0.5 * PI * RADIUS;
    double leg = fmax(beyond, 0);
    x[0] = (RADIUS + 1e-6) * sin(angle);
    x[2] = (RADIUS + 1e-6) * cos(angle) - leg;
    v[0] = SPEED * cos(angle);
    v[2] = -SPEED * sin(angle);
}

static pl_status make_band(double cell, band *b)
{
    double length = PI * RADIUS + 2 * LEG;
    b->across = 3;
    b->along = (int)lround(length / cell) + 1;
    b->count = b->across * b->along;
    b->rest = calloc(9 * (size_t)b->count, sizeof *b->rest);
    b->triangles = malloc(sizeof *b->triangles * 12 * (size_t)b->along);
    if (!b->rest || !b->triangles)
        return PL_ERROR_MEMORY;
    b->start = b->rest + 3 * (size_t)b->count;
    b->speed = b->start + 3 * (size_t)b->count;
    for (int i = 0, k = 0; i < b->along; i++)
        for (int j = 0; j < b->across; j++, k++) {
            double s = length * (i / (b->along - 1.0) - 0.5), y = WIDTH * (0.5 * j - 0.5);
            b->rest[3 * k] = s;
            b->rest[3 * k + 1] = b->start[3 * k + 1] = y;
            wrap(s, b->start + 3 * k, b->speed + 3 * k);
        }
    for (int i = 0, *t = b->triangles; i + 1 < b->along; i++)
        for (int j = 0; j + 1 < b->across; j++) {
            int a = b->across * i + j, c = a + b->across, turn = (i + j) % 2;
            int cut[2][6] = {{a, c, a + 1, a + 1, c, c + 1}, {a, c, c + 1, a, c + 1, a + 1}};
            for (int k = 0; k < 6; k++)
                *t++ = cut[turn][k];
        }
    return PL_OK;
}

static pl_status open_band(study *s, bench_world *w, const band *b, double mu, double h)
{
    pl_scene_def def = pl_scene_def_default();
    pl_body_def body = pl_body_def_default();
    pl_collider_def cylinder = pl_collider_def_default();
    pl_pin_def pin = pl_pin_def_default();
    pl_force_def force = pl_force_def_default();
    pl_mesh *mesh = NULL;
    const double time[2] = {0, 10}, offset[6] = {0, 0, 0, 0, 0, -10 * SPEED};
    const int last = b->across * (b->along - 1), ahead[3] = {last, last + 1, last + 2},
              behind[3] = {0, 1, 2};
    def.time_step = h;
    def.gravity[2] = 0;
    bench_open(w, s->ctx, &def);
    if (w->status == PL_OK)
        w->status =
            pl_mesh_create(s->ctx, b->count, b->rest, 0, NULL, 4 * (b->along - 1), b->triangles, &mesh);
    body.young = 1e8;
    body.poisson = 0;
    body.positions = b->start;
    body.velocities = b->speed;
    bench_add(w, mesh, &body);
    cylinder.shape = PL_CYLINDER;
    cylinder.size[0] = RADIUS, cylinder.size[1] = 0.5;
    cylinder.pose[3] = cylinder.pose[4] = sqrt(0.5);
    cylinder.friction = mu;
    pin.vertex_count = force.vertex_count = 3;
    pin.vertices = ahead;
    pin.compliance = STIFF;
    pin.offset = (pl_table){2, time, offset};
    force.vertices = behind;
    force.per = PL_PER_GROUP;
    force.value[2] = -BEHIND;
    if (w->status == PL_OK)
        w->status = pl_scene_add_collider(w->scene, &cylinder, NULL);
    if (w->status == PL_OK)
        w->status = pl_scene_add_pin(w->scene, &pin, NULL);
    if (w->status == PL_OK)
        w->status = pl_scene_add_force(w->scene, &force, NULL);
    return bench_start(w);
}

/* What the pins pull with. */
static double tension(const bench_world *w, const band *b)
{
    double sum = 0;
    for (int k = b->count - b->across; k < b->count; k++) {
        double target = b->start[3 * k + 2] - SPEED * w->state->time;
        sum += (w->state->q[3 * k + 2] - target) / STIFF;
    }
    return sum;
}

pl_status physics_capstan(study *s, double mu, double h, double *ratio)
{
    bench_world w = {0};
    band b = {0};
    int steps = (int)lround(SECONDS / h);
    pl_status status = make_band(s->quick ? 0.01 : 0.005, &b);
    *ratio = 0;
    if (status == PL_OK)
        status = open_band(s, &w, &b, mu, h);
    for (int k = 0; status == PL_OK && k < steps; k++) {
        status = pl_step(w.sim, w.state, NULL, NULL);
        if (k >= steps - MEAN)
            *ratio += tension(&w, &b) / (BEHIND * MEAN);
        if (!study_progress(s, k + 1, steps))
            status = study_stopped(s);
    }
    free(b.rest);
    free(b.triangles);
    bench_close(&w);
    return status;
}
