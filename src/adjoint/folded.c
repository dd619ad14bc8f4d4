/* Springs for contacts in the preconditioner of the linearised step. */
#include "adjoint/folded.h"

#include "adjoint/precondition.h"
#include "core/vec.h"

/* What a force moves the vertex of contact c by, against its own block of E. */
static double give(const pl_linear *l, int c)
{
    double h2 = l->sub.h * l->sub.h;
    return h2 / pl_matrix_own(l->matrix, l->sub.matter, l->contacts.points[c].vertex);
}

bool pl_linear_folds(const pl_linear *l)
{
    return !l->unfolded && l->def.solver != PL_ADJOINT_DIRECT &&
           l->def.preconditioner == PL_PRECONDITION_LAGGED &&
           pl_fold_pays(l->ctx, &l->contacts, l->matrix->costs.factor);
}

pl_status pl_linear_fold(pl_linear *l)
{
    int m = pl_linear_folds(l) ? l->contacts.count : 0;
    PL_TRY(pl_grow(l->ctx, (void **)&l->springs, &l->spring_capacity, m, sizeof *l->springs));
    for (int c = 0; c < m; c++) {
        pl_fold_stiffness(&l->laws[c], give(l, c), l->stiff + 9 * c);
        l->springs[c] = pl_fold_spring(&l->contacts.points[c], l->sub.h * l->sub.h, l->stiff + 9 * c);
    }
    return pl_matrix_fold(l->matrix, m, l->springs);
}

/* The contact rows as forces at the vertices. */
static void push_rows(const pl_linear *l, const double *b, double *y)
{
    for (int c = 0; c < l->contacts.count; c++) {
        double f[3], inverse[9];
        if (l->transposed) {
            pl_mat3_tvec(l->stiff + 9 * c, b + 3 * c, f);
        } else {
            pl_fold_compliance(&l->laws[c], give(l, c), inverse);
            pl_mat3_vec(inverse, b + 3 * c, f);
        }
        pl_contact_scatter(&l->contacts, c, l->transposed ? -l->rho[c] : l->rho[c], f, y);
    }
}

/* w with both A w = a, the contact's row, and B w = b, balance, as nearly as may be. */
static void fit(const double a_of[9], const double a[3], const double b_of[9], const double b[3],
                double scale, double w[3])
{
    double sum[9], inverse[9], right[3], more[3];
    pl_mat3_tvec(a_of, a, right);
    pl_mat3_tvec(b_of, b, more);
    for (int i = 0; i < 3; i++) {
        right[i] = scale * right[i] + more[i];
        for (int j = 0; j < 3; j++) {
            sum[3 * i + j] = 0;
            for (int k = 0; k < 9; k += 3)
                sum[3 * i + j] += scale * a_of[k + i] * a_of[k + j] + b_of[k + i] * b_of[k + j];
        }
    }
    pl_inverse3(sum, inverse);
    pl_mat3_vec(inverse, right, w);
}

static void transpose(const double m[9], double out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] = m[i % 3 * 3 + i / 3];
}

/* w of contact c from its row b, H x and H (a - E x). */
static void solve_row(const pl_linear *l, int c, const double *b, const double at[3],
                      const double left[3], double *w)
{
    const pl_law_linear *law = &l->laws[c];
    double h2 = l->sub.h * l->sub.h, rho = l->rho[c], row[3], told[3], dl[9], dd[9];
    if (l->transposed) {
        transpose(law->d_lambda, dl);
        transpose(law->d_delta, dd);
        for (int k = 0; k < 3; k++)
            row[k] = rho * b[k] + h2 * at[k];
        fit(dl, row, dd, left, 1 / (rho * rho), w);
        return;
    }
    pl_mat3_vec(law->d_delta, at, told);
    for (int k = 0; k < 3; k++)
        row[k] = rho / h2 * b[k] - told[k];
    pl_mat3_vec(law->d_delta, left, told);
    for (int k = 0; k < 3; k++)
        told[k] /= -h2;
    fit(law->d_lambda, row, law->d_delta, told, 1 / (rho * rho), w);
}

pl_status pl_linear_apply_folded(pl_linear *l, const double *x, double *y)
{
    size_t n3 = 3 * (size_t)l->n;
    const double *b = x + n3;
    double *w = y + n3;
    memcpy(y, x, sizeof(double) * n3);
    push_rows(l, b, y);
    PL_TRY(pl_matrix_correct(l->matrix, y, y));
    pl_bsr_multiply(l->ctx->threads, l->matrix->model->pattern, l->matrix->tangent, y, l->work);
    for (size_t i = 0; i < n3; i++)
        l->work[i] = x[i] - l->work[i];
    for (int c = 0; c < l->contacts.count; c++) {
        double *at = l->motion + 3 * c, left[3], f[3];
        pl_contact_gather(&l->contacts, c, y, at);
        pl_contact_gather(&l->contacts, c, l->work, left);
        solve_row(l, c, b + 3 * c, at, left, w + 3 * c);
        pl_precondition_meet(l, c, b + 3 * c, w + 3 * c, at, f);
    }
    pl_contacts_hold(&l->contacts, l->motion, y);
    return PL_OK;
}
