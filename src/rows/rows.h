/*
 * Rows: what acts through forces that are unknowns of their own, with a law between motion and force
 * (contact/contact.h). Each kind is one file with its geometry and the derivatives of that, and one
 * line in the table (rows.c).
 *
 * Contacts, with colliders and between bodies, are found anew in every substep, their rows frozen at
 * its start, but for those with round obstacles: their frames follow the iterate. Live ones are there
 * all the time, as many as the scene has, and their rows follow the iterate; their forces are kept by
 * number in pl_substep.live and pl_state.live.
 */
#ifndef PL_ROWS_H
#define PL_ROWS_H

#include "contact/contact.h"
#include "terms/term.h"

typedef struct pl_rows {
    const char *name;
    /* Of live ones, in a scene. */
    int (*count)(const pl_scene *scene);
    /* Adds them to a set, with laws and vertices. */
    pl_status (*add)(const pl_substep *s, pl_contact_set *set);
    /* Rows and offset (p->gap) where q is, of live ones the first of each block. */
    void (*place)(const pl_substep *s, const double *q, pl_contact_point *p, pl_stencil_entry *entries);
    /* g, dq0 += from the cotangents a [3] of delta, by_mu of the friction coefficient and h^2 z [n, 3]
     * of the force, q held fixed */
    void (*vjp)(const pl_slope *s, const pl_contact_point *p, const double a[3], double by_mu,
                const double *z, pl_gradient *g, double *dq0);
    /* The changes of delta [3], of mu, and (rhs [n, 3] += h^2) of the force along a direction */
    void (*jvp)(const pl_slope *s, const pl_contact_point *p, const pl_gradient *d, const double *dq0,
                double d_delta[3], double *d_mu, double *rhs);
    /* Of rows that follow the iterate: y [n, 3] += scale d(H^T lambda)/dq x, or the transpose */
    void (*bend)(const pl_slope *s, const pl_contact_point *p, const double *x, double scale,
                 bool transposed, double *y);
} pl_rows;

/* Whether the force of a block may come all at once, so that integrators count its impulse once. */
static inline bool pl_rows_sudden(const pl_contact_point *p)
{
    return !p->law.two_way;
}

const pl_rows *pl_rows_of(const pl_contact_point *p);

/* Live blocks of a scene. */
int pl_rows_count(const pl_scene *scene);
/* The set without them, and with them; their forces are s->live. */
pl_status pl_rows_add(const pl_substep *s, pl_contact_set *set);
/* Whether any rows follow the iterate, */
bool pl_rows_follow(const pl_contact_set *set);
/* and those where q is. */
void pl_rows_place(const pl_substep *s, const double *q, pl_contact_set *set);

#endif
