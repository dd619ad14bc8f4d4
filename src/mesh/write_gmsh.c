/*
 * Gmsh 4.1, ASCII. Groups are physical groups, which Gmsh gives to entities: elements of one kind that
 * are in the same groups share an entity (a class, below). Elements keep their order: each run of one
 * class is a block. Vertex groups are point elements. Where there are groups, elements in none of them
 * get an unnamed one: Gmsh saves only what is in a group, and meshio wants all blocks in one or none.
 */
#include "mesh/output.h"
#include "mesh/write.h"

/* The elements of one kind, divided by the groups they are in. Class 0 is in none. */
typedef struct classes {
    pl_group_kind kind;
    int dim, type, width;
    int element_count, count;
    const int *elements; /* [element_count, width]; NULL for points, which are vertices themselves */
    int *of;             /* [element_count] the class of each */
    int *parent, *group; /* [count]: class c is in the groups of its parent and in this one */
} classes;

static void free_classes(pl_context *ctx, classes *c)
{
    pl_free(ctx, c->group);
    pl_free(ctx, c->parent);
    pl_free(ctx, c->of);
}

/* Splits every class by one group after the other. At most every element has its own class. */
static pl_status make_classes(pl_context *ctx, const pl_mesh *mesh, classes *c)
{
    pl_status status = PL_OK;
    int *split = NULL, capacity = 0, group_capacity = 0;
    c->count = 1;
    PL_NEW(ctx, c->of, c->element_count, done);
    PL_CHECK(pl_grow(ctx, (void **)&c->parent, &capacity, 1, sizeof(int)), done);
    PL_CHECK(pl_grow(ctx, (void **)&c->group, &group_capacity, 1, sizeof(int)), done);
    for (int g = 0; g < mesh->group_count; g++) {
        const pl_group *group = &mesh->groups[g];
        if (group->kind != c->kind)
            continue;
        pl_free(ctx, split);
        PL_NEW(ctx, split, c->count, done); /* the new class of a class's members, 0 = none yet */
        for (int i = 0; i < group->count; i++) {
            int *of = &c->of[group->index[i]];
            if (split[*of] == 0) {
                PL_CHECK(pl_grow(ctx, (void **)&c->parent, &capacity, c->count + 1, sizeof(int)), done);
                PL_CHECK(pl_grow(ctx, (void **)&c->group, &group_capacity, c->count + 1, sizeof(int)),
                         done);
                c->parent[c->count] = *of;
                c->group[c->count] = g;
                split[*of] = c->count++;
            }
            *of = split[*of];
        }
    }
done:
    pl_free(ctx, split);
    return status;
}

static bool written(const classes *c, int element)
{
    return c->kind != PL_GROUP_VERTEX || c->of[element] != 0;
}

/* ------------------------------------------------------------------------------- sections */

static pl_status print_names(pl_output *out, const pl_mesh *mesh)
{
    static const int dims[] = {[PL_GROUP_VERTEX] = 0, [PL_GROUP_TET] = 3, [PL_GROUP_TRIANGLE] = 2};
    if (mesh->group_count == 0)
        return PL_OK;
    pl_output_print(out, "$PhysicalNames\n%d\n", mesh->group_count);
    for (int g = 0; g < mesh->group_count; g++) {
        const char *name = mesh->groups[g].name;
        if (strpbrk(name, "\"\r\n"))
            return pl_fail(out->ctx, PL_ERROR_ARGUMENT,
                           "%s: group %d has a quotation mark or a line break in its name", out->path,
                           g);
        pl_output_print(out, "%d %d \"", dims[mesh->groups[g].kind], g + 1);
        pl_output_bytes(out, name, strlen(name));
        pl_output_print(out, "\"\n");
    }
    pl_output_print(out, "$EndPhysicalNames\n");
    return PL_OK;
}

/* `rest` is the physical group of class 0, 0 = none. */
static void print_entity(pl_output *out, const classes *c, int number, int rest, const double box[6])
{
    int tags = number == 0 && rest > 0;
    for (int k = number; k > 0; k = c->parent[k])
        tags++;
    pl_output_print(out, "%d", number + 1);
    for (int i = 0; i < (c->dim == 0 ? 3 : 6); i++)
        pl_output_print(out, " %.17g", box[i]);
    pl_output_print(out, " %d", tags);
    if (number == 0 && rest > 0)
        pl_output_print(out, " %d", rest);
    for (int k = number; k > 0; k = c->parent[k])
        pl_output_print(out, " %d", c->group[k] + 1);
    pl_output_print(out, c->dim == 0 ? "\n" : " 0\n");
}

