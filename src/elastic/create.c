/*
 * Building the elastic energy: rest shapes in blocks, the pattern, and the maps that let every vertex
 * and every matrix entry gather what its elements wrote, in element order whatever the number of
 * threads.
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

static pl_status fill_element(pl_elastic *el, const pl_elastic_body *body,
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
        return pl_fail(el->ctx, PL_ERROR_MESH, "element %d has no %s in the rest shape", local,
                       body->cloth ? "area" : "volume");
    int element = group->element_offset + local;
    el->slot[element] = PL_LANES * group->block_offset + local;
    el->volume[element] = volume;
    pl_element_block *block = &el->blocks[el->slot[element] / PL_LANES];
    int lane = el->slot[element] % PL_LANES, size = (corners - 1) * (corners - 1);
    for (int k = 0; k < corners; k++)
        block->vertex[k][lane] = body->vertex_offset + sorted[k];
    for (int i = 0; i < size; i++)
        block->gradient[i][lane] = inverse[i];
    block->volume[lane] = volume;
    return PL_OK;
}

/* Lanes past a body's end repeat its last element, with no volume. */
static void pad_last_block(pl_elastic *el, const pl_elastic_group *group)
{
    int used = group->element_count % PL_LANES;
    if (used == 0)
        return;
    pl_element_block *block = &el->blocks[group->block_offset + group->block_count - 1];
    for (int lane = used; lane < PL_LANES; lane++) {
        for (int k = 0; k < 4; k++)
            block->vertex[k][lane] = block->vertex[k][used - 1];
        for (int i = 0; i < 9; i++)
            block->gradient[i][lane] = block->gradient[i][used - 1];
    }
}

static pl_status create_elements(pl_elastic *el, int body_count, const pl_elastic_body *bodies)
{
    pl_status status = PL_OK;
    PL_NEW(el->ctx, el->groups, body_count, done);
    el->group_count = body_count;
    int blocks = 0;
    for (int b = 0; b < body_count; b++) {
        int count = bodies[b].element_count, block_count = (count + PL_LANES - 1) / PL_LANES;
        el->groups[b] =
            (pl_elastic_group){bodies[b].cloth, bodies[b].model, bodies[b].reading, el->element_count,
                               count,           blocks,          block_count};
        el->element_count += count;
        blocks += block_count;
    }
    el->slot_count = PL_LANES * blocks;
    PL_NEW(el->ctx, el->blocks, blocks, done);
    PL_NEW(el->ctx, el->slot, el->element_count, done);
    PL_NEW(el->ctx, el->volume, el->element_count, done);
    PL_NEW(el->ctx, el->young, el->element_count, done);
    PL_NEW(el->ctx, el->poisson, el->element_count, done);
    for (int b = 0; b < body_count; b++) {
        for (int i = 0; i < bodies[b].element_count; i++) {
            status = fill_element(el, &bodies[b], &el->groups[b], i);
            if (status != PL_OK) {
                pl_fail_within(el->ctx, status, "body %d", b);
                goto done;
            }
        }
        pad_last_block(el, &el->groups[b]);
    }
done:
    return status;
}

/* Visits every element e of every group g. */
#define FOR_ELEMENTS(el, g, e)                                                                         \
    for (const pl_elastic_group *g = (el)->groups; g < (el)->groups + (el)->group_count; g++)          \
        for (int e = g->element_offset; e < g->element_offset + g->element_count; e++)
/* Vertex k of the element in slot s. */
#define CORNER(el, s, k) ((el)->blocks[(s) / PL_LANES].vertex[k][(s) % PL_LANES])

/* The pairs of vertices that feel each other's bending, [count, 2]; counts them if pairs is NULL. */
static int list_bending_pairs(const pl_elastic *el, int *pairs)
{
    int count = 0;
    for (const pl_bending_patch *p = el->patches; p < el->patches + el->patch_count; p++)
        for (int k = 0; k < p->count; k++)
            for (int l = 0; l < k; l++) {
                if (!pl_bending_couples(p, k, l))
                    continue;
                if (pairs)
                    memcpy(pairs + 2 * (size_t)count, (int[]){p->vertex[k], p->vertex[l]},
                           2 * sizeof *pairs);
                count++;
            }
    return count;
}

