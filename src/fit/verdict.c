/*
 * The verdict on a fit: identified, unless something speaks against it. What may is listed here once,
 * for the headline, the exit code, result.json and the report.
 *
 * An unknown's size is what its errors are measured by: the value itself, or where zero is a value like
 * any other (a velocity, a damping) also the way it has come from its initial value.
 *
 *   bound        held by its bound: the data pull on beyond it
 *   residual     more is left than the stated noise explains; without one, than half of the motion
 *   direction    two standard errors of an unknown, or of a combination of some, are more than its size
 *   convergence  a Gauss-Newton step would still change an unknown noticeably
 *   steps        no step was found because simulations failed
 *   minimum      not where the target was simulated, or as good as another start's that is elsewhere
 */
#include "fit/fit.h"

#include <lapacke.h>
#include <stdarg.h>
#include <stdio.h>

/* Nearer to a bound than this part of the range counts as at it: a shortened step, or a logarithm's
 * rounding, ends just before. It is also how near a logit comes. */
#define AT_BOUND 1e-3
/* A residual that is one normal number exceeds three standard deviations once in 370 fits; the root
 * mean square of many never does by chance. What is below may still be a model that is not exact. */
#define NOISE_FACTOR 3.0
/* Of the motion's mean square: half of the motion is not explained then. */
#define UNEXPLAINED 0.25
/* Of an unknown's size: a change that a reader of two digits sees. */
#define NOTICEABLE 0.01
/* Of an unknown's size, of its standard error: two of them, which hold the truth in 95 % of fits, would
 * reach from nothing to twice the value. */
#define OPEN 0.5
/* From the true value, in sizes: more than a goal set for the loss would sensibly leave. */
#define OFF_TRUTH 0.05
/* Smallest eigenvalue of J^T J, scaled to unit diagonal, that is not rounding: the columns of J are
 * known to the adjoint tolerance of 1e-8, and their products to about 1e-15. */
#define SINGULAR 1e-14
/* Cosine of two columns of J between which a fit goes on without end: a part in 1e3 is their own. */
#define ALIKE (1 - 1e-6)
/* Components of a direction below this part of its largest are not named. */
#define NAMED 0.3

typedef struct judge {
    const pl_fit *fit;
    const pl_task *task;
    const pl_evidence *evidence;
    const double *x, *g;     /* [n] at the end, and the loss's gradient */
    const double *error;     /* standard errors of p [shown] */
    double loss, first_loss; /* with the same contacts */
    double motion, left;     /* |r|^2 of the data: if nothing moved, and at the end */
    double noise_ratio;      /* of residual and noise, 0 without one */
    pl_verdict *out;
} judge;

void pl_verdict_doubt(pl_verdict *verdict, pl_doubt kind, const char *format, ...)
{
    if (verdict->count == PL_REASONS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->texts[verdict->count], PL_REASON_SIZE, format, arguments);
    va_end(arguments);
    verdict->doubts[verdict->count++] = kind;
}

#define doubt(j, ...) pl_verdict_doubt((j)->out, __VA_ARGS__)

static const pl_unknown *owner(const judge *j, int i)
{
    const pl_unknown *u = j->task->unknowns;
    while (i >= u->first + u->count)
        u++;
    return u;
}

/* ------------------------------------------------------------------------------- sizes */

/* Zero is none of its values, so that only factors mean something. */
static bool is_factor(const pl_unknown *u)
{
    const pl_channel_info *info = pl_channel_get(u->of.channel);
    return u->map == PL_MAP_LOG || info->above || info->lower > 0 || u->of.channel == PL_FRICTION;
}

static double size_of(const pl_unknown *u, double p)
{
    return is_factor(u) ? fabs(p) : fmax(fabs(p), fabs(p - u->initial));
}

static double value_of(const judge *j, const pl_unknown *u, int i)
{
    return pl_task_value(j->task, u, i, j->x[i]);
}

