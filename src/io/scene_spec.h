/*
 * Scene files, from the outside in: a document (text and where it came from), paths into it for
 * messages, and specifications: tables of keys that say what an object may hold. One table serves the
 * check on load, the reading into C structs, and the published JSON Schema.
 */
#ifndef PL_SCENE_SPEC_H
#define PL_SCENE_SPEC_H

#include "core/core.h"

#include <jansson.h>

/* ------------------------------------------------------------------------------- documents */

typedef struct pl_override {
    const char *text; /* "path=value", the caller's */
    char path[256];   /* canonical: names replaced by indices */
} pl_override;

typedef struct pl_document {
    pl_context *ctx;
    const char *name; /* in messages */
    const char *directory;
    const char *text; /* [length] */
    size_t length;
    json_t *root;
    int override_count;
    pl_override *overrides; /* [override_count] */
} pl_document;

/* The bytes of a file, the caller's; not ended by a zero. */
pl_status pl_read_text(pl_context *ctx, const char *path, char **text, size_t *length);
/* Makes `root` of the text, the caller's to release; PL_ERROR_PARSE with the line if it is not JSON. */
pl_status pl_document_parse(pl_document *document);

/* A place in a document: frames on the stack of whoever walks it. key NULL = index into an array. */
typedef struct pl_place {
    const struct pl_place *parent; /* NULL = the root */
    const char *key;
    int index;
} pl_place;

/* "bodies[0].material.young" */
void pl_place_text(const pl_place *place, char *out, size_t size);
/* The line (from 1) of a member's key or an array's item; of its nearest ancestor when it is not there.
 * `text` must be valid JSON. */
int pl_place_line(const char *text, size_t length, const pl_place *place);

/* "file:line: place: message", or with the override that put the value there. */
pl_status pl_document_fail(const pl_document *document, const pl_place *place, pl_status status,
                           const char *format, ...) PL_PRINTF(4, 5);
/* The same around the message already kept in the context. */
pl_status pl_document_fail_within(const pl_document *document, const pl_place *place, pl_status status);
/* Logs a warning of the same form. */
void pl_document_warn(const pl_document *document, const pl_place *place, const char *format, ...)
    PL_PRINTF(3, 4);
/* Whether an override put the value there. */
bool pl_document_overridden(const pl_document *document, const pl_place *place);
/* `file` beside the document unless it is absolute; the caller frees it. NULL when out of memory. */
char *pl_document_resolve(const pl_document *document, const char *file);

/* Applies "path=value" texts to document->root and keeps them in document->overrides. */
pl_status pl_document_override(pl_document *document, int count, const char *const *texts);

/* ------------------------------------------------------------------------------- specifications */

typedef enum pl_key_kind {
    PL_KEY_NUMBER,    /* double */
    PL_KEY_INTEGER,   /* int */
    PL_KEY_BOOLEAN,   /* bool */
    PL_KEY_TEXT,      /* const char *, the document's */
    PL_KEY_CHOICE,    /* int: the index of one of `choices` */
    PL_KEY_VECTOR,    /* double[length] */
    PL_KEY_INTEGERS,  /* int[length]; length -1 = any number of them, read by the builder */
    PL_KEY_OBJECT,    /* `spec`, read into the same struct from `offset` */
    PL_KEY_LIST,      /* array of `spec`; read by the builder */
    PL_KEY_ROWS,      /* [[time, length values], ...], time increasing; read by the builder */
    PL_KEY_POINTS,    /* [[length values], ...]; read by the builder */
    PL_KEY_POLYLINES, /* [[[length values], ...], ...]; read by the builder */
    PL_KEY_CORNERS,   /* [[length indices], ...]; read by the builder */
    PL_KEY_SETS,      /* {"name": [index, ...]}; read by the builder */
    PL_KEY_FIELD,     /* double, or [number per element], or {"group": number}; the first is read */
    PL_KEY_VERTICES,  /* [index, ...], {"group": name} or {"box": [[x,y,z],[x,y,z]]}; by the builder */
    PL_KEY_ELEMENTS,  /* the same of elements: tets of the group, or with their centre in the box */
    PL_KEY_REFERENCE, /* the name or index of a body or collider; by the builder */
} pl_key_kind;

typedef struct pl_key {
    const char *name;
    pl_key_kind kind;
    size_t offset; /* into the struct, for kinds that are read; PL_KEY_UNREAD = by the builder */
    int length;
    double lower, upper;              /* of numbers; both 0 = any */
    bool above;                       /* lower itself is outside */
    bool required;                    /* of one that goes with others: by those */
    const char *const *choices;       /* NULL-terminated, */
    const char *(*choice)(int index); /* or told one by one; NULL after the last */
    const struct pl_spec *spec;
    const char *goes_with; /* in a one_of: "shape surface", the alternatives it may accompany */
    const char *unit;
    const char *doc;
} pl_key;

