/*
 * Every key of a scene file: where its value goes, type, range, unit, and a sentence for the reader.
 * The loader checks and reads by these tables and docs/scene.schema.json is printed from them, so the
 * three cannot disagree. Defaults are those of the C structs.
 */
#include "io/scene_spec.h"

#include "contact/collider_shapes.h"

#include <stddef.h>

#define AT(type, field) .offset = offsetof(type, field)
#define ANY             .lower = 0, .upper = 0
#define POSITIVE        .lower = 0, .upper = HUGE_VAL, .above = true
#define NOT_NEGATIVE    .lower = 0, .upper = HUGE_VAL
#define BETWEEN(a, b)   .lower = (a), .upper = (b)
#define FROM(a)         .lower = (a), .upper = HUGE_VAL
#define EXTENT          .lower = 0, .upper = PL_COLLIDER_LARGEST, .above = true
#define UNREAD          .offset = PL_KEY_UNREAD
#define COUNT(array)    .key_count = (int)(sizeof(array) / sizeof *(array)), .keys = (array)

/* ------------------------------------------------------------------------------- meshes */

static const pl_key box_keys[] = {
    {"size", PL_KEY_VECTOR, AT(pl_mesh_source, size), .length = 3, POSITIVE, .required = true,
     .unit = "m", .doc = "Extents; the box reaches from the origin to here."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const pl_key hollow_box_keys[] = {
    {"size", PL_KEY_VECTOR, AT(pl_mesh_source, size), .length = 3, POSITIVE, .required = true,
     .unit = "m", .doc = "Extents; the box reaches from the origin to here."},
    {"wall", PL_KEY_NUMBER, AT(pl_mesh_source, wall), POSITIVE, .required = true, .unit = "m",
     .doc = "Thickness to aim at, of a whole number of cells."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const char *const cut_names[] = {"alternating", "diagonal", NULL};

static const pl_key grid_keys[] = {
    {"nodes", PL_KEY_INTEGERS, AT(pl_mesh_source, nodes), .length = 3, FROM(2), .required = true,
     .doc = "Nodes along x, y and z."},
    {"spacing", PL_KEY_NUMBER, AT(pl_mesh_source, spacing), POSITIVE, .required = true, .unit = "m",
     .doc = "Distance of neighbouring nodes."},
    {"cut", PL_KEY_CHOICE, AT(pl_mesh_source, cut), .choices = cut_names,
     .doc = "alternating: five tets a cube, as boxes and bars are; diagonal: six around the same "
            "diagonal, which is stiffer and bends sideways."},
};
static const pl_key bar_keys[] = {
    {"length", PL_KEY_NUMBER, AT(pl_mesh_source, length), POSITIVE, .required = true, .unit = "m",
     .doc = "Along x, from 0."},
    {"width", PL_KEY_NUMBER, AT(pl_mesh_source, width), POSITIVE, .required = true, .unit = "m",
     .doc = "Along y, about 0."},
    {"height", PL_KEY_NUMBER, AT(pl_mesh_source, height), POSITIVE, .required = true, .unit = "m",
     .doc = "Along z, about 0."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const pl_key cylinder_keys[] = {
    {"radius", PL_KEY_NUMBER, AT(pl_mesh_source, radius), POSITIVE, .required = true, .unit = "m",
     .doc = "About the z axis."},
    {"height", PL_KEY_NUMBER, AT(pl_mesh_source, height), POSITIVE, .required = true, .unit = "m",
     .doc = "Along z, from 0."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const pl_key ellipsoid_keys[] = {
    {"radii", PL_KEY_VECTOR, AT(pl_mesh_source, radii), .length = 3, POSITIVE, .required = true,
     .unit = "m", .doc = "Half axes, about the origin."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const pl_key rectangle_keys[] = {
    {"width", PL_KEY_NUMBER, AT(pl_mesh_source, width), POSITIVE, .required = true, .unit = "m",
     .doc = "Along x, from 0."},
    {"height", PL_KEY_NUMBER, AT(pl_mesh_source, height), POSITIVE, .required = true, .unit = "m",
     .doc = "Along y, from 0."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
static const pl_key disc_keys[] = {
    {"radius", PL_KEY_NUMBER, AT(pl_mesh_source, radius), POSITIVE, .required = true, .unit = "m",
     .doc = "About the origin, in the plane z = 0."},
    {"cell", PL_KEY_NUMBER, AT(pl_mesh_source, cell), POSITIVE, .required = true, .unit = "m",
     .doc = "Edge length to aim at."},
};
const char *const pl_group_keys[] = {"vertex_groups", "tet_groups", "triangle_groups"};
static const pl_key array_keys[] = {
    {"vertices", PL_KEY_POINTS, UNREAD, .length = 3, .required = true, .unit = "m",
     .doc = "Positions, a row for each."},
    {"tets", PL_KEY_CORNERS, UNREAD, .length = 4,
     .doc = "Of a solid: four vertices a row, (x1-x0)x(x2-x0).(x3-x0) > 0."},
    {"triangles", PL_KEY_CORNERS, UNREAD, .length = 3,
     .doc = "Of cloth or a surface: three vertices a row, counter-clockwise seen from outside."},
    {"vertex_groups", PL_KEY_SETS, UNREAD, .doc = "Named vertices."},
    {"tet_groups", PL_KEY_SETS, UNREAD, .doc = "Named tets."},
    {"triangle_groups", PL_KEY_SETS, UNREAD, .doc = "Named triangles."},
};
static const pl_spec array_spec = {.title = "mesh's arrays", COUNT(array_keys)};
static const pl_spec box_spec = {.title = "box", COUNT(box_keys)};
static const pl_spec hollow_box_spec = {.title = "hollow box", COUNT(hollow_box_keys)};
static const pl_spec grid_spec = {.title = "grid", COUNT(grid_keys)};
static const pl_spec bar_spec = {.title = "bar", COUNT(bar_keys)};
static const pl_spec cylinder_spec = {.title = "cylinder", COUNT(cylinder_keys)};
static const pl_spec ellipsoid_spec = {.title = "ellipsoid", COUNT(ellipsoid_keys)};
static const pl_spec rectangle_spec = {.title = "rectangle", COUNT(rectangle_keys)};
static const pl_spec disc_spec = {.title = "disc", COUNT(disc_keys)};

static void mesh_defaults(void *into)
{
    *(pl_mesh_source *)into = (pl_mesh_source){0};
}

static const pl_key mesh_keys[] = {
    {"box", PL_KEY_OBJECT, .spec = &box_spec, .doc = "Solid box."},
    {"hollow_box", PL_KEY_OBJECT, .spec = &hollow_box_spec, .doc = "Solid box around a hollow one."},
    {"grid", PL_KEY_OBJECT, .spec = &grid_spec, .doc = "Solid box given by its nodes."},
    {"bar", PL_KEY_OBJECT, .spec = &bar_spec, .doc = "Solid bar along x; groups left, right."},
    {"cylinder", PL_KEY_OBJECT, .spec = &cylinder_spec, .doc = "Solid cylinder; groups bottom, top."},
    {"ellipsoid", PL_KEY_OBJECT, .spec = &ellipsoid_spec, .doc = "Solid ellipsoid."},
    {"rectangle", PL_KEY_OBJECT, .spec = &rectangle_spec,
     .doc = "Cloth in the plane z = 0; groups left, right, bottom, top, corner00, corner10, corner01, "
            "corner11."},
    {"disc", PL_KEY_OBJECT, .spec = &disc_spec, .doc = "Cloth disc; group rim."},
    {"file", PL_KEY_TEXT, AT(pl_mesh_source, file),
     .doc = "Mesh file (.msh, .mesh, .vtk, .vtu, .node, .ele, .obj), relative to the scene."},
    {"arrays", PL_KEY_OBJECT, UNREAD, .spec = &array_spec, .doc = "Its vertices and elements."},
    {"shape", PL_KEY_TEXT, AT(pl_mesh_source, shape), .doc = "Built-in body by name, such as bunny."},
    {"surface", PL_KEY_TEXT, AT(pl_mesh_source, surface),
     .doc = "Closed surface to fill with tets (.obj, .stl, .ply or a mesh), relative to the scene."},
    {"vertices", PL_KEY_INTEGER, AT(pl_mesh_source, vertices), FROM(0), .goes_with = "shape surface",
     .doc = "How many to aim at; 0 = the shape's own number, or 2000 for a surface."},
};
const pl_spec pl_spec_mesh = {.title = "mesh",
                              .one_of = true,
                              COUNT(mesh_keys),
                              .size = sizeof(pl_mesh_source),
                              .defaults = mesh_defaults};

/* ------------------------------------------------------------------------------- bodies */

static const pl_key turn_keys[] = {
    {"axis", PL_KEY_VECTOR, AT(pl_turn, axis), .length = 3, ANY, .required = true,
     .doc = "Direction to turn about; any length but 0."},
    {"degrees", PL_KEY_NUMBER, AT(pl_turn, degrees), ANY, .required = true, .unit = "degrees",
     .doc = "Angle, counter-clockwise seen against the axis."},
};
static const pl_spec turn_spec = {.title = "rotation", COUNT(turn_keys)};

static void transform_defaults(void *into)
{
    *(pl_transform *)into = (pl_transform){.scale = 1, .rotate = {.axis = {0, 0, 1}}};
}

static const pl_key transform_keys[] = {
    {"scale", PL_KEY_NUMBER, AT(pl_transform, scale), POSITIVE, .doc = "Applied first."},
    {"rotate", PL_KEY_OBJECT, AT(pl_transform, rotate), .spec = &turn_spec,
     .doc = "Applied second, about the origin."},
    {"translate", PL_KEY_VECTOR, AT(pl_transform, translate), .length = 3, ANY, .unit = "m",
     .doc = "Applied last."},
};
const pl_spec pl_spec_transform = {.title = "transform",
                                   COUNT(transform_keys),
                                   .size = sizeof(pl_transform),
                                   .defaults = transform_defaults};

static const char *const model_names[] = {"arap", "corotated", "neo_hookean", NULL};
static const char *const reading_names[] = {"exact", "projective", NULL};

static const pl_key material_keys[] = {
    {"model", PL_KEY_CHOICE, AT(pl_body_def, model), .choices = model_names, .doc = "Elastic energy."},
    {"reading", PL_KEY_CHOICE, AT(pl_body_def, reading), .choices = reading_names,
     .doc = "exact: stress is the energy's derivative; projective: the body feels the energy's Moreau "
            "envelope, as local-global solvers do."},
    {"young", PL_KEY_FIELD, AT(pl_body_def, young), POSITIVE, .unit = "Pa", .doc = "Young's modulus."},
    {"poisson", PL_KEY_FIELD, AT(pl_body_def, poisson), BETWEEN(0, 0.499),
     .doc = "Poisson's ratio; ignored by arap."},
    {"density", PL_KEY_FIELD, AT(pl_body_def, density), POSITIVE, .unit = "kg/m^3", .doc = "Density."},
    {"thickness", PL_KEY_NUMBER, AT(pl_body_def, thickness), POSITIVE, .unit = "m", .doc = "Of cloth."},
    {"bending", PL_KEY_FIELD, AT(pl_body_def, bending), NOT_NEGATIVE, .unit = "N m",
     .doc = "Flexural rigidity of cloth."},
    {"damping", PL_KEY_FIELD, AT(pl_body_def, damping), NOT_NEGATIVE, .unit = "1/s",
     .doc = "Mass-proportional damping."},
    {"viscosity", PL_KEY_FIELD, AT(pl_body_def, viscosity), NOT_NEGATIVE, .unit = "Pa s",
     .doc = "Of the material: stress is twice this times the rate of strain."},
    {"yeoh2", PL_KEY_FIELD, AT(pl_body_def, yeoh2), ANY, .unit = "Pa",
     .doc = "c2 of rubber that stiffens: c2 k^2 + c3 k^3 is added to the energy density, k = |F|^2 - "
            "3; c1 "
            "is half the shear modulus."},
    {"yeoh3", PL_KEY_FIELD, AT(pl_body_def, yeoh3), ANY, .unit = "Pa", .doc = "And c3."},
    {"mean_volume", PL_KEY_BOOLEAN, AT(pl_body_def, mean_volume),
     .doc = "Changes of volume are resisted by patches of some five tets, not by each: for exact "
            "neo_hookean solids whose Poisson's ratio is above 0.45."},
};
static const pl_spec material_spec = {.title = "material", COUNT(material_keys)};

static void body_defaults(void *into)
{
    *(pl_body_def *)into = pl_body_def_default();
}

static const pl_key body_keys[] = {
    {"name", PL_KEY_TEXT, AT(pl_body_def, name), .doc = "By which other parts refer to it."},
    {"mesh", PL_KEY_OBJECT, UNREAD, .spec = &pl_spec_mesh, .required = true, .doc = "Rest shape."},
    {"transform", PL_KEY_OBJECT, UNREAD, .spec = &pl_spec_transform, .doc = "Moves the rest shape."},
    {"material", PL_KEY_OBJECT, .spec = &material_spec, .doc = "What it is made of."},
    {"velocity", PL_KEY_VECTOR, AT(pl_body_def, velocity), .length = 3, ANY, .unit = "m/s",
     .doc = "At the start."},
    {"angular_velocity", PL_KEY_VECTOR, AT(pl_body_def, angular_velocity), .length = 3, ANY,
     .unit = "rad/s", .doc = "At the start, about the centre of mass."},
    {"positions", PL_KEY_POINTS, UNREAD, .length = 3, .unit = "m",
     .doc = "At the start, one row per vertex; without them the body starts in its rest shape."},
    {"velocities", PL_KEY_POINTS, UNREAD, .length = 3, .unit = "m/s",
     .doc = "At the start, one row per vertex; instead of velocity and angular_velocity."},
    {"lumped_equally", PL_KEY_BOOLEAN, AT(pl_body_def, lumped_equally),
     .doc = "Every vertex gets the same share of the mass."},
    {"self_contact", PL_KEY_BOOLEAN, AT(pl_body_def, self_contact),
     .doc = "Whether it touches itself where it folds, or passes through."},
    {"contact_offset", PL_KEY_NUMBER, AT(pl_body_def, contact_offset), BETWEEN(0, 1e3), .unit = "m",
     .doc = "What it adds to how far surfaces of bodies are kept apart; 0 = a hundredth of its edges, "
            "less where its own parts are nearer."},
};
const pl_spec pl_spec_body = {
    .title = "body", COUNT(body_keys), .size = sizeof(pl_body_def), .defaults = body_defaults};

/* ------------------------------------------------------------------------------- pins, forces, wind */

static void pin_defaults(void *into)
{
    *(pl_pin_def *)into = pl_pin_def_default();
}

static const pl_key pin_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"vertices", PL_KEY_VERTICES, UNREAD, .required = true,
     .doc = "Which vertices: indices, a group, or those whose rest position lies in a box."},
    {"compliance", PL_KEY_NUMBER, AT(pl_pin_def, compliance), POSITIVE, .unit = "m/N",
     .doc = "Of the spring that holds each vertex."},
    {"offset", PL_KEY_ROWS, UNREAD, .length = 3, .unit = "m",
     .doc = "Moves the targets over time from the initial positions."},
    {"rotation", PL_KEY_ROWS, UNREAD, .length = 4,
     .doc = "Turns the targets about the pivot over time: rows [s, axis x, y, z, rad]."},
    {"pivot", PL_KEY_VECTOR, AT(pl_pin_def, pivot), .length = 3, ANY, .unit = "m",
     .doc = "What the rotation turns about."},
    {"normal", PL_KEY_VECTOR, AT(pl_pin_def, normal), .length = 3, ANY,
     .doc = "The direction that vertices are held along, of any length; without it all directions."},
};
const pl_spec pl_spec_pin = {
    .title = "pin", COUNT(pin_keys), .size = sizeof(pl_pin_def), .defaults = pin_defaults};

static void force_defaults(void *into)
{
    *(pl_force_def *)into = pl_force_def_default();
}

static const char *const per_names[] = {"vertex", "group", "mass", NULL};

static const pl_key force_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"vertices", PL_KEY_VERTICES, UNREAD, .doc = "As for pins; without it the whole body."},
    {"per", PL_KEY_CHOICE, AT(pl_force_def, per), .choices = per_names,
     .doc = "vertex: N on every vertex; group: N in all, shared equally; mass: N/kg."},
    {"value", PL_KEY_VECTOR, AT(pl_force_def, value), .length = 3, ANY, .unit = "N or N/kg",
     .doc = "Force."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 3, .unit = "N or N/kg",
     .doc = "Force over time, instead of value."},
};
const pl_spec pl_spec_force = {
    .title = "force", COUNT(force_keys), .size = sizeof(pl_force_def), .defaults = force_defaults};

static void wind_defaults(void *into)
{
    *(pl_wind_def *)into = pl_wind_def_default();
}

static const pl_key wind_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"drag", PL_KEY_NUMBER, AT(pl_wind_def, drag), NOT_NEGATIVE, .unit = "N s/m^3",
     .doc = "Force per area and normal relative speed."},
    {"velocity", PL_KEY_VECTOR, AT(pl_wind_def, velocity), .length = 3, ANY, .unit = "m/s",
     .doc = "Of the air."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 3, .unit = "m/s",
     .doc = "Over time, instead of velocity."},
};
const pl_spec pl_spec_wind = {
    .title = "wind", COUNT(wind_keys), .size = sizeof(pl_wind_def), .defaults = wind_defaults};

static void attachment_defaults(void *into)
{
    *(pl_attachment_def *)into = pl_attachment_def_default();
}

static const pl_key attachment_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"vertices", PL_KEY_INTEGERS, UNREAD, .length = -1, NOT_NEGATIVE, .required = true,
     .doc = "One vertex of the body, or up to four whose weighted mean is the point."},
    {"weights", PL_KEY_VECTOR, UNREAD, .length = -1, ANY,
     .doc = "Of the vertices, adding up to 1; equal ones by default."},
    {"to_body", PL_KEY_REFERENCE, UNREAD, .doc = "The other body, or the same."},
    {"to_vertices", PL_KEY_INTEGERS, UNREAD, .length = -1, NOT_NEGATIVE, .doc = "Of that body."},
    {"to_weights", PL_KEY_VECTOR, UNREAD, .length = -1, ANY, .doc = "As weights."},
    {"to_collider", PL_KEY_REFERENCE, UNREAD,
     .doc = "Instead of to_body: the point is held where it is at the start in the collider's frame."},
    {"compliance", PL_KEY_NUMBER, AT(pl_attachment_def, compliance), POSITIVE, .unit = "m/N",
     .doc = "Of the spring that pulls the points together."},
};
const pl_spec pl_spec_attachment = {.title = "attachment",
                                    COUNT(attachment_keys),
                                    .size = sizeof(pl_attachment_def),
                                    .defaults = attachment_defaults};

/* ------------------------------------------------------------------------------- actuators */

static void muscle_defaults(void *into)
{
    *(pl_muscle_def *)into = pl_muscle_def_default();
}

static const char *const law_names[] = {"tension", "spring", "force", NULL};

static const pl_key muscle_keys[] = {
    {"name", PL_KEY_TEXT, AT(pl_muscle_def, name), .doc = "By which messages and tasks refer to it."},
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index of a solid."},
    {"elements", PL_KEY_ELEMENTS, UNREAD,
     .doc = "Which tets: indices, a group, or those whose centre lies in a box of the rest shape; "
            "without them those around the path, or else all."},
    {"path", PL_KEY_POINTS, UNREAD, .length = 3, .unit = "m",
     .doc = "Polyline in the rest shape; fibres run along its segment nearest to them."},
    {"paths", PL_KEY_POLYLINES, UNREAD, .length = 3, .unit = "m",
     .doc = "Several of them, instead of path: fibres run along the nearest."},
    {"radius", PL_KEY_NUMBER, AT(pl_muscle_def, radius), NOT_NEGATIVE, .unit = "m",
     .doc = "Instead of elements: tets whose centre is so near to the path."},
    {"direction", PL_KEY_VECTOR, UNREAD, .length = 3, ANY,
     .doc = "Of all fibres in the rest shape, of any length but 0."},
    {"directions", PL_KEY_POINTS, UNREAD, .length = 3,
     .doc = "One for each of the listed elements, instead of direction."},
    {"law", PL_KEY_CHOICE, AT(pl_muscle_def, law), .choices = law_names,
     .doc = "tension: pulls to the length 1 - activation and never pushes; spring: pushes as well; "
            "force: pulls in proportion to activation and length."},
    {"stiffness", PL_KEY_NUMBER, AT(pl_muscle_def, stiffness), POSITIVE, .unit = "Pa",
     .doc = "Of the fibres."},
    {"activation", PL_KEY_NUMBER, AT(pl_muscle_def, activation), ANY,
     .doc = "< 1 for tension and spring, >= 0 for force."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 1, .doc = "Activation over time, instead of activation."},
};
const pl_spec pl_spec_muscle = {
    .title = "muscle", COUNT(muscle_keys), .size = sizeof(pl_muscle_def), .defaults = muscle_defaults};

static const pl_key point_keys[] = {
    {"vertex", PL_KEY_INTEGER, UNREAD, NOT_NEGATIVE, .doc = "A vertex of the body."},
    {"vertices", PL_KEY_INTEGERS, UNREAD, .length = -1, NOT_NEGATIVE,
     .doc = "Up to four vertices of the body, whose weighted mean is the point."},
    {"at", PL_KEY_VECTOR, UNREAD, .length = 3, ANY, .unit = "m",
     .doc = "The point of the body that is here at the start."},
    {"fixed", PL_KEY_VECTOR, UNREAD, .length = 3, ANY, .unit = "m", .doc = "A place in the world."},
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .goes_with = "vertex vertices at",
     .doc = "Name or index."},
    {"weights", PL_KEY_VECTOR, UNREAD, .length = -1, ANY, .goes_with = "vertices",
     .doc = "Of the vertices, adding up to 1; equal ones by default."},
};
static const pl_spec point_spec = {.title = "point", .one_of = true, COUNT(point_keys)};

static void cable_defaults(void *into)
{
    *(pl_cable_def *)into = pl_cable_def_default();
}

static const pl_key cable_keys[] = {
    {"name", PL_KEY_TEXT, AT(pl_cable_def, name), .doc = "By which messages and tasks refer to it."},
    {"points", PL_KEY_LIST, UNREAD, .spec = &point_spec, .required = true,
     .doc = "What it runs through, two or more, in this order."},
    {"segments", PL_KEY_BOOLEAN, AT(pl_cable_def, segments),
     .doc = "false: it slides through its points, with one tension; true: it is held at them, each "
            "segment with its own."},
    {"two_way", PL_KEY_BOOLEAN, AT(pl_cable_def, two_way),
     .doc = "false: it pulls and goes slack; true: it pushes as well."},
    {"length", PL_KEY_NUMBER, AT(pl_cable_def, length), NOT_NEGATIVE, .unit = "m",
     .doc = "What it is drawn to; 0 = as long as at the start."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 1, .unit = "m",
     .doc = "Length over time, instead of length."},
    {"compliance", PL_KEY_NUMBER, AT(pl_cable_def, compliance), NOT_NEGATIVE, .unit = "m/N",
     .doc = "Of the whole length; 0 does not stretch."},
};
const pl_spec pl_spec_cable = {
    .title = "cable", COUNT(cable_keys), .size = sizeof(pl_cable_def), .defaults = cable_defaults};

static void chamber_defaults(void *into)
{
    *(pl_chamber_def *)into = pl_chamber_def_default();
}

static const pl_key chamber_keys[] = {
    {"name", PL_KEY_TEXT, AT(pl_chamber_def, name), .doc = "By which messages and tasks refer to it."},
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"triangles", PL_KEY_CORNERS, UNREAD, .length = 3,
     .doc = "Of the body's boundary, three vertices a row: closed and all turned the same way."},
    {"group", PL_KEY_TEXT, UNREAD, .doc = "Instead: a group of triangles of the mesh."},
    {"inside", PL_KEY_VECTOR, UNREAD, .length = 3, ANY, .unit = "m",
     .doc = "Instead: a point in the cavity, in the rest shape."},
    {"cavity", PL_KEY_INTEGER, AT(pl_chamber_def, cavity), FROM(0),
     .doc = "Instead: the number of the cavity among those of the body."},
    {"pressure", PL_KEY_NUMBER, AT(pl_chamber_def, pressure), ANY, .unit = "Pa",
     .doc = "Above that outside; negative draws the walls in."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 1, .unit = "Pa",
     .doc = "Pressure over time, instead of pressure."},
    {"gas", PL_KEY_BOOLEAN, AT(pl_chamber_def, gas),
     .doc = "false: the pressure is given, at any volume; true: the amount of gas is, by the pressure "
            "that it has at the volume at rest."},
    {"ambient", PL_KEY_NUMBER, AT(pl_chamber_def, ambient), NOT_NEGATIVE, .unit = "Pa",
     .doc = "Pressure outside, for gas."},
};
const pl_spec pl_spec_chamber = {.title = "chamber",
                                 COUNT(chamber_keys),
                                 .size = sizeof(pl_chamber_def),
                                 .defaults = chamber_defaults};

/* ------------------------------------------------------------------------------- colliders */

static void collider_defaults(void *into)
{
    *(pl_collider_source *)into = (pl_collider_source){
        .def = pl_collider_def_default(),
        .rotate = {.axis = {0, 0, 1}},
    };
}

static const pl_key sphere_keys[] = {
    {"radius", PL_KEY_NUMBER, AT(pl_collider_source, def.size[0]), EXTENT, .required = true,
     .unit = "m", .doc = "About the centre."},
};
static const pl_key box_shape_keys[] = {
    {"half_extents", PL_KEY_VECTOR, AT(pl_collider_source, def.size), .length = 3, EXTENT,
     .required = true, .unit = "m", .doc = "From the centre to the faces."},
};
static const pl_key round_keys[] = {
    {"radius", PL_KEY_NUMBER, AT(pl_collider_source, def.size[0]), EXTENT, .required = true,
     .unit = "m", .doc = "About the z axis of its frame."},
    {"half_height", PL_KEY_NUMBER, AT(pl_collider_source, def.size[1]), EXTENT, .required = true,
     .unit = "m", .doc = "From the centre along z; without a capsule's caps."},
};
static const pl_spec half_space_spec = {.title = "half space"};
static const pl_spec sphere_spec = {.title = "sphere", COUNT(sphere_keys)};
static const pl_spec box_shape_spec = {.title = "box", COUNT(box_shape_keys)};
static const pl_spec cylinder_shape_spec = {.title = "cylinder", COUNT(round_keys)};
static const pl_spec capsule_spec = {.title = "capsule", COUNT(round_keys)};

/* In the order of pl_shape, from which the builder tells the shape. */
static const pl_key shape_keys[] = {
    [PL_HALF_SPACE] = {"half_space", PL_KEY_OBJECT, .spec = &half_space_spec,
                       .doc = "z <= 0 of its frame is solid."},
    [PL_SPHERE] = {"sphere", PL_KEY_OBJECT, .spec = &sphere_spec, .doc = "Ball."},
    [PL_BOX] = {"box", PL_KEY_OBJECT, .spec = &box_shape_spec, .doc = "Box about its centre."},
    [PL_CYLINDER] = {"cylinder", PL_KEY_OBJECT, .spec = &cylinder_shape_spec,
                     .doc = "Cylinder about z."},
    [PL_CAPSULE] = {"capsule", PL_KEY_OBJECT, .spec = &capsule_spec, .doc = "Capsule about z."},
    [PL_MESH] = {"mesh", PL_KEY_OBJECT, UNREAD, .spec = &pl_spec_mesh,
                 .doc = "Closed surface: the boundary of a solid mesh, or a file's triangles."},
};
const pl_spec pl_spec_shape = {.title = "shape", .one_of = true, COUNT(shape_keys)};

static const pl_key collider_keys[] = {
    {"name", PL_KEY_TEXT, AT(pl_collider_source, def.name), .doc = "By which other parts refer to it."},
    {"shape", PL_KEY_OBJECT, .spec = &pl_spec_shape, .required = true, .doc = "Rigid obstacle."},
    {"friction", PL_KEY_NUMBER, AT(pl_collider_source, def.friction), BETWEEN(0, 1000),
     .doc = "Coefficient with every body; 0 is exactly frictionless."},
    {"position", PL_KEY_VECTOR, AT(pl_collider_source, position), .length = 3, ANY, .unit = "m",
     .doc = "Of its frame."},
    {"rotate", PL_KEY_OBJECT, AT(pl_collider_source, rotate), .spec = &turn_spec,
     .doc = "Of its frame."},
    {"table", PL_KEY_ROWS, UNREAD, .length = 7,
     .doc =
         "Pose over time, instead of position and rotate: rows [s, x, y, z (m), unit quaternion w, x, "
         "y, z]."},
};
const pl_spec pl_spec_collider = {.title = "collider",
                                  COUNT(collider_keys),
                                  .size = sizeof(pl_collider_source),
                                  .defaults = collider_defaults};

static void friction_defaults(void *into)
{
    *(pl_friction_source *)into = (pl_friction_source){0};
}

static const pl_key friction_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"collider", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"value", PL_KEY_NUMBER, AT(pl_friction_source, value), BETWEEN(0, 1000), .required = true,
     .doc = "Coefficient between the two, instead of the collider's."},
};
const pl_spec pl_spec_friction = {.title = "friction pair",
                                  COUNT(friction_keys),
                                  .size = sizeof(pl_friction_source),
                                  .defaults = friction_defaults};