static bool is_open(const judge *j, const pl_unknown *u, int i)
{
    return !(j->error[i] <= OPEN * size_of(u, value_of(j, u, i)));
}

/* Changes of an unknown up to this are none: too small to notice, or within a standard error that says
 * something. */
static double slack_of(const judge *j, const pl_unknown *u, int i)
{
    double seen = NOTICEABLE * size_of(u, value_of(j, u, i));
    return is_open(j, u, i) ? seen : fmax(seen, j->error[i]);
}

/* ------------------------------------------------------------------------------- bounds */

/* -1, 1: at the lower, upper bound; 0: at none. */
static int side_of(const judge *j, int i)
{
    double x = j->x[i], low = j->task->lower[i], high = j->task->upper[i];
    double range = high - low, from = j->task->initial[i];
    if (isfinite(low) && x - low <= AT_BOUND * (isfinite(range) ? range : fabs(from - low)))
        return -1;
    if (isfinite(high) && high - x <= AT_BOUND * (isfinite(range) ? range : fabs(high - from)))
        return 1;
    return 0;
}

/* Whether the loss falls beyond the bound. */
static bool pushed(const judge *j, int i, int side)
{
    return side != 0 && j->g[i] * side < 0;
}

/* At a bound, and not just where the data have their minimum anyway: that would be farther out by more
 * than the slack, or anywhere at all. */
static bool held(const judge *j, const pl_unknown *u, int i)
{
    int side = side_of(j, i);
    if (side == 0 || !j->evidence->linearised)
        return pushed(j, i, side);
    double curvature = j->evidence->normal[(size_t)i * (size_t)(j->task->n + 1)];
    double beyond = fabs(pl_map_slope(u, j->x[i]) * j->evidence->pull[i] / curvature);
    return is_open(j, u, i) || (pushed(j, i, side) && !(beyond <= slack_of(j, u, i)));
}

static void tell_bound(judge *j, const pl_unknown *u, int i)
{
    double bound = side_of(j, i) < 0 ? u->lower : u->upper;
    const char *name = j->fit->names[i];
    if (isfinite(u->lower) && isfinite(u->upper))
        doubt(j, PL_DOUBT_BOUND, "%s ended at its bound %.6g (%.6g to %.6g)", name, bound, u->lower,
              u->upper);
    else
        doubt(j, PL_DOUBT_BOUND, "%s ended at its bound %.6g", name, bound);
}

/* Of a field, some entries at a bound are part of an answer; when it is most of them, the bounds are
 * the answer. */
static void judge_bounds(judge *j)
{
    for (int k = 0; k < j->task->unknown_count; k++) {
        const pl_unknown *u = &j->task->unknowns[k];
        int count = 0;
        for (int i = u->first; i < u->first + u->count; i++)
            count += u->spread == PL_SPREAD_ONE ? held(j, u, i) : pushed(j, i, side_of(j, i));
        if (u->spread == PL_SPREAD_ONE && count > 0 && u->first < j->fit->shown)
            tell_bound(j, u, u->first);
        else if (u->spread != PL_SPREAD_ONE && 2 * count > u->count)
            doubt(j, PL_DOUBT_BOUND, "%d of the %d values of %s ended at a bound", count, u->count,
                  u->name);
    }
}

/* ------------------------------------------------------------------------------- residual */

/* |r|^2 of the data if nothing moved from the start. */
static pl_status measure_motion(judge *j)
{
    const pl_task *task = j->task;
    pl_status status = PL_OK;
    double *r = NULL;
    PL_NEW(task->ctx, r, task->data_residual_count, done);
    for (int step = 1; step <= task->steps; step++)
        if (pl_task_needs_step(task, step))
            PL_CHECK(pl_task_residual_at(task, step, task->scene->q0, task->scene->v0, r), done);
    j->motion = pl_dot(task->data_residual_count, r, r);
done:
    pl_free(task->ctx, r);
    return status;
}

