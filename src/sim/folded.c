/* Newton's method on the contact law with springs in the factor. */
#include "sim/folded.h"

#include "contact/geometry.h"
#include "core/vec.h"
#include "terms/term.h"

#include <cblas.h>
#include <float.h>

#define ITERATIONS 30   /* of Newton's method on the law */
#define LINEAR     1e-2 /* of their right-hand sides: what is left of them */
#define KRYLOV     16   /* iterations of GMRES for that; then a new factor is better */
#define RESTART    40
#define OTHER      3.0  /* times as stiff, with what else holds the vertex: another spring; */
#define OTHERS     8    /* so many of them, and a new factor is better */
#define SLOW       0.7  /* of the last one: a residual of the law that does not fall, */
#define TURNS      2    /* so many of which are patiently borne; */
#define PART       0.5  /* then so much of each step is made */
#define NEARLY     2    /* of the accuracy: what may be left of a move, as GMRES sees it */
#define SLACK      1e-4 /* of the tolerance: what each contact may add to meet its law */
#define SHARP      5e-9 /* of a gap: what rounding may have spoilt of it */

/* One problem, and its vectors [n, 3]. */
typedef struct folded {
    pl_solver *solver;
    const double *tangent; /* E, or NULL: the factor's own; */
    const double *u;       /* [n, 3] with it, the iterate less where the substep began */
    double *pushed;        /* E move */
    double *left;          /* r + E move - h^2 H^T lambda */
    double *rhs, *change;  /* of the linear system, and its solution, */
    double *product;       /* E change */
    double *more;          /* what GMRES adds to it */
} folded;

static folded begin(pl_solver *solver)
{
    size_t size = 3 * (size_t)solver->n;
    double *w = solver->coupled;
    return (folded){.solver = solver,
                    .pushed = w,
                    .left = w + size,
                    .rhs = w + 2 * size,
                    .change = w + 3 * size,
                    .product = w + 4 * size,
                    .more = w + 5 * size};
}

bool pl_folded_suits(const pl_solver *solver)
{
    return solver->matter->method == PL_SOLVER_LAGGED &&
           pl_fold_pays(solver->ctx, &solver->space.set, solver->matrix.costs.factor);
}

/* The law of contact c; a force moves it against its vertex' own block of E, or its mass while there is
 * none. */
static pl_law law_of(const pl_solver *solver, double h, int c)
{
    const pl_contact_point *p = &solver->space.set.points[c];
    pl_law law = p->law;
    law.epsilon2 = solver->matter->values->def.contact_epsilon2;
    law.rho = h * h / pl_matrix_own(&solver->matrix, solver->matter, p->vertex);
    return law;
}

/* The spring of contact c at the iterate, with the force that it has. */
static pl_spring find_spring(const pl_newton *s, int c)
{
    const pl_solver *solver = s->solver;
    const pl_contact_point *p = &solver->space.set.points[c];
    double delta[3], lambda[3], k[9], d_mu[3];
    pl_law law = law_of(solver, s->sub->h, c);
    pl_law_point point;
    pl_law_linear at;
    memset(solver->guess + 3 * (size_t)p->vertex, 0, 3 * sizeof(double));
    pl_contact_delta_exact(&solver->space.set, c, s->sub->q0, solver->iterate, solver->guess, delta);
    memcpy(lambda, p->lambda, sizeof lambda);
    pl_law_meet(&law, delta, lambda, &point);
    pl_law_derivative(&law, &point, lambda, &at, d_mu);
    pl_fold_stiffness(&at, law.rho, k);
    return pl_fold_spring(p, s->sub->h * s->sub->h, k);
}

/* Whether a vertex with a spring of this stiffness along the normal, 0 = none, is held otherwise than
 * in the factor. */
static bool is_other(const pl_solver *solver, int v, double stiffness)
{
    const pl_fold *fold = &solver->matrix.fold;
    double own = solver->matrix.own[v];
    double has = fold->place[v] < 0 ? 0 : fold->springs[fold->place[v]].stiffness[0];
    double ratio = (own + has) / (own + stiffness);
    return ratio > OTHER || ratio < 1 / OTHER;
}

