/*
 * From what a file holds to a mesh that can be simulated: refuses what cannot be meant, repairs what
 * can be, and says by index what it found. Indices in messages count from 0 in the file's order.
 */
#include "mesh/raw.h"

#include <stdlib.h>

static pl_status fail_on(pl_raw *raw, const char *what, int count, const char *item, int first)
{
    if (count == 0)
        return PL_OK;
    return pl_fail(raw->ctx, PL_ERROR_MESH, "%s: %s: %d, the first is %s %d (from 0)", raw->path, what,
                   count, item, first);
}

static void warn_of(pl_raw *raw, const char *what, int count, const char *item, int first)
{
    if (count > 0)
        pl_log(raw->ctx, PL_LOG_WARNING, "%s: %s: %d, the first is %s %d (from 0)", raw->path, what,
               count, item, first);
}

/* The collected arrays looked at as a mesh. */
static pl_mesh as_mesh(const pl_raw *raw)
{
    return (pl_mesh){.vertex_count = raw->vertex_count,
                     .vertices = raw->vertices,
                     .tet_count = raw->tet_count,
                     .tets = raw->tets,
                     .triangle_count = raw->triangle_count,
                     .triangles = raw->triangles};
}

static pl_status refuse(pl_raw *raw, const pl_mesh_report *report)
{
    bool solid = raw->tet_count > 0;
    const char *item = solid ? "tet" : "triangle";
    if (!solid && raw->triangle_count == 0)
        return pl_fail(raw->ctx, PL_ERROR_MESH, "%s: has no tets and no triangles", raw->path);
    PL_TRY(fail_on(raw, "vertices whose coordinates are not finite numbers", report->non_finite,
                   "vertex", report->first_non_finite));
    if (solid && report->first_bad_index >= raw->tet_count)
        return fail_on(raw, "elements with the same vertex twice", report->bad_index, "triangle",
                       report->first_bad_index - raw->tet_count);
    PL_TRY(fail_on(raw, "elements with the same vertex twice", report->bad_index, item,
                   report->first_bad_index));
    PL_TRY(fail_on(raw, solid ? "tets of zero volume" : "triangles of zero area", report->degenerate,
                   item, report->first_degenerate));
    return fail_on(raw, "elements with the same vertices as an earlier one", report->duplicate, item,
                   report->first_duplicate);
}

/* ------------------------------------------------------------------------------- dropping */

/* Where vertices and triangles go in the mesh; -1 = dropped. */
typedef struct renumbering {
    int *vertex;   /* [raw vertex_count] */
    int *triangle; /* [raw triangle_count] */
    int vertex_count, triangle_count;
} renumbering;

/* A solid keeps the vertices of its tets and the triangles between them; a cloth those of its
 * triangles. */
static void renumber(pl_raw *raw, renumbering *to)
{
    bool solid = raw->tet_count > 0;
    size_t used = solid ? 4 * (size_t)raw->tet_count : 3 * (size_t)raw->triangle_count;
    const int *elements = solid ? raw->tets : raw->triangles;
    int first = -1;
    for (int v = 0; v < raw->vertex_count; v++)
        to->vertex[v] = -1;
    for (size_t i = 0; i < used; i++)
        to->vertex[elements[i]] = 0;
    for (int v = 0; v < raw->vertex_count; v++) {
        if (to->vertex[v] == 0)
            to->vertex[v] = to->vertex_count++;
        else if (first < 0)
            first = v;
    }
    warn_of(raw, "vertices in no element were dropped", raw->vertex_count - to->vertex_count, "vertex",
            first);

    first = -1;
    for (int t = 0; t < raw->triangle_count; t++) {
        const int *v = raw->triangles + 3 * (size_t)t;
        bool kept = to->vertex[v[0]] >= 0 && to->vertex[v[1]] >= 0 && to->vertex[v[2]] >= 0;
        to->triangle[t] = kept ? to->triangle_count++ : -1;
        first = !kept && first < 0 ? t : first;
    }
    warn_of(raw, "triangles on vertices of no tet were dropped",
            raw->triangle_count - to->triangle_count, "triangle", first);
}

static void fill_mesh(const pl_raw *raw, const renumbering *to, pl_mesh *mesh)
{
    for (int v = 0; v < raw->vertex_count; v++) {
        if (to->vertex[v] >= 0)
            memcpy(mesh->vertices + 3 * (size_t)to->vertex[v], raw->vertices + 3 * (size_t)v,
                   3 * sizeof *mesh->vertices);
    }
    for (size_t i = 0; i < 4 * (size_t)raw->tet_count; i++)
        mesh->tets[i] = to->vertex[raw->tets[i]];
    for (size_t i = 0; i < 3 * (size_t)raw->triangle_count; i++) {
        int t = to->triangle[i / 3];
        if (t >= 0)
            mesh->triangles[3 * (size_t)t + i % 3] = to->vertex[raw->triangles[i]];
    }
}

