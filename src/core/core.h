/* What every file uses: the context, failing with a message, memory, logging, the clock. */
#ifndef PL_CORE_H
#define PL_CORE_H

#include <pliant/pliant.h>

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define PL_MESSAGE_SIZE 1024

struct pl_context {
    pl_context_def def;
    bool libc; /* memory is the C library's */
    int threads;
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
