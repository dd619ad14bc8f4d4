/*
 * Bounds of unknowns that drive inputs of one number: each by itself must, with the scene's own values
 * in every step, stay within what the input can be, so that no optimiser tries a cable of negative
 * length.
 */
#include "fit/task.h"

#include "core/vec.h"

#include "terms/term.h"

#define INSIDE 1e-12 /* of the numbers that add up to an input: its range is open above */

/* What the unknown may add in all steps: at least lower, and less than upper. */
static void added_range(const pl_task *task, const pl_unknown *u, double *lower, double *upper)
{
    pl_span span = pl_channel_span(task->scene, u->of.channel, u->owner);
    double least, most;
    pl_terms_range(task->scene, u->of.channel, span.first, &least, &most);
    *lower = -INFINITY, *upper = INFINITY;
    for (int step = 0; step < task->steps; step++) {
        size_t row = pl_channel_size(task->scene, u->of.channel, step) + (size_t)span.first;
        double own = task->base[u->of.channel][row];
        *lower = least > -PL_INPUT_MOST ? fmax(*lower, least - own) : *lower;
        *upper = most < PL_INPUT_MOST ? fmin(*upper, most - own - INSIDE * (1 + fabs(own))) : *upper;
    }
}

static pl_status refuse(const pl_document *document, const pl_unknown *u, const char *key, double value,
                        double lower, double upper)
{
    const pl_place at = {NULL, "unknowns", 0};
    return pl_document_fail(document, &at, PL_ERROR_ARGUMENT,
                            "%s of \"%s\": expected a value in [%g, %g), got %g: it is added to the "
                            "scene's own %s",
                            key, u->name, lower, upper, value, pl_channel_get(u->of.channel)->name);
}

static pl_status limit(pl_task *task, const pl_document *document, pl_unknown *u)
{
    double lower, upper;
    added_range(task, u, &lower, &upper);
    if (u->initial < lower || u->initial > upper)
        return refuse(document, u, "initial", u->initial, lower, upper);
    if (u->truth < lower || u->truth > upper)
        return refuse(document, u, "true", u->truth, lower, upper);
    if (isfinite(u->lower) && u->lower < lower)
        return refuse(document, u, "lower", u->lower, lower, upper);
    if (isfinite(u->upper) && u->upper > upper)
        return refuse(document, u, "upper", u->upper, lower, upper);
    u->lower = fmax(u->lower, lower);
    u->upper = fmin(u->upper, upper);
    pl_unknown_set_box(task, u);
    return PL_OK;
}

pl_status pl_task_limit_inputs(pl_task *task, const pl_document *document)
{
    for (int k = 0; k < task->unknown_count; k++) {
        pl_unknown *u = &task->unknowns[k];
        if (task->base[u->of.channel] && u->of.width == 1 && u->of.column == 0)
            PL_TRY(limit(task, document, u));
    }
    return PL_OK;
}
