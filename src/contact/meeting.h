/*
 * Where two pieces of surface meet: a vertex and a face, an edge or a vertex, or two edges. All are one
 * formula with constants beta0 and B:
 *
 *     beta(w) = beta0 + B w,    rho = sum_k beta_k q_k,    E_i = sum_k B_ki q_k,    G = E^T E
 *     w = -G^-1 E^T sum_k beta0_k q_k, so that E^T rho = 0,    D = |rho|,    n = rho/D
 *
 * with n across E where there are two of them, on rho's side. Geometry is taken at the start of a
 * substep and kept: delta_n = n . sum beta_k q_k - offset, delta_f = T^T sum beta_k (q_k - q0_k), and
 * each vertex feels beta_k times the force: none in sum.
 *
 * The offset keeps surfaces that far apart, so that n is well defined, and goes on evenly where the
 * nearest piece changes from face to edge to face. A vertex by an edge that is no place where the
 * distance is least would block motion along the surface; its offset is less by how far it is from one:
 *
 *     offset = r - reach c min(nu, tau),    nu = max_j (-n . d_j)+,    tau = min_i |n - m_i|
 *
 * d_j: from the vertex along its own edges, unit; m_i: the normals of the edge's faces, on n's side; c:
 * how convex the edge is at rest (surface.h). Where a flat face has become slightly round n hardly
 * leans in all of the edge's region, so that nothing is blocked there, and nu, which has a kink, would
 * make the surface rough. Other meetings must be places of least distance to count. Not so where a body
 * folds: its parts come nearer all the way to the fold, and nothing else would keep them apart. There
 * the reach is 0, which takes every meeting for one.
 */
#ifndef PL_CONTACT_MEETING_H
#define PL_CONTACT_MEETING_H

#include "contact/surface.h"

typedef enum pl_meeting_kind {
    PL_MEETING_FACE,   /* a vertex, and the three of a face */
    PL_MEETING_EDGE,   /* a vertex, and the two of an edge */
    PL_MEETING_VERTEX, /* two vertices */
    PL_MEETING_EDGES,  /* the two vertices of one edge, and of another */
} pl_meeting_kind;

typedef struct pl_meeting {
    pl_meeting_kind kind;
    int vertex[4]; /* as many as it has, then -1 */
    int edge;      /* of the surface, with PL_MEETING_EDGE, or -1 */
} pl_meeting;

typedef struct pl_meeting_place {
    int count;         /* vertices */
    double weight[4];  /* beta */
    double normal[3];  /* n */
    double distance;   /* D, m */
    double offset;     /* m */
    double reach;      /* m; 0: any place will do, least or not */
    double set_back;   /* m, by nu or tau */
    int free;          /* columns of B and E */
    double across[6];  /* E, by columns */
    double inverse[4]; /* G^-1 */
    int aside;         /* the vertex d_j leads to, or that m_i's face has besides the edge; or -1 */
    bool by_face;      /* it is m_i that counts, */
    double toward[3];  /* m_i or d_j, */
    double length;     /* and tau, or how far away vertex j is */
} pl_meeting_place;

int pl_meeting_count(pl_meeting_kind kind);

/* At q [n, 3], for the offset r and reach. */
void pl_meeting_find(const pl_surface *surface, const pl_meeting *meeting, double r, double reach,
                     const double *q, pl_meeting_place *out);
/* Whether its pieces hang together by one vertex in between. */
bool pl_meeting_hinges(const pl_surface *surface, const pl_meeting *meeting);
/* Of a piece's size: so much beyond its border is still its own, and edges and vertices begin only
 * where the way to them leans away from all that hangs together there. What lies exactly above a
 * border, as where boxes are laid on each other corner by corner, thus meets the face: its normal does
 * not turn as things shift, and the edge's or the vertex', which would, acts on neither side of the
 * border. */
#define PL_MEETING_BORDER 1e-8

/* Whether it is one: the nearest points are inside their pieces, and not of others beside them. */
bool pl_meeting_holds(const pl_surface *surface, const pl_meeting *meeting,
                      const pl_meeting_place *place, const double *q);

/* Whether two edges are too nearly parallel to have a normal. */
bool pl_meeting_parallel(const pl_meeting_place *place);

/* dq [n, 3] += what the cotangents of n, beta and of the offset are at q. */
void pl_meeting_vjp(const pl_meeting *meeting, const pl_meeting_place *place, const double *q,
                    const double by_normal[3], const double by_weight[4], double by_offset, double *dq);
/* How n, beta and the offset change along dq [n, 3]. */
void pl_meeting_jvp(const pl_meeting *meeting, const pl_meeting_place *place, const double *q,
                    const double *dq, double d_normal[3], double d_weight[4], double *d_offset);

#endif
