/* Supernodal triangular solves. */
#include "linalg/triangular.h"

#define WORTH_PIECES 600000 /* values of a supernode at the top */

/* ---- One supernode ---- */

/* A panel where a solve finds it; `sealed` without the rows outside its sealed subtree. */
typedef struct stored {
    pl_panel p;
    const float *single;
    const pl_half *half; /* or NULL */
} stored;

static stored find_panel(const pl_triangular *t, const pl_supernodes *l, int k, bool sealed)
{
    stored s = {.p = pl_panel_of(l, k), .single = t->single + t->single_at[k]};
    if (t->halved && (sealed || t->sealed_by[k] < 0))
        s.half = t->half + t->half_at[k];
    if (sealed)
        s.p.below = t->kept[k];
    return s;
}

/* Rows [first, last) of y = A x and of x = A^T y, A being the panel. */
static void rows_forward(const pl_triangular *t, const stored *s, int first, int last, const float *x,
                         float *y)
{
    size_t at = pl_panel_offset(&s->p, first);
    if (s->half)
        t->backend->half->forward(s->half + at, first, last, s->p.columns, x, y);
    else
        t->backend->panel_forward(s->single + at, first, last, s->p.columns, x, y);
}

static void rows_backward(const pl_triangular *t, const stored *s, int first, int last, const float *y,
                          float *sums, float *x)
{
    size_t at = pl_panel_offset(&s->p, first);
    if (s->half)
        t->backend->half->backward(s->half + at, first, last, s->p.columns, y, sums, x);
    else
        t->backend->panel_backward(s->single + at, first, last, s->p.columns, y, sums, x);
}

/* Where rows [first, last) are cut into pieces of about the same size, or into one piece where the
 * parts are what threads share. */
static int cut(const pl_triangular *t, const pl_panel *p, const pl_part *part, int first, int last,
               int cuts[PL_PIECES + 1])
{
    size_t begin = pl_panel_offset(p, first), end = pl_panel_offset(p, last);
    bool many = part == &t->parts[t->part_count] && end - begin > WORTH_PIECES / 2;
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

/* Rows [first, last) of part->all = A x. */
static void multiply(const pl_triangular *t, const stored *s, pl_part *part, int first, int last,
                     const float *x)
{
    int cuts[PL_PIECES + 1], pieces = cut(t, &s->p, part, first, last, cuts);
    if (pieces == 1) {
        rows_forward(t, s, first, last, x, part->all);
        return;
    }
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int i = 0; i < pieces; i++)
        rows_forward(t, s, cuts[i], cuts[i + 1], x, part->all);
}

/* part->own = A^T part->all by rows [first, last), filled up by zeros. */
static void multiply_transposed(const pl_triangular *t, const stored *s, pl_part *part, int first,
                                int last)
{
    int cuts[PL_PIECES + 1], pieces = cut(t, &s->p, part, first, last, cuts);
    for (int i = last; i < PL_STRIP_ROWS(last); i++)
        part->all[i] = 0;
    if (pieces == 1) {
        rows_backward(t, s, first, last, part->all, part->sums, part->own);
        return;
    }
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int i = 0; i < pieces; i++) {
        float *x = t->pieces + (size_t)i * t->piece, *sums = x + t->piece / 9;
        rows_backward(t, s, cuts[i], cuts[i + 1], part->all, sums, x);
    }
    for (int j = 0; j < s->p.columns; j++) {
        part->own[j] = 0;
        for (int i = 0; i < pieces; i++)
            part->own[j] += t->pieces[(size_t)i * t->piece + (size_t)j];
    }
}

/* Own columns by the diagonal block; what they take from the rows below goes to columns of the part,
 * then of the top. */
