/* The kernels as C. */
#include "device/device.h"

#include "backend/backend.h"
#include "device/kernels/kernels.h"

typedef void (*kernel_fn)(int item, const pl_device_value *value);

#define ENTRY_(name) kernel_##name,
static const kernel_fn kernels[PL_KERNEL_COUNT] = {PL_KERNELS(ENTRY_)};

_Static_assert(PL_SIDES == PL_PAIRS && PL_CORNER == PL_FORCE_STRIDE && PL_BLOCK == PL_LANES,
               "the layouts of backend.h");

void pl_device_run(pl_kernel_id kernel, int items, const pl_device_value *values)
{
    for (int item = 0; item < items; item++)
        kernels[kernel](item, values);
}
