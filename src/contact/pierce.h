/*
 * Whether vertices pass through rigid obstacles in a substep, where they were no contacts, or come out
 * of an obstacle on another side than they were on, where it moved over them. Paths are straight as the
 * obstacle sees them; distances being what they are, a vertex phi away from it cannot meet it sooner
 * than phi further on.
 */
#ifndef PL_CONTACT_PIERCE_H
#define PL_CONTACT_PIERCE_H

#include "contact/contact.h"

/* A vertex that does on its way from q0 to q [n, 3] and its obstacle, or -1; `margin` is that of
 * detection, whose marks the set has. */
void pl_pierce_find(const pl_obstacles *obstacles, const pl_contact_set *set, int n, const double *q0,
                    const double *q, double margin, int *vertex, int *collider);

#endif
