/*
 * Cholesky of the matrix in the vertices' frames, in single precision, multifrontal (device/fronts.h),
 * level by level of the tree: fronts of a level know nothing of each other, and neither do the rows of
 * a front but for its pivots, of which a few columns are done at a time.
 *
 *     M = s (F E F^T + springs) s,   s = 1/sqrt(diagonal),   M = L L^T in the order of elimination
 *     x = s L^-T L^-1 s b
 *
 * A line is a vertex' three rows of a front; L's rows of a front are [height, columns], what it leaves
 * to its parent [below, below].
 */
#ifndef PL_DEVICE_FACTOR_H
#define PL_DEVICE_FACTOR_H

/* s, and `bad` where a diagonal is not positive. */
PL_KERNEL(scales, PL_ARRAY(int, diagonal) PL_ARRAY(double, blocks) PL_ARRAY(double, frames)
                      PL_ARRAY(double, springs) PL_ARRAY(double, scale) PL_ARRAY(double, used))
{
    double b[9], f[9], k[9], half_way[9], turned[9];
    load9(blocks, (size_t)diagonal[item], b);
    load9(frames, (size_t)item, f);
    load9(springs, (size_t)item, k);
    mat3_times(f, b, half_way);
    mat3_times_t(half_way, f, turned);
    for (int i = 0; i < 3; i++) {
        double d = turned[4 * i] + k[4 * i];
        scale[3 * item + i] = d > 0 ? 1 / sqrt(d) : 1;
        used[3 * item + i] = k[4 * i];
    }
}
PL_END

/* A row of M. */
PL_KERNEL(turn_rows,
          PL_ARRAY(int, row) PL_ARRAY(int, col) PL_ARRAY(double, blocks) PL_ARRAY(double, frames)
              PL_ARRAY(double, springs) PL_ARRAY(double, scale) PL_ARRAY(float, out))
{
    double f[9];
    load9(frames, (size_t)item, f);
    for (int k = row[item]; k < row[item + 1]; k++) {
        double b[9], g[9], half_way[9], turned[9];
        load9(blocks, (size_t)k, b);
        load9(frames, (size_t)col[k], g);
        mat3_times(f, b, half_way);
        mat3_times_t(half_way, g, turned);
        if (col[k] == item) {
            load9(springs, (size_t)item, b);
            for (int i = 0; i < 9; i++)
                turned[i] += b[i];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                out[9 * (size_t)k + (size_t)(3 * i + j)] =
                    (float)(turned[3 * i + j] * scale[3 * item + i] * scale[3 * col[k] + j]);
    }
}
PL_END

/* A line assembled: blocks of M [entry] at its columns, and what children leave. */
PL_KERNEL(front_assemble, PL_VALUE(int, first) PL_ARRAY(int, front) PL_ARRAY(int, line_front)
                              PL_ARRAY(int, entry_from) PL_ARRAY(int, entry) PL_ARRAY(int, child_from)
                                  PL_ARRAY(int, child) PL_ARRAY(int, position) PL_ARRAY(float, matrix)
                                      PL_ARRAY(float, values) PL_ARRAY(float, rests))
{
    int line = first + item;
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * line_front[line];
    int columns = f[PL_FRONT_COLUMNS], below = f[PL_FRONT_BELOW], at = 3 * (line - f[PL_FRONT_LINE]);
    PL_GLOBAL float *value = values + f[PL_FRONT_VALUES] + (size_t)at * (size_t)columns;
    PL_GLOBAL float *rest = rests + f[PL_FRONT_REST] + (size_t)(at - columns) * (size_t)below;
    for (int i = 0; i < 3 * columns; i++)
        value[i] = 0;
    for (int i = 0; at >= columns && i < 3 * below; i++)
        rest[i] = 0;
    for (int k = entry_from[line]; k < entry_from[line + 1]; k++) {
        PL_GLOBAL const float *b = matrix + 9 * (size_t)entry[2 * k];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                value[i * columns + 3 * entry[2 * k + 1] + j] = b[3 * i + j];
    }
    for (int k = child_from[line]; k < child_from[line + 1]; k++) {
        /* child: front, and which of the lines below its columns this is. */
        PL_GLOBAL const int *c = front + PL_FRONT_SIZE * child[2 * k];
        int of_child = c[PL_FRONT_BELOW], own = child[2 * k + 1];
        PL_GLOBAL const int *places = position + c[PL_FRONT_LINE] + c[PL_FRONT_COLUMNS] / 3;
        PL_GLOBAL const float *from = rests + c[PL_FRONT_REST] + 3 * (size_t)own * (size_t)of_child;
        for (int j = 0; j <= own; j++) {
            int to = 3 * places[j];
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++) {
                    float x = from[(size_t)i * (size_t)of_child + (size_t)(3 * j + l)];
                    if (to < columns)
                        value[i * columns + to + l] += x;
                    else
                        rest[(size_t)i * (size_t)below + (size_t)(to - columns + l)] += x;
                }
        }
    }
}
PL_END

