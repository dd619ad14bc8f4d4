/* Newton's method in contact space. */
#include "contact/solve.h"

#include "contact/delassus.h"
#include "core/vec.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>

#define MAX_NEWTON      40
#define MAX_HALVINGS    12
#define GMRES_LIMIT     12   /* more iterations than this and a new LU is cheaper */
#define GMRES_ROUGHEST  1e-2 /* of a Newton step's residual: how well its system is solved at least, */
#define GMRES_FINEST    1e-5 /* and at most: single precision */
#define WORTH_INVERTING 0.6  /* of the unknowns' cube: operations of LUs that W^-1 would have saved */
#define PREDICTED       1e-3 /* how well the predicted change of the solution is found */
#define SLOWEST_CHANGE  0.95 /* of eps^2 from one stage of a continuation to the next */
#define RELATIVE_GOAL   1e-9 /* of the smaller member of each complementary pair */
#define ROUNDING        (16 * DBL_EPSILON) /* of the largest number in a sum: all it is good for */
#define NOISE           0.25               /* of that: residuals this small tell nothing */
#define SHARP           5e-9               /* of the normal pair, with what rounding may have spoilt */

void pl_contact_solver_free(pl_context *ctx, pl_contact_solver *s)
{
    void *arrays[] = {s->moved,      s->trial_moved,  s->jacobian,  s->pivot,   s->vector,
                      s->image,      s->delta,        s->step,      s->trial,   s->trial_delta,
                      s->linear,     s->trial_linear, s->soft,      s->reached, s->change,
                      s->last_delta, s->last_lambda,  s->step_moved};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_schur_free(ctx, &s->schur);
    pl_firm_free(ctx, &s->firm);
    pl_krylov_free(ctx, &s->krylov);
    *s = (pl_contact_solver){0};
}

void pl_contact_solver_forget(pl_contact_solver *s)
{
    s->schur.count = s->solved = 0;
}

static pl_status reserve(pl_context *ctx, pl_contact_solver *s, int m)
{
    pl_status status = PL_OK;
    if (m <= s->capacity)
        return PL_OK;
    size_t wanted = (size_t)m + (size_t)m / 2 + 8;
    pl_contact_solver_free(ctx, s);
    PL_NEW(ctx, s->jacobian, 9 * wanted * wanted, fail);
    PL_NEW(ctx, s->pivot, 3 * wanted, fail);
    PL_NEW(ctx, s->delta, 3 * wanted, fail);
    PL_NEW(ctx, s->step, 3 * wanted, fail);
    PL_NEW(ctx, s->trial, 3 * wanted, fail);
    PL_NEW(ctx, s->trial_delta, 3 * wanted, fail);
    PL_NEW(ctx, s->moved, 3 * wanted, fail);
    PL_NEW(ctx, s->trial_moved, 3 * wanted, fail);
    PL_NEW(ctx, s->step_moved, 3 * wanted, fail);
    PL_NEW(ctx, s->linear, wanted, fail);
    PL_NEW(ctx, s->trial_linear, wanted, fail);
    PL_NEW(ctx, s->soft, wanted, fail);
    PL_NEW(ctx, s->reached, 3 * wanted, fail);
    PL_NEW(ctx, s->change, 3 * wanted, fail);
    PL_NEW(ctx, s->last_delta, 3 * wanted, fail);
    PL_NEW(ctx, s->last_lambda, 3 * wanted, fail);
    if (wanted >= PL_MANY_CONTACTS) {
        PL_CHECK(pl_schur_reserve(ctx, &s->schur, (int)wanted), fail);
        PL_CHECK(pl_firm_reserve(ctx, &s->firm, (int)wanted), fail);
        PL_NEW(ctx, s->vector, 3 * wanted, fail);
        PL_NEW(ctx, s->image, 3 * wanted, fail);
        PL_CHECK(pl_krylov_reserve(ctx, &s->krylov, 3 * (int)wanted, GMRES_LIMIT), fail);
    }
    s->capacity = (int)wanted;
    return PL_OK;
fail:
    pl_contact_solver_free(ctx, s);
    return status;
}

