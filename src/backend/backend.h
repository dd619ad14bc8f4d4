/*
 * The hot kernels as one small table of functions, one table per instruction set. A backend on other
 * hardware would supply another table.
 *
 * Elements are stored PL_LANES at a time, value by value, so that a vector register holds one value of
 * several elements. A slot is a block's lane: slot = PL_LANES * block + lane. Vertices of an element
 * are ascending, so that block (k, l), k <= l, of an element's tangent always lies in the upper
 * triangle.
 */
#ifndef PL_BACKEND_H
#define PL_BACKEND_H

#include "core/core.h"
#include "linalg/sparse.h"

#include <math.h>

#define PL_LANES 8

#define PL_FORCE_STRIDE 12 /* [4, 3]: what the kernels write for each slot's vertices */
#define PL_PAIRS        6 /* of vertices: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3); cloth (0,1) (0,2) (1,2) */

typedef struct pl_element_block {
    int vertex[4][PL_LANES];      /* ascending in each lane; cloth has three, then -1 */
    double gradient[9][PL_LANES]; /* Dm^-1 [3, 3], cloth [2, 2]: row k is the shape gradient of vertex
                                     k+1 */
    double volume[PL_LANES];      /* m^3; 0 in lanes that only fill up a body's last block */
} pl_element_block;

/* A block's elastic constants, apart from its shape, which never changes. */
typedef struct pl_element_moduli {
    double mu[PL_LANES], lambda[PL_LANES]; /* Pa */
} pl_element_moduli;

/* Where the tangents K_kl [3, 3] of a block's elements are added up: offsets, pair by pair. */
typedef struct pl_element_targets {
    int at[PL_PAIRS][PL_LANES];
} pl_element_targets;

/* Work on blocks [first, last) of one body. Outputs are indexed by slot; each may be NULL. */
typedef struct pl_element_job {
    const pl_element_block *blocks;
    const pl_element_moduli *moduli; /* of each block */
    int first, last;
    bool cloth;
    pl_material model;
    pl_reading reading;
    bool clamp;
    const double *q;                   /* [n, 3] */
    double *energy;                    /* [slots] J */
    double *force;                     /* [slots, 4, 3] gradient of the energy, N */
    double *tangent;                   /* N/m: K_kl is added to what is at its target */
    const pl_element_targets *targets; /* [blocks], with tangent */
} pl_element_job;

/* Shares that an assembly asks the memory for before it needs them. */
#define PL_AHEAD 16

/* What puts the blocks [nnz, 9] of a pattern together from shares [.., 9]: sums of the tangents of a
 * number of elements. */
typedef struct pl_assembly {
    const pl_pattern *pattern;
    const int *begin;        /* [nnz + 1] into from; the diagonal has none */
    const int *from;         /* offsets of the shares, left of the diagonal of the mirror image's */
    const double *share;     /* [.., 9] */
    const double *isotropic; /* [nnz] added to the three diagonals of each block, or NULL */
    double scale;            /* of both */
    const double *diagonal;  /* [n] added to the diagonal, or NULL */
    double *out;             /* [nnz, 9] */
} pl_assembly;

/* What sums up each vertex's forces. */
typedef struct pl_gathering {
    const int *begin;    /* [n + 1] into from */
    const int *from;     /* offsets in force */
    const double *force; /* one more can be read than the last one's three */
    double scale;
    bool add;    /* to what is in out */
    double *out; /* [n, 3] */
} pl_gathering;

/* Panels of a factor in single precision (panel_kernel.h) are stored in strips of this many rows, */
#define PL_STRIP 32
/* the last one's rows filled up. */
#define PL_STRIP_ROWS(rows) (((rows) + 7) / 8 * 8)

/* A number in half precision (IEEE 754 binary16): 11 digits of 2, from 6e-8 to 65504. */
typedef uint16_t pl_half;

/* A power of two near 1/sqrt(diagonal): a matrix scaled by these from both sides has a diagonal near 1
 * and fits the range, in whatever unit, and nothing is rounded. */
static inline float pl_half_scale(double diagonal)
{
    int exponent;
    frexp(diagonal, &exponent);
    return ldexpf(1, -(int)floor(exponent / 2.0));
}

