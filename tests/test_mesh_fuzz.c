/*
 * Damaged files never crash a reader, and never slip through as a broken mesh: either a message that
 * names the file, or a mesh that passes the check. Run under the sanitizers this also finds reads
 * outside of arrays.
 */
#include "common_alloc.h"
#include "common_mesh.h"

/* Much more than these files need: a count believed blindly would ask for gigabytes. */
#define LARGEST_BLOCK (64u << 20)

static void *limited_realloc(void *user, void *ptr, size_t bytes)
{
    if (bytes > LARGEST_BLOCK)
        fail_msg("an allocation of %zu bytes", bytes);
    return counting_realloc(user, ptr, bytes);
}

static void read_damaged(const char *path, const char *name)
{
    test_allocator allocator = {0};
    pl_context_def def = pl_context_def_default();
    def.threads = 1;
    def.realloc = limited_realloc;
    def.realloc_user = &allocator;
    pl_context *ctx = NULL;
    pl_mesh *mesh = NULL;
    assert_int_equal(pl_context_create(&def, &ctx), PL_OK);
    pl_status status = pl_mesh_read(ctx, path, &mesh);
    if (status == PL_OK) {
        pl_mesh_report r;
        assert_ok(ctx, pl_mesh_check(ctx, mesh, &r));
        if (r.inverted + r.degenerate + r.duplicate + r.unreferenced + r.bad_index + r.non_finite != 0)
            fail_msg("%s: a damaged file gives a broken mesh", name);
        pl_mesh_free(ctx, mesh);
    } else if (!strstr(pl_context_error(ctx), "/mesh.")) {
        fail_msg("%s: a message without the file: %s", name, pl_context_error(ctx));
    }
    pl_context_destroy(ctx);
    if (allocator.live != 0)
        fail_msg("%s: a damaged file leaks %ld blocks", name, allocator.live);
}

static size_t pick(uint64_t *seed, size_t count)
{
    return (size_t)((test_random(seed) + 1) / 2 * (double)count);
}

/* One of: cut off the end, change bytes, put a large number's bytes or digits, drop or repeat a part.
 */
static size_t damage(char *bytes, size_t count, uint64_t *seed)
{
    size_t at = pick(seed, count), length = 1 + pick(seed, 12);
    length = length < count - at ? length : count - at;
    switch (pick(seed, 6)) {
    case 0:
        return at;
    case 1:
        bytes[at] = (char)pick(seed, 256);
        return count;
    case 2:
        bytes[at] ^= (char)(1 << pick(seed, 8));
        return count;
    case 3:
        memset(bytes + at, pick(seed, 2) == 0 ? 0xff : 0x7f, length);
        return count;
    case 4:
        memset(bytes + at, '9', length);
        return count;
    default:
        memmove(bytes + at, bytes + at + length, count - at - length);
        return count - length;
    }
}

static void test_damaged_files(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *solid = test_solid(ctx), *cloth = test_cloth(ctx);
    uint64_t seed = 20;
    for (int f = 0; f < TEST_FORMATS; f++) {
        char path[600];
        size_t count;
        strcpy(path,
               test_format_write(&test_formats[f], &folder, test_formats[f].cloth ? cloth : solid));
        char *good = test_file_read(path, &count), *bad = malloc(count);
        for (int round = 0; round < 150; round++) {
            memcpy(bad, good, count);
            size_t left = damage(bad, count, &seed);
            if (round % 3 == 0 && left > 0)
                left = damage(bad, left, &seed);
            test_file_write(path, bad, left);
            read_damaged(path, test_formats[f].name);
        }
        free(bad);
        free(good);
    }
    pl_mesh_free(ctx, cloth);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
