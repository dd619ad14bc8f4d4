/*
 * A scene on a device: its elements, the matrix of a step and a factor of it, contacts of vertices with
 * colliders, and GMRES. What the steps (newton.h) and the linearised ones (linear.h) are made of: each
 * call launches kernels and returns; only `pl_system_look` and what is named read reads.
 */
#ifndef PL_DEVICE_SYSTEM_H
#define PL_DEVICE_SYSTEM_H

#include "device/device.h"
#include "device/fronts.h"
#include "device/layout.h"
#include "elastic/elastic.h"

/* Arrays on the device; m = n colliders slots of contacts. */
typedef enum pl_system_array {
    /* constant: elements, the pattern, fronts */
    PL_A_VERTEX,
    PL_A_GRADIENT,
    PL_A_VOLUME,
    PL_A_FORCE_BEGIN,
    PL_A_FORCE_FROM,
    PL_A_ROW,
    PL_A_COL,
    PL_A_DIAGONAL,
    PL_A_FROM_BEGIN,
    PL_A_FROM,
    PL_A_PIN_BEGIN,
    PL_A_BODY_OF,
    PL_A_FRONT,
    PL_A_LINE_FRONT,
    PL_A_LINE_PLACE,
    PL_A_ENTRY_FROM,
    PL_A_ENTRY,
    PL_A_CHILD_FROM,
    PL_A_CHILD,
    PL_A_POSITION,
    PL_A_UNKNOWN,
    PL_A_UNKNOWN_FRONT,
    PL_A_ABOVE_FROM,
    PL_A_ABOVE,
    PL_A_ORDER,
    /* by the parameters */
    PL_A_MODULI,
    PL_A_BENDING,
    PL_A_MASS,
    PL_A_FRICTION,
    /* of a step */
    PL_A_Q0,
    PL_A_V0,
    PL_A_EXTERNAL,
    PL_A_SHAPES,
    PL_A_PIN,
    PL_A_Q,
    PL_A_Q_BEFORE,
    PL_A_MOVE,
    PL_A_WORLD,
    PL_A_X,
    PL_A_X2,
    PL_A_RESIDUAL,
    PL_A_LEFT,
    PL_A_RHS,
    PL_A_OFF,
    PL_A_CHANGED,
    PL_A_BENT,
    PL_A_ENERGY,
    PL_A_FORCE,
    PL_A_TANGENT,
    PL_A_BLOCKS,
    PL_A_OWN,
    PL_A_ACTIVE,
    PL_A_ACTIVE_BEFORE,
    PL_A_LAMBDA,
    PL_A_LAMBDA_BEFORE,
    PL_A_LAMBDA_AFTER,
    PL_A_MET,
    PL_A_MET_BEFORE,
    PL_A_DELTA,
    PL_A_RECORDS,
    PL_A_FRAMES,
    PL_A_LEFTS,
    PL_A_TERMS,
    PL_A_SPRINGS,
    /* the factor and GMRES */
    PL_A_USED,
    PL_A_SCALE,
    PL_A_MATRIX,
    PL_A_VALUES,
    PL_A_RESTS,
    PL_A_SOLVE,
    PL_A_BASIS,
    PL_A_W,
    PL_A_PART,
    PL_A_COEFFICIENT,
    PL_A_KRYLOV,
    PL_A_PARTIAL,
    PL_A_PARTIAL2,
    PL_A_PARTIAL3,
    PL_A_STATE,
    PL_A_COUNT
} pl_system_array;

typedef struct pl_system_group {
    bool cloth;
    int kind; /* material + 4 reading */
    int first, slots;
} pl_system_group;

typedef struct pl_system {
    pl_context *ctx;
    pl_device *device;
    int n, nnz, slots, colliders, bodies, pins, contacts; /* contacts = n colliders */
    const pl_elements *elements;
    int group_count;
    pl_system_group *groups;
    pl_fronts fronts;
    int *pin_order; /* [pins] the scene's pin of each */
    pl_device_buffer *of[PL_A_COUNT];
    bool bends;
    double *scratch;             /* [most of what is written] */
    double state[PL_STATE_SIZE]; /* as last read */
    bool transposed;             /* the linear system at hand is the adjoint's */
} pl_system;

/* What a system is made for. */
typedef struct pl_system_def {
    const char *device;
    const pl_elements *elements;
    const pl_supernodes *supernodes; /* of the elements' pattern, 3x3 blocks */
    int colliders, bodies;
    const int *body_of;    /* [n] */
    int pins;              /* vertices that are pinned, */
    const int *pin_vertex; /* [pins] repeats allowed */
} pl_system_def;

/* `elements` must live as long. */
pl_status pl_system_create(pl_context *ctx, const pl_system_def *def, pl_system **out);
void pl_system_destroy(pl_system *s); /* NULL is fine */

/* What follows from the parameters: moduli as the elastic object has them; mass, damping [n],
 * friction [colliders, bodies]. */
pl_status pl_system_use(pl_system *s, const pl_elastic *elastic, const double *mass,
                        const double *damping, const double *friction);
pl_status pl_system_write(pl_system *s, pl_system_array a, size_t count, const double *values);
pl_status pl_system_read(pl_system *s, pl_system_array a, size_t count, double *values);
/* Of pinned vertices in the scene's order: [pins, PL_PIN_SIZE]. */
pl_status pl_system_write_pins(pl_system *s, const double *pins);

/* ---- launches */
/* Energy and forces of elements at q, with tangents if `want` (PL_DO_...). */
pl_status pl_system_elements(pl_system *s, int want);
/* r at q. */
pl_status pl_system_residual(pl_system *s, double h);
/* E from the elements' tangents. */
pl_status pl_system_assemble(pl_system *s, double h);
/* Frames, terms and right-hand side from the contacts' records. */
pl_status pl_system_vertices(pl_system *s, double h);
/* The factor of E with the present springs, in their frames. */
pl_status pl_system_factor(pl_system *s);
/* state told of moves, energies, contacts. */
pl_status pl_system_tell(pl_system *s);
/* Reads it. */
pl_status pl_system_look(pl_system *s);
static inline pl_status pl_system_copy(pl_system *s, pl_system_array from, pl_system_array to,
                                       int count)
{
    return PL_LAUNCH(s->device, copy, count, PL_DEV_B(s->of[from]), PL_DEV_B(s->of[to]));
}

/* ---- gmres.c: the linear system in the vertices' frames, preconditioned by the factor from the left
 */
/* Begins, with right-hand side `rhs` [3 n]. */
pl_status pl_system_krylov_begin(pl_system *s, double tolerance, pl_system_array rhs);
/* Iterations `from` to `to`, of at most PL_RESTART. */
pl_status pl_system_krylov_go_on(pl_system *s, int from, int to);
/* x [3 n] = (or +=) what they found. */
pl_status pl_system_krylov_end(pl_system *s, bool add, pl_system_array x);
/* y = A x, not before state says that GMRES goes on. */
pl_status pl_system_multiply(pl_system *s, pl_system_array x, pl_system_array y);
/* The norm of x [3 n] into a place of state. */
pl_status pl_system_norm(pl_system *s, pl_system_array x, int place);

#endif