static void measure_residual(judge *j)
{
    const pl_task *task = j->task;
    double squares = 0, normalised = 0;
    int rows = 0, free = task->data_residual_count - task->n;
    j->left = pl_dot(task->data_residual_count, j->evidence->residual, j->evidence->residual);
    for (int k = 0; k < task->term_count; k++) {
        const pl_loss_term *term = &task->terms[k];
        const double *r = j->evidence->residual + term->first_residual;
        double scale = pl_term_scale(term), sum = pl_dot(pl_term_residuals(term), r, r);
        rows += pl_term_rows(term);
        squares += sum / (scale * scale);
        normalised += task->noise > 0 ? sum / pow(task->noise * scale, 2) : 0;
    }
    j->out->residual = sqrt(squares / rows);
    j->noise_ratio = sqrt(normalised / (free > 1 ? free : 1));
}

static void judge_residual(judge *j)
{
    const pl_task *task = j->task;
    /* Steps are exact to the tolerance each: a body at rest has no motion to compare with. */
    double exact = task->scene->params.values->def.tolerance * task->steps;
    if (task->noise > 0 && j->noise_ratio > NOISE_FACTOR)
        doubt(j, PL_DOUBT_RESIDUAL, "residual %.3g times the stated noise of %.3g m", j->noise_ratio,
              task->noise);
    if (!(task->noise > 0) && j->left > UNEXPLAINED * j->motion && j->out->residual > exact) {
        double share = 100 * sqrt(j->left / j->motion);
        if (share < 100)
            doubt(j, PL_DOUBT_RESIDUAL, "residual %.3g m, %.0f %% of the motion in the data",
                  j->out->residual, share);
        else
            doubt(j, PL_DOUBT_RESIDUAL, "residual %.3g m, more than if nothing moved",
                  j->out->residual);
    }
}

/* ------------------------------------------------------------------------------- directions */

/* Eigenvalues, ascending, and eigenvectors in the rows of a [n, n]. */
static bool decompose(int n, double *a, double *values)
{
    return LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values) == 0;
}

/* "E", "E and rho", "E, rho, mu and 3 more": the entries with a part [n] in what is told. */
static int list_entries(const judge *j, const double *part, char *out, size_t size)
{
    enum { LISTED = 3 };
    int n = j->task->n, count = 0, listed = 0;
    double largest = 0;
    size_t used = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, part[i]);
    for (int i = 0; i < n; i++)
        count += part[i] >= NAMED * largest;
    for (int i = 0; i < n && listed < LISTED && used < size; i++)
        if (part[i] >= NAMED * largest) {
            const char *between = listed == 0 ? "" : listed + 1 == count ? " and " : ", ";
            used += (size_t)snprintf(out + used, size - used, "%s%s", between, j->fit->names[i]);
            listed++;
        }
    if (count > listed && used < size)
        snprintf(out + used, size - used, " and %d more", count - listed);
    return count;
}

/* Tells of `count` orthonormal directions [count, n] together, by the entries' parts in all of them. */
static void tell_directions(judge *j, int count, const double *directions)
{
    int n = j->task->n, main = 0;
    double part[PL_SHOWN_MAX] = {0};
    char names[PL_REASON_SIZE / 2];
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            part[i] = hypot(part[i], directions[k * n + i]);
    for (int i = 0; i < n; i++)
        main = part[i] > part[main] ? i : main;
    int entries = count > 0 ? list_entries(j, part, names, sizeof names) : 0;
    if (entries > count)
        doubt(j, PL_DOUBT_DIRECTION, "the data do not tell %s apart", names);
    else if (entries > 1)
        doubt(j, PL_DOUBT_DIRECTION, "the data do not determine %s", names);
    else if (entries == 1)
        doubt(j, PL_DOUBT_DIRECTION, "the data do not determine %s: %.4g +- %.2g", names,
              value_of(j, owner(j, main), main), j->error[main]);
}

