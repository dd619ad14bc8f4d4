/* Singular values of one small matrix, row-major; the element kernels use svd_simd.h directly. */
#ifndef PL_SVD_H
#define PL_SVD_H

/* F = U diag(sigma) V^T, all [3, 3]; det U = det V = +1, |sigma| descending, sigma[2] has det F's sign.
 */
void pl_svd3(const double F[9], double U[9], double sigma[3], double V[9]);
/* F [3, 2] = U[:, :2] diag(sigma) V^T with V [2, 2]; U's third column is the normal; sigma >= 0. */
void pl_svd32(const double F[6], double U[9], double sigma[2], double V[4]);

#endif
