/*
 * A device: memory of its own and kernels that work in it, as a small table that each backend fills.
 *
 *     reference   the kernels as C, one item after another, on the host
 *     memcheck    the same in pages that the host cannot touch, with nothing behind the end of an array
 *     opencl      any OpenCL 1.2 device with double precision, found at run time
 *
 * What is launched may still be running when the call returns; a read waits for it. Every byte that
 * crosses is counted.
 */
#ifndef PL_DEVICE_H
#define PL_DEVICE_H

#include "core/core.h"
#include "device/kernel_list.h"

typedef struct pl_device pl_device;
typedef struct pl_device_buffer pl_device_buffer;

/* One argument of a kernel, as the reference hands it on. */
typedef union pl_device_value {
    void *array;
    double number;
} pl_device_value;

typedef enum pl_device_kind { PL_DEVICE_ARRAY, PL_DEVICE_INT, PL_DEVICE_DOUBLE } pl_device_kind;

typedef struct pl_device_arg {
    pl_device_kind kind;
    pl_device_buffer *buffer;
    double number;
} pl_device_arg;

/* What went between host and device so far, and how many kernels were launched. */
typedef struct pl_device_traffic {
    long writes, reads, launches;
    size_t bytes_written, bytes_read;
} pl_device_traffic;

typedef struct pl_device_table {
    const char *name;
    pl_status (*create)(pl_device *d, const char *wanted);
    void (*destroy)(pl_device *d);
    pl_status (*buffer_create)(pl_device *d, pl_device_buffer *b);
    void (*buffer_destroy)(pl_device *d, pl_device_buffer *b);
    pl_status (*write)(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, const void *data);
    pl_status (*read)(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data);
    pl_status (*launch)(pl_device *d, pl_kernel_id kernel, int items, const pl_device_arg *args,
                        int count);
    pl_status (*finish)(pl_device *d);
} pl_device_table;

struct pl_device {
    pl_context *ctx;
    const pl_device_table *table;
    char name[256]; /* as messages have it */
    pl_device_traffic traffic;
    void *own; /* the backend's */
};

struct pl_device_buffer {
    size_t bytes;
    void *memory; /* what the backend knows it by; not for the host to look into */
};

/* The device that `name` means: "reference", "memcheck", "opencl" for the first that will do, or
 * "opencl:text" for the first whose platform or device has the text in its name. */
pl_status pl_device_create(pl_context *ctx, const char *name, pl_device **out);
void pl_device_destroy(pl_device *d); /* after its buffers; NULL is fine */

/* Room for `count` items of `size` bytes, of any content; count 0 gives room for one. */
pl_status pl_device_buffer_create(pl_device *d, size_t count, size_t size, pl_device_buffer **out);
void pl_device_buffer_destroy(pl_device *d, pl_device_buffer *b); /* NULL is fine */

/* All of it from `from` on, bytes. */
pl_status pl_device_write(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes,
                          const void *data);
pl_status pl_device_read(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data);

/* A kernel over items 0 to items - 1. */
pl_status pl_device_launch(pl_device *d, pl_kernel_id kernel, int items, const pl_device_arg *args,
                           int count);
/* Waits for all that was launched. */
pl_status pl_device_finish(pl_device *d);

#define PL_DEV_B(b) ((pl_device_arg){PL_DEVICE_ARRAY, (b), 0})
#define PL_DEV_I(i) ((pl_device_arg){PL_DEVICE_INT, NULL, (i)})
#define PL_DEV_D(x) ((pl_device_arg){PL_DEVICE_DOUBLE, NULL, (x)})
#define PL_LAUNCH(d, kernel, items, ...)                                                               \
    pl_device_launch((d), PL_KERNEL_##kernel, (items), (const pl_device_arg[]){__VA_ARGS__},           \
                     (int)(sizeof((const pl_device_arg[]){__VA_ARGS__}) / sizeof(pl_device_arg)))

/* "pl_dots" */
const char *pl_kernel_name(pl_kernel_id kernel);

extern const pl_device_table pl_device_reference, pl_device_memcheck, pl_device_opencl;
/* Runs a kernel's items one after another, on the host. */
void pl_device_run(pl_kernel_id kernel, int items, const pl_device_value *values);

/* ---- OpenCL */
/* Called with the name of every OpenCL device and why it cannot be used, or NULL if it can. */
typedef void (*pl_device_visit)(void *user, const char *name, const char *fault);
/* The message in the context says why there are none if this is not PL_OK. */
pl_status pl_device_opencl_list(pl_context *ctx, pl_device_visit visit, void *user);

#endif
