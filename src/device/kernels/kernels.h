/* All kernels, in the order that they are compiled in. The lines that include are how C and CUDA find
 * them; for OpenCL cmake/kernels.cmake puts the files one after another. */
/* clang-format off */
#include "device/kernels/portable.h"
#include "device/kernels/scalar.h"
#include "core/vec.h"
#include "linalg/svd_simd.h"
#include "elastic/material.h"
#include "elastic/element_math.h"
#include "contact/law_kernel.h"
#include "contact/shape_kernel.h"
#include "device/layout.h"
#include "device/kernels/krylov.h"
#include "device/kernels/element.h"
#include "device/kernels/contact.h"
#include "device/kernels/vertex.h"
#include "device/kernels/factor.h"
/* clang-format on */
