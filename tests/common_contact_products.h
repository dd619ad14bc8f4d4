/* Products of a Delassus matrix that a test fills by itself. */
#ifndef TEST_COMMON_CONTACT_PRODUCTS_H
#define TEST_COMMON_CONTACT_PRODUCTS_H

#include "contact/delassus.h"

/* Made anew when next asked for. */
static inline void contact_products_renew(pl_delassus *d)
{
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
