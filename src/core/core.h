/* What every file uses: the context, failing with a message, memory, logging, the clock. */
#ifndef PL_CORE_H
#define PL_CORE_H

#include <pliant/pliant.h>

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define PL_MESSAGE_SIZE 1024

/*
 * Sizes from which on large bodies take other paths than small ones. They say how fast an answer is
 * found and move it by no more than its tolerance. Whatever they are, results do not depend on the
 * number of threads. Set them before anything is made from the context.
 */
typedef struct pl_limits {
    /* Threads share the work from here on; of less, waking them takes longer than they save. */
    int thread_vertices;    /* loops over vertices: forces, guesses, searches for contacts */
    int thread_laws;        /* contacts whose laws and gaps are evaluated */
    int thread_contacts;    /* contacts whose rows are written, of W and of the systems with it */
    int thread_delassus;    /* rows of W in a product in double precision */
    int thread_symmetric;   /* rows of a dense symmetric product in single or half precision */
    int thread_lu;          /* unknowns of a dense LU */
    int thread_inverse;     /* unknowns eliminated last, between which A^-1 is found */
    int thread_vectors;     /* values of vectors that are multiplied or summed: three wakings to read */
    int thread_blocks;      /* 3x3 blocks of a sparse product */
    double thread_elements; /* ns that an evaluation of the elements takes on one core: waking a thread
                               takes 10,000, and once more wherever threads wait for each other */
    double thread_factor;   /* values of a Cholesky factor in a solve, 20 times as long as waking one */
    double thread_front;    /* flops of one of its fronts, whose blocks are then shared */

    /* Pieces that work is cut into, whatever the number of threads. */
    int block_vectors;       /* unknowns that are added up at once, at least */
    int block_delassus;      /* rows of W that one thread multiplies */
    int block_lu;            /* columns of an LU that are factored at once */
    double pieces_supernode; /* values of a product with a supernode at the top that is cut in pieces */

    /* Half precision besides single, from here on. */
    double half_factor; /* values of a Cholesky factor: fewer stay in the cache */

    /* Contacts. */
    int gmres_contacts;     /* systems with W are solved by GMRES: a step with an old LU is cheaper than
                               a new LU; >= 1 */
    int condensed_contacts; /* systems of more may be solved by the vertices' motion */
    int folded_contacts;    /* with curved obstacles may be springs in the factor, */
    double folded_dense;    /* where systems of contact space cost so much of one */
    int unordered_vertices; /* touched, that deserve no order of elimination made for them: solving for
                               their columns of E^-1, and reading what lies between them and the root
                               twice more in each solve, costs less */
} pl_limits;

/* The context's own when it is made: as measured, or the least in a build with PLIANT_LIMITS_ZERO. */
pl_limits pl_limits_default(void);
/* Every path of large bodies is taken by all. */
pl_limits pl_limits_least(void);

struct pl_context {
    pl_context_def def;
    bool libc; /* memory is the C library's */
    int threads;
    pl_limits limits;
    char error[PL_MESSAGE_SIZE];
};

#define PL_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Keeps the message and returns the status, so that failing is one line. */
pl_status pl_fail(pl_context *ctx, pl_status status, const char *format, ...) PL_PRINTF(3, 4);
/* Puts "prefix: " before the kept message, for callers that know more (file, field, step). */
pl_status pl_fail_within(pl_context *ctx, pl_status status, const char *format, ...) PL_PRINTF(3, 4);
void pl_log(pl_context *ctx, pl_log_level level, const char *format, ...) PL_PRINTF(3, 4);

/* Returns from the calling function when a call failed; for functions that own nothing yet. */
#define PL_TRY(call)                                                                                   \
    do {                                                                                               \
        pl_status pl_try_status_ = (call);                                                             \
        if (pl_try_status_ != PL_OK)                                                                   \
            return pl_try_status_;                                                                     \
    } while (0)

/* Jumps to the function's one exit when a call failed; needs `pl_status status` in scope. */
#define PL_CHECK(call, exit)                                                                           \
    do {                                                                                               \
        status = (call);                                                                               \
        if (status != PL_OK)                                                                           \
            goto exit;                                                                                 \
    } while (0)

/* Zeroed, 64-byte aligned memory for count items; count 0 gives a valid pointer. NULL on failure, with
 * the message kept. Freed with pl_free. */
void *pl_alloc(pl_context *ctx, size_t count, size_t size);
/* Makes room for at least `need` items in *items, keeping the old ones; *capacity grows by half. */
pl_status pl_grow(pl_context *ctx, void **items, int *capacity, int need, size_t size);
char *pl_strdup(pl_context *ctx, const char *text);

/* `pointer = new array` or jump to exit with PL_ERROR_MEMORY. */
#define PL_NEW(ctx, pointer, count, exit)                                                              \
    do {                                                                                               \
        (pointer) = pl_alloc((ctx), (size_t)(count), sizeof *(pointer));                               \
        if (!(pointer)) {                                                                              \
            status = PL_ERROR_MEMORY;                                                                  \
            goto exit;                                                                                 \
        }                                                                                              \
    } while (0)

double pl_milliseconds(void); /* monotonic */

static inline int pl_smaller(int a, int b)
{
    return a < b ? a : b;
}

#endif
