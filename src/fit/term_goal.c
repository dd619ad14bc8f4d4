/*
 * Goals: targets that the task itself gives. A path in keyframes, the start, or a distance from it; and
 * after which steps they count.
 */
#include "fit/task.h"

#include "core/vec.h"

/* ------------------------------------------------------------------------------- steps */

typedef struct range {
    int first, last, every;
} range;

static double key_time(const json_t *path, size_t i)
{
    return json_number_value(json_array_get(json_array_get(path, i), 0));
}

/* A path counts while it lasts, what is kept all the time, a distance at the end, or every so many
 * steps if that is said. */
static range default_range(const pl_task *task, const json_t *path, int every, const pl_loss_term *term)
{
    double step = task->scene->params.values->def.time_step;
    range r = {1, task->steps, every};
    if (term->source == PL_TARGET_AHEAD)
        r.first = every > 1 && every < task->steps ? every : task->steps;
    if (path) {
        r.first = (int)fmin(fmax(1, round(key_time(path, 0) / step)), 1e9);
        r.last = (int)fmin(round(key_time(path, json_array_size(path) - 1) / step), 1e9);
    }
    return r;
}

static pl_status list_range(pl_task *task, range r, pl_loss_term *term)
{
    pl_status status = PL_OK;
    term->step_count = (r.last - r.first) / r.every + 1;
    PL_NEW(task->ctx, term->steps, term->step_count, done);
    for (int i = 0; i < term->step_count; i++)
        term->steps[i] = r.last - (term->step_count - 1 - i) * r.every;
done:
    return status;
}

/* That a path which says the last step reaches the first. */
static pl_status check_path(const pl_task *task, const pl_document *document, const json_t *path,
                            const pl_place *place, const pl_term_source *source, range r)
{
    const pl_place here = {place, "path", 0};
    double step = task->scene->params.values->def.time_step;
    if (!path || source->last_step || r.last >= r.first)
        return PL_OK;
    return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                            "ends at %g s, before step %d, the first that counts, at %g s",
                            key_time(path, json_array_size(path) - 1), r.first, r.first * step);
}

static pl_status choose_steps(pl_task *task, const pl_document *document, const json_t *object,
                              const pl_place *place, const pl_term_source *source, pl_loss_term *term)
{
    pl_status status = PL_OK;
    const json_t *list = json_object_get(object, "steps");
    const json_t *path = json_object_get(object, "path");
    range r = default_range(task, path, source->every, term);
    int last = 0;
    r.first = source->first_step ? source->first_step : r.first;
    r.last = source->last_step ? source->last_step : r.last;
    if (!list)
        PL_TRY(check_path(task, document, path, place, source, r));
    if (!list && (r.first > r.last || r.last > task->steps))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected steps up to %d, the task's last, got %d to %d", task->steps,
                                r.first, r.last);
    if (!list)
        return list_range(task, r, term);
    PL_NEW(task->ctx, term->steps, json_array_size(list), done);
    for (size_t i = 0; i < json_array_size(list); i++) {
        int step = (int)json_integer_value(json_array_get(list, i));
        const pl_place at = {place, "steps", 0}, here = {&at, NULL, (int)i};
        if (step <= last || step > task->steps)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "expected ascending steps up to %d, got %d", task->steps, step);
        term->steps[term->step_count++] = last = step;
    }
done:
    return status;
}

/* A window that no counted step lies in aims at nothing. */
static pl_status check_windows(const pl_task *task, const pl_document *document, const pl_place *place,
                               const pl_loss_term *term)
{
    int gap = 0, window = task->window.steps;
    for (int k = 0; k <= term->step_count; k++) {
        int before = k ? term->steps[k - 1] : 0;
        int apart = (k < term->step_count ? term->steps[k] : task->steps) - before;
        gap = apart > gap ? apart : gap;
    }
    if (!window || term->source != PL_TARGET_AHEAD || gap <= window)
        return PL_OK;
    return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                            "\"distance\" does not count for %d steps, which windows of %d do not see "
                            "past: give it an \"every\" of at most %d",
                            gap, window, window);
}

/* ------------------------------------------------------------------------------- places */

static void key_place(const json_t *path, size_t i, double out[3])
{
    for (size_t k = 0; k < 3; k++)
        out[k] = json_number_value(json_array_get(json_array_get(path, i), k + 1));
}

/* Straight between keyframes, at rest before the first and after the last. */
static void path_at(const json_t *path, double time, double out[3])
{
    size_t count = json_array_size(path), i = 1;
    double next[3];
    while (i < count && key_time(path, i) < time)
        i++;
    key_place(path, i - 1, out);
    if (i == count || time <= key_time(path, i - 1))
        return;
    double from = key_time(path, i - 1), t = (time - from) / (key_time(path, i) - from);
    key_place(path, i, next);
    for (int k = 0; k < 3; k++)
        out[k] += t * (next[k] - out[k]);
}

static void start_place(const pl_task *task, const pl_loss_term *term, int point, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int l = point * term->width; l < (point + 1) * term->width; l++)
        pl_axpy3(term->coefficient[l], task->scene->q0 + 3 * (size_t)term->vertex[l], out);
}

pl_status pl_task_set_goal(pl_task *task, const pl_document *document, const json_t *object,
                           const pl_place *place, const pl_term_source *source, pl_loss_term *term)
{
    pl_status status = PL_OK;
    const json_t *path = json_object_get(object, "path");
    double step = task->scene->params.values->def.time_step;
    int points = term->point_count;
    if (path && points != 1)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected one point to follow the \"path\", got %d", points);
    if (json_array_size(path) == 0 && path)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected at least one row of \"path\"");
    PL_TRY(choose_steps(task, document, object, place, source, term));
    PL_TRY(check_windows(task, document, place, term));
    PL_NEW(task->ctx, term->first, term->step_count + 1, done);
    PL_NEW(task->ctx, term->target, 3 * (size_t)term->step_count * (size_t)points, done);
    for (int i = 0; i < term->step_count; i++) {
        term->first[i + 1] = (i + 1) * points;
        for (int j = 0; j < points; j++) {
            double *to = term->target + 3 * ((size_t)i * (size_t)points + (size_t)j), start[3];
            start_place(task, term, j, start);
            if (path)
                path_at(path, term->steps[i] * step, to);
            if (!path || source->relative)
                pl_axpy3(1, start, to);
            pl_axpy3(term->distance, term->along, to);
        }
    }
done:
    return status;
}
