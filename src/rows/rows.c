/* The table of rows, and sums over it. */
#include "rows/rows.h"

extern const pl_rows pl_rows_touch, pl_rows_brush, pl_rows_meet, pl_rows_cable;

static const pl_rows *const table[PL_ROWS_KINDS] = {
    [PL_ROWS_TOUCH] = &pl_rows_touch,
    [PL_ROWS_BRUSH] = &pl_rows_brush,
    [PL_ROWS_MEET] = &pl_rows_meet,
    [PL_ROWS_CABLE] = &pl_rows_cable,
};

const pl_rows *pl_rows_of(const pl_contact_point *p)
{
    return table[p->kind];
}

int pl_rows_count(const pl_scene *scene)
{
    int sum = 0;
    for (int k = 0; k < PL_ROWS_KINDS; k++)
        sum += table[k]->count ? table[k]->count(scene) : 0;
    return sum;
}

pl_status pl_rows_add(const pl_substep *s, pl_contact_set *set)
{
    for (int k = 0; k < PL_ROWS_KINDS; k++)
        if (table[k]->add)
            PL_TRY(table[k]->add(s, set));
    for (int c = set->touching; c < set->count; c++)
        set->points[c].lambda[0] = s->live[c - set->touching];
    return PL_OK;
}

bool pl_rows_follow(const pl_contact_set *set)
{
    for (int c = 0; c < set->single; c++)
        if (set->points[c].round)
            return true;
    return set->count > set->touching;
}

void pl_rows_place(const pl_substep *s, const double *q, pl_contact_set *set)
{
    for (int c = 0; c < set->single; c++)
        if (set->points[c].round)
            pl_rows_touch.place(s, q, &set->points[c], set->entries + set->points[c].first);
    for (int c = set->touching; c < set->count; c++)
        pl_rows_of(&set->points[c])->place(s, q, &set->points[c], set->entries + set->points[c].first);
}
