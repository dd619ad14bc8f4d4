/* An interior-point method for the contact law. */
#include "contact/central.h"

#include "core/vec.h"

#include <cblas.h>

#define MAX_ITERATIONS 50
#define JAMMED         0.01 /* of a step; */
#define MOST_JAMS      4    /* so many in a row, and it starts again */
#define START          0.3  /* of the motion without forces: how far apart contacts are at first */
#define NEARLY         10   /* times eps^2: products below this are brought there by Newton's method */
#define CLOSE          1e-6 /* relative error of the products at the end */
#define SOON           0.1  /* relative error from which on Newton's steps are its full length */
#define CORRECTED      0.9  /* of the plain step that the corrected one may be short of */

/* How carefully it goes: what of a positive number a step may take, the least part of tau to aim for,
 * how much delta's own equation holds tau up, how uneven the products may become. */
typedef struct care {
    double take, least, hold, even;
} care;

static const care cares[] = {
    {0.9, 1e-3, 1, 0.01},  {0.99, 1e-3, 1, 0.01}, {0.8, 0.1, 3, 0.01},
    {0.95, 1e-3, 1, 1e-3}, {0.7, 0.2, 1, 0.05},
};

typedef struct path {
    pl_context *ctx;
    pl_central *c;
    pl_contact_system *system;
    const pl_coupling *on;
    const double *b, *origin;
    pl_law_linear *linear;
    care with;
} path;

enum { VECTORS = 13 };

static void vectors_of(pl_central *c, double **out[VECTORS])
{
    double **all[VECTORS] = {
        &c->delta,        &c->lambda,      &c->off,         &c->ahead_delta,  &c->ahead_lambda,
        &c->step_delta,   &c->step_lambda, &c->other_delta, &c->other_lambda, &c->trial_delta,
        &c->trial_lambda, &c->rhs,         &c->moved,
    };
    memcpy(out, all, sizeof all);
}

void pl_central_free(pl_context *ctx, pl_central *c)
{
    double **vectors[VECTORS];
    vectors_of(c, vectors);
    for (int k = 0; k < VECTORS; k++)
        pl_free(ctx, *vectors[k]);
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
    c->capacity = m;
    return PL_OK;
fail:
    pl_central_free(ctx, c);
    return status;
}

/* ---- The law of one contact ---- */

static double slip_of(const double delta[3])
{
    return hypot(delta[1], delta[2]);
}

static double x_hat_of(const pl_law *law, const double delta[3])
{
    return delta[0] / law->mu + slip_of(delta);
}

/* mu lambda_n - |lambda_f| */
static double room_of(const pl_law *law, const double lambda[3])
{
    return law->mu * lambda[0] - hypot(lambda[1], lambda[2]);
}

static void residual_of(const pl_law *law, double tau, const double delta[3], const double lambda[3],
                        double r[3])
{
    r[0] = law->two_way ? delta[0] : delta[0] * lambda[0] - tau;
    for (int k = 1; k < 3; k++)
        r[k] = law->mu == 0 ? lambda[k]
                            : law->mu * lambda[0] * delta[k] + x_hat_of(law, delta) * lambda[k];
}

/* What brings the residuals to lengths of the size of what is off. */
static void scales_of(const pl_law *law, const double delta[3], const double lambda[3], double scale[2])
{
    double rho = law->rho;
    scale[0] = law->two_way ? 1 : rho / (rho * lambda[0] + delta[0]);
    scale[1] = law->mu == 0 ? rho : rho / (rho * law->mu * lambda[0] + x_hat_of(law, delta));
}

/* A d(delta) + B d(lambda), complete: without the turning of delta_f, or what the normal pair does to
 * friction, half the steps fail. delta includes what gives, which is counted with d_lambda. */
static void linearise(const pl_law *law, const double delta[3], const double lambda[3],
                      pl_law_linear *out)
{
    double scale[2], slip = slip_of(delta), mu = law->mu;
    scales_of(law, delta, lambda, scale);
    memset(out, 0, sizeof *out);
    out->d_delta[0] = scale[0] * (law->two_way ? 1 : lambda[0]);
    out->d_lambda[0] = scale[0] * (law->two_way ? 0 : delta[0]);
    for (int r = 1; r < 3; r++) {
        double *a = out->d_delta + 3 * r, *b = out->d_lambda + 3 * r;
        b[r] = scale[1] * (mu == 0 ? 1 : x_hat_of(law, delta));
        if (mu == 0)
            continue;
        a[0] = scale[1] * lambda[r] / mu;
        a[r] = scale[1] * mu * lambda[0];
        b[0] = scale[1] * mu * delta[r];
        for (int k = 1; k < 3 && slip > 0; k++)
            a[k] += scale[1] * lambda[r] * delta[k] / slip;
    }
    for (int r = 0; r < 3; r++)
        out->d_lambda[3 * r] += law->compliance * out->d_delta[3 * r];
}

