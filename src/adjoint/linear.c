/* Setting up and solving the linearised step. */
#include "adjoint/linear.h"

#include "adjoint/precondition.h"
#include "contact/geometry.h"
#include "core/vec.h"
#include "rows/rows.h"

#include <cblas.h>
#include <float.h>

#define RESTART     80
#define FRESH_CG    2 /* iterations with a factor of the matrix itself, which is in single precision */
#define FRESH_GMRES 2
#define FIRST_HOLD  8    /* substeps before lagging is tried again */
#define LONGER_HOLD 4    /* times as many when it fails again */
#define REFINEMENTS 6    /* of an answer that is not good enough, */
#define ROUNDED     1e-8 /* of which rounding may leave so much, whatever was asked for */

pl_adjoint_def pl_adjoint_def_default(void)
{
    return (pl_adjoint_def){
        .solver = PL_ADJOINT_AUTO,
        .preconditioner = PL_PRECONDITION_LAGGED,
        .tolerance = 1e-8,
        .max_iterations = 500,
    };
}

static pl_status check_def(pl_context *ctx, const pl_adjoint_def *d)
{
    if ((int)d->solver < 0 || d->solver > PL_ADJOINT_SEMI_IMPLICIT)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "solver = %d: no such adjoint solver", (int)d->solver);
    if ((int)d->preconditioner < 0 || d->preconditioner > PL_PRECONDITION_LAGGED)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "preconditioner = %d: no such preconditioner",
                       (int)d->preconditioner);
    if (!(d->tolerance > 0) || !(d->tolerance < 1))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "tolerance = %g: expected in (0, 1)", d->tolerance);
    if (d->max_iterations < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "max_iterations = %d: expected >= 1", d->max_iterations);
    if (!(d->contact_epsilon2 >= 0) || !isfinite(d->contact_epsilon2))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "contact_epsilon2 = %g: expected >= 0",
                       d->contact_epsilon2);
    return PL_OK;
}

/* AUTO and DIRECT are the lagged factor too: refreshed when it pays, or in every step. */
static void choose(pl_adjoint_def *d)
{
    if (d->solver == PL_ADJOINT_AUTO || d->solver == PL_ADJOINT_DIRECT)
        d->preconditioner = PL_PRECONDITION_LAGGED;
    if (d->solver == PL_ADJOINT_SEMI_IMPLICIT)
        d->preconditioner = PL_PRECONDITION_INVERSE;
}

pl_status pl_linear_create(pl_sim *sim, const pl_adjoint_def *def, pl_linear *out)
{
    pl_status status = PL_OK;
    const pl_scene *scene = sim->scene;
    *out = (pl_linear){.ctx = scene->ctx,
                       .scene = scene,
                       .n = scene->vertex_count,
                       .def = def ? *def : pl_adjoint_def_default(),
                       .sub = {.scene = scene,
                               .shapes = sim->solver.shapes,
                               .pattern = sim->model->pattern,
                               .surface = sim->model->surface,
                               .offset = sim->model->offset,
                               .matter = &sim->matter}};
    pl_context *ctx = scene->ctx;
    PL_TRY(check_def(ctx, &out->def));
    choose(&out->def);
    if (out->def.contact_epsilon2 == 0)
        out->def.contact_epsilon2 = sim->matter.values->def.contact_epsilon2;
    if (!sim->sweep_matrix.ctx)
        PL_CHECK(pl_matrix_create(sim->model, &sim->sweep_meter, &sim->sweep_matrix), done);
    out->matrix = &sim->sweep_matrix;
    pl_matrix_forget(out->matrix);
    PL_CHECK(pl_delassus_create(ctx, out->n, sim->model->part_of, &out->delassus), done);
    PL_NEW(ctx, out->u, 3 * out->n, done);
    PL_NEW(ctx, out->work, 3 * out->n, done);
    if (out->def.preconditioner == PL_PRECONDITION_JACOBI)
        PL_NEW(ctx, out->diagonal_inverse, 9 * out->n, done);
    if (out->def.preconditioner >= PL_PRECONDITION_WOODBURY) {
        PL_NEW(ctx, out->reference, 3 * out->n, done);
        PL_NEW(ctx, out->turn, 9 * out->n, done);
    }
    out->turning = out->def.preconditioner == PL_PRECONDITION_WOODBURY;
    for (int b = 0; out->turning && b < scene->body_count; b++) {
        const pl_body *body = &scene->bodies[b];
        memcpy(out->reference + 3 * (size_t)body->vertex_offset, body->mesh->vertices,
               sizeof(double) * 3 * (size_t)body->mesh->vertex_count);
    }
done:
    return status;
}

