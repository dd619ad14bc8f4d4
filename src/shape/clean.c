/*
 * Where a body is about as thin as a cell its tetrahedra may meet only in a vertex or an edge. Around
 * each vertex and edge the tetrahedra are grouped into fans, connected through faces that hold it; all
 * but the largest fan are removed, which may uncover others, until nothing changes.
 */
#include "shape/clean.h"

#include "mesh/mesh.h"

typedef struct cleaner {
    pl_context *ctx;
    pl_mesh *mesh;
    int *neighbour; /* [tet_count, 4] tet across the face opposite each vertex, -1 at the boundary */
    int *start;     /* [vertex_count + 1] tets of each vertex */
    int *incident;  /* [4 tet_count] */
    bool *alive;    /* [tet_count] */
    int *fan;       /* [tet_count] scratch: label, -1 = not in question */
    int *stack;     /* [tet_count] scratch */
    int *around;    /* [tet_count] scratch: tets of one vertex or edge */
    int *parent;    /* [tet_count] scratch: way back of a search */
    int *component; /* [tet_count] */
} cleaner;

/* A boundary face at a vertex: its tet, its other two vertices, and which cycle about the vertex. */
typedef struct rim {
    int tet, ends[2], cycle;
} rim;

#define MAX_RIM 512 /* a lattice point has 24 tets, each cut into at most three */

static pl_status find_neighbours(cleaner *c)
{
    pl_status status = PL_OK;
    int faces = 4 * c->mesh->tet_count, *rows = NULL, *order = NULL;
    PL_NEW(c->ctx, rows, 3 * (size_t)faces, done);
    PL_NEW(c->ctx, order, faces, done);
    for (int f = 0; f < faces; f++) {
        for (int k = 0; k < 3; k++)
            rows[3 * f + k] = c->mesh->tets[f / 4 * 4 + pl_tet_faces[f % 4][k]];
        pl_sort_few(3, rows + 3 * f);
        c->neighbour[f] = -1;
    }
    PL_CHECK(pl_sort_rows(c->ctx, faces, 3, rows, c->mesh->vertex_count, order), done);
    for (int k = 0; k + 1 < faces; k++) {
        int f = order[k], g = order[k + 1];
        if (memcmp(rows + 3 * f, rows + 3 * g, 3 * sizeof *rows) == 0)
            c->neighbour[f] = g / 4, c->neighbour[g] = f / 4;
    }
done:
    pl_free(c->ctx, rows);
    pl_free(c->ctx, order);
    return status;
}

static void find_incident(cleaner *c)
{
    const pl_mesh *mesh = c->mesh;
    for (int k = 0; k < 4 * mesh->tet_count; k++)
        c->start[mesh->tets[k] + 1]++;
    for (int v = 0; v < mesh->vertex_count; v++)
        c->start[v + 1] += c->start[v];
    for (int k = 4 * mesh->tet_count - 1; k >= 0; k--)
        c->incident[--c->start[mesh->tets[k] + 1]] = k / 4;
    /* Filling from behind left start[v + 1] at the first tet of v. */
    for (int v = 0; v < mesh->vertex_count; v++)
        c->start[v] = c->start[v + 1];
    c->start[mesh->vertex_count] = 4 * mesh->tet_count;
}

static bool has_vertex(const int tet[4], int v)
{
    return tet[0] == v || tet[1] == v || tet[2] == v || tet[3] == v;
}

/* Living neighbour of t across face k, when that face holds a and (unless negative) b. */
static int across(const cleaner *c, int t, int k, int a, int b)
{
    const int *tet = c->mesh->tets + 4 * t;
    int n = c->neighbour[4 * t + k];
    if (n < 0 || !c->alive[n] || tet[k] == a || tet[k] == b)
        return -1;
    return n;
}

/* Removes all but the largest fan of the `count` tets in around[] about vertex a or edge (a, b).
 * Returns how many went. */
static int keep_largest_fan(cleaner *c, int count, int a, int b)
{
    int fans = 0, best = -1, best_size = 0, removed = 0;
    for (int k = 0; k < count; k++) {
        if (c->fan[c->around[k]] >= 0)
            continue;
        int top = 0, size = 0;
        c->stack[top++] = c->around[k];
        c->fan[c->around[k]] = fans;
        while (top > 0) {
            int t = c->stack[--top];
            size++;
            for (int f = 0; f < 4; f++) {
                int n = across(c, t, f, a, b);
                if (n >= 0 && c->fan[n] < 0)
                    c->fan[n] = fans, c->stack[top++] = n;
            }
        }
        if (size > best_size)
            best = fans, best_size = size;
        fans++;
    }
    for (int k = 0; k < count; k++) {
        int t = c->around[k];
        if (c->fan[t] != best)
            c->alive[t] = false, removed++;
        c->fan[t] = -1;
    }
    return removed;
}

