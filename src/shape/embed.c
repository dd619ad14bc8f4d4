/*
 * Which tet holds a point: of all faces of all tets the nearest one belongs to it, since the way to any
 * other face leads through it first. So a tree over the faces finds the tet, and outside the mesh the
 * nearest boundary tet. Weights are barycentric: x = sum w_k x_k, sum w_k = 1.
 */
#include <pliant/shape.h>

#include "mesh/bvh.h"
#include "mesh/mesh.h"

static void weights_of(const pl_mesh *mesh, int t, const double x[3], double w[4])
{
    double corners[12];
    for (int k = 0; k < 4; k++)
        memcpy(corners + 3 * k, mesh->vertices + 3 * (size_t)mesh->tets[4 * t + k], 3 * sizeof *x);
    pl_tet_weights(corners, x, w);
}

static double least_of(const double w[4])
{
    return fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
}

/* Faces [4 tet_count, 3], each of a tet: face f is of tet f / 4. Shared ones appear twice, and the tree
 * may return either, so both owners are tried: other[f] is the same face of the neighbour, or f. */
static pl_status pair_faces(pl_context *ctx, const pl_mesh *mesh, int *faces, int *other)
{
    pl_status status = PL_OK;
    int count = 4 * mesh->tet_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 3 * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    for (int f = 0; f < count; f++) {
        for (int k = 0; k < 3; k++)
            faces[3 * f + k] = rows[3 * f + k] = mesh->tets[f / 4 * 4 + pl_tet_faces[f % 4][k]];
        pl_sort_few(3, rows + 3 * f);
        other[f] = f;
    }
    PL_CHECK(pl_sort_rows(ctx, count, 3, rows, mesh->vertex_count, order), done);
    for (int k = 1; k < count; k++) {
        int f = order[k - 1], g = order[k];
        if (memcmp(rows + 3 * f, rows + 3 * g, 3 * sizeof *rows) == 0)
            other[f] = g, other[g] = f;
    }
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    return status;
}

static void locate(const pl_mesh *mesh, const pl_bvh *bvh, const int *other, const double x[3],
                   int v[4], double w[4])
{
    pl_bvh_hit hit;
    double second[4];
    pl_bvh_closest(bvh, x, INFINITY, &hit);
    int t = hit.triangle / 4, u = other[hit.triangle] / 4;
    weights_of(mesh, t, x, w);
    weights_of(mesh, u, x, second);
    if (least_of(second) > least_of(w)) {
        t = u;
        memcpy(w, second, sizeof second);
    }
    memcpy(v, mesh->tets + 4 * t, 4 * sizeof *v);
}

static pl_status check(pl_context *ctx, const pl_mesh *mesh, int count, const double *points)
{
    if (mesh->tet_count < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "a surface can be embedded in tets only, the mesh has none");
    if (count < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "count is %d", count);
    for (int t = 0; t < mesh->tet_count; t++)
        if (!pl_element_valid(4, mesh->tets + 4 * (size_t)t, mesh->vertex_count))
            return pl_fail(ctx, PL_ERROR_MESH,
                           "mesh: tet %d names a vertex twice or one that is not in [0, %d)", t,
                           mesh->vertex_count);
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        if (!isfinite(points[i]))
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "point %zu is not finite", i / 3);
    return PL_OK;
}

pl_status pl_embedding_create(pl_context *ctx, const pl_mesh *mesh, int count, const double *points,
                              pl_embedding **out)
{
    PL_TRY(check(ctx, mesh, count, points));
    pl_status status = PL_OK;
    pl_embedding *e = NULL;
    pl_bvh *bvh = NULL;
    int *faces = NULL, *other = NULL;
    PL_NEW(ctx, faces, 12 * (size_t)mesh->tet_count, done);
    PL_NEW(ctx, other, 4 * (size_t)mesh->tet_count, done);
    PL_NEW(ctx, e, 1, done);
    e->count = count;
    PL_NEW(ctx, e->vertex, 4 * (size_t)count, done);
    PL_NEW(ctx, e->weight, 4 * (size_t)count, done);
    PL_CHECK(pair_faces(ctx, mesh, faces, other), done);
    PL_CHECK(pl_bvh_create(ctx, mesh->vertex_count, mesh->vertices, 4 * mesh->tet_count, faces, &bvh),
             done);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int k = 0; k < count; k++)
        locate(mesh, bvh, other, points + 3 * (size_t)k, e->vertex + 4 * (size_t)k,
               e->weight + 4 * (size_t)k);
    *out = e;
    e = NULL;
done:
    pl_free(ctx, faces);
    pl_free(ctx, other);
    pl_bvh_destroy(ctx, bvh);
    pl_embedding_destroy(ctx, e);
    return status;
}

void pl_embedding_destroy(pl_context *ctx, pl_embedding *embedding)
{
    if (!embedding)
        return;
    pl_free(ctx, embedding->vertex);
    pl_free(ctx, embedding->weight);
    pl_free(ctx, embedding);
}

void pl_embedding_apply(const pl_embedding *embedding, const double *q, double *points)
{
    for (int k = 0; k < embedding->count; k++) {
        double x[3] = {0};
        for (int i = 0; i < 4; i++)
            pl_axpy3(embedding->weight[4 * k + i], q + 3 * (size_t)embedding->vertex[4 * k + i], x);
        memcpy(points + 3 * (size_t)k, x, sizeof x);
    }
}
