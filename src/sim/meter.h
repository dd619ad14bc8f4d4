/* What a step took: counts, and milliseconds by stage. */
#ifndef PL_METER_H
#define PL_METER_H

#include "core/core.h"

typedef struct pl_meter {
    pl_step_info info;
    double since; /* when the present stage began, ms */
} pl_meter;

/* The time since the last call goes to a stage. */
static inline void pl_stage(pl_meter *meter, int stage)
{
    double now = pl_milliseconds();
    meter->info.milliseconds[stage] += now - meter->since;
    meter->since = now;
}

#endif
