/* Lumped masses. */
#include "sim/lump.h"

/* The vertices of element e of a body, counted in the body; *count of them. */
static const int *corners(const pl_body *body, int e, int *count)
{
    *count = body->cloth ? 3 : 4;
    return body->elements + (size_t)*count * (size_t)e;
}

static void lump_body(const pl_body *body, const double *element, double *vertex)
{
    double total = 0;
    int count = body->mesh->vertex_count, width;
    for (int e = 0; e < body->element_count; e++) {
        const int *own = corners(body, e, &width);
        total += element[e];
        for (int k = 0; !body->lumped_equally && k < width; k++)
            vertex[own[k]] += element[e] / width;
    }
    for (int i = 0; body->lumped_equally && i < count; i++)
        vertex[i] = total / count;
}

static void mean_of_body(const pl_body *body, const double *vertex, double *element)
{
    double mean = 0;
    int count = body->mesh->vertex_count, width;
    for (int i = 0; body->lumped_equally && i < count; i++)
        mean += vertex[i] / count;
    for (int e = 0; e < body->element_count; e++) {
        const int *own = corners(body, e, &width);
        element[e] = mean;
        for (int k = 0; !body->lumped_equally && k < width; k++)
            element[e] += vertex[own[k]] / width;
    }
}

void pl_lump(const pl_scene *scene, const double *element, double *vertex)
{
    memset(vertex, 0, sizeof(double) * (size_t)scene->vertex_count);
    for (const pl_body *b = scene->bodies; b < scene->bodies + scene->body_count; b++)
        lump_body(b, element + b->element_offset, vertex + b->vertex_offset);
}

void pl_lump_mean(const pl_scene *scene, const double *vertex, double *element)
{
    for (const pl_body *b = scene->bodies; b < scene->bodies + scene->body_count; b++)
        mean_of_body(b, vertex + b->vertex_offset, element + b->element_offset);
}
