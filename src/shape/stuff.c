/*
 * Isosurface stuffing (Labelle and Shewchuk 2007) with uniform cells:
 *
 *   1. warp: a lattice point nearer to a cut of one of its edges than LONG or SHORT of the edge's
 * length moves onto the nearest such cut and counts as on the surface;
 *   2. stencil: every lattice tetrahedron with a point inside becomes the tetrahedra of its inside
 * part.
 *
 * Warping keeps every remaining cut away from the points, so the pieces cannot become slivers. All
 * points decide at once from the unwarped lattice: the outcome does not depend on any order and has the
 * field's mirror symmetry.
 */
#include "core/vec.h"
#include "mesh/mesh.h"
#include "shape/lattice.h"
#include "shape/quality.h"

#include <stdlib.h>

/* The paper's thresholds for its best angle bound, and that bound, degrees. */
#define LONG      0.24999
#define SHORT     0.41189
#define SLIDE     0.36 /* cells: as far as a cut of a short edge draws */
#define LOW_BOUND 10.78
#define TOP_BOUND 164.74

typedef struct stuffing {
    pl_context *ctx;
    const pl_lattice *lattice;
    int *point_vertex; /* [point_count] output vertex of a lattice point, -1 = not used */
    int *cut_vertex;   /* [slot_count] output vertex of a cut */
    int vertex_count, vertex_capacity, tet_count, tet_capacity;
    double (*vertices)[3];
    int (*tets)[4];
} stuffing;

static bool is_long(const pl_lattice *lattice, int a, int b)
{
    return (a < lattice->corner_count) == (b < lattice->corner_count);
}

/* Distance of the cut on edge (p, q) from p when it is too near, else INFINITY. */
static double violation(const pl_lattice *lattice, int p, int q)
{
    if (q < 0 || lattice->sign[p] * lattice->sign[q] >= 0)
        return INFINITY;
    double t = lattice->cut[pl_lattice_slot(lattice, p, q)];
    t = lattice->sign[p] > 0 ? t : 1 - t;
    bool far = is_long(lattice, p, q);
    if (t >= (far ? LONG : SHORT))
        return INFINITY;
    return t * (far ? 1 : 0.5 * sqrt(3)) * lattice->cell;
}

/* Order of two candidate targets at the same distance, blind to a mirror in y. */
static bool precedes(const double a[3], const double b[3])
{
    if (a[0] != b[0])
        return a[0] < b[0];
    if (a[2] != b[2])
        return a[2] < b[2];
    return fabs(a[1]) < fabs(b[1]);
}

/* Newton within the mirror plane from x to the zero of the field; false beyond `reach`. */
static bool project_in_plane(const pl_field *field, double reach, const double start[3], double x[3])
{
    double step = 1e-5 * reach;
    x[0] = start[0], x[1] = start[1], x[2] = start[2];
    for (int k = 0; k < 20; k++) {
        double f = field->distance(field->user, x), g[3] = {0};
        if (fabs(f) < 1e-9 * reach)
            return hypot(x[0] - start[0], x[2] - start[2]) < reach;
        for (int i = 0; i < 3; i += 2) {
            double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
            up[i] += step, down[i] -= step;
            g[i] = (field->distance(field->user, up) - field->distance(field->user, down)) / (2 * step);
        }
        double g2 = pl_dot3(g, g);
        if (!(g2 > 0))
            return false;
        pl_axpy3(-f / g2, g, x);
    }
    return false;
}

enum { STAYS, WARPS, SLIDES };

/* Where p goes, if anywhere. On the mirror plane p must stay in it: edges that leave it come in pairs
 * with equal claims, so their claim is settled by sliding p to the surface within the plane. */
static int warp_target(const pl_field *field, const pl_lattice *lattice, int p, double target[3])
{
    int neighbours[14];
    double x[3], best = INFINITY, aside = INFINITY;
    pl_lattice_neighbours(lattice, p, neighbours);
    pl_lattice_position(lattice, p, x);
    bool on_plane = field->mirror && x[1] == 0;
    for (int k = 0; k < 14; k++) {
        double found[3], distance = violation(lattice, p, neighbours[k]);
        if (distance == INFINITY)
            continue;
        int in = lattice->sign[p] > 0 ? p : neighbours[k], out = in == p ? neighbours[k] : p;
        pl_lattice_cut_point(lattice, in, out, found);
        if (on_plane && found[1] != 0) {
            aside = fmin(aside, distance);
        } else if (distance < best || (distance == best && precedes(found, target))) {
            best = distance;
            memcpy(target, found, sizeof found);
        }
    }
    if (best < INFINITY)
        return WARPS;
    if (aside == INFINITY)
        return STAYS;
    if (!project_in_plane(field, SLIDE * lattice->cell, x, target))
        memcpy(target, x, sizeof x);
    return SLIDES;
}

