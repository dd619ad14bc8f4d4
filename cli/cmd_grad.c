/* `pliant grad`: the gradient of a loss with respect to everything a scene depends on, summed by owner.
 */
#include "cli.h"
#include "json.h"
#include "loss.h"
#include "progress.h"

#include <pliant/check.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>

typedef struct grad_options {
    const char *loss, *wrt;
    int steps, threads; /* steps INT_MIN: the scene's */
    double budget;      /* MB */
    cli_list set;
    bool json, verbose;
} grad_options;

/* One line of the result: the sum over an owner's entries, component by component. */
typedef struct grad_row {
    const char *kind, *unit;
    char owner[128];
    int entries; /* numbers behind the sum, of each component */
    int width;
    double sum[6];
    double norm; /* of all the entries */
} grad_row;

typedef struct grad_table {
    int count, capacity;
    grad_row *rows;
    bool failed; /* out of memory */
} grad_table;

/* The sum of `rows` rows of `width` numbers, in each of `blocks` blocks that are `stride` numbers
 * apart. */
typedef struct grad_part {
    const double *values;
    int blocks, stride, rows, width;
} grad_part;

static void add_row(grad_table *table, unsigned kind, const char *unit, const char *owner,
                    grad_part part)
{
    if (table->count == table->capacity) {
        int capacity = 2 * table->capacity + 32;
        grad_row *grown = realloc(table->rows, sizeof *grown * (size_t)capacity);
        table->failed |= !grown;
        if (!grown)
            return;
        table->rows = grown;
        table->capacity = capacity;
    }
    grad_row *row = &table->rows[table->count++];
    *row = (grad_row){.kind = pl_gradient_name(kind),
                      .unit = unit,
                      .entries = part.blocks * part.rows,
                      .width = part.width};
    snprintf(row->owner, sizeof row->owner, "%s", owner);
    for (int b = 0; b < part.blocks; b++)
        for (int i = 0; i < part.rows * part.width; i++) {
            double value = part.values[(size_t)b * (size_t)part.stride + (size_t)i];
            row->sum[i % part.width] += value;
            row->norm += value * value;
        }
    row->norm = sqrt(row->norm);
}

static void body_rows(const pl_scene *scene, const pl_gradient *g, grad_table *table)
{
    const struct {
        unsigned kind;
        const double *values;
        const char *unit;
        bool vertices; /* [n, 3] instead of [element_count] */
    } kinds[] = {
        {PL_GRAD_POSITION, g->position, "1/m", true},   {PL_GRAD_VELOCITY, g->velocity, "s/m", true},
        {PL_GRAD_YOUNG, g->young, "1/Pa", false},       {PL_GRAD_POISSON, g->poisson, "1", false},
        {PL_GRAD_DENSITY, g->density, "m^3/kg", false}, {PL_GRAD_BENDING, g->bending, "1/(N m)", false},
        {PL_GRAD_DAMPING, g->damping, "s", false},
    };
    int bodies = pl_scene_get_info(scene).body_count;
    pl_body_info body;
    for (int k = 0; k < CLI_COUNT(kinds); k++)
        for (int b = 0; kinds[k].values && b < bodies && pl_scene_body(scene, b, &body) == PL_OK; b++) {
            grad_part part = {.values = kinds[k].values, .blocks = 1};
            part.values += kinds[k].vertices ? 3 * body.vertex_offset : body.element_offset;
            part.rows = kinds[k].vertices ? body.vertex_count : body.element_count;
            part.width = kinds[k].vertices ? 3 : 1;
            if (kinds[k].kind != PL_GRAD_BENDING || body.cloth)
                add_row(table, kinds[k].kind, kinds[k].unit, body.name, part);
        }
}

/* One row for each of `count` owners of an input [steps, count, width], summed over the steps. */
static void owner_rows(grad_table *table, unsigned kind, const char *unit, const char *owner, int steps,
                       const double *values, int count, int width)
{
    for (int k = 0; values && k < count; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s %d", owner, k);
        add_row(table, kind, unit, name,
                (grad_part){values + width * k, steps, width * count, 1, width});
    }
}

