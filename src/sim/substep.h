/*
 * The problem of one implicit step: constant while it is solved, and what its derivatives are taken of.
 *
 *     r(q, lambda) = (M + hC)(q - p) - h M w - h^2 F(q) - h^2 H^T lambda = 0
 *     law(H q, lambda) = 0
 *
 * F are the forces of all terms (terms/term.h), elastic ones included.
 */
#ifndef PL_SUBSTEP_H
#define PL_SUBSTEP_H

#include "contact/meet.h"
#include "sim/integrator.h"
#include "sim/matter.h"

/* What drives a step, resolved: every array is filled. */
typedef struct pl_drive {
    double *of[PL_CHANNEL_COUNT]; /* [rows, width] of inputs */
} pl_drive;

/* From (q0, v0); a time step is one of these, or several when split. */
typedef struct pl_substep {
    const pl_scene *scene;
    const pl_pattern *pattern; /* the model's, */
    const pl_surface *surface; /* and where bodies can meet, NULL if they do not, */
    const double *offset;      /* [body_count] and how far they are kept apart */
    pl_matter *matter;         /* its scratch is whoever's turn it is */
    int step;                  /* the time step it is part of, from 0; messages count from 1 */
    double from, to;           /* which part, as fractions of it */
    const pl_scheme *scheme;
    double length;              /* s, */
    double h;                   /* s, of the scheme */
    const double *q0, *v0;      /* [n, 3] */
    const double *q1, *v1;      /* [n, 3] the state before, of a scheme that looks back at it */
    const double *p, *w;        /* [n, 3] what the scheme makes of these and earlier ones */
    const pl_drive *drive;      /* at the end of the substep */
    pl_collider *const *shapes; /* [collider_count] */
    const double *pose_start;   /* [collider_count, 7] */
    const double *live;         /* forces of the live rows (rows/rows.h), as the solver has them */
} pl_substep;

#endif
