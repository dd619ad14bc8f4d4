/* Supernodal triangular solves. */
#include "linalg/triangular.h"

/* ---- One supernode ---- */

/* A panel where a solve finds it; `sealed` without the rows outside its sealed subtree. */
typedef struct stored {
    pl_panel p;
    const float *single;
    const pl_half *half; /* or NULL */
} stored;

static stored find_panel(const pl_triangular *t, int k, bool sealed)
{
    const pl_triangular_plan *plan = t->plan;
    stored s = {.p = pl_panel_of(plan->supernodes, k), .single = t->single + plan->single_at[k]};
    if (t->halved && (sealed || plan->sealed_by[k] < 0))
        s.half = t->half + plan->half_at[k];
    if (sealed)
        s.p.below = plan->kept[k];
    return s;
}

/* Rows [first, last) of y = A x and of x = A^T y, A being the panel. */
static void rows_forward(const pl_triangular *t, const stored *s, int first, int last, const float *x,
                         float *y)
{
    size_t at = pl_panel_offset(&s->p, first);
    if (s->half)
        t->plan->backend->half->forward(s->half + at, first, last, s->p.columns, x, y);
    else
        t->plan->backend->panel_forward(s->single + at, first, last, s->p.columns, x, y);
}

static void rows_backward(const pl_triangular *t, const stored *s, int first, int last, const float *y,
                          float *sums, float *x)
{
    size_t at = pl_panel_offset(&s->p, first);
    if (s->half)
        t->plan->backend->half->backward(s->half + at, first, last, s->p.columns, y, sums, x);
    else
        t->plan->backend->panel_backward(s->single + at, first, last, s->p.columns, y, sums, x);
}

/* Where rows [first, last) are cut into pieces of about the same size, or into one piece where the
 * parts are what threads share. */
static int cut(const pl_triangular *t, const pl_panel *p, const pl_part_scratch *work, int first,
               int last, int cuts[PL_PIECES + 1])
{
    size_t begin = pl_panel_offset(p, first), end = pl_panel_offset(p, last);
    bool many = work == &t->work[t->plan->part_count] && end - begin > t->ctx->limits.pieces_supernode;
    int pieces = many ? PL_PIECES : 1;
    cuts[0] = first;
    for (int k = 1; k < pieces; k++) {
        cuts[k] = cuts[k - 1];
        while (cuts[k] < last &&
               pl_panel_offset(p, cuts[k]) - begin < (end - begin) * (size_t)k / (size_t)pieces)
            cuts[k] = pl_smaller(cuts[k] + PL_STRIP, last);
    }
    cuts[pieces] = last;
    return pieces;
}

/* Rows [first, last) of work->all = A x. */
static void multiply(const pl_triangular *t, const stored *s, pl_part_scratch *work, int first,
                     int last, const float *x)
{
    int cuts[PL_PIECES + 1], pieces = cut(t, &s->p, work, first, last, cuts);
    if (pieces == 1) {
        rows_forward(t, s, first, last, x, work->all);
        return;
    }
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int i = 0; i < pieces; i++)
        rows_forward(t, s, cuts[i], cuts[i + 1], x, work->all);
}

/* work->own = A^T work->all by rows [first, last), filled up by zeros. */
static void multiply_transposed(const pl_triangular *t, const stored *s, pl_part_scratch *work,
                                int first, int last)
{
    int cuts[PL_PIECES + 1], pieces = cut(t, &s->p, work, first, last, cuts);
    for (int i = last; i < PL_STRIP_ROWS(last); i++)
        work->all[i] = 0;
    if (pieces == 1) {
        rows_backward(t, s, first, last, work->all, work->sums, work->own);
        return;
    }
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int i = 0; i < pieces; i++) {
        float *x = t->pieces + (size_t)i * t->piece, *sums = x + t->piece / 9;
        rows_backward(t, s, cuts[i], cuts[i + 1], work->all, sums, x);
    }
    for (int j = 0; j < s->p.columns; j++) {
        work->own[j] = 0;
        for (int i = 0; i < pieces; i++)
            work->own[j] += t->pieces[(size_t)i * t->piece + (size_t)j];
    }
}

/* Own columns by the diagonal block; what they take from the rows below goes to columns of the part,
 * then of the top. */