static int gather(cleaner *c, int a, int b)
{
    int count = 0;
    for (int k = c->start[a]; k < c->start[a + 1]; k++) {
        int t = c->incident[k];
        if (c->alive[t] && (b < 0 || has_vertex(c->mesh->tets + 4 * t, b)))
            c->around[count++] = t;
    }
    return count;
}

/* Boundary faces at v among the `count` tets in around[], with neighbours across an edge at v in one
 * cycle. Returns how many. */
static int find_rims(const cleaner *c, int count, int v, rim rims[MAX_RIM])
{
    int n = 0;
    for (int k = 0; k < count; k++) {
        const int *tet = c->mesh->tets + 4 * c->around[k];
        for (int f = 0; f < 4 && n < MAX_RIM; f++) {
            int other = c->neighbour[4 * c->around[k] + f];
            if (tet[f] == v || (other >= 0 && c->alive[other]))
                continue;
            rim *r = &rims[n];
            *r = (rim){.tet = c->around[k], .cycle = n};
            n++;
            for (int i = 0, e = 0; i < 4; i++)
                if (i != f && tet[i] != v)
                    r->ends[e++] = tet[i];
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int a = 0; a < n; a++) {
            for (int b = 0; b < n; b++) {
                bool joined = rims[a].ends[0] == rims[b].ends[0] ||
                              rims[a].ends[0] == rims[b].ends[1] ||
                              rims[a].ends[1] == rims[b].ends[0] || rims[a].ends[1] == rims[b].ends[1];
                if (joined && rims[a].cycle < rims[b].cycle)
                    rims[b].cycle = rims[a].cycle, changed = true;
            }
        }
    }
    return n;
}

/* Joins the hollows that meet in v: removes the shortest chain of tets from the first cycle of boundary
 * faces to any other. Returns how many went. */
static int join_hollows(cleaner *c, int count, int v)
{
    rim rims[MAX_RIM];
    int n = find_rims(c, count, v, rims), head = 0, tail = 0, last = -1, removed = 0;
    for (int k = 0; k < n; k++) {
        if (rims[k].cycle == 0 && c->fan[rims[k].tet] < 0) {
            c->fan[rims[k].tet] = 0, c->parent[rims[k].tet] = -1;
            c->stack[tail++] = rims[k].tet;
        }
    }
    while (head < tail && last < 0) {
        int t = c->stack[head++];
        for (int k = 0; k < n; k++)
            if (rims[k].tet == t && rims[k].cycle != 0)
                last = t;
        for (int f = 0; f < 4; f++) {
            int next = across(c, t, f, v, -1);
            if (next >= 0 && c->fan[next] < 0)
                c->fan[next] = 0, c->parent[next] = t, c->stack[tail++] = next;
        }
    }
    for (; last >= 0; last = c->parent[last], removed++)
        c->alive[last] = false;
    for (int k = 0; k < tail; k++)
        c->fan[c->stack[k]] = -1;
    return removed;
}

/* One pass over the edges and vertices of the boundary. */
static int unpinch(cleaner *c)
{
    int removed = 0;
    for (int t = 0; t < c->mesh->tet_count; t++) {
        const int *tet = c->mesh->tets + 4 * t;
        for (int f = 0; f < 4 && c->alive[t]; f++) {
            int n = c->neighbour[4 * t + f];
            if (n >= 0 && c->alive[n])
                continue;
            for (int k = 0; k < 3; k++) {
                int a = tet[pl_tet_faces[f][k]], b = tet[pl_tet_faces[f][(k + 1) % 3]];
                removed += keep_largest_fan(c, gather(c, a, b), a, b);
                removed += keep_largest_fan(c, gather(c, a, -1), a, -1);
                removed += join_hollows(c, gather(c, a, -1), a);
            }
        }
    }
    return removed;
}

/* Labels face-connected components of living tets; returns how many. Volumes go into volume[]. */
static int label_components(cleaner *c, double *volume)
{
    int count = 0;
    for (int t = 0; t < c->mesh->tet_count; t++)
        c->component[t] = -1;
    for (int seed = 0; seed < c->mesh->tet_count; seed++) {
        if (!c->alive[seed] || c->component[seed] >= 0)
            continue;
        int top = 0;
        volume[count] = 0;
        c->stack[top++] = seed, c->component[seed] = count;
        while (top > 0) {
            int t = c->stack[--top];
            volume[count] += pl_tet_volume6(c->mesh->vertices, c->mesh->tets + 4 * t) / 6;
            for (int f = 0; f < 4; f++) {
                int n = across(c, t, f, -1, -1);
                if (n >= 0 && c->component[n] < 0)
                    c->component[n] = count, c->stack[top++] = n;
            }
        }
        count++;
    }
    return count;
}

