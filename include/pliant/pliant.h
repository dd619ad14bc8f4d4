/*
 * Pliant: a differentiable simulator for soft bodies in frictional contact.
 *
 * The whole public interface, in the order data flows:
 *
 *     context -> mesh -> scene -> state -> step -> rollout -> gradient -> batch
 *
 * Conventions
 *  - SI units. Positions in m, velocities in m/s, forces in N, moduli in Pa.
 *  - Arrays are row-major and state their shape as [a, b]; n is the number of vertices of a scene.
 *  - A `..._def` struct is filled by its `..._def_default()` function and changed by the caller. What
 *    it points to is copied during the call that takes it, unless said otherwise.
 *  - What a call hands out through `out` is the caller's, for the matching `..._destroy` or `..._free`,
 * which take NULL too. What is made from an object goes before it: rollouts before their sim, sims and
 *    states before their scene, everything before the context.
 *  - Functions that can fail return a pl_status; the message is kept in the context
 *    (pl_context_error). A failed call leaves its outputs and every existing object as they were.
 *  - Objects are used by one thread at a time; objects of different contexts are independent.
 */
#ifndef PLIANT_H
#define PLIANT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PL_API __attribute__((visibility("default")))
#else
#define PL_API
#endif

#define PL_VERSION_MAJOR 0
#define PL_VERSION_MINOR 1
#define PL_VERSION_PATCH 0

/* ------------------------------------------------------------------------------- context */

typedef enum pl_status {
    PL_OK = 0,
    PL_ERROR_ARGUMENT,    /* a value the caller gave is impossible; the message names the field */
    PL_ERROR_MEMORY,      /* the allocator returned NULL */
    PL_ERROR_FILE,        /* a file cannot be opened, read or written */
    PL_ERROR_PARSE,       /* a file's content is not what its format says; names file and line */
    PL_ERROR_MESH,        /* inverted, degenerate, duplicate or unreferenced pieces */
    PL_ERROR_CONVERGENCE, /* a step or an adjoint solve did not reach its tolerance */
    PL_ERROR_NUMERIC,     /* a number overflowed or a matrix could not be factorised */
    PL_ERROR_INTERRUPTED, /* a callback asked to stop */
} pl_status;

typedef enum pl_log_level { PL_LOG_ERROR, PL_LOG_WARNING, PL_LOG_INFO, PL_LOG_DEBUG } pl_log_level;

/* `text` has no trailing newline and is valid during the call only. */
typedef void (*pl_log_fn)(void *user, pl_log_level level, const char *text);

/* realloc semantics in one function: ptr NULL allocates, bytes 0 frees (and returns NULL). */
typedef void *(*pl_realloc_fn)(void *user, void *ptr, size_t bytes);

typedef struct pl_context pl_context;

typedef struct pl_context_def {
    int threads;   /* worker threads, 0 = one per core; results do not depend on it */
    pl_log_fn log; /* NULL = silent */
    void *log_user;
    pl_log_level log_level; /* messages above this level are not made */
    pl_realloc_fn realloc;  /* NULL = the C library's */
    void *realloc_user;
} pl_context_def;

PL_API pl_context_def pl_context_def_default(void);

/* Creates a context; def NULL = the defaults. On failure *out is NULL.
 * BLAS is set to one thread for the whole process: its results would depend on the number. It needs
 * 128 MB of address space for each thread of ours: PL_ERROR_MEMORY if they are not to be had. A forked
 * child may go on with a context that no other thread was using, and all that was made with it. */
PL_API pl_status pl_context_create(const pl_context_def *def, pl_context **out);
PL_API void pl_context_destroy(pl_context *ctx); /* NULL is fine */

/* The last error's message, never NULL, valid until the next failing call on this context. */
PL_API const char *pl_context_error(const pl_context *ctx);
PL_API int pl_context_threads(const pl_context *ctx); /* as it works with, never 0 */
PL_API const char *pl_status_name(pl_status status);  /* "no convergence", for messages */
PL_API const char *pl_version(void);                  /* "major.minor.patch" */

/* ------------------------------------------------------------------------------- meshes */

typedef enum pl_group_kind { PL_GROUP_VERTEX, PL_GROUP_TET, PL_GROUP_TRIANGLE } pl_group_kind;

/* A named set of vertices or elements ("feet", "grip"). */
typedef struct pl_group {
    char *name;
    pl_group_kind kind;
    int count;
    int *index; /* [count], ascending */
} pl_group;

/*
 * A mesh owns its arrays, all from the context's allocator. With tets it is a solid, whose triangles
 * (if any) only mark pieces of its boundary; without tets its triangles are a sheet of cloth.
 */
typedef struct pl_mesh {
    int vertex_count;
    double *vertices; /* [vertex_count, 3] m */
    int tet_count;
    int *tets; /* [tet_count, 4], positive volume: (x1-x0)x(x2-x0).(x3-x0) > 0 */
    int triangle_count;
    int *triangles; /* [triangle_count, 3], counter-clockwise seen from outside */
    int group_count;
    pl_group *groups; /* [group_count] */
} pl_mesh;

PL_API void pl_mesh_free(pl_context *ctx, pl_mesh *mesh); /* frees the struct too; NULL is fine */
PL_API pl_status pl_mesh_copy(pl_context *ctx, const pl_mesh *mesh, pl_mesh **out);

/* A mesh from arrays, copied. tets or triangles may be NULL with a count of 0. Not checked. */
PL_API pl_status pl_mesh_create(pl_context *ctx, int vertex_count, const double *vertices,
                                int tet_count, const int *tets, int triangle_count,
                                const int *triangles, pl_mesh **out);

/* Adds a named group; index is copied and sorted. The name must be new among the groups of its kind. */
PL_API pl_status pl_mesh_add_group(pl_context *ctx, pl_mesh *mesh, const char *name, pl_group_kind kind,
                                   int count, const int *index);
/* NULL if there is no group of that name and kind. */
PL_API const pl_group *pl_mesh_find_group(const pl_mesh *mesh, const char *name, pl_group_kind kind);

/* Generators. `cell` is the requested edge length in m; every piece is at least one cell. More than ten
 * million elements are refused: large meshes come from files. */
/* Box [0,size] as a grid of cubes, each split into five tets, by turns from two sides. */
PL_API pl_status pl_mesh_box(pl_context *ctx, const double size[3], double cell, pl_mesh **out);
/* How cubes are split into tets. */
typedef enum pl_cut {
    PL_CUT_ALTERNATING, /* five, by turns from two sides, as boxes and bars are */
    PL_CUT_DIAGONAL, /* six around the same diagonal: stiffer, locks early towards a Poisson's ratio of
                        1/2, bends sideways; common in benchmarks */
} pl_cut;
/* The same with nodes[3] nodes a side (each >= 2) spaced `spacing` m. */
PL_API pl_status pl_mesh_grid(pl_context *ctx, const int nodes[3], double spacing, pl_cut cut,
                              pl_mesh **out);