void pl_linear_free(pl_linear *l)
{
    void *arrays[] = {l->u,         l->laws,     l->d_mu,       l->rho,
                      l->rhs,       l->solution, l->work,       l->diagonal_inverse,
                      l->reference, l->turn,     l->ahead,      l->lift,
                      l->motion,    l->wide,     l->wide_pivot, l->stiff,
                      l->springs};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(l->ctx, arrays[k]);
    pl_contact_set_free(l->ctx, &l->contacts);
    pl_delassus_free(l->ctx, &l->delassus);
    pl_schur_free(l->ctx, &l->schur);
    pl_firm_free(l->ctx, &l->firm);
    pl_condensed_free(l->ctx, &l->condensed);
    pl_contact_set_free(l->ctx, &l->turned);
    pl_krylov_free(l->ctx, &l->krylov);
}

static pl_status reserve(pl_linear *l, int m)
{
    pl_context *ctx = l->ctx;
    pl_status status = PL_OK;
    if (l->rhs && m <= l->contact_capacity)
        return PL_OK;
    size_t room = (size_t)m + (size_t)m / 2 + 8, size = 3 * (size_t)l->n + 3 * room;
    void **arrays[] = {(void **)&l->laws,   (void **)&l->d_mu,     (void **)&l->rho,
                       (void **)&l->rhs,    (void **)&l->solution, (void **)&l->lift,
                       (void **)&l->motion, (void **)&l->stiff};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        pl_free(ctx, *arrays[k]);
        *arrays[k] = NULL;
    }
    l->contact_capacity = 0;
    PL_NEW(ctx, l->laws, room, done);
    PL_NEW(ctx, l->d_mu, 3 * room, done);
    PL_NEW(ctx, l->rho, room, done);
    PL_NEW(ctx, l->motion, 3 * room, done);
    PL_NEW(ctx, l->stiff, 9 * room, done);
    PL_NEW(ctx, l->rhs, size, done);
    PL_NEW(ctx, l->solution, size, done);
    PL_NEW(ctx, l->lift, size, done);
    PL_CHECK(pl_krylov_reserve(ctx, &l->krylov, (int)size, RESTART), done);
    l->contact_capacity = (int)room;
done:
    return status;
}

/* Contacts at their places with the tape's forces. */
static pl_status place_contacts(pl_linear *l, const pl_tape_entry *entry)
{
    pl_contact_set *set = &l->contacts;
    pl_obstacles o = pl_substep_obstacles(&l->sub);
    pl_contact_set_clear(set);
    for (int c = 0; c < entry->contact_count; c++)
        PL_TRY(pl_tape_place(&l->sub, &o, entry, c, set));
    return PL_OK;
}

/* rho, a row's scale: what its force moves it by against the masses alone. */
static double row_scale(const pl_linear *l, int c)
{
    const pl_stencil_entry *e = pl_contact_entries(&l->contacts, c);
    double sum = 0;
    for (int k = 0; k < l->contacts.points[c].count; k++)
        sum += pl_dot3(e[k].block, e[k].block) / l->sub.matter->mass[e[k].vertex];
    return l->sub.h * l->sub.h * sum;
}

static void linearise_laws(pl_linear *l)
{
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_contact_point *p = &l->contacts.points[c];
        double delta[3];
        pl_law_point point;
        pl_law law = p->law;
        law.epsilon2 = l->def.contact_epsilon2;
        law.rho = l->rho[c] = row_scale(l, c);
        pl_contact_delta(&l->contacts, c, l->u, delta);
        pl_law_resolve(&law, delta, p->lambda, &point);
        pl_law_derivative(&law, &point, p->lambda, &l->laws[c], l->d_mu + 3 * c);
    }
}

