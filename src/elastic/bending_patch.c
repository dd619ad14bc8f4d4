/*
 * The curvature of a cloth triangle T as a linear function of the positions x around it: Morley's
 * element, whose normal slopes are read from the vertices.
 *
 *     kappa_T = 1/A_T sum_{sides e of T} l_e sym(n_e (x) g_e),     g_e = t_e dx/dt + n_e dx/dn
 *
 * is the mean over T of the second derivatives, by the divergence theorem, if g_e is the gradient at
 * the middle of e. dx/dt is the difference of the side's ends. dx/dn comes from the two triangles at
 * e = [-l/2, l/2]: with corners (s_1, h_1), (s_2, -h_2) and what they rise above e, f_1 and f_2,
 *
 *     dx/dn = h_2/(h_1 + h_2) f_1/h_1 - h_1/(h_1 + h_2) f_2/h_2 + sum_j w_j r_j
 *
 * where the first terms are exact for x in {1, t, n, n^2}. r_j is how far the corner of the triangle
 * beyond another side of the two lies off that function, and w are the weights that make dx/dn exact
 * for t^2 and tn as well; they vanish where the two triangles mirror each other in the middle of e, as
 * in a lattice. The corners around one of the two triangles are enough. Hence
 *   - kappa_T is exact for quadratic x, on any mesh: the energy is the plate's,
 *   - dx/dn is the same seen from both sides, so the forces of a constant curvature cancel at every
 *     inner vertex: no rippling of the mesh makes the sheet softer,
 *   - the energy is at least Morley's, which is zero for affine x only: no mode is missed.
 * At a free side dx/dn is what costs least: the curvature across it, n.kappa_T n, is left out, which is
 * the natural boundary condition. All of it is done in the plane, with the rest shape's triangles
 * unfolded around T.
 */
#include "elastic/bending_patch.h"

#include "core/vec.h"

#include <stdlib.h>

/* Of the vertices around a side: its ends, the corners of T and of its neighbour, up to four beyond. */
#define AROUND 8
#define FLAP   4

typedef struct point {
    double x, y;
} point;

/* One body's triangles; `across` has for each side, 3 t + k from corner k to the next, the side of the
 * triangle beyond it, or -1. */
typedef struct surface {
    const pl_elastic_body *body;
    const int *across;
} surface;

/* In units of the side's length l, with the side's middle as origin: x along the side, y towards T. */
typedef struct surrounding {
    int count;
    int own;    /* beyond the flap, so many are around T and the rest around its neighbour */
    bool first; /* T comes before its neighbour */
    int vertex[AROUND];
    point place[AROUND];
} surrounding;

