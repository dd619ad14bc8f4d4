/* A factor as solves read it. */
#include "linalg/lower.h"
#include "linalg/triangular.h"

#include <omp.h>

/* s A s between the inside and the outside of the sealed subtrees. */
static void take_borders(pl_triangular *t, const pl_supernodes *l, const double *blocks)
{
#pragma omp parallel for num_threads(pl_triangular_threads(t)) schedule(static)
    for (int s = 0; s < t->sealed_count; s++)
        for (int i = t->sealed[s].border_begin; i < t->sealed[s].border_end; i++) {
            const pl_border *b = &t->border[i];
            float scale = t->scale[l->order[b->inside] / 3] * t->scale[l->order[b->outside] / 3];
            for (int k = 0; k < 9; k++)
                t->border_value[9 * (size_t)i + (size_t)k] =
                    scale * (float)blocks[9 * (size_t)b->block + (size_t)k];
        }
}

void pl_triangular_take(pl_triangular *t, const pl_pattern *pattern, const pl_supernodes *l,
                        const double *blocks)
{
    for (int v = 0; v < pattern->n; v++) {
        const double *block = blocks + 9 * (size_t)pattern->diag[v];
        t->scale[v] = pl_half_scale(fmax(fmax(block[0], block[4]), block[8]));
    }
    take_borders(t, l, blocks);
}

float *pl_triangular_scratch(const pl_triangular *t, int thread)
{
    return t->panels + 2 * (size_t)thread * t->largest;
}

/* The strip of supernode k from row r on, `from` its first value, column-major. */
static void store_strip(pl_triangular *t, const pl_panel *p, int k, int r, const float *from,
                        size_t stride)
{
    int under = pl_panel_under(p), last = r < under ? p->columns : under + p->below;
    int rows = pl_smaller(last - r, PL_STRIP), filled = PL_STRIP_ROWS(rows);
    int width = pl_smaller(p->columns, r + PL_STRIP);
    size_t at = pl_panel_offset(p, r);
    float *to = t->single + t->single_at[k] + at;
    for (int j = 0; j < width; j++) {
        memcpy(to + j * filled, from + (size_t)j * stride, sizeof *to * (size_t)rows);
        memset(to + j * filled + rows, 0, sizeof *to * (size_t)(filled - rows));
    }
    int kept = t->half ? PL_STRIP_ROWS(pl_smaller(r < under ? rows : under + t->kept[k] - r, rows)) : 0;
    pl_half *half = kept > 0 ? t->half + t->half_at[k] + at : NULL;
    if (kept == filled)
        t->backend->half->round(to, (size_t)(filled * width), half);
    else if (kept > 0)
        for (int j = 0; j < width; j++)
            t->backend->half->round(to + j * filled, (size_t)kept, half + j * kept);
}

void pl_triangular_store(pl_triangular *t, const pl_supernodes *l, int k, int threads, float *scratch)
{
    pl_panel p = pl_panel_of(l, k);
    int under = pl_panel_under(&p);
    float *inverse = scratch + t->largest;
    pl_lower_invert(threads, p.columns, scratch, p.height, inverse);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int r = 0; r < under + p.below; r += PL_STRIP) {
        if (r < under)
            store_strip(t, &p, k, r, inverse + r, (size_t)p.columns);
        else
            store_strip(t, &p, k, r, scratch + p.columns + (r - under), (size_t)p.height);
    }
}

void pl_triangular_round(pl_triangular *t, const pl_supernodes *l, const double *value)
{
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
        pl_triangular_store(t, l, k, 1, columns);
    }
}
