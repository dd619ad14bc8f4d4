/*
 * VTU and PVD files. A VTU is an XML header that names arrays by their offsets into the "appended"
 * section, where each array is a UInt64 byte count and then the bytes, as they are in memory.
 */
#include "io/vtu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_NAME "LittleEndian"
#else
#define BYTE_ORDER_NAME "BigEndian"
#endif

typedef struct block {
    const char *type, *name;
    int components;
    const void *data;
    uint64_t bytes;
} block;

typedef struct writer {
    FILE *file;
    uint64_t offset;
} writer;

static void declare(writer *w, const block *b)
{
    fprintf(w->file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
            "offset=\"%" PRIu64 "\"/>\n",
            b->type, b->name, b->components, w->offset);
    w->offset += sizeof(uint64_t) + b->bytes;
}

static void append(writer *w, const block *b)
{
    fwrite(&b->bytes, sizeof b->bytes, 1, w->file);
    fwrite(b->data, 1, (size_t)b->bytes, w->file);
}

static block field_block(const pl_vtu_field *field, int count)
{
    return (block){"Float64", field->name, field->components, field->values,
                   sizeof(double) * (uint64_t)field->components * (uint64_t)count};
}

/* The arrays in the order they are declared and appended; `visit` is one of the two. */
static void visit_fields(writer *w, int field_count, const pl_vtu_field *fields, int count,
                         void (*visit)(writer *, const block *))
{
    for (int i = 0; i < field_count; i++) {
        block b = field_block(&fields[i], count);
        visit(w, &b);
    }
}

static void visit_points(writer *w, const pl_vtu *v, void (*visit)(writer *, const block *))
{
    const pl_vtu_field points = {"Points", 3, v->points};
    visit_fields(w, 1, &points, v->point_count, visit);
}

static void visit_cells(writer *w, const pl_vtu *v, void (*visit)(writer *, const block *))
{
    uint64_t cells = (uint64_t)v->cell_count;
    uint64_t corners = v->cell_count ? (uint64_t)v->ends[v->cell_count - 1] : 0;
    const block blocks[] = {{"Int32", "connectivity", 1, v->corners, sizeof(int32_t) * corners},
                            {"Int32", "offsets", 1, v->ends, sizeof(int32_t) * cells},
                            {"UInt8", "types", 1, v->types, cells}};
    for (int i = 0; i < 3; i++)
        visit(w, &blocks[i]);
}

static void write_header(writer *w, const pl_vtu *v)
{
    fprintf(w->file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"" BYTE_ORDER_NAME "\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
            "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<PointData>\n",
            v->point_count, v->cell_count);
    visit_fields(w, v->point_field_count, v->point_fields, v->point_count, declare);
    fprintf(w->file, "</PointData>\n<CellData>\n");
    visit_fields(w, v->cell_field_count, v->cell_fields, v->cell_count, declare);
    fprintf(w->file, "</CellData>\n<Points>\n");
    visit_points(w, v, declare);
    fprintf(w->file, "</Points>\n<Cells>\n");
    visit_cells(w, v, declare);
    fprintf(w->file, "</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
}

static void write_data(writer *w, const pl_vtu *v)
{
    visit_fields(w, v->point_field_count, v->point_fields, v->point_count, append);
    visit_fields(w, v->cell_field_count, v->cell_fields, v->cell_count, append);
    visit_points(w, v, append);
    visit_cells(w, v, append);
    fprintf(w->file, "\n</AppendedData>\n</VTKFile>\n");
}

/* Closes, and reports the first thing that went wrong with the file. */
static pl_status close_file(pl_context *ctx, FILE *file, const char *path)
{
    errno = 0;
    bool failed = fflush(file) != 0 || ferror(file);
    int reason = errno;
    failed = fclose(file) != 0 || failed;
    if (!failed)
        return PL_OK;
    return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot write: %s", path,
                   strerror(reason ? reason : ENOSPC));
}

pl_status pl_vtu_write(pl_context *ctx, const char *path, const pl_vtu *vtu)
{
    writer w = {.file = fopen(path, "wb")};
    if (!w.file)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot create: %s", path, strerror(errno));
    write_header(&w, vtu);
    write_data(&w, vtu);
    return close_file(ctx, w.file, path);
}

pl_status pl_pvd_write(pl_context *ctx, const char *path, const char *folder, int count,
                       const pl_pvd_entry *entries)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot create: %s", path, strerror(errno));
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n");
    for (int i = 0; i < count; i++)
        fprintf(file, "<DataSet timestep=\"%.9g\" file=\"%s/%06d.vtu\"/>\n", entries[i].time, folder,
                entries[i].step);
    fprintf(file, "</Collection>\n</VTKFile>\n");
    return close_file(ctx, file, path);
}
