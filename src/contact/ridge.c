/* Ridges of each shape. */
#include "contact/ridge.h"

#include "core/vec.h"

#define RIM    48    /* chords of a cylinder's rim */
#define BENDS  0.035 /* sine of the angle between triangles at an edge that counts */
#define ABRUPT 0.25  /* the same of one that bends all at once */
#define JUTS   0.01  /* sine of the angle by which all edges fall off at a corner that counts */

void pl_ridges_free(pl_context *ctx, pl_ridges *r)
{
    pl_free(ctx, r->ridge);
    pl_free(ctx, r->x);
    pl_free(ctx, r->side);
    pl_boxes_free(ctx, &r->tree);
    *r = (pl_ridges){0};
}

/* A ridge from a to b, a point where they are the same, with directions `side` [sides, 3]. */
static pl_status add(pl_context *ctx, pl_ridges *r, int ends, const double a[3], const double b[3],
                     double radius, int sides, const double *side, double blunt)
{
    PL_TRY(pl_grow(ctx, (void **)&r->ridge, &r->capacity, r->count + 1, sizeof *r->ridge));
    PL_TRY(pl_grow(ctx, (void **)&r->x, &r->x_capacity, 6 * (r->count + 1), sizeof *r->x));
    PL_TRY(pl_grow(ctx, (void **)&r->side, &r->side_capacity, 3 * (r->side_count + sides),
                   sizeof *r->side));
    pl_ridge new = {
        .ends = ends, .radius = radius, .first = r->side_count, .sides = sides, .blunt = blunt};
    for (int i = 0; i < sides; i++)
        pl_axpy3(-1, side + 3 * i, new.out);
    double length = pl_norm3(new.out);
    for (int k = 0; k < 3 && sides > 0; k++)
        new.out[k] /= length;
    if (sides > 0)
        memcpy(r->side + 3 * (size_t)r->side_count, side, sizeof *side * 3 * (size_t)sides);
    memcpy(r->x + 6 * (size_t)r->count, a, 3 * sizeof *a);
    memcpy(r->x + 6 * (size_t)r->count + 3, b, 3 * sizeof *b);
    r->side_count += sides;
    r->largest = fmax(r->largest, radius);
    r->least = r->count == 0 ? blunt : fmin(r->least, blunt);
    r->ridge[r->count++] = new;
    return PL_OK;
}

/* ---- Shapes ---- */

static pl_status add_axis(pl_context *ctx, pl_ridges *r, double radius, double half)
{
    const double low[3] = {0, 0, -half}, high[3] = {0, 0, half};
    return add(ctx, r, 2, low, high, radius, 0, NULL, radius);
}

static pl_status add_capsule(pl_context *ctx, pl_ridges *r, double radius, double half)
{
    const double low[3] = {0, 0, -half}, high[3] = {0, 0, half};
    PL_TRY(add(ctx, r, 1, low, low, radius, 0, NULL, radius));
    PL_TRY(add(ctx, r, 1, high, high, radius, 0, NULL, radius));
    return add_axis(ctx, r, radius, half);
}

static pl_status add_box(pl_context *ctx, pl_ridges *r, const double half[3])
{
    for (int corner = 0; corner < 8; corner++) {
        double a[3], inward[9] = {0};
        for (int k = 0; k < 3; k++) {
            double sign = corner >> k & 1 ? 1 : -1;
            a[k] = sign * half[k];
            inward[4 * k] = -sign;
        }
        PL_TRY(add(ctx, r, 1, a, a, 0, 3, inward, 0));
        for (int k = 0; k < 3; k++) { /* edges from here upwards */
            double b[3] = {a[0], a[1], a[2]}, sides[6];
            if (corner >> k & 1)
                continue;
            b[k] = half[k];
            memcpy(sides, inward + 3 * ((k + 1) % 3), 3 * sizeof *sides);
            memcpy(sides + 3, inward + 3 * ((k + 2) % 3), 3 * sizeof *sides);
            PL_TRY(add(ctx, r, 2, a, b, 0, 2, sides, 0));
        }
    }
    return PL_OK;
}

