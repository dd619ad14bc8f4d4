/* Pseudo-arclength continuation down the central path of the contact law. */
#include "contact/central.h"

#include "core/vec.h"

#include <cblas.h>

#define MAX_ITERATIONS  800  /* LUs from a start without forces, */
#define WARM_ITERATIONS 100  /* and from forces that are about right: */
#define WARM            0.1  /* where that has so much less tau to begin with */
#define START           0.3  /* of the motion without forces: how far apart contacts are at first */
#define WIDE            10   /* times eps^2: tau at first, at least */
#define FIRST           0.5  /* bends: length of the first step */
#define SHORTEST        1e-6 /* bends: of the last that is tried, */
#define REVERSALS       6    /* times that it is tried the other way then, */
#define AGAIN           0.1  /* bends: with this length at first */
#define SHORTER         0.5  /* times, after a step that was too long */
#define LONGER          1.6  /* times, at most, after one that was not */
#define AIM             0.25 /* bends: what a step's first correction should be */
#define FARTHEST        0.8  /* of sigma: what a step may take of it */
#define CORRECTIONS     4    /* of a step, at most: */
#define WILD            2.0  /* bends: one that says nothing */
#define CONTRACTS       0.5  /* of the one before */
#define ON_PATH         0.4  /* bends: after this one the point is on the path, */
#define CLOSE           1e-6 /* relative error at the end, */
#define ROUNDED         0.1  /* bends: or after this correction, where rounding leaves no less */

/* A walk along the path. */
typedef struct walk {
    pl_path *p;
    pl_central *c;
    double sigma;   /* at the point */
    double d_sigma; /* of the direction */
    int limit;      /* LUs in all */
    bool against;   /* what det S says of the way to go */
    bool back;      /* det S < 0 at the last evaluation */
} walk;

enum { VECTORS = 11 };

static void vectors_of(pl_central *c, double **out[VECTORS])
{
    double **all[VECTORS] = {&c->u,          &c->to,    &c->delta,   &c->lambda, &c->off,   &c->pull,
                             &c->correction, &c->along, &c->tangent, &c->rhs,    &c->forces};
    memcpy(out, all, sizeof all);
}

void pl_central_free(pl_context *ctx, pl_central *c)
{
    double **vectors[VECTORS];
    vectors_of(c, vectors);
    for (int k = 0; k < VECTORS; k++)
        pl_free(ctx, *vectors[k]);
    pl_free(ctx, c->bend);
    pl_free(ctx, c->base);
    *c = (pl_central){0};
}

pl_status pl_central_reserve(pl_context *ctx, pl_central *c, int m)
{
    pl_status status = PL_OK;
    double **vectors[VECTORS];
    if (m <= c->capacity)
        return PL_OK;
    pl_central_free(ctx, c);
    vectors_of(c, vectors);
    for (int k = 0; k < VECTORS; k++)
        PL_NEW(ctx, *vectors[k], 3 * m, fail);
    PL_NEW(ctx, c->bend, m, fail);
    PL_NEW(ctx, c->base, m, fail);
    c->capacity = m;
    return PL_OK;
fail:
    pl_central_free(ctx, c);
    return status;
}

/* ---- How the law bends ---- */

/* x y, measured by how the law of one contact bends at u: along u_n, along a, across u_f. */
static double in_bends(const double u[3], const pl_law_bend *bend, const double x[3], const double y[3])
{
    double length = hypot(u[1], u[2]), across = fmax(bend->friction, length);
    double d[2] = {length > 0 ? u[1] / length : 1, length > 0 ? u[2] / length : 0};
    return x[0] * y[0] / (bend->normal * bend->normal) +
           (d[0] * x[1] + d[1] * x[2] + bend->lean * x[0]) *
               (d[0] * y[1] + d[1] * y[2] + bend->lean * y[0]) / (bend->friction * bend->friction) +
           (d[0] * x[2] - d[1] * x[1]) * (d[0] * y[2] - d[1] * y[1]) / (across * across);
}

/* The largest of all contacts, and sigma. */
static double size_of(int m, const double *u, const pl_law_bend *bend, const double *x, double by_sigma)
{
    double most = 0;
    for (int c = 0; c < m; c++)
        most = fmax(most, in_bends(u + 3 * c, &bend[c], x + 3 * c, x + 3 * c));
    return sqrt(most + by_sigma * by_sigma);
}

