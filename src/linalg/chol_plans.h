/*
 * The plans of one pattern's factors that were asked for last: whoever comes back to an order of
 * elimination, or wants one that another already has, does not analyse again. Threads may share it.
 */
#ifndef PL_CHOL_PLANS_H
#define PL_CHOL_PLANS_H

#include "linalg/chol.h"

typedef struct pl_chol_plans pl_chol_plans;

/* Belongs to whoever owns the pattern, which must live as long as any of the plans, and as the
 * contexts' allocators. */
pl_status pl_chol_plans_create(pl_context *ctx, const pl_pattern *pattern, pl_chol_plans **out);
void pl_chol_plans_destroy(pl_chol_plans *plans);

/* The plan for these entries and vertices eliminated last, in this order (pl_chol_plan_create); a
 * reference for the caller to release. It is the same whether it was there or is made, in `ctx`. */
pl_status pl_chol_plans_get(pl_chol_plans *plans, pl_context *ctx, int block, int last_count,
                            const int *last, pl_chol_plan **out);

#endif
