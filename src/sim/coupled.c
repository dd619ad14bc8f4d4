/*
 * Newton's own step with contacts. The factor E^ that proposed the last move lags behind the true
 * tangent E, or is of a clamped one where E is indefinite. With the law linearised where the nested
 * solve left it, at the end of that move and of its change of the forces, Newton's step (x, dl) solves
 *
 *     [ E             -h^2 H^T ] [x ]   [ -r + h^2 H^T origin                         ]
 *     [ D_delta H     D_lambda ] [dl] = [ D_delta H move + D_lambda change - residual ]
 *
 * (with -h^2 B and D_delta C of frames that follow their vertices, contact/geometry.h, in addition)
 * by GMRES with the same system as preconditioner, E^ for E, through contact space. That answers with
 * the move and its change: the first direction, which is known.
 *
 * Where the move is about right, E is taken from differences of the stress, which for a few products is
 * cheaper than to assemble it: along the move over all of it, across it at its end. What such a secant
 * leaves over is not the square of the move, but that times how far the factor lags. Where the move is
 * wrong and GMRES takes longer, at a saddle, E is the tangent at its start.
 */
#include "sim/folded.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

#include <cblas.h>
#include <float.h>

#define RESTART 40
#define NEARLY  2 /* of the accuracy: what may be left of a move, as GMRES sees it */

typedef struct coupled {
    pl_solver *solver;
    const pl_substep *sub;
    const double *q;    /* [n, 3] the iterate */
    const double *move; /* [n, 3] */
    bool secant;        /* E is taken from differences, or is solver->matrix.tangent */
    double *end;        /* [n, 3] where the move ends, */
    double *stress;     /* [n, 3] and the elements' gradient there; at its start: solver->gradient */
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
    pl_solver *solver = s->solver;
    int size = 3 * solver->n,
        threads = solver->n > solver->ctx->limits.thread_vertices ? solver->ctx->threads : 1;
    const double *from = solver->gradient, *to = s->stress;
    double most = largest(size, x), t = s->length; /* times the first direction: the move */
    if (s->multiplied) {
        t = most > 0 ? s->reach / most : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (int i = 0; i < size; i++)
            solver->trial[i] = s->end[i] + t * x[i];
        pl_elastic_evaluate(solver->matter->elastic, solver->trial, false, 0, NULL, y, NULL);
        from = s->stress, to = y;
    }
    s->multiplied = true;
    double scale = solver->matrix.h * solver->matrix.h / t;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int i = 0; i < size; i++)
        y[i] = solver->matrix.diagonal[i / 3] * x[i] + scale * (to[i] - from[i]);
    pl_terms_multiply(s->sub, s->end, x, solver->matrix.h * solver->matrix.h, y);
    pl_stage(&solver->meter, PL_STAGE_LOCAL);
}

/* y = E x */
static void multiply_tangent(coupled *s, const double *x, double *y)
{
    const pl_solver *solver = s->solver;
    if (s->secant)
        multiply_secant(s, x, y);
    else
        pl_bsr_multiply(solver->ctx->threads, solver->matrix.model->pattern, solver->matrix.tangent, x,
                        y);
}

/* out = D_delta motion + D_lambda force of contact c, scaled to the size of E's rows. */
static void multiply_law(const pl_solver *solver, int c, const double motion[3], const double *force,
                         double out[3])
{
    const pl_law_linear *law = &solver->space.solver.linear[c];
    double moved[3], scale = solver->matrix.h * solver->matrix.h / solver->space.laws[c].rho;
    pl_mat3_vec(law->d_delta, motion, moved);
    pl_mat3_vec(law->d_lambda, force, out);
    for (int k = 0; k < 3; k++)
        out[k] = scale * (out[k] + moved[k]);
}

