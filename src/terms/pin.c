/*
 * Pins: springs of compliance c between vertices and their targets t.
 *
 *     E = |N (x - t)|^2 / (2 c),     dE/dx = N (x - t)/c
 *
 * N = 1, or n n^T of pins that hold along a normal n alone.
 */
#include "terms/term.h"

#include "core/vec.h"

/* Visits every pinned vertex v of pin p, the k-th of all. */
#define FOR_PINNED(scene, p, k, v)                                                                     \
    for (int p = 0; p < (scene)->pin_count; p++)                                                       \
        for (int k = (scene)->pins[p].first, v; k < (scene)->pins[p].first + (scene)->pins[p].count && \
                                                (v = (scene)->pin_vertex[k], true);                    \
             k++)

static double stiffness(const pl_substep *s, int pin)
{
    return 1 / s->matter->values->of[PL_COMPLIANCE][pin];
}

/* x = N x */
static void hold(const pl_substep *s, int pin, double x[3])
{
    const double *n = s->scene->pins[pin].normal;
    if (n[0] == 0 && n[1] == 0 && n[2] == 0)
        return;
    double along = pl_dot3(n, x);
    for (int k = 0; k < 3; k++)
        x[k] = along * n[k];
}

/* out = N (x - t) of the k-th pinned vertex */
static void stretch(const pl_substep *s, const double *q, int pin, int k, double out[3])
{
    pl_sub3(q + 3 * (size_t)s->scene->pin_vertex[k], s->drive->of[PL_PIN_TARGET] + 3 * k, out);
    hold(s, pin, out);
}

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0, d[3];
    FOR_PINNED(s->scene, p, k, v)
    {
        stretch(s, q, p, k, d);
        sum += 0.5 * stiffness(s, p) * pl_dot3(d, d);
        pl_axpy3(scale * stiffness(s, p), d, out + 3 * (size_t)v);
    }
    return sum;
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    (void)q, (void)clamp;
    FOR_PINNED(s->scene, p, k, v)
    {
        double *block = blocks + 9 * (size_t)s->pattern->diag[v];
        for (int row = 0; row < 3; row++) {
            double axis[3] = {row == 0, row == 1, row == 2};
            hold(s, p, axis);
            pl_axpy3(scale * stiffness(s, p), axis, block + 3 * row);
        }
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    (void)q;
    FOR_PINNED(s->scene, p, k, v)
    {
        double held[3];
        memcpy(held, x + 3 * (size_t)v, sizeof held);
        hold(s, p, held);
        pl_axpy3(scale * stiffness(s, p), held, y + 3 * (size_t)v);
    }
}

static void constant(const pl_substep *s, double scale, double *a)
{
    FOR_PINNED(s->scene, p, k, v)
    a[s->pattern->diag[v]] += scale * stiffness(s, p);
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    double d[3], held[3];
    FOR_PINNED(s->at->scene, p, k, v)
    {
        double stiff = stiffness(s->at, p);
        stretch(s->at, s->q, p, k, d);
        memcpy(held, z + 3 * (size_t)v, sizeof held);
        hold(s->at, p, held);
        if (g->of[PL_PIN_TARGET])
            pl_slope_spread(s, g, PL_PIN_TARGET, k, scale * stiff, held);
        if (g->of[PL_COMPLIANCE])
            g->of[PL_COMPLIANCE][p] += scale * stiff * stiff * pl_dot3(held, d);
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    double moved[3], apart[3];
    FOR_PINNED(s->at->scene, p, k, v)
    {
        double stiff = stiffness(s->at, p);
        stretch(s->at, s->q, p, k, apart);
        if (d->of[PL_PIN_TARGET]) {
            pl_slope_blend(s, d, PL_PIN_TARGET, k, moved);
            hold(s->at, p, moved);
            pl_axpy3(scale * stiff, moved, rhs + 3 * (size_t)v);
        }
        if (d->of[PL_COMPLIANCE])
            pl_axpy3(scale * stiff * stiff * d->of[PL_COMPLIANCE][p], apart, rhs + 3 * (size_t)v);
    }
}

const pl_term pl_term_pin = {.name = "pin",
                             .energy = energy,
                             .tangent = tangent,
                             .multiply = multiply,
                             .constant = constant,
                             .vjp = vjp,
                             .jvp = jvp};
