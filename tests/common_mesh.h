/*
 * Small writers of every mesh format the library reads, straight from the formats' descriptions, and
 * meshes to try them on.
 */
#ifndef PL_TEST_COMMON_MESH_H
#define PL_TEST_COMMON_MESH_H

#include "common.h"
#include "common_files.h"

#include <zlib.h>

/* ------------------------------------------------------------------------------- meshes */

static inline void test_shake(pl_mesh *mesh, double size)
{
    uint64_t seed = 7;
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] += size * test_random(&seed);
}

/* A shaken box with its surface as triangles and a group of each kind. */
static inline pl_mesh *test_solid(pl_context *ctx)
{
    pl_mesh *box = NULL, *mesh = NULL;
    int count, *surface, index[8];
    assert_ok(ctx, pl_mesh_grid(ctx, (const int[3]){3, 3, 3}, 0.1, PL_CUT_DIAGONAL, &box));
    test_shake(box, 0.01);
    assert_ok(ctx, pl_mesh_surface(ctx, box, &count, &surface));
    assert_ok(ctx, pl_mesh_create(ctx, box->vertex_count, box->vertices, box->tet_count, box->tets,
                                  count, surface, &mesh));
    for (int i = 0; i < 8; i++)
        index[i] = 3 * i + 1;
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "tips", PL_GROUP_VERTEX, 8, index));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "core", PL_GROUP_TET, 5, index));
    assert_ok(ctx, pl_mesh_add_group(ctx, mesh, "skin <&\"'> side", PL_GROUP_TRIANGLE, 6, index));
    pl_free(ctx, surface);
    pl_mesh_free(ctx, box);
    return mesh;
}

static inline pl_mesh *test_cloth(pl_context *ctx)
{
    pl_mesh *mesh = NULL;
    assert_ok(ctx, pl_mesh_rectangle(ctx, 0.4, 0.3, 0.1, &mesh));
    test_shake(mesh, 0.01);
    return mesh;
}

/* ------------------------------------------------------------------------------- bytes */

static inline void put(FILE *file, const void *value, size_t size, bool big)
{
    const unsigned char *bytes = value; /* of a little-endian machine */
    for (size_t i = 0; i < size; i++)
        fputc(bytes[big ? size - 1 - i : i], file);
}

static inline void put_int(FILE *file, int value, bool big)
{
    put(file, &value, sizeof value, big);
}

static inline void put_long(FILE *file, int64_t value, bool big)
{
    put(file, &value, sizeof value, big);
}

static inline void put_double(FILE *file, double value, bool big)
{
    put(file, &value, sizeof value, big);
}

/* ------------------------------------------------------------------------------- Gmsh */

static inline const char *gmsh_name(const pl_group *group)
{
    return strncmp(group->name, "skin", 4) == 0 ? "skin" : group->name;
}

static inline void write_gmsh_names(FILE *file, const pl_mesh *mesh)
{
    static const int dims[] = {0, 3, 2};
    fprintf(file, "$PhysicalNames\n%d\n", mesh->group_count);
    for (int g = 0; g < mesh->group_count; g++)
        fprintf(file, "%d %d \"%s\"\n", dims[mesh->groups[g].kind], g + 1, gmsh_name(&mesh->groups[g]));
    fprintf(file, "$EndPhysicalNames\n");
}

/* The number of the group an element is in, counted from 1; 0 = none. */
static inline int physical_of(const pl_mesh *mesh, pl_group_kind kind, int index)
{
    for (int g = 0; g < mesh->group_count; g++) {
        for (int i = 0; mesh->groups[g].kind == kind && i < mesh->groups[g].count; i++) {
            if (mesh->groups[g].index[i] == index)
                return g + 1;
        }
    }
    return 0;
}

/* Node tags of the files made here: sparse and descending, to be hard. */
static inline int node_tag(const pl_mesh *mesh, int v)
{
    return 10 * (mesh->vertex_count - v);
}

