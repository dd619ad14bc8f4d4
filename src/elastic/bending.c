/*
 * Bending of cloth as a constant quadratic form: each interior edge (x0, x1) with the corners x2, x3
 * across it carries
 *
 *     E = k_b / (2 (A_0 + A_1)) |sum_k w_k x_k|^2,
 *
 * with the cotangent weights w of Bergou et al. (2006): a corner at height h over an edge of length l
 * has -l/h, and its foot shares l/h between the ends, so that |sum w x| = l times the edge's bending
 * angle for a flat rest shape, to first order, and exactly invariant under rotation. The quadratic form
 * equals the plate's k_b/2 kappa^2 per area for cylinders on meshes of equilateral triangles in any
 * direction, and along the sides of right-angled grids; there the stiffness about a diagonal depends on
 * how the squares are split (by up to 3 along the splitting diagonal), as with every energy of hinges.
 * The rest shape is flat by assumption.
 */
#include "elastic/internal.h"

#include "core/vec.h"

#include <stdlib.h>

/* One side of a triangle; the two of an interior edge have the same ends. */
typedef struct side {
    int low, high, corner, element;
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

/* Adds one triangle's part to the edge's weights; returns its area. */
static double add_corner(const double *x0, const double *x1, const double *x2, double weight[4],
                         int corner)
{
    double e[3], d[3], cross[3];
    pl_sub3(x1, x0, e);
    pl_sub3(x2, x0, d);
    pl_cross3(e, d, cross);
    double twice_area = pl_norm3(cross), length2 = pl_dot3(e, e);
    double over_height = length2 / twice_area, foot = pl_dot3(e, d) / length2;
    weight[0] += (1.0 - foot) * over_height;
    weight[1] += foot * over_height;
    weight[corner] -= over_height;
    return 0.5 * twice_area;
}

static pl_bending_edge make_edge(const pl_elastic_body *body, const side *first, const side *second)
{
    pl_bending_edge edge = {.vertex = {first->low, first->high, first->corner, second->corner},
                            .element = {first->element, second->element}};
    const double *x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = body->rest + 3 * (size_t)edge.vertex[k];
        edge.vertex[k] += body->vertex_offset;
    }
    double area = add_corner(x[0], x[1], x[2], edge.weight, 2);
    area += add_corner(x[0], x[1], x[3], edge.weight, 3);
    edge.inverse_area = 1.0 / area;
    edge.weight[0] = -(edge.weight[1] + edge.weight[2] + edge.weight[3]);
    return edge;
}

static void list_sides(const pl_elastic_body *body, int element_offset, side *sides)
{
    for (int t = 0; t < body->element_count; t++)
        for (int k = 0; k < 3; k++) {
            const int *v = body->elements + 3 * (size_t)t;
            int a = v[k], b = v[(k + 1) % 3];
            *sides++ = (side){a < b ? a : b, a < b ? b : a, v[(k + 2) % 3], element_offset + t};
        }
    qsort(sides - 3 * (size_t)body->element_count, 3 * (size_t)body->element_count, sizeof *sides,
          compare_sides);
}

pl_status pl_bending_create(pl_context *ctx, int body_count, const pl_elastic_body *bodies, int *count,
                            pl_bending_edge **out)
{
    pl_status status = PL_OK;
    side *sides = NULL;
    pl_bending_edge *edges = NULL;
    int side_count = 0, found = 0;
    for (int b = 0; b < body_count; b++)
        side_count += bodies[b].cloth ? 3 * bodies[b].element_count : 0;
    PL_NEW(ctx, sides, side_count, done);
    PL_NEW(ctx, edges, side_count / 2, done);
    for (int b = 0, element_offset = 0; b < body_count; element_offset += bodies[b++].element_count) {
        if (!bodies[b].cloth)
            continue;
        list_sides(&bodies[b], element_offset, sides);
        /* Where more than two triangles meet, consecutive pairs bend against each other. */
        for (int s = 1; s < 3 * bodies[b].element_count; s++)
            if (sides[s].low == sides[s - 1].low && sides[s].high == sides[s - 1].high)
                edges[found++] = make_edge(&bodies[b], &sides[s - 1], &sides[s]);
    }
    *count = found;
    *out = edges;
    edges = NULL;
done:
    pl_free(ctx, sides);
    pl_free(ctx, edges);
    return status;
}

void pl_bending_locate(pl_elastic *el)
{
    for (int e = 0; e < el->edge_count; e++)
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < 4; l++)
                el->edges[e].entry[k][l] =
                    pl_pattern_find(&el->pattern, el->edges[e].vertex[k], el->edges[e].vertex[l]);
}

void pl_bending_set(pl_elastic *el, const double *rigidity)
{
    memset(el->bending, 0, (size_t)el->pattern.nnz * sizeof *el->bending);
    for (int i = 0; i < el->edge_count; i++) {
        pl_bending_edge *e = &el->edges[i];
        e->stiffness = 0.5 * (rigidity[e->element[0]] + rigidity[e->element[1]]) * e->inverse_area;
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < 4; l++)
                el->bending[e->entry[k][l]] += e->stiffness * e->weight[k] * e->weight[l];
    }
}

/* sum_k w_k x_k, from differences so that a far-away cloth loses no digits. */
static void weighted_sum(const pl_bending_edge *edge, const double *x, double sum[3])
{
    const double *x0 = x + 3 * (size_t)edge->vertex[0];
    memset(sum, 0, 3 * sizeof *sum);
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < 3; i++)
            sum[i] += edge->weight[k] * (x[3 * (size_t)edge->vertex[k] + (size_t)i] - x0[i]);
}

double pl_bending_force(const pl_bending_edge *edge, double stiffness, const double *q, double *force)
{
    double sum[3];
    weighted_sum(edge, q, sum);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++)
            force[3 * k + i] = stiffness * edge->weight[k] * sum[i];
    return 0.5 * stiffness * pl_dot3(sum, sum);
}

double pl_bending_product(const pl_bending_edge *edge, const double *x, const double *z)
{
    double sx[3], sz[3];
    weighted_sum(edge, x, sx);
    weighted_sum(edge, z, sz);
    return pl_dot3(sx, sz);
}
