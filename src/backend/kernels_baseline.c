/* The kernels for the instruction set the whole library is compiled for. */
#include "backend/panel_kernel.h"
#include "backend/sparse_kernel.h"
#include "elastic/parameter_kernel.h"

extern const pl_backend pl_backend_baseline;
const pl_backend pl_backend_baseline = {
    .name = "baseline",
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
