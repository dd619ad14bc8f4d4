/* The Delassus matrix from cached columns of E^-1. */
#include "contact/delassus.h"

#include "core/vec.h"
#include "linalg/lower.h"

#include <cblas.h>
#include <lapacke.h>
#include <omp.h>

#define WORTH_INVERTING 0.6  /* of the unknowns' cube: operations that W^-1 would have saved */
#define LEAST_PIVOT     1e-4 /* of W, over its diagonal: single precision has three digits left there */

pl_status pl_delassus_create(pl_context *ctx, int vertex_count, const int *part_of, pl_delassus *out)
{
    *out = (pl_delassus){.vertex_count = vertex_count, .part_of = part_of};
    out->slot_of = pl_alloc(ctx, (size_t)vertex_count, sizeof(int));
    if (!out->slot_of)
        return PL_ERROR_MEMORY;
    for (int v = 0; v < vertex_count; v++)
        out->slot_of[v] = -1;
    for (int k = 0; k < PL_PRODUCTS; k++)
        out->products[k] = pl_symmetric_create(k == PL_PRODUCT_HALF);
    return PL_OK;
}

void pl_delassus_free(pl_context *ctx, pl_delassus *d)
{
    pl_free(ctx, d->slot_of);
    pl_free(ctx, d->vertex_of);
    pl_free(ctx, d->inverse);
    pl_free(ctx, d->rows);
    pl_free(ctx, d->held);
    pl_free(ctx, d->w);
    pl_free(ctx, d->single);
    pl_free(ctx, d->rho);
    pl_free(ctx, d->stiffness);
    pl_free(ctx, d->lower);
    pl_free(ctx, d->keys);
    pl_free(ctx, d->entries);
    pl_free(ctx, d->touching);
    for (int k = 0; k < PL_PRODUCTS; k++)
        pl_symmetric_free(ctx, &d->products[k]);
    *d = (pl_delassus){0};
}

void pl_delassus_reset(pl_delassus *d)
{
    for (int s = 0; s < d->slot_count; s++)
        d->slot_of[d->vertex_of[s]] = -1;
    d->slot_count = 0;
    d->inverse_version++;
    d->built = 0;
    d->factor = NULL;
    d->apart = false;
}

bool pl_delassus_run(const pl_delassus *d, int part, int *first, int *last)
{
    for (*first = *last; *first < d->slot_count && pl_delassus_part(d, *first) != part;)
        ++*first;
    for (*last = *first; *last < d->slot_count && pl_delassus_part(d, *last) == part;)
        ++*last;
    return *first < *last;
}

