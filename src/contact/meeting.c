/* The geometry of a meeting, and its derivative. */
#include "contact/meeting.h"

#include "core/vec.h"

#define PARALLEL 0.02 /* sine of the angle of edges that are too nearly parallel to have a normal, */
#define ASLANT   1e-3 /* of the distance: what faces may lean over their edges' meeting */
#define TIE      1e-9 /* the same where pieces border on each other */

typedef struct form {
    int count, free;
    double beta0[4], b[2][4]; /* columns of B */
} form;

static const form forms[] = {
    [PL_MEETING_FACE] = {4, 2, {1, -1, 0, 0}, {{0, 1, -1, 0}, {0, 1, 0, -1}}},
    [PL_MEETING_EDGE] = {3, 1, {1, -1, 0}, {{0, 1, -1}}},
    [PL_MEETING_VERTEX] = {2, 0, {1, -1}, {{0}}},
    [PL_MEETING_EDGES] = {4, 2, {1, 0, -1, 0}, {{-1, 1, 0, 0}, {0, 0, 1, -1}}},
};

int pl_meeting_count(pl_meeting_kind kind)
{
    return forms[kind].count;
}

static void combine(int count, const double *weight, const int *vertex, const double *q, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < count; k++)
        pl_axpy3(weight[k], q + 3 * (size_t)vertex[k], out);
}

/* ---- The offset ---- */

/* Across an edge and towards a vertex o of a face at it. */
static void inward(const double *a, const double *b, const double *o, double out[3])
{
    double along[3], to[3];
    pl_sub3(b, a, along);
    pl_sub3(o, a, to);
    double t = pl_dot3(to, along) / pl_dot3(along, along);
    for (int k = 0; k < 3; k++)
        out[k] = to[k] - t * along[k];
}

static double face_normal(const double *a, const double *b, const double *o, const double side[3],
                          double out[3])
{
    double e[6];
    pl_sub3(b, a, e);
    pl_sub3(o, a, e + 3);
    pl_cross3(e, e + 3, out);
    double area = pl_norm3(out), sign = pl_dot3(out, side) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        out[k] *= sign / area;
    return sign * area;
}

/* nu, of the vertex's own edge along which the other piece comes nearer fastest. */
static double lean_of_vertex(const pl_surface *s, int v, const double *q, pl_meeting_place *p)
{
    double most = 0;
    for (int i = s->ring_first[v]; i < s->ring_first[v + 1]; i++) {
        double d[3];
        pl_sub3(q + 3 * (size_t)s->ring[i], q + 3 * (size_t)v, d);
        double length = pl_norm3(d), lean = -pl_dot3(p->normal, d) / length;
        if (lean > most) {
            most = lean;
            p->aside = s->ring[i];
            p->by_face = false;
            p->length = length;
            for (int k = 0; k < 3; k++)
                p->toward[k] = d[k] / length;
        }
    }
    return most;
}

/* tau, of the edge's face whose normal is nearest. */
static double lean_of_face(const pl_surface *s, const pl_meeting *m, const double *q,
                           pl_meeting_place *p, double least)
{
    for (int i = 0; i < 2; i++) {
        int o = s->wing[2 * m->edge + i];
        double normal[3], apart[3];
        if (o < 0)
            continue;
        face_normal(q + 3 * (size_t)m->vertex[1], q + 3 * (size_t)m->vertex[2], q + 3 * (size_t)o,
                    p->normal, normal);
        pl_sub3(p->normal, normal, apart);
        double lean = pl_norm3(apart);
        if (lean < least) {
            least = lean;
            p->aside = o;
            p->by_face = true;
            p->length = lean;
            memcpy(p->toward, normal, sizeof normal);
        }
    }
    return least;
}