/* moved = W change, delta = b + moved */
static void displacement(const pl_context *ctx, const pl_contact_problem *p, const double *change,
                         double *moved, double *delta)
{
    int size = 3 * p->count;
    bool changed = false;
    for (int i = 0; i < size; i++)
        changed = changed || change[i] != 0;
    memset(moved, 0, sizeof(double) * (size_t)size);
    if (changed)
        pl_delassus_multiply(ctx, p->count, p->w, change, moved);
    for (int i = 0; i < size; i++)
        delta[i] = p->b[i] + moved[i];
}

/* lambda = origin + change of one contact */
static void force_at(const pl_contact_problem *p, const double *change, int c, double lambda[3])
{
    for (int k = 0; k < 3; k++)
        lambda[k] = p->origin[3 * c + k] + change[3 * c + k];
}

/* Below these a contact's residuals are as small as the rounding of delta and lambda lets them be, as
 * far as they depend on each. `moved` is the largest that is added up in a row of W change, m. */
static void rounding_floor(const pl_contact_problem *p, int c, const pl_law_linear *at,
                           const double *delta, const double *change, const double lambda[3],
                           double moved, double floor[3])
{
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += fabs(at->d_delta[3 * r + k]) * (fabs(p->b[3 * c + k]) + fabs(delta[k]) + moved) +
                   fabs(at->d_lambda[3 * r + k]) * (fabs(change[k]) + fabs(lambda[k]));
        floor[r] = ROUNDING * sum;
    }
}

/* The largest sqrt(rho) |change|: W being positive definite, sqrt(rho) times this is as large as a
 * member of a row of W change can be, or nearly. */
static double reach_of(const pl_contact_problem *p, const double *change)
{
    double most = 0;
    for (int c = 0; c < p->count; c++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, sqrt(p->laws[c].rho) * fabs(change[3 * c + k]));
    return most;
}

/* The laws at (delta, origin + change), residuals that are noise taken as zero: or the others could not
 * be told to fall. Returns half the sum of squares. */
static double evaluate(const pl_contact_problem *p, const pl_law *laws, const double *delta,
                       const double *change, pl_law_linear *linear)
{
    double sum = 0, reach = reach_of(p, change);
    for (int c = 0; c < p->count; c++) {
        double lambda[3], floor[3];
        force_at(p, change, c, lambda);
        pl_law_newton(&laws[c], delta + 3 * c, lambda, &linear[c]);
        rounding_floor(p, c, &linear[c], delta + 3 * c, change + 3 * c, lambda,
                       sqrt(laws[c].rho) * reach, floor);
        for (int k = 0; k < 3; k++) {
            double *r = &linear[c].residual[k];
            *r = fabs(*r) > NOISE * floor[k] ? *r : 0;
            sum += 0.5 * *r * *r;
        }
    }
    return sum;
}

/* Each residual against the smaller member of its pair; *out gets the largest residual. */
static bool small_enough(const pl_contact_solver *s, const pl_contact_problem *p, const pl_law *laws,
                         double goal, pl_contact_solution *out)
{
    bool all = true;
    double reach = reach_of(p, s->change);
    out->sharp = true;
    out->residual = 0;
    out->worst = 0;
    for (int c = 0; c < p->count; c++) {
        const double *r = s->linear[c].residual, *d = s->delta + 3 * c;
        double l[3], floor[3], mu = laws[c].mu, rho = laws[c].rho;
        force_at(p, s->change, c, l);
        rounding_floor(p, c, &s->linear[c], d, s->change + 3 * c, l, sqrt(rho) * reach, floor);
        double x = hypot(d[1], d[2]), force = hypot(l[1], l[2]);
        double pair[3] = {
            fmin(fabs(d[0]), rho * fabs(l[0])),
            mu > 0 ? fmin(1, mu) * fmin(x + fabs(d[0]) / mu, rho * fabs(l[0] - force / mu)) : 0,
            fmax(x, rho * force),
        };
        out->sharp = out->sharp && fmax(fabs(r[0]), floor[0]) <= SHARP * pair[0];
        for (int k = 0; k < 3; k++) {
            all = all && fabs(r[k]) <= fmax(RELATIVE_GOAL * pair[k], fmax(goal, floor[k]));
            if (fabs(r[k]) > out->residual) {
                out->residual = fabs(r[k]);
                out->worst = c;
            }
        }
    }
    return all;
}

