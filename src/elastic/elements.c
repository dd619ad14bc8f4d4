/*
 * Building what of the elastic energy is constant: rest shapes in blocks, the pattern, and the maps
 * that let every vertex and every matrix entry gather what its elements wrote, in element order
 * whatever the number of threads.
 */
#include "elastic/internal.h"

#include "core/vec.h"

static int corner_count(const pl_elastic_group *group)
{
    return group->cloth ? 3 : 4;
}

static void sort_corners(const int *from, int count, int *to)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && to[j] < to[j - 1]; j--) {
            int swap = to[j];
            to[j] = to[j - 1];
            to[j - 1] = swap;
        }
}

/* Dm^-1 [3, 3] with the edges x_k - x_0 as columns of Dm; returns the volume, 0 if there is none. */
static double tet_rest(const double *const x[4], double inverse[9])
{
    double Dm[9], e[3];
    for (int k = 0; k < 3; k++) {
        pl_sub3(x[k + 1], x[0], e);
        for (int i = 0; i < 3; i++)
            Dm[3 * i + k] = e[i];
    }
    double det = fabs(pl_det3(Dm));
    if (det > 0.0)
        pl_inverse3(Dm, inverse);
    return det / 6.0;
}

/* The same for a triangle in its own plane, Dm^-1 [2, 2]; returns the area. */
static double triangle_rest(const double *const x[3], double inverse[4])
{
    double e[3], d[3], cross[3];
    pl_sub3(x[1], x[0], e);
    pl_sub3(x[2], x[0], d);
    pl_cross3(e, d, cross);
    double length = pl_norm3(e), area = 0.5 * pl_norm3(cross);
    if (!(area > 0.0))
        return 0.0;
    /* Dm = [length, d.e/length; 0, 2 area/length] */
    double across = 2.0 * area / length, along = pl_dot3(d, e) / length;
    inverse[0] = 1.0 / length;
    inverse[1] = -along / (length * across);
    inverse[2] = 0.0;
    inverse[3] = 1.0 / across;
    return area;
}

static pl_status fill_element(pl_elements *elements, const pl_elastic_body *body,
                              const pl_elastic_group *group, int local)
{
    int corners = corner_count(group), sorted[4];
    const double *x[4];
    sort_corners(body->elements + (size_t)corners * (size_t)local, corners, sorted);
    for (int k = 0; k < corners; k++)
        x[k] = body->rest + 3 * (size_t)sorted[k];
    double inverse[9];
    double volume = body->cloth ? triangle_rest(x, inverse) * body->thickness : tet_rest(x, inverse);
    if (!(volume > 0.0) || !isfinite(1.0 / volume))
        return pl_fail(elements->ctx, PL_ERROR_MESH, "element %d has no %s in the rest shape", local,
                       body->cloth ? "area" : "volume");
    int element = group->element_offset + local;
    elements->slot[element] = PL_LANES * group->block_offset + local;
    elements->volume[element] = volume;
    pl_element_block *block = &elements->blocks[elements->slot[element] / PL_LANES];
    int lane = elements->slot[element] % PL_LANES, size = (corners - 1) * (corners - 1);
    for (int k = 0; k < 4; k++)
        block->vertex[k][lane] = k < corners ? body->vertex_offset + sorted[k] : -1;
    for (int i = 0; i < size; i++)
        block->gradient[i][lane] = inverse[i];
    block->volume[lane] = volume;
    return PL_OK;
}

/* Lanes past a body's end repeat its last element, with no volume. */
static void pad_last_block(pl_elements *elements, const pl_elastic_group *group)
{
    int used = group->element_count % PL_LANES;
    if (used == 0)
        return;
    pl_element_block *block = &elements->blocks[group->block_offset + group->block_count - 1];
    for (int lane = used; lane < PL_LANES; lane++) {
        for (int k = 0; k < 4; k++)
            block->vertex[k][lane] = block->vertex[k][used - 1];
        for (int i = 0; i < 9; i++)
            block->gradient[i][lane] = block->gradient[i][used - 1];
    }
}

