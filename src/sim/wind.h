/*
 * Wind on the triangles of a surface. With A = (x1-x0) x (x2-x0), a = A/|A|, r = w - mean(v), each
 * vertex of a triangle feels
 *
 *     f = drag/6 (a . r) A
 */
#ifndef PL_WIND_H
#define PL_WIND_H

#include "sim/scene.h"

/* f [n, 3] += the force of wind w at positions q and velocities v. */
void pl_wind_add(const pl_wind *wind, const double w[3], const double *q, const double *v, double *f);

/* Cotangent z [n, 3] of f back to w, q and v: each gets scale times its part added; may be NULL. */
void pl_wind_vjp(const pl_wind *wind, const double w[3], const double *q, const double *v,
                 const double *z, double scale, double *dw, double *dq, double *dv);

/* df [n, 3] += scale times the change of f along (dw, dq, dv); each may be NULL. */
void pl_wind_jvp(const pl_wind *wind, const double w[3], const double *q, const double *v,
                 const double *dw, const double *dq, const double *dv, double scale, double *df);

#endif