/* y -= h^2 B x and motion += C x of contact c */
static void turn(const coupled *s, int c, const double *x, double motion[3], double *y)
{
    const pl_contact_space *space = &s->solver->space;
    const pl_contact_point *p = &space->set.points[c];
    size_t v = 3 * (size_t)p->vertex;
    double u[3], d_delta[3], d_force[3];
    if (!p->follows)
        return;
    pl_sub3(s->q + v, s->sub->q0 + v, u);
    pl_geometry_push_turn(p, space->lambda + 3 * c, u, x + v, d_delta, d_force);
    pl_axpy3(-s->sub->h * s->sub->h, d_force, y + v);
    pl_axpy3(1, d_delta, motion);
}

/* y = matrix x */
static pl_status apply_coupled(void *user, const double *x, double *y)
{
    coupled *s = user;
    size_t n = (size_t)s->solver->n;
    double h2 = s->solver->matrix.h * s->solver->matrix.h;
    multiply_tangent(s, x, y);
    for (int c = 0; c < s->solver->space.set.count; c++) {
        const double *force = x + 3 * n + 3 * (size_t)c;
        double motion[3];
        pl_contact_scatter(&s->solver->space.set, c, -h2, force, y);
        pl_contact_gather(&s->solver->space.set, c, x, motion);
        turn(s, c, x, motion, y);
        multiply_law(s->solver, c, motion, force, y + 3 * n + 3 * (size_t)c);
    }
    return PL_OK;
}

/* y = (move, change) / length */
static void first_direction(const coupled *s, double *y)
{
    size_t n = 3 * (size_t)s->solver->n, m = 3 * (size_t)s->solver->space.set.count;
    for (size_t i = 0; i < n; i++)
        y[i] = s->move[i] / s->length;
    for (size_t i = 0; i < m; i++)
        y[n + i] = s->solver->space.solver.change[i] / s->length;
}

/* The same system with the factor for E: x0 = E^^-1 a, S dl = b - D_delta H x0, x = x0 + E^^-1 h^2 H^T
 * dl */
static pl_status apply_factor(void *user, const double *x, double *y)
{
    coupled *s = user;
    pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    size_t n = (size_t)solver->n;
    double h2 = solver->matrix.h * solver->matrix.h, *force = y + 3 * n;
    double *moved = solver->space.solver.step_moved;
    if (!s->begun) {
        s->begun = true;
        first_direction(s, y);
        return PL_OK;
    }
    PL_TRY(pl_matrix_begin(&solver->matrix, x, y));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    for (int c = 0; c < set->count; c++) {
        double at[3], told[3];
        pl_contact_gather(set, c, y, at);
        pl_mat3_vec(solver->space.solver.linear[c].d_delta, at, told);
        for (int k = 0; k < 3; k++)
            solver->space.wanted[3 * c + k] =
                x[3 * n + (size_t)(3 * c + k)] * solver->space.laws[c].rho / h2 - told[k];
    }
    pl_coupling on = pl_newton_coupling(solver);
    PL_TRY(pl_contact_system_approximate(solver->ctx, &solver->space.solver.system, &on,
                                         solver->space.solver.linear, solver->space.wanted, force,
                                         moved));
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    memset(solver->guess, 0, sizeof(double) * 3 * n);
    for (int c = 0; c < set->count; c++) {
        pl_contact_gather(set, c, y, solver->space.wanted + 3 * c);
        pl_axpy3(1, moved + 3 * c, solver->space.wanted + 3 * c);
        pl_contact_scatter(set, c, h2, force + 3 * c, solver->guess);
    }
    pl_delassus_move(&solver->space.delassus, set, solver->space.wanted, solver->guess, y);
    PL_TRY(pl_matrix_end(&solver->matrix, solver->guess, y, y));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    return PL_OK;
}

