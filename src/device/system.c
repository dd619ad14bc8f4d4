/* A scene's arrays on a device. */
#include "device/system.h"

#include "elastic/internal.h"

#include <limits.h>

/* Arrays that are not of doubles. */
static size_t size_of(pl_system_array a)
{
    if (a <= PL_A_ORDER && a != PL_A_GRADIENT && a != PL_A_VOLUME)
        return sizeof(int);
    if (a == PL_A_ACTIVE || a == PL_A_ACTIVE_BEFORE)
        return sizeof(int);
    return a == PL_A_MATRIX || a == PL_A_VALUES || a == PL_A_RESTS || a == PL_A_SOLVE ? sizeof(float)
                                                                                      : sizeof(double);
}

static pl_status make(pl_system *s, pl_system_array a, size_t count)
{
    if (count * size_of(a) / size_of(a) != count || count > INT_MAX)
        return pl_fail(s->ctx, PL_ERROR_MEMORY, "device %s: an array of %zu items is more than fits",
                       s->device->name, count);
    return pl_device_buffer_create(s->device, count, size_of(a), &s->of[a]);
}

static pl_status put(pl_system *s, pl_system_array a, size_t count, const void *data)
{
    PL_TRY(make(s, a, count));
    return pl_device_write(s->device, s->of[a], 0, count * size_of(a), data);
}

pl_status pl_system_write(pl_system *s, pl_system_array a, size_t count, const double *values)
{
    return pl_device_write(s->device, s->of[a], 0, count * sizeof *values, values);
}

pl_status pl_system_read(pl_system *s, pl_system_array a, size_t count, double *values)
{
    return pl_device_read(s->device, s->of[a], 0, count * sizeof *values, values);
}

pl_status pl_system_look(pl_system *s)
{
    return pl_system_read(s, PL_A_STATE, PL_STATE_SIZE, s->state);
}

/* ---- elements */

static pl_status put_elements(pl_system *s)
{
    const pl_elements *e = s->elements;
    pl_status status = PL_OK;
    size_t blocks = (size_t)s->slots / PL_LANES;
    int *vertex = NULL;
    double *numbers = NULL;
    PL_NEW(s->ctx, vertex, 4 * PL_LANES * blocks, done);
    PL_NEW(s->ctx, numbers, 9 * PL_LANES * blocks, done);
    for (size_t b = 0; b < blocks; b++) {
        memcpy(vertex + 4 * PL_LANES * b, e->blocks[b].vertex, sizeof e->blocks[b].vertex);
        memcpy(numbers + 9 * PL_LANES * b, e->blocks[b].gradient, sizeof e->blocks[b].gradient);
    }
    PL_CHECK(put(s, PL_A_VERTEX, 4 * PL_LANES * blocks, vertex), done);
    PL_CHECK(put(s, PL_A_GRADIENT, 9 * PL_LANES * blocks, numbers), done);
    for (size_t b = 0; b < blocks; b++)
        memcpy(numbers + PL_LANES * b, e->blocks[b].volume, sizeof e->blocks[b].volume);
    PL_CHECK(put(s, PL_A_VOLUME, PL_LANES * blocks, numbers), done);
    for (int g = 0; g < s->group_count; g++)
        s->groups[g] = (pl_system_group){
            .cloth = e->groups[g].cloth,
            .kind = (int)e->groups[g].model + 4 * (int)e->groups[g].reading,
            .first = PL_LANES * e->groups[g].block_offset,
            .slots = PL_LANES * e->groups[g].block_count,
        };
done:
    pl_free(s->ctx, vertex);
    pl_free(s->ctx, numbers);
    return status;
}

/* Which places of the elements' forces add up to a vertex', without those of bending, which is a matrix
 * here. */
static pl_status put_gathering(pl_system *s)
{
    const pl_elements *e = s->elements;
    pl_status status = PL_OK;
    int *begin = NULL, *from = NULL, count = 0;
    PL_NEW(s->ctx, begin, s->n + 1, done);
    PL_NEW(s->ctx, from, e->vertex_begin[s->n], done);
    for (int v = 0; v < s->n; v++) {
        for (int k = e->vertex_begin[v]; k < e->vertex_begin[v + 1]; k++)
            if (e->vertex_from[k] < PL_FORCE_STRIDE * s->slots)
                from[count++] = e->vertex_from[k];
        begin[v + 1] = count;
    }
    PL_CHECK(put(s, PL_A_FORCE_BEGIN, (size_t)s->n + 1, begin), done);
    PL_CHECK(put(s, PL_A_FORCE_FROM, (size_t)count, from), done);
done:
    pl_free(s->ctx, begin);
    pl_free(s->ctx, from);
    return status;
}

