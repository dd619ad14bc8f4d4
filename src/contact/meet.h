/*
 * Contacts between bodies: which meetings (meeting.h) of their surfaces a substep has to reckon with.
 * Candidates come from trees of boxes around the paths of triangles and of edges (of two edges one is
 * sharp, or faces tell it all); those stay that hold at the start of the substep and are no further
 * apart than what they may move.
 */
#ifndef PL_CONTACT_MEET_H
#define PL_CONTACT_MEET_H

#include "contact/boxes.h"
#include "contact/contact.h"

/* Who may meet, and how. */
typedef struct pl_meet_rules {
    const pl_surface *surface; /* NULL: nobody meets */
    int body_count;
    const int *body_of;     /* [n] */
    const double *offset;   /* [body_count] what each body adds to how far surfaces are kept apart, m */
    const double *friction; /* [body_count, body_count] of a pair where the row is the smaller */
} pl_meet_rules;

/* One worker's search. */
typedef struct pl_meet_search {
    pl_boxes *triangles, *edges; /* [body_count] */
    int body_count;
    int count, capacity;
    pl_meeting *found; /* [count] sorted, none twice */
} pl_meet_search;

pl_status pl_meet_search_create(pl_context *ctx, const pl_meet_rules *rules, const double *x,
                                pl_meet_search *out);
void pl_meet_search_free(pl_context *ctx, pl_meet_search *s);

/* s->found for motions from q0 to about q, [n, 3] each: surfaces within `margin` of touching. */
pl_status pl_meet_find(pl_context *ctx, pl_meet_search *s, const pl_meet_rules *rules, const double *q0,
                       const double *q, double margin);

/* One more contact of the set, at q0 [n, 3], with no force. It comes after those with colliders. */
pl_status pl_meet_add(pl_context *ctx, const pl_meet_rules *rules, const pl_meeting *meeting,
                      const double *q0, pl_contact_set *set);
/* Its geometry. */
pl_meeting_place pl_meet_place(const pl_meet_rules *rules, const pl_meeting *meeting, const double *q0);
/* The row of the pair in the table of friction. */
int pl_meet_pair(const pl_meet_rules *rules, const pl_meeting *meeting);
/* Ascending: by kind, then vertices. */
int pl_meeting_order(const pl_meeting *a, const pl_meeting *b);

#endif
