/* Least shifts beyond planes: planes are met one after the other, over and over, with forces that take
 * back what others made needless (Hildreth). Each pass lowers the dual's distance to its optimum. */
#include "sim/shifts.h"

#include "core/vec.h"

#define PASSES 20000

/* How far it is from being met. */
static double missing(const pl_shift_plane *p, const double *x)
{
    double by = p->least - pl_dot3(p->normal, x + 3 * p->body);
    return p->other < 0 ? by : by + pl_dot3(p->normal, x + 3 * p->other);
}

static void push(const pl_shift_plane *p, const bool *moves, double force, double *x)
{
    if (moves[p->body])
        pl_axpy3(force, p->normal, x + 3 * p->body);
    if (p->other >= 0 && moves[p->other])
        pl_axpy3(-force, p->normal, x + 3 * p->other);
}

bool pl_shifts_find(int bodies, const bool *moves, int count, pl_shift_plane *planes, double within,
                    double *x)
{
    double worst = 0;
    memset(x, 0, sizeof *x * 3 * (size_t)bodies);
    for (int k = 0; k < count; k++)
        push(&planes[k], moves, planes[k].force, x);
    for (int pass = 0; pass < PASSES; pass++) {
        worst = 0;
        for (int k = 0; k < count; k++) {
            pl_shift_plane *p = &planes[k];
            int sides = moves[p->body] + (p->other >= 0 && moves[p->other]);
            double by = missing(p, x);
            worst = fmax(worst, by);
            if (sides == 0)
                continue;
            by = fmax(by / sides, -p->force);
            p->force += by;
            push(p, moves, by, x);
        }
        if (!(worst > within))
            return true;
    }
    return false;
}
