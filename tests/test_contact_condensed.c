/* Contact systems by the motion of what is touched, against the dense ones. */
#include "common.h"

#include "contact/system.h"
#include "core/vec.h"

enum { CONTACTS = 30, VERTICES = 10, PARTS = 4, WIDE = 3 * VERTICES, SIZE = 3 * CONTACTS };

/* Contacts of up to four of the vertices each, W from a random E^-1. */
typedef struct problem {
    pl_delassus d;
    int slot_of[VERTICES], vertex_of[VERTICES], part_of[VERTICES];
    float inverse[WIDE * WIDE];
    double rows[9 * VERTICES], w[SIZE * SIZE];
    pl_delassus_key keys[CONTACTS];
    pl_stencil_entry entries[4 * CONTACTS];
    pl_law_linear linear[CONTACTS];
} problem;

static void make(problem *p, uint64_t seed, double stiffest, bool parts)
{
    int count = 0;
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j <= i; j++)
            p->inverse[i * WIDE + j] = p->inverse[j * WIDE + i] =
                (float)(0.1 * test_random(&seed) + (i == j ? 2 : 0));
    for (int v = 0; v < VERTICES; v++) {
        p->slot_of[v] = (v + 3) % VERTICES;
        p->vertex_of[p->slot_of[v]] = v;
        p->part_of[v] = parts ? 5 - v % PARTS : 0;
    }
    for (int i = 0; i < WIDE * WIDE; i++) /* between parts nothing is read */
        if (p->part_of[p->vertex_of[i / WIDE / 3]] != p->part_of[p->vertex_of[i % WIDE / 3]])
            p->inverse[i] = NAN;
    for (int c = 0; c < CONTACTS; c++) {
        p->keys[c] = (pl_delassus_key){.first = count, .count = 1 + c % 4};
        for (int k = 0; k < p->keys[c].count; k++, count++) {
            p->entries[count].vertex = (7 * c + 3 * k) % VERTICES;
            for (int i = 0; i < 9; i++)
                p->entries[count].block[i] = test_random(&seed);
        }
        pl_law_linear *l = &p->linear[c];
        for (int i = 0; i < 9; i++) /* those that hold firmly have next to no D_lambda */
            l->d_delta[i] = 0.2 * test_random(&seed) + (i % 4 == 0 ? 1 : 0);
        memset(l->d_lambda, 0, sizeof l->d_lambda);
        double firm = c % 3 == 0 ? stiffest : 1;
        for (int i = 0; i < 3; i++) {
            l->d_lambda[3 * i] = 0.3 * test_random(&seed) / firm;
            l->d_lambda[4 * i] = (1 + 0.5 * test_random(&seed)) / firm;
        }
    }
    p->d = (pl_delassus){.vertex_count = VERTICES,
                         .part_of = p->part_of,
                         .slot_of = p->slot_of,
                         .vertex_of = p->vertex_of,
                         .slot_count = VERTICES,
                         .slot_capacity = VERTICES,
                         .inverse = p->inverse,
                         .rows = p->rows,
                         .w = p->w,
                         .built = CONTACTS,
                         .built_h = 0.5,
                         .size_capacity = SIZE,
                         .keys = p->keys,
                         .entry_capacity = 4 * CONTACTS,
                         .entries = p->entries};
}

/* The largest of S x - g or S^T x - g, by W itself. */
static double left_over(pl_context *ctx, problem *p, bool transposed, const double *x, const double *g)
{
    double moved[SIZE] = {0}, pulled[SIZE], worst = 0;
    for (int c = 0; c < CONTACTS; c++)
        pl_mat3_tvec(p->linear[c].d_delta, x + 3 * c, pulled + 3 * c);
    pl_delassus_multiply(ctx, CONTACTS, pl_delassus_wide(ctx, &p->d), transposed ? pulled : x, moved);
    for (int c = 0; c < CONTACTS; c++) {
        double at[3], force[3];
        pl_mat3_vec(p->linear[c].d_delta, moved + 3 * c, at);
        if (transposed)
            pl_mat3_tvec(p->linear[c].d_lambda, x + 3 * c, force);
        else
            pl_mat3_vec(p->linear[c].d_lambda, x + 3 * c, force);
        for (int i = 0; i < 3; i++)
            worst =
                fmax(worst, fabs((transposed ? moved[3 * c + i] : at[i]) + force[i] - g[3 * c + i]));
    }
    return worst;
}

/* W x is the dense one's, and no row of it is larger than its reach. */
static void check_products(pl_context *ctx, pl_condensed *condensed, problem *p, const double *x)
{
    double dense[SIZE] = {0}, y[SIZE] = {0}, reach[SIZE];
    const double *w = pl_delassus_wide(ctx, &p->d);
    pl_delassus_multiply(ctx, CONTACTS, w, x, dense);
    pl_condensed_multiply(condensed, &p->d, x, y);
    pl_condensed_reach(condensed, &p->d, x, reach);
    for (int i = 0; i < SIZE; i++) {
        double sum = 0;
        for (int j = 0; j < SIZE; j++)
            sum += fabs(w[SIZE * i + j] * x[j]);
        assert_close(y[i], dense[i], 1e-14 * sum);
        assert_true(reach[i] >= (1 - 1e-14) * sum);
    }
}

