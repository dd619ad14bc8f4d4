/*
 * L-BFGS-B (Byrd, Lu, Nocedal, Zhu 1995). One iteration, with B the limited-memory matrix at x:
 *
 *   1. Cauchy point x_c: the first minimum of the quadratic g.(z-x) + (z-x)^T B (z-x) / 2 along the
 *      projected path P(x - t g), walked from one bound to the next.
 *   2. Subspace step: the quadratic's minimum over the variables x_c leaves free, cut at the bounds.
 *   3. Strong Wolfe line search from x towards that point, and beyond it as far as the bounds allow.
 *   4. The pair (s, y) joins the memory when s.y > 0.
 */
#include "fit/optimizer.h"

#include <lapacke.h>

typedef struct model {
    pl_compact b;
    const double *x, *g, *lower, *upper; /* [n] */
    double *cauchy;                      /* x_c [n] */
    double *path;                        /* d [n], the direction of the current piece */
    double *breaks;                      /* t [n] at which a variable meets its bound */
    int *order;                          /* [n] variables by t */
    double *c;                           /* W^T (x_c - x) [2k] */
    double *small;                       /* [8 k^2 + 16 k] */
} model;

size_t pl_lbfgsb_scratch(size_t n, size_t pairs)
{
    /* the model's arrays, the line search's, and the compact matrix with its scratch */
    return 10 * n + 2 * pairs * n + 12 * pairs * pairs + 18 * pairs;
}

/* out = M v, [2k] */
static void middle_times(const pl_compact *b, const double *v, double *out)
{
    int size = 2 * b->k;
    for (int i = 0; i < size; i++)
        out[i] = pl_dot(size, b->middle + (size_t)i * size, v);
}

/* Stable insertion by time: breakpoints are few, and ties must not depend on the platform's qsort. */
static void sort_breaks(model *m)
{
    int n = m->b.n;
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0 && m->breaks[m->order[j - 1]] > m->breaks[i]; j--)
            m->order[j] = m->order[j - 1];
        m->order[j] = i;
    }
}

static void start_path(model *m)
{
    for (int i = 0; i < m->b.n; i++) {
        double g = m->g[i], t = INFINITY;
        if (g < 0 && isfinite(m->upper[i]))
            t = (m->x[i] - m->upper[i]) / g;
        else if (g > 0 && isfinite(m->lower[i]))
            t = (m->x[i] - m->lower[i]) / g;
        m->breaks[i] = t;
        m->path[i] = t > 0 ? -g : 0;
        m->cauchy[i] = m->x[i];
    }
    sort_breaks(m);
}

static void find_cauchy_point(model *m)
{
    int n = m->b.n, size = 2 * m->b.k;
    double theta = m->b.theta;
    double *p = m->small, *mv = p + size, *row = mv + size, *mr = row + size;
    start_path(m);
    for (int j = 0; j < size; j++) {
        p[j] = pl_dot(n, m->b.w + (size_t)j * n, m->path);
        m->c[j] = 0;
    }
    middle_times(&m->b, p, mv);
    double slope = -pl_dot(n, m->path, m->path);
    double curvature = -theta * slope - pl_dot(size, p, mv);
    double step = curvature > 0 ? -slope / curvature : INFINITY, t_old = 0;

    for (int k = 0; k < n; k++) {
        int i = m->order[k];
        double t = m->breaks[i], dt = t - t_old;
        if (!(t > 0))
            continue;
        if (!isfinite(t) || step < dt || slope >= 0)
            break;
        double bound = m->path[i] > 0 ? m->upper[i] : m->lower[i], z = bound - m->x[i], g = m->g[i];
        for (int j = 0; j < size; j++) {
            m->c[j] += dt * p[j];
            row[j] = m->b.w[(size_t)j * n + i];
        }
        middle_times(&m->b, row, mr);
        slope += dt * curvature + g * g + theta * g * z - g * pl_dot(size, mr, m->c);
        curvature -= theta * g * g + 2 * g * pl_dot(size, mr, p) + g * g * pl_dot(size, mr, row);
        for (int j = 0; j < size; j++)
            p[j] += g * row[j];
        m->cauchy[i] = bound;
        m->path[i] = 0;
        step = curvature > 0 ? -slope / curvature : INFINITY;
        t_old = t;
    }
    /* With nothing left to bound the path the model has positive curvature, B being positive definite.
     */
    step = slope < 0 && isfinite(step) ? step : 0;
    double t_end = t_old + step;
    for (int i = 0; i < n; i++)
        if (m->path[i] != 0)
            m->cauchy[i] = pl_clip(m->x[i] + t_end * m->path[i], m->lower[i], m->upper[i]);
    for (int j = 0; j < size; j++)
        m->c[j] += step * p[j];
}

