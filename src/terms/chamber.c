/*
 * Chambers: closed cavities under a pressure p above that outside, given or of a gas.
 *
 *     dE/dV = -p,    -dE/dq = p dV/dq,    d2E/dq2 = -p d2V/dq2 - p' dV/dq dV/dq^T
 *
 * Given, p' = 0. With the amount of a gas given by the pressure p0 that it has at the volume at rest
 * V0, above p_a outside, at the same temperature:
 *
 *     p = (p0 + p_a) f(V) - p_a,    f = V0/V
 *
 * Below LEAST of V0 f goes on along its tangent, so that there is a pressure for every volume, larger
 * for a smaller one, and nothing to divide by. p' couples all vertices of the walls with each other.
 *
 * The second derivative of a volume has as many negative eigenvalues as positive ones: clamped, none of
 * it is left.
 */
#include "terms/chamber.h"

#include "core/vec.h"
#include "terms/term.h"
#include "terms/volume.h"

#include <stddef.h>
#include <stdio.h>

#define LEAST 0.01
enum { CHUNK = 64 }; /* vertices of walls that are taken together */

void pl_chamber_free(pl_context *ctx, pl_chamber *c)
{
    pl_free(ctx, c->local);
    pl_free(ctx, c->triangle);
    pl_free(ctx, c->vertex);
    pl_free(ctx, c->corner);
    pl_curve_free(ctx, &c->pressure);
}

static void inputs(const pl_scene *scene, double time, double *const *of)
{
    pl_parts_at(scene, PL_OWNER_CHAMBER, sizeof(pl_chamber), offsetof(pl_chamber, pressure), time,
                of[PL_PRESSURE]);
}

static void release(pl_scene *scene)
{
    for (int i = 0; i < pl_chamber_count(scene); i++)
        pl_chamber_free(scene->ctx, pl_chamber_get(scene, i));
}

static void range(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper)
{
    (void)upper;
    if (channel == PL_PRESSURE && pl_chamber_get(scene, row)->gas)
        *lower = -pl_chamber_get(scene, row)->ambient;
}

static double pressure(const pl_substep *s, int chamber)
{
    return s->drive->of[PL_PRESSURE][chamber];
}

pl_gas pl_gas_at(const pl_chamber *c, double volume, double input)
{
    if (!c->gas)
        return (pl_gas){-input * volume, input, 0, 1};
    double x = volume / c->rest, at = fmax(x, LEAST), below = x - at, amount = input + c->ambient;
    double f = 1 / at, slope = -f * f; /* by x */
    double integral = log(at) + (f + 0.5 * slope * below) * below;
    f += slope * below;
    return (pl_gas){c->rest * (c->ambient * x - amount * integral), amount * f - c->ambient,
                    amount * slope / c->rest, f};
}

static pl_gas gas_of(const pl_substep *s, int chamber, const double *q)
{
    const pl_chamber *c = pl_chamber_get(s->scene, chamber);
    return pl_gas_at(c, pl_volume(c->count, c->triangle, q), pressure(s, chamber));
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
                 "; chamber %d, \"%s\", is under %.3g Pa%s, %.2g of Young's modulus: its walls may not "
                 "hold that",
                 worst, pl_part_name(s->scene, PL_OWNER_CHAMBER, worst), pressure(s, worst),
                 pl_chamber_get(s->scene, worst)->gas ? " at its volume at rest" : "", most);
}

/* Walls of gases: every vertex with every other. */
static pl_status stencils(const pl_scene *scene, int *count, int *width, int **index)
{
    pl_status status = PL_OK;
    int *list = NULL, at = 0;
    *count = *width = 0;
    for (int i = 0; i < pl_chamber_count(scene); i++) {
        const pl_chamber *c = pl_chamber_get(scene, i);
        *count += c->gas;
        *width = c->gas && c->wall > *width ? c->wall : *width;
    }
    PL_NEW(scene->ctx, list, (size_t)*count * (size_t)*width, done);
    for (int i = 0; i < pl_chamber_count(scene); i++) {
        const pl_chamber *c = pl_chamber_get(scene, i);
        for (int k = 0; c->gas && k < *width; k++)
            list[at++] = k < c->wall ? c->vertex[k] : -1;
    }
    *index = list;
done:
    return status;
}

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        pl_gas gas = gas_of(s, i, q);
        sum += gas.energy;
        pl_volume_gradient(c->count, c->triangle, q, -scale * gas.pressure, out);
    }
    return sum;
}