static pl_status grow_slots(pl_context *ctx, pl_delassus *d, int need)
{
    if (need <= d->slot_capacity)
        return PL_OK;
    int old = d->slot_capacity, wanted = need + need / 2 + 8;
    float *bigger = pl_alloc(ctx, 9 * (size_t)wanted * (size_t)wanted, sizeof *bigger);
    if (!bigger)
        return PL_ERROR_MEMORY;
    for (int r = 0; r < 3 * d->slot_count; r++)
        memcpy(bigger + (size_t)r * 3 * (size_t)wanted, d->inverse + (size_t)r * 3 * (size_t)old,
               sizeof *bigger * 3 * (size_t)d->slot_count);
    int capacity = old;
    double *rows = pl_alloc(ctx, 9 * (size_t)ctx->threads * (size_t)wanted, sizeof *rows);
    double *held = pl_alloc(ctx, 3 * (size_t)wanted, sizeof *held);
    pl_status status = rows && held
                           ? pl_grow(ctx, (void **)&d->vertex_of, &capacity, wanted, sizeof(int))
                           : PL_ERROR_MEMORY;
    if (status != PL_OK) {
        pl_free(ctx, bigger);
        pl_free(ctx, rows);
        pl_free(ctx, held);
        return status;
    }
    pl_free(ctx, d->inverse);
    pl_free(ctx, d->rows);
    pl_free(ctx, d->held);
    d->inverse = bigger;
    d->rows = rows;
    d->held = held;
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
    for (int k = 0; k < set->entry_count; k++)
        fresh += d->slot_of[set->entries[k].vertex] < 0; /* or more, if shared */
    PL_TRY(grow_slots(ctx, d, before + fresh));
    for (int k = 0; k < set->entry_count; k++) {
        int v = set->entries[k].vertex;
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

static pl_status reserve_matrix(pl_context *ctx, pl_delassus *d, int size)
{
    if (size <= d->size_capacity)
        return PL_OK;
    size_t wanted = (size_t)size + (size_t)size / 2;
    double *w = pl_alloc(ctx, wanted * wanted, sizeof *w);
    float *single = pl_alloc(ctx, wanted * wanted, sizeof *single);
    float *stiffness = pl_alloc(ctx, wanted * wanted, sizeof *stiffness);
    float *lower = pl_alloc(ctx, wanted * wanted, sizeof *lower);
    pl_delassus_key *keys = pl_alloc(ctx, wanted / 3 + 1, sizeof *keys);
    int *touching = pl_alloc(ctx, wanted / 3 + 1, sizeof *touching);
    double *rho = pl_alloc(ctx, wanted / 3 + 1, sizeof *rho);
    bool ok = w && single && keys && stiffness && lower && touching && rho;
    pl_free(ctx, ok ? d->w : w);
    pl_free(ctx, ok ? d->single : single);
    pl_free(ctx, ok ? d->stiffness : stiffness);
    pl_free(ctx, ok ? d->lower : lower);
    pl_free(ctx, ok ? d->keys : keys);
    pl_free(ctx, ok ? d->touching : touching);
    pl_free(ctx, ok ? d->rho : rho);
    if (!ok)
        return PL_ERROR_MEMORY;
    d->w = w, d->single = single, d->stiffness = stiffness, d->keys = keys, d->touching = touching;
    d->rho = rho, d->lower = lower;
    d->built = 0;
    d->size_capacity = (int)wanted;
    return PL_OK;
}

/* rows [3, 3 slots] = h^2 H_a E^-1, at all slots. */
static void turn_left(const pl_delassus *d, const pl_delassus_key *a, double *rows)
{
    size_t size = 3 * (size_t)d->slot_count, ld = 3 * (size_t)d->slot_capacity;
    double h2 = d->built_h * d->built_h;
    memset(rows, 0, 3 * size * sizeof *rows);
    for (int k = a->first; k < a->first + a->count; k++) {
        const pl_stencil_entry *e = &d->entries[k];
        int slot = d->slot_of[e->vertex], part = pl_delassus_part(d, slot);
        const float *x = d->inverse + 3 * (size_t)slot * ld;
        for (int first, last = 0; pl_delassus_run(d, part, &first, &last);)
            for (size_t i = 0; i < 3; i++) {
                double f0 = h2 * e->block[3 * i], f1 = h2 * e->block[3 * i + 1],
                       f2 = h2 * e->block[3 * i + 2], *row = rows + i * size;
                bool acts = f0 != 0 || f1 != 0 || f2 != 0; /* of a cable only the first of three does */
                for (size_t j = 3 * (size_t)first; acts && j < 3 * (size_t)last; j++)
                    row[j] += f0 * x[j] + f1 * x[ld + j] + f2 * x[2 * ld + j];
            }
    }
}

/* Three columns of a row of H_a E^-1: times H_b^T. */
static void turn_right(const pl_delassus *d, const double *row, const pl_delassus_key *b, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int k = b->first; k < b->first + b->count; k++) {
        double at[3];
        pl_mat3_vec(d->entries[k].block, row + 3 * (size_t)d->slot_of[d->entries[k].vertex], at);
        pl_axpy3(1, at, out);
    }
}

static double *rows_of_thread(const pl_delassus *d)
{
    return d->rows + 9 * (size_t)omp_get_thread_num() * (size_t)d->slot_capacity;
}

/* The rows of contact a: H_a E^-1, then H_b^T of all others. */
static void build_rows(pl_delassus *d, int a)
{
    size_t size = 3 * (size_t)d->built, slots = 3 * (size_t)d->slot_count;
    double *rows = rows_of_thread(d);
    turn_left(d, &d->keys[a], rows);
    for (size_t i = 0; i < 3; i++) {
        float *single = d->single + (3 * (size_t)a + i) * size;
        for (int b = 0; b < d->built; b++, single += 3) {
            double sum[3];
            turn_right(d, rows + i * slots, &d->keys[b], sum);
            for (int c = 0; c < 3; c++)
                single[c] = (float)sum[c];
        }
    }
}

/* The same in double precision. */
static void build_wide_rows(pl_delassus *d, int a)
{
    size_t size = 3 * (size_t)d->built, slots = 3 * (size_t)d->slot_count;
    double *rows = rows_of_thread(d);
    turn_left(d, &d->keys[a], rows);
    for (size_t i = 0; i < 3; i++)
        for (int b = 0; b < d->built; b++)
            turn_right(d, rows + i * slots, &d->keys[b],
                       d->w + (3 * (size_t)a + i) * size + 3 * (size_t)b);
}

/* A third of the trace of h^2 B_k E^-1 B_l^T, entries k and l of one contact. */
static double mean_between(const pl_delassus *d, const pl_stencil_entry *k, const pl_stencil_entry *l)
{
    size_t ld = 3 * (size_t)d->slot_capacity;
    int row = d->slot_of[k->vertex], column = d->slot_of[l->vertex];
    double sum = 0;
    if (pl_delassus_part(d, row) != pl_delassus_part(d, column))
        return 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const float *x = d->inverse + (3 * (size_t)row + i) * ld + 3 * (size_t)column;
            sum += x[j] * (k->block[i] * l->block[j] + k->block[3 + i] * l->block[3 + j] +
                           k->block[6 + i] * l->block[6 + j]);
        }
    return d->built_h * d->built_h * sum / 3;
}

