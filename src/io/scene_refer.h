/* What parts of a scene file refer to: items by name or index, vertices and elements of bodies, values
 * over time. */
#ifndef PL_SCENE_REFER_H
#define PL_SCENE_REFER_H

#include "io/scene_spec.h"

/* A table and the memory behind it, one array: times, then values. */
typedef struct pl_refer_rows {
    pl_table view;
    double *data;
} pl_refer_rows;

/* Of vertices, or of elements. */
typedef struct pl_index_set {
    int count;
    int *index;
} pl_index_set;

/* The index of the item of root[list] that object[key] names, by "name", by the default name, or by
 * index.
 */
pl_status pl_refer(const pl_document *document, const json_t *object, const char *key, const char *list,
                   const char *default_name, const pl_place *place, int *index);
/* The rows (time, `width` values) of object[key]; *out is the caller's, to free its data. */
pl_status pl_refer_table(const pl_document *document, const json_t *object, const char *key, int width,
                         pl_refer_rows *out);
/* What a table replaces is not to be given with it. */
pl_status pl_refer_alone(const pl_document *document, const json_t *object, const pl_place *place);
/* The vertices, or elements, that object[key] names; an index out of range is the scene's to refuse.
 * The caller frees out->index. */
pl_status pl_refer_set(const pl_document *document, const pl_scene *scene, int body,
                       const json_t *object, const char *key, bool elements, const pl_place *place,
                       pl_index_set *out);
/* A point of a body from its three keys. */
pl_status pl_refer_point(const pl_document *document, const json_t *object, const char *body,
                         const char *vertices, const char *weights, const pl_place *place,
                         pl_point *out);

#endif
