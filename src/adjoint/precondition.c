/*
 * Preconditioners: none, Jacobi, A^-1, and two that know the contact block: Woodbury (the tangent at
 * rest) and the lagged factor (the tangent of another step).
 *
 * A tangent E0 made elsewhere can be turned with the body: R E0 R^T, R the rotation of each vertex's
 * surroundings since. With H R for H everything happens in the unturned frame. Woodbury's is always
 * turned, the lagged one once it takes a few iterations more than a fresh one.
 */
#include "adjoint/precondition.h"

#include "adjoint/folded.h"

#include "core/vec.h"
#include "linalg/polar.h"
#include "terms/term.h"

#include <lapacke.h>

#define DENSE_RATE 20e9 /* flops a second */
#define WEAK       1e-7 /* of Dl, in forces: what rows left out of the LU may hear of other */
#define GIVE       1e-2 /* of Dd, in motions: contacts */
#define FIRM       1e-4 /* of Dd, in motions: contacts that give less hold a vertex */
#define TURN_AT    4    /* extra iterations from which on turning the factor is worth its while, */
#define HALF_AT    2    /* and reading it in half precision costs few more */

static bool through_contact_space(const pl_linear *l)
{
    return l->def.preconditioner == PL_PRECONDITION_WOODBURY ||
           l->def.preconditioner == PL_PRECONDITION_LAGGED;
}

/* l->matrix->tangent = E at the solution, exact. */
static pl_status exact_tangent(pl_linear *l)
{
    double h = l->sub.h;
    pl_matrix_diagonal(l->matrix, l->sub.matter, h);
    pl_elastic_result e =
        pl_terms_tangent(&l->sub, l->q, false, h * h, l->matrix->diagonal, l->matrix->tangent);
    if (e.inadmissible >= 0)
        return pl_fail(l->ctx, PL_ERROR_NUMERIC, "step %d: element %d is inverted", l->sub.step + 1,
                       e.inadmissible);
    return PL_OK;
}

/* R of each vertex: the polar part of sum (x_j - x_i) (X_j - X_i)^T over its neighbours, X where the
 * factor was made. */
static void turn_vertices(pl_linear *l)
{
    const pl_pattern *p = l->matrix->model->pattern;
#pragma omp parallel for num_threads(l->ctx->threads) schedule(static)
    for (int i = 0; i < p->n; i++) {
        double f[9] = {0};
        const double *made = l->reference;
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            double now[3], then[3];
            pl_sub3(l->q + 3 * (size_t)p->col[k], l->q + 3 * (size_t)i, now);
            pl_sub3(made + 3 * (size_t)p->col[k], made + 3 * (size_t)i, then);
            for (int a = 0; a < 3; a++)
                pl_axpy3(now[a], then, f + 3 * a);
        }
        pl_polar3(f, l->turn + 9 * (size_t)i);
    }
}

/* The contacts as the factor's frame sees them: H, or H R. */
static pl_status turn_contacts(pl_linear *l)
{
    PL_TRY(pl_contact_set_copy(l->ctx, &l->contacts, &l->turned));
    for (int k = 0; l->turning && k < l->turned.entry_count; k++) {
        const pl_stencil_entry *e = &l->contacts.entries[k];
        for (int row = 0; row < 3; row++)
            pl_mat3_tvec(l->turn + 9 * (size_t)e->vertex, e->block + 3 * row,
                         l->turned.entries[k].block + 3 * row);
    }
    return PL_OK;
}

/* What solves with S = Dl + Dd W need: W^-1 where most rows are firm and it pays, or an LU. */
static pl_status factor_contacts(pl_linear *l, bool *singular)
{
    pl_context *ctx = l->ctx;
    pl_delassus *d = &l->delassus;
    int m = l->contacts.count;
    bool suits = m >= ctx->limits.gmres_contacts && pl_firm_suits(m, d->rho, l->laws, GIVE, WEAK);
    l->through_firm = false;
    *singular = false;
    if (suits && pl_delassus_invert(ctx, d, m)) {
        PL_TRY(pl_firm_reserve(ctx, &l->firm, l->contact_capacity));
        l->through_firm = pl_firm_factor(ctx, &l->firm, m, d->stiffness, l->laws, GIVE);
    }
    if (l->through_firm)
        return pl_delassus_product(ctx, d, m, PL_PRODUCT_STIFFNESS, &l->stiffness);
    PL_TRY(pl_schur_reserve(ctx, &l->schur, l->contact_capacity));
    pl_schur_factor(ctx, &l->schur, m, l->laws, pl_delassus_single(ctx, d), WEAK);
    *singular = l->schur.count == 0;
    if (suits)
        pl_delassus_regret(d, (2.0 / 3.0) * pow(l->schur.size, 3));
    return PL_OK;
}

