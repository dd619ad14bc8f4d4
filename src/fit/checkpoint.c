/*
 * Checkpoints: the optimiser's whole state and the history of every course as JSON, numbers with 17
 * digits, which is exact, after a checksum of it all. The new file is written beside the old one,
 * flushed to the disk and renamed over it: whatever happens in between, one of the two is whole.
 */
#include "fit/fit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { VERSION = 4 };

/* Unlike other outputs a checkpoint must survive a power cut: it reaches the disk before its name does.
 */
static pl_status write_durably(pl_fit *fit, const char *text, size_t length)
{
    char path[4096], temporary[4096];
    PL_TRY(pl_fit_path(fit, PL_CHECKPOINT_NAME, path, sizeof path));
    PL_TRY(pl_fit_path(fit, PL_CHECKPOINT_NAME ".new", temporary, sizeof temporary));
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    bool good = file && fwrite(text, 1, length, file) == length && fflush(file) == 0 &&
                fsync(fileno(file)) == 0;
    int error = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(temporary, path) == 0)
        return PL_OK;
    if (good)
        error = errno;
    unlink(temporary);
    return pl_fail(fit->ctx, PL_ERROR_FILE, "%s: cannot write: %s", path, strerror(error));
}

/* NULL when memory is short. */
static json_t *array_of(int count, const double *values)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null());
    if (json_array_size(array) == (size_t)count)
        return array;
    json_decref(array);
    return NULL;
}

/* {"crc32":"89abcdef", and the rest, which that is the checksum of */
#define CRC_START "{\"crc32\":\""
#define CRC_END   "\","
enum { CRC_DIGITS = 8, CRC_SIZE = sizeof CRC_START + CRC_DIGITS + sizeof CRC_END - 2 };

static void write_crc(char *out, const char *rest, size_t length)
{
    unsigned long crc = crc32_z(0, (const unsigned char *)rest, length);
    snprintf(out, CRC_SIZE + 1, CRC_START "%0*lx" CRC_END, CRC_DIGITS, crc);
}

/* JSON of an object, with its checksum before everything else. */
static pl_status write_checked(pl_fit *fit, const char *json)
{
    size_t length = strlen(json) - 1; /* without the brace, which is before the checksum */
    char *text = pl_alloc(fit->ctx, CRC_SIZE + length + 1, 1);
    if (!text)
        return PL_ERROR_MEMORY;
    write_crc(text, json + 1, length);
    memcpy(text + CRC_SIZE, json + 1, length);
    pl_status status = write_durably(fit, text, CRC_SIZE + length);
    pl_free(fit->ctx, text);
    return status;
}

static bool crc_fits(const char *text, size_t length)
{
    char expected[CRC_SIZE + 1];
    if (length < CRC_SIZE)
        return false;
    write_crc(expected, text + CRC_SIZE, length - CRC_SIZE);
    return memcmp(text, expected, CRC_SIZE) == 0;
}

static json_t *course_json(const pl_fit *fit, const pl_course *course)
{
    int rows = course->row_count;
    return json_pack("{s:b, s:i, s:i, s:o, s:i, s:o}", "refused", course->refused, "stage",
                     course->stage, "stage_start", course->stage_start, "state",
                     array_of(rows > 0 ? fit->optimizer->state_count : 0, course->state), "rows", rows,
                     "history", array_of(rows * fit->width, course->rows));
}

/* Numbers of a channel's inputs before the present window, which no window changes any more. */
static size_t settled_inputs(const pl_task *task, int channel)
{
    return task->input[channel] ? pl_channel_size(task->scene, (pl_channel)channel, task->first) *
                                      (size_t)pl_channel_get((pl_channel)channel)->width
                                : 0;
}

/* Where the present window begins, and the inputs before it, channel after channel. */
static json_t *window_json(const pl_task *task)
{
    json_t *inputs = json_array();
    size_t count = 0;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        for (size_t i = 0; i < settled_inputs(task, c); i++, count++)
            json_array_append_new(inputs, json_real(task->input[c][i]));
    if (json_array_size(inputs) == count)
        return json_pack("{s:i, s:o}", "first", task->first, "inputs", inputs);
    json_decref(inputs);
    return NULL;
}

pl_status pl_checkpoint_save(pl_fit *fit)
{
    char fingerprint[17];
    const pl_evaluation_times *t = &fit->evaluation->times;
    double now = pl_milliseconds(), seconds = fit->seconds_before + (now - fit->started) / 1e3;
    json_t *courses = json_array();
    for (int c = 0; c < fit->course_count; c++)
        json_array_append_new(courses, course_json(fit, &fit->courses[c]));
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, fit->task->fingerprint);
    if (json_array_size(courses) != (size_t)fit->course_count) {
        json_decref(courses);
        courses = NULL;
    }
    json_t *root =
        json_pack("{s:i, s:s, s:f, s:f, s:f, s:i, s:i, s:I, s:o, s:o}", "checkpoint", VERSION, "task",
                  fingerprint, "seconds", seconds, "forward", t->forward, "backward", t->backward,
                  "rollouts", t->rollouts, "sweeps", t->sweeps, "tape_bytes", (json_int_t)t->tape_bytes,
                  "window", window_json(fit->task), "courses", courses);
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    pl_status status =
        text ? write_checked(fit, text) : pl_fail(fit->ctx, PL_ERROR_MEMORY, "out of memory");
    free(text);
    json_decref(root);
    fit->saved = pl_milliseconds();
    fit->saving = fit->saved - now;
    return status;
}

