/*
 * VTK XML unstructured grid, text: tets first, then triangles. A group is an array of 0 and 1 on the
 * cells or points, named after its kind: see vtu.c, which reads them back.
 */
#include "mesh/output.h"
#include "mesh/write.h"
#include "mesh/xml.h"

static void print_mask(pl_output *out, const pl_group *group, const char *kind, int before, int count,
                       int after)
{
    int next = 0;
    pl_output_print(out, "<DataArray type=\"UInt8\" format=\"ascii\" Name=\"%s group:", kind);
    for (const char *c = group->name; *c; c++) {
        const char *escape = pl_xml_escape(*c);
        pl_output_bytes(out, escape ? escape : c, escape ? strlen(escape) : 1);
    }
    pl_output_print(out, "\">\n");
    for (int i = 0; i < before; i++)
        pl_output_print(out, "0\n");
    for (int i = 0; i < count; i++) {
        bool in = next < group->count && group->index[next] == i;
        next += in;
        pl_output_print(out, in ? "1\n" : "0\n");
    }
    for (int i = 0; i < after; i++)
        pl_output_print(out, "0\n");
    pl_output_print(out, "</DataArray>\n");
}

static void print_groups(pl_output *out, const pl_mesh *mesh)
{
    pl_output_print(out, "<PointData>\n");
    for (int g = 0; g < mesh->group_count; g++) {
        if (mesh->groups[g].kind == PL_GROUP_VERTEX)
            print_mask(out, &mesh->groups[g], "vertex", 0, mesh->vertex_count, 0);
    }
    pl_output_print(out, "</PointData>\n<CellData>\n");
    for (int g = 0; g < mesh->group_count; g++) {
        if (mesh->groups[g].kind == PL_GROUP_TET)
            print_mask(out, &mesh->groups[g], "tet", 0, mesh->tet_count, mesh->triangle_count);
        else if (mesh->groups[g].kind == PL_GROUP_TRIANGLE)
            print_mask(out, &mesh->groups[g], "triangle", mesh->tet_count, mesh->triangle_count, 0);
    }
    pl_output_print(out, "</CellData>\n");
}

static void print_rows(pl_output *out, int count, int width, const int *rows)
{
    for (int e = 0; e < count; e++) {
        for (int i = 0; i < width; i++)
            pl_output_print(out, i + 1 < width ? "%d " : "%d\n",
                            rows[(size_t)width * (size_t)e + (size_t)i]);
    }
}

static void print_cells(pl_output *out, const pl_mesh *mesh)
{
    int cells = mesh->tet_count + mesh->triangle_count;
    pl_output_print(out,
                    "<Cells>\n<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">\n");
    print_rows(out, mesh->tet_count, 4, mesh->tets);
    print_rows(out, mesh->triangle_count, 3, mesh->triangles);
    pl_output_print(out,
                    "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
    for (int c = 1; c <= cells; c++)
        pl_output_print(out, "%lld\n", c <= mesh->tet_count ? 4ll * c : 3ll * c + mesh->tet_count);
    pl_output_print(out, "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
    for (int c = 0; c < cells; c++)
        pl_output_print(out, c < mesh->tet_count ? "10\n" : "5\n");
    pl_output_print(out, "</DataArray>\n</Cells>\n");
}

pl_status pl_write_vtu(pl_context *ctx, const pl_mesh *mesh, const char *path)
{
    pl_output out;
    PL_TRY(pl_output_open(ctx, path, &out));
    pl_output_print(&out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                          "byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n");
    pl_output_print(&out, "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", mesh->vertex_count,
                    mesh->tet_count + mesh->triangle_count);
    pl_output_print(&out, "<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                          "format=\"ascii\">\n");
    for (int i = 0; i < mesh->vertex_count; i++) {
        const double *x = mesh->vertices + 3 * (size_t)i;
        pl_output_print(&out, "%.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    pl_output_print(&out, "</DataArray>\n</Points>\n");
    print_cells(&out, mesh);
    print_groups(&out, mesh);
    pl_output_print(&out, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    return pl_output_close(&out, PL_OK);
}
