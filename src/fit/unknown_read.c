/* Unknowns as a task file describes them: whose they are, how many numbers, within which bounds. */
#include "fit/task.h"

#include "core/vec.h"

#include <stdio.h>

/* The part of a kind that the value of `key` names. */
static pl_status find_part(const pl_document *document, const pl_scene *scene, pl_owner owner,
                           const json_t *of, const char *key, const pl_place *place, int *index)
{
    const char *kind = pl_owner_name(owner);
    int count = pl_scene_owner_count(scene, owner);
    const pl_place here = {place, key, 0};
    *index = 0;
    if (json_is_string(of)) {
        const char *name = json_string_value(of);
        for (; *index < count; ++*index) {
            const char *known = pl_part_name(scene, owner, *index);
            if (known && strcmp(known, name) == 0)
                return PL_OK;
        }
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "the scene has no %s named \"%s\"",
                                kind, name);
    }
    if (of)
        *index = (int)json_integer_value(of);
    if (*index < 0 || *index >= count)
        return pl_document_fail(document, of ? &here : place, PL_ERROR_ARGUMENT,
                                "expected a %s of the scene, which has %d, got index %d", kind, count,
                                *index);
    return PL_OK;
}

pl_status pl_task_find_owner(const pl_document *document, const pl_scene *scene, pl_owner owner,
                             const json_t *of, const pl_place *place, int *index)
{
    return find_part(document, scene, owner, of, "of", place, index);
}

/* The one body that a coefficient of friction is with, if it names one. */
static pl_status read_other(const pl_document *document, const pl_scene *scene, const json_t *object,
                            const pl_place *place, pl_unknown *u)
{
    const pl_place here = {place, "with", 0}, of = {place, "of", 0};
    const json_t *with = json_object_get(object, "with");
    const char *owner = json_string_value(json_object_get(object, "of"));
    if (u->of.channel == PL_BODY_FRICTION && owner && strcmp(owner, "all") == 0)
        return pl_document_fail(document, &of, PL_ERROR_ARGUMENT,
                                "expected one body: pairs are named by \"of\" and \"with\"");
    if (!with)
        return PL_OK;
    if (pl_channel_get(u->of.channel)->row != PL_ROW_BODY)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "goes with friction and body_friction only");
    return find_part(document, scene, PL_OWNER_BODY, with, "with", place, &u->other);
}

static pl_status count_entries(const pl_document *document, const pl_task *task, pl_unknown *u,
                               const pl_place *place)
{
    const pl_channel_info *info = pl_channel_get(u->of.channel);
    const pl_place here = {place, u->signal ? "signal" : "for_each", 0};
    bool fits = true;
    u->count = pl_channel_span(task->scene, u->of.channel, u->owner).count;
    switch (u->spread) {
    case PL_SPREAD_ONE:
        u->count = 1;
        break;
    case PL_SPREAD_ELEMENT:
        fits = info->row == PL_ROW_ELEMENT;
        break;
    case PL_SPREAD_STEP:
        fits = info->role == PL_INPUT;
        u->count = task->window.steps ? task->window.steps : task->steps;
        break;
    case PL_SPREAD_VERTEX:
        fits = info->role == PL_START;
        break;
    case PL_SPREAD_SIGNAL:
        fits = info->role == PL_INPUT;
        u->count = pl_signal_count(u);
        break;
    }
    return fits
               ? PL_OK
               : pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "does not go with this quantity");
}

#define LEAST 1e-12 /* of a parameter that must be more than 0 */

/* Values a parameter cannot leave, whatever the file says. */
static void limit_physically(pl_unknown *u)
{
    const pl_channel_info *info = pl_channel_get(u->of.channel);
    if (info->role != PL_PARAMETER)
        return;
    u->lower = fmax(u->lower, info->above ? LEAST : info->lower);
    if (isfinite(u->upper) || info->upper < 1) /* the others are beyond what anything is made of */
        u->upper = fmin(u->upper, info->upper);
    if (u->of.channel == PL_FRICTION || u->of.channel == PL_BODY_FRICTION)
        u->lower = fmax(u->lower, 1e-3); /* 0 is another law, without friction and without a slope */
}

