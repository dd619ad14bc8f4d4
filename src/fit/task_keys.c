/*
 * Every key of a task file, as src/io/scene_keys.c has those of scene files: where its value goes,
 * type, range, unit, and a sentence for the reader. docs/task.schema.json is printed from these tables.
 */
#include "fit/task.h"

#include <stddef.h>

#define AT(type, field) .offset = offsetof(type, field)
#define POSITIVE        .lower = 0, .upper = HUGE_VAL, .above = true
#define NOT_NEGATIVE    .lower = 0, .upper = HUGE_VAL
#define FROM(a)         .lower = (a), .upper = HUGE_VAL
#define BETWEEN(a, b)   .lower = (a), .upper = (b)
#define UNREAD          .offset = PL_KEY_UNREAD
#define COUNT(array)    .key_count = (int)(sizeof(array) / sizeof *(array)), .keys = (array)

/* ------------------------------------------------------------------------------- unknowns */

static const char *quantity_name(int index)
{
    pl_quantity quantity;
    return pl_quantity_at(index, &quantity) ? quantity.name : NULL;
}

/* In the order of pl_spread and pl_map. */
static const char *const spread_names[] = {"one", "element", "step", "vertex", NULL};
static const char *const map_names[] = {"none", "log", "logit", NULL};
static const char *const signal_names[] = {"none", "sinusoid", "spline", NULL};

static void unknown_defaults(void *into)
{
    *(pl_unknown *)into = (pl_unknown){.other = -1,
                                       .truth = NAN,
                                       .lower = -INFINITY,
                                       .upper = INFINITY,
                                       .knots = 8,
                                       .degree = 3,
                                       .frequency = 1};
}

static const pl_key unknown_keys[] = {
    {"name", PL_KEY_TEXT, UNREAD, .doc = "In tables and plots; by default the quantity."},
    {"quantity", PL_KEY_CHOICE, AT(pl_unknown, index), .choice = quantity_name, .required = true,
     .doc = "What is not known. Velocity and position are those at the start."},
    {"of", PL_KEY_REFERENCE, UNREAD,
     .doc = "Whose: the name or index of a body, collider, muscle, cable or chamber, the index of a "
            "pin, force "
            "or wind, or \"all\": an unknown for each of them; by default the first."},
    {"with", PL_KEY_REFERENCE, UNREAD,
     .doc =
         "Of friction and body_friction: the one body that the coefficient is with; by default all of "
         "them."},
    {"direction", PL_KEY_VECTOR, AT(pl_unknown, direction), .length = 3,
     .doc = "Of vectors: the unknown times this is added to what the scene says. A rotation turns "
            "about it."},
    {"for_each", PL_KEY_CHOICE, AT(pl_unknown, spread), .choices = spread_names,
     .doc = "One number, or one for each element (materials), step (force, wind, pin_target, "
            "collider_...) or "
            "vertex (velocity, position)."},
    {"signal", PL_KEY_CHOICE, AT(pl_unknown, signal), .choices = signal_names,
     .doc = "Of inputs, in place of a number for each step: initial + amplitude sin(2 pi frequency t + "
            "phase), cut off at the bounds, or a spline; its numbers are the unknowns."},
    {"knots", PL_KEY_INTEGER, AT(pl_unknown, knots), FROM(2),
     .doc = "Of a spline: how many control values, evenly over the steps."},
    {"degree", PL_KEY_INTEGER, AT(pl_unknown, degree), BETWEEN(1, 3),
     .doc = "Of a spline: 1 = straight between the control values, 3 = cubic."},
    {"amplitude", PL_KEY_NUMBER, AT(pl_unknown, amplitude), .doc = "Of a sinusoid, at first."},
    {"frequency", PL_KEY_NUMBER, AT(pl_unknown, frequency), NOT_NEGATIVE, .unit = "Hz",
     .doc = "Of a sinusoid, at first."},
    {"phase", PL_KEY_NUMBER, AT(pl_unknown, phase), .unit = "rad", .doc = "Of a sinusoid, at first."},
    {"frequency_range", PL_KEY_VECTOR, AT(pl_unknown, frequency_range), .length = 2, NOT_NEGATIVE,
     .unit = "Hz",
     .doc = "Smallest and largest frequency, alike for a fixed one; by default 0 to a period of four "
            "steps."},
    {"initial", PL_KEY_NUMBER, AT(pl_unknown, initial), .required = true,
     .doc = "Where the fit starts."},
    {"start", PL_KEY_TEXT, AT(pl_unknown, start),
     .doc = "Of inputs for each step: a CSV file, relative to the task, where the fit starts instead: "
            "the column of the unknown's name, as in signals.csv; repeated when it has too few rows."},
    {"true", PL_KEY_NUMBER, UNREAD,
     .doc = "With it in every unknown, targets that no file gives are simulated at these values."},
    {"lower", PL_KEY_NUMBER, UNREAD, .doc = "Smallest value allowed."},
    {"upper", PL_KEY_NUMBER, UNREAD, .doc = "Largest value allowed."},
    {"map", PL_KEY_CHOICE, AT(pl_unknown, map), .choices = map_names,
     .doc = "The optimiser sees x with value = x, exp(x), or lower + (upper - lower) / (1 + exp(-x))."},
    {"prior", PL_KEY_NUMBER, AT(pl_unknown, prior), NOT_NEGATIVE,
     .doc = "Weight of (x - initial x)^2 in the loss."},
    {"smooth", PL_KEY_NUMBER, AT(pl_unknown, smooth), NOT_NEGATIVE,
     .doc = "Weight of the sum of (x of the next step - x)^2 in the loss."},
};
const pl_spec pl_spec_unknown = {
    .title = "unknown", COUNT(unknown_keys), .size = sizeof(pl_unknown), .defaults = unknown_defaults};

