/* Scenes of the soak study: a small body of any material, or two, and what happens to them. */
#define _GNU_SOURCE
#include "soak.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const soak_kinds[SOAK_KINDS] = {"drop", "wedge",  "squeeze", "fast", "mover", "cloth",
                                            "spin", "muscle", "cable",   "pair", "drape"};
enum { DROP, WEDGE, SQUEEZE, FAST, MOVER, CLOTH, SPIN, MUSCLE, CABLE, PAIR, DRAPE };

typedef struct maker {
    uint64_t random;
    FILE *file;
    soak_scene *scene;
    double size, h;     /* of the body, m; s */
    double velocity[3]; /* m/s */
    double spin;        /* rad/s, at most */
    bool cloth;
    bool turned;      /* the body starts at any angle */
    double centre[3]; /* where it starts, m */
} maker;

/* splitmix64, in [low, high) */
static double within(maker *m, double low, double high)
{
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double decades(maker *m, double low, double high)
{
    return pow(10, within(m, low, high));
}

static bool chance(maker *m, double share)
{
    return within(m, 0, 1) < share;
}

static int one_of(maker *m, int count)
{
    return (int)within(m, 0, count);
}

static const char *word(maker *m, const char *const *words, int count)
{
    return words[one_of(m, count)];
}

/* Turns v about a unit axis by an angle. */
static void turn(const double axis[3], double angle, const double v[3], double out[3])
{
    double c = cos(angle), s = sin(angle);
    double along = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = c * v[i] + s * (axis[j] * v[k] - axis[k] * v[j]) + (1 - c) * along * axis[i];
    }
}

/* Writes the mesh and where its middle is as made. */
static void write_mesh(maker *m, double middle[3])
{
    double a = m->size, cell = a * (chance(m, 0.3) ? 0.34 : 0.5);
    middle[0] = middle[1] = middle[2] = 0;
    if (m->cloth) {
        fprintf(m->file, "{\"rectangle\": {\"width\": %.9g, \"height\": %.9g, \"cell\": %.9g}}", 2 * a,
                2 * a, cell);
        middle[0] = middle[1] = a;
        return;
    }
    int shape = m->scene->kind == SQUEEZE                             ? 0
                : m->scene->kind == MUSCLE || m->scene->kind == CABLE ? 1
                                                                      : one_of(m, 4);
    if (shape == 0) {
        fprintf(m->file, "{\"box\": {\"size\": [%.9g, %.9g, %.9g], \"cell\": %.9g}}", a, a, a, cell);
        middle[0] = middle[1] = middle[2] = a / 2;
    } else if (shape == 1) {
        fprintf(m->file,
                "{\"bar\": {\"length\": %.9g, \"width\": %.9g, \"height\": %.9g, \"cell\": %.9g}}",
                1.5 * a, a / 2, a / 2, cell);
        middle[0] = 0.75 * a;
    } else if (shape == 2) {
        fprintf(m->file, "{\"cylinder\": {\"radius\": %.9g, \"height\": %.9g, \"cell\": %.9g}}", a / 2,
                a, cell);
        middle[2] = a / 2;
    } else {
        fprintf(m->file, "{\"ellipsoid\": {\"radii\": [%.9g, %.9g, %.9g], \"cell\": %.9g}}", a / 2,
                within(m, 0.3, 0.7) * a, within(m, 0.3, 0.7) * a, cell);
    }
}

static void write_material(maker *m)
{
    static const char *const models[] = {"neo_hookean", "corotated", "arap"};
    const char *model = word(m, models, 3);
    int body = m->scene->bodies;
    double density = m->scene->density[body] = decades(m, 2.3, 3.5);
    double thickness = m->scene->thickness[body] = m->cloth ? decades(m, -3.3, -2.5) : 0;
    fprintf(m->file, "\"material\": {\"model\": \"%s\", \"young\": %.9g, \"density\": %.9g", model,
            decades(m, 3.7, 6.5), density);
    if (chance(m, 0.15))
        fprintf(m->file, ", \"reading\": \"projective\"");
    if (m->cloth)
        fprintf(m->file, ", \"thickness\": %.9g, \"bending\": %.9g", thickness, decades(m, -6, -3));
    if (model != models[2]) /* which has none */
        fprintf(m->file, ", \"poisson\": %.9g", within(m, 0, 0.45));
    fprintf(m->file, "}");
}

