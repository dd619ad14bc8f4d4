/* From parameters to masses, moduli and margins. */
#include "sim/matter.h"

#include "sim/lump.h"

pl_status pl_matter_create(const pl_scene *scene, const pl_elements *elements, pl_matter *m)
{
    pl_status status = PL_OK;
    *m = (pl_matter){.scene = scene};
    PL_NEW(scene->ctx, m->mass, scene->vertex_count, done);
    PL_NEW(scene->ctx, m->damping, scene->vertex_count, done);
    PL_NEW(scene->ctx, m->element, scene->element_count, done);
    PL_CHECK(pl_elastic_create(scene->ctx, elements, &m->elastic), done);
done:
    return status;
}

void pl_matter_free(pl_matter *m)
{
    if (!m->scene)
        return;
    pl_context *ctx = m->scene->ctx;
    pl_values_release(ctx, m->values);
    pl_elastic_destroy(m->elastic);
    pl_free(ctx, m->mass);
    pl_free(ctx, m->damping);
    pl_free(ctx, m->element);
}

static void lump_masses(pl_matter *m)
{
    const pl_scene *scene = m->scene;
    const double *density = m->values->of[PL_DENSITY], *damping = m->values->of[PL_DAMPING];
    for (int e = 0; e < scene->element_count; e++)
        m->element[e] = density[e] * scene->volume[e];
    pl_lump(scene, m->element, m->mass);
    for (int e = 0; e < scene->element_count; e++)
        m->element[e] *= damping[e];
    pl_lump(scene, m->element, m->damping);
}

/* Beyond the margin a smoothed force is below 1e-9 N, so that entry and exit do not show; the cap keeps
 * very smooth laws from making every vertex a contact. */
static double contact_margin(const pl_scene_def *def)
{
    if (def->contact_margin > 0)
        return def->contact_margin;
    return fmin(fmax(def->contact_epsilon2 / 1e-9, 1e-3), 0.05);
}

/* Whether any element has a value of a channel that is not 0. */
static bool any(const pl_matter *m, pl_channel channel)
{
    int e = 0;
    while (e < m->scene->element_count && m->values->of[channel][e] == 0)
        e++;
    return e < m->scene->element_count;
}

bool pl_matter_use(pl_matter *m, pl_values *values)
{
    if (m->values == values)
        return false;
    pl_values_release(m->scene->ctx, m->values);
    m->values = pl_values_hold(values);
    m->margin = contact_margin(&values->def);
    m->method = values->def.solver == PL_SOLVER_AUTO ? PL_SOLVER_LAGGED : values->def.solver;
    pl_elastic_set_material(m->elastic, values->of[PL_YOUNG], values->of[PL_POISSON],
                            values->of[PL_BENDING]);
    lump_masses(m);
    m->viscous = any(m, PL_VISCOSITY);
    m->stiffens = any(m, PL_YEOH2) || any(m, PL_YEOH3);
    return true;
}