/* c->to = from + t du, but that the length of u_f and its direction change evenly: it is turned, not
 * drawn out. */
static void go(const walk *w, const double *from, double t, const double *du)
{
    for (int c = 0; c < w->p->on->count; c++) {
        const double *u = from + 3 * c, *by = du + 3 * c;
        double *to = w->c->to + 3 * c, length = hypot(u[1], u[2]);
        double along = length > 0 ? t * (u[1] * by[1] + u[2] * by[2]) / length : 0;
        bool turns = 2 * fabs(t) * hypot(by[1], by[2]) < length;
        for (int k = 0; k < 3; k++)
            to[k] = u[k] + t * by[k];
        double scale = turns ? (length + along) / hypot(to[1], to[2]) : 1;
        to[1] *= scale, to[2] *= scale;
    }
}

/* ---- The curve ---- */

/* out = W x with what gives */
static void couple(const pl_path *p, const double *x, double *out)
{
    pl_contact_system_couple(p->ctx, p->system, p->on, x, out);
    for (int c = 0; c < p->on->count; c++)
        out[3 * c] += p->on->laws[c].compliance * x[3 * c];
}

/* The law at u. */
static void resolve(const pl_path *p, pl_central *c, const double *u, double tau)
{
    for (int k = 0; k < p->on->count; k++)
        pl_law_at(&p->on->laws[k], tau, u + 3 * k, c->delta + 3 * k, c->lambda + 3 * k, &c->bend[k]);
}

/* c->off = delta - b - W (lambda - origin) - (tau - eps^2) pull */
static void find_off(const pl_path *p, pl_central *c, double tau)
{
    int m = p->on->count;
    double more = tau - p->on->laws[0].epsilon2;
    for (int i = 0; i < 3 * m; i++)
        c->rhs[i] = c->lambda[i] - p->origin[i];
    couple(p, c->rhs, c->off);
    for (int i = 0; i < 3 * m; i++)
        c->off[i] = c->delta[i] - p->b[i] - c->off[i] - more * c->pull[i];
    for (int k = 0; k < m; k++) /* what gives, gives by all of lambda */
        c->off[3 * k] -= p->on->laws[k].compliance * p->origin[3 * k];
}

/* du for S d(lambda) = rhs - D_delta more, d(delta) = W d(lambda) + more, with more = by [3 m] times t.
 */
static void solve(const pl_path *p, pl_central *c, const double *by, double t, double *du)
{
    for (int k = 0; k < p->on->count; k++) {
        double pulled[3];
        pl_mat3_vec(p->linear[k].d_delta, by + 3 * k, pulled);
        pl_axpy3(-t, pulled, c->rhs + 3 * k);
    }
    pl_contact_system_apply(p->system, p->on, c->rhs, c->forces);
    couple(p, c->forces, du);
    for (int i = 0; i < 3 * p->on->count; i++)
        du[i] += t * by[i] - p->on->laws[i / 3].rho * c->forces[i];
}

/* The law and the curve's equation at (u, sigma), Newton's correction, and du/dsigma along the curve;
 * false where S is singular or numbers are lost. */
static bool evaluate(walk *w, const double *u, double sigma)
{
    pl_path *p = w->p;
    pl_central *c = w->c;
    int m = p->on->count;
    resolve(p, c, u, sigma * sigma);
    find_off(p, c, sigma * sigma);
    memset(c->correction, 0, sizeof *c->correction * 3 * (size_t)m);
    for (int k = 0; k < m; k++) { /* the right-hand side of `along` waits there */
        pl_law_along(&p->on->laws[k], c->delta + 3 * k, c->lambda + 3 * k, &p->linear[k],
                     &c->correction[3 * k]);
        c->correction[3 * k] *= 2 * sigma;
    }
    p->iterations++;
    if (!pl_contact_system_factor(p->ctx, p->system, p->on, p->linear))
        return false;
    w->back = pl_contact_system_mirrors(p->system, p->on);
    memcpy(c->rhs, c->correction, sizeof *c->rhs * 3 * (size_t)m);
    solve(p, c, c->pull, 2 * sigma, c->along);
    memset(c->rhs, 0, sizeof *c->rhs * 3 * (size_t)m);
    solve(p, c, c->off, -1, c->correction);
    for (int i = 0; i < 3 * m; i++)
        if (!isfinite(c->correction[i]) || !isfinite(c->along[i]))
            return false;
    return true;
}

