/* A fit's directory: files that no fit wrote are not replaced, links are not followed. */
#include "fit_small.h"

#include <sys/stat.h>

static void assert_refused(small_fit *f, const char *what)
{
    pl_status status = small_fit_run(f);
    if (status != PL_ERROR_FILE)
        fail_msg("%s: %s", what, pl_status_name(status));
    if (!strstr(pl_context_error(f->ctx), what))
        fail_msg("\"%s\" does not say \"%s\"", pl_context_error(f->ctx), what);
}

static void assert_holds(const small_fit *f, const char *name, const char *text)
{
    char *found = files_read(f->out, name);
    assert_string_equal(found, text);
    free(found);
}

static void foreign_files_are_kept(void **state)
{
    small_fit *f = *state;
    static const char *const names[] = {"checkpoint.json", "checkpoint.json.new", "history.csv",
                                        "result.json",     "manifest.txt",        "report.html",
                                        "loss.svg",        "parameters.svg"};
    f->def.report = true;
    assert_int_equal(mkdir(f->out, 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        files_write(f->out, names[i], "mine");
        assert_refused(f, names[i]);
        assert_holds(f, names[i], "mine");
        snprintf(path, sizeof path, "%s/%s", f->out, names[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(f->out), 0); /* nothing else was written */
        assert_int_equal(mkdir(f->out, 0777), 0);
    }
    files_write(f->out, "notes.txt", "mine"); /* nobody minds */
    f->def.report = false;
    assert_ok(f->ctx, small_fit_run(f));
    assert_holds(f, "notes.txt", "mine");
}

static bool put_a_result(void *user)
{
    small_fit *f = user;
    files_write(f->out, "result.json", "mine");
    return true;
}

/* Also what appears while the fit runs; once it is gone, the fit goes on to its end. */
static void late_files_are_kept(void **state)
{
    small_fit *f = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/result.json", f->out);
    f->def.keep_going = put_a_result;
    f->def.user = f;
    assert_refused(f, "result.json");
    assert_holds(f, "result.json", "mine");
    f->def.keep_going = NULL;
    f->def.resume = true;
    assert_refused(f, "result.json");
    assert_holds(f, "result.json", "mine");
    assert_int_equal(unlink(path), 0);
    assert_ok(f->ctx, small_fit_run(f));
    assert_ok(f->ctx, small_fit_run(f)); /* its own result it replaces */
}

static void links_are_not_followed(void **state)
{
    small_fit *f = *state;
    static const char *const names[] = {"checkpoint.json", "checkpoint.json.new", "result.json",
                                        "manifest.txt"};
    char path[256];
    files_write(f->folder, "target", "mine");
    assert_int_equal(mkdir(f->out, 0777), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", f->out, names[i]);
        assert_int_equal(symlink("../target", path), 0);
        assert_refused(f, names[i]);
        assert_holds(f, names[i], "mine");
        assert_int_equal(unlink(path), 0);
    }
    /* Nor a link to a directory, with something in it or not. */
    assert_int_equal(rmdir(f->out), 0);
    snprintf(path, sizeof path, "%s/elsewhere", f->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(symlink("elsewhere", f->out), 0);
    assert_refused(f, "symbolic link");
    assert_int_equal(rmdir(path), 0); /* still empty */
    assert_int_equal(unlink(f->out), 0);
}

/* Where only the checkpoint was copied to, a fit goes on. */
static void checkpoint_alone_resumes(void **state)
{
    small_fit *f = *state;
    assert_ok(f->ctx, small_fit_run(f));
    char *checkpoint = files_read(f->out, "checkpoint.json");
    files_remove(f->out);
    assert_int_equal(mkdir(f->out, 0777), 0);
    files_write(f->out, "checkpoint.json", checkpoint);
    f->def.resume = true;
    assert_ok(f->ctx, small_fit_run(f));
    free(checkpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(foreign_files_are_kept, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(late_files_are_kept, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(links_are_not_followed, small_fit_open, small_fit_close),
        cmocka_unit_test_setup_teardown(checkpoint_alone_resumes, small_fit_open, small_fit_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
