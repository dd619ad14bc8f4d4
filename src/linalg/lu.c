/*
 * Block columns from left to right: one is factored, then every other follows its exchanges of rows,
 * and those on its right are reduced by it, each by one thread.
 */
#include "linalg/lu.h"

#include <cblas.h>
#include <lapacke.h>

#define BLOCK         96
#define WORTH_THREADS 400 /* unknowns: from here on threads pay for their start */

#define REAL      double
#define PANEL     panel
#define NAME(x)   x
#define CBLAS(x)  cblas_d##x
#define LAPACK(x) LAPACKE_d##x##_work
#include "linalg/lu_template.h"
#undef REAL
#undef PANEL
#undef NAME
#undef CBLAS
#undef LAPACK

#define REAL      float
#define PANEL     panel_single
#define NAME(x)   x##_single
#define CBLAS(x)  cblas_s##x
#define LAPACK(x) LAPACKE_s##x##_work
#include "linalg/lu_template.h"
