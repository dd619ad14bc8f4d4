/* Adding chambers to a scene: which triangles of a body's boundary surround the cavity; and asking for
 * them. */
#include "terms/chamber.h"

#include "core/vec.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"
#include "terms/volume.h"

pl_chamber_def pl_chamber_def_default(void)
{
    return (pl_chamber_def){.ambient = 101325};
}

/* The boundary of a body: triangles seen from outside the solid, in pieces. */
typedef struct boundary {
    const pl_mesh *mesh;
    bool cloth;
    int count, *triangles;   /* [count, 3] */
    int piece_count, *piece; /* [count] */
    double *volume;          /* [piece_count] that each encloses; of a cavity in a solid negative */
    double *winding;         /* [piece_count] of the point that is looked for */
} boundary;

static void close_boundary(pl_context *ctx, boundary *b)
{
    pl_free(ctx, b->triangles);
    pl_free(ctx, b->piece);
    pl_free(ctx, b->volume);
    pl_free(ctx, b->winding);
}

static pl_status open_boundary(pl_context *ctx, const pl_body *body, const double *inside, boundary *b)
{
    pl_status status = PL_OK;
    const double *rest = body->mesh->vertices;
    *b = (boundary){.mesh = body->mesh, .cloth = body->cloth};
    PL_CHECK(pl_mesh_surface(ctx, body->mesh, &b->count, &b->triangles), done);
    PL_NEW(ctx, b->piece, b->count, done);
    PL_CHECK(pl_surface_pieces(ctx, body->mesh->vertex_count, b->count, b->triangles, &b->piece_count,
                               b->piece),
             done);
    PL_NEW(ctx, b->volume, b->piece_count, done);
    PL_NEW(ctx, b->winding, b->piece_count, done);
    for (int t = 0; t < b->count; t++) {
        double corners[9], n[3];
        for (int k = 0; k < 3; k++)
            pl_sub3(rest + 3 * (size_t)b->triangles[3 * t + k], rest, corners + 3 * k);
        pl_cross3(corners + 3, corners + 6, n);
        b->volume[b->piece[t]] += pl_dot3(corners, n) / 6;
        for (int k = 0; inside && k < 3; k++)
            pl_axpy3(1, rest, corners + 3 * k);
        b->winding[b->piece[t]] += inside ? pl_triangle_winding(corners, inside) : 0;
    }
done:
    return status;
}

static bool is_cavity(const boundary *b, int piece)
{
    return b->cloth ? b->volume[piece] != 0 : b->volume[piece] < 0;
}

/* The piece that is the def's cavity. */
static pl_status find_cavity(pl_context *ctx, const pl_body *body, const pl_chamber_def *def,
                             const boundary *b, int *out)
{
    int count = 0, found = -1;
    const double *x = def->inside;
    for (int p = 0; p < b->piece_count; p++) {
        if (!is_cavity(b, p))
            continue;
        bool nearer = found < 0 || fabs(b->volume[p]) < fabs(b->volume[found]);
        if (x ? fabs(b->winding[p]) > 0.5 && nearer : count == def->cavity)
            found = p;
        count++;
    }
    *out = found;
    if (found >= 0)
        return PL_OK;
    return x ? pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "inside = [%g, %g, %g]: not in a cavity of \"%s\" at rest, which has %d", x[0],
                       x[1], x[2], body->name, count)
             : pl_fail(ctx, PL_ERROR_ARGUMENT, "cavity = %d: body \"%s\" has %d cavities", def->cavity,
                       body->name, count);
}

/* Those of a piece, seen from outside the cavity. */
static void take_piece(const boundary *b, int piece, pl_chamber *c)
{
    bool turn = b->volume[piece] < 0;
    for (int t = 0; t < b->count; t++) {
        const int *v = b->triangles + 3 * (size_t)t;
        if (b->piece[t] != piece)
            continue;
        int *out = c->local + 3 * (size_t)c->count++;
        out[0] = v[0], out[1] = v[turn ? 2 : 1], out[2] = v[turn ? 1 : 2];
    }
}

/* ---- a list of triangles */

static pl_status check_list(pl_context *ctx, const pl_body *body, const pl_chamber_def *def)
{
    int n = body->mesh->vertex_count;
    if (def->triangle_count < 1)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "triangles: expected at least one");
    for (int t = 0; t < def->triangle_count; t++)
        if (!pl_element_valid(3, def->triangles + 3 * (size_t)t, n))
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "triangles[%d] names a vertex twice, or one that body \"%s\", of %d, lacks",
                           t, body->name, n);
    return pl_surface_check_closed(ctx, n, def->triangle_count, def->triangles);
}

