/*
 * LU of a matrix of dense blocks most of which are zero, in double precision.
 *
 * Unknowns come in groups (the vertices of a body), and two groups have blocks where they are tied (by
 * contacts). Groups are eliminated one after the other, in an order of least degree:
 *
 *     A_kk = P L_kk U_kk,    L_ik = A_ik U_kk^-1,    U_kj = (P L_kk)^-1 A_kj,    A_ij -= L_ik U_kj
 *
 * with row pivots within a group. So groups that nothing ties cost what each of them costs alone.
 */
#ifndef PL_BLOCK_LU_H
#define PL_BLOCK_LU_H

#include "core/core.h"

typedef struct pl_block_lu {
    int count; /* groups, */
    int total; /* and unknowns, numbered group by group as given */
    int group_capacity, tie_capacity, pivot_capacity, tallest;
    int *size;                   /* [count] unknowns of each group, */
    int *start;                  /* [count + 1] and its first; */
    int *order;                  /* [count] groups as they are eliminated, */
    int *rank;                   /* [count] and when each one is */
    int *first;                  /* [count + 1] by rank: where `later` begins */
    int *later;                  /* groups that it changes, in the order of elimination, */
    int *above;                  /* and how many of its rows below the diagonal come before each */
    int *height;                 /* [count] rows of a group below its diagonal block */
    size_t *diagonal;            /* [count] where `value` has A_kk [size, size], */
    size_t *column, *row;        /* A_ik [height, size] and A_kj [size, height], column-major each */
    size_t value_capacity, used; /* numbers */
    double *value;
    int *pivot;        /* [total] */
    double *front;     /* [tallest, tallest] what a group subtracts from later ones */
    double *gathered;  /* [tallest] */
    uint64_t *tied;    /* [count, words] bits: which groups are tied, while an order is found */
    double operations; /* of an LU */
} pl_block_lu;

void pl_block_lu_free(pl_context *ctx, pl_block_lu *b);

/* Groups of so many unknowns, size [count], none of them tied. */
pl_status pl_block_lu_begin(pl_context *ctx, pl_block_lu *b, int count, const int *size);
/* There will be blocks between these groups. */
void pl_block_lu_tie(pl_block_lu *b, int i, int j);
/* The order of elimination and room for all blocks, b->operations tells at what cost. */
pl_status pl_block_lu_plan(pl_context *ctx, pl_block_lu *b);

/* All blocks zero. */
void pl_block_lu_clear(pl_block_lu *b);
/* The block of rows of group i and columns of group j, which are tied or the same: column-major with
 * *ld rows. */
double *pl_block_lu_block(const pl_block_lu *b, int i, int j, int *ld);
/* The blocks become those of L and U, the same bits for any number of threads; false when a pivot is
 * zero. */
bool pl_block_lu_factor(const pl_context *ctx, pl_block_lu *b);
/* x [total] <- A^-1 x or A^-T x */
void pl_block_lu_solve(pl_block_lu *b, bool transposed, double *x);
/* Whether det A < 0. */
bool pl_block_lu_mirrors(const pl_block_lu *b);

#endif