void pl_meeting_find(const pl_surface *surface, const pl_meeting *m, double r, double reach,
                     const double *q, pl_meeting_place *p)
{
    const form *f = &forms[m->kind];
    double rho[3], g[4] = {1, 0, 0, 1}, w[2] = {0};
    *p = (pl_meeting_place){
        .count = f->count, .free = f->free, .offset = r, .reach = reach, .aside = -1};
    combine(f->count, f->beta0, m->vertex, q, rho);
    for (int i = 0; i < f->free; i++)
        combine(f->count, f->b[i], m->vertex, q, p->across + 3 * i);
    for (int i = 0; i < f->free; i++)
        for (int j = 0; j < f->free; j++)
            g[2 * i + j] = pl_dot3(p->across + 3 * i, p->across + 3 * j);
    double det = g[0] * g[3] - g[1] * g[2];
    p->inverse[0] = g[3] / det, p->inverse[3] = g[0] / det;
    p->inverse[1] = p->inverse[2] = -g[1] / det;
    for (int i = 0; i < f->free; i++)
        for (int j = 0; j < f->free; j++)
            w[i] -= p->inverse[2 * i + j] * pl_dot3(p->across + 3 * j, rho);
    for (int k = 0; k < f->count; k++)
        p->weight[k] = f->beta0[k] + w[0] * f->b[0][k] + w[1] * f->b[1][k];
    combine(f->count, p->weight, m->vertex, q, rho);
    if (f->free == 2) {
        pl_cross3(p->across, p->across + 3, p->normal);
        double scale = (pl_dot3(p->normal, rho) < 0 ? -1 : 1) / pl_norm3(p->normal);
        for (int k = 0; k < 3; k++)
            p->normal[k] *= scale;
        p->distance = pl_dot3(p->normal, rho);
    } else {
        p->distance = pl_norm3(rho);
        for (int k = 0; k < 3; k++)
            p->normal[k] = rho[k] / p->distance;
    }
    if (m->kind != PL_MEETING_EDGE || reach == 0)
        return;
    double lean = lean_of_vertex(surface, m->vertex[0], q, p);
    lean = lean > 0 ? lean_of_face(surface, m, q, p, lean) : 0;
    p->set_back = reach * surface->convex[m->edge];
    p->offset = r - p->set_back * lean;
}

/* ---- Whether it is one ---- */

/* Whether no edge of the vertex leans by more than `slack` towards `toward`. */
static bool clear_of(const pl_surface *s, int v, const double toward[3], double slack, const double *q)
{
    for (int i = s->ring_first[v]; i < s->ring_first[v + 1]; i++) {
        double d[3];
        pl_sub3(q + 3 * (size_t)s->ring[i], q + 3 * (size_t)v, d);
        if (pl_dot3(d, toward) > slack * pl_norm3(d))
            return false;
    }
    return true;
}

/* Whether no face of the edge leans by more than `slack` towards `toward`. */
static bool edge_clear(const pl_surface *s, int edge, const double toward[3], double slack,
                       const double *q)
{
    for (int i = 0; i < 2; i++) {
        int o = s->wing[2 * edge + i];
        double in[3];
        if (o < 0)
            continue;
        inward(q + 3 * (size_t)s->edge[2 * edge], q + 3 * (size_t)s->edge[2 * edge + 1],
               q + 3 * (size_t)o, in);
        if (pl_dot3(in, toward) > slack * pl_norm3(in))
            return false;
    }
    return true;
}

/* Whether two vertices are neighbours, or have one in common. */
static bool share_neighbour(const pl_surface *s, int a, int b)
{
    for (int i = s->ring_first[a]; i < s->ring_first[a + 1]; i++) {
        if (s->ring[i] == b)
            return true;
        for (int k = s->ring_first[b]; k < s->ring_first[b + 1]; k++)
            if (s->ring[i] == s->ring[k])
                return true;
    }
    return false;
}

static int edge_between(const pl_surface *s, int a, int b)
{
    int low = 0, high = s->edge_count - 1, first = a < b ? a : b, second = a < b ? b : a;
    while (low < high) {
        int half = low + (high - low) / 2;
        bool before =
            s->edge[2 * half] < first || (s->edge[2 * half] == first && s->edge[2 * half + 1] < second);
        low = before ? half + 1 : low;
        high = before ? high : half;
    }
    return low;
}

bool pl_meeting_hinges(const pl_surface *s, const pl_meeting *m)
{
    int split = m->kind == PL_MEETING_EDGES ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int k = split; k < forms[m->kind].count; k++)
            if (share_neighbour(s, m->vertex[i], m->vertex[k]))
                return true;
    return false;
}

bool pl_meeting_parallel(const pl_meeting_place *p)
{
    double det = 1 / (p->inverse[0] * p->inverse[3] - p->inverse[1] * p->inverse[2]);
    double sine2 = det / (pl_dot3(p->across, p->across) * pl_dot3(p->across + 3, p->across + 3));
    return !(sine2 > PARALLEL * PARALLEL);
}