void pl_contact_schur(pl_context *ctx, int m, const pl_law_linear *linear, const double *w,
                      double *jacobian)
{
    size_t size = 3 * (size_t)m;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > 64)
    for (int c = 0; c < m; c++) {
        const double *d = linear[c].d_delta, *w0 = w + 3 * (size_t)c * size;
        for (size_t j = 0; j < size; j++)
            for (int r = 0; r < 3; r++)
                jacobian[j * size + (size_t)(3 * c + r)] =
                    d[3 * r] * w0[j] + d[3 * r + 1] * w0[size + j] + d[3 * r + 2] * w0[2 * size + j];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                jacobian[(size_t)(3 * c + k) * size + (size_t)(3 * c + r)] +=
                    linear[c].d_lambda[3 * r + k];
    }
}

/* Whether no residual is above what the rounding of W change over a whole row can cause: the test of
 * last resort, when iterations bring nothing more. */
static bool at_rounding(const pl_contact_solver *s, const pl_contact_problem *p)
{
    int size = 3 * p->count;
    for (int c = 0; c < p->count; c++) {
        double moved = 0, lambda[3], floor[3];
        for (int k = 0; k < 3; k++) {
            const double *w = p->w + (size_t)(3 * c + k) * (size_t)size;
            double row = 0;
            for (int j = 0; j < size; j++)
                row += fabs(w[j] * s->change[j]);
            moved = fmax(moved, row);
        }
        force_at(p, s->change, c, lambda);
        rounding_floor(p, c, &s->linear[c], s->delta + 3 * c, s->change + 3 * c, lambda, moved, floor);
        for (int k = 0; k < 3; k++)
            if (!(fabs(s->linear[c].residual[k]) <= floor[k]))
                return false;
    }
    return true;
}

typedef struct large_system {
    pl_context *ctx;
    pl_contact_solver *s;
    const pl_contact_problem *p;
} large_system;

/* y = (D_lambda + D_delta W) x */
static pl_status apply_schur(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_contact_solver *s = l->s;
    int size = 3 * l->p->count;
    for (int i = 0; i < size; i++)
        s->vector[i] = (float)x[i];
    pl_delassus_multiply_single(l->ctx, l->p->count, l->p->single, s->vector, s->image);
    for (int c = 0; c < l->p->count; c++) {
        double force[3], moved[3] = {s->image[3 * c], s->image[3 * c + 1], s->image[3 * c + 2]};
        pl_mat3_vec(s->linear[c].d_delta, moved, y + 3 * c);
        pl_mat3_vec(s->linear[c].d_lambda, x + 3 * c, force);
        pl_axpy3(1, force, y + 3 * c);
    }
    return PL_OK;
}

static pl_status apply_lu(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_schur_solve(&l->s->schur, x, y);
    return PL_OK;
}

static pl_status apply_firm(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_firm_solve(l->ctx, &l->s->firm, x, y);
    return PL_OK;
}

/* Approximate inverses of S, in the order in which they are tried. */
typedef enum way {
    OLD_LU, /* of an earlier S, as long as that is cheaper than a new one */
    FIRM,   /* where most contacts stick */
    NEW_LU,
    WAYS,
} way;

/* Whether W^-1 is there and suits S; or, if LUs that it would have saved have cost as much, is made. */
static bool firm_suits(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p, bool make)
{
    double n = 3.0 * p->count;
    bool worth = make && s->regret > WORTH_INVERTING * n * n * n;
    if ((s->firm.count == 0 && !worth) || !pl_firm_suits(p->count, p->laws, s->linear))
        return false;
    if (s->firm.count == 0)
        pl_firm_invert(ctx, &s->firm, p->count, p->single);
    if (s->firm.count == 0)
        s->regret = -INFINITY; /* singular: never again with this W */
    return s->firm.count > 0;
}