/* ------------------------------------------------------------------------------- loss */

/* In the order of pl_loss_kind. */
static const char *const term_names[] = {"positions",      "velocities",  "markers",
                                         "centre_of_mass", "point_cloud", "shape",
                                         "effort",         "smoothness",  NULL};

static void term_defaults(void *into)
{
    *(pl_term_source *)into = (pl_term_source){.weight = 1, .rest = NAN, .quantity = -1, .every = 1};
}

static const pl_key term_keys[] = {
    {"kind", PL_KEY_CHOICE, AT(pl_term_source, kind), .choices = term_names, .required = true,
     .doc = "What is compared with the target, as a mean of squared distances: all vertices, points of "
            "the surface, the centre of mass, given points with the nearest ones of the surface, or a "
            "body's shape with that of the start, wherever it is. Of inputs: the mean square of their "
            "difference from a rest value (effort), or from one step to the next (smoothness)."},
    {"body", PL_KEY_REFERENCE, UNREAD,
     .doc = "Name or index. By default all bodies (positions, velocities) or the first."},
    {"points", PL_KEY_POINTS, UNREAD, .length = 3, .unit = "m",
     .doc = "Of markers: each sits where the surface is nearest to this at the start."},
    {"steps", PL_KEY_INTEGERS, UNREAD, .length = -1, FROM(1),
     .doc = "After which steps to compare with a simulated target or a goal; by default the last, or "
            "those of the goal."},
    {"target", PL_KEY_TEXT, UNREAD,
     .doc = "CSV file of rows step, x, y, z (m, or m/s), relative to the task; it says the steps. "
            "Without it "
            "the target is simulated at the true values."},
    {"path", PL_KEY_ROWS, UNREAD, .length = 3, .unit = "m",
     .doc =
         "A goal: where the one point should be over time, rows [s, x, y, z], straight between them; "
         "by default after every step from the first to the last."},
    {"relative", PL_KEY_BOOLEAN, AT(pl_term_source, relative),
     .doc = "The path is given from where the point is at the start."},
    {"keep", PL_KEY_BOOLEAN, AT(pl_term_source, keep),
     .doc = "A goal: the points stay where they are at the start; by default after every step."},
    {"distance", PL_KEY_NUMBER, AT(pl_term_source, distance), POSITIVE, .unit = "m",
     .doc = "A goal: the points go at least this far from the start, along the direction; what is "
            "missing counts. By default after the last step."},
    {"along", PL_KEY_VECTOR, AT(pl_term_source, along), .length = 3,
     .doc = "Only the component of differences along this counts."},
    {"within", PL_KEY_NUMBER, AT(pl_term_source, within), POSITIVE, .unit = "m",
     .doc = "A goal is reached when the root mean square of what is left is at most this."},
    {"first_step", PL_KEY_INTEGER, AT(pl_term_source, first_step), FROM(1),
     .doc = "Of goals and inputs: the first of the steps that count."},
    {"last_step", PL_KEY_INTEGER, AT(pl_term_source, last_step), FROM(1), .doc = "And the last."},
    {"every", PL_KEY_INTEGER, AT(pl_term_source, every), FROM(1),
     .doc = "Of goals: after every this many steps, counted back from the last."},
    {"quantity", PL_KEY_CHOICE, AT(pl_term_source, quantity), .choice = quantity_name,
     .doc = "Of effort and smoothness: the input, one that an unknown drives."},
    {"of", PL_KEY_REFERENCE, UNREAD, .doc = "Whose input, as in unknowns; by default of all."},
    {"rest", PL_KEY_NUMBER, AT(pl_term_source, rest),
     .doc = "Of effort: the value that costs nothing, by default the scene's own."},
    {"weight", PL_KEY_NUMBER, AT(pl_term_source, weight), POSITIVE, .doc = "Of this term in the loss."},
};
const pl_spec pl_spec_term = {
    .title = "loss term", COUNT(term_keys), .size = sizeof(pl_term_source), .defaults = term_defaults};

