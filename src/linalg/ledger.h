#ifndef PL_LINALG_LEDGER_H
#define PL_LINALG_LEDGER_H

#include <stdbool.h>

/*
 * How long an old factor is worth keeping. What its iterations cost beyond those with a new one is its
 * rent. Per use it costs (price + rents so far)/uses; it is worn when its last rent is above that, for
 * then the mean begins to grow. Rent and price are in the same unit, seconds or iterations.
 */
typedef struct pl_ledger {
    double digits; /* that an iteration brought when the factor was new; 0 = not known */
    double rent;   /* paid since, */
    double last;   /* of it for the last use */
    int uses;
} pl_ledger;

/* Iterations that a new factor would have taken to the residual (relative), by those of its first
 * solve, which this one is where none is known; `iterations` where the residual does not tell. */
double pl_ledger_fresh(pl_ledger *l, int iterations, double residual);

/* Counts iterations of `cost` each, of which a new factor would have taken `fresh`. */
void pl_ledger_count(pl_ledger *l, int iterations, double fresh, double cost);

bool pl_ledger_worn(const pl_ledger *l, double price);

#endif