/* Makes the inverse ready; false if it is not to be had, or not to be tried. */
static bool prepare(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p, way by)
{
    switch (by) {
    case OLD_LU:
        return s->schur.count == p->count && s->excess < pl_schur_patience(&s->schur) &&
               !firm_suits(ctx, s, p, false);
    case FIRM:
        return firm_suits(ctx, s, p, true) && pl_firm_factor(ctx, &s->firm, p->laws, s->linear);
    default:
        pl_schur_factor(ctx, &s->schur, p->count, p->laws, s->linear, p->single);
        s->excess = 0;
        if (p->edition > 0 && pl_firm_suits(p->count, p->laws, s->linear))
            s->regret += (2.0 / 3.0) * pow(s->schur.size, 3);
        return s->schur.count > 0;
    }
}

/* s->step = S^-1 s->trial by GMRES to a relative residual. */
static pl_status iterative_step(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                                double accuracy, bool *solved)
{
    int size = 3 * p->count;
    large_system l = {ctx, s, p};
    pl_krylov_result result = {0};
    bool prepared = false;
    if (s->edition != p->edition) {
        s->edition = p->edition;
        s->firm.count = 0;
        s->regret = 0;
    }
    for (way by = OLD_LU; by < WAYS && !result.converged; by++) {
        prepared = prepare(ctx, s, p, by);
        if (!prepared)
            continue;
        PL_TRY(pl_gmres(&s->krylov, size, (pl_operator){apply_schur, &l},
                        (pl_operator){by == FIRM ? apply_firm : apply_lu, &l}, s->trial, s->step,
                        accuracy, GMRES_LIMIT, &result));
        s->excess += by == OLD_LU ? result.iterations - 1 : 0;
    }
    /* With a new LU single precision may be at its end: what is left then is for the next Newton step.
     */
    *solved = result.converged || (prepared && result.residual <= GMRES_ROUGHEST);
    for (int i = 0; i < size; i++) /* the last product GMRES makes is that of its answer */
        s->step_moved[i] = result.iterations > 0 ? s->image[i] : 0;
    return PL_OK;
}

/* s->step = -S^-1 residual, to `accuracy` of it, and with many contacts s->step_moved = W s->step;
 * *solved is false when S is singular. */
static pl_status newton_step(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                             double accuracy, bool *solved)
{
    int m = p->count, size = 3 * m;
    *solved = false;
    for (int c = 0; c < m; c++)
        for (int k = 0; k < 3; k++)
            s->trial[3 * c + k] = -s->linear[c].residual[k];
    if (m >= PL_MANY_CONTACTS)
        PL_TRY(iterative_step(ctx, s, p, accuracy, solved));
    if (*solved)
        return PL_OK;
    pl_contact_schur(ctx, m, s->linear, p->w, s->jacobian);
    memcpy(s->step, s->trial, sizeof(double) * (size_t)size);
    *solved =
        LAPACKE_dgesv_work(LAPACK_COL_MAJOR, size, 1, s->jacobian, size, s->pivot, s->step, size) == 0;
    if (m >= PL_MANY_CONTACTS) {
        memset(s->step_moved, 0, sizeof(double) * (size_t)size);
        pl_delassus_multiply(ctx, m, p->w, s->step, s->step_moved);
    }
    return PL_OK;
}

/* How well the next Newton step's system is to be solved: better as the steps converge faster, and not
 * beyond what is asked of the residuals. `value` is half their sum of squares. */
static double step_accuracy(double value, double last_value, double goal)
{
    double wanted = fmax(value / last_value, 0.1 * goal / sqrt(2 * value));
    return fmin(fmax(wanted, GMRES_FINEST), GMRES_ROUGHEST);
}