typedef struct side {
    int low, high, index;
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void find_across(const pl_elastic_body *body, side *sides, int *across)
{
    int count = 3 * body->element_count;
    for (int s = 0; s < count; s++) {
        int a = body->elements[s], b = body->elements[s % 3 == 2 ? s - 2 : s + 1];
        sides[s] = (side){a < b ? a : b, a < b ? b : a, s};
        across[s] = -1;
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    for (int s = 0, end; s < count; s = end) {
        for (end = s + 1; end < count && sides[end].low == sides[s].low; end++)
            if (sides[end].high != sides[s].high)
                break;
        for (int i = s; i + 1 < end; i += 2) {
            across[sides[i].index] = sides[i + 1].index;
            across[sides[i + 1].index] = sides[i].index;
        }
        /* Where more than two meet they bend in pairs, an odd one against the one before it. */
        if (end - s > 2 && (end - s) % 2)
            across[sides[end - 1].index] = sides[end - 2].index;
    }
}

static int corner_at(const surface *s, int triangle, int k)
{
    return s->body->elements[3 * triangle + k % 3];
}

static const double *rest_at(const surface *s, int vertex)
{
    return s->body->rest + 3 * (size_t)vertex;
}

/* Where d comes to lie when its triangle with the edge (p, q) is laid into the plane, p and q at P and
 * Q and d on the side of their line that R is not on. */
static point unfold(const surface *s, int p, int q, int d, point P, point Q, point R)
{
    double e[3], f[3], cross[3];
    pl_sub3(rest_at(s, q), rest_at(s, p), e);
    pl_sub3(rest_at(s, d), rest_at(s, p), f);
    pl_cross3(e, f, cross);
    double length2 = pl_dot3(e, e), foot = pl_dot3(e, f) / length2, height = pl_norm3(cross) / length2;
    point PQ = {Q.x - P.x, Q.y - P.y};
    double turn = PQ.x * (R.y - P.y) - PQ.y * (R.x - P.x) > 0.0 ? height : -height;
    return (point){P.x + foot * PQ.x + turn * PQ.y, P.y + foot * PQ.y - turn * PQ.x};
}

/* Adds the vertex beyond side `index` of a triangle whose side (p, q) lies at P, Q, the corner at R. */
static void add_beyond(const surface *s, int index, point P, point Q, point R, surrounding *around)
{
    int beyond = s->across[index], k = around->count;
    if (beyond < 0)
        return;
    int p = corner_at(s, index / 3, index % 3), q = corner_at(s, index / 3, index % 3 + 1);
    around->vertex[k] = corner_at(s, beyond / 3, beyond % 3 + 2);
    around->place[k] = unfold(s, p, q, around->vertex[k], P, Q, R);
    around->count++;
}

static surrounding look_around(const surface *s, int index)
{
    int t = index / 3, k = index % 3, beyond = s->across[index];
    int a = corner_at(s, t, k), b = corner_at(s, t, k + 1), c = corner_at(s, t, k + 2);
    point A = {-0.5, 0.0}, B = {0.5, 0.0}, C = unfold(s, a, b, c, A, B, (point){0.0, -1.0});
    surrounding around = {.count = 3, .vertex = {a, b, c}, .place = {A, B, C}};
    if (beyond < 0)
        return around;
    add_beyond(s, index, A, B, C, &around);
    point D = around.place[3];
    around.first = t < beyond / 3;
    add_beyond(s, 3 * t + (k + 1) % 3, B, C, A, &around);
    add_beyond(s, 3 * t + (k + 2) % 3, C, A, B, &around);
    around.own = around.count - FLAP;
    /* The neighbour may run along the side either way. */
    int t2 = beyond / 3, k2 = beyond % 3;
    bool same = corner_at(s, t2, k2) == a;
    point first = same ? A : B, second = same ? B : A;
    add_beyond(s, 3 * t2 + (k2 + 1) % 3, second, D, first, &around);
    add_beyond(s, 3 * t2 + (k2 + 2) % 3, D, first, second, &around);
    return around;
}

/* dx/dn and d2x/dn2 at the side's middle for x in the span of {1, t, n, n^2}, as weights of the flap's
 * four vertices. */
static void slope_of_flap(const surrounding *around, double slope[AROUND], double bend[AROUND])
{
    double h1 = around->place[2].y, h2 = -around->place[3].y, sum = h1 + h2;
    slope[2] = h2 / (sum * h1), bend[2] = 2.0 / (sum * h1);
    slope[3] = -h1 / (sum * h2), bend[3] = 2.0 / (sum * h2);
    for (int end = 0; end < 2; end++) {
        double sign = end ? 1.0 : -1.0;
        slope[end] = bend[end] = 0.0;
        for (int k = 2; k < FLAP; k++) {
            double share = 0.5 + sign * around->place[k].x;
            slope[end] -= share * slope[k];
            bend[end] -= share * bend[k];
        }
    }
}

/* What the vertex j beyond the flap lies off the function above, as weights. */
static void off_flap(const surrounding *around, int j, const double *slope, const double *bend,
                     double off[AROUND])
{
    double s = around->place[j].x, h = around->place[j].y;
    memset(off, 0, AROUND * sizeof *off);
    off[0] = s - 0.5;
    off[1] = -s - 0.5;
    off[j] = 1.0;
    for (int k = 0; k < FLAP; k++)
        off[k] -= h * slope[k] + 0.5 * h * h * bend[k];
}

/* The weights applied to t^2/2 and to tn. */
static void apply_to_quadratics(const surrounding *around, const double *weight, double value[2])
{
    value[0] = value[1] = 0.0;
    for (int k = 0; k < around->count; k++) {
        point x = around->place[k];
        value[0] += 0.5 * weight[k] * x.x * x.x;
        value[1] += weight[k] * x.x * x.y;
    }
}

/* The least w with sum_j w_j B_j = want, B [count, 2], but for a relative ridge; returns |w|. */
static double least_weights(int count, const double B[][2], const double want[2], double ridge,
                            double *w)
{
    double a = 0.0, b = 0.0, c = 0.0, size = 0.0;
    for (int j = 0; j < count; j++) {
        a += B[j][0] * B[j][0];
        b += B[j][0] * B[j][1];
        c += B[j][1] * B[j][1];
    }
    double more = ridge * (a + c);
    a += more, c += more;
    double det = a * c - b * b;
    double y[2] = {(c * want[0] - b * want[1]) / det, (a * want[1] - b * want[0]) / det};
    for (int j = 0; j < count; j++) {
        w[j] = B[j][0] * y[0] + B[j][1] * y[1];
        size = hypot(size, w[j]);
    }
    return size;
}

static bool reaches(int count, const double B[][2], const double *w, const double want[2])
{
    double left[2] = {want[0], want[1]};
    for (int j = 0; j < count; j++)
        left[0] -= w[j] * B[j][0], left[1] -= w[j] * B[j][1];
    return hypot(left[0], left[1]) <= 1e-6 * hypot(want[0], want[1]);
}

/*
 * The smaller of the two triangles' w, the first one's if they are alike: half the fill of taking both.
 * Six vertices near a conic do not see all quadratics, and their w would be large and the side stiff.
 * If neither triangle's w is below `limit`, all vertices serve, with a ridge that grows until w is:
 * some sides at corners of rough meshes are then not exact.
 */
static void choose_weights(const surrounding *around, const double B[][2], const double want[2],
                           double limit, double w[AROUND - FLAP])
{
    int count = around->count - FLAP, own = around->own;
    double best = limit, trial[AROUND - FLAP];
    bool found = false;
    for (int turn = 0; turn < 2; turn++) {
        bool mine = (turn == 0) == around->first;
        int begin = mine ? 0 : own, size = mine ? own : count - own;
        double norm = size ? least_weights(size, B + begin, want, 1e-14, trial) : INFINITY;
        if (!(norm <= best) || !reaches(size, B + begin, trial, want))
            continue;
        memset(w, 0, (AROUND - FLAP) * sizeof *w);
        memcpy(w + begin, trial, (size_t)size * sizeof *w);
        best = (1.0 - 1e-6) * norm;
        found = true;
    }
    for (double ridge = 1e-14; !found && count && ridge < 1e12; ridge *= 10.0)
        found = least_weights(count, B, want, ridge, w) <= limit;
}

/* l dx/dn at the middle of an inner side, n towards T. */
static void normal_slope(const surrounding *around, double slope[AROUND])
{
    double bend[AROUND] = {0}, off[AROUND - FLAP][AROUND], B[AROUND - FLAP][2], want[2],
           w[AROUND - FLAP] = {0};
    int beyond = around->count - FLAP;
    memset(slope, 0, AROUND * sizeof *slope);
    slope_of_flap(around, slope, bend);
    apply_to_quadratics(around, slope, want);
    want[0] = -want[0], want[1] = -want[1];
    double size = fabs(slope[2]) + fabs(slope[3]);
    if (hypot(want[0], want[1]) < 1e-12 * size)
        return;
    for (int j = 0; j < beyond; j++) {
        off_flap(around, FLAP + j, slope, bend, off[j]);
        apply_to_quadratics(around, off[j], B[j]);
    }
    choose_weights(around, B, want, size, w);
    for (int j = 0; j < beyond; j++)
        for (int k = 0; k < around->count; k++)
            slope[k] += w[j] * off[j][k];
}

/* sym(a (x) b) as (xx, yy, sqrt 2 xy), whose length is Frobenius' norm. */
static void symmetric_product(point a, point b, double out[3])
{
    out[0] = a.x * b.x;
    out[1] = a.y * b.y;
    out[2] = sqrt(0.5) * (a.x * b.y + a.y * b.x);
}

static void add_weight(pl_bending_patch *patch, int vertex, double factor, const double row[3])
{
    int k = 0;
    while (k < patch->count && patch->vertex[k] != vertex)
        k++;
    patch->vertex[k] = vertex;
    patch->count += k == patch->count;
    for (int r = 0; r < 3; r++)
        patch->weight[k][r] += factor * row[r];
}

/* Adds side k of T, from P to Q counterclockwise; returns whether it is free, its n (x) n in `across`.
 */
static bool add_side(const surface *s, int index, point P, point Q, double area,
                     pl_bending_patch *patch, double across[3])
{
    double length = hypot(Q.x - P.x, Q.y - P.y), along[3], slope[AROUND];
    point t = {(Q.x - P.x) / length, (Q.y - P.y) / length}, n = {t.y, -t.x};
    surrounding around = look_around(s, index);
    symmetric_product(n, t, along);
    symmetric_product(n, n, across);
    add_weight(patch, around.vertex[0], -1.0 / area, along);
    add_weight(patch, around.vertex[1], 1.0 / area, along);
    if (around.count < FLAP)
        return true;
    normal_slope(&around, slope);
    for (int k = 0; k < around.count; k++)
        add_weight(patch, around.vertex[k], -slope[k] / area, across);
    return false;
}

/* Takes the direction out of the curvature, and of the directions still to come. */
static void leave_out(pl_bending_patch *patch, const double direction[3], double later[3])
{
    double length2 = pl_dot3(direction, direction);
    if (!(length2 > 0.0))
        return;
    for (int k = 0; k < patch->count; k++)
        pl_axpy3(-pl_dot3(patch->weight[k], direction) / length2, direction, patch->weight[k]);
    pl_axpy3(-pl_dot3(later, direction) / length2, direction, later);
}

/* Vertices with no weight but rounding go; the others' weights add up to zero. */
static void tidy(pl_bending_patch *patch, int vertex_offset)
{
    double largest = 0.0, sum[3] = {0};
    int kept = 0;
    for (int k = 0; k < patch->count; k++)
        largest = fmax(largest, pl_norm3(patch->weight[k]));
    for (int k = 0; k < patch->count; k++)
        if (pl_norm3(patch->weight[k]) > 1e-11 * largest) {
            patch->vertex[kept] = patch->vertex[k] + vertex_offset;
            memcpy(patch->weight[kept++], patch->weight[k], sizeof patch->weight[k]);
        }
    patch->count = kept;
    for (int k = 1; k < kept; k++)
        pl_axpy3(1.0, patch->weight[k], sum);
    for (int r = 0; kept && r < 3; r++)
        patch->weight[0][r] = -sum[r];
}

static pl_bending_patch make_patch(const surface *s, int triangle)
{
    pl_bending_patch patch = {0};
    double e[3], bare[3][3], none[3] = {0};
    pl_sub3(rest_at(s, corner_at(s, triangle, 1)), rest_at(s, corner_at(s, triangle, 0)), e);
    point x[3] = {{0.0, 0.0}, {pl_norm3(e), 0.0}};
    x[2] = unfold(s, corner_at(s, triangle, 0), corner_at(s, triangle, 1), corner_at(s, triangle, 2),
                  x[0], x[1], (point){0.0, -1.0});
    int count = 0;
    patch.area = 0.5 * x[1].x * x[2].y;
    for (int k = 0; k < 3; k++)
        count += add_side(s, 3 * triangle + k, x[k], x[(k + 1) % 3], patch.area, &patch, bare[count]);
    if (count == 3)
        patch.count = 0;
    else if (count == 2)
        leave_out(&patch, bare[0], bare[1]);
    if (count == 1 || count == 2)
        leave_out(&patch, bare[count - 1], none);
    tidy(&patch, s->body->vertex_offset);
    return patch;
}

pl_status pl_bending_patches(pl_context *ctx, int body_count, const pl_elastic_body *bodies, int *count,
                             pl_bending_patch **out)
{
    pl_status status = PL_OK;
    side *sides = NULL;
    int *across = NULL, most = 0, found = 0;
    size_t total = 0;
    pl_bending_patch *patches = NULL;
    for (int b = 0; b < body_count; b++) {
        int elements = bodies[b].cloth ? bodies[b].element_count : 0;
        most = elements > most ? elements : most;
        total += (size_t)elements;
    }
    PL_NEW(ctx, sides, 3 * (size_t)most, done);
    PL_NEW(ctx, across, 3 * (size_t)most, done);
    PL_NEW(ctx, patches, total, done);
    for (int b = 0, element_offset = 0; b < body_count; element_offset += bodies[b++].element_count) {
        surface s = {&bodies[b], across};
        if (!bodies[b].cloth)
            continue;
        find_across(&bodies[b], sides, across);
        for (int t = 0; t < bodies[b].element_count; t++) {
            patches[found] = make_patch(&s, t);
            patches[found].element = element_offset + t;
            found += patches[found].count > 0;
        }
    }
    *count = found;
    *out = patches;
    patches = NULL;
done:
    pl_free(ctx, sides);
    pl_free(ctx, across);
    pl_free(ctx, patches);
    return status;
}