static void find_rho(pl_delassus *d, int a)
{
    const pl_stencil_entry *of = d->entries + d->keys[a].first;
    d->rho[a] = 0;
    for (int k = 0; k < d->keys[a].count; k++)
        for (int l = 0; l < d->keys[a].count; l++)
            d->rho[a] += mean_between(d, &of[k], &of[l]);
}

typedef enum change { NOTHING, FRAMES, VERTICES } change;

/* What the present W lacks of being this set's; with planes nothing, while contacts stay. Only contacts
 * of a vertex differ by no more than a rotation. */
static change compare(const pl_delassus *d, double h, const pl_contact_set *set)
{
    change found = NOTHING;
    if (d->built != set->count || d->built_h != h)
        return VERTICES;
    for (int c = 0; c < set->count; c++) {
        const pl_stencil_entry *now = pl_contact_entries(set, c), *then = d->entries + d->keys[c].first;
        if (d->keys[c].count != set->points[c].count)
            return VERTICES;
        for (int k = 0; k < d->keys[c].count; k++) {
            bool turned = memcmp(then[k].block, now[k].block, sizeof now->block) != 0;
            if (then[k].vertex != now[k].vertex || (turned && c >= set->single))
                return VERTICES;
            found = turned ? FRAMES : found;
        }
    }
    return found;
}

static void note_keys(pl_delassus *d, double h, const pl_contact_set *set)
{
    d->apart = set->single == set->count;
    for (int c = 0; c < set->count; c++) {
        const pl_contact_point *p = &set->points[c];
        const pl_stencil_entry *now = pl_contact_entries(set, c), *then = d->entries + d->keys[c].first;
        d->apart = d->apart && (c == 0 || p->vertex > set->points[c - 1].vertex);
        for (int i = 0; i < 9 && c < pl_smaller(set->single, d->built); i++)
            d->keys[c].turn[i] = (float)pl_dot3(now->block + i / 3 * 3, then->block + i % 3 * 3);
        d->keys[c].first = p->first;
        d->keys[c].count = p->count;
        d->touching[c] = p->vertex;
    }
    memcpy(d->entries, set->entries, sizeof *d->entries * (size_t)set->entry_count);
    d->built = set->count;
    d->built_h = h;
}

/* P_ab <- by Q_a P_ab Q_b^T for the rows of contact a; each contact's Q is `turn` of its key. */
static void turn_rows(pl_delassus *d, int a, float by)
{
    size_t size = 3 * (size_t)d->built;
    const float *qa = d->keys[a].turn;
    for (int b = 0; b < d->built; b++) {
        float *p = d->stiffness + 3 * (size_t)a * size + 3 * (size_t)b, t[9];
        const float *qb = d->keys[b].turn;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                t[3 * i + j] = by * (qa[3 * i] * p[j] + qa[3 * i + 1] * p[size + (size_t)j] +
                                     qa[3 * i + 2] * p[2 * size + (size_t)j]);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++)
                p[i * size + j] =
                    t[3 * i] * qb[3 * j] + t[3 * i + 1] * qb[3 * j + 1] + t[3 * i + 2] * qb[3 * j + 2];
    }
}

pl_status pl_delassus_build(pl_context *ctx, pl_delassus *d, pl_chol *chol, double h,
                            const pl_contact_set *set)
{
    PL_TRY(ensure_slots(ctx, d, chol, set));
    PL_TRY(reserve_matrix(ctx, d, 3 * set->count));
    PL_TRY(
        pl_grow(ctx, (void **)&d->entries, &d->entry_capacity, set->entry_count, sizeof *d->entries));
    change found = compare(d, h, set);
    if (found == NOTHING)
        return PL_OK;
    if (found == VERTICES) {
        d->stiff = false;
        d->lasts = true;
        d->regret = 0;
    }
    note_keys(d, h, set);
    d->version++;
    d->factor = chol;
    for (int k = 0; k < PL_PRODUCTS; k++)
        d->products[k].size = 0;
    d->half_fails = d->wide = d->made = false;
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (set->count > ctx->limits.thread_contacts)
    for (int a = 0; a < set->count; a++) {
        find_rho(d, a);
        if (d->stiff)
            turn_rows(d, a, 1);
    }
    return PL_OK;
}

const float *pl_delassus_single(const pl_context *ctx, pl_delassus *d)
{
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (d->built > ctx->limits.thread_contacts)
    for (int a = 0; a < (d->made ? 0 : d->built); a++)
        build_rows(d, a);
    d->made = true;
    return d->single;
}