/* How many springs [count] differ from the factor's. */
static int count_others(pl_solver *solver, int count, const pl_spring *springs)
{
    const pl_fold *fold = &solver->matrix.fold;
    int others = 0, *seen = solver->matrix.list;
    memset(seen, 0, sizeof *seen * (size_t)solver->n);
    for (int c = 0; c < count; c++) {
        seen[springs[c].vertex] = 1;
        others += is_other(solver, springs[c].vertex, springs[c].stiffness[0]);
    }
    for (int k = 0; k < fold->count; k++)
        others += !seen[fold->springs[k].vertex] && is_other(solver, fold->springs[k].vertex, 0);
    return others;
}

static pl_status find_springs(pl_newton *s, int m)
{
    pl_solver *solver = s->solver;
    PL_TRY(pl_grow(solver->ctx, (void **)&solver->space.springs, &solver->space.spring_capacity, m,
                   sizeof *solver->space.springs));
    for (int c = 0; c < m; c++)
        solver->space.springs[c] = find_spring(s, c);
    return PL_OK;
}

pl_status pl_folded_fits(pl_newton *s, bool *fits)
{
    pl_solver *solver = s->solver;
    int m = solver->space.set.count;
    *fits = pl_folded_suits(solver) == (solver->matrix.fold.count > 0);
    if (!*fits || solver->matrix.fold.count == 0)
        return PL_OK;
    PL_TRY(find_springs(s, m));
    *fits = count_others(solver, m, solver->space.springs) <= OTHERS;
    return PL_OK;
}

pl_status pl_folded_springs(pl_newton *s)
{
    pl_solver *solver = s->solver;
    int m = pl_folded_suits(solver) ? solver->space.set.count : 0;
    PL_TRY(find_springs(s, m));
    return pl_matrix_fold(&solver->matrix, m, solver->space.springs);
}

pl_status pl_folded_prepare(pl_newton *s)
{
    pl_solver *solver = s->solver;
    pl_contact_space *space = &solver->space;
    int m = space->set.count, size = 3 * solver->n;
    PL_TRY(pl_contact_solver_reserve(solver->ctx, &space->solver, m));
    PL_TRY(pl_grow(solver->ctx, (void **)&space->springs, &space->spring_capacity, m,
                   sizeof *space->springs));
    PL_TRY(pl_krylov_reserve(solver->ctx, &solver->krylov, size, RESTART));
    PL_TRY(pl_grow(solver->ctx, (void **)&solver->coupled, &solver->coupled_capacity, 6 * size,
                   sizeof(double)));
    for (int c = 0; c < m; c++) {
        const pl_contact_point *p = &space->set.points[c];
        space->laws[c] = law_of(solver, s->sub->h, c);
        memcpy(space->lambda + 3 * c, p->lambda, 3 * sizeof(double));
    }
    pl_folded_turn(solver);
    return PL_OK;
}

void pl_folded_turn(pl_solver *solver)
{
    const pl_contact_set *set = &solver->space.set;
    for (int c = 0; c < set->count; c++)
        pl_fold_turn(&solver->matrix.fold, set->points[c].vertex, set->points[c].frame);
}

/* y -= h^2 B x of frames that follow their vertices (contact/geometry.h). Their C is left to the next
 * correction: it is the square of how far they turn. */
static void turn(const folded *f, const double *x, double *y)
{
    const pl_contact_space *space = &f->solver->space;
    double h2 = f->solver->matrix.h * f->solver->matrix.h;
    for (int c = 0; c < space->set.count; c++) {
        const pl_contact_point *p = &space->set.points[c];
        size_t v = 3 * (size_t)p->vertex;
        double d_delta[3], d_force[3];
        if (!p->follows)
            continue;
        pl_geometry_push_turn(p, space->lambda + 3 * c, f->u + v, x + v, d_delta, d_force);
        pl_axpy3(-h2, d_force, y + v);
    }
}

/* y = E x; the true one with what frames add that turn */
static void multiply(const folded *f, const double *x, double *y)
{
    const pl_solver *solver = f->solver;
    if (f->tangent) {
        pl_bsr_multiply(solver->ctx->threads, solver->matrix.model->pattern, f->tangent, x, y);
        turn(f, x, y);
    } else {
        pl_fold_multiply(solver->ctx, &solver->matrix.fold, solver->matrix.model->pattern, x, y);
    }
}