/* ---- Steps ---- */

/* out = W x with what gives */
static void couple(const path *s, const double *x, double *out)
{
    pl_contact_system_couple(s->ctx, s->system, s->on, x, out);
    for (int c = 0; c < s->on->count; c++)
        out[3 * c] += s->on->laws[c].compliance * x[3 * c];
}

static void find_off(const path *s)
{
    pl_central *c = s->c;
    int m = s->on->count;
    for (int i = 0; i < 3 * m; i++)
        c->rhs[i] = c->lambda[i] - s->origin[i];
    couple(s, c->rhs, c->moved);
    for (int i = 0; i < 3 * m; i++)
        c->off[i] = c->delta[i] - s->b[i] - c->moved[i];
    for (int k = 0; k < m; k++) /* what gives, gives by all of lambda */
        c->off[3 * k] -= s->on->laws[k].compliance * s->origin[3 * k];
}

/* The step that brings the products to tau; with a step `ahead` also what is quadratic in it, of the
 * part `a` of it that can be made. */
static bool find_step(const path *s, double tau, bool ahead, double a, double *d_delta,
                      double *d_lambda)
{
    pl_central *c = s->c;
    int m = s->on->count;
    for (int k = 0; k < m; k++) {
        const pl_law *law = &s->on->laws[k];
        const double *delta = c->delta + 3 * k, *lambda = c->lambda + 3 * k;
        double r[3], scale[2], pulled[3];
        residual_of(law, tau, delta, lambda, r);
        if (ahead) {
            double to_delta[3], to_lambda[3], there[3], here[3];
            for (int i = 0; i < 3; i++) {
                to_delta[i] = delta[i] + a * c->ahead_delta[3 * k + i];
                to_lambda[i] = lambda[i] + a * c->ahead_lambda[3 * k + i];
            }
            residual_of(law, 0, to_delta, to_lambda, there);
            residual_of(law, 0, delta, lambda, here);
            for (int i = 0; i < 3; i++)
                r[i] += there[i] - (1 - a) * here[i];
        }
        scales_of(law, delta, lambda, scale);
        pl_mat3_vec(s->linear[k].d_delta, c->off + 3 * k, pulled);
        for (int i = 0; i < 3; i++)
            c->rhs[3 * k + i] = pulled[i] - scale[i > 0] * r[i];
    }
    pl_contact_system_apply(s->system, s->on, s->linear, c->rhs, d_lambda);
    couple(s, d_lambda, d_delta);
    cblas_daxpy(3 * m, -1, c->off, 1, d_delta, 1);
    for (int i = 0; i < 3 * m; i++)
        if (!isfinite(d_lambda[i]) || !isfinite(d_delta[i]))
            return false;
    return true;
}

/* How fast mu lambda_n - |lambda_f| changes along a step, turning left out. */
static double room_rate(const pl_law *law, const double lambda[3], const double step[3])
{
    double force = hypot(lambda[1], lambda[2]);
    double along =
        force > 0 ? (lambda[1] * step[1] + lambda[2] * step[2]) / force : hypot(step[1], step[2]);
    return law->mu * step[0] - along;
}

/* The longest step, at most all of it, that takes no more than `take` of what has to stay positive. */
static double longest(const path *s, double take, const double *d_delta, const double *d_lambda)
{
    const pl_central *c = s->c;
    double most = 1;
    for (int k = 0; k < s->on->count; k++) {
        const pl_law *law = &s->on->laws[k];
        const double *l = c->lambda + 3 * k, *dl = d_lambda + 3 * k;
        double here[3] = {c->delta[3 * k], l[0], room_of(law, l)};
        double rate[3] = {d_delta[3 * k], dl[0], room_rate(law, l, dl)};
        for (int i = 0; i < (law->mu > 0 ? 3 : 2) && !law->two_way; i++)
            if (rate[i] < 0)
                most = fmin(most, take * here[i] / -rate[i]);
    }
    return most;
}

/* The point a part t of the step away. Where friction would leave its cone by going straight, it goes
 * along it: a detour that moves what other contacts are coupled to, so that at the end of the path it
 * is the step that has to be shorter; false if so. */