static void collider_rows(const pl_scene *scene, const pl_gradient *g, grad_table *table)
{
    pl_scene_info info = pl_scene_get_info(scene);
    pl_collider_def collider;
    pl_body_info body;
    char name[192];
    for (int c = 0; g->collider_pose && c < info.collider_count; c++)
        if (pl_scene_collider(scene, c, &collider) == PL_OK)
            add_row(table, PL_GRAD_COLLIDER_POSE, "1/m, 1/rad", collider.name,
                    (grad_part){g->collider_pose + 6 * c, g->steps, 6 * info.collider_count, 1, 6});
    for (int k = 0; g->friction && k < info.collider_count * info.body_count; k++)
        if (pl_scene_collider(scene, k / info.body_count, &collider) == PL_OK &&
            pl_scene_body(scene, k % info.body_count, &body) == PL_OK) {
            snprintf(name, sizeof name, "%s, %s", collider.name, body.name);
            add_row(table, PL_GRAD_FRICTION, "1", name, (grad_part){g->friction + k, 1, 1, 1, 1});
        }
}

static void input_rows(const pl_scene *scene, const pl_gradient *g, grad_table *table)
{
    pl_scene_info info = pl_scene_get_info(scene);
    pl_body_info body;
    for (int b = 0; g->vertex_force && b < info.body_count && pl_scene_body(scene, b, &body) == PL_OK;
         b++) {
        grad_part part = {g->vertex_force + 3 * body.vertex_offset, g->steps, 3 * info.vertex_count,
                          body.vertex_count, 3};
        add_row(table, PL_GRAD_VERTEX_FORCE, "1/N", body.name, part);
    }
    owner_rows(table, PL_GRAD_FORCE, "1/its unit", "force", g->steps, g->force, info.force_count, 3);
    owner_rows(table, PL_GRAD_WIND, "s/m", "wind", g->steps, g->wind, info.wind_count, 3);
    if (g->pin_target && info.pin_vertex_count > 0) {
        grad_part part = {g->pin_target, g->steps, 3 * info.pin_vertex_count, info.pin_vertex_count, 3};
        add_row(table, PL_GRAD_PIN_TARGET, "1/m", "all pins", part);
    }
    owner_rows(table, PL_GRAD_COMPLIANCE, "N/m", "pin", 1, g->compliance, info.pin_count, 1);
}

static void print_text(const char *loss, const pl_adjoint_info *a, const pl_rollout *rollout,
                       const grad_table *table)
{
    int steps = pl_rollout_steps(rollout);
    printf("loss \"%s\" after %d steps: %.10g\n", loss, steps, a->loss);
    printf("adjoint: %d linear iterations, %d factorisations, residual %.1e, %.2f ms a step\n",
           a->iterations, a->factorizations, a->residual, a->milliseconds / steps);
    printf("tape: at most %.2f MB, %d steps run again\n\n", 1e-6 * (double)pl_rollout_bytes(rollout),
           a->recomputed);
    printf("%-14s %-22s %8s %12s  %s\n", "of", "owner", "entries", "norm", "sum");
    for (int r = 0; r < table->count; r++) {
        const grad_row *row = &table->rows[r];
        printf("%-14s %-22s %8d %12.5g ", row->kind, row->owner, row->entries, row->norm);
        for (int k = 0; k < row->width; k++)
            printf(" %.8g", row->sum[k]);
        printf("  (%s)\n", row->unit);
    }
}

static int print_json(const char *scene, const char *loss, const pl_adjoint_info *a,
                      const pl_rollout *rollout, const grad_table *table)
{
    json_t *rows = json_array();
    for (int r = 0; r < table->count; r++) {
        const grad_row *row = &table->rows[r];
        json_t *sum = json_array();
        for (int k = 0; k < row->width; k++)
            json_array_append_new(sum, json_real(row->sum[k]));
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:i, s:f, s:o}", "of", row->kind,
                                              "owner", row->owner, "unit", row->unit, "entries",
                                              row->entries, "norm", row->norm, "sum", sum));
    }
    return cli_json_print(
        json_pack("{s:s, s:s, s:i, s:f, s:{s:i, s:i, s:f, s:f, s:i}, s:I, s:o}", "scene", scene,
                  "loss_name", loss, "steps", pl_rollout_steps(rollout), "loss", a->loss, "adjoint",
                  "iterations", a->iterations, "factorizations", a->factorizations, "residual",
                  a->residual, "milliseconds", a->milliseconds, "recomputed", a->recomputed,
                  "tape_bytes", (json_int_t)pl_rollout_bytes(rollout), "gradients", rows));
}

static bool watch(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)state;
    cli_progress_update(user, step, info);
    return !cli_interrupted();
}

/* "All" leaves vertex forces out: an array as large as the whole trajectory, which few ask for. */
static unsigned choose_kinds(const grad_options *options)
{
    unsigned kinds = cli_gradient_kinds(options->wrt);
    return options->wrt ? kinds : kinds & ~(unsigned)PL_GRAD_VERTEX_FORCE;
}

