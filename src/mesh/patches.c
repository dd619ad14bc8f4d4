/*
 * A solid's tets in patches of about five that share faces: a tet and its four neighbours, those that
 * lie closest together first. In cubes cut into five these are the cubes.
 */
#include "mesh/patches.h"

#include <stdlib.h>

typedef struct seed {
    double compactness; /* V^(2/3) / A of the tet and its neighbours */
    int tet;
} seed;

/* The most compact first, of equal ones that with the lower number. */
static int compare_seeds(const void *a, const void *b)
{
    const seed *x = a, *y = b;
    if (x->compactness != y->compactness)
        return x->compactness < y->compactness ? 1 : -1;
    return x->tet - y->tet;
}

/* next [tet_count, 4] = the tet beyond each face, -1 for none. */
static pl_status find_neighbours(pl_context *ctx, const pl_mesh *mesh, int *next)
{
    pl_status status = PL_OK;
    int count = 4 * mesh->tet_count, *rows = NULL, *order = NULL;
    PL_NEW(ctx, rows, 3 * (size_t)count, done);
    PL_NEW(ctx, order, count, done);
    for (int f = 0; f < count; f++) {
        next[f] = -1;
        for (int i = 0; i < 3; i++)
            rows[3 * (size_t)f + (size_t)i] =
                mesh->tets[4 * (size_t)(f / 4) + (size_t)pl_tet_faces[f % 4][i]];
        pl_sort_few(3, rows + 3 * (size_t)f);
    }
    PL_CHECK(pl_sort_rows(ctx, count, 3, rows, mesh->vertex_count, order), done);
    for (int k = 0; k + 1 < count; k++)
        if (!memcmp(rows + 3 * (size_t)order[k], rows + 3 * (size_t)order[k + 1], 3 * sizeof *rows)) {
            next[order[k]] = order[k + 1] / 4;
            next[order[k + 1]] = order[k] / 4;
        }
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    return status;
}

static double face_area(const pl_mesh *mesh, int tet, int face)
{
    const int *v = mesh->tets + 4 * (size_t)tet, *f = pl_tet_faces[face];
    double a[3], b[3], n[3];
    pl_sub3(mesh->vertices + 3 * (size_t)v[f[1]], mesh->vertices + 3 * (size_t)v[f[0]], a);
    pl_sub3(mesh->vertices + 3 * (size_t)v[f[2]], mesh->vertices + 3 * (size_t)v[f[0]], b);
    pl_cross3(a, b, n);
    return 0.5 * pl_norm3(n);
}

static double compactness(const pl_mesh *mesh, const int *next, int tet)
{
    double volume = pl_tet_volume6(mesh->vertices, mesh->tets + 4 * (size_t)tet) / 6, area = 0;
    for (int f = 0; f < 4; f++) {
        int other = next[4 * tet + f];
        if (other < 0) {
            area += face_area(mesh, tet, f);
            continue;
        }
        volume += pl_tet_volume6(mesh->vertices, mesh->tets + 4 * (size_t)other) / 6;
        for (int g = 0; g < 4; g++)
            area += next[4 * other + g] == tet ? 0 : face_area(mesh, other, g);
    }
    return cbrt(volume * volume) / area;
}

/* The seed's free neighbours and itself as a patch, if there are at least `least` of them. */
static bool take(const int *next, int tet, int least, int patch, int *of)
{
    int free_count = 0;
    for (int f = 0; f < 4; f++)
        free_count += next[4 * tet + f] >= 0 && of[next[4 * tet + f]] < 0;
    if (of[tet] >= 0 || free_count < least)
        return false;
    of[tet] = patch;
    for (int f = 0; f < 4; f++)
        if (next[4 * tet + f] >= 0 && of[next[4 * tet + f]] < 0)
            of[next[4 * tet + f]] = patch;
    return true;
}

/* A tet that is left joins the smallest patch beside it, if that has room; size [patches]. */
static bool join(const int *next, int tet, int *size, int *of)
{
    int best = -1;
    for (int f = 0; f < 4; f++) {
        int patch = next[4 * tet + f] < 0 ? -1 : of[next[4 * tet + f]];
        if (patch >= 0 && size[patch] < PL_PATCH_TETS && (best < 0 || size[patch] < size[best]))
            best = patch;
    }
    if (best < 0)
        return false;
    of[tet] = best;
    size[best]++;
    return true;
}

pl_status pl_mesh_patches(pl_context *ctx, const pl_mesh *mesh, int *patch_count, int *of)
{
    pl_status status = PL_OK;
    int n = mesh->tet_count, *next = NULL, *size = NULL, count = 0;
    seed *seeds = NULL;
    PL_NEW(ctx, next, 4 * (size_t)n, done);
    PL_NEW(ctx, size, n, done);
    PL_NEW(ctx, seeds, n, done);
    PL_CHECK(find_neighbours(ctx, mesh, next), done);
    for (int t = 0; t < n; t++) {
        seeds[t] = (seed){compactness(mesh, next, t), t};
        of[t] = -1;
    }
    qsort(seeds, (size_t)n, sizeof *seeds, compare_seeds);
    for (int least = 4; least >= 3; least--)
        for (int k = 0; k < n; k++)
            count += take(next, seeds[k].tet, least, count, of);
    for (int t = 0; t < n; t++)
        if (of[t] >= 0)
            size[of[t]]++;
    for (bool joined = true; joined;) {
        joined = false;
        for (int t = 0; t < n; t++)
            joined |= of[t] < 0 && join(next, t, size, of);
    }
    for (int k = 0; k < n; k++)
        count += take(next, seeds[k].tet, 0, count, of);
    *patch_count = count;
done:
    pl_free(ctx, next);
    pl_free(ctx, size);
    pl_free(ctx, seeds);
    return status;
}
