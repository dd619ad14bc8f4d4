/*
 * Loss terms as a task file describes them: their stencils, and their targets from a file or from a
 * simulation at the true values. All kinds share one target file: CSV rows "step, x, y, z".
 */
#include "fit/task.h"

#include "core/vec.h"
#include "mesh/bvh.h"

#include <stdio.h>
#include <stdlib.h>

#define MARKER_OFF 0.1 /* of the body, that a marker may be given off its surface */

void pl_loss_term_free(pl_context *ctx, pl_loss_term *term)
{
    pl_free(ctx, term->vertex);
    pl_free(ctx, term->coefficient);
    pl_free(ctx, term->triangles);
    pl_free(ctx, term->steps);
    pl_free(ctx, term->first);
    pl_free(ctx, term->target);
}

/* ------------------------------------------------------------------------------- stencils */

static pl_status stencil_arrays(pl_task *task, pl_loss_term *term, int points, int width)
{
    pl_status status = PL_OK;
    term->point_count = points;
    term->width = width;
    PL_NEW(task->ctx, term->vertex, (size_t)points * (size_t)width, done);
    PL_NEW(task->ctx, term->coefficient, (size_t)points * (size_t)width, done);
done:
    return status;
}

static pl_status vertex_stencil(pl_task *task, pl_loss_term *term)
{
    const pl_scene *scene = task->scene;
    int first = term->body < 0 ? 0 : scene->bodies[term->body].vertex_offset;
    int count = term->body < 0 ? scene->vertex_count : scene->bodies[term->body].mesh->vertex_count;
    PL_TRY(stencil_arrays(task, term, count, 1));
    for (int i = 0; i < count; i++) {
        term->vertex[i] = first + i;
        term->coefficient[i] = 1;
    }
    return PL_OK;
}

/* Shares of a body's mass, lumped as the simulation does, with the densities of the scene file. */
static pl_status mass_stencil(pl_task *task, pl_loss_term *term)
{
    const pl_scene *scene = task->scene;
    const pl_body *body = &scene->bodies[term->body];
    int n = body->mesh->vertex_count, width = body->cloth ? 3 : 4;
    double total = 0;
    PL_TRY(stencil_arrays(task, term, 1, n));
    for (int i = 0; i < n; i++)
        term->vertex[i] = body->vertex_offset + i;
    for (int e = 0; e < body->element_count; e++) {
        double mass = scene->params.values->of[PL_DENSITY][body->element_offset + e] *
                      scene->volume[body->element_offset + e];
        total += mass;
        for (int k = 0; k < width; k++)
            term->coefficient[body->elements[(size_t)e * width + k]] += mass / width;
    }
    for (int i = 0; i < n; i++)
        term->coefficient[i] = body->lumped_equally ? 1.0 / n : term->coefficient[i] / total;
    return PL_OK;
}

static pl_status surface_of(pl_task *task, pl_loss_term *term)
{
    const pl_body *body = &task->scene->bodies[term->body];
    PL_TRY(pl_mesh_surface(task->ctx, body->mesh, &term->triangle_count, &term->triangles));
    for (int i = 0; i < 3 * term->triangle_count; i++)
        term->triangles[i] += body->vertex_offset;
    return PL_OK;
}

