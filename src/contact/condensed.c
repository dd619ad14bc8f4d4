/* Contact systems in the space of the vertices that are touched. */
#include "contact/condensed.h"

#include "core/vec.h"

#include <lapacke.h>
#include <stdlib.h>

#define ALIKE    0.1 /* of a row: what it may differ by from another that does for it */
#define BY_GMRES 0.2 /* of an LU of S: what its systems cost as a rule, not being solved exactly; */
#define CROWDED  0.5 /* vertices a contact: with fewer, GMRES with what single precision has fails */

void pl_condensed_free(pl_context *ctx, pl_condensed *s)
{
    void *arrays[] = {s->touched, s->before, s->place,   s->first, s->size, s->stiffness, s->compliance,
                      s->motion,  s->moved,  s->pressed, s->laws,  s->keys, s->entries};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    pl_block_lu_free(ctx, &s->lu);
    *s = (pl_condensed){0};
}

static pl_status reserve(pl_context *ctx, pl_condensed *s, int vertices, int contacts)
{
    pl_status status = PL_OK;
    if (vertices <= s->capacity && contacts <= s->contacts)
        return PL_OK;
    pl_condensed_free(ctx, s);
    PL_NEW(ctx, s->touched, vertices, fail);
    PL_NEW(ctx, s->before, vertices, fail);
    PL_NEW(ctx, s->place, vertices, fail);
    PL_NEW(ctx, s->first, vertices + 1, fail);
    PL_NEW(ctx, s->size, vertices, fail);
    PL_NEW(ctx, s->motion, 3 * vertices, fail);
    PL_NEW(ctx, s->moved, 3 * vertices, fail);
    PL_NEW(ctx, s->pressed, 9 * (size_t)contacts, fail);
    PL_NEW(ctx, s->laws, contacts, fail);
    PL_NEW(ctx, s->keys, contacts, fail);
    s->capacity = vertices, s->contacts = contacts;
    return PL_OK;
fail:
    pl_condensed_free(ctx, s);
    return status;
}

/* ---- For a W ---- */

static int compare(const void *a, const void *b)
{
    const pl_touched *x = a, *y = b;
    int by = (x->part > y->part) - (x->part < y->part);
    return by != 0 ? by : (x->slot > y->slot) - (x->slot < y->slot);
}

/* The contacts' vertices, part by part, and the groups that they are. */
static void collect(pl_condensed *s, const pl_delassus *d)
{
    s->count = s->groups = 0;
    for (int i = 0; i < d->slot_count; i++)
        s->place[i] = -1;
    for (int c = 0; c < d->built; c++)
        for (int k = d->keys[c].first; k < d->keys[c].first + d->keys[c].count; k++) {
            int slot = d->slot_of[d->entries[k].vertex];
            if (s->place[slot] < 0)
                s->touched[s->count++] = (pl_touched){.part = pl_delassus_part(d, slot), .slot = slot};
            s->place[slot] = 0;
        }
    qsort(s->touched, (size_t)s->count, sizeof *s->touched, compare);
    for (int i = 0; i < s->count; i++) {
        if (i == 0 || s->touched[i].part != s->touched[i - 1].part)
            s->first[s->groups++] = i;
        s->touched[i].group = s->groups - 1;
        s->place[s->touched[i].slot] = i;
    }
    s->first[s->groups] = s->count;
    for (int g = 0; g < s->groups; g++)
        s->size[g] = 3 * (s->first[g + 1] - s->first[g]);
}

/* Where the k-th entry's vertex is in the vectors here. */
static int place_of(const pl_condensed *s, const pl_delassus *d, int k)
{
    return s->place[d->slot_of[d->entries[k].vertex]];
}

static int group_of(const pl_condensed *s, const pl_delassus *d, int k)
{
    return s->touched[place_of(s, d, k)].group;
}

static pl_status plan(pl_context *ctx, pl_condensed *s, const pl_delassus *d)
{
    PL_TRY(pl_block_lu_begin(ctx, &s->lu, s->groups, s->size));
    for (int c = 0; c < d->built; c++)
        for (int k = d->keys[c].first; k < d->keys[c].first + d->keys[c].count; k++)
            pl_block_lu_tie(&s->lu, group_of(s, d, d->keys[c].first), group_of(s, d, k));
    return pl_block_lu_plan(ctx, &s->lu);
}