/* slope = dV/dq of the vertices of the walls from `first` on, as many as fit; their number. */
static int slopes_of(const pl_chamber *c, const double *q, int first, double slope[CHUNK][3])
{
    memset(slope, 0, sizeof(double) * 3 * CHUNK);
    for (int t = 0; t < c->count; t++)
        for (int k = 0; k < 3; k++) {
            int at = c->corner[3 * t + k] - first;
            if (at >= 0 && at < CHUNK)
                pl_volume_corner(c->triangle, t, k, q, slope[at]);
        }
    return pl_smaller(CHUNK, c->wall - first);
}

/* blocks += by dV/dq dV/dq^T */
static void add_square(const pl_pattern *pattern, const pl_chamber *c, const double *q, double by,
                       double *blocks)
{
    double left[CHUNK][3], right[CHUNK][3];
    for (int i = 0; i < c->wall; i += CHUNK) {
        int rows = slopes_of(c, q, i, left);
        for (int j = 0; j < c->wall; j += CHUNK) {
            int columns = slopes_of(c, q, j, right);
            for (int pair = 0; pair < rows * columns; pair++) {
                int a = pair / columns, b = pair % columns;
                double *block =
                    blocks + 9 * (size_t)pl_pattern_find(pattern, c->vertex[i + a], c->vertex[j + b]);
                for (int k = 0; k < 3; k++)
                    pl_axpy3(by * left[a][k], right[b], block + 3 * k);
            }
        }
    }
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        pl_gas gas = gas_of(s, i, q);
        if (!clamp)
            pl_volume_tangent(c->count, c->triangle, q, s->pattern, -scale * gas.pressure, blocks);
        if (c->gas)
            add_square(s->pattern, c, q, -scale * gas.by_volume, blocks);
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        pl_gas gas = gas_of(s, i, q);
        pl_volume_multiply(c->count, c->triangle, q, x, -scale * gas.pressure, y);
        if (c->gas)
            pl_volume_gradient(c->count, c->triangle, q,
                               -scale * gas.by_volume * pl_volume_along(c->count, c->triangle, q, x),
                               y);
    }
}

/* (sum g_a . x_a)^2 <= (sum |g_a|) sum |g_a| |x_a|^2, with the slopes and the pressure at rest. */
static void constant(const pl_substep *s, double scale, double *matrix)
{
    double slope[CHUNK][3];
    for (int i = 0; i < pl_chamber_count(s->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->scene, i);
        const double *rest = s->scene->bodies[c->body].mesh->vertices;
        double most = 0, all = 0;
        pl_chamber at_rest = *c;
        at_rest.triangle = c->local;
        for (int k = 0; k < c->pressure.count; k++)
            most = fmax(most, c->pressure.value[k] + c->ambient);
        for (int pass = 0; c->gas && pass < 2; pass++)
            for (int first = 0; first < c->wall; first += CHUNK) {
                int count = slopes_of(&at_rest, rest, first, slope);
                for (int a = 0; a < count; a++) {
                    int v = c->vertex[first + a];
                    double length = pl_norm3(slope[a]);
                    if (pass == 0)
                        all += length;
                    else
                        matrix[pl_pattern_find(s->pattern, v, v)] +=
                            scale * most / c->rest * all * length;
                }
            }
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    for (int i = 0; g->of[PL_PRESSURE] && i < pl_chamber_count(s->at->scene); i++) {
        const pl_chamber *c = pl_chamber_get(s->at->scene, i);
        double along =
            gas_of(s->at, i, s->q).by_input * pl_volume_along(c->count, c->triangle, s->q, z);
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
        more *= gas_of(s->at, i, s->q).by_input;
        pl_volume_gradient(c->count, c->triangle, s->q, scale * more, rhs);
    }
}

const pl_term pl_term_chamber = {.name = "chamber",
                                 .inputs = inputs,
                                 .range = range,
                                 .doubt = doubt,
                                 .release = release,
                                 .stencils = stencils,
                                 .energy = energy,
                                 .tangent = tangent,
                                 .multiply = multiply,
                                 .constant = constant,
                                 .vjp = vjp,
                                 .jvp = jvp};
