/* Solving for a Newton step in contact space. */
#include "contact/system.h"

#include "core/vec.h"

#include <cblas.h>
#include <lapacke.h>

#define GMRES_LIMIT  12   /* more iterations than this and a new LU is cheaper */
#define WEAK         0.1  /* of D_lambda, in forces: what rows left out of the LU may hear of other */
#define GIVE         0.1  /* of D_delta, in motions: contacts */
#define ROUGHLY      0.1  /* relative residual of an approximate answer */
#define ROUGH_ENOUGH 1e-2 /* relative residual with a new LU that single precision may end at */

void pl_contact_system_free(pl_context *ctx, pl_contact_system *s)
{
    void *arrays[] = {s->jacobian, s->pivot, s->vector, s->image, s->kept, s->left, s->more};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_schur_free(ctx, &s->schur);
    pl_firm_free(ctx, &s->firm);
    pl_krylov_free(ctx, &s->krylov);
    pl_condensed_free(ctx, &s->condensed);
    *s = (pl_contact_system){0};
}

void pl_contact_system_forget(pl_contact_system *s)
{
    s->schur.count = 0;
    s->condensed.made = false;
}

pl_status pl_contact_system_reserve(pl_context *ctx, pl_contact_system *s, int m)
{
    pl_status status = PL_OK;
    size_t room = (size_t)m;
    if (m <= s->capacity)
        return PL_OK;
    pl_contact_system_free(ctx, s);
    PL_NEW(ctx, s->jacobian, 9 * room * room, fail);
    PL_NEW(ctx, s->pivot, 3 * room, fail);
    if (m >= ctx->limits.gmres_contacts) {
        PL_CHECK(pl_schur_reserve(ctx, &s->schur, m), fail);
        PL_CHECK(pl_firm_reserve(ctx, &s->firm, m), fail);
        PL_NEW(ctx, s->vector, 3 * room, fail);
        PL_NEW(ctx, s->image, 3 * room, fail);
        PL_NEW(ctx, s->kept, 3 * room, fail);
        PL_NEW(ctx, s->left, 3 * room, fail);
        PL_NEW(ctx, s->more, 3 * room, fail);
        PL_CHECK(pl_krylov_reserve(ctx, &s->krylov, 3 * m, GMRES_LIMIT), fail);
        s->krylov.impatient = true;
    }
    s->capacity = m;
    return PL_OK;
fail:
    pl_contact_system_free(ctx, s);
    return status;
}

void pl_contact_schur(pl_context *ctx, int m, const pl_law_linear *linear, const double *w,
                      double *jacobian)
{
    size_t size = 3 * (size_t)m;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > ctx->limits.thread_contacts)
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

/* ---- Many contacts ---- */

typedef struct large_system {
    pl_context *ctx;
    pl_contact_system *s;
    const pl_coupling *on;
    const pl_law_linear *linear;
    bool rough;                              /* a digit will do: the next S is this one again */
    pl_symmetric *half, *single, *stiffness; /* products with W, and W^-1 */
} large_system;

/* y = (D_lambda + D_delta W) x; s->image = W x */
static void apply_schur(const large_system *l, pl_symmetric *w, const double *x, double *y)
{
    pl_contact_system *s = l->s;
    int m = l->on->count;
    for (int i = 0; i < 3 * m; i++)
        s->vector[i] = (float)x[i];
    pl_symmetric_multiply(l->ctx, w, s->vector, s->image);
    for (int c = 0; c < m; c++) {
        double force[3], moved[3] = {s->image[3 * c], s->image[3 * c + 1], s->image[3 * c + 2]};
        pl_mat3_vec(l->linear[c].d_delta, moved, y + 3 * c);
        pl_mat3_vec(l->linear[c].d_lambda, x + 3 * c, force);
        pl_axpy3(1, force, y + 3 * c);
    }
}

static pl_status apply_half(void *user, const double *x, double *y)
{
    const large_system *l = user;
    apply_schur(l, l->half, x, y);
    return PL_OK;
}

static pl_status apply_single(void *user, const double *x, double *y)
{
    const large_system *l = user;
    apply_schur(l, l->single, x, y);
    return PL_OK;
}

static pl_status apply_lu(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_schur_solve(&l->s->schur, false, x, y);
    return PL_OK;
}

static pl_status apply_firm(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_firm_solve(l->ctx, &l->s->firm, l->stiffness, false, x, y);
    return PL_OK;
}

