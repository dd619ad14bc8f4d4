/*
 * The linear systems of the contact law's Newton steps, S x = g with S = D_lambda + D_delta W.
 *
 * Where contacts are more than the vertices they touch, or bodies are many, the vertices' motion is
 * what is solved for (condensed.h), by GMRES with an LU of an earlier S as long as that pays. Otherwise
 * those of few contacts are solved by a dense LU; of many by GMRES, as well as the Newton step
 * deserves, with an approximate inverse: the LU of an earlier S (schur.h) for as long as that is
 * cheaper than a new one, or where most rows are firm W^-1 and an LU of the others (firm.h). All that
 * is in single precision: it changes how fast Newton's method converges, never what it converges to.
 */
#ifndef PL_CONTACT_SYSTEM_H
#define PL_CONTACT_SYSTEM_H

#include "contact/condensed.h"
#include "contact/delassus.h"
#include "contact/firm.h"
#include "contact/schur.h"
#include "linalg/krylov.h"
#include "linalg/ledger.h"

/* What couples the contacts. */
typedef struct pl_coupling {
    int count;             /* m contacts */
    const pl_law *laws;    /* [m] */
    pl_delassus *delassus; /* W, and W^-1 once it pays */
} pl_coupling;

typedef struct pl_contact_system {
    int capacity;     /* contacts there is room for */
    double *jacobian; /* [3 m, 3 m] LU of S, column-major for LAPACK */
    int *pivot;       /* [3 m] of the last LU */
    pl_condensed condensed;
    pl_schur schur;   /* with many contacts: of this S, or an earlier one */
    pl_ledger ledger; /* of the LU in use, whether a new one is worth it, in iterations */
    pl_firm firm;     /* with many contacts that stick, */
    bool firm_made;   /* and for the S that is being approximated */
    pl_krylov krylov;
    float *vector, *image; /* [3 m] operands in single precision */
    float *kept;           /* [3 m] the image of an answer on its way */
    double *left, *more;   /* [3 m] what that leaves, and what is added to it */
} pl_contact_system;

pl_status pl_contact_system_reserve(pl_context *ctx, pl_contact_system *s, int m);
void pl_contact_system_free(pl_context *ctx, pl_contact_system *s);
/* Drops the LU of an earlier S. */
void pl_contact_system_forget(pl_contact_system *s);

/* For another W: to be called before the others. */
pl_status pl_contact_system_renew(pl_context *ctx, pl_contact_system *s, const pl_coupling *on);
/* y = W x, [3 m] each. */
void pl_contact_system_couple(const pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                              const double *x, double *y);
/* y [3 m]: what rows of W x add up to whatever the signs, or a bit more. */
void pl_contact_system_reach(const pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                             const double *x, double *y);

/* x = S^-1 g, [3 m] each, for the law's derivatives `linear` [m]; of many contacts to a relative
 * residual of `accuracy` or as nearly as single precision can, 0 for an LU in double precision, and
 * then `moved` [3 m] is W x. *solved is false when S is singular. */
pl_status pl_contact_system_solve(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                                  const pl_law_linear *linear, const double *g, double accuracy,
                                  double *x, double *moved, bool *solved);

/* An LU in double precision, for any number of contacts; false when S is singular. */
bool pl_contact_system_factor(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                              const pl_law_linear *linear);
/* Whether det S < 0, by it. */
bool pl_contact_system_mirrors(const pl_contact_system *s, const pl_coupling *on);
/* x = S^-1 g by it, [3 m] each. */
void pl_contact_system_apply(pl_contact_system *s, const pl_coupling *on, const double *g, double *x);

/* S column-major for LAPACK, [3 m, 3 m]. */
void pl_contact_schur(pl_context *ctx, int m, const pl_law_linear *linear, const double *w,
                      double *schur);

/* The S that pl_contact_system_approximate will be asked for; false when it is seen to be singular. */
bool pl_contact_system_prepare(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                               const pl_law_linear *linear);
/* x = S^-1 g and moved = W x, [3 m] each, of many contacts to a digit or so: for a preconditioner. */
pl_status pl_contact_system_approximate(pl_context *ctx, pl_contact_system *s, const pl_coupling *on,
                                        const pl_law_linear *linear, const double *g, double *x,
                                        double *moved);

#endif