/* ---- Steps ---- */

/* The direction of the curve at the point, where it was last evaluated, or nearly: one bend long, and
 * towards eps^2. */
static void turn(walk *w)
{
    pl_central *c = w->c;
    int m = w->p->on->count;
    memcpy(c->base, c->bend, sizeof *c->base * (size_t)m);
    w->d_sigma = (w->back != w->against ? 1 : -1) / size_of(m, c->u, c->base, c->along, 1 / w->sigma);
    for (int i = 0; i < 3 * m; i++)
        c->tangent[i] = w->d_sigma * c->along[i];
}

/* How much sigma has to change with Newton's correction so that both together are across the step. */
static double across(const walk *w)
{
    const pl_central *c = w->c;
    double by_newton = 0, by_sigma = w->d_sigma / (w->sigma * w->sigma);
    for (int k = 0; k < w->p->on->count; k++) {
        const double *u = c->u + 3 * k, *tangent = c->tangent + 3 * k;
        by_newton += in_bends(u, &c->base[k], tangent, c->correction + 3 * k);
        by_sigma += in_bends(u, &c->base[k], tangent, c->along + 3 * k);
    }
    return -by_newton / by_sigma;
}

/* What delta lacks of being b + W (lambda - origin) where it was last evaluated, relative to it. */
static double error_of(const walk *w)
{
    const pl_central *c = w->c;
    double most = 0;
    for (int k = 0; k < w->p->on->count; k++) {
        const pl_law *law = &w->p->on->laws[k];
        const double *d = c->delta + 3 * k, *off = c->off + 3 * k;
        double apart = law->two_way ? law->rho * (fabs(c->lambda[3 * k]) + 1e-12) : d[0];
        most = fmax(most, fabs(off[0]) / apart);
        if (law->mu > 0)
            most = fmax(most, hypot(off[1], off[2]) / (d[0] / law->mu + hypot(d[1], d[2])));
    }
    return most;
}

/* Brings (c->to, *sigma) back to the path. *first gets the first correction, in bends. */
static bool correct(walk *w, double *sigma, double *first)
{
    pl_central *c = w->c;
    int m = w->p->on->count;
    double last = INFINITY, least = sqrt(w->p->on->laws[0].epsilon2);
    for (int k = 0; k < CORRECTIONS; k++) {
        if (!evaluate(w, c->to, *sigma))
            return false;
        double d_sigma = across(w);
        cblas_daxpy(3 * m, d_sigma, c->along, 1, c->correction, 1);
        double size = size_of(m, c->to, c->bend, c->correction, d_sigma / *sigma);
        *first = k == 0 ? size : *first;
        if (!(size < fmin(WILD, CONTRACTS * last)) || !(*sigma + d_sigma > least))
            return false;
        go(w, c->to, 1, c->correction);
        *sigma += d_sigma;
        if (size < ON_PATH)
            return true;
        last = size;
    }
    return false;
}

/* Brings c->to to the path's end, and as close as rounding lets it. */
static bool finish(walk *w, double sigma)
{
    pl_central *c = w->c;
    double last = INFINITY;
    for (int k = 0; k < 2 * CORRECTIONS; k++) {
        if (!evaluate(w, c->to, sigma))
            return false;
        double size = size_of(w->p->on->count, c->to, c->bend, c->correction, 0);
        if (error_of(w) < CLOSE || (size < ROUNDED && size > CONTRACTS * last))
            return true;
        if (!(size < WILD))
            return false;
        go(w, c->to, 1, c->correction);
        last = size;
    }
    return false;
}

