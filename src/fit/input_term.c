/*
 * What inputs cost, whatever the motion: effort and smoothness. With u_t an entry of an input after
 * step t, over the entries and steps of a term,
 *
 *     effort      L = weight / count * sum (u_t - rest)^2
 *     smoothness  L = weight / count * sum (u_t - u_t-1)^2
 *
 * L = |r|^2 with a residual for each entry and step. Derivatives go straight into those of the input.
 */
#include "fit/task.h"

/* ------------------------------------------------------------------------------- reading */

/* Steps counted from 0: smoothness begins with the second. */
static int first_of(const pl_input_term *term)
{
    int before = term->kind == PL_TERM_SMOOTHNESS;
    return term->first_step - 1 > before ? term->first_step - 1 : before;
}

int pl_input_term_residuals(const pl_input_term *term)
{
    return (term->last_step - first_of(term)) * term->rows.count * term->of.width;
}

static bool driven(const pl_task *task, const pl_quantity *quantity)
{
    for (int k = 0; k < task->unknown_count; k++)
        if (task->unknowns[k].of.channel == quantity->channel)
            return true;
    return false;
}

pl_status pl_task_read_input_term(const pl_task *task, const pl_document *document,
                                  const json_t *object, const pl_place *place,
                                  const pl_term_source *source, pl_input_term *out)
{
    const json_t *of = json_object_get(object, "of");
    const pl_place quantity = {place, "quantity", 0}, rest = {place, "rest", 0};
    *out = (pl_input_term){.kind = source->kind,
                           .weight = source->weight,
                           .rest = source->rest,
                           .first_step = source->first_step ? source->first_step : 1,
                           .last_step = source->last_step ? source->last_step : task->steps};
    if (source->quantity < 0)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"quantity\" is missing: of which input?");
    pl_quantity_at(source->quantity, &out->of);
    const pl_channel_info *info = pl_channel_get(out->of.channel);
    if (info->role != PL_INPUT || out->of.column > 0)
        return pl_document_fail(document, &quantity, PL_ERROR_ARGUMENT,
                                "expected an input of every step, and not a rotation");
    if (!driven(task, &out->of))
        return pl_document_fail(document, &quantity, PL_ERROR_ARGUMENT,
                                "expected an input that an unknown drives");
    if (isfinite(out->rest) && out->of.width > 1)
        return pl_document_fail(document, &rest, PL_ERROR_ARGUMENT,
                                "goes with inputs of one number; vectors rest at the scene's own");
    if (out->last_step > task->steps || first_of(out) >= out->last_step)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected steps up to %d, the task's last, got %d to %d", task->steps,
                                out->first_step, out->last_step);
    out->rows = (pl_span){0, (int)pl_channel_size(task->scene, out->of.channel, 1)};
    if (of) {
        int owner;
        PL_TRY(pl_task_find_owner(document, task->scene, info->owner, of, place, &owner));
        out->rows = pl_channel_span(task->scene, out->of.channel, owner);
    }
    return PL_OK;
}

/* ------------------------------------------------------------------------------- values */

/* An entry of a term: where it is in the inputs of its channel, and in the derivatives by those of the
 * steps that are simulated. */
typedef struct entry {
    size_t input, gradient;           /* at its step */
    size_t input_back, gradient_back; /* from there to the step before */
    bool now, now_before;             /* its step is simulated, and the one before is */
    int residual;
} entry;

/* The index-th entry; false after the last. */
static bool entry_at(const pl_task *task, const pl_input_term *term, int index, entry *out)
{
    const pl_channel_info *info = pl_channel_get(term->of.channel);
    int per_step = term->rows.count * term->of.width, column = index % term->of.width;
    size_t rows = pl_channel_size(task->scene, term->of.channel, 1);
    int step = first_of(term) + index / per_step, local = step - task->first;
    size_t row = (size_t)(term->rows.first + index % per_step / term->of.width);
    if (index >= pl_input_term_residuals(term))
        return false;
    *out = (entry){.input = ((size_t)step * rows + row) * (size_t)info->width + (size_t)column,
                   .now = local >= 0 && local<task->span, .now_before = local> 0,
                   .input_back = rows * (size_t)info->width,
                   .gradient_back = rows * (size_t)info->gradient_width,
                   .residual = term->first_residual + index};
    if (out->now)
        out->gradient = ((size_t)local * rows + row) * (size_t)info->gradient_width + (size_t)column;
    return true;
}

static double scale_of(const pl_input_term *term)
{
    return sqrt(term->weight / pl_input_term_residuals(term));
}

static double residual_of(const pl_task *task, const pl_input_term *term, const entry *at)
{
    const double *u = task->input[term->of.channel], *own = task->base[term->of.channel];
    if (term->kind == PL_TERM_SMOOTHNESS)
        return scale_of(term) * (u[at->input] - u[at->input - at->input_back]);
    return scale_of(term) * (u[at->input] - (isfinite(term->rest) ? term->rest : own[at->input]));
}

double pl_task_input_loss(const pl_task *task, pl_gradient *gradient)
{
    double sum = 0;
    entry at;
    for (int k = 0; k < task->input_term_count; k++) {
        const pl_input_term *term = &task->input_terms[k];
        double *du = gradient ? gradient->of[term->of.channel] : NULL;
        for (int i = 0; entry_at(task, term, i, &at); i++) {
            if (!at.now)
                continue;
            double r = residual_of(task, term, &at), slope = 2 * scale_of(term) * r;
            sum += r * r;
            if (!du)
                continue;
            du[at.gradient] += slope;
            if (term->kind == PL_TERM_SMOOTHNESS && at.now_before)
                du[at.gradient - at.gradient_back] -= slope;
        }
    }
    return sum;
}

void pl_task_input_residual(const pl_task *task, const pl_gradient *along, double *r)
{
    entry at;
    for (int k = 0; k < task->input_term_count; k++) {
        const pl_input_term *term = &task->input_terms[k];
        const double *du = along ? along->of[term->of.channel] : NULL;
        for (int i = 0; entry_at(task, term, i, &at); i++) {
            bool smooth = term->kind == PL_TERM_SMOOTHNESS && at.now_before;
            if (!at.now)
                continue;
            r[at.residual] = du ? scale_of(term) * (du[at.gradient] -
                                                    (smooth ? du[at.gradient - at.gradient_back] : 0))
                                : residual_of(task, term, &at);
        }
    }
}
