/*
 * Contacts of bodies with each other and themselves: which meetings (meeting.h) of their surfaces a
 * substep has to reckon with.
 * Candidates come from trees of boxes around the paths of triangles and of edges (of two edges one is
 * sharp, or faces tell it all); those stay that hold at the start of the substep and are no further
 * apart than what they may move against each other.
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
    const bool *touches;    /* [body_count, body_count] symmetric */
    const double *offset;   /* [body_count] what each body adds to how far surfaces are kept apart, m */
    const double *friction; /* [body_count, body_count] of a pair where the row is not the larger */
} pl_meet_rules;

/* One worker's search. */
typedef struct pl_meet_search {
    pl_boxes *triangles, *edges; /* [body_count] */
    pl_box *around;              /* [body_count] */
    bool *fitted;                /* [body_count] whether its trees are, to where the vertices go now */
    double *own;                 /* [n, 3] where they go as the mean of their body sees it */
    int body_count;
    int count, capacity;
    pl_meeting *found; /* [count] sorted, none twice */
} pl_meet_search;

/* Of n vertices, with trees for where they are at x [n, 3]. */
pl_status pl_meet_search_create(pl_context *ctx, const pl_meet_rules *rules, int n, const double *x,
                                pl_meet_search *out);
void pl_meet_search_free(pl_context *ctx, pl_meet_search *s);

/* s->found for motions from q0 to about q, [n, 3] each: surfaces within `margin` of touching. */
pl_status pl_meet_find(pl_context *ctx, pl_meet_search *s, const pl_meet_rules *rules, const double *q0,
                       const double *q, double margin);

/* Of a vertex and a triangle: with whichever piece of the triangle is nearest at q0 [n, 3]; *behind
 * when that is its face, seen from the inside of a solid. */
pl_meeting pl_meet_nearest(const pl_meet_rules *rules, int vertex, int triangle, const double *q0,
                           bool *behind);
/* Of two edges. */
pl_meeting pl_meet_edges(const pl_surface *surface, int a, int b);
/* Adds to s->found; pl_meet_sort puts them in order, none twice. */
pl_status pl_meet_note(pl_context *ctx, pl_meet_search *s, const pl_meeting *m);
void pl_meet_sort(pl_meet_search *s);

/* Whether two pieces have vertices in common: they hang together, and cannot meet. */
bool pl_meet_hang_together(int a_count, const int *a, int b_count, const int *b);
/* Boxes around all bodies on their paths from q0 to q [n, 3], `wide` more on every side. */
void pl_meet_surround(pl_meet_search *s, const pl_surface *surface, const double *q0, const double *q,
                      double wide);
/* Trees of one body around its paths, unless they are; those of edges where they are asked for. */
void pl_meet_fit(pl_meet_search *s, int b, const double *q0, const double *q, double wide, bool edges);
/* s->own: q less the mean motion from q0 of body b's surface. Trees are to be fitted anew. */
void pl_meet_from_within(pl_meet_search *s, const pl_surface *surface, int b, const double *q0,
                         const double *q);

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