static pl_status create_blocks(pl_elements *elements, int body_count, const pl_elastic_body *bodies)
{
    pl_status status = PL_OK;
    PL_NEW(elements->ctx, elements->groups, body_count, done);
    elements->group_count = body_count;
    int blocks = 0;
    for (int b = 0; b < body_count; b++) {
        int count = bodies[b].element_count, block_count = (count + PL_LANES - 1) / PL_LANES;
        elements->groups[b] = (pl_elastic_group){
            .cloth = bodies[b].cloth,
            .model = bodies[b].model,
            .reading = bodies[b].reading,
            .mean_volume = bodies[b].mean_volume,
            .element_offset = elements->element_count,
            .element_count = count,
            .block_offset = blocks,
            .block_count = block_count,
        };
        elements->element_count += count;
        blocks += block_count;
    }
    elements->slot_count = PL_LANES * blocks;
    PL_NEW(elements->ctx, elements->blocks, blocks, done);
    PL_NEW(elements->ctx, elements->slot, elements->element_count, done);
    PL_NEW(elements->ctx, elements->volume, elements->element_count, done);
    for (int b = 0; b < body_count; b++) {
        for (int i = 0; i < bodies[b].element_count; i++) {
            status = fill_element(elements, &bodies[b], &elements->groups[b], i);
            if (status != PL_OK) {
                pl_fail_within(elements->ctx, status, "body %d", b);
                goto done;
            }
        }
        pad_last_block(elements, &elements->groups[b]);
    }
done:
    return status;
}

/* Visits every element e of every group g. */
#define FOR_ELEMENTS(all, g, e)                                                                        \
    for (const pl_elastic_group *g = (all)->groups; g < (all)->groups + (all)->group_count; g++)       \
        for (int e = g->element_offset; e < g->element_offset + g->element_count; e++)
/* Vertex k of the element in slot s. */
#define CORNER(all, s, k) ((all)->blocks[(s) / PL_LANES].vertex[k][(s) % PL_LANES])

static pl_status create_pattern(pl_elements *elements, int extra_count, const pl_stencils *extra)
{
    pl_status status = PL_OK;
    pl_context *ctx = elements->ctx;
    int *tets = NULL, *pairs = NULL, pair_count = pl_bending_pairs(&elements->bending, NULL);
    pl_stencils *lists = NULL;
    PL_NEW(ctx, tets, 4 * (size_t)elements->element_count, done);
    PL_NEW(ctx, pairs, 2 * (size_t)pair_count, done);
    PL_NEW(ctx, lists, 2 + extra_count, done);
    FOR_ELEMENTS(elements, g, e)
    for (int k = 0; k < 4; k++)
        tets[4 * (size_t)e + (size_t)k] =
            k < corner_count(g) ? CORNER(elements, elements->slot[e], k) : -1;
    pl_bending_pairs(&elements->bending, pairs);
    lists[0] = (pl_stencils){elements->element_count, 4, tets};
    lists[1] = (pl_stencils){pair_count, 2, pairs};
    for (int i = 0; i < extra_count; i++)
        lists[2 + i] = extra[i];
    status = pl_pattern_create(ctx, elements->vertex_count, 2 + extra_count, lists, &elements->pattern);
done:
    pl_free(ctx, tets);
    pl_free(ctx, pairs);
    pl_free(ctx, lists);
    return status;
}

static void prefix_sum(int *count, int n)
{
    for (int i = 0; i < n; i++)
        count[i + 1] += count[i];
}

/* After filling, begin[i] has moved to the next row's beginning: moves it back. */
static void restore_begins(int *begin, int n)
{
    for (int i = n; i > 0; i--)
        begin[i] = begin[i - 1];
    begin[0] = 0;
}

