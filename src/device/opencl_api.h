/* The few entry points of OpenCL 1.2 that are used, found at run time: nothing is linked. */
#ifndef PL_OPENCL_API_H
#define PL_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform_s *cl_platform;
typedef struct cl_device_s *cl_device;
typedef struct cl_context_s *cl_context;
typedef struct cl_queue_s *cl_queue;
typedef struct cl_memory_s *cl_memory;
typedef struct cl_program_s *cl_program;
typedef struct cl_kernel_s *cl_kernel;
typedef struct cl_event_s *cl_event;

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_OUT_OF_RESOURCES = -5,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_MEM_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_PLATFORM_NOT_FOUND = -1001
};

#define CL_DEVICE_ALL 0xFFFFFFFFu
#define CL_READ_WRITE 1u

/* X(result, name, arguments) */
#define PL_OPENCL_CALLS(X)                                                                             \
    X(int, GetPlatformIDs, (uint32_t, cl_platform *, uint32_t *))                                      \
    X(int, GetPlatformInfo, (cl_platform, uint32_t, size_t, void *, size_t *))                         \
    X(int, GetDeviceIDs, (cl_platform, uint64_t, uint32_t, cl_device *, uint32_t *))                   \
    X(int, GetDeviceInfo, (cl_device, uint32_t, size_t, void *, size_t *))                             \
    X(cl_context, CreateContext,                                                                       \
      (const intptr_t *, uint32_t, const cl_device *, void *, void *, int *))                          \
    X(int, ReleaseContext, (cl_context))                                                               \
    X(cl_queue, CreateCommandQueue, (cl_context, cl_device, uint64_t, int *))                          \
    X(int, ReleaseCommandQueue, (cl_queue))                                                            \
    X(cl_program, CreateProgramWithSource,                                                             \
      (cl_context, uint32_t, const char **, const size_t *, int *))                                    \
    X(int, BuildProgram, (cl_program, uint32_t, const cl_device *, const char *, void *, void *))      \
    X(int, GetProgramBuildInfo, (cl_program, cl_device, uint32_t, size_t, void *, size_t *))           \
    X(int, ReleaseProgram, (cl_program))                                                               \
    X(cl_kernel, CreateKernel, (cl_program, const char *, int *))                                      \
    X(int, SetKernelArg, (cl_kernel, uint32_t, size_t, const void *))                                  \
    X(int, ReleaseKernel, (cl_kernel))                                                                 \
    X(cl_memory, CreateBuffer, (cl_context, uint64_t, size_t, void *, int *))                          \
    X(int, ReleaseMemObject, (cl_memory))                                                              \
    X(int, EnqueueWriteBuffer,                                                                         \
      (cl_queue, cl_memory, uint32_t, size_t, size_t, const void *, uint32_t, const cl_event *,        \
       cl_event *))                                                                                    \
    X(int, EnqueueReadBuffer,                                                                          \
      (cl_queue, cl_memory, uint32_t, size_t, size_t, void *, uint32_t, const cl_event *, cl_event *)) \
    X(int, EnqueueNDRangeKernel,                                                                       \
      (cl_queue, cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,        \
       const cl_event *, cl_event *))                                                                  \
    X(int, Finish, (cl_queue))

typedef struct pl_opencl_api {
    void *library;
#define MEMBER_(result, name, arguments) result(*name) arguments;
    PL_OPENCL_CALLS(MEMBER_)
#undef MEMBER_
} pl_opencl_api;

#endif
