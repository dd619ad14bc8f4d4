/*
 * Edges and faces of bodies at the ridges of colliders (ridge.h), between their vertices: meetings
 * (meeting.h) with one side that is rigid. With X the ends of the ridge,
 *
 *     rho = sum_k beta_k q_k + sum_c beta_c X_c,    gap = n . rho - radius
 *
 * Frozen at the start of the substep: beta, n and the distance, of the body at q0 and the collider at
 * pose_start. The ridge itself goes with the pose, by u_c = X_c(pose_end) - X_c(pose_start), which is
 * known: it enters as part of the gap and of the drift.
 *
 *     delta_n = n . (rho + sum beta_k u_k + sum beta_c u_c) - radius
 *     delta_f = T^T (sum beta_k u_k + sum beta_c u_c)
 *
 * Only where the nearest points are inside both pieces: what is at the ends of an edge is its vertices'
 * business. At a sharp ridge n is across the edge and the ridge, or across the face, and points out of
 * the collider, so that a distance of 1e-12 m does not matter to it.
 */
#ifndef PL_CONTACT_BRUSH_H
#define PL_CONTACT_BRUSH_H

#include "contact/contact.h"

/* One in its four places: which of them are the body's, which the ridge's ends. */
typedef struct pl_brush_place {
    pl_meeting meeting; /* of places 0 to 3 */
    pl_meeting_place at;
    int body, body_count, rigid, rigid_count; /* the first place of each and how many */
    double x[12];                             /* [4, 3] where they are at the start */
    double u[12];                             /* [4, 3] how far the ridge's go */
} pl_brush_place;

/* One worker's search. */
typedef struct pl_brush_search {
    const pl_surface *surface; /* of the bodies; NULL: no collider has ridges */
    double *start, *end;       /* [n, 3] as the collider sees them */
    int count, capacity;
    pl_brush *found; /* [count] sorted, none twice */
} pl_brush_search;

pl_status pl_brush_search_create(pl_context *ctx, const pl_surface *surface, int n,
                                 pl_brush_search *out);
void pl_brush_search_free(pl_context *ctx, pl_brush_search *s);

/* s->found for motions from q0 to about q, [n, 3] each: what is within `margin` of touching at q0, or
 * would be at q. */
pl_status pl_brush_find(pl_context *ctx, pl_brush_search *s, const pl_obstacles *obstacles,
                        const double *q0, const double *q, double margin);

pl_brush_place pl_brush_place_of(const pl_obstacles *obstacles, const pl_brush *brush,
                                 const double *q0);
/* One more contact of the set, at q0 [n, 3], with no force. It comes after those of vertices. */
pl_status pl_brush_add(pl_context *ctx, const pl_obstacles *obstacles, const pl_brush *brush,
                       const double *q0, pl_contact_set *set);
/* How many vertices of the body it has. */
int pl_brush_count(pl_meeting_kind kind);
/* As the public interface tells a contact; all but its kind, which the ridge tells. */
pl_brush pl_brush_like(const pl_contact *contact);
/* Ascending: by collider, vertices, ridge. */
int pl_brush_order(const pl_brush *a, const pl_brush *b);

/* A vertex of an edge or a face that passes through a ridge on its way from q0 to q, or ends in one it
 * is no contact with, and the collider; or -1. */
pl_status pl_brush_pierce(pl_brush_search *s, const pl_obstacles *obstacles, const pl_contact_set *set,
                          const double *q0, const double *q, double margin, int *vertex, int *collider);

#endif
