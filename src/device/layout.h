/* What host and kernels have to agree on: sizes, and what is where in arrays. */
#ifndef PL_DEVICE_LAYOUT_H
#define PL_DEVICE_LAYOUT_H

/* Elements are in blocks of so many; forces of a slot's vertices, and pairs of these. */
#define PL_BLOCK  8
#define PL_CORNER 12
#define PL_SIDES  6

enum { PL_DO_TANGENT = 1, PL_DO_CLAMP = 2 };

/* The pieces that a sum is taken in. */
#define PL_CHUNKS 32
/* Iterations between restarts. */
#define PL_RESTART 40

/* What the host reads: one small struct of doubles. */
enum {
    PL_STATE_DONE,       /* GMRES has met its tolerance, or can go no further */
    PL_STATE_RESIDUAL,   /* of the preconditioned system, relative */
    PL_STATE_ITERATIONS, /* of the last start */
    PL_STATE_TOLERANCE,  /* of it */
    PL_STATE_NORM,       /* of the right-hand side it began with */
    PL_STATE_INVERSE,    /* 1/norm of the vector that is to be the next of the basis */
    PL_STATE_PIVOT,      /* pivots of the factor that were not positive */
    PL_STATE_MOVE,       /* largest vertex move, m, */
    PL_STATE_WORST,      /* and whose */
    PL_STATE_OFF,        /* how far contacts are from their law at most, m */
    PL_STATE_CHANGED,    /* springs that are others than the factor's */
    PL_STATE_BAD,        /* first element outside its material's domain, as its slot, or -1 */
    PL_STATE_ENERGY,     /* elastic, J */
    PL_STATE_CONTACTS,   /* slots of contacts in use */
    PL_STATE_LEFT,       /* norm of what a solution leaves of the right-hand side, */
    PL_STATE_RIGHT,      /* and of that */
    PL_STATE_SIZE
};

/* Where its small numbers are: the Hessenberg matrix column by column, rotations, right-hand side, y.
 */
#define PL_KRYLOV_COSINE (PL_RESTART * (PL_RESTART + 1))
#define PL_KRYLOV_SINE   (PL_KRYLOV_COSINE + PL_RESTART)
#define PL_KRYLOV_RIGHT  (PL_KRYLOV_SINE + PL_RESTART)
#define PL_KRYLOV_Y      (PL_KRYLOV_RIGHT + PL_RESTART + 1)
#define PL_KRYLOV_SIZE   (PL_KRYLOV_Y + PL_RESTART)

/* What a slot is: none, or a contact, whose point of the law is not known yet or is. */
enum { PL_NO_CONTACT, PL_NEW_CONTACT, PL_KNOWN };

/* A slot's record, doubles: */
enum {
    PL_TOUCH_FRAME = 0,      /* n, t1, t2 */
    PL_TOUCH_SPRING = 9,     /* k_n, k_d, k_t, N/m */
    PL_TOUCH_LEAN = 12,      /* tau */
    PL_TOUCH_ALONG = 13,     /* d in (t1, t2) */
    PL_TOUCH_OFF = 15,       /* delta less that of the law, m */
    PL_TOUCH_FAR = 18,       /* n . (u - drift), m */
    PL_TOUCH_CURVATURE = 19, /* of a frame that follows, else 0 */
    PL_TOUCH_GAP = 28,
    PL_TOUCH_DRIFT = 29,
    PL_TOUCH_SIZE = 32
};

/* Of a front, ints: columns, rows below, where its rows of L begin, where what it leaves, its first
 * place in the order, its first line. */
enum {
    PL_FRONT_COLUMNS,
    PL_FRONT_BELOW,
    PL_FRONT_VALUES,
    PL_FRONT_REST,
    PL_FRONT_FIRST,
    PL_FRONT_LINE,
    PL_FRONT_SIZE
};

#define PL_COLUMNS 12 /* of a front that are eliminated at a time */

#define PL_SHAPE_SIZE                                                                                  \
    18                /* doubles of a collider: shape, size [3], poses at the start and the end [7] */
#define PL_PIN_SIZE 7 /* of a pinned vertex: 1/compliance, target, normal (0: in all directions) */

#endif
