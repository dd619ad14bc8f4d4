/*
 * Vectors, and GMRES with its small numbers on the device.
 *
 *     V_(k+1) h_(k+1,k) = w - sum_j h_(j,k) V_j,      w = M^-1 A V_k
 *
 * orthogonalised twice against all (classical Gram-Schmidt), Givens rotations of the Hessenberg matrix
 * as they come. Once `state` says that it is done, what is launched further does nothing: the host
 * looks when it likes.
 */
#ifndef PL_DEVICE_KRYLOV_H
#define PL_DEVICE_KRYLOV_H

static inline int chunk_begin(int size, int chunk)
{
    return (int)((long)size * chunk / PL_CHUNKS);
}

/* state = 0, but for the tolerance. */
PL_KERNEL(krylov_begin, PL_VALUE(double, tolerance) PL_ARRAY(double, state))
{
    (void)item;
    state[PL_STATE_DONE] = 0;
    state[PL_STATE_ITERATIONS] = 0;
    state[PL_STATE_RESIDUAL] = 1;
    state[PL_STATE_TOLERANCE] = tolerance;
}
PL_END

/* partial [vectors, PL_CHUNKS] = V_j . w in pieces; item = (j, piece) */
PL_KERNEL(dots, PL_VALUE(int, size) PL_ARRAY(double, basis) PL_ARRAY(double, w)
                    PL_ARRAY(double, partial) PL_ARRAY(double, state))
{
    int j = item / PL_CHUNKS, chunk = item % PL_CHUNKS;
    if (state[PL_STATE_DONE] != 0)
        return;
    PL_GLOBAL const double *v = basis + (size_t)j * (size_t)size;
    double sum = 0;
    for (int i = chunk_begin(size, chunk); i < chunk_begin(size, chunk + 1); i++)
        sum += v[i] * w[i];
    partial[item] = sum;
}
PL_END

/* coefficient j = the sum of its pieces, also added to the Hessenberg matrix's column k */
PL_KERNEL(gather_dots,
          PL_VALUE(int, k) PL_VALUE(int, again) PL_ARRAY(double, partial) PL_ARRAY(double, coefficient)
              PL_ARRAY(double, krylov) PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] != 0)
        return;
    double sum = 0;
    for (int c = 0; c < PL_CHUNKS; c++)
        sum += partial[item * PL_CHUNKS + c];
    PL_GLOBAL double *h = krylov + k * (PL_RESTART + 1) + item;
    coefficient[item] = sum;
    *h = again ? *h + sum : sum;
}
PL_END

/* w -= sum_j coefficient_j V_j */
PL_KERNEL(subtract, PL_VALUE(int, size) PL_VALUE(int, vectors) PL_ARRAY(double, basis)
                        PL_ARRAY(double, coefficient) PL_ARRAY(double, w) PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] != 0)
        return;
    double sum = 0;
    for (int j = 0; j < vectors; j++)
        sum += coefficient[j] * basis[(size_t)j * (size_t)size + (size_t)item];
    w[item] -= sum;
}
PL_END

/* The start: the norm of the preconditioned right-hand side, of which `partial` has the pieces. */
PL_KERNEL(krylov_start, PL_ARRAY(double, partial) PL_ARRAY(double, krylov) PL_ARRAY(double, state))
{
    double sum = 0;
    (void)item;
    for (int c = 0; c < PL_CHUNKS; c++)
        sum += partial[c];
    double norm = sqrt(sum);
    state[PL_STATE_NORM] = norm;
    state[PL_STATE_INVERSE] = norm > 0 ? 1 / norm : 0;
    krylov[PL_KRYLOV_RIGHT] = norm;
    if (!(norm > 0)) {
        state[PL_STATE_DONE] = 1;
        state[PL_STATE_RESIDUAL] = norm;
    }
}
PL_END

