/* The kernels for x86 with AVX-512; kernels.cmake sets the flags. Empty elsewhere. */
#if defined(__AVX512F__)
#include "backend/kernel_table.h"

extern const pl_backend pl_backend_avx512;
const pl_backend pl_backend_avx512 = KERNEL_TABLE("avx512");
#else
typedef int pl_kernels_avx512_not_here;
#endif
