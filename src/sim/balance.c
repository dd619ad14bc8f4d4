/*
 * Whether a substep's solution balances each body as a whole, told by sums that no factor has a part
 * in.
 *
 * Corrections by an old factor, or by the constant matrix, are measured in its own metric, which is too
 * stiff against turning: a body that spins can seem to stand still. But elastic forces are internal:
 * along the rigid motions of a body they vanish whatever its shape, sum x_i x f_i = 0, so that their
 * change with the move has the moment -sum move_i x f_i, and what the move leaves of the balance is
 *
 *     R = sum_i J_i^T (r_i - h^2 (H^T lambda)_i + (m_i + h c_i) move_i) - h^2 (0, move_i x f_i)
 *
 * J_i = [1, -(x_i - c)x]. (sum J^T m J)^-1 R is how far the body is from where it should be; or less
 * where contacts hold it, and a light body that is pressed hard has no more digits. Springs that hold a
 * body to something else add J^T h^2 K J.
 */
#include "sim/newton.h"

#include "core/vec.h"
#include "terms/term.h"

#include <cblas.h>
#include <lapacke.h>

#define GIVE     1e-6 /* of what a contact's force moves it by: what holds is not infinitely stiff */
#define INTERNAL 1e-6 /* of a term's stiffness: what rounding leaves of it along rigid motions */

static double largest(int size, const double *x)
{
    return fabs(x[cblas_idamax(size, x, 1)]);
}

/* held [n, 3] = what the terms have against each body as a whole going somewhere of its own: nothing,
 * if they act between its parts alone. */
static void probe(const pl_newton *s, double *held)
{
    const pl_solver *solver = s->solver;
    for (int b = 0; b < solver->scene->body_count; b++) {
        const pl_body *body = &solver->scene->bodies[b];
        int first = 3 * body->vertex_offset, last = first + 3 * body->mesh->vertex_count;
        const double way[3] = {sin(1 + 7 * b), sin(2 + 7 * b), sin(3 + 7 * b)};
        for (int i = first; i < last; i++)
            solver->guess[i] = way[i % 3];
    }
    pl_terms_multiply(s->sub, solver->iterate, solver->guess, s->sub->h * s->sub->h, held);
}

/* left [n, 3] = what the move leaves of the balance at every vertex; held [n, 3] = where springs to
 * something outside hold a body, 0 elsewhere. */
static void leftover(const pl_newton *s, double *left, double *held)
{
    const pl_solver *solver = s->solver;
    double h = s->sub->h;
    int size = 3 * solver->n;
    memset(held, 0, sizeof(double) * (size_t)size);
    pl_terms_multiply(s->sub, solver->iterate, solver->move, h * h, held);
    for (int i = 0; i < size; i++)
        left[i] = solver->residual[i] + held[i] +
                  (solver->matter->mass[i / 3] + h * solver->matter->damping[i / 3]) * solver->move[i];
    for (int c = 0; c < solver->space.set.count; c++)
        pl_contact_scatter(&solver->space.set, c, -h * h, solver->space.lambda + 3 * c, left);
    double most = largest(size, held), moved = largest(size, solver->move);
    if (most == 0)
        return;
    memset(held, 0, sizeof(double) * (size_t)size);
    probe(s, held);
    for (int i = 0; i < size; i++)
        held[i] = fabs(held[i]) * moved > INTERNAL * most ? held[i] : 0;
}

/* The body [first, last) as one that cannot deform: A [6, 6] y = -R for its motion y, a shift and a
 * turn about its centre. */
typedef struct rigid {
    int first, last;
    double centre[3], a[36], r[6];
} rigid;

/* The motion of the body's point x along each of the six, [3, 6]. */
static void motions_at(const rigid *b, const double *x, double j[18])
{
    double arm[3];
    pl_sub3(x, b->centre, arm);
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2}, turned[3];
        pl_cross3(axis, arm, turned);
        for (int i = 0; i < 3; i++) {
            j[6 * i + k] = axis[i];
            j[6 * i + 3 + k] = turned[i];
        }
    }
}

/* A += scale J^T K J, K [3, 3] */
static void add_stiffness(rigid *b, double scale, const double k[9], const double j[18])
{
    for (int row = 0; row < 6; row++)
        for (int i = 0; i < 3; i++)
            for (int l = 0; l < 3; l++)
                for (int col = 0; col < 6; col++)
                    b->a[6 * row + col] += scale * j[6 * i + row] * k[3 * i + l] * j[6 * l + col];
}

/* What holds the body along contact c: the law as a spring, K = (Dl + GIVE rho Dd)^-1 Dd. */
static void add_contact(const pl_newton *s, rigid *b, int c)
{
    const pl_solver *solver = s->solver;
    const pl_contact_set *set = &solver->space.set;
    const pl_stencil_entry *entry = pl_contact_entries(set, c);
    const pl_law_linear *law = &solver->space.solver.linear[c];
    double g[18] = {0}, sum[9], inverse[9], k[9] = {0};
    for (int e = 0; e < set->points[c].count; e++) {
        double j[18];
        if (entry[e].vertex < b->first || entry[e].vertex >= b->last)
            continue;
        motions_at(b, solver->iterate + 3 * (size_t)entry[e].vertex, j);
        for (int i = 0; i < 3; i++)
            for (int l = 0; l < 3; l++)
                for (int col = 0; col < 6; col++)
                    g[6 * i + col] += entry[e].block[3 * i + l] * j[6 * l + col];
    }
    for (int i = 0; i < 9; i++)
        sum[i] = law->d_lambda[i] + GIVE * solver->space.laws[c].rho * law->d_delta[i];
    pl_inverse3(sum, inverse);
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++)
            pl_axpy3(inverse[3 * i + l], law->d_delta + 3 * l, k + 3 * i);
    add_stiffness(b, s->sub->h * s->sub->h, k, g);
}

