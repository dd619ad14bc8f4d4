/* A factor as solves read it. */
#include "linalg/lower.h"
#include "linalg/triangular.h"

#include <omp.h>

int pl_triangular_threads(const pl_triangular *t)
{
    return t->plan->entries < t->ctx->limits.thread_factor ? 1 : t->ctx->threads;
}

/* Scratch of the parts and the top in one piece. */
static pl_status reserve_parts(pl_triangular *t)
{
    const pl_triangular_plan *plan = t->plan;
    pl_status status = PL_OK;
    size_t top = (size_t)plan->top_count, parts = (size_t)plan->part_count + 1;
    size_t each = top + plan->tallest + 4 * (plan->widest + 4);
    PL_NEW(t->ctx, t->storage, each * parts, done);
    PL_NEW(t->ctx, t->work, parts, done);
    for (size_t p = 0; p < parts; p++) {
        double *outside = t->storage + each * p;
        float *own = (float *)(outside + top), *all = own + plan->tallest;
        t->work[p] = (pl_part_scratch){outside, own, all, all + plan->tallest};
    }
done:
    return status;
}

pl_status pl_triangular_create(pl_context *ctx, const pl_triangular_plan *plan, pl_triangular *out)
{
    const pl_supernodes *l = plan->supernodes;
    pl_status status = PL_OK;
    pl_triangular *t = out;
    *t = (pl_triangular){.ctx = ctx, .plan = plan, .piece = 9 * (plan->widest + 4)};
    PL_NEW(ctx, t->scale, l->n / 3, done);
    PL_NEW(ctx, t->single, plan->single_at[l->count], done);
    if (plan->halves)
        PL_NEW(ctx, t->half, plan->half_at[l->count], done);
    PL_NEW(ctx, t->border_value, 9 * (size_t)plan->border_count, done);
    PL_NEW(ctx, t->on_path, l->count, done);
    PL_NEW(ctx, t->open, plan->sealed_count, done);
    PL_NEW(ctx, t->x, l->n, done);
    PL_NEW(ctx, t->y, l->n, done);
    PL_NEW(ctx, t->panels, 2 * (size_t)ctx->threads * plan->largest, done);
    PL_NEW(ctx, t->pieces, PL_PIECES * t->piece, done);
    PL_CHECK(reserve_parts(t), done);
done:
    if (status != PL_OK)
        pl_triangular_free(t);
    return status;
}

void pl_triangular_free(pl_triangular *t)
{
    void *arrays[] = {t->scale, t->single, t->half,    t->border_value, t->on_path, t->open,
                      t->x,     t->y,      t->storage, t->work,         t->panels,  t->pieces};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        pl_free(t->ctx, arrays[k]);
    *t = (pl_triangular){0};
}

/* s A s between the inside and the outside of the sealed subtrees. */
static void take_borders(pl_triangular *t, const double *blocks)
{
    const pl_triangular_plan *plan = t->plan;
    const int *order = plan->supernodes->order;
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int s = 0; s < plan->sealed_count; s++)
        for (int i = plan->sealed[s].border_begin; i < plan->sealed[s].border_end; i++) {
            const pl_border *b = &plan->border[i];
            float scale = t->scale[order[b->inside] / 3] * t->scale[order[b->outside] / 3];
            for (int k = 0; k < 9; k++)
                t->border_value[9 * (size_t)i + (size_t)k] =
                    scale * (float)blocks[9 * (size_t)b->block + (size_t)k];
        }
}

void pl_triangular_take(pl_triangular *t, const pl_pattern *pattern, const double *blocks)
{
    for (int v = 0; v < pattern->n; v++) {
        const double *block = blocks + 9 * (size_t)pattern->diag[v];
        t->scale[v] = pl_half_scale(fmax(fmax(block[0], block[4]), block[8]));
    }
    take_borders(t, blocks);
}

float *pl_triangular_scratch(const pl_triangular *t, int thread)
{
    return t->panels + 2 * (size_t)thread * t->plan->largest;
}

/* The strip of supernode k from row r on, `from` its first value, column-major. */
static void store_strip(pl_triangular *t, const pl_panel *p, int k, int r, const float *from,
                        size_t stride)
{
    int under = pl_panel_under(p), last = r < under ? p->columns : under + p->below;
    int rows = pl_smaller(last - r, PL_STRIP), filled = PL_STRIP_ROWS(rows);
    int width = pl_smaller(p->columns, r + PL_STRIP);
    float *to = t->single + t->plan->single_at[k] + pl_panel_offset(p, r);
    for (int j = 0; j < width; j++) {
        memcpy(to + j * filled, from + (size_t)j * stride, sizeof *to * (size_t)rows);
        memset(to + j * filled + rows, 0, sizeof *to * (size_t)(filled - rows));
    }
}

/* The same strip in half precision, as far as that is kept. */
static void halve_strip(pl_triangular *t, const pl_panel *p, int k, int r)
{
    const pl_triangular_plan *plan = t->plan;
    int under = pl_panel_under(p), last = r < under ? p->columns : under + p->below;
    int rows = pl_smaller(last - r, PL_STRIP), filled = PL_STRIP_ROWS(rows);
    int width = pl_smaller(p->columns, r + PL_STRIP);
    int kept = PL_STRIP_ROWS(pl_smaller(r < under ? rows : under + plan->kept[k] - r, rows));
    if (kept <= 0)
        return;
    const float *from = t->single + plan->single_at[k] + pl_panel_offset(p, r);
    pl_half *to = t->half + plan->half_at[k] + pl_panel_offset(p, r);
    if (kept == filled)
        plan->backend->half->round(from, (size_t)(filled * width), to);
    else
        for (int j = 0; j < width; j++)
            plan->backend->half->round(from + j * filled, (size_t)kept, to + j * kept);
}

void pl_triangular_halve(pl_triangular *t, int k, int threads)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    int rows = pl_panel_under(&p) + p.below;
    if (!t->half)
        return;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int r = 0; r < rows; r += PL_STRIP)
        halve_strip(t, &p, k, r);
}

/* Supernode k, [L11; L21] column-major, from the first half of a scratch; uses the second. */
static void store(pl_triangular *t, int k, float *scratch)
{
    pl_panel p = pl_panel_of(t->plan->supernodes, k);
    int under = pl_panel_under(&p);
    float *inverse = scratch + t->plan->largest;
    pl_lower_invert(1, p.columns, scratch, p.height, inverse);
    for (int r = 0; r < under + p.below; r += PL_STRIP)
        if (r < under)
            store_strip(t, &p, k, r, inverse + r, (size_t)p.columns);
        else
            store_strip(t, &p, k, r, scratch + p.columns + (r - under), (size_t)p.height);
    pl_triangular_halve(t, k, 1);
}

void pl_triangular_round(pl_triangular *t, const double *value)
{
    const pl_supernodes *l = t->plan->supernodes;
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(dynamic, 8)
    for (int k = 0; k < l->count; k++) {
        pl_panel p = pl_panel_of(l, k);
        float *columns = pl_triangular_scratch(t, omp_get_thread_num());
        for (int j = 0; j < p.columns; j++) {
            const double *from = value + (size_t)l->at[k] + (size_t)j * (size_t)l->stride[k];
            for (int i = 0; i < p.height; i++)
                columns[(size_t)j * (size_t)p.height + (size_t)i] =
                    t->scale[l->order[l->row[l->begin[k] + i]] / 3] * (float)from[i];
        }
        store(t, k, columns);
    }
}
