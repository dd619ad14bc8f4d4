/* The step: corrections until one is small enough. */
#include "device/newton.h"

#define SOFT                                                                                           \
    1e-4 /* 1/rho: springs are no stiffer than 1/(SOFT rho); what is stiffer moves as little           \
          */
#define ACCURACY 1e-4 /* of a correction: what GMRES may leave of it, */
#define ROUGH    1e-2 /* or, while corrections are large beside the tolerance */
#define SPRINGS  1e-5 /* where springs are others than the factor's, which does not feel their rows */
#define SPARE    2    /* iterations launched beyond those that GMRES took the last time */
#define BURST    4    /* and at once where these did not do */
#define SLOW     12   /* iterations: then a new factor is better, */
#define OTHERS   0    /* or where so many springs have changed */
#define SLACK    1e-4 /* of the tolerance: what vertices may move to meet their laws */
#define RETREATS 12   /* halvings of a correction that inverts elements */
#define CLAMPED  1e-4 /* m: a smaller correction is Newton's own whatever the tangent's signs */
#define PATIENT  0.7  /* of the last one: a distance from laws that does not fall, */
#define TURNS    2    /* so many of which are patiently borne; */
#define PART     0.5  /* then so much of each correction is made */
#define STALLED  25   /* corrections without a smaller one: there is no solution nearby */

#define B(a) PL_DEV_B(s->of[PL_A_##a])
#define I(i) PL_DEV_I(i)
#define D(x) PL_DEV_D(x)

typedef struct newton {
    pl_system *s;
    const pl_device_problem *p;
    pl_device_memory *memory;
    pl_device_solution *out;
    double last, least; /* the last move, and the smallest so far, */
    int since;          /* how many corrections ago */
    double contacts;    /* that there were before the last one */
    double off;         /* of laws, then, */
    int slow;           /* and how often that did not fall; */
    double part;        /* of the next corrections that is made */
    bool fresh;         /* the factor is of this iterate */
    bool renew;         /* a new factor is wanted */
} newton;

static pl_status begin(newton *w)
{
    pl_system *s = w->s;
    const pl_device_problem *p = w->p;
    size_t n3 = 3 * (size_t)s->n;
    PL_TRY(pl_system_write(s, PL_A_Q0, n3, p->q0));
    PL_TRY(pl_system_write(s, PL_A_V0, n3, p->v0));
    PL_TRY(pl_system_write(s, PL_A_EXTERNAL, n3, p->external));
    PL_TRY(pl_system_write(s, PL_A_SHAPES, PL_SHAPE_SIZE * (size_t)s->colliders, p->shapes));
    if (s->pins > 0)
        PL_TRY(pl_system_write_pins(s, p->pins));
    PL_TRY(pl_system_write(s, PL_A_LAMBDA, 3 * (size_t)s->contacts, p->force));
    s->transposed = false;
    PL_TRY(PL_LAUNCH(s->device, set_state, 1, I(PL_STATE_DONE), D(1), B(STATE)));
    PL_TRY(PL_LAUNCH(s->device, warm, s->contacts, I(s->colliders), B(SHAPES), B(Q0), B(LAMBDA)));
    PL_TRY(PL_LAUNCH(s->device, clear, s->contacts, B(ACTIVE)));
    PL_TRY(PL_LAUNCH(s->device, fill, 3 * s->n, D(0), B(MOVE)));
    PL_TRY(PL_LAUNCH(s->device, fill, s->n, D(0), B(OFF)));
    if (!w->memory->factored || w->memory->h != p->h) {
        /* Nothing is known of what holds a vertex but its mass. */
        w->memory->factored = false;
        PL_TRY(PL_LAUNCH(s->device, own_masses, s->n, B(MASS), B(OWN)));
        PL_TRY(PL_LAUNCH(s->device, fill, 3 * s->n, D(0), B(USED)));
    }
    return PL_LAUNCH(s->device, guess, 3 * s->n, D(p->h), B(Q0), B(V0), B(Q));
}

/* Stress, contacts and what is lacking of balance at q; told to the state. */
static pl_status evaluate(newton *w)
{
    pl_system *s = w->s;
    const pl_device_problem *p = w->p;
    PL_TRY(pl_system_elements(s, 0));
    PL_TRY(pl_system_residual(s, p->h));
    PL_TRY(PL_LAUNCH(s->device, detect, s->contacts, I(s->colliders), D(p->margin), B(SHAPES), B(Q0),
                     B(Q), B(ACTIVE)));
    PL_TRY(PL_LAUNCH(s->device, touches, s->contacts, I(s->colliders), I(s->bodies), D(p->h),
                     D(p->epsilon2), D(SOFT), B(SHAPES), B(FRICTION), B(BODY_OF), B(MASS), B(OWN),
                     B(Q0), B(Q), B(ACTIVE), B(LAMBDA), B(MET), B(RECORDS), B(STATE)));
    PL_TRY(pl_system_vertices(s, p->h));
    return pl_system_tell(s);
}