/* Unknowns without any effect, and null directions of J^T J scaled to unit diagonal. */
static void judge_singular(judge *j, double *a, double *values)
{
    int n = j->task->n, count = 0;
    const double *normal = j->evidence->normal;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double both = sqrt(normal[i * n + i] * normal[k * n + k]);
            a[i * n + k] = both > 0 ? normal[i * n + k] / both : i == k;
        }
    for (int i = 0; i < n; i++)
        if (!(normal[i * n + i] > 0))
            doubt(j, PL_DOUBT_DIRECTION, "the data do not depend on %s", j->fit->names[i]);
    if (!decompose(n, a, values))
        return;
    while (count < n && values[count] < SINGULAR)
        count++;
    tell_directions(j, count, a);
}

/* Directions of the values, each in its size, with too large a standard error. */
static void judge_spread(judge *j, double *a, double *values)
{
    int n = j->task->n, count = 0;
    double weight[PL_SHOWN_MAX];
    for (int i = 0; i < n; i++) {
        const pl_unknown *u = owner(j, i);
        double size = size_of(u, value_of(j, u, i)); /* 0: nothing to compare with */
        weight[i] = size > 0 ? pl_map_slope(u, j->x[i]) / size : 0;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            a[i * n + k] = weight[i] * weight[k] * j->evidence->covariance[i * n + k];
    if (!pl_all_finite(n * n, a) || !decompose(n, a, values))
        return;
    while (count < n && values[n - 1 - count] > OPEN * OPEN)
        count++;
    tell_directions(j, count, a + (size_t)(n - count) * (size_t)n);
}

static void judge_directions(judge *j)
{
    double a[PL_SHOWN_MAX * PL_SHOWN_MAX], values[PL_SHOWN_MAX];
    if (!j->evidence->linearised)
        return;
    if (j->evidence->singular)
        judge_singular(j, a, values);
    else
        judge_spread(j, a, values);
}

/* ------------------------------------------------------------------------------- convergence */

/* The Gauss-Newton step of the entries that no bound holds, [n]; false when there is none. */
static bool next_step(const judge *j, double *step)
{
    int n = j->task->n;
    double a[PL_SHOWN_MAX * PL_SHOWN_MAX];
    memcpy(a, j->evidence->normal, (size_t)(n * n) * sizeof *a);
    for (int i = 0; i < n; i++) {
        bool fixed = pushed(j, i, side_of(j, i));
        for (int k = 0; fixed && k < n; k++)
            a[i * n + k] = a[k * n + i] = i == k;
        step[i] = fixed ? 0 : -j->evidence->pull[i];
    }
    return LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, a, n, step, 1) == 0;
}

static const char *how_far(const judge *j, char *out, size_t size)
{
    double fell = 100 * (1 - j->loss / j->first_loss);
    *out = '\0';
    if (fell <= 0)
        snprintf(out, size, ", and the loss %s", fell < 0 ? "rose" : "did not fall");
    else if (fell < 1)
        snprintf(out, size, ", and the loss fell by %.2g %% only", fell);
    return out;
}

/* ", which the data hardly tell from rho": the entry whose column is nearly that of entry `at`. */
static const char *twin_of(const judge *j, int at, char *out, size_t size)
{
    int n = j->task->n, twin = -1;
    const double *normal = j->evidence->normal;
    double most = ALIKE;
    for (int k = 0; k < n; k++) {
        double both = sqrt(normal[at * n + at] * normal[k * n + k]);
        double cosine = k != at && both > 0 ? fabs(normal[at * n + k]) / both : 0;
        twin = cosine > most ? k : twin;
        most = fmax(most, cosine);
    }
    *out = '\0';
    if (twin >= 0)
        snprintf(out, size, ", which the data hardly tell from %s", j->fit->names[twin]);
    return out;
}

