/*
 * The first iterate of a substep: a forecast, or a polynomial. Which, and whether a forecast is to be
 * believed, is judged by how far from balance they are, contacts included.
 */
#include "sim/newton.h"

#include "core/vec.h"

#define AS_CLOSE     4.0 /* of the squared distance from balance */
#define FEWEST_TERMS 2   /* of a forecast: fewer tell less than polynomials */

/* Whether a contact is its vertex's only one, so that balance there tells its force. */
static bool is_alone(const pl_contact_set *set, int c)
{
    const pl_contact_point *p = set->points;
    return (c == 0 || p[c - 1].vertex != p[c].vertex) &&
           (c + 1 == set->single || p[c + 1].vertex != p[c].vertex);
}

/* How far a contact is from its law with the force that balances its vertex at q: as lengths, what that
 * would move the vertex by (pushed) held against the gap, and against the cone. Of a vertex in several
 * contacts only how deep it is. */
static double contact_violation(const pl_newton *s, const double *q, int c)
{
    const pl_solver *solver = s->solver;
    const pl_contact_point *p = &solver->space.set.points[c];
    double delta[3], pushed[3], wanted[2], *u = solver->guess;
    for (size_t i = 3 * (size_t)p->vertex; i < 3 * (size_t)p->vertex + 3; i++)
        u[i] = q[i] - s->sub->q0[i];
    pl_contact_delta(&solver->space.set, c, u, delta);
    if (!is_alone(&solver->space.set, c))
        return fmin(delta[0], 0);
    pl_contact_gather(&solver->space.set, c, solver->residual, pushed);
    for (int k = 0; k < 3; k++)
        pushed[k] /= solver->matter->mass[p->vertex];
    for (int k = 0; k < 2; k++)
        wanted[k] = pushed[1 + k] - delta[1 + k];
    double length = hypot(wanted[0], wanted[1]), most = p->law.mu * fmax(pushed[0], 0);
    double part = length > most ? most / length : 1;
    return hypot(fmin(delta[0], pushed[0]),
                 hypot(pushed[1] - part * wanted[0], pushed[2] - part * wanted[1]));
}

/* Of contacts that share their vertices: how deep they are. */
static double meeting_violation(const pl_newton *s, const double *q)
{
    const pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    double sum = 0, *u = solver->guess;
    for (int c = set->single; c < set->touching; c++) {
        const pl_contact_point *p = &set->points[c];
        double delta[3], mass = INFINITY;
        for (int k = 0; k < p->count; k++) {
            int i = pl_contact_entries(set, c)[k].vertex;
            size_t v = 3 * (size_t)i;
            pl_sub3(q + v, s->sub->q0 + v, u + v);
            mass = fmin(mass, solver->matter->mass[i]);
        }
        pl_contact_delta(set, c, u, delta);
        sum += mass * fmin(delta[0], 0) * fmin(delta[0], 0);
    }
    return sum;
}

/* How far from balance q is, where it was evaluated last: r^T M^-1 r of the vertices that touch
 * nothing, and as much of what contacts are off. */
static double imbalance(const pl_newton *s, const double *q)
{
    const pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    double sum = 0;
    for (int i = 0, c = 0; i < solver->n; i++) {
        bool touches = c < set->single && set->points[c].vertex == i;
        if (!touches && !solver->meets[i])
            sum +=
                pl_dot3(solver->residual + 3 * i, solver->residual + 3 * i) / solver->matter->mass[i];
        for (; c < set->single && set->points[c].vertex == i; c++) {
            double off = contact_violation(s, q, c);
            sum += solver->matter->mass[i] * off * off;
        }
    }
    return sum + meeting_violation(s, q);
}

/* solver->trial = p + h w + h^2 sum_j c_j a_j; returns how far it is from balance. */
static double try_terms(pl_newton *s, int terms, const double *c)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    const double *past[PL_FORECAST_TERMS];
    double h = sub->h;
    for (int j = 0; j < terms; j++)
        past[j] = pl_forecast_past(&solver->memory.forecast, j);
#pragma omp parallel for num_threads(solver->ctx->threads)                                             \
    schedule(static) if (solver->n > solver->ctx->limits.thread_vertices)
    for (int i = 0; i < 3 * solver->n; i++) {
        double a = 0;
        for (int j = 0; j < terms; j++)
            a += c[j] * past[j][i];
        solver->trial[i] = sub->p[i] + h * sub->w[i] + h * h * a;
    }
    return pl_newton_evaluate(s, solver->trial) ? imbalance(s, solver->trial) : INFINITY;
}

