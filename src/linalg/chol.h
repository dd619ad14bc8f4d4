/*
 * Sparse Cholesky factors (CHOLMOD) of symmetric matrices over a vertex pattern: analysed once,
 * factored as often as the values change. Entries are scalars (each solve has three columns, x, y, z,
 * so that a right-hand side is [n, 3] either way) or 3x3 blocks.
 */
#ifndef PL_CHOL_H
#define PL_CHOL_H

#include "linalg/sparse.h"

typedef struct pl_chol_plan pl_chol_plan;
typedef struct pl_chol pl_chol;

typedef struct pl_chol_cost {
    double factor_flops;
    double factor_entries; /* nonzeros of L */
    double correct_bytes;  /* that pl_chol_correct reads each way, with the factor as it is */
} pl_chol_cost;

/*
 * All that follows from the pattern, the size of its entries and the vertices eliminated last: order,
 * symbolic factor, supernodes, schedules. Constant and counted, so that any number of factors share it,
 * in whatever contexts and threads: creating one is what analyses.
 *
 * `block` is 1 or 3. The fill-reducing order is found on the vertex graph and kept for blocks, except
 * that the vertices `last` [last_count] are eliminated after all others: A^-1 between them is then that
 * of a dense trailing block (pl_chol_inverse_last). The pattern must live as long as the plan, and so
 * must what the context's allocator needs; the context itself need not.
 */
pl_status pl_chol_plan_create(pl_context *ctx, const pl_pattern *pattern, int block, int last_count,
                              const int *last, pl_chol_plan **out);
/* One more reference to the plan, which is returned, and one less. */
pl_chol_plan *pl_chol_plan_share(pl_chol_plan *plan);
void pl_chol_plan_release(pl_chol_plan *plan);

/* A factor of this plan, which it shares: the numbers and scratch of one worker. */
pl_status pl_chol_create(pl_context *ctx, pl_chol_plan *plan, pl_chol **out);
void pl_chol_destroy(pl_chol *chol);
pl_chol_cost pl_chol_get_cost(const pl_chol *chol);

/* values [nnz, block^2], blocks row-major and symmetric. PL_ERROR_NUMERIC when the matrix is not
 * positive definite: the factor is then unusable until the next success. */
pl_status pl_chol_factor(pl_chol *chol, const double *values);

/* The same for blocks of 3 in single precision, by threads, three times as fast; after it pl_chol_solve
 * is not to be asked for, and nothing else either unless it is good. */
typedef enum pl_rough {
    PL_ROUGH_GOOD,
    PL_ROUGH_POOR,       /* solves would be more than 1e-3 off: the matrix asks for more digits */
    PL_ROUGH_INDEFINITE, /* not positive definite as far as single precision can tell */
} pl_rough;
pl_rough pl_chol_factor_rough(pl_chol *chol, const double *values);

/* Whether pl_chol_correct, begin and end may read that factor in half precision, in half the time, 1e-3
 * off: for large ones, and where it was found to be good enough. They do after factoring. */
void pl_chol_use_half(pl_chol *chol, bool use);

/* x = A^-1 b, both [n, 3]; may be the same array. */
pl_status pl_chol_solve(pl_chol *chol, const double *b, double *x);

/* The same in single or half precision for blocks of 3 (double for scalars). */
pl_status pl_chol_correct(pl_chol *chol, const double *b, double *x);

/* The same in two parts, for right-hand sides that depend on the answer at few vertices, the focus:
 * begin gives x = A^-1 b there (elsewhere x is unspecified), end the whole of x = A^-1 (b + change) for
 * a change that is zero elsewhere; together little more than one solve, and no more than one where the
 * answer at the focus is `known` (or NULL) and its vertices are those eliminated last. x may be b, and
 * change or known.
 * The focus stays until the next is named or pl_chol_inverse_block asked. */
void pl_chol_focus(pl_chol *chol, int count, const int *vertices);
pl_status pl_chol_begin(pl_chol *chol, const double *b, double *x);
pl_status pl_chol_end(pl_chol *chol, const double *change, const double *known, double *x);

/* A part of A^-1, in single precision for blocks of 3, in 3x3 blocks (multiples of I for scalar
 * entries), row-major with ld columns: out[3 i + r][3 j + c] = (A^-1) at (3 rows[i] + r, 3 cols[j] +
 * c). */
pl_status pl_chol_inverse_block(pl_chol *chol, int row_count, const int *rows, int col_count,
                                const int *cols, float *out, int ld);

/* The vertices eliminated last, [*count], in the order given. */
const int *pl_chol_last(const pl_chol *chol, int *count);
/* A^-1 between them (block 3), laid out as by pl_chol_inverse_block, from the factor's trailing block
 * alone. */
pl_status pl_chol_inverse_last(pl_chol *chol, float *out, int ld);
/* What A^-1 between these vertices, strictly ascending, is the inverse of: A with the others free to
 * move (a Schur complement), laid out in the same way. False if the factor does not tell: they are not
 * those eliminated last, or not a supernode of their own, or it was made in double precision. */
bool pl_chol_schur(const pl_chol *chol, int count, const int *vertices, float *out, int ld);

#endif
