/* Products of a Delassus matrix that a test fills by itself. */
#ifndef TEST_COMMON_CONTACT_PRODUCTS_H
#define TEST_COMMON_CONTACT_PRODUCTS_H

#include "contact/delassus.h"

/* Made anew when next asked for; rho [m] gets what belongs to d->single. */
static inline void contact_products_renew(pl_delassus *d, int m, double *rho)
{
    d->rho = rho;
    d->wide = d->made = true; /* d->w and d->single are there */
    for (int c = 0; c < m; c++) {
        const float *own = d->single + 3 * c * (3 * m + 1);
        rho[c] = (own[0] + own[3 * m + 1] + own[6 * m + 2]) / 3;
    }
    for (int k = 0; k < PL_PRODUCTS; k++) {
        if (!d->products[k].backend)
            d->products[k] = pl_symmetric_create(k == PL_PRODUCT_HALF);
        d->products[k].size = 0;
    }
    d->half_fails = false;
}

static inline void contact_products_free(pl_context *ctx, pl_delassus *d)
{
    for (int k = 0; k < PL_PRODUCTS; k++)
        pl_symmetric_free(ctx, &d->products[k]);
}

#endif
