/* Solves in two parts around contacts: those that touch now, whatever the factor was made for. */
#include "common_scene.h"

#include "sim/sim.h"

/*
 * A block on the floor, its factor made for 16 contacts. With all of them and with fewer left, begin
 * and end give what a whole solve does, the answer at the contacts told or not.
 */
static void test_contacts_that_are_left(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_world w = world_new(ctx, world_def(0.01, 0, 0, -9.81));
    world_add(&w, world_body(PL_NEO_HOOKEAN, PL_EXACT, 1e5),
              world_grid(ctx, 4, 4, 7, 0.02, 0, 0, 1e-4));
    world_floor(&w, 0, 0.3);
    world_start(&w);
    for (int k = 0; k < 5; k++)
        world_step(&w);
    pl_solver *solver = &w.sim->solver;
    const pl_contact_set *set = &solver->space.set;
    pl_matrix *matrix = &solver->matrix;
    int last, touched;
    assert_int_equal(set->count, 16);
    assert_ok(ctx, pl_solver_touched(solver, &touched));
    assert_int_equal(touched, 16);
    pl_chol_last(pl_matrix_factor(matrix), &last);
    assert_int_equal(last, 16);
    size_t size = 3 * (size_t)w.n;
    double *b = calloc(size, sizeof *b), *change = calloc(size, sizeof *change);
    double *whole = calloc(size, sizeof *whole), *x = calloc(size, sizeof *x);
    for (int contacts = 16; contacts >= 4; contacts -= 6) {
        uint64_t seed = 9;
        pl_matrix_focus(matrix, contacts, solver->space.touched, true);
        memset(change, 0, size * sizeof *change);
        for (size_t i = 0; i < size; i++)
            whole[i] = b[i] = test_random(&seed);
        for (int c = 0; c < contacts; c++)
            for (int i = 3 * set->points[c].vertex, k = 0; k < 3; k++) {
                change[i + k] = 10 * test_random(&seed);
                whole[i + k] += change[i + k];
            }
        assert_ok(ctx, pl_matrix_correct(matrix, whole, whole));
        double largest = 0;
        for (size_t i = 0; i < size; i++)
            largest = fmax(largest, fabs(whole[i]));
        for (int told = 0; told < 2; told++) {
            assert_ok(ctx, pl_matrix_begin(matrix, b, x));
            for (int c = 0; c < contacts; c++)
                memcpy(x + 3 * set->points[c].vertex, whole + 3 * set->points[c].vertex,
                       3 * sizeof *x);
            assert_ok(ctx, pl_matrix_end(matrix, change, told ? x : NULL, x));
            assert_true(world_distance(3 * w.n, x, whole) <= 3e-6 * largest); /* single precision */
        }
    }
    free(b), free(change), free(whole), free(x);
    world_free(&w);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contacts_that_are_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
