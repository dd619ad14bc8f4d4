/* The table of terms, and sums over it. */
#include "terms/term.h"

#include "sim/lump.h"

extern const pl_term pl_term_inertia, pl_term_elastic, pl_term_gravity, pl_term_force, pl_term_wind,
    pl_term_pin, pl_term_attachment, pl_term_muscle, pl_term_cable, pl_term_chamber, pl_term_viscosity,
    pl_term_mean_volume, pl_term_yeoh;

static const pl_term *const table[] = {
    &pl_term_inertia,   &pl_term_elastic,     &pl_term_gravity, &pl_term_force, &pl_term_wind,
    &pl_term_pin,       &pl_term_attachment,  &pl_term_muscle,  &pl_term_cable, &pl_term_chamber,
    &pl_term_viscosity, &pl_term_mean_volume, &pl_term_yeoh,
};

enum { TERMS = sizeof table / sizeof *table };
_Static_assert(TERMS <= PL_TERMS_MAX, "room for every term");

void pl_terms_inputs(const pl_scene *scene, double time, double *const *of)
{
    for (int t = 0; t < TERMS; t++)
        if (table[t]->inputs)
            table[t]->inputs(scene, time, of);
}

void pl_terms_range(const pl_scene *scene, pl_channel channel, int row, double *lower, double *upper)
{
    *lower = -PL_INPUT_MOST;
    *upper = PL_INPUT_MOST;
    for (int t = 0; t < TERMS; t++)
        if (table[t]->range)
            table[t]->range(scene, channel, row, lower, upper);
}

void pl_terms_doubt(const pl_substep *s, char *text, size_t size)
{
    *text = 0;
    for (int t = 0; t < TERMS; t++) {
        size_t used = strlen(text);
        if (table[t]->doubt)
            table[t]->doubt(s, text + used, size - used);
    }
}

double pl_least_young(const pl_substep *s, int body)
{
    const pl_body *b = &s->scene->bodies[body];
    const double *young = s->matter->values->of[PL_YOUNG] + b->element_offset;
    double least = young[0];
    for (int e = 1; e < b->element_count; e++)
        least = fmin(least, young[e]);
    return least;
}

void pl_terms_release(pl_scene *scene)
{
    for (int t = 0; t < TERMS; t++)
        if (table[t]->release)
            table[t]->release(scene);
}

pl_status pl_terms_stencils(const pl_scene *scene, int *count, pl_stencils *out, int **lists)
{
    *count = 0;
    for (int t = 0; t < TERMS; t++) {
        if (!table[t]->stencils)
            continue;
        pl_stencils *list = &out[*count];
        PL_TRY(table[t]->stencils(scene, &list->count, &list->width, &lists[*count]));
        list->index = lists[(*count)++];
    }
    return PL_OK;
}

void pl_terms_force(const pl_substep *s, double *f)
{
    memset(f, 0, sizeof(double) * 3 * (size_t)s->scene->vertex_count);
    for (int t = 0; t < TERMS; t++)
        if (table[t]->force)
            table[t]->force(s, f);
}

double pl_terms_energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0;
    for (int t = 0; t < TERMS; t++)
        if (table[t]->energy)
            sum += table[t]->energy(s, q, scale, out);
    return sum;
}

void pl_terms_multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    for (int t = 0; t < TERMS; t++)
        if (table[t]->multiply)
            table[t]->multiply(s, q, x, scale, y);
}

pl_elastic_result pl_terms_tangent(const pl_substep *s, const double *q, bool clamp, double scale,
                                   const double *diagonal, double *blocks)
{
    pl_elastic_result result =
        pl_elastic_evaluate(s->matter->elastic, q, clamp, scale, diagonal, NULL, blocks);
    for (int t = 0; t < TERMS; t++)
        if (table[t]->tangent)
            table[t]->tangent(s, q, clamp, scale, blocks);
    return result;
}

