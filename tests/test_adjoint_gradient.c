/*
 * Gradients of rollouts against central differences, along the gradient and along random directions,
 * and against the tangent sweep: materials, readings, tets and cloth, collider shapes, in free motion,
 * sticking, slipping and through impacts; each of these with some of the others
 * (test_adjoint_product.c: with all).
 */
#include "adjoint_matrix.h"

/* Every material and element kind slipping on a floor, all parameters. */
static void test_materials(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int model = 0; model < 3; model++)
        for (int reading = 0; reading < 2; reading++)
            for (int cloth = 0; cloth < 2; cloth++)
                matrix_check(ctx, (pl_material)model, (pl_reading)reading, cloth, PL_HALF_SPACE, SLIP,
                             ~0u);
    pl_context_destroy(ctx);
}

/* Each regime, all parameters, for a solid and a sheet. */
static void test_regimes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    for (int r = FREE; r <= IMPACT; r++)
        for (int cloth = 0; cloth < 2; cloth++)
            for (int reading = 0; reading < 2; reading++)
                matrix_check(ctx, PL_NEO_HOOKEAN, (pl_reading)reading, cloth, PL_HALF_SPACE, (regime)r,
                             ~0u);
    pl_context_destroy(ctx);
}

/* Each shape in contact: what its geometry enters. */
static void test_shapes(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    unsigned wanted = PL_BIT(PL_FRICTION) | PL_BIT(PL_COLLIDER_POSE) | PL_BIT(PL_POSITION) |
                      PL_BIT(PL_VELOCITY) | PL_BIT(PL_FORCE) | PL_BIT(PL_YOUNG);
    for (int shape = PL_SPHERE; shape <= PL_MESH; shape++)
        for (int r = STICK; r <= IMPACT; r++) {
            matrix_check(ctx, PL_COROTATED, PL_EXACT, false, (pl_shape)shape, (regime)r, wanted);
            matrix_check(ctx, PL_NEO_HOOKEAN, PL_PROJECTIVE, true, (pl_shape)shape, (regime)r, wanted);
        }
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_regimes),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
