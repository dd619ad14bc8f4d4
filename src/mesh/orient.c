/*
 * Which way triangles face.
 *
 * On a solid: outward, as the boundary face of the tet with the same three vertices. On a surface:
 * two triangles that share an edge must run along it in opposite directions. Within each piece
 * connected by such edges the larger part keeps its side. A closed surface must enclose a positive
 * volume, sum over triangles of x0.(x1 x x2) / 6; one turn for all keeps cavities facing inward.
 */
#include "mesh/raw.h"

static void turn(int *triangle)
{
    int last = triangle[2];
    triangle[2] = triangle[1];
    triangle[1] = last;
}

/* Whether (a, b, c) is (x, y, z) up to rotation, given that they are the same set. */
static bool same_turn(const int a[3], const int b[3])
{
    for (int i = 0; i < 3; i++) {
        if (a[0] == b[i])
            return a[1] == b[(i + 1) % 3];
    }
    return false;
}

pl_status pl_orient_boundary(pl_context *ctx, pl_mesh *mesh, int *turned, int *first)
{
    if (mesh->triangle_count == 0)
        return PL_OK;
    pl_status status = PL_OK;
    int count = 0, *surface = NULL, *rows = NULL, *order = NULL;
    PL_CHECK(pl_mesh_surface(ctx, mesh, &count, &surface), done);
    int all = count + mesh->triangle_count; /* boundary faces first, so they lead their equals */
    PL_NEW(ctx, rows, 3 * (size_t)all, done);
    PL_NEW(ctx, order, all, done);
    memcpy(rows, surface, 3 * (size_t)count * sizeof *rows);
    memcpy(rows + 3 * (size_t)count, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *rows);
    for (int f = 0; f < all; f++)
        pl_sort_few(3, rows + 3 * (size_t)f);
    PL_CHECK(pl_sort_rows(ctx, all, 3, rows, mesh->vertex_count, order), done);
    const int *face = NULL, *row = NULL;
    for (int i = 0; i < all; i++) {
        if (order[i] < count) {
            face = surface + 3 * (size_t)order[i];
            row = rows + 3 * (size_t)order[i];
            continue;
        }
        int t = order[i] - count, *triangle = mesh->triangles + 3 * (size_t)t;
        if (!row || memcmp(row, rows + 3 * (size_t)order[i], 3 * sizeof *row) != 0 ||
            same_turn(face, triangle))
            continue;
        turn(triangle);
        *first = *turned == 0 || t < *first ? t : *first;
        ++*turned;
    }
done:
    pl_free(ctx, order);
    pl_free(ctx, rows);
    pl_free(ctx, surface);
    return status;
}

/* ------------------------------------------------------------------------------- surfaces */

/* Edge i of a triangle runs from its vertex i to the next. */
static bool forward(const int *triangle, int edge)
{
    return triangle[edge] < triangle[(edge + 1) % 3];
}

/* mate[3 triangle_count]: the half edge on the other side of an edge that two triangles share, or -1.
 * *closed: whether every edge has one. */
static pl_status find_mates(pl_context *ctx, const pl_mesh *mesh, int *mate, bool *closed)
{
    pl_status status = PL_OK;
    int count = 3 * mesh->triangle_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 2 * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    for (int h = 0; h < count; h++) {
        const int *triangle = mesh->triangles + 3 * (size_t)(h / 3);
        rows[2 * (size_t)h] = triangle[h % 3];
        rows[2 * (size_t)h + 1] = triangle[(h + 1) % 3];
        pl_sort_few(2, rows + 2 * (size_t)h);
        mate[h] = -1;
    }
    PL_CHECK(pl_sort_rows(ctx, count, 2, rows, mesh->vertex_count, order), done);
    *closed = true;
    for (int begin = 0, end; begin < count; begin = end) {
        const int *row = rows + 2 * (size_t)order[begin];
        for (end = begin + 1; end < count; end++) {
            if (memcmp(row, rows + 2 * (size_t)order[end], 2 * sizeof *row) != 0)
                break;
        }
        if (end - begin == 2) {
            mate[order[begin]] = order[begin + 1];
            mate[order[begin + 1]] = order[begin];
        } else {
            *closed = false;
        }
    }
done:
    pl_free(ctx, order);
    pl_free(ctx, rows);
    return status;
}

enum { UNSEEN, KEEP, TURN };

/* Marks the piece of `seed` with KEEP and TURN so that neighbours agree, the larger part kept. */
static void orient_piece(const pl_mesh *mesh, const int *mate, int seed, int *queue, char *side)
{
    int count = 0, turned = 0;
    queue[count++] = seed;
    side[seed] = KEEP;
    for (int next = 0; next < count; next++) {
        int t = queue[next];
        turned += side[t] == TURN;
        for (int e = 0; e < 3; e++) {
            int h = mate[3 * t + e];
            if (h < 0 || side[h / 3] != UNSEEN)
                continue;
            bool agree = forward(mesh->triangles + 3 * (size_t)t, e) !=
                         forward(mesh->triangles + 3 * (size_t)(h / 3), h % 3);
            side[h / 3] = (char)(agree == (side[t] == KEEP) ? KEEP : TURN);
            queue[count++] = h / 3;
        }
    }
    for (int i = 0; 2 * turned > count && i < count; i++)
        side[queue[i]] = side[queue[i]] == KEEP ? TURN : KEEP;
}

static double enclosed_volume6(const pl_mesh *mesh, const char *side)
{
    double sum = 0, normal[3];
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int *v = mesh->triangles + 3 * (size_t)t;
        pl_cross3(mesh->vertices + 3 * (size_t)v[1], mesh->vertices + 3 * (size_t)v[2], normal);
        double volume6 = pl_dot3(mesh->vertices + 3 * (size_t)v[0], normal);
        sum += side[t] == KEEP ? volume6 : -volume6;
    }
    return sum;
}

pl_status pl_orient_surface(pl_context *ctx, pl_mesh *mesh, int *turned, int *first)
{
    if (mesh->triangle_count > INT32_MAX / 3)
        return pl_fail(ctx, PL_ERROR_MESH, "%d triangles are too many", mesh->triangle_count);
    pl_status status = PL_OK;
    int *mate = NULL, *queue = NULL;
    char *side = NULL;
    bool closed = false;
    PL_NEW(ctx, mate, 3 * (size_t)mesh->triangle_count, done);
    PL_NEW(ctx, queue, mesh->triangle_count, done);
    PL_NEW(ctx, side, mesh->triangle_count, done);
    PL_CHECK(find_mates(ctx, mesh, mate, &closed), done);
    for (int t = 0; t < mesh->triangle_count; t++) {
        if (side[t] == UNSEEN)
            orient_piece(mesh, mate, t, queue, side);
    }
    bool inside_out = closed && enclosed_volume6(mesh, side) < 0;
    for (int t = 0; t < mesh->triangle_count; t++) {
        if ((side[t] == TURN) == inside_out)
            continue;
        turn(mesh->triangles + 3 * (size_t)t);
        *first = *turned == 0 ? t : *first;
        ++*turned;
    }
done:
    pl_free(ctx, side);
    pl_free(ctx, queue);
    pl_free(ctx, mate);
    return status;
}
