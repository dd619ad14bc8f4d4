/*
 * The loss of states: a sum of terms, each a weighted mean of squared distances, and regularisers of x.
 * (What inputs cost is in input_term.c.)
 *
 *     L = sum_terms weight / rows * sum_rows |d|^2  +  sum_unknowns prior |x - x_0|^2 + smooth |Dx|^2
 *
 * d = sum_k c_k x[v_k] - target for fixed stencils. For a cloud d reaches from the given point to the
 * nearest one of the surface, p = sum_k b_k x[v_k] with barycentric b: since d stands on the surface
 * (or points to its edge), moving b does not change |d| to first order, and b counts as constant.
 *
 * For a shape the target is R (X - C) + c, the start's shape moved rigidly to where it fits best: R and
 * c count as constant for the same reason.
 *
 * The same as residuals, L = |r|^2: r = s d (3 rows), or r = s n . d (1 row) with dr = s n . dp, where
 * n is d/|d| of a cloud, or the direction that a goal asks for; d is then n (n . d).
 */
#include "fit/task.h"

#include "core/vec.h"
#include "linalg/polar.h"
#include "mesh/bvh.h"

/* A row's difference, as a stencil: d = sum_k coefficient[k] x[vertex[k]] - target. */
typedef struct row {
    int width;
    const int *vertex;
    const double *coefficient;
    double d[3];
    int corner[3]; /* storage for a cloud's stencil */
    double weight[3];
    double normal[3]; /* n: of a cloud also when the point lies on the surface, 0 of a goal passed */
} row;

static int find_step(const pl_loss_term *term, int step)
{
    for (int i = 0; i < term->step_count; i++)
        if (term->steps[i] == step)
            return i;
    return -1;
}

bool pl_task_needs_step(const pl_task *task, int step)
{
    for (int k = 0; k < task->term_count; k++)
        if (find_step(&task->terms[k], step) >= 0)
            return true;
    return false;
}

static void combine(const row *r, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < r->width; k++)
        pl_axpy3(r->coefficient[k], x + 3 * (size_t)r->vertex[k], out);
}

static void stencil_row(const pl_loss_term *term, int point, const double *x, row *out, double p[3])
{
    out->width = term->width;
    out->vertex = term->vertex + (size_t)point * term->width;
    out->coefficient = term->coefficient + (size_t)point * term->width;
    combine(out, x, p);
}

/* Leaves of d its component along the term's direction; nothing where a distance has been made. */
static void project(const pl_loss_term *term, row *r)
{
    double along = pl_dot3(term->along, r->d);
    bool passed = term->source == PL_TARGET_AHEAD && along > 0;
    for (int i = 0; i < 3; i++) {
        r->normal[i] = passed ? 0 : term->along[i];
        r->d[i] = r->normal[i] * along;
    }
}

static void fixed_row(const pl_loss_term *term, int point, const double *x, const double *target,
                      row *out)
{
    double p[3];
    stencil_row(term, point, x, out, p);
    pl_sub3(p, target, out->d);
    if (pl_term_width(term) == 1)
        project(term, out);
}

/* The rigid motion that takes points X nearest to x, in the sense of least squares: R (X - from) + to.
 */
typedef struct rigid {
    double R[9], from[3], to[3];
} rigid;

static rigid nearest_rigid(const pl_loss_term *term, const double *target, const double *x)
{
    rigid m = {0};
    double a[9] = {0}, share = 1.0 / term->point_count;
    for (int j = 0; j < term->point_count; j++) {
        pl_axpy3(share, target + 3 * (size_t)j, m.from);
        pl_axpy3(share, x + 3 * (size_t)term->vertex[j], m.to);
    }
    for (int j = 0; j < term->point_count; j++) {
        double there[3], here[3];
        pl_sub3(target + 3 * (size_t)j, m.from, there);
        pl_sub3(x + 3 * (size_t)term->vertex[j], m.to, here);
        for (int k = 0; k < 9; k++)
            a[k] += here[k / 3] * there[k % 3];
    }
    pl_polar3(a, m.R);
    return m;
}

static void shape_row(const pl_loss_term *term, int point, const double *x, const double *target,
                      const rigid *motion, row *out)
{
    double p[3], from[3], moved[3];
    stencil_row(term, point, x, out, p);
    pl_sub3(target, motion->from, from);
    for (int i = 0; i < 3; i++)
        moved[i] = motion->to[i] + pl_dot3(motion->R + 3 * i, from);
    pl_sub3(p, moved, out->d);
}

static void cloud_row(const pl_loss_term *term, const pl_bvh *bvh, const double *x,
                      const double *target, row *out)
{
    pl_bvh_hit hit;
    pl_bvh_closest(bvh, target, INFINITY, &hit);
    const int *t = term->triangles + 3 * (size_t)hit.triangle;
    memcpy(out->corner, t, sizeof out->corner);
    memcpy(out->weight, hit.weight, sizeof out->weight);
    out->width = 3;
    out->vertex = out->corner;
    out->coefficient = out->weight;
    pl_sub3(hit.point, target, out->d);
    double length = pl_norm3(out->d);
    if (length > 1e-12) {
        for (int i = 0; i < 3; i++)
            out->normal[i] = out->d[i] / length;
    } else {
        double a[3], b[3];
        pl_sub3(x + 3 * (size_t)t[1], x + 3 * (size_t)t[0], a);
        pl_sub3(x + 3 * (size_t)t[2], x + 3 * (size_t)t[0], b);
        pl_cross3(a, b, out->normal);
        length = pl_norm3(out->normal);
        for (int i = 0; i < 3; i++)
            out->normal[i] = length > 0 ? out->normal[i] / length : 0;
    }
}