static pl_status check_signal(const pl_document *document, const json_t *object, const pl_place *place,
                              const pl_task *task, pl_unknown *u)
{
    const pl_place knots = {place, "knots", 0}, range = {place, "frequency_range", 0};
    if (u->signal == PL_SIGNAL_NONE)
        return PL_OK;
    if (json_object_get(object, "for_each") || u->map != PL_MAP_NONE || !isnan(u->truth))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"for_each\", \"map\" and \"true\" do not go with a signal");
    if (u->signal == PL_SIGNAL_SPLINE && u->knots < u->degree + 1)
        return pl_document_fail(document, &knots, PL_ERROR_ARGUMENT,
                                "expected more than the degree, %d, got %d", u->degree, u->knots);
    if (!json_object_get(object, "frequency_range"))
        u->frequency_range[1] = fmax(u->frequency, 0.25 / task->scene->params.values->def.time_step);
    if (u->frequency < u->frequency_range[0] || u->frequency > u->frequency_range[1])
        return pl_document_fail(document, &range, PL_ERROR_ARGUMENT,
                                "expected \"frequency\", %g Hz, to be within", u->frequency);
    u->spread = PL_SPREAD_SIGNAL;
    return PL_OK;
}

static pl_status check_values(const pl_document *document, const pl_unknown *u, const pl_place *place)
{
    const pl_place initial = {place, "initial", 0}, map = {place, "map", 0}, truth = {place, "true", 0};
    bool logit = u->map == PL_MAP_LOGIT;
    if (!(u->lower < u->upper))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected lower < upper, got %g and %g", u->lower, u->upper);
    if (logit && !(isfinite(u->lower) && isfinite(u->upper)))
        return pl_document_fail(document, &map, PL_ERROR_ARGUMENT, "logit needs both lower and upper");
    if (u->map == PL_MAP_LOG && !(u->initial > 0))
        return pl_document_fail(document, &initial, PL_ERROR_ARGUMENT, "log needs a value > 0, got %g",
                                u->initial);
    if (u->initial < u->lower || u->initial > u->upper ||
        (logit && (u->initial == u->lower || u->initial == u->upper)))
        return pl_document_fail(document, &initial, PL_ERROR_ARGUMENT,
                                "expected a value %s [%g, %g], got %g",
                                logit ? "strictly inside" : "in", u->lower, u->upper, u->initial);
    if (!isnan(u->truth) &&
        (u->truth < u->lower || u->truth > u->upper || !isfinite(pl_map_to_x(u, u->truth))))
        return pl_document_fail(document, &truth, PL_ERROR_ARGUMENT,
                                "expected a value in [%g, %g], got %g", u->lower, u->upper, u->truth);
    if (u->of.width > 1 && pl_norm3(u->direction) == 0)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"direction\" is missing: which way does it point?");
    return PL_OK;
}

/* How many unknowns an entry of the list is: one, or one for each owner. */
static int owners_of(const pl_scene *scene, const json_t *object)
{
    const char *of = json_string_value(json_object_get(object, "of"));
    pl_unknown u;
    pl_spec_unknown.defaults(&u);
    pl_spec_read(&pl_spec_unknown, object, &u);
    pl_quantity_at(u.index, &u.of);
    int count = pl_scene_owner_count(scene, pl_channel_get(u.of.channel)->owner);
    return of && strcmp(of, "all") == 0 && count > 0 ? count : 0;
}

/* "activation 3", or the owner's name if it was given one. */
static void add_owner(const pl_scene *scene, pl_unknown *u)
{
    pl_owner owner = pl_channel_get(u->of.channel)->owner;
    size_t used = strlen(u->name), room = sizeof u->name - used;
    if (pl_part_is_named(scene, owner, u->owner))
        snprintf(u->name + used, room, " %s", pl_part_name(scene, owner, u->owner));
    else
        snprintf(u->name + used, room, " %d", u->owner);
}

