/* Contact systems by the motion of what is touched, against the dense ones. */
#include "common.h"

#include "contact/condensed.h"
#include "core/vec.h"

enum { CONTACTS = 30, VERTICES = 10, WIDE = 3 * VERTICES, SIZE = 3 * CONTACTS };

/* Contacts of up to four of the vertices each, W from a random E^-1. */
typedef struct problem {
    pl_delassus d;
    int slot_of[VERTICES];
    float inverse[WIDE * WIDE];
    double rows[9 * VERTICES], w[SIZE * SIZE];
    pl_delassus_key keys[CONTACTS];
    pl_stencil_entry entries[4 * CONTACTS];
    pl_law_linear linear[CONTACTS];
} problem;

static void make(problem *p, uint64_t seed, double stiffest)
{
    int count = 0;
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j <= i; j++)
            p->inverse[i * WIDE + j] = p->inverse[j * WIDE + i] =
                (float)(0.1 * test_random(&seed) + (i == j ? 2 : 0));
    for (int v = 0; v < VERTICES; v++)
        p->slot_of[v] = (v + 3) % VERTICES;
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
                         .slot_of = p->slot_of,
                         .slot_count = VERTICES,
                         .slot_capacity = VERTICES,
                         .inverse = p->inverse,
                         .rows = p->rows,
                         .w = p->w,
                         .built = CONTACTS,
                         .built_h = 0.5,
                         .size_capacity = SIZE,
                         .keys = p->keys,
                         .entries = p->entries};
}

static void same_as_dense(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_condensed condensed = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double g[SIZE], x[SIZE], left[SIZE] = {0};
        uint64_t random = seed;
        make(&p, seed, 1e3);
        p.d.version = (unsigned)seed;
        for (int i = 0; i < SIZE; i++)
            g[i] = test_random(&random);
        assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
        assert_true(condensed.pays);
        assert_int_equal(condensed.count, VERTICES);
        assert_true(pl_condensed_factor(&condensed, &p.d, p.linear));
        pl_condensed_solve(&condensed, &p.d, p.linear, g, x);
        pl_delassus_multiply(ctx, CONTACTS, pl_delassus_wide(ctx, &p.d), x, left);
        for (int c = 0; c < CONTACTS; c++) { /* S x = g, by W itself */
            double moved[3], force[3];
            pl_mat3_vec(p.linear[c].d_delta, left + 3 * c, moved);
            pl_mat3_vec(p.linear[c].d_lambda, x + 3 * c, force);
            for (int i = 0; i < 3; i++)
                assert_close(moved[i] + force[i], g[3 * c + i], 1e-9);
        }
    }
    pl_condensed_free(ctx, &condensed);
    pl_context_destroy(ctx);
}

/* Where there are as many vertices as contacts nothing is gained; without a D_lambda there is no K. */
static void where_it_is_not_for(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    static problem p;
    pl_condensed condensed = {0};
    make(&p, 3, 1);
    p.d.built = 3;
    assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
    assert_false(condensed.pays);
    p.d.built = CONTACTS, p.d.version++;
    assert_ok(ctx, pl_condensed_prepare(ctx, &condensed, &p.d));
    assert_true(condensed.pays);
    p.linear[5].d_lambda[0] = 0;
    assert_false(pl_condensed_factor(&condensed, &p.d, p.linear));
    pl_condensed_free(ctx, &condensed);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_dense),
        cmocka_unit_test(where_it_is_not_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