static void forward(const pl_triangular *t, const pl_supernodes *l, int k, bool sealed, pl_part *part,
                    int inside, double *x)
{
    stored s = find_panel(t, l, k, sealed);
    int under = pl_panel_under(&s.p);
    double *own = x + s.p.first;
    for (int j = 0; j < s.p.columns; j++)
        part->own[j] = (float)own[j];
    multiply(t, &s, part, 0, s.p.columns, part->own);
    for (int j = 0; j < s.p.columns; j++)
        own[j] = part->all[j];
    multiply(t, &s, part, under, under + s.p.below, part->all);
    const int *triple = t->triple + t->triple_from[k], *end = triple + s.p.below / 3;
    const float *below = part->all + under;
    for (; triple < end && *triple < inside; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            x[*triple + c] -= below[c];
    for (; triple < end; triple++, below += 3)
        for (int c = 0; c < 3; c++)
            part->outside[t->top_of[*triple] + c] -= below[c];
}

static void backward(const pl_triangular *t, const pl_supernodes *l, int k, bool sealed, pl_part *part,
                     double *x)
{
    stored s = find_panel(t, l, k, sealed);
    int under = pl_panel_under(&s.p);
    const int *triple = t->triple + t->triple_from[k];
    double *own = x + s.p.first;
    float *below = part->all + under;
    for (int i = 0; i < s.p.below / 3; i++)
        for (int c = 0; c < 3; c++)
            below[3 * i + c] = (float)x[triple[i] + c];
    multiply_transposed(t, &s, part, under, under + s.p.below);
    for (int j = 0; j < s.p.columns; j++)
        part->all[j] = (float)(own[j] - part->own[j]);
    multiply_transposed(t, &s, part, 0, s.p.columns);
    for (int j = 0; j < s.p.columns; j++)
        own[j] = part->own[j];
}

/* ---- Sealed subtrees ---- */

/* The sealed subtree that supernode k is in, or NULL; one that holds the focus is open to it. */
static const pl_sealed *sealed_with(const pl_triangular *t, int k, bool focused)
{
    const pl_sealed *s = t->halved && t->sealed_by[k] >= 0 ? &t->sealed[t->sealed_by[k]] : NULL;
    return s && focused && s->open ? NULL : s;
}

static void forward_inside(const pl_triangular *t, const pl_supernodes *l, const pl_sealed *s,
                           pl_part *part, double *x)
{
    for (int k = s->begin; k < s->end; k++)
        forward(t, l, k, true, part, l->n, x);
}

static void backward_inside(const pl_triangular *t, const pl_supernodes *l, const pl_sealed *s,
                            pl_part *part, double *x)
{
    for (int k = s->end - 1; k >= s->begin; k--)
        backward(t, l, k, true, part, x);
}

static void forward_sealed(pl_triangular *t, const pl_supernodes *l, const pl_sealed *s, pl_part *part,
                           int inside, double *x)
{
    int first = l->first[s->begin], end = l->first[s->end];
    double *z = t->y;
    forward_inside(t, l, s, part, x);
    memcpy(z + first, x + first, sizeof *z * (size_t)(end - first));
    backward_inside(t, l, s, part, z);
    for (int i = s->border_begin; i < s->border_end; i++) {
        const pl_border *b = &t->border[i];
        const float *a = t->border_value + 9 * (size_t)i;
        const double *from = z + b->inside;
        double *to = b->outside < inside ? x + b->outside : part->outside + t->top_of[b->outside];
        for (int r = 0; r < 3; r++)
            to[r] -= a[r] * from[0] + a[3 + r] * from[1] + a[6 + r] * from[2];
    }
}

static void backward_sealed(pl_triangular *t, const pl_supernodes *l, const pl_sealed *s, pl_part *part,
                            double *x)
{
    int first = l->first[s->begin], end = l->first[s->end];
    double *z = t->y;
    memset(z + first, 0, sizeof *z * (size_t)(end - first));
    for (int i = s->border_begin; i < s->border_end; i++) {
        const pl_border *b = &t->border[i];
        const float *a = t->border_value + 9 * (size_t)i;
        const double *from = x + b->outside;
        for (int c = 0; c < 3; c++)
            z[b->inside + c] += a[3 * c] * from[0] + a[3 * c + 1] * from[1] + a[3 * c + 2] * from[2];
    }
    forward_inside(t, l, s, part, z);
    for (int j = first; j < end; j++)
        x[j] -= z[j];
    backward_inside(t, l, s, part, x);
}

/* ---- All of it ---- */

static void forward_part(pl_triangular *t, const pl_supernodes *l, bool focused, pl_part *part,
                         double *x)
{
    memset(part->outside, 0, sizeof(double) * (size_t)t->top_count);
    for (int k = part->begin, inside = l->first[part->end]; k < part->end;) {
        const pl_sealed *s = sealed_with(t, k, focused);
        if (s)
            forward_sealed(t, l, s, part, inside, x);
        else
            forward(t, l, k, false, part, inside, x);
        k = s ? s->end : k + 1;
    }
}

static void backward_part(pl_triangular *t, const pl_supernodes *l, bool focused, bool path_done,
                          pl_part *part, double *x)
{
    for (int k = part->end - 1; k >= part->begin;) {
        const pl_sealed *s = sealed_with(t, k, focused);
        if (s)
            backward_sealed(t, l, s, part, x);
        else if (!(path_done && t->on_path[k]))
            backward(t, l, k, false, part, x);
        k = s ? s->begin - 1 : k - 1;
    }
}

/* x <- L^-1 x: the parts, what they subtract from the top, the top. */
static void forward_all(pl_triangular *t, const pl_supernodes *l, bool focused, double *x)
{
    pl_part *top = &t->parts[t->part_count];
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++)
        forward_part(t, l, focused, &t->parts[p], x);
    memset(top->outside, 0, sizeof(double) * (size_t)t->top_count);
    for (int p = 0; p < t->part_count; p++)
        for (int i = 0; i < t->top_count; i++)
            top->outside[i] += t->parts[p].outside[i];
    for (int i = 0; i < t->top_count; i++)
        x[t->top_column[i]] += top->outside[i];
    for (int k = 0; k < l->count; k++)
        if (!t->in_part[k])
            forward(t, l, k, false, top, l->n, x);
}

