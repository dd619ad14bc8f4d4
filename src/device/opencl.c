/*
 * OpenCL devices. The library is found when a device is asked for, the kernels are built from the
 * source that the library carries (cmake/device.cmake). A device needs double precision; anything that
 * is missing is an error that says what to do about it.
 */
#define _GNU_SOURCE
#include "device/device.h"
#include "device/opencl_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MOST  16 /* platforms, and devices of each */
#define GROUP 64 /* items of a work-group */

extern const char pl_device_source[];

typedef struct opencl {
    pl_opencl_api cl;
    cl_context context;
    cl_queue queue;
    cl_program program;
    cl_kernel kernels[PL_KERNEL_COUNT];
} opencl;

static const char *const remedy =
    "install an OpenCL driver (the card's own, or pocl-opencl-icd for CPUs), or choose device \"cpu\"";

/* dlsym gives an object pointer; functions are had through the bytes. */
static bool find(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static pl_status open_library(pl_context *ctx, pl_opencl_api *cl)
{
    /* It stays once it is loaded: drivers do not survive being unloaded. */
    *cl = (pl_opencl_api){.library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!cl->library)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "device opencl: libOpenCL.so.1 is not here: %s", remedy);
    bool all = true;
#define FIND_(result, name, arguments) all = all && find(cl->library, "cl" #name, &cl->name);
    PL_OPENCL_CALLS(FIND_)
#undef FIND_
    if (all)
        return PL_OK;
    dlclose(cl->library);
    return pl_fail(ctx, PL_ERROR_ARGUMENT, "device opencl: libOpenCL.so.1 lacks calls of OpenCL 1.2");
}

/* Why a device cannot be used, or NULL. */
static const char *fault_of(const pl_opencl_api *cl, cl_device device)
{
    uint64_t doubles = 0;
    uint32_t available = 0;
    cl->GetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    cl->GetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
    return !available ? "not available" : doubles == 0 ? "no double precision" : NULL;
}

static void name_of(const pl_opencl_api *cl, cl_platform platform, cl_device device, size_t size,
                    char *out)
{
    char of_platform[128] = "", of_device[128] = "";
    cl->GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof of_platform - 1, of_platform, NULL);
    cl->GetDeviceInfo(device, CL_DEVICE_NAME, sizeof of_device - 1, of_device, NULL);
    snprintf(out, size, "%s: %s", of_platform, of_device);
}

/* Visits every device until told to stop; how many there were. */
typedef bool (*visit_fn)(void *user, cl_platform platform, cl_device device, const char *name,
                         const char *fault);

static int visit_all(const pl_opencl_api *cl, visit_fn visit, void *user)
{
    cl_platform platforms[MOST];
    cl_device devices[MOST];
    uint32_t platform_count = 0, count;
    int seen = 0;
    if (cl->GetPlatformIDs(MOST, platforms, &platform_count) != 0)
        return 0;
    for (uint32_t p = 0; p < platform_count && p < MOST; p++) {
        count = 0;
        if (cl->GetDeviceIDs(platforms[p], CL_DEVICE_ALL, MOST, devices, &count) != 0)
            continue;
        for (uint32_t d = 0; d < count && d < MOST; d++) {
            char name[256];
            seen++;
            name_of(cl, platforms[p], devices[d], sizeof name, name);
            if (!visit(user, platforms[p], devices[d], name, fault_of(cl, devices[d])))
                return seen;
        }
    }
    return seen;
}

/* ---- which device */

typedef struct choice {
    const char *wanted;
    cl_device device;
    char name[256];
    const char *fault;
} choice;

static bool holds(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

static bool choose(void *user, cl_platform platform, cl_device device, const char *name,
                   const char *fault)
{
    choice *c = user;
    (void)platform;
    if (!holds(name, c->wanted))
        return true;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->fault = fault;
    c->device = fault ? NULL : device;
    return fault != NULL;
}

static pl_status choose_device(pl_context *ctx, const pl_opencl_api *cl, const char *wanted, choice *c)
{
    *c = (choice){.wanted = wanted};
    if (visit_all(cl, choose, c) == 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "device opencl: no platform has a device: %s", remedy);
    if (!c->device && c->fault)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "device opencl: \"%s\" cannot be used (%s); choose another, or device \"cpu\"",
                       c->name, c->fault);
    if (!c->device)
        return pl_fail(ctx, PL_ERROR_ARGUMENT,
                       "device opencl: no platform or device has \"%s\" in its name; `pliant info "
                       "--devices` lists those there are",
                       wanted);
    return PL_OK;
}

typedef struct listing {
    pl_device_visit visit;
    void *user;
} listing;

static bool list_one(void *user, cl_platform platform, cl_device device, const char *name,
                     const char *fault)
{
    listing *l = user;
    (void)platform, (void)device;
    l->visit(l->user, name, fault);
    return true;
}

pl_status pl_device_opencl_list(pl_context *ctx, pl_device_visit visit, void *user)
{
    pl_opencl_api cl;
    listing l = {visit, user};
    PL_TRY(open_library(ctx, &cl));
    int count = visit_all(&cl, list_one, &l);
    dlclose(cl.library);
    if (count == 0)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "device opencl: no platform has a device: %s", remedy);
    return PL_OK;
}

/* ---- the table */

/* What went wrong on the device, and what to do about it. */
static pl_status failed(pl_device *d, const char *what, int code)
{
    bool memory = code == CL_MEM_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
    bool lost = code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_COMMAND_QUEUE ||
                code == CL_OUT_OF_RESOURCES;
    if (memory)
        return pl_fail(d->ctx, PL_ERROR_MEMORY, "device %s: out of memory (%s)", d->name, what);
    return pl_fail(d->ctx, PL_ERROR_NUMERIC, "device %s: %s failed with OpenCL error %d%s", d->name,
                   what, code,
                   lost ? ": the device is lost; nothing of this step was kept, run it again or with "
                          "device \"cpu\""
                        : "");
}