/* Moves points onto nearby cuts. Signs change only after every point has decided. */
static void warp(pl_context *ctx, const pl_field *field, pl_lattice *lattice, signed char *warped)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 256)
    for (int p = 0; p < lattice->point_count; p++) {
        double target[3];
        warped[p] = lattice->sign[p] == 0 ? STAYS : (signed char)warp_target(field, lattice, p, target);
        if (warped[p])
            memcpy(lattice->moved + 3 * (size_t)p, target, sizeof target);
    }
    for (int p = 0; p < lattice->point_count; p++)
        if (warped[p])
            lattice->sign[p] = 0;
}

/* ------------------------------------------------------------------------------- stencils */

static pl_status add_vertex(stuffing *s, const double x[3], int *out)
{
    PL_TRY(pl_grow(s->ctx, (void **)&s->vertices, &s->vertex_capacity, s->vertex_count + 1,
                   sizeof *s->vertices));
    memcpy(s->vertices[s->vertex_count], x, sizeof *s->vertices);
    *out = s->vertex_count++;
    return PL_OK;
}

static pl_status point_vertex(stuffing *s, int point, int *out)
{
    if (s->point_vertex[point] < 0)
        PL_TRY(add_vertex(s, s->lattice->moved + 3 * (size_t)point, &s->point_vertex[point]));
    *out = s->point_vertex[point];
    return PL_OK;
}

static pl_status cut_vertex(stuffing *s, int inside, int outside, int *out)
{
    int slot = pl_lattice_slot(s->lattice, inside, outside);
    if (s->cut_vertex[slot] < 0) {
        double x[3];
        pl_lattice_cut_point(s->lattice, inside, outside, x);
        PL_TRY(add_vertex(s, x, &s->cut_vertex[slot]));
    }
    *out = s->cut_vertex[slot];
    return PL_OK;
}

static pl_status add_tet(stuffing *s, int a, int b, int c, int d)
{
    PL_TRY(pl_grow(s->ctx, (void **)&s->tets, &s->tet_capacity, s->tet_count + 1, sizeof *s->tets));
    int *tet = s->tets[s->tet_count++];
    tet[0] = a, tet[1] = b, tet[2] = c, tet[3] = d;
    pl_tet_orient(&s->vertices[0][0], tet);
    return PL_OK;
}

/*
 * The face (a, b inside; n outside) keeps the quadrilateral a, b, cut(bn), cut(an). Both tetrahedra at
 * the face must agree on its diagonal: true for a - cut(bn), false for b - cut(an). With one long cut
 * edge the diagonal ends at that cut; with two short ones the even end of the long edge ab has it.
 */
static bool diagonal_from_first(const pl_lattice *lattice, int a, int b, int n)
{
    if (is_long(lattice, a, n))
        return false;
    if (is_long(lattice, b, n))
        return true;
    int p[3], q[3];
    pl_lattice_half(lattice, a, p), pl_lattice_half(lattice, b, q);
    int axis = p[0] != q[0] ? 0 : p[1] != q[1] ? 1 : 2;
    int even_p = (abs(p[axis]) / 2) & 1, even_q = (abs(q[axis]) / 2) & 1;
    if (even_p == even_q) /* the edge across a mirror plane */
        return p[axis] > q[axis];
    return even_p < even_q;
}

static pl_status add_pyramid(stuffing *s, int apex, const int quad[4], bool first)
{
    if (first) {
        PL_TRY(add_tet(s, apex, quad[0], quad[1], quad[2]));
        return add_tet(s, apex, quad[0], quad[2], quad[3]);
    }
    PL_TRY(add_tet(s, apex, quad[0], quad[1], quad[3]));
    return add_tet(s, apex, quad[1], quad[2], quad[3]);
}