/* C of the vertices from `first` on and its inverse, [size, size]; `work` is as large. */
static bool invert(pl_condensed *s, const pl_delassus *d, int first, int size, float *c, double *out,
                   double *work)
{
    size_t ld = 3 * (size_t)d->slot_capacity, n = (size_t)size;
    const pl_touched *of = s->touched + first;
    int *pivot = s->lu.pivot;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out[j * n + i] = c[j * n + i] = d->inverse[(3 * (size_t)of[i / 3].slot + i % 3) * ld +
                                                       3 * (size_t)of[j / 3].slot + j % 3];
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, out, size, pivot) == 0 &&
           LAPACKE_dgetri_work(LAPACK_COL_MAJOR, size, out, size, pivot, work, size * size) == 0;
}

static pl_status reserve_inverse(pl_context *ctx, pl_condensed *s, size_t room)
{
    pl_status status = PL_OK;
    if (room <= s->stiffness_capacity)
        return PL_OK;
    pl_free(ctx, s->stiffness);
    pl_free(ctx, s->compliance);
    s->stiffness = NULL, s->compliance = NULL, s->stiffness_capacity = 0;
    PL_NEW(ctx, s->stiffness, room + room / 2, done);
    PL_NEW(ctx, s->compliance, room + room / 2, done);
    s->stiffness_capacity = room + room / 2;
done:
    return status;
}

static pl_status invert_all(pl_context *ctx, pl_condensed *s, const pl_delassus *d)
{
    size_t room = 0, at = 0;
    for (int g = 0; g < s->groups; g++)
        room += (size_t)s->size[g] * (size_t)s->size[g];
    PL_TRY(reserve_inverse(ctx, s, room));
    for (int g = 0; g < s->groups && s->pays; g++) {
        s->pays =
            invert(s, d, s->first[g], s->size[g], s->compliance + at, s->stiffness + at, s->lu.value);
        at += (size_t)s->size[g] * (size_t)s->size[g];
    }
    return PL_OK;
}

/* Whether C^-1 is that of the W before. */
static bool inverted(const pl_condensed *s, const pl_delassus *d)
{
    return s->inverse == d->inverse_version && s->count == s->before_count &&
           memcmp(s->touched, s->before, sizeof *s->before * (size_t)s->count) == 0;
}

/* Whether the same vertices are in the contacts as in those of the LU. */
static bool same_contacts(const pl_condensed *s, const pl_delassus *d)
{
    if (s->built != d->built || s->h2 != d->built_h * d->built_h)
        return false;
    for (int c = 0; c < d->built; c++) {
        const pl_stencil_entry *now = d->entries + d->keys[c].first,
                               *then = s->entries + s->keys[c].first;
        if (d->keys[c].count != s->keys[c].count)
            return false;
        for (int k = 0; k < d->keys[c].count; k++)
            if (now[k].vertex != then[k].vertex)
                return false;
    }
    return true;
}

pl_status pl_condensed_prepare(pl_context *ctx, pl_condensed *s, const pl_delassus *d)
{
    if (s->version == d->version && s->capacity > 0)
        return PL_OK;
    s->pays = false;
    if (d->built <= ctx->limits.condensed_contacts)
        return PL_OK;
    PL_TRY(reserve(ctx, s, d->slot_capacity, d->size_capacity / 3));
    PL_TRY(
        pl_grow(ctx, (void **)&s->entries, &s->entry_capacity, d->entry_capacity, sizeof *s->entries));
    collect(s, d);
    s->version = d->version;
    s->made = s->made && inverted(s, d) && same_contacts(s, d);
    if (s->made) {
        s->pays = true;
        return PL_OK;
    }
    PL_TRY(plan(ctx, s, d));
    double otherwise =
        2.0 / 3 * pow(3.0 * d->built, 3) * (s->count < CROWDED * d->built ? 1 : BY_GMRES);
    s->pays = s->lu.operations < otherwise;
    if (!s->pays || inverted(s, d))
        return PL_OK;
    PL_TRY(invert_all(ctx, s, d));
    s->inverse = d->inverse_version;
    s->before_count = s->pays ? s->count : 0;
    memcpy(s->before, s->touched, sizeof *s->before * (size_t)s->before_count);
    return PL_OK;
}