/* The same box with walls of round(wall / cell) cells around a hollow; refused where none is left. */
PL_API pl_status pl_mesh_hollow_box(pl_context *ctx, const double size[3], double wall, double cell,
                                    pl_mesh **out);
/* Bar along x: [0,length] x [-width/2,width/2] x [-height/2,height/2], with vertex groups "left"
 * and "right" at its ends. */
PL_API pl_status pl_mesh_bar(pl_context *ctx, double length, double width, double height, double cell,
                             pl_mesh **out);
/* Cylinder about z from z = 0 to height. Vertex groups "bottom" and "top". */
PL_API pl_status pl_mesh_cylinder(pl_context *ctx, double radius, double height, double cell,
                                  pl_mesh **out);
/* Ellipsoid about the origin. */
PL_API pl_status pl_mesh_ellipsoid(pl_context *ctx, const double radii[3], double cell, pl_mesh **out);
/* Cloth [0,width] x [0,height] in the plane z = 0; vertex groups "left" (x=0), "right", "bottom"
 * (y=0), "top" and the four corners "corner00", "corner10", "corner01", "corner11". */
PL_API pl_status pl_mesh_rectangle(pl_context *ctx, double width, double height, double cell,
                                   pl_mesh **out);
/* Cloth disc about the origin in the plane z = 0; vertex group "rim". */
PL_API pl_status pl_mesh_disc(pl_context *ctx, double radius, double cell, pl_mesh **out);

/*
 * Reads a mesh by its extension: .msh (Gmsh 1, 2.2 and 4.1, ASCII and binary), .mesh (MEDIT), .vtk
 * (legacy), .vtu (also when named .vtk), .node/.ele (TetGen, either name), .obj (surfaces).
 * Named physical groups become pl_groups. Orientation is fixed and unreferenced vertices are dropped,
 * both with a warning through the log; anything else wrong is PL_ERROR_MESH.
 */
PL_API pl_status pl_mesh_read(pl_context *ctx, const char *path, pl_mesh **out);
/* Writes by extension: .msh (Gmsh 4.1 ASCII) or .vtu. The file appears whole or not at all. */
PL_API pl_status pl_mesh_write(pl_context *ctx, const pl_mesh *mesh, const char *path);

typedef struct pl_mesh_report {
    int inverted, first_inverted;     /* tets of negative volume; first index or -1 */
    int degenerate, first_degenerate; /* volume (area) below 1e-12 of the edge length's cube (square) */
    int duplicate, first_duplicate;   /* elements with the same vertex set as an earlier one */
    int unreferenced, first_unreferenced; /* vertices in no element */
    int bad_index, first_bad_index;       /* elements naming a vertex that is not there, or one twice */
    int non_finite, first_non_finite;     /* vertices with NaN or infinity */
    int components;                       /* connected components by shared vertices */
    double volume;                        /* m^3 of the tets; m^2 of the triangles for cloth */
    double min_dihedral, max_dihedral;    /* degrees; of angles for cloth */
    double lower[3], upper[3];            /* bounding box, m */
} pl_mesh_report;

/* Looks a mesh over; faults are counted in the report, not errors. */
PL_API pl_status pl_mesh_check(pl_context *ctx, const pl_mesh *mesh, pl_mesh_report *report);

/* Boundary triangles of a solid (outward), or the triangles of a cloth. *triangles [*count, 3] is
 * the caller's, freed with pl_free. */
PL_API pl_status pl_mesh_surface(pl_context *ctx, const pl_mesh *mesh, int *count, int **triangles);
PL_API void pl_free(pl_context *ctx,
                    void *ptr); /* an array that a call gave the caller; NULL is fine */

/* In place: scale, then rotate by the unit quaternion (w,x,y,z), then translate. */
PL_API void pl_mesh_transform(pl_mesh *mesh, double scale, const double rotation[4],
                              const double translation[3]);

/* ------------------------------------------------------------------------------- scene */

/* A value over time: linear between rows, held before the first and after the last. count 0 = none.
 * The arrays are copied by the call that takes the table. */
typedef struct pl_table {
    int count;
    const double *time;  /* [count] s, increasing */
    const double *value; /* [count, width]; the width is stated where the table is used */
} pl_table;

typedef enum pl_material { PL_ARAP, PL_COROTATED, PL_NEO_HOOKEAN } pl_material;

/* exact: stress is the energy's derivative, E and nu mean what an engineer expects.
 * projective: the body feels the Moreau envelope of the energy, as local-global solvers do. */
typedef enum pl_reading { PL_EXACT, PL_PROJECTIVE } pl_reading;

/* How 𝓔⁻¹ is applied in the forward solve. */
typedef enum pl_solver_kind {
    PL_SOLVER_AUTO,     /* by measured cost */
    PL_SOLVER_DIRECT,   /* Cholesky of the true tangent in every Newton step */
    PL_SOLVER_LAGGED,   /* Cholesky of a recent true tangent; CG with it where that alone is slow */
    PL_SOLVER_CONSTANT, /* Cholesky of the constant matrix A of the local-global method; CG with it */
} pl_solver_kind;

/* How a step leads from one state to the next. */
typedef enum pl_integrator {
    PL_EULER,   /* implicit Euler: of first order, damps a motion of circular frequency w by w h/2 */
    PL_BDF2,    /* backward differences of second order, from the last two states; the first step of a
                   motion and steps that are split are Euler's */
    PL_TR_BDF2, /* the trapezoidal rule and BDF2 in two parts of every step: of second order, damps
                   still less, at two solves a step */
} pl_integrator;

typedef struct pl_scene pl_scene;

typedef struct pl_scene_def {
    double time_step;        /* h, s; default 0.01 */
    double gravity[3];       /* m/s^2; default (0, 0, -9.81) */
    double tolerance;        /* largest vertex move of the last Newton step, m; default 1e-10 */
    int max_iterations;      /* Newton iterations in a step before it is split; default 100 */
    int max_splits;          /* a step may be halved this many times over; default 6 */
    double contact_epsilon2; /* eps^2 = delta_n * lambda_n of a contact, N m; default 0.5e-12 */
    double contact_margin;   /* vertices closer than this to a collider become contacts, m; 0 = auto */
    bool body_contact;    /* bodies touch each other; default true, else they pass through each other */
    double body_friction; /* Coulomb's coefficient of every pair of bodies, to start with; default 0 */
    pl_solver_kind solver;
    pl_integrator integrator; /* default PL_EULER */
    const char *device;       /* where steps and adjoints are computed: NULL (default) or "cpu", here;
                                 "opencl" or "opencl:<part of a platform's or device's name>"; "reference" and
                                 "memcheck" are the same kernels here, for tests. What a device does not cover
                                 is refused by pl_sim_create or the step (docs/device.md) */
} pl_scene_def;

