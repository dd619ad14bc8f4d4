/* Task files, from text to task: parse, override, check, load the scene, read unknowns and loss;
 * targets that are simulated when they are first needed. */
#include "fit/task.h"

#include "sim/sim.h"

#include <pliant/io.h>

#include <errno.h>
#include <stdio.h>

/* FNV-1a, of bytes */
static void fold(uint64_t *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ bytes[i]) * 1099511628211ull;
}

static pl_status fold_file(pl_task *task, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    PL_TRY(pl_read_text(task->ctx, path, &text, &length));
    fold(&task->fingerprint, text, length);
    pl_free(task->ctx, text);
    return PL_OK;
}

/* ------------------------------------------------------------------------------- scene */

/* The task's own changes of the scene, then the caller's, which begin with "scene.". */
static pl_status gather_changes(const pl_document *document, int override_count,
                                const char *const *overrides, const char ***out, int *count)
{
    const json_t *changes = json_object_get(document->root, "scene_changes");
    size_t own = json_array_size(changes);
    *count = 0;
    if (!(*out = pl_alloc(document->ctx, own + (size_t)override_count, sizeof **out)))
        return PL_ERROR_MEMORY;
    for (size_t i = 0; i < own; i++)
        (*out)[(*count)++] = json_string_value(json_object_get(json_array_get(changes, i), "set"));
    for (int i = 0; i < override_count; i++)
        if (strncmp(overrides[i], "scene.", 6) == 0)
            (*out)[(*count)++] = overrides[i] + 6;
    return PL_OK;
}

/* Messages about one of the task's own changes name the task too. */
static pl_status name_change(const pl_document *document, const char *const *changes, pl_status status)
{
    static const char start[] = "override '";
    const char *message = pl_context_error(document->ctx), *named = message + sizeof start - 1;
    int own = (int)json_array_size(json_object_get(document->root, "scene_changes"));
    const pl_place list = {NULL, "scene_changes", 0};
    if (strncmp(message, start, sizeof start - 1) != 0)
        return status;
    for (int i = 0; i < own; i++) {
        const pl_place here = {&list, NULL, i};
        size_t length = strnlen(changes[i], strlen(named)); /* long messages are cut */
        if (strncmp(named, changes[i], length) == 0 && (named[length] == '\'' || !named[length]))
            return pl_document_fail_within(document, &here, status);
    }
    return status;
}

static pl_status load_scene(pl_task *task, const pl_document *document, const char *file,
                            int override_count, const char *const *overrides, pl_scene_file_info *info)
{
    char *path = pl_document_resolve(document, file);
    const char **changes = NULL;
    int count;
    const pl_place here = {NULL, "scene", 0};
    pl_status status = path ? PL_OK : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = gather_changes(document, override_count, overrides, &changes, &count);
    if (status == PL_OK &&
        (status = pl_scene_load(task->ctx, path, count, changes, &task->scene, info)) != PL_OK)
        status = name_change(document, changes, status);
    if (status == PL_OK)
        status = fold_file(task, path);
    pl_free(task->ctx, changes);
    pl_free(task->ctx, path);
    if (status == PL_ERROR_FILE)
        return pl_document_fail_within(document, &here, status);
    return status;
}

/* ------------------------------------------------------------------------------- inputs */

pl_status pl_task_prepare_inputs(pl_task *task)
{
    const pl_scene *s = task->scene;
    pl_status status = PL_OK;
    size_t numbers[PL_CHANNEL_COUNT];
    pl_drive drive = {0};
    PL_CHECK(pl_drive_create(s, &drive), done);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        numbers[c] =
            pl_channel_size(s, (pl_channel)c, 1) * (size_t)pl_channel_get((pl_channel)c)->width;
        if (drive.of[c] && (task->wanted & PL_BIT(c))) {
            PL_NEW(task->ctx, task->base[c], (size_t)task->steps * numbers[c], done);
            PL_NEW(task->ctx, task->input[c], (size_t)task->steps * numbers[c], done);
        }
    }
    for (int i = 0; i < task->steps; i++) {
        double time = (i + 1) * s->params.values->def.time_step;
        PL_CHECK(pl_drive_resolve(s, time, NULL, &drive), done);
        for (int c = 0; c < PL_CHANNEL_COUNT; c++)
            if (task->base[c])
                memcpy(task->base[c] + (size_t)i * numbers[c], drive.of[c],
                       numbers[c] * sizeof(double));
    }
done:
    pl_drive_free(task->ctx, &drive);
    return status;
}

pl_status pl_task_set_epsilon2(pl_task *task, double epsilon2)
{
    pl_values *values;
    PL_TRY(pl_params_edit(pl_scene_params(task->scene), &values));
    values->def.contact_epsilon2 = epsilon2;
    return PL_OK;
}

/* ------------------------------------------------------------------------------- windows */

