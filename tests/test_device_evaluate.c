/* Kernels against what they are on the host: stress, tangent, the matrix, and solves with its factor.
 */
#include "device_worlds.h"

enum { MODELS = 6 };

static const struct {
    pl_material model;
    pl_reading reading;
} models[MODELS] = {
    {PL_ARAP, PL_EXACT},        {PL_COROTATED, PL_EXACT},        {PL_COROTATED, PL_PROJECTIVE},
    {PL_NEO_HOOKEAN, PL_EXACT}, {PL_NEO_HOOKEAN, PL_PROJECTIVE}, {PL_ARAP, PL_PROJECTIVE}};

/* A solid and a cloth, pinned here and there, with each coordinate off by up to `strain`. */
static test_world strained(pl_context *ctx, const char *device, int model, double strain, double *q)
{
    test_world w = world_new(ctx, device_def(device, 0.01));
    pl_body_def body = world_body(models[model].model, models[model].reading, 1e5);
    const int held[] = {0, 3};
    body.damping = 0.3;
    int solid = world_add(&w, body, world_grid(ctx, 4, 3, 3, 0.03, 0, 0, 1));
    body.bending = 1e-3;
    world_add(&w, body, world_cloth(ctx, 0.1, 0.1, 0.02, 1, 0, 1));
    world_pin(&w, solid, 2, held, 1e-5);
    world_start(&w);
    uint64_t seed = 7;
    for (int i = 0; i < 3 * w.n; i++)
        q[i] = w.state->q[i] + strain * test_random(&seed);
    return w;
}