static pl_status take_tangent(newton *w, bool clamp)
{
    PL_TRY(pl_system_elements(w->s, PL_DO_TANGENT | (clamp ? PL_DO_CLAMP : 0)));
    return pl_system_assemble(w->s, w->p->h);
}

static pl_status renew(newton *w)
{
    w->out->factorizations++;
    w->memory->factored = w->fresh = true;
    w->memory->h = w->p->h;
    w->memory->usual = 2;
    w->renew = false;
    PL_TRY(
        PL_LAUNCH(w->s->device, set_state, 1, I(PL_STATE_PIVOT), D(0), PL_DEV_B(w->s->of[PL_A_STATE])));
    return pl_system_factor(w->s);
}

/* q and forces as what GMRES found has them; does nothing while that goes on. */
static pl_status make_move(newton *w)
{
    pl_system *s = w->s;
    PL_TRY(pl_system_krylov_end(s, false, PL_A_X));
    PL_TRY(PL_LAUNCH(s->device, out_of_frames, s->n, B(FRAMES), B(X), B(WORLD)));
    PL_TRY(PL_LAUNCH(s->device, settle, s->n, I(s->colliders), I(s->bodies), D(w->p->h),
                     D(w->p->epsilon2), D(w->p->tolerance), D(w->part), B(FRICTION), B(BODY_OF),
                     B(MASS), B(OWN), B(Q0), B(Q), B(ROW), B(COL), B(BLOCKS), B(LEFT), B(WORLD),
                     B(ACTIVE), B(RECORDS), B(LAMBDA), B(MET), B(DELTA), B(MOVE), B(OFF), B(STATE)));
    PL_TRY(pl_system_copy(s, PL_A_LAMBDA, PL_A_LAMBDA_AFTER, 3 * s->contacts));
    PL_TRY(PL_LAUNCH(s->device, advance, 3 * s->n, D(1), B(Q_BEFORE), B(MOVE), B(Q), B(STATE)));
    return evaluate(w);
}

/* Iterations of GMRES, in bursts of which the first should do, each with all that comes after it. */
static pl_status correct(newton *w, double accuracy, bool *found)
{
    pl_system *s = w->s;
    int from = 0, to = pl_smaller(w->memory->usual + SPARE, PL_RESTART);
    PL_TRY(pl_system_copy(s, PL_A_Q, PL_A_Q_BEFORE, 3 * s->n));
    PL_TRY(pl_system_copy(s, PL_A_LAMBDA, PL_A_LAMBDA_BEFORE, 3 * s->contacts));
    PL_TRY(pl_system_copy(s, PL_A_MET, PL_A_MET_BEFORE, 3 * s->contacts));
    PL_TRY(PL_LAUNCH(s->device, copy_ints, s->contacts, B(ACTIVE), B(ACTIVE_BEFORE)));
    PL_TRY(pl_system_krylov_begin(s, accuracy, PL_A_RHS));
    for (;;) {
        PL_TRY(pl_system_krylov_go_on(s, from, to));
        PL_TRY(make_move(w));
        PL_TRY(pl_system_look(s));
        *found = s->state[PL_STATE_DONE] != 0;
        if (*found || to == PL_RESTART)
            break;
        from = to;
        to = pl_smaller(to + BURST, PL_RESTART);
    }
    w->memory->usual = (int)s->state[PL_STATE_ITERATIONS];
    w->out->linear += w->memory->usual;
    return PL_OK;
}

/* Back to where the correction began. */
static pl_status go_back(newton *w)
{
    pl_system *s = w->s;
    PL_TRY(PL_LAUNCH(s->device, set_state, 1, I(PL_STATE_DONE), D(1), B(STATE)));
    PL_TRY(pl_system_copy(s, PL_A_Q_BEFORE, PL_A_Q, 3 * s->n));
    PL_TRY(pl_system_copy(s, PL_A_LAMBDA_BEFORE, PL_A_LAMBDA, 3 * s->contacts));
    PL_TRY(pl_system_copy(s, PL_A_MET_BEFORE, PL_A_MET, 3 * s->contacts));
    PL_TRY(PL_LAUNCH(s->device, copy_ints, s->contacts, B(ACTIVE_BEFORE), B(ACTIVE)));
    return evaluate(w);
}

/* A part of the move, so that no element inverts. */
static pl_status retreat(newton *w)
{
    pl_system *s = w->s;
    double part = 0.5;
    for (int k = 0; k < RETREATS && s->state[PL_STATE_BAD] >= 0; k++, part *= 0.5) {
        PL_TRY(PL_LAUNCH(s->device, advance, 3 * s->n, D(part), B(Q_BEFORE), B(MOVE), B(Q), B(STATE)));
        PL_TRY(evaluate(w));
        PL_TRY(pl_system_look(s));
    }
    return PL_OK;
}

/* One correction, with a new factor where the old one will not do, of a clamped tangent where that has
 * none. */
