/* Sampling a field on the lattice: signs at the points, cuts on the edges. */
#include "shape/lattice.h"

#include "core/vec.h"

#define MAX_SLOTS   1e8 /* edges: 0.8 GB of cuts */
#define ROOT_STEPS  40
#define ROOT_CHANGE 1e-6

void pl_lattice_half(const pl_lattice *lattice, int point, int half[3])
{
    int odd = point >= lattice->corner_count;
    int rest = odd ? point - lattice->corner_count : point;
    int width = lattice->n[0] + !odd, depth = lattice->n[1] + !odd;
    half[0] = 2 * (lattice->first[0] + rest % width) + odd;
    half[1] = 2 * (lattice->first[1] + rest / width % depth) + odd;
    half[2] = 2 * (lattice->first[2] + rest / width / depth) + odd;
}

int pl_lattice_point(const pl_lattice *lattice, const int half[3])
{
    int odd = half[0] & 1, index[3];
    for (int i = 0; i < 3; i++) {
        index[i] = (half[i] - odd) / 2 - lattice->first[i];
        if (index[i] < 0 || index[i] > lattice->n[i] - odd)
            return -1;
    }
    int width = lattice->n[0] + !odd, depth = lattice->n[1] + !odd;
    return (index[2] * depth + index[1]) * width + index[0] + (odd ? lattice->corner_count : 0);
}

void pl_lattice_position(const pl_lattice *lattice, int point, double x[3])
{
    int half[3];
    pl_lattice_half(lattice, point, half);
    for (int i = 0; i < 3; i++)
        x[i] = lattice->anchor[i] + half[i] * (0.5 * lattice->cell);
}

/* Slots: three per corner (towards +x, +y, +z), then eleven per centre (the same three, then its
 * corners in binary order). */
int pl_lattice_slot(const pl_lattice *lattice, int a, int b)
{
    if (a < b) {
        int swap = a;
        a = b, b = swap;
    }
    int high[3], low[3], corners = lattice->corner_count;
    pl_lattice_half(lattice, a, high), pl_lattice_half(lattice, b, low);
    if (a >= corners && b < corners) {
        int which = (high[0] < low[0]) | (high[1] < low[1]) << 1 | (high[2] < low[2]) << 2;
        return 3 * corners + 11 * (a - corners) + 3 + which;
    }
    int axis = high[0] != low[0] ? 0 : high[1] != low[1] ? 1 : 2;
    return a >= corners ? 3 * corners + 11 * (b - corners) + axis : 3 * b + axis;
}

int pl_lattice_owned(const pl_lattice *lattice, int point, int slots[11], int ends[11])
{
    int half[3], corners = lattice->corner_count;
    pl_lattice_half(lattice, point, half);
    int base = point < corners ? 3 * point : 3 * corners + 11 * (point - corners);
    int count = point < corners ? 3 : 11;
    for (int k = 0; k < count; k++) {
        int to[3] = {half[0], half[1], half[2]};
        if (k < 3) {
            to[k] += 2;
        } else {
            for (int i = 0; i < 3; i++)
                to[i] += (k - 3) >> i & 1 ? 1 : -1;
        }
        slots[k] = base + k, ends[k] = pl_lattice_point(lattice, to);
    }
    return count;
}

void pl_lattice_neighbours(const pl_lattice *lattice, int point, int out[14])
{
    int half[3];
    pl_lattice_half(lattice, point, half);
    for (int k = 0; k < 14; k++) {
        int to[3] = {half[0], half[1], half[2]};
        if (k < 6) {
            to[k / 2] += k & 1 ? 2 : -2;
        } else {
            for (int i = 0; i < 3; i++)
                to[i] += (k - 6) >> i & 1 ? 1 : -1;
        }
        out[k] = pl_lattice_point(lattice, to);
    }
}

