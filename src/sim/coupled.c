/*
 * Newton's own step with contacts. The factor E^ that proposed the last move lags behind the true
 * tangent E, or is of a clamped one where E is indefinite. With the law linearised where the nested
 * solve left it, at the end of that move and of its change of the forces, Newton's step (x, dl) solves
 *
 *     [ E             -h^2 H^T ] [x ]   [ -r + h^2 H^T origin                         ]
 *     [ D_delta H     D_lambda ] [dl] = [ D_delta H move + D_lambda change - residual ]
 *
 * by GMRES with the same system as preconditioner, E^ for E, through contact space. That answers with
 * the move and its change: the first direction, which is known.
 *
 * Where the move is about right, E is taken from differences of the stress, which for a few products is
 * cheaper than to assemble it: along the move over all of it, across it at its end. What such a secant
 * leaves over is not the square of the move, but that times how far the factor lags. Where the move is
 * wrong and GMRES takes longer, at a saddle, E is the tangent at its start.
 */
#include "sim/newton.h"

#include "core/vec.h"

#include <cblas.h>
#include <float.h>

#define RESTART       40
#define WORTH_THREADS 2000 /* vertices */
#define NEARLY        2    /* of the accuracy: what may be left of a move, as GMRES sees it */

typedef struct coupled {
    pl_sim *sim;
    const double *move; /* [n, 3] */
    bool secant;        /* E is taken from differences, or is sim->tangent */
    double *end;        /* [n, 3] where the move ends, */
    double *stress;     /* [n, 3] and the gradient of the energy there; at its start: sim->gradient */
    double reach;       /* m, how far apart the points of other differences are */
    double length;      /* of the right-hand side */
    bool begun;         /* the first direction was taken, */
    bool multiplied;    /* and multiplied by E */
} coupled;

static double largest(int size, const double *x)
{
    return fabs(x[cblas_idamax(size, x, 1)]);
}

/* y = E x by differences. */
static void multiply_secant(coupled *s, const double *x, double *y)
{
    pl_sim *sim = s->sim;
    int size = 3 * sim->n, threads = sim->n > WORTH_THREADS ? sim->ctx->threads : 1;
    const double *from = sim->gradient, *to = s->stress;
    double most = largest(size, x), t = s->length; /* times the first direction: the move */
    if (s->multiplied) {
        t = most > 0 ? s->reach / most : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (int i = 0; i < size; i++)
            sim->trial[i] = s->end[i] + t * x[i];
        pl_elastic_evaluate(sim->elastic, sim->trial, false, 0, NULL, y, NULL);
        from = s->stress, to = y;
    }
    s->multiplied = true;
    double scale = sim->factor_h * sim->factor_h / t;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int i = 0; i < size; i++)
        y[i] = sim->diagonal[i / 3] * x[i] + scale * (to[i] - from[i]);
    pl_stage(sim, PL_STAGE_LOCAL);
}

/* y = E x */
static void multiply_tangent(coupled *s, const double *x, double *y)
{
    const pl_sim *sim = s->sim;
    if (s->secant)
        multiply_secant(s, x, y);
    else
        pl_bsr_multiply(sim->ctx->threads, pl_elastic_pattern(sim->elastic), sim->tangent, x, y);
}

/* out = D_delta H x + D_lambda force of contact c, scaled to the size of E's rows. */
static void multiply_law(const pl_sim *sim, int c, const double *x, const double *force, double out[3])
{
    const pl_law_linear *law = &sim->contact_solver.linear[c];
    double at[3], moved[3], scale = sim->factor_h * sim->factor_h / sim->laws[c].rho;
    pl_contact_gather(&sim->contacts.points[c], x, at);
    pl_mat3_vec(law->d_delta, at, moved);
    pl_mat3_vec(law->d_lambda, force, out);
    for (int k = 0; k < 3; k++)
        out[k] = scale * (out[k] + moved[k]);
}

/* y = matrix x */
static pl_status apply_coupled(void *user, const double *x, double *y)
{
    coupled *s = user;
    size_t n = (size_t)s->sim->n;
    double h2 = s->sim->factor_h * s->sim->factor_h;
    multiply_tangent(s, x, y);
    for (int c = 0; c < s->sim->contacts.count; c++) {
        const double *force = x + 3 * n + 3 * (size_t)c;
        pl_contact_scatter(&s->sim->contacts.points[c], -h2, force, y);
        multiply_law(s->sim, c, x, force, y + 3 * n + 3 * (size_t)c);
    }
    return PL_OK;
}

/* y = (move, change) / length */
static void first_direction(const coupled *s, double *y)
{
    size_t n = 3 * (size_t)s->sim->n, m = 3 * (size_t)s->sim->contacts.count;
    for (size_t i = 0; i < n; i++)
        y[i] = s->move[i] / s->length;
    for (size_t i = 0; i < m; i++)
        y[n + i] = s->sim->contact_solver.change[i] / s->length;
}

/* The same system with the factor for E: x0 = E^^-1 a, S dl = b - D_delta H x0, x = x0 + E^^-1 h^2 H^T
 * dl */
