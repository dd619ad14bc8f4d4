/* A tree of boxes. */
#include "contact/boxes.h"

#include "core/vec.h"

void pl_boxes_free(pl_context *ctx, pl_boxes *b)
{
    pl_free(ctx, b->item);
    pl_free(ctx, b->corner);
    pl_free(ctx, b->node);
    *b = (pl_boxes){0};
}

bool pl_box_meets(const pl_box *a, const pl_box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->lower[k] > b->upper[k] || b->lower[k] > a->upper[k])
            return false;
    return true;
}

pl_box pl_box_around(int count, const int *vertices, const double *q0, const double *q, double margin)
{
    pl_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double a = q0[3 * vertices[i] + k], b = q[3 * vertices[i] + k];
            box.lower[k] = pl_lesser(box.lower[k], pl_lesser(a, b) - margin);
            box.upper[k] = pl_larger(box.upper[k], pl_larger(a, b) + margin);
        }
    return box;
}

static double middle(const pl_boxes *b, const double *x, int leaf, int axis)
{
    double sum = 0;
    for (int i = 0; i < b->width; i++)
        sum += x[3 * b->corner[b->width * leaf + i] + axis];
    return sum;
}

static void swap(pl_boxes *b, int i, int j)
{
    int kept = b->item[i];
    b->item[i] = b->item[j], b->item[j] = kept;
    for (int k = 0; k < b->width; k++) {
        int *a = b->corner + b->width * i + k, *c = b->corner + b->width * j + k;
        kept = *a;
        *a = *c, *c = kept;
    }
}

/* Leaves [first, last) so that those before `half` are no further along the axis than the others. */
static void part(pl_boxes *b, const double *x, int first, int last, int half, int axis)
{
    while (last - first > 1) {
        double pivot = middle(b, x, first + (last - first) / 2, axis);
        int i = first, j = last - 1;
        while (i <= j) {
            while (middle(b, x, i, axis) < pivot)
                i++;
            while (middle(b, x, j, axis) > pivot)
                j--;
            if (i <= j)
                swap(b, i++, j--);
        }
        if (half <= j)
            last = j + 1;
        else if (half >= i)
            first = i;
        else
            return;
    }
}

/* By halves along the longest axis. */
static void arrange(pl_boxes *b, const double *x, int first, int last)
{
    if (last - first < 2)
        return;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis = 0, half = first + (last - first) / 2;
    for (int i = first; i < last; i++)
        for (int k = 0; k < 3; k++) {
            double at = middle(b, x, i, k);
            lower[k] = pl_lesser(lower[k], at);
            upper[k] = pl_larger(upper[k], at);
        }
    for (int k = 1; k < 3; k++)
        axis = upper[k] - lower[k] > upper[axis] - lower[axis] ? k : axis;
    part(b, x, first, last, half, axis);
    arrange(b, x, first, half);
    arrange(b, x, half, last);
}

pl_status pl_boxes_create(pl_context *ctx, int count, const int *numbers, int width, const int *corners,
                          const double *x, pl_boxes *out)
{
    pl_status status = PL_OK;
    pl_boxes b = {.count = count, .width = width};
    PL_NEW(ctx, b.item, count, done);
    PL_NEW(ctx, b.corner, width * count, done);
    PL_NEW(ctx, b.node, 2 * count, done);
    for (int i = 0; i < count; i++) {
        b.item[i] = numbers[i];
        memcpy(b.corner + width * i, corners + width * numbers[i], sizeof(int) * (size_t)width);
    }
    arrange(&b, x, 0, count);
    *out = b;
    b = (pl_boxes){0};
done:
    pl_boxes_free(ctx, &b);
    return status;
}

static void fit(pl_boxes *b, int node, int first, int last, const double *q0, const double *q,
                double margin)
{
    if (last - first == 1) {
        b->node[node] = pl_box_around(b->width, b->corner + b->width * first, q0, q, margin);
        return;
    }
    int half = first + (last - first) / 2, right = node + 2 * (half - first);
    fit(b, node + 1, first, half, q0, q, margin);
    fit(b, right, half, last, q0, q, margin);
    for (int k = 0; k < 3; k++) {
        b->node[node].lower[k] = pl_lesser(b->node[node + 1].lower[k], b->node[right].lower[k]);
        b->node[node].upper[k] = pl_larger(b->node[node + 1].upper[k], b->node[right].upper[k]);
    }
}

void pl_boxes_fit(pl_boxes *b, const double *q0, const double *q, double margin)
{
    if (b->count > 0)
        fit(b, 0, 0, b->count, q0, q, margin);
}

static pl_status find(const pl_boxes *b, int node, int first, int last, const pl_box *box,
                      pl_boxes_visit visit, void *user)
{
    if (!pl_box_meets(&b->node[node], box))
        return PL_OK;
    if (last - first == 1)
        return visit(user, b->item[first]);
    int half = first + (last - first) / 2;
    PL_TRY(find(b, node + 1, first, half, box, visit, user));
    return find(b, node + 2 * (half - first), half, last, box, visit, user);
}

pl_status pl_boxes_find(const pl_boxes *b, const pl_box *box, pl_boxes_visit visit, void *user)
{
    return b->count > 0 ? find(b, 0, 0, b->count, box, visit, user) : PL_OK;
}
