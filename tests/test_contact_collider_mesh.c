/* Mesh colliders: against the shapes they triangulate, at creases, and surfaces that enclose nothing.
 */
#include "common_alloc.h"
#include "common_collider.h"

#include "mesh/bvh.h"

static pl_collider *mesh_collider(pl_context *ctx, const pl_mesh *mesh)
{
    pl_collider_def def = shape_def(PL_MESH, 0, 0, 0);
    def.surface = mesh;
    pl_collider *collider;
    assert_ok(ctx, pl_collider_create(ctx, &def, &collider));
    return collider;
}

/* The box of half extents (0.9, 0.6, 0.4) about the origin, as eight vertices and twelve triangles. */
static const double box_half[3] = {0.9, 0.6, 0.4};
static const int box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static pl_mesh *plain_box(pl_context *ctx)
{
    double vertices[24];
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++)
            vertices[3 * v + i] = (v >> i & 1) ? box_half[i] : -box_half[i];
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_create(ctx, 8, vertices, 0, NULL, 12, box_triangles, &mesh));
    return mesh;
}

/* The same from tets, with flat vertices on its faces and straight ones on its edges. */
static pl_mesh *fine_box(pl_context *ctx)
{
    const double size[3] = {1.8, 1.2, 0.8};
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_box(ctx, size, 0.2, &mesh));
    for (int v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            mesh->vertices[3 * v + i] -= box_half[i];
    return mesh;
}

static void assert_same_point(const pl_surface_point *a, const pl_surface_point *b)
{
    assert_close(a->distance, b->distance, 4e-15);
    double scale = 1.0 + 1.0 / fabs(b->distance); /* rounding of x moves n by kappa, kappa by kappa^2 */
    for (int i = 0; i < 3; i++)
        assert_close(a->normal[i], b->normal[i], 4e-15 * scale);
    for (int i = 0; i < 9; i++)
        assert_close(a->curvature[i], b->curvature[i], 4e-15 * scale * scale);
}

/* `pose` is where the mesh has to be for it to be the box about the origin. */
static void check_same_at(const pl_collider *collider, const double pose[7], const pl_collider *box,
                          const double x[3])
{
    pl_surface_point a, b;
    pl_collider_query(collider, pose, x, &a);
    pl_collider_query(box, identity_pose, x, &b);
    assert_same_point(&a, &b);
}

static void check_is_box(pl_context *ctx, const pl_mesh *mesh, const double pose[7])
{
    pl_collider_def def = shape_def(PL_BOX, box_half[0], box_half[1], box_half[2]);
    pl_collider *box, *collider = mesh_collider(ctx, mesh);
    assert_ok(ctx, pl_collider_create(ctx, &def, &box));
    uint64_t seed = 3;
    for (int k = 0; k < 5000; k++) {
        const double x[3] = {1.5 * test_random(&seed), 1.5 * test_random(&seed),
                             1.5 * test_random(&seed)};
        check_same_at(collider, pose, box, x);
    }
    /* Straight above and below vertices, edges and diagonals of the top face, which is flat all the
     * same. */
    for (int k = 0; k < 2 * 8 * 11; k++) {
        const double x[3] = {0.2 * (k / 22) - 0.7 - 0.1 * (k / 2 % 2), 0.1 * (k / 2 % 11 - 5),
                             k % 2 ? 0.5 : 0.35};
        check_same_at(collider, pose, box, x);
    }
    /* Beside an edge, at the height of the vertices along it. */
    for (int k = -5; k <= 5; k++) {
        const double x[3] = {1.2, 0.1 * k, 0.8};
        check_same_at(collider, pose, box, x);
    }
    pl_collider_destroy(ctx, box);
    pl_collider_destroy(ctx, collider);
}

