/* A surface to a mesh: repair, signed distance, stuffing at the right cell, cleaning, measuring. */
#include "core/vec.h"
#include "mesh/mesh.h"
#include "shape/clean.h"
#include "shape/field.h"
#include "shape/quality.h"
#include "shape/search.h"
#include "shape/surface.h"

#include <assert.h>

#define DEFAULT_VERTICES 2000
#define MAX_TRIES        64   /* more than pl_search_cell makes */
#define OFF_SURFACE      1e-3 /* edges, far below what chords of the surface miss */

typedef struct mesher {
    pl_context *ctx;
    pl_repaired surface;
    pl_bvh *bvh;
    bool closed;  /* every edge has two triangles that agree: the side changes only at triangles */
    double least; /* m: distances count as at least this, so that only real changes of side are zeros */
    int try_count;
    double try_cell[MAX_TRIES];
    pl_clean_report try_clean[MAX_TRIES]; /* what cleaning did at each cell tried */
} mesher;

pl_tetrahedralize_def pl_tetrahedralize_def_default(void)
{
    return (pl_tetrahedralize_def){0};
}

static double surface_distance(const void *user, const double x[3])
{
    const mesher *m = user;
    double d = pl_bvh_signed_distance(m->bvh, x);
    return d < 0 ? fmin(d, -m->least) : fmax(d, m->least);
}

static double surface_magnitude(const void *user, const double x[3])
{
    const mesher *m = user;
    pl_bvh_hit hit;
    pl_bvh_closest(m->bvh, x, INFINITY, &hit);
    return fmax(hit.distance, m->least);
}

static int nearest_shell(const void *user, const double x[3])
{
    const mesher *m = user;
    pl_bvh_hit hit;
    pl_bvh_closest(m->bvh, x, INFINITY, &hit);
    return m->surface.shell[hit.triangle];
}

static pl_status build(void *user, double cell, pl_mesh **out, double *lost)
{
    mesher *m = user;
    pl_field field = {.distance = surface_distance,
                      .magnitude = m->closed ? surface_magnitude : NULL, /* it changes in holes too */
                      .user = m,
                      .tolerance = OFF_SURFACE};
    pl_bvh_bounds(m->bvh, field.lower, field.upper);
    for (int i = 0; i < 3; i++)
        field.anchor[i] = 0.5 * (field.lower[i] + field.upper[i]);
    int shells = 0;
    for (int t = 0; t < m->surface.triangle_count; t++)
        shells = m->surface.shell[t] >= shells ? m->surface.shell[t] + 1 : shells;
    pl_mesh *mesh = NULL;
    PL_TRY(pl_stuff(m->ctx, &field, cell, &mesh));
    assert(m->try_count < MAX_TRIES);
    m->try_cell[m->try_count] = cell;
    pl_clean_report *clean = &m->try_clean[m->try_count++];
    pl_status status = pl_clean(m->ctx, mesh, &(pl_pieces){shells, nearest_shell, m}, clean);
    if (status == PL_OK)
        *out = mesh;
    else
        pl_mesh_free(m->ctx, mesh);
    *lost =
        0; /* fragments are reported, not searched around: thin parts of a given surface stay thin */
    return status;
}

static void warn_about(pl_context *ctx, const pl_surface_report *r)
{
    const struct {
        int count;
        const char *what;
    } faults[] = {
        {r->degenerate, "triangles without area were dropped"},
        {r->duplicate, "repeated triangles were dropped"},
        {r->turned, "triangles were turned to agree with their neighbours"},
        {r->inverted_shells, "pieces were inside out and were turned"},
        {r->open_edges, "edges have one triangle: holes were closed by the winding number"},
        {r->branching_edges, "edges have three or more triangles"},
        {r->one_sided_edges, "edges join triangles that cannot agree on a side"},
        {r->crossing, "triangles cross others: the union was meshed"},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        if (faults[k].count > 0)
            pl_log(ctx, PL_LOG_WARNING, "surface: %d %s", faults[k].count, faults[k].what);
}

static void warn_about_loss(pl_context *ctx, const pl_tetrahedralize_report *r)
{
    if (r->dropped_volume > 1e-3 * r->volume)
        pl_log(
            ctx, PL_LOG_WARNING,
            "%d fragments with %.2g %% of the volume were dropped: parts are thinner than the cell of "
            "%.3g m",
            r->dropped, 100 * r->dropped_volume / r->volume, r->cell);
    if (r->volume_error < -0.1)
        pl_log(ctx, PL_LOG_WARNING,
               "the mesh has %.2g %% less volume than the surface: much of it is no thicker than the "
               "cell of "
               "%.3g m",
               -100 * r->volume_error, r->cell);
}

/* Keeps tet t among the worst, ordered by how near its most extreme angle is to 0 or 180. */
static void rank_tet(pl_tetrahedralize_report *r, int t, double low, double high)
{
    double angle = low < 180 - high ? low : high, badness = fmin(low, 180 - high);
    for (int k = 0; k < PL_WORST_COUNT; k++) {
        double other = r->worst[k] < 0 ? INFINITY : fmin(r->worst_angle[k], 180 - r->worst_angle[k]);
        if (badness >= other)
            continue;
        for (int i = PL_WORST_COUNT - 1; i > k; i--)
            r->worst[i] = r->worst[i - 1], r->worst_angle[i] = r->worst_angle[i - 1];
        r->worst[k] = t, r->worst_angle[k] = angle;
        return;
    }
}

static void measure(const pl_mesh *mesh, pl_tetrahedralize_report *r)
{
    r->vertices = mesh->vertex_count, r->tets = mesh->tet_count;
    r->volume = 0, r->min_dihedral = 180, r->max_dihedral = 0;
    for (int k = 0; k < PL_WORST_COUNT; k++)
        r->worst[k] = -1, r->worst_angle[k] = NAN;
    for (int t = 0; t < mesh->tet_count; t++) {
        double low, high;
        pl_tet_dihedral_range(mesh->vertices, mesh->tets + 4 * t, &low, &high);
        r->min_dihedral = fmin(r->min_dihedral, low), r->max_dihedral = fmax(r->max_dihedral, high);
        r->volume += pl_tet_volume6(mesh->vertices, mesh->tets + 4 * t) / 6;
        rank_tet(r, t, low, high);
    }
    r->volume_error = (r->volume - r->surface.volume) / r->surface.volume;
}

static pl_status check_def(pl_context *ctx, const pl_tetrahedralize_def *def)
{
    if (!(def->cell >= 0) || !isfinite(def->cell))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "cell is %g m, a positive size is needed", def->cell);
    if (def->vertices < 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "vertices is %d, a positive number is needed",
                       def->vertices);
    PL_TRY(pl_mesh_fits(ctx, def->vertices, 6.0 * def->vertices));
    if (def->cell > 0 && def->vertices > 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "give cell or vertices, not both");
    return PL_OK;
}

