/* The Delassus matrix from cached columns of E^-1. */
#include "contact/delassus.h"

#include <cblas.h>

#define BLOCK_ROWS    96
#define WORTH_THREADS 450 /* rows of W: from here on threads pay for their start */

pl_status pl_delassus_create(pl_context *ctx, int vertex_count, pl_delassus *out)
{
    *out = (pl_delassus){.vertex_count = vertex_count};
    out->slot_of = pl_alloc(ctx, (size_t)vertex_count, sizeof(int));
    if (!out->slot_of)
        return PL_ERROR_MEMORY;
    for (int v = 0; v < vertex_count; v++)
        out->slot_of[v] = -1;
    return PL_OK;
}

void pl_delassus_free(pl_context *ctx, pl_delassus *d)
{
    pl_free(ctx, d->slot_of);
    pl_free(ctx, d->vertex_of);
    pl_free(ctx, d->inverse);
    pl_free(ctx, d->w);
    pl_free(ctx, d->single);
    pl_free(ctx, d->keys);
    *d = (pl_delassus){0};
}

void pl_delassus_reset(pl_delassus *d)
{
    for (int s = 0; s < d->slot_count; s++)
        d->slot_of[d->vertex_of[s]] = -1;
    d->slot_count = 0;
    d->built = 0;
}

static pl_status grow_slots(pl_context *ctx, pl_delassus *d, int need)
{
    if (need <= d->slot_capacity)
        return PL_OK;
    int old = d->slot_capacity, wanted = need + need / 2 + 8;
    double *bigger = pl_alloc(ctx, 9 * (size_t)wanted * (size_t)wanted, sizeof *bigger);
    if (!bigger)
        return PL_ERROR_MEMORY;
    for (int r = 0; r < 3 * d->slot_count; r++)
        memcpy(bigger + (size_t)r * 3 * (size_t)wanted, d->inverse + (size_t)r * 3 * (size_t)old,
               sizeof(double) * 3 * (size_t)d->slot_count);
    int capacity = old;
    pl_status status = pl_grow(ctx, (void **)&d->vertex_of, &capacity, wanted, sizeof(int));
    if (status != PL_OK) {
        pl_free(ctx, bigger);
        return status;
    }
    pl_free(ctx, d->inverse);
    d->inverse = bigger;
    d->slot_capacity = wanted;
    return PL_OK;
}

/* With no slots yet: those of the vertices that the factor eliminated last, if it did so for contact.
 */
static pl_status take_last(pl_context *ctx, pl_delassus *d, pl_chol *chol)
{
    int count;
    const int *last = pl_chol_last(chol, &count);
    if (d->slot_count > 0 || count == 0)
        return PL_OK;
    PL_TRY(grow_slots(ctx, d, count));
    PL_TRY(pl_chol_inverse_last(chol, d->inverse, 3 * d->slot_capacity));
    for (int s = 0; s < count; s++) {
        d->vertex_of[s] = last[s];
        d->slot_of[last[s]] = s;
    }
    d->slot_count = count;
    return PL_OK;
}

/* Slots for every vertex of the set, and E^-1 between all slots. */
static pl_status ensure_slots(pl_context *ctx, pl_delassus *d, pl_chol *chol, const pl_contact_set *set)
{
    PL_TRY(take_last(ctx, d, chol));
    int before = d->slot_count, fresh = 0;
    for (int c = 0; c < set->count; c++)
        fresh += set->points[c].count;
    PL_TRY(grow_slots(ctx, d, before + fresh));
    for (int c = 0; c < set->count; c++)
        for (int k = 0; k < set->points[c].count; k++) {
            int v = set->points[c].vertex[k];
            if (d->slot_of[v] < 0) {
                d->slot_of[v] = d->slot_count;
                d->vertex_of[d->slot_count++] = v;
            }
        }
    fresh = d->slot_count - before;
    if (fresh == 0)
        return PL_OK;
    int ld = 3 * d->slot_capacity;
    pl_status status = pl_chol_inverse_block(chol, d->slot_count, d->vertex_of, fresh,
                                             d->vertex_of + before, d->inverse + 3 * before, ld);
    if (status != PL_OK) {
        pl_delassus_reset(d);
        return status;
    }
    for (int r = 0; r < 3 * before; r++)
        for (int c = 3 * before; c < 3 * d->slot_count; c++)
            d->inverse[(size_t)c * (size_t)ld + (size_t)r] =
                d->inverse[(size_t)r * (size_t)ld + (size_t)c];
    return PL_OK;
}