static bool go(const path *s, double t, double take, bool straight)
{
    pl_central *c = s->c;
    for (int i = 0; i < 3 * s->on->count; i++) {
        c->trial_delta[i] = c->delta[i] + t * c->step_delta[i];
        c->trial_lambda[i] = c->lambda[i] + t * c->step_lambda[i];
    }
    for (int k = 0; k < s->on->count; k++) {
        const pl_law *law = &s->on->laws[k];
        double *to = c->trial_lambda + 3 * k;
        const double *from = c->lambda + 3 * k;
        double room = room_of(law, from);
        if (law->mu == 0 || room_of(law, to) >= (1 - take) * room)
            continue;
        if (straight)
            return false;
        double kept = room + t * room_rate(law, from, c->step_lambda + 3 * k);
        double length = hypot(to[1], to[2]), wanted = fmax(law->mu * to[0] - kept, 0);
        to[1] *= wanted / length;
        to[2] *= wanted / length;
    }
    return true;
}

/* The mean of delta_n lambda_n. */
static double mean_product(const path *s, const double *delta, const double *lambda)
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < s->on->count; k++)
        if (!s->on->laws[k].two_way) {
            sum += delta[3 * k] * lambda[3 * k];
            count++;
        }
    return count > 0 ? sum / count : 0;
}

/* Whether no product is left far behind the others, or those that are do not fall. */
static bool is_even(const path *s, double tau)
{
    const pl_central *c = s->c;
    double least =
        fmin(mean_product(s, c->trial_delta, c->trial_lambda), mean_product(s, c->delta, c->lambda));
    least = s->with.even * fmax(tau, least);
    for (int k = 0; k < s->on->count; k++) {
        const pl_law *law = &s->on->laws[k];
        const double *d = c->delta + 3 * k, *l = c->lambda + 3 * k;
        const double *to_d = c->trial_delta + 3 * k, *to_l = c->trial_lambda + 3 * k;
        if (law->two_way)
            continue;
        double product = to_d[0] * to_l[0];
        if (product < least && product < d[0] * l[0])
            return false;
        if (law->mu == 0)
            continue;
        product = x_hat_of(law, to_d) * room_of(law, to_l);
        if (product < least && product < x_hat_of(law, d) * room_of(law, l))
            return false;
    }
    return true;
}

/* ---- Where it stands ---- */

/* What is off, as work a contact. */
static double work_off(const path *s)
{
    const pl_central *c = s->c;
    double sum = 0;
    for (int i = 0; i < 3 * s->on->count; i++)
        sum += fabs(c->off[i] * c->lambda[i]);
    return sum / s->on->count;
}

/* Whether Newton's method at eps^2 will do from here. */
static bool is_near(const path *s)
{
    const pl_central *c = s->c;
    double epsilon2 = s->on->laws[0].epsilon2;
    if (!(work_off(s) < NEARLY * epsilon2))
        return false;
    for (int k = 0; k < s->on->count; k++) {
        const pl_law *law = &s->on->laws[k];
        double normal = c->delta[3 * k] * c->lambda[3 * k] / epsilon2;
        double friction =
            law->mu > 0 ? x_hat_of(law, c->delta + 3 * k) * room_of(law, c->lambda + 3 * k) / epsilon2
                        : 1;
        if (!law->two_way &&
            !(normal > 0.05 && normal < NEARLY && friction > 0.05 && friction < 2 * NEARLY))
            return false;
    }
    return true;
}

/* The largest relative error of the law at eps^2, delta's own equation included. */
static double error_of(const path *s)
{
    const pl_central *c = s->c;
    double most = 0;
    for (int k = 0; k < s->on->count; k++) {
        const pl_law *law = &s->on->laws[k];
        const double *d = c->delta + 3 * k, *l = c->lambda + 3 * k, *off = c->off + 3 * k;
        double r[3];
        if (law->two_way) {
            most = fmax(most, fabs(d[0] - off[0]) / (law->rho * (fabs(l[0]) + 1e-12)));
            continue;
        }
        residual_of(law, law->epsilon2, d, l, r);
        most = fmax(most, fmax(fabs(r[0]) / law->epsilon2, fabs(off[0]) / d[0]));
        if (law->mu > 0)
            most = fmax(most, fmax(hypot(r[1], r[2]) / (law->mu * l[0]), hypot(off[1], off[2])) /
                                  x_hat_of(law, d));
    }
    return most;
}

/* ---- The way down ---- */