void pl_lattice_cut_point(const pl_lattice *lattice, int inside, int outside, double x[3])
{
    double a[3], b[3], t = lattice->cut[pl_lattice_slot(lattice, inside, outside)];
    pl_lattice_position(lattice, inside, a), pl_lattice_position(lattice, outside, b);
    for (int i = 0; i < 3; i++)
        x[i] = a[i] + t * (b[i] - a[i]);
}

/* Root of the field between an inside and an outside point, by the Illinois form of regula falsi. The
 * direction is always outwards, so that mirrored edges give mirrored roots to the last bit. */
static double find_root(const pl_field *field, const double a[3], const double b[3], double fa,
                        double fb)
{
    double low = 0, high = 1, t = 0.5, last = -1;
    double change = field->tolerance > 0 ? field->tolerance : ROOT_CHANGE;
    int side = 0;
    for (int step = 0; step < ROOT_STEPS; step++) {
        t = (low * fb - high * fa) / (fb - fa);
        if (!(t > low && t < high))
            t = 0.5 * (low + high);
        if (fabs(t - last) < change || high - low < change)
            break;
        last = t;
        double x[3], f;
        for (int i = 0; i < 3; i++)
            x[i] = a[i] + t * (b[i] - a[i]);
        f = field->distance(field->user, x);
        if (f == 0)
            break;
        if (f < 0) {
            low = t, fa = f;
            fb = side < 0 ? 0.5 * fb : fb;
            side = -1;
        } else {
            high = t, fb = f;
            fa = side > 0 ? 0.5 * fa : fa;
            side = 1;
        }
    }
    return t;
}

static void cut_edges(const pl_context *ctx, const pl_field *field, pl_lattice *lattice)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 256)
    for (int p = 0; p < lattice->point_count; p++) {
        int slots[11], ends[11];
        int count = pl_lattice_owned(lattice, p, slots, ends);
        for (int k = 0; k < count; k++) {
            lattice->cut[slots[k]] = -1;
            if (ends[k] < 0 || lattice->sign[p] * lattice->sign[ends[k]] >= 0)
                continue;
            int in = lattice->sign[p] > 0 ? p : ends[k], out = lattice->sign[p] > 0 ? ends[k] : p;
            double a[3], b[3];
            pl_lattice_position(lattice, in, a), pl_lattice_position(lattice, out, b);
            lattice->cut[slots[k]] = find_root(field, a, b, lattice->value[in], lattice->value[out]);
        }
    }
}

/* Points a and b with |d(a)| + |d(b)| above their distance have no surface between them. Labels the
 * sets so linked; links[p] becomes the set, roots[set] one point of it. Returns how many. */
static int link_points(const pl_lattice *lattice, int *links, int *roots, int *stack)
{
    int count = 0;
    for (int p = 0; p < lattice->point_count; p++)
        links[p] = -1;
    for (int seed = 0; seed < lattice->point_count; seed++) {
        if (links[seed] >= 0)
            continue;
        int top = 0, near[14];
        roots[count] = stack[top++] = seed;
        links[seed] = count;
        while (top > 0) {
            int p = stack[--top];
            pl_lattice_neighbours(lattice, p, near);
            for (int k = 0; k < 14; k++) {
                double length = (k < 6 ? 1 : 0.5 * sqrt(3)) * lattice->cell * (1 + 1e-9);
                int q = near[k];
                if (q >= 0 && links[q] < 0 && lattice->value[p] + lattice->value[q] > length)
                    links[q] = count, stack[top++] = q;
            }
        }
        count++;
    }
    return count;
}

/* Signs of a field given as magnitudes: one evaluation for each set of linked points. */
static pl_status sign_linked(pl_context *ctx, const pl_field *field, pl_lattice *lattice)
{
    pl_status status = PL_OK;
    int *links = NULL, *roots = NULL, *stack = NULL;
    PL_NEW(ctx, links, lattice->point_count, done);
    PL_NEW(ctx, roots, lattice->point_count, done);
    PL_NEW(ctx, stack, lattice->point_count, done);
    int count = link_points(lattice, links, roots, stack);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int k = 0; k < count; k++)
        stack[k] = field->distance(field->user, lattice->moved + 3 * (size_t)roots[k]) < 0;
    for (int p = 0; p < lattice->point_count; p++)
        lattice->value[p] *= stack[links[p]] ? -1 : 1;