/* Calls visit for every row of a term, of every term at a step. residual is the row's first. */
typedef void (*row_fn)(void *user, const pl_loss_term *term, const row *r, int residual);

static pl_status term_rows(const pl_task *task, const pl_loss_term *term, int step, const double *q,
                           const double *v, row_fn visit, void *user)
{
    const double *x = term->kind == PL_TERM_VELOCITIES ? v : q;
    bool cloud = term->kind == PL_TERM_CLOUD, shape = term->kind == PL_TERM_SHAPE;
    int i = find_step(term, step);
    pl_bvh *bvh = NULL;
    rigid motion;
    if (i < 0)
        return PL_OK;
    if (shape)
        motion = nearest_rigid(term, term->target + 3 * (size_t)term->first[i], x);
    if (cloud)
        PL_TRY(pl_bvh_create(task->ctx, task->scene->vertex_count, x, term->triangle_count,
                             term->triangles, &bvh));
    for (int j = term->first[i]; j < term->first[i + 1]; j++) {
        row r;
        if (cloud)
            cloud_row(term, bvh, x, term->target + 3 * (size_t)j, &r);
        else if (shape)
            shape_row(term, j - term->first[i], x, term->target + 3 * (size_t)j, &motion, &r);
        else
            fixed_row(term, j - term->first[i], x, term->target + 3 * (size_t)j, &r);
        visit(user, term, &r, term->first_residual + pl_term_width(term) * j);
    }
    pl_bvh_destroy(task->ctx, bvh);
    return PL_OK;
}

static pl_status each_row(const pl_task *task, int step, const double *q, const double *v, row_fn visit,
                          void *user)
{
    for (int k = 0; k < task->term_count; k++)
        PL_TRY(term_rows(task, &task->terms[k], step, q, v, visit, user));
    return PL_OK;
}

/* ------------------------------------------------------------------------------- points */

static void write_point(void *user, const pl_loss_term *term, const row *r, int residual)
{
    size_t j = (size_t)((residual - term->first_residual) / pl_term_width(term));
    const double *target = term->target + 3 * j;
    double *out = (double *)user + 3 * j;
    for (int i = 0; i < 3; i++)
        out[i] = target[i] + r->d[i];
}

pl_status pl_term_points_at(const pl_task *task, const pl_loss_term *term, int step, const double *q,
                            const double *v, double *points)
{
    return term_rows(task, term, step, q, v, write_point, points);
}

/* ------------------------------------------------------------------------------- value and gradient */

typedef struct sums {
    double value;
    double *dq, *dv;
} sums;

static void add_row(void *user, const pl_loss_term *term, const row *r, int residual)
{
    (void)residual;
    sums *s = user;
    double scale = pl_term_scale(term), *dx = term->kind == PL_TERM_VELOCITIES ? s->dv : s->dq;
    s->value += scale * scale * pl_dot3(r->d, r->d);
    if (dx)
        for (int k = 0; k < r->width; k++)
            pl_axpy3(2 * scale * scale * r->coefficient[k], r->d, dx + 3 * (size_t)r->vertex[k]);
}

pl_status pl_task_loss_at(const pl_task *task, int step, const double *q, const double *v,
                          double *value, double *dq, double *dv)
{
    sums s = {0, dq, dv};
    PL_TRY(each_row(task, step, q, v, add_row, &s));
    *value += s.value;
    return PL_OK;
}

/* ------------------------------------------------------------------------------- residuals */

static void write_residual(void *user, const pl_loss_term *term, const row *r, int residual)
{
    double *out = (double *)user + residual, scale = pl_term_scale(term);
    if (pl_term_width(term) == 1)
        *out = scale * pl_dot3(r->normal, r->d);
    else
        for (int i = 0; i < 3; i++)
            out[i] = scale * r->d[i];
}

pl_status pl_task_residual_at(const pl_task *task, int step, const double *q, const double *v,
                              double *r)
{
    return each_row(task, step, q, v, write_residual, r);
}

typedef struct motion {
    const double *dq, *dv;
    double *dr;
} motion;

static void write_derivative(void *user, const pl_loss_term *term, const row *r, int residual)
{
    const motion *m = user;
    double *out = m->dr + residual, scale = pl_term_scale(term), dp[3];
    combine(r, term->kind == PL_TERM_VELOCITIES ? m->dv : m->dq, dp);
    if (pl_term_width(term) == 1)
        *out = scale * pl_dot3(r->normal, dp);
    else
        for (int i = 0; i < 3; i++)
            out[i] = scale * dp[i];
}

pl_status pl_task_residual_along(const pl_task *task, int step, const double *q, const double *v,
                                 const double *dq, const double *dv, double *dr)
{
    motion m = {dq, dv, dr};
    return each_row(task, step, q, v, write_derivative, &m);
}

void pl_task_regularise(const pl_task *task, const double *x, double *r, double *jacobian)
{
    size_t m = (size_t)task->residual_count, at = (size_t)task->data_residual_count;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        double prior = sqrt(u->prior), smooth = sqrt(u->smooth);
        for (int i = u->first; u->prior > 0 && i < u->first + u->count; i++, at++) {
            r[at] = prior * (x[i] - task->initial[i]);
            if (jacobian)
                jacobian[(size_t)i * m + at] = prior;
        }
        for (int i = u->first; u->smooth > 0 && i < u->first + u->count - 1; i++, at++) {
            r[at] = smooth * (x[i + 1] - x[i]);
            if (jacobian) {
                jacobian[(size_t)i * m + at] = -smooth;
                jacobian[(size_t)(i + 1) * m + at] = smooth;
            }
        }
    }
}
