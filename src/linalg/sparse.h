/*
 * Symmetric sparse matrices over vertices. One pattern (both triangles, sorted columns) serves the
 * tangent, whose entries are 3x3 blocks [nnz, 9], and the constant matrix A, whose entries are scalars.
 */
#ifndef PL_SPARSE_H
#define PL_SPARSE_H

#include "core/core.h"

typedef struct pl_pattern {
    int n;                            /* rows */
    int nnz;                          /* entries, both triangles */
    int *row;                         /* [n + 1] */
    int *col;                         /* [nnz], ascending in each row */
    int *diag;                        /* [n] where each row's diagonal entry is */
    const struct pl_backend *backend; /* what multiplies, */
    int thread_blocks;                /* from so many entries on by threads */
} pl_pattern;

/* The pattern in which every two vertices of one stencil meet. stencils [count, width], entries < 0
 * are skipped; several lists are given one after another. Diagonals are always there. */
typedef struct pl_stencils {
    int count, width;
    const int *index; /* [count, width] */
} pl_stencils;

pl_status pl_pattern_create(pl_context *ctx, int n, int list_count, const pl_stencils *lists,
                            pl_pattern *out);
void pl_pattern_free(pl_context *ctx, pl_pattern *pattern);
/* Entry (i, j), or -1. */
int pl_pattern_find(const pl_pattern *pattern, int i, int j);

/* part_of [n]: the least vertex that entries lead to from each, by any number of them. */
void pl_pattern_parts(const pl_pattern *pattern, int *part_of);

/* y = B x for blocks [nnz, 9], x and y [n, 3]. */
void pl_bsr_multiply(int threads, const pl_pattern *pattern, const double *blocks, const double *x,
                     double *y);

#endif