/* Prism with triangles a and b; side i joins corners i and i + 1 and has diagonal a_i b_(i+1) when
 * diagonal[i], else a_(i+1) b_i. Three equal flags cannot be filled; the callers never make them. */
static pl_status add_prism(stuffing *s, const int a[3], const int b[3], const bool diagonal[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if (diagonal[i] && !diagonal[k]) { /* both diagonals at corner i start at a_i */
            PL_TRY(add_tet(s, a[i], b[0], b[1], b[2]));
            return add_pyramid(s, a[i], (int[4]){a[j], a[k], b[k], b[j]}, diagonal[j]);
        }
    }
    return pl_fail(s->ctx, PL_ERROR_NUMERIC, "a prism has cyclic diagonals");
}

static double worst_of(const stuffing *s, int a, int b, int c, int d)
{
    double low, high;
    int tet[4] = {a, b, c, d};
    pl_tet_orient(&s->vertices[0][0], tet);
    pl_tet_dihedral_range(&s->vertices[0][0], tet, &low, &high);
    return fmin(low, 180 - high);
}

/* Two inside (p), two outside (n): a prism whose quadrilateral on the surface is cut the better way. */
static pl_status stencil_two_two(stuffing *s, const int p[2], const int n[2])
{
    int a[3], b[3];
    PL_TRY(point_vertex(s, p[0], &a[0]));
    PL_TRY(point_vertex(s, p[1], &b[0]));
    for (int k = 0; k < 2; k++) {
        PL_TRY(cut_vertex(s, p[0], n[k], &a[1 + k]));
        PL_TRY(cut_vertex(s, p[1], n[k], &b[1 + k]));
    }
    bool diagonal[3] = {diagonal_from_first(s->lattice, p[0], p[1], n[0]), false,
                        !diagonal_from_first(s->lattice, p[0], p[1], n[1])};
    if (diagonal[0] != diagonal[2]) {
        /* Both diagonals start at the same inside point o: it sees the surface quadrilateral whole. */
        int o = diagonal[0] ? a[0] : b[0];
        double one = fmin(worst_of(s, o, a[1], a[2], b[2]), worst_of(s, o, a[1], b[1], b[2]));
        double two = fmin(worst_of(s, o, a[1], a[2], b[1]), worst_of(s, o, a[2], b[1], b[2]));
        diagonal[1] = one >= two;
    } else {
        diagonal[1] = !diagonal[0];
    }
    return add_prism(s, a, b, diagonal);
}

static pl_status stencil_three_one(stuffing *s, const int p[3], int n)
{
    int a[3], b[3];
    bool diagonal[3];
    for (int k = 0; k < 3; k++) {
        PL_TRY(point_vertex(s, p[k], &a[k]));
        PL_TRY(cut_vertex(s, p[k], n, &b[k]));
        diagonal[k] = diagonal_from_first(s->lattice, p[k], p[(k + 1) % 3], n);
    }
    return add_prism(s, a, b, diagonal);
}

static pl_status stencil(stuffing *s, const int points[4])
{
    int p[4], z[4], n[4], in = 0, on = 0, out = 0;
    for (int k = 0; k < 4; k++) {
        int sign = s->lattice->sign[points[k]];
        if (sign > 0)
            p[in++] = points[k];
        else if (sign < 0)
            n[out++] = points[k];
        else
            z[on++] = points[k];
    }
    if (in == 2 && out == 2)
        return stencil_two_two(s, p, n);
    if (in == 3 && out == 1)
        return stencil_three_one(s, p, n[0]);
    if (in == 2 && out == 1) {
        int quad[4], apex;
        PL_TRY(point_vertex(s, z[0], &apex));
        PL_TRY(point_vertex(s, p[0], &quad[0]));
        PL_TRY(point_vertex(s, p[1], &quad[1]));
        PL_TRY(cut_vertex(s, p[1], n[0], &quad[2]));
        PL_TRY(cut_vertex(s, p[0], n[0], &quad[3]));
        return add_pyramid(s, apex, quad, diagonal_from_first(s->lattice, p[0], p[1], n[0]));
    }
    if (in == 0)
        return PL_OK;
    /* One tetrahedron: the points themselves, and cuts in place of outside points (then in == 1). */
    int v[4], count = 0;
    for (int k = 0; k < in; k++)
        PL_TRY(point_vertex(s, p[k], &v[count++]));
    for (int k = 0; k < on; k++)
        PL_TRY(point_vertex(s, z[k], &v[count++]));
    for (int k = 0; k < out; k++)
        PL_TRY(cut_vertex(s, p[0], n[k], &v[count++]));
    return add_tet(s, v[0], v[1], v[2], v[3]);
}