static pl_status check_window(const pl_task *task, const pl_document *document)
{
    const pl_place at = {NULL, "window", 0}, steps = {&at, "steps", 0}, advance = {&at, "advance", 0};
    if (task->window.steps > task->steps)
        return pl_document_fail(document, &steps, PL_ERROR_ARGUMENT,
                                "expected at most %d, the task's steps, got %d", task->steps,
                                task->window.steps);
    if (task->window.steps && task->window.advance > task->window.steps)
        return pl_document_fail(document, &advance, PL_ERROR_ARGUMENT,
                                "expected at most %d, the window's steps, got %d", task->window.steps,
                                task->window.advance);
    if (task->window.steps &&
        (task->starts > 1 || task->continuation.start > 0 || task->check.per_stage > 0))
        return pl_document_fail(
            document, &at, PL_ERROR_ARGUMENT,
            "does not go with \"starts\", \"continuation\" or \"per_stage\" of \"gradient_check\"");
    return PL_OK;
}

void pl_task_open_window(pl_task *task, int first)
{
    int left = task->steps - first, most = task->window.steps ? task->window.steps : left;
    task->first = first;
    task->span = left < most ? left : most;
    task->settled = false;
}

int pl_task_window_count(const pl_task *task)
{
    int later = task->steps - task->window.steps, each = task->window.advance;
    return task->window.steps ? 1 + (later + each - 1) / each : 1;
}

/* ------------------------------------------------------------------------------- task */

static pl_status build(pl_task *task, const pl_document *document, int override_count,
                       const char *const *overrides)
{
    pl_task_source source;
    pl_scene_file_info info;
    pl_spec_task.defaults(&source);
    pl_spec_read(&pl_spec_task, document->root, &source);
    PL_TRY(load_scene(task, document, source.scene, override_count, overrides, &info));
    if (!(task->name = pl_strdup(task->ctx, source.name ? source.name : info.name)) ||
        !(task->path = pl_strdup(task->ctx, document->name)))
        return PL_ERROR_MEMORY;
    task->contact_epsilon2 = task->scene->params.values->def.contact_epsilon2;
    task->steps = source.steps ? source.steps : info.steps;
    task->optimizer = source.optimizer;
    task->continuation = source.continuation;
    task->check = source.check;
    task->window = source.window;
    task->starts = source.starts;
    task->seed = source.seed;
    task->noise = source.noise;
    task->tape_bytes = (size_t)(source.tape_megabytes * 1e6);
    task->adjoint_tolerance = pl_adjoint_def_default().tolerance;
    if (task->steps < 1)
        return pl_document_fail(document, NULL, PL_ERROR_ARGUMENT,
                                "expected at least one step to simulate");
    if (source.continuation.start > 0 && !(source.continuation.start > task->contact_epsilon2)) {
        const pl_place at = {NULL, "continuation", 0}, here = {&at, "start", 0};
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "expected more than the scene's own contact_epsilon2 (%g N m), got %g",
                                task->contact_epsilon2, source.continuation.start);
    }
    PL_TRY(check_window(task, document));
    pl_task_open_window(task, 0);
    PL_TRY(pl_task_read_unknowns(task, document));
    PL_TRY(pl_task_read_terms(task, document));
    if (task->window.steps && task->simulated_targets)
        return pl_document_fail(document, NULL, PL_ERROR_ARGUMENT,
                                "\"window\" goes with goals and target files, not simulated targets");
    PL_TRY(pl_task_prepare_inputs(task));
    PL_TRY(pl_task_limit_inputs(task, document));
    return pl_task_read_starts(task, document);
}

/* Everything an iteration depends on, beside the scene's text: the task as overridden but for how many
 * iterations to make, from how many starts, and what people read, the scene's changes, meshes. Targets
 * come last, when they are there (pl_task_complete). */
static pl_status take_fingerprint(pl_task *task, const pl_document *document, int override_count,
                                  const char *const *overrides)
{
    uint64_t *hash = &task->fingerprint;
    static const char *const harmless[] = {"$schema",        "name",  "description",
                                           "gradient_check", "noise", "starts"};
    json_t *copy = json_deep_copy(document->root);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        json_object_del(copy, harmless[i]);
    json_object_del(json_object_get(copy, "optimizer"), "iterations");
    char *text =
        copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(copy);
    if (!text)
        return pl_fail(task->ctx, PL_ERROR_MEMORY, "out of memory");
    fold(hash, text, strlen(text));
    free(text);
    for (int i = 0; i < override_count; i++)
        if (strncmp(overrides[i], "scene.", 6) == 0)
            fold(hash, overrides[i], strlen(overrides[i]) + 1);
    fold(hash, task->initial, (size_t)task->n * sizeof(double));
    fold(hash, task->scene->q0, 3 * (size_t)task->scene->vertex_count * sizeof(double));
    fold(hash, task->scene->v0, 3 * (size_t)task->scene->vertex_count * sizeof(double));
    return PL_OK;
}