/* Whether two triangles of the same vertices are turned the same way. */
static bool turned_alike(const int a[3], const int b[3])
{
    int k = 0;
    while (b[k] != a[0])
        k++;
    return b[(k + 1) % 3] == a[1];
}

/* twin [listed] = the triangle of the boundary with the same vertices, or -1 */
static pl_status find_twins(pl_context *ctx, const boundary *b, const pl_chamber_def *def, int *twin)
{
    pl_status status = PL_OK;
    int all = b->count + def->triangle_count, *rows = NULL, *order = NULL, last = -1;
    PL_NEW(ctx, rows, 3 * (size_t)all, done);
    PL_NEW(ctx, order, all, done);
    memcpy(rows, b->triangles, 3 * sizeof *rows * (size_t)b->count);
    memcpy(rows + 3 * (size_t)b->count, def->triangles, 3 * sizeof *rows * (size_t)def->triangle_count);
    for (int t = 0; t < all; t++)
        pl_sort_few(3, rows + 3 * (size_t)t);
    PL_CHECK(pl_sort_rows(ctx, all, 3, rows, b->mesh->vertex_count, order), done);
    for (int k = 0; k < all; k++) { /* equal rows keep their order: the boundary's comes first */
        int t = order[k];
        if (t < b->count)
            last = t;
        else
            twin[t - b->count] = last >= 0 && memcmp(rows + 3 * (size_t)last, rows + 3 * (size_t)t,
                                                     3 * sizeof *rows) == 0
                                     ? last
                                     : -1;
    }
done:
    pl_free(ctx, rows);
    pl_free(ctx, order);
    return status;
}

static pl_status take_list(pl_context *ctx, const pl_body *body, const pl_chamber_def *def,
                           const boundary *b, int *twin, pl_chamber *c)
{
    PL_TRY(check_list(ctx, body, def));
    PL_TRY(find_twins(ctx, b, def, twin));
    bool first = twin[0] >= 0 && turned_alike(def->triangles, b->triangles + 3 * (size_t)twin[0]);
    for (int t = 0; t < def->triangle_count; t++) {
        const int *v = def->triangles + 3 * (size_t)t;
        if (twin[t] < 0)
            return pl_fail(ctx, PL_ERROR_ARGUMENT,
                           "triangles[%d] = [%d, %d, %d] is not on the boundary of \"%s\"", t, v[0],
                           v[1], v[2], body->name);
        if (turned_alike(v, b->triangles + 3 * (size_t)twin[t]) != first)
            return pl_fail(ctx, PL_ERROR_ARGUMENT, "triangles[%d] is turned otherwise than the first",
                           t);
    }
    double volume = pl_volume(def->triangle_count, def->triangles, body->mesh->vertices);
    bool turn = volume < 0;
    if (volume == 0 || (!b->cloth && first != turn))
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "triangles: they surround \"%s\" from outside, not a cavity of it", body->name);
    for (c->count = 0; c->count < def->triangle_count; c->count++) {
        const int *v = def->triangles + 3 * (size_t)c->count;
        int *out = c->local + 3 * (size_t)c->count;
        out[0] = v[0], out[1] = v[turn ? 2 : 1], out[2] = v[turn ? 1 : 2];
    }
    return PL_OK;
}

/* ---- adding, asking */

static pl_status check_def(pl_scene *scene, const pl_chamber_def *def)
{
    if (def->body < 0 || def->body >= scene->body_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "body = %d: the scene has %d bodies", def->body,
                       scene->body_count);
    for (int k = 0; def->inside && k < 3; k++)
        if (!isfinite(def->inside[k]))
            return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "inside[%d] is not finite", k);
    if (!(def->ambient >= 0 && def->ambient < PL_INPUT_MOST))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "ambient = %g: expected >= 0 and < %g Pa",
                       def->ambient, PL_INPUT_MOST);
    if (def->triangles && def->inside)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "inside: expected it or triangles, got both");
    return PL_OK;
}

/* A cavity that passes through itself has no volume to press on. */
static pl_status check_crossing(pl_context *ctx, const pl_body *body, const pl_chamber *c)
{
    pl_bvh *bvh;
    int pair[2];
    PL_TRY(
        pl_bvh_create(ctx, body->mesh->vertex_count, body->mesh->vertices, c->count, c->local, &bvh));
    int crossing = pl_count_crossings(bvh, body->mesh->vertices, c->count, c->local, pair);
    pl_bvh_destroy(ctx, bvh);
    if (crossing == 0)
        return PL_OK;
    const int *a = c->local + 3 * (size_t)pair[0], *b = c->local + 3 * (size_t)pair[1];
    return pl_fail(ctx, PL_ERROR_ARGUMENT,
                   "the cavity crosses itself at rest: triangle [%d, %d, %d] of \"%s\" "
                   "passes through [%d, %d, %d]",
                   a[0], a[1], a[2], body->name, b[0], b[1], b[2]);
}

