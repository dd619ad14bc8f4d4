/* Gradients of fields in an element, for terms that follow from F = sum_a q_a g_a^T. */
#ifndef PL_TERM_GRADIENT_H
#define PL_TERM_GRADIENT_H

#include "core/vec.h"
#include "terms/term.h"

/* An element: its corners, the shape gradients g [corners, 3] and F there. Cloth has two columns, the
 * third is 0. */
typedef struct pl_piece {
    int corners, vertex[4];
    double g[12];
    double volume; /* at rest, m^3 */
    double f[9];
} pl_piece;

/* out [3, 3] = sum_a x_a g_a^T */
static inline void pl_piece_gradient(const pl_piece *p, const double *x, double out[9])
{
    memset(out, 0, 9 * sizeof *out);
    for (int a = 0; a < p->corners; a++)
        for (int i = 0; i < 3; i++)
            pl_axpy3(x[3 * (size_t)p->vertex[a] + (size_t)i], p->g + 3 * a, out + 3 * i);
}

static inline pl_piece pl_piece_of(const pl_substep *s, int element, const double *q)
{
    pl_piece p = {.volume = s->scene->volume[element]};
    p.corners = pl_elastic_shape(s->matter->elastic, element, p.vertex, p.g);
    pl_piece_gradient(&p, q, p.f);
    return p;
}

/* y_a += s M g_a at the corners */
static inline void pl_piece_scatter(const pl_piece *p, double s, const double m[9], double *y)
{
    double force[3];
    for (int a = 0; a < p->corners; a++) {
        pl_mat3_vec(m, p->g + 3 * a, force);
        pl_axpy3(s, force, y + 3 * (size_t)p->vertex[a]);
    }
}

/* A : B */
static inline double pl_contract(const double a[9], const double b[9])
{
    return pl_dot3(a, b) + pl_dot3(a + 3, b + 3) + pl_dot3(a + 6, b + 6);
}

#endif
