/* The kernels for x86 with AVX2, FMA and F16C; kernels.cmake sets the flags. Empty elsewhere. */
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define PL_WIDTH 4 /* also where the whole library is compiled for AVX-512 */
#include "backend/kernel_table.h"

extern const pl_backend pl_backend_avx2;
const pl_backend pl_backend_avx2 = KERNEL_TABLE("avx2");
#else
typedef int pl_kernels_avx2_not_here;
#endif