/* ------------------------------------------------------------------------------- optimiser */

/* In the order of pl_method. */
static const char *const method_names[] = {"gradient_descent", "adam", "lbfgsb", "levenberg_marquardt",
                                           NULL};

static const pl_key optimizer_keys[] = {
    {"method", PL_KEY_CHOICE, AT(pl_optimizer_def, method), .choices = method_names,
     .doc = "Algorithm."},
    {"iterations", PL_KEY_INTEGER, AT(pl_optimizer_def, iterations), FROM(0), .doc = "At most."},
    {"rate", PL_KEY_NUMBER, AT(pl_optimizer_def, rate), POSITIVE,
     .doc = "Of gradient descent and Adam, in x per unit of gradient."},
    {"growth", PL_KEY_NUMBER, AT(pl_optimizer_def, growth), FROM(1),
     .doc = "Of gradient descent: 1 = a fixed rate; above, the rate grows by this factor in every "
            "iteration and "
            "is halved until the loss decreases."},
    {"max_step", PL_KEY_NUMBER, AT(pl_optimizer_def, max_step), NOT_NEGATIVE,
     .doc = "Longest change of an unknown in one iteration, in x, but of Adam; 0 = no limit."},
    {"beta1", PL_KEY_NUMBER, AT(pl_optimizer_def, beta1), BETWEEN(0, 0.999999), .doc = "Of Adam."},
    {"beta2", PL_KEY_NUMBER, AT(pl_optimizer_def, beta2), BETWEEN(0, 0.999999), .doc = "Of Adam."},
    {"pairs", PL_KEY_INTEGER, AT(pl_optimizer_def, pairs), BETWEEN(1, 1000),
     .doc = "Memory of L-BFGS-B."},
    {"stop_loss", PL_KEY_NUMBER, AT(pl_optimizer_def, stop_loss), NOT_NEGATIVE,
     .doc = "Stop at a loss of at most this."},
    {"stop_gradient", PL_KEY_NUMBER, AT(pl_optimizer_def, stop_gradient), NOT_NEGATIVE,
     .doc = "Stop when no entry of the gradient in x is larger."},
    {"stop_decrease", PL_KEY_NUMBER, AT(pl_optimizer_def, stop_decrease), NOT_NEGATIVE,
     .doc =
         "Stop when an iteration of lbfgsb or levenberg_marquardt decreases the loss by less than this "
         "part."},
};
static const pl_spec optimizer_spec = {.title = "optimizer", COUNT(optimizer_keys)};

static const pl_key continuation_keys[] = {
    {"start", PL_KEY_NUMBER, AT(pl_continuation, start), BETWEEN(0, 1), .required = true, .unit = "N m",
     .doc = "contact_epsilon2 of the first stage; the stages go down to the scene's own by equal "
            "factors. 0 = off."},
    {"stages", PL_KEY_INTEGER, AT(pl_continuation, stages), BETWEEN(1, 100),
     .doc = "Before the scene's own."},
    {"iterations", PL_KEY_INTEGER, AT(pl_continuation, iterations), FROM(1),
     .doc = "At most, in each stage."},
};
static const pl_spec continuation_spec = {.title = "continuation", COUNT(continuation_keys)};

static const pl_key check_keys[] = {
    {"step", PL_KEY_NUMBER, AT(pl_task_source, check.step), POSITIVE, .required = true,
     .doc = "Largest difference of x, extrapolated to zero by halving."},
    {"every", PL_KEY_INTEGER, AT(pl_task_source, check.every), NOT_NEGATIVE,
     .doc = "In every this many iterations; 0 = in none."},
    {"per_stage", PL_KEY_INTEGER, AT(pl_task_source, check.per_stage), NOT_NEGATIVE,
     .doc =
         "After the fit, in this many iterations before half, from half to 90 %, and after 90 % of the "
         "loss's decrease."},
};
static const pl_spec check_spec = {.title = "gradient check", COUNT(check_keys)};

