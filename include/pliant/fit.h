/*
 * Fitting: from a task file to identified parameters.
 *
 *     task file -> unknowns, loss, optimiser -> iterations -> result, uncertainty, report
 *
 * Conventions as in pliant.h.
 */
#ifndef PLIANT_FIT_H
#define PLIANT_FIT_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------- optimisers */

typedef enum pl_method {
    PL_GRADIENT_DESCENT, /* a fixed rate, as the paper's suite uses */
    PL_ADAM,
    PL_LBFGSB,              /* limited memory, bounds, strong Wolfe line search */
    PL_LEVENBERG_MARQUARDT, /* Gauss-Newton with damping, through the tangent mode */
} pl_method;

typedef struct pl_optimizer_def {
    pl_method method; /* default L-BFGS-B */
    int iterations;   /* at most; default 100 */
    double rate;      /* of gradient descent and Adam; default 0.1 */
    double max_step;  /* longest change of an unknown in one step of gradient descent, 0 = no limit */
    double beta1, beta2;  /* of Adam; default 0.9, 0.999 */
    int pairs;            /* of L-BFGS-B; default 10 */
    double stop_loss;     /* stop at a loss of at most this; default 0 */
    double stop_gradient; /* or a projected gradient of at most this (largest entry); default 0 */
    double stop_decrease; /* or a relative decrease of at most this (the last two methods), 0 = off;
                             default 1e-14 */
} pl_optimizer_def;

PL_API pl_optimizer_def pl_optimizer_def_default(void);

typedef enum pl_stop {
    PL_STOP_NONE,       /* not yet */
    PL_STOP_ITERATIONS, /* as many as were allowed */
    PL_STOP_LOSS,       /* stop_loss reached */
    PL_STOP_GRADIENT,   /* stop_gradient reached */
    PL_STOP_DECREASE,   /* stop_decrease reached */
    PL_STOP_STALLED,    /* no step decreases the loss any more */
} pl_stop;

PL_API const char *pl_stop_text(pl_stop stop); /* a clause such as "the loss reached its goal" */

#ifdef __cplusplus
}
#endif
#endif