static inline void write_gmsh1(FILE *file, const pl_mesh *mesh, int variant)
{
    (void)variant;
    fprintf(file, "$NOD\n%d\n", mesh->vertex_count);
    for (int v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "%d %.17g %.17g %.17g\n", node_tag(mesh, v), mesh->vertices[3 * v],
                mesh->vertices[3 * v + 1], mesh->vertices[3 * v + 2]);
    fprintf(file, "$ENDNOD\n$ELM\n%d\n", mesh->tet_count + mesh->triangle_count);
    for (int t = 0; t < mesh->tet_count; t++) {
        const int *v = mesh->tets + 4 * t;
        fprintf(file, "%d 4 1 1 4 %d %d %d %d\n", t + 1, node_tag(mesh, v[0]), node_tag(mesh, v[1]),
                node_tag(mesh, v[2]), node_tag(mesh, v[3]));
    }
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int *v = mesh->triangles + 3 * t;
        fprintf(file, "%d 2 1 1 3 %d %d %d\n", mesh->tet_count + t + 1, node_tag(mesh, v[0]),
                node_tag(mesh, v[1]), node_tag(mesh, v[2]));
    }
    fprintf(file, "$ENDELM\n");
}

enum { TEXT, LITTLE, BIG };

/* One element of Gmsh 2: text or the ints of a binary block of one. */
static inline void write_gmsh2_element(FILE *file, const pl_mesh *mesh, int variant, int number,
                                       int type, int physical, int width, const int *v)
{
    if (variant == TEXT)
        fprintf(file, "%d %d 2 %d 1", number, type, physical);
    const int head[6] = {type, 1, 2, number, physical, 1};
    for (int i = 0; variant != TEXT && i < 6; i++)
        put_int(file, head[i], variant == BIG);
    for (int i = 0; i < width; i++) {
        if (variant == TEXT)
            fprintf(file, " %d", node_tag(mesh, v[i]));
        else
            put_int(file, node_tag(mesh, v[i]), variant == BIG);
    }
    if (variant == TEXT)
        fprintf(file, "\n");
}

static inline void write_gmsh2(FILE *file, const pl_mesh *mesh, int variant)
{
    const pl_group *tips = pl_mesh_find_group(mesh, "tips", PL_GROUP_VERTEX);
    int points = tips ? tips->count : 0, number = 0;
    fprintf(file, "$MeshFormat\n2.2 %d 8\n", variant != TEXT);
    if (variant != TEXT)
        put_int(file, 1, variant == BIG);
    fprintf(file, "%s$EndMeshFormat\n", variant == TEXT ? "" : "\n");
    write_gmsh_names(file, mesh);
    fprintf(file, "$Nodes\n%d\n", mesh->vertex_count);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        if (variant == TEXT)
            fprintf(file, "%d %.17g %.17g %.17g\n", node_tag(mesh, v), x[0], x[1], x[2]);
        else
            put_int(file, node_tag(mesh, v), variant == BIG);
        for (int d = 0; variant != TEXT && d < 3; d++)
            put_double(file, x[d], variant == BIG);
    }
    fprintf(file, "%s$EndNodes\n$Elements\n%d\n", variant == TEXT ? "" : "\n",
            mesh->tet_count + mesh->triangle_count + points);
    for (int i = 0; i < points; i++)
        write_gmsh2_element(file, mesh, variant, ++number, 15,
                            physical_of(mesh, PL_GROUP_VERTEX, tips->index[i]), 1, &tips->index[i]);
    for (int t = 0; t < mesh->tet_count; t++)
        write_gmsh2_element(file, mesh, variant, ++number, 4, physical_of(mesh, PL_GROUP_TET, t), 4,
                            mesh->tets + 4 * t);
    for (int t = 0; t < mesh->triangle_count; t++)
        write_gmsh2_element(file, mesh, variant, ++number, 2, physical_of(mesh, PL_GROUP_TRIANGLE, t),
                            3, mesh->triangles + 3 * t);
    fprintf(file, "%s$EndElements\n", variant == TEXT ? "" : "\n");
}

