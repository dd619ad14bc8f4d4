/* Small scenes for the elastic tests: boxes of tets and sheets of triangles, several bodies in one
 * energy. */
#ifndef PL_TEST_ELASTIC_FIXTURE_H
#define PL_TEST_ELASTIC_FIXTURE_H

#include "common.h"

#include "backend/backend.h"
#include "elastic/elastic.h"

enum { FIXTURE_MAX_BODIES = 8 };

typedef struct fixture {
    pl_context *ctx;
    pl_elements *elements;
    pl_elastic *el;
    int n, m; /* vertices, elements */
    int body_count;
    pl_elastic_body bodies[FIXTURE_MAX_BODIES];
    double *rest; /* [n, 3] */
    double *young, *poisson, *bending;
} fixture;

static inline void *fixture_array(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    assert_non_null(p);
    return p;
}

/* nodes[] a side; every cube is split into six tets around its diagonal. */
static inline void fixture_box(pl_elastic_body *body, const int nodes[3], double spacing)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    int count = nodes[0] * nodes[1] * nodes[2];
    int cells = (nodes[0] - 1) * (nodes[1] - 1) * (nodes[2] - 1);
    double *x = fixture_array(3 * (size_t)count, sizeof *x);
    int *tets = fixture_array(24 * (size_t)cells, sizeof *tets), *t = tets;
    for (int k = 0, v = 0; k < nodes[2]; k++)
        for (int j = 0; j < nodes[1]; j++)
            for (int i = 0; i < nodes[0]; i++, v++) {
                int at[3] = {i, j, k}, stride[3] = {1, nodes[0], nodes[0] * nodes[1]};
                for (int c = 0; c < 3; c++)
                    x[3 * v + c] = spacing * at[c];
                if (i + 1 == nodes[0] || j + 1 == nodes[1] || k + 1 == nodes[2])
                    continue;
                for (int s = 0; s < 6; s++, t += 4) {
                    t[0] = v;
                    t[1] = t[0] + stride[order[s][0]];
                    t[2] = t[1] + stride[order[s][1]];
                    t[3] = t[2] + stride[order[s][2]];
                }
            }
    body->vertex_count = count;
    body->rest = x;
    body->element_count = 6 * cells;
    body->elements = tets;
}

/* A sheet of nx times ny nodes, spanned by a and b from node to node; squares split along a + b. */
static inline void fixture_sheet(pl_elastic_body *body, int nx, int ny, const double a[3],
                                 const double b[3])
{
    double *x = fixture_array(3 * (size_t)(nx * ny), sizeof *x);
    int *triangles = fixture_array(6 * (size_t)((nx - 1) * (ny - 1)), sizeof *triangles),
        *t = triangles;
    for (int j = 0, v = 0; j < ny; j++)
        for (int i = 0; i < nx; i++, v++) {
            for (int c = 0; c < 3; c++)
                x[3 * v + c] = i * a[c] + j * b[c];
            if (i + 1 == nx || j + 1 == ny)
                continue;
            memcpy(t, (int[]){v, v + 1, v + 1 + nx, v, v + 1 + nx, v + nx}, 6 * sizeof *t);
            t += 6;
        }
    body->vertex_count = nx * ny;
    body->rest = x;
    body->cloth = true;
    body->thickness = 0.01;
    body->element_count = 2 * (nx - 1) * (ny - 1);
    body->elements = triangles;
}

/* Gives the bodies their places and the energy its materials: E, nu and k_b differ from element to
 * element. */
static inline void fixture_finish(fixture *f, int threads)
{
    f->ctx = test_context(threads);
    for (int b = 0; b < f->body_count; b++) {
        f->bodies[b].vertex_offset = f->n;
        f->n += f->bodies[b].vertex_count;
        f->m += f->bodies[b].element_count;
    }
    f->rest = fixture_array(3 * (size_t)f->n, sizeof *f->rest);
    for (int b = 0; b < f->body_count; b++)
        memcpy(f->rest + 3 * f->bodies[b].vertex_offset, f->bodies[b].rest,
               3 * (size_t)f->bodies[b].vertex_count * sizeof *f->rest);
    assert_ok(f->ctx,
              pl_elements_create(f->ctx, f->n, f->body_count, f->bodies, 0, NULL, &f->elements));
    assert_ok(f->ctx, pl_elastic_create(f->ctx, f->elements, &f->el));
    f->young = fixture_array((size_t)f->m, sizeof *f->young);
    f->poisson = fixture_array((size_t)f->m, sizeof *f->poisson);
    f->bending = fixture_array((size_t)f->m, sizeof *f->bending);
    uint64_t seed = 11;
    for (int e = 0; e < f->m; e++) {
        f->young[e] = 100.0 * (1.0 + 0.3 * test_random(&seed));
        f->poisson[e] = 0.3 + 0.1 * test_random(&seed);
        f->bending[e] = 0.02 * (1.0 + 0.3 * test_random(&seed));
    }
    pl_elastic_set_material(f->el, f->young, f->poisson, f->bending);
}

/* One body of every material and reading on tets, two sheets. */
static inline fixture fixture_all(int threads)
{
    fixture f = {0};
    for (int model = PL_ARAP; model <= PL_NEO_HOOKEAN; model++)
        for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++) {
            pl_elastic_body *body = &f.bodies[f.body_count++];
            fixture_box(body, (int[]){4, 3, 4}, 0.1);
            body->model = (pl_material)model;
            body->reading = (pl_reading)reading;
        }
    for (int reading = PL_EXACT; reading <= PL_PROJECTIVE; reading++) {
        pl_elastic_body *body = &f.bodies[f.body_count++];
        fixture_sheet(body, 6, 4, (double[]){0.1, 0.0, 0.02}, (double[]){0.01, 0.09, 0.0});
        body->model = PL_NEO_HOOKEAN;
        body->reading = (pl_reading)reading;
    }
    fixture_finish(&f, threads);
    return f;
}

static inline void fixture_free(fixture *f)
{
    pl_elastic_destroy(f->el);
    pl_elements_destroy(f->elements);
    for (int b = 0; b < f->body_count; b++) {
        free((void *)f->bodies[b].rest);
        free((void *)f->bodies[b].elements);
    }
    free(f->rest);
    free(f->young);
    free(f->poisson);
    free(f->bending);
    pl_context_destroy(f->ctx);
}

/* The rest shape, stretched, turned and shaken by `amount`. */
static inline void fixture_deform(const fixture *f, double amount, uint64_t seed, double *q)
{
    static const double A[9] = {0.9, -0.5, 0.1, 0.45, 1.0, 0.2, -0.1, 0.1, 1.05};
    for (int i = 0; i < f->n; i++)
        for (int c = 0; c < 3; c++) {
            q[3 * i + c] = amount * 0.1 * test_random(&seed);
            for (int k = 0; k < 3; k++)
                q[3 * i + c] += A[3 * c + k] * f->rest[3 * i + k];
        }
}

static inline void fixture_random(int count, uint64_t seed, double *x)
{
    for (int i = 0; i < count; i++)
        x[i] = test_random(&seed);
}

static inline double fixture_dot(int count, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline double fixture_max(int count, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

#endif