/* The diagonal of a body's bounding box at the start, m. */
static double body_size(const pl_scene *scene, int index)
{
    const pl_body *body = &scene->bodies[index];
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = body->vertex_offset; i < body->vertex_offset + body->mesh->vertex_count; i++) {
            low = fmin(low, scene->q0[3 * i + k]);
            high = fmax(high, scene->q0[3 * i + k]);
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

/* Markers sit on the surface of the start, nearest to where the file has them, which must be near. */
static pl_status marker_stencil(pl_task *task, const pl_document *document, const json_t *points,
                                const pl_place *place, pl_loss_term *term)
{
    int count = (int)json_array_size(points);
    pl_bvh *bvh = NULL;
    pl_status status = PL_OK;
    double size = body_size(task->scene, term->body);
    if (count == 0)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"points\" is missing or empty: expected "
                                "the markers' positions");
    PL_TRY(surface_of(task, term));
    PL_TRY(stencil_arrays(task, term, count, 3));
    PL_TRY(pl_bvh_create(task->ctx, task->scene->vertex_count, task->scene->q0, term->triangle_count,
                         term->triangles, &bvh));
    for (int i = 0; i < count; i++) {
        const json_t *point = json_array_get(points, (size_t)i);
        double x[3];
        pl_bvh_hit hit;
        for (int k = 0; k < 3; k++)
            x[k] = json_number_value(json_array_get(point, (size_t)k));
        pl_bvh_closest(bvh, x, INFINITY, &hit);
        if (hit.distance > MARKER_OFF * size) {
            status = pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                      "points[%d]: %.3g m off the surface of a body %.3g m large", i,
                                      hit.distance, size);
            break;
        }
        memcpy(term->vertex + 3 * i, term->triangles + 3 * (size_t)hit.triangle, 3 * sizeof(int));
        memcpy(term->coefficient + 3 * i, hit.weight, 3 * sizeof(double));
    }
    pl_bvh_destroy(task->ctx, bvh);
    return status;
}

/* A simulated cloud is the surface's vertices at the true values. */
static pl_status cloud_stencil(pl_task *task, pl_loss_term *term)
{
    pl_status status = PL_OK;
    char *seen = NULL;
    int count = 0;
    PL_CHECK(surface_of(task, term), done);
    PL_NEW(task->ctx, seen, task->scene->vertex_count, done);
    for (int i = 0; i < 3 * term->triangle_count; i++) {
        count += !seen[term->triangles[i]];
        seen[term->triangles[i]] = 1;
    }
    PL_CHECK(stencil_arrays(task, term, count, 1), done);
    count = 0;
    for (int i = 0; i < task->scene->vertex_count; i++)
        if (seen[i]) {
            term->vertex[count] = i;
            term->coefficient[count++] = 1;
        }
done:
    pl_free(task->ctx, seen);
    return status;
}

static pl_status find_body(pl_task *task, const pl_document *document, const json_t *reference,
                           const pl_place *place, pl_loss_term *term)
{
    const pl_scene *scene = task->scene;
    const pl_place here = {place, "body", 0};
    if (!reference) {
        term->body = term->kind <= PL_TERM_VELOCITIES ? -1 : 0;
        return PL_OK;
    }
    if (json_is_integer(reference))
        term->body = (int)json_integer_value(reference);
    for (int b = 0; json_is_string(reference) && b < scene->body_count; b++)
        if (strcmp(scene->bodies[b].name, json_string_value(reference)) == 0)
            term->body = b;
    if (term->body < 0 || term->body >= scene->body_count)
        return pl_document_fail(document, &here, PL_ERROR_ARGUMENT, "the scene has no such body");
    return PL_OK;
}

/* ------------------------------------------------------------------------------- targets */