#define PL_KEY_UNREAD ((size_t)-1)

typedef struct pl_spec {
    const char *title;
    bool one_of; /* exactly one of the keys that go with none */
    int key_count;
    const pl_key *keys;
    size_t size;                  /* of the struct, when `defaults` is given */
    void (*defaults)(void *into); /* NULL = the enclosing object's struct */
} pl_spec;

extern const pl_spec pl_spec_scene, pl_spec_body, pl_spec_mesh, pl_spec_transform, pl_spec_pin,
    pl_spec_force, pl_spec_wind, pl_spec_attachment, pl_spec_muscle, pl_spec_cable, pl_spec_chamber,
    pl_spec_collider, pl_spec_shape, pl_spec_friction, pl_spec_body_pair;

/* Checks a whole object, nested ones included: unknown keys, types, ranges, what is required. */
pl_status pl_spec_check(const pl_document *document, const pl_spec *spec, const json_t *object,
                        const pl_place *place);
/* Reads the keys that are present into `into`; others stay. The object has been checked. */
void pl_spec_read(const pl_spec *spec, const json_t *object, void *into);
bool pl_key_ranged(const pl_key *key);
/* The index-th of a key's choices, or NULL. */
const char *pl_key_choice(const pl_key *key, int index);
/* Whether a key may accompany this alternative of a one_of. */
bool pl_key_goes_with(const pl_key *key, const char *alternative);
/* The JSON Schema of objects of this kind; *text is the caller's, freed with pl_free. */
pl_status pl_spec_schema(pl_context *ctx, const pl_spec *spec, const char *title, char **text);

/* ------------------------------------------------------------------------------- building */

/* Structs that the specifications fill and the builder turns into calls. */
typedef struct pl_turn {
    double axis[3];
    double degrees;
} pl_turn;

typedef struct pl_transform {
    double scale;
    pl_turn rotate;
    double translate[3];
} pl_transform;

typedef struct pl_mesh_source {
    double size[3], radii[3];
    double cell, wall, spacing, length, width, height, radius;
    int nodes[3];
    int cut; /* pl_cut */
    const char *file, *shape, *surface;
    int vertices; /* to aim at; 0 = the default */
} pl_mesh_source;

typedef struct pl_collider_source {
    pl_collider_def def;
    double position[3];
    pl_turn rotate;
} pl_collider_source;

typedef struct pl_friction_source {
    double value;
} pl_friction_source;

typedef struct pl_body_pair_source {
    bool contact;
    double friction;
} pl_body_pair_source;

typedef struct pl_scene_source {
    pl_scene_def def;
    int version;
    const char *name, *description, *schema;
    int steps, every;
    bool bring_out;
    bool volume, surface, obstacles; /* of the outputs */
} pl_scene_source;

/* Unit quaternion of a turn; the axis need not have length one. */
pl_status pl_turn_quaternion(const pl_document *document, const pl_turn *turn, const pl_place *place,
                             double quaternion[4]);
/* The mesh a "mesh" object names, or the message with its place. */
pl_status pl_build_mesh(const pl_document *document, const json_t *object, const pl_place *place,
                        pl_mesh **out);
/* The mesh of its "arrays". */
pl_status pl_build_arrays(const pl_document *document, const json_t *object, const pl_place *place,
                          pl_mesh **out);
/* By pl_group_kind: the key of "arrays" with the groups of that kind. */
extern const char *const pl_group_keys[];
/* "\"left\", \"right\"", or "none": the groups of a mesh whose kinds are among the bits 1 << kind. */
void pl_describe_groups(const pl_mesh *mesh, unsigned kinds, char *out, size_t size);
pl_status pl_build_body(const pl_document *document, pl_scene *scene, const json_t *object,
                        const pl_place *place);
pl_status pl_build_muscle(const pl_document *document, pl_scene *scene, const json_t *object,
                          const pl_place *place);
pl_status pl_build_cable(const pl_document *document, pl_scene *scene, const json_t *object,
                         const pl_place *place);
pl_status pl_build_chamber(const pl_document *document, pl_scene *scene, const json_t *object,
                           const pl_place *place);
/* All parts, bodies first. */
pl_status pl_build_parts(const pl_document *document, pl_scene *scene);

#endif