static void forward(const pl_triangular *t, int k, bool sealed, pl_part_scratch *work, int inside,
                    double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
    stored s = find_panel(t, k, sealed);
    int under = pl_panel_under(&s.p);
    double *own = x + s.p.first;
    for (int j = 0; j < s.p.columns; j++)
        work->own[j] = (float)own[j];
    multiply(t, &s, work, 0, s.p.columns, work->own);
    for (int j = 0; j < s.p.columns; j++)
        own[j] = work->all[j];
    multiply(t, &s, work, under, under + s.p.below, work->all);
    const int *triple = l->triple + l->triple_from[k], *end = triple + s.p.below / 3;
    const float *below = work->all + under;
    for (; triple < end && *triple < inside; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            x[*triple + c] -= below[c];
    const int *top_of = t->plan->top_of;
    for (; triple < end; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            work->outside[top_of[*triple] + c] -= below[c];
}

static void backward(const pl_triangular *t, int k, bool sealed, pl_part_scratch *work, double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
    stored s = find_panel(t, k, sealed);
    int under = pl_panel_under(&s.p);
    const int *triple = l->triple + l->triple_from[k];
    double *own = x + s.p.first;
    float *below = work->all + under;
    for (int i = 0; i < s.p.below / 3; i++)
        for (int c = 0; c < 3; c++)
            below[3 * i + c] = (float)x[triple[i] + c];
    multiply_transposed(t, &s, work, under, under + s.p.below);
    for (int j = 0; j < s.p.columns; j++)
        work->all[j] = (float)(own[j] - work->own[j]);
    multiply_transposed(t, &s, work, 0, s.p.columns);
    for (int j = 0; j < s.p.columns; j++)
        own[j] = work->own[j];
}

/* ---- Sealed subtrees ---- */

/* The sealed subtree that supernode k is in, or NULL; one that holds the focus is open to it. */
static const pl_sealed *sealed_with(const pl_triangular *t, int k, bool focused)
{
    int s = t->halved ? t->plan->sealed_by[k] : -1;
    return s < 0 || (focused && t->open[s]) ? NULL : &t->plan->sealed[s];
}

static void forward_inside(const pl_triangular *t, const pl_sealed *s, pl_part_scratch *work, double *x)
{
    for (int k = s->begin; k < s->end; k++)
        forward(t, k, true, work, t->plan->supernodes->n, x);
}

static void backward_inside(const pl_triangular *t, const pl_sealed *s, pl_part_scratch *work,
                            double *x)
{
    for (int k = s->end - 1; k >= s->begin; k--)
        backward(t, k, true, work, x);
}

static void forward_sealed(pl_triangular *t, const pl_sealed *s, pl_part_scratch *work, int inside,
                           double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
    int first = l->first[s->begin], end = l->first[s->end];
    double *z = t->y;
    forward_inside(t, s, work, x);
    memcpy(z + first, x + first, sizeof *z * (size_t)(end - first));
    backward_inside(t, s, work, z);
    for (int i = s->border_begin; i < s->border_end; i++) {
        const pl_border *b = &t->plan->border[i];
        const float *a = t->border_value + 9 * (size_t)i;
        const double *from = z + b->inside;
        double *to = b->outside < inside ? x + b->outside : work->outside + t->plan->top_of[b->outside];
        for (int r = 0; r < 3; r++)
            to[r] -= a[r] * from[0] + a[3 + r] * from[1] + a[6 + r] * from[2];
    }
}

static void backward_sealed(pl_triangular *t, const pl_sealed *s, pl_part_scratch *work, double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
    int first = l->first[s->begin], end = l->first[s->end];
    double *z = t->y;
    memset(z + first, 0, sizeof *z * (size_t)(end - first));
    for (int i = s->border_begin; i < s->border_end; i++) {
        const pl_border *b = &t->plan->border[i];
        const float *a = t->border_value + 9 * (size_t)i;
        const double *from = x + b->outside;
        for (int c = 0; c < 3; c++)
            z[b->inside + c] += a[3 * c] * from[0] + a[3 * c + 1] * from[1] + a[3 * c + 2] * from[2];
    }
    forward_inside(t, s, work, z);
    for (int j = first; j < end; j++)
        x[j] -= z[j];
    backward_inside(t, s, work, x);
}

/* ---- All of it ---- */

static void forward_part(pl_triangular *t, bool focused, int p, double *x)
{
    const pl_triangular_plan *plan = t->plan;
    const pl_part *part = &plan->parts[p];
    pl_part_scratch *work = &t->work[p];
    int inside = plan->supernodes->first[part->end];
    memset(work->outside, 0, sizeof(double) * (size_t)plan->top_count);
    for (int k = part->begin; k < part->end;) {
        const pl_sealed *s = sealed_with(t, k, focused);
        if (s)
            forward_sealed(t, s, work, inside, x);
        else
            forward(t, k, false, work, inside, x);
        k = s ? s->end : k + 1;
    }
}

static void backward_part(pl_triangular *t, bool focused, bool path_done, int p, double *x)
{
    const pl_part *part = &t->plan->parts[p];
    for (int k = part->end - 1; k >= part->begin;) {
        const pl_sealed *s = sealed_with(t, k, focused);
        if (s)
            backward_sealed(t, s, &t->work[p], x);
        else if (!(path_done && t->on_path[k]))
            backward(t, k, false, &t->work[p], x);
        k = s ? s->begin - 1 : k - 1;
    }
}

/* x <- L^-1 x: the parts, what they subtract from the top, the top. */
static void forward_all(pl_triangular *t, bool focused, double *x)
{
    const pl_triangular_plan *plan = t->plan;
    const pl_supernodes *l = plan->supernodes;
    pl_part_scratch *top = &t->work[plan->part_count];
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(dynamic, 1)
    for (int p = 0; p < plan->part_count; p++)
        forward_part(t, focused, p, x);
    memset(top->outside, 0, sizeof(double) * (size_t)plan->top_count);
    for (int p = 0; p < plan->part_count; p++)
        for (int i = 0; i < plan->top_count; i++)
            top->outside[i] += t->work[p].outside[i];
    for (int i = 0; i < plan->top_count; i++)
        x[plan->top_column[i]] += top->outside[i];
    for (int k = 0; k < l->count; k++)
        if (!plan->in_part[k])
            forward(t, k, false, top, l->n, x);
}

/* x <- L^-T x, but for the focus' paths if x is there already. */
static void backward_all(pl_triangular *t, bool focused, bool path_done, double *x)
{
    const pl_triangular_plan *plan = t->plan;
    for (int k = plan->supernodes->count - 1; k >= 0; k--)
        if (!plan->in_part[k] && !(path_done && t->on_path[k]))
            backward(t, k, false, &t->work[plan->part_count], x);
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(dynamic, 1)
    for (int p = 0; p < plan->part_count; p++)
        backward_part(t, focused, path_done, p, x);
}

/* x in the factor's order, scaled, and back: vertices stay together. */
static void permute(const pl_triangular *t, const double *from, double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            x[j + c] = t->scale[l->order[j] / 3] * from[l->order[j] + c];
}

static void permute_back(const pl_triangular *t, const double *x, double *to)
{
    const pl_supernodes *l = t->plan->supernodes;
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            to[l->order[j] + c] = t->scale[l->order[j] / 3] * x[j + c];
}

void pl_triangular_solve(pl_triangular *t, const double *b, double *x)
{
    permute(t, b, t->x);
    forward_all(t, false, t->x);
    backward_all(t, false, false, t->x);
    permute_back(t, t->x, x);
}

void pl_triangular_focus(pl_triangular *t, int count, const int *vertices)
{
    const pl_supernodes *l = t->plan->supernodes;
    const int *sealed_by = t->plan->sealed_by;
    int columns = 0;
    memset(t->on_path, 0, sizeof(bool) * (size_t)l->count);
    memset(t->open, 0, sizeof(bool) * (size_t)t->plan->sealed_count);
    for (int i = 0; i < 3 * count; i++)
        for (int k = l->super_of[l->place[3 * vertices[i / 3] + i % 3]]; k >= 0 && !t->on_path[k];
             k = l->parent[k]) {
            t->on_path[k] = true;
            columns += l->first[k + 1] - l->first[k];
            if (sealed_by[k] >= 0)
                t->open[sealed_by[k]] = true;
        }
    t->closed = columns == 3 * count;
}

void pl_triangular_begin(pl_triangular *t, const double *b, double *x)
{
    const pl_supernodes *l = t->plan->supernodes;
    permute(t, b, t->x);
    forward_all(t, true, t->x);
    for (int k = l->count - 1; k >= 0; k--) { /* rows below a path are on it */
        if (!t->on_path[k])
            continue;
        int first = l->first[k], end = l->first[k + 1];
        memcpy(t->y + first, t->x + first, sizeof(double) * (size_t)(end - first));
        backward(t, k, false, &t->work[t->plan->part_count], t->y);
        for (int j = first; j < end; j++)
            x[l->order[j]] = t->scale[l->order[j] / 3] * t->y[j];
    }
}

/* t->x += L^-1 change */
static void add_change(pl_triangular *t, const double *change)
{
    const pl_supernodes *l = t->plan->supernodes;
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; t->on_path[k] && j < l->first[k + 1]; j++)
            t->y[j] = t->scale[l->order[j] / 3] * change[l->order[j]];
    for (int k = 0; k < l->count; k++) {
        if (!t->on_path[k])
            continue;
        forward(t, k, false, &t->work[t->plan->part_count], l->n, t->y);
        for (int j = l->first[k]; j < l->first[k + 1]; j++)
            t->x[j] += t->y[j];
    }
}

static void take_known(pl_triangular *t, const double *known)
{
    const pl_supernodes *l = t->plan->supernodes;
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; t->on_path[k] && j < l->first[k + 1]; j++)
            t->x[j] = known[l->order[j]] / t->scale[l->order[j] / 3];
}

void pl_triangular_end(pl_triangular *t, const double *change, const double *known, double *x)
{
    bool path_done = known && t->closed;
    if (path_done)
        take_known(t, known);
    else
        add_change(t, change);
    backward_all(t, true, path_done, t->x);
    permute_back(t, t->x, x);
}