/* ---- Systems ---- */

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
    int ld, row = place_of(s, d, a), column = place_of(s, d, b), i = s->touched[row].group,
            j = s->touched[column].group;
    double *to = pl_block_lu_block(&s->lu, i, j, &ld);
    to += 3 * (column - s->first[j]) * (ptrdiff_t)ld + 3 * (row - s->first[i]);
    product(spring, d->entries[b].block, right);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            to[y * (ptrdiff_t)ld + x] +=
                h2 * (left[x] * right[y] + left[3 + x] * right[3 + y] + left[6 + x] * right[6 + y]);
}

static void note(pl_condensed *s, const pl_delassus *d, const pl_law_linear *linear)
{
    const pl_delassus_key *last = &d->keys[d->built - 1];
    s->built = d->built;
    s->h2 = d->built_h * d->built_h;
    memcpy(s->laws, linear, sizeof *linear * (size_t)d->built);
    memcpy(s->keys, d->keys, sizeof *s->keys * (size_t)d->built);
    memcpy(s->entries, d->entries, sizeof *s->entries * (size_t)(last->first + last->count));
}

bool pl_condensed_factor(const pl_context *ctx, pl_condensed *s, const pl_delassus *d,
                         const pl_law_linear *linear)
{
    const double *stiffness = s->stiffness;
    s->made = false;
    note(s, d, linear);
    pl_block_lu_clear(&s->lu);
    for (int g = 0; g < s->groups; g++) {
        int ld;
        size_t size = (size_t)s->size[g] * (size_t)s->size[g];
        memcpy(pl_block_lu_block(&s->lu, g, g, &ld), stiffness, sizeof *stiffness * size);
        stiffness += size;
    }
    for (int c = 0; c < d->built; c++) {
        double *inverse = s->pressed + 9 * (size_t)c, spring[9];
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
    return s->made = pl_block_lu_factor(ctx, &s->lu);
}

static bool alike(const double row[3], const double other[3])
{
    double off[3];
    pl_sub3(row, other, off);
    return pl_norm3(off) <= ALIKE * pl_norm3(row);
}

bool pl_condensed_serves(const pl_condensed *s, const pl_law_linear *linear)
{
    for (int c = 0; s->made && c < s->built; c++)
        for (int r = 0; r < 9; r += 3)
            if (!alike(linear[c].d_delta + r, s->laws[c].d_delta + r) ||
                !alike(linear[c].d_lambda + r, s->laws[c].d_lambda + r))
                return false;
    return s->made;
}

double pl_condensed_price(const pl_condensed *s)
{
    /* 15 GFlop/s for the LU in double precision, measured on one core; an iteration reads it, and rows
     * of C in single precision, at 10 GB/s. */
    double read = 8.0 * (double)s->lu.used;
    for (int g = 0; g < s->groups; g++)
        read += 4.0 * s->size[g] * s->size[g];
    return s->lu.operations / 15e9 / (read / 10e9);
}

bool pl_condensed_mirrors(const pl_condensed *s)
{
    return pl_block_lu_mirrors(&s->lu);
}

/* s->motion += H_c^T f */
static void push(pl_condensed *s, const pl_delassus_key *key, const pl_stencil_entry *entries,
                 const int *slot_of, const double force[3])
{
    double at[3];
    for (const pl_stencil_entry *e = entries + key->first; e < entries + key->first + key->count; e++) {
        pl_mat3_tvec(e->block, force, at);
        pl_axpy3(1, at, s->motion + 3 * s->place[slot_of[e->vertex]]);
    }
}

/* out += H_c motion */
static void gather(const pl_condensed *s, const pl_delassus_key *key, const pl_stencil_entry *entries,
                   const int *slot_of, const double *motion, double out[3])
{
    double at[3];
    for (const pl_stencil_entry *e = entries + key->first; e < entries + key->first + key->count; e++) {
        pl_mat3_vec(e->block, motion + 3 * s->place[slot_of[e->vertex]], at);
        pl_axpy3(1, at, out);
    }
}

void pl_condensed_solve(pl_condensed *s, const pl_delassus *d, bool transposed, const double *g,
                        double *x)
{
    memset(s->motion, 0, sizeof *s->motion * 3 * (size_t)s->count);
    for (int c = 0; c < s->built; c++) {
        const double *inverse = s->pressed + 9 * (size_t)c, *of = g + 3 * (size_t)c;
        double force[3], held[3];
        if (transposed) {
            pl_mat3_tvec(inverse, of, held);
            pl_mat3_tvec(s->laws[c].d_delta, held, force);
        } else {
            pl_mat3_vec(inverse, of, force);
        }
        push(s, &s->keys[c], s->entries, d->slot_of, force);
    }
    for (int i = 0; i < 3 * s->count; i++)
        s->motion[i] *= s->h2;
    pl_block_lu_solve(&s->lu, transposed, s->motion);
    for (int c = 0; c < s->built; c++) {
        const double *inverse = s->pressed + 9 * (size_t)c;
        double moved[3] = {0}, pulled[3], left[3];
        gather(s, &s->keys[c], s->entries, d->slot_of, s->motion, moved);
        if (transposed)
            memcpy(pulled, moved, sizeof pulled);
        else
            pl_mat3_vec(s->laws[c].d_delta, moved, pulled);
        pl_sub3(g + 3 * (size_t)c, pulled, left);
        if (transposed)
            pl_mat3_tvec(inverse, left, x + 3 * (size_t)c);
        else
            pl_mat3_vec(inverse, left, x + 3 * (size_t)c);
    }
}

/* ---- Products ---- */

/* to += x column, [size]; or of sizes, x |column|. */
static void add_column(int size, const float *column, double x, bool sizes, double *to)
{
    if (sizes)
        for (int i = 0; i < size; i++)
            to[i] += x * fabsf(column[i]);
    else
        for (int i = 0; i < size; i++)
            to[i] += x * column[i];
}

/* s->moved = by C s->motion, with the rows that W has; or of sizes, by |C| s->motion. */
static void multiply_motion(pl_condensed *s, double by, bool sizes)
{
    const float *column = s->compliance;
    memset(s->moved, 0, sizeof *s->moved * 3 * (size_t)s->count);
    for (int g = 0; g < s->groups; g++)
        for (int j = 3 * s->first[g]; j < 3 * s->first[g + 1]; j++, column += s->size[g])
            add_column(s->size[g], column, by * s->motion[j], sizes, s->moved + 3 * s->first[g]);
}

void pl_condensed_multiply(pl_condensed *s, const pl_delassus *d, const double *x, double *y)
{
    memset(s->motion, 0, sizeof *s->motion * 3 * (size_t)s->count);
    for (int c = 0; c < d->built; c++)
        push(s, &d->keys[c], d->entries, d->slot_of, x + 3 * (size_t)c);
    multiply_motion(s, d->built_h * d->built_h, false);
    for (int c = 0; c < d->built; c++)
        gather(s, &d->keys[c], d->entries, d->slot_of, s->moved, y + 3 * (size_t)c);
}

void pl_condensed_reach(pl_condensed *s, const pl_delassus *d, const double *x, double *y)
{
    double h2 = d->built_h * d->built_h;
    memset(s->motion, 0, sizeof *s->motion * 3 * (size_t)s->count);
    memset(y, 0, sizeof *y * 3 * (size_t)d->built);
    for (int i = 0; i < 3 * d->built; i++)
        for (int k = d->keys[i / 3].first; k < d->keys[i / 3].first + d->keys[i / 3].count; k++)
            for (int j = 0; j < 3; j++)
                s->motion[3 * place_of(s, d, k) + j] +=
                    h2 * fabs(d->entries[k].block[3 * (i % 3) + j] * x[i]);
    multiply_motion(s, 1, true);
    for (int i = 0; i < 3 * d->built; i++)
        for (int k = d->keys[i / 3].first; k < d->keys[i / 3].first + d->keys[i / 3].count; k++)
            for (int j = 0; j < 3; j++)
                y[i] +=
                    fabs(d->entries[k].block[3 * (i % 3) + j]) * s->moved[3 * place_of(s, d, k) + j];
}