PL_API pl_scene_def pl_scene_def_default(void);
/* An empty scene; def NULL = the defaults. Parts are added to it by the calls below, which give each an
 * index (from 0 for each kind, in the order of the calls; the pointer may be NULL), until a sim is
 * made. */
PL_API pl_status pl_scene_create(pl_context *ctx, const pl_scene_def *def, pl_scene **out);
PL_API void pl_scene_destroy(pl_scene *scene); /* after every sim made from it; NULL is fine */

typedef struct pl_body_def {
    const char *name;    /* NULL = "body<index>"; no two bodies, or other parts, have the same */
    const pl_mesh *mesh; /* the rest shape; copied */
    pl_material model;   /* default Neo-Hookean */
    pl_reading reading;  /* default exact */
    double young;        /* Pa; default 1e5 */
    double poisson;      /* in [0, 0.499]; default 0.3; ignored by ARAP */
    double density;      /* kg/m^3; default 1000 */
    double thickness;    /* of cloth, m; default 1e-3; ignored for solids */
    double bending;      /* k_b, flexural rigidity of cloth, N m; default 0 */
    double damping;      /* mass-proportional, 1/s; default 0 */
    double viscosity;    /* of the material, Pa s: stress is 2 viscosity times the rate of strain;
                            default 0 */
    double yeoh2, yeoh3; /* c2, c3 of rubber that stiffens, Pa: c2 k^2 + c3 k^3 is added to the energy
                            density, k = |F|^2 - 3 (of cloth - 2); c1 is half the shear modulus;
                            default 0 */
    /* Values per element (tet or cloth triangle), or NULL for the one above: [element_count] */
    const double *young_of, *poisson_of, *density_of, *bending_of, *damping_of, *viscosity_of,
        *yeoh2_of, *yeoh3_of;
    double velocity[3];         /* initial, m/s */
    double angular_velocity[3]; /* initial, rad/s, about the body's centre of mass */
    const double *positions;    /* initial positions [vertex_count, 3] m, NULL = the rest shape */
    const double *velocities;   /* initial velocities [vertex_count, 3], NULL = from the two above */
    bool lumped_equally;        /* every vertex gets the same share of the mass; default false */
    bool mean_volume;      /* of exact Neo-Hookean solids: changes of volume are resisted by patches of
                              some five tets, not by each; for Poisson's ratios above 0.45, where tets
                              lock; default false */
    bool self_contact;     /* the body touches itself where it folds; default false */
    double contact_offset; /* m, what it adds to how far surfaces are kept apart; 0 = auto: a hundredth
                              of its edges, less where its own parts are nearer */
} pl_body_def;

PL_API pl_body_def pl_body_def_default(void);
PL_API pl_status pl_scene_add_body(pl_scene *scene, const pl_body_def *def, int *body);
/* Whether two bodies touch each other, instead of the scene's body_contact; a body and itself, instead
 * of its self_contact. Coulomb's coefficient of such a pair is PL_BODY_FRICTION. */
PL_API pl_status pl_scene_set_body_contact(pl_scene *scene, int body, int other, bool contact);
/* Whether they do; false if there is no such body. */
PL_API bool pl_scene_get_body_contact(const pl_scene *scene, int body, int other);
PL_API pl_status pl_scene_set_body_friction(pl_scene *scene, int body, int other, double friction);

/* Springs of compliance c that hold vertices at targets. */
typedef struct pl_pin_def {
    int body;
    int vertex_count;
    const int *vertices; /* [vertex_count], of the body */
    double compliance;   /* c, m/N, > 0; default 1e-9 */
    pl_table offset;     /* width 3: the targets are the initial positions plus this, m */
    pl_table rotation;   /* width 4, axis-angle as (x,y,z) unit axis and rad: turns the targets about
                            `pivot` before the offset is added */
    double pivot[3];     /* m */
    double normal[3];    /* the direction that vertices are held along, of any length: they are free
                            across it; 0 = held in all directions */
} pl_pin_def;

PL_API pl_pin_def pl_pin_def_default(void);
PL_API pl_status pl_scene_add_pin(pl_scene *scene, const pl_pin_def *def, int *pin);

typedef enum pl_force_per {
    PL_PER_VERTEX, /* N on every vertex */
    PL_PER_GROUP,  /* N in all, shared equally by the vertices */
    PL_PER_MASS,   /* N/kg: an acceleration field */
} pl_force_per;

typedef struct pl_force_def {
    int body;
    int vertex_count; /* with vertices NULL: the whole body */
    const int *vertices;
    pl_force_per per;
    double value[3]; /* in the unit of `per` */
    pl_table table;  /* width 3; replaces value when it has rows */
} pl_force_def;

PL_API pl_force_def pl_force_def_default(void);
PL_API pl_status pl_scene_add_force(pl_scene *scene, const pl_force_def *def, int *force);

/* Wind on a body's surface: each triangle of area a and unit normal n feels drag a (n.(w - v)) n,
 * with the geometry and velocity v at the start of the step. */
typedef struct pl_wind_def {
    int body;
    double drag;        /* N s/m^3; default 1 */
    double velocity[3]; /* w, m/s */
    pl_table table;     /* width 3; replaces velocity when it has rows */
} pl_wind_def;

PL_API pl_wind_def pl_wind_def_default(void);
PL_API pl_status pl_scene_add_wind(pl_scene *scene, const pl_wind_def *def, int *wind);

typedef enum pl_shape {
    PL_HALF_SPACE, /* z <= 0 of its frame is solid */
    PL_SPHERE,     /* size[0] radius, m, as all sizes */
    PL_BOX,        /* size half extents */
    PL_CYLINDER,   /* size[0] radius, size[1] half height, about z */
    PL_CAPSULE,    /* size[0] radius, size[1] half height of its segment, about z */
    PL_MESH,       /* a closed triangle surface */
} pl_shape;

/* A rigid obstacle. pose = position in m (3) and unit quaternion w,x,y,z (4). */
typedef struct pl_collider_def {
    const char *name; /* NULL = "collider<index>" */
    pl_shape shape;
    double size[3];         /* as the shape says, in (0, 1e9] m */
    const pl_mesh *surface; /* for PL_MESH: its triangles, or the boundary of its tets; copied */
    double friction;        /* mu >= 0; 0 is exactly frictionless; default 0.5 */
    double pose[7];         /* default: at the origin, not turned */
    pl_table table;         /* width 7; replaces pose when it has rows */
} pl_collider_def;

PL_API pl_collider_def pl_collider_def_default(void);
PL_API pl_status pl_scene_add_collider(pl_scene *scene, const pl_collider_def *def, int *collider);
/* mu between one body and one collider, overriding the collider's own. */
PL_API pl_status pl_scene_set_friction(pl_scene *scene, int body, int collider, double friction);

/* A point of a body: sum of weights[k] times vertex vertices[k], k < count <= 4, the weights adding up
 * to 1. One vertex, or a point of an element by its barycentric coordinates. */
