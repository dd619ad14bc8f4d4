/* The kernels for x86 with AVX2 and FMA; kernels.cmake sets the flags. Empty elsewhere. */
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#include "backend/panel_kernel.h"
#include "backend/sparse_kernel.h"
#include "elastic/parameter_kernel.h"

extern const pl_backend pl_backend_avx2;
const pl_backend pl_backend_avx2 = {
    .name = "avx2",
    .width = PL_WIDTH,
    .elements = kernel_elements,
    .stress = kernel_stress,
    .parameters = kernel_parameters,
    .parameters_forward = kernel_parameters_forward,
    .gather = kernel_gather,
    .assemble = kernel_assemble,
    .multiply = kernel_multiply,
    .panel_forward = kernel_panel_forward,
    .panel_backward = kernel_panel_backward,
};
#else
typedef int pl_kernels_avx2_not_here;
#endif