/* All entities get the box of the mesh. */
static void print_entities(pl_output *out, const pl_mesh *mesh, const classes by_kind[3])
{
    double box[6] = {0};
    for (int i = 0; i < mesh->vertex_count; i++) {
        for (int d = 0; d < 3; d++) {
            double x = mesh->vertices[3 * (size_t)i + (size_t)d];
            box[d] = i == 0 || x < box[d] ? x : box[d];
            box[3 + d] = i == 0 || x > box[3 + d] ? x : box[3 + d];
        }
    }
    pl_output_print(out, "$Entities\n%d 0 %d %d\n", by_kind[0].count, by_kind[1].count,
                    by_kind[2].count);
    for (int k = 0; k < 3; k++) {
        bool unnamed = mesh->group_count > 0 && by_kind[k].kind != PL_GROUP_VERTEX;
        for (int number = 0; number < by_kind[k].count; number++)
            print_entity(out, &by_kind[k], number, unnamed ? mesh->group_count + 1 : 0, box);
    }
    pl_output_print(out, "$EndEntities\n");
}

static void print_nodes(pl_output *out, const pl_mesh *mesh, const classes by_kind[3])
{
    const classes *owner = &by_kind[mesh->tet_count > 0 ? 2 : 1];
    int n = mesh->vertex_count;
    pl_output_print(out, "$Nodes\n%d %d %d %d\n", n > 0, n, n > 0, n);
    if (n > 0)
        pl_output_print(out, "%d 1 0 %d\n", owner->dim, n);
    for (int i = 0; i < n; i++)
        pl_output_print(out, "%d\n", i + 1);
    for (int i = 0; i < n; i++) {
        const double *x = mesh->vertices + 3 * (size_t)i;
        pl_output_print(out, "%.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    pl_output_print(out, "$EndNodes\n");
}

/* The end of the run of one class that begins at an element. */
static int run_end(const classes *c, int begin)
{
    int end = begin + 1;
    while (end < c->element_count && c->of[end] == c->of[begin])
        end++;
    return end;
}

static void print_elements(pl_output *out, const classes by_kind[3])
{
    int blocks = 0, total = 0, number = 0;
    for (int k = 0; k < 3; k++) {
        const classes *c = &by_kind[k];
        for (int begin = 0, end; begin < c->element_count; begin = end) {
            end = run_end(c, begin);
            blocks += written(c, begin);
            total += written(c, begin) ? end - begin : 0;
        }
    }
    pl_output_print(out, "$Elements\n%d %d %d %d\n", blocks, total, total > 0, total);
    for (int k = 0; k < 3; k++) {
        const classes *c = &by_kind[k];
        for (int begin = 0, end; begin < c->element_count; begin = end) {
            end = run_end(c, begin);
            if (!written(c, begin))
                continue;
            pl_output_print(out, "%d %d %d %d\n", c->dim, c->of[begin] + 1, c->type, end - begin);
            for (int e = begin; e < end; e++) {
                pl_output_print(out, "%d", ++number);
                for (int i = 0; i < c->width; i++)
                    pl_output_print(out, " %d",
                                    c->elements
                                        ? c->elements[(size_t)c->width * (size_t)e + (size_t)i] + 1
                                        : e + 1);
                pl_output_print(out, "\n");
            }
        }
    }
    pl_output_print(out, "$EndElements\n");
}

pl_status pl_write_gmsh(pl_context *ctx, const pl_mesh *mesh, const char *path)
{
    classes by_kind[3] = {
        {.kind = PL_GROUP_VERTEX,
         .dim = 0,
         .type = 15,
         .width = 1,
         .element_count = mesh->vertex_count},
        {.kind = PL_GROUP_TRIANGLE,
         .dim = 2,
         .type = 2,
         .width = 3,
         .element_count = mesh->triangle_count,
         .elements = mesh->triangles},
        {.kind = PL_GROUP_TET,
         .dim = 3,
         .type = 4,
         .width = 4,
         .element_count = mesh->tet_count,
         .elements = mesh->tets},
    };
    pl_status status = PL_OK;
    pl_output out;
    for (int k = 0; k < 3; k++)
        PL_CHECK(make_classes(ctx, mesh, &by_kind[k]), done);
    PL_CHECK(pl_output_open(ctx, path, &out), done);
    pl_output_print(&out, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    status = print_names(&out, mesh);
    print_entities(&out, mesh, by_kind);
    print_nodes(&out, mesh, by_kind);
    print_elements(&out, by_kind);
    status = pl_output_close(&out, status);
done:
    for (int k = 0; k < 3; k++)
        free_classes(ctx, &by_kind[k]);
    return status;
}
