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
#include <string.h>

typedef struct grad_options {
    const char *loss, *wrt;
    int steps, threads; /* steps INT_MIN: the scene's */
    double budget;      /* MB */
    cli_list set;
    const char *device;
    bool json, verbose;
} grad_options;

/* One line of the result: the sum over an owner's entries, component by component. */
typedef struct grad_row {
    const char *kind;
    char unit[32], owner[192];
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

static void add_row(grad_table *table, const pl_channel_info *of, const char *owner, grad_part part)
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
    *row = (grad_row){.kind = of->name, .entries = part.blocks * part.rows, .width = part.width};
    bool product = strpbrk(of->unit, " /");
    snprintf(row->unit, sizeof row->unit, "1%s%s%s%s", *of->unit ? "/" : "", product ? "(" : "",
             of->unit, product ? ")" : "");
    snprintf(row->owner, sizeof row->owner, "%s", owner);
    for (int b = 0; b < part.blocks; b++)
        for (int i = 0; i < part.rows * part.width; i++) {
            double value = part.values[(size_t)b * (size_t)part.stride + (size_t)i];
            row->sum[i % part.width] += value;
            row->norm += value * value;
        }
    row->norm = sqrt(row->norm);
}

/* What a person calls an owner: its name, or its kind and number. */
static void name_owner(const pl_scene *scene, pl_owner kind, int owner, char *out, size_t size)
{
    pl_body_info body;
    pl_collider_def collider;
    if (kind == PL_OWNER_BODY && pl_scene_body(scene, owner, &body) == PL_OK)
        snprintf(out, size, "%s", body.name);
    else if (kind == PL_OWNER_COLLIDER && pl_scene_collider(scene, owner, &collider) == PL_OK)
        snprintf(out, size, "%s", collider.name);
    else
        snprintf(out, size, "%s %d", pl_owner_name(kind), owner);
}

/* Rows for one owner of a channel: one, or of what it has with each body one each. */
static void owner_rows(const pl_scene *scene, const pl_gradient *g, pl_channel channel, int owner,
                       grad_table *table)
{
    const pl_channel_info *of = pl_channel_get(channel);
    int first, count, width = of->gradient_width;
    int steps = of->role == PL_INPUT ? g->steps : 1;
    char name[96], pair[192];
    pl_body_info body;
    if (pl_scene_rows(scene, channel, owner, &first, &count) != PL_OK)
        return;
    name_owner(scene, of->owner, owner, name, sizeof name);
    grad_part part = {.values = g->of[channel] + (size_t)first * (size_t)width,
                      .blocks = steps,
                      .stride = width * pl_scene_row_count(scene, channel),
                      .rows = count,
                      .width = width};
    if (channel == PL_BENDING && pl_scene_body(scene, owner, &body) == PL_OK && !body.cloth)
        return;
    if (of->row != PL_ROW_BODY) {
        add_row(table, of, name, part);
        return;
    }
    part.rows = 1;
    for (int b = 0; b < count && pl_scene_body(scene, b, &body) == PL_OK; b++, part.values += width) {
        snprintf(pair, sizeof pair, "%s, %s", name, body.name);
        add_row(table, of, pair, part);
    }
}

/* A column that a text fits into as well. */
static int wider(int column, const char *text)
{
    int length = (int)strlen(text);
    return length > column ? length : column;
}

