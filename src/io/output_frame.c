/*
 * One moment of a simulation as VTU files. Points of the volume carry displacement (from the rest
 * shape) and velocity, its cells stress (Cauchy, Pa), von Mises stress, energy (J), body and, in scenes
 * with muscles, activation; points of the surface carry displacement, velocity, the contact forces
 * (N), normal and tangential apart, who presses them most (the index of a body; of a collider, that
 * after all bodies; -1 = nobody), and, in scenes with chambers, pressure (Pa).
 */
#include "io/output.h"
#include "sim/sim.h"

#include "core/vec.h"

#include <stdio.h>
#include <stdlib.h>

/* Scratch columns of a file's points, each [point_count, 3]. */
typedef struct columns {
    double *position, *displacement, *velocity, *normal, *tangent;
    double *partner, *most, *pressure; /* [point_count] */
} columns;

static columns gather(pl_output *output, const pl_output_grid *grid, const pl_state *state)
{
    size_t n = 3 * (size_t)output->vertex_count;
    double *data = output->point_data;
    columns c = {.position = data,
                 .displacement = data + n,
                 .velocity = data + 2 * n,
                 .normal = data + 3 * n,
                 .tangent = data + 4 * n,
                 .partner = data + 5 * n,
                 .most = data + 5 * n + n / 3,
                 .pressure = data + 5 * n + 2 * n / 3};
    for (int i = 0; i < grid->point_count; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t to = 3 * (size_t)i + k, from = 3 * (size_t)grid->vertex[i] + k;
            c.position[to] = state->q[from];
            c.displacement[to] = state->q[from] - output->rest[from];
            c.velocity[to] = state->v[from];
        }
    return c;
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* The point of a vertex, or -1; grid->vertex is sorted. */
static int point_of(const pl_output_grid *grid, int vertex)
{
    const int *found =
        bsearch(&vertex, grid->vertex, (size_t)grid->point_count, sizeof *grid->vertex, compare);
    return found ? (int)(found - grid->vertex) : -1;
}

/* Who presses the j-th vertex of a contact: a body, or a collider after all bodies. */
static int partner_of(const pl_scene *scene, const pl_contact *contact, int j)
{
    int first = scene->body_of[contact->vertex[0]];
    int last = scene->body_of[contact->vertex[contact->count - 1]];
    return contact->collider >= 0 ? scene->body_count + contact->collider
                                  : first + last - scene->body_of[contact->vertex[j]];
}

/* Sums the contact forces on each point, and finds who presses it most. */
static void gather_contacts(const pl_scene *scene, const pl_output_grid *grid, const pl_state *state,
                            columns c)
{
    memset(c.normal, 0, sizeof(double) * 3 * (size_t)grid->point_count);
    memset(c.tangent, 0, sizeof(double) * 3 * (size_t)grid->point_count);
    for (int i = 0; i < grid->point_count; i++)
        c.partner[i] = -1, c.most[i] = 0;
    for (int at = 0; at < state->contact_count; at++) {
        const pl_contact *contact = &state->contacts[at];
        for (int j = 0; j < contact->count; j++) {
            int at_point = point_of(grid, contact->vertex[j]);
            if (at_point < 0)
                continue;
            size_t i = 3 * (size_t)at_point;
            pl_axpy3(contact->weight[j] * contact->force_normal, contact->normal, c.normal + i);
            pl_axpy3(contact->weight[j], contact->force_tangent, c.tangent + i);
            double pressing = fabs(contact->weight[j]) * contact->force_normal;
            if (pressing > c.most[at_point]) {
                c.most[at_point] = pressing;
                c.partner[at_point] = partner_of(scene, contact, j);
            }
        }
    }
}

/* That of the chamber a point is on the walls of, 0 elsewhere. */
static pl_status gather_pressure(const pl_output *output, const pl_output_grid *grid,
                                 const pl_state *state, double *pressure)
{
    memset(pressure, 0, sizeof *pressure * (size_t)grid->point_count);
    for (int m = 0; m < pl_scene_owner_count(output->scene, PL_OWNER_CHAMBER); m++) {
        pl_chamber_def chamber;
        pl_body_info body;
        double p;
        PL_TRY(pl_scene_chamber(output->scene, m, &chamber));
        PL_TRY(pl_scene_body(output->scene, chamber.body, &body));
        PL_TRY(pl_chamber_pressure(output->scene, m, state, &p));
        for (int k = 0; k < 3 * chamber.triangle_count; k++) {
            int at = point_of(grid, body.vertex_offset + chamber.triangles[k]);
            if (at >= 0)
                pressure[at] = p;
        }
    }
    return PL_OK;
}

static pl_status write_grid(pl_output *output, const char *folder, int step, const pl_output_grid *grid,
                            pl_vtu vtu)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%06d.vtu", folder, step);
    char *path = pl_directory_path(&output->directory, name);
    if (!path)
        return PL_ERROR_MEMORY;
    vtu.point_count = grid->point_count;
    vtu.points = output->point_data;
    vtu.cell_count = grid->cell_count;
    vtu.corners = grid->corners;
    vtu.ends = grid->ends;
    vtu.types = grid->types;
    pl_status status = pl_vtu_write(output->ctx, path, &vtu);
    pl_free(output->ctx, path);
    return status;
}

