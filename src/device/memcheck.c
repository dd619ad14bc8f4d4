/*
 * The reference in memory that only kernels and transfers can touch: each array has pages of its own,
 * closed in between, and ends where a page that is never open begins. An access by the host, or by a
 * kernel to an array that it was not given or past its end, is a fault at the place that makes it.
 * Arrays begin as NaN, so that what is read before it is written shows.
 */
#define _DEFAULT_SOURCE
#include "device/device.h"

#include <sys/mman.h>
#include <unistd.h>

#define MOST_ARGS 32

/* Where a buffer's pages begin, and how many bytes of them may be opened. */
typedef struct pages {
    char *begin;
    size_t open;
    char *data;
} pages;

static pl_status create(pl_device *d, const char *wanted)
{
    if (*wanted)
        return pl_fail(d->ctx, PL_ERROR_ARGUMENT, "device \"%s\": there is one \"memcheck\" only",
                       d->name);
    return PL_OK;
}

static void destroy(pl_device *d)
{
    (void)d;
}

static pl_status protect(pl_device *d, pl_device_buffer *b, int access)
{
    pages *p = b->memory;
    if (mprotect(p->begin, p->open, access) != 0)
        return pl_fail(d->ctx, PL_ERROR_MEMORY, "device memcheck: pages cannot be protected");
    return PL_OK;
}

static pl_status buffer_create(pl_device *d, pl_device_buffer *b)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), rounded = (b->bytes + 15) / 16 * 16;
    pages *p = pl_alloc(d->ctx, 1, sizeof *p);
    if (!p)
        return PL_ERROR_MEMORY;
    p->open = (rounded + page - 1) / page * page;
    p->begin = mmap(NULL, p->open + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->begin == MAP_FAILED) {
        pl_free(d->ctx, p);
        return pl_fail(d->ctx, PL_ERROR_MEMORY, "device memcheck: no pages for %zu bytes", b->bytes);
    }
    p->data = p->begin + p->open - rounded;
    b->memory = p;
    pl_status status = protect(d, b, PROT_READ | PROT_WRITE);
    if (status == PL_OK) {
        memset(p->data, 0xff, rounded);
        status = protect(d, b, PROT_NONE);
    }
    return status;
}

static void buffer_destroy(pl_device *d, pl_device_buffer *b)
{
    pages *p = b->memory;
    munmap(p->begin, p->open + (size_t)sysconf(_SC_PAGESIZE));
    pl_free(d->ctx, p);
}

static pl_status write_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes,
                             const void *data)
{
    PL_TRY(protect(d, b, PROT_READ | PROT_WRITE));
    memcpy(((pages *)b->memory)->data + from, data, bytes);
    return protect(d, b, PROT_NONE);
}

static pl_status read_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data)
{
    PL_TRY(protect(d, b, PROT_READ));
    memcpy(data, ((pages *)b->memory)->data + from, bytes);
    return protect(d, b, PROT_NONE);
}

static pl_status protect_all(pl_device *d, const pl_device_arg *args, int count, int access)
{
    for (int k = 0; k < count; k++)
        if (args[k].kind == PL_DEVICE_ARRAY)
            PL_TRY(protect(d, args[k].buffer, access));
    return PL_OK;
}

static pl_status launch(pl_device *d, pl_kernel_id kernel, int items, const pl_device_arg *args,
                        int count)
{
    pl_device_value values[MOST_ARGS] = {0};
    if (count > MOST_ARGS)
        return pl_fail(d->ctx, PL_ERROR_ARGUMENT, "%s: %d arguments", pl_kernel_name(kernel), count);
    for (int k = 0; k < count; k++) {
        if (args[k].kind == PL_DEVICE_ARRAY)
            values[k].array = ((pages *)args[k].buffer->memory)->data;
        else
            values[k].number = args[k].number;
    }
    PL_TRY(protect_all(d, args, count, PROT_READ | PROT_WRITE));
    pl_device_run(kernel, items, values);
    return protect_all(d, args, count, PROT_NONE);
}

static pl_status finish(pl_device *d)
{
    (void)d;
    return PL_OK;
}

const pl_device_table pl_device_memcheck = {
    .name = "memcheck",
    .create = create,
    .destroy = destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .write = write_bytes,
    .read = read_bytes,
    .launch = launch,
    .finish = finish,
};
