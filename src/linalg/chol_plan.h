/* What a plan of sparse Cholesky factors (chol.h) holds. */
#ifndef PL_CHOL_PLAN_H
#define PL_CHOL_PLAN_H

#include "linalg/chol.h"
#include "linalg/inverse.h"
#include "linalg/multifrontal_plan.h"

#include <cholmod.h>
#include <stdatomic.h>

struct pl_chol_plan {
    atomic_int references;
    pl_context memory; /* a copy of the context it was made in: whose allocator frees it */
    const pl_pattern *pattern;
    int block;
    int last_count;
    int *last;                         /* [last_count] vertices eliminated last */
    double factor_flops;               /* CHOLMOD's count, */
    double factor_entries;             /* and the nonzeros of L */
    cholmod_sparse *lower;             /* lower triangle, scalar CSC, without values */
    cholmod_factor *symbolic;          /* to be copied, then factored in place */
    pl_supernodes supernodes;          /* of blocks of 3, */
    pl_triangular_plan triangular;     /* how their factor in single precision is stored and read, */
    pl_multifrontal_plan multifrontal; /* made, */
    pl_inverse_plan inverse;           /* and inverted */
};

/* Starts CHOLMOD for a worker, silent, and keeps a message of what failed. */
void pl_cholmod_start(cholmod_common *common);
pl_status pl_cholmod_failed(pl_context *ctx, const cholmod_common *common, const char *what);

#endif