static void body_pair_defaults(void *into)
{
    *(pl_body_pair_source *)into = (pl_body_pair_source){.contact = true};
}

static const pl_key body_pair_keys[] = {
    {"body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "Name or index."},
    {"to_body", PL_KEY_REFERENCE, UNREAD, .required = true, .doc = "The other body, or the same."},
    {"contact", PL_KEY_BOOLEAN, AT(pl_body_pair_source, contact),
     .doc = "Whether they touch, instead of body_contact, or of the body's self_contact."},
    {"friction", PL_KEY_NUMBER, AT(pl_body_pair_source, friction), BETWEEN(0, 1000),
     .doc = "Coefficient between the two, instead of body_friction."},
};
const pl_spec pl_spec_body_pair = {.title = "pair of bodies",
                                   COUNT(body_pair_keys),
                                   .size = sizeof(pl_body_pair_source),
                                   .defaults = body_pair_defaults};

/* ------------------------------------------------------------------------------- scene */

static void scene_defaults(void *into)
{
    *(pl_scene_source *)into = (pl_scene_source){.def = pl_scene_def_default(),
                                                 .steps = 100,
                                                 .every = 1,
                                                 .volume = true,
                                                 .surface = true,
                                                 .obstacles = true};
}

static const pl_key output_keys[] = {
    {"every", PL_KEY_INTEGER, AT(pl_scene_source, every), FROM(1),
     .doc = "Write every this many steps, and the start."},
    {"volume", PL_KEY_BOOLEAN, AT(pl_scene_source, volume),
     .doc = "Write elements with displacement, velocity, stress and energy."},
    {"surface", PL_KEY_BOOLEAN, AT(pl_scene_source, surface),
     .doc = "Write boundary triangles with contact forces."},
    {"colliders", PL_KEY_BOOLEAN, AT(pl_scene_source, obstacles),
     .doc = "Write the obstacles, where they are."},
};
static const pl_spec output_spec = {.title = "set of outputs", COUNT(output_keys)};

static const char *const solver_names[] = {"auto", "direct", "lagged", "constant", NULL};
static const char *const integrator_names[] = {"euler", "bdf2", "tr_bdf2", NULL};

static const pl_key scene_keys[] = {
    {"$schema", PL_KEY_TEXT, AT(pl_scene_source, schema), .doc = "For editors; not read."},
    {"version", PL_KEY_INTEGER, AT(pl_scene_source, version), .required = true, BETWEEN(1, 1),
     .doc = "Of the format: 1."},
    {"name", PL_KEY_TEXT, AT(pl_scene_source, name), .doc = "For people."},
    {"description", PL_KEY_TEXT, AT(pl_scene_source, description), .doc = "For people."},
    {"time_step", PL_KEY_NUMBER, AT(pl_scene_source, def.time_step), POSITIVE, .unit = "s",
     .doc = "Length of a step."},
    {"steps", PL_KEY_INTEGER, AT(pl_scene_source, steps), FROM(0), .doc = "How many to simulate."},
    {"gravity", PL_KEY_VECTOR, AT(pl_scene_source, def.gravity), .length = 3, ANY, .unit = "m/s^2",
     .doc = "Acceleration of everything."},
    {"tolerance", PL_KEY_NUMBER, AT(pl_scene_source, def.tolerance), POSITIVE, .unit = "m",
     .doc = "A step is solved when no vertex moves more in a Newton step."},
    {"max_iterations", PL_KEY_INTEGER, AT(pl_scene_source, def.max_iterations), FROM(1),
     .doc = "Newton iterations before a step is split."},
    {"max_splits", PL_KEY_INTEGER, AT(pl_scene_source, def.max_splits), BETWEEN(0, 20),
     .doc = "How many times over a step may be halved."},
    {"contact_epsilon2", PL_KEY_NUMBER, AT(pl_scene_source, def.contact_epsilon2), BETWEEN(1e-18, 1),
     .unit = "N m", .doc = "Gap times force of a contact."},
    {"contact_margin", PL_KEY_NUMBER, AT(pl_scene_source, def.contact_margin), NOT_NEGATIVE,
     .unit = "m",
     .doc = "Vertices closer than this to a collider become contacts; 0 = chosen automatically."},
    {"body_contact", PL_KEY_BOOLEAN, AT(pl_scene_source, def.body_contact),
     .doc = "Whether bodies touch each other, or pass through."},
    {"body_friction", PL_KEY_NUMBER, AT(pl_scene_source, def.body_friction), BETWEEN(0, 1000),
     .doc = "Coulomb's coefficient between bodies."},
    {"bring_out", PL_KEY_BOOLEAN, AT(pl_scene_source, bring_out),
     .doc = "Whether bodies that start inside something are shifted out, as wholes, or refused."},
    {"solver", PL_KEY_CHOICE, AT(pl_scene_source, def.solver), .choices = solver_names,
     .doc = "How the elastic tangent is inverted."},
    {"integrator", PL_KEY_CHOICE, AT(pl_scene_source, def.integrator), .choices = integrator_names,
     .doc = "How a step leads from state to state: of first or second order in its length."},
    {"device", PL_KEY_TEXT, AT(pl_scene_source, def.device),
     .doc = "Where steps and adjoints are computed: \"cpu\" or an OpenCL device (docs/device.md)."},
    {"bodies", PL_KEY_LIST, UNREAD, .spec = &pl_spec_body, .required = true, .doc = "What moves."},
    {"pins", PL_KEY_LIST, UNREAD, .spec = &pl_spec_pin,
     .doc = "Springs that hold vertices at targets."},
    {"forces", PL_KEY_LIST, UNREAD, .spec = &pl_spec_force, .doc = "Forces on vertices."},
    {"wind", PL_KEY_LIST, UNREAD, .spec = &pl_spec_wind, .doc = "Wind on surfaces."},
    {"attachments", PL_KEY_LIST, UNREAD, .spec = &pl_spec_attachment,
     .doc = "Springs between points of bodies, or of a body and an obstacle."},
    {"muscles", PL_KEY_LIST, UNREAD, .spec = &pl_spec_muscle, .doc = "Fibres that pull."},
    {"cables", PL_KEY_LIST, UNREAD, .spec = &pl_spec_cable,
     .doc = "Chains of points that are drawn to a length."},
    {"chambers", PL_KEY_LIST, UNREAD, .spec = &pl_spec_chamber, .doc = "Cavities under pressure."},
    {"colliders", PL_KEY_LIST, UNREAD, .spec = &pl_spec_collider, .doc = "Rigid obstacles."},
    {"friction", PL_KEY_LIST, UNREAD, .spec = &pl_spec_friction,
     .doc = "Coefficients of single pairs of body and collider."},
    {"body_pairs", PL_KEY_LIST, UNREAD, .spec = &pl_spec_body_pair,
     .doc = "How single pairs of bodies touch."},
    {"outputs", PL_KEY_OBJECT, .spec = &output_spec, .doc = "What `pliant run` writes."},
};
const pl_spec pl_spec_scene = {
    .title = "scene", COUNT(scene_keys), .size = sizeof(pl_scene_source), .defaults = scene_defaults};