bool pl_meeting_holds(const pl_surface *s, const pl_meeting *m, const pl_meeting_place *p,
                      const double *q)
{
    const double *b = p->weight;
    double back[3] = {-p->normal[0], -p->normal[1], -p->normal[2]};
    double beyond = p->reach > 0 ? -TIE : TIE;
    switch (m->kind) {
    case PL_MEETING_FACE:
        return b[1] <= PL_MEETING_BORDER && b[2] <= PL_MEETING_BORDER && b[3] <= PL_MEETING_BORDER;
    case PL_MEETING_EDGE:
        return b[1] < PL_MEETING_BORDER && b[2] < PL_MEETING_BORDER &&
               edge_clear(s, m->edge, p->normal, beyond, q);
    case PL_MEETING_VERTEX:
        return p->reach > 0 ? clear_of(s, m->vertex[1], p->normal, beyond, q) &&
                                  clear_of(s, m->vertex[0], back, beyond, q)
                            : clear_of(s, m->vertex[1], p->normal, beyond, q) ||
                                  clear_of(s, m->vertex[0], back, beyond, q);
    default:
        break;
    }
    if (!(b[0] > 0 && b[1] > 0 && b[2] < 0 && b[3] < 0) || pl_meeting_parallel(p))
        return false;
    return p->reach == 0 ||
           (edge_clear(s, edge_between(s, m->vertex[0], m->vertex[1]), back, ASLANT, q) &&
            edge_clear(s, edge_between(s, m->vertex[2], m->vertex[3]), p->normal, ASLANT, q));
}

/* ---- Derivatives ---- */

/* out = P v with P = (I - n n^T - E G^-1 E^T)/D, the change of n as rho changes; 0 where n is across
 * two E. */
static void turn_by(const pl_meeting_place *p, const double v[3], double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    if (p->free == 2)
        return;
    memcpy(out, v, 3 * sizeof *out);
    pl_axpy3(-pl_dot3(p->normal, v), p->normal, out);
    if (p->free == 1)
        pl_axpy3(-p->inverse[0] * pl_dot3(p->across, v), p->across, out);
    for (int k = 0; k < 3; k++)
        out[k] /= p->distance;
}

/* The vectors that the normal of the aside's face is the product of. */
static void face_edges(const pl_meeting *m, const pl_meeting_place *p, const double *q, double e[6],
                       double *area)
{
    double n[3];
    const double *a = q + 3 * (size_t)m->vertex[1];
    pl_sub3(q + 3 * (size_t)m->vertex[2], a, e);
    pl_sub3(q + 3 * (size_t)p->aside, a, e + 3);
    *area = face_normal(a, q + 3 * (size_t)m->vertex[2], q + 3 * (size_t)p->aside, p->normal, n);
}

/* The offset's cotangent: that of n, and what is left for the vertices. */
static void offset_vjp(const pl_meeting *m, const pl_meeting_place *p, const double *q, double by,
                       double by_normal[3], double *dq)
{
    if (p->aside < 0)
        return;
    by *= -p->set_back;
    if (!p->by_face) { /* d nu = -(dn . d + n . (I - d d^T)(dq_j - dq_v)/length) */
        double pull[3];
        pl_axpy3(-by, p->toward, by_normal);
        memcpy(pull, p->normal, sizeof pull);
        pl_axpy3(-pl_dot3(p->normal, p->toward), p->toward, pull);
        pl_axpy3(-by / p->length, pull, dq + 3 * (size_t)p->aside);
        pl_axpy3(by / p->length, pull, dq + 3 * (size_t)m->vertex[0]);
        return;
    }
    /* d tau = -(dn . m + n . dm)/tau */
    double e[6], area, pull[3], part[3];
    pl_axpy3(-by / p->length, p->toward, by_normal);
    face_edges(m, p, q, e, &area);
    memcpy(pull, p->normal, sizeof pull);
    pl_axpy3(-pl_dot3(p->normal, p->toward), p->toward, pull);
    for (int k = 0; k < 3; k++)
        pull[k] *= -by / (p->length * area);
    pl_cross3(e + 3, pull, part); /* (u x v) . pull: by u it is v x pull, by v pull x u */
    pl_axpy3(1, part, dq + 3 * (size_t)m->vertex[2]);
    pl_axpy3(-1, part, dq + 3 * (size_t)m->vertex[1]);
    pl_cross3(pull, e, part);
    pl_axpy3(1, part, dq + 3 * (size_t)p->aside);
    pl_axpy3(-1, part, dq + 3 * (size_t)m->vertex[1]);
}

