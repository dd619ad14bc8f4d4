/* The table of devices: memory, transfers and their counts, kernels by name, and what is refused. */
#include "device_worlds.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000 };

/* What is written comes back, from anywhere; a kernel works on it; all of it is counted. */
static void check_memory(const char *name)
{
    pl_context *ctx = test_context(1);
    pl_device *d = NULL;
    pl_device_buffer *a = NULL, *b = NULL;
    double x[COUNT], y[COUNT];
    assert_ok(ctx, pl_device_create(ctx, name, &d));
    assert_ok(ctx, pl_device_buffer_create(d, COUNT, sizeof *x, &a));
    assert_ok(ctx, pl_device_buffer_create(d, COUNT, sizeof *x, &b));
    for (int i = 0; i < COUNT; i++)
        x[i] = 0.5 * i;
    assert_ok(ctx, pl_device_write(d, a, 0, sizeof x, x));
    assert_ok(ctx, pl_device_write(d, b, 0, sizeof x, x));
    assert_ok(ctx,
              PL_LAUNCH(d, add_scaled, COUNT, PL_DEV_D(-3), PL_DEV_B(a), PL_DEV_B(b), PL_DEV_B(b)));
    assert_ok(ctx, pl_device_finish(d));
    assert_ok(ctx, pl_device_read(d, b, 0, sizeof y, y));
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == -2 * x[i]);
    assert_ok(ctx, pl_device_write(d, b, 8 * 10, 8, x + 7));
    assert_ok(ctx, pl_device_read(d, b, 8 * 9, 8 * 3, y));
    assert_true(y[0] == -2 * x[9] && y[1] == x[7] && y[2] == -2 * x[11]);
    assert_int_equal(d->traffic.writes, 3);
    assert_int_equal(d->traffic.reads, 2);
    assert_int_equal(d->traffic.launches, 1);
    assert_int_equal(d->traffic.bytes_written, 2 * sizeof x + 8);
    assert_int_equal(d->traffic.bytes_read, sizeof x + 24);
    /* Past the end is refused before anything happens. */
    assert_int_equal(pl_device_write(d, b, 8, sizeof x, x), PL_ERROR_ARGUMENT);
    assert_int_equal(pl_device_read(d, b, sizeof x + 1, 0, y), PL_ERROR_ARGUMENT);
    assert_int_equal(d->traffic.writes, 3);
    pl_device_buffer_destroy(d, a);
    pl_device_buffer_destroy(d, b);
    pl_device_destroy(d);
    pl_context_destroy(ctx);
}

static void test_memory_reference(void **state)
{
    (void)state;
    check_memory("reference");
}

static void test_memory_memcheck(void **state)
{
    (void)state;
    check_memory("memcheck");
}

static void test_memory_opencl(void **state)
{
    (void)state;
    need_device("opencl");
    check_memory("opencl");
}

/* How a child ends that touches memory: 0 if nothing stops it. */
static int touch(pl_device *d, pl_device_buffer *b, int kernel_items)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        if (kernel_items > 0)
            PL_LAUNCH(d, fill, kernel_items, PL_DEV_D(1), PL_DEV_B(b));
        else
            ((volatile double *)*(void **)((char *)b->memory + 2 * sizeof(void *)))[0] = 1;
        _exit(0);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended;
}

/* The host cannot get at a device's data, nor a kernel past its end. */
static void test_memcheck(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_device *d = NULL;
    pl_device_buffer *b = NULL;
    double x[4];
    assert_ok(ctx, pl_device_create(ctx, "memcheck", &d));
    assert_ok(ctx, pl_device_buffer_create(d, 4, sizeof *x, &b));
    assert_ok(ctx, pl_device_read(d, b, 0, sizeof x, x));
    for (int i = 0; i < 4; i++)
        assert_true(isnan(x[i])); /* until it is written */
    assert_int_equal(touch(d, b, 4), 0);
    assert_int_not_equal(touch(d, b, 5), 0);
    assert_int_not_equal(touch(d, b, 0), 0);
    pl_device_buffer_destroy(d, b);
    pl_device_destroy(d);
    pl_context_destroy(ctx);
}

static void expect(pl_context *ctx, const char *name, const char *part)
{
    pl_device *d = NULL;
    assert_int_equal(pl_device_create(ctx, name, &d), PL_ERROR_ARGUMENT);
    assert_null(d);
    if (!strstr(pl_context_error(ctx), part))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(ctx), part);
}

static void test_names(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    expect(ctx, "gpu", "expected \"cpu\", \"opencl\"");
    expect(ctx, "referenced", "expected \"cpu\", \"opencl\"");
    expect(ctx, "reference:2", "one \"reference\" only");
    expect(ctx, "memcheck:2", "one \"memcheck\" only");
    expect(ctx, "opencl:no such card", "device opencl: ");
    pl_context_destroy(ctx);
}

typedef struct devices {
    int count, usable, cpu;
} devices;

static void count_device(void *user, const char *name, const char *fault)
{
    devices *d = user;
    assert_true(*name != 0 && (!fault || *fault != 0));
    d->count++;
    d->usable += !fault;
    d->cpu += strcmp(name, "cpu") == 0 && !fault;
}

static void test_list(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    devices d = {0};
    pl_devices(ctx, count_device, &d);
    assert_int_equal(d.cpu, 1);
    assert_true(d.count >= 4 && d.usable >= 3);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_reference),
        cmocka_unit_test(test_memory_memcheck),
        cmocka_unit_test(test_memory_opencl),
        cmocka_unit_test(test_memcheck),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
