/*
 * Generators of round shapes: disc (cloth), cylinder and ellipsoid (solids).
 *
 * Disc: hexagonal rings. Ring k = 1..n at radius k R/n has 6 k vertices, so that edges are about R/n
 * along and across. Cylinder: the disc's triangles swept along z; each prism becomes three tets, its
 * side faces split from the vertex of the smaller number so that neighbours agree.
 *
 * Ellipsoid: the 20 tets between the centre and an icosahedron, each refined into n^3, every shell k
 * pushed out to the sphere of radius k/n, then scaled by the radii. A lattice point of a tet is
 * n >= x >= y >= z >= 0: x is the shell and (x-y, y-z, z) its weights on the icosahedron's triangle.
 * The Kuhn tets of the cubic lattice that satisfy those inequalities tile the tet, and on its faces
 * they give the same pattern from both sides.
 */
#include "mesh/mesh.h"

#define PI 3.14159265358979323846

/* ------------------------------------------------------------------------------- disc */

/* Vertex j of ring k, taken around; ring 0 is the centre. */
static int ring_vertex(int k, int j)
{
    return k == 0 ? 0 : 1 + 3 * k * (k - 1) + j % (6 * k);
}

static void fill_disc_vertices(int rings, double radius, double z, double *x)
{
    x[2] = z;
    for (int k = 1; k <= rings; k++) {
        for (int j = 0; j < 6 * k; j++) {
            double *p = x + 3 * (size_t)ring_vertex(k, j);
            double angle = PI / 3 * j / k, r = radius * ((double)k / rings);
            p[0] = r * cos(angle);
            p[1] = r * sin(angle);
            p[2] = z;
        }
    }
}

/* Between rings k-1 and k, each sixth has k triangles on the outer and k-1 on the inner ring. */
static void fill_disc_triangles(int rings, int *triangles)
{
    for (int k = 1; k <= rings; k++) {
        for (int sixth = 0; sixth < 6; sixth++) {
            for (int j = 0; j < k; j++) {
                int outer = sixth * k + j, inner = sixth * (k - 1) + j;
                *triangles++ = ring_vertex(k - 1, inner);
                *triangles++ = ring_vertex(k, outer);
                *triangles++ = ring_vertex(k, outer + 1);
                if (j == k - 1)
                    continue;
                *triangles++ = ring_vertex(k - 1, inner);
                *triangles++ = ring_vertex(k, outer + 1);
                *triangles++ = ring_vertex(k - 1, inner + 1);
            }
        }
    }
}

/* Vertices and triangles of a disc of n rings: 1 + 3 n (n+1) and 6 n^2, in double. */
static double disc_vertices(int rings)
{
    return 1 + 3.0 * rings * (rings + 1.0);
}

static double disc_triangles(int rings)
{
    return 6.0 * rings * rings;
}

/* Adds the group of the vertices first .. first + count - 1. */
static pl_status add_range(pl_context *ctx, pl_mesh *mesh, const char *name, int first, int count)
{
    int *index = pl_alloc(ctx, (size_t)count, sizeof *index);
    if (!index)
        return PL_ERROR_MEMORY;
    for (int i = 0; i < count; i++)
        index[i] = first + i;
    pl_status status = pl_mesh_add_group(ctx, mesh, name, PL_GROUP_VERTEX, count, index);
    pl_free(ctx, index);
    return status;
}

pl_status pl_mesh_disc(pl_context *ctx, double radius, double cell, pl_mesh **out)
{
    pl_status status = PL_OK;
    int rings;
    PL_TRY(pl_mesh_cells(ctx, "radius", radius, cell, &rings));
    PL_TRY(pl_mesh_fits(ctx, disc_vertices(rings), disc_triangles(rings)));
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_new(ctx, (int)disc_vertices(rings), 0, (int)disc_triangles(rings), &mesh));
    fill_disc_vertices(rings, radius, 0, mesh->vertices);
    fill_disc_triangles(rings, mesh->triangles);
    PL_CHECK(add_range(ctx, mesh, "rim", ring_vertex(rings, 0), 6 * rings), failed);
    *out = mesh;
    return PL_OK;
failed:
    pl_mesh_free(ctx, mesh);
    return status;
}

/* ------------------------------------------------------------------------------- cylinder */