typedef struct pl_point {
    int body;
    int count;
    int vertices[4]; /* of the body */
    double weights[4];
    double position[3]; /* m, of a point that is fixed in the world: body -1 (cables) */
} pl_point;

/* A spring of compliance c that pulls points[0] to points[1], or, with a collider, to where points[0]
 * is at the start in the collider's frame. */
typedef struct pl_attachment_def {
    pl_point points[2];
    int collider;      /* default -1: none, and points[1] counts */
    double compliance; /* c, m/N, > 0; default 1e-6 */
} pl_attachment_def;

PL_API pl_attachment_def pl_attachment_def_default(void);
PL_API pl_status pl_scene_add_attachment(pl_scene *scene, const pl_attachment_def *def, int *index);

/* How hard a fibre of length l (1 at rest) pulls at activation a: T, in units of the stiffness k. */
typedef enum pl_muscle_law {
    PL_MUSCLE_TENSION, /* to the length 1 - a, never pushing: (x + sqrt(x^2 + e^2))/2, x = l - (1 - a),
                          e = 0.02; a < 1 */
    PL_MUSCLE_SPRING,  /* to the length 1 - a, pushing when shorter: l - (1 - a); a < 1 */
    PL_MUSCLE_FORCE,   /* in proportion to activation and length: a l; a >= 0, relaxed at 0 */
} pl_muscle_law;

/* Fibres in the tets of a solid body. Which tets: `elements`; or those whose centre is within `radius`
 * of the polyline `path`, or of the nearest of several; or, with neither, all. Which way, in the rest
 * shape: `directions`, or with none along the segment of the path nearest to the tet's centre. */
typedef struct pl_muscle_def {
    const char *name; /* for messages and tasks; NULL (default) = "muscle0", ... */
    int body;
    int element_count;
    const int *elements; /* [element_count], of the body, each once; NULL = by the path */
    int point_count;
    const double *path;       /* [point_count, 3] m */
    int path_count;           /* polylines in `path`, one after the other; 0 (default) = one */
    const int *path_sizes;    /* [path_count] points of each, 2 or more, point_count in sum */
    double radius;            /* m; 0 = the path does not choose tets */
    int direction_count;      /* 0, 1 for all tets, or one for each that is listed */
    const double *directions; /* [direction_count, 3] of any length but 0 */
    pl_muscle_law law;
    double stiffness;  /* k, Pa, > 0; default 1e5 */
    double activation; /* a; default 0 */
    pl_table table;    /* width 1; replaces activation when it has rows */
} pl_muscle_def;

PL_API pl_muscle_def pl_muscle_def_default(void);
PL_API pl_status pl_scene_add_muscle(pl_scene *scene, const pl_muscle_def *def, int *muscle);

/* A cable along a chain of points, in this order. Its length, the sum of the distances between them, is
 * drawn to a target by a tension that is found with the motion: a compliance of 1e-10 m/N is no harder
 * than one of 1e-4. */
typedef struct pl_cable_def {
    const char *name; /* for messages and tasks; NULL (default) = "cable0", ... */
    int point_count;  /* >= 2 */
    const pl_point *points;
    bool segments;  /* false: it slides through its points, with one tension; true: it is held at them,
                       each segment with a tension of its own and its share of the length, as at the
                       start */
    bool two_way;   /* false: it pulls and goes slack; true: it pushes as well */
    double length;  /* m; 0 (default): as long as at the start */
    pl_table table; /* width 1; replaces length when it has rows */
    double compliance; /* of the whole length, m/N, >= 0; default 1e-6 */
} pl_cable_def;

PL_API pl_cable_def pl_cable_def_default(void);
PL_API pl_status pl_scene_add_cable(pl_scene *scene, const pl_cable_def *def, int *cable);
/* How many tensions a cable has in pl_state.live, from *first on; 0 for no such cable. */
PL_API int pl_scene_cable_rows(const pl_scene *scene, int cable, int *first);

/* A cavity of a body under a pressure above that outside; negative ones draw its walls in. Which
 * cavity: `triangles` of the body's boundary, closed and all turned the same way, either way; or the
 * one around the point `inside` of the rest shape, the innermost if there are several; or, with
 * neither, by its number. A solid's cavities are the pieces of its boundary that face inwards, in the
 * order of their first triangles in pl_mesh_surface; those of cloth its closed pieces. That a surface
 * does not cross itself is taken for granted: one of elements that do not overlap cannot. */
typedef struct pl_chamber_def {
    const char *name; /* for messages and tasks; NULL (default) = "chamber0", ... */
    int body;
    int triangle_count;
    const int *triangles; /* [triangle_count, 3] vertices of the body; may be NULL */
    const double *inside; /* [3] m; may be NULL */
    int cavity;           /* from 0; default 0 */
    double pressure;      /* Pa above that outside; default 0 */
    pl_table table;       /* width 1; replaces pressure when it has rows */
    bool gas; /* the amount of gas is given, by the pressure that it has at the volume at rest; default
                 false: the pressure is given, at any volume */
    double ambient; /* outside, Pa, for gas: it has (pressure + ambient) V0/V - ambient at the volume V;
                       default 101325 */
} pl_chamber_def;

PL_API pl_chamber_def pl_chamber_def_default(void);
PL_API pl_status pl_scene_add_chamber(pl_scene *scene, const pl_chamber_def *def, int *chamber);

/* Brings a start out of what it is in: bodies are shifted as wholes until nothing overlaps that
 * pl_sim_create refuses, so that neither strains nor velocities change; bodies with pins only where
 * others cannot give way. *farthest (may be NULL): by how far at most, m. Where there is no such way
 * out, the error names who is in whose way, and all is as it was. Before attachments and cables are
 * added, which take their lengths from where bodies are. */
PL_API pl_status pl_scene_bring_out(pl_scene *scene, double *farthest);

/* What a scene holds. */
typedef struct pl_scene_info {
    int body_count, vertex_count, element_count; /* tets and cloth triangles of all bodies */
    int pin_count, pin_vertex_count, force_count, wind_count, collider_count;
    double mass; /* kg */
} pl_scene_info;

typedef struct pl_body_info {
    const char *name;                  /* the scene's */
    const pl_mesh *mesh;               /* the scene's copy of the rest shape */
    int vertex_offset, vertex_count;   /* its rows in arrays [n, .] */
    int element_offset, element_count; /* its rows in arrays [element_count] */
    bool cloth;
    double mass; /* kg */
} pl_body_info;

PL_API pl_scene_info pl_scene_get_info(const pl_scene *scene);
PL_API pl_scene_def pl_scene_get_def(const pl_scene *scene);
/* What info points to is the scene's, valid while the scene exists. */
PL_API pl_status pl_scene_body(const pl_scene *scene, int body, pl_body_info *info);
/* A collider as it was added. What def points to is the scene's, valid while the scene exists: the
 * name, the closed triangles of a mesh (NULL for other shapes), the table (no rows for one that stays
 * at its pose; otherwise pose is the first row). friction is the collider's own; PL_FRICTION tells the
 * present one of every body. */