/* A step of about *length, which becomes that of the next; false when there is none. */
static bool step(walk *w, double *length, bool *end)
{
    pl_central *c = w->c;
    double last = sqrt(w->p->on->laws[0].epsilon2), longer = LONGER;
    turn(w);
    for (; *length > SHORTEST && w->p->iterations < w->limit; *length *= SHORTER, longer = 1) {
        double first = INFINITY;
        if (w->d_sigma < 0)
            *length = fmin(*length, FARTHEST * w->sigma / -w->d_sigma);
        *end = w->sigma + *length * w->d_sigma <= last;
        if (*end)
            *length = (last - w->sigma) / w->d_sigma;
        double sigma = *end ? last : w->sigma + *length * w->d_sigma;
        go(w, c->u, *length, c->tangent);
        if (*end ? !finish(w, sigma) : !correct(w, &sigma, &first))
            continue;
        double *swap = c->u;
        c->u = c->to, c->to = swap;
        w->sigma = sigma;
        *length *= fmin(fmax(sqrt(AIM / first), SHORTER), longer);
        return true;
    }
    return false;
}

/* From c->u at tau down to eps^2, within so many LUs. Where contacts change at once the sign of det S
 * may lead to and fro; a step against it leads on. */
static bool follow(pl_path *p, pl_central *c, double tau, int limit)
{
    walk w = {.p = p, .c = c, .sigma = sqrt(tau), .limit = p->iterations + limit};
    double length = FIRST;
    int reversals = 0;
    bool end = false;
    memset(c->pull, 0, sizeof *c->pull * 3 * (size_t)p->on->count);
    if (!evaluate(&w, c->u, w.sigma))
        return false;
    for (int i = 0; i < 3 * p->on->count; i++)
        c->pull[i] = c->off[i] / (tau - p->on->laws[0].epsilon2);
    if (!evaluate(&w, c->u, w.sigma))
        return false;
    while (!end) {
        if (step(&w, &length, &end)) {
            w.against = false;
            continue;
        }
        if (reversals++ == REVERSALS || p->iterations >= w.limit || !evaluate(&w, c->u, w.sigma))
            return false;
        w.against = !w.against;
        length = AGAIN;
    }
    return true;
}

/* tau at which forces push contacts about START of so far apart. */
static double tau_for(const pl_path *p, double apart)
{
    double rho = 0;
    for (int k = 0; k < p->on->count; k++)
        rho += p->on->laws[k].rho / p->on->count;
    return fmax(START * apart * START * apart / rho, WIDE * p->on->laws[0].epsilon2);
}

static double largest(int m, const double *x)
{
    double most = 0;
    for (int k = 0; k < m; k++)
        most = fmax(most, pl_norm3(x + 3 * k));
    return most;
}

/* How far forces lambda bring contacts from where their law has them; c->u is where they are. */
static double lack_of(const pl_path *p, pl_central *c, const double *lambda)
{
    int m = p->on->count;
    for (int i = 0; i < 3 * m; i++)
        c->rhs[i] = lambda[i] - p->origin[i];
    couple(p, c->rhs, c->to);
    for (int i = 0; i < 3 * m; i++)
        c->u[i] = p->b[i] + c->to[i] - p->on->laws[i / 3].rho * lambda[i];
    for (int k = 0; k < m; k++)
        c->u[3 * k] += p->on->laws[k].compliance * p->origin[3 * k];
    memset(c->pull, 0, sizeof *c->pull * 3 * (size_t)m);
    resolve(p, c, c->u, p->on->laws[0].epsilon2);
    find_off(p, c, p->on->laws[0].epsilon2);
    return largest(m, c->off);
}

/* The motion without forces. */
static double free_motion(const pl_path *p, pl_central *c)
{
    int m = p->on->count;
    couple(p, p->origin, c->off);
    for (int i = 0; i < 3 * m; i++)
        c->off[i] = p->b[i] - c->off[i];
    for (int k = 0; k < m; k++)
        c->off[3 * k] += p->on->laws[k].compliance * p->origin[3 * k];
    return largest(m, c->off);
}

bool pl_central_solve(pl_path *p, pl_central *c, const double *guess)
{
    double cold = tau_for(p, free_motion(p, c)), warm = tau_for(p, lack_of(p, c, guess));
    if (warm < WARM * cold && follow(p, c, warm, WARM_ITERATIONS))
        return true;
    memset(c->u, 0, sizeof *c->u * 3 * (size_t)p->on->count);
    return follow(p, c, cold, MAX_ITERATIONS);
}
