/*
 * Steps with several solutions. An implicit step looks for a stationary point of
 *
 *     Phi(q) = 1/2 |q - q~|^2_(M + hC) + h^2 (V(q) + what friction dissipates on the way there)
 *
 * q~ = p + h w + h^2 f / m, and of a body that turns far or hits something hard within one step there
 * may be several: a plate can land on either side. The lowest is what a step of small h leads to.
 *
 * Two signs tell that the one found is not. A body has turned against q~ by more than a quarter: with
 * the rotation
 *
 *     R = arg max tr(R^T X),   X = sum_i m_i (q~_i - c~) (q_i - c)^T,   tr R < 1,
 *
 * its inertia would be less if it were turned back by R. Or Phi is less where the substep began, with
 * nothing in the way there. From that place the step is solved once more, and the lower of both
 * solutions is the step.
 */
#include "sim/newton.h"

#include "core/vec.h"
#include "linalg/polar.h"

#define QUARTER 1.0  /* the trace of a quarter turn */
#define APART   1e3  /* tolerances: solutions closer than that are one */
#define MANY    5    /* iterations: below, a step has not gone far astray */
#define LOWER   1e-6 /* of Phi, for less */

static void aim_at(const pl_newton *s, int vertex, double out[3])
{
    double h = s->sub->h, m = s->solver->matter->mass[vertex];
    for (int i = 0, k = 3 * vertex; i < 3; i++, k++)
        out[i] = s->sub->p[k] + h * s->sub->w[k] + h * h * s->solver->external[k] / m;
}

/* R of a body, and the centre c that it turns about. */
static void turned(const pl_newton *s, int first, int last, double centre[3], double r[9])
{
    const double *mass = s->solver->matter->mass, *q = s->solver->iterate;
    double total = 0, x[9] = {0}, aim[3], middle[3] = {0}, arm[3];
    centre[0] = centre[1] = centre[2] = 0;
    for (int i = first; i < last; i++) {
        aim_at(s, i, aim);
        total += mass[i];
        pl_axpy3(mass[i], q + 3 * (size_t)i, centre);
        pl_axpy3(mass[i], aim, middle);
    }
    for (int k = 0; k < 3; k++)
        centre[k] /= total, middle[k] /= total;
    for (int i = first; i < last; i++) {
        aim_at(s, i, aim);
        pl_sub3(aim, middle, aim);
        pl_sub3(q + 3 * (size_t)i, centre, arm);
        for (int k = 0; k < 3; k++)
            pl_axpy3(mass[i] * aim[k], arm, x + 3 * k);
    }
    pl_polar3(x, r);
}

/* The solution with bodies that have turned far turned back; whether there are any. */
static bool turn_back(const pl_newton *s, double *start)
{
    const pl_solver *solver = s->solver;
    bool any = false;
    for (int b = 0; b < solver->scene->body_count; b++) {
        const pl_body *body = &solver->scene->bodies[b];
        int first = body->vertex_offset, last = first + body->mesh->vertex_count;
        double centre[3], r[9], arm[3], back[3];
        turned(s, first, last, centre, r);
        bool far = r[0] + r[4] + r[8] < QUARTER;
        for (int i = 3 * first; i < 3 * last; i += 3) {
            memcpy(start + i, solver->iterate + i, 3 * sizeof(double));
            if (!far)
                continue;
            pl_sub3(start + i, centre, arm);
            pl_mat3_vec(r, arm, back);
            for (int k = 0; k < 3; k++)
                start[i + k] = centre[k] + back[k];
        }
        any |= far;
    }
    return any;
}

double pl_roots_potential(const pl_newton *s)
{
    const pl_contact_space *space = &s->solver->space;
    double dissipated = 0;
    for (int c = 0; c < space->set.touching; c++)
        for (int k = 1; k < 3; k++)
            dissipated -= space->lambda[3 * c + k] * space->delta[3 * c + k];
    return s->energy + s->sub->h * s->sub->h * dissipated;
}

/* Whether the substep could as well have stayed where it began, nothing being in the way there, and
 * Phi is less there. */
static bool start_is_lower(pl_newton *s, double *start)
{
    pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    double potential = pl_roots_potential(s), elastic = solver->meter.info.energy_elastic;
    for (int c = 0; c < set->touching; c++) {
        const pl_contact_point *p = &set->points[c];
        if ((p->round ? p->distance : p->gap) <= 0)
            return false;
    }
    memcpy(start, s->sub->q0, sizeof(double) * 3 * (size_t)solver->n);
    bool lower = pl_newton_evaluate(s, start) && s->potential < potential - LOWER * fabs(potential);
    solver->meter.info.energy_elastic = elastic;
    return lower;
}

bool pl_roots_doubtful(pl_newton *s, int iterations, double *start)
{
    const pl_contact_set *set = &s->solver->space.set;
    if (set->count > set->touching)
        return false; /* Phi would have to count what cables store as well */
    return turn_back(s, start) || (iterations >= MANY && start_is_lower(s, start));
}

bool pl_roots_differ(const pl_newton *s, const double *q)
{
    double most = 0;
    for (int i = 0; i < 3 * s->solver->n; i++)
        most = fmax(most, fabs(s->solver->iterate[i] - q[i]));
    return most > APART * s->solver->matter->values->def.tolerance;
}