/* First guess of the cell: two lattice points a cube inside, some three a square of the surface. */
static double guess_cell(const mesher *m, double volume, int vertices)
{
    double area = 0, cell;
    for (int t = 0; t < m->surface.triangle_count; t++) {
        const int *v = m->surface.triangles + 3 * t;
        double e[3], f[3], n[3];
        pl_sub3(m->surface.vertices + 3 * v[1], m->surface.vertices + 3 * v[0], e);
        pl_sub3(m->surface.vertices + 3 * v[2], m->surface.vertices + 3 * v[0], f);
        pl_cross3(e, f, n);
        area += 0.5 * pl_norm3(n);
    }
    cell = cbrt(2 * fabs(volume) / vertices) + 1e-9 * sqrt(area);
    for (int k = 0; k < 20; k++)
        cell *= cbrt((2 * fabs(volume) / (cell * cell * cell) + 1.6 * area / (cell * cell)) / vertices);
    return cell;
}

/* The surface, its tree and what is known about it. */
static pl_status prepare(mesher *m, const pl_mesh *surface, double *volume, pl_surface_report *report)
{
    PL_TRY(pl_repair(m->ctx, surface, &m->surface, report));
    PL_TRY(pl_bvh_create(m->ctx, m->surface.vertex_count, m->surface.vertices,
                         m->surface.triangle_count, m->surface.triangles, &m->bvh));
    double d[3];
    pl_sub3(report->upper, report->lower, d);
    m->least = 1e-12 * pl_norm3(d);
    m->closed = report->open_edges + report->branching_edges + report->one_sided_edges == 0;
    report->crossing = pl_count_crossings(m->bvh, m->surface.vertices, m->surface.triangle_count,
                                          m->surface.triangles, NULL);
    *volume = report->volume;
    double thickness = fabs(report->volume) / (pl_dot3(d, d) + m->least);
    if (!(thickness > 1e-6 * pl_norm3(d)))
        return pl_fail(
            m->ctx, PL_ERROR_MESH,
            "the surface encloses no volume (%g m^3 within %g x %g x %g m): a closed one is needed",
            report->volume, d[0], d[1], d[2]);
    if (report->open_edges > 0 || report->crossing > 0 || report->branching_edges > 0)
        report->volume = NAN;
    warn_about(m->ctx, report);
    return PL_OK;
}

pl_status pl_tetrahedralize(pl_context *ctx, const pl_mesh *surface, const pl_tetrahedralize_def *def,
                            pl_mesh **out, pl_tetrahedralize_report *report)
{
    double start = pl_milliseconds(), volume, lost;
    pl_tetrahedralize_report r = {0};
    pl_tetrahedralize_def d = def ? *def : pl_tetrahedralize_def_default();
    mesher m = {.ctx = ctx};
    pl_mesh *mesh = NULL;
    pl_status status = PL_OK;
    PL_TRY(check_def(ctx, &d));
    PL_CHECK(prepare(&m, surface, &volume, &r.surface), done);
    int wanted = d.vertices > 0 ? d.vertices : DEFAULT_VERTICES;
    r.cell = d.cell > 0 ? d.cell : guess_cell(&m, volume, wanted);
    if (d.cell > 0)
        PL_CHECK(build(&m, d.cell, &mesh, &lost), done);
    else
        PL_CHECK(pl_search_cell(ctx, build, &m, wanted, &r.cell, &mesh), done);
    measure(mesh, &r);
    for (int k = 0; k < m.try_count; k++)
        if (m.try_cell[k] == r.cell)
            r.components = m.try_clean[k].components, r.dropped = m.try_clean[k].dropped,
            r.dropped_volume = m.try_clean[k].dropped_volume;
    warn_about_loss(ctx, &r);
    r.milliseconds = pl_milliseconds() - start;
    if (report)
        *report = r;
    *out = mesh;
done:
    pl_bvh_destroy(ctx, m.bvh);
    pl_repaired_free(ctx, &m.surface);
    return status;
}
