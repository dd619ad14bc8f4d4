/* A scene's insides: what the caller described, copied and checked. Constant while a sim steps it, but
 * for its parameters. */
#ifndef PL_SCENE_H
#define PL_SCENE_H

#include "contact/collider.h"
#include "core/core.h"
#include "sim/params.h"
#include "sim/table.h"

typedef struct pl_model pl_model;

typedef struct pl_body {
    char *name;
    pl_mesh *mesh; /* rest shape */
    bool cloth;
    pl_material model;
    pl_reading reading;
    double thickness;
    bool lumped_equally;
    bool mean_volume;
    int patch_count; /* of its tets, terms/mean_volume.c; 0 = every tet resists for itself */
    int *patch_begin, *patch_tets; /* [patch_count + 1] into [element_count] */
    double contact_offset;         /* m, 0 = auto */
    int vertex_offset, element_offset, element_count;
    const int *elements; /* [element_count, 4 or 3]: the mesh's tets or triangles */
} pl_body;

typedef struct pl_pin {
    int first, count; /* its rows of pin_vertex */
    pl_curve offset, rotation;
    double pivot[3];
    double normal[3]; /* unit; 0 = holds in all directions */
} pl_pin;

typedef struct pl_force {
    int count;
    int *vertex; /* [count], of the scene */
    pl_force_per per;
    pl_curve value;
} pl_force;

typedef struct pl_wind {
    double drag;
    int triangle_count;
    int *triangle; /* [triangle_count, 3], vertices of the scene */
    pl_curve velocity;
} pl_wind;

typedef struct pl_obstacle {
    char *name;
    pl_collider *shape;
    double friction;
    pl_curve pose;
} pl_obstacle;

/* Parts of one kind that only their own term looks into. */
typedef struct pl_part_list {
    int count, capacity, name_capacity;
    void *items;
    char **names; /* [count] */
} pl_part_list;

struct pl_scene {
    pl_context *ctx;
    pl_params params;       /* the scene's own */
    char *device;           /* its name, NULL: here */
    struct pl_model *model; /* what its sims share; NULL while there is none */
    int user_count;         /* sims and parameters made from it: no parts may be added then */
    bool start_checked;     /* its start has been looked at */

    int body_count, body_capacity;
    pl_body *bodies;
    int vertex_count, element_count;
    double *q0, *v0; /* [n, 3] the start */
    int *body_of;    /* [n] */
    bool
        *touches; /* [body_count, body_count] symmetric: which bodies touch each other, or themselves */
    double *volume; /* [element_count] rest volume, m^3 */

    int pin_count, pin_capacity;
    pl_pin *pins;
    int pin_vertex_count;
    int *pin_vertex; /* [pin_vertex_count], of the scene */

    int force_count, force_capacity;
    pl_force *forces;
    int wind_count, wind_capacity;
    pl_wind *winds;

    int collider_count, collider_capacity;
    pl_obstacle *colliders;

    pl_part_list parts[PL_OWNER_COUNT]; /* of the other kinds */
};

/* Inputs of one number are less than this: products of them and parameters stay finite. */
#define PL_INPUT_MOST 1e15

/* Rows of a channel. */
typedef struct pl_span {
    int first, count;
} pl_span;

/* Those of an owner, which exists. */
pl_span pl_channel_span(const pl_scene *scene, pl_channel channel, int owner);
/* Rows of all owners, for inputs in all steps. */
size_t pl_channel_size(const pl_scene *scene, pl_channel channel, int steps);
/* Numbers of its derivative. */
size_t pl_gradient_size(const pl_scene *scene, pl_channel channel, int steps);
void pl_gradient_clear(const pl_scene *scene, pl_gradient *gradient);

/* The body that has this element of the scene. */
const pl_body *pl_scene_body_with(const pl_scene *scene, int element);
/* A copy of the name that a part of such a kind gets, NULL: by its kind and number; fails where another
 * of its kind has that. */
pl_status pl_scene_new_name(pl_scene *scene, pl_owner owner, const char *given, char **out);
/* One more part of such a kind, a struct of `size` bytes, copied, and one value of each of its
 * parameters; *index, if not NULL, is its number. name NULL: that of its kind and number. */
pl_status pl_scene_append(pl_scene *scene, pl_owner owner, const char *name, const void *item,
                          size_t size, int value_count, const pl_channel *channels,
                          const double *values, int *index);
/* What a part is called, "muscle0" where nobody named it; NULL for kinds without names. */
const char *pl_part_name(const pl_scene *scene, pl_owner owner, int index);
/* Whether somebody named it. */
bool pl_part_is_named(const pl_scene *scene, pl_owner owner, int index);
/* A point of a body as vertices of the scene and their weights, [4] each; `what` names it in messages.
 */
pl_status pl_scene_take_point(pl_scene *scene, const char *what, const pl_point *point, int *vertex,
                              double *weight);
/* Vertices of a body, or an error naming the first that it does not have. */
pl_status pl_scene_check_vertices(pl_scene *scene, int body, int count, const int *vertices);
/* Refuses changes of structure while sims or parameters made from it exist; after one the start is to
 * be checked again. */
pl_status pl_scene_must_be_open(pl_scene *scene);
pl_status pl_scene_must_have_bodies(const pl_scene *scene);
/* The four vertices (-1 last for cloth) of element e in scene numbering; returns its body. */
const pl_body *pl_scene_element(const pl_scene *scene, int element, int vertex[4]);
/* mu table for the present numbers of bodies and colliders; new cells get the collider's own mu. */
pl_status pl_scene_resize_friction(pl_scene *scene, int collider_count, int body_count);
/* The same of bodies with each other; new cells get the scene's. */
pl_status pl_scene_resize_pairs(pl_scene *scene, int body_count, bool self_contact);

#endif
