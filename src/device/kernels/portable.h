/*
 * What lets one source of kernels be OpenCL C, CUDA C and C. A kernel is a function of an item:
 *
 *     PL_KERNEL(scale, PL_VALUE(double, s) PL_ARRAY(double, x))
 *     {
 *         x[item] *= s;
 *     }
 *     PL_END
 *
 * In OpenCL and CUDA it is launched over so many items, in C it is called for one after another. Arrays
 * are in the device's memory, PL_GLOBAL; what they hold is loaded into variables before it is worked
 * on. No two items write the same place, and sums are taken in an order that depends on sizes alone:
 * results are the same bits in every run.
 */
#ifndef PL_DEVICE_PORTABLE_H
#define PL_DEVICE_PORTABLE_H

#if defined(__OPENCL_VERSION__)

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define PL_GLOBAL __global
#define PL_KERNEL(name, params)                                                                        \
    __kernel void pl_##name(int count_ params)                                                         \
    {                                                                                                  \
        int item = (int)get_global_id(0);                                                              \
        if (item >= count_)                                                                            \
            return;
#define PL_END               }
#define PL_ARRAY(type, name) , __global type *name
#define PL_VALUE(type, name) , type name

typedef enum pl_material { PL_ARAP, PL_COROTATED, PL_NEO_HOOKEAN } pl_material;
typedef enum pl_reading { PL_EXACT, PL_PROJECTIVE } pl_reading;
typedef enum pl_shape { PL_HALF_SPACE, PL_SPHERE, PL_BOX, PL_CYLINDER, PL_CAPSULE, PL_MESH } pl_shape;

#elif defined(__CUDACC__)

#include <float.h>
#include <math.h>
#include <pliant/pliant.h>
#define inline __device__ __forceinline__
#define PL_NOINLINE static __device__ __noinline__
#define PL_GLOBAL
#define PL_KERNEL(name, params)                                                                        \
    extern "C" __global__ void pl_##name(int count_ params)                                            \
    {                                                                                                  \
        int item = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                       \
        if (item >= count_)                                                                            \
            return;
#define PL_END               }
#define PL_ARRAY(type, name) , type *name
#define PL_VALUE(type, name) , type name

#else

#include "device/device.h"

#include <float.h>
#define PL_GLOBAL
#define PL_KERNEL(name, params)                                                                        \
    static void kernel_##name(int item, const pl_device_value *value_)                                 \
    {                                                                                                  \
        params(void) value_;
#define PL_END               }
#define PL_ARRAY(type, name) type *name = (value_++)->array;
#define PL_VALUE(type, name) type name = (type)(value_++)->number;

#endif

#endif