static void test_mesh_is_box(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *plain = plain_box(ctx), *fine = fine_box(ctx);
    check_is_box(ctx, plain, identity_pose);
    check_is_box(ctx, fine, identity_pose);
    /* Turned, it is flat and straight to rounding only. */
    uint64_t seed = 8;
    const double still[3] = {0};
    for (int k = 0; k < 5; k++) {
        double pose[7];
        random_pose(&seed, pose);
        pl_mesh *turned;
        assert_ok(ctx, pl_mesh_copy(ctx, fine, &turned));
        pl_mesh_transform(turned, 1.0, pose + 3, still);
        const double back[7] = {0, 0, 0, pose[3], -pose[4], -pose[5], -pose[6]};
        check_is_box(ctx, turned, back);
        pl_mesh_free(ctx, turned);
    }
    pl_mesh_free(ctx, plain);
    pl_mesh_free(ctx, fine);
    pl_context_destroy(ctx);
}

/* Where an edge begins is exact, though distances to it and to the face beside agree to 1e-16 within
 * 1e-8. */
static void test_border_of_edge(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_collider_def def = shape_def(PL_BOX, box_half[0], box_half[1], box_half[2]);
    pl_mesh *mesh = plain_box(ctx);
    pl_collider *box, *collider = mesh_collider(ctx, mesh);
    assert_ok(ctx, pl_collider_create(ctx, &def, &box));
    uint64_t seed = 13;
    for (int k = 0; k < 400; k++) {
        double off = copysign(pow(10.0, -4.0 - 10.0 * (k / 2) / 200.0), k % 2 ? 1.0 : -1.0);
        const double beside[3] = {0.9 + off, 0.5 * test_random(&seed), 0.7};
        const double corner[3] = {0.9 + off, 0.6 + off, 0.7};
        check_same_at(collider, identity_pose, box, beside);
        check_same_at(collider, identity_pose, box, corner);
    }
    pl_collider_destroy(ctx, box);
    pl_collider_destroy(ctx, collider);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* On an edge, where x minus its nearest point is rounding, the normal still points between the faces.
 */
static void test_on_edge(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    uint64_t seed = 17;
    for (int k = 0; k < 300; k++) {
        double pose[7], m[3];
        random_pose(&seed, pose);
        pl_mesh *mesh = plain_box(ctx);
        pl_mesh_transform(mesh, 1.0, pose + 3, pose);
        pl_collider *collider = mesh_collider(ctx, mesh);
        double x[3], t = 0.5 + 0.49 * test_random(&seed);
        for (int i = 0; i < 3; i++) { /* along y, between the faces +x and +z */
            x[i] = (1.0 - t) * mesh->vertices[3 * 5 + i] + t * mesh->vertices[3 * 7 + i];
            m[i] = mesh->vertices[3 * 5 + i] + mesh->vertices[3 * 7 + i] - 2.0 * pose[i];
        }
        pl_surface_point p;
        pl_collider_query(collider, identity_pose, x, &p);
        assert_close(p.distance, 0.0, 1e-15);
        assert_true(pl_dot3(p.normal, m) > 0.5);
        check_invariants(&p);
        pl_collider_destroy(ctx, collider);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

/* A blade as thin as rounding lets it be: past its edge is outside, whichever side of its plane. */
static void test_thin_blade(void **state)
{
    (void)state;
    const double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 1e-15}, still[3] = {0};
    const int triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    pl_context *ctx = test_context(1);
    uint64_t seed = 19;
    for (int turn = 0; turn < 40; turn++) {
        double pose[7];
        random_pose(&seed, pose);
        memset(pose, 0, 3 * sizeof *pose);
        pl_mesh *mesh;
        assert_ok(ctx, pl_mesh_create(ctx, 4, vertices, 0, NULL, 4, triangles, &mesh));
        pl_mesh_transform(mesh, 1.0, pose + 3, still);
        pl_collider *collider = mesh_collider(ctx, mesh);
        for (int k = -20; k <= 20; k++) {
            const double local[3] = {0.25, -0.1, 0.01 * k};
            double x[3], away[3] = {0.0, local[1], local[2]};
            pl_surface_point p;
            to_world(pose, local, x);
            to_world(pose, away, away);
            pl_collider_query(collider, identity_pose, x, &p);
            assert_close(p.distance, sqrt(0.01 + 1e-4 * k * k), 1e-15);
            assert_close(pl_dot3(p.normal, away), p.distance, 1e-14);
        }
        pl_collider_destroy(ctx, collider);
        pl_mesh_free(ctx, mesh);
    }
    pl_context_destroy(ctx);
}

/* Latitude and longitude, poles as single vertices; vertices on the unit sphere. */
static pl_mesh *round_mesh(pl_context *ctx, int rings)
{
    int around = 2 * rings, vertex_count = 2 + (rings - 1) * around, count = 0;
    double *vertices = test_calloc((size_t)vertex_count * 3, sizeof *vertices);
    int *triangles = test_calloc((size_t)(2 * around * rings) * 3, sizeof *triangles);
    vertices[2] = 1.0, vertices[5] = -1.0;
    for (int v = 2; v < vertex_count; v++) {
        double theta = M_PI * ((v - 2) / around + 1) / rings,
               phi = 2 * M_PI * ((v - 2) % around) / around;
        vertices[3 * v] = sin(theta) * cos(phi);
        vertices[3 * v + 1] = sin(theta) * sin(phi);
        vertices[3 * v + 2] = cos(theta);
    }
    for (int k = 0; k < rings * around; k++) {
        int ring = k / around, a = k % around, b = (a + 1) % around;
        int above = 2 + (ring - 1) * around, below = 2 + ring * around;
        int upper[3] = {ring ? above + a : 0, below + a, below + b};
        int lower[3] = {above + a, ring == rings - 1 ? 1 : below + b, above + b};
        if (ring < rings - 1)
            memcpy(triangles + 3 * count++, upper, sizeof upper);
        if (ring > 0)
            memcpy(triangles + 3 * count++, lower, sizeof lower);
    }
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_create(ctx, vertex_count, vertices, 0, NULL, count, triangles, &mesh));
    test_free(vertices);
    test_free(triangles);
    return mesh;
}

/* An inscribed sphere is inside the ball by at most the sag of its longest edges, 2nd order in 1/rings.
 */
static void test_mesh_is_nearly_sphere(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    double worst[2];
    for (int level = 0; level < 2; level++) {
        pl_mesh *mesh = round_mesh(ctx, 12 << level);
        pl_collider *collider = mesh_collider(ctx, mesh);
        uint64_t seed = 9;
        worst[level] = 0.0;
        for (int k = 0; k < 4000; k++) {
            double x[3] = {1.3 * test_random(&seed), 1.3 * test_random(&seed),
                           1.3 * test_random(&seed)};
            pl_surface_point p;
            pl_collider_query(collider, identity_pose, x, &p);
            double excess = p.distance - (pl_norm3(x) - 1.0);
            assert_true(excess >= -1e-15);
            worst[level] = fmax(worst[level], excess);
        }
        pl_collider_destroy(ctx, collider);
        pl_mesh_free(ctx, mesh);
    }
    assert_true(worst[1] < 0.5 * 3.0 * pow(M_PI / 24, 2));
    assert_close(worst[0] / worst[1], 4.0, 0.4); /* sampled maxima of a second-order error */
    pl_context_destroy(ctx);
}

/* A 2 x 2 x 1 block without the quarter x > 0, y > 0: one edge of it is concave. */
static pl_mesh *angle_mesh(pl_context *ctx)
{
    const int nodes[3] = {5, 5, 3};
    pl_mesh *mesh;
    assert_ok(ctx, pl_mesh_grid(ctx, nodes, 0.5, PL_CUT_DIAGONAL, &mesh));
    int kept = 0;
    for (int t = 0; t < mesh->tet_count; t++) {
        double centre[2] = {0};
        for (int k = 0; k < 8; k++)
            centre[k % 2] += 0.25 * (mesh->vertices[3 * mesh->tets[4 * t + k / 2] + k % 2] - 1.0);
        if (centre[0] < 0 || centre[1] < 0)
            memmove(mesh->tets + 4 * kept++, mesh->tets + 4 * t, 4 * sizeof *mesh->tets);
    }
    mesh->tet_count = kept;
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->vertices[3 * v] -= 1.0, mesh->vertices[3 * v + 1] -= 1.0,
            mesh->vertices[3 * v + 2] -= 0.5;
    return mesh;
}

/* Distance to the box [lower, upper], > 0 outside. */
static double box_distance(const double lower[3], const double upper[3], const double x[3])
{
    double out2 = 0.0, in = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double d = fmax(lower[i] - x[i], x[i] - upper[i]);
        out2 += d > 0 ? d * d : 0;
        in = fmax(in, d);
    }
    return in > 0 ? sqrt(out2) : in;
}