void pl_terms_constant(const pl_substep *s, double scale, const double *diagonal, double *a)
{
    pl_elastic_constant(s->matter->elastic, scale, diagonal, a);
    for (int t = 0; t < TERMS; t++)
        if (table[t]->constant)
            table[t]->constant(s, scale, a);
}

/* Derivatives by each vertex's M and C become those by densities and damping. */
static void pull_mass(const pl_slope *s, pl_gradient *g)
{
    const pl_scene *scene = s->at->scene;
    const double *density = s->at->matter->values->of[PL_DENSITY];
    const double *damping = s->at->matter->values->of[PL_DAMPING];
    double *on = s->at->matter->element;
    double *by_density = g->of[PL_DENSITY], *by_damping = g->of[PL_DAMPING];
    pl_lump_mean(scene, s->mass, on);
    for (int e = 0; by_density && e < scene->element_count; e++)
        by_density[e] += scene->volume[e] * on[e];
    pl_lump_mean(scene, s->drag, on);
    for (int e = 0; e < scene->element_count; e++) {
        if (by_density)
            by_density[e] += scene->volume[e] * damping[e] * on[e];
        if (by_damping)
            by_damping[e] += scene->volume[e] * density[e] * on[e];
    }
}

/* The change of each vertex's M and C along a direction of densities and damping. */
static void push_mass(const pl_slope *s, const pl_gradient *d)
{
    const pl_scene *scene = s->at->scene;
    const pl_values *values = s->at->matter->values;
    const double *density = d->of[PL_DENSITY], *damping = d->of[PL_DAMPING];
    double *of = s->at->matter->element;
    for (int e = 0; e < scene->element_count; e++)
        of[e] = density ? scene->volume[e] * density[e] : 0;
    pl_lump(scene, of, s->mass);
    for (int e = 0; e < scene->element_count; e++) {
        of[e] *= values->of[PL_DAMPING][e];
        of[e] += damping ? scene->volume[e] * values->of[PL_DENSITY][e] * damping[e] : 0;
    }
    pl_lump(scene, of, s->drag);
}

/* Room for derivatives of masses, if they are asked for. */
static bool take_mass(pl_slope *s, const pl_gradient *g, double *work)
{
    size_t n = (size_t)s->at->scene->vertex_count;
    bool asked = g->of[PL_DENSITY] || g->of[PL_DAMPING];
    s->mass = asked ? work : NULL;
    s->drag = asked ? work + n : NULL;
    memset(work, 0, sizeof(double) * 2 * n);
    return asked;
}

void pl_terms_vjp(pl_slope *s, const double *z, double *work, pl_gradient *g, double *dq0, double *dv0)
{
    double scale = s->at->h * s->at->h;
    bool masses = take_mass(s, g, work);
    for (int t = 0; t < TERMS; t++)
        if (table[t]->vjp)
            table[t]->vjp(s, z, scale, g, dq0, dv0);
    if (masses)
        pull_mass(s, g);
}

void pl_terms_jvp(pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0, double *work,
                  double *rhs)
{
    double scale = s->at->h * s->at->h;
    if (take_mass(s, d, work))
        push_mass(s, d);
    memset(rhs, 0, sizeof(double) * 3 * (size_t)s->at->scene->vertex_count);
    for (int t = 0; t < TERMS; t++)
        if (table[t]->jvp)
            table[t]->jvp(s, d, dq0, dv0, scale, rhs);
}

void pl_parts_at(const pl_scene *scene, pl_owner owner, size_t size, size_t curve, double time,
                 double *out)
{
    const char *part = scene->parts[owner].items;
    for (int i = 0; i < scene->parts[owner].count; i++, part += size)
        pl_curve_at((const pl_curve *)(const void *)(part + curve), time, out + i);
}

void pl_blocks_add(const pl_pattern *pattern, int i, int j, double a, double *blocks)
{
    double *block = blocks + 9 * (size_t)pl_pattern_find(pattern, i, j);
    for (int k = 0; k < 9; k += 4)
        block[k] += a;
}
