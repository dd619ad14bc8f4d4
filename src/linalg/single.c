/* Supernodal triangular solves in single precision. */
#include "linalg/single.h"

#include <cblas.h>

pl_status pl_single_copy(pl_context *ctx, pl_single *s, const pl_supernodes *l, size_t entries)
{
    pl_status status = PL_OK;
    if (entries > s->capacity) {
        pl_single_free(ctx, s);
        PL_NEW(ctx, s->value, entries, done);
        PL_NEW(ctx, s->x, l->n, done);
        PL_NEW(ctx, s->work, l->n, done);
        s->capacity = entries;
    }
    for (size_t k = 0; k < entries; k++)
        s->value[k] = (float)l->value[k];
done:
    return status;
}

void pl_single_free(pl_context *ctx, pl_single *s)
{
    pl_free(ctx, s->value);
    pl_free(ctx, s->x);
    pl_free(ctx, s->work);
    *s = (pl_single){0};
}

/* The diagonal block and the rows below it of one supernode. */
typedef struct panel {
    int columns, below, height;
    const float *block, *under;
    const int *row; /* of the rows below */
    float *x;       /* its own part of the vector */
} panel;

static panel get_panel(const pl_single *s, const pl_supernodes *l, int k)
{
    int columns = l->first[k + 1] - l->first[k], height = l->begin[k + 1] - l->begin[k];
    return (panel){
        .columns = columns,
        .below = height - columns,
        .height = height,
        .block = s->value + l->at[k],
        .under = s->value + l->at[k] + columns,
        .row = l->row + l->begin[k] + columns,
        .x = s->x + l->first[k],
    };
}

static void forward(pl_single *s, const pl_supernodes *l)
{
    for (int k = 0; k < l->count; k++) {
        panel p = get_panel(s, l, k);
        cblas_strsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, p.columns, p.block, p.height,
                    p.x, 1);
        if (p.below == 0)
            continue;
        cblas_sgemv(CblasColMajor, CblasNoTrans, p.below, p.columns, 1, p.under, p.height, p.x, 1, 0,
                    s->work, 1);
        for (int i = 0; i < p.below; i++)
            s->x[p.row[i]] -= s->work[i];
    }
}

static void backward(pl_single *s, const pl_supernodes *l)
{
    for (int k = l->count - 1; k >= 0; k--) {
        panel p = get_panel(s, l, k);
        for (int i = 0; i < p.below; i++)
            s->work[i] = s->x[p.row[i]];
        if (p.below > 0)
            cblas_sgemv(CblasColMajor, CblasTrans, p.below, p.columns, -1, p.under, p.height, s->work,
                        1, 1, p.x, 1);
        cblas_strsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, p.columns, p.block, p.height,
                    p.x, 1);
    }
}

void pl_single_solve(pl_single *s, const pl_supernodes *l, const double *b, double *x)
{
    for (int k = 0; k < l->n; k++)
        s->x[k] = (float)b[l->order[k]];
    forward(s, l);
    backward(s, l);
    for (int k = 0; k < l->n; k++)
        x[l->order[k]] = s->x[k];
}