static void print_text(const char *loss, const pl_adjoint_info *a, const pl_rollout *rollout,
                       const grad_table *table)
{
    int steps = pl_rollout_steps(rollout);
    printf("loss \"%s\" after %d steps: %.10g\n", loss, steps, a->loss);
    printf("adjoint: %d linear iterations, %d factorisations, residual %.1e, error about %.1e, %.2f ms "
           "a step\n",
           a->iterations, a->factorizations, a->residual, a->error, a->milliseconds / steps);
    printf("tape: at most %.2f MB, %d steps run again\n\n", 1e-6 * (double)pl_rollout_bytes(rollout),
           a->recomputed);
    int kind = 14, owner = 22;
    for (int r = 0; r < table->count; r++) {
        kind = wider(kind, table->rows[r].kind);
        owner = wider(owner, table->rows[r].owner);
    }
    printf("%-*s %-*s %8s %12s  %s\n", kind, "of", owner, "owner", "entries", "norm", "sum");
    for (int r = 0; r < table->count; r++) {
        const grad_row *row = &table->rows[r];
        printf("%-*s %-*s %8d %12.5g ", kind, row->kind, owner, row->owner, row->entries, row->norm);
        for (int k = 0; k < row->width; k++)
            printf(" %.8g", row->sum[k]);
        bool plain = strcmp(row->unit, "1") == 0;
        printf("%s%s\n", plain ? "" : "  ", plain ? "" : row->unit);
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
    return cli_json_print(json_pack(
        "{s:s, s:s, s:i, s:f, s:{s:i, s:i, s:f, s:f, s:f, s:i}, s:I, s:o}", "scene", scene, "loss_name",
        loss, "steps", pl_rollout_steps(rollout), "loss", a->loss, "adjoint", "iterations",
        a->iterations, "factorizations", a->factorizations, "residual", a->residual, "error", a->error,
        "milliseconds", a->milliseconds, "recomputed", a->recomputed, "tape_bytes",
        (json_int_t)pl_rollout_bytes(rollout), "gradients", rows));
}

static bool watch(void *user, int step, const pl_state *state, const pl_step_info *info)
{
    (void)state;
    cli_progress_update(user, step, info);
    return !cli_interrupted();
}

/* "All" leaves vertex forces out: an array as large as the whole trajectory, which few ask for. */
static pl_channels choose_kinds(const grad_options *options)
{
    pl_channels kinds = cli_gradient_kinds(options->wrt);
    return options->wrt ? kinds : kinds & ~PL_BIT(PL_VERTEX_FORCE);
}

/* An empty table would look like an answer: kinds asked for by name must be in the scene. */
static int require_kinds(const grad_options *options, const pl_scene *scene)
{
    int code = CLI_OK;
    for (int c = 0; options->wrt && c < PL_CHANNEL_COUNT; c++)
        if ((choose_kinds(options) & PL_BIT(c)) && pl_scene_row_count(scene, (pl_channel)c) == 0) {
            fprintf(stderr, "pliant: error: the scene has no %s to differentiate by\n",
                    pl_channel_get((pl_channel)c)->name);
            code = CLI_BAD_INPUT;
        }
    return code;
}

static int print_rows(const char *path, const grad_options *options, const pl_scene *scene,
                      const pl_rollout *rollout, const pl_gradient *gradient,
                      const pl_adjoint_info *info)
{
    grad_table table = {0};
    int code = CLI_OK;
    for (int c = 0; c < PL_CHANNEL_COUNT; c++)
        for (int o = 0;
             gradient->of[c] && o < pl_scene_owner_count(scene, pl_channel_get((pl_channel)c)->owner);
             o++)
            owner_rows(scene, gradient, (pl_channel)c, o, &table);
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
        code = require_kinds(options, s.scene);
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
        {"device", CLI_TEXT, &options.device, "NAME", "cpu, or an OpenCL device (info --devices)"},
        {"set", CLI_LIST, &options.set, "PATH=VALUE", "change the scene, as for run"},
        {"threads", CLI_INT, &options.threads, "N", "worker threads; 0 = one per core"},
        {"json", CLI_FLAG, &options.json, NULL, "print the result as JSON"},
        {"verbose", CLI_FLAG, &options.verbose, NULL, "say more on stderr"},
    };
    const cli_kinds details = cli_name_kinds(
        "Losses: distance = 1/(2N) sum |x - x_start|^2, x|y|z = mean coordinate, speed = 1/(2N)\n"
        "sum |v|^2. Kinds: ",
        ".\nA sum over a body is the derivative for a change that is the same everywhere in it.");
    const cli_command command = {
        .name = "grad",
        .arguments = "SCENE",
        .summary =
            "Gradient of a loss at the end of a simulation with respect to what the scene holds.",
        .details = details.text,
        .min_arguments = 1,
        .max_arguments = 1,
        .option_count = CLI_COUNT(table),
        .options = table,
    };
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    char device[CLI_SHORTHAND];
    code = cli_shorthand(&command, &options.set, "device", options.device, device);
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
        return cli_usage(&command, CLI_BAD_KINDS, cli_name_kinds("", "").text, options.wrt);
    pl_context *ctx = cli_context(options.threads, options.verbose);
    if (!ctx)
        return CLI_FAILED;
    code = grad(argv[1], &options, ctx);
    pl_context_destroy(ctx);
    return code;
}