/* The entry that the next step would change most, in slacks; not more than one is told. */
static void judge_step(judge *j, const char *why)
{
    double step[PL_SHOWN_MAX], worst = 1, to = 0;
    char fell[64], twin[PL_REASON_SIZE / 4];
    int at = -1;
    if (!next_step(j, step))
        return;
    for (int i = 0; i < j->task->n; i++) {
        const pl_unknown *u = owner(j, i);
        double p = value_of(j, u, i);
        double next = pl_task_value(j->task, u, i,
                                    pl_clip(j->x[i] + step[i], j->task->lower[i], j->task->upper[i]));
        double change = fabs(next - p) / slack_of(j, u, i);
        if (change > worst) {
            worst = change;
            at = i;
            to = next;
        }
    }
    if (at >= 0)
        doubt(j, PL_DOUBT_CONVERGENCE,
              "not converged (%s): the next step would take %s from %.4g to %.4g%s%s", why,
              j->fit->names[at], value_of(j, owner(j, at), at), to, twin_of(j, at, twin, sizeof twin),
              how_far(j, fell, sizeof fell));
}

/* Without derivatives: the last tenth of the iterations still brought a hundredth of all decrease, or
 * there was hardly any. */
static void judge_course(judge *j, const char *why)
{
    const pl_fit *fit = j->fit;
    int rows = fit->course->row_count, then = rows - 1 - (rows + 9) / 10;
    double before = pl_course_row(fit, fit->course, then > 0 ? then : 0)[PL_ROW_LOSS];
    double all = j->first_loss - j->loss;
    char fell[64];
    bool used_up = fit->optimizer->state[PL_HEAD_STOP] == PL_STOP_ITERATIONS;
    bool explained = j->task->noise > 0 && j->noise_ratio <= NOISE_FACTOR;
    how_far(j, fell, sizeof fell);
    if (*fell && !explained)
        doubt(j, PL_DOUBT_CONVERGENCE, "not converged (%s)%s", why, fell);
    else if (used_up && before - j->loss > 0.01 * all)
        doubt(j, PL_DOUBT_CONVERGENCE, "not converged (%s): the loss was still falling", why);
}

static void judge_convergence(judge *j)
{
    const pl_fit *fit = j->fit;
    const double *head = fit->optimizer->state;
    pl_stop stop = (pl_stop)head[PL_HEAD_STOP];
    const pl_evidence *e = j->evidence;
    double own = j->task->contact_epsilon2, last = j->task->scene->params.values->def.contact_epsilon2;
    if (last != own)
        doubt(j, PL_DOUBT_CONVERGENCE,
              "ended while contacts were softer than the scene's (eps^2 %.2g instead of %.2g N m)",
              last, own);
    if (stop == PL_STOP_STALLED && head[PL_HEAD_REFUSED_LAST] > 0)
        doubt(j, PL_DOUBT_STEPS,
              "no step was found, because %.0f of the points tried could not be simulated",
              head[PL_HEAD_REFUSED_LAST]);
    if (e->refused)
        doubt(j, PL_DOUBT_STEPS, "the derivatives at the end could not be computed: %s",
              pl_context_error(fit->ctx));
    if (stop == PL_STOP_LOSS) /* the goal that was set */
        return;
    if (e->linearised && !e->singular)
        judge_step(j, pl_stop_text(stop));
    else if (!e->linearised)
        judge_course(j, pl_stop_text(stop));
}

/* ------------------------------------------------------------------------------- other minima */

/* A simulated target is exact, and explained by nothing better than what it was simulated with. */
static void judge_truth(judge *j)
{
    for (int k = 0; k < j->task->term_count; k++)
        if (j->task->terms[k].source != PL_TARGET_SIMULATED)
            return;
    for (int k = 0; k < j->task->unknown_count; k++) {
        const pl_unknown *u = &j->task->unknowns[k];
        double p = value_of(j, u, u->first);
        if (u->spread == PL_SPREAD_ONE && u->first < j->fit->shown &&
            fabs(p - u->truth) > OFF_TRUTH * size_of(u, u->truth))
            doubt(j, PL_DOUBT_MINIMUM, "%s ended at %.4g, the target was simulated with %.4g",
                  j->fit->names[u->first], p, u->truth);
    }
}