const double *pl_delassus_wide(const pl_context *ctx, pl_delassus *d)
{
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (d->built > ctx->limits.thread_contacts)
    for (int a = 0; a < (d->wide ? 0 : d->built); a++)
        build_wide_rows(d, a);
    d->wide = true;
    return d->w;
}

pl_status pl_delassus_product(pl_context *ctx, pl_delassus *d, int m, pl_product of, pl_symmetric **out)
{
    pl_symmetric *s = *out = &d->products[of];
    if (s->size == 3 * m)
        return PL_OK;
    return pl_symmetric_store(ctx, s, 3 * m,
                              of == PL_PRODUCT_STIFFNESS ? d->stiffness : pl_delassus_single(ctx, d));
}

void pl_delassus_regret(pl_delassus *d, double operations)
{
    d->regret += operations;
}

/* By Cholesky's factor. (Not by LAPACK's spotri: OpenBLAS' for processors that it does not know crashes
 * on odd sizes.) */
static bool invert(pl_context *ctx, pl_delassus *d, size_t n)
{
    int size = (int)n;
    float *p = d->stiffness, *l = d->lower;
    const float *w = pl_delassus_single(ctx, d);
    memcpy(l, w, sizeof(float) * n * n);
    if (LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', size, l, size) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!(l[i * n + i] * l[i * n + i] > LEAST_PIVOT * w[i * n + i]))
            return false;
    pl_lower_invert(ctx->threads, size, l, size, p);
    pl_lower_square(ctx->threads, size, p, size, l, size);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            p[i * n + j] = p[j * n + i] = l[j * n + i];
    return true;
}

/* Where contacts are vertices of their own and no others were eliminated last, W^-1 = H E_c H^T/h^2
 * with E_c the factor's Schur complement. */
static bool told_by_factor(pl_context *ctx, pl_delassus *d, int m)
{
    if (!d->apart || !pl_chol_schur(d->factor, m, d->touching, d->stiffness, 3 * m))
        return false;
    for (int c = 0; c < m; c++)
        for (int i = 0; i < 9; i++)
            d->keys[c].turn[i] = (float)d->entries[d->keys[c].first].block[i];
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (m > ctx->limits.thread_contacts)
    for (int a = 0; a < m; a++)
        turn_rows(d, a, (float)(1 / (d->built_h * d->built_h)));
    return true;
}

bool pl_delassus_invert(pl_context *ctx, pl_delassus *d, int m)
{
    double n = 3 * m;
    if (d->stiff || !d->lasts)
        return d->stiff;
    d->stiff = told_by_factor(ctx, d, m);
    if (d->stiff || d->regret <= WORTH_INVERTING * n * n * n)
        return d->stiff;
    d->stiff = invert(ctx, d, 3 * (size_t)m);
    d->lasts = d->stiff; /* singular: not to be tried again */
    return d->stiff;
}

void pl_delassus_move(pl_delassus *d, const pl_contact_set *set, const double *wanted,
                      const double *push, double *x)
{
    size_t ld = 3 * (size_t)d->slot_capacity;
    if (set->single == set->touching) {
        pl_contacts_hold(set, wanted, x);
        return;
    }
    /* By the rows that W has: the inverse is symmetric only to single precision. */
    for (int r = 0; r < 3 * d->slot_count; r++) {
        const float *row = d->inverse + (size_t)r * ld;
        double sum = x[3 * (size_t)d->vertex_of[r / 3] + (size_t)(r % 3)];
        for (int first, last = 0; pl_delassus_run(d, pl_delassus_part(d, r / 3), &first, &last);)
            for (int i = 3 * first; i < 3 * last; i++)
                sum += row[i] * push[3 * (size_t)d->vertex_of[i / 3] + (size_t)(i % 3)];
        d->held[r] = sum;
    }
    pl_delassus_hold(d, set, wanted, x);
}

void pl_delassus_hold(const pl_delassus *d, const pl_contact_set *set, const double *wanted, double *x)
{
    if (set->single == set->touching) {
        pl_contacts_hold(set, wanted, x);
        return;
    }
    for (int k = 0; k < set->entry_count; k++) {
        int v = set->entries[k].vertex;
        memcpy(x + 3 * (size_t)v, d->held + 3 * (size_t)d->slot_of[v], 3 * sizeof *x);
    }
}

/* Blocks of rows are the same for any number of threads. */
void pl_delassus_multiply(const pl_context *ctx, int m, const double *w, const double *x, double *y)
{
    int size = 3 * m, block = ctx->limits.block_delassus;
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (size > ctx->limits.thread_delassus)
    for (int first = 0; first < size; first += block) {
        int rows = pl_smaller(size - first, block);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, size, 1, w + (size_t)first * (size_t)size, size,
                    x, 1, 1, y + first, 1);
    }
}