static pl_status add_rim(pl_context *ctx, pl_ridges *r, double radius, double z)
{
    const double step = 2 * acos(-1.0) / RIM, down = z > 0 ? -1 : 1;
    for (int i = 0; i < RIM; i++) {
        double at = step * i, to = step * (i + 1), half = at + 0.5 * step, tilt = sin(0.5 * step);
        double a[3] = {radius * cos(at), radius * sin(at), z};
        double b[3] = {radius * cos(to), radius * sin(to), z};
        double sides[6] = {-cos(half), -sin(half), 0, 0, 0, down};
        /* Along both chords, and down the side. */
        double falls[9] = {-sin(at) - tilt * cos(at),
                           cos(at) - tilt * sin(at),
                           0,
                           sin(at) - tilt * cos(at),
                           -cos(at) - tilt * sin(at),
                           0,
                           0,
                           0,
                           down};
        for (int k = 0; k < 6; k++)
            falls[k] /= hypot(1, tilt);
        PL_TRY(add(ctx, r, 2, a, b, 0, 2, sides, 0));
        PL_TRY(add(ctx, r, 1, a, a, 0, 3, falls, 0));
    }
    return PL_OK;
}

/* ---- Meshes ---- */

/* The edge from corner c of triangle t to the next: its vertices, directions into its triangles [2, 3],
 * and the sine of how far it bends outwards. */
static double edge_of(const pl_collider_mesh *mesh, int t, int c, int vertex[2], double sides[6])
{
    const pl_mesh *surface = pl_collider_mesh_surface(mesh);
    const int *corner = surface->triangles + 3 * (size_t)t;
    const double *mine = pl_collider_mesh_normal(mesh, t);
    const double *other = pl_collider_mesh_normal(mesh, pl_collider_mesh_across(mesh, t, c));
    double along[3], back[3];
    vertex[0] = corner[c], vertex[1] = corner[(c + 1) % 3];
    pl_sub3(surface->vertices + 3 * (size_t)vertex[1], surface->vertices + 3 * (size_t)vertex[0],
            along);
    double length = pl_norm3(along);
    for (int k = 0; k < 3; k++)
        along[k] /= length, back[k] = -along[k];
    pl_cross3(mine, along, sides);
    pl_cross3(other, back, sides + 3);
    return -pl_dot3(mine, sides + 3);
}

/* How far the third corner of triangle t is from its edge from corner c to the next. */
static double width_at(const pl_mesh *surface, int t, int c)
{
    const int *corner = surface->triangles + 3 * (size_t)t;
    const double *a = surface->vertices + 3 * (size_t)corner[c];
    double along[3], to[3], twice[3];
    pl_sub3(surface->vertices + 3 * (size_t)corner[(c + 1) % 3], a, along);
    pl_sub3(surface->vertices + 3 * (size_t)corner[(c + 2) % 3], a, to);
    pl_cross3(along, to, twice);
    return pl_norm3(twice) / pl_norm3(along);
}

#define MOST 32 /* edges of a corner */

/* What is known of a mesh's vertex: directions of the edges that bend outwards. */
typedef struct corner {
    int count;
    bool hollow;  /* one of its edges bends inwards */
    double blunt; /* the least of its edges */
    double along[3 * MOST];
} corner;

static pl_status add_corner(pl_context *ctx, pl_ridges *r, const double *x, const corner *c)
{
    double out[3] = {0};
    if (c->hollow || c->count < 3 || c->count > MOST)
        return PL_OK;
    for (int i = 0; i < c->count; i++)
        pl_axpy3(-1, c->along + 3 * i, out);
    double length = pl_norm3(out);
    for (int i = 0; i < c->count; i++)
        if (!(pl_dot3(out, c->along + 3 * i) < -JUTS * length))
            return PL_OK;
    return add(ctx, r, 1, x, x, 0, c->count, c->along, c->blunt);
}

