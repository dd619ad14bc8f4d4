/* Dense lower triangles in single precision on several threads: L^-1, and with it (L L^T)^-1. Results
 * are the same bits for any number of threads. All column-major. */
#ifndef PL_LOWER_H
#define PL_LOWER_H

/* x [size, size] = L^-1 with zeros above the diagonal, columns of l `stride` apart. */
void pl_lower_invert(int threads, int size, const float *l, int stride, float *x);

/* The lower triangle of g = X^T X, X [size, size] such an inverse; columns so far apart. */
void pl_lower_square(int threads, int size, const float *x, int x_stride, float *g, int g_stride);

#endif