/* Reads a row; false at its first character that does not fit. */
static bool parse_row(const char *line, double row[4])
{
    for (int i = 0; i < 4; i++) {
        char *end;
        row[i] = strtod(line, &end);
        if (end == line || !isfinite(row[i]))
            return false;
        line = end + strspn(end, " \t");
        if (i < 3 && *line++ != ',')
            return false;
    }
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* Takes one row into the term; rows of a step stand together, steps ascend. */
static pl_status take_row(pl_context *ctx, const char *path, int number, const double row[4],
                          pl_loss_term *term, int *capacity, int *step_capacity)
{
    int step = (int)row[0], rows = term->step_count ? term->first[term->step_count] : 0;
    bool fresh = term->step_count == 0 || step > term->steps[term->step_count - 1];
    if (row[0] < 1 || row[0] > 1e9 || step != row[0] ||
        (!fresh && step < term->steps[term->step_count - 1]))
        return pl_fail(ctx, PL_ERROR_PARSE,
                       "%s:%d: expected a step >= 1 that does not decrease, got %g", path, number,
                       row[0]);
    if (fresh) {
        int first_capacity = *step_capacity;
        PL_TRY(pl_grow(ctx, (void **)&term->first, &first_capacity, term->step_count + 2, sizeof(int)));
        PL_TRY(pl_grow(ctx, (void **)&term->steps, step_capacity, term->step_count + 2, sizeof(int)));
        term->steps[term->step_count++] = step;
    }
    PL_TRY(pl_grow(ctx, (void **)&term->target, capacity, 3 * (rows + 1), sizeof(double)));
    memcpy(term->target + 3 * (size_t)rows, row + 1, 3 * sizeof(double));
    term->first[term->step_count] = rows + 1;
    return PL_OK;
}

pl_status pl_target_read(pl_context *ctx, const char *path, pl_loss_term *term)
{
    FILE *file = fopen(path, "r");
    pl_status status = PL_OK;
    char line[512];
    int capacity = 0, step_capacity = 0;
    if (!file)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be opened for reading", path);
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        double row[4];
        bool blank = line[strspn(line, " \t\r\n")] == '\0',
             header = number == 1 && !strpbrk(line, "0123456789");
        if (blank || header)
            continue;
        if (!parse_row(line, row)) {
            status =
                pl_fail(ctx, PL_ERROR_PARSE, "%s:%d: expected a row \"step, x, y, z\"", path, number);
            goto done;
        }
        PL_CHECK(take_row(ctx, path, number, row, term, &capacity, &step_capacity), done);
    }
    if (ferror(file))
        status = pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be read", path);
    else if (term->step_count == 0)
        status = pl_fail(ctx, PL_ERROR_PARSE, "%s: expected rows \"step, x, y, z\", found none", path);
done:
    fclose(file);
    return status;
}

/* What a target file must agree with: the number of steps, and of points in each. */
static pl_status check_target(const pl_task *task, const char *path, const pl_loss_term *term)
{
    for (int i = 0; i < term->step_count; i++) {
        int rows = term->first[i + 1] - term->first[i];
        if (term->steps[i] > task->steps)
            return pl_fail(task->ctx, PL_ERROR_ARGUMENT, "%s: step %d, but the task has %d steps", path,
                           term->steps[i], task->steps);
        if (term->kind != PL_TERM_CLOUD && rows != term->point_count)
            return pl_fail(task->ctx, PL_ERROR_ARGUMENT, "%s: step %d has %d rows, expected %d points",
                           path, term->steps[i], rows, term->point_count);
    }
    return PL_OK;
}

static pl_status load_target(pl_task *task, const pl_document *document, const char *file,
                             const pl_place *place, pl_loss_term *term)
{
    char *path = pl_document_resolve(document, file);
    const pl_place here = {place, "target", 0};
    pl_status status = path ? pl_target_read(task->ctx, path, term) : PL_ERROR_MEMORY;
    if (status == PL_OK)
        status = check_target(task, path, term);
    pl_free(task->ctx, path);
    return status == PL_OK ? PL_OK : pl_document_fail_within(document, &here, status);
}

/* Room for a simulated target after the steps the file names, or after the last. */
static pl_status plan_target(pl_task *task, const pl_document *document, const json_t *steps,
                             const pl_place *place, pl_loss_term *term)
{
    pl_status status = PL_OK;
    int count = steps ? (int)json_array_size(steps) : 1, last = 0;
    const pl_place list = {place, "steps", 0};
    if (count == 0)
        return pl_document_fail(document, &list, PL_ERROR_ARGUMENT, "expected at least one step");
    PL_NEW(task->ctx, term->steps, count, done);
    PL_NEW(task->ctx, term->first, count + 1, done);
    PL_NEW(task->ctx, term->target, 3 * (size_t)count * (size_t)term->point_count, done);
    for (; term->step_count < count; term->step_count++) {
        int i = term->step_count;
        int step = steps ? (int)json_integer_value(json_array_get(steps, (size_t)i)) : task->steps;
        const pl_place here = {&list, NULL, i};
        if (step <= last || step > task->steps)
            return pl_document_fail(document, &here, PL_ERROR_ARGUMENT,
                                    "expected ascending steps up to %d, got %d", task->steps, step);
        term->steps[i] = last = step;
        term->first[i + 1] = (i + 1) * term->point_count;
    }
done:
    return status;
}

