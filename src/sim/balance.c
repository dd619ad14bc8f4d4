/*
 * Whether a substep's solution balances each body as a whole, told by sums that no factor has a part
 * in.
 *
 * Corrections by an old factor, or by the constant matrix, are measured in its own metric, which is too
 * stiff against turning: a body that spins can seem to stand still. But elastic forces are internal:
 * along the rigid motions of a body they vanish whatever its shape, and what the last move leaves of
 * the balance there is
 *
 *     R = sum_i J_i^T (r_i - h^2 (H^T lambda)_i + (m_i + h c_i) move_i),    J_i = [1, -(x_i - c)x]
 *
 * so that (sum J^T m J)^-1 R is how far the body is from where it should be. Bodies that springs hold
 * to something else have stiffness along these motions; they are left out.
 */
#include "sim/newton.h"

#include "core/vec.h"
#include "terms/term.h"

/* left [n, 3] = what the move leaves of the balance at every vertex; held [n, 3] = what springs to
 * something outside have of it. */
static void leftover(const pl_newton *s, double *left, double *held)
{
    const pl_solver *solver = s->solver;
    double h = s->sub->h;
    size_t bytes = sizeof(double) * 3 * (size_t)solver->n;
    memset(held, 0, bytes);
    pl_terms_multiply(s->sub, solver->iterate, solver->move, h * h, held);
    for (int i = 0; i < 3 * solver->n; i++)
        left[i] = solver->residual[i] +
                  (solver->matter->mass[i / 3] + h * solver->matter->damping[i / 3]) * solver->move[i];
    for (int c = 0; c < solver->space.set.count; c++)
        pl_contact_scatter(&solver->space.set, c, -h * h, solver->space.lambda + 3 * c, left);
}

/* The motion (shift, turn about `centre`) that would balance vertices [first, last); false for a body
 * that is held. */
static bool rigid_motion(const pl_solver *solver, int first, int last, const double *left,
                         const double *held, double centre[3], double shift[3], double turn[3])
{
    const double *mass = solver->matter->mass, *q = solver->iterate;
    double total = 0, inertia[9] = {0}, inverse[9], force[3] = {0}, torque[3] = {0};
    memset(centre, 0, 3 * sizeof *centre);
    for (int i = first; i < last; i++) {
        if (held[3 * i] != 0 || held[3 * i + 1] != 0 || held[3 * i + 2] != 0)
            return false;
        total += mass[i];
        pl_axpy3(mass[i], q + 3 * (size_t)i, centre);
        pl_axpy3(1, left + 3 * (size_t)i, force);
    }
    for (int k = 0; k < 3; k++)
        centre[k] /= total;
    for (int i = first; i < last; i++) {
        double arm[3], moment[3];
        pl_sub3(q + 3 * (size_t)i, centre, arm);
        pl_cross3(arm, left + 3 * (size_t)i, moment);
        pl_axpy3(1, moment, torque);
        for (int a = 0; a < 9; a++)
            inertia[a] += mass[i] * ((a % 4 == 0 ? pl_dot3(arm, arm) : 0) - arm[a / 3] * arm[a % 3]);
    }
    pl_inverse3(inertia, inverse);
    pl_mat3_vec(inverse, torque, turn);
    for (int k = 0; k < 3; k++) {
        shift[k] = -force[k] / total;
        turn[k] = -turn[k];
    }
    return true;
}

double pl_newton_imbalance(const pl_newton *s, double *rigid)
{
    const pl_solver *solver = s->solver;
    double *left = solver->trial, *held = solver->trial_move, most = 0;
    leftover(s, left, held);
    memset(rigid, 0, sizeof(double) * 3 * (size_t)solver->n);
    for (int b = 0; b < solver->scene->body_count; b++) {
        const pl_body *body = &solver->scene->bodies[b];
        int first = body->vertex_offset, last = first + body->mesh->vertex_count;
        double centre[3], shift[3], turn[3], arm[3];
        if (!rigid_motion(solver, first, last, left, held, centre, shift, turn))
            continue;
        for (int i = first; i < last; i++) {
            double *to = rigid + 3 * (size_t)i;
            pl_sub3(solver->iterate + 3 * (size_t)i, centre, arm);
            pl_cross3(turn, arm, to);
            pl_axpy3(1, shift, to);
            most = fmax(most, pl_norm3(to));
        }
    }
    return most;
}
