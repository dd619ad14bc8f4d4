/* Contact forces by pair: sum over a pair's contacts c and the vertices k of its first body of
 * beta_k (lambda_n n + lambda_f). */
#include "sim/scene.h"

#include "core/vec.h"

#include <stdlib.h>

/* The pair that a contact is of, without forces. */
static pl_pair_force pair_of(const pl_scene *scene, const pl_contact *c)
{
    int first = scene->body_of[c->vertex[0]], last = scene->body_of[c->vertex[c->count - 1]];
    return (pl_pair_force){.body = pl_smaller(first, last),
                           .other = c->collider >= 0 ? -1 : first + last - pl_smaller(first, last),
                           .collider = c->collider};
}

/* With bodies first: -1 as an index is the largest. */
static int by_index(int a, int b)
{
    return ((unsigned)a > (unsigned)b) - ((unsigned)a < (unsigned)b);
}

static int compare(const void *a, const void *b)
{
    const pl_pair_force *x = a, *y = b;
    int by = by_index(x->body, y->body);
    by = by != 0 ? by : by_index(x->other, y->other);
    return by != 0 ? by : by_index(x->collider, y->collider);
}

static void add(const pl_scene *scene, const pl_contact *c, pl_pair_force *pair)
{
    pair->contacts++;
    pair->pressing += c->force_normal;
    for (int k = 0; k < c->count && pair->other != pair->body; k++)
        if (scene->body_of[c->vertex[k]] == pair->body) {
            pl_axpy3(c->weight[k] * c->force_normal, c->normal, pair->normal);
            pl_axpy3(c->weight[k], c->force_tangent, pair->friction);
        }
}

pl_status pl_pair_forces(const pl_scene *scene, int contact_count, const pl_contact *contacts,
                         int *count, pl_pair_force **pairs)
{
    pl_pair_force *found = NULL;
    pl_status status = PL_OK;
    int kept = 0;
    PL_NEW(scene->ctx, found, contact_count, done);
    for (int c = 0; c < contact_count; c++)
        found[c] = pair_of(scene, &contacts[c]);
    if (contact_count > 0)
        qsort(found, (size_t)contact_count, sizeof *found, compare);
    for (int k = 0; k < contact_count; k++)
        if (kept == 0 || compare(&found[kept - 1], &found[k]) != 0)
            found[kept++] = found[k];
    for (int c = 0; c < contact_count; c++) {
        pl_pair_force key = pair_of(scene, &contacts[c]);
        add(scene, &contacts[c], bsearch(&key, found, (size_t)kept, sizeof *found, compare));
    }
    *count = kept;
    *pairs = found;
done:
    return status;
}