static pl_status build(pl_device *d, opencl *o, cl_device device)
{
    const char *source = pl_device_source;
    int code;
    o->program = o->cl.CreateProgramWithSource(o->context, 1, &source, NULL, &code);
    if (!o->program)
        return failed(d, "reading the kernels", code);
    code = o->cl.BuildProgram(o->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (code != 0) {
        char log[600] = "";
        o->cl.GetProgramBuildInfo(o->program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        return pl_fail(
            d->ctx, PL_ERROR_NUMERIC,
            "device %s: its compiler refuses the kernels (OpenCL error %d); choose another, or "
            "device \"cpu\". It says: %s",
            d->name, code, log);
    }
    for (int k = 0; k < PL_KERNEL_COUNT; k++) {
        o->kernels[k] = o->cl.CreateKernel(o->program, pl_kernel_name((pl_kernel_id)k), &code);
        if (!o->kernels[k])
            return failed(d, pl_kernel_name((pl_kernel_id)k), code);
    }
    return PL_OK;
}

static void destroy(pl_device *d)
{
    opencl *o = d->own;
    if (!o)
        return;
    for (int k = 0; k < PL_KERNEL_COUNT; k++)
        if (o->kernels[k])
            o->cl.ReleaseKernel(o->kernels[k]);
    if (o->program)
        o->cl.ReleaseProgram(o->program);
    if (o->queue)
        o->cl.ReleaseCommandQueue(o->queue);
    if (o->context)
        o->cl.ReleaseContext(o->context);
    if (o->cl.library)
        dlclose(o->cl.library);
    pl_free(d->ctx, o);
    d->own = NULL;
}

static pl_status create(pl_device *d, const char *wanted)
{
    pl_status status = PL_OK;
    choice c;
    int code = 0;
    opencl *o = pl_alloc(d->ctx, 1, sizeof *o);
    if (!o)
        return PL_ERROR_MEMORY;
    d->own = o;
    PL_CHECK(open_library(d->ctx, &o->cl), done);
    PL_CHECK(choose_device(d->ctx, &o->cl, wanted, &c), done);
    snprintf(d->name, sizeof d->name, "%s", c.name);
    o->context = o->cl.CreateContext(NULL, 1, &c.device, NULL, NULL, &code);
    if (o->context)
        o->queue = o->cl.CreateCommandQueue(o->context, c.device, 0, &code);
    status = o->queue ? build(d, o, c.device) : failed(d, "opening it", code);
done:
    if (status != PL_OK)
        destroy(d);
    return status;
}

static pl_status buffer_create(pl_device *d, pl_device_buffer *b)
{
    opencl *o = d->own;
    int code = 0;
    b->memory = o->cl.CreateBuffer(o->context, CL_READ_WRITE, b->bytes, NULL, &code);
    return b->memory ? PL_OK : failed(d, "making an array", code);
}

static void buffer_destroy(pl_device *d, pl_device_buffer *b)
{
    opencl *o = d->own;
    o->cl.ReleaseMemObject(b->memory);
}

static pl_status write_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes,
                             const void *data)
{
    opencl *o = d->own;
    int code = o->cl.EnqueueWriteBuffer(o->queue, b->memory, 1, from, bytes, data, 0, NULL, NULL);
    return code == 0 ? PL_OK : failed(d, "writing to it", code);
}

static pl_status read_bytes(pl_device *d, pl_device_buffer *b, size_t from, size_t bytes, void *data)
{
    opencl *o = d->own;
    int code = o->cl.EnqueueReadBuffer(o->queue, b->memory, 1, from, bytes, data, 0, NULL, NULL);
    return code == 0 ? PL_OK : failed(d, "reading from it", code);
}

static int set_arg(opencl *o, cl_kernel kernel, int at, const pl_device_arg *arg)
{
    int whole = (int)arg->number;
    uint32_t index = (uint32_t)at;
    if (arg->kind == PL_DEVICE_ARRAY)
        return o->cl.SetKernelArg(kernel, index, sizeof arg->buffer->memory, &arg->buffer->memory);
    if (arg->kind == PL_DEVICE_INT)
        return o->cl.SetKernelArg(kernel, index, sizeof whole, &whole);
    return o->cl.SetKernelArg(kernel, index, sizeof arg->number, &arg->number);
}

/* Groups of one size, so that a compiler that makes kernels for each does so once. */
static pl_status launch(pl_device *d, pl_kernel_id id, int items, const pl_device_arg *args, int count)
{
    opencl *o = d->own;
    cl_kernel kernel = o->kernels[id];
    size_t group = GROUP, all = ((size_t)items + GROUP - 1) / GROUP * GROUP;
    int code = o->cl.SetKernelArg(kernel, 0, sizeof items, &items);
    for (int k = 0; k < count && code == 0; k++)
        code = set_arg(o, kernel, k + 1, &args[k]);
    if (code == 0)
        code = o->cl.EnqueueNDRangeKernel(o->queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
    return code == 0 ? PL_OK : failed(d, pl_kernel_name(id), code);
}

static pl_status finish(pl_device *d)
{
    opencl *o = d->own;
    int code = o->cl.Finish(o->queue);
    return code == 0 ? PL_OK : failed(d, "waiting for it", code);
}

const pl_device_table pl_device_opencl = {
    .name = "opencl",
    .create = create,
    .destroy = destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .write = write_bytes,
    .read = read_bytes,
    .launch = launch,
    .finish = finish,
};