/* r_F = -(g + theta (x_c - x) - W M c)_F, the subspace problem's right-hand side; 0 at bounds. */
static void reduced_gradient(model *m, double *r)
{
    int n = m->b.n, size = 2 * m->b.k;
    double *mc = m->small;
    middle_times(&m->b, m->c, mc);
    for (int i = 0; i < n; i++) {
        bool is_free = m->cauchy[i] > m->lower[i] && m->cauchy[i] < m->upper[i];
        double sum = m->g[i] + m->b.theta * (m->cauchy[i] - m->x[i]);
        for (int j = 0; j < size; j++)
            sum -= m->b.w[(size_t)j * n + i] * mc[j];
        r[i] = is_free ? -sum : 0;
        m->path[i] = is_free;
    }
}

/*
 * d_F = B_FF^-1 r_F by Sherman-Morrison-Woodbury, with W_F the free rows of W:
 *     B_FF^-1 = I/theta + W_F (I - M W_F^T W_F / theta)^-1 M W_F^T / theta^2
 */
static bool solve_subspace(model *m, const double *r, double *d)
{
    int n = m->b.n, size = 2 * m->b.k;
    double theta = m->b.theta;
    double *v = m->small, *mv = v + size, *wtw = mv + size, *a = wtw + size * size;
    lapack_int *pivots = (lapack_int *)(a + size * size);
    for (int i = 0; i < n; i++)
        d[i] = r[i] / theta;
    if (size == 0)
        return true;
    for (int j = 0; j < size; j++) {
        const double *wj = m->b.w + (size_t)j * n;
        v[j] = pl_dot(n, wj, r);
        for (int l = 0; l < size; l++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += m->path[i] * wj[i] * m->b.w[(size_t)l * n + i];
            wtw[j * size + l] = sum;
        }
    }
    middle_times(&m->b, v, mv);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = 0;
            for (int l = 0; l < size; l++)
                sum += m->b.middle[i * size + l] * wtw[l * size + j];
            a[i * size + j] = (i == j) - sum / theta;
        }
    if (LAPACKE_dgesv(LAPACK_ROW_MAJOR, size, 1, a, size, pivots, mv, 1) != 0)
        return false;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < n; i++)
            d[i] += m->path[i] * m->b.w[(size_t)j * n + i] * mv[j] / (theta * theta);
    return true;
}

/* The point the line search aims at, minus x. */
static void find_direction(model *m, double *r, double *d)
{
    int n = m->b.n;
    find_cauchy_point(m);
    reduced_gradient(m, r);
    double cut = 1.0;
    if (!solve_subspace(m, r, d))
        cut = 0;
    for (int i = 0; i < n; i++) {
        if (d[i] > 0)
            cut = fmin(cut, (m->upper[i] - m->cauchy[i]) / d[i]);
        else if (d[i] < 0)
            cut = fmin(cut, (m->lower[i] - m->cauchy[i]) / d[i]);
    }
    for (int i = 0; i < n; i++)
        d[i] = m->cauchy[i] + cut * d[i] - m->x[i];
}

/* Longest t with x + t d within the bounds. */
static double longest_step(const model *m, const double *d, double max_step)
{
    double t = INFINITY;
    for (int i = 0; i < m->b.n; i++) {
        if (max_step > 0 && d[i] != 0)
            t = fmin(t, max_step / fabs(d[i]));
        if (d[i] > 0)
            t = fmin(t, (m->upper[i] - m->x[i]) / d[i]);
        else if (d[i] < 0)
            t = fmin(t, (m->lower[i] - m->x[i]) / d[i]);
    }
    return fmax(t, 0);
}

