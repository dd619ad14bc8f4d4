/* The rotation in a matrix. */
#ifndef PL_POLAR_H
#define PL_POLAR_H

/* R with F = R S, S symmetric, det R = 1: orthogonal to 1e-9, where F is well conditioned the nearest
 * rotation to as many digits; where it is singular or has a negative determinant, one of the nearest
 * (by singular values). [9] row-major each. */
void pl_polar3(const double F[9], double R[9]);

#endif