/* Visits the pairs of every element: its entry of the pattern, and its tangent's number. */
static void list_pairs(const pl_system *s, int *begin, int *from, bool fill)
{
    const pl_elements *e = s->elements;
    for (int g = 0; g < e->group_count; g++) {
        const pl_elastic_group *group = &e->groups[g];
        for (int i = 0; i < group->element_count; i++) {
            const pl_element_block *b = &e->blocks[group->block_offset + i / PL_LANES];
            int slot = PL_LANES * group->block_offset + i, last = group->cloth ? 2 : 3, pair = 0;
            for (int k = 0; k < last; k++)
                for (int l = k + 1; l <= last; l++, pair++) {
                    int v = b->vertex[k][i % PL_LANES], w = b->vertex[l][i % PL_LANES];
                    int entry[2] = {pl_pattern_find(&e->pattern, v, w),
                                    pl_pattern_find(&e->pattern, w, v)};
                    for (int t = 0; t < 2; t++) {
                        int at = begin[entry[t] + (fill ? 0 : 1)]++;
                        if (fill)
                            from[at] = PL_SIDES * slot + pair;
                    }
                }
        }
    }
}

static pl_status put_pattern(pl_system *s)
{
    const pl_pattern *p = &s->elements->pattern;
    pl_status status = PL_OK;
    size_t nnz = (size_t)s->nnz;
    int *begin = NULL, *from = NULL;
    PL_NEW(s->ctx, begin, nnz + 2, done);
    list_pairs(s, begin, NULL, false);
    for (size_t k = 0; k < nnz; k++)
        begin[k + 1] += begin[k];
    PL_NEW(s->ctx, from, begin[nnz], done);
    list_pairs(s, begin, from, true);
    memmove(begin + 1, begin, sizeof *begin * nnz);
    begin[0] = 0;
    PL_CHECK(put(s, PL_A_FROM_BEGIN, nnz + 1, begin), done);
    PL_CHECK(put(s, PL_A_FROM, (size_t)begin[nnz], from), done);
    PL_CHECK(put(s, PL_A_ROW, (size_t)s->n + 1, p->row), done);
    PL_CHECK(put(s, PL_A_COL, nnz, p->col), done);
    PL_CHECK(put(s, PL_A_DIAGONAL, (size_t)s->n, p->diag), done);
done:
    pl_free(s->ctx, begin);
    pl_free(s->ctx, from);
    return status;
}

static pl_status put_pins(pl_system *s, const pl_system_def *def)
{
    pl_status status = PL_OK;
    int *begin = NULL;
    PL_NEW(s->ctx, begin, s->n + 2, done);
    PL_NEW(s->ctx, s->pin_order, def->pins, done);
    for (int k = 0; k < def->pins; k++)
        begin[def->pin_vertex[k] + 1]++;
    for (int v = 0; v < s->n; v++)
        begin[v + 1] += begin[v];
    for (int k = 0; k < def->pins; k++)
        s->pin_order[begin[def->pin_vertex[k]]++] = k;
    memmove(begin + 1, begin, sizeof *begin * (size_t)s->n);
    begin[0] = 0;
    PL_CHECK(put(s, PL_A_PIN_BEGIN, (size_t)s->n + 1, begin), done);
done:
    pl_free(s->ctx, begin);
    return status;
}

pl_status pl_system_write_pins(pl_system *s, const double *pins)
{
    for (int k = 0; k < s->pins; k++)
        memcpy(s->scratch + PL_PIN_SIZE * k, pins + PL_PIN_SIZE * s->pin_order[k],
               sizeof *pins * PL_PIN_SIZE);
    return pl_system_write(s, PL_A_PIN, PL_PIN_SIZE * (size_t)s->pins, s->scratch);
}