static pl_status apply_factor(void *user, const double *x, double *y)
{
    coupled *s = user;
    pl_sim *sim = s->sim;
    size_t n = (size_t)sim->n;
    double h2 = sim->factor_h * sim->factor_h, *force = y + 3 * n;
    double *moved = sim->contact_solver.step_moved;
    if (!s->begun) {
        s->begun = true;
        first_direction(s, y);
        return PL_OK;
    }
    PL_TRY(pl_matrix_begin(sim, x, y));
    pl_stage(sim, PL_STAGE_SOLVE);
    for (int c = 0; c < sim->contacts.count; c++) {
        double at[3], told[3];
        pl_contact_gather(&sim->contacts.points[c], y, at);
        pl_mat3_vec(sim->contact_solver.linear[c].d_delta, at, told);
        for (int k = 0; k < 3; k++)
            sim->wanted[3 * c + k] = x[3 * n + (size_t)(3 * c + k)] * sim->laws[c].rho / h2 - told[k];
    }
    pl_coupling on = pl_newton_coupling(sim);
    PL_TRY(pl_contact_system_approximate(sim->ctx, &sim->contact_solver.system, &on,
                                         sim->contact_solver.linear, sim->wanted, force, moved));
    pl_stage(sim, PL_STAGE_CONTACT);
    memset(sim->guess, 0, sizeof(double) * 3 * n);
    for (int c = 0; c < sim->contacts.count; c++) {
        const pl_contact_point *p = &sim->contacts.points[c];
        pl_contact_gather(p, y, sim->wanted + 3 * c);
        pl_axpy3(1, moved + 3 * c, sim->wanted + 3 * c);
        pl_contact_scatter(p, h2, force + 3 * c, sim->guess);
    }
    for (int c = 0; c < sim->contacts.count; c++)
        pl_contact_hold(&sim->contacts.points[c], sim->wanted + 3 * c, y);
    PL_TRY(pl_matrix_end(sim, sim->guess, y, y));
    pl_stage(sim, PL_STAGE_SOLVE);
    return PL_OK;
}

static void right_hand_side(const coupled *s, double *rhs)
{
    const pl_sim *sim = s->sim;
    double h2 = sim->factor_h * sim->factor_h;
    for (int i = 0; i < 3 * sim->n; i++)
        rhs[i] = -sim->residual[i];
    for (int c = 0; c < sim->contacts.count; c++) {
        double *row = rhs + 3 * (sim->n + c);
        pl_contact_scatter(&sim->contacts.points[c], h2, sim->origin + 3 * c, rhs);
        multiply_law(sim, c, s->move, sim->contact_solver.change + 3 * c, row);
        pl_axpy3(-h2 / sim->laws[c].rho, sim->contact_solver.linear[c].residual, row);
    }
}

/* What products with E need; false when an element is inadmissible at the end of the move. */
static bool prepare_tangent(coupled *s, const double *q)
{
    pl_sim *sim = s->sim;
    double h2 = sim->factor_h * sim->factor_h;
    pl_matrix_diagonal(sim, sim->factor_h);
    if (!s->secant) {
        pl_elastic_evaluate(sim->elastic, q, false, h2, sim->diagonal, NULL, sim->tangent);
        pl_stage(sim, PL_STAGE_ASSEMBLE);
        return true;
    }
    for (int i = 0; i < 3 * sim->n; i++)
        s->end[i] = q[i] + s->move[i];
    pl_elastic_result e = pl_elastic_evaluate(sim->elastic, s->end, false, 0, NULL, s->stress, NULL);
    s->reach = sqrt(DBL_EPSILON) * largest(3 * sim->n, q);
    pl_stage(sim, PL_STAGE_LOCAL);
    return e.inadmissible < 0;
}

pl_status pl_coupled_newton(pl_sim *sim, const double *q, const double *move, bool secant,
                            double accuracy, int limit, double *step, pl_truncated *out)
{
    int m = sim->contacts.count, size = 3 * sim->n + 3 * m;
    pl_krylov_result result = {0};
    *out = (pl_truncated){.kind = PL_TRUNCATED_NONE};
    PL_TRY(pl_krylov_reserve(sim->ctx, &sim->krylov, size, RESTART));
    PL_TRY(pl_grow(sim->ctx, (void **)&sim->coupled, &sim->coupled_capacity, 2 * size, sizeof(double)));
    double *rhs = sim->coupled, *x = sim->coupled + size;
    coupled s = {.sim = sim, .move = move, .secant = secant, .end = step, .stress = sim->trial_move};
    pl_coupling on = pl_newton_coupling(sim);
    bool regular = pl_contact_linearize(sim->ctx, &sim->contact_solver, &on, sim->lambda);
    pl_stage(sim, PL_STAGE_CONTACT);
    if (!regular || !prepare_tangent(&s, q))
        return PL_OK;
    right_hand_side(&s, rhs);
    s.length = cblas_dnrm2(size, rhs, 1);
    pl_operator matrix = {.apply = apply_coupled, .user = &s, .trusted = true};
    pl_operator factor = {.apply = apply_factor, .user = &s, .near_size = 3 * sim->n};
    factor.near = secant ? NEARLY * accuracy * largest(3 * sim->n, move) : 0;
    PL_TRY(pl_gmres(&sim->krylov, size, matrix, factor, rhs, x, accuracy, limit, &result));
    pl_stage(sim, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    out->residual = result.residual;
    if (!result.converged)
        return PL_OK;
    out->kind = PL_TRUNCATED_NEWTON;
    memcpy(step, x, sizeof(double) * 3 * (size_t)sim->n);
    for (int i = 0; i < 3 * m; i++)
        sim->lambda[i] = sim->origin[i] + x[3 * sim->n + i];
    sim->contact_solver.solved = 0; /* they are what it would predict */
    return PL_OK;
}