/* What s->change does; returns half the sum of squares. */
static double locate(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                     const pl_law *laws)
{
    displacement(ctx, p, s->change, s->moved, s->delta);
    return evaluate(p, laws, s->delta, s->change, s->linear);
}

/* The point a part t of the last step away; returns half its sum of squares. Where a goal above
 * rounding is to be met with many contacts, W times the step is taken as it was found, in single
 * precision: contacts will be moved by just that (sim/correction.c). */
static double attempt(const pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                      const pl_law *laws, double goal, double t)
{
    int size = 3 * p->count;
    for (int i = 0; i < size; i++)
        s->trial[i] = s->change[i] + t * s->step[i];
    if (goal > 0 && p->count >= PL_MANY_CONTACTS) {
        for (int i = 0; i < size; i++) {
            s->trial_moved[i] = s->moved[i] + t * s->step_moved[i];
            s->trial_delta[i] = p->b[i] + s->trial_moved[i];
        }
    } else {
        displacement(ctx, p, s->trial, s->trial_moved, s->trial_delta);
    }
    return evaluate(p, laws, s->trial_delta, s->trial, s->trial_linear);
}

static void accept(pl_contact_solver *s)
{
    double *swap = s->change;
    s->change = s->trial, s->trial = swap;
    swap = s->moved;
    s->moved = s->trial_moved, s->trial_moved = swap;
    swap = s->delta;
    s->delta = s->trial_delta, s->trial_delta = swap;
    pl_law_linear *at = s->linear;
    s->linear = s->trial_linear, s->trial_linear = at;
}

/* A better start than forces of another free motion: the law linearised at the solution found last,
 *
 *     D_delta (delta - last_delta) + D_lambda (lambda - last_lambda) = 0,
 *
 * which holds as long as no contact changes its mode. Taken if it does what it should. Half the sums of
 * squares before and after it. */
static pl_status predict(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                         double goal, double *before, double *after)
{
    bool solved;
    displacement(ctx, p, s->change, s->moved, s->delta);
    for (int c = 0; c < p->count; c++) {
        double lambda[3], moved[3], pressed[3], force[3];
        force_at(p, s->change, c, lambda);
        pl_sub3(s->delta + 3 * c, s->last_delta + 3 * c, moved);
        pl_sub3(lambda, s->last_lambda + 3 * c, pressed);
        pl_mat3_vec(s->linear[c].d_delta, moved, s->linear[c].residual);
        pl_mat3_vec(s->linear[c].d_lambda, pressed, force);
        pl_axpy3(1, force, s->linear[c].residual);
    }
    PL_TRY(newton_step(ctx, s, p, PREDICTED, &solved));
    *before = *after = evaluate(p, p->laws, s->delta, s->change, s->linear);
    double value = solved ? attempt(ctx, s, p, p->laws, goal, 1) : INFINITY;
    if (value < *before) {
        accept(s);
        *after = value;
    }
    return PL_OK;
}

/* From s->change, located, to a solution of the laws. `value` is half the sum of squares there, `last`
 * what it was a step earlier. */
static pl_status newton(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                        const pl_law *laws, double goal, double value, double last,
                        pl_contact_solution *out)
{
    out->converged = false;
    for (int iteration = 0; iteration < MAX_NEWTON; iteration++) {
        if (small_enough(s, p, laws, goal, out)) {
            out->converged = true;
            return PL_OK;
        }
        out->iterations++;
        bool solved;
        PL_TRY(newton_step(ctx, s, p, step_accuracy(value, last, goal), &solved));
        if (!solved)
            return PL_OK; /* not converged */
        double t = 1, next = value;
        for (int k = 0; k < MAX_HALVINGS; k++, t *= 0.5) {
            next = attempt(ctx, s, p, laws, goal, t);
            if (next <= (1 - 1e-4 * t) * value)
                break;
        }
        /* Newton's method squares its error; when it does not, it may be at the end. */
        if (!(next < 0.1 * value) && at_rounding(s, p)) {
            out->converged = true;
            return PL_OK;
        }
        if (!(next < value))
            return PL_OK; /* no descent: not converged */
        accept(s);
        last = value;
        value = next;
    }
    return PL_OK;
}

