/*
 * One supernode of a factor, L11 on the diagonal and L21 below, and how it is stored: L11^-1, then L21,
 * each in strips of PL_STRIP rows, column after column, without the columns that are zero in all of a
 * strip (backend/panel_kernel.h). Rows are numbered as if the strips of L11^-1 were full, so that those
 * of L21 begin at a strip of their own.
 */
#ifndef PL_PANEL_H
#define PL_PANEL_H

#include "backend/backend.h"
#include "linalg/supernodes.h"

typedef struct pl_panel {
    int columns, below, height;
    int first;      /* column */
    const int *row; /* of the rows below */
} pl_panel;

static inline pl_panel pl_panel_of(const pl_supernodes *l, int k)
{
    int columns = l->first[k + 1] - l->first[k], height = l->begin[k + 1] - l->begin[k];
    return (pl_panel){
        .columns = columns,
        .below = height - columns,
        .height = height,
        .first = l->first[k],
        .row = l->row + l->begin[k] + columns,
    };
}

/* The number of L21's first row. */
static inline int pl_panel_under(const pl_panel *p)
{
    return (p->columns + PL_STRIP - 1) / PL_STRIP * PL_STRIP;
}

/* Rows of the strip that begins at row r, a multiple of PL_STRIP, as stored. */
static inline int pl_panel_rows(const pl_panel *p, int r)
{
    int under = pl_panel_under(p), last = r < under ? p->columns : under + p->below;
    return PL_STRIP_ROWS(pl_smaller(last - r, PL_STRIP));
}

/* Values before row r, the first of a strip. */
static inline size_t pl_panel_offset(const pl_panel *p, int r)
{
    int under = pl_panel_under(p);
    size_t full = (size_t)(r < under ? r : p->columns) / PL_STRIP;
    size_t values = (size_t)PL_STRIP * PL_STRIP * full * (full + 1) / 2;
    if (r < under)
        return values;
    values += (size_t)PL_STRIP_ROWS(p->columns % PL_STRIP) * (size_t)p->columns;
    return values + (size_t)PL_STRIP_ROWS(pl_smaller(r - under, p->below)) * (size_t)p->columns;
}

static inline size_t pl_panel_values(const pl_panel *p)
{
    return pl_panel_offset(p, pl_panel_under(p) + p->below);
}

#endif