PL_API pl_status pl_scene_collider(const pl_scene *scene, int collider, pl_collider_def *def);
/* Where a body has a point at the start, x in m: one of a tet that holds it, by its barycentric
 * coordinates, or of the nearest face, or of the cloth; refused further than 1e-6 of the body's extent
 * from it. */
PL_API pl_status pl_scene_point_at(const pl_scene *scene, int body, const double x[3], pl_point *point);
/* An attachment as it was added, with its present compliance. */
PL_API pl_status pl_scene_attachment(const pl_scene *scene, int index, pl_attachment_def *def);
/* A muscle with its present stiffness, its tets listed, a direction for each, and no path. What def
 * points to is the scene's. The table has no rows where the activation is constant. */
PL_API pl_status pl_scene_muscle(const pl_scene *scene, int muscle, pl_muscle_def *def);
/* A cable with its present compliance. What def points to is the scene's. The table has no rows where
 * the length is constant. */
PL_API pl_status pl_scene_cable(const pl_scene *scene, int cable, pl_cable_def *def);
/* A chamber with its triangles listed, counter-clockwise seen from outside the cavity. What def points
 * to is the scene's. The table has no rows where the pressure is constant. */
PL_API pl_status pl_scene_chamber(const pl_scene *scene, int chamber, pl_chamber_def *def);
/* What it encloses at q [n, 3], m^3. */
PL_API pl_status pl_chamber_volume(const pl_scene *scene, int chamber, const double *q, double *volume);
PL_API pl_context *pl_scene_context(const pl_scene *scene);

/* ------------------------------------------------------------------------------- channels */

/*
 * Everything a rollout depends on and can be differentiated by. A channel is an array of rows, [rows,
 * width]; the rows of its owners (bodies, pins, ...) follow each other in the order of the owners.
 * Inputs have such an array for every step. What each channel is, pl_channel_get tells: inputs,
 * parameters and gradients below are arrays by channel, and everything that lists them reads its table.
 */
typedef enum pl_channel {
    /* the start */
    PL_POSITION, /* m, of every vertex */
    PL_VELOCITY, /* m/s */
    /* inputs, that drive a step */
    PL_VERTEX_FORCE,  /* N on every vertex, added to the scene's forces */
    PL_FORCE,         /* of every force, in its own unit */
    PL_WIND,          /* m/s, of every wind */
    PL_PIN_TARGET,    /* m, of every pinned vertex */
    PL_COLLIDER_POSE, /* of every collider: position m, unit quaternion w,x,y,z; its derivative is per m
                         of translation (3) and per rad of rotation about the world axes through the
                         collider's position (3) */
    PL_ACTIVATION,    /* of every muscle, as its law takes it */
    PL_CABLE_LENGTH,  /* m, of every cable: what it is drawn to */
    PL_PRESSURE,      /* Pa, of every chamber */
    /* parameters, that stay as they are during a rollout */
    PL_YOUNG,                 /* Pa, of every element */
    PL_POISSON,               /* of every element */
    PL_DENSITY,               /* kg/m^3, of every element */
    PL_BENDING,               /* flexural rigidity, N m, of every element of cloth */
    PL_DAMPING,               /* mass-proportional, 1/s, of every element */
    PL_FRICTION,              /* of every collider with every body, [collider_count, body_count] */
    PL_COMPLIANCE,            /* m/N, of every pin */
    PL_ATTACHMENT_COMPLIANCE, /* m/N, of every attachment */
    PL_MUSCLE_STIFFNESS,      /* Pa, of every muscle */
    PL_CABLE_COMPLIANCE,      /* m/N, of every cable */
    PL_BODY_FRICTION, /* of bodies with each other, [body_count, body_count]: a pair's is in the row
                         of the one that was added first */
    PL_VISCOSITY,     /* Pa s, of every element */
    PL_YEOH2,         /* Pa, of every element */
    PL_YEOH3,
    PL_CHANNEL_COUNT
} pl_channel;

/* A set of channels: PL_BIT(PL_YOUNG) | PL_BIT(PL_FRICTION). */
typedef unsigned long long pl_channels;
#define PL_BIT(channel) (1ull << (channel))

typedef enum pl_role { PL_START, PL_INPUT, PL_PARAMETER } pl_role;

typedef enum pl_owner {
    PL_OWNER_BODY,
    PL_OWNER_FORCE,
    PL_OWNER_WIND,
    PL_OWNER_PIN,
    PL_OWNER_COLLIDER,
    PL_OWNER_ATTACHMENT,
    PL_OWNER_MUSCLE,
    PL_OWNER_CABLE,
    PL_OWNER_CHAMBER,
    PL_OWNER_COUNT
} pl_owner;

/* What an owner has rows for. */
typedef enum pl_row {
    PL_ROW_OWNER,   /* one for itself */
    PL_ROW_VERTEX,  /* each of its vertices */
    PL_ROW_ELEMENT, /* each of its elements */
    PL_ROW_BODY,    /* each body of the scene */
} pl_row;

/* What an input is within a step that is split. */
typedef enum pl_blend {
    PL_BLEND_HELD,   /* as at the step's end */
    PL_BLEND_LINEAR, /* between what the last step left and the end */
    PL_BLEND_POSE,   /* the same of poses */
} pl_blend;

typedef struct pl_channel_info {
    const char *name; /* "young" */
    const char *unit; /* "Pa"; "" of a pure number */
    pl_role role;
    pl_owner owner;
    pl_row row;
    int width;           /* numbers a row, */
    int gradient_width;  /* and of its derivative */
    double lower, upper; /* range of a parameter, */
    bool above;          /* the lower end of which does not belong to it */
    double usual;   /* of a parameter or input that is 0: the size of a moderate one; of a parameter 0 =
                       it cannot be moved, of an input 1 */
    pl_blend blend; /* of an input */
} pl_channel_info;

/* NULL if there is no such channel. */
PL_API const pl_channel_info *pl_channel_get(pl_channel channel);
/* The channel of that name, or PL_CHANNEL_COUNT. */
PL_API pl_channel pl_channel_find(const char *name);
PL_API const char *pl_owner_name(pl_owner owner); /* "body" */
PL_API int pl_scene_owner_count(const pl_scene *scene, pl_owner owner);
/* The rows of one owner, [*first, *first + *count), among those of the channel. */
PL_API pl_status pl_scene_rows(const pl_scene *scene, pl_channel channel, int owner, int *first,
                               int *count);
/* Of all owners. */
PL_API int pl_scene_row_count(const pl_scene *scene, pl_channel channel);

