/*
 * A binary tree with median splits along the longest axis of the centroids, so its depth is
 * ceil(log2(triangles)). A node of the winding number sum is a dipole at its area-weighted centroid c:
 *
 *     w(x) = sum_t Omega_t(x) / 4 pi  ~  (c - x) . sum_t a_t n_t / (4 pi |c - x|^3)
 *
 * used where |x - c| exceeds OPENING node radii (Barill et al. 2018, first order).
 */
#include "mesh/bvh.h"

#include "core/vec.h"

#define LEAF_SIZE 4
#define OPENING   2.0
#define MAX_DEPTH 64

typedef struct node {
    double lower[3], upper[3];
    double centre[3]; /* area-weighted centroid */
    double dipole[3]; /* sum of area vectors, m^2 */
    double radius;    /* of a ball about centre that holds the node's triangles */
    int first, count; /* leaf: range of triangles; inner: count 0, children first and first + 1 */
} node;

struct pl_bvh {
    int triangle_count, node_count;
    node *nodes;
    double *corners; /* [triangle_count, 3, 3] in tree order */
    int *source;     /* [triangle_count] the caller's index */
};

/* What building needs besides the tree: the caller's triangles as corners and centroids. */
typedef struct builder {
    pl_bvh *bvh;
    const double *vertices;
    const int *triangles;
    double *centroids; /* [triangle_count, 3] */
} builder;

static bool before(const double *centroids, int axis, int a, int b)
{
    double x = centroids[3 * a + axis], y = centroids[3 * b + axis];
    return x < y || (x == y && a < b);
}