/* All lattice tetrahedra: for each pair of neighbouring centres along an axis, the four sides of the
 * face between them. */
static pl_status fill(stuffing *s)
{
    const pl_lattice *lattice = s->lattice;
    for (int c = lattice->corner_count; c < lattice->point_count; c++) {
        int half[3];
        pl_lattice_half(lattice, c, half);
        for (int axis = 0; axis < 3; axis++) {
            int across[3] = {half[0], half[1], half[2]};
            across[axis] += 2;
            int next = pl_lattice_point(lattice, across), ring[4];
            if (next < 0)
                continue;
            static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
            for (int k = 0; k < 4; k++) {
                int at[3] = {half[0], half[1], half[2]};
                at[axis] += 1;
                at[(axis + 1) % 3] += around[k][0], at[(axis + 2) % 3] += around[k][1];
                ring[k] = pl_lattice_point(lattice, at);
            }
            for (int k = 0; k < 4; k++)
                PL_TRY(stencil(s, (int[4]){c, next, ring[k], ring[(k + 1) % 4]}));
        }
    }
    return PL_OK;
}

/* Slid points are outside the paper's analysis. Those at a tetrahedron beyond the bound go back halfway
 * to their lattice position, at last all the way, where the analysis holds again. */
static pl_status retreat(stuffing *s, const signed char *warped)
{
    int *point = pl_alloc(s->ctx, (size_t)s->vertex_count, sizeof *point);
    if (!point)
        return PL_ERROR_MEMORY;
    for (int p = 0; p < s->lattice->point_count; p++)
        if (warped[p] == SLIDES && s->point_vertex[p] >= 0)
            point[s->point_vertex[p]] = p + 1;
    for (int pass = 0; pass < 5; pass++) {
        for (int t = 0; t < s->tet_count; t++) {
            double low, high, back = pass < 4 ? 0.5 : 1;
            pl_tet_dihedral_range(&s->vertices[0][0], s->tets[t], &low, &high);
            for (int k = 0; k < 4 && (low < LOW_BOUND || high > TOP_BOUND); k++) {
                int v = s->tets[t][k];
                double home[3];
                if (point[v] == 0)
                    continue;
                pl_lattice_position(s->lattice, point[v] - 1, home);
                for (int i = 0; i < 3; i++)
                    s->vertices[v][i] += back * (home[i] - s->vertices[v][i]);
            }
        }
    }
    pl_free(s->ctx, point);
    return PL_OK;
}

pl_status pl_stuff(pl_context *ctx, const pl_field *field, double cell, pl_mesh **out)
{
    pl_status status = PL_OK;
    pl_lattice lattice = {0};
    stuffing s = {.ctx = ctx, .lattice = &lattice};
    signed char *warped = NULL;
    PL_CHECK(pl_lattice_create(ctx, field, cell, &lattice), done);
    PL_NEW(ctx, warped, lattice.point_count, done);
    warp(ctx, field, &lattice, warped);
    PL_NEW(ctx, s.point_vertex, lattice.point_count, done);
    PL_NEW(ctx, s.cut_vertex, lattice.slot_count, done);
    memset(s.point_vertex, -1, sizeof *s.point_vertex * (size_t)lattice.point_count);
    memset(s.cut_vertex, -1, sizeof *s.cut_vertex * (size_t)lattice.slot_count);
    PL_CHECK(fill(&s), done);
    PL_CHECK(retreat(&s, warped), done);
    if (s.tet_count == 0) {
        status = pl_fail(ctx, PL_ERROR_MESH, "nothing of the body is left at a cell of %g m", cell);
        goto done;
    }
    status = pl_mesh_create(ctx, s.vertex_count, &s.vertices[0][0], s.tet_count, &s.tets[0][0], 0, NULL,
                            out);
done:
    pl_lattice_free(ctx, &lattice);
    pl_free(ctx, warped);
    pl_free(ctx, s.point_vertex);
    pl_free(ctx, s.cut_vertex);
    pl_free(ctx, s.vertices);
    pl_free(ctx, s.tets);
    return status;
}