/* ------------------------------------------------------------------------------- groups */

static int compare_labels(const void *a, const void *b)
{
    const pl_raw_label *x = a, *y = b;
    int by_group = (x->group > y->group) - (x->group < y->group);
    return by_group ? by_group : (x->index > y->index) - (x->index < y->index);
}

/* Members by group, renumbered, each once. Returns how many are left. */
static int sort_labels(pl_raw *raw, const renumbering *to)
{
    int kept = 0, unique = 0;
    for (int l = 0; l < raw->label_count; l++) {
        pl_raw_label label = raw->labels[l];
        pl_group_kind kind = raw->groups[label.group].kind;
        if (kind == PL_GROUP_VERTEX)
            label.index = to->vertex[label.index];
        else if (kind == PL_GROUP_TRIANGLE)
            label.index = to->triangle[label.index];
        if (label.index >= 0)
            raw->labels[kept++] = label;
    }
    if (kept > 0)
        qsort(raw->labels, (size_t)kept, sizeof *raw->labels, compare_labels);
    for (int l = 0; l < kept; l++) {
        if (l == 0 || compare_labels(&raw->labels[l], &raw->labels[l - 1]) != 0)
            raw->labels[unique++] = raw->labels[l];
    }
    return unique;
}

static pl_status add_groups(pl_raw *raw, const renumbering *to, pl_mesh *mesh)
{
    pl_status status = PL_OK;
    int count = sort_labels(raw, to), *index = NULL;
    PL_NEW(raw->ctx, index, count, done);
    for (int l = 0; l < count; l++)
        index[l] = raw->labels[l].index;
    for (int g = 0, begin = 0, end = 0; g < raw->group_count; g++, begin = end) {
        const pl_raw_group *group = &raw->groups[g];
        while (end < count && raw->labels[end].group == g)
            end++;
        if (*group->name && !pl_mesh_find_group(mesh, group->name, group->kind))
            PL_CHECK(
                pl_mesh_add_group(raw->ctx, mesh, group->name, group->kind, end - begin, index + begin),
                done);
    }
done:
    pl_free(raw->ctx, index);
    return status;
}

/* ------------------------------------------------------------------------------- all of it */

static pl_status repair_orientation(pl_raw *raw, const pl_mesh_report *report, pl_mesh *mesh)
{
    int turned = 0, first = -1;
    for (int t = 0; t < mesh->tet_count; t++)
        pl_tet_orient(mesh->vertices, mesh->tets + 4 * (size_t)t);
    warn_of(raw, "inverted tets were given positive volume", report->inverted, "tet",
            report->first_inverted);
    PL_TRY((mesh->tet_count > 0 ? pl_orient_boundary : pl_orient_surface)(raw->ctx, mesh, &turned,
                                                                          &first));
    warn_of(raw, "triangles were turned to face outward or as their neighbours", turned, "triangle",
            first);
    return PL_OK;
}

pl_status pl_raw_finish(pl_raw *raw, pl_mesh **out)
{
    pl_status status = PL_OK;
    pl_mesh *mesh = NULL, view = as_mesh(raw);
    renumbering to = {0};
    pl_mesh_report report;
    PL_CHECK(pl_mesh_check(raw->ctx, &view, &report), failed);
    PL_CHECK(refuse(raw, &report), failed);
    if (raw->skipped > 0)
        pl_log(raw->ctx, PL_LOG_INFO, "%s: %d points and lines skipped", raw->path, raw->skipped);
    PL_NEW(raw->ctx, to.vertex, raw->vertex_count, failed);
    PL_NEW(raw->ctx, to.triangle, raw->triangle_count, failed);
    renumber(raw, &to);
    PL_CHECK(pl_mesh_new(raw->ctx, to.vertex_count, raw->tet_count, to.triangle_count, &mesh), failed);
    fill_mesh(raw, &to, mesh);
    PL_CHECK(add_groups(raw, &to, mesh), failed);
    PL_CHECK(repair_orientation(raw, &report, mesh), failed);
    *out = mesh;
    mesh = NULL;
failed:
    pl_mesh_free(raw->ctx, mesh);
    pl_free(raw->ctx, to.triangle);
    pl_free(raw->ctx, to.vertex);
    return status;
}