/* Of one part, and of four that contacts tie. */
static void same_as_dense(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_condensed condensed = {0};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        double g[SIZE], x[SIZE];
        uint64_t random = seed;
        bool parts = seed % 2 == 0;
        make(&p, seed, 1e3, parts);
        p.d.version = p.d.inverse_version = (unsigned)seed;
        for (int i = 0; i < SIZE; i++)
            g[i] = test_random(&random);
        assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
        assert_true(condensed.pays);
        assert_int_equal(condensed.count, VERTICES);
        assert_int_equal(condensed.groups, parts ? PARTS : 1);
        assert_true(pl_condensed_factor(ctx, &condensed, &p.d, p.linear));
        for (int transposed = 0; transposed < 2; transposed++) {
            pl_condensed_solve(&condensed, &p.d, transposed, g, x);
            assert_true(left_over(ctx, &p, transposed, x, g) <= 1e-9);
        }
        check_products(ctx, &condensed, &p, x);
    }
    pl_condensed_free(ctx, &condensed);
    pl_context_destroy(ctx);
}

/* An LU does for laws that are nearly its own, in every row. */
static void serves_what_is_alike(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_condensed condensed = {0};
    make(&p, 3, 1e3, true);
    p.d.version = p.d.inverse_version = 3;
    assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
    assert_false(pl_condensed_serves(&condensed, p.linear)); /* there is none yet */
    assert_true(pl_condensed_factor(ctx, &condensed, &p.d, p.linear));
    assert_true(pl_condensed_serves(&condensed, p.linear));
    for (int c = 0; c < CONTACTS; c += 7)
        for (int row = 0; row < 9; row += 3) {
            const pl_law_linear kept = p.linear[c];
            for (int k = row; k < row + 3; k++)
                p.linear[c].d_lambda[k] *= 1.05, p.linear[c].d_delta[k] *= 0.95;
            assert_true(pl_condensed_serves(&condensed, p.linear));
            for (int k = row; k < row + 3; k++)
                p.linear[c].d_lambda[k] *= 1.1;
            assert_false(pl_condensed_serves(&condensed, p.linear));
            p.linear[c] = kept;
        }
    pl_condensed_free(ctx, &condensed);
    pl_context_destroy(ctx);
}

/* Another W of the same vertices, as a step later. */
static void shift(problem *p, double by)
{
    uint64_t seed = 17;
    for (int c = 0; c < CONTACTS; c++)
        for (int i = 0; i < 9; i++) {
            p->entries[p->keys[c].first].block[i] += by * test_random(&seed);
            p->linear[c].d_delta[i] *= 1 + by * test_random(&seed);
        }
    p->d.version++, p->d.wide = false;
}

/* GMRES with the LU of an earlier W finds what is asked for; with other vertices there is none. */
static void an_old_lu_serves(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_contact_system s = {0};
    pl_coupling on = {.count = CONTACTS, .delassus = &p.d};
    uint64_t random = 5;
    double g[SIZE], x[SIZE], moved[SIZE] = {0}, length = 0;
    bool solved;
    pl_law_linear first[CONTACTS];
    ctx->limits.gmres_contacts = CONTACTS;
    make(&p, 11, 1e3, true);
    for (int i = 0; i < SIZE; i++)
        g[i] = test_random(&random), length += g[i] * g[i];
    memcpy(first, p.linear, sizeof first);
    assert_ok(ctx, pl_contact_system_reserve(ctx, &s, CONTACTS));
    for (int later = 0; later < 2; later++) {
        assert_ok(ctx, pl_contact_system_renew(ctx, &s, &on));
        assert_int_equal(s.condensed.made, later);
        assert_ok(ctx, pl_contact_system_solve(ctx, &s, &on, p.linear, g, 1e-4, x, moved, &solved));
        assert_true(solved);
        assert_true(left_over(ctx, &p, false, x, g) <= (later ? 1e-4 * sqrt(length) : 1e-9));
        assert_memory_equal(s.condensed.laws, first, sizeof first); /* the LU is the first one */
        shift(&p, 1e-4);
    }
    p.entries[p.keys[1].first].vertex = p.entries[p.keys[2].first].vertex;
    assert_ok(ctx, pl_contact_system_renew(ctx, &s, &on));
    assert_false(s.condensed.made);
    pl_contact_system_free(ctx, &s);
    pl_context_destroy(ctx);
}

/* Where there are as many vertices as contacts nothing is gained; without a D_lambda there is no K. */
static void where_it_is_not_for(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_condensed condensed = {0};
    make(&p, 3, 1, false);
    p.d.built = 3;
    assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
    assert_false(condensed.pays);
    p.d.built = CONTACTS, p.d.version++;
    assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
    assert_true(condensed.pays);
    p.linear[5].d_lambda[0] = 0;
    assert_false(pl_condensed_factor(ctx, &condensed, &p.d, p.linear));
    pl_condensed_free(ctx, &condensed);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_dense),
        cmocka_unit_test(serves_what_is_alike),
        cmocka_unit_test(an_old_lu_serves),
        cmocka_unit_test(where_it_is_not_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