/* Another start that explains the data as well, within what two standard errors of one unknown make,
 * and ended elsewhere. */
static void judge_starts(judge *j)
{
    const pl_fit *fit = j->fit;
    int free = j->task->residual_count - j->task->n;
    double variance =
        j->task->noise > 0 ? j->left / fmax(j->noise_ratio * j->noise_ratio, 1e-300) : j->loss;
    double as_good = fmax(j->task->optimizer.stop_loss, j->loss + 4 * variance / (free > 1 ? free : 1));
    for (int c = 0; c < fit->course_count; c++) {
        const pl_course *course = &fit->courses[c];
        if (course == fit->course || !(pl_course_loss(fit, course) <= as_good))
            continue;
        const double *ended = pl_course_row(fit, course, course->row_count - 1) + PL_ROW_HEAD;
        for (int i = 0; i < fit->shown; i++) {
            const pl_unknown *u = owner(j, i);
            double p = value_of(j, u, i);
            double apart = fmax(OFF_TRUTH * size_of(u, p), 3 * slack_of(j, u, i));
            if (fabs(ended[i] - p) > apart) {
                doubt(j, PL_DOUBT_MINIMUM,
                      "start %d explains the data as well with %s %.4g instead of %.4g", c + 1,
                      fit->names[i], ended[i], p);
                return;
            }
        }
    }
}

/* ------------------------------------------------------------------------------- verdict */

const char *pl_doubt_name(pl_doubt kind)
{
    static const char *const names[] = {"bound", "residual", "direction", "convergence",
                                        "steps", "minimum",  "goal"};
    return (unsigned)kind <= PL_DOUBT_GOAL ? names[kind] : "unknown";
}

static void write_sentence(const pl_fit *fit, pl_verdict *v)
{
    size_t size = sizeof v->sentence, used = 0;
    if (v->count == 0 && fit->task->n > 4)
        snprintf(v->sentence, size, "Identified %d parameters", fit->task->n);
    for (int i = 0; v->count == 0 && fit->task->n <= 4 && i < fit->task->n; i++)
        used += (size_t)snprintf(v->sentence + used, size - used, "%s%s",
                                 i == 0                  ? "Identified "
                                 : i + 1 == fit->task->n ? " and "
                                                         : ", ",
                                 fit->names[i]);
    for (int k = 0; k < v->count && used < size; k++)
        used += (size_t)snprintf(v->sentence + used, size - used, "%s%s",
                                 k == 0 ? "Not identified: " : "; ", v->texts[k]);
}

/* The first loss with the contacts of the last. */
static double first_loss(const pl_fit *fit)
{
    const double *row = fit->course->rows,
                 *last = pl_course_row(fit, fit->course, fit->course->row_count - 1);
    while (row < last && row[PL_ROW_EPSILON2] != last[PL_ROW_EPSILON2])
        row += fit->width;
    return row[PL_ROW_LOSS];
}

pl_status pl_verdict_reach(const pl_fit *fit, const pl_evidence *evidence, const double *standard_error,
                           pl_verdict *out)
{
    judge j = {.fit = fit,
               .task = fit->task,
               .evidence = evidence,
               .x = pl_optimizer_x(fit->optimizer, fit->optimizer->state),
               .g = pl_optimizer_gradient(fit->optimizer, fit->optimizer->state),
               .error = standard_error,
               .loss = fit->optimizer->state[PL_HEAD_LOSS],
               .first_loss = first_loss(fit),
               .out = out};
    *out = (pl_verdict){0};
    if (fit->task->control) {
        pl_verdict_goals(fit, evidence->residual, out);
        return PL_OK;
    }
    measure_residual(&j);
    PL_TRY(measure_motion(&j));
    judge_bounds(&j);
    judge_residual(&j);
    judge_directions(&j);
    judge_convergence(&j);
    if (out->count == 0)
        judge_truth(&j);
    judge_starts(&j);
    write_sentence(fit, out);
    return PL_OK;
}