/* out = Ra X Rb^T, all 3x3 row-major; X has leading dimension ld. */
static void rotate_block(const double *ra, const double *x, int ld, const double *rb, double s,
                         double out[9])
{
    double t[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t[3 * i + j] = ra[3 * i] * x[j] + ra[3 * i + 1] * x[ld + j] + ra[3 * i + 2] * x[2 * ld + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] += s * (t[3 * i] * rb[3 * j] + t[3 * i + 1] * rb[3 * j + 1] +
                                   t[3 * i + 2] * rb[3 * j + 2]);
}

static pl_status reserve_matrix(pl_context *ctx, pl_delassus *d, int size)
{
    if (size <= d->size_capacity)
        return PL_OK;
    size_t wanted = (size_t)size + (size_t)size / 2;
    double *w = pl_alloc(ctx, wanted * wanted, sizeof *w);
    float *single = pl_alloc(ctx, wanted * wanted, sizeof *single);
    pl_delassus_key *keys = pl_alloc(ctx, wanted / 3 + 1, sizeof *keys);
    bool ok = w && keys && single;
    pl_free(ctx, ok ? d->w : w);
    pl_free(ctx, ok ? d->single : single);
    pl_free(ctx, ok ? d->keys : keys);
    if (!ok)
        return PL_ERROR_MEMORY;
    d->w = w, d->single = single, d->keys = keys;
    d->built = 0;
    d->size_capacity = (int)wanted;
    return PL_OK;
}

/* The rows of contact a. */
static void build_rows(pl_delassus *d, double h, const pl_contact_set *set, int a)
{
    size_t size = 3 * (size_t)set->count;
    int ld = 3 * d->slot_capacity;
    const pl_contact_point *pa = &set->points[a];
    for (int b = 0; b < set->count; b++) {
        const pl_contact_point *pb = &set->points[b];
        double block[9] = {0};
        for (int k = 0; k < pa->count; k++)
            for (int l = 0; l < pb->count; l++) {
                const double *x = d->inverse + (size_t)(3 * d->slot_of[pa->vertex[k]]) * (size_t)ld +
                                  3 * (size_t)d->slot_of[pb->vertex[l]];
                rotate_block(pa->frame, x, ld, pb->frame, h * h * pa->beta[k] * pb->beta[l], block);
            }
        for (int r = 0; r < 3; r++)
            memcpy(d->w + (size_t)(3 * a + r) * size + 3 * (size_t)b, block + 3 * r,
                   3 * sizeof(double));
    }
    double *rows = d->w + 3 * (size_t)a * size;
    for (size_t k = 0; k < 3 * size; k++)
        d->single[3 * (size_t)a * size + k] = (float)rows[k];
}

/* Notes the set's keys; whether W is already that of this set: so it is while contacts of planes stay.
 */
static bool same_keys(pl_delassus *d, double h, const pl_contact_set *set)
{
    bool same = d->built == set->count && d->built_h == h;
    for (int c = 0; c < set->count; c++) {
        const pl_contact_point *p = &set->points[c];
        pl_delassus_key key;
        memset(&key, 0, sizeof key); /* padding too: keys are compared as bytes */
        key.count = p->count;
        memcpy(key.vertex, p->vertex, sizeof key.vertex);
        memcpy(key.beta, p->beta, sizeof key.beta);
        memcpy(key.frame, p->frame, sizeof key.frame);
        same = same && memcmp(&key, &d->keys[c], sizeof key) == 0;
        memcpy(&d->keys[c], &key, sizeof key);
    }
    d->built = set->count;
    d->built_h = h;
    return same;
}

pl_status pl_delassus_build(pl_context *ctx, pl_delassus *d, pl_chol *chol, double h,
                            const pl_contact_set *set)
{
    PL_TRY(ensure_slots(ctx, d, chol, set));
    PL_TRY(reserve_matrix(ctx, d, 3 * set->count));
    if (same_keys(d, h, set))
        return PL_OK;
    d->edition++;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (set->count > 64)
    for (int a = 0; a < set->count; a++)
        build_rows(d, h, set, a);
    return PL_OK;
}

/* Blocks of rows are the same for any number of threads. */
void pl_delassus_multiply(const pl_context *ctx, int m, const double *w, const double *x, double *y)
{
    int size = 3 * m;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (size > WORTH_THREADS)
    for (int first = 0; first < size; first += BLOCK_ROWS) {
        int rows = size - first < BLOCK_ROWS ? size - first : BLOCK_ROWS;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, size, 1, w + (size_t)first * (size_t)size, size,
                    x, 1, 1, y + first, 1);
    }
}

void pl_delassus_multiply_single(const pl_context *ctx, int m, const float *w, const float *x, float *y)
{
    int size = 3 * m;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (size > WORTH_THREADS)
    for (int first = 0; first < size; first += BLOCK_ROWS) {
        int rows = size - first < BLOCK_ROWS ? size - first : BLOCK_ROWS;
        cblas_sgemv(CblasRowMajor, CblasNoTrans, rows, size, 1, w + (size_t)first * (size_t)size, size,
                    x, 1, 0, y + first, 1);
    }
}
