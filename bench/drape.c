#include "drape.h"

#include <math.h>
#include <stdlib.h>

/* Corners of the squares row by row, then their middles. */
static pl_status make_cloth(pl_context *ctx, int cells, pl_mesh **out)
{
    int side = cells + 1, corners = side * side, count = corners + cells * cells;
    double *x = malloc(sizeof *x * 3 * (size_t)count);
    int *triangles = malloc(sizeof *triangles * 12 * (size_t)(cells * cells)), *t = triangles;
    pl_status status = x && triangles ? PL_OK : PL_ERROR_MEMORY;
    for (int k = 0; status == PL_OK && k < count; k++) {
        int row = k < corners ? side : cells, at = k < corners ? k : k - corners;
        double middle = k < corners ? 0 : 0.5;
        x[3 * k] = (at % row + middle) / cells - 0.5;
        x[3 * k + 1] = (at / row + middle) / cells - 0.5;
        x[3 * k + 2] = 0.005;
    }
    for (int k = 0; status == PL_OK && k < cells * cells; k++) {
        int a = k / cells * side + k % cells, ring[4] = {a, a + 1, a + 1 + side, a + side};
        for (int i = 0; i < 4; i++) {
            *t++ = ring[i];
            *t++ = ring[(i + 1) % 4];
            *t++ = corners + k;
        }
    }
    if (status == PL_OK)
        status = pl_mesh_create(ctx, count, x, 0, NULL, 4 * cells * cells, triangles, out);
    free(x);
    free(triangles);
    return status;
}

pl_status drape_scene(pl_context *ctx, int cells, pl_scene **out)
{
    pl_mesh *mesh = NULL;
    pl_scene *scene = NULL;
    pl_body_def body = pl_body_def_default();
    pl_collider_def sphere = pl_collider_def_default();
    pl_status status = make_cloth(ctx, cells, &mesh);
    body.mesh = mesh;
    body.model = PL_ARAP;
    body.density = 1000;
    body.thickness = 1e-3;
    body.bending = 1e-4;
    sphere.shape = PL_SPHERE;
    sphere.size[0] = 0.15;
    sphere.pose[2] = -0.15;
    sphere.friction = 0;
    if (status == PL_OK)
        status = pl_scene_create(ctx, NULL, &scene);
    if (status == PL_OK)
        status = pl_scene_add_body(scene, &body, NULL);
    if (status == PL_OK)
        status = pl_scene_add_collider(scene, &sphere, NULL);
    pl_mesh_free(ctx, mesh);
    if (status == PL_OK)
        *out = scene;
    else
        pl_scene_destroy(scene);
    return status;
}

double drape_young(int e)
{
    double golden = 0.6180339887498949, share = fmod((e + 0.5) * golden, 1);
    return 1e4 * pow(100, share);
}