/*
 * The parameters of a scene as a value. The scene has its own, which rollouts and steps go by unless
 * they are told others. A rollout keeps the values it was run with, whatever is set afterwards.
 */
typedef struct pl_params pl_params;

PL_API pl_params *pl_scene_params(pl_scene *scene); /* the scene's own: not to be destroyed */
/* A copy of the scene's. While it exists the scene gets no new parts. */
PL_API pl_status pl_params_create(pl_scene *scene, pl_params **out);
PL_API void pl_params_destroy(pl_params *params); /* NULL is fine */
/* values [count]; count = 1 sets every value of the owner, otherwise count is the owner's number of
 * values. */
PL_API pl_status pl_params_set(pl_params *params, pl_channel channel, int owner, int count,
                               const double *values);
/* values [count]; count is the owner's number of values. */
PL_API pl_status pl_params_get(const pl_params *params, pl_channel channel, int owner, int count,
                               double *values);

/* ------------------------------------------------------------------------------- devices */

/* Called with a device's name, as pl_scene_def.device takes it, and why it cannot be used, or NULL;
 * valid during the call only. */
typedef void (*pl_device_fn)(void *user, const char *name, const char *fault);

/* Visits every device there is. Where there is no OpenCL, that is the fault of a device "opencl". */
PL_API void pl_devices(pl_context *ctx, pl_device_fn visit, void *user);

/* ------------------------------------------------------------------------------- state and step */

/* What a contact is between. */
typedef enum pl_contact_kind {
    PL_CONTACT_COLLIDER, /* a vertex and a collider; or an edge or a face, and a ridge of it */
    PL_CONTACT_FACE,     /* a vertex, then the three of a triangle of another body, */
    PL_CONTACT_EDGE,     /* or the two of an edge, */
    PL_CONTACT_VERTEX,   /* or another vertex */
    PL_CONTACT_EDGES,    /* the two vertices of an edge, then those of an edge of another body */
} pl_contact_kind;

/* Contact forces at the end of a step: the unknowns of the contact law, also its warm start. */
typedef struct pl_contact {
    int count;        /* vertices that meet: 1 against a collider, of an edge 2, of a face 3 */
    int vertex[4];    /* [count] of the scene, */
    double weight[4]; /* and how the motion of each counts: forces are shared alike, those of the
                         other body being negative */
    pl_contact_kind kind;
    int collider;            /* what they touch; -1 = another body */
    int ridge;               /* of the collider (its edges, corners or axis), that an edge or a face of
                                the body touches; -1 = the contact is no such one */
    double normal[3];        /* unit, out of the collider, or of the body with the negative weights */
    double gap;              /* m, along the normal, of the position as stored: eps^2/force_normal, but
                                for the rounding of that */
    double force_normal;     /* lambda_n, N */
    double force_tangent[3]; /* lambda_f as a world vector, N */
} pl_contact;

/* What a body feels from another, or from a collider, by all their contacts together. */
typedef struct pl_pair_force {
    int body;
    int other;          /* a body added later, or the same; -1: the collider */
    int collider;       /* -1: the other body, which feels the opposite */
    int contacts;       /* how many there are */
    double pressing;    /* N, the sum of their normal forces' sizes */
    double normal[3];   /* N, the sum of their normal forces, */
    double friction[3]; /* and that of their friction, on `body`, as world vectors; of a body with
                           itself 0 */
} pl_pair_force;

/* Of contacts [contact_count] that a state or pl_rollout_contacts has, by pair: *pairs [*count] sorted
 * by body, other and collider, those with bodies first. The caller's, freed with pl_free. */
PL_API pl_status pl_pair_forces(const pl_scene *scene, int contact_count, const pl_contact *contacts,
                                int *count, pl_pair_force **pairs);

/* The mutable part of a simulation. Plain data: read and write it freely between steps. */
typedef struct pl_state {
    int vertex_count;
    double *q;                       /* positions [n, 3] m */
    double *v;                       /* velocities [n, 3] m/s */
    double time;                     /* s */
    int step;                        /* steps done */
    double *input[PL_CHANNEL_COUNT]; /* [rows, width] of inputs that move during a step (pin_target,
                                        collider_pose, activation, cable_length, pressure): where the
                                        last one left them; others NULL */
    int contact_count, contact_capacity;
    pl_contact *contacts; /* [contact_count] of the last step; sorted by vertex, then collider */
    int live_count;
    double *live; /* [live_count] tensions of cables in the last step, N: of each its one, or those of
                     its segments */
    double before_length;        /* s, of the step that led here: where an integrator looks back at the
                                    state before it; 0 = at none, as it must be after q or v were changed */
    double *q_before, *v_before; /* [n, 3] that state; NULL with Euler */
    double *a, *a_before;        /* [n, 3] accelerations by all forces but those of contacts, m/s^2, of
                                    this state and that one; NULL but with TR-BDF2 */
} pl_state;

PL_API pl_status pl_state_create(const pl_scene *scene, pl_state **out); /* at the scene's start */
/* Into a state of the same scene, which exists already. */
PL_API pl_status pl_state_copy(const pl_scene *scene, const pl_state *from, pl_state *to);
PL_API void pl_state_destroy(const pl_scene *scene, pl_state *state); /* NULL is fine */
/* The pressure in a chamber after the last step, Pa above that outside: of one with gas at the volume
 * it has there. */
PL_API pl_status pl_chamber_pressure(const pl_scene *scene, int chamber, const pl_state *state,
                                     double *pressure);

/* What drives a step, by channel: of[PL_FORCE] and so on, [rows, width]; of a rollout [steps, rows,
 * width]. NULL takes the scene's own values at the end of the step. Only inputs may be given. */
typedef struct pl_inputs {
    const double *of[PL_CHANNEL_COUNT];
} pl_inputs;

enum {
    PL_STAGE_LOCAL,
    PL_STAGE_ASSEMBLE,
    PL_STAGE_FACTOR,
    PL_STAGE_SOLVE,
    PL_STAGE_CONTACT,
    PL_STAGE_OTHER,
    PL_STAGE_COUNT
};

typedef struct pl_step_info {
    bool converged;
    int iterations;       /* outer (Newton) iterations: moves towards the solution, all substeps */
    int inner_iterations; /* of the contact solver */
    int linear_solves;    /* applications of a factor */
    int factorizations;
    int splits;      /* times the step was halved */
    int choices;     /* times that two solutions were found: the one of lower incremental potential
                        was taken */
    int contacts;    /* candidates at the end */
    double residual; /* largest vertex move of the last Newton step, m (before it was made), or how
                        far a body as a whole is from balance after it, if that is more */
    double complementarity; /* largest |delta_n lambda_n / eps^2 - 1|, of the gaps before positions are
                               rounded to double: that alone moves them by more than a loaded gap */
    double cone_violation;  /* largest |lambda_f| - mu lambda_n, N; negative inside the cone */
    double penetration;     /* deepest, m; 0 when every gap is positive */
    double energy_kinetic, energy_elastic, energy_gravity; /* J, at the end */
    double milliseconds[PL_STAGE_COUNT];
} pl_step_info;

