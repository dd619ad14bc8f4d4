/* The insides of an output: what its files share. */
#ifndef PL_OUTPUT_H
#define PL_OUTPUT_H

#include "core/core.h"
#include "io/collider_surface.h"
#include "io/output_directory.h"
#include "io/report_text.h"
#include "io/vtu.h"
#include "sim/params.h"

#include <pliant/io.h>

#include <stdio.h>

/* Cells of one kind of file, constant over time. */
typedef struct pl_output_grid {
    int point_count;
    int *vertex; /* [point_count]: of the scene */
    int cell_count;
    int *corners;         /* [..] into the points */
    int *ends;            /* [cell_count] */
    unsigned char *types; /* [cell_count] */
    double *body;         /* [cell_count] index of the body */
} pl_output_grid;

typedef struct pl_output_colliders {
    int count;
    int *first;             /* [count + 1]: the points of each */
    double *local, *points; /* [first[count], 3] in each one's frame, and in the world */
    bool *flat;             /* [count]: a half-space, drawn as a square */
    double *patch;          /* [count, 3] centre x, y and half width of the squares, m */
    double *drawn;          /* [count, 8] pose and half width as last written */
    pl_output_grid grid;    /* `body` is the collider, `vertex` is not used */
    int step;               /* of the last file, -1 = none */
    int frame_count, frame_capacity;
    pl_pvd_entry *frames; /* times, and the step of the file that shows each */
} pl_output_colliders;

typedef struct pl_output_cables {
    int point_count, segment_count;
    double *points;          /* [point_count, 3] scratch */
    double *tension, *cable; /* [segment_count] scratch */
    int *corners, *ends;     /* [segment_count, 2], [segment_count] */
    unsigned char *types;    /* [segment_count] */
} pl_output_cables;

typedef struct pl_step_record {
    int step;
    double time;
    pl_step_info info;
} pl_step_record;

struct pl_output {
    pl_sim *sim;
    pl_scene *scene;
    pl_values *values; /* the parameters of the rollout that is written; NULL = the scene's own */
    pl_context *ctx;
    pl_directory directory;
    char *scene_name;
    int every;
    bool volume, surface, obstacles, lines, finished;
    int vertex_count, element_count;
    double *rest; /* [n, 3] rest positions */
    pl_output_grid volume_grid, surface_grid;
    pl_output_colliders colliders;
    pl_output_cables cables;
    double *point_data;   /* [n, 18] scratch: what a file's points carry */
    double *element_data; /* [element_count, 12] scratch: energy, von Mises, activation, stress */
    FILE *forces;         /* contact_forces.csv */
    int frame_count, frame_capacity;
    pl_pvd_entry *frames; /* written */
    int record_count, record_capacity;
    pl_step_record *records;
    double started; /* ms */
};

pl_status pl_output_alloc_grid(pl_context *ctx, int points, int cells, int corners,
                               pl_output_grid *grid);
/* Appends count cells of `width` corners each, shifted by `offset`. */
void pl_output_add_cells(pl_output_grid *grid, int body, int count, int width, const int *corners,
                         int offset);
/* Cells of all bodies: elements for the volume, boundary triangles for the surface. */
pl_status pl_output_build_grids(pl_output *output);
void pl_output_free_grids(pl_output *output);
/* Writes volume/<step>.vtu and surface/<step>.vtu as asked for. */
pl_status pl_output_write_frame(pl_output *output, const pl_state *state);
/* The obstacles' triangles; then colliders/<step>.vtu, if one has moved since the last. */
pl_status pl_output_build_colliders(pl_output *output);
void pl_output_free_colliders(pl_output *output);
pl_status pl_output_write_colliders(pl_output *output, const pl_state *state);
/* The cables' segments; then cables/<step>.vtu. */
pl_status pl_output_build_cables(pl_output *output);
void pl_output_free_cables(pl_output *output);
pl_status pl_output_write_cables(pl_output *output, const pl_state *state);
/* contact_forces.csv, and its rows: what pairs press and rub each other with at a state. */
pl_status pl_output_open_forces(pl_output *output);
pl_status pl_output_write_forces(pl_output *output, const pl_state *state);
pl_status pl_output_close_forces(pl_output *output);
/* Writes summary.json. */
pl_status pl_output_write_summary(pl_output *output, pl_status outcome);

#endif
