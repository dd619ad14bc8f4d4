/* The limits as measured on a few machines, and the least that there are. */
#include "core/core.h"

static const pl_limits usual = {
    .thread_vertices = 2000,
    .thread_laws = 100,
    .thread_contacts = 64,
    .thread_delassus = 450,
    .thread_symmetric = 600,
    .thread_lu = 400,
    .thread_inverse = 200,
    .thread_vectors = 60000,
    .thread_blocks = 50000,
    .thread_elements = 150000,
    .thread_factor = 1500000,
    .thread_front = 4e6,
    .block_vectors = 512,
    .block_delassus = 96,
    .block_lu = 96,
    .pieces_supernode = 300000,
    .half_factor = 3000000,
    .gmres_contacts = 48,
    .condensed_contacts = 16,
    .folded_contacts = 16,
    .folded_dense = 0.5,
    .unordered_vertices = 8,
};

/* Zero, but where something is divided by it or nothing is left to work on. */
static const pl_limits least = {
    .block_vectors = 8,
    .block_delassus = 6,
    .block_lu = 8,
    .gmres_contacts = 1,
};

pl_limits pl_limits_least(void)
{
    return least;
}

pl_limits pl_limits_default(void)
{
    return PLIANT_LIMITS_ZERO ? least : usual;
}