/* Simulates at the true values and keeps what the loss compares with. */
static pl_status simulate_targets(pl_task *task, bool (*keep_going)(void *user), void *user)
{
    pl_status status = PL_OK;
    pl_evaluation *e = NULL;
    double *x = NULL;
    PL_CHECK(pl_evaluation_create(task, &e), done);
    e->keep_going = keep_going;
    e->user = user;
    PL_NEW(task->ctx, x, task->n, done);
    pl_task_true_x(task, x);
    status = pl_evaluation_run(e, x);
    if (status != PL_OK)
        status = pl_fail_within(task->ctx, status, "simulating the target at the true values");
    else
        status = pl_task_record_targets(task, e->rollout);
done:
    pl_free(task->ctx, x);
    pl_evaluation_destroy(e);
    return status;
}

pl_status pl_task_complete(pl_task *task, bool (*keep_going)(void *user), void *user)
{
    if (task->complete)
        return PL_OK;
    if (task->simulated_targets)
        PL_TRY(simulate_targets(task, keep_going, user));
    for (int k = 0; k < task->term_count; k++) {
        const pl_loss_term *term = &task->terms[k];
        fold(&task->fingerprint, term->target,
             3 * (size_t)term->first[term->step_count] * sizeof(double));
    }
    task->complete = true;
    return PL_OK;
}

/* Overrides of the task itself; those of its scene are for the scene's loader. */
static pl_status override_task(pl_document *document, int count, const char *const *overrides)
{
    pl_status status = PL_OK;
    const char **own = NULL;
    int own_count = 0;
    PL_NEW(document->ctx, own, count, done);
    for (int i = 0; i < count; i++)
        if (strncmp(overrides[i], "scene.", 6) != 0)
            own[own_count++] = overrides[i];
    status = pl_document_override(document, own_count, own);
done:
    pl_free(document->ctx, own);
    return status;
}

static pl_status load_text(pl_context *ctx, const char *text, size_t length, const char *name,
                           const char *directory, int override_count, const char *const *overrides,
                           pl_task **out)
{
    pl_status status = PL_OK;
    pl_task *task = NULL;
    pl_document document = {
        .ctx = ctx, .name = name, .directory = directory, .text = text, .length = length};
    PL_TRY(pl_document_parse(&document));
    PL_NEW(ctx, task, 1, done);
    task->ctx = ctx;
    task->fingerprint = 14695981039346656037ull;
    if (!json_is_object(document.root)) {
        status = pl_fail(ctx, PL_ERROR_PARSE, "%s:1: expected an object (a task)", name);
        goto done;
    }
    if (json_object_get(document.root, "bodies") && !json_object_get(document.root, "scene")) {
        status = pl_fail(ctx, PL_ERROR_PARSE,
                         "%s:1: this is a scene, which `pliant run` and pl_scene_load read, not a task",
                         name);
        goto done;
    }
    PL_CHECK(override_task(&document, override_count, overrides), done);
    PL_CHECK(pl_spec_check(&document, &pl_spec_task, document.root, NULL), done);
    PL_CHECK(build(task, &document, override_count, overrides), done);
    PL_CHECK(take_fingerprint(task, &document, override_count, overrides), done);
    *out = task;
    task = NULL;
done:
    pl_task_destroy(task);
    json_decref(document.root);
    pl_free(ctx, document.overrides);
    return status;
}

pl_status pl_task_load(pl_context *ctx, const char *path, int override_count,
                       const char *const *overrides, pl_task **out)
{
    pl_status status = PL_OK;
    char *text = NULL, *directory = NULL;
    size_t length = 0;
    *out = NULL;
    PL_CHECK(pl_read_text(ctx, path, &text, &length), done);
    if (!(directory = pl_strdup(ctx, path))) {
        status = PL_ERROR_MEMORY;
        goto done;
    }
    char *slash = strrchr(directory, '/');
    directory[slash ? slash - directory + (slash == directory) : 0] = '\0';
    status = load_text(ctx, text, length, path, directory, override_count, overrides, out);
done:
    pl_free(ctx, text);
    pl_free(ctx, directory);
    return status;
}

pl_scene *pl_task_scene(const pl_task *task)
{
    return task->scene;
}

void pl_task_destroy(pl_task *task)
{
    if (!task)
        return;
    pl_context *ctx = task->ctx;
    double *const arrays[] = {task->initial, task->lower, task->upper, task->p};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(ctx, arrays[k]);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++) {
        pl_free(ctx, task->input[c]);
        pl_free(ctx, task->base[c]);
    }
    for (int k = 0; k < task->term_count; k++)
        pl_loss_term_free(ctx, &task->terms[k]);
    pl_free(ctx, task->terms);
    pl_free(ctx, task->input_terms);
    pl_free(ctx, task->unknowns);
    pl_free(ctx, task->name);
    pl_free(ctx, task->path);
    pl_scene_destroy(task->scene);
    pl_free(ctx, task);
}