pl_status pl_linear_setup(pl_linear *l, const pl_tape_entry *entry)
{
    const double *q = entry->q;
    PL_TRY(reserve(l, entry->contact_count + pl_rows_count(l->scene)));
    l->q = q;
    for (int i = 0; i < 3 * l->n; i++)
        l->u[i] = q[i] - l->sub.q0[i];
    PL_TRY(place_contacts(l, entry));
    PL_TRY(pl_rows_add(&l->sub, &l->contacts));
    pl_rows_place(&l->sub, q, &l->contacts);
    linearise_laws(l);
    l->unfolded = false;
    return l->device ? PL_OK : pl_precondition_setup(l);
}

/* What frames that follow their vertices add for contact c: C and -h^2 B (contact/geometry.h), or their
 * transposes; a = d_delta^T w then, or d_delta to be added to. */
static void apply_turn(const pl_linear *l, int c, const double *x, double a[3], double *y)
{
    const pl_contact_point *p = &l->contacts.points[c];
    size_t v = 3 * (size_t)p->vertex;
    double h2 = l->sub.h * l->sub.h, f[3], by[3] = {0};
    if (!p->follows)
        return;
    if (l->transposed) {
        for (size_t k = 0; k < 3; k++)
            f[k] = -h2 * x[v + k];
        pl_geometry_pull_turn(p, p->lambda, l->u + v, a, f, y + v);
        return;
    }
    pl_geometry_push_turn(p, p->lambda, l->u + v, x + v, by, f);
    pl_axpy3(-h2, f, y + v);
    pl_axpy3(1, by, a);
}

/* y = (tangent or adjoint matrix) x; contact rows are scaled by 1/rho (and h^2) to the size of E's. */
static pl_status apply(void *user, const double *x, double *y)
{
    const pl_linear *l = user;
    size_t n = (size_t)l->n;
    double h2 = l->sub.h * l->sub.h;
    pl_bsr_multiply(l->ctx->threads, l->matrix->model->pattern, l->matrix->tangent, x, y);
    for (int c = 0; c < l->contacts.count; c++) {
        const pl_law_linear *law = &l->laws[c];
        const double *w = x + 3 * n + 3 * (size_t)c;
        double *out = y + 3 * n + 3 * (size_t)c, at[3], a[3];
        pl_contact_gather(&l->contacts, c, x, at);
        if (l->transposed) {
            pl_mat3_tvec(law->d_delta, w, a);
            pl_contact_scatter(&l->contacts, c, 1, a, y);
            apply_turn(l, c, x, a, y);
            pl_mat3_tvec(law->d_lambda, w, out);
            for (int k = 0; k < 3; k++)
                out[k] = (out[k] - h2 * at[k]) / l->rho[c];
        } else {
            pl_contact_scatter(&l->contacts, c, -h2, w, y);
            apply_turn(l, c, x, at, y);
            pl_mat3_vec(law->d_lambda, w, out);
            pl_mat3_vec(law->d_delta, at, a);
            for (int k = 0; k < 3; k++)
                out[k] = (out[k] + a[k]) * h2 / l->rho[c];
        }
    }
    return PL_OK;
}

/* The rows of the right-hand side scaled as the operator's. */
static void scale_rhs(pl_linear *l)
{
    double h2 = l->transposed ? 1 : l->sub.h * l->sub.h;
    for (int c = 0; c < l->contacts.count; c++)
        for (int k = 0; k < 3; k++)
            l->rhs[3 * (size_t)l->n + (size_t)(3 * c + k)] *= h2 / l->rho[c];
}

/* The stationary iteration of DiffPD, x <- x + A^-1 (rhs - matrix x): a baseline that diverges with
 * contact. */