static double largest(int size, const double *x)
{
    double most = 0;
    for (int i = 0; i < size; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void compare(int size, const double *a, const double *b, double relative)
{
    double scale = largest(size, b);
    assert_true(scale > 0);
    for (int i = 0; i < size; i++)
        if (!(fabs(a[i] - b[i]) <= relative * scale))
            fail_msg("value %d: %.17g, not %.17g", i, a[i], b[i]);
}

/* The substep at rest in q0, of no length in time but h. */
static pl_substep substep_of(const test_world *w, pl_drive *drive)
{
    assert_ok(w->ctx, pl_drive_create(w->scene, drive));
    assert_ok(w->ctx, pl_drive_resolve(w->scene, 0, NULL, drive));
    return (pl_substep){.scene = w->scene,
                        .pattern = w->sim->model->pattern,
                        .matter = &w->sim->matter,
                        .h = 0.01,
                        .drive = drive};
}

static void load(const test_world *w, const double *q, const pl_drive *drive)
{
    pl_system *s = w->sim->device->system;
    double pins[2 * PL_PIN_SIZE] = {0};
    pl_matter *m = &w->sim->matter;
    for (int k = 0; k < 2; k++) {
        pins[PL_PIN_SIZE * k] = 1e5;
        memcpy(pins + PL_PIN_SIZE * k + 1, drive->of[PL_PIN_TARGET] + 3 * k, 3 * sizeof(double));
    }
    assert_ok(w->ctx, pl_system_use(s, m->elastic, m->mass, m->damping, m->values->of[PL_FRICTION]));
    assert_ok(w->ctx, pl_system_write_pins(s, pins));
    assert_ok(w->ctx, pl_system_write(s, PL_A_Q, 3 * (size_t)w->n, q));
    assert_ok(w->ctx, pl_system_write(s, PL_A_Q0, 3 * (size_t)w->n, q));
    for (int i = 0; i < 3 * w->n; i++)
        s->scratch[i] = 0;
    assert_ok(w->ctx, pl_system_write(s, PL_A_V0, 3 * (size_t)w->n, s->scratch));
    assert_ok(w->ctx, pl_system_write(s, PL_A_EXTERNAL, 3 * (size_t)w->n, s->scratch));
    assert_ok(w->ctx, PL_LAUNCH(s->device, clear, s->contacts, PL_DEV_B(s->of[PL_A_ACTIVE])));
}

/* r and E, also of the clamped tangent. */
static void check_model(const char *device, int model, bool clamp)
{
    pl_context *ctx = test_context(1);
    double q[3 * 200];
    test_world w = strained(ctx, device, model, 1e-3, q);
    pl_system *s = w.sim->device->system;
    pl_drive drive;
    pl_substep sub = substep_of(&w, &drive);
    size_t n3 = 3 * (size_t)w.n, nnz9 = 9 * (size_t)s->nnz;
    double *r = calloc(n3, sizeof *r), *host_r = calloc(n3, sizeof *r), *e = calloc(nnz9, sizeof *e),
           *host_e = calloc(nnz9, sizeof *e), *diagonal = calloc((size_t)w.n, sizeof *e);
    assert_true(r && host_r && e && host_e && diagonal && w.n <= 200);
    load(&w, q, &drive);
    assert_ok(ctx, pl_system_elements(s, PL_DO_TANGENT | (clamp ? PL_DO_CLAMP : 0)));
    assert_ok(ctx, pl_system_residual(s, sub.h));
    assert_ok(ctx, pl_system_assemble(s, sub.h));
    assert_ok(ctx, pl_system_read(s, PL_A_RESIDUAL, n3, r));
    assert_ok(ctx, pl_system_read(s, PL_A_BLOCKS, nnz9, e));
    pl_elastic_evaluate(w.sim->matter.elastic, q, false, 0, NULL, host_r, NULL);
    for (size_t i = 0; i < n3; i++)
        host_r[i] *= sub.h * sub.h;
    pl_terms_energy(&sub, q, sub.h * sub.h, host_r);
    for (int v = 0; v < w.n; v++)
        diagonal[v] = w.sim->matter.mass[v] + sub.h * w.sim->matter.damping[v];
    pl_terms_tangent(&sub, q, clamp, sub.h * sub.h, diagonal, host_e);
    compare((int)n3, r, host_r, 1e-11);
    compare((int)nnz9, e, host_e, 1e-11);
    free(r), free(host_r), free(e), free(host_e), free(diagonal);
    pl_drive_free(ctx, &drive);
    world_free(&w);
    pl_context_destroy(ctx);
}

/* E x = b by GMRES with the factor. */
static void check_solve(const char *device)
{
    pl_context *ctx = test_context(1);
    double q[3 * 200];
    test_world w = strained(ctx, device, 3, 1e-5, q);
    pl_system *s = w.sim->device->system;
    pl_drive drive;
    pl_substep sub = substep_of(&w, &drive);
    int n3 = 3 * w.n;
    double *b = calloc((size_t)n3, sizeof *b), *x = calloc((size_t)n3, sizeof *b),
           *y = calloc((size_t)n3, sizeof *b), *blocks = calloc(9 * (size_t)s->nnz, sizeof *b);
    uint64_t seed = 3;
    assert_true(b && x && y && blocks);
    load(&w, q, &drive);
    assert_ok(ctx, pl_system_elements(s, PL_DO_TANGENT));
    assert_ok(ctx, pl_system_residual(s, sub.h));
    assert_ok(ctx, pl_system_assemble(s, sub.h));
    assert_ok(ctx, pl_system_vertices(s, sub.h));
    assert_ok(ctx, pl_system_factor(s));
    assert_ok(ctx, pl_system_read(s, PL_A_BLOCKS, 9 * (size_t)s->nnz, blocks));
    for (int i = 0; i < n3; i++)
        y[i] = test_random(&seed);
    pl_bsr_multiply(1, w.sim->model->pattern, blocks, y, b);
    assert_ok(ctx, pl_system_write(s, PL_A_RHS, (size_t)n3, b));
    assert_ok(ctx, pl_system_krylov_begin(s, 1e-11, PL_A_RHS));
    assert_ok(ctx, pl_system_krylov_go_on(s, 0, 8));
    assert_ok(ctx, pl_system_krylov_end(s, false, PL_A_X2));
    assert_ok(ctx, pl_system_look(s));
    assert_true(s->state[PL_STATE_PIVOT] == 0 && s->state[PL_STATE_DONE] != 0);
    assert_true(s->state[PL_STATE_ITERATIONS] >= 1 && s->state[PL_STATE_ITERATIONS] <= 5);
    assert_ok(ctx, pl_system_read(s, PL_A_X2, (size_t)n3, x));
    compare(n3, x, y, 1e-5); /* what roundings in single precision leave, until it begins again */
    free(b), free(x), free(y), free(blocks);
    pl_drive_free(ctx, &drive);
    world_free(&w);
    pl_context_destroy(ctx);
}

static void check_all(const char *device)
{
    for (int model = 0; model < MODELS; model++)
        check_model(device, model, model % 2 == 1);
    check_model(device, 3, false);
    check_solve(device);
}

static void test_reference(void **state)
{
    (void)state;
    check_all("reference");
}

static void test_memcheck(void **state)
{
    (void)state;
    check_all("memcheck");
}

static void test_opencl(void **state)
{
    (void)state;
    need_device("opencl");
    check_all("opencl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_memcheck),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