static bool all_true_values_known(const pl_task *task)
{
    for (int k = 0; k < task->unknown_count; k++)
        if (isnan(task->unknowns[k].truth))
            return false;
    return true;
}

/* Which of its keys says where the target is, and whether the others go with it. */
static pl_status choose_source(const pl_document *document, const json_t *object, const pl_place *place,
                               const pl_term_source *source, pl_loss_term *term)
{
    const struct {
        const char *key;
        bool given;
        pl_target_source is;
    } sources[] = {{"target", json_object_get(object, "target"), PL_TARGET_FILE},
                   {"path", json_object_get(object, "path"), PL_TARGET_PATH},
                   {"keep", source->keep || term->kind == PL_TERM_SHAPE, PL_TARGET_START},
                   {"distance", json_object_get(object, "distance"), PL_TARGET_AHEAD}};
    double length = pl_norm3(source->along);
    int given = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].given) {
            term->source = sources[i].is;
            given++;
        }
    if (given > 1)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "expected one of \"target\", \"path\", \"keep\" and \"distance\"; a "
                                "shape is always kept");
    if (pl_term_is_goal(term) && (term->kind == PL_TERM_VELOCITIES || term->kind == PL_TERM_CLOUD))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "velocities and point clouds are compared with a target, not a goal");
    if (!pl_term_is_goal(term) && (source->first_step || source->last_step || source->every > 1 ||
                                   source->relative || source->within > 0))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "first_step, last_step, every, relative and within go with goals: "
                                "\"path\", \"keep\", \"distance\"; the rows of a \"target\" say "
                                "their steps, and of a simulated one \"steps\" does");
    if (term->source == PL_TARGET_AHEAD && length == 0)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"along\" is missing: which way is \"distance\"?");
    if (length > 0 && (term->kind >= PL_TERM_CLOUD || term->kind == PL_TERM_VELOCITIES))
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"along\" goes with positions, markers and centre_of_mass only");
    for (int k = 0; k < 3 && length > 0; k++)
        term->along[k] = source->along[k] / length;
    return PL_OK;
}

static pl_status read_term(pl_task *task, const pl_document *document, const json_t *object,
                           const pl_place *place, const pl_term_source *source, pl_loss_term *term)
{
    const json_t *points = json_object_get(object, "points"), *steps = json_object_get(object, "steps");
    const char *target = json_string_value(json_object_get(object, "target"));
    *term = (pl_loss_term){.kind = source->kind,
                           .body = -1,
                           .weight = source->weight,
                           .distance = source->distance,
                           .within = source->within};
    PL_TRY(find_body(task, document, json_object_get(object, "body"), place, term));
    if (points && term->kind != PL_TERM_MARKERS)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT, "\"points\" go with markers only");
    if (steps && target)
        return pl_document_fail(document, place, PL_ERROR_ARGUMENT,
                                "\"steps\" and \"target\": the target file says the steps");
    PL_TRY(choose_source(document, object, place, source, term));
    if (term->kind == PL_TERM_MARKERS)
        PL_TRY(marker_stencil(task, document, points, place, term));
    else if (term->kind == PL_TERM_CENTRE)
        PL_TRY(mass_stencil(task, term));
    else if (term->kind == PL_TERM_CLOUD)
        PL_TRY(cloud_stencil(task, term));
    else
        PL_TRY(vertex_stencil(task, term));
    if (term->source == PL_TARGET_FILE)
        return load_target(task, document, target, place, term);
    if (pl_term_is_goal(term)) {
        task->control = true;
        return pl_task_set_goal(task, document, object, place, source, term);
    }
    if (!all_true_values_known(task))
        return pl_document_fail(
            document, place, PL_ERROR_ARGUMENT,
            "expected \"target\": without \"true\" values of all unknowns it cannot be "
            "simulated");
    task->simulated_targets = true;
    return plan_target(task, document, steps, place, term);
}

