/*
 * How a contact's geometry depends on where it was set up: the start position x0 of its point, and the
 * poses of its collider at the end (1) and the start (0) of the step.
 *
 *     n = n(y; pose1),  d phi = n.(dy - dp1 - w1 x r1),     d n = kappa (dy - dp1 - w1 x r1) + w1 x n
 *     drift = Q (x0 - p0) + p1 - x0,  Q = R1 R0^T,          d t_i = -(t_i . dn) n
 *
 * dp is a translation and w a rotation vector about the collider's position; r1 = y - p1, with y = x0,
 * or y = x of a frame that follows its vertex. That then depends on x beyond H dx, as
 *
 *     d delta = C dx,  C = -(0, t1, t2)^T (n . (x - x0 - drift)) kappa
 *     d force = B dx,  B = (lambda_n - n (T lambda_f)^T) kappa
 */
#ifndef PL_CONTACT_GEOMETRY_H
#define PL_CONTACT_GEOMETRY_H

#include "contact/contact.h"

/* What a cotangent becomes: of x0 [3], and of each pose, translation then rotation [6]. */
typedef struct pl_geometry_grad {
    double x0[3], pose_end[6], pose_start[6];
} pl_geometry_grad;

/* From a = cotangent of delta (in the frame) and f = cotangent of the force H^T lambda (world vector),
 * at displacement u = x - x0 (world). The whole dependence on x0, that of u = x - x0 included. */
void pl_geometry_vjp(const pl_contact_point *p, const double pose_start[7], const double pose_end[7],
                     const double x0[3], const double u[3], const double a[3], const double f[3],
                     pl_geometry_grad *out);

/* The same forwards: changes of delta (frame) and of the force (world) along `d`, x held fixed. */
void pl_geometry_jvp(const pl_contact_point *p, const double pose_start[7], const double pose_end[7],
                     const double x0[3], const double u[3], const pl_geometry_grad *d,
                     double d_delta[3], double d_force[3]);

/* y [3] += C^T a + B^T f for cotangents a of delta and f of the force at forces lambda; nothing of a
 * frame that does not follow. */
void pl_geometry_pull_turn(const pl_contact_point *p, const double lambda[3], const double u[3],
                           const double a[3], const double f[3], double *y);
/* d_delta = C x, d_force = B x */
void pl_geometry_push_turn(const pl_contact_point *p, const double lambda[3], const double u[3],
                           const double x[3], double d_delta[3], double d_force[3]);

#endif