/* Gmsh 4.1, binary; every element in a block of its own, entity g + 1 having the physical group g. */
static inline void write_gmsh4_elements(FILE *file, const pl_mesh *mesh, bool big)
{
    const pl_group *tips = pl_mesh_find_group(mesh, "tips", PL_GROUP_VERTEX);
    int points = tips ? tips->count : 0, all = points + mesh->tet_count + mesh->triangle_count;
    const int64_t totals[4] = {all, all, 1, all};
    for (int i = 0; i < 4; i++)
        put_long(file, totals[i], big);
    for (int e = 0; e < all; e++) {
        int tet = e - points, triangle = tet - mesh->tet_count;
        bool is_point = tet < 0, is_tet = !is_point && triangle < 0;
        const int *v = is_point ? &tips->index[e]
                       : is_tet ? mesh->tets + 4 * tet
                                : mesh->triangles + 3 * triangle;
        int physical = is_point ? physical_of(mesh, PL_GROUP_VERTEX, v[0])
                       : is_tet ? physical_of(mesh, PL_GROUP_TET, tet)
                                : physical_of(mesh, PL_GROUP_TRIANGLE, triangle);
        put_int(file, is_point ? 0 : is_tet ? 3 : 2, big);
        put_int(file, physical + 1, big);
        put_int(file, is_point ? 15 : is_tet ? 4 : 2, big);
        put_long(file, 1, big);
        put_long(file, e + 1, big);
        for (int i = 0; i < (is_point ? 1 : is_tet ? 4 : 3); i++)
            put_long(file, node_tag(mesh, v[i]), big);
    }
}

static inline void write_gmsh4(FILE *file, const pl_mesh *mesh, int variant)
{
    bool big = variant == BIG;
    fprintf(file, "$MeshFormat\n4.1 1 8\n");
    put_int(file, 1, big);
    fprintf(file, "\n$EndMeshFormat\n");
    write_gmsh_names(file, mesh);
    fprintf(file, "$Entities\n");
    int entities = mesh->group_count + 1; /* of every dimension: tag 1 has no group */
    const int64_t counts[4] = {entities, 0, entities, entities};
    for (int i = 0; i < 4; i++)
        put_long(file, counts[i], big);
    for (int dim = 0; dim < 4; dim++) {
        for (int e = 0; e < counts[dim]; e++) {
            put_int(file, e + 1, big);
            for (int i = 0; i < (dim == 0 ? 3 : 6); i++)
                put_double(file, 0.5, big);
            put_long(file, e > 0, big);
            if (e > 0)
                put_int(file, dim == 3 ? -e : e, big); /* Gmsh marks reversed entities by the sign */
            if (dim > 0)
                put_long(file, 0, big);
        }
    }
    fprintf(file, "\n$EndEntities\n$Comments\nany $text here\n$EndComments\n$Nodes\n");
    const int64_t totals[4] = {1, mesh->vertex_count, 10, 10 * mesh->vertex_count};
    for (int i = 0; i < 4; i++)
        put_long(file, totals[i], big);
    put_int(file, 2, big), put_int(file, 1, big), put_int(file, 1, big); /* with 2 parameters a node */
    put_long(file, mesh->vertex_count, big);
    for (int v = 0; v < mesh->vertex_count; v++)
        put_long(file, node_tag(mesh, v), big);
    for (int v = 0; v < mesh->vertex_count; v++) {
        for (int d = 0; d < 5; d++)
            put_double(file, d < 3 ? mesh->vertices[3 * v + d] : 0.25, big);
    }
    fprintf(file, "\n$EndNodes\n$Elements\n");
    write_gmsh4_elements(file, mesh, big);
    fprintf(file, "\n$EndElements\n");
}

/* ------------------------------------------------------------------------------- MEDIT, TetGen, OBJ */