/* Quickselect: puts the middle item where it belongs, smaller ones before it. Ties go by index. */
static void select_middle(int *items, int count, const double *centroids, int axis)
{
    int low = 0, high = count - 1, middle = count / 2;
    while (low < high) {
        int pivot = items[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (before(centroids, axis, items[i], pivot))
                i++;
            while (before(centroids, axis, pivot, items[j]))
                j--;
            if (i <= j) {
                int swap = items[i];
                items[i++] = items[j];
                items[j--] = swap;
            }
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static int longest_axis(const builder *b, int first, int count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = first; k < first + count; k++) {
        for (int i = 0; i < 3; i++) {
            double x = b->centroids[3 * b->bvh->source[k] + i];
            lower[i] = fmin(lower[i], x), upper[i] = fmax(upper[i], x);
        }
    }
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (upper[i] - lower[i] > upper[axis] - lower[axis])
            axis = i;
    return axis;
}

/* Splits range [first, first + count) below node `index` until leaves; depth is logarithmic. */
static void split(builder *b, int index, int first, int count)
{
    pl_bvh *bvh = b->bvh;
    if (count <= LEAF_SIZE) {
        bvh->nodes[index].first = first, bvh->nodes[index].count = count;
        return;
    }
    select_middle(bvh->source + first, count, b->centroids, longest_axis(b, first, count));
    int child = bvh->node_count;
    bvh->node_count += 2;
    bvh->nodes[index].first = child, bvh->nodes[index].count = 0;
    split(b, child, first, count / 2);
    split(b, child + 1, first + count / 2, count - count / 2);
}

static void area_vector(const double c[9], double out[3])
{
    double e[3], f[3];
    pl_sub3(c + 3, c, e), pl_sub3(c + 6, c, f);
    pl_cross3(e, f, out);
    for (int i = 0; i < 3; i++)
        out[i] *= 0.5;
}

/* Box, dipole and ball of a node from all of its triangles [first, first + count). */
static void measure(const pl_bvh *bvh, node *n, int first, int count)
{
    double area = 0, sum[3] = {0}, plain[3] = {0};
    for (int i = 0; i < 3; i++)
        n->lower[i] = INFINITY, n->upper[i] = -INFINITY, n->dipole[i] = 0;
    for (int k = first; k < first + count; k++) {
        const double *c = bvh->corners + 9 * k;
        double a[3];
        area_vector(c, a);
        double size = pl_norm3(a);
        area += size;
        for (int i = 0; i < 3; i++) {
            double mean = (c[i] + c[3 + i] + c[6 + i]) / 3;
            sum[i] += size * mean, plain[i] += mean, n->dipole[i] += a[i];
            n->lower[i] = fmin(n->lower[i], fmin(c[i], fmin(c[3 + i], c[6 + i])));
            n->upper[i] = fmax(n->upper[i], fmax(c[i], fmax(c[3 + i], c[6 + i])));
        }
    }
    for (int i = 0; i < 3; i++)
        n->centre[i] = area > 0 ? sum[i] / area : plain[i] / count;
    n->radius = 0;
    for (int k = 3 * first; k < 3 * (first + count); k++) {
        double d[3];
        pl_sub3(bvh->corners + 3 * k, n->centre, d);
        n->radius = fmax(n->radius, pl_norm3(d));
    }
}

/* Children are made after their parent, in one contiguous range each: measure by walking down. */
static void measure_tree(pl_bvh *bvh, int index, int first, int count)
{
    node *n = &bvh->nodes[index];
    measure(bvh, n, first, count);
    if (n->count == 0) {
        measure_tree(bvh, n->first, first, count / 2);
        measure_tree(bvh, n->first + 1, first + count / 2, count - count / 2);
    }
}

static pl_status check_input(pl_context *ctx, int vertex_count, const double *vertices,
                             int triangle_count, const int *triangles)
{
    if (triangle_count < 1)
        return pl_fail(ctx, PL_ERROR_MESH, "a surface needs at least one triangle");
    for (int k = 0; k < 3 * triangle_count; k++) {
        int v = triangles[k];
        if (v < 0 || v >= vertex_count)
            return pl_fail(ctx, PL_ERROR_MESH, "triangle %d names vertex %d of %d", k / 3, v,
                           vertex_count);
        for (int i = 0; i < 3; i++)
            if (!isfinite(vertices[3 * v + i]))
                return pl_fail(ctx, PL_ERROR_MESH, "vertex %d is not finite", v);
    }
    return PL_OK;
}

static void fill_centroids(builder *b)
{
    for (int t = 0; t < b->bvh->triangle_count; t++) {
        b->bvh->source[t] = t;
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += b->vertices[3 * b->triangles[3 * t + k] + i];
            b->centroids[3 * t + i] = sum / 3;
        }
    }
}

pl_status pl_bvh_create(pl_context *ctx, int vertex_count, const double *vertices, int triangle_count,
                        const int *triangles, pl_bvh **out)
{
    PL_TRY(check_input(ctx, vertex_count, vertices, triangle_count, triangles));
    pl_status status = PL_OK;
    builder b = {.vertices = vertices, .triangles = triangles};
    PL_NEW(ctx, b.bvh, 1, done);
    pl_bvh *bvh = b.bvh;
    bvh->triangle_count = triangle_count, bvh->node_count = 1;
    PL_NEW(ctx, bvh->nodes, 2 * (size_t)triangle_count, done);
    PL_NEW(ctx, bvh->corners, 9 * (size_t)triangle_count, done);
    PL_NEW(ctx, bvh->source, triangle_count, done);
    PL_NEW(ctx, b.centroids, 3 * (size_t)triangle_count, done);
    fill_centroids(&b);
    split(&b, 0, 0, triangle_count);
    for (int t = 0; t < triangle_count; t++)
        for (int k = 0; k < 3; k++)
            memcpy(bvh->corners + 9 * t + 3 * k, vertices + 3 * triangles[3 * bvh->source[t] + k],
                   3 * sizeof(double));
    measure_tree(bvh, 0, 0, triangle_count);
    *out = bvh;
    b.bvh = NULL;
done:
    pl_free(ctx, b.centroids);
    pl_bvh_destroy(ctx, b.bvh);
    return status;
}

void pl_bvh_destroy(pl_context *ctx, pl_bvh *bvh)
{
    if (!bvh)
        return;
    pl_free(ctx, bvh->nodes);
    pl_free(ctx, bvh->corners);
    pl_free(ctx, bvh->source);
    pl_free(ctx, bvh);
}

void pl_bvh_bounds(const pl_bvh *bvh, double lower[3], double upper[3])
{
    memcpy(lower, bvh->nodes[0].lower, 3 * sizeof *lower);
    memcpy(upper, bvh->nodes[0].upper, 3 * sizeof *upper);
}

static double box_distance2(const node *n, const double x[3])
{
    double d2 = 0;
    for (int i = 0; i < 3; i++) {
        double d = fmax(fmax(n->lower[i] - x[i], x[i] - n->upper[i]), 0);
        d2 += d * d;
    }
    return d2;
}

bool pl_bvh_closest(const pl_bvh *bvh, const double x[3], double limit, pl_bvh_hit *hit)
{
    struct {
        int index;
        double d2;
    } stack[MAX_DEPTH];
    int top = 0;
    double best2 = limit * limit;
    *hit = (pl_bvh_hit){.triangle = -1, .distance = limit};
    stack[top].index = 0, stack[top++].d2 = box_distance2(&bvh->nodes[0], x);
    while (top > 0) {
        top--;
        if (stack[top].d2 >= best2)
            continue;
        const node *n = &bvh->nodes[stack[top].index];
        for (int k = n->first; k < n->first + n->count; k++) {
            pl_bvh_hit found;
            pl_triangle_closest(bvh->corners + 9 * k, x, &found);
            if (found.distance < hit->distance) {
                *hit = found;
                hit->triangle = bvh->source[k];
                best2 = found.distance * found.distance;
            }
        }
        if (n->count > 0)
            continue;
        double d2[2] = {box_distance2(&bvh->nodes[n->first], x),
                        box_distance2(&bvh->nodes[n->first + 1], x)};
        int far = d2[0] <= d2[1];
        stack[top].index = n->first + far, stack[top++].d2 = d2[far];
        stack[top].index = n->first + !far, stack[top++].d2 = d2[!far];
    }
    return hit->triangle >= 0;
}

/* Van Oosterom and Strackee 1983. */
double pl_triangle_winding(const double corners[9], const double x[3])
{
    double a[3], b[3], c[3], bc[3];
    pl_sub3(corners, x, a), pl_sub3(corners + 3, x, b), pl_sub3(corners + 6, x, c);
    double la = pl_norm3(a), lb = pl_norm3(b), lc = pl_norm3(c);
    pl_cross3(b, c, bc);
    double above = pl_dot3(a, bc);
    double below = la * lb * lc + pl_dot3(a, b) * lc + pl_dot3(b, c) * la + pl_dot3(c, a) * lb;
    return above == 0 ? 0 : atan2(above, below) / (2 * M_PI);
}

double pl_bvh_winding(const pl_bvh *bvh, const double x[3])
{
    int stack[MAX_DEPTH], top = 0;
    double sum = 0;
    stack[top++] = 0;
    while (top > 0) {
        const node *n = &bvh->nodes[stack[--top]];
        double d[3];
        pl_sub3(n->centre, x, d);
        double r2 = pl_dot3(d, d), reach = OPENING * n->radius;
        if (r2 > reach * reach) {
            sum += pl_dot3(d, n->dipole) / (4 * M_PI * r2 * sqrt(r2));
        } else if (n->count > 0) {
            for (int k = n->first; k < n->first + n->count; k++)
                sum += pl_triangle_winding(bvh->corners + 9 * k, x);
        } else {
            stack[top++] = n->first + 1;
            stack[top++] = n->first;
        }
    }
    return sum;
}

double pl_bvh_signed_distance(const pl_bvh *bvh, const double x[3])
{
    pl_bvh_hit hit;
    pl_bvh_closest(bvh, x, INFINITY, &hit);
    return pl_bvh_winding(bvh, x) > 0.5 ? -hit.distance : hit.distance;
}

void pl_bvh_overlap(const pl_bvh *bvh, const double lower[3], const double upper[3], pl_bvh_visit visit,
                    void *user)
{
    int stack[MAX_DEPTH], top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const node *n = &bvh->nodes[stack[--top]];
        bool apart = false;
        for (int i = 0; i < 3; i++)
            apart |= n->lower[i] > upper[i] || n->upper[i] < lower[i];
        if (apart)
            continue;
        if (n->count == 0) {
            stack[top++] = n->first + 1;
            stack[top++] = n->first;
        }
        for (int k = n->first; k < n->first + n->count; k++) {
            const double *c = bvh->corners + 9 * k;
            bool off = false;
            for (int i = 0; i < 3; i++)
                off |= fmin(c[i], fmin(c[3 + i], c[6 + i])) > upper[i] ||
                       fmax(c[i], fmax(c[3 + i], c[6 + i])) < lower[i];
            if (!off && !visit(user, bvh->source[k]))
                return;
        }
    }
}