/* The vertices of its triangles, in the order in which they come. */
static pl_status list_wall(pl_context *ctx, const pl_body *body, pl_chamber *c)
{
    pl_status status = PL_OK;
    int *number = NULL;
    PL_NEW(ctx, number, body->mesh->vertex_count, done);
    PL_NEW(ctx, c->vertex, 3 * (size_t)c->count, done);
    PL_NEW(ctx, c->corner, 3 * (size_t)c->count, done);
    for (int i = 0; i < 3 * c->count; i++) {
        int *of = &number[c->local[i]]; /* 0: not yet */
        if (*of == 0) {
            c->vertex[c->wall++] = c->triangle[i];
            *of = c->wall;
        }
        c->corner[i] = *of - 1;
    }
done:
    pl_free(ctx, number);
    return status;
}

pl_status pl_scene_add_chamber(pl_scene *scene, const pl_chamber_def *def, int *chamber)
{
    pl_context *ctx = scene->ctx;
    pl_status status = PL_OK;
    boundary b = {0};
    int piece, room, *twin = NULL;
    PL_TRY(check_def(scene, def));
    const pl_body *body = &scene->bodies[def->body];
    pl_chamber c = {.body = def->body, .gas = def->gas, .ambient = def->ambient};
    double least = def->gas ? -def->ambient : -PL_INPUT_MOST;
    PL_CHECK(pl_curve_create(ctx, "pressure", &def->table, 1, &def->pressure, &c.pressure), done);
    PL_CHECK(pl_curve_check(ctx, "pressure", least, PL_INPUT_MOST, &c.pressure), done);
    PL_CHECK(open_boundary(ctx, body, def->inside, &b), done);
    room = def->triangles && def->triangle_count > b.count ? def->triangle_count : b.count;
    PL_NEW(ctx, c.local, 3 * (size_t)room, done);
    PL_NEW(ctx, twin, room, done);
    if (def->triangles) {
        PL_CHECK(take_list(ctx, body, def, &b, twin, &c), done);
    } else {
        PL_CHECK(find_cavity(ctx, body, def, &b, &piece), done);
        take_piece(&b, piece, &c);
        PL_CHECK(pl_surface_check_closed(ctx, body->mesh->vertex_count, c.count, c.local), done);
    }
    PL_CHECK(check_crossing(ctx, body, &c), done);
    PL_NEW(ctx, c.triangle, 3 * (size_t)c.count, done);
    for (int i = 0; i < 3 * c.count; i++)
        c.triangle[i] = body->vertex_offset + c.local[i];
    c.rest = pl_volume(c.count, c.local, body->mesh->vertices);
    PL_CHECK(list_wall(ctx, body, &c), done);
    PL_CHECK(pl_scene_append(scene, PL_OWNER_CHAMBER, def->name, &c, sizeof c, 0, NULL, NULL, chamber),
             done);
    c = (pl_chamber){0};
done:
    pl_free(ctx, twin);
    close_boundary(ctx, &b);
    pl_chamber_free(ctx, &c);
    return status;
}

static pl_status check_index(const pl_scene *scene, int chamber)
{
    if (chamber < 0 || chamber >= pl_chamber_count(scene))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "chamber = %d: the scene has %d chambers",
                       chamber, pl_chamber_count(scene));
    return PL_OK;
}

pl_status pl_scene_chamber(const pl_scene *scene, int chamber, pl_chamber_def *def)
{
    PL_TRY(check_index(scene, chamber));
    const pl_chamber *c = pl_chamber_get(scene, chamber);
    *def = (pl_chamber_def){
        .name = pl_part_name(scene, PL_OWNER_CHAMBER, chamber),
        .body = c->body,
        .triangle_count = c->count,
        .triangles = c->local,
        .pressure = c->pressure.value[0],
        .table = pl_curve_rows(&c->pressure),
        .gas = c->gas,
        .ambient = c->ambient,
    };
    return PL_OK;
}

pl_status pl_chamber_volume(const pl_scene *scene, int chamber, const double *q, double *volume)
{
    PL_TRY(check_index(scene, chamber));
    const pl_chamber *c = pl_chamber_get(scene, chamber);
    *volume = pl_volume(c->count, c->triangle, q);
    return PL_OK;
}

pl_status pl_chamber_pressure(const pl_scene *scene, int chamber, const pl_state *state,
                              double *pressure)
{
    PL_TRY(check_index(scene, chamber));
    const pl_chamber *c = pl_chamber_get(scene, chamber);
    double volume = pl_volume(c->count, c->triangle, state->q);
    *pressure = pl_gas_at(c, volume, state->input[PL_PRESSURE][chamber]).pressure;
    return PL_OK;
}
