/* Contact systems in the space of the vertices that are touched. */
#include "contact/condensed.h"

#include "core/vec.h"

#include <lapacke.h>

void pl_condensed_free(pl_context *ctx, pl_condensed *s)
{
    void *arrays[] = {s->slot,  s->place,  s->stiffness, s->matrix,
                      s->pivot, s->motion, s->moved,     s->inverse};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    *s = (pl_condensed){0};
}

static pl_status reserve(pl_context *ctx, pl_condensed *s, int vertices, int contacts)
{
    pl_status status = PL_OK;
    if (vertices <= s->capacity && contacts <= s->contacts)
        return PL_OK;
    pl_condensed_free(ctx, s);
    size_t size = 3 * (size_t)vertices;
    PL_NEW(ctx, s->slot, vertices, fail);
    PL_NEW(ctx, s->place, vertices, fail);
    PL_NEW(ctx, s->stiffness, size * size, fail);
    PL_NEW(ctx, s->matrix, size * size, fail);
    PL_NEW(ctx, s->pivot, size, fail);
    PL_NEW(ctx, s->motion, size, fail);
    PL_NEW(ctx, s->moved, size, fail);
    PL_NEW(ctx, s->inverse, 9 * (size_t)contacts, fail);
    s->capacity = vertices, s->contacts = contacts;
    return PL_OK;
fail:
    pl_condensed_free(ctx, s);
    return status;
}

/* Slots of the contacts' vertices, in the order in which they come. */
static void collect(pl_condensed *s, const pl_delassus *d)
{
    s->count = 0;
    for (int i = 0; i < d->slot_count; i++)
        s->place[i] = -1;
    for (int c = 0; c < d->built; c++)
        for (int k = d->keys[c].first; k < d->keys[c].first + d->keys[c].count; k++) {
            int slot = d->slot_of[d->entries[k].vertex];
            if (s->place[slot] < 0) {
                s->place[slot] = s->count;
                s->slot[s->count++] = slot;
            }
        }
}

pl_status pl_condensed_prepare(pl_context *ctx, pl_condensed *s, const pl_delassus *d)
{
    if (s->version == d->version && s->capacity > 0)
        return PL_OK;
    s->pays = false;
    if (d->built < ctx->limits.condensed_contacts || d->apart)
        return PL_OK;
    PL_TRY(reserve(ctx, s, d->slot_capacity, d->size_capacity / 3));
    collect(s, d);
    s->version = d->version;
    int size = 3 * s->count;
    size_t ld = 3 * (size_t)d->slot_capacity;
    if (s->count >= d->built)
        return PL_OK;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            s->stiffness[(size_t)j * (size_t)size + (size_t)i] =
                d->inverse[(size_t)(3 * s->slot[i / 3] + i % 3) * ld +
                           (size_t)(3 * s->slot[j / 3] + j % 3)];
    /* The room for sums is the inversion's workspace. */
    s->pays = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, s->stiffness, size, s->pivot) == 0 &&
              LAPACKE_dgetri_work(LAPACK_COL_MAJOR, size, s->stiffness, size, s->pivot, s->matrix,
                                  size * size) == 0;
    return PL_OK;
}

/* The block of a contact's k-th vertex in the vectors here. */
static int place_of(const pl_condensed *s, const pl_delassus *d, int k)
{
    return 3 * s->place[d->slot_of[d->entries[k].vertex]];
}

static void product(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] =
            a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

/* h^2 H_a^T K H_b of the entries a and b of one contact. */
static void add_spring(pl_condensed *s, const pl_delassus *d, int a, int b, const double spring[9])
{
    double h2 = d->built_h * d->built_h, right[9];
    const double *left = d->entries[a].block;
    size_t size = 3 * (size_t)s->count, row = (size_t)place_of(s, d, a),
           column = (size_t)place_of(s, d, b);
    product(spring, d->entries[b].block, right);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            s->matrix[(column + j) * size + row + i] +=
                h2 * (left[i] * right[j] + left[3 + i] * right[3 + j] + left[6 + i] * right[6 + j]);
}

bool pl_condensed_factor(pl_condensed *s, const pl_delassus *d, const pl_law_linear *linear)
{
    int size = 3 * s->count;
    memcpy(s->matrix, s->stiffness, sizeof *s->matrix * (size_t)size * (size_t)size);
    for (int c = 0; c < d->built; c++) {
        double *inverse = s->inverse + 9 * (size_t)c, spring[9];
        int first = d->keys[c].first, last = first + d->keys[c].count;
        pl_inverse3(linear[c].d_lambda, inverse);
        product(inverse, linear[c].d_delta, spring);
        for (int i = 0; i < 9; i++)
            if (!isfinite(spring[i]))
                return false;
        for (int a = first; a < last; a++)
            for (int b = first; b < last; b++)
                add_spring(s, d, a, b, spring);
    }
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, s->matrix, size, s->pivot) == 0;
}

/* s->motion += h^2 H_c^T f */
static void push(pl_condensed *s, const pl_delassus *d, int c, const double force[3])
{
    double at[3];
    for (int k = d->keys[c].first; k < d->keys[c].first + d->keys[c].count; k++) {
        pl_mat3_tvec(d->entries[k].block, force, at);
        pl_axpy3(d->built_h * d->built_h, at, s->motion + place_of(s, d, k));
    }
}

/* out += H_c motion */
static void gather(const pl_condensed *s, const pl_delassus *d, int c, const double *motion,
                   double out[3])
{
    double at[3];
    for (int k = d->keys[c].first; k < d->keys[c].first + d->keys[c].count; k++) {
        pl_mat3_vec(d->entries[k].block, motion + place_of(s, d, k), at);
        pl_axpy3(1, at, out);
    }
}

void pl_condensed_solve(pl_condensed *s, const pl_delassus *d, const pl_law_linear *linear,
                        const double *g, double *x)
{
    int size = 3 * s->count;
    memset(s->motion, 0, sizeof *s->motion * (size_t)size);
    for (int c = 0; c < d->built; c++) {
        double force[3];
        pl_mat3_vec(s->inverse + 9 * (size_t)c, g + 3 * (size_t)c, force);
        push(s, d, c, force);
    }
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', size, 1, s->matrix, size, s->pivot, s->motion, size);
    for (int c = 0; c < d->built; c++) {
        double moved[3] = {0}, pulled[3], left[3];
        gather(s, d, c, s->motion, moved);
        pl_mat3_vec(linear[c].d_delta, moved, pulled);
        pl_sub3(g + 3 * (size_t)c, pulled, left);
        pl_mat3_vec(s->inverse + 9 * (size_t)c, left, x + 3 * (size_t)c);
    }
}

void pl_condensed_multiply(pl_condensed *s, const pl_delassus *d, const double *x, double *y)
{
    int size = 3 * s->count;
    size_t ld = 3 * (size_t)d->slot_capacity;
    memset(s->motion, 0, sizeof *s->motion * (size_t)size);
    for (int c = 0; c < d->built; c++)
        push(s, d, c, x + 3 * (size_t)c);
    for (int r = 0; r < size; r++) {
        const float *row = d->inverse + (size_t)(3 * s->slot[r / 3] + r % 3) * ld;
        double sum = 0;
        for (int v = 0; v < s->count; v++) {
            const float *at = row + 3 * (size_t)s->slot[v];
            const double *m = s->motion + 3 * (size_t)v;
            sum += at[0] * m[0] + at[1] * m[1] + at[2] * m[2];
        }
        s->moved[r] = sum;
    }
    for (int c = 0; c < d->built; c++)
        gather(s, d, c, s->moved, y + 3 * (size_t)c);
}
