/*
 * Elements and the tangent: stress and tangent of an element an item, and what a vertex gathers of
 * them.
 *
 *     r = (M + hC)(q - q0) - h M v0 - h^2 f + h^2 dPsi/dq + h^2 k (q - target)
 *     E = M + hC + h^2 (d2Psi/dq2 + k)
 *
 * Layouts are those of backend/backend.h, eight elements a block; tangents of an element are blocks of
 * its pairs, [slots, PL_PAIRS, 9].
 */
#ifndef PL_DEVICE_ELEMENT_H
#define PL_DEVICE_ELEMENT_H

static inline void load3(PL_GLOBAL const double *x, int vertex, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = x[3 * (size_t)vertex + (size_t)i];
}

static inline void store3(const double x[3], PL_GLOBAL double *out, int vertex)
{
    for (int i = 0; i < 3; i++)
        out[3 * (size_t)vertex + (size_t)i] = x[i];
}

static inline void load9(PL_GLOBAL const double *x, size_t block, double out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] = x[9 * block + (size_t)i];
}

static inline void store9(const double x[9], PL_GLOBAL double *out, size_t block)
{
    for (int i = 0; i < 9; i++)
        out[9 * block + (size_t)i] = x[i];
}

/* The element of a slot: F, shape gradients, moduli. */
ALWAYS_INLINE void load_slot(int n, int slot, PL_GLOBAL const int *vertex,
                             PL_GLOBAL const double *gradient, PL_GLOBAL const double *volume,
                             PL_GLOBAL const double *moduli, PL_GLOBAL const double *q, element *e)
{
    int block = slot / PL_BLOCK, lane = slot % PL_BLOCK;
    vd edges[3][3];
    double origin[3], corner[3];
    load3(q, vertex[4 * PL_BLOCK * block + lane], origin);
    for (int k = 0; k < n; k++) {
        load3(q, vertex[PL_BLOCK * (4 * block + k + 1) + lane], corner);
        for (int i = 0; i < 3; i++)
            edges[i][k] = corner[i] - origin[i];
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            e->g[k][j] = gradient[PL_BLOCK * (9 * block + n * k + j) + lane];
    field_gradient(n, edges, e->g, e->F);
    e->volume = volume[slot];
    e->mu = moduli[2 * PL_BLOCK * block + lane];
    e->lambda = moduli[PL_BLOCK * (2 * block + 1) + lane];
}

ALWAYS_INLINE void decompose_one(int n, element *e)
{
    v_svd svd;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++)
            svd.B[i][j] = e->F[i][j];
    if (n == 3)
        v_svd3(1, &svd);
    else
        v_svd32(1, &svd);
    for (int i = 0; i < 3; i++) {
        e->sigma[i] = i < n ? svd.sigma[i] : 0;
        for (int j = 0; j < 3; j++) {
            e->U[i][j] = svd.U[i][j];
            if (i < n && j < n)
                e->V[i][j] = svd.V[i][j];
        }
    }
}

ALWAYS_INLINE void write_force(int n, const element *e, vd P[3][3], PL_GLOBAL double *out)
{
    for (int i = 0; i < 3; i++) {
        double first = 0;
        for (int k = 0; k < n; k++) {
            double f = P[i][0] * e->g[k][0];
            for (int j = 1; j < n; j++)
                f += P[i][j] * e->g[k][j];
            out[3 * (k + 1) + i] = f;
            first -= f;
        }
        out[i] = first;
    }
}

/* Energy, forces and, if wanted, tangents of a slot; an energy that is infinite is outside the
 * material's domain. */
