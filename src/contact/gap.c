/*
 * The gap and slip of a contact at q + move,
 *
 *     delta = phi(x0) + H (q - q0 + move) - H drift,
 *
 * when they are smaller than the rounding of q: an active gap is 1e-12 m under 0.5 N, 5e-16 m under
 * 1,000 N. Differences and products are split into two doubles and summed in twice the precision
 * (Ogita, Rump, Oishi), so that what is left of motions of centimetres still has all its digits. The
 * compiler must not fuse these sums and products (CMakeLists.txt sees to it).
 */
#include "contact/contact.h"

#include "core/vec.h"

typedef struct sum {
    double high, low;
} sum;

/* a + b, and what rounding took from it. */
static sum add(double a, double b)
{
    double high = a + b, part = high - a;
    return (sum){high, (a - (high - part)) + (b - part)};
}

static void add_to(sum *s, double x)
{
    sum next = add(s->high, x);
    s->high = next.high;
    s->low += next.low;
}

static void add_product(sum *s, double a, double b)
{
    double product = a * b;
    add_to(s, product);
    s->low += fma(a, b, -product);
}

void pl_contact_delta_exact(const pl_contact_set *set, int c, const double *q0, const double *q,
                            const double *move, double delta[3])
{
    const pl_contact_point *p = &set->points[c];
    const pl_stencil_entry *e = pl_contact_entries(set, c);
    double drift[3];
    pl_mat3_vec(p->frame, p->drift, drift);
    for (int r = 0; r < 3; r++) {
        sum s = {r == 0 ? p->gap : -drift[r], 0};
        for (int k = 0; k < p->count; k++)
            for (int d = 0; d < 3; d++) {
                size_t i = 3 * (size_t)e[k].vertex + (size_t)d;
                double weight = e[k].block[3 * r + d];
                sum u = p->live ? (sum){0, 0} : add(q[i], -q0[i]);
                add_product(&s, weight, u.high);
                add_product(&s, weight, u.low);
                add_product(&s, weight, move[i]);
            }
        delta[r] = s.high + s.low;
    }
}

void pl_contacts_delta_exact(const pl_context *ctx, const pl_contact_set *set, const double *q0,
                             const double *q, const double *move, double *delta)
{
#pragma omp parallel for num_threads(ctx->threads)                                                     \
    schedule(static) if (set->count > ctx->limits.thread_laws)
    for (int c = 0; c < set->count; c++)
        pl_contact_delta_exact(set, c, q0, q, move, delta + 3 * (size_t)c);
}
