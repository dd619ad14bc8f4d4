/*
 * The body-centred cubic lattice: cube corners and cube centres. Each point has 14 edges, 6 "long" ones
 * of length cell to points of its own kind along the axes and 8 "short" ones of length sqrt(3)/2 cell
 * to the other kind. A tetrahedron is a long edge between two centres and a side of the face between
 * them.
 */
#ifndef PL_SHAPE_LATTICE_H
#define PL_SHAPE_LATTICE_H

#include "shape/field.h"

typedef struct pl_lattice {
    int first[3]; /* index of the lowest corner; corner (i,j,k) is at anchor + cell (i,j,k) */
    int n[3];     /* cubes along each axis */
    int corner_count, point_count; /* points are the corners, then the centres */
    int slot_count;                /* edges, each owned by one point */
    double cell;
    double anchor[3];
    signed char *sign; /* [point_count] +1 inside, -1 outside, 0 on the surface */
    double *value;     /* [point_count] the field */
    double *moved;     /* [point_count, 3] positions, changed by warping */
    double *cut; /* [slot_count] where the surface cuts the edge: fraction from the inside end, or -1 */
} pl_lattice;

/* Samples the field; fails with PL_ERROR_ARGUMENT when the cell is too small for the box. */
pl_status pl_lattice_create(pl_context *ctx, const pl_field *field, double cell, pl_lattice *lattice);
void pl_lattice_free(pl_context *ctx, pl_lattice *lattice);

/* Twice the integer coordinates of a point: even for corners, odd for centres. */
void pl_lattice_half(const pl_lattice *lattice, int point, int half[3]);
/* The point at these doubled coordinates, or -1 outside the lattice. */
int pl_lattice_point(const pl_lattice *lattice, const int half[3]);
void pl_lattice_position(const pl_lattice *lattice, int point, double x[3]);

/* The edge between two neighbours. */
int pl_lattice_slot(const pl_lattice *lattice, int a, int b);
/* Both ends of the edges a point owns: a corner 3, a centre 11; ends[k] is -1 past the border. */
int pl_lattice_owned(const pl_lattice *lattice, int point, int slots[11], int ends[11]);
/* All neighbours of a point, -1 past the border. */
void pl_lattice_neighbours(const pl_lattice *lattice, int point, int out[14]);
/* Where the surface cuts the edge, counted from its inside end. */
void pl_lattice_cut_point(const pl_lattice *lattice, int inside, int outside, double x[3]);

#endif