/* Columns [begin, begin + PL_COLUMNS) of a front: the triangle of its pivots. */
PL_KERNEL(front_pivots, PL_VALUE(int, first) PL_VALUE(int, begin) PL_ARRAY(int, front)
                            PL_ARRAY(float, values) PL_ARRAY(double, state))
{
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * (first + item);
    int columns = f[PL_FRONT_COLUMNS];
    int end = begin + PL_COLUMNS < columns ? begin + PL_COLUMNS : columns;
    PL_GLOBAL float *l = values + f[PL_FRONT_VALUES];
    for (int i = begin; i < end; i++) {
        PL_GLOBAL float *row = l + (size_t)i * (size_t)columns;
        for (int j = begin; j <= i; j++) {
            PL_GLOBAL const float *other = l + (size_t)j * (size_t)columns;
            float sum = row[j];
            for (int k = begin; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i) {
                row[j] = sum / other[j];
                continue;
            }
            if (!(sum > 0)) {
                state[PL_STATE_PIVOT] = 1;
                sum = 1;
            }
            row[i] = sqrt(sum);
        }
    }
}
PL_END

/* A row below these pivots: its values in their columns, and what they take from those to the right. */
PL_KERNEL(front_rows, PL_VALUE(int, first) PL_VALUE(int, begin) PL_ARRAY(int, front)
                          PL_ARRAY(int, line_front) PL_ARRAY(float, values))
{
    int line = first + item / 3;
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * line_front[line];
    int columns = f[PL_FRONT_COLUMNS], at = 3 * (line - f[PL_FRONT_LINE]) + item % 3;
    int end = begin + PL_COLUMNS < columns ? begin + PL_COLUMNS : columns;
    if (at < end)
        return;
    PL_GLOBAL float *l = values + f[PL_FRONT_VALUES], *row = l + (size_t)at * (size_t)columns;
    float x[PL_COLUMNS];
    for (int j = begin; j < end; j++) {
        PL_GLOBAL const float *other = l + (size_t)j * (size_t)columns;
        float sum = row[j];
        for (int k = begin; k < j; k++)
            sum -= x[k - begin] * other[k];
        row[j] = x[j - begin] = sum / other[j];
    }
}
PL_END

PL_KERNEL(front_update, PL_VALUE(int, first) PL_VALUE(int, begin) PL_ARRAY(int, front)
                            PL_ARRAY(int, line_front) PL_ARRAY(float, values))
{
    int line = first + item / 3;
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * line_front[line];
    int columns = f[PL_FRONT_COLUMNS], at = 3 * (line - f[PL_FRONT_LINE]) + item % 3;
    int end = begin + PL_COLUMNS;
    if (at < end || end >= columns)
        return;
    PL_GLOBAL float *l = values + f[PL_FRONT_VALUES], *row = l + (size_t)at * (size_t)columns;
    int last = at < columns ? at + 1 : columns;
    for (int j = end; j < last; j++) {
        PL_GLOBAL const float *other = l + (size_t)j * (size_t)columns;
        float sum = 0;
        for (int k = begin; k < end; k++)
            sum += row[k] * other[k];
        row[j] -= sum;
    }
}
PL_END

/* A row of what a front leaves: F22 - L21 L21^T, four columns at a time. */
PL_KERNEL(front_rest, PL_VALUE(int, first) PL_ARRAY(int, front) PL_ARRAY(int, line_front)
                          PL_ARRAY(float, values) PL_ARRAY(float, rests))
{
    int line = first + item / 3;
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * line_front[line];
    int columns = f[PL_FRONT_COLUMNS], below = f[PL_FRONT_BELOW];
    int at = 3 * (line - f[PL_FRONT_LINE]) + item % 3 - columns;
    if (at < 0)
        return;
    size_t width = (size_t)columns;
    PL_GLOBAL const float *l = values + f[PL_FRONT_VALUES] + width * width,
                          *own = l + (size_t)at * width;
    PL_GLOBAL float *row = rests + f[PL_FRONT_REST] + (size_t)at * (size_t)below;
    int j = 0;
    for (; j + 3 <= at; j += 4) {
        PL_GLOBAL const float *a = l + (size_t)j * width, *b = a + width, *c = b + width,
                              *d = c + width;
        float p = 0, q = 0, r = 0, s = 0;
        for (int k = 0; k < columns; k++) {
            float x = own[k];
            p += x * a[k];
            q += x * b[k];
            r += x * c[k];
            s += x * d[k];
        }
        row[j] -= p;
        row[j + 1] -= q;
        row[j + 2] -= r;
        row[j + 3] -= s;
    }
    for (; j <= at; j++) {
        float sum = 0;
        for (int k = 0; k < columns; k++)
            sum += own[k] * l[(size_t)j * width + (size_t)k];
        row[j] -= sum;
    }
}
PL_END