static pl_status richardson(pl_linear *l, int size, pl_operator a, pl_operator p, pl_krylov_result *out)
{
    double *r = l->krylov.basis, *step = l->krylov.work, scale = cblas_dnrm2(size, l->rhs, 1);
    *out = (pl_krylov_result){.converged = scale == 0};
    memset(l->solution, 0, sizeof(double) * (size_t)size);
    while (!out->converged && out->iterations < l->def.max_iterations) {
        PL_TRY(a.apply(a.user, l->solution, r));
        for (int i = 0; i < size; i++)
            r[i] = l->rhs[i] - r[i];
        out->residual = cblas_dnrm2(size, r, 1) / scale;
        out->converged = out->residual <= l->def.tolerance;
        if (out->converged || !(out->residual < 1e30))
            break;
        PL_TRY(p.apply(p.user, r, step));
        cblas_daxpy(size, 1, step, 1, l->solution, 1);
        out->iterations++;
    }
    return PL_OK;
}

static pl_status solve_once(pl_linear *l, double tolerance, int most, pl_krylov_result *out)
{
    int size = 3 * l->n + 3 * l->contacts.count;
    pl_operator a = {.apply = apply, .user = l}, p = {.apply = pl_precondition_apply, .user = l};
    if (l->def.preconditioner == PL_PRECONDITION_NONE)
        p.apply = NULL;
    if (l->def.solver == PL_ADJOINT_SEMI_IMPLICIT)
        return richardson(l, size, a, p, out);
    if (l->contacts.count == 0) {
        PL_TRY(pl_cg(&l->krylov, size, a, p, l->rhs, l->solution, tolerance, most, out));
        if (!out->indefinite)
            return PL_OK;
    }
    return pl_gmres(&l->krylov, size, a, p, l->rhs, l->solution, tolerance, most, out);
}

/* With the factor of another substep, as long as that is cheaper than a new one. Where the first
 * substep after its own takes half of that already, lagging does not pay, and is not tried again for a
 * while. */
static pl_status solve_lagging(pl_linear *l, int fresh, pl_krylov_result *out)
{
    double price = pl_precondition_price(l);
    int most = fresh + (int)(l->ledger.uses == 1 ? 0.5 * price : price);
    PL_TRY(solve_once(l, l->def.tolerance, pl_smaller(most, l->def.max_iterations), out));
    l->iterations += out->iterations;
    if (out->converged) {
        l->last_hold = l->ledger.uses == 1 ? 0 : l->last_hold;
        return PL_OK;
    }
    if (l->ledger.uses == 1)
        l->hold = l->last_hold = l->last_hold ? LONGER_HOLD * l->last_hold : FIRST_HOLD;
    return pl_precondition_refresh(l);
}

/*
 * A pin of compliance c puts h^2/c into the right-hand side of the tangent, 1e5 beside masses of 1e-3,
 * and a residual relative to that says nothing of the other rows. So pinned vertices follow their pins
 * first, each by its own block alone, l->lift, and the system is solved for what is missing.
 */
static pl_status lift_pinned(pl_linear *l)
{
    const pl_pattern *pattern = l->matrix->model->pattern;
    int size = 3 * l->n + 3 * l->contacts.count;
    memset(l->lift, 0, sizeof(double) * (size_t)size);
    for (int p = 0; p < l->scene->pin_vertex_count; p++) {
        int i = l->scene->pin_vertex[p];
        double inverse[9];
        pl_inverse3(l->matrix->tangent + 9 * (size_t)pattern->diag[i], inverse);
        pl_mat3_vec(inverse, l->rhs + 3 * (size_t)i, l->lift + 3 * (size_t)i);
    }
    PL_TRY(apply(l, l->lift, l->solution));
    cblas_daxpy(size, -1, l->solution, 1, l->rhs, 1);
    return PL_OK;
}

/* The right-hand side to length 1: an adjoint state may have decayed to below what single precision,
 * the preconditioner's, can tell from 0. Gives back its length; what has no inverse of its length is 0.
 */
