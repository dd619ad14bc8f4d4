/* The table of all kernels, of the width for which a file is compiled. */
#ifndef PL_KERNEL_TABLE_H
#define PL_KERNEL_TABLE_H

#include "backend/front_kernel.h"
#include "backend/panel_kernel.h"
#include "backend/sparse_kernel.h"
#include "elastic/parameter_kernel.h"

#define KERNEL_TABLE(label)                                                                            \
    {                                                                                                  \
        .name = (label), .width = PL_WIDTH, .elements = kernel_elements, .stress = kernel_stress,      \
        .parameters = kernel_parameters, .parameters_forward = kernel_parameters_forward,              \
        .gather = kernel_gather, .assemble = kernel_assemble, .multiply = kernel_multiply,             \
        .panel_forward = kernel_panel_forward, .panel_backward = kernel_panel_backward,                \
        .symmetric = kernel_symmetric, .strip_product = kernel_strip_product,                          \
        .square_factor = kernel_square_factor, .front_add = kernel_front_add, .half = KERNEL_HALF,     \
    }

#endif
