/* The kernels for the instruction set the whole library is compiled for. */
#include "elastic/element_kernel.h"

extern const pl_backend pl_backend_baseline;
const pl_backend pl_backend_baseline = {
    .name = "baseline",
    .width = PL_WIDTH,
    .elements = kernel_elements,
    .stress = kernel_stress,
    .parameters = kernel_parameters,
    .parameters_forward = kernel_parameters_forward,
};