/* Whether a component is near a piece that is still free; it then claims every piece it is near. */
static bool claim_pieces(const cleaner *c, int component, const pl_pieces *pieces, bool *claimed)
{
    if (pieces->count == 1) {
        bool first = !claimed[0];
        claimed[0] = true;
        return first;
    }
    bool found = false;
    for (int t = 0; t < c->mesh->tet_count; t++) {
        for (int f = 0; f < 4 && c->component[t] == component; f++) {
            if (across(c, t, f, -1, -1) >= 0)
                continue;
            for (int k = 0; k < 3; k++) {
                int v = c->mesh->tets[4 * t + pl_tet_faces[f][k]];
                int piece = pieces->nearest(pieces->user, c->mesh->vertices + 3 * (size_t)v);
                found |= !claimed[piece];
                claimed[piece] = true;
            }
        }
    }
    return found;
}

static double living_volume(const cleaner *c)
{
    double sum = 0;
    for (int t = 0; t < c->mesh->tet_count; t++)
        if (c->alive[t])
            sum += pl_tet_volume6(c->mesh->vertices, c->mesh->tets + 4 * t) / 6;
    return sum;
}

static pl_status drop_components(cleaner *c, const pl_pieces *pieces, pl_clean_report *report)
{
    pl_status status = PL_OK;
    double *volume = NULL;
    bool *claimed = NULL, *keep = NULL;
    PL_NEW(c->ctx, volume, c->mesh->tet_count, done);
    PL_NEW(c->ctx, keep, c->mesh->tet_count, done);
    PL_NEW(c->ctx, claimed, pieces->count, done);
    int count = label_components(c, volume);
    for (int round = 0; round < count; round++) {
        int largest = 0;
        for (int k = 1; k < count; k++)
            if (volume[k] > volume[largest])
                largest = k;
        keep[largest] = claim_pieces(c, largest, pieces, claimed);
        report->components += keep[largest];
        report->dropped += !keep[largest];
        report->dropped_volume += keep[largest] ? 0 : volume[largest];
        volume[largest] = -1;
    }
    for (int t = 0; t < c->mesh->tet_count; t++)
        c->alive[t] = c->alive[t] && keep[c->component[t]];
done:
    pl_free(c->ctx, volume);
    pl_free(c->ctx, claimed);
    pl_free(c->ctx, keep);
    return status;
}

/* Squeezes dead tets and unreferenced vertices out. */
static pl_status compact(cleaner *c)
{
    pl_mesh *mesh = c->mesh;
    int *map = pl_alloc(c->ctx, (size_t)mesh->vertex_count, sizeof *map), tets = 0, vertices = 0;
    if (!map)
        return PL_ERROR_MEMORY;
    for (int t = 0; t < mesh->tet_count; t++) {
        if (!c->alive[t])
            continue;
        for (int k = 0; k < 4; k++)
            map[mesh->tets[4 * t + k]] = 1;
        memmove(mesh->tets + 4 * tets++, mesh->tets + 4 * t, 4 * sizeof *mesh->tets);
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        if (!map[v])
            continue;
        memmove(mesh->vertices + 3 * vertices, mesh->vertices + 3 * v, 3 * sizeof *mesh->vertices);
        map[v] = vertices++;
    }
    for (int k = 0; k < 4 * tets; k++)
        mesh->tets[k] = map[mesh->tets[k]];
    mesh->tet_count = tets, mesh->vertex_count = vertices;
    pl_free(c->ctx, map);
    return PL_OK;
}

pl_status pl_clean(pl_context *ctx, pl_mesh *mesh, const pl_pieces *pieces, pl_clean_report *report)
{
    pl_status status = PL_OK;
    cleaner c = {.ctx = ctx, .mesh = mesh};
    *report = (pl_clean_report){0};
    PL_NEW(ctx, c.neighbour, 4 * (size_t)mesh->tet_count, done);
    PL_NEW(ctx, c.start, mesh->vertex_count + 1, done);
    PL_NEW(ctx, c.incident, 4 * (size_t)mesh->tet_count, done);
    PL_NEW(ctx, c.alive, mesh->tet_count, done);
    PL_NEW(ctx, c.fan, mesh->tet_count, done);
    PL_NEW(ctx, c.stack, mesh->tet_count, done);
    PL_NEW(ctx, c.around, mesh->tet_count, done);
    PL_NEW(ctx, c.parent, mesh->tet_count, done);
    PL_NEW(ctx, c.component, mesh->tet_count, done);
    PL_CHECK(find_neighbours(&c), done);
    find_incident(&c);
    for (int t = 0; t < mesh->tet_count; t++)
        c.alive[t] = true, c.fan[t] = -1;
    double before = living_volume(&c);
    for (int removed = 1; removed > 0; report->pinched += removed)
        removed = unpinch(&c);
    PL_CHECK(drop_components(&c, pieces, report), done);
    report->lost = 1 - living_volume(&c) / before;
    status = compact(&c);
done:
    pl_free(ctx, c.neighbour);
    pl_free(ctx, c.start);
    pl_free(ctx, c.incident);
    pl_free(ctx, c.alive);
    pl_free(ctx, c.fan);
    pl_free(ctx, c.stack);
    pl_free(ctx, c.around);
    pl_free(ctx, c.parent);
    pl_free(ctx, c.component);
    return status;
}