static pl_status put_fronts(pl_system *s, const pl_supernodes *l)
{
    pl_fronts *f = &s->fronts;
    size_t lines, n = (size_t)s->n;
    PL_TRY(pl_fronts_create(s->ctx, &s->elements->pattern, l, f));
    lines = (size_t)f->lines;
    PL_TRY(put(s, PL_A_FRONT, PL_FRONT_SIZE * (size_t)f->count, f->front));
    PL_TRY(put(s, PL_A_LINE_FRONT, lines, f->line_front));
    PL_TRY(put(s, PL_A_LINE_PLACE, lines, f->line_place));
    PL_TRY(put(s, PL_A_ENTRY_FROM, lines + 1, f->entry_from));
    PL_TRY(put(s, PL_A_ENTRY, 2 * (size_t)f->entry_from[lines], f->entry));
    PL_TRY(put(s, PL_A_CHILD_FROM, lines + 1, f->child_from));
    PL_TRY(put(s, PL_A_CHILD, 2 * (size_t)f->child_from[lines], f->child));
    PL_TRY(put(s, PL_A_POSITION, lines, f->position));
    PL_TRY(put(s, PL_A_UNKNOWN, 3 * n, f->unknown));
    PL_TRY(put(s, PL_A_UNKNOWN_FRONT, 3 * n, f->unknown_front));
    PL_TRY(put(s, PL_A_ABOVE_FROM, n + 1, f->above_from));
    PL_TRY(put(s, PL_A_ABOVE, 2 * (size_t)f->above_from[n], f->above));
    PL_TRY(put(s, PL_A_ORDER, 3 * n, f->order));
    PL_TRY(make(s, PL_A_VALUES, f->values));
    return make(s, PL_A_RESTS, f->rests);
}