pl_status pl_task_read_terms(pl_task *task, const pl_document *document)
{
    const json_t *list = json_object_get(document->root, "loss");
    const pl_place at = {NULL, "loss", 0};
    int count = (int)json_array_size(list), residuals = 0;
    pl_status status = PL_OK;
    if (count == 0)
        return pl_document_fail(document, &at, PL_ERROR_ARGUMENT, "expected at least one term");
    PL_NEW(task->ctx, task->terms, count, done);
    PL_NEW(task->ctx, task->input_terms, count, done);
    for (int k = 0; k < count; k++) {
        const pl_place here = {&at, NULL, k};
        const json_t *object = json_array_get(list, (size_t)k);
        pl_term_source source;
        pl_spec_term.defaults(&source);
        pl_spec_read(&pl_spec_term, object, &source);
        if (source.kind >= PL_TERM_EFFORT)
            PL_CHECK(pl_task_read_input_term(task, document, object, &here, &source,
                                             &task->input_terms[task->input_term_count++]),
                     done);
        else
            PL_CHECK(
                read_term(task, document, object, &here, &source, &task->terms[task->term_count++]),
                done);
    }
    if (task->term_count == 0) {
        status = pl_document_fail(document, &at, PL_ERROR_ARGUMENT,
                                  "expected a term of the motion beside those of inputs");
        goto done;
    }
    for (int k = 0; k < task->term_count; k++) {
        task->terms[k].first_residual = residuals;
        residuals += pl_term_residuals(&task->terms[k]);
    }
    task->data_residual_count = residuals;
    task->control = task->control || task->window.steps > 0;
    for (int k = 0; k < task->unknown_count; k++) {
        const pl_unknown *u = &task->unknowns[k];
        residuals += (u->prior > 0 ? u->count : 0) + (u->smooth > 0 ? u->count - 1 : 0);
    }
    for (int k = 0; k < task->input_term_count; k++) {
        task->input_terms[k].first_residual = residuals;
        residuals += pl_input_term_residuals(&task->input_terms[k]);
    }
    task->residual_count = residuals;
done:
    return status;
}

pl_status pl_task_record_targets(pl_task *task, pl_rollout *rollout)
{
    pl_status status = PL_OK;
    size_t n = 3 * (size_t)task->scene->vertex_count;
    double *q = NULL, *v = NULL;
    PL_NEW(task->ctx, q, n, done);
    PL_NEW(task->ctx, v, n, done);
    for (int k = 0; k < task->term_count; k++) {
        pl_loss_term *term = &task->terms[k];
        for (int i = 0; term->source == PL_TARGET_SIMULATED && i < term->step_count; i++) {
            PL_CHECK(pl_rollout_state(rollout, term->steps[i], q, v), done);
            const double *x = term->kind == PL_TERM_VELOCITIES ? v : q;
            for (int j = 0; j < term->point_count; j++) {
                double *out = term->target + 3 * (size_t)(term->first[i] + j);
                memset(out, 0, 3 * sizeof *out);
                for (int l = j * term->width; l < (j + 1) * term->width; l++)
                    pl_axpy3(term->coefficient[l], x + 3 * (size_t)term->vertex[l], out);
            }
        }
    }
done:
    pl_free(task->ctx, q);
    pl_free(task->ctx, v);
    return status;
}
