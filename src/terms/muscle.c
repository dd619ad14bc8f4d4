/*
 * Muscles: fibres in elements. With m the fibre's direction in the rest shape,
 *
 *     x = F m = sum_a c_a q_a,    l = |x|,    d = x / l,    E = V k psi(l, a),    T = dpsi/dl
 *     dE/dq_a = V k T c_a d
 *     d2E/dq_a dq_b = V k c_a c_b [ T' d d^T + (T/l) (I - d d^T) ]
 *
 * with rest volume V, stiffness k and activation a. The bracket has the eigenvalues T' and T/l.
 */
#include "terms/muscle.h"

#include "core/vec.h"
#include "terms/term.h"

#include <stddef.h>
#include <stdio.h>

#define ROUNDING 0.02 /* e of the law of tension: over which it turns from slack to taut */
#define SHORTEST 1e-9 /* l of a fibre that has none left, whose direction is not known */

void pl_muscle_range(pl_muscle_law law, double *lower, double *upper)
{
    *lower = law == PL_MUSCLE_FORCE ? 0 : -PL_INPUT_MOST;
    *upper = law == PL_MUSCLE_FORCE ? PL_INPUT_MOST : 1;
}

void pl_muscle_free(pl_context *ctx, pl_muscle *m)
{
    pl_free(ctx, m->element);
    pl_free(ctx, m->direction);
    pl_free(ctx, m->vertex);
    pl_free(ctx, m->along);
    pl_free(ctx, m->volume);
    pl_curve_free(ctx, &m->activation);
}

/* ---- inputs and ownership */

static void inputs(const pl_scene *scene, double time, double *const *of)
{
    pl_parts_at(scene, PL_OWNER_MUSCLE, sizeof(pl_muscle), offsetof(pl_muscle, activation), time,
                of[PL_ACTIVATION]);
}

static void range(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper)
{
    if (channel == PL_ACTIVATION)
        pl_muscle_range(pl_muscle_get(scene, row)->law, lower, upper);
}

/* Names the muscle that pulls hardest for what it is in, from about Young's modulus on. */
static void doubt(const pl_substep *s, char *text, size_t size)
{
    int worst = -1;
    double most = 0.5, stress = 0;
    for (int i = 0; i < pl_muscle_count(s->scene); i++) {
        double pulls =
            s->matter->values->of[PL_MUSCLE_STIFFNESS][i] * fabs(s->drive->of[PL_ACTIVATION][i]);
        double share = pulls / pl_least_young(s, pl_muscle_get(s->scene, i)->body);
        if (share <= most)
            continue;
        most = share;
        stress = pulls;
        worst = i;
    }
    if (worst >= 0)
        snprintf(text, size,
                 "; muscle %d, \"%s\", is active by %.3g and pulls with %.3g Pa, %.2g of Young's "
                 "modulus: its body may not bear that",
                 worst, pl_part_name(s->scene, PL_OWNER_MUSCLE, worst),
                 s->drive->of[PL_ACTIVATION][worst], stress, most);
}

static void release(pl_scene *scene)
{
    for (int i = 0; i < pl_muscle_count(scene); i++)
        pl_muscle_free(scene->ctx, pl_muscle_get(scene, i));
}

/* ---- one fibre */

/* psi, T and its derivatives at one length and activation. */
typedef struct pull {
    double energy, tension, by_length, by_activation;
} pull;

static pull law_of(pl_muscle_law law, double l, double a)
{
    double x = l - (1 - a), root;
    switch (law) {
    case PL_MUSCLE_SPRING:
        return (pull){0.5 * x * x, x, 1, 1};
    case PL_MUSCLE_FORCE:
        return (pull){0.5 * a * l * l, a * l, a, l};
    case PL_MUSCLE_TENSION:
        break;
    }
    root = sqrt(x * x + ROUNDING * ROUNDING);
    /* x + root without the difference of two equal numbers, where the fibre is slack */
    double sum = x > 0 ? x + root : ROUNDING * ROUNDING / (root - x), slope = 0.5 * sum / root;
    return (pull){0.25 * (x * sum + ROUNDING * ROUNDING * asinh(x / ROUNDING)), 0.5 * sum, slope,
                  slope};
}

typedef struct fibre {
    double d[3], length; /* unit, and l */
    pull pull;
} fibre;

/* out = sum_a c_a x_a */
static void gather(const pl_muscle *m, int e, const double *x, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int a = 0; a < 4; a++)
        pl_axpy3(m->along[4 * e + a], x + 3 * (size_t)m->vertex[4 * e + a], out);
}

/* out [n, 3] += s c_a f at the corners */
static void scatter(const pl_muscle *m, int e, double s, const double f[3], double *out)
{
    for (int a = 0; a < 4; a++)
        pl_axpy3(s * m->along[4 * e + a], f, out + 3 * (size_t)m->vertex[4 * e + a]);
}

static fibre fibre_of(const pl_muscle *m, int e, const double *q, double a)
{
    fibre f;
    gather(m, e, q, f.d);
    f.length = fmax(pl_norm3(f.d), SHORTEST);
    for (int k = 0; k < 3; k++)
        f.d[k] /= f.length;
    f.pull = law_of(m->law, f.length, a);
    return f;
}

static double stiffness(const pl_substep *s, int muscle)
{
    return s->matter->values->of[PL_MUSCLE_STIFFNESS][muscle];
}

