/* GMRES on the device, M^-1 A x = M^-1 b, and the solves by the factor. */
#include "device/system.h"

#define B(a) PL_DEV_B(s->of[PL_A_##a])
#define A(a) PL_DEV_B(s->of[a])
#define I(i) PL_DEV_I(i)
#define D(x) PL_DEV_D(x)

pl_status pl_system_multiply(pl_system *s, pl_system_array x, pl_system_array y)
{
    pl_system_array in = s->transposed ? PL_A_LEFTS : PL_A_FRAMES;
    pl_system_array out = s->transposed ? PL_A_FRAMES : PL_A_LEFTS;
    PL_TRY(PL_LAUNCH(s->device, out_of_frames, s->n, A(in), A(x), B(WORLD)));
    return PL_LAUNCH(s->device, product, s->n, I(s->transposed), B(ROW), B(COL), B(BLOCKS), A(out),
                     B(TERMS), B(WORLD), A(x), A(y), B(STATE));
}

/* y = M^-1 x */
static pl_status precondition(pl_system *s, pl_system_array x, pl_system_array y)
{
    const pl_fronts *f = &s->fronts;
    PL_TRY(PL_LAUNCH(s->device, solve_in, 3 * s->n, B(ORDER), B(SCALE), A(x), B(SOLVE), B(STATE)));
    for (int level = 0; level < f->level_count; level++) {
        int first = f->unknown_from[level], front = f->level_fronts[level];
        if (level > 0)
            PL_TRY(PL_LAUNCH(s->device, solve_gather, f->unknown_from[level + 1] - first, I(first),
                             B(UNKNOWN), B(ABOVE_FROM), B(ABOVE), B(FRONT), B(VALUES), B(SOLVE),
                             B(STATE)));
        PL_TRY(PL_LAUNCH(s->device, solve_down, f->level_fronts[level + 1] - front, I(front), B(FRONT),
                         B(VALUES), B(SOLVE), B(STATE)));
    }
    for (int level = f->level_count - 1; level >= 0; level--) {
        int first = f->unknown_from[level], front = f->level_fronts[level];
        PL_TRY(PL_LAUNCH(s->device, solve_spread, f->unknown_from[level + 1] - first, I(first),
                         B(UNKNOWN), B(UNKNOWN_FRONT), B(FRONT), B(LINE_PLACE), B(VALUES), B(SOLVE),
                         B(STATE)));
        PL_TRY(PL_LAUNCH(s->device, solve_up, f->level_fronts[level + 1] - front, I(front), B(FRONT),
                         B(VALUES), B(SOLVE), B(STATE)));
    }
    return PL_LAUNCH(s->device, solve_out, 3 * s->n, B(ORDER), B(SCALE), B(SOLVE), A(y), B(STATE));
}

/* partial = w . w in pieces */
static pl_status square(pl_system *s, pl_system_array w)
{
    return PL_LAUNCH(s->device, dots, PL_CHUNKS, I(3 * s->n), A(w), A(w), B(PARTIAL), B(STATE));
}

/* A vector of the basis. */
static pl_status set_basis(pl_system *s, int k)
{
    return PL_LAUNCH(s->device, normalise, 3 * s->n, I(k), I(3 * s->n), B(W), B(BASIS), B(STATE));
}

pl_status pl_system_krylov_begin(pl_system *s, double tolerance, pl_system_array rhs)
{
    PL_TRY(PL_LAUNCH(s->device, krylov_begin, 1, D(tolerance), B(STATE)));
    PL_TRY(precondition(s, rhs, PL_A_W));
    PL_TRY(square(s, PL_A_W));
    PL_TRY(PL_LAUNCH(s->device, krylov_start, 1, B(PARTIAL), B(KRYLOV), B(STATE)));
    return set_basis(s, 0);
}

/* w less its part along the basis, `again` to make up for rounding. */
static pl_status orthogonalise(pl_system *s, int k, bool again)
{
    PL_TRY(PL_LAUNCH(s->device, dots, (k + 1) * PL_CHUNKS, I(3 * s->n), B(BASIS), B(W), B(PARTIAL),
                     B(STATE)));
    PL_TRY(PL_LAUNCH(s->device, gather_dots, k + 1, I(k), I(again), B(PARTIAL), B(COEFFICIENT),
                     B(KRYLOV), B(STATE)));
    return PL_LAUNCH(s->device, subtract, 3 * s->n, I(3 * s->n), I(k + 1), B(BASIS), B(COEFFICIENT),
                     B(W), B(STATE));
}

pl_status pl_system_krylov_go_on(pl_system *s, int from, int to)
{
    for (int k = from; k < to; k++) {
        PL_TRY(
            PL_LAUNCH(s->device, basis_vector, 3 * s->n, I(3 * s->n), I(k), B(BASIS), B(X), B(STATE)));
        PL_TRY(pl_system_multiply(s, PL_A_X, PL_A_PART));
        PL_TRY(precondition(s, PL_A_PART, PL_A_W));
        PL_TRY(orthogonalise(s, k, false));
        PL_TRY(orthogonalise(s, k, true));
        PL_TRY(square(s, PL_A_W));
        PL_TRY(PL_LAUNCH(s->device, krylov_turn, 1, I(k), B(PARTIAL), B(KRYLOV), B(STATE)));
        PL_TRY(set_basis(s, k + 1));
    }
    return PL_OK;
}

pl_status pl_system_krylov_end(pl_system *s, bool add, pl_system_array x)
{
    PL_TRY(PL_LAUNCH(s->device, krylov_end, 1, B(KRYLOV), B(STATE)));
    return PL_LAUNCH(s->device, combine, 3 * s->n, I(3 * s->n), I(add), B(BASIS), B(KRYLOV), A(x),
                     B(STATE));
}

pl_status pl_system_norm(pl_system *s, pl_system_array x, int place)
{
    PL_TRY(square(s, x));
    return PL_LAUNCH(s->device, tell_norm, 1, I(place), B(PARTIAL), B(STATE));
}