/* Forces that push all contacts about as far apart as the free motion brings them too close. */
static void start(const path *s)
{
    pl_central *c = s->c;
    double most = 0, rho = 0;
    int m = s->on->count;
    for (int k = 0; k < m; k++)
        rho += s->on->laws[k].rho / m;
    couple(s, s->origin, c->moved);
    for (int k = 0; k < m; k++) {
        double free[3];
        for (int i = 0; i < 3; i++)
            free[i] = s->b[3 * k + i] - c->moved[3 * k + i];
        free[0] += s->on->laws[k].compliance * s->origin[3 * k];
        most = fmax(most, pl_norm3(free));
    }
    double tau = fmax(START * most * START * most / rho, NEARLY * s->on->laws[0].epsilon2);
    memset(c->delta, 0, sizeof(double) * 3 * (size_t)m);
    memset(c->lambda, 0, sizeof(double) * 3 * (size_t)m);
    for (int k = 0; k < m; k++)
        if (!s->on->laws[k].two_way) {
            c->lambda[3 * k] = sqrt(tau / s->on->laws[k].rho);
            c->delta[3 * k] = sqrt(tau * s->on->laws[k].rho);
        }
}

/* The step of an iteration on its way down, into step_*; returns the tau that it aims for. */
static double step_down(const path *s)
{
    pl_central *c = s->c;
    size_t size = sizeof(double) * 3 * (size_t)s->on->count;
    double epsilon2 = s->on->laws[0].epsilon2, mean = mean_product(s, c->delta, c->lambda);
    if (!find_step(s, 0, false, 0, c->ahead_delta, c->ahead_lambda))
        return NAN;
    double a = longest(s, 1, c->ahead_delta, c->ahead_lambda);
    double tau = fmax(mean * fmax((1 - a) * (1 - a), s->with.least),
                      fmin(s->with.hold * work_off(s), 0.9 * mean));
    tau = fmax(tau, epsilon2);
    if (!find_step(s, tau, false, 0, c->step_delta, c->step_lambda) ||
        !find_step(s, tau, true, a, c->other_delta, c->other_lambda))
        return NAN;
    if (longest(s, s->with.take, c->other_delta, c->other_lambda) >
        CORRECTED * longest(s, s->with.take, c->step_delta, c->step_lambda)) {
        memcpy(c->step_delta, c->other_delta, size);
        memcpy(c->step_lambda, c->other_lambda, size);
    }
    return tau;
}

/* One attempt from the start. */
static bool descend(const path *s, int *iterations)
{
    pl_central *c = s->c;
    size_t size = sizeof(double) * 3 * (size_t)s->on->count;
    double last = 0, error = INFINITY;
    int jams = 0;
    start(s);
    for (int k = 0; k < MAX_ITERATIONS && jams < MOST_JAMS; k++) {
        find_off(s);
        bool near = is_near(s);
        double rounded = 0.5 * error;
        error = near ? error_of(s) : INFINITY;
        if (last == 1 && (error < CLOSE || (near && error > rounded)))
            return true; /* as close as it gets */
        for (int i = 0; i < s->on->count; i++)
            linearise(&s->on->laws[i], c->delta + 3 * i, c->lambda + 3 * i, &s->linear[i]);
        if (!pl_contact_system_factor(s->ctx, s->system, s->on, s->linear))
            return false;
        double tau = s->on->laws[0].epsilon2, take = s->with.take;
        if (near) {
            take = error < SOON ? fmax(0.99, 1 - error) : take;
            if (!find_step(s, tau, false, 0, c->step_delta, c->step_lambda))
                return false;
        } else {
            tau = step_down(s);
            if (!isfinite(tau))
                return false;
        }
        last = longest(s, take, c->step_delta, c->step_lambda);
        bool straight = tau < 2 * NEARLY * s->on->laws[0].epsilon2;
        while (!(go(s, last, take, straight) && (error < SOON || is_even(s, tau))) &&
               last > 0.1 * JAMMED)
            last *= 0.7;
        memcpy(c->delta, c->trial_delta, size);
        memcpy(c->lambda, c->trial_lambda, size);
        jams = last < JAMMED ? jams + 1 : 0;
        ++*iterations;
    }
    return false;
}

bool pl_central_solve(pl_context *ctx, pl_central *c, pl_contact_system *system, const pl_coupling *on,
                      const double *b, const double *origin, pl_law_linear *linear, int *iterations)
{
    path s = {
        .ctx = ctx, .c = c, .system = system, .on = on, .b = b, .origin = origin, .linear = linear};
    for (size_t k = 0; k < sizeof cares / sizeof *cares; k++) {
        s.with = cares[k];
        if (descend(&s, iterations))
            return true;
    }
    return false;
}