/* Appends (s, y) to the memory, dropping the oldest pair when it is full. */
static void remember(pl_optimizer *opt, const double *s, const double *y)
{
    size_t n = (size_t)opt->problem.n, all = (size_t)opt->def.pairs;
    double *steps = pl_optimizer_memory(opt, opt->work), *changes = steps + all * n;
    size_t k = (size_t)opt->work[PL_HEAD_PAIRS];
    double sy = pl_dot((int)n, s, y), yy = pl_dot((int)n, y, y);
    if (!(sy > 2.2e-16 * yy))
        return;
    if (k == all) {
        memmove(steps, steps + n, (all - 1) * n * sizeof *steps);
        memmove(changes, changes + n, (all - 1) * n * sizeof *changes);
        k--;
    }
    memcpy(steps + k * n, s, n * sizeof *s);
    memcpy(changes + k * n, y, n * sizeof *y);
    opt->work[PL_HEAD_PAIRS] = (double)(k + 1);
}

static void lay_out(pl_optimizer *opt, model *m, double **r, double **d, pl_line *line)
{
    int n = opt->problem.n, pairs = opt->def.pairs;
    double *at = opt->scratch;
    m->cauchy = at, at += n;
    m->path = at, at += n;
    m->breaks = at, at += n;
    m->order = (int *)at, at += n;
    *r = at, at += n;
    *d = at, at += n;
    line->best_x = at, at += n;
    line->best_g = at, at += n;
    line->scratch = at, at += 2 * n;
    m->c = at, at += 2 * pairs;
    m->b.w = at, at += 2 * pairs * n;
    m->b.middle = at, at += 4 * pairs * pairs;
    m->small = at;
    m->x = line->x = pl_optimizer_x(opt, opt->work);
    m->g = pl_optimizer_gradient(opt, opt->work);
    m->lower = opt->problem.lower;
    m->upper = opt->problem.upper;
}

/* A step along the model's direction with the pairs at hand; line->found says whether it succeeded. */
static pl_status search(pl_optimizer *opt, model *m, double *r, double *d, pl_line *line)
{
    int n = opt->problem.n, k = (int)opt->work[PL_HEAD_PAIRS];
    const double *steps = pl_optimizer_memory(opt, opt->work);
    const double *changes = steps + (size_t)opt->def.pairs * n;
    line->found = false;
    if (!pl_compact_build(&m->b, n, k, steps, changes, m->small))
        return PL_OK;
    /* Without curvature the gradient's length means nothing: the first trial moves by one unit. */
    if (k == 0)
        m->b.theta = sqrt(pl_dot(n, m->g, m->g));
    find_direction(m, r, d);
    line->direction = d;
    line->loss = opt->work[PL_HEAD_LOSS];
    line->slope = pl_dot(n, m->g, d);
    line->t_max = longest_step(m, d, opt->def.max_step);
    line->t_first = k > 0 ? 1.0 : 1.0 / sqrt(pl_dot(n, d, d));
    if (!(line->slope < 0) || !(line->t_max > 0))
        return PL_OK;
    return pl_line_search(opt, line);
}

pl_status pl_lbfgsb_step(pl_optimizer *opt)
{
    int n = opt->problem.n;
    model m = {0};
    pl_line line = {0};
    double *r, *d;
    lay_out(opt, &m, &r, &d, &line);
    PL_TRY(search(opt, &m, r, d, &line));
    if (!line.found && opt->work[PL_HEAD_PAIRS] > 0) {
        opt->work[PL_HEAD_PAIRS] = 0;
        PL_TRY(search(opt, &m, r, d, &line));
    }
    if (!line.found) {
        opt->work[PL_HEAD_STOP] = PL_STOP_STALLED;
        return PL_OK;
    }
    double *x = pl_optimizer_x(opt, opt->work), *g = pl_optimizer_gradient(opt, opt->work);
    for (int i = 0; i < n; i++) {
        r[i] = line.best_x[i] - x[i];
        d[i] = line.best_g[i] - g[i];
    }
    remember(opt, r, d);
    memcpy(x, line.best_x, (size_t)n * sizeof *x);
    memcpy(g, line.best_g, (size_t)n * sizeof *g);
    opt->work[PL_HEAD_LOSS] = line.best_loss;
    return PL_OK;
}