/* x <- L^-T x, but for the focus' paths if x is there already. */
static void backward_all(pl_triangular *t, const pl_supernodes *l, bool focused, bool path_done,
                         double *x)
{
    for (int k = l->count - 1; k >= 0; k--)
        if (!t->in_part[k] && !(path_done && t->on_path[k]))
            backward(t, l, k, false, &t->parts[t->part_count], x);
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(dynamic, 1)
    for (int p = 0; p < t->part_count; p++)
        backward_part(t, l, focused, path_done, &t->parts[p], x);
}

/* x in the factor's order, scaled, and back: vertices stay together. */
static void permute(const pl_triangular *t, const pl_supernodes *l, const double *from, double *x)
{
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            x[j + c] = t->scale[l->order[j] / 3] * from[l->order[j] + c];
}

static void permute_back(const pl_triangular *t, const pl_supernodes *l, const double *x, double *to)
{
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int j = 0; j < l->n; j += 3)
        for (int c = 0; c < 3; c++)
            to[l->order[j] + c] = t->scale[l->order[j] / 3] * x[j + c];
}

void pl_triangular_solve(pl_triangular *t, const pl_supernodes *l, const double *b, double *x)
{
    permute(t, l, b, t->x);
    forward_all(t, l, false, t->x);
    backward_all(t, l, false, false, t->x);
    permute_back(t, l, t->x, x);
}

void pl_triangular_focus(pl_triangular *t, const pl_supernodes *l, int count, const int *vertices)
{
    int columns = 0;
    memset(t->on_path, 0, sizeof(bool) * (size_t)l->count);
    for (int s = 0; s < t->sealed_count; s++)
        t->sealed[s].open = false;
    for (int i = 0; i < 3 * count; i++)
        for (int k = t->super_of[t->place[3 * vertices[i / 3] + i % 3]]; k >= 0 && !t->on_path[k];
             k = pl_triangular_parent(t, l, k)) {
            t->on_path[k] = true;
            columns += l->first[k + 1] - l->first[k];
            if (t->sealed_by[k] >= 0)
                t->sealed[t->sealed_by[k]].open = true;
        }
    t->closed = columns == 3 * count;
}

void pl_triangular_begin(pl_triangular *t, const pl_supernodes *l, const double *b, double *x)
{
    permute(t, l, b, t->x);
    forward_all(t, l, true, t->x);
    for (int k = l->count - 1; k >= 0; k--) { /* rows below a path are on it */
        if (!t->on_path[k])
            continue;
        int first = l->first[k], end = l->first[k + 1];
        memcpy(t->y + first, t->x + first, sizeof(double) * (size_t)(end - first));
        backward(t, l, k, false, &t->parts[t->part_count], t->y);
        for (int j = first; j < end; j++)
            x[l->order[j]] = t->scale[l->order[j] / 3] * t->y[j];
    }
}

/* t->x += L^-1 change */
static void add_change(pl_triangular *t, const pl_supernodes *l, const double *change)
{
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; t->on_path[k] && j < l->first[k + 1]; j++)
            t->y[j] = t->scale[l->order[j] / 3] * change[l->order[j]];
    for (int k = 0; k < l->count; k++) {
        if (!t->on_path[k])
            continue;
        forward(t, l, k, false, &t->parts[t->part_count], l->n, t->y);
        for (int j = l->first[k]; j < l->first[k + 1]; j++)
            t->x[j] += t->y[j];
    }
}

static void take_known(pl_triangular *t, const pl_supernodes *l, const double *known)
{
    for (int k = 0; k < l->count; k++)
        for (int j = l->first[k]; t->on_path[k] && j < l->first[k + 1]; j++)
            t->x[j] = known[l->order[j]] / t->scale[l->order[j] / 3];
}

void pl_triangular_end(pl_triangular *t, const pl_supernodes *l, const double *change,
                       const double *known, double *x)
{
    bool path_done = known && t->closed;
    if (path_done)
        take_known(t, l, known);
    else
        add_change(t, l, change);
    backward_all(t, l, true, path_done, t->x);
    permute_back(t, l, t->x, x);
}