/* y += scale h^2 H^T K (H x + off), x or off [3 m] NULL for zero */
static void pull(const pl_solver *solver, double scale, const double *x, const double *off, double *y)
{
    const pl_contact_space *space = &solver->space;
    double h2 = solver->matrix.h * solver->matrix.h;
    for (int c = 0; c < space->set.count; c++) {
        double at[3] = {0}, force[3];
        if (x)
            pl_contact_gather(&space->set, c, x, at);
        if (off)
            pl_axpy3(1, off + 3 * c, at);
        pl_mat3_vec(space->solver.springs + 9 * c, at, force);
        pl_contact_scatter(&space->set, c, scale * h2, force, y);
    }
}

/* y = (E + h^2 H^T K H) x */
static pl_status apply_springs(void *user, const double *x, double *y)
{
    const folded *f = user;
    multiply(f, x, y);
    pull(f->solver, 1, x, NULL, y);
    return PL_OK;
}

static pl_status apply_factor(void *user, const double *x, double *y)
{
    const folded *f = user;
    return pl_matrix_correct(&f->solver->matrix, x, y);
}

/* From motions (solver.delta) and forces (space.lambda) to the nearest on the law, its derivatives and
 * springs; solver.moved is how far motions were off, of which a `part` was to be made good. Returns the
 * largest. */
static double meet_laws(pl_solver *solver, double part, int *worst)
{
    pl_contact_space *space = &solver->space;
    pl_contact_solver *at = &space->solver;
    double most = 0, h2 = solver->matrix.h * solver->matrix.h;
    for (int c = 0; c < space->set.count; c++) {
        double d_mu[3], met[3], *off = at->moved + 3 * c;
        pl_law_point point;
        for (int k = 0; k < 3; k++)
            met[k] = at->delta[3 * c + k] - (1 - part) * off[k];
        pl_law_meet(&space->laws[c], met, space->lambda + 3 * c, &point);
        pl_law_derivative(&space->laws[c], &point, space->lambda + 3 * c, &at->linear[c], d_mu);
        pl_fold_stiffness(&at->linear[c], space->laws[c].rho, at->springs + 9 * c);
        space->springs[c] = pl_fold_spring(&space->set.points[c], h2, at->springs + 9 * c);
        pl_sub3(at->delta + 3 * c, met, off);
        memcpy(at->delta + 3 * c, met, sizeof met);
        if (pl_is_more(pl_norm3(off), most)) {
            most = pl_norm3(off);
            *worst = c;
        }
    }
    return most;
}

/* left = r + E move - h^2 H^T lambda */
static void imbalance(const folded *f)
{
    const pl_solver *solver = f->solver;
    double h2 = solver->matrix.h * solver->matrix.h;
    for (int i = 0; i < 3 * solver->n; i++)
        f->left[i] = solver->residual[i] + f->pushed[i];
    for (int c = 0; c < solver->space.set.count; c++)
        pl_contact_scatter(&solver->space.set, c, -h2, solver->space.lambda + 3 * c, f->left);
}

/* The forces that balance asks for once `left` has the change's push as well, or a part of it. */
static void balance(const folded *f, double part)
{
    pl_contact_space *space = &f->solver->space;
    double h2 = f->solver->matrix.h * f->solver->matrix.h;
    cblas_daxpy(3 * f->solver->n, 1, f->product, 1, f->left, 1);
    for (int c = 0; c < space->set.count; c++) {
        double force[3];
        pl_contact_gather(&space->set, c, f->left, force);
        pl_axpy3(part / h2, force, space->lambda + 3 * c);
    }
}

/* change = -(1/rho + K)^-1 K c, by which contacts would move each on its own, and
 * rhs = -left - h^2 H^T K c without what that does: no more than E's share is left of springs' pull. */
static void lift(const folded *f)
{
    const pl_contact_space *space = &f->solver->space;
    int size = 3 * f->solver->n;
    memset(f->change, 0, sizeof(double) * (size_t)size);
    for (int c = 0; c < space->set.count; c++) {
        double sum[9], inverse[9], force[3], by[3];
        memcpy(sum, space->solver.springs + 9 * c, sizeof sum);
        for (int k = 0; k < 3; k++)
            sum[4 * k] += 1 / space->laws[c].rho;
        pl_inverse3(sum, inverse);
        pl_mat3_vec(space->solver.springs + 9 * c, space->solver.moved + 3 * c, force);
        pl_mat3_vec(inverse, force, by);
        pl_contact_scatter(&space->set, c, -1, by, f->change);
    }
    multiply(f, f->change, f->product);
    for (int i = 0; i < size; i++)
        f->rhs[i] = -f->left[i] - f->product[i];
    pull(f->solver, -1, f->change, space->solver.moved, f->rhs);
}