/* Approximate inverses of S, in the order in which they are tried. */
typedef enum way {
    OLD_LU, /* of an earlier S, as long as that is cheaper than a new one */
    FIRM,   /* where most rows are firm */
    NEW_LU,
    WAYS,
} way;

/* Makes the inverse ready; false if it is not to be had, or not to be tried. `suits`: most rows are
 * firm. */
static bool prepare(const large_system *l, way by, bool suits)
{
    pl_contact_system *s = l->s;
    pl_delassus *d = l->on->delassus;
    int m = l->on->count;
    switch (by) {
    case OLD_LU:
        return s->schur.count == m && !pl_ledger_worn(&s->ledger, pl_schur_price(&s->schur)) &&
               !(suits && d->stiff);
    case FIRM:
        if (!suits || !pl_delassus_invert(l->ctx, d, m))
            return false;
        if (!l->rough || !s->firm_made)
            s->firm_made = pl_firm_factor(l->ctx, &s->firm, m, d->stiffness, l->linear, GIVE);
        return s->firm_made;
    default:
        pl_schur_factor(l->ctx, &s->schur, m, l->linear, pl_delassus_single(l->ctx, d), WEAK);
        s->ledger = (pl_ledger){0};
        if (suits)
            pl_delassus_regret(d, (2.0 / 3.0) * pow(s->schur.size, 3));
        return s->schur.count > 0;
    }
}

/* Where one step is nearly always enough: x = a S'^-1 g with the a that leaves least, and its product
 * with W is known. GMRES finds what is left. */
static pl_status solve_at_once(large_system *l, pl_operator schur, pl_operator inverse, const double *g,
                               double accuracy, double *x, pl_krylov_result *result)
{
    pl_contact_system *s = l->s;
    int size = 3 * l->on->count;
    PL_TRY(inverse.apply(l, g, x));
    PL_TRY(schur.apply(l, x, s->left));
    double scale = cblas_dnrm2(size, g, 1), length = cblas_dnrm2(size, s->left, 1);
    double a = length > 0 ? cblas_ddot(size, s->left, 1, g, 1) / (length * length) : 0;
    cblas_dscal(size, a, x, 1);
    cblas_sscal(size, (float)a, s->image, 1);
    for (int i = 0; i < size; i++)
        s->left[i] = g[i] - a * s->left[i];
    double norm = cblas_dnrm2(size, s->left, 1);
    *result = (pl_krylov_result){
        .iterations = 1, .residual = norm / scale, .converged = norm <= accuracy * scale};
    if (result->converged || !isfinite(norm))
        return PL_OK;
    memcpy(s->kept, s->image, sizeof *s->kept * (size_t)size);
    PL_TRY(pl_gmres(&s->krylov, size, schur, inverse, s->left, s->more, accuracy * scale / norm,
                    GMRES_LIMIT, result));
    cblas_daxpy(size, 1, s->more, 1, x, 1);
    cblas_saxpy(size, 1, s->kept, 1, s->image, 1);
    result->iterations++;
    result->residual *= norm / scale;
    return PL_OK;
}

/* Through W^-1; to a digit even the product is not needed, because the motion is what it finds first.
 */
static pl_status solve_firm(large_system *l, const double *g, double accuracy, double *x,
                            pl_krylov_result *result)
{
    pl_contact_system *s = l->s;
    pl_operator schur = {.apply = apply_single, .user = l};
    pl_operator inverse = {.apply = apply_firm, .user = l};
    if (!l->rough)
        return solve_at_once(l, schur, inverse, g, accuracy, x, result);
    PL_TRY(apply_firm(l, g, x));
    memcpy(s->image, s->firm.motion, sizeof *s->image * (size_t)(3 * l->on->count));
    *result = (pl_krylov_result){.iterations = 1, .residual = accuracy, .converged = true};
    return PL_OK;
}

/*
 * GMRES with the LU that was prepared. First with W in half precision, from what single precision
 * leaves over. Where rows of W x nearly cancel, as under stiff bodies, that is worth nothing, and is
 * not tried again until W is another.
 */