static int print_rows(const char *path, const grad_options *options, const pl_scene *scene,
                      const pl_rollout *rollout, const pl_gradient *gradient,
                      const pl_adjoint_info *info)
{
    grad_table table = {0};
    int code = CLI_OK;
    body_rows(scene, gradient, &table);
    input_rows(scene, gradient, &table);
    collider_rows(scene, gradient, &table);
    if (options->json)
        code = print_json(path, options->loss, info, rollout, &table);
    else
        print_text(options->loss, info, rollout, &table);
    if (table.failed)
        code = CLI_FAILED;
    free(table.rows);
    return code;
}

static int differentiate(const char *path, const grad_options *options, pl_context *ctx,
                         cli_simulation *s)
{
    pl_status status;
    pl_state *start = NULL;
    pl_rollout *rollout = NULL;
    pl_gradient *gradient = NULL;
    pl_adjoint_info info;
    cli_loss loss;
    pl_rollout_def def = pl_rollout_def_default();
    def.steps = options->steps > 0 ? options->steps : s->file.steps;
    cli_progress bar = cli_progress_start(def.steps);
    def.memory_budget = (size_t)(options->budget * 1e6);
    def.progress = watch;
    def.progress_user = &bar;
    if ((status = pl_state_create(s->scene, &start)) == PL_OK)
        cli_loss_find(options->loss, def.steps, start, &loss);
    cli_catch_interrupt();
    if (status == PL_OK)
        status = pl_rollout_run(s->sim, s->state, &def, &rollout);
    cli_line_clear();
    if (status == PL_OK)
        status = pl_gradient_create(s->scene, def.steps, choose_kinds(options), &gradient);
    if (status == PL_OK)
        status = pl_rollout_backward(rollout, NULL, cli_loss_term, &loss, gradient, &info);
    int code = status == PL_OK ? print_rows(path, options, s->scene, rollout, gradient, &info)
                               : cli_report(ctx, status);
    pl_gradient_destroy(s->scene, gradient);
    pl_rollout_destroy(rollout);
    if (start)
        pl_state_destroy(s->scene, start);
    return code;
}

static int grad(const char *path, const grad_options *options, pl_context *ctx)
{
    cli_simulation s;
    int code = cli_simulation_open(ctx, path, &options->set, &s);
    if (code == CLI_OK)
        code = differentiate(path, options, ctx, &s);
    cli_simulation_close(&s);
    return code;
}

int cmd_grad(int argc, char **argv)
{
    grad_options options = {.loss = "distance", .steps = INT_MIN};
    const cli_option table[] = {
        {"loss", CLI_TEXT, &options.loss, "NAME", "distance (default), x, y, z or speed, at the end"},
        {"wrt", CLI_TEXT, &options.wrt, "LIST", "young,friction,...; default all but vertex_force"},
        {"steps", CLI_INT, &options.steps, "N", "instead of the scene's"},
        {"memory", CLI_NUMBER, &options.budget, "MB", "for the tape; steps are recomputed beyond it"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE", "change the scene, as for run"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"json", CLI_FLAG, &options.json, NULL, "print the result as JSON"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr"},
    };
    const cli_command command = {
        .name = "grad",
        .arguments = "SCENE",
        .summary =
            "Gradient of a loss at the end of a simulation with respect to what the scene holds.",
        .details =
            "Losses: distance = 1/(2N) sum |x - x_start|^2, x|y|z = mean coordinate, speed = 1/(2N)\n"
            "sum |v|^2. Kinds: " CLI_KINDS ".\n"
            "A sum over a body is the derivative for a change that is the same everywhere in it.",
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    cli_loss known;
    const pl_state nothing = {0};
    if (options.steps < 1 && options.steps != INT_MIN)
        return cli_usage(&command, "--steps: expected at least 1, got %d", options.steps);
    if (options.threads < 0 || options.budget < 0)
        return cli_usage(&command, "--threads and --memory cannot be negative");
    if (!cli_loss_find(options.loss, 0, &nothing, &known))
        return cli_usage(&command, "--loss: expected %s, got '%s'", cli_loss_names(), options.loss);
    if (!cli_gradient_kinds(options.wrt))
        return cli_usage(&command, CLI_BAD_KINDS, options.wrt);
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = grad(argv[1], &options, ctx);
    pl_context_destroy(ctx);
    return code;
}