ALWAYS_INLINE void element_of(int n, int kind, int want, int slot, PL_GLOBAL const int *vertex,
                              PL_GLOBAL const double *gradient, PL_GLOBAL const double *volume,
                              PL_GLOBAL const double *moduli, PL_GLOBAL const double *q,
                              PL_GLOBAL double *energy, PL_GLOBAL double *force,
                              PL_GLOBAL double *tangent)
{
    element e;
    material m;
    vd P[3][3];
    load_slot(n, slot, vertex, gradient, volume, moduli, q, &e);
    decompose_one(n, &e);
    evaluate_model((pl_material)(kind % 4), (pl_reading)(kind / 4), n, &e, want ? PL_WANT_TANGENT : 0,
                   &m);
    energy[slot] = m.bad ? HUGE_VAL : e.volume * m.energy;
    for (int i = 0; i < n; i++)
        m.tau[i] *= e.volume;
    first_stress(n, &e, m.tau, P);
    write_force(n, &e, P, force + PL_CORNER * (size_t)slot);
    if (!want)
        return;
    if (want & PL_DO_CLAMP)
        clamp_material(n, &m);
    vd rotated[4][3], K[9];
    tangent_terms terms;
    make_terms(n, &e, &m, &terms);
    rotate_gradients(n, &e, rotated);
    for (int k = 0, pair = 0; k < n; k++)
        for (int l = k + 1; l <= n; l++, pair++) {
            tangent_block(n, &e, &terms, rotated[k], rotated[l], K);
            store9(K, tangent, PL_SIDES * (size_t)slot + (size_t)pair);
        }
}

/* Slots from `first` on, all tets or all triangles; kind = material + 4 reading. */
PL_KERNEL(tetrahedra, PL_VALUE(int, first) PL_VALUE(int, kind) PL_VALUE(int, want) PL_ARRAY(int, vertex)
                          PL_ARRAY(double, gradient) PL_ARRAY(double, volume) PL_ARRAY(double, moduli)
                              PL_ARRAY(double, q) PL_ARRAY(double, energy) PL_ARRAY(double, force)
                                  PL_ARRAY(double, tangent))
{
    element_of(3, kind, want, first + item, vertex, gradient, volume, moduli, q, energy, force,
               tangent);
}
PL_END

PL_KERNEL(triangles, PL_VALUE(int, first) PL_VALUE(int, kind) PL_VALUE(int, want) PL_ARRAY(int, vertex)
                         PL_ARRAY(double, gradient) PL_ARRAY(double, volume) PL_ARRAY(double, moduli)
                             PL_ARRAY(double, q) PL_ARRAY(double, energy) PL_ARRAY(double, force)
                                 PL_ARRAY(double, tangent))
{
    element_of(2, kind, want, first + item, vertex, gradient, volume, moduli, q, energy, force,
               tangent);
}
PL_END

/* The k-th pin's N, as rows. A pin is [7]: 1/compliance, target, normal (0: holds in all directions).
 */
static inline void pin_rows(PL_GLOBAL const double *pin, double out[9])
{
    bool along = pin[4] != 0 || pin[5] != 0 || pin[6] != 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = along ? pin[4 + i] * pin[4 + j] : (i == j ? 1.0 : 0.0);
}

