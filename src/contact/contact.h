/*
 * The contacts of one step. A contact is a stencil sum_k beta_k q_k against a frame (n, t1, t2) fixed
 * at the start of the step:
 *
 *     delta_n = phi(x0) + n . (x - x0)         x = sum beta q,  x0 = sum beta q_bar
 *     delta_f = T^T (x - x0 - drift)           drift: how far the collider's own point moved
 */
#ifndef PL_CONTACT_H
#define PL_CONTACT_H

#include "contact/collider.h"
#include "contact/law.h"

#define PL_STENCIL 4

typedef struct pl_contact_point {
    int count; /* stencil size: 1 for a vertex against a collider */
    int vertex[PL_STENCIL];
    double beta[PL_STENCIL];
    int collider, body;
    double mu;
    double frame[9];     /* rows n, t1, t2 */
    double gap;          /* phi(x0), m */
    double drift[3];     /* m */
    double curvature[9]; /* d n / d x0 */
    double lambda[3];    /* in the frame, N: the unknown */
} pl_contact_point;

typedef struct pl_contact_set {
    int count, capacity;
    pl_contact_point *points; /* by vertex, then collider */
    int spare_capacity;
    pl_contact_point *spare; /* scratch of detection: the next points, */
    size_t close_capacity;
    char *close; /* [n, colliders] and which pairs are close */
} pl_contact_set;

void pl_contact_set_free(pl_context *ctx, pl_contact_set *set);

/* What can be touched, and who by. */
typedef struct pl_obstacles {
    int count;
    pl_collider *const *shapes;          /* [count] */
    const double *pose_start, *pose_end; /* [count, 7] */
    int body_count;
    const double *friction; /* [count, body_count] */
    const int *body_of;     /* [n] */
} pl_obstacles;

/* Candidates: every vertex closer than `margin` at q0 or at the guess q [n, 3]. Their forces are 0. */
pl_status pl_contacts_detect(pl_context *ctx, const pl_obstacles *obstacles, int n, const double *q0,
                             const double *q, double margin, pl_contact_set *set);
/* The same for another q, in addition to what is in the set, whose forces stay. *added counts the new
 * ones. */
pl_status pl_contacts_add(pl_context *ctx, const pl_obstacles *obstacles, int n, const double *q0,
                          const double *q, double margin, pl_contact_set *set, int *added);

/* Geometry of vertex `v` against collider `c` at x0: frame, gap, drift, curvature, mu. */
void pl_contact_place(const pl_obstacles *obstacles, int v, int c, const double x0[3],
                      pl_contact_point *out);

/* delta = H q - d of one contact at displacement u = q - q0 [n, 3], in its frame. */
void pl_contact_delta(const pl_contact_point *p, const double *u, double delta[3]);
/* The same at the point q + move, which need not be a sum that a double can hold; from arrays [n, 3].
 * Exact but for the last digits of delta (gap.c). */
void pl_contact_delta_exact(const pl_contact_point *p, const double *q0, const double *q,
                            const double *move, double delta[3]);
/* Of all contacts, delta [m, 3]. */
void pl_contacts_delta_exact(const pl_context *ctx, const pl_contact_set *set, const double *q0,
                             const double *q, const double *move, double *delta);
/* The contact at displacement u as the public interface tells it, in the world. */
pl_contact pl_contact_tell(const pl_contact_point *p, const double *u);
/* out [n, 3] += s H^T f for a vector f in the contact's frame. */
void pl_contact_scatter(const pl_contact_point *p, double s, const double f[3], double *out);
/* x [n, 3] at the contact's vertex, so that H x = moved. */
void pl_contact_hold(const pl_contact_point *p, const double moved[3], double *x);
/* out = H x in the frame, for x [n, 3]. */
void pl_contact_gather(const pl_contact_point *p, const double *x, double out[3]);

#endif