/* Whether a vertex between obstacles has more rows that hold it than it has motions, as vertices of
 * bodies that meet usually have. How its forces
 * share the load is then told by Dl alone, 1e-10 beside Dd W: gradients of the obstacles' poses are
 * made of that. */
static bool is_wedged(const pl_linear *l)
{
    const pl_contact_point *p = l->contacts.points;
    int held = 0;
    if (l->contacts.touching > l->contacts.single)
        return true;
    for (int c = 0; c < l->contacts.single; c++) {
        held = c > 0 && p[c].vertex == p[c - 1].vertex ? held : 0;
        for (int r = 0; r < 3; r++)
            held += pl_norm3(l->laws[c].d_lambda + 3 * r) <
                    FIRM * l->rho[c] * pl_norm3(l->laws[c].d_delta + 3 * r);
        if (held > 3)
            return true;
    }
    return false;
}

/* The LU of S itself. */
static pl_status factor_wide(pl_linear *l)
{
    pl_context *ctx = l->ctx;
    pl_status status = PL_OK;
    size_t size = 3 * (size_t)l->contacts.count, room = 3 * (size_t)l->contact_capacity;
    if (l->wide_capacity < l->contact_capacity) {
        pl_free(ctx, l->wide);
        pl_free(ctx, l->wide_pivot);
        l->wide = NULL, l->wide_pivot = NULL, l->wide_capacity = 0;
        PL_NEW(ctx, l->wide, room * room, done);
        PL_NEW(ctx, l->wide_pivot, room, done);
        l->wide_capacity = l->contact_capacity;
    }
    pl_contact_schur(ctx, l->contacts.count, l->laws, pl_delassus_wide(ctx, &l->delassus), l->wide);
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)size, (int)size, l->wide, (int)size,
                            l->wide_pivot) != 0)
        return pl_fail(ctx, PL_ERROR_NUMERIC, "step %d: the contact block is singular",
                       l->sub.step + 1);
done:
    return status;
}

pl_status pl_precondition_widen(pl_linear *l)
{
    l->through_condensed =
        l->condensed.pays && pl_condensed_factor(l->ctx, &l->condensed, &l->delassus, l->laws);
    if (!l->through_condensed)
        PL_TRY(factor_wide(l));
    l->through_wide = true;
    return PL_OK;
}

/* x [3 m] <- S^-1 x, or S^-T x */
static void solve_schur(pl_linear *l, double *x)
{
    int size = 3 * l->contacts.count;
    if (l->through_condensed)
        pl_condensed_solve(&l->condensed, &l->delassus, l->transposed, x, x);
    else if (l->through_wide)
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, l->transposed ? 'T' : 'N', size, 1, l->wide, size,
                            l->wide_pivot, x, size);
    else if (l->through_firm)
        pl_firm_solve(l->ctx, &l->firm, l->stiffness, l->transposed, x, x);
    else
        pl_schur_solve(&l->schur, l->transposed, x, x);
}

/* W at the contacts of this substep, and solves with S. */
static pl_status factor_schur(pl_linear *l)
{
    bool singular;
    l->through_wide = l->through_condensed = false;
    if (l->contacts.count == 0 || l->matrix->fold.count > 0)
        return PL_OK;
    PL_TRY(turn_contacts(l));
    PL_TRY(pl_delassus_build(l->ctx, &l->delassus, pl_matrix_factor(l->matrix), l->sub.h, &l->turned));
    pl_matrix_focus(l->matrix, l->touched_count, l->ahead, l->contacts.touching == l->contacts.count);
    PL_TRY(pl_condensed_prepare(l->ctx, &l->condensed, &l->delassus));
    l->through_condensed = l->condensed.pays && pl_condensed_serves(&l->condensed, l->laws);
    if (l->through_condensed)
        return PL_OK;
    if (l->condensed.pays || is_wedged(l))
        return pl_precondition_widen(l);
    PL_TRY(factor_contacts(l, &singular));
    return singular ? pl_precondition_widen(l) : PL_OK;
}

/* A factor whose order of elimination suits the contacts soon to come as well: columns of E^-1 for
 * vertices that it did not reckon with cost a solve each. */
static pl_status refresh_factor(pl_linear *l)
{
    pl_delassus_reset(&l->delassus);
    PL_TRY(pl_linear_fold(l));
    return pl_matrix_refresh(l->matrix, &l->sub, PL_FACTOR_TANGENT, l->q, l->ahead_count, l->ahead);
}

pl_status pl_precondition_refresh(pl_linear *l)
{
    PL_TRY(refresh_factor(l));
    pl_chol_use_half(pl_matrix_factor(l->matrix), false);
    l->factorizations++;
    l->ledger = (pl_ledger){0};
    l->turning = false;
    memcpy(l->reference, l->q, sizeof(double) * 3 * (size_t)l->n);
    if (l->matrix->clamped)
        PL_TRY(exact_tangent(l));
    return factor_schur(l);
}

