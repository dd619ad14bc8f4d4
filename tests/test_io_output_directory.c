/* Directories that replace earlier ones: what we wrote goes, what others put there stays. */
#include "common_files.h"

#include "io/output_directory.h"

#include <sys/stat.h>

typedef struct fixture {
    pl_context *ctx;
    test_log log;
    test_folder folder;
    char place[300];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = test_context_logging(&f->log);
    f->folder = test_folder_make();
    snprintf(f->place, sizeof f->place, "%s", test_file(&f->folder, "out"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder.path);
    assert_int_equal(system(command), 0);
    pl_context_destroy(f->ctx);
    free(f);
    return 0;
}

static const char *const contents[] = {"summary", "volume/", NULL};

static const char *inside(const fixture *f, const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", f->place, name);
    return path;
}

static void put(const char *path, const char *text)
{
    test_file_write(path, text, strlen(text));
}

static void assert_holds(const char *path, const char *text)
{
    size_t count;
    char *found = test_file_read(path, &count);
    assert_string_equal(found, text);
    free(found);
}

/* Begins an output with summary, volume/ and `frames` files in it, which all hold `text`. */
static pl_directory begin(fixture *f, int frames, const char *text)
{
    pl_directory d;
    assert_ok(f->ctx, pl_directory_open(f->ctx, f->place, true, contents, &d));
    assert_ok(f->ctx, pl_directory_make(&d, "volume/"));
    for (int i = -1; i < frames; i++) {
        char name[32] = "summary";
        if (i >= 0)
            snprintf(name, sizeof name, "volume/%d", i);
        char *path = pl_directory_path(&d, name);
        put(path, text);
        pl_free(f->ctx, path);
    }
    return d;
}

static void finish(fixture *f, pl_directory *d)
{
    assert_ok(f->ctx, pl_directory_commit(d));
    pl_directory_close(d);
}

static void write_output(fixture *f, int frames, const char *text)
{
    pl_directory d = begin(f, frames, text);
    finish(f, &d);
}

static void foreign_files_survive(void **state)
{
    fixture *f = *state;
    write_output(f, 3, "first");
    put(inside(f, "notes"), "mine");
    put(inside(f, "volume/notes"), "mine too");
    assert_int_equal(mkdir(inside(f, "volume/empty"), 0777), 0);
    assert_int_equal(mkdir(inside(f, "folder"), 0777), 0);
    put(inside(f, "folder/notes"), "deep");
    assert_int_equal(symlink("nowhere", inside(f, "link")), 0);

    pl_directory d = begin(f, 2, "second");
    put(inside(f, "late"), "while it ran"); /* into the earlier output */
    put(inside(f, "volume/late"), "there too");
    finish(f, &d);

    assert_holds(inside(f, "summary"), "second");
    assert_holds(inside(f, "volume/1"), "second");
    assert_int_not_equal(access(inside(f, "volume/2"), F_OK), 0);
    assert_holds(inside(f, "notes"), "mine");
    assert_holds(inside(f, "volume/notes"), "mine too");
    assert_int_equal(access(inside(f, "volume/empty"), F_OK), 0);
    assert_holds(inside(f, "folder/notes"), "deep");
    assert_int_equal(unlink(inside(f, "link")), 0);
    assert_holds(inside(f, "late"), "while it ran");
    assert_holds(inside(f, "volume/late"), "there too");
    assert_int_equal(test_folder_count(&f->folder), 1);
    assert_string_equal(f->log.text, "");
}

/* A folder the new output has not is kept for what else is in it; one of ours alone goes. */
static void folders_go_when_empty(void **state)
{
    fixture *f = *state;
    for (int foreign = 0; foreign < 2; foreign++) {
        write_output(f, 2, "first");
        if (foreign)
            put(inside(f, "volume/notes"), "mine");
        pl_directory d;
        assert_ok(f->ctx, pl_directory_open(f->ctx, f->place, true, contents, &d));
        finish(f, &d);
        assert_int_equal(access(inside(f, "volume"), F_OK) == 0, foreign);
        assert_int_not_equal(access(inside(f, "summary"), F_OK), 0);
    }
    assert_holds(inside(f, "volume/notes"), "mine");
}

/* A place of the new output that is somebody's already: refused at once. */
static void names_in_the_way(void **state)
{
    fixture *f = *state;
    pl_directory d;
    assert_ok(f->ctx, pl_directory_open(f->ctx, f->place, true, contents, &d));
    finish(f, &d); /* an output of nothing but its manifest */
    const char *const names[] = {"summary", "volume"};
    for (int i = 0; i < 4; i++) {
        const char *name = names[i / 2];
        if (i % 2)
            assert_int_equal(symlink(f->folder.path, inside(f, name)), 0);
        else
            put(inside(f, name), "mine");
        assert_int_equal(pl_directory_open(f->ctx, f->place, true, contents, &d), PL_ERROR_FILE);
        assert_contains(pl_context_error(f->ctx), name);
        assert_contains(pl_context_error(f->ctx), "not ours");
        assert_int_equal(unlink(inside(f, name)), 0);
    }
    assert_int_equal(test_folder_count(&f->folder), 1);
}

/* What takes such a place while it runs is put beside, and the log says where. */
static void names_in_the_way_late(void **state)
{
    fixture *f = *state;
    write_output(f, 1, "first");
    pl_directory d = begin(f, 3, "second");
    put(inside(f, "volume/2"), "mine");
    finish(f, &d);
    assert_holds(inside(f, "volume/2"), "second");
    const char *kept = strstr(f->log.text, "is now in ");
    assert_non_null(kept);
    char path[400];
    snprintf(path, sizeof path, "%.*s/volume/2", (int)strcspn(kept + 10, "\n"), kept + 10);
    assert_holds(path, "mine");
}

/* A place somebody else took while the simulation ran keeps everything it holds. */
static void place_taken_late(void **state)
{
    fixture *f = *state;
    pl_directory d = begin(f, 1, "ours");
    assert_int_equal(mkdir(f->place, 0777), 0);
    put(inside(f, "notes"), "mine");
    finish(f, &d);
    assert_holds(inside(f, "notes"), "mine");
    assert_holds(inside(f, "summary"), "ours");
}

/* A list that was tampered with, and links, lead nowhere else. */
static void removal_stays_inside(void **state)
{
    fixture *f = *state;
    write_output(f, 1, "ours");
    assert_int_equal(mkdir(test_file(&f->folder, "other"), 0777), 0);
    put(test_file(&f->folder, "other/0"), "mine");
    put(test_file(&f->folder, "loose"), "mine");
    char absolute[400];
    snprintf(absolute, sizeof absolute, "%s/loose", f->folder.path);
    pl_text manifest;
    pl_manifest_begin(f->ctx, &manifest);
    const char *const names[] = {"../loose", "volume/../../loose", absolute, "volume/", "volume/0",
                                 "..",       "../other/0",         "",       "/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pl_manifest_add(&manifest, names[i]);
    assert_int_equal(unlink(inside(f, "volume/0")), 0);
    assert_int_equal(rmdir(inside(f, "volume")), 0);
    assert_int_equal(symlink("../other", inside(f, "volume")), 0);
    pl_manifest_remove(&manifest, f->place);
    assert_holds(test_file(&f->folder, "other/0"), "mine");
    assert_holds(test_file(&f->folder, "loose"), "mine");
    assert_int_not_equal(access(inside(f, "manifest.txt"), F_OK), 0); /* it did remove something */
    pl_text_free(&manifest);
}

/* Files that only look like a manifest make nothing ours. */
static void foreign_manifests(void **state)
{
    fixture *f = *state;
    pl_directory d;
    write_output(f, 1, "ours");
    const char *const texts[] = {"", "summary\nvolume/\nvolume/0\n",
                                 "# Written by somebody\nsummary\n"};
    for (int i = 0; i < 3; i++) {
        put(inside(f, "manifest.txt"), texts[i]);
        assert_int_equal(pl_directory_open(f->ctx, f->place, true, contents, &d), PL_ERROR_FILE);
        assert_contains(pl_context_error(f->ctx), "is no earlier output");
    }
    assert_holds(inside(f, "summary"), "ours");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(foreign_files_survive, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_go_when_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(names_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(names_in_the_way_late, setup, teardown),
        cmocka_unit_test_setup_teardown(place_taken_late, setup, teardown),
        cmocka_unit_test_setup_teardown(removal_stays_inside, setup, teardown),
        cmocka_unit_test_setup_teardown(foreign_manifests, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
