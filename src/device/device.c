/* Devices: which backend a name means, and what all of them do alike: check and count. */
#include "device/device.h"

#include <stdio.h>

static const pl_device_table *const tables[] = {&pl_device_reference, &pl_device_memcheck,
                                                &pl_device_opencl};

#define NAME_(name) "pl_" #name,
static const char *const names[PL_KERNEL_COUNT] = {PL_KERNELS(NAME_)};

const char *pl_kernel_name(pl_kernel_id kernel)
{
    return names[kernel];
}

/* What follows "table:" in a name, "" for the table's name alone, NULL if it means another table. */
static const char *wanted_of(const pl_device_table *table, const char *name)
{
    size_t length = strlen(table->name);
    if (strncmp(name, table->name, length) != 0)
        return NULL;
    return name[length] == ':' ? name + length + 1 : name[length] == 0 ? name + length : NULL;
}

/* An OpenCL device as the public interface names it. */
typedef struct visitor {
    pl_device_fn visit;
    void *user;
} visitor;

static void visit_opencl(void *user, const char *name, const char *fault)
{
    const visitor *v = user;
    char full[300];
    snprintf(full, sizeof full, "opencl:%s", name);
    v->visit(v->user, full, fault);
}

void pl_devices(pl_context *ctx, pl_device_fn visit, void *user)
{
    visitor v = {visit, user};
    visit(user, "cpu", NULL);
    visit(user, "reference", NULL);
    visit(user, "memcheck", NULL);
    if (pl_device_opencl_list(ctx, visit_opencl, &v) != PL_OK)
        visit(user, "opencl", pl_context_error(ctx));
}

pl_status pl_device_create(pl_context *ctx, const char *name, pl_device **out)
{
    *out = NULL;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        const char *wanted = wanted_of(tables[k], name);
        if (!wanted)
            continue;
        pl_device *d = pl_alloc(ctx, 1, sizeof *d);
        if (!d)
            return PL_ERROR_MEMORY;
        d->ctx = ctx;
        d->table = tables[k];
        strncpy(d->name, name, sizeof d->name - 1);
        pl_status status = d->table->create(d, wanted);
        if (status != PL_OK) {
            pl_free(ctx, d);
            return status;
        }
        *out = d;
        return PL_OK;
    }
    return pl_fail(ctx, PL_ERROR_ARGUMENT,
                   "device \"%s\": expected \"cpu\", \"opencl\", \"opencl:<part of a name>\", "
                   "\"reference\" or \"memcheck\"",
                   name);
}

void pl_device_destroy(pl_device *d)
{
    if (!d)
        return;
    d->table->destroy(d);
    pl_free(d->ctx, d);
}

pl_status pl_device_buffer_create(pl_device *d, size_t count, size_t size, pl_device_buffer **out)
{
    *out = NULL;
    pl_device_buffer *b = pl_alloc(d->ctx, 1, sizeof *b);
    if (!b)
        return PL_ERROR_MEMORY;
    b->bytes = (count > 0 ? count : 1) * size;
    pl_status status = d->table->buffer_create(d, b);
    if (status != PL_OK) {
        pl_free(d->ctx, b);
        return status;
    }
    *out = b;
    return PL_OK;
}

void pl_device_buffer_destroy(pl_device *d, pl_device_buffer *b)
{
    if (!b)
        return;
    d->table->buffer_destroy(d, b);
    pl_free(d->ctx, b);
}

static pl_status check_range(const pl_device *d, const pl_device_buffer *b, size_t from, size_t bytes)
{
    if (from > b->bytes || bytes > b->bytes - from)
        return pl_fail(d->ctx, PL_ERROR_ARGUMENT,
                       "device %s: bytes %zu to %zu of a buffer that has %zu", d->name, from,
                       from + bytes, b->bytes);
    return PL_OK;
}

pl_status pl_device_write(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes,
                          const void *data)
{
    PL_TRY(check_range(d, b, from, bytes));
    if (bytes == 0)
        return PL_OK;
    d->traffic.writes++;
    d->traffic.bytes_written += bytes;
    return d->table->write(d, b, from, bytes, data);
}

pl_status pl_device_read(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data)
{
    PL_TRY(check_range(d, b, from, bytes));
    if (bytes == 0)
        return PL_OK;
    d->traffic.reads++;
    d->traffic.bytes_read += bytes;
    return d->table->read(d, b, from, bytes, data);
}

pl_status pl_device_launch(pl_device *d, pl_kernel_id kernel, int items, const pl_device_arg *args,
                           int count)
{
    if (items <= 0)
        return PL_OK;
    d->traffic.launches++;
    return d->table->launch(d, kernel, items, args, count);
}

pl_status pl_device_finish(pl_device *d)
{
    return d->table->finish(d);
}
