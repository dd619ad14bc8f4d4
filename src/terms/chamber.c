/*
 * Chambers: closed cavities under a pressure p above that outside.
 *
 *     E = -p V(q),    -dE/dq = p dV/dq,    d2E/dq2 = -p d2V/dq2
 *
 * The second derivative of a volume has as many negative eigenvalues as positive ones: clamped, none of
 * it is left.
 */
#include "terms/chamber.h"

#include "core/vec.h"
#include "terms/term.h"
#include "terms/volume.h"

#include <stdio.h>

void pl_chamber_free(pl_context *ctx, pl_chamber *c)
{
    pl_free(ctx, c->local);
    pl_free(ctx, c->triangle);
    pl_curve_free(ctx, &c->pressure);
}

static void inputs(const pl_scene *scene, double time, double *const *of)
{
    for (int i = 0; i < pl_chamber_count(scene); i++)
        pl_curve_at(&pl_chamber_get(scene, i)->pressure, time, of[PL_PRESSURE] + i);
}

static void release(pl_scene *scene)
{
    for (int i = 0; i < pl_chamber_count(scene); i++)
        pl_chamber_free(scene->ctx, pl_chamber_get(scene, i));
}

static double pressure(const pl_substep *s, int chamber)
{
    return s->drive->of[PL_PRESSURE][chamber];
}

/* Pressures past which walls grow without end are fractions of Young's modulus: about wall over radius
 * of thin ones, 0.4 of a thick one. */
static void doubt(const pl_substep *s, char *text, size_t size)
{
    int worst = -1;
    double most = 0.01;
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        double share = fabs(pressure(s, i)) / pl_least_young(s, pl_chamber_get(s->scene, i)->body);
        if (share <= most)
            continue;
        most = share;
        worst = i;
    }
    if (worst >= 0)
        snprintf(text, size,
                 "; chamber %d, \"%s\", is under %.3g Pa, %.2g of Young's modulus: its walls may not "
                 "hold that",
                 worst, pl_part_name(s->scene, PL_OWNER_CHAMBER, worst), pressure(s, worst), most);
}

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        sum -= pressure(s, i) * pl_volume(c->count, c->triangle, q);
        pl_volume_gradient(c->count, c->triangle, q, -scale * pressure(s, i), out);
    }
    return sum;
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    for (int i = 0; !clamp && i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        pl_volume_tangent(c->count, c->triangle, q, s->pattern, -scale * pressure(s, i), blocks);
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        pl_volume_multiply(c->count, c->triangle, q, x, -scale * pressure(s, i), y);
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    for (int i = 0; g->of[PL_PRESSURE] && i < pl_chamber_count(s->at->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->at->scene, i);
        double along = pl_volume_along(c->count, c->triangle, s->q, z);
        pl_slope_spread(s, g, PL_PRESSURE, i, scale, &along);
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    for (int i = 0; d->of[PL_PRESSURE] && i < pl_chamber_count(s->at->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->at->scene, i);
        double more;
        pl_slope_blend(s, d, PL_PRESSURE, i, &more);
        pl_volume_gradient(c->count, c->triangle, s->q, scale * more, rhs);
    }
}

const pl_term pl_term_chamber = {.name = "chamber",
                                 .inputs = inputs,
                                 .doubt = doubt,
                                 .release = release,
                                 .energy = energy,
                                 .tangent = tangent,
                                 .multiply = multiply,
                                 .vjp = vjp,
                                 .jvp = jvp};
