/* Newton's laws for a body as a whole, by sums that share nothing with the solver, and whether bodies
 * are inside each other. */
#include "soak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 /* of a tet's volume */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double norm(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static void edge(const pl_mesh *mesh, int from, int to, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = mesh->vertices[3 * to + i] - mesh->vertices[3 * from + i];
}

static void weigh_body(const pl_mesh *mesh, double density, double thickness, double *mass)
{
    bool cloth = thickness > 0;
    memset(mass, 0, sizeof *mass * (size_t)mesh->vertex_count);
    for (int e = 0; e < (cloth ? mesh->triangle_count : mesh->tet_count); e++) {
        const int *v = cloth ? mesh->triangles + 3 * e : mesh->tets + 4 * e;
        double a[3], b[3], c[3], area[3];
        edge(mesh, v[0], v[1], a);
        edge(mesh, v[0], v[2], b);
        cross(a, b, area);
        double volume = thickness * norm(area) / 2;
        if (!cloth) {
            edge(mesh, v[0], v[3], c);
            volume = fabs(area[0] * c[0] + area[1] * c[1] + area[2] * c[2]) / 6;
        }
        for (int k = 0, corners = cloth ? 3 : 4; k < corners; k++)
            mass[v[k]] += density * volume / corners;
    }
}

pl_status soak_weigh(const pl_scene *scene, const soak_scene *s, double *mass)
{
    for (int b = 0; b < s->bodies; b++) {
        pl_body_info info;
        pl_status status = pl_scene_body(scene, b, &info);
        if (status != PL_OK)
            return status;
        weigh_body(info.mesh, s->density[b], s->thickness[b], mass);
        mass += info.mesh->vertex_count;
    }
    return PL_OK;
}

typedef struct sums {
    double mass, inertia; /* the latter about the centre, as if all axes were alike */
    double centre[3];
    double lack[3], moment[3]; /* of momentum, and of that about the centre */
} sums;

static void add(sums *s, const double q[3], const double impulse[3])
{
    double arm[3], moment[3];
    for (int i = 0; i < 3; i++)
        arm[i] = q[i] - s->centre[i];
    cross(arm, impulse, moment);
    for (int i = 0; i < 3; i++)
        s->lack[i] += impulse[i], s->moment[i] += moment[i];
}

/* m times the change of velocity, less what gravity makes of it. */
static void add_vertex(sums *s, const pl_state *before, const pl_state *after, int vertex, double mass,
                       const double gravity[3], double h)
{
    double impulse[3], r2 = 0;
    bool looks_back = before->before_length == h;
    for (int i = 0, k = 3 * vertex; i < 3; i++, k++) {
        double change = looks_back ? (3 * after->v[k] - 4 * before->v[k] + before->v_before[k]) / 2
                                   : after->v[k] - before->v[k];
        double arm = after->q[k] - s->centre[i];
        impulse[i] = mass * (change - h * gravity[i]);
        r2 += arm * arm;
    }
    s->inertia += mass * r2;
    add(s, after->q + 3 * vertex, impulse);
}

double soak_imbalance(const pl_state *before, const pl_state *after, const double *mass, soak_body body,
                      const double gravity[3], double h)
{
    sums s = {0};
    for (int v = body.first; v < body.last; v++)
        s.mass += mass[v];
    for (int v = body.first; v < body.last; v++)
        for (int i = 0; i < 3; i++)
            s.centre[i] += mass[v] / s.mass * after->q[3 * v + i];
    for (int v = body.first; v < body.last; v++)
        add_vertex(&s, before, after, v, mass[v], gravity, h);
    for (int c = 0; c < after->contact_count; c++) {
        const pl_contact *contact = &after->contacts[c];
        for (int k = 0; k < contact->count; k++) {
            double impulse[3];
            if (contact->vertex[k] < body.first || contact->vertex[k] >= body.last)
                continue;
            for (int i = 0; i < 3; i++)
                impulse[i] = -h * contact->weight[k] *
                             (contact->force_normal * contact->normal[i] + contact->force_tangent[i]);
            add(&s, after->q + 3 * contact->vertex[k], impulse);
        }
    }
    double radius = sqrt(s.inertia / s.mass);
    return h * fmax(norm(s.lack) / s.mass, norm(s.moment) / (s.mass * radius));
}

static double volume_of(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], n[3];
    for (int i = 0; i < 3; i++)
        u[i] = b[i] - a[i], v[i] = c[i] - a[i], w[i] = d[i] - a[i];
    cross(u, v, n);
    return n[0] * w[0] + n[1] * w[1] + n[2] * w[2];
}

/* 1 for x in a tet, -1 in one that is inside out, 0 elsewhere. */
static int covers(const double *const c[4], const double *x)
{
    double whole = volume_of(c[0], c[1], c[2], c[3]), sign = whole < 0 ? -1 : 1;
    double least =
        fmin(fmin(sign * volume_of(x, c[1], c[2], c[3]), sign * volume_of(c[0], x, c[2], c[3])),
             fmin(sign * volume_of(c[0], c[1], x, c[3]), sign * volume_of(c[0], c[1], c[2], x)));
    return least > ROUNDING * fabs(whole) ? (int)sign : 0;
}

/* Of the vertices `on` the surface of other bodies, those inside this one, whose vertices are [first,
 * last). */
static int count_inside(const pl_mesh *mesh, soak_body body, const pl_state *state, const bool *on)
{
    int count = 0;
    for (int v = 0; v < state->vertex_count; v++) {
        int winding = 0;
        if (!on[v] || (v >= body.first && v < body.last))
            continue;
        for (int e = 0; e < mesh->tet_count; e++) {
            const double *corner[4];
            for (int k = 0; k < 4; k++)
                corner[k] = state->q + 3 * (body.first + mesh->tets[4 * e + k]);
            winding += covers(corner, state->q + 3 * v);
        }
        count += winding != 0;
    }
    return count;
}

/* Marks the vertices of a body's surface, from `first` on. */
static pl_status mark_surface(pl_context *ctx, const pl_mesh *mesh, int first, bool *on)
{
    int count, *triangles;
    pl_status status = pl_mesh_surface(ctx, mesh, &count, &triangles);
    for (int k = 0; status == PL_OK && k < 3 * count; k++)
        on[first + triangles[k]] = true;
    if (status == PL_OK)
        pl_free(ctx, triangles);
    return status;
}

pl_status soak_inside(pl_context *ctx, const pl_scene *scene, const pl_state *state, int *count)
{
    pl_body_info info;
    pl_status status = PL_OK;
    bool *on = calloc((size_t)state->vertex_count, sizeof *on);
    *count = 0;
    if (!on)
        return PL_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0, first = 0; status == PL_OK && first < state->vertex_count; b++) {
            if ((status = pl_scene_body(scene, b, &info)) != PL_OK)
                break;
            soak_body body = {first, first + info.mesh->vertex_count};
            if (pass == 0)
                status = mark_surface(ctx, info.mesh, first, on);
            else
                *count += count_inside(info.mesh, body, state, on);
            first = body.last;
        }
    free(on);
    return status;
}
