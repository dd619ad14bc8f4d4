/* Least shifts beyond planes: planes are met one after the other, over and over, with forces that take
 * back what others made needless (Hildreth). Each pass lowers the dual's distance to its optimum. */
#include "sim/shifts.h"

#include "core/vec.h"

#define PASSES 20000
#define PERIOD 50  /* passes, after which forces are looked at */
#define REACH  1e3 /* times all planes together: shifts that are farther are none */

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

/* One after the other; returns by how much one was missed at most. */
static double pass(const bool *moves, int count, pl_shift_plane *planes, double *x)
{
    double worst = 0;
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
    return worst;
}

/*
 * Whether planes contradict each other: by what forces grew since they were kept in `blame`. As
 * y . least <= sum y n . x for all x that meet them, the length of sum y n times that of x is no less.
 * Forces that grow without end do so along such a y.
 */
static bool contradict(int bodies, const bool *moves, int count, pl_shift_plane *planes, double *sum)
{
    double gain = 0, reach = 0, length = 0;
    memset(sum, 0, sizeof *sum * 3 * (size_t)bodies);
    for (int k = 0; k < count; k++) {
        pl_shift_plane *p = &planes[k];
        p->blame = fmax(p->force - p->blame, 0);
        push(p, moves, p->blame, sum);
        gain += p->blame * p->least;
        reach += fabs(p->least);
    }
    for (int i = 0; i < 3 * bodies; i++)
        length += sum[i] * sum[i];
    return gain > REACH * reach * sqrt(length);
}

static void keep_forces(int count, pl_shift_plane *planes)
{
    for (int k = 0; k < count; k++)
        planes[k].blame = planes[k].force;
}

pl_status pl_shifts_find(pl_context *ctx, int bodies, const bool *moves, int count,
                         pl_shift_plane *planes, double within, double *x, bool *met)
{
    pl_status status = PL_OK;
    double *sum;
    *met = false;
    PL_NEW(ctx, sum, 3 * bodies, done);
    memset(x, 0, sizeof *x * 3 * (size_t)bodies);
    for (int k = 0; k < count; k++)
        push(&planes[k], moves, planes[k].force, x);
    keep_forces(count, planes);
    for (int k = 1; k <= PASSES && !*met; k++) {
        *met = !(pass(moves, count, planes, x) > within);
        if (*met || (k % PERIOD == 0 && contradict(bodies, moves, count, planes, sum)))
            break;
        if (k % PERIOD == 0 && k < PASSES)
            keep_forces(count, planes);
    }
done:
    pl_free(ctx, sum);
    return status;
}