/* Of each element the largest of the muscles it is in, 0 where there are none. */
static pl_status gather_activation(const pl_output *output, const pl_state *state, double *activation)
{
    memset(activation, 0, sizeof *activation * (size_t)output->element_count);
    for (int m = 0; m < pl_scene_owner_count(output->scene, PL_OWNER_MUSCLE); m++) {
        pl_muscle_def muscle;
        pl_body_info body;
        PL_TRY(pl_scene_muscle(output->scene, m, &muscle));
        PL_TRY(pl_scene_body(output->scene, muscle.body, &body));
        for (int k = 0; k < muscle.element_count; k++) {
            double *of = &activation[body.element_offset + muscle.elements[k]];
            *of = fmax(*of, state->input[PL_ACTIVATION][m]);
        }
    }
    return PL_OK;
}

static pl_status write_volume(pl_output *output, const pl_state *state)
{
    double *energy = output->element_data, *von_mises = energy + output->element_count;
    double *activation = von_mises + output->element_count;
    double *stress = activation + output->element_count;
    bool muscles = pl_scene_owner_count(output->scene, PL_OWNER_MUSCLE) > 0;
    pl_values *values = output->values ? output->values : output->scene->params.values;
    pl_element_fields_by(output->sim, values, state, energy, stress, von_mises);
    PL_TRY(gather_activation(output, state, activation));
    columns c = gather(output, &output->volume_grid, state);
    const pl_vtu_field points[] = {{"displacement", 3, c.displacement}, {"velocity", 3, c.velocity}};
    const pl_vtu_field cells[] = {{"stress", 9, stress},
                                  {"von_mises", 1, von_mises},
                                  {"energy", 1, energy},
                                  {"body", 1, output->volume_grid.body},
                                  {"activation", 1, activation}};
    return write_grid(output, "volume", state->step, &output->volume_grid,
                      (pl_vtu){.point_field_count = 2,
                               .point_fields = points,
                               .cell_field_count = muscles ? 5 : 4,
                               .cell_fields = cells});
}

static pl_status write_surface(pl_output *output, const pl_state *state)
{
    columns c = gather(output, &output->surface_grid, state);
    bool chambers = pl_scene_owner_count(output->scene, PL_OWNER_CHAMBER) > 0;
    gather_contacts(output->scene, &output->surface_grid, state, c);
    PL_TRY(gather_pressure(output, &output->surface_grid, state, c.pressure));
    const pl_vtu_field points[] = {
        {"displacement", 3, c.displacement}, {"velocity", 3, c.velocity},
        {"contact_normal", 3, c.normal},     {"contact_tangent", 3, c.tangent},
        {"contact_partner", 1, c.partner},   {"pressure", 1, c.pressure}};
    const pl_vtu_field cells[] = {{"body", 1, output->surface_grid.body}};
    return write_grid(output, "surface", state->step, &output->surface_grid,
                      (pl_vtu){.point_field_count = chambers ? 6 : 5,
                               .point_fields = points,
                               .cell_field_count = 1,
                               .cell_fields = cells});
}

pl_status pl_output_write_frame(pl_output *output, const pl_state *state)
{
    if (output->volume)
        PL_TRY(write_volume(output, state));
    if (output->surface)
        PL_TRY(write_surface(output, state));
    if (output->lines)
        PL_TRY(pl_output_write_cables(output, state));
    return output->obstacles ? pl_output_write_colliders(output, state) : PL_OK;
}
