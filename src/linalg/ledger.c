#include "linalg/ledger.h"

#include <math.h>

double pl_ledger_fresh(pl_ledger *l, int iterations, double residual)
{
    double digits = -log10(residual);
    if (iterations == 0 || !(digits > 0) || !isfinite(digits))
        return iterations;
    if (l->digits == 0)
        l->digits = digits / iterations;
    return digits / l->digits;
}

void pl_ledger_count(pl_ledger *l, int iterations, double fresh, double cost)
{
    l->last = fmax(iterations - fresh, 0) * cost;
    l->rent += l->last;
    l->uses++;
}

bool pl_ledger_worn(const pl_ledger *l, double price)
{
    return l->last * l->uses > price + l->rent;
}
