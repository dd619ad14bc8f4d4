/* Bodies whose lattice fits their walls: the box of centred cubes and the rectangle. */
#include "mesh/mesh.h"
#include "shape/figure.h"

static double count_vertices(bool cloth, const int n[3])
{
    double corners = (n[0] + 1.0) * (n[1] + 1.0), area = (double)n[0] * n[1];
    if (cloth)
        return corners;
    return corners * (n[2] + 1.0) + area * n[2] +
           2 * (area + (double)n[1] * n[2] + (double)n[2] * n[0]);
}

/* How far cells n are from the wanted count and from cubes (squares). */
static double misfit(const pl_shape_info *info, int wanted, const int n[3])
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < (info->cloth ? 2 : 3); i++) {
        double side = (info->upper[i] - info->lower[i]) / n[i];
        low = fmin(low, side), high = fmax(high, side);
    }
    return fabs(log(count_vertices(info->cloth, n) / wanted)) + 0.5 * pow(log(high / low), 2);
}

/* The cells along the axes that fit best, by trying all near the even ones. Returns the mean side. */
static double choose_cells(const pl_shape_info *info, int wanted, int best[3])
{
    int first[3] = {1, 1, 1}, last[3] = {1, 1, 1}, dims = info->cloth ? 2 : 3;
    double size = 1, least = INFINITY;
    for (int i = 0; i < dims; i++)
        size *= info->upper[i] - info->lower[i];
    double cell = info->cloth ? sqrt(size / wanted) : cbrt(2 * size / wanted);
    for (int i = 0; i < dims; i++) {
        double n = (info->upper[i] - info->lower[i]) / cell;
        first[i] = (int)fmax(1, 0.5 * n), last[i] = (int)ceil(1.5 * n);
    }
    int n[3];
    for (n[0] = first[0]; n[0] <= last[0]; n[0]++) {
        for (n[1] = first[1]; n[1] <= last[1]; n[1]++) {
            for (n[2] = first[2]; n[2] <= last[2]; n[2]++) {
                double error = misfit(info, wanted, n);
                if (error < least)
                    least = error, memcpy(best, n, sizeof n);
            }
        }
    }
    double cells = (double)best[0] * best[1] * best[2];
    return info->cloth ? sqrt(size / cells) : cbrt(size / cells);
}

/* Position of doubled index d in [0, 2 n], a mirror image of that of 2 n - d where the box is one. */
static double along(const pl_shape_info *info, int axis, int n, int d)
{
    double low = info->lower[axis], high = info->upper[axis];
    return low == -high ? (d - n) * ((high - low) / (2 * n)) : low + d * ((high - low) / (2 * n));
}

typedef struct box {
    const pl_shape_info *info;
    int n[3];
    int *vertex; /* [2 n + 1 each way] vertex at doubled indices, -1 = not yet */
    pl_mesh *mesh;
} box;

static int box_vertex(box *b, const int d[3])
{
    int at = (d[2] * (2 * b->n[1] + 1) + d[1]) * (2 * b->n[0] + 1) + d[0];
    if (b->vertex[at] < 0) {
        b->vertex[at] = b->mesh->vertex_count++;
        for (int i = 0; i < 3; i++)
            b->mesh->vertices[3 * b->vertex[at] + i] = along(b->info, i, b->n[i], d[i]);
    }
    return b->vertex[at];
}

/* The four tetrahedra at one face of the cube centred at c: to the next centre, or to the face's own
 * centre on the wall. The lower of the two cubes at an inner face makes them. */
static void fill_face(box *b, const int c[3], int axis, int side)
{
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int far[3] = {c[0], c[1], c[2]}, ring[4];
    bool wall = c[axis] + side == 0 || c[axis] + side == 2 * b->n[axis];
    if (!wall && side < 0)
        return;
    far[axis] += wall ? side : 2 * side;
    for (int k = 0; k < 4; k++) {
        int at[3] = {c[0], c[1], c[2]};
        at[axis] += side;
        at[(axis + 1) % 3] += around[k][0], at[(axis + 2) % 3] += around[k][1];
        ring[k] = box_vertex(b, at);
    }
    for (int k = 0; k < 4; k++) {
        int *tet = b->mesh->tets + 4 * b->mesh->tet_count++;
        tet[0] = box_vertex(b, c), tet[1] = box_vertex(b, far);
        tet[2] = ring[k], tet[3] = ring[(k + 1) % 4];
        pl_tet_orient(b->mesh->vertices, tet);
    }
}

pl_status pl_box_build(pl_context *ctx, const pl_shape_info *info, int wanted, double *cell,
                       pl_mesh **out)
{
    pl_status status = PL_OK;
    box b = {.info = info};
    *cell = choose_cells(info, wanted, b.n);
    const int *n = b.n;
    double all = 1, most = 1;
    for (int i = 0; i < 3; i++)
        all *= 2 * n[i] + 1, most *= n[i];
    PL_TRY(pl_mesh_fits(ctx, 2 * most, 12 * most));
    int walls = 2 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]), cubes = n[0] * n[1] * n[2];
    PL_NEW(ctx, b.vertex, all, done);
    memset(b.vertex, -1, sizeof *b.vertex * (size_t)all);
    /* Faces: (6 cubes + walls) / 2, four tets each. */
    PL_CHECK(pl_mesh_new(ctx, (n[0] + 1) * (n[1] + 1) * (n[2] + 1) + cubes + walls,
                         2 * (6 * cubes + walls), 0, &b.mesh),
             done);
    b.mesh->vertex_count = b.mesh->tet_count = 0;
    for (int c = 0; c < cubes; c++) {
        int centre[3] = {2 * (c % n[0]) + 1, 2 * (c / n[0] % n[1]) + 1, 2 * (c / n[0] / n[1]) + 1};
        for (int face = 0; face < 6; face++)
            fill_face(&b, centre, face / 2, face % 2 ? 1 : -1);
    }
    *out = b.mesh;
done:
    pl_free(ctx, b.vertex);
    return status;
}

pl_status pl_rectangle_build(pl_context *ctx, const pl_shape_info *info, int wanted, double *cell,
                             pl_mesh **out)
{
    int cells[3];
    pl_mesh *mesh = NULL;
    *cell = choose_cells(info, wanted, cells);
    int n = cells[0], m = cells[1];
    PL_TRY(pl_mesh_new(ctx, (n + 1) * (m + 1), 0, 2 * n * m, &mesh));
    for (int v = 0; v < mesh->vertex_count; v++) {
        mesh->vertices[3 * v] = along(info, 0, n, 2 * (v % (n + 1)));
        mesh->vertices[3 * v + 1] = along(info, 1, m, 2 * (v / (n + 1)));
    }
    for (int c = 0; c < n * m; c++) {
        int i = c % n, j = c / n, a = j * (n + 1) + i, b = a + 1, d = a + n + 1, e = d + 1;
        int *t = mesh->triangles + 6 * c;
        if ((i + j) % 2 == 0)
            t[0] = a, t[1] = b, t[2] = e, t[3] = a, t[4] = e, t[5] = d;
        else
            t[0] = a, t[1] = b, t[2] = d, t[3] = b, t[4] = e, t[5] = d;
    }
    *out = mesh;
    return PL_OK;
}
