/* Every kind of bad mesh file fails with a message that says where and what was expected. */
#include "common_mesh.h"

#include <sys/stat.h>

typedef struct bad_file {
    const char *name;
    const char *text;
    pl_status status;
    const char *message; /* part of it, after the path */
} bad_file;

#define G2       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define G2_NODES G2 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define G4       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define G4_NODES G4 "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
#define MEDIT    "MeshVersionFormatted 1\nDimension 3\n"
#define MEDIT_V  MEDIT "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
#define VTK      "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_P    VTK "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define VTU      "<VTKFile type=\"UnstructuredGrid\">\n<UnstructuredGrid>\n"
#define VTU_P                                                                                          \
    VTU "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n<Points>\n<DataArray type=\"Float64\" "     \
        "format=\"ascii\">\n0 0 0 1 0 0 0 1 0 0 0 1\n</DataArray>\n</Points>\n<Cells>\n"
#define VTU_ARRAY(type, name, text)                                                                    \
    "<DataArray type=\"" type "\" Name=\"" name "\" format=\"ascii\">\n" text "\n</DataArray>\n"
#define VTU_END "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
#define OBJ     "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"

static const bad_file bad_files[] = {
    {"a.msh", "", PL_ERROR_PARSE, ": is empty"},
    {"a.obj", "", PL_ERROR_PARSE, ": is empty"},
    {"a.xyz", "1 2 3", PL_ERROR_ARGUMENT, ": unknown extension, expected .msh, .mesh"},
    {"mesh", "1 2 3", PL_ERROR_ARGUMENT, ": unknown extension"},

    {"a.msh", "hello\n", PL_ERROR_PARSE, ":1: expected a $Section, found \"hello\""},
    {"a.msh", "$MeshFormat\n3.7 0 8\n", PL_ERROR_PARSE,
     ":2: version 3.7 cannot be read, expected 1, 2.2 or 4.1"},
    {"a.msh", "$MeshFormat\n1e300 0 8\n$EndMeshFormat\n", PL_ERROR_PARSE, ":2: version 1e+300 cannot"},
    {"a.msh", "$MeshFormat\n2.2 7 8\n", PL_ERROR_PARSE, ":2: the file type"},
    {"a.msh", "$MeshFormat\n2.2 1 4\n", PL_ERROR_PARSE, ":2: data size is 4, expected 8"},
    {"a.msh", "$MeshFormat\n2.2 1 8\nabcdefgh", PL_ERROR_PARSE, ":3: expected the binary number 1"},
    {"a.msh", "$MeshFormat\n2.2 0 8\n", PL_ERROR_PARSE,
     ":3: expected $EndMeshFormat, found the end of the file"},
    {"a.msh", G2, PL_ERROR_PARSE, ":4: expected a section $Nodes, found the end"},
    {"a.msh", G2 "$Nodes\n2\n1 0.25 0.25 0.25\n2 0.5\n", PL_ERROR_PARSE,
     ":8: expected a node's coordinate, found the end of the file"},
    {"a.msh", G2 "$Nodes\n1\n1 0 zero 0\n$EndNodes\n", PL_ERROR_PARSE,
     ":6: expected a node's coordinate, found \"zero\""},
    {"a.msh", G2 "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", PL_ERROR_PARSE,
     ":6: expected a finite number, found \"nan\""},
    {"a.msh", G2 "$Nodes\n1\n1 0 1e999 0\n$EndNodes\n", PL_ERROR_PARSE,
     ":6: expected a finite number, found \"1e999\""},
    {"a.msh", G2 "$Nodes\n1000000000000\n1 0 0 0\n", PL_ERROR_PARSE,
     ":5: the number of nodes is 1000000000000"},
    {"a.msh", G2 "$Nodes\n100000\n1 0 0 0\n", PL_ERROR_PARSE,
     ":5: the number of nodes is 100000, but the 9 bytes left cannot hold so many"},
    {"a.msh", G2 "$Nodes\n-4\n1 0 0 0\n", PL_ERROR_PARSE, ":5: the number of nodes is -4"},
    {"a.msh", G2 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", PL_ERROR_PARSE, ": node 1 comes twice"},
    {"a.msh", G2 "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n", PL_ERROR_PARSE,
     ":7: expected $EndNodes, found \"2\""},
    {"a.msh", G2_NODES "$Nodes\n1\n", PL_ERROR_PARSE, ": a second section of nodes"},
    {"a.msh", G2 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":4: elements come before the nodes"},
    {"a.msh", G2_NODES "$Elements\n1\n1 4 2 0 1 1 2 3 5\n$EndElements\n", PL_ERROR_PARSE,
     ":13: node 5 of an element is not among the 4 nodes"},
    {"a.msh", G2_NODES "$Elements\n2\n1 4 2 0 1 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":14: expected an element's number, found \"$EndElements\""},
    {"a.msh", G2_NODES "$Elements\n1\n1 11 2 0 1 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":13: element type 11 (10-node tetrahedron) cannot be used"},
    {"a.msh", G2_NODES "$Elements\n1\n1 99 2 0 1 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":13: element type 99 (unknown) cannot be used"},
    {"a.msh", G2_NODES "$Elements\n1\n1 4 -1 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":13: the number of tags is -1"},
    {"a.msh", G2_NODES "$Elements\n1\n1 15 2 0 1 1\n$EndElements\n", PL_ERROR_MESH,
     ": has no tets and no triangles"},
    {"a.msh", G2_NODES "$Other\n1 2 3\n", PL_ERROR_PARSE, ":11: expected $EndOther after this line"},
    {"a.msh", G2 "$PhysicalNames\n1\n2 1 name\n", PL_ERROR_PARSE,
     ":6: expected a name in quotation marks"},
    {"a.msh", G2 "$PhysicalNames\n1\n2 1 \"name\n", PL_ERROR_PARSE,
     ":6: expected the quotation mark that ends a name"},
    {"a.msh", G2 "$PhysicalNames\n1\n5 1 \"name\"\n", PL_ERROR_PARSE,
     ":6: the dimension of a physical name is 5, expected 0 to 3"},
    {"a.msh", G4 "$Nodes\n1 4 1 4\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
     PL_ERROR_PARSE, ":6: a block has 5 items, expected at most the 4 that are left"},
    {"a.msh", G4 "$Nodes\n1 4 1 4\n3 1 0 1\n1\n0.25 0.25 0.25\n$EndNodes\n", PL_ERROR_PARSE,
     ":8: the blocks have 3 nodes fewer"},
    {"a.msh", G4 "$Nodes\n1 4 1 4\n7 1 0 1\n1\n0.25 0.25 0.25\n$EndNodes\n", PL_ERROR_PARSE,
     ":6: the dimension of a block is 7"},
    {"a.msh", G4 "$Nodes\n1 999999999999 1 4\n", PL_ERROR_PARSE,
     ":5: the number of nodes is 999999999999"},
    {"a.msh", G4_NODES "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 9\n$EndElements\n", PL_ERROR_PARSE,
     ":19: node 9 of an element is not among the 4 nodes"},
    {"a.msh", G4_NODES "$Elements\n1 1 1 1\n3 1 5 1\n1 1 2 3 4\n$EndElements\n", PL_ERROR_PARSE,
     ":19: element type 5 (hexahedron)"},
    {"a.msh", G4 "$Elements\n1 1 1 1\n", PL_ERROR_PARSE, ":4: elements come before the nodes"},

    {"a.mesh", "Vertices\n", PL_ERROR_PARSE, ":1: expected MeshVersionFormatted, found \"Vertices\""},
    {"a.mesh", "MeshVersionFormatted 1\nDimension 5\n", PL_ERROR_PARSE,
     ":2: the dimension is 5, expected 2 to 3"},
    {"a.mesh", MEDIT "Vertices\n3\n0 0.5 0.5 0\n1 0 0 0\n", PL_ERROR_PARSE,
     ":7: expected a vertex coordinate, found the end"},
    {"a.mesh", MEDIT_V "Tetrahedra\n1\n1 2 3 5 0\n", PL_ERROR_PARSE,
     ":11: a vertex of an element is 5, expected 1 to 4"},
    {"a.mesh", MEDIT_V "Tetrahedra\n1\n0 2 3 4 0\n", PL_ERROR_PARSE,
     ":11: a vertex of an element is 0, expected 1 to 4"},
    {"a.mesh", MEDIT "Tetrahedra\n1\n1 2 3 4 0\n", PL_ERROR_PARSE,
     ":5: a vertex of an element is 1, but there are none"},
    {"a.mesh", MEDIT_V "Tetrahedra\n1\n1 2.5 3 4 0\n", PL_ERROR_PARSE,
     ":11: expected a vertex of an element, found \"2.5\""},
    {"a.mesh", MEDIT_V "Hexahedra\n1\n1 2 3 4 1 2 3 4 0\n", PL_ERROR_PARSE,
     ":10: Hexahedra cannot be used"},
    {"a.mesh", MEDIT_V "12 34\n", PL_ERROR_PARSE, ":9: expected a keyword, found \"12\""},
    {"a.mesh", MEDIT_V "Tetrahedra\n1\n1 1 2 3 0\nEnd\n", PL_ERROR_MESH,
     ": elements with the same vertex twice: 1, the first is tet 0"},
    {"a.mesh", MEDIT_V "Tetrahedra\n2\n1 2 3 4 0\n4 3 2 1 0\nEnd\n", PL_ERROR_MESH,
     ": elements with the same vertices as an earlier one: 1, the first is tet 1"},
    {"a.mesh",
     MEDIT
     "Vertices 5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 0 0\nTetrahedra 2\n1 2 3 4 0\n1 2 3 5 0\n",
     PL_ERROR_MESH, ": tets of zero volume: 1, the first is tet 1"},
    {"a.mesh", MEDIT_V "Tetrahedra\n1\n1 2 3 4 0\nTriangles 1\n1 2 2 0\n", PL_ERROR_MESH,
     ": elements with the same vertex twice: 1, the first is triangle 0"},

    {"a.vtk", "# vtk\n", PL_ERROR_PARSE, ":1: expected \"# vtk DataFile Version\""},
    {"a.vtk", "# vtk DataFile Version 2.0\ntitle\nTEXT\n", PL_ERROR_PARSE,
     ":3: expected ASCII or BINARY, found \"TEXT\""},
    {"a.vtk", "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET RECTILINEAR_GRID\n", PL_ERROR_PARSE,
     ":4: expected UNSTRUCTURED_GRID or POLYDATA, found \"RECTILINEAR_GRID\""},
    {"a.vtk", VTK "POINTS 4 quaternion\n", PL_ERROR_PARSE,
     ":5: expected a data type such as int or double, found \"quaternion\""},
    {"a.vtk", VTK "POINTS 999999 double\n0 0 0\n", PL_ERROR_PARSE,
     ":5: the number of points is 999999, but"},
    {"a.vtk", VTK "POINTS 1 double\n0 0 inf\n", PL_ERROR_PARSE,
     ":6: expected a finite number, found \"inf\""},
    {"a.vtk", VTK_P "CELLS 1 5\n4 0 1 2 3\n", PL_ERROR_PARSE, ": expected CELL_TYPES, found the end"},
    {"a.vtk", VTK_P "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n", PL_ERROR_PARSE,
     ":7: cell 0 has point 4, expected 0 to 3"},
    {"a.vtk", VTK_P "CELLS 1 5\n4 0 1 2 -1\nCELL_TYPES 1\n10\n", PL_ERROR_PARSE,
     ":7: cell 0 has point -1, expected 0 to 3"},
    {"a.vtk", VTK_P "CELLS 1 5\n3 0 1 2 3\nCELL_TYPES 1\n10\n", PL_ERROR_PARSE,
     ":7: the cells use 4 of their 5 numbers"},
    {"a.vtk", VTK_P "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", PL_ERROR_PARSE,
     ":7: cell 0 of type 10 has 3 points, expected 4"},
    {"a.vtk", VTK_P "CELLS 1 4\n7 0 1 2\nCELL_TYPES 1\n10\n", PL_ERROR_PARSE,
     ":7: cell 0 does not fit in the 4 numbers"},
    {"a.vtk", VTK_P "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", PL_ERROR_PARSE,
     ":9: 2 cell types, expected one list of 1"},
    {"a.vtk", VTK_P "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n", PL_ERROR_PARSE,
     ":7: cell 0 has type 24, which cannot be used"},
    {"a.vtk", VTK_P "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCELL_TYPES 1\n", PL_ERROR_PARSE,
     ":10: expected CONNECTIVITY, found \"CELL_TYPES\""},
    {"a.vtk",
     VTK_P
     "CELLS 2 4\nOFFSETS vtktypeint64\n0 9\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n",
     PL_ERROR_PARSE, ":7: cell 0 ends at offset 9, expected 0 to 4"},
    {"a.vtk", VTK_P "STRANGE 1\n", PL_ERROR_PARSE,
     ":7: expected POINTS, CELLS, CELL_TYPES or POLYGONS, found \"STRANGE\""},

    {"a.vtu", "hello", PL_ERROR_PARSE, ":1: expected <VTKFile, found \"hello\""},
    {"a.vtu", "<VTKFile type=\"PolyData\">\n", PL_ERROR_PARSE,
     ":1: expected a VTKFile of type UnstructuredGrid"},
    {"a.vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\">\n",
     PL_ERROR_PARSE, ":1: compressor \"vtkLZ4DataCompressor\" cannot be read"},
    {"a.vtu", "<VTKFile type=\"UnstructuredGrid\"", PL_ERROR_PARSE, ":1: expected the > of this tag"},
    {"a.vtu", VTU "<!-- never ends", PL_ERROR_PARSE, ":3: expected the end of this comment"},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"4\">\n", PL_ERROR_PARSE,
     ":3: expected a Piece with NumberOfCells"},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"many\" NumberOfCells=\"1\">\n", PL_ERROR_PARSE,
     ":3: expected NumberOfPoints, found \"many\""},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n</Piece>", PL_ERROR_PARSE,
     ":4: expected a DataArray of Points"},
    {"a.vtu", VTU "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n<Points>\n", PL_ERROR_PARSE,
     ":4: expected </Piece>, found the end of the file"},
    {"a.vtu", VTU_P "<DataArray type=\"Int32\" Name=\"types\" format=\"ascii\">\n10\n", PL_ERROR_PARSE,
     ":10: expected </DataArray> after this tag"},
    {"a.vtu", VTU_P "<DataArray type=\"Text\" format=\"ascii\">\n", PL_ERROR_PARSE,
     ":10: expected a DataArray with a type"},
    {"a.vtu", VTU_P "<DataArray type=\"Int32\" format=\"hex\">\n", PL_ERROR_PARSE,
     ":10: format \"hex\" cannot be read"},
    {"a.vtu", VTU_P "<DataArray type=\"Int32\" format=\"appended\" offset=\"0\"/>\n", PL_ERROR_PARSE,
     ":10: expected a section AppendedData"},
    {"a.vtu", VTU_P VTU_ARRAY("Int32", "types", "10") VTU_ARRAY("Int32", "offsets", "4") VTU_END,
     PL_ERROR_PARSE, ":17: expected a DataArray of connectivity"},
    {"a.vtu",
     VTU_P VTU_ARRAY("Int32", "types", "10") VTU_ARRAY("Int32", "offsets", "4")
         VTU_ARRAY("Int32", "connectivity", "0 1 2 7") VTU_END,
     PL_ERROR_PARSE, ":16: cell 0 has point 7, expected 0 to 3"},
    {"a.vtu",
     VTU_P VTU_ARRAY("Int32", "types", "10") VTU_ARRAY("Int32", "offsets", "4")
         VTU_ARRAY("Int32", "connectivity", "0 1 2") VTU_END,
     PL_ERROR_PARSE, ":18: expected a point of a cell, found the end"},
    {"a.vtu",
     VTU_P VTU_ARRAY("Int32", "types", "10") VTU_ARRAY("Int32", "offsets", "4")
         VTU_ARRAY("Int32", "connectivity", "0 1 2 3 3") VTU_END,
     PL_ERROR_PARSE, ":16: a point of a cell has more numbers than the expected 4"},
    {"a.vtu",
     VTU_P VTU_ARRAY("Int32", "types", "10") VTU_ARRAY("Int32", "offsets", "2000000")
         VTU_ARRAY("Int32", "connectivity", "0 1 2 3") VTU_END,
     PL_ERROR_PARSE,
     ":16: a point of a cell: expected 2000000 numbers, more than its 9 bytes can hold"},
    {"a.vtu",
     VTU "<Piece NumberOfPoints=\"400000000\" NumberOfCells=\"1\">\n<Points>\n" VTU_ARRAY(
         "Float64", "x", "0 0 0") "</Points></Piece>",
     PL_ERROR_PARSE, ":5: a point coordinate: expected 1200000000 numbers"},
    {"a.vtu",
     VTU_P
     "<DataArray type=\"Int32\" Name=\"types\" format=\"binary\">\nAAAA!AAA\n</DataArray>\n" VTU_END,
     PL_ERROR_PARSE, ":11: a cell type: expected base64, found byte 33"},
    {"a.vtu",
     VTU_P "<DataArray type=\"Int32\" Name=\"types\" "
           "format=\"binary\">\nBQAAAAAAAAA=\n</DataArray>\n" VTU_END,
     PL_ERROR_PARSE, ": a cell type has 5 bytes, expected 4"},
    {"a.vtu",
     VTU_P
     "<DataArray type=\"Int32\" Name=\"types\" format=\"binary\">\nBAAAAAAA\n</DataArray>\n" VTU_END,
     PL_ERROR_PARSE, ": a cell type has fewer bytes than its header says"},

    {"a.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", PL_ERROR_FILE,
     " needs the file beside it: "},
    {"a.ele", "1 4 0\n0 0 1 2 3\n", PL_ERROR_FILE, " needs the file beside it: "},

    {"a.obj", OBJ "f 1 2 9\n", PL_ERROR_PARSE, ":5: a vertex of a face is 9, expected 1 to 4"},
    {"a.obj", OBJ "f 1 2 0\n", PL_ERROR_PARSE, ":5: a vertex of a face is 0, expected 1 to 4"},
    {"a.obj", OBJ "f 1 2 -5\n", PL_ERROR_PARSE, ":5: a vertex of a face is 0, expected 1 to 4"},
    {"a.obj", OBJ "f 1 2 x/1\n", PL_ERROR_PARSE, ":5: expected a vertex of a face, found \"x\""},
    {"a.obj", OBJ "f 1 2 /1\n", PL_ERROR_PARSE, ":5: expected a vertex of a face, found \"/1\""},
    {"a.obj", OBJ "f 1 2\n", PL_ERROR_PARSE, ":5: a face has 2 vertices, expected at least 3"},
    {"a.obj", "v 0 0\nf 1 1 1\n", PL_ERROR_PARSE, ":2: expected a vertex coordinate, found \"f\""},
    {"a.obj", "v 0 0 NaN\n", PL_ERROR_PARSE, ":1: expected a finite number, found \"NaN\""},
    {"a.obj", OBJ, PL_ERROR_MESH, ": has no tets and no triangles"},
    {"a.obj", OBJ "f 1 2 2\n", PL_ERROR_MESH,
     ": elements with the same vertex twice: 1, the first is triangle 0"},
    {"a.obj", OBJ "f 1 2 3\nf 2 3 1\n", PL_ERROR_MESH,
     ": elements with the same vertices as an earlier one: 1, the first is triangle 1"},
    {"a.obj", OBJ "v 2 0 0\nf 1 2 3\nf 1 2 5\n", PL_ERROR_MESH,
     ": triangles of zero area: 1, the first is triangle 1"},
};

/* Whether reading fails as expected; prints how it does not. */
static bool is_bad(pl_context *ctx, const char *path, pl_status expected, const char *message)
{
    pl_mesh *mesh = NULL;
    pl_status status = pl_mesh_read(ctx, path, &mesh);
    const char *error = pl_context_error(ctx);
    bool right = status == expected && !mesh && strncmp(error, path, strlen(path)) == 0 &&
                 strstr(error, message);
    if (!right)
        print_error("expected \"%s\", got %s: %s\n", message, pl_status_name(status), error);
    pl_mesh_free(ctx, mesh);
    return right;
}

static void test_bad_texts(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    int wrong = 0;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        const char *path = test_file(&folder, bad_files[i].name);
        test_file_write(path, bad_files[i].text, strlen(bad_files[i].text));
        wrong += !is_bad(ctx, path, bad_files[i].status, bad_files[i].message);
        remove(path);
    }
    assert_int_equal(wrong, 0);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_bad_tetgen(void **state)
{
    (void)state;
    static const struct {
        const char *node, *ele, *message;
    } bad[] = {
        {"1 2 0 0\n0 0 0\n", "1 4 0\n0 0 1 2 3\n", ".node:1: the dimension is 2, expected 3 to 3"},
        {"4 3 0 0\n5 0 0 0\n1 0 0 0\n2 0 0 0\n3 0 0 0\n", "1 4 0\n",
         ".node:2: a vertex number is 5, expected 0 to 1"},
        {"4 3 0 0\n0 0 0 0\n1 1 0 0\n3 0 1 0\n2 0 0 1\n", "1 4 0\n",
         ".node:4: a vertex number is 3, expected 2 to 2"},
        {"4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 10 0\n 0 1 2 3 4 5 6 7 8 9 10",
         ".ele:1: tets of 10 vertices cannot be used, expected 4"},
        {"4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 1 2 3 4\n",
         ".ele:2: a vertex of a tet is 4, expected 0 to 3"},
        {"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 0 2 3 4\n",
         ".ele:2: a vertex of a tet is 0, expected 1 to 4"},
        {"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "9 4 0\n1 1 2 3 4\n",
         ".ele:1: the number of tets is 9, but"},
    };
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_file_write(test_file(&folder, "a.node"), bad[i].node, strlen(bad[i].node));
        test_file_write(test_file(&folder, "a.ele"), bad[i].ele, strlen(bad[i].ele));
        pl_mesh *mesh = NULL;
        assert_int_equal(pl_mesh_read(ctx, test_file(&folder, "a.ele"), &mesh), PL_ERROR_PARSE);
        assert_contains(pl_context_error(ctx), bad[i].message);
    }
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

static void test_bad_paths(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    assert_true(
        is_bad(ctx, test_file(&folder, "none.msh"), PL_ERROR_FILE, ": cannot be opened: No such file"));
    assert_int_equal(mkdir(test_file(&folder, "dir.obj"), 0700), 0);
    assert_true(is_bad(ctx, test_file(&folder, "dir.obj"), PL_ERROR_FILE,
                       ": is a directory, expected a mesh file"));
    assert_int_equal(mkfifo(test_file(&folder, "pipe.vtk"), 0600), 0);
    assert_true(is_bad(ctx, test_file(&folder, "pipe.vtk"), PL_ERROR_FILE, ": is not a regular file"));
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

/* In binary files messages name bytes; a NaN among the bytes is found. */
static void test_bad_binary(void **state)
{
    (void)state;
    pl_context *ctx = test_context(1);
    test_folder folder = test_folder_make();
    pl_mesh *solid = test_solid(ctx);
    const double kept = solid->vertices[40];
    static const int formats[] = {2, 4, 10, 18, 21};
    static const char finite[] =
        ": vertices whose coordinates are not finite numbers: 1, the first is vertex 13 (from 0)";
    for (int i = 0; i < 5; i++) {
        const test_format *format = &test_formats[formats[i]];
        size_t count;
        solid->vertices[40] = NAN;
        const char *path = test_format_write(format, &folder, solid);
        assert_true(
            is_bad(ctx, path, i < 2 ? PL_ERROR_PARSE : PL_ERROR_MESH, i < 2 ? ": byte " : finite));
        solid->vertices[40] = kept;
        path = test_format_write(format, &folder, solid);
        char *all = test_file_read(path, &count);
        test_file_write(path, all, count / 2); /* in the middle of the nodes or elements */
        pl_mesh *mesh = NULL;
        assert_int_equal(pl_mesh_read(ctx, path, &mesh), PL_ERROR_PARSE);
        free(all);
    }
    const char *path = test_format_write(&test_formats[2], &folder, solid);
    size_t count;
    char *all = test_file_read(path, &count);
    const char *nodes = all; /* not by strstr: the header has bytes of zero */
    while (memcmp(nodes, "$Nodes\n27\n", 10) != 0)
        nodes++;
    char expected[128];
    size_t begin = (size_t)(nodes - all) + 10, cut = begin + 28 * 20 + 4 + 2;
    test_file_write(path, all, cut);
    snprintf(expected, sizeof expected,
             ": byte %zu: expected 8 bytes of a node's coordinate, found 2 before the end of the file",
             cut - 2);
    assert_true(is_bad(ctx, path, PL_ERROR_PARSE, expected));
    free(all);
    pl_mesh_free(ctx, solid);
    test_folder_remove(&folder);
    pl_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_texts),
        cmocka_unit_test(test_bad_tetgen),
        cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_bad_binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
