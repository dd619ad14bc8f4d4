/* A process that has used its threads forks: parent and child go on, with the same results. */
#include "common.h"

#include <pliant/io.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 3, PATIENCE = 60 /* s */ };

static const char scene_text[] =
    "{\"version\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [0.3, 0.3, 0.3], \"cell\": 0.05}},"
    " \"transform\": {\"translate\": [0, 0, 0.001]}}], \"colliders\": [{\"shape\": {\"half_space\": "
    "{}}}]}";

typedef struct simulation {
    pl_context *ctx;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
} simulation;

static simulation open_simulation(int threads)
{
    simulation s = {.ctx = test_context(threads)};
    assert_ok(s.ctx, pl_scene_load_text(s.ctx, scene_text, sizeof scene_text - 1, "t", NULL, 0, NULL,
                                        &s.scene, NULL));
    assert_ok(s.ctx, pl_sim_create(s.scene, &s.sim));
    assert_ok(s.ctx, pl_state_create(s.scene, &s.state));
    return s;
}

static void close_simulation(simulation *s)
{
    pl_state_destroy(s->scene, s->state);
    pl_sim_destroy(s->sim);
    pl_scene_destroy(s->scene);
    pl_context_destroy(s->ctx);
}

static void advance(simulation *s)
{
    for (int k = 0; k < STEPS; k++)
        assert_ok(s->ctx, pl_step(s->sim, s->state, NULL, NULL));
}

static bool same_state(const simulation *a, const simulation *b)
{
    return memcmp(a->state->q, b->state->q, sizeof(double) * 3 * (size_t)a->state->vertex_count) == 0;
}

/* Whether `work` returns true in a child of this process, and in time. */
static bool child_does(bool (*work)(simulation *), simulation *s)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE);
        _exit(work(s) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* With the objects it was born with, which the parent has advanced by STEPS. */
static bool goes_on(simulation *s)
{
    simulation fresh = open_simulation(1);
    advance(&fresh);
    advance(&fresh);
    advance(s);
    bool same = same_state(s, &fresh);
    close_simulation(&fresh);
    return same;
}

/* With its own. */
static bool begins(simulation *s)
{
    simulation own = open_simulation(2);
    advance(&own);
    bool same = same_state(s, &own);
    close_simulation(&own);
    return same;
}

static bool forks_again(simulation *s)
{
    return begins(s) && child_does(begins, s);
}

static void children_work(void **state)
{
    (void)state;
    simulation s = open_simulation(2);
    advance(&s);
    assert_true(child_does(goes_on, &s));
    assert_true(child_does(begins, &s));
    assert_true(child_does(forks_again, &s));
    assert_true(goes_on(&s)); /* and so does the parent */
    close_simulation(&s);
}

static void *work_and_fork(void *user)
{
    bool *good = user;
    simulation s = open_simulation(2);
    advance(&s);
    *good = child_does(goes_on, &s);
    close_simulation(&s);
    return NULL;
}

/* Each thread has workers of its own. */
static void children_of_threads_work(void **state)
{
    (void)state;
    pthread_t thread;
    bool good = false;
    simulation s = open_simulation(2);
    advance(&s);
    assert_int_equal(pthread_create(&thread, NULL, work_and_fork, &good), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(good);
    assert_true(goes_on(&s));
    close_simulation(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_work),
        cmocka_unit_test(children_of_threads_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
