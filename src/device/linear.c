/* The adjoint's system: set up, solved by GMRES that begins again from what it left, read. */
#include "device/linear.h"

#define SHARPER                                                                                        \
    0.1           /* of the tolerance: what GMRES is to leave, in the measure of its preconditioner    \
                   */
#define SLOW   12 /* iterations with an old factor: the next is new */
#define CYCLES 20 /* beginnings of GMRES at most */
#define SPARE  1

#define B(a) PL_DEV_B(s->of[PL_A_##a])
#define I(i) PL_DEV_I(i)
#define D(x) PL_DEV_D(x)

static pl_status begin(pl_system *s, const pl_device_adjoint *a)
{
    size_t n3 = 3 * (size_t)s->n;
    PL_TRY(pl_system_write(s, PL_A_Q, n3, a->q));
    PL_TRY(pl_system_write(s, PL_A_Q0, n3, a->q0));
    PL_TRY(pl_system_write(s, PL_A_MOVE, n3, a->g));
    PL_TRY(pl_system_write(s, PL_A_SHAPES, PL_SHAPE_SIZE * (size_t)s->colliders, a->shapes));
    if (s->pins > 0)
        PL_TRY(pl_system_write_pins(s, a->pins));
    PL_TRY(pl_system_write(s, PL_A_LAMBDA, 3 * (size_t)s->contacts, a->lambda));
    PL_TRY(pl_device_write(s->device, s->of[PL_A_ACTIVE], 0, sizeof(int) * (size_t)s->contacts,
                           a->active));
    s->transposed = true;
    PL_TRY(pl_system_elements(s, PL_DO_TANGENT));
    PL_TRY(pl_system_assemble(s, a->h));
    PL_TRY(PL_LAUNCH(s->device, solved_touches, s->contacts, I(s->colliders), I(s->bodies), D(a->h),
                     D(a->epsilon2), B(SHAPES), B(FRICTION), B(BODY_OF), B(MASS), B(Q0), B(Q),
                     B(ACTIVE), B(LAMBDA), B(RECORDS)));
    PL_TRY(PL_LAUNCH(s->device, fill, 3 * s->n, D(0), B(RESIDUAL)));
    PL_TRY(pl_system_vertices(s, a->h));
    PL_TRY(PL_LAUNCH(s->device, into_frames, s->n, B(FRAMES), B(MOVE), B(RHS)));
    PL_TRY(PL_LAUNCH(s->device, fill, 3 * s->n, D(0), B(X2)));
    return pl_system_copy(s, PL_A_RHS, PL_A_RESIDUAL, 3 * s->n);
}

/* A factor of E at this solution; of the clamped tangent where it has none, which E is not. */
static pl_status renew(pl_system *s, pl_device_memory *memory, const pl_device_adjoint *a, bool clamp)
{
    if (clamp) {
        PL_TRY(pl_system_elements(s, PL_DO_TANGENT | PL_DO_CLAMP));
        PL_TRY(pl_system_assemble(s, a->h));
    }
    PL_TRY(PL_LAUNCH(s->device, set_state, 1, I(PL_STATE_PIVOT), D(0), B(STATE)));
    PL_TRY(pl_system_factor(s));
    if (clamp) {
        PL_TRY(pl_system_elements(s, PL_DO_TANGENT));
        PL_TRY(pl_system_assemble(s, a->h));
    }
    *memory = (pl_device_memory){.factored = true, .h = a->h, .usual = 3};
    return PL_OK;
}

/* x += what GMRES finds for what is left, and what is left then, with its true norm. */
static pl_status cycle(pl_system *s, pl_device_memory *memory, double tolerance, int *iterations)
{
    int from = 0, to = pl_smaller(memory->usual + SPARE, PL_RESTART);
    PL_TRY(pl_system_krylov_begin(s, tolerance, PL_A_RESIDUAL));
    for (;; from = to, to = pl_smaller(to + 2, PL_RESTART)) {
        PL_TRY(pl_system_krylov_go_on(s, from, to));
        PL_TRY(pl_system_look(s));
        if (s->state[PL_STATE_DONE] != 0 || to == PL_RESTART)
            break;
    }
    memory->usual = (int)s->state[PL_STATE_ITERATIONS];
    *iterations += memory->usual;
    PL_TRY(pl_system_krylov_end(s, true, PL_A_X2));
    PL_TRY(PL_LAUNCH(s->device, set_state, 1, I(PL_STATE_DONE), D(0), B(STATE)));
    PL_TRY(pl_system_multiply(s, PL_A_X2, PL_A_PART));
    PL_TRY(PL_LAUNCH(s->device, add_scaled, 3 * s->n, D(-1), B(PART), B(RHS), B(RESIDUAL)));
    PL_TRY(pl_system_norm(s, PL_A_RESIDUAL, PL_STATE_LEFT));
    PL_TRY(pl_system_norm(s, PL_A_RHS, PL_STATE_RIGHT));
    return pl_system_look(s);
}

static pl_status solve(pl_system *s, pl_device_memory *memory, const pl_device_adjoint *a,
                       pl_device_answer *out)
{
    double first = 0;
    bool fresh = a->contacts || !memory->factored || memory->h != a->h || memory->usual > SLOW;
    if (fresh) {
        out->factorizations++;
        PL_TRY(renew(s, memory, a, false));
    }
    out->residual = INFINITY;
    for (int k = 0; k < CYCLES && out->iterations < a->max_iterations && !out->converged; k++) {
        PL_TRY(cycle(s, memory, SHARPER * a->tolerance, &out->iterations));
        if (k == 0 && fresh && s->state[PL_STATE_PIVOT] != 0) {
            out->factorizations++;
            PL_TRY(renew(s, memory, a, true));
        }
        double right = s->state[PL_STATE_RIGHT];
        first = k == 0 ? s->state[PL_STATE_NORM] : first;
        out->residual = right > 0 ? s->state[PL_STATE_LEFT] / right : 0;
        /* GMRES measures in motions: relative to all of them, what it left is the answer's error. */
        out->error = first > 0 ? s->state[PL_STATE_RESIDUAL] * s->state[PL_STATE_NORM] / first : 0;
        out->converged = out->residual <= a->tolerance && out->error <= a->tolerance;
        if (!out->converged && !fresh) {
            fresh = true;
            out->factorizations++;
            PL_TRY(renew(s, memory, a, false));
        }
    }
    return PL_OK;
}

pl_status pl_device_solve_adjoint(pl_system *s, pl_device_memory *memory, const pl_device_adjoint *a,
                                  double *z, double *y, pl_device_answer *out)
{
    *out = (pl_device_answer){0};
    PL_TRY(begin(s, a));
    PL_TRY(solve(s, memory, a, out));
    PL_TRY(PL_LAUNCH(s->device, out_of_frames, s->n, B(LEFTS), B(X2), B(WORLD)));
    PL_TRY(PL_LAUNCH(s->device, pulls, s->contacts, I(s->colliders), D(a->h), B(ACTIVE), B(RECORDS),
                     B(LEFTS), B(FRAMES), B(X2), B(DELTA)));
    PL_TRY(pl_system_read(s, PL_A_WORLD, 3 * (size_t)s->n, z));
    return a->contacts ? pl_system_read(s, PL_A_DELTA, 3 * (size_t)s->contacts, y) : PL_OK;
}