static double normalise(pl_linear *l)
{
    int size = 3 * l->n + 3 * l->contacts.count;
    double norm = cblas_dnrm2(size, l->rhs, 1);
    norm = norm < DBL_MIN ? 0 : norm;
    cblas_dscal(size, norm == 0 ? 0 : 1 / norm, l->rhs, 1);
    return norm;
}

/* r [3 n + 3 m] = what the solution leaves of the right-hand side */
static pl_status leave(pl_linear *l, double *r)
{
    int size = 3 * l->n + 3 * l->contacts.count;
    PL_TRY(apply(l, l->solution, r));
    for (int i = 0; i < size; i++)
        r[i] = l->rhs[i] - r[i];
    return PL_OK;
}

/*
 * A small residual is not a small error: stiff members dwarf the others in it. And of stiff, light
 * bodies rounding alone leaves more of the right-hand side than the tolerance, even of the exact
 * answer. What counts is how far the answer is off, and the preconditioner tells: x <- x + P^-1 (b - A
 * x), and what the last of these steps changed, relative to x, is about the error before it. Converged
 * once that is below the tolerance.
 */
static pl_status refine(pl_linear *l, pl_krylov_result *result, double *error)
{
    int size = 3 * l->n + 3 * l->contacts.count;
    double *left = l->krylov.basis, *change = l->krylov.direction;
    *error = INFINITY;
    result->converged = false;
    for (int k = 0; k < REFINEMENTS && !result->converged; k++) {
        PL_TRY(pl_precondition_apply(l, left, change));
        double moved = cblas_dnrm2(3 * l->n, change, 1), all = cblas_dnrm2(3 * l->n, l->solution, 1);
        if (!(moved < 0.5 * *error * all))
            return PL_OK;
        *error = moved / all;
        cblas_daxpy(size, 1, change, 1, l->solution, 1);
        result->converged = *error <= l->def.tolerance;
        if (!result->converged)
            PL_TRY(leave(l, left));
    }
    return PL_OK;
}

/* All iterations that are allowed, to a residual, and what they find refined. */
static pl_status solve_again(pl_linear *l, double tolerance, pl_krylov_result *result, double *error)
{
    PL_TRY(solve_once(l, tolerance, l->def.max_iterations, result));
    l->iterations += result->iterations;
    return refine(l, result, error);
}

/* What the iterations found made as good as it is to be: by refinement; or once more with a factor of
 * this substep's own, without springs; with a contact block of more digits; to a smaller residual. If
 * none of these helps, it is rounding that keeps the answer from the tolerance. */
static pl_status finish(pl_linear *l, pl_krylov_result *result, double *error)
{
    double tolerance = l->def.tolerance;
    PL_TRY(refine(l, result, error));
    if (!result->converged && (l->ledger.uses > 0 || l->matrix->fold.count > 0)) {
        l->unfolded = true;
        PL_TRY(pl_precondition_refresh(l));
        PL_TRY(solve_again(l, tolerance, result, error));
    }
    if (!result->converged && l->contacts.count > 0 && !l->through_wide) {
        PL_TRY(pl_precondition_widen(l));
        PL_TRY(solve_again(l, tolerance, result, error));
    }
    if (!result->converged && *error < INFINITY)
        PL_TRY(solve_again(l, 0.1 * tolerance * fmin(tolerance / *error, 1), result, error));
    result->converged = *error <= fmax(tolerance, ROUNDED);
    return PL_OK;
}

/* error: as far as it is known, or 0. */
static pl_status refuse(const pl_linear *l, const pl_krylov_result *result, double error)
{
    char known[64] = "";
    if (error > 0)
        snprintf(known, sizeof known, "its answer is known to about %.2g, ", error);
    return pl_fail(l->ctx, PL_ERROR_CONVERGENCE,
                   "step %d: the linearised system reached a relative residual of %.2g in %d "
                   "iterations, %snot %.2g (%d contacts)",
                   l->sub.step + 1, result->residual, result->iterations, known, l->def.tolerance,
                   l->contacts.count);
}