static void take_trial(pl_solver *solver, double there)
{
    double *swap = solver->iterate;
    solver->iterate = solver->trial, solver->trial = swap;
    solver->memory.guess_imbalance = there;
}

/* solver->iterate = p + h w, brought closer to q0 until it is admissible. */
static pl_status guess_admissible(pl_newton *s)
{
    pl_solver *solver = s->solver;
    const pl_substep *sub = s->sub;
    double h = sub->h, t = 1, tried;
    do {
        tried = t;
        for (int i = 0; i < 3 * solver->n; i++)
            solver->iterate[i] = sub->q0[i] + t * ((sub->p[i] - sub->q0[i]) + h * sub->w[i]);
        t = t > 1e-3 ? 0.5 * t : 0;
    } while (!pl_newton_evaluate(s, solver->iterate) && (tried > 0 || s->inadmissible < 0));
    if (s->inadmissible < 0)
        return PL_OK;
    const pl_body *body = pl_scene_body_with(solver->scene, s->inadmissible);
    return pl_fail(solver->ctx, PL_ERROR_NUMERIC,
                   "element %d of body \"%s\" is inverted where the step begins",
                   s->inadmissible - body->element_offset, body->name);
}

/* A straight line, then a parabola, then a cubic, each as long as it is closer to balance than the one
 * before. */
static pl_status guess_polynomial(pl_newton *s)
{
    static const double c[2][2] = {{1}, {2, -1}};
    pl_solver *solver = s->solver;
    bool better = true;
    PL_TRY(guess_admissible(s));
    solver->memory.guess_imbalance = imbalance(s, solver->iterate);
    for (int order = 1; better && order <= pl_smaller(solver->memory.forecast.count, 2); order++) {
        double there = try_terms(s, order, c[order - 1]);
        better = there < solver->memory.guess_imbalance;
        if (better)
            take_trial(solver, there);
    }
    if (!better)
        pl_newton_evaluate(s, solver->iterate);
    return PL_OK;
}

/* Forces of vertices in one contact each as balance at the point last evaluated asks for them: what is
 * left to the factor, which is in single precision, is not what forces of another time leave. */
static void take_reactions(pl_newton *s)
{
    pl_solver *solver = s->solver;
    double h2 = s->sub->h * s->sub->h;
    for (int c = 0; c < solver->space.set.single; c++) {
        pl_contact_point *p = &solver->space.set.points[c];
        if (!is_alone(&solver->space.set, c))
            continue;
        pl_contact_gather(&solver->space.set, c, solver->residual, p->lambda);
        for (int k = 0; k < 3; k++) /* without friction none across, to the last digit */
            p->lambda[k] *= k > 0 && p->law.mu == 0 ? 0 : 1 / h2;
    }
}

/* The first iterate: the forecast, if it comes about as close to balance as it should, or as the last
 * one did, which was the best there was; or closer than what else there is. */
pl_status pl_newton_guess(pl_newton *s)
{
    pl_solver *solver = s->solver;
    if (s->from) {
        memcpy(solver->iterate, s->from, sizeof(double) * 3 * (size_t)solver->n);
        if (pl_newton_evaluate(s, solver->iterate)) {
            s->energy = s->potential;
            return PL_OK;
        }
    }
    double c[PL_FORECAST_TERMS], left, h2 = s->sub->h * s->sub->h, there = INFINITY;
    int terms = pl_forecast_fit(&solver->memory.forecast, c, &left);
    if (terms >= FEWEST_TERMS)
        there = try_terms(s, terms, c);
    if (there <=
        AS_CLOSE * fmax(h2 * h2 * left, solver->memory.foretold ? solver->memory.guess_imbalance : 0)) {
        take_trial(solver, there);
        take_reactions(s);
        solver->memory.foretold = true;
    } else {
        PL_TRY(guess_polynomial(s));
        solver->memory.foretold = there < solver->memory.guess_imbalance;
        if (solver->memory.foretold)
            take_trial(solver, try_terms(s, terms, c));
    }
    s->energy = s->potential;
    return PL_OK;
}