static pl_status create_pattern(pl_elastic *el)
{
    pl_status status = PL_OK;
    int *tets = NULL, *pairs = NULL, pair_count = list_bending_pairs(el, NULL);
    PL_NEW(el->ctx, tets, 4 * (size_t)el->element_count, done);
    PL_NEW(el->ctx, pairs, 2 * (size_t)pair_count, done);
    FOR_ELEMENTS(el, g, e)
    for (int k = 0; k < 4; k++)
        tets[4 * (size_t)e + (size_t)k] = k < corner_count(g) ? CORNER(el, el->slot[e], k) : -1;
    list_bending_pairs(el, pairs);
    pl_stencils lists[2] = {{el->element_count, 4, tets}, {pair_count, 2, pairs}};
    status = pl_pattern_create(el->ctx, el->vertex_count, 2, lists, &el->pattern);
done:
    pl_free(el->ctx, tets);
    pl_free(el->ctx, pairs);
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

static pl_status map_forces(pl_elastic *el)
{
    pl_status status = PL_OK;
    PL_NEW(el->ctx, el->vertex_begin, el->vertex_count + 1, done);
    FOR_ELEMENTS(el, g, e)
    for (int k = 0; k < corner_count(g); k++)
        el->vertex_begin[CORNER(el, el->slot[e], k) + 1]++;
    for (int i = 0; i < el->patch_count; i++)
        for (int k = 0; k < el->patches[i].count; k++)
            el->vertex_begin[el->patches[i].vertex[k] + 1]++;
    prefix_sum(el->vertex_begin, el->vertex_count);
    PL_NEW(el->ctx, el->vertex_from, el->vertex_begin[el->vertex_count], done);
    FOR_ELEMENTS(el, g, e)
    for (int k = 0; k < corner_count(g); k++)
        el->vertex_from[el->vertex_begin[CORNER(el, el->slot[e], k)]++] =
            PL_FORCE_STRIDE * el->slot[e] + 3 * k;
    for (int i = 0; i < el->patch_count; i++)
        for (int k = 0; k < el->patches[i].count; k++)
            el->vertex_from[el->vertex_begin[el->patches[i].vertex[k]]++] =
                el->patches[i].force_at + 3 * k;
    restore_begins(el->vertex_begin, el->vertex_count);
done:
    return status;
}

/* As measured with AVX2, ns an element. */
static void estimate_costs(pl_elastic *el)
{
    for (const pl_elastic_group *g = el->groups; g < el->groups + el->group_count; g++) {
        bool direct = g->model == PL_NEO_HOOKEAN && g->reading == PL_EXACT;
        bool search = g->model == PL_NEO_HOOKEAN && g->reading == PL_PROJECTIVE;
        double stress = direct ? 15.0 : search ? 150.0 : 85.0;
        el->stress_cost += stress * (g->cloth ? 0.5 : 1.0) * g->element_count;
        el->tangent_cost += (stress + 50.0) * (g->cloth ? 0.5 : 1.0) * g->element_count;
    }
    el->stress_cost += 30.0 * el->patch_count;
    el->tangent_cost += 30.0 * el->patch_count;
}

/* Each group in as many portions as it needs, of equal size. */
static pl_status create_portions(pl_elastic *el)
{
    pl_status status = PL_OK;
    int most = 0;
    for (int g = 0; g < el->group_count; g++)
        most += (el->groups[g].block_count + PL_PORTION - 1) / PL_PORTION;
    PL_NEW(el->ctx, el->portions, most, done);
    for (int g = 0; g < el->group_count; g++) {
        const pl_elastic_group *group = &el->groups[g];
        int count = (group->block_count + PL_PORTION - 1) / PL_PORTION, first = group->block_offset;
        for (int i = 0; i < count; i++) {
            int size = group->block_count / count + (i < group->block_count % count);
            el->portions[el->portion_count++] =
                (pl_elastic_portion){.group = g, .first = first, .last = first + size};
            first += size;
        }
    }
done:
    return status;
}

/* Shares and targets of a portion; share_of [nnz] has an entry's newest share, entry_of the entry right
 * of the diagonal that a share is part of. */
static void map_portion(pl_elastic *el, pl_elastic_portion *portion, int *share_of, int *entry_of)
{
    int corners = corner_count(&el->groups[portion->group]);
    portion->share_begin = el->share_count;
    for (int s = PL_LANES * portion->first; s < PL_LANES * portion->last; s++)
        for (int k = 0, pair = 0; k < corners; k++)
            for (int l = k + 1; l < corners; l++, pair++) {
                int entry = pl_pattern_find(&el->pattern, CORNER(el, s, k), CORNER(el, s, l));
                if (share_of[entry] < portion->share_begin) {
                    share_of[entry] = el->share_count;
                    entry_of[el->share_count++] = entry;
                }
                el->targets[s / PL_LANES].at[pair][s % PL_LANES] = 9 * share_of[entry];
            }
    portion->share_end = el->share_count;
}

/* The shares of every entry, off the diagonal. */
static pl_status map_entries(pl_elastic *el, const int *entry_of)
{
    pl_status status = PL_OK;
    const pl_pattern *p = &el->pattern;
    int *mirror = NULL; /* [nnz] entry (j, i) of entry (i, j) */
    PL_NEW(el->ctx, mirror, p->nnz, done);
    PL_NEW(el->ctx, el->entry_begin, p->nnz + 1, done);
    PL_NEW(el->ctx, el->entry_from, 2 * (size_t)el->share_count + PL_AHEAD, done);
    for (int i = 0; i < p->n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++)
            mirror[k] = pl_pattern_find(p, p->col[k], i);
    for (int s = 0; s < el->share_count; s++) {
        el->entry_begin[entry_of[s] + 1]++;
        el->entry_begin[mirror[entry_of[s]] + 1]++;
    }
    prefix_sum(el->entry_begin, p->nnz);
    for (int s = 0; s < el->share_count; s++) {
        el->entry_from[el->entry_begin[entry_of[s]]++] = 9 * s;
        el->entry_from[el->entry_begin[mirror[entry_of[s]]]++] = 9 * s;
    }
    restore_begins(el->entry_begin, p->nnz);
done:
    pl_free(el->ctx, mirror);
    return status;
}

static pl_status map_tangent(pl_elastic *el)
{
    pl_status status = PL_OK;
    int *share_of = NULL, *entry_of = NULL;
    PL_NEW(el->ctx, share_of, el->pattern.nnz, done);
    PL_NEW(el->ctx, el->targets, el->slot_count / PL_LANES, done);
    PL_NEW(el->ctx, entry_of, PL_PAIRS * (size_t)el->slot_count, done);
    for (int k = 0; k < el->pattern.nnz; k++)
        share_of[k] = -1;
    for (int i = 0; i < el->portion_count; i++)
        map_portion(el, &el->portions[i], share_of, entry_of);
    status = map_entries(el, entry_of);
done:
    pl_free(el->ctx, share_of);
    pl_free(el->ctx, entry_of);
    return status;
}

static pl_status create_buffers(pl_elastic *el)
{
    pl_status status = PL_OK;
    size_t forces = PL_FORCE_STRIDE * (size_t)el->slot_count;
    for (int i = 0; i < el->patch_count; i++)
        forces += 3 * (size_t)el->patches[i].count;
    PL_NEW(el->ctx, el->bending, el->pattern.nnz, done);
    PL_NEW(el->ctx, el->energy, (size_t)el->slot_count + (size_t)el->patch_count, done);
    PL_NEW(el->ctx, el->force, forces + 1, done);
    PL_NEW(el->ctx, el->share, 9 * (size_t)el->share_count, done);
    PL_NEW(el->ctx, el->scratch, 2 * (size_t)el->slot_count, done);
done:
    return status;
}

pl_status pl_elastic_create(pl_context *ctx, int vertex_count, int body_count,
                            const pl_elastic_body *bodies, pl_elastic **out)
{
    pl_status status = PL_OK;
    pl_elastic *el = NULL;
    PL_NEW(ctx, el, 1, done);
    const pl_backend *backends[PL_BACKEND_MAX];
    pl_backend_list(backends);
    el->ctx = ctx;
    el->backend = backends[0];
    el->vertex_count = vertex_count;
    PL_CHECK(create_elements(el, body_count, bodies), done);
    PL_CHECK(pl_bending_create(ctx, body_count, bodies, &el->patch_count, &el->patches), done);
    PL_CHECK(create_pattern(el), done);
    PL_CHECK(pl_bending_locate(el), done);
    PL_CHECK(map_forces(el), done);
    PL_CHECK(create_portions(el), done);
    estimate_costs(el);
    PL_CHECK(map_tangent(el), done);
    PL_CHECK(create_buffers(el), done);
    *out = el;
    el = NULL;
done:
    pl_elastic_destroy(el);
    return status;
}

void pl_elastic_destroy(pl_elastic *el)
{
    if (!el)
        return;
    pl_context *ctx = el->ctx;
    pl_free(ctx, el->groups);
    pl_free(ctx, el->blocks);
    pl_free(ctx, el->slot);
    pl_free(ctx, el->volume);
    pl_free(ctx, el->young);
    pl_free(ctx, el->poisson);
    pl_free(ctx, el->patches);
    pl_free(ctx, el->patch_entry);
    pl_pattern_free(ctx, &el->pattern);
    pl_free(ctx, el->portions);
    pl_free(ctx, el->targets);
    pl_free(ctx, el->entry_begin);
    pl_free(ctx, el->entry_from);
    pl_free(ctx, el->vertex_begin);
    pl_free(ctx, el->vertex_from);
    pl_free(ctx, el->bending);
    pl_free(ctx, el->energy);
    pl_free(ctx, el->force);
    pl_free(ctx, el->share);
    pl_free(ctx, el->scratch);
    pl_free(ctx, el);
}

const pl_pattern *pl_elastic_pattern(const pl_elastic *el)
{
    return &el->pattern;
}

const double *pl_elastic_volume(const pl_elastic *el)
{
    return el->volume;
}

void pl_elastic_set_backend(pl_elastic *el, const pl_backend *backend)
{
    el->backend = backend;
}
