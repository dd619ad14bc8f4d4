/* Launches: elements, matrix, contacts, factor. */
#include "device/system.h"

#define B(a) PL_DEV_B(s->of[PL_A_##a])
#define I(i) PL_DEV_I(i)
#define D(x) PL_DEV_D(x)

pl_status pl_system_elements(pl_system *s, int want)
{
    for (int g = 0; g < s->group_count; g++) {
        const pl_system_group *group = &s->groups[g];
        PL_TRY(pl_device_launch(
            s->device, group->cloth ? PL_KERNEL_triangles : PL_KERNEL_tetrahedra, group->slots,
            (const pl_device_arg[]){I(group->first), I(group->kind), I(want), B(VERTEX), B(GRADIENT),
                                    B(VOLUME), B(MODULI), B(Q), B(ENERGY), B(FORCE), B(TANGENT)},
            11));
    }
    return PL_OK;
}

pl_status pl_system_residual(pl_system *s, double h)
{
    return PL_LAUNCH(s->device, residual, s->n, D(h), I(s->bends), B(MASS), B(Q0), B(V0), B(EXTERNAL),
                     B(FORCE_BEGIN), B(FORCE_FROM), B(FORCE), B(ROW), B(COL), B(BENDING), B(PIN_BEGIN),
                     B(PIN), B(Q), B(BENT), B(RESIDUAL));
}

pl_status pl_system_assemble(pl_system *s, double h)
{
    return PL_LAUNCH(s->device, assemble, s->n, D(h), I(s->bends), B(MASS), B(ROW), B(COL),
                     B(FROM_BEGIN), B(FROM), B(TANGENT), B(BENDING), B(PIN_BEGIN), B(PIN), B(BLOCKS),
                     B(OWN));
}

pl_status pl_system_vertices(pl_system *s, double h)
{
    return PL_LAUNCH(s->device, vertices, s->n, I(s->colliders), D(h), B(ACTIVE), B(RECORDS), B(LAMBDA),
                     B(RESIDUAL), B(OWN), B(USED), B(FRAMES), B(LEFTS), B(TERMS), B(SPRINGS), B(LEFT),
                     B(RHS), B(CHANGED));
}

/* One level of fronts, a few columns of each at a time. */
static pl_status factor_level(pl_system *s, int level)
{
    const pl_fronts *f = &s->fronts;
    int first = f->level_fronts[level], fronts = f->level_fronts[level + 1] - first;
    int line = f->level_lines[level], lines = f->level_lines[level + 1] - line;
    PL_TRY(PL_LAUNCH(s->device, front_assemble, lines, I(line), B(FRONT), B(LINE_FRONT), B(ENTRY_FROM),
                     B(ENTRY), B(CHILD_FROM), B(CHILD), B(POSITION), B(MATRIX), B(VALUES), B(RESTS)));
    for (int begin = 0; begin < f->level_most[level]; begin += PL_COLUMNS) {
        PL_TRY(PL_LAUNCH(s->device, front_pivots, fronts, I(first), I(begin), B(FRONT), B(VALUES),
                         B(STATE)));
        PL_TRY(PL_LAUNCH(s->device, front_rows, 3 * lines, I(line), I(begin), B(FRONT), B(LINE_FRONT),
                         B(VALUES)));
        if (begin + PL_COLUMNS < f->level_most[level])
            PL_TRY(PL_LAUNCH(s->device, front_update, 3 * lines, I(line), I(begin), B(FRONT),
                             B(LINE_FRONT), B(VALUES)));
    }
    return PL_LAUNCH(s->device, front_rest, 3 * lines, I(line), B(FRONT), B(LINE_FRONT), B(VALUES),
                     B(RESTS));
}

pl_status pl_system_factor(pl_system *s)
{
    PL_TRY(PL_LAUNCH(s->device, scales, s->n, B(DIAGONAL), B(BLOCKS), B(FRAMES), B(SPRINGS), B(SCALE),
                     B(USED)));
    PL_TRY(PL_LAUNCH(s->device, turn_rows, s->n, B(ROW), B(COL), B(BLOCKS), B(FRAMES), B(SPRINGS),
                     B(SCALE), B(MATRIX)));
    for (int level = 0; level < s->fronts.level_count; level++)
        PL_TRY(factor_level(s, level));
    return PL_OK;
}

pl_status pl_system_tell(pl_system *s)
{
    PL_TRY(PL_LAUNCH(s->device, measure, PL_CHUNKS, I(s->n), B(MOVE), B(OFF), B(CHANGED), B(PARTIAL)));
    PL_TRY(PL_LAUNCH(s->device, measure_energy, PL_CHUNKS, I(s->slots), B(ENERGY), B(PARTIAL2)));
    PL_TRY(PL_LAUNCH(s->device, measure_energy, PL_CHUNKS, I(s->n), B(BENT), B(PARTIAL3)));
    return PL_LAUNCH(s->device, tell, 1, I(s->contacts), B(ACTIVE), B(PARTIAL), B(PARTIAL2),
                     B(PARTIAL3), B(STATE));
}
