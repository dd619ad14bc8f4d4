/* The kernels for the instruction set the whole library is compiled for. */
#include "backend/kernel_table.h"

extern const pl_backend pl_backend_baseline;
const pl_backend pl_backend_baseline = KERNEL_TABLE("baseline");