/* r of a vertex, and the energy of what bends there. */
PL_KERNEL(residual, PL_VALUE(double, h) PL_VALUE(int, bends) PL_ARRAY(double, mass) PL_ARRAY(double, q0)
                        PL_ARRAY(double, v0) PL_ARRAY(double, external) PL_ARRAY(int, force_begin)
                            PL_ARRAY(int, force_from) PL_ARRAY(double, force) PL_ARRAY(int, row)
                                PL_ARRAY(int, col) PL_ARRAY(double, bending) PL_ARRAY(int, pin_begin)
                                    PL_ARRAY(double, pin) PL_ARRAY(double, q) PL_ARRAY(double, energy)
                                        PL_ARRAY(double, out))
{
    double x[3], x0[3], v[3], f[3], sum[3] = {0, 0, 0}, bent = 0;
    load3(q, item, x);
    load3(q0, item, x0);
    load3(v0, item, v);
    load3(external, item, f);
    for (int k = force_begin[item]; k < force_begin[item + 1]; k++)
        for (int i = 0; i < 3; i++)
            sum[i] += force[force_from[k] + i];
    for (int k = row[item]; bends && k < row[item + 1]; k++) {
        double other[3], apart[3];
        load3(q, col[k], other);
        pl_sub3(other, x, apart);
        pl_axpy3(bending[k], apart, sum);
        bent -= 0.25 * bending[k] * pl_dot3(apart, apart);
    }
    for (int k = pin_begin[item]; k < pin_begin[item + 1]; k++) {
        PL_GLOBAL const double *p = pin + PL_PIN_SIZE * (size_t)k;
        double n[9], apart[3], along[3];
        pin_rows(p, n);
        for (int i = 0; i < 3; i++)
            apart[i] = x[i] - p[1 + i];
        pl_mat3_vec(n, apart, along);
        pl_axpy3(p[0], along, sum);
    }
    double m = mass[2 * item], inertia = m + h * mass[2 * item + 1];
    for (int i = 0; i < 3; i++)
        sum[i] = inertia * (x[i] - x0[i]) - (h * m * v[i] + h * h * f[i]) + h * h * sum[i];
    store3(sum, out, item);
    energy[item] = bent;
}
PL_END

/* A row of E: of pairs the elements' tangents and bending, the diagonal what makes the row add up to
 * masses and pins; `own` the mean of that block's diagonal. */
PL_KERNEL(assemble, PL_VALUE(double, h) PL_VALUE(int, bends) PL_ARRAY(double, mass) PL_ARRAY(int, row)
                        PL_ARRAY(int, col) PL_ARRAY(int, from_begin) PL_ARRAY(int, from)
                            PL_ARRAY(double, tangent) PL_ARRAY(double, bending) PL_ARRAY(int, pin_begin)
                                PL_ARRAY(double, pin) PL_ARRAY(double, blocks) PL_ARRAY(double, own))
{
    double diagonal[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    int at = row[item];
    for (int k = row[item]; k < row[item + 1]; k++) {
        double sum[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
        bool mirrored = col[k] < item;
        if (col[k] == item) {
            at = k;
            continue;
        }
        for (int s = from_begin[k]; s < from_begin[k + 1]; s++) {
            PL_GLOBAL const double *t = tangent + 9 * (size_t)from[s];
            for (int i = 0; i < 9; i++)
                sum[i] += t[mirrored ? i % 3 * 3 + i / 3 : i];
        }
        for (int i = 0; i < 9; i++)
            sum[i] = h * h * (sum[i] + (bends && i % 4 == 0 ? bending[k] : 0));
        store9(sum, blocks, (size_t)k);
        for (int i = 0; i < 9; i++)
            diagonal[i] -= sum[i];
    }
    for (int k = pin_begin[item]; k < pin_begin[item + 1]; k++) {
        double n[9];
        pin_rows(pin + PL_PIN_SIZE * (size_t)k, n);
        for (int i = 0; i < 9; i++)
            diagonal[i] += h * h * pin[PL_PIN_SIZE * (size_t)k] * n[i];
    }
    for (int i = 0; i < 9; i += 4)
        diagonal[i] += mass[2 * item] + h * mass[2 * item + 1];
    store9(diagonal, blocks, (size_t)at);
    own[item] = (diagonal[0] + diagonal[4] + diagonal[8]) / 3;
}
PL_END

/* What holds a vertex before there is an E. */
PL_KERNEL(own_masses, PL_ARRAY(double, mass) PL_ARRAY(double, own))
{
    own[item] = mass[2 * item];
}
PL_END

/* Where the step begins to look: q0 + h v0 */
PL_KERNEL(guess, PL_VALUE(double, h) PL_ARRAY(double, q0) PL_ARRAY(double, v0) PL_ARRAY(double, q))
{
    q[item] = q0[item] + h * v0[item];
}
PL_END

#endif
