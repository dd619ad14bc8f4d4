/* A contact system S = D_lambda + D_delta W of contacts that stick and slip, and how well it is solved.
 */
#ifndef TEST_COMMON_CONTACT_SYSTEM_H
#define TEST_COMMON_CONTACT_SYSTEM_H

#include "common_alloc.h"

#include "contact/law.h"

enum { COUNT = 120, SIZE = 3 * COUNT };

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

/* S = D_lambda + D_delta W, an entry of it. */
static inline double contact_system_entry(const contact_system *s, int i, int j)
{
    const pl_law_linear *l = &s->linear[i / 3];
    double sum = i / 3 == j / 3 ? l->d_lambda[3 * (i % 3) + j % 3] : 0;
    for (int k = 0; k < 3; k++)
        sum += l->d_delta[3 * (i % 3) + k] * (double)s->w[(i - i % 3 + k) * SIZE + j];
    return sum;
}

/* The relative residual of y = S^-1 x or S^-T x, of the first m contacts alone. */
static inline double contact_system_residual(const contact_system *s, int m, bool transposed,
                                             const double *x, const double *y)
{
    double left = 0, all = 0;
    for (int i = 0; i < 3 * m; i++) {
        double sum = -x[i];
        for (int j = 0; j < 3 * m; j++)
            sum += y[j] * (transposed ? contact_system_entry(s, j, i) : contact_system_entry(s, i, j));
        left += sum * sum;
        all += x[i] * x[i];
    }
    return sqrt(left / all);
}

#endif