static double activation(const pl_substep *s, int muscle)
{
    return s->drive->of[PL_ACTIVATION][muscle];
}

/* ---- the term */

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    for (int i = 0; i < pl_muscle_count(s->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->scene, i);
        for (int e = 0; e < m->count; e++) {
            fibre f = fibre_of(m, e, q, activation(s, i));
            double stiff = m->volume[e] * stiffness(s, i);
            sum += stiff * f.pull.energy;
            scatter(m, e, scale * stiff * f.pull.tension, f.d, out);
        }
    }
    return sum;
}

/* [ T' d d^T + (T/l) (I - d d^T) ], with clamp without the negative one of T', T/l */
static void bracket(const fibre *f, bool clamp, double out[9])
{
    double along = f->pull.by_length, across = f->pull.tension / f->length;
    if (clamp) {
        along = fmax(along, 0);
        across = fmax(across, 0);
    }
    for (int k = 0; k < 9; k++)
        out[k] = (along - across) * f->d[k / 3] * f->d[k % 3] + (k % 4 == 0 ? across : 0);
}

static void add_blocks(const pl_pattern *pattern, const pl_muscle *m, int e, double scale,
                       const double block[9], double *blocks)
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            int at = pl_pattern_find(pattern, m->vertex[4 * e + a], m->vertex[4 * e + b]);
            double pair = scale * m->along[4 * e + a] * m->along[4 * e + b];
            for (int k = 0; k < 9; k++)
                blocks[9 * (size_t)at + (size_t)k] += pair * block[k];
        }
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    double block[9];
    for (int i = 0; i < pl_muscle_count(s->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->scene, i);
        for (int e = 0; e < m->count; e++) {
            fibre f = fibre_of(m, e, q, activation(s, i));
            bracket(&f, clamp, block);
            add_blocks(s->pattern, m, e, scale * m->volume[e] * stiffness(s, i), block, blocks);
        }
    }
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    double block[9], moved[3], force[3];
    for (int i = 0; i < pl_muscle_count(s->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->scene, i);
        for (int e = 0; e < m->count; e++) {
            fibre f = fibre_of(m, e, q, activation(s, i));
            bracket(&f, false, block);
            gather(m, e, x, moved);
            pl_mat3_vec(block, moved, force);
            scatter(m, e, scale * m->volume[e] * stiffness(s, i), force, y);
        }
    }
}

/* What T' and T/l do not exceed, over k: 1, or the scene's largest activation where they grow with it.
 */
static double steepest(const pl_muscle *m)
{
    double most = 1;
    for (int k = 0; m->law == PL_MUSCLE_FORCE && k < m->activation.count; k++)
        most = fmax(most, m->activation.value[k]);
    return most;
}

static void constant(const pl_substep *s, double scale, double *matrix)
{
    for (int i = 0; i < pl_muscle_count(s->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->scene, i);
        for (int e = 0; e < m->count; e++)
            for (int k = 0; k < 16; k++) {
                int a = 4 * e + k / 4, b = 4 * e + k % 4;
                matrix[pl_pattern_find(s->pattern, m->vertex[a], m->vertex[b])] +=
                    scale * m->volume[e] * stiffness(s, i) * steepest(m) * m->along[a] * m->along[b];
            }
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    if (!g->of[PL_ACTIVATION] && !g->of[PL_MUSCLE_STIFFNESS])
        return;
    for (int i = 0; i < pl_muscle_count(s->at->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->at->scene, i);
        double by_activation = 0, by_stiffness = 0, on[3];
        for (int e = 0; e < m->count; e++) {
            fibre f = fibre_of(m, e, s->q, activation(s->at, i));
            gather(m, e, z, on);
            double pulled = -m->volume[e] * pl_dot3(f.d, on);
            by_activation += stiffness(s->at, i) * f.pull.by_activation * pulled;
            by_stiffness += f.pull.tension * pulled;
        }
        if (g->of[PL_ACTIVATION])
            pl_slope_spread(s, g, PL_ACTIVATION, i, scale, &by_activation);
        if (g->of[PL_MUSCLE_STIFFNESS])
            g->of[PL_MUSCLE_STIFFNESS][i] += scale * by_stiffness;
    }
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    if (!d->of[PL_ACTIVATION] && !d->of[PL_MUSCLE_STIFFNESS])
        return;
    for (int i = 0; i < pl_muscle_count(s->at->scene); i++) {
        const pl_muscle *m = pl_muscle_get(s->at->scene, i);
        double more = 0, stiffer = d->of[PL_MUSCLE_STIFFNESS] ? d->of[PL_MUSCLE_STIFFNESS][i] : 0;
        if (d->of[PL_ACTIVATION])
            pl_slope_blend(s, d, PL_ACTIVATION, i, &more);
        for (int e = 0; e < m->count; e++) {
            fibre f = fibre_of(m, e, s->q, activation(s->at, i));
            double change =
                stiffness(s->at, i) * f.pull.by_activation * more + f.pull.tension * stiffer;
            scatter(m, e, -scale * m->volume[e] * change, f.d, rhs);
        }
    }
}

const pl_term pl_term_muscle = {.name = "muscle",
                                .inputs = inputs,
                                .range = range,
                                .doubt = doubt,
                                .release = release,
                                .energy = energy,
                                .tangent = tangent,
                                .multiply = multiply,
                                .constant = constant,
                                .vjp = vjp,
                                .jvp = jvp};