static inline void write_medit(FILE *file, const pl_mesh *mesh, int variant)
{
    (void)variant;
    fprintf(file, "MeshVersionFormatted 2 # a comment\n\nDimension\n3\nVertices\n%d\n",
            mesh->vertex_count);
    for (int v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "%.17g %.17g %.17g 7\n", mesh->vertices[3 * v], mesh->vertices[3 * v + 1],
                mesh->vertices[3 * v + 2]);
    fprintf(file, "Corners\n2\n1\n2\nTriangles %d\n", mesh->triangle_count);
    for (int t = 0; t < mesh->triangle_count; t++)
        fprintf(file, "%d %d %d 1\n", mesh->triangles[3 * t] + 1, mesh->triangles[3 * t + 1] + 1,
                mesh->triangles[3 * t + 2] + 1);
    fprintf(file, "Tetrahedra\n%d\n", mesh->tet_count);
    for (int t = 0; t < mesh->tet_count; t++)
        fprintf(file, "%d %d %d %d 1\n", mesh->tets[4 * t] + 1, mesh->tets[4 * t + 1] + 1,
                mesh->tets[4 * t + 2] + 1, mesh->tets[4 * t + 3] + 1);
    fprintf(file, "End\n");
}

/* The .node file, or the .ele file; numbers from base. */
static inline void write_node(FILE *file, const pl_mesh *mesh, int base)
{
    fprintf(file, "# vertices\n%d 3 1 1\n", mesh->vertex_count);
    for (int v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "  %d %.17g %.17g %.17g 0.5 1\n", v + base, mesh->vertices[3 * v],
                mesh->vertices[3 * v + 1], mesh->vertices[3 * v + 2]);
}

static inline void write_ele(FILE *file, const pl_mesh *mesh, int base)
{
    fprintf(file, "%d 4 1\n", mesh->tet_count);
    for (int t = 0; t < mesh->tet_count; t++)
        fprintf(file, "%d %d %d %d %d 2.5\n", t + base, mesh->tets[4 * t] + base,
                mesh->tets[4 * t + 1] + base, mesh->tets[4 * t + 2] + base,
                mesh->tets[4 * t + 3] + base);
    fprintf(file, "# the end\n");
}

/* Corners as i, i/t, i//n, i/t/n or negative i, by variant. */
static inline void write_obj(FILE *file, const pl_mesh *mesh, int variant)
{
    static const char *const forms[] = {" %d", " %d/1", " %d//1", " %d/1/1"};
    fprintf(file, "# a comment\no sheet\nvt 0 0\nvn 0 0 1\n");
    for (int v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "v %.17g %.17g %.17g\r\n", mesh->vertices[3 * v], mesh->vertices[3 * v + 1],
                mesh->vertices[3 * v + 2]);
    for (int t = 0; t < mesh->triangle_count; t++) {
        fprintf(file, "f");
        for (int i = 0; i < 3; i++) {
            int v = mesh->triangles[3 * t + i];
            fprintf(file, variant < 4 ? forms[variant] : " %d",
                    variant < 4 ? v + 1 : v - mesh->vertex_count);
        }
        fprintf(file, t % 2 == 0 ? "\n" : " \\\n  # a comment\n");
    }
}

/* ------------------------------------------------------------------------------- legacy VTK */

enum { VTK_NEW = 4 }; /* added to TEXT and BIG: offsets and connectivity */

static inline void put_number(FILE *file, int64_t value, int size, bool text)
{
    if (text)
        fprintf(file, "%lld ", (long long)value);
    else
        put(file, &value, (size_t)size, true);
}

