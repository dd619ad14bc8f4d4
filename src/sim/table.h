/* A value over time, owned: linear between rows, held outside. */
#ifndef PL_SIM_TABLE_H
#define PL_SIM_TABLE_H

#include "core/core.h"

typedef struct pl_curve {
    int count, width;
    double *time;  /* [count] */
    double *value; /* [count, width] */
} pl_curve;

/* A copy of `table`, or one row of `constant` [width] when the table is empty. `what` names the field
 * in messages. */
pl_status pl_curve_create(pl_context *ctx, const char *what, const pl_table *table, int width,
                          const double *constant, pl_curve *out);
/* Refuses rows that are not lower <= value < upper, of one with width 1. */
pl_status pl_curve_check(pl_context *ctx, const char *what, double lower, double upper,
                         const pl_curve *curve);
/* Its rows, or none where it is constant; they are the curve's. */
pl_table pl_curve_rows(const pl_curve *curve);
void pl_curve_free(pl_context *ctx, pl_curve *curve);
void pl_curve_at(const pl_curve *curve, double time, double *out); /* [width] */
/* For poses: takes the sign of each quaternion that is nearer to the row before, so that what lies
 * between two rows is never zero. */
void pl_curve_align_poses(pl_curve *curve);
/* The same for poses (position and quaternion): the quaternion is normalised after interpolation. */
void pl_curve_pose_at(const pl_curve *curve, double time, double out[7]);

#endif