static void write_body(maker *m, const char *name)
{
    double middle[3], turned[3], axis[3], length = 0, angle = m->turned ? within(m, 0, 2 * M_PI) : 0;
    for (int i = 0; i < 3; i++)
        axis[i] = within(m, -1, 1), length += axis[i] * axis[i];
    for (int i = 0; i < 3; i++)
        axis[i] = length > 0 ? axis[i] / sqrt(length) : i == 0;
    fprintf(m->file, "{\"name\": \"%s\", \"mesh\": ", name);
    write_mesh(m, middle);
    turn(axis, angle, middle, turned);
    fprintf(m->file,
            ", \"transform\": {\"rotate\": {\"axis\": [%.17g, %.17g, %.17g], \"degrees\": %.17g}, "
            "\"translate\": [%.17g, %.17g, %.17g]}, ",
            axis[0], axis[1], axis[2], angle * 180 / M_PI, m->centre[0] - turned[0],
            m->centre[1] - turned[1], m->centre[2] - turned[2]);
    write_material(m);
    fprintf(m->file, ", \"velocity\": [%.9g, %.9g, %.9g]", m->velocity[0], m->velocity[1],
            m->velocity[2]);
    if (m->spin > 0)
        fprintf(m->file, ", \"angular_velocity\": [%.9g, %.9g, %.9g]", within(m, -1, 1) * m->spin,
                within(m, -1, 1) * m->spin, within(m, -1, 1) * m->spin);
    fprintf(m->file, "}");
    m->scene->bodies++;
}

/* The body, and what it falls on: a solid that lies or falls below it. */
static void write_bodies(maker *m)
{
    fprintf(m->file, "\"bodies\": [");
    write_body(m, "it");
    if (m->scene->kind == PAIR || m->scene->kind == DRAPE) {
        m->cloth = false;
        m->turned = chance(m, 0.5);
        m->centre[0] = m->centre[1] = 0;
        m->centre[2] = m->size;
        memset(m->velocity, 0, sizeof m->velocity);
        fprintf(m->file, ", ");
        write_body(m, "other");
    }
    fprintf(m->file, "]");
}

/* A half-space turned about y. */
static void write_plane(maker *m, const char *before, double degrees)
{
    fprintf(m->file,
            "%s{\"shape\": {\"half_space\": {}}, \"friction\": %.9g, \"rotate\": {\"axis\": [0, 1, 0], "
            "\"degrees\": %.9g}}",
            before, chance(m, 0.2) ? 0 : within(m, 0, 1), degrees);
}

/* Something else than a plane that moves from one place to another. */
static void write_moving(maker *m, const char *shape, const double from[3], const double to[3],
                         double turned)
{
    fprintf(
        m->file,
        ", {\"shape\": %s, \"friction\": %.9g, \"table\": [[0, %.9g, %.9g, %.9g, 1, 0, 0, 0], [%.9g, "
        "%.9g, %.9g, %.9g, %.17g, 0, 0, %.17g]]}",
        shape, within(m, 0, 1), from[0], from[1], from[2], m->scene->steps * m->h, to[0], to[1], to[2],
        cos(turned / 2), sin(turned / 2));
}

static void write_mover(maker *m)
{
    double a = m->size, reach = 1.3 * a;
    double speed = within(m, 0.5, 5), way = fmin(speed * m->scene->steps * m->h, 2 * a);
    char shape[128];
    double from[3] = {-2.2 * a, 0, reach}, to[3] = {-2.2 * a + way, 0, reach};
    if (chance(m, 0.5))
        snprintf(shape, sizeof shape, "{\"sphere\": {\"radius\": %.9g}}", a);
    else
        snprintf(shape, sizeof shape, "{\"box\": {\"half_extents\": [%.9g, %.9g, %.9g]}}", a / 2, a, a);
    write_moving(m, shape, from, to, within(m, 0, 0.3));
}

/* Half-spaces that come down on the body, upside down: half a turn about x. */
static void write_press(maker *m)
{
    double top = 1.02 * m->size, low = within(m, 0.65, 0.95) * m->size;
    fprintf(
        m->file,
        ", {\"shape\": {\"half_space\": {}}, \"friction\": %.9g, \"table\": [[0, 0, 0, %.9g, 0, 1, 0, "
        "0], [%.9g, 0, 0, %.9g, 0, 1, 0, 0]]}",
        within(m, 0, 1), top, m->scene->steps * m->h, low);
}

static void write_colliders(maker *m)
{
    fprintf(m->file, ", \"colliders\": [");
    switch (m->scene->kind) {
    case WEDGE:
        write_plane(m, "", within(m, 20, 60));
        write_plane(m, ", ", -within(m, 20, 60));
        break;
    case CLOTH:
        fprintf(m->file, "{\"shape\": {\"sphere\": {\"radius\": %.9g}}, \"friction\": %.9g}", m->size,
                within(m, 0, 1));
        break;
    case DROP:
    case FAST:
        write_plane(m, "", within(m, 0, 30));
        break;
    default:
        write_plane(m, "", 0);
    }
    if (m->scene->kind == MOVER)
        write_mover(m);
    if (m->scene->kind == SQUEEZE)
        write_press(m);
    fprintf(m->file, "]");
}