static void invert_diagonal(pl_linear *l)
{
    const pl_pattern *pattern = l->matrix->model->pattern;
    for (int i = 0; i < l->n; i++)
        pl_inverse3(l->matrix->tangent + 9 * (size_t)pattern->diag[i],
                    l->diagonal_inverse + 9 * (size_t)i);
}

/* The factor of the tangent at rest, or of A: made once for a time step. */
static pl_status constant_factor(pl_linear *l)
{
    bool woodbury = l->def.preconditioner == PL_PRECONDITION_WOODBURY;
    pl_factor_kind kind = woodbury ? PL_FACTOR_TANGENT : PL_FACTOR_CONSTANT;
    if (l->matrix->kind == kind && l->matrix->h == l->sub.h)
        return PL_OK;
    l->factorizations++;
    pl_delassus_reset(&l->delassus);
    return pl_matrix_refresh(l->matrix, &l->sub, kind, woodbury ? l->reference : l->q, l->touched_count,
                             l->ahead);
}

double pl_precondition_price(const pl_linear *l)
{
    const pl_costs *c = &l->matrix->costs;
    double size = 3.0 * l->contacts.count; /* E^-1 between the contacts is made anew as well, */
    double solves = size > 0 ? 2 : 1;      /* and paths to them are gone four times */
    return (c->factor + 2 * c->assembly + size * size * size / DENSE_RATE) /
           (solves * c->solve + c->product);
}

/* Whether to make a new factor now. */
static bool wants_refresh(pl_linear *l)
{
    if (l->matrix->kind != PL_FACTOR_TANGENT || l->matrix->h != l->sub.h) {
        l->hold = l->last_hold = 0; /* as where a limited tape begins anew */
        return true;
    }
    if (l->def.solver == PL_ADJOINT_DIRECT || l->matrix->fold.count > 0 || pl_linear_folds(l))
        return true;
    if (l->hold > 0) {
        l->hold--;
        return true;
    }
    return pl_ledger_worn(&l->ledger, pl_precondition_price(l));
}

pl_status pl_precondition_setup(pl_linear *l)
{
    pl_preconditioner kind = l->def.preconditioner;
    if (kind == PL_PRECONDITION_LAGGED && wants_refresh(l))
        return pl_precondition_refresh(l);
    if (kind == PL_PRECONDITION_INVERSE || kind == PL_PRECONDITION_WOODBURY)
        PL_TRY(constant_factor(l));
    if (kind >= PL_PRECONDITION_WOODBURY)
        pl_chol_use_half(pl_matrix_factor(l->matrix), l->ledger.last >= HALF_AT);
    PL_TRY(exact_tangent(l));
    if (kind == PL_PRECONDITION_JACOBI)
        invert_diagonal(l);
    l->turning = l->turning || (kind == PL_PRECONDITION_LAGGED && l->ledger.last >= TURN_AT);
    if (l->turning)
        turn_vertices(l);
    return through_contact_space(l) ? factor_schur(l) : PL_OK;
}

