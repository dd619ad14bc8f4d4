/*
 * The verdict on a control task: how near its goals it came. Unknowns are chosen there, not identified:
 * that other values would do as well is no objection.
 *
 *   goal         more is left than the goal's `within`
 *   steps        no step was found because simulations failed
 *   convergence  the loss did not fall
 */
#include "fit/fit.h"

#include <stdio.h>

/* What a term's rows are off, m. */
typedef struct distances {
    double rms, largest;
    double last; /* the mean after the last of its steps */
} distances;

static distances measure(const pl_loss_term *term, const double *residual)
{
    int width = pl_term_width(term), rows = pl_term_rows(term),
        last = term->first[term->step_count - 1];
    const double *r = residual + term->first_residual;
    double sum = 0;
    distances d = {0};
    for (int i = 0; i < rows; i++) {
        double square = pl_dot(width, r + i * width, r + i * width);
        double off = sqrt(square) / pl_term_scale(term);
        sum += square;
        d.largest = fmax(d.largest, off);
        d.last += i >= last ? off / (rows - last) : 0;
    }
    d.rms = sqrt(sum / rows) / pl_term_scale(term);
    return d;
}

/* "bar's centre of mass 1.2 mm rms from its path (2.9 mm at most)" */
static void describe(const pl_task *task, const pl_loss_term *term, const distances *d, char *out)
{
    static const char *const kinds[] = {"positions",      "velocities",  "markers",
                                        "centre of mass", "point cloud", "shape"};
    char name[160], most[48] = "";
    bool named = term->body >= 0 && task->scene->body_count > 1, many = pl_term_rows(term) > 1;
    snprintf(name, sizeof name, "%s%s%s", named ? task->scene->bodies[term->body].name : "",
             named ? "'s " : "", kinds[term->kind]);
    if (many)
        snprintf(most, sizeof most, " (%.3g mm at most)", 1e3 * d->largest);
    if (term->source == PL_TARGET_AHEAD)
        snprintf(out, PL_REASON_SIZE, "%s went %.4g m of %.4g m", name, term->distance - d->last,
                 term->distance);
    else if (term->source == PL_TARGET_START)
        snprintf(out, PL_REASON_SIZE, "%s kept to %.3g mm%s%s", name, 1e3 * d->rms, many ? " rms" : "",
                 most);
    else
        snprintf(out, PL_REASON_SIZE, "%s %.3g mm%s from %s%s", name, 1e3 * d->rms, many ? " rms" : "",
                 term->source <= PL_TARGET_FILE ? "the target"
                 : many                         ? "the path"
                                                : "the goal",
                 most);
}

static void write_sentence(pl_verdict *v, bool stated)
{
    size_t size = sizeof v->sentence, used;
    used = (size_t)snprintf(v->sentence, size, "%s: ",
                            v->count > 0 ? "Not reached"
                            : stated     ? "Reached"
                                         : "Steered");
    for (int i = 0; i < v->goal_count && used < size; i++)
        used += (size_t)snprintf(v->sentence + used, size - used, "%s%s", i > 0 ? "; " : "",
                                 v->goals[i].text);
    for (int i = 0; i < v->count && used < size; i++)
        if (v->doubts[i] != PL_DOUBT_GOAL)
            used += (size_t)snprintf(v->sentence + used, size - used, "; %s", v->texts[i]);
}

void pl_verdict_goals(const pl_fit *fit, const double *residual, pl_verdict *out)
{
    const pl_task *task = fit->task;
    const double *head = fit->optimizer->state;
    double squares = 0, first = fit->course->rows[PL_ROW_LOSS];
    int rows = 0;
    bool stated = false;
    for (int k = 0; k < task->term_count; k++) {
        const pl_loss_term *term = &task->terms[k];
        distances d = measure(term, residual);
        squares += d.rms * d.rms * pl_term_rows(term);
        rows += pl_term_rows(term);
        if (term->kind == PL_TERM_VELOCITIES || out->goal_count == PL_GOALS_MAX)
            continue;
        pl_fit_goal *goal = &out->goals[out->goal_count];
        *goal = (pl_fit_goal){out->goal_texts[out->goal_count], d.rms, d.largest, term->within};
        describe(task, term, &d, out->goal_texts[out->goal_count++]);
        stated = stated || term->within > 0;
        if (term->within > 0 && d.rms > term->within)
            pl_verdict_doubt(out, PL_DOUBT_GOAL, "%s, more than %.3g mm", goal->text,
                             1e3 * term->within);
    }
    out->residual = sqrt(squares / rows);
    if ((pl_stop)head[PL_HEAD_STOP] == PL_STOP_STALLED && head[PL_HEAD_REFUSED_LAST] > 0)
        pl_verdict_doubt(out, PL_DOUBT_STEPS,
                         "no step was found, because %.0f of the points tried could not be simulated",
                         head[PL_HEAD_REFUSED_LAST]);
    if (!stated && !task->window.steps && first > task->optimizer.stop_loss &&
        head[PL_HEAD_LOSS] >= first)
        pl_verdict_doubt(out, PL_DOUBT_CONVERGENCE, "the loss did not fall");
    write_sentence(out, stated);
}