/* The prism over triangle abc (ascending) and its copy `up` higher, as three tets along the path that
 * climbs at a different vertex each: every side face is split from its lower, smaller vertex. */
static void split_prism(const double *vertices, const int triangle[3], int base, int up, int *tets)
{
    int low[3] = {triangle[0], triangle[1], triangle[2]};
    pl_sort_few(3, low);
    for (int climb = 0; climb < 3; climb++) {
        int *tet = tets + 4 * (size_t)climb;
        for (int i = 0; i <= climb; i++)
            tet[i] = base + low[i];
        for (int i = climb; i < 3; i++)
            tet[i + 1] = base + up + low[i];
        pl_tet_orient(vertices, tet);
    }
}

pl_status pl_mesh_cylinder(pl_context *ctx, double radius, double height, double cell, pl_mesh **out)
{
    pl_status status = PL_OK;
    int rings, layers, *triangles = NULL;
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_cells(ctx, "radius", radius, cell, &rings));
    PL_TRY(pl_mesh_cells(ctx, "height", height, cell, &layers));
    PL_TRY(
        pl_mesh_fits(ctx, (layers + 1.0) * disc_vertices(rings), 3.0 * layers * disc_triangles(rings)));
    int n = (int)disc_vertices(rings), m = (int)disc_triangles(rings);
    PL_NEW(ctx, triangles, 3 * (size_t)m, failed);
    fill_disc_triangles(rings, triangles);
    PL_CHECK(pl_mesh_new(ctx, n * (layers + 1), 3 * m * layers, 0, &mesh), failed);
    for (int l = 0; l <= layers; l++)
        fill_disc_vertices(rings, radius, height * ((double)l / layers),
                           mesh->vertices + 3 * (size_t)n * (size_t)l);
    for (int l = 0; l < layers; l++) {
        for (int t = 0; t < m; t++)
            split_prism(mesh->vertices, triangles + 3 * (size_t)t, n * l, n,
                        mesh->tets + 12 * ((size_t)m * (size_t)l + (size_t)t));
    }
    PL_CHECK(add_range(ctx, mesh, "bottom", 0, n), failed);
    PL_CHECK(add_range(ctx, mesh, "top", n * layers, n), failed);
    pl_free(ctx, triangles);
    *out = mesh;
    return PL_OK;
failed:
    pl_mesh_free(ctx, mesh);
    pl_free(ctx, triangles);
    return status;
}

/* ------------------------------------------------------------------------------- ellipsoid */

enum { CORNERS = 12, EDGES = 30, FACES = 20 };

/* The icosahedron: vertex 0 is the north pole, 1..5 and 6..10 the two rings, 11 the south pole. */
typedef struct icosahedron {
    double corner[CORNERS][3];
    int face[FACES][3];                /* ascending */
    int edge_number[CORNERS][CORNERS]; /* of the edge between two corners a < b */
} icosahedron;

static void make_icosahedron(icosahedron *ico)
{
    *ico = (icosahedron){.corner = {[0] = {0, 0, 1}, [11] = {0, 0, -1}}};
    double z = 1 / sqrt(5), r = 2 * z;
    for (int i = 0; i < 5; i++) {
        double upper = 2 * PI / 5 * i, lower = upper + PI / 5;
        const double up[3] = {r * cos(upper), r * sin(upper), z};
        const double down[3] = {r * cos(lower), r * sin(lower), -z};
        memcpy(ico->corner[1 + i], up, sizeof up);
        memcpy(ico->corner[6 + i], down, sizeof down);
        int next = (i + 1) % 5;
        const int face[4][3] = {{0, 1 + i, 1 + next},
                                {1 + i, 1 + next, 6 + i},
                                {1 + next, 6 + i, 6 + next},
                                {6 + i, 6 + next, 11}};
        memcpy(ico->face[4 * i], face, sizeof face);
    }
    int edges = 0;
    for (int f = 0; f < FACES; f++) {
        int *v = ico->face[f];
        pl_sort_few(3, v);
        for (int i = 0; i < 3; i++) {
            int a = v[i == 2], b = v[i == 0 ? 1 : 2];
            if (ico->edge_number[a][b] == 0)
                ico->edge_number[a][b] = ++edges; /* from 1 while 0 means none */
        }
    }
}