static void right_hand_side(const coupled *s, double *rhs)
{
    const pl_solver *solver = s->solver;
    double h2 = solver->matrix.h * solver->matrix.h;
    for (int i = 0; i < 3 * solver->n; i++)
        rhs[i] = -solver->residual[i];
    for (int c = 0; c < solver->space.set.count; c++) {
        double *row = rhs + 3 * (solver->n + c), motion[3];
        pl_contact_scatter(&solver->space.set, c, h2, solver->space.origin + 3 * c, rhs);
        pl_contact_gather(&solver->space.set, c, s->move, motion);
        multiply_law(solver, c, motion, solver->space.solver.change + 3 * c, row);
        pl_axpy3(-h2 / solver->space.laws[c].rho, solver->space.solver.linear[c].residual, row);
    }
}

/* What products with E need; false when an element is inadmissible at the end of the move. */
static bool prepare_tangent(coupled *s, const double *q)
{
    pl_solver *solver = s->solver;
    double h2 = solver->matrix.h * solver->matrix.h;
    pl_matrix_diagonal(&solver->matrix, solver->matter, solver->matrix.h);
    if (!s->secant) {
        pl_terms_tangent(s->sub, q, false, h2, solver->matrix.diagonal, solver->matrix.tangent);
        pl_stage(&solver->meter, PL_STAGE_ASSEMBLE);
        return true;
    }
    for (int i = 0; i < 3 * solver->n; i++)
        s->end[i] = q[i] + s->move[i];
    pl_elastic_result e =
        pl_elastic_evaluate(solver->matter->elastic, s->end, false, 0, NULL, s->stress, NULL);
    s->reach = sqrt(DBL_EPSILON) * largest(3 * solver->n, q);
    pl_stage(&solver->meter, PL_STAGE_LOCAL);
    return e.inadmissible < 0;
}

pl_status pl_coupled_newton(pl_solver *solver, const pl_substep *sub, const double *q,
                            const double *move, bool secant, double accuracy, int limit, double *step,
                            pl_truncated *out)
{
    if (solver->matrix.fold.count > 0)
        return pl_folded_newton(solver, sub, q, move, secant, accuracy, limit, step, out);
    int m = solver->space.set.count, size = 3 * solver->n + 3 * m;
    pl_krylov_result result = {0};
    *out = (pl_truncated){.kind = PL_TRUNCATED_NONE};
    PL_TRY(pl_krylov_reserve(solver->ctx, &solver->krylov, size, RESTART));
    PL_TRY(pl_grow(solver->ctx, (void **)&solver->coupled, &solver->coupled_capacity, 2 * size,
                   sizeof(double)));
    double *rhs = solver->coupled, *x = solver->coupled + size;
    coupled s = {.solver = solver,
                 .sub = sub,
                 .q = q,
                 .move = move,
                 .secant = secant,
                 .end = step,
                 .stress = solver->trial_move};
    pl_coupling on = pl_newton_coupling(solver);
    bool regular = pl_contact_linearize(solver->ctx, &solver->space.solver, &on, solver->space.lambda);
    pl_stage(&solver->meter, PL_STAGE_CONTACT);
    if (!regular || !prepare_tangent(&s, q))
        return PL_OK;
    right_hand_side(&s, rhs);
    s.length = cblas_dnrm2(size, rhs, 1);
    pl_operator matrix = {.apply = apply_coupled, .user = &s, .trusted = true};
    pl_operator factor = {.apply = apply_factor, .user = &s, .near_size = 3 * solver->n};
    factor.near = secant ? NEARLY * accuracy * largest(3 * solver->n, move) : 0;
    PL_TRY(pl_gmres(&solver->krylov, size, matrix, factor, rhs, x, accuracy, limit, &result));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    out->residual = result.residual;
    if (!result.converged)
        return PL_OK;
    out->kind = PL_TRUNCATED_NEWTON;
    memcpy(step, x, sizeof(double) * 3 * (size_t)solver->n);
    for (int i = 0; i < 3 * m; i++)
        solver->space.lambda[i] = solver->space.origin[i] + x[3 * solver->n + i];
    solver->space.solver.solved = 0; /* they are what it would predict */
    return PL_OK;
}
