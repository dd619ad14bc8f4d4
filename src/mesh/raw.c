/* Collecting what a mesh file holds: see raw.h. */
#include "mesh/raw.h"

void pl_raw_free(pl_raw *raw)
{
    for (int g = 0; g < raw->group_count; g++)
        pl_free(raw->ctx, raw->groups[g].name);
    pl_free(raw->ctx, raw->groups);
    pl_free(raw->ctx, raw->labels);
    pl_free(raw->ctx, raw->triangles);
    pl_free(raw->ctx, raw->tets);
    pl_free(raw->ctx, raw->vertices);
}

pl_status pl_raw_add_vertex(pl_raw *raw, const double x[3])
{
    PL_TRY(pl_grow(raw->ctx, (void **)&raw->vertices, &raw->vertex_capacity, raw->vertex_count + 1,
                   3 * sizeof *x));
    memcpy(raw->vertices + 3 * (size_t)raw->vertex_count++, x, 3 * sizeof *x);
    return PL_OK;
}

pl_status pl_raw_add_tet(pl_raw *raw, const int v[4])
{
    PL_TRY(
        pl_grow(raw->ctx, (void **)&raw->tets, &raw->tet_capacity, raw->tet_count + 1, 4 * sizeof *v));
    memcpy(raw->tets + 4 * (size_t)raw->tet_count++, v, 4 * sizeof *v);
    return PL_OK;
}

pl_status pl_raw_add_polygon(pl_raw *raw, int n, const int *v)
{
    PL_TRY(pl_grow(raw->ctx, (void **)&raw->triangles, &raw->triangle_capacity,
                   raw->triangle_count + n - 2, 3 * sizeof *v));
    for (int i = 2; i < n; i++) {
        const int triangle[3] = {v[0], v[i - 1], v[i]};
        memcpy(raw->triangles + 3 * (size_t)raw->triangle_count++, triangle, sizeof triangle);
    }
    return PL_OK;
}

pl_status pl_raw_add_group(pl_raw *raw, pl_group_kind kind, int64_t tag, const char *name,
                           size_t length)
{
    PL_TRY(pl_grow(raw->ctx, (void **)&raw->groups, &raw->group_capacity, raw->group_count + 1,
                   sizeof *raw->groups));
    char *copy = pl_alloc(raw->ctx, length + 1, 1);
    if (!copy)
        return PL_ERROR_MEMORY;
    memcpy(copy, name, length);
    raw->groups[raw->group_count++] = (pl_raw_group){kind, tag, copy};
    return PL_OK;
}

/* The first group of the same kind and name, which keeps the members of all. */
static int first_of_name(const pl_raw *raw, int group)
{
    for (int g = 0; g < group; g++) {
        if (raw->groups[g].kind == raw->groups[group].kind &&
            strcmp(raw->groups[g].name, raw->groups[group].name) == 0)
            return g;
    }
    return group;
}

pl_status pl_raw_add_label(pl_raw *raw, pl_group_kind kind, int64_t tag, int index)
{
    for (int g = 0; g < raw->group_count; g++) {
        if (raw->groups[g].kind != kind || raw->groups[g].tag != tag)
            continue;
        PL_TRY(pl_grow(raw->ctx, (void **)&raw->labels, &raw->label_capacity, raw->label_count + 1,
                       sizeof *raw->labels));
        raw->labels[raw->label_count++] = (pl_raw_label){first_of_name(raw, g), index};
    }
    return PL_OK;
}
