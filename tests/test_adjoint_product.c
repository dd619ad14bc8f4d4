/* Gradients by every parameter in the whole matrix: material x reading x element x collider x regime.
 */
#include "adjoint_matrix.h"

static void check_shapes(pl_context *ctx, pl_material model, pl_reading reading, bool cloth)
{
    matrix_check(ctx, model, reading, cloth, PL_HALF_SPACE, FREE, ~0u);
    for (int shape = PL_HALF_SPACE; shape <= PL_MESH; shape++)
        for (int r = STICK; r <= IMPACT; r++)
            matrix_check(ctx, model, reading, cloth, (pl_shape)shape, (regime)r, ~0u);
}

static void test_product(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int model = 0; model < 3; model++)
        for (int reading = 0; reading < 2; reading++)
            for (int cloth = 0; cloth < 2; cloth++)
                check_shapes(ctx, (pl_material)model, (pl_reading)reading, cloth);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_product)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