static const pl_key window_keys[] = {
    {"steps", PL_KEY_INTEGER, AT(pl_window, steps), FROM(1), .required = true,
     .doc = "How many to solve at a time."},
    {"advance", PL_KEY_INTEGER, AT(pl_window, advance), FROM(1),
     .doc = "How many of them to make before the next window."},
};
static const pl_spec window_spec = {.title = "window", COUNT(window_keys)};

/* ------------------------------------------------------------------------------- task */

static const pl_key override_keys[] = {
    {"set", PL_KEY_TEXT, UNREAD, .required = true,
     .doc = "path=value, as on the command line: \"bodies[0].material.model=arap\"."},
};
static const pl_spec override_spec = {.title = "change of the scene", COUNT(override_keys)};

static void task_defaults(void *into)
{
    *(pl_task_source *)into = (pl_task_source){.optimizer = pl_optimizer_def_default(),
                                               .continuation = {.stages = 4, .iterations = 5},
                                               .window = {.advance = 1},
                                               .starts = 1,
                                               .seed = 1};
}

static const pl_key task_keys[] = {
    {"$schema", PL_KEY_TEXT, AT(pl_task_source, schema), .doc = "For editors; not read."},
    {"version", PL_KEY_INTEGER, AT(pl_task_source, version), .required = true, BETWEEN(1, 1),
     .doc = "Of the format: 1."},
    {"name", PL_KEY_TEXT, AT(pl_task_source, name), .doc = "For people."},
    {"description", PL_KEY_TEXT, AT(pl_task_source, description), .doc = "For people."},
    {"scene", PL_KEY_TEXT, AT(pl_task_source, scene), .required = true,
     .doc = "Scene file, relative to the task."},
    {"scene_changes", PL_KEY_LIST, UNREAD, .spec = &override_spec,
     .doc = "What this task's scene has else."},
    {"steps", PL_KEY_INTEGER, AT(pl_task_source, steps), FROM(1),
     .doc = "How many to simulate; by default as the scene says."},
    {"unknowns", PL_KEY_LIST, UNREAD, .spec = &pl_spec_unknown, .required = true,
     .doc = "What is identified."},
    {"loss", PL_KEY_LIST, UNREAD, .spec = &pl_spec_term, .required = true,
     .doc = "What is minimised: a sum."},
    {"optimizer", PL_KEY_OBJECT, AT(pl_task_source, optimizer), .spec = &optimizer_spec, .doc = "How."},
    {"starts", PL_KEY_INTEGER, AT(pl_task_source, starts), BETWEEN(1, 1000),
     .doc =
         "How many starting points to run the optimizer from: the initial values, and others drawn "
         "between the bounds of every unknown (evenly in the logarithm with map log). The best is the "
         "result."},
    {"seed", PL_KEY_INTEGER, AT(pl_task_source, seed), NOT_NEGATIVE,
     .doc = "Of the starting points: the same number, the same points."},
    {"continuation", PL_KEY_OBJECT, AT(pl_task_source, continuation), .spec = &continuation_spec,
     .doc = "Softer contacts first, against plateaus; off without this."},
    {"window", PL_KEY_OBJECT, AT(pl_task_source, window), .spec = &window_spec,
     .doc = "Receding windows: inputs are found for a few steps at a time, each window with all "
            "iterations; off without this."},
    {"gradient_check", PL_KEY_OBJECT, .spec = &check_spec,
     .doc = "Compares gradients with finite differences; off without this."},
    {"noise", PL_KEY_NUMBER, AT(pl_task_source, noise), NOT_NEGATIVE, .unit = "m",
     .doc =
         "Standard deviation of a target's coordinates, for the uncertainties; 0 = from what the fit "
         "leaves."},
    {"tape_megabytes", PL_KEY_NUMBER, AT(pl_task_source, tape_megabytes), NOT_NEGATIVE, .unit = "MB",
     .doc = "Memory for what a gradient needs of the trajectory, the rest is computed again; 0 = no "
            "limit."},
};
const pl_spec pl_spec_task = {
    .title = "task", COUNT(task_keys), .size = sizeof(pl_task_source), .defaults = task_defaults};

pl_status pl_task_schema(pl_context *ctx, char **text)
{
    return pl_spec_schema(ctx, &pl_spec_task, "Pliant task", text);
}
