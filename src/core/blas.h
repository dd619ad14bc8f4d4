/* What BLAS is told before it is used. */
#ifndef PL_BLAS_H
#define PL_BLAS_H

#include <stdbool.h>

/* BLAS works on the thread that calls it, up to `threads` of which may at once. False when memory is
 * too short for that. */
bool pl_blas_prepare(int threads);

#endif
