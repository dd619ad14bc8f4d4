/* The table of integrators. */
#include "sim/integrator.h"

static const pl_scheme table[] = {
    [PL_EULER] = {1, 1, {1}},
    [PL_BDF2] = {2, 2.0 / 3, {4.0 / 3, -1.0 / 3}},
};

const pl_scheme *pl_scheme_get(pl_integrator integrator)
{
    return &table[integrator];
}

const pl_scheme *pl_scheme_for(pl_integrator integrator, double length, double before)
{
    const pl_scheme *s = &table[integrator];
    return s->states == 1 || before == length ? s : &table[PL_EULER];
}

void pl_scheme_combine(const pl_scheme *s, int count, const double *const *x, double *out)
{
    for (int i = 0; i < count; i++) {
        double sum = s->c[0] * x[0][i];
        for (int j = 1; j < s->states; j++)
            sum += s->c[j] * x[j][i];
        out[i] = sum;
    }
}
