/*
 * Whether surfaces pass through each other on straight paths, by conservative advancement: vertices by
 * triangles and edges by edges that may touch never come nearer than a tenth of what they are kept
 * apart by, or of what they are apart at first (additive continuous collision detection, Li, Kaufman,
 * Jiang 2021). What contacts allow at the end of a step says nothing of those that no contact was made
 * for.
 */
#ifndef PL_CONTACT_PASSAGE_H
#define PL_CONTACT_PASSAGE_H

#include "contact/meet.h"

/* A vertex of the first pair found from q0 to q [n, 3], or -1. Overwrites the boxes of the search. */
pl_status pl_passage_find(pl_meet_search *s, const pl_meet_rules *rules, const double *q0,
                          const double *q, int *vertex);

#endif
