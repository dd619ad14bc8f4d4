/*
 * Pieces of surfaces, and whether they are closed. Two triangles are of one piece when they share an
 * edge. A surface is closed when every edge belongs to two triangles, which run along it in opposite
 * ways.
 */
#include "mesh/mesh.h"

/* The edges [3 count, 2] of triangles, lower vertex first, and their lexicographic order. */
static pl_status sort_edges(pl_context *ctx, int vertex_count, int count, const int *triangles,
                            int **edges, int **order)
{
    pl_status status = PL_OK;
    PL_NEW(ctx, *edges, 6 * (size_t)count, done);
    PL_NEW(ctx, *order, 3 * (size_t)count, done);
    for (int e = 0; e < 3 * count; e++) {
        int *edge = *edges + 2 * (size_t)e;
        edge[0] = triangles[e];
        edge[1] = triangles[e % 3 == 2 ? e - 2 : e + 1];
        pl_sort_few(2, edge);
    }
    status = pl_sort_rows(ctx, 3 * count, 2, *edges, vertex_count, *order);
done:
    return status;
}

/* Of edges in order, the end of the run of equal ones that begins at `begin`. */
static int run_end(const int *edges, const int *order, int count, int begin)
{
    int end = begin + 1;
    while (end < count && memcmp(edges + 2 * (size_t)order[begin], edges + 2 * (size_t)order[end],
                                 2 * sizeof *edges) == 0)
        end++;
    return end;
}

static int root_of(int *piece, int triangle)
{
    while (piece[triangle] != triangle)
        triangle = piece[triangle] = piece[piece[triangle]];
    return triangle;
}

pl_status pl_surface_pieces(pl_context *ctx, int vertex_count, int count, const int *triangles,
                            int *piece_count, int *piece)
{
    pl_status status = PL_OK;
    int *edges = NULL, *order = NULL;
    PL_CHECK(sort_edges(ctx, vertex_count, count, triangles, &edges, &order), done);
    for (int t = 0; t < count; t++)
        piece[t] = t;
    for (int begin = 0, end; begin < 3 * count; begin = end) {
        end = run_end(edges, order, 3 * count, begin);
        for (int k = begin + 1; k < end; k++) {
            int a = root_of(piece, order[begin] / 3), b = root_of(piece, order[k] / 3);
            piece[a > b ? a : b] = a < b ? a : b;
        }
    }
    /* Roots are the first triangles of their pieces, which are numbered in that order. */
    *piece_count = 0;
    for (int t = 0; t < count; t++)
        piece[t] = root_of(piece, t);
    for (int t = 0; t < count; t++)
        piece[t] = piece[t] == t ? (*piece_count)++ : piece[piece[t]];
done:
    pl_free(ctx, edges);
    pl_free(ctx, order);
    return status;
}

pl_status pl_surface_check_closed(pl_context *ctx, int vertex_count, int count, const int *triangles)
{
    pl_status status = PL_OK;
    int *edges = NULL, *order = NULL;
    PL_CHECK(sort_edges(ctx, vertex_count, count, triangles, &edges, &order), done);
    for (int begin = 0, end; status == PL_OK && begin < 3 * count; begin = end) {
        end = run_end(edges, order, 3 * count, begin);
        const int *edge = edges + 2 * (size_t)order[begin];
        bool opposite = end - begin == 2 && triangles[order[begin]] != triangles[order[begin + 1]];
        if (end - begin != 2)
            status = pl_fail(ctx, PL_ERROR_ARGUMENT,
                             "triangles: %d of them have the edge between vertices %d and %d, expected "
                             "2: the surface is not closed",
                             end - begin, edge[0], edge[1]);
        else if (!opposite)
            status = pl_fail(ctx, PL_ERROR_ARGUMENT,
                             "triangles %d and %d are turned differently: both run along their edge "
                             "between vertices %d and %d the same way",
                             order[begin] / 3, order[begin + 1] / 3, edge[0], edge[1]);
    }
done:
    pl_free(ctx, edges);
    pl_free(ctx, order);
    return status;
}