static pl_status advance_once(newton *w, bool *found)
{
    pl_system *s = w->s;
    bool far = !(w->last < CLAMPED);
    double accuracy = w->last > 1e4 * w->p->tolerance ? ROUGH : ACCURACY;
    PL_TRY(take_tangent(w, false));
    w->fresh = false;
    if (s->state[PL_STATE_CHANGED] > 0)
        accuracy = SPRINGS;
    if (!w->memory->factored || w->renew)
        PL_TRY(renew(w));
    PL_TRY(correct(w, accuracy, found));
    if (!*found && !w->fresh) {
        PL_TRY(go_back(w));
        PL_TRY(renew(w));
        PL_TRY(correct(w, accuracy, found));
    }
    if (w->fresh && s->state[PL_STATE_PIVOT] != 0) {
        PL_TRY(go_back(w));
        PL_TRY(take_tangent(w, true));
        PL_TRY(renew(w));
        if (!far)
            PL_TRY(take_tangent(w, false));
        PL_TRY(correct(w, accuracy, found));
        *found = *found && s->state[PL_STATE_PIVOT] == 0;
        w->renew = true;
    }
    return PL_OK;
}

/* Whether the last move was small enough that what is left after it is below the tolerance; and no
 * contact came with it. */
static bool is_last(const newton *w, double move)
{
    double rate = w->last > 0 ? move / w->last : 0.5, tolerance = w->p->tolerance;
    double most = tolerance * fmin(1, 0.2 * (1 - fmin(rate, 0.99)) / fmax(rate, 1e-3));
    return w->part == 1 && move <= most && w->s->state[PL_STATE_CONTACTS] == w->contacts &&
           w->s->state[PL_STATE_OFF] <= SLACK * tolerance;
}

/* Laws that do not come nearer: slip that turns around from one correction to the next, as a rule. */
static void note_laws(newton *w)
{
    double off = w->s->state[PL_STATE_OFF];
    bool stays = off > PATIENT * w->off && off > w->p->tolerance;
    w->slow += stays;
    w->part = stays && w->slow > TURNS ? PART : 1;
    w->off = off;
}

static const char *iterate(newton *w, pl_status *status)
{
    pl_system *s = w->s;
    int limit = w->p->max_iterations;
    for (int k = 0; k < limit; k++) {
        bool found = false;
        *status = advance_once(w, &found);
        if (*status != PL_OK)
            return NULL;
        double move = s->state[PL_STATE_MOVE];
        pl_log(s->ctx, PL_LOG_DEBUG,
               "step %d: move %.3e m, laws off by %.3e m, GMRES %g to %.1e%s, %g springs changed, %g "
               "contacts%s",
               w->p->step, move, s->state[PL_STATE_OFF], s->state[PL_STATE_ITERATIONS],
               s->state[PL_STATE_RESIDUAL], w->fresh ? " with a new factor" : "",
               s->state[PL_STATE_CHANGED], s->state[PL_STATE_CONTACTS],
               s->state[PL_STATE_BAD] >= 0 ? ", inverted" : "");
        w->out->iterations++;
        w->out->vertex = (int)s->state[PL_STATE_WORST];
        w->out->move = move;
        if (!found || !isfinite(move))
            return "the linear system was not solved";
        if (is_last(w, move))
            return NULL;
        w->contacts = s->state[PL_STATE_CONTACTS];
        note_laws(w);
        if (s->state[PL_STATE_BAD] >= 0) {
            *status = retreat(w);
            if (*status != PL_OK)
                return NULL;
            w->renew = true;
        }
        if (s->state[PL_STATE_BAD] >= 0) {
            w->out->slot = (int)s->state[PL_STATE_BAD];
            return "an element would invert";
        }
        w->renew = w->renew || s->state[PL_STATE_CHANGED] > OTHERS || w->memory->usual > SLOW;
        w->since = move < w->least ? 0 : w->since + 1;
        w->least = fmin(w->least, move);
        w->last = move;
        if (w->since == STALLED)
            break;
    }
    return "too many iterations";
}

pl_status pl_device_newton(pl_system *s, pl_device_memory *memory, const pl_device_problem *p,
                           pl_device_solution *out)
{
    pl_status status = PL_OK;
    newton w = {.s = s,
                .p = p,
                .memory = memory,
                .out = out,
                .last = INFINITY,
                .least = INFINITY,
                .off = INFINITY,
                .part = 1};
    *out = (pl_device_solution){.slot = -1};
    PL_TRY(begin(&w));
    PL_TRY(evaluate(&w));
    PL_TRY(pl_system_look(s));
    if (s->state[PL_STATE_BAD] >= 0) {
        PL_TRY(pl_system_copy(s, PL_A_Q0, PL_A_Q, 3 * s->n));
        PL_TRY(evaluate(&w));
        PL_TRY(pl_system_look(s));
    }
    w.contacts = s->state[PL_STATE_CONTACTS];
    w.renew = s->state[PL_STATE_CHANGED] > OTHERS;
    out->reason = iterate(&w, &status);
    out->energy = s->state[PL_STATE_ENERGY];
    out->converged = status == PL_OK && !out->reason;
    if (!out->converged)
        memory->factored = false;
    return status == PL_OK && out->converged
               ? pl_system_copy(s, PL_A_LAMBDA_AFTER, PL_A_LAMBDA, 3 * s->contacts)
               : status;
}