static void write_actuators(maker *m)
{
    static const char *const laws[] = {"tension", "spring", "force"};
    double end = m->scene->steps * m->h;
    if (m->scene->kind == MUSCLE)
        fprintf(m->file,
                ", \"muscles\": [{\"body\": \"it\", \"direction\": [1, 0, 0], \"law\": \"%s\", "
                "\"stiffness\": %.9g, \"table\": [[0, 0], [%.9g, %.9g]]}]",
                word(m, laws, 3), decades(m, 3.5, 5.5), end, within(m, 0.05, 0.4));
    if (m->scene->kind == CABLE) /* between corners: nothing outside holds it */
        fprintf(
            m->file,
            ", \"cables\": [{\"points\": [{\"body\": \"it\", \"vertex\": 0}, {\"body\": \"it\", "
            "\"vertex\": 6}, {\"body\": \"it\", \"vertex\": 11}], \"segments\": %s, \"compliance\": "
            "%.9g, \"table\": [[0, %.9g], [%.9g, %.9g]]}]",
            chance(m, 0.3) ? "true" : "false", decades(m, -10, -4), 2 * m->size, end,
            within(m, 0.3, 1.2) * m->size);
}

/* Where the body starts, just outside of what it will meet, and how fast. */
static void place(maker *m)
{
    int kind = m->scene->kind;
    double a = m->size, soon = 2 * a / (m->scene->steps * m->h); /* m/s: it gets there in time */
    m->turned = kind != SQUEEZE && kind != CLOTH && kind != MUSCLE && kind != CABLE && chance(m, 0.8);
    m->centre[2] = kind == SQUEEZE ? 0.51 * a : 1.2 * a;
    m->velocity[2] = kind == SQUEEZE ? 0 : -fmin(within(m, 0.5, 2) * soon, 6);
    m->velocity[0] = kind == SQUEEZE ? 0 : within(m, -1, 1);
    if (kind == DROP || kind == FAST)
        m->centre[2] = 1.6 * a; /* above a slope */
    if (kind == WEDGE)
        m->centre[2] = 2.2 * a;
    if (kind == FAST)
        m->velocity[2] = -within(m, 5, 20);
    if (kind == CLOTH)
        m->centre[2] = a * 1.01;
    if (kind == PAIR || kind == DRAPE) {
        m->centre[2] = kind == PAIR ? 2.8 * a : 2 * a;
        m->centre[0] = within(m, -0.4, 0.4) * a;
        m->turned = kind == PAIR;
    }
    m->cloth = kind == CLOTH || kind == DRAPE;
    m->spin = kind == SPIN ? 100 : chance(m, 0.3) && kind != SQUEEZE ? 5 : 0;
}

soak_scene soak_make(unsigned seed, int index, const char *solver)
{
    static const char *const solvers[] = {"auto", "auto", "direct", "lagged", "constant"};
    soak_scene scene = {.kind = index % SOAK_KINDS};
    maker m = {.random = ((uint64_t)seed << 32) + (uint64_t)index * 0x632be59bd9b4e019u,
               .scene = &scene};
    m.file = open_memstream(&scene.text, &scene.length);
    if (!m.file)
        return scene;
    scene.steps = 10 + one_of(&m, 11);
    m.size = within(&m, 0.05, 0.2);
    m.h = decades(&m, -2.7, -1.7);
    place(&m);
    const char *any = word(&m, solvers, 5);
    fprintf(m.file, "{\"version\": 1, \"time_step\": %.9g, \"steps\": %d, \"solver\": \"%s\", ", m.h,
            scene.steps, solver ? solver : any);
    if (chance(&m, 0.15))
        fprintf(m.file, "\"integrator\": \"bdf2\", ");
    if (scene.kind == PAIR || scene.kind == DRAPE)
        fprintf(m.file, "\"body_friction\": %.9g, ", within(&m, 0, 0.8));
    else /* bodies of the other kinds may start in each other */
        fprintf(m.file, "\"body_contact\": false, ");
    write_bodies(&m);
    write_actuators(&m);
    write_colliders(&m);
    fprintf(m.file, "}\n");
    if (fclose(m.file) != 0) {
        free(scene.text);
        scene.text = NULL;
    }
    return scene;
}