/* The workspace of a simulation: factors, caches, scratch memory. One scene may have several; while it
 * has any, only its parameters can change. */
typedef struct pl_sim pl_sim;

/* Refuses a start with something inside something else: bodies in colliders, colliders in bodies,
 * also between their vertices, and where bodies touch, bodies in each other or too close. What the
 * first step pushes out of a collider at less than 1 mm/s counts as outside. Warns through the log,
 * once a scene, of bodies whose boxes meet where they do not touch. */
PL_API pl_status pl_sim_create(pl_scene *scene, pl_sim **out);
PL_API void pl_sim_destroy(pl_sim *sim); /* NULL is fine */
PL_API pl_scene *pl_sim_scene(const pl_sim *sim);

/*
 * One time step. On failure the state is as it was before and the context's message names the step,
 * the body or contact, and the residual. inputs and info may be NULL.
 */
PL_API pl_status pl_step(pl_sim *sim, pl_state *state, const pl_inputs *inputs, pl_step_info *info);

/* Per-element fields at a state, for pictures. Each output may be NULL.
 * energy [element_count] J; stress [element_count, 9] Cauchy, Pa; von_mises [element_count] Pa. */
PL_API pl_status pl_element_fields(pl_sim *sim, const pl_state *state, double *energy, double *stress,
                                   double *von_mises);

/* ------------------------------------------------------------------------------- rollout */

/* Called after each step of a rollout; return false to stop with PL_ERROR_INTERRUPTED. */
typedef bool (*pl_progress_fn)(void *user, int step, const pl_state *state, const pl_step_info *info);

typedef struct pl_rollout_def {
    int steps;               /* default 100 */
    pl_inputs inputs;        /* default all NULL; borrowed until the last sweep is done */
    const pl_params *params; /* NULL = the scene's own; its present values are kept */
    bool tape;               /* keep what a backward or tangent sweep needs; default true */
    size_t memory_budget; /* bytes for the tape, 0 = no limit; below the full tape's size, some states
                             are kept (binomial schedule) and steps run again from them, with
                             bit-identical gradients. Three states and the tape of 64 steps are
                             needed whatever it says */
    pl_progress_fn progress; /* may be NULL */
    void *progress_user;
} pl_rollout_def;

typedef struct pl_rollout pl_rollout;

PL_API pl_rollout_def pl_rollout_def_default(void);
/* Advances `state` by def->steps steps. On failure *out is NULL and `state` is the last good state. */
PL_API pl_status pl_rollout_run(pl_sim *sim, pl_state *state, const pl_rollout_def *def,
                                pl_rollout **out);
PL_API void pl_rollout_destroy(pl_rollout *rollout); /* NULL is fine */
PL_API int pl_rollout_steps(const pl_rollout *rollout);
PL_API size_t pl_rollout_bytes(const pl_rollout *rollout); /* most that the tape took so far */
/* Positions and velocities after `step` steps (0 = the start): q, v [n, 3], each may be NULL.
 * Recomputes from a checkpoint when the tape was limited. */
PL_API pl_status pl_rollout_state(pl_rollout *rollout, int step, double *q, double *v);
/* The contacts at the end of that step, as its state had them. *contacts [*count] is the caller's,
 * freed with pl_free. Recomputes as above. */
PL_API pl_status pl_rollout_contacts(pl_rollout *rollout, int step, int *count, pl_contact **contacts);

/* ------------------------------------------------------------------------------- gradients */

/*
 * A loss as a sum of terms over states. Called for steps T, T-1, ..., 0 during the backward sweep;
 * add this state's term to *value and its derivatives to dq, dv [n, 3]. Return false to stop.
 */
typedef bool (*pl_loss_fn)(void *user, int step, const double *q, const double *v, double *value,
                           double *dq, double *dv);

/* Derivatives of a loss, in its unit per the unit of what it is derived by; also the direction of a
 * tangent sweep, in these units. Channels that were not asked for are NULL. */
typedef struct pl_gradient {
    pl_channels wanted;
    int steps;
    double *of[PL_CHANNEL_COUNT]; /* [rows, gradient_width]; of inputs [steps, rows, gradient_width] */
} pl_gradient;

PL_API pl_status pl_gradient_create(const pl_scene *scene, int steps, pl_channels wanted,
                                    pl_gradient **out);                        /* zeroed */
PL_API void pl_gradient_destroy(const pl_scene *scene, pl_gradient *gradient); /* NULL is fine */

/* How the adjoint system is solved. */
typedef enum pl_adjoint_solver {
    PL_ADJOINT_AUTO,
    PL_ADJOINT_DIRECT,        /* factor the tangent, dense LU in contact space */
    PL_ADJOINT_KRYLOV,        /* CG without friction, GMRES with */
    PL_ADJOINT_SEMI_IMPLICIT, /* the fixed-point splitting of DiffPD: a baseline */
} pl_adjoint_solver;

typedef enum pl_preconditioner {
    PL_PRECONDITION_NONE,
    PL_PRECONDITION_JACOBI,
    PL_PRECONDITION_INVERSE,  /* A^-1 */
    PL_PRECONDITION_WOODBURY, /* the tangent at rest, turned with the body, with the contact block */
    PL_PRECONDITION_LAGGED,   /* the factor of a recent tangent, with the contact block */
} pl_preconditioner;

typedef struct pl_adjoint_def {
    pl_adjoint_solver solver;
    pl_preconditioner preconditioner; /* of PL_ADJOINT_KRYLOV */
    double tolerance;                 /* of relative true residuals and, with PL_PRECONDITION_LAGGED,
                                         of the relative error of adjoint states; default 1e-8.
                                         Below that, as far as rounding lets it: see error */
    int max_iterations;               /* default 500 */
    double contact_epsilon2;          /* 0 = the forward solve's, as it must be for right gradients */
} pl_adjoint_def;

typedef struct pl_adjoint_info {
    double loss;
    int iterations;     /* linear iterations, all steps */
    int max_iterations; /* in the worst step */
    int factorizations;
    double residual;     /* largest relative true residual */
    double error;        /* with PL_PRECONDITION_LAGGED: the largest estimate of the relative error of
                            a step's adjoint state; else 0 */
    int recomputed;      /* steps run again because the tape was limited */
    double milliseconds; /* of the sweep, without recomputation */
} pl_adjoint_info;

PL_API pl_adjoint_def pl_adjoint_def_default(void);

/* One reverse sweep: adds dL/d(everything asked for in gradient) to gradient. def NULL = the defaults;
 * info may be NULL. */
PL_API pl_status pl_rollout_backward(pl_rollout *rollout, const pl_adjoint_def *def, pl_loss_fn loss,
                                     void *loss_user, pl_gradient *gradient, pl_adjoint_info *info);

