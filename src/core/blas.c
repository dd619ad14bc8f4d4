/*
 * OpenBLAS has threads of its own, which we do not use: its results would depend on their number. Each
 * thread of ours inside it works in a buffer, which it maps at first use, keeps, and where memory is
 * short tries to map for ever. So the buffers are mapped now, each after a look whether it can be.
 */
#define _GNU_SOURCE
#include "core/blas.h"

#include <stddef.h>
#include <sys/mman.h>

/* OpenBLAS' own; other BLAS libraries do not have them. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern void *blas_memory_alloc(int unused) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

enum { BUFFERS_MAX = 64 }; /* OpenBLAS has room for more, but not for any number */
static const size_t buffer_bytes = (size_t)130 << 20; /* a buffer and what is needed to map it */

static bool is_room(void)
{
    void *room = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, buffer_bytes) == 0;
}

bool pl_blas_prepare(int threads)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    if (!blas_memory_alloc || !blas_memory_free)
        return true;
    void *buffers[BUFFERS_MAX];
    int wanted = threads < BUFFERS_MAX ? threads : BUFFERS_MAX, count = 0;
    while (count < wanted && is_room())
        buffers[count++] = blas_memory_alloc(0);
    for (int i = 0; i < count; i++)
        blas_memory_free(buffers[i]);
    return count == wanted;
}
