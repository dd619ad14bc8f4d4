/*
 * The gradient check: is the derivative a sweep returns the derivative of what the simulator does?
 *
 * For each kind of parameter and each of a few directions d (random ones, and one along the gradient)
 * three numbers must agree: <dL/dp, d> from the adjoint sweep, dL along d from the tangent sweep, and
 * central differences of whole rollouts
 *
 *     D(e) = (L(p + e d) - L(p - e d)) / (2 e)
 *
 * over a sweep of steps e. Of the differences the one counts whose neighbour in the sweep is closest to
 * it, chosen without looking at the adjoint. Its own uncertainty is the distance to that neighbour or,
 * where L bends more than a smooth function would (noise, a jump, a kink), what that makes of D(e).
 * Parameters at the edge of their range (damping 0, Poisson's ratio 0) use (-3 L(p) + 4 L(p + e d) -
 * L(p + 2 e d)) / (2 e) with d pointing inwards. Friction that is exactly 0 is another contact law, not
 * a limit of this one: those entries are not moved.
 */
#ifndef PLIANT_CHECK_H
#define PLIANT_CHECK_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_check_def {
    int steps;          /* of the rollout; default 20 */
    pl_inputs inputs;   /* as in pl_rollout_def */
    pl_channels wanted; /* to check; what the scene lacks is left out; default all */
    int directions;   /* random directions for each kind; one along the gradient is added; default 2 */
    double step;      /* the largest e, relative to the parameter's size; default 1e-3. Where the scene
                       * moved by it cannot be simulated, a tenth of it, four times at most */
    int step_count;   /* e is divided by 10 from one to the next, >= 2; default 5 */
    double tolerance; /* relative error that passes; default 1e-5 */
    double sweep_tolerance;  /* relative difference of adjoint and tangent that passes; default 1e-7 */
    double newton_tolerance; /* of every solve of the check, m; 0 = the scene's; default 1e-13 */
    unsigned seed;           /* of the random directions; default 1 */
    pl_adjoint_def adjoint;  /* default as in pl_adjoint_def_default, with a tolerance of 1e-11 */
    pl_loss_fn loss;         /* called for steps in any order, several times each */
    void *loss_user;
    /* Called after each rollout; return false to stop. May be NULL. */
    bool (*progress)(void *user, int done, int total);
    void *progress_user;
} pl_check_def;

/* What the verdict rests on: error <= tolerance passes; a larger error passes as unresolved when it is
 * within three times the differences' own uncertainty; adjoint and tangent must agree in any case, or
 * differ by less than the noise of the loss over the largest e. Noise is its rounding, 2e-16 |L|, or
 * what it changes by where every step is solved to ten times the tolerance. */
typedef enum pl_check_verdict {
    PL_CHECK_PASSED,
    PL_CHECK_UNRESOLVED,
    PL_CHECK_FAILED
} pl_check_verdict;

#define PL_CHECK_STEPS_MAX 12

/* One kind of parameter, one direction. Errors are relative to the largest of the three derivatives and
 * their typical size, sqrt(sum (dL/dp_i d_i)^2); 0 when the sweeps' are so small that the noise of the
 * loss, or 1e-10 |L| if that is less, over the largest e would hide them and the difference is noise.
 */
typedef struct pl_check_row {
    pl_channel channel;
    int values; /* numbers moved */
    bool along_gradient;
    bool one_sided;
    double adjoint, tangent, difference;
    double uncertainty; /* of the difference */
    double error;       /* of the adjoint against the difference, relative */
    double sweep_error; /* of the adjoint against the tangent, relative */
    double step;        /* the e that counts */
    int step_count;
    double steps[PL_CHECK_STEPS_MAX], differences[PL_CHECK_STEPS_MAX]; /* the whole sweep */
    pl_check_verdict verdict;
} pl_check_row;

/* Regimes met by the unperturbed rollout. A contact is active when its force weighs more than its gap,
 * (h^2/m) lambda_n > delta_n; it slips when (h^2/m) (mu lambda_n - |lambda_f|) < |delta_f|. */
typedef struct pl_check_regimes {
    int steps;
    int free_steps;              /* without an active contact */
    int stick_steps, slip_steps; /* with at least one such contact */
    int impact_steps;            /* with a contact that was not active before */
    int stick, slip, impact;     /* contacts, summed over the steps */
    int splits;                  /* steps that were halved: differences may cross a change of splits */
    double largest_force;        /* normal, N */
} pl_check_regimes;

typedef struct pl_check_result {
    double loss;
    pl_check_regimes regimes;
    int row_count;
    pl_check_row *rows; /* [row_count] */
    int failed, unresolved;
    double worst_error; /* of rows that are not unresolved */
    double worst_sweep_error;
    pl_adjoint_info adjoint;
    double milliseconds;
} pl_check_result;

PL_API pl_check_def pl_check_def_default(void);

/* Checks from `state`, which is left as it is, like the scene. A failed comparison is a result, not an
 * error. On failure *out is NULL. */
PL_API pl_status pl_check(pl_sim *sim, const pl_state *state, const pl_check_def *def,
                          pl_check_result **out);
PL_API void pl_check_destroy(pl_context *ctx, pl_check_result *result); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