/* change += scale x, and what that does to product and rhs */
static void take(folded *f, double scale, const double *x)
{
    int size = 3 * f->solver->n;
    double *pushed = f->solver->guess;
    multiply(f, x, pushed);
    cblas_daxpy(size, scale, x, 1, f->change, 1);
    cblas_daxpy(size, scale, pushed, 1, f->product, 1);
    cblas_daxpy(size, -scale, pushed, 1, f->rhs, 1);
    pull(f->solver, -scale, x, NULL, f->rhs);
}

/* change += (E + h^2 H^T K H)^-1 rhs nearly, and product += E times that. As a rule the factor's answer
 * will do; where springs have changed, GMRES. */
static pl_status solve_springs(folded *f, bool *solved)
{
    pl_solver *solver = f->solver;
    int size = 3 * solver->n;
    pl_krylov_result result;
    pl_operator a = {.apply = apply_springs, .user = f, .trusted = true};
    pl_operator p = {.apply = apply_factor, .user = f};
    double scale = cblas_dnrm2(size, f->rhs, 1);
    PL_TRY(apply_factor(f, f->rhs, f->more));
    take(f, 1, f->more);
    double left = cblas_dnrm2(size, f->rhs, 1);
    *solved = left <= LINEAR * scale;
    if (*solved)
        return PL_OK;
    if (!(left < scale)) {
        take(f, -1, f->more);
        left = scale;
    }
    solver->krylov.impatient = true;
    pl_status status =
        pl_gmres(&solver->krylov, size, a, p, f->rhs, f->more, LINEAR * scale / left, KRYLOV, &result);
    solver->krylov.impatient = false;
    PL_TRY(status);
    *solved = result.converged;
    take(f, 1, f->more);
    return PL_OK;
}

/* A factor of the tangent at q with the springs that the laws have now. */
static pl_status renew(pl_newton *s, const folded *f, const double *q, const double *move)
{
    pl_solver *solver = s->solver;
    PL_TRY(pl_matrix_fold(&solver->matrix, solver->space.set.count, solver->space.springs));
    PL_TRY(pl_solver_refresh(solver, s->sub, q));
    s->renewed = true;
    multiply(f, move, f->pushed);
    return PL_OK;
}

/* One iteration: the move changed for the present laws. */
static pl_status improve(pl_newton *s, folded *f, const double *q, double part, double *move)
{
    pl_solver *solver = s->solver;
    pl_contact_space *space = &solver->space;
    int size = 3 * solver->n;
    bool solved = count_others(solver, space->set.count, space->springs) <= OTHERS;
    for (int k = 0; k < 2 && (k == 0 || !solved); k++) {
        if (!solved)
            PL_TRY(renew(s, f, q, move));
        imbalance(f);
        lift(f);
        PL_TRY(solve_springs(f, &solved));
    }
    balance(f, part);
    cblas_daxpy(size, part, f->change, 1, move, 1);
    cblas_daxpy(size, part, f->product, 1, f->pushed, 1);
    return PL_OK;
}

/* Contacts exactly where their laws want them. */
static void settle(pl_solver *solver, double *move, pl_contact_solution *out)
{
    pl_contact_space *space = &solver->space;
    out->sharp = true;
    for (int c = 0; c < space->set.count; c++) {
        double *wanted = space->wanted + 3 * c;
        pl_contact_gather(&space->set, c, move, wanted);
        pl_axpy3(-1, space->solver.moved + 3 * c, wanted);
        for (int k = 0; k < 3; k++)
            space->solver.change[3 * c + k] = space->lambda[3 * c + k] - space->origin[3 * c + k];
        out->sharp = out->sharp && DBL_EPSILON * fabs(wanted[0]) <= SHARP * space->solver.delta[3 * c];
    }
    pl_contacts_hold(&space->set, space->wanted, move);
}

