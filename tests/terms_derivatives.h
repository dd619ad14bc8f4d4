/* What every energy owes its users: forces that are its derivative, a tangent that is theirs, products
 * with it, balance, and a clamped tangent without negative eigenvalues. */
#ifndef PL_TEST_TERMS_DERIVATIVES_H
#define PL_TEST_TERMS_DERIVATIVES_H

#include "sim_substep.h"

#include "core/vec.h"
#include "terms/term.h"

#include <stdlib.h>

/* A substep of a started world at a time, s, with the scene's own inputs. */
static inline pl_substep term_substep(test_world *w, double time)
{
    assert_ok(w->ctx, pl_drive_resolve(w->scene, time, NULL, &w->sim->drive));
    return world_substep(w);
}

/* Its start, every coordinate moved by up to `amount` m. */
static inline double *term_shaken(const test_world *w, double amount, uint64_t seed)
{
    double *q = malloc(sizeof *q * 3 * (size_t)w->n);
    for (int i = 0; i < 3 * w->n; i++)
        q[i] = w->state->q[i] + amount * test_random(&seed);
    return q;
}

/* The tangent as a dense matrix [3n, 3n], the caller's. */
static inline double *term_matrix(const pl_term *term, const pl_substep *s, const double *q, bool clamp)
{
    const pl_pattern *p = s->pattern;
    size_t n = 3 * (size_t)p->n;
    double *blocks = calloc(9 * (size_t)p->nnz, sizeof *blocks), *a = calloc(n * n, sizeof *a);
    term->tangent(s, q, clamp, 1, blocks);
    for (int i = 0; i < p->n; i++)
        for (int at = p->row[i]; at < p->row[i + 1]; at++)
            for (int k = 0; k < 9; k++)
                a[(3 * (size_t)i + (size_t)(k / 3)) * n + 3 * (size_t)p->col[at] + (size_t)(k % 3)] =
                    blocks[9 * (size_t)at + (size_t)k];
    free(blocks);
    return a;
}

/* Whether Cholesky finds no pivot of A + 1e-12 |A| I below 0. */
static inline bool term_positive(const double *matrix, int n)
{
    double *a = malloc(sizeof *a * (size_t)n * (size_t)n), most = 0;
    bool positive = true;
    for (int i = 0; i < n * n; i++)
        most = fmax(most, fabs(a[i] = matrix[i]));
    for (int j = 0; j < n && positive; j++) {
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j] + (i == j ? 1e-12 * most : 0);
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j)
                positive = sum > 0;
            a[i * n + j] = i == j ? sqrt(fmax(sum, 0)) : sum / a[j * n + j];
        }
    }
    free(a);
    return positive;
}

typedef struct term_errors {
    double force, tangent, multiply, asymmetry; /* relative, of the best step of the differences */
    double net_force, net_torque;               /* over the sums of absolute values */
} term_errors;

static inline void term_balance(int n, const double *q, const double *g, term_errors *out)
{
    double sum[3] = {0}, turn[3] = {0}, all = 0, turns = 0, t[3];
    for (int i = 0; i < n; i++) {
        pl_axpy3(1, g + 3 * i, sum);
        pl_cross3(q + 3 * i, g + 3 * i, t);
        pl_axpy3(1, t, turn);
        all += pl_norm3(g + 3 * i);
        turns += pl_norm3(t);
    }
    out->net_force = pl_norm3(sum) / all;
    out->net_torque = pl_norm3(turn) / turns;
}

static inline double term_difference(int count, const double *a, const double *b)
{
    double apart = 0, size = 0;
    for (int i = 0; i < count; i++) {
        apart = fmax(apart, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return apart / size;
}

/* At q, along a random direction, over a sweep of steps of 1e-3 to 1e-6 times `size` m. */
static inline term_errors term_compare(const pl_term *term, const pl_substep *s, const double *q,
                                       double size)
{
    int n = s->scene->vertex_count;
    size_t bytes = sizeof(double) * 3 * (size_t)n;
    double *g = calloc(1, bytes), *low = malloc(bytes), *high = malloc(bytes), *x = malloc(bytes),
           *d = malloc(bytes), *product = calloc(1, bytes), *dense = calloc(1, bytes);
    term_errors e = {.force = INFINITY, .tangent = INFINITY};
    uint64_t seed = 7;
    double along = 0;
    term->energy(s, q, 1, g);
    for (int i = 0; i < 3 * n; i++) {
        d[i] = test_random(&seed);
        along += g[i] * d[i];
    }
    term->multiply(s, q, d, 1, product);
    double *matrix = term_matrix(term, s, q, false);
    for (int i = 0; i < 3 * n; i++)
        for (int k = 0; k < 3 * n; k++) {
            dense[i] += matrix[i * 3 * n + k] * d[k];
            e.asymmetry = fmax(e.asymmetry, fabs(matrix[i * 3 * n + k] - matrix[k * 3 * n + i]));
        }
    e.multiply = term_difference(3 * n, product, dense);
    term_balance(n, q, g, &e);
    for (double step = 1e-3 * size; step > 0.5e-6 * size; step /= 10) {
        double energy[2];
        for (int side = 0; side < 2; side++) {
            double *out = side ? high : low;
            memset(out, 0, bytes);
            for (int i = 0; i < 3 * n; i++)
                x[i] = q[i] + (side ? step : -step) * d[i];
            energy[side] = term->energy(s, x, 1, out);
        }
        for (int i = 0; i < 3 * n; i++)
            high[i] = (high[i] - low[i]) / (2 * step);
        e.force = fmin(e.force, fabs((energy[1] - energy[0]) / (2 * step) / along - 1));
        e.tangent = fmin(e.tangent, term_difference(3 * n, product, high));
    }
    void *all[] = {g, low, high, x, d, product, dense, matrix};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    return e;
}

#endif
