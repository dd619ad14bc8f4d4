/* The vector functions with eight lanes, as for AVX-512, on any processor. */
#define PL_WIDTH 8
#include "test_backend_simd.c"
