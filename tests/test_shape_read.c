/* STL and PLY, text and binary, both byte orders; what broken files say. */
#include "test_shape_common.h"

#include <unistd.h>

#define PATH_SIZE 256

static void temporary(char path[PATH_SIZE], const char *extension)
{
    snprintf(path, PATH_SIZE, "/tmp/pliant_test_shape_%d%s", (int)getpid(), extension);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

typedef struct writer {
    char bytes[65536];
    size_t size;
    bool big;
} writer;

static void put_text(writer *w, const char *text)
{
    memcpy(w->bytes + w->size, text, strlen(text));
    w->size += strlen(text);
}

/* The low `size` bytes of a little-endian machine's value, reversed for big-endian files. */
static void put(writer *w, const void *value, int size)
{
    for (int k = 0; k < size; k++)
        w->bytes[w->size++] = ((const char *)value)[w->big ? size - 1 - k : k];
}

static void put_float(writer *w, double value)
{
    float narrow = (float)value;
    put(w, &narrow, 4);
}

static void put_int(writer *w, int value, int size)
{
    put(w, &value, size);
}

/* The volume within the surface, by the divergence theorem: says that corners and order are right. */
static double volume_of(const pl_mesh *m)
{
    double sum = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        const double *a = m->vertices + 3 * m->triangles[3 * t],
                     *b = m->vertices + 3 * m->triangles[3 * t + 1],
                     *c = m->vertices + 3 * m->triangles[3 * t + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static soup *make_box(void)
{
    soup *s = soup_new();
    soup_box(s, (double[3]){0.5, 1, 2}, (double[3]){1, 2, 4});
    return s;
}

static void check_file(const char *path, const writer *w, int vertices, int triangles)
{
    pl_context *ctx = test_context(1);
    pl_mesh *mesh = NULL;
    write_bytes(path, w->bytes, w->size);
    assert_ok(ctx, pl_surface_read(ctx, path, &mesh));
    assert_int_equal(mesh->vertex_count, vertices);
    assert_int_equal(mesh->triangle_count, triangles);
    assert_int_equal(mesh->tet_count, 0);
    assert_close(volume_of(mesh), 1, 1e-12);
    pl_mesh_free(ctx, mesh);
    remove(path);
    pl_context_destroy(ctx);
}

static void stl_files(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    temporary(path, ".STL");
    soup *s = make_box();
    for (int binary = 0; binary < 2; binary++) {
        writer *w = calloc(1, sizeof *w);
        if (binary) { /* a header that begins like text does not fool the reader */
            put_text(w, "solid binary");
            w->size = 80;
            put_int(w, s->triangle_count, 4);
        } else {
            put_text(w, "solid a name\n");
        }
        for (int t = 0; t < s->triangle_count; t++) {
            char line[256];
            if (binary)
                w->size += 12;
            else
                put_text(w, " facet normal 0 0 0\n  outer loop\n");
            for (int k = 0; k < 3; k++) {
                const double *x = s->vertices + 3 * s->triangles[3 * t + k];
                for (int i = 0; i < 3 && binary; i++)
                    put_float(w, x[i]);
                snprintf(line, sizeof line, "   vertex %g %e %.3f\n", x[0], x[1], x[2]);
                if (!binary)
                    put_text(w, line);
            }
            if (binary)
                w->size += 2;
            else
                put_text(w, "  endloop\n endfacet\n");
        }
        if (!binary)
            put_text(w, "endsolid a name\n");
        check_file(path, w, 3 * s->triangle_count, s->triangle_count);
        free(w);
    }
    free(s);
}

/* Faces as quadrilaterals, an extra property before and after, a comment, an element of no use. */
static void ply_files(void **state)
{
    (void)state;
    static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    char path[PATH_SIZE], line[512];
    temporary(path, ".ply");
    soup *s = make_box();
    for (int f = 0; f < 3; f++) {
        writer *w = calloc(1, sizeof *w);
        snprintf(
            line, sizeof line,
            "ply\nformat %s 1.0\ncomment element vertex 99\nelement vertex 8\nproperty uchar red\n"
            "property double x\nproperty float y\nproperty float32 z\nelement camera 1\n"
            "property list uint8 short angles\nelement face 6\nproperty list uchar int vertex_indices\n"
            "property int8 flag\nend_header\n",
            formats[f]);
        put_text(w, line);
        w->big = f == 2;
        for (int v = 0; v < 8; v++) {
            const double *x = s->vertices + 3 * v;
            snprintf(line, sizeof line, "255 %g %g %g\n", x[0], x[1], x[2]);
            if (f == 0) {
                put_text(w, line);
            } else {
                put_int(w, 255, 1);
                put(w, &x[0], 8);
                put_float(w, x[1]), put_float(w, x[2]);
            }
        }
        if (f == 0)
            put_text(w, "2 -7 10\n");
        else
            put_int(w, 2, 1), put_int(w, -7, 2), put_int(w, 10, 2);
        for (int k = 0; k < 6; k++) {
            const int *q = faces[k];
            snprintf(line, sizeof line, "4 %d %d %d %d -1\n", q[0], q[1], q[2], q[3]);
            if (f == 0) {
                put_text(w, line);
                continue;
            }
            put_int(w, 4, 1);
            for (int i = 0; i < 4; i++)
                put_int(w, q[i], 4);
            put_int(w, -1, 1);
        }
        check_file(path, w, 8, 12);
        free(w);
    }
    free(s);
}

#define PLY                                                                                            \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define FACES                                                                                          \
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"

static void broken_files(void **state)
{
    (void)state;
    static const struct {
        const char *extension, *text, *says;
    } cases[] = {
        {".stl", "hello", "neither \"solid\" nor a binary STL header"},
        {".stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
         ":6: a facet has 2 vertices"},
        {".stl", "solid\nfacet\nouter loop\nvertex 0 0 nope\n", ":4: "},
        {".stl", "solid\nfacet\nouter loop\nvertex 0 0 0\n", "ends within a facet"},
        {".stl", "solid\nwhatever\n", ":2: "},
        {".stl", "solid empty\nendsolid\n", "there are no triangles"},
        {".ply", "plx\n", ":1: expected \"ply\""},
        {".ply", "ply\nformat weird 1.0\nend_header\n", "the format is none of"},
        {".ply", "ply\nformat ascii 1.0\nproperty float x\nend_header\n",
         ":3: a property comes before"},
        {".ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty quad x\n", ":4: "},
        {".ply", PLY FACES "3 0 1 7\n", ":13: "},
        {".ply", PLY FACES "2 0 1\n", "a list has 2 entries"},
        {".ply", PLY FACES "3 0 1\n", "expected"},
        {".ply",
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n1 "
         "2\n",
         "vertex 0 has no finite x, y and z"},
        {".ply",
         "ply\nformat binary_little_endian 1.0\nelement vertex 5\nproperty double x\nend_header\nabc",
         "byte"},
        {".xyz", "1 2 3", "unknown extension, expected .stl, .ply, .msh"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[PATH_SIZE];
        pl_context *ctx = test_context(1);
        pl_mesh *mesh = NULL;
        temporary(path, cases[k].extension);
        write_bytes(path, cases[k].text, strlen(cases[k].text));
        assert_true(pl_surface_read(ctx, path, &mesh) != PL_OK);
        assert_null(mesh);
        if (!strstr(pl_context_error(ctx), cases[k].says))
            fail_msg("case %zu: %s", k, pl_context_error(ctx));
        assert_non_null(strstr(pl_context_error(ctx), path));
        remove(path);
        pl_context_destroy(ctx);
    }
}

/* Any prefix of a binary file is an error, never a crash. */
static void cut_files(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    temporary(path, ".ply");
    writer *w = calloc(1, sizeof *w);
    put_text(
        w,
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
        "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n");
    for (int k = 0; k < 9; k++)
        put_float(w, k);
    put_int(w, 3, 1);
    for (int k = 0; k < 3; k++)
        put_int(w, k, 4);
    for (size_t size = 0; size <= w->size; size += 3) {
        pl_context *ctx = test_context(1);
        pl_mesh *mesh = NULL;
        write_bytes(path, w->bytes, size);
        pl_status status = pl_surface_read(ctx, path, &mesh);
        assert_int_equal(status == PL_OK, size == w->size);
        pl_mesh_free(ctx, mesh);
        pl_context_destroy(ctx);
    }
    remove(path);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stl_files),
        cmocka_unit_test(ply_files),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