/* All that is neither constant nor the factor's. */
static pl_status make_arrays(pl_system *s)
{
    size_t n = (size_t)s->n, nnz = (size_t)s->nnz, slots = (size_t)s->slots, m = (size_t)s->contacts;
    const struct {
        pl_system_array of;
        size_t count;
    } arrays[] = {
        {PL_A_MODULI, 2 * slots},
        {PL_A_BENDING, s->bends ? nnz : 0},
        {PL_A_MASS, 2 * n},
        {PL_A_FRICTION, (size_t)s->colliders * (size_t)s->bodies},
        {PL_A_Q0, 3 * n},
        {PL_A_V0, 3 * n},
        {PL_A_EXTERNAL, 3 * n},
        {PL_A_SHAPES, PL_SHAPE_SIZE * (size_t)s->colliders},
        {PL_A_PIN, PL_PIN_SIZE * (size_t)s->pins},
        {PL_A_Q, 3 * n},
        {PL_A_Q_BEFORE, 3 * n},
        {PL_A_MOVE, 3 * n},
        {PL_A_WORLD, 3 * n},
        {PL_A_X, 3 * n},
        {PL_A_X2, 3 * n},
        {PL_A_RESIDUAL, 3 * n},
        {PL_A_LEFT, 3 * n},
        {PL_A_RHS, 3 * n},
        {PL_A_OFF, n},
        {PL_A_CHANGED, n},
        {PL_A_BENT, n},
        {PL_A_ENERGY, slots},
        {PL_A_FORCE, PL_CORNER * slots},
        {PL_A_TANGENT, 9 * PL_SIDES * slots},
        {PL_A_BLOCKS, 9 * nnz},
        {PL_A_OWN, n},
        {PL_A_ACTIVE, m},
        {PL_A_ACTIVE_BEFORE, m},
        {PL_A_LAMBDA, 3 * m},
        {PL_A_LAMBDA_BEFORE, 3 * m},
        {PL_A_LAMBDA_AFTER, 3 * m},
        {PL_A_MET, 3 * m},
        {PL_A_MET_BEFORE, 3 * m},
        {PL_A_DELTA, 3 * m},
        {PL_A_RECORDS, PL_TOUCH_SIZE * m},
        {PL_A_FRAMES, 9 * n},
        {PL_A_LEFTS, 9 * n},
        {PL_A_TERMS, 9 * n},
        {PL_A_SPRINGS, 9 * n},
        {PL_A_USED, 3 * n},
        {PL_A_SCALE, 3 * n},
        {PL_A_MATRIX, 9 * nnz},
        {PL_A_SOLVE, 3 * n},
        {PL_A_BASIS, 3 * n * (PL_RESTART + 1)},
        {PL_A_W, 3 * n},
        {PL_A_PART, 3 * n},
        {PL_A_COEFFICIENT, PL_RESTART + 1},
        {PL_A_KRYLOV, PL_KRYLOV_SIZE},
        {PL_A_PARTIAL, PL_CHUNKS * (PL_RESTART + 1)},
        {PL_A_PARTIAL2, 4 * PL_CHUNKS},
        {PL_A_PARTIAL3, 4 * PL_CHUNKS},
        {PL_A_STATE, PL_STATE_SIZE},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        PL_TRY(make(s, arrays[k].of, arrays[k].count));
    return PL_OK;
}

pl_status pl_system_create(pl_context *ctx, const pl_system_def *def, pl_system **out)
{
    pl_status status = PL_OK;
    const pl_elements *e = def->elements;
    pl_system *s = pl_alloc(ctx, 1, sizeof *s);
    *out = NULL;
    if (!s)
        return PL_ERROR_MEMORY;
    *s = (pl_system){.ctx = ctx,
                     .n = e->vertex_count,
                     .nnz = e->pattern.nnz,
                     .slots = e->slot_count,
                     .colliders = def->colliders,
                     .bodies = def->bodies,
                     .pins = def->pins,
                     .contacts = e->vertex_count * def->colliders,
                     .elements = e,
                     .group_count = e->group_count,
                     .bends = e->bending.count > 0};
    PL_CHECK(pl_device_create(ctx, def->device, &s->device), done);
    PL_NEW(ctx, s->groups, s->group_count, done);
    PL_NEW(ctx, s->scratch, 3 * s->contacts + 9 * s->n + 2 * s->slots + PL_PIN_SIZE * s->pins, done);
    PL_CHECK(put_elements(s), done);
    PL_CHECK(put_gathering(s), done);
    PL_CHECK(put_pattern(s), done);
    PL_CHECK(put_pins(s, def), done);
    PL_CHECK(put(s, PL_A_BODY_OF, (size_t)s->n, def->body_of), done);
    PL_CHECK(put_fronts(s, def->supernodes), done);
    PL_CHECK(make_arrays(s), done);
    /* Springs of a factor that there is not yet. */
    PL_CHECK(PL_LAUNCH(s->device, fill, 3 * s->n, PL_DEV_D(0), PL_DEV_B(s->of[PL_A_USED])), done);
    PL_CHECK(PL_LAUNCH(s->device, fill, PL_STATE_SIZE, PL_DEV_D(0), PL_DEV_B(s->of[PL_A_STATE])), done);
    *out = s;
    s = NULL;
done:
    pl_system_destroy(s);
    return status;
}

void pl_system_destroy(pl_system *s)
{
    if (!s)
        return;
    for (int a = 0; a < PL_A_COUNT; a++)
        pl_device_buffer_destroy(s->device, s->of[a]);
    pl_device_destroy(s->device);
    pl_fronts_free(s->ctx, &s->fronts);
    pl_free(s->ctx, s->groups);
    pl_free(s->ctx, s->pin_order);
    pl_free(s->ctx, s->scratch);
    pl_free(s->ctx, s);
}

pl_status pl_system_use(pl_system *s, const pl_elastic *elastic, const double *mass,
                        const double *damping, const double *friction)
{
    for (int b = 0; b < s->slots / PL_LANES; b++) {
        memcpy(s->scratch + 2 * PL_LANES * b, elastic->moduli[b].mu, sizeof elastic->moduli[b].mu);
        memcpy(s->scratch + PL_LANES * (2 * b + 1), elastic->moduli[b].lambda,
               sizeof elastic->moduli[b].lambda);
    }
    PL_TRY(pl_system_write(s, PL_A_MODULI, 2 * (size_t)s->slots, s->scratch));
    if (s->bends)
        PL_TRY(pl_system_write(s, PL_A_BENDING, (size_t)s->nnz, elastic->bending.matrix));
    for (int v = 0; v < s->n; v++) {
        s->scratch[2 * v] = mass[v];
        s->scratch[2 * v + 1] = damping[v];
    }
    PL_TRY(pl_system_write(s, PL_A_MASS, 2 * (size_t)s->n, s->scratch));
    return pl_system_write(s, PL_A_FRICTION, (size_t)s->colliders * (size_t)s->bodies, friction);
}