/* The distance of the angle: outside that of the nearer arm; inside that to the block's faces, or to
 * the missing quarter. */
static double angle_distance(const double x[3])
{
    const double lower[3] = {-1, -1, -0.5}, upper[3] = {1, 1, 0.5};
    const double arm_x[3] = {1, 0, 0.5}, arm_y[3] = {0, 1, 0.5};
    const double notch[3] = {0, 0, -INFINITY}, open[3] = {INFINITY, INFINITY, INFINITY};
    double outside = fmin(box_distance(lower, arm_x, x), box_distance(lower, arm_y, x));
    return outside > 0 ? outside : fmax(box_distance(lower, upper, x), -box_distance(notch, open, x));
}

static void test_concave_mesh(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = angle_mesh(ctx);
    pl_collider *collider = mesh_collider(ctx, mesh);
    uint64_t seed = 21;
    int bent_inside = 0;
    for (int k = 0; k < 5000; k++) {
        double x[3] = {1.4 * test_random(&seed), 1.4 * test_random(&seed), 0.9 * test_random(&seed)};
        pl_surface_point p;
        pl_collider_query(collider, identity_pose, x, &p);
        assert_close(p.distance, angle_distance(x), 4e-15);
        bent_inside += p.distance < 0 && p.curvature[0] < 0;
    }
    assert_true(bent_inside > 20); /* about the concave edge */
    assert_in_range(check_derivatives(collider, 1.3, 1500, 31), 150, 1350);
    check_near(collider, 3.0, 41);
    pl_collider_destroy(ctx, collider);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

/* Spikes and pits with thin blades between them: the sign is that of the winding number, the size that
 * of the nearest triangle of all. */
static void test_spiky_mesh(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = round_mesh(ctx, 8);
    uint64_t seed = 51;
    for (int v = 0; v < mesh->vertex_count; v++) {
        double radius = v % 3 ? 0.3 + 0.1 * test_random(&seed) : 1.2 + 0.3 * test_random(&seed);
        for (int i = 0; i < 3; i++)
            mesh->vertices[3 * v + i] *= radius;
    }
    pl_collider *collider = mesh_collider(ctx, mesh);
    pl_bvh *bvh;
    assert_ok(ctx, pl_bvh_create(ctx, mesh->vertex_count, mesh->vertices, mesh->triangle_count,
                                 mesh->triangles, &bvh));
    int inside = 0;
    for (int k = 0; k < 5000; k++) {
        double x[3] = {test_random(&seed), test_random(&seed), test_random(&seed)}, least = INFINITY;
        pl_surface_point p;
        pl_collider_query(collider, identity_pose, x, &p);
        for (int t = 0; t < mesh->triangle_count; t++) {
            double corners[9];
            pl_bvh_hit hit;
            for (int c = 0; c < 9; c++)
                corners[c] = mesh->vertices[3 * mesh->triangles[3 * t + c / 3] + c % 3];
            pl_triangle_closest(corners, x, &hit);
            least = fmin(least, hit.distance);
        }
        assert_close(fabs(p.distance), least, 1e-15);
        assert_int_equal(p.distance<0, pl_bvh_winding(bvh, x)> 0.5);
        inside += p.distance < 0;
    }
    assert_in_range(inside, 300, 4700);
    check_derivatives(collider, 1.0, 1000, 61);
    pl_bvh_destroy(ctx, bvh);
    pl_collider_destroy(ctx, collider);
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static void test_mesh_singular_points(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *meshes[] = {plain_box(ctx), fine_box(ctx), angle_mesh(ctx)};
    for (int m = 0; m < 3; m++) {
        pl_collider *collider = mesh_collider(ctx, meshes[m]);
        pl_surface_point p, q;
        for (int k = 0; k < meshes[m]->vertex_count * meshes[m]->vertex_count; k++) {
            /* Every vertex, and the middle of every two. */
            const double *a = meshes[m]->vertices + 3 * (k / meshes[m]->vertex_count);
            const double *b = meshes[m]->vertices + 3 * (k % meshes[m]->vertex_count);
            double x[3] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
            pl_collider_query(collider, identity_pose, x, &p);
            check_invariants(&p);
        }
        const double lost[3] = {NAN, 0, 0}, away[3] = {1e200, 0, 0};
        pl_collider_query(collider, identity_pose, lost, &p);
        assert_true(isnan(p.distance));
        pl_collider_query(collider, identity_pose, away, &q);
        assert_true(q.distance > 1e150);
        pl_collider_destroy(ctx, collider);
        pl_mesh_free(ctx, meshes[m]);
    }
    pl_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- bad surfaces */

static void test_bad_surfaces(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = plain_box(ctx);
    pl_collider_def def = shape_def(PL_MESH, 0, 0, 0);
    def.surface = mesh;
    mesh->triangle_count = 11; /* a hole */
    refuse(ctx, &def, PL_ERROR_MESH, "edge (5, 7) of triangle 3 has 1 triangle running along it and 0");
    mesh->triangle_count = 12;
    mesh->triangles[1] = 1, mesh->triangles[2] = 2; /* one triangle turned over */
    refuse(ctx, &def, PL_ERROR_MESH,
           "edge (0, 1) of triangle 0 has 2 triangles running along it and 0");
    for (int t = 0; t < 12; t++) { /* all of them */
        mesh->triangles[3 * t + 1] = box_triangles[3 * t + 2];
        mesh->triangles[3 * t + 2] = box_triangles[3 * t + 1];
    }
    refuse(ctx, &def, PL_ERROR_MESH, "encloses a volume of -1.728");
    memcpy(mesh->triangles, box_triangles, sizeof box_triangles);
    mesh->triangles[4] = 8;
    refuse(ctx, &def, PL_ERROR_MESH, "triangle 1");
    memcpy(mesh->triangles, box_triangles, sizeof box_triangles);
    memcpy(mesh->vertices + 3, mesh->vertices, 3 * sizeof(double)); /* an edge of no length */
    refuse(ctx, &def, PL_ERROR_MESH, "triangle 0 (0 2 1) has no area");
    mesh->vertices[3] = NAN;
    refuse(ctx, &def, PL_ERROR_MESH, "vertex 1 is not finite");
    mesh->triangle_count = 0;
    refuse(ctx, &def, PL_ERROR_MESH, "at least one triangle");
    pl_mesh_free(ctx, mesh);
    pl_context_destroy(ctx);
}

static pl_status create_and_destroy(pl_context *ctx, void *user)
{
    pl_collider *collider = NULL;
    pl_status status = pl_collider_create(ctx, user, &collider);
    assert_true((collider != NULL) == (status == PL_OK));
    pl_collider_destroy(ctx, collider);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    pl_mesh *meshes[] = {plain_box(ctx), fine_box(ctx)};
    for (int m = 0; m < 2; m++) {
        pl_collider_def def = shape_def(PL_MESH, 0, 0, 0);
        def.surface = meshes[m];
        assert_true(test_fail_every_allocation(create_and_destroy, &def) > 10);
        pl_mesh_free(ctx, meshes[m]);
    }
    pl_collider_def def = pl_collider_def_default();
    assert_int_equal(test_fail_every_allocation(create_and_destroy, &def), 1);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_is_box),
        cmocka_unit_test(test_border_of_edge),
        cmocka_unit_test(test_on_edge),
        cmocka_unit_test(test_thin_blade),
        cmocka_unit_test(test_mesh_is_nearly_sphere),
        cmocka_unit_test(test_concave_mesh),
        cmocka_unit_test(test_spiky_mesh),
        cmocka_unit_test(test_mesh_singular_points),
        cmocka_unit_test(test_bad_surfaces),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