static inline void write_vtk(FILE *file, const pl_mesh *mesh, int variant)
{
    bool text = (variant & 3) == TEXT, offsets = variant >= VTK_NEW;
    int cells = mesh->tet_count + mesh->triangle_count;
    int points = 4 * mesh->tet_count + 3 * mesh->triangle_count;
    fprintf(file, "# vtk DataFile Version %s\na title\n%s\nDATASET UNSTRUCTURED_GRID\n",
            offsets ? "5.1" : "2.0", text ? "ASCII" : "BINARY");
    fprintf(file, "FIELD FieldData 1\nTIME 1 1 double\n");
    if (text)
        fprintf(file, "0.5\n");
    else
        put_double(file, 0.5, true), fputc('\n', file);
    fprintf(file, "POINTS %d double\n", mesh->vertex_count);
    for (int i = 0; i < 3 * mesh->vertex_count; i++) {
        if (text)
            fprintf(file, "%.17g\n", mesh->vertices[i]);
        else
            put_double(file, mesh->vertices[i], true);
    }
    fprintf(file, "\nMETADATA\nINFORMATION 0\n\nCELLS %d %d\n", cells + offsets,
            points + (offsets ? 0 : cells));
    if (offsets) {
        fprintf(file, "OFFSETS vtktypeint64\n");
        for (int c = 0; c <= cells; c++)
            put_number(file, c <= mesh->tet_count ? 4 * c : 3 * c + mesh->tet_count, 8, text);
        fprintf(file, "\nCONNECTIVITY vtktypeint64\n");
    }
    for (int c = 0; c < cells; c++) {
        bool tet = c < mesh->tet_count;
        const int *v = tet ? mesh->tets + 4 * c : mesh->triangles + 3 * (c - mesh->tet_count);
        if (!offsets)
            put_number(file, tet ? 4 : 3, 4, text);
        for (int i = 0; i < (tet ? 4 : 3); i++)
            put_number(file, v[i], offsets ? 8 : 4, text);
    }
    fprintf(file, "\nCELL_TYPES %d\n", cells);
    for (int c = 0; c < cells; c++)
        put_number(file, c < mesh->tet_count ? 10 : 5, 4, text);
    fprintf(file, "\nCELL_DATA %d\nSCALARS what int\n", cells);
}

/* A sheet as polygon data. */
static inline void write_vtk_polydata(FILE *file, const pl_mesh *mesh, int variant)
{
    (void)variant;
    fprintf(file, "# vtk DataFile Version 3.0\na title\nASCII\nDATASET POLYDATA\nPOINTS %d double\n",
            mesh->vertex_count);
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        fprintf(file, "%.17g ", mesh->vertices[i]);
    fprintf(file, "\nLINES 1 3\n2 0 1\nPOLYGONS %d %d\n", mesh->triangle_count,
            4 * mesh->triangle_count);
    for (int t = 0; t < mesh->triangle_count; t++)
        fprintf(file, "3 %d %d %d\n", mesh->triangles[3 * t], mesh->triangles[3 * t + 1],
                mesh->triangles[3 * t + 2]);
}

/* ------------------------------------------------------------------------------- VTU */

enum {
    VTU_INLINE = 0,
    VTU_RAW = 1,
    VTU_BASE64 = 2,
    VTU_ZLIB = 4,
    VTU_BIG = 8,
    VTU_WIDE = 16,
    VTU_SPLIT = 32
};

typedef struct byte_list {
    unsigned char data[1 << 16];
    size_t count;
} byte_list;

static inline void add_bytes(byte_list *b, const void *value, size_t size, bool big)
{
    const unsigned char *from = value;
    assert_true(b->count + size <= sizeof b->data);
    for (size_t i = 0; i < size; i++)
        b->data[b->count++] = from[big ? size - 1 - i : i];
}

static inline void add_base64(byte_list *out, const byte_list *in)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in->count; i += 3) {
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < in->count ? in->data[i + k] : 0);
        for (size_t k = 0; k < 4; k++) {
            char c = i + k <= in->count ? digits[group >> (18 - 6 * k) & 63] : '=';
            add_bytes(out, &c, 1, false);
        }
    }
}