pl_status pl_folded_move(pl_newton *s, const double *q, double goal, double *move,
                         pl_contact_solution *out)
{
    pl_solver *solver = s->solver;
    pl_contact_space *space = &solver->space;
    size_t bytes = sizeof(double) * 3 * (size_t)solver->n;
    folded f = begin(solver);
    double enough = goal > 0 ? goal : SLACK * solver->matter->values->def.tolerance, part = 1;
    int slow = 0;
    *out = (pl_contact_solution){.residual = INFINITY};
    memset(move, 0, bytes);
    memset(f.pushed, 0, bytes);
    memset(space->solver.moved, 0, sizeof(double) * 3 * (size_t)space->set.count);
    for (;;) {
        double last = out->residual;
        pl_contacts_delta_exact(solver->ctx, &space->set, s->sub->q0, q, move, space->solver.delta);
        out->residual = meet_laws(solver, part, &out->worst);
        out->converged = out->iterations > 0 && out->residual <= enough;
        slow += out->residual > SLOW * last;
        if (out->converged || out->iterations == ITERATIONS || !isfinite(out->residual))
            break;
        part = slow > TURNS ? PART : 1;
        PL_TRY(improve(s, &f, q, part, move));
        out->iterations++;
    }
    settle(solver, move, out);
    return PL_OK;
}

/* The true tangent, and left = what is lacking of balance with it: at the end of the move, or at q as
 * far as the tangent knows. False when an element is inadmissible there. */
static bool linearize(folded *f, const pl_substep *sub, const double *q, const double *move,
                      bool at_end, double *end)
{
    pl_solver *solver = f->solver;
    int size = 3 * solver->n;
    pl_newton there = {.solver = solver, .sub = sub};
    for (int i = 0; i < size; i++)
        end[i] = q[i] + move[i];
    if (at_end && !pl_newton_evaluate(&there, end))
        return false;
    pl_matrix_diagonal(&solver->matrix, solver->matter, sub->h);
    pl_terms_tangent(sub, at_end ? end : q, false, sub->h * sub->h, solver->matrix.diagonal,
                     solver->matrix.tangent);
    pl_stage(&solver->meter, PL_STAGE_ASSEMBLE);
    f->tangent = solver->matrix.tangent;
    f->u = f->more;
    for (int i = 0; i < size; i++)
        f->more[i] = q[i] - sub->q0[i];
    memset(f->pushed, 0, sizeof(double) * (size_t)size);
    if (at_end)
        turn(f, move, f->pushed);
    else
        multiply(f, move, f->pushed);
    imbalance(f);
    return true;
}

pl_status pl_folded_newton(pl_solver *solver, const pl_substep *sub, const double *q,
                           const double *move, bool secant, double accuracy, int limit, double *step,
                           pl_truncated *out)
{
    pl_contact_space *space = &solver->space;
    int size = 3 * solver->n, worst;
    folded f = begin(solver);
    pl_krylov_result result;
    *out = (pl_truncated){.kind = PL_TRUNCATED_NONE};
    if (!linearize(&f, sub, q, move, secant, step))
        return PL_OK;
    for (int i = 0; i < size; i++)
        f.rhs[i] = -f.left[i];
    pl_operator a = {.apply = apply_springs, .user = &f, .trusted = true};
    pl_operator p = {.apply = apply_factor, .user = &f, .near_size = size};
    p.near = secant ? NEARLY * accuracy * fabs(move[cblas_idamax(size, move, 1)]) : 0;
    PL_TRY(pl_gmres(&solver->krylov, size, a, p, f.rhs, f.change, accuracy, limit, &result));
    pl_stage(&solver->meter, PL_STAGE_SOLVE);
    out->iterations = result.iterations;
    out->residual = result.residual;
    if (!result.converged)
        return PL_OK;
    out->kind = PL_TRUNCATED_NEWTON;
    multiply(&f, f.change, f.product);
    balance(&f, 1);
    for (int i = 0; i < size; i++)
        step[i] = move[i] + f.change[i];
    for (int c = 0; c < space->set.count; c++) {
        double moved[3];
        pl_contact_gather(&space->set, c, f.change, moved);
        pl_axpy3(1, moved, space->solver.delta + 3 * c);
    }
    meet_laws(solver, 1, &worst);
    return PL_OK;
}
