/* A contact system S = D_lambda + D_delta W of contacts that stick and slip, and how well it is solved.
 */
#ifndef TEST_COMMON_CONTACT_SYSTEM_H
#define TEST_COMMON_CONTACT_SYSTEM_H

#include "common_alloc.h"

#include "contact/law.h"

enum { COUNT = 60, SIZE = 3 * COUNT };

typedef struct contact_system {
    pl_law laws[COUNT];
    pl_law_linear linear[COUNT];
    float w[SIZE * SIZE];
} contact_system;

/* W = B B^T + I, and contacts of which every `stick`th sticks while the others slip; slipping ones'
 * equations depend on tangential motion by `leak`. */
static inline void make_contact_system(contact_system *s, int stick, double leak)
{
    static double b[SIZE * SIZE];
    uint64_t seed = 9;
    for (int i = 0; i < SIZE * SIZE; i++)
        b[i] = test_random(&seed) / sqrt(SIZE);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = i == j;
            for (int k = 0; k < SIZE; k++)
                sum += b[i * SIZE + k] * b[j * SIZE + k];
            s->w[i * SIZE + j] = (float)sum;
        }
    for (int c = 0; c < COUNT; c++) {
        pl_law_linear *l = &s->linear[c];
        *l = (pl_law_linear){0};
        s->laws[c] = (pl_law){.mu = 0.3, .epsilon2 = 1e-12, .rho = 1};
        bool slips = c % stick != 0;
        l->d_delta[0] = 1;
        l->d_lambda[0] = 1e-3;
        for (int k = 1; k < 3; k++) {
            l->d_delta[4 * k] = slips ? leak : 1;
            l->d_lambda[4 * k] = slips ? 1 : 1e-3;
            l->d_lambda[3 * k] = slips ? 0.3 * k : 0;
            l->d_delta[3 * k] = slips ? 0 : 0.1;
        }
    }
}

/* The relative residual of y = S^-1 x. */
static inline double contact_system_residual(const contact_system *s, const double *x, const double *y)
{
    double left = 0, all = 0;
    for (int c = 0; c < COUNT; c++)
        for (int r = 0; r < 3; r++) {
            double sum = -x[3 * c + r];
            for (int k = 0; k < 3; k++) {
                double moved = 0;
                for (int j = 0; j < SIZE; j++)
                    moved += (double)s->w[(3 * c + k) * SIZE + j] * y[j];
                sum += s->linear[c].d_delta[3 * r + k] * moved +
                       s->linear[c].d_lambda[3 * r + k] * y[3 * c + k];
            }
            left += sum * sum;
            all += x[3 * c + r] * x[3 * c + r];
        }
    return sqrt(left / all);
}

#endif