/* y = R x or R^T x, vertex by vertex; may be the same array. */
static void turn_vector(const pl_linear *l, bool back, const double *x, double *y)
{
#pragma omp parallel for num_threads(l->ctx->threads) schedule(static)
    for (size_t i = 0; i < (size_t)l->n; i++) {
        double in[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        if (back)
            pl_mat3_tvec(l->turn + 9 * i, in, y + 3 * i);
        else
            pl_mat3_vec(l->turn + 9 * i, in, y + 3 * i);
    }
}

/* The motion that meets contact c's row to the last digit, -h^2 motion + Dl^T w = rho x, whatever w;
 * and the force f = -Dd^T w/h^2. */
static void meet_row_transposed(const pl_linear *l, int c, const double *x, const double *w,
                                double *motion, double *f)
{
    double h2 = l->sub.h * l->sub.h;
    pl_mat3_tvec(l->laws[c].d_delta, w, f);
    pl_mat3_tvec(l->laws[c].d_lambda, w, motion);
    for (int k = 0; k < 3; k++) {
        f[k] /= -h2;
        motion[k] = (motion[k] - l->rho[c] * x[k]) / h2;
    }
}

/* The nearest motion and force w that meet it, Dd motion + Dl w = rho x/h^2. */
static void meet_row(const pl_linear *l, int c, const double *x, double *w, double *motion, double *f)
{
    const pl_law_linear *law = &l->laws[c];
    double h2 = l->sub.h * l->sub.h, left[3], push[3], by[3];
    pl_mat3_vec(law->d_delta, motion, left);
    pl_mat3_vec(law->d_lambda, w, push);
    for (int k = 0; k < 3; k++)
        left[k] = l->rho[c] / h2 * x[k] - left[k] - push[k];
    pl_law_least(law, l->rho[c], left, by, push);
    for (int k = 0; k < 3; k++) {
        motion[k] += by[k];
        w[k] += push[k];
        f[k] = w[k];
    }
}

void pl_precondition_meet(const pl_linear *l, int c, const double *x, double *w, double *motion,
                          double *f)
{
    if (l->transposed)
        meet_row_transposed(l, c, x, w, motion, f);
    else
        meet_row(l, c, x, w, motion, f);
}

/* w = S^-1 of the contact rows, given E^-1 x at the contacts, and l->work = h^2 H^T f, what it adds to
 * x: f = -Dd^T w/h^2 or w. l->motion is the contacts' part of the answer, H E^-1 (x + h^2 H^T f) but
 * for what meeting the rows takes. */
static void solve_contacts(pl_linear *l, const double *x, const double *moved, double *w)
{
    int m = l->turned.count;
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < m; c++) {
        double *at = l->motion + 3 * c, pulled[3];
        pl_contact_gather(&l->turned, c, moved, at);
        pl_mat3_vec(l->laws[c].d_delta, at, pulled);
        for (int k = 0; k < 3; k++)
            w[3 * c + k] = l->transposed ? l->rho[c] * x[3 * c + k] + h2 * at[k]
                                         : l->rho[c] / h2 * x[3 * c + k] - pulled[k];
    }
    solve_schur(l, w);
    if (!l->transposed && l->through_condensed)
        pl_condensed_multiply(&l->condensed, &l->delassus, w, l->motion);
    else if (!l->transposed)
        pl_delassus_multiply(l->ctx, m, pl_delassus_wide(l->ctx, &l->delassus), w, l->motion);
    memset(l->work, 0, sizeof(double) * 3 * (size_t)l->n);
    for (int c = 0; c < m; c++) {
        double f[3];
        pl_precondition_meet(l, c, x + 3 * c, w + 3 * c, l->motion + 3 * c, f);
        pl_contact_scatter(&l->turned, c, h2, f, l->work);
    }
}

/* [E^ H^T Dd^T; -h^2 H  Dl^T]^-1 or its untransposed form, with S. Both inverses are in single
 * precision; but the contacts move as their rows want it, so that those that stick are held to the last
 * digit, which gradients through them are made of. */
static pl_status apply_schur(pl_linear *l, const double *x, double *y)
{
    size_t n3 = 3 * (size_t)l->n;
    const double *b = l->turning ? y : x;
    if (l->turning)
        turn_vector(l, true, x, y);
    if (l->matrix->fold.count > 0)
        return pl_linear_apply_folded(l, x, y);
    if (l->contacts.count > 0) {
        PL_TRY(pl_matrix_begin(l->matrix, b, y));
        solve_contacts(l, x + n3, y, y + n3);
        pl_delassus_move(&l->delassus, &l->turned, l->motion, l->work, y);
        PL_TRY(pl_matrix_end(l->matrix, l->work, y, y));
        pl_delassus_hold(&l->delassus, &l->turned, l->motion, y);
    } else {
        PL_TRY(pl_matrix_correct(l->matrix, b, y));
    }
    if (l->turning)
        turn_vector(l, false, y, y);
    return PL_OK;
}

/* Contact rows alone: (Dl + rho Dd)^-1 or its transpose, block by block. */
static void apply_contact_diagonal(const pl_linear *l, const double *x, double *y)
{
    double h2 = l->sub.h * l->sub.h;
    for (int c = 0; c < l->contacts.count; c++) {
        double block[9], inverse[9], row[3];
        for (int k = 0; k < 9; k++)
            block[k] = l->laws[c].d_lambda[k] + l->rho[c] * l->laws[c].d_delta[k];
        pl_inverse3(block, inverse);
        for (int k = 0; k < 3; k++)
            row[k] = (l->transposed ? l->rho[c] : l->rho[c] / h2) * x[3 * c + k];
        if (l->transposed)
            pl_mat3_tvec(inverse, row, y + 3 * c);
        else
            pl_mat3_vec(inverse, row, y + 3 * c);
    }
}

pl_status pl_precondition_apply(void *user, const double *x, double *y)
{
    pl_linear *l = user;
    size_t n = (size_t)l->n;
    if (through_contact_space(l))
        return apply_schur(l, x, y);
    apply_contact_diagonal(l, x + 3 * n, y + 3 * n);
    if (l->def.preconditioner == PL_PRECONDITION_INVERSE)
        return pl_matrix_solve(l->matrix, x, y);
    for (size_t i = 0; i < n; i++)
        pl_mat3_vec(l->diagonal_inverse + 9 * i, x + 3 * i, y + 3 * i);
    return PL_OK;
}
