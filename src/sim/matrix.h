/*
 * The matrix that stands for the tangent E = M + hC + h^2 d2E/dq2 in a solve: a factor of the true
 * tangent at some recent state, or of the constant matrix A. A forward solver has one, an adjoint
 * another.
 */
#ifndef PL_MATRIX_H
#define PL_MATRIX_H

#include "sim/fold.h"
#include "sim/meter.h"
#include "sim/model.h"
#include "sim/substep.h"

typedef enum pl_factor_kind { PL_FACTOR_NONE, PL_FACTOR_TANGENT, PL_FACTOR_CONSTANT } pl_factor_kind;

/* What the parts of an iteration cost relative to each other, s. */
typedef struct pl_costs {
    double factor, solve, stress, assembly, product;
} pl_costs;

typedef struct pl_matrix {
    pl_context *ctx;
    const pl_model *model;
    pl_meter *meter; /* the owner's */
    int n;
    double *diagonal;        /* [n] M + hC */
    double *tangent;         /* [nnz, 9] */
    double *own;             /* [n] of the tangent in use: the mean of a vertex' own block's diagonal */
    double *constant;        /* [nnz] A; NULL until it is asked for */
    pl_chol *tangent_factor; /* of 3x3 blocks */
    pl_chol *constant_factor; /* of scalars, three columns a solve */
    pl_fold fold;             /* springs in the factor of the tangent in use, if any */
    pl_factor_kind kind;      /* of the factor in use, */
    double h;                 /* the time step it was made for, */
    bool clamped;             /* whether the tangent was indefinite, */
    pl_costs costs;           /* and what goes with it */
    int *list;                /* [2, n] vertices */
    bool known;               /* motion at the focus is, where a solve in two parts ends; if not, */
    double *begun;            /* [n, 3] what it began with */
} pl_matrix;

pl_status pl_matrix_create(const pl_model *model, pl_meter *meter, pl_matrix *out);
void pl_matrix_free(pl_matrix *m);

/* m->diagonal for the time step h */
void pl_matrix_diagonal(pl_matrix *m, const pl_matter *matter, double h);
/* Drops the factor. */
void pl_matrix_forget(pl_matrix *m);
/* What holds a vertex in itself: the mean of its own block's diagonal, its mass where no tangent is in
 * use. */
double pl_matrix_own(const pl_matrix *m, const pl_matter *matter, int vertex);
/* Springs of the next factor, of vertices that differ; E^-1 is then (E + H^T K H)^-1. */
pl_status pl_matrix_fold(pl_matrix *m, int count, const pl_spring *springs);
/* The factor for a substep at q; of the clamped tangent when the true one is not positive definite. The
 * vertices `touched` [count], repeats allowed, are those that E^-1 will be asked for between. */
pl_status pl_matrix_refresh(pl_matrix *m, const pl_substep *sub, pl_factor_kind kind, const double *q,
                            int count, const int *touched);
/* The vertices that begin and end (below) are about, repeats allowed. `known`: end will be told how
 * they move. */
void pl_matrix_focus(pl_matrix *m, int count, const int *touched, bool known);

pl_chol *pl_matrix_factor(const pl_matrix *m);
/* x = E^-1 b, to single precision: for corrections */
pl_status pl_matrix_correct(pl_matrix *m, const double *b, double *x);
/* x = E^-1 b */
pl_status pl_matrix_solve(pl_matrix *m, const double *b, double *x);
/* The same in two parts (pl_chol_begin, pl_chol_end). */
pl_status pl_matrix_begin(pl_matrix *m, const double *b, double *x);
pl_status pl_matrix_end(pl_matrix *m, const double *change, const double *known, double *x);

#endif