/* Column k of the Hessenberg matrix turned to a triangle's, and how far that brings it. */
PL_KERNEL(krylov_turn,
          PL_VALUE(int, k) PL_ARRAY(double, partial) PL_ARRAY(double, krylov) PL_ARRAY(double, state))
{
    (void)item;
    if (state[PL_STATE_DONE] != 0)
        return;
    double sum = 0;
    for (int c = 0; c < PL_CHUNKS; c++)
        sum += partial[c];
    double below = sqrt(sum), norm = state[PL_STATE_NORM];
    PL_GLOBAL double *h = krylov + k * (PL_RESTART + 1);
    PL_GLOBAL double *cosine = krylov + PL_KRYLOV_COSINE, *sine = krylov + PL_KRYLOV_SINE;
    PL_GLOBAL double *right = krylov + PL_KRYLOV_RIGHT;
    for (int j = 0; j < k; j++) {
        double a = h[j], b = h[j + 1];
        h[j] = cosine[j] * a + sine[j] * b;
        h[j + 1] = cosine[j] * b - sine[j] * a;
    }
    double length = sqrt(h[k] * h[k] + below * below);
    cosine[k] = length > 0 ? h[k] / length : 1;
    sine[k] = length > 0 ? below / length : 0;
    h[k] = length;
    right[k + 1] = -sine[k] * right[k];
    right[k] = cosine[k] * right[k];
    state[PL_STATE_INVERSE] = below > 0 ? 1 / below : 0;
    state[PL_STATE_ITERATIONS] = k + 1;
    state[PL_STATE_RESIDUAL] = fabs(right[k + 1]) / norm;
    /* Also when it is not a number. */
    if (!(state[PL_STATE_RESIDUAL] > state[PL_STATE_TOLERANCE]) || !(below > 0))
        state[PL_STATE_DONE] = 1;
}
PL_END

/* V_k = w / its norm, as `state` has it; item of `size`: V_k begins at size k */
PL_KERNEL(normalise, PL_VALUE(int, k) PL_VALUE(int, size) PL_ARRAY(double, w) PL_ARRAY(double, basis)
                         PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] == 0)
        basis[(size_t)k * (size_t)size + (size_t)item] = state[PL_STATE_INVERSE] * w[item];
}
PL_END

/* out = V_k */
PL_KERNEL(basis_vector, PL_VALUE(int, size) PL_VALUE(int, k) PL_ARRAY(double, basis)
                            PL_ARRAY(double, out) PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] == 0)
        out[item] = basis[(size_t)k * (size_t)size + (size_t)item];
}
PL_END

/* y of the least residual, from the triangle. */
PL_KERNEL(krylov_end, PL_ARRAY(double, krylov) PL_ARRAY(double, state))
{
    (void)item;
    int count = (int)state[PL_STATE_ITERATIONS];
    PL_GLOBAL double *y = krylov + PL_KRYLOV_Y;
    for (int i = count - 1; i >= 0; i--) {
        double sum = krylov[PL_KRYLOV_RIGHT + i];
        for (int j = i + 1; j < count; j++)
            sum -= krylov[j * (PL_RESTART + 1) + i] * y[j];
        double pivot = krylov[i * (PL_RESTART + 1) + i];
        y[i] = pivot != 0 ? sum / pivot : 0;
    }
}
PL_END

/* x = (or, with add, +=) sum_j y_j V_j */
PL_KERNEL(combine, PL_VALUE(int, size) PL_VALUE(int, add) PL_ARRAY(double, basis)
                       PL_ARRAY(double, krylov) PL_ARRAY(double, x) PL_ARRAY(double, state))
{
    double sum = add ? x[item] : 0;
    int count = (int)state[PL_STATE_ITERATIONS];
    for (int j = 0; j < count; j++)
        sum += krylov[PL_KRYLOV_Y + j] * basis[(size_t)j * (size_t)size + (size_t)item];
    x[item] = sum;
}
PL_END

/* out = scale a + b; arrays may be the same */
PL_KERNEL(add_scaled,
          PL_VALUE(double, scale) PL_ARRAY(double, a) PL_ARRAY(double, b) PL_ARRAY(double, out))
{
    out[item] = scale * a[item] + b[item];
}
PL_END

/* A norm from its pieces into one of the state's places. */
PL_KERNEL(tell_norm, PL_VALUE(int, place) PL_ARRAY(double, partial) PL_ARRAY(double, state))
{
    double sum = 0;
    (void)item;
    for (int c = 0; c < PL_CHUNKS; c++)
        sum += partial[c];
    state[place] = sqrt(sum);
}
PL_END

PL_KERNEL(copy, PL_ARRAY(double, from) PL_ARRAY(double, to))
{
    to[item] = from[item];
}
PL_END

PL_KERNEL(set_state, PL_VALUE(int, place) PL_VALUE(double, value) PL_ARRAY(double, state))
{
    (void)item;
    state[place] = value;
}
PL_END

PL_KERNEL(clear, PL_ARRAY(int, to))
{
    to[item] = 0;
}
PL_END

PL_KERNEL(copy_ints, PL_ARRAY(int, from) PL_ARRAY(int, to))
{
    to[item] = from[item];
}
PL_END

PL_KERNEL(fill, PL_VALUE(double, value) PL_ARRAY(double, to))
{
    to[item] = value;
}
PL_END

#endif