static double offset_jvp(const pl_meeting *m, const pl_meeting_place *p, const double *q,
                         const double *dq, const double d_normal[3])
{
    double moved[3], pull[3];
    if (p->aside < 0)
        return 0;
    memcpy(pull, p->normal, sizeof pull);
    pl_axpy3(-pl_dot3(p->normal, p->toward), p->toward, pull);
    if (!p->by_face) {
        pl_sub3(dq + 3 * (size_t)p->aside, dq + 3 * (size_t)m->vertex[0], moved);
        return p->set_back * (pl_dot3(d_normal, p->toward) + pl_dot3(pull, moved) / p->length);
    }
    double e[6], de[6], area, left[3], right[3];
    face_edges(m, p, q, e, &area);
    pl_sub3(dq + 3 * (size_t)m->vertex[2], dq + 3 * (size_t)m->vertex[1], de);
    pl_sub3(dq + 3 * (size_t)p->aside, dq + 3 * (size_t)m->vertex[1], de + 3);
    pl_cross3(de, e + 3, left);
    pl_cross3(e, de + 3, right);
    return p->set_back / p->length *
           (pl_dot3(d_normal, p->toward) + (pl_dot3(pull, left) + pl_dot3(pull, right)) / area);
}

void pl_meeting_vjp(const pl_meeting *m, const pl_meeting_place *p, const double *q,
                    const double by_normal[3], const double by_weight[4], double by_offset, double *dq)
{
    const form *f = &forms[m->kind];
    double c[3], a[2] = {0}, b[2] = {0}, pulled[2] = {0}, along[2] = {0}, v[3];
    memcpy(c, by_normal, sizeof c);
    offset_vjp(m, p, q, by_offset, c, dq);
    for (int i = 0; i < p->free; i++) {
        for (int k = 0; k < p->count; k++)
            pulled[i] += f->b[i][k] * by_weight[k];
        along[i] = pl_dot3(p->across + 3 * i, c);
    }
    for (int i = 0; i < p->free; i++)
        for (int j = 0; j < p->free; j++) {
            a[i] += p->inverse[2 * i + j] * pulled[j];
            b[i] += p->inverse[2 * i + j] * along[j];
        }
    turn_by(p, c, v);
    for (int i = 0; i < p->free; i++)
        pl_axpy3(-a[i], p->across + 3 * i, v);
    for (int k = 0; k < p->count; k++) {
        double *to = dq + 3 * (size_t)m->vertex[k];
        pl_axpy3(p->weight[k], v, to);
        for (int i = 0; i < p->free; i++)
            pl_axpy3(-f->b[i][k] * (p->distance * a[i] + b[i]), p->normal, to);
    }
}

void pl_meeting_jvp(const pl_meeting *m, const pl_meeting_place *p, const double *q, const double *dq,
                    double d_normal[3], double d_weight[4], double *d_offset)
{
    const form *f = &forms[m->kind];
    double moved[3], lean[2] = {0}, by[2] = {0}, dw[2] = {0}, tilt[2] = {0};
    combine(p->count, p->weight, m->vertex, dq, moved);
    for (int i = 0; i < p->free; i++) {
        double de[3];
        combine(p->count, f->b[i], m->vertex, dq, de);
        lean[i] = pl_dot3(de, p->normal);
        by[i] = pl_dot3(p->across + 3 * i, moved) + p->distance * lean[i];
    }
    for (int i = 0; i < p->free; i++)
        for (int j = 0; j < p->free; j++) {
            dw[i] -= p->inverse[2 * i + j] * by[j];
            tilt[i] += p->inverse[2 * i + j] * lean[j];
        }
    turn_by(p, moved, d_normal);
    for (int i = 0; i < p->free; i++)
        pl_axpy3(-tilt[i], p->across + 3 * i, d_normal);
    for (int k = 0; k < 4; k++)
        d_weight[k] = k < p->count ? dw[0] * f->b[0][k] + dw[1] * f->b[1][k] : 0;
    *d_offset = offset_jvp(m, p, q, dq, d_normal);
}
