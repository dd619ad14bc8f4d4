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

/* A vertex of a pair that does so from q0 to q [n, 3], or -1. All of them that a contact can keep apart
 * are left in s->found. Overwrites the boxes of the search. */
pl_status pl_passage_find(pl_context *ctx, pl_meet_search *s, const pl_meet_rules *rules,
                          const double *q0, const double *q, int *vertex);

#endif
