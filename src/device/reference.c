/* The reference: memory of the host's, kernels one item after another. */
#include "device/device.h"

#define MOST_ARGS 32

static pl_status create(pl_device *d, const char *wanted)
{
    if (*wanted)
        return pl_fail(d->ctx, PL_ERROR_ARGUMENT, "device \"%s\": there is one \"reference\" only",
                       d->name);
    return PL_OK;
}

static void destroy(pl_device *d)
{
    (void)d;
}

static pl_status buffer_create(pl_device *d, pl_device_buffer *b)
{
    b->memory = pl_alloc(d->ctx, 1, b->bytes);
    return b->memory ? PL_OK : PL_ERROR_MEMORY;
}

static void buffer_destroy(pl_device *d, pl_device_buffer *b)
{
    pl_free(d->ctx, b->memory);
}

static pl_status write_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes,
                             const void *data)
{
    (void)d;
    memcpy((char *)b->memory + from, data, bytes);
    return PL_OK;
}

static pl_status read_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data)
{
    (void)d;
    memcpy(data, (const char *)b->memory + from, bytes);
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
            values[k].array = args[k].buffer->memory;
        else
            values[k].number = args[k].number;
    }
    pl_device_run(kernel, items, values);
    return PL_OK;
}

static pl_status finish(pl_device *d)
{
    (void)d;
    return PL_OK;
}

const pl_device_table pl_device_reference = {
    .name = "reference",
    .create = create,
    .destroy = destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .write = write_bytes,
    .read = read_bytes,
    .launch = launch,
    .finish = finish,
};