/* The laws with eps^2 a factor larger. */
static pl_status soften(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                        double factor, pl_contact_solution *out)
{
    for (int c = 0; c < p->count; c++) {
        s->soft[c] = p->laws[c];
        s->soft[c].epsilon2 *= factor;
    }
    double value = locate(ctx, s, p, s->soft);
    return newton(ctx, s, p, s->soft, 0, value, value, out);
}

/* A path of smoother laws, from one as soft as the motion without forces is large down to the target; a
 * stage that fails is tried again with a smaller change. */
static pl_status continuation(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                              pl_contact_solution *out)
{
    size_t size = 3 * (size_t)p->count;
    double soft = 0, ratio = 0.1;
    for (size_t i = 0; i < size; i++)
        s->change[i] = -p->origin[i];
    displacement(ctx, p, s->change, s->moved, s->delta);
    for (int c = 0; c < p->count; c++)
        soft = fmax(soft, s->delta[3 * c] * s->delta[3 * c] / p->laws[c].rho);
    double factor = fmax(soft / p->laws[0].epsilon2, 1);
    PL_TRY(soften(ctx, s, p, factor, out));
    while (out->converged && factor > 1) {
        memcpy(s->reached, s->change, sizeof(double) * size);
        double next = fmax(factor * ratio, 1);
        PL_TRY(soften(ctx, s, p, next, out));
        if (out->converged) {
            factor = next;
            ratio = fmax(ratio * ratio, 0.1);
        } else if (ratio < SLOWEST_CHANGE) {
            memcpy(s->change, s->reached, sizeof(double) * size);
            ratio = sqrt(ratio);
            out->converged = true;
        }
    }
    return PL_OK;
}

pl_status pl_contact_solve(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                           double goal, double *lambda, pl_contact_solution *out)
{
    double value, last;
    *out = (pl_contact_solution){.converged = true, .sharp = true};
    if (p->count == 0)
        return PL_OK;
    PL_TRY(reserve(ctx, s, p->count));
    for (int i = 0; i < 3 * p->count; i++)
        s->change[i] = lambda[i] - p->origin[i];
    if (s->solved == p->count)
        PL_TRY(predict(ctx, s, p, goal, &last, &value));
    else
        last = value = locate(ctx, s, p, p->laws);
    PL_TRY(newton(ctx, s, p, p->laws, goal, value, last, out));
    if (!out->converged)
        PL_TRY(continuation(ctx, s, p, out));
    s->solved = out->converged ? p->count : 0;
    for (int c = 0; c < p->count; c++)
        force_at(p, s->change, c, lambda + 3 * c);
    memcpy(s->last_delta, s->delta, sizeof(double) * 3 * (size_t)p->count);
    memcpy(s->last_lambda, lambda, sizeof(double) * 3 * (size_t)p->count);
    return PL_OK;
}

bool pl_contact_linearize(pl_context *ctx, pl_contact_solver *s, const pl_contact_problem *p,
                          const double *lambda)
{
    int m = p->count, size = 3 * m;
    for (int c = 0; c < m; c++)
        pl_law_newton(&p->laws[c], s->delta + 3 * c, lambda + 3 * c, &s->linear[c]);
    if (m >= PL_MANY_CONTACTS) {
        pl_schur_factor(ctx, &s->schur, m, p->laws, s->linear, p->single);
        return s->schur.count == m;
    }
    pl_contact_schur(ctx, m, s->linear, p->w, s->jacobian);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, s->jacobian, size, s->pivot) == 0;
}

void pl_contact_back_substitute(pl_contact_solver *s, int m, double *x)
{
    int size = 3 * m;
    if (m >= PL_MANY_CONTACTS)
        pl_schur_solve(&s->schur, x, x);
    else
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', size, 1, s->jacobian, size, s->pivot, x, size);
}
