/* Newton's laws for a body as a whole, by sums that share nothing with the solver, and whether bodies
 * are inside each other. */
#include "soak.h"

#include <math.h>
#include <string.h>

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

/* How far x is from the nearest face of a tet with these corners, m; negative outside. */
static double depth_in(const double *const corner[4], const double x[3])
{
    double depth = HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        const double *a = corner[(k + 1) % 4];
        double u[3], v[3], across[3], n[3], to[3], side = 0, there = 0;
        for (int i = 0; i < 3; i++) {
            u[i] = corner[(k + 2) % 4][i] - a[i], v[i] = corner[(k + 3) % 4][i] - a[i];
            across[i] = corner[k][i] - a[i], to[i] = x[i] - a[i];
        }
        cross(u, v, n);
        for (int i = 0; i < 3; i++)
            side += n[i] * across[i], there += n[i] * to[i];
        depth = fmin(depth, (side > 0 ? there : -there) / norm(n));
    }
    return depth;
}

pl_status soak_depth(const pl_scene *scene, const pl_state *state, double *depth)
{
    *depth = 0;
    for (int b = 0, first = 0; first < state->vertex_count; b++) {
        pl_body_info info;
        pl_status status = pl_scene_body(scene, b, &info);
        if (status != PL_OK)
            return status;
        int last = first + info.mesh->vertex_count;
        for (int e = 0; e < info.mesh->tet_count; e++) {
            const double *corner[4];
            for (int k = 0; k < 4; k++)
                corner[k] = state->q + 3 * (first + info.mesh->tets[4 * e + k]);
            for (int v = 0; v < state->vertex_count; v++)
                if (v < first || v >= last)
                    *depth = fmax(*depth, depth_in(corner, state->q + 3 * v));
        }
        first = last;
    }
    return PL_OK;
}
