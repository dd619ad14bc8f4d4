/* Where pieces of surface meet: known places, what holds, derivatives against differences. */
#include "common.h"

#include "contact/meeting.h"
#include "core/vec.h"

enum { N = 8 };

/* Two squares of two triangles each, one above the other. */
static pl_surface *squares(pl_context *ctx)
{
    static const double rest[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    static const int triangles[6] = {0, 1, 2, 1, 3, 2};
    pl_surface_part parts[2] = {
        {.vertex_offset = 0, .rest = rest, .triangle_count = 2, .triangles = triangles},
        {.vertex_offset = 4, .rest = rest, .triangle_count = 2, .triangles = triangles}};
    pl_surface *s;
    assert_ok(ctx, pl_surface_create(ctx, N, 2, parts, &s));
    return s;
}

static void surfaces_hang_together(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_surface *s = squares(ctx);
    assert_int_equal(s->edge_count, 10);
    assert_int_equal(s->vertex_count, 8);
    int borders = 0, sharp = 0;
    for (int e = 0; e < s->edge_count; e++) {
        borders += s->wing[2 * e + 1] < 0;
        sharp += pl_surface_sharp(s, e);
        if (s->wing[2 * e + 1] >= 0)
            assert_int_equal(s->edge[2 * e] % 4 + s->edge[2 * e + 1] % 4, 3); /* the diagonal, 1 to 2 */
    }
    assert_int_equal(borders, 8);
    assert_int_equal(sharp, 8);
    assert_int_equal(s->ring_first[2] - s->ring_first[1], 3);
    assert_int_equal(s->of[1].edges.first, 5);
    assert_close(s->of[0].edge_length, (4 + sqrt(2)) / 5, 1e-15);
    pl_surface_destroy(ctx, s);
    pl_context_destroy(ctx);
}

static pl_meeting meeting_of(const pl_surface *s, pl_meeting_kind kind)
{
    pl_meeting all[] = {
        {PL_MEETING_FACE, {0, 4, 5, 6}, -1},
        {PL_MEETING_EDGE, {0, 5, 6, -1}, -1},
        {PL_MEETING_VERTEX, {0, 5, -1, -1}, -1},
        {PL_MEETING_EDGES, {0, 1, 4, 6}, -1},
    };
    for (int e = 0; e < s->edge_count; e++)
        if (s->edge[2 * e] == 5 && s->edge[2 * e + 1] == 6)
            all[PL_MEETING_EDGE].edge = e;
    return all[kind];
}

/* A vertex above the middle of a face, beside it above an edge. */
static void places_are_known(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_surface *s = squares(ctx);
    double q[3 * N] = {0.25, 0.25, 0.1, 5, 0, 1, 0, 5, 1, 5, 5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    pl_meeting m = meeting_of(s, PL_MEETING_FACE);
    pl_meeting_place p;
    pl_meeting_find(s, &m, 0.01, 0.1, q, &p);
    assert_true(pl_meeting_holds(s, &m, &p, q));
    assert_close(p.distance, 0.1, 1e-15);
    assert_close(p.normal[2], 1, 1e-15);
    assert_close(p.weight[1], -0.5, 1e-15);
    assert_close(p.offset, 0.01, 0);
    q[2] = -0.1; /* below it */
    pl_meeting_find(s, &m, 0.01, 0.1, q, &p);
    assert_close(p.normal[2], -1, 1e-15);
    assert_close(p.distance, 0.1, 1e-15);
    q[0] = 0.75, q[1] = 0.75, q[2] = 0.1; /* above the other triangle */
    pl_meeting_find(s, &m, 0.01, 0.1, q, &p);
    assert_false(pl_meeting_holds(s, &m, &p, q));
    m = meeting_of(
        s, PL_MEETING_EDGE); /* flat: a place of the faces, not of the diagonal, unless right above */
    pl_meeting_find(s, &m, 0.01, 0.1, q, &p);
    assert_false(pl_meeting_holds(s, &m, &p, q));
    pl_surface_destroy(ctx, s);
    pl_context_destroy(ctx);
}

/* phi . n + psi . beta + offset, at q. */
static double functional(const pl_surface *s, const pl_meeting *m, const double *q, const double phi[3],
                         const double psi[4], pl_meeting_place *p)
{
    pl_meeting_find(s, m, 0.01, 0.1, q, p);
    double sum = pl_dot3(phi, p->normal) + p->offset;
    for (int k = 0; k < p->count; k++)
        sum += psi[k] * p->weight[k];
    return sum;
}

static void derivatives_agree_with_differences(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_surface *s = squares(ctx);
    uint64_t seed = 5;
    int by_edge = 0, by_face = 0;
    for (int trial = 0; trial < 200; trial++) {
        pl_meeting m = meeting_of(s, (pl_meeting_kind)(trial % 4));
        double q[3 * N], d[3 * N], phi[3], psi[4];
        for (int i = 0; i < 3 * N; i++) {
            q[i] = (i % 3 == 2 ? (i < 12 ? 0.3 : 0) + 0.1 * test_random(&seed) : test_random(&seed));
            d[i] = test_random(&seed);
        }
        for (int i = 0; i < 3; i++)
            phi[i] = test_random(&seed);
        for (int i = 0; i < 4; i++)
            psi[i] = test_random(&seed);
        pl_meeting_place p, off;
        functional(s, &m, q, phi, psi, &p);
        if (p.free == 2 && p.inverse[0] + p.inverse[3] > 50)
            continue; /* slivers: differences tell nothing */
        if (p.aside >= 0 && p.length < 0.05)
            continue;
        double by[3 * N] = {0}, dn[3], db[4], d_offset, adjoint = 0, least = INFINITY;
        pl_meeting_vjp(&m, &p, q, phi, psi, 1, by);
        pl_meeting_jvp(&m, &p, q, d, dn, db, &d_offset);
        double tangent = pl_dot3(phi, dn) + d_offset;
        for (int k = 0; k < 4; k++)
            tangent += psi[k] * db[k];
        for (int i = 0; i < 3 * N; i++)
            adjoint += by[i] * d[i];
        assert_close(adjoint, tangent, 1e-11 * (1 + fabs(tangent)));
        for (double step = 1e-4; step > 1e-7; step /= 10) {
            double ahead[3 * N], behind[3 * N];
            for (int i = 0; i < 3 * N; i++)
                ahead[i] = q[i] + step * d[i], behind[i] = q[i] - step * d[i];
            double difference =
                (functional(s, &m, ahead, phi, psi, &off) - functional(s, &m, behind, phi, psi, &off)) /
                (2 * step);
            least = fmin(least, fabs(difference - tangent) / (1 + fabs(tangent)));
        }
        if (!(least < 1e-7))
            fail_msg("kind %d, trial %d: %g off", (int)m.kind, trial, least);
        by_edge += p.aside >= 0 && !p.by_face;
        by_face += p.aside >= 0 && p.by_face;
    }
    assert_true(by_edge > 5 && by_face > 5);
    pl_surface_destroy(ctx, s);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_hang_together),
        cmocka_unit_test(places_are_known),
        cmocka_unit_test(derivatives_agree_with_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