done:
    pl_free(ctx, links);
    pl_free(ctx, roots);
    pl_free(ctx, stack);
    return status;
}

/* The field at all points and its signs. */
static pl_status sample(pl_context *ctx, const pl_field *field, pl_lattice *lattice)
{
    pl_field_fn evaluate = field->magnitude ? field->magnitude : field->distance;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 256)
    for (int p = 0; p < lattice->point_count; p++) {
        double *x = lattice->moved + 3 * (size_t)p;
        pl_lattice_position(lattice, p, x);
        lattice->value[p] = evaluate(field->user, x);
    }
    if (field->magnitude)
        PL_TRY(sign_linked(ctx, field, lattice));
    for (int p = 0; p < lattice->point_count; p++) {
        const double *x = lattice->moved + 3 * (size_t)p;
        double f = lattice->value[p];
        lattice->sign[p] = f < 0 ? 1 : f > 0 ? -1 : 0;
        if (isnan(f))
            return pl_fail(ctx, PL_ERROR_NUMERIC, "the signed distance is not a number at (%g, %g, %g)",
                           x[0], x[1], x[2]);
    }
    return PL_OK;
}

static pl_status size_lattice(pl_context *ctx, const pl_field *field, double cell, pl_lattice *lattice)
{
    if (!(cell > 0) || !isfinite(cell))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "cell is %g m, a positive size is needed", cell);
    double corners = 1, slots = 14;
    for (int i = 0; i < 3; i++) {
        /* A spare cube on every side: the outermost points are outside for certain. */
        double low = floor((field->lower[i] - field->anchor[i]) / cell) - 1;
        double high = ceil((field->upper[i] - field->anchor[i]) / cell) + 1;
        corners *= high - low + 1;
        if (!(fabs(low) < 1e8) || !(high - low < 1e8) || !(corners * slots < MAX_SLOTS))
            return pl_fail(
                ctx, PL_ERROR_ARGUMENT,
                "cell of %g m is too small for a body of %g x %g x %g m: more than %g lattice "
                "points",
                cell, field->upper[0] - field->lower[0], field->upper[1] - field->lower[1],
                field->upper[2] - field->lower[2], 2 * MAX_SLOTS / slots);
        lattice->first[i] = (int)low, lattice->n[i] = (int)(high - low);
        lattice->anchor[i] = field->anchor[i];
    }
    const int *n = lattice->n;
    int centres = n[0] * n[1] * n[2];
    lattice->cell = cell;
    lattice->corner_count = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    lattice->point_count = lattice->corner_count + centres;
    lattice->slot_count = 3 * lattice->corner_count + 11 * centres;
    return PL_OK;
}

pl_status pl_lattice_create(pl_context *ctx, const pl_field *field, double cell, pl_lattice *out)
{
    pl_status status = PL_OK;
    pl_lattice lattice = {0};
    PL_TRY(size_lattice(ctx, field, cell, &lattice));
    PL_NEW(ctx, lattice.sign, lattice.point_count, done);
    PL_NEW(ctx, lattice.value, lattice.point_count, done);
    PL_NEW(ctx, lattice.moved, 3 * (size_t)lattice.point_count, done);
    PL_NEW(ctx, lattice.cut, lattice.slot_count, done);
    PL_CHECK(sample(ctx, field, &lattice), done);
    cut_edges(ctx, field, &lattice);
done:
    if (status == PL_OK)
        *out = lattice;
    else
        pl_lattice_free(ctx, &lattice);
    return status;
}

void pl_lattice_free(pl_context *ctx, pl_lattice *lattice)
{
    pl_free(ctx, lattice->sign);
    pl_free(ctx, lattice->value);
    pl_free(ctx, lattice->moved);
    pl_free(ctx, lattice->cut);
    *lattice = (pl_lattice){0};
}