/* Whether springs hold the body to something else. */
static bool is_held(const rigid *b, const double *held)
{
    for (int i = 3 * b->first; i < 3 * b->last; i++)
        if (held[i] != 0)
            return true;
    return false;
}

/* A += J^T h^2 K J of the springs, column by column. */
static void add_springs(const pl_newton *s, rigid *b)
{
    pl_solver *solver = s->solver;
    double *along = solver->guess, *pulled = solver->pulled, h2 = s->sub->h * s->sub->h, j[18];
    size_t bytes = sizeof(double) * 3 * (size_t)solver->n;
    for (int col = 0; col < 6; col++) {
        memset(along, 0, bytes);
        memset(pulled, 0, bytes);
        for (int i = b->first; i < b->last; i++) {
            motions_at(b, solver->iterate + 3 * (size_t)i, j);
            for (int k = 0; k < 3; k++)
                along[3 * i + k] = j[6 * k + col];
        }
        pl_terms_multiply(s->sub, solver->iterate, along, h2, pulled);
        for (int i = b->first; i < b->last; i++) {
            motions_at(b, solver->iterate + 3 * (size_t)i, j);
            for (int row = 0; row < 6; row++)
                for (int k = 0; k < 3; k++)
                    b->a[6 * row + col] += j[6 * k + row] * pulled[3 * i + k];
        }
    }
}

/* The mean of the body's positions by mass, which is also given back. */
static double find_centre(const pl_newton *s, rigid *b)
{
    const double *mass = s->solver->matter->mass, *q = s->solver->iterate;
    double total = 0;
    for (int i = b->first; i < b->last; i++) {
        total += mass[i];
        pl_axpy3(mass[i], q + 3 * (size_t)i, b->centre);
    }
    for (int k = 0; k < 3; k++)
        b->centre[k] /= total;
    return total;
}

/* A by masses, m 1 and sum m (|a|^2 1 - a a^T) of the arms a about the centre, and R. */
static void weigh(const pl_newton *s, const double *left, rigid *b)
{
    const pl_solver *solver = s->solver;
    double total = find_centre(s, b), h2 = s->sub->h * s->sub->h, second[9] = {0};
    for (int i = b->first; i < b->last; i++) {
        const double *at = left + 3 * (size_t)i;
        double arm[3], moment[3];
        pl_sub3(solver->iterate + 3 * (size_t)i, b->centre, arm);
        for (int k = 0; k < 3; k++)
            pl_axpy3(solver->matter->mass[i] * arm[k], arm, second + 3 * k);
        pl_axpy3(1, at, b->r);
        pl_cross3(arm, at, moment);
        pl_axpy3(1, moment, b->r + 3);
        pl_cross3(solver->move + 3 * (size_t)i, solver->gradient + 3 * (size_t)i, moment);
        pl_axpy3(-h2, moment, b->r + 3);
    }
    for (int k = 0; k < 3; k++) {
        b->a[7 * k] = total;
        b->a[21 + 7 * k] = second[0] + second[4] + second[8];
        pl_axpy3(-1, second + 3 * k, b->a + 21 + 6 * k);
    }
}

/* motion [n, 3] = the body's as one, -y; the largest of its vertices. */
static double spread(const pl_newton *s, const rigid *b, double *motion)
{
    double most = 0, length;
    for (int i = b->first; i < b->last; i++) {
        double *to = motion + 3 * (size_t)i, arm[3], turned[3];
        pl_sub3(s->solver->iterate + 3 * (size_t)i, b->centre, arm);
        pl_cross3(b->r + 3, arm, turned);
        for (int k = 0; k < 3; k++)
            to[k] = -b->r[k] - turned[k];
        length = pl_norm3(to);
        most = pl_is_more(length, most) ? length : most;
    }
    return most;
}

double pl_newton_imbalance(const pl_newton *s, bool by_contacts, double *motion)
{
    const pl_solver *solver = s->solver;
    double *left = solver->trial, *held = solver->trial_move, most = 0;
    leftover(s, left, held);
    memset(motion, 0, sizeof(double) * 3 * (size_t)solver->n);
    for (int k = 0; k < solver->scene->body_count; k++) {
        const pl_body *body = &solver->scene->bodies[k];
        rigid b = {.first = body->vertex_offset,
                   .last = body->vertex_offset + body->mesh->vertex_count};
        int pivot[6];
        bool by_springs = is_held(&b, held);
        if (by_springs && solver->matter->method != PL_SOLVER_CONSTANT)
            continue; /* a tangent, however old, knows them */
        weigh(s, left, &b);
        if (by_springs)
            add_springs(s, &b);
        for (int c = 0; by_contacts && c < solver->space.set.count; c++)
            add_contact(s, &b, c);
        if (LAPACKE_dgesv_work(LAPACK_ROW_MAJOR, 6, 1, b.a, 6, pivot, b.r, 1) != 0)
            continue;
        double off = spread(s, &b, motion);
        most = pl_is_more(off, most) ? off : most;
    }
    return most;
}
