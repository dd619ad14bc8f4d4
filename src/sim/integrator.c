/* The table of integrators. */
#include "sim/integrator.h"

#define ROOT2 1.41421356237309504880
#define G     (2 - ROOT2)
#define K     (1 - 1 / ROOT2)
#define D     ((ROOT2 - 1) / 2)
#define FIRST 0.125 /* of the first step of a motion, by Euler */

static const pl_scheme euler[] = {{1, 1, 1, 1, {1}, {0}}};

static const pl_scheme bdf2[] = {{2, 1, 2.0 / 3, 1, {4.0 / 3, -1.0 / 3}, {0}}};

static const pl_scheme tr_bdf2[] = {
    {1, G, K, 0.5, {1}, {1}},
    {2, 1, K, 1 / ROOT2, {1}, {D, D}},
};

static const pl_scheme tr_bdf2_first[] = {
    {1, FIRST, FIRST, 1, {1}, {0}},
    {1, FIRST + (1 - FIRST) * G, (1 - FIRST) * K, 0.5, {1}, {1}},
    {2, 1, (1 - FIRST) * K, 1 / ROOT2, {1}, {D, D}},
};

typedef struct integrator {
    pl_integrator_info info;
    const pl_scheme *rows;
    const pl_scheme *first; /* of a motion, */
    bool even;              /* and wherever the substep before was of another length */
} integrator;

static const integrator table[] = {
    [PL_EULER] = {{1, false, 1}, euler, euler, false},
    [PL_BDF2] = {{2, false, 1}, bdf2, euler, true},
    [PL_TR_BDF2] = {{2, true, 2}, tr_bdf2, tr_bdf2_first, false},
};

const pl_integrator_info *pl_integrator_get(pl_integrator i)
{
    return &table[i].info;
}

const pl_scheme *pl_schemes_get(pl_integrator i)
{
    return table[i].rows;
}

const pl_scheme *pl_schemes_for(pl_integrator i, double length, double before)
{
    const integrator *t = &table[i];
    return (t->even ? before == length : before > 0) ? t->rows : t->first;
}

void pl_scheme_combine(const pl_scheme *s, double h, int count, const double *const *x,
                       const double *const *dx, double *out)
{
    for (int i = 0; i < count; i++) {
        double sum = s->c[0] * x[0][i];
        for (int j = 1; j < s->states; j++)
            sum += s->c[j] * x[j][i];
        for (int j = 0; j < s->states && s->b[0] != 0; j++)
            sum += h * s->b[j] * dx[j][i];
        out[i] = sum;
    }
}