/* Called with the derivative of the state after each step along the direction: dq, dv [n, 3]. */
typedef bool (*pl_tangent_fn)(void *user, int step, const double *q, const double *v, const double *dq,
                              const double *dv);

/* One forward sweep: the derivative of the whole trajectory along `direction`. def NULL = the defaults;
 * info may be NULL. */
PL_API pl_status pl_rollout_tangent(pl_rollout *rollout, const pl_adjoint_def *def,
                                    const pl_gradient *direction, pl_tangent_fn visit, void *user,
                                    pl_adjoint_info *info);

/* ------------------------------------------------------------------------------- batches */

/*
 * Many environments of one scene. Each has parameters and a state of its own; what follows from the
 * scene's structure they share. A pool of workers, one thread each, takes them one after the other, so
 * memory is that of the workers' sims and the environments' tapes. Results are those of a sim alone,
 * bit for bit, whatever the number of workers. One that fails leaves the others unharmed.
 */
typedef struct pl_batch pl_batch;

typedef struct pl_batch_def {
    int environments; /* >= 1; default 1 */
    int workers;      /* 0 (default) = the context's threads; never more than environments */
} pl_batch_def;

PL_API pl_batch_def pl_batch_def_default(void);
/* With the scene's present parameters, at its start. While it exists the scene gets no new parts. An
 * allocator or a log of the caller's is called by the workers, several at once. */
PL_API pl_status pl_batch_create(pl_scene *scene, const pl_batch_def *def, pl_batch **out);
PL_API void pl_batch_destroy(pl_batch *batch); /* NULL is fine */
PL_API int pl_batch_environments(const pl_batch *batch);
PL_API int pl_batch_workers(const pl_batch *batch);
/* An environment's own, the batch's to destroy; NULL if there is no such environment. */
PL_API pl_params *pl_batch_params(pl_batch *batch, int environment);
PL_API pl_state *pl_batch_state(pl_batch *batch, int environment);
/* A parameter, or the start's positions or velocities: values [environments, rows, width], or with
 * environments = 1 the same [rows, width] for all. */
PL_API pl_status pl_batch_set(pl_batch *batch, pl_channel channel, int environments,
                              const double *values);
/* An environment as it was made: with the scene's present parameters, at its start; -1 = all. */
PL_API pl_status pl_batch_reset(pl_batch *batch, int environment);

/* As pl_progress_fn; called by the workers, several at once. False stops all environments. */
typedef bool (*pl_batch_progress_fn)(void *user, int environment, int step, const pl_state *state,
                                     const pl_step_info *info);

typedef struct pl_batch_run_def {
    int steps;                        /* default 100 */
    pl_inputs inputs;                 /* [environments, steps, rows, width]; borrowed until the last
                                         sweep is done */
    int inputs_for[PL_CHANNEL_COUNT]; /* how many environments each is given for: all of them, which
                                         is 0 (default) too, or 1, the same for all */
    size_t memory_budget;             /* bytes for the tapes of all environments together, 0 = no
                                         limit; each gets an equal part (pl_rollout_def) */
    double *q, *v;                    /* [environments, steps + 1, n, 3] that the states go into, the
                                         first being the start; each may be NULL */
    pl_step_info *info;               /* [environments, steps] the same; may be NULL */
    pl_batch_progress_fn progress;    /* may be NULL */
    void *progress_user;
} pl_batch_run_def;

PL_API pl_batch_run_def pl_batch_run_def_default(void);

/* The tapes of a run: of each environment its pl_rollout. They go before their batch. */
typedef struct pl_rollouts pl_rollouts;

/* Advances the states of all environments. PL_OK if all were; otherwise the status of the first that
 * was not, and the message says which and why. The others are whole, and states of failed ones are
 * their last good ones. out NULL keeps no tapes; *out is there also where environments failed, and NULL
 * if the run could not begin. */
PL_API pl_status pl_batch_run(pl_batch *batch, const pl_batch_run_def *def, pl_rollouts **out);
PL_API void pl_rollouts_destroy(pl_rollouts *rollouts); /* NULL is fine */
/* Most that they took so far, all together. */
PL_API size_t pl_rollouts_bytes(const pl_rollouts *rollouts);
/* pl_rollout_contacts of an environment. *contacts is the caller's, freed with pl_free. */
PL_API pl_status pl_rollouts_contacts(pl_rollouts *rollouts, int environment, int step, int *count,
                                      pl_contact **contacts);
/* What became of an environment in the batch's last run or sweep. *message (may be NULL) is empty, or
 * says what went wrong; it is the batch's, valid until the next run or sweep. */
PL_API pl_status pl_batch_status(const pl_batch *batch, int environment, const char **message);

/* As pl_loss_fn; called by the workers, several at once. */
typedef bool (*pl_batch_loss_fn)(void *user, int environment, int step, const double *q,
                                 const double *v, double *value, double *dq, double *dv);

/* Room for the gradients of all environments: of[channel] [environments, ...], zeroed. For
 * pl_gradient_destroy. */
PL_API pl_status pl_batch_gradient_create(const pl_batch *batch, int steps, pl_channels wanted,
                                          pl_gradient **out);
/* pl_rollout_backward of all of them. info [environments] may be NULL. The status is as pl_batch_run's,
 * environments that failed there counted; of one that fails here the gradient is not whole. */
PL_API pl_status pl_rollouts_backward(pl_rollouts *rollouts, const pl_adjoint_def *def,
                                      pl_batch_loss_fn loss, void *loss_user, pl_gradient *gradient,
                                      pl_adjoint_info *info);
/* The same of a loss that is known by its derivatives dq, dv [environments, steps + 1, n, 3], each of
 * which may be NULL. */
PL_API pl_status pl_rollouts_pull(pl_rollouts *rollouts, const pl_adjoint_def *def, const double *dq,
                                  const double *dv, pl_gradient *gradient, pl_adjoint_info *info);
/* pl_rollout_tangent of all of them: the derivatives of the states along a direction, which
 * pl_batch_gradient_create made, into dq, dv [environments, steps + 1, n, 3], each of which may be
 * NULL. */
PL_API pl_status pl_rollouts_tangent(pl_rollouts *rollouts, const pl_adjoint_def *def,
                                     const pl_gradient *direction, double *dq, double *dv,
                                     pl_adjoint_info *info);
/* pl_batch_run and pl_rollouts_backward in one: each environment is swept back as soon as it was
 * advanced, and its tape dropped, so that memory does not grow with their number. A memory budget is
 * shared by the workers. */
PL_API pl_status pl_batch_evaluate(pl_batch *batch, const pl_batch_run_def *run,
                                   const pl_adjoint_def *def, pl_batch_loss_fn loss, void *loss_user,
                                   pl_gradient *gradient, pl_adjoint_info *info);

#ifdef __cplusplus
}
#endif
#endif