static pl_status solve_by_lu(large_system *l, way by, const double *g, double accuracy, double *x,
                             pl_krylov_result *result)
{
    pl_delassus *d = l->on->delassus;
    int m = l->on->count;
    pl_operator inverse = {.apply = apply_lu, .user = l};
    pl_operator schur = {.apply = apply_single, .user = l};
    if (!d->half_fails) {
        pl_operator half = {.apply = apply_half, .user = l}, mixed = half;
        mixed.exactly = apply_single;
        PL_TRY(pl_delassus_product(l->ctx, d, m, PL_PRODUCT_HALF, &l->half));
        if (l->rough)
            PL_TRY(solve_at_once(l, half, inverse, g, accuracy, x, result));
        else
            PL_TRY(pl_gmres(&l->s->krylov, 3 * m, mixed, inverse, g, x, accuracy, GMRES_LIMIT, result));
        if (result->converged || by == OLD_LU)
            return PL_OK; /* or a new one first */
        d->half_fails = true;
    }
    return pl_gmres(&l->s->krylov, 3 * m, schur, inverse, g, x, accuracy, GMRES_LIMIT, result);
}

static pl_status solve_by(large_system *l, way by, const double *g, double accuracy, double *x,
                          pl_krylov_result *result)
{
    pl_delassus *d = l->on->delassus;
    int m = l->on->count;
    PL_TRY(pl_delassus_product(l->ctx, d, m, PL_PRODUCT_SINGLE, &l->single));
    if (by != FIRM)
        return solve_by_lu(l, by, g, accuracy, x, result);
    /* Forces that hold need more digits than half precision has. */
    PL_TRY(pl_delassus_product(l->ctx, d, m, PL_PRODUCT_STIFFNESS, &l->stiffness));
    return solve_firm(l, g, accuracy, x, result);
}

static pl_status solve_many(large_system *l, const double *g, double accuracy, double *x, double *moved,
                            bool *solved)
{
    pl_contact_system *s = l->s;
    int size = 3 * l->on->count;
    pl_krylov_result result = {0};
    bool prepared = false;
    bool suits = pl_firm_suits(l->on->count, l->on->delassus->rho, l->linear, GIVE, WEAK);
    memset(x, 0, sizeof(double) * (size_t)size);
    for (way by = OLD_LU; by < WAYS && !result.converged; by++) {
        prepared = prepare(l, by, suits);
        if (!prepared)
            continue;
        PL_TRY(solve_by(l, by, g, accuracy, x, &result));
        if (by != FIRM)
            pl_ledger_count(&s->ledger, result.iterations,
                            pl_ledger_fresh(&s->ledger, result.iterations, result.residual), 1);
    }
    /* What single precision leaves over is for the next Newton step. */
    *solved = result.converged || (prepared && result.residual <= ROUGH_ENOUGH);
    for (int i = 0; i < size; i++) /* the last product made is that of the answer */
        moved[i] = result.iterations > 0 ? s->image[i] : 0;
    return PL_OK;
}

/* ---- Any number ---- */

pl_status pl_contact_system_renew(pl_context *ctx, pl_contact_system *s, const pl_coupling *on)
{
    if (s->schur.count != on->count) /* or else it would depend on whether there was room for them */
        s->schur.count = 0;
    return pl_condensed_prepare(ctx, &s->condensed, on->delassus);
}

void pl_contact_system_couple(const pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                              const double *x, double *y)
{
    memset(y, 0, sizeof(double) * 3 * (size_t)on->count);
    if (s->condensed.pays)
        pl_condensed_multiply(&s->condensed, on->delassus, x, y);
    else
        pl_delassus_multiply(ctx, on->count, pl_delassus_wide(ctx, on->delassus), x, y);
}

void pl_contact_system_reach(const pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                             const double *x, double *y)
{
    size_t size = 3 * (size_t)on->count;
    if (s->condensed.pays) {
        pl_condensed_reach(&s->condensed, on->delassus, x, y);
        return;
    }
    const double *w = pl_delassus_wide(ctx, on->delassus);
    for (size_t i = 0; i < size; i++) {
        y[i] = 0;
        for (size_t j = 0; j < size; j++)
            y[i] += fabs(w[i * size + j] * x[j]);
    }
}

/* y = (D_lambda + D_delta W) x; s->more = W x */
static pl_status apply_condensed(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_contact_system *s = l->s;
    pl_contact_system_couple(l->ctx, s, l->on, x, s->more);
    for (int c = 0; c < l->on->count; c++) {
        double force[3];
        pl_mat3_vec(l->linear[c].d_delta, s->more + 3 * c, y + 3 * c);
        pl_mat3_vec(l->linear[c].d_lambda, x + 3 * c, force);
        pl_axpy3(1, force, y + 3 * c);
    }
    return PL_OK;
}