/* Header and data of one array as the file will have them. */
static inline void encode(const byte_list *data, int variant, byte_list *out)
{
    static byte_list head, body, both;
    bool big = variant & VTU_BIG, zlib = variant & VTU_ZLIB, raw = variant & VTU_RAW;
    size_t number = variant & VTU_WIDE ? 8 : 4;
    enum { BLOCK = 1000 };
    head.count = body.count = both.count = out->count = 0;
    uint64_t blocks = (data->count + BLOCK - 1) / BLOCK;
    uint64_t start[3] = {zlib ? blocks : data->count, BLOCK, data->count % BLOCK};
    for (int i = 0; i < (zlib ? 3 : 1); i++)
        add_bytes(&head, &start[i], number, big);
    for (uint64_t b = 0; zlib && b < blocks; b++) {
        unsigned char packed[2 * BLOCK];
        uLongf size = sizeof packed;
        size_t left = data->count - b * BLOCK;
        assert_int_equal(compress(packed, &size, data->data + b * BLOCK, left < BLOCK ? left : BLOCK),
                         Z_OK);
        uint64_t wide = size;
        add_bytes(&head, &wide, number, big);
        add_bytes(&body, packed, size, false);
    }
    if (!zlib)
        add_bytes(&body, data->data, data->count, false);
    add_bytes(&both, head.data, head.count, false);
    add_bytes(&both, body.data, body.count, false);
    if (raw)
        add_bytes(out, both.data, both.count, false);
    else if (zlib || variant & VTU_SPLIT)
        add_base64(out, &head), add_base64(out, &body);
    else
        add_base64(out, &both);
}

typedef struct vtu_maker {
    FILE *file;
    int variant;
    byte_list *appended;
} vtu_maker;

static inline void write_array(vtu_maker *m, const char *type, const char *name, const byte_list *data)
{
    static byte_list encoded;
    bool append = m->variant & (VTU_RAW | VTU_BASE64);
    encode(data, m->variant, &encoded);
    fprintf(m->file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"3\" format=\"%s\"", type,
            name, append ? "appended" : "binary");
    if (append) {
        fprintf(m->file, " offset='%zu'/>\n", m->appended->count);
        add_bytes(m->appended, encoded.data, encoded.count, false);
        return;
    }
    fprintf(m->file, ">\n  ");
    fwrite(encoded.data, 1, encoded.count, m->file);
    fprintf(m->file, "\n<InformationKey name=\"range\">0 1</InformationKey>\n</DataArray>\n");
}

static inline void write_vtu_arrays(vtu_maker *m, const pl_mesh *mesh)
{
    static byte_list data;
    bool big = m->variant & VTU_BIG;
    data.count = 0;
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        add_bytes(&data, &mesh->vertices[i], 8, big);
    fprintf(m->file, "<Points>\n");
    write_array(m, "Float64", "points", &data);
    fprintf(m->file, "</Points>\n<Cells>\n");
    data.count = 0;
    for (int i = 0; i < 4 * mesh->tet_count; i++)
        add_bytes(&data, &mesh->tets[i], 4, big);
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        add_bytes(&data, &mesh->triangles[i], 4, big);
    write_array(m, "Int32", "connectivity", &data);
    data.count = 0;
    for (int64_t c = 1; c <= mesh->tet_count + mesh->triangle_count; c++) {
        int64_t end = c <= mesh->tet_count ? 4 * c : 3 * c + mesh->tet_count;
        add_bytes(&data, &end, 8, big);
    }
    write_array(m, "Int64", "offsets", &data);
    data.count = 0;
    for (int c = 0; c < mesh->tet_count + mesh->triangle_count; c++)
        add_bytes(&data, c < mesh->tet_count ? "\x0a" : "\x05", 1, big);
    write_array(m, "UInt8", "types", &data);
    fprintf(m->file, "</Cells>\n");
}

static inline void write_vtu(FILE *file, const pl_mesh *mesh, int variant)
{
    static byte_list appended;
    vtu_maker m = {file, variant, &appended};
    appended.count = 0;
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<!-- a > comment -->\n<VTKFile type=\"UnstructuredGrid\" "
            "version=\"1.0\" byte_order=\"%s\" header_type=\"%s\"%s>\n",
            variant & VTU_BIG ? "BigEndian" : "LittleEndian", variant & VTU_WIDE ? "UInt64" : "UInt32",
            variant & VTU_ZLIB ? " compressor=\"vtkZLibDataCompressor\"" : "");
    fprintf(file, "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n",
            mesh->vertex_count, mesh->tet_count + mesh->triangle_count);
    write_vtu_arrays(&m, mesh);
    fprintf(file, "</Piece>\n</UnstructuredGrid>\n");
    if (variant & (VTU_RAW | VTU_BASE64)) {
        fprintf(file, "<AppendedData encoding=\"%s\">\n  _", variant & VTU_RAW ? "raw" : "base64");
        fwrite(appended.data, 1, appended.count, file);
        fprintf(file, "\n</AppendedData>\n");
    }
    fprintf(file, "</VTKFile>\n");
}