/* Vertices of the shells 0 .. k: 1 + sum of 10 i^2 + 2. */
static double shell_end(int k)
{
    return 1 + 2.0 * k + 5.0 * k * (k + 1.0) * (2.0 * k + 1.0) / 3;
}

/*
 * The number of the vertex of shell k = w0 + w1 + w2 with weights w on the corners of a face. A shell
 * holds its 12 corners, then k-1 vertices for each edge, then (k-1)(k-2)/2 inside each face.
 */
static int shell_vertex(const icosahedron *ico, int face, const int w[3])
{
    int k = w[0] + w[1] + w[2];
    if (k == 0)
        return 0;
    int start = (int)shell_end(k - 1), zeros = (w[0] == 0) + (w[1] == 0) + (w[2] == 0);
    const int *corner = ico->face[face];
    if (zeros == 2)
        return start + corner[w[1] > 0 ? 1 : w[2] > 0 ? 2 : 0];
    if (zeros == 1) {
        int a = w[0] == 0 ? 1 : 0, b = w[2] == 0 ? 1 : 2;
        int edge = ico->edge_number[corner[a]][corner[b]] - 1;
        return start + CORNERS + edge * (k - 1) + w[b] - 1;
    }
    int row = w[1] + w[2] - 2; /* rows of 1, 2, ... vertices */
    return start + CORNERS + EDGES * (k - 1) + face * (k - 1) * (k - 2) / 2 + row * (row + 1) / 2 +
           w[2] - 1;
}

static void place_vertex(const icosahedron *ico, int face, const int w[3], int n, const double radii[3],
                         double *x)
{
    double p[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        pl_axpy3(w[i], ico->corner[ico->face[face][i]], p);
    double shell = (double)(w[0] + w[1] + w[2]) / n, length = pl_norm3(p);
    for (int d = 0; d < 3; d++)
        x[d] = length > 0 ? radii[d] * shell * p[d] / length : 0;
}

/* The Kuhn tets of the unit cube at `at` that lie in n >= x >= y >= z >= 0, for one face. */
static int split_lattice_cube(const icosahedron *ico, int face, int n, const int at[3],
                              const double radii[3], pl_mesh *mesh, int t)
{
    static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int p = 0; p < 6; p++) {
        int x[3] = {at[0], at[1], at[2]}, *tet = mesh->tets + 4 * (size_t)t, i = 0;
        for (; i < 4; i++) {
            if (i > 0)
                x[axes[p][i - 1]]++;
            if (x[0] > n || x[1] > x[0] || x[2] > x[1])
                break;
            const int w[3] = {x[0] - x[1], x[1] - x[2], x[2]};
            tet[i] = shell_vertex(ico, face, w);
            place_vertex(ico, face, w, n, radii, mesh->vertices + 3 * (size_t)tet[i]);
        }
        if (i < 4)
            continue;
        pl_tet_orient(mesh->vertices, tet);
        t++;
    }
    return t;
}

pl_status pl_mesh_ellipsoid(pl_context *ctx, const double radii[3], double cell, pl_mesh **out)
{
    static const char *const names[] = {"radii[0]", "radii[1]", "radii[2]"};
    int n;
    for (int d = 0; d < 3; d++)
        PL_TRY(pl_mesh_cells(ctx, names[d], radii[d], cell, &n));
    PL_TRY(pl_mesh_cells(ctx, "radii", (radii[0] + radii[1] + radii[2]) / 3, cell, &n));
    double tets = (double)FACES * n * n * n;
    PL_TRY(pl_mesh_fits(ctx, shell_end(n), tets));
    pl_mesh *mesh = NULL;
    PL_TRY(pl_mesh_new(ctx, (int)shell_end(n), (int)tets, 0, &mesh));
    icosahedron ico;
    make_icosahedron(&ico);
    int t = 0;
    for (int face = 0; face < FACES; face++) {
        for (int x = 0; x < n; x++) {
            for (int y = 0; y <= x; y++) {
                for (int z = 0; z <= y; z++)
                    t = split_lattice_cube(&ico, face, n, (const int[3]){x, y, z}, radii, mesh, t);
            }
        }
    }
    *out = mesh;
    return PL_OK;
}