static void note_edge(corner *c, double bend, double blunt, const double *from, const double *to)
{
    double along[3];
    c->hollow |= bend < -BENDS;
    if (bend <= BENDS || c->count++ >= MOST)
        return;
    c->blunt = c->count == 1 ? blunt : fmin(c->blunt, blunt);
    pl_sub3(to, from, along);
    double length = pl_norm3(along);
    for (int k = 0; k < 3; k++)
        c->along[3 * (c->count - 1) + k] = along[k] / length;
}

static pl_status add_mesh(pl_context *ctx, pl_ridges *r, const pl_collider_mesh *mesh)
{
    pl_status status = PL_OK;
    const pl_mesh *surface = pl_collider_mesh_surface(mesh);
    corner *corners = NULL;
    PL_NEW(ctx, corners, surface->vertex_count, done);
    for (int t = 0; t < surface->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int v[2];
            double sides[6], bend = edge_of(mesh, t, c, v, sides);
            const double *a = surface->vertices + 3 * (size_t)v[0],
                         *b = surface->vertices + 3 * (size_t)v[1];
            if (pl_collider_mesh_across(mesh, t, c) < t)
                continue;
            double blunt = bend > ABRUPT ? 0 : width_at(surface, t, c) / bend;
            note_edge(&corners[v[0]], bend, blunt, a, b);
            note_edge(&corners[v[1]], bend, blunt, b, a);
            if (bend > BENDS)
                PL_CHECK(add(ctx, r, 2, a, b, 0, 2, sides, blunt), done);
        }
    for (int v = 0; v < surface->vertex_count; v++)
        PL_CHECK(add_corner(ctx, r, surface->vertices + 3 * (size_t)v, &corners[v]), done);
done:
    pl_free(ctx, corners);
    return status;
}

/* ---- All ---- */

static pl_status add_all(pl_context *ctx, pl_shape shape, const double size[3],
                         const pl_collider_mesh *mesh, pl_ridges *r)
{
    const double middle[3] = {0};
    switch (shape) {
    case PL_SPHERE:
        return add(ctx, r, 1, middle, middle, size[0], 0, NULL, size[0]);
    case PL_CAPSULE:
        return add_capsule(ctx, r, size[0], size[1]);
    case PL_CYLINDER:
        PL_TRY(add_axis(ctx, r, size[0], size[1]));
        PL_TRY(add_rim(ctx, r, size[0], size[1]));
        return add_rim(ctx, r, size[0], -size[1]);
    case PL_BOX:
        return add_box(ctx, r, size);
    case PL_MESH:
        return add_mesh(ctx, r, mesh);
    default: /* PL_HALF_SPACE */
        return PL_OK;
    }
}

static pl_status plant_tree(pl_context *ctx, pl_ridges *r)
{
    pl_status status = PL_OK;
    int *numbers = NULL, *ends = NULL;
    PL_NEW(ctx, numbers, r->count, done);
    PL_NEW(ctx, ends, 2 * r->count, done);
    for (int i = 0; i < r->count; i++)
        numbers[i] = i, ends[2 * i] = 2 * i, ends[2 * i + 1] = 2 * i + 1;
    PL_CHECK(pl_boxes_create(ctx, r->count, numbers, 2, ends, r->x, &r->tree), done);
    pl_boxes_fit(&r->tree, r->x, r->x, 0);
done:
    pl_free(ctx, numbers);
    pl_free(ctx, ends);
    return status;
}

pl_status pl_ridges_create(pl_context *ctx, pl_shape shape, const double size[3],
                           const pl_collider_mesh *mesh, pl_ridges *out)
{
    pl_status status = PL_OK;
    pl_ridges r = {0};
    PL_CHECK(add_all(ctx, shape, size, mesh, &r), done);
    if (r.count > 0)
        PL_CHECK(plant_tree(ctx, &r), done);
    *out = r;
    r = (pl_ridges){0};
done:
    pl_ridges_free(ctx, &r);
    return status;
}