static pl_status map_forces(pl_elements *elements)
{
    pl_status status = PL_OK;
    const pl_bending *bending = &elements->bending;
    int bending_at = PL_FORCE_STRIDE * elements->slot_count;
    int *begin = NULL, n = elements->vertex_count;
    PL_NEW(elements->ctx, elements->vertex_begin, n + 1, done);
    begin = elements->vertex_begin;
    FOR_ELEMENTS(elements, g, e)
    for (int k = 0; k < corner_count(g); k++)
        begin[CORNER(elements, elements->slot[e], k) + 1]++;
    for (int i = 0; i < bending->force_count; i++)
        begin[bending->vertex[i] + 1]++;
    prefix_sum(begin, n);
    PL_NEW(elements->ctx, elements->vertex_from, begin[n], done);
    FOR_ELEMENTS(elements, g, e)
    for (int k = 0; k < corner_count(g); k++)
        elements->vertex_from[begin[CORNER(elements, elements->slot[e], k)]++] =
            PL_FORCE_STRIDE * elements->slot[e] + 3 * k;
    for (int i = 0; i < bending->force_count; i++)
        elements->vertex_from[begin[bending->vertex[i]]++] = bending_at + 3 * i;
    restore_begins(begin, n);
done:
    return status;
}

/* As measured with AVX2, ns an element. */
static void estimate_costs(pl_elements *elements)
{
    for (const pl_elastic_group *g = elements->groups; g < elements->groups + elements->group_count;
         g++) {
        bool direct = g->model == PL_NEO_HOOKEAN && g->reading == PL_EXACT;
        bool search = g->model == PL_NEO_HOOKEAN && g->reading == PL_PROJECTIVE;
        double stress = direct ? 15.0 : search ? 150.0 : 85.0;
        elements->stress_cost += stress * (g->cloth ? 0.5 : 1.0) * g->element_count;
        elements->tangent_cost += (stress + 50.0) * (g->cloth ? 0.5 : 1.0) * g->element_count;
    }
    elements->stress_cost += pl_bending_cost(&elements->bending);
    elements->tangent_cost += pl_bending_cost(&elements->bending);
}

/* Each group in as many portions as it needs, of equal size. */
static pl_status create_portions(pl_elements *elements)
{
    pl_status status = PL_OK;
    int most = 0;
    for (int g = 0; g < elements->group_count; g++)
        most += (elements->groups[g].block_count + PL_PORTION - 1) / PL_PORTION;
    PL_NEW(elements->ctx, elements->portions, most, done);
    for (int g = 0; g < elements->group_count; g++) {
        const pl_elastic_group *group = &elements->groups[g];
        int count = (group->block_count + PL_PORTION - 1) / PL_PORTION, first = group->block_offset;
        for (int i = 0; i < count; i++) {
            int size = group->block_count / count + (i < group->block_count % count);
            elements->portions[elements->portion_count++] =
                (pl_elastic_portion){.group = g, .first = first, .last = first + size};
            first += size;
        }
    }
done:
    return status;
}

/* Shares and targets of a portion; share_of [nnz] has an entry's newest share, entry_of the entry right
 * of the diagonal that a share is part of. */
static void map_portion(pl_elements *elements, pl_elastic_portion *portion, int *share_of,
                        int *entry_of)
{
    int corners = corner_count(&elements->groups[portion->group]);
    portion->share_begin = elements->share_count;
    for (int s = PL_LANES * portion->first; s < PL_LANES * portion->last; s++)
        for (int k = 0, pair = 0; k < corners; k++)
            for (int l = k + 1; l < corners; l++, pair++) {
                int entry =
                    pl_pattern_find(&elements->pattern, CORNER(elements, s, k), CORNER(elements, s, l));
                if (share_of[entry] < portion->share_begin) {
                    share_of[entry] = elements->share_count;
                    entry_of[elements->share_count++] = entry;
                }
                elements->targets[s / PL_LANES].at[pair][s % PL_LANES] = 9 * share_of[entry];
            }
    portion->share_end = elements->share_count;
}

