/* Aligned, zeroed memory on top of the caller's realloc, or of calloc, whose large blocks cost nothing
 * until they are written to: the block's own start is kept just below. */
#include "core/core.h"

#include <limits.h>
#include <stdlib.h>

#define ALIGNMENT 64

void *pl_alloc(pl_context *ctx, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * ALIGNMENT) {
        pl_fail(ctx, PL_ERROR_MEMORY, "out of memory: %zu items of %zu bytes", count, size);
        return NULL;
    }
    size_t whole = bytes + 2 * ALIGNMENT;
    char *block = ctx->libc ? calloc(1, whole) : ctx->def.realloc(ctx->def.realloc_user, NULL, whole);
    if (!block) {
        pl_fail(ctx, PL_ERROR_MEMORY, "out of memory: %zu bytes", bytes);
        return NULL;
    }
    uintptr_t start = ((uintptr_t)block + sizeof(void *) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    ((void **)start)[-1] = block;
    return ctx->libc ? (void *)start : memset((void *)start, 0, bytes);
}

void pl_free(pl_context *ctx, void *ptr)
{
    if (ptr)
        ctx->def.realloc(ctx->def.realloc_user, ((void **)ptr)[-1], 0);
}

pl_status pl_grow(pl_context *ctx, void **items, int *capacity, int need, size_t size)
{
    if (need <= *capacity)
        return PL_OK;
    int wanted = *capacity < INT_MAX / 2 ? *capacity + *capacity / 2 : need;
    wanted = wanted > need ? wanted : need;
    wanted = wanted > 16 ? wanted : 16;
    void *bigger = pl_alloc(ctx, (size_t)wanted, size);
    if (!bigger)
        return PL_ERROR_MEMORY;
    if (*items)
        memcpy(bigger, *items, (size_t)*capacity * size);
    pl_free(ctx, *items);
    *items = bigger;
    *capacity = wanted;
    return PL_OK;
}

char *pl_strdup(pl_context *ctx, const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = pl_alloc(ctx, length, 1);
    return copy ? memcpy(copy, text, length) : NULL;
}