/* b in the order of elimination, scaled; `order` [3 n] the unknown at each place. */
PL_KERNEL(solve_in, PL_ARRAY(int, order) PL_ARRAY(double, scale) PL_ARRAY(double, b) PL_ARRAY(float, x)
                        PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] == 0)
        x[item] = (float)(scale[order[item]] * b[order[item]]);
}
PL_END

PL_KERNEL(solve_out, PL_ARRAY(int, order) PL_ARRAY(double, scale) PL_ARRAY(float, x) PL_ARRAY(double, y)
                         PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] == 0)
        y[order[item]] = scale[order[item]] * (double)x[item];
}
PL_END

/* An unknown of a level's fronts less what earlier ones take from it: `above` lists, for each vertex in
 * the order, the rows of fronts that end in it, as (front, line below its columns). */
PL_KERNEL(solve_gather,
          PL_VALUE(int, first) PL_ARRAY(int, unknown) PL_ARRAY(int, above_from) PL_ARRAY(int, above)
              PL_ARRAY(int, front) PL_ARRAY(float, values) PL_ARRAY(float, x) PL_ARRAY(double, state))
{
    int place = unknown[first + item], vertex = place / 3;
    float sum = x[place];
    if (state[PL_STATE_DONE] != 0)
        return;
    for (int k = above_from[vertex]; k < above_from[vertex + 1]; k++) {
        PL_GLOBAL const int *f = front + PL_FRONT_SIZE * above[2 * k];
        int columns = f[PL_FRONT_COLUMNS];
        PL_GLOBAL const float *row =
            values + f[PL_FRONT_VALUES] +
            (size_t)(columns + 3 * above[2 * k + 1] + place % 3) * (size_t)columns;
        PL_GLOBAL const float *y = x + f[PL_FRONT_FIRST];
        float part = 0;
        for (int c = 0; c < columns; c++)
            part += row[c] * y[c];
        sum -= part;
    }
    x[place] = sum;
}
PL_END

/* A front's own unknowns, L11^-1. */
PL_KERNEL(solve_down, PL_VALUE(int, first) PL_ARRAY(int, front) PL_ARRAY(float, values)
                          PL_ARRAY(float, x) PL_ARRAY(double, state))
{
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * (first + item);
    int columns = f[PL_FRONT_COLUMNS];
    PL_GLOBAL const float *l = values + f[PL_FRONT_VALUES];
    PL_GLOBAL float *y = x + f[PL_FRONT_FIRST];
    if (state[PL_STATE_DONE] != 0)
        return;
    for (int i = 0; i < columns; i++) {
        float sum = y[i];
        for (int j = 0; j < i; j++)
            sum -= l[(size_t)i * (size_t)columns + (size_t)j] * y[j];
        y[i] = sum / l[(size_t)i * (size_t)(columns + 1)];
    }
}
PL_END

/* An unknown of a level's fronts less what those below its front, known by now, take from it: `place`
 * of every line in the order. */
PL_KERNEL(solve_spread, PL_VALUE(int, first) PL_ARRAY(int, unknown) PL_ARRAY(int, front_of)
                            PL_ARRAY(int, front) PL_ARRAY(int, line_place) PL_ARRAY(float, values)
                                PL_ARRAY(float, x) PL_ARRAY(double, state))
{
    int place = unknown[first + item];
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * front_of[first + item];
    int columns = f[PL_FRONT_COLUMNS], below = f[PL_FRONT_BELOW];
    PL_GLOBAL const int *lines = line_place + f[PL_FRONT_LINE] + columns / 3;
    PL_GLOBAL const float *l = values + f[PL_FRONT_VALUES] + (size_t)columns * (size_t)columns +
                               (size_t)(place - f[PL_FRONT_FIRST]);
    float sum = x[place];
    if (state[PL_STATE_DONE] != 0)
        return;
    for (int i = 0; i < below; i++)
        sum -= l[(size_t)i * (size_t)columns] * x[3 * lines[i / 3] + i % 3];
    x[place] = sum;
}
PL_END

/* L11^-T */
PL_KERNEL(solve_up, PL_VALUE(int, first) PL_ARRAY(int, front) PL_ARRAY(float, values) PL_ARRAY(float, x)
                        PL_ARRAY(double, state))
{
    PL_GLOBAL const int *f = front + PL_FRONT_SIZE * (first + item);
    int columns = f[PL_FRONT_COLUMNS];
    PL_GLOBAL const float *l = values + f[PL_FRONT_VALUES];
    PL_GLOBAL float *y = x + f[PL_FRONT_FIRST];
    if (state[PL_STATE_DONE] != 0)
        return;
    for (int i = columns - 1; i >= 0; i--) {
        y[i] /= l[(size_t)i * (size_t)(columns + 1)];
        for (int j = 0; j < i; j++)
            y[j] -= l[(size_t)i * (size_t)columns + (size_t)j] * y[i];
    }
}
PL_END

#endif