/* The shares of every entry, off the diagonal. */
static pl_status map_entries(pl_elements *elements, const int *entry_of)
{
    pl_status status = PL_OK;
    const pl_pattern *p = &elements->pattern;
    int *mirror = NULL; /* [nnz] entry (j, i) of entry (i, j) */
    PL_NEW(elements->ctx, mirror, p->nnz, done);
    PL_NEW(elements->ctx, elements->entry_begin, p->nnz + 1, done);
    PL_NEW(elements->ctx, elements->entry_from, 2 * (size_t)elements->share_count + PL_AHEAD, done);
    for (int i = 0; i < p->n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++)
            mirror[k] = pl_pattern_find(p, p->col[k], i);
    for (int s = 0; s < elements->share_count; s++) {
        elements->entry_begin[entry_of[s] + 1]++;
        elements->entry_begin[mirror[entry_of[s]] + 1]++;
    }
    prefix_sum(elements->entry_begin, p->nnz);
    for (int s = 0; s < elements->share_count; s++) {
        elements->entry_from[elements->entry_begin[entry_of[s]]++] = 9 * s;
        elements->entry_from[elements->entry_begin[mirror[entry_of[s]]]++] = 9 * s;
    }
    restore_begins(elements->entry_begin, p->nnz);
done:
    pl_free(elements->ctx, mirror);
    return status;
}

static pl_status map_tangent(pl_elements *elements)
{
    pl_status status = PL_OK;
    int *share_of = NULL, *entry_of = NULL;
    PL_NEW(elements->ctx, share_of, elements->pattern.nnz, done);
    PL_NEW(elements->ctx, elements->targets, elements->slot_count / PL_LANES, done);
    PL_NEW(elements->ctx, entry_of, PL_PAIRS * (size_t)elements->slot_count, done);
    for (int k = 0; k < elements->pattern.nnz; k++)
        share_of[k] = -1;
    for (int i = 0; i < elements->portion_count; i++)
        map_portion(elements, &elements->portions[i], share_of, entry_of);
    status = map_entries(elements, entry_of);
done:
    pl_free(elements->ctx, share_of);
    pl_free(elements->ctx, entry_of);
    return status;
}

pl_status pl_elements_create(pl_context *ctx, int vertex_count, int body_count,
                             const pl_elastic_body *bodies, int extra_count, const pl_stencils *extra,
                             pl_elements **out)
{
    pl_status status = PL_OK;
    pl_elements *elements = NULL;
    PL_NEW(ctx, elements, 1, done);
    elements->ctx = ctx;
    elements->vertex_count = vertex_count;
    PL_CHECK(create_blocks(elements, body_count, bodies), done);
    PL_CHECK(pl_bending_create(ctx, body_count, bodies, &elements->bending), done);
    PL_CHECK(create_pattern(elements, extra_count, extra), done);
    PL_CHECK(pl_bending_locate(ctx, &elements->pattern, &elements->bending), done);
    PL_CHECK(map_forces(elements), done);
    PL_CHECK(create_portions(elements), done);
    estimate_costs(elements);
    PL_CHECK(map_tangent(elements), done);
    *out = elements;
    elements = NULL;
done:
    pl_elements_destroy(elements);
    return status;
}

void pl_elements_destroy(pl_elements *elements)
{
    if (!elements)
        return;
    pl_context *ctx = elements->ctx;
    pl_free(ctx, elements->groups);
    pl_free(ctx, elements->blocks);
    pl_free(ctx, elements->slot);
    pl_free(ctx, elements->volume);
    pl_bending_free(ctx, &elements->bending);
    pl_pattern_free(ctx, &elements->pattern);
    pl_free(ctx, elements->portions);
    pl_free(ctx, elements->targets);
    pl_free(ctx, elements->entry_begin);
    pl_free(ctx, elements->entry_from);
    pl_free(ctx, elements->vertex_begin);
    pl_free(ctx, elements->vertex_from);
    pl_free(ctx, elements);
}

const pl_pattern *pl_elements_pattern(const pl_elements *elements)
{
    return &elements->pattern;
}

const double *pl_elements_volume(const pl_elements *elements)
{
    return elements->volume;
}