/* which: the owner, when the entry is of all of them; else -1. */
static pl_status read_unknown(pl_task *task, const pl_document *document, const json_t *object,
                              const pl_place *place, int which, pl_unknown *u)
{
    const json_t *name = json_object_get(object, "name"), *value;
    pl_spec_unknown.defaults(u);
    pl_spec_read(&pl_spec_unknown, object, u);
    snprintf(u->name, sizeof u->name, "%s",
             json_string_value(name ? name : json_object_get(object, "quantity")));
    if ((value = json_object_get(object, "true")))
        u->truth = json_number_value(value);
    if ((value = json_object_get(object, "lower")))
        u->lower = json_number_value(value);
    if ((value = json_object_get(object, "upper")))
        u->upper = json_number_value(value);
    pl_quantity_at(u->index, &u->of);
    if (u->of.width == 1)
        u->direction[0] = 1;
    if (task->starts > 1 && !(isfinite(u->lower) && isfinite(u->upper)))
        return pl_document_fail(
            document, place, PL_ERROR_ARGUMENT,
            "expected \"lower\" and \"upper\": \"starts\" draws values between them");
    limit_physically(u);
    PL_TRY(check_signal(document, object, place, task, u));
    PL_TRY(check_values(document, u, place));
    if (task->starts > 1 && u->map == PL_MAP_LOG && !(u->lower > 0))
        return pl_document_fail(
            document, place, PL_ERROR_ARGUMENT,
            "expected \"lower\" > 0: \"starts\" draws logarithms between the bounds");
    u->owner = which;
    if (which < 0)
        PL_TRY(pl_task_find_owner(document, task->scene, pl_channel_get(u->of.channel)->owner,
                                  json_object_get(object, "of"), place, &u->owner));
    else
        add_owner(task->scene, u);
    PL_TRY(read_other(document, task->scene, object, place, u));
    PL_TRY(count_entries(document, task, u, place));
    if (u->start && (u->spread != PL_SPREAD_STEP || u->of.column > 0)) {
        const pl_place here = {place, "start", 0};
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                "goes with inputs for_each step only, and not with rotations");
    }
    if (task->window.steps && u->spread != PL_SPREAD_STEP)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected \"for_each\": \"step\": \"window\" goes with inputs of every "
                                "step only");
    u->first = task->n;
    task->n += u->count;
    return PL_OK;
}

/* Logit's x at a thousandth of the range from a bound. Farther out the slope of p vanishes, and with it
 * every gradient that could lead back: one long step would end a fit there. */
#define LOGIT_REACH 7.0

void pl_unknown_set_box(pl_task *task, const pl_unknown *u)
{
    double initial = pl_map_to_x(u, u->initial);
    double reach = fmax(LOGIT_REACH, fabs(initial));
    if (u->map == PL_MAP_LOGIT && isfinite(u->truth))
        reach = fmax(reach, fabs(pl_map_to_x(u, u->truth)));
    for (int i = u->first; i < u->first + u->count; i++) {
        bool logit = u->map == PL_MAP_LOGIT;
        task->initial[i] = initial;
        task->lower[i] = logit ? -reach : u->map == PL_MAP_LOG ? log(fmax(u->lower, 0)) : u->lower;
        task->upper[i] = logit ? reach : pl_map_to_x(u, u->upper);
        if (u->spread == PL_SPREAD_SIGNAL)
            pl_signal_box(u, i - u->first, &task->initial[i], &task->lower[i], &task->upper[i]);
    }
}

pl_status pl_task_read_unknowns(pl_task *task, const pl_document *document)
{
    const json_t *list = json_object_get(document->root, "unknowns");
    const pl_place at = {NULL, "unknowns", 0};
    int items = (int)json_array_size(list), count = items;
    pl_status status = PL_OK;
    if (count == 0)
        return pl_document_fail(document, &at, PL_ERROR_ARGUMENT, "expected at least one unknown");
    for (int k = 0; k < items; k++) {
        int owners = owners_of(task->scene, json_array_get(list, (size_t)k));
        count += owners > 0 ? owners - 1 : 0;
    }
    PL_NEW(task->ctx, task->unknowns, count, done);
    for (int k = 0; k < items; k++) {
        const pl_place here = {&at, NULL, k};
        const json_t *object = json_array_get(list, (size_t)k);
        int owners = owners_of(task->scene, object);
        for (int which = owners > 0 ? 0 : -1; which < owners; which++) {
            pl_unknown *u = &task->unknowns[task->unknown_count];
            PL_CHECK(read_unknown(task, document, object, &here, which, u), done);
            task->wanted |= PL_BIT(u->of.channel);
            task->unknown_count++;
        }
    }
    PL_NEW(task->ctx, task->initial, task->n, done);
    PL_NEW(task->ctx, task->lower, task->n, done);
    PL_NEW(task->ctx, task->upper, task->n, done);
    PL_NEW(task->ctx, task->p, task->n, done);
    for (int k = 0; k < count; k++)
        pl_unknown_set_box(task, &task->unknowns[k]);
done:
    return status;
}