static pl_status apply_old(void *user, const double *x, double *y)
{
    const large_system *l = user;
    pl_condensed_solve(&l->s->condensed, l->on->delassus, false, x, y);
    return PL_OK;
}

/* By GMRES with the LU of an earlier law, as long as that is cheaper than a new one. */
static pl_status solve_by_old(large_system *l, const double *g, double accuracy, double *x,
                              double *moved, bool *solved)
{
    pl_contact_system *s = l->s;
    pl_operator schur = {.apply = apply_condensed, .user = l};
    pl_operator inverse = {.apply = apply_old, .user = l};
    pl_krylov_result result;
    if (!s->condensed.made || pl_ledger_worn(&s->ledger, pl_condensed_price(&s->condensed)))
        return PL_OK;
    PL_TRY(
        pl_gmres(&s->krylov, 3 * l->on->count, schur, inverse, g, x, accuracy, GMRES_LIMIT, &result));
    pl_ledger_count(&s->ledger, result.iterations, 0, 1);
    *solved = result.converged;
    if (*solved)
        memcpy(moved, s->more, sizeof *moved * 3 * (size_t)l->on->count);
    return PL_OK;
}

bool pl_contact_system_factor(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                              const pl_law_linear *linear)
{
    int size = 3 * on->count;
    if (s->condensed.pays) {
        s->ledger = (pl_ledger){0};
        return pl_condensed_factor(ctx, &s->condensed, on->delassus, linear);
    }
    pl_contact_schur(ctx, on->count, linear, pl_delassus_wide(ctx, on->delassus), s->jacobian);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, s->jacobian, size, s->pivot) == 0;
}

bool pl_contact_system_mirrors(const pl_contact_system *s, const pl_coupling *on)
{
    size_t size = 3 * (size_t)on->count;
    bool negative = false;
    if (s->condensed.pays)
        return pl_condensed_mirrors(&s->condensed);
    for (size_t i = 0; i < size; i++)
        negative ^= (s->jacobian[i * (size + 1)] < 0) ^ (s->pivot[i] != (int)i + 1);
    return negative;
}

void pl_contact_system_apply(pl_contact_system *s, const pl_coupling *on, const double *g, double *x)
{
    int size = 3 * on->count;
    if (s->condensed.pays) {
        pl_condensed_solve(&s->condensed, on->delassus, false, g, x);
        return;
    }
    memcpy(x, g, sizeof(double) * (size_t)size);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', size, 1, s->jacobian, size, s->pivot, x, size);
}

/* Whether GMRES is the way. */
static bool is_large(const pl_context *ctx, const pl_contact_system *s, int m)
{
    return m >= ctx->limits.gmres_contacts && !s->condensed.pays;
}

pl_status pl_contact_system_solve(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                                  const pl_law_linear *linear, const double *g, double accuracy,
                                  double *x, double *moved, bool *solved)
{
    *solved = false;
    if (accuracy > 0 && is_large(ctx, s, on->count))
        PL_TRY(solve_many(&(large_system){.ctx = ctx, .s = s, .on = on, .linear = linear}, g, accuracy,
                          x, moved, solved));
    else if (accuracy > 0 && on->count >= ctx->limits.gmres_contacts)
        PL_TRY(solve_by_old(&(large_system){.ctx = ctx, .s = s, .on = on, .linear = linear}, g,
                            accuracy, x, moved, solved));
    if (*solved)
        return PL_OK;
    *solved = pl_contact_system_factor(ctx, s, on, linear);
    if (*solved)
        pl_contact_system_apply(s, on, g, x);
    if (on->count >= ctx->limits.gmres_contacts)
        pl_contact_system_couple(ctx, s, on, x, moved);
    return PL_OK;
}

bool pl_contact_system_prepare(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                               const pl_law_linear *linear)
{
    s->firm_made = false;
    return is_large(ctx, s, on->count) || pl_contact_system_factor(ctx, s, on, linear);
}

pl_status pl_contact_system_approximate(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                                        const pl_law_linear *linear, const double *g, double *x,
                                        double *moved)
{
    bool solved;
    if (is_large(ctx, s, on->count))
        return solve_many(
            &(large_system){.ctx = ctx, .s = s, .on = on, .linear = linear, .rough = true}, g, ROUGHLY,
            x, moved, &solved);
    pl_contact_system_apply(s, on, g, x);
    pl_contact_system_couple(ctx, s, on, x, moved);
    return PL_OK;
}
