/* Springs at vertices, in frames of their own. */
#include "sim/fold.h"

#include "core/vec.h"

#define DENSE_RATE 20e9 /* flops a second of dense systems */
#define STIFFEST   1e4  /* times 1/rho: a spring */
#define LEAST      0.1 /* of a tangent that is left when the normal turns: less, and another is chosen */

static bool can_be_springs(const pl_contact_set *set)
{
    for (int c = 0; c < set->single; c++) {
        const pl_contact_point *p = &set->points[c];
        if (p->law.two_way || p->law.compliance > 0 ||
            (c > 0 && p->vertex == set->points[c - 1].vertex))
            return false;
    }
    return set->single == set->count && set->count > 0;
}

/* Whether normals change as vertices move, and with them all that is made of them. */
static bool is_curved(const pl_contact_set *set)
{
    for (int c = 0; c < set->count; c++)
        for (int k = 0; k < 9; k++)
            if (set->points[c].curvature[k] != 0)
                return true;
    return false;
}

bool pl_fold_pays(const pl_context *ctx, const pl_contact_set *set, double factor)
{
    double size = 3.0 * set->count, dense = 2 * size * size * size / DENSE_RATE;
    return set->count >= ctx->limits.folded_contacts && dense >= ctx->limits.folded_dense * factor &&
           is_curved(set) && can_be_springs(set);
}

void pl_fold_compliance(const pl_law_linear *at, double rho, double inverse[9])
{
    double sum[9];
    for (int i = 0; i < 9; i++)
        sum[i] = at->d_lambda[i] + rho / STIFFEST * at->d_delta[i];
    pl_inverse3(sum, inverse);
}

void pl_fold_stiffness(const pl_law_linear *at, double rho, double k[9])
{
    double inverse[9];
    pl_fold_compliance(at, rho, inverse);
    memset(k, 0, 9 * sizeof *k);
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++)
            pl_axpy3(inverse[3 * r + i], at->d_delta + 3 * i, k + 3 * r);
}

pl_spring pl_fold_spring(const pl_contact_point *p, double scale, const double k[9])
{
    pl_spring spring = {.vertex = p->vertex};
    double across = 0.5 * (k[5] + k[7]), angle = 0.5 * atan2(2 * across, k[4] - k[8]);
    double c = cos(angle), s = sin(angle), *t = spring.frame + 3;
    memcpy(spring.frame, p->frame, 3 * sizeof *t);
    for (int i = 0; i < 3; i++)
        t[i] = c * p->frame[3 + i] + s * p->frame[6 + i];
    pl_cross3(spring.frame, t, t + 3);
    double along = c * c * k[4] + 2 * c * s * across + s * s * k[8];
    spring.stiffness[0] = scale * k[0];
    spring.stiffness[1] = scale * along;
    spring.stiffness[2] = scale * fmax(k[4] + k[8] - along, 0);
    return spring;
}

void pl_fold_free(pl_context *ctx, pl_fold *f)
{
    pl_free(ctx, f->springs);
    pl_free(ctx, f->place);
    pl_free(ctx, f->tangent);
    pl_free(ctx, f->work);
    *f = (pl_fold){0};
}

void pl_fold_clear(pl_fold *f)
{
    for (int k = 0; k < f->count; k++)
        f->place[f->springs[k].vertex] = -1;
    f->count = 0;
}

pl_status pl_fold_reserve(pl_context *ctx, pl_fold *f, const pl_pattern *pattern, int count)
{
    pl_status status = PL_OK;
    pl_fold_clear(f);
    if (count > 0 && !f->tangent) {
        PL_NEW(ctx, f->place, pattern->n, fail);
        PL_NEW(ctx, f->work, 3 * pattern->n, fail);
        PL_NEW(ctx, f->tangent, 9 * (size_t)pattern->nnz, fail);
        for (int v = 0; v < pattern->n; v++)
            f->place[v] = -1;
    }
    return pl_grow(ctx, (void **)&f->springs, &f->capacity, count, sizeof *f->springs);
fail:
    pl_fold_free(ctx, f);
    return status;
}

void pl_fold_add(pl_fold *f, const pl_spring *spring)
{
    f->place[spring->vertex] = f->count;
    f->springs[f->count++] = *spring;
}

/* out = F_i B F_j^T; a vertex without a frame has -1. */
static void turn_block(const pl_fold *f, int i, int j, const double b[9], double out[9])
{
    double half[9];
    memcpy(out, b, sizeof half);
    if (i >= 0)
        for (int r = 0; r < 3; r++)
            pl_mat3_tvec(b, f->springs[i].frame + 3 * r, out + 3 * r);
    memcpy(half, out, sizeof half);
    if (j >= 0)
        for (int r = 0; r < 3; r++)
            pl_mat3_vec(f->springs[j].frame, half + 3 * r, out + 3 * r);
}

void pl_fold_take(pl_fold *f, const pl_pattern *pattern, const double *tangent)
{
    for (int i = 0; i < pattern->n; i++)
        for (int k = pattern->row[i]; k < pattern->row[i + 1]; k++)
            turn_block(f, f->place[i], f->place[pattern->col[k]], tangent + 9 * (size_t)k,
                       f->tangent + 9 * (size_t)k);
    for (int k = 0; k < f->count; k++) {
        const pl_spring *s = &f->springs[k];
        for (int r = 0; r < 3; r++)
            f->tangent[9 * (size_t)pattern->diag[s->vertex] + 4 * (size_t)r] += s->stiffness[r];
    }
}

void pl_fold_turn(pl_fold *f, int vertex, const double normal[3])
{
    if (f->count == 0 || f->place[vertex] < 0)
        return;
    double *n = f->springs[f->place[vertex]].frame, *t = n + 3;
    memcpy(n, normal, 3 * sizeof *n);
    pl_axpy3(-pl_dot3(n, t), n, t);
    double length = pl_norm3(t);
    if (length < LEAST) {
        pl_contact_frame(n);
        return;
    }
    for (int k = 0; k < 3; k++)
        t[k] /= length;
    pl_cross3(n, t, n + 6);
}

void pl_fold_into(const pl_fold *f, double *x)
{
    for (int k = 0; k < f->count; k++) {
        double *at = x + 3 * (size_t)f->springs[k].vertex, in[3] = {at[0], at[1], at[2]};
        pl_mat3_vec(f->springs[k].frame, in, at);
    }
}

void pl_fold_back(const pl_fold *f, double *x)
{
    for (int k = 0; k < f->count; k++) {
        double *at = x + 3 * (size_t)f->springs[k].vertex, in[3] = {at[0], at[1], at[2]};
        pl_mat3_tvec(f->springs[k].frame, in, at);
    }
}

void pl_fold_multiply(const pl_context *ctx, const pl_fold *f, const pl_pattern *pattern,
                      const double *x, double *y)
{
    memcpy(f->work, x, sizeof(double) * 3 * (size_t)pattern->n);
    pl_fold_into(f, f->work);
    pl_bsr_multiply(ctx->threads, pattern, f->tangent, f->work, y);
    for (int k = 0; k < f->count; k++)
        for (int r = 0; r < 3; r++) {
            size_t i = 3 * (size_t)f->springs[k].vertex + (size_t)r;
            y[i] -= f->springs[k].stiffness[r] * f->work[i];
        }
    pl_fold_back(f, y);
}