/* A^-1 of rows that may be of very different sizes. */
static void scaled_inverse(const double a[9], double inverse[9])
{
    double rows[9], size[3];
    for (int r = 0; r < 3; r++) {
        size[r] = pl_norm3(a + 3 * r);
        for (int k = 0; k < 3; k++)
            rows[3 * r + k] = a[3 * r + k] / size[r];
    }
    pl_inverse3(rows, inverse);
    for (int k = 0; k < 9; k++)
        inverse[k] /= size[k % 3];
}

/* The same on a device, which tells z and what pulls on the contacts' rows, y = Dd^T w. */
static pl_status solve_on_device(pl_linear *l)
{
    size_t n3 = 3 * (size_t)l->n;
    double norm = normalise(l);
    pl_device_answer answer;
    PL_TRY(pl_on_device_adjoint(l->device, &l->sub, &l->contacts, l->q, l->rhs, l->def.contact_epsilon2,
                                l->def.tolerance, l->def.max_iterations, l->solution, l->motion,
                                &answer));
    cblas_dscal(3 * l->n, norm, l->solution, 1);
    cblas_dscal(3 * l->contacts.count, norm, l->motion, 1);
    for (int c = 0; c < l->contacts.count; c++) {
        double by[9], inverse[9], *w = l->solution + n3 + 3 * (size_t)c;
        /* Rows of no friction pull on nothing. */
        memcpy(by, l->laws[c].d_delta, sizeof by);
        for (int k = 3; k < 9 && l->contacts.points[c].law.mu == 0; k += 4)
            by[k + 1] = 1;
        scaled_inverse(by, inverse);
        pl_mat3_tvec(inverse, l->motion + 3 * c, w);
    }
    l->iterations += answer.iterations;
    l->factorizations += answer.factorizations;
    l->max_iterations = answer.iterations > l->max_iterations ? answer.iterations : l->max_iterations;
    l->residual = fmax(l->residual, answer.residual);
    l->error = fmax(l->error, answer.error);
    if (!answer.converged)
        return pl_fail(l->ctx, PL_ERROR_CONVERGENCE,
                       "step %d: the linearised system reached a relative residual of %.2g in %d "
                       "iterations on the device, its answer is known to about %.2g, not %.2g (%d "
                       "contacts); device \"cpu\" has more ways",
                       l->sub.step + 1, answer.residual, answer.iterations, answer.error,
                       l->def.tolerance, l->contacts.count);
    return PL_OK;
}

pl_status pl_linear_solve(pl_linear *l, bool transposed)
{
    if (l->device)
        return solve_on_device(l);
    pl_krylov_result result = {0};
    double error = 0;
    int fresh = l->contacts.count > 0 ? FRESH_GMRES : FRESH_CG;
    l->transposed = transposed;
    scale_rhs(l);
    bool lifted = !transposed && l->scene->pin_vertex_count > 0;
    if (lifted)
        PL_TRY(lift_pinned(l));
    double norm = normalise(l);
    if (l->def.preconditioner == PL_PRECONDITION_LAGGED && l->ledger.uses > 0)
        PL_TRY(solve_lagging(l, fresh, &result));
    if (!result.converged) {
        PL_TRY(solve_once(l, l->def.tolerance, l->def.max_iterations, &result));
        l->iterations += result.iterations;
    }
    if (norm > 0 && l->def.preconditioner == PL_PRECONDITION_LAGGED)
        PL_TRY(finish(l, &result, &error));
    int size = 3 * l->n + 3 * l->contacts.count;
    cblas_dscal(size, norm, l->solution, 1);
    if (lifted)
        cblas_daxpy(size, 1, l->lift, 1, l->solution, 1);
    pl_ledger_count(&l->ledger, result.iterations, fresh, 1);
    l->max_iterations = result.iterations > l->max_iterations ? result.iterations : l->max_iterations;
    l->residual = fmax(l->residual, result.residual);
    l->error = fmax(l->error, error);
    return result.converged ? PL_OK : refuse(l, &result, error);
}

void pl_linear_pull(const pl_linear *l, int c, double a[3])
{
    pl_mat3_tvec(l->laws[c].d_delta, l->solution + 3 * (size_t)l->n + 3 * (size_t)c, a);
}
