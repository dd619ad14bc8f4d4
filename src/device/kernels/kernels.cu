/* The kernels as CUDA C, for `make cuda`. */
#include "device/kernels/kernels.h"