static pl_status damaged(const pl_fit *fit, const char *path, const char *what)
{
    return pl_fail(fit->ctx, PL_ERROR_PARSE, "%s: not a checkpoint, or damaged: %s", path, what);
}

/* Reads `count` numbers, null as NaN. */
static bool read_array(const json_t *array, size_t count, double *out)
{
    if (!json_is_array(array) || json_array_size(array) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        out[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return true;
}

static pl_status take_course(pl_fit *fit, const char *path, const json_t *from, pl_course *course)
{
    int rows, refused, states = fit->optimizer->state_count;
    json_t *state, *history;
    if (json_unpack((json_t *)from, "{s:b, s:i, s:i, s:o, s:i, s:o}", "refused", &refused, "stage",
                    &course->stage, "stage_start", &course->stage_start, "state", &state, "rows", &rows,
                    "history", &history) != 0 ||
        rows < 0 || course->stage < 0 || course->stage_start < 0)
        return damaged(fit, path, "something is missing in \"courses\"");
    size_t count = (size_t)rows * (size_t)fit->width;
    course->refused = refused;
    if (rows > 0 &&
        (!read_array(state, (size_t)states, course->state) || !pl_all_finite(states, course->state)))
        return damaged(fit, path, "\"state\"");
    if (json_array_size(history) != count || count > INT_MAX)
        return damaged(fit, path, "\"history\"");
    PL_TRY(
        pl_grow(fit->ctx, (void **)&course->rows, &course->row_capacity, (int)count, sizeof(double)));
    read_array(history, count, course->rows);
    course->row_count = rows;
    return PL_OK;
}

static pl_status take_window(pl_fit *fit, const char *path, const json_t *window)
{
    pl_task *task = fit->task;
    int first;
    json_t *inputs;
    size_t at = 0, count = 0;
    if (json_unpack((json_t *)window, "{s:i, s:o}", "first", &first, "inputs", &inputs) != 0 ||
        first < 0 || first >= task->steps || first % task->window.advance != 0 ||
        (first > 0 && !task->window.steps))
        return damaged(fit, path, "\"window\"");
    pl_task_open_window(task, first);
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        count += settled_inputs(task, c);
    if (json_array_size(inputs) != count)
        return damaged(fit, path, "\"inputs\"");
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        for (size_t i = 0; i < settled_inputs(task, c); i++)
            task->input[c][i] = json_number_value(json_array_get(inputs, at++));
    return pl_window_restore(fit, first);
}

static pl_status take_over(pl_fit *fit, const char *path, const json_t *root)
{
    char fingerprint[17];
    int version;
    const char *task;
    json_int_t tape;
    json_t *courses, *window;
    pl_evaluation_times *t = &fit->evaluation->times;
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, fit->task->fingerprint);
    if (json_unpack((json_t *)root, "{s:i, s:s, s:F, s:F, s:F, s:i, s:i, s:I, s:o, s:o}", "checkpoint",
                    &version, "task", &task, "seconds", &fit->seconds_before, "forward", &t->forward,
                    "backward", &t->backward, "rollouts", &t->rollouts, "sweeps", &t->sweeps,
                    "tape_bytes", &tape, "window", &window, "courses", &courses) != 0 ||
        version != VERSION || json_array_size(courses) < 1)
        return damaged(fit, path, "something is missing");
    if (strcmp(task, fingerprint) != 0)
        return pl_fail(
            fit->ctx, PL_ERROR_ARGUMENT,
            "%s: belongs to another task, or the task, its scene or its targets have changed", path);
    if (json_array_size(courses) > (size_t)fit->course_count)
        return pl_fail(fit->ctx, PL_ERROR_ARGUMENT, "%s: has %zu starts, the task only %d", path,
                       json_array_size(courses), fit->course_count);
    t->tape_bytes = (size_t)tape;
    for (size_t c = 0; c < json_array_size(courses); c++)
        PL_TRY(take_course(fit, path, json_array_get(courses, c), &fit->courses[c]));
    return take_window(fit, path, window);
}

pl_status pl_checkpoint_load(pl_fit *fit)
{
    char path[4096];
    pl_status status = PL_OK;
    pl_document document = {.ctx = fit->ctx, .name = path};
    char *text = NULL;
    PL_TRY(pl_fit_path(fit, PL_CHECKPOINT_NAME, path, sizeof path));
    PL_CHECK(pl_read_text(fit->ctx, path, &text, &document.length), done);
    document.text = text;
    if (!crc_fits(text, document.length)) {
        status = damaged(fit, path, "its checksum is wrong");
        goto done;
    }
    PL_CHECK(pl_document_parse(&document), done);
    status = take_over(fit, path, document.root);
done:
    json_decref(document.root);
    pl_free(fit->ctx, text);
    return status;
}