/* ------------------------------------------------------------------------------- all formats */

typedef struct test_format {
    const char *name, *extension;
    void (*write)(FILE *file, const pl_mesh *mesh, int variant);
    int variant;
    bool cloth, triangles, groups; /* what it can hold */
} test_format;

static const test_format test_formats[] = {
    {"Gmsh 1", "msh", write_gmsh1, 0, false, true, false},
    {"Gmsh 2.2 text", "msh", write_gmsh2, TEXT, false, true, true},
    {"Gmsh 2.2 little-endian", "msh", write_gmsh2, LITTLE, false, true, true},
    {"Gmsh 2.2 big-endian", "msh", write_gmsh2, BIG, false, true, true},
    {"Gmsh 4.1 little-endian", "msh", write_gmsh4, LITTLE, false, true, true},
    {"Gmsh 4.1 big-endian", "MSH", write_gmsh4, BIG, false, true, true},
    {"MEDIT", "mesh", write_medit, 0, false, true, false},
    {"TetGen from 0", "ele", write_ele, 0, false, false, false},
    {"TetGen from 1", "ele", write_ele, 1, false, false, false},
    {"VTK text", "vtk", write_vtk, TEXT, false, true, false},
    {"VTK binary", "vtk", write_vtk, BIG, false, true, false},
    {"VTK 5 text", "vtk", write_vtk, VTK_NEW + TEXT, false, true, false},
    {"VTK 5 binary", "vtk", write_vtk, VTK_NEW + BIG, false, true, false},
    {"VTK polygons", "vtk", write_vtk_polydata, 0, true, true, false},
    {"VTU inline", "vtu", write_vtu, VTU_INLINE, false, true, false},
    {"VTU inline, header apart", "vtu", write_vtu, VTU_INLINE + VTU_SPLIT, false, true, false},
    {"VTU inline, wide, big-endian", "vtk", write_vtu, VTU_INLINE + VTU_WIDE + VTU_BIG, false, true,
     false},
    {"VTU inline zlib", "vtu", write_vtu, VTU_INLINE + VTU_ZLIB, false, true, false},
    {"VTU raw", "vtu", write_vtu, VTU_RAW, false, true, false},
    {"VTU raw zlib, wide", "vtu", write_vtu, VTU_RAW + VTU_ZLIB + VTU_WIDE, false, true, false},
    {"VTU appended base64", "vtu", write_vtu, VTU_BASE64 + VTU_WIDE, false, true, false},
    {"VTU appended base64 zlib", "vtu", write_vtu, VTU_BASE64 + VTU_ZLIB, false, true, false},
    {"OBJ i", "obj", write_obj, 0, true, true, false},
    {"OBJ i/t", "obj", write_obj, 1, true, true, false},
    {"OBJ i//n", "obj", write_obj, 2, true, true, false},
    {"OBJ i/t/n", "obj", write_obj, 3, true, true, false},
    {"OBJ negative", "obj", write_obj, 4, true, true, false},
};

enum { TEST_FORMATS = sizeof test_formats / sizeof *test_formats };

/* Writes the mesh into the folder as "mesh.<extension>" and returns the path, valid until the next call
 * of test_file. */
static inline const char *test_format_write(const test_format *format, const test_folder *folder,
                                            const pl_mesh *mesh)
{
    char name[32];
    if (format->write == write_ele) {
        FILE *node = fopen(test_file(folder, "mesh.node"), "wb");
        assert_non_null(node);
        write_node(node, mesh, format->variant);
        fclose(node);
    }
    snprintf(name, sizeof name, "mesh.%s", format->extension);
    const char *path = test_file(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    format->write(file, mesh, format->variant);
    assert_int_equal(fclose(file), 0);
    return path;
}

#endif