typedef struct pl_half_kernels {
    /* to = from, rounded to the nearest; count is a multiple of 8. */
    void (*round)(const float *from, size_t count, pl_half *to);
    /* As panel_forward, panel_backward and symmetric of pl_backend. */
    void (*forward)(const pl_half *panel, int first, int last, int columns, const float *x, float *y);
    void (*backward)(const pl_half *panel, int first, int last, int columns, const float *y,
                     float *sums, float *x);
    void (*symmetric)(const pl_half *strips, int first, int last, const float *x, float *y, float *sums,
                      float *across);
} pl_half_kernels;

/* out [rows, columns] = from + a b, or from - a b, of a front's strips (front_kernel.h): at most
 * PL_STRIP rows and columns. Both a and b can be read up to PL_STRIP, and rows up to that are written:
 * what is to stay is written afterwards. */
typedef struct pl_strip_product {
    int rows, columns, depth;
    bool subtract;
    bool turned;     /* b [depth, columns] is stored column by column, not row by row, */
    bool triangular; /* or nothing of it is below its diagonal */
    const float *a;
    size_t a_stride;   /* from a column to the next */
    const float *b;    /* rows or columns PL_STRIP apart */
    const float *from; /* NULL: zero */
    size_t from_stride;
    float *out;
    size_t out_stride;
} pl_strip_product;

/* The triangle that one front leaves, in columns of a vertex' three, added to its parent's. */
typedef struct pl_front_sum {
    int count;           /* vertices of the first */
    const int *position; /* [count] the row in the parent where each begins, */
    const int *run_end;  /* and the first after it that does not follow it there */
    const float *from;
    size_t from_stride; /* from a column to the next */
    float *to;          /* of the parent, without so many rows and columns */
    int above;
    size_t to_stride;
} pl_front_sum;

typedef struct pl_backend {
    const char *name;
    int width; /* doubles in a register */
    /* Energy, gradient and tangent. Returns the first slot outside its material's domain, or -1. */
    int (*elements)(const pl_element_job *job);
    /* F and P of the job's blocks into out [slots, 2, 9]; cloth uses [3, 2] of each. */
    void (*stress)(const pl_element_job *job, double *out);
    /* out_mu, out_lambda [slots] = z . d(gradient)/d mu and d lambda of each element. */
    void (*parameters)(const pl_element_job *job, const double *z, double *out_mu, double *out_lambda);
    /* force = d(gradient)/d mu . dmu + d(gradient)/d lambda . dlambda, inputs [slots]. */
    void (*parameters_forward)(const pl_element_job *job, const double *dmu, const double *dlambda);
    /* Rows [first, last) of a gathering; */
    void (*gather)(const pl_gathering *gathering, int first, int last);
    /* and of an assembly. The diagonal is such that a row adds up to nothing but `diagonal`. */
    void (*assemble)(const pl_assembly *assembly, int first, int last);
    /* Rows [first, last) of y = B x, blocks [nnz, 9], x and y [n, 3]. */
    void (*multiply)(const pl_pattern *pattern, const double *blocks, const double *x, double *y,
                     int first, int last);
    /* y [rows] = A x [columns] and x = A^T y of rows [first, last) of a panel in strips, from the one
     * that begins at `first`. y has room for PL_STRIP_ROWS(rows) and is zero past the end, x for 3 more
     * than its columns; sums [columns + 3, 8] is scratch. */
    void (*panel_forward)(const float *panel, int first, int last, int columns, const float *x,
                          float *y);
    void (*panel_backward)(const float *panel, int first, int last, int columns, const float *y,
                           float *sums, float *x);
    /* Rows [first, last) of the lower triangle T of a square panel: y = T x there and, in across
     * [last + 3], T^T x of these rows. x and y are filled up as above, sums [last + 3, 8] is scratch.
     */
    void (*symmetric)(const float *strips, int first, int last, const float *x, float *y, float *sums,
                      float *across);
    void (*strip_product)(const pl_strip_product *product);
    /* l l^T = a square [size, size], size <= PL_STRIP, of which the lower triangle is read, and x =
     * l^-1: strips, zero above the diagonal and below the square; false at a pivot that is not
     * positive.
     */
    bool (*square_factor)(int size, const float *square, size_t stride, float *l, float *x);
    /* Columns of the vertices [first, last). */
    void (*front_add)(const pl_front_sum *sum, int first, int last);
    const pl_half_kernels *half; /* NULL where the processor does not convert it */
} pl_backend;

#define PL_BACKEND_MAX 4

/* The tables that this processor runs, best first; returns how many. */
int pl_backend_list(const pl_backend *out[PL_BACKEND_MAX]);

#endif
