/*
 * The blocks of rows of one substep, three rows each, that forces lambda act through:
 *
 *     delta = offset + H (q - q0)      H x = sum_k B_k x_k over the vertices of its stencil
 *
 * and law(delta, lambda) = 0 for every block. A contact with a collider is a stencil of one vertex
 * against a frame (n, t1, t2), B = [n; t1; t2]. On a round surface (pl_collider_round) the frame is
 * where the vertex ends, on any other where it begins:
 *
 *     delta_n = phi(x), n = n(x)               or phi(x0) + n . (x - x0), n = n(x0)
 *     delta_f = T^T (x - x0 - drift)           drift: how far the collider's own point moved
 *
 * Of a round one the iterate y stands for x in frame and gap, delta_n = phi(y) + n(y) . (x - y), and is
 * followed (pl_contact_follow) until it is x.
 *
 * A contact between bodies is a stencil of up to four (meeting.h), B_k = beta_k [n; t1; t2]. So is one
 * of an edge or a face of a body with a collider (brush.h), with as many as that has.
 *
 * Blocks that are live (cables) have their rows where the iterate is, delta = offset + H (q - iterate),
 * and only the first of their three rows is not empty. They come after the contacts.
 */
#ifndef PL_CONTACT_H
#define PL_CONTACT_H

#include "contact/collider.h"
#include "contact/law.h"
#include "contact/meeting.h"

typedef struct pl_stencil_entry {
    int vertex;
    double block[9]; /* B, row-major */
} pl_stencil_entry;

/* An edge or a face of a body, and a ridge of a collider that it touches. */
typedef struct pl_brush {
    int collider;
    pl_meeting_kind kind; /* FACE: a point and a face, EDGE: a point and an edge, EDGES: two edges */
    int vertex[3];        /* of the body, as many as it has, then -1 */
    int ridge;
} pl_brush;

/* What a block of rows is (rows/rows.h). */
typedef enum pl_rows_kind {
    PL_ROWS_TOUCH, /* a vertex and a collider */
    PL_ROWS_BRUSH, /* an edge or a face, and a collider */
    PL_ROWS_MEET,  /* bodies */
    PL_ROWS_CABLE,
    PL_ROWS_KINDS
} pl_rows_kind;

typedef struct pl_contact_point {
    int first, count; /* its entries of the set */
    pl_rows_kind kind;
    bool live;
    pl_meeting meeting; /* of bodies with each other: where, */
    pl_brush brush;     /* of an edge or a face with a collider: which; */
    double weight[4];   /* how its vertices count */
    int owner, part;    /* of a live one: which, and which part of it */
    int vertex;         /* that touches; of a live one its first */
    int collider, body; /* -1: a body */
    pl_law law;
    double frame[9];     /* rows n, t1, t2 */
    double gap;          /* delta_n at x0, m; of a live one the offset */
    double distance;     /* phi(x0) of a round one, m: the same unless the frame turned */
    double drift[3];     /* m */
    double curvature[9]; /* dn/dx where the frame is */
    bool round;          /* the frame can follow its vertex, */
    bool follows;        /* and is where that is */
    double lambda[3];    /* in the frame, N: the unknown */
} pl_contact_point;

typedef struct pl_contact_set {
    int count, capacity;
    int single; /* the first so many are contacts of vertices with colliders, by vertex, then collider,
                 */
    int brushing; /* those up to here of edges and faces with colliders, */
    int touching; /* those up to here of bodies with each other, the others live */
    pl_contact_point *points;
    int entry_count, entry_capacity;
    pl_stencil_entry *entries;
    int spare_capacity;
    pl_contact_point *spare; /* scratch of detection: the next points, */
    size_t close_capacity;
    char *close; /* [n, colliders] and which pairs are close */
} pl_contact_set;

void pl_contact_set_free(pl_context *ctx, pl_contact_set *set);
/* The set empty. */
void pl_contact_set_clear(pl_contact_set *set);
/* The same blocks. */
pl_status pl_contact_set_copy(pl_context *ctx, const pl_contact_set *from, pl_contact_set *to);
/* One more block, with room for `count` entries, which the caller fills. */
pl_status pl_contact_set_add(pl_context *ctx, pl_contact_set *set, const pl_contact_point *point,
                             int count, pl_stencil_entry **entries);
/* Gives back entries of the last block that it does not need, all but the first `count`. */
void pl_contact_set_trim(pl_contact_set *set, int count);
/* Keeps the first `count` blocks. */
void pl_contact_set_cut(pl_contact_set *set, int count);
/* One more contact of a vertex, whose block is its frame. */
pl_status pl_contact_set_touch(pl_context *ctx, pl_contact_set *set, const pl_contact_point *point);

static inline const pl_stencil_entry *pl_contact_entries(const pl_contact_set *set, int c)
{
    return set->entries + set->points[c].first;
}

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

/* Of pairs that were found elsewhere: those marked [n, colliders] become the set, their forces are 0.
 */
pl_status pl_contacts_take(pl_context *ctx, const pl_obstacles *obstacles, int n, const double *q0,
                           const int *marks, pl_contact_set *set);

/* Geometry of vertex `v` against collider `c` at x0: frame, gap, drift, curvature, law.mu. */
void pl_contact_place(const pl_obstacles *obstacles, int v, int c, const double x0[3],
                      pl_contact_point *out);

/* Turns a round contact, with entry its block, into the frame that a vertex from x0 has at x, the
 * tangents by as little as need be. One that would turn by more than 60 degrees keeps the frame of x0.
 */
void pl_contact_follow(const pl_obstacles *obstacles, const double x0[3], const double x[3],
                       pl_contact_point *p, pl_stencil_entry *entry);

/* Two tangents to the normal that the frame has, chosen by that alone. */
void pl_contact_frame(double frame[9]);

/* delta of block c at displacement u = q - q0 [n, 3]; of a live one where its rows are. */
void pl_contact_delta(const pl_contact_set *set, int c, const double *u, double delta[3]);
/* The same at the point q + move, which need not be a sum that a double can hold; from arrays [n, 3].
 * Exact but for the last digits of delta (gap.c). */
void pl_contact_delta_exact(const pl_contact_set *set, int c, const double *q0, const double *q,
                            const double *move, double delta[3]);
/* Of all blocks, delta [m, 3]. */
void pl_contacts_delta_exact(const pl_context *ctx, const pl_contact_set *set, const double *q0,
                             const double *q, const double *move, double *delta);
/* The contact at displacement u as the public interface tells it, in the world; its force is `share` of
 * lambda. */
pl_contact pl_contact_tell(const pl_contact_set *set, int c, const double *u, double share);
/* out [n, 3] += s H^T f for a vector f in the block's frame. */
void pl_contact_scatter(const pl_contact_set *set, int c, double s, const double f[3], double *out);
/* out = H x in the frame, for x [n, 3]. */
void pl_contact_gather(const pl_contact_set *set, int c, const double *x, double out[3]);
/* Changes x [n, 3] by as little as possible so that H x = moved [m, 3] in every block; contacts of
 * single vertices, which need it to the last digit, have the last word. */
void pl_contacts_hold(const pl_contact_set *set, const double *moved, double *x);

#endif
