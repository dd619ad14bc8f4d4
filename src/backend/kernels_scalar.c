/* The kernels one element at a time: what the vectors are measured against. */
#define PL_WIDTH 1
#include "backend/kernel_table.h"

extern const pl_backend pl_backend_scalar;
const pl_backend pl_backend_scalar = KERNEL_TABLE("scalar");
