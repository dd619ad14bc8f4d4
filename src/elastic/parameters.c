/*
 * Material parameters: from Young's modulus and Poisson's ratio to mu and lambda, and the derivatives
 * of the gradient with respect to all of them.
 *
 *     mu = E / (2 (1 + nu))        lambda = E nu / ((1 + nu)(1 - 2 nu))
 *
 * An exact sheet is in plane stress: lambda = E nu / (1 - nu^2), with which a strip pulled along its
 * length shows E and contracts by nu. ARAP has no Poisson effect: mu = E/2. Bodies whose volume is
 * resisted by patches (terms/mean_volume.c) have lambda there, and 0 in their elements.
 */
#include "elastic/internal.h"

/* mu, lambda and their derivatives with respect to E (first index 0) and nu (1). */
typedef struct lame {
    double mu, lambda, dmu[2], dlambda[2];
} lame;

static lame whole_lame_of(const pl_elastic_group *group, double E, double nu)
{
    if (group->model == PL_ARAP)
        return (lame){.mu = 0.5 * E, .dmu = {0.5, 0.0}};
    double one = 1.0 + nu;
    lame l = {.mu = 0.5 * E / one, .dmu = {0.5 / one, -0.5 * E / (one * one)}};
    double below = group->cloth && group->reading == PL_EXACT ? 1.0 - nu : 1.0 - 2.0 * nu;
    double slope = group->cloth && group->reading == PL_EXACT ? 1.0 : 2.0; /* -d(below)/d(nu) */
    l.dlambda[0] = nu / (one * below);
    l.lambda = E * l.dlambda[0];
    /* d/dnu nu / (one below) = (one below - nu (below - slope one)) / (one below)^2 */
    l.dlambda[1] = E * (one * below - nu * (below - slope * one)) / (one * one * below * below);
    return l;
}

/* What the elements have of it. */
static lame lame_of(const pl_elastic_group *group, double E, double nu)
{
    lame l = whole_lame_of(group, E, nu);
    if (group->mean_volume)
        l.lambda = l.dlambda[0] = l.dlambda[1] = 0;
    return l;
}

double pl_elastic_bulk(const pl_elastic *el, int element, double by[2])
{
    const pl_elastic_group solid = {.model = PL_NEO_HOOKEAN};
    lame l = whole_lame_of(&solid, el->young[element], el->poisson[element]);
    if (by)
        memcpy(by, l.dlambda, sizeof l.dlambda);
    return l.lambda;
}

void pl_elastic_set_material(pl_elastic *el, const double *young, const double *poisson,
                             const double *bending)
{
    const pl_elements *elements = el->elements;
    memcpy(el->young, young, (size_t)elements->element_count * sizeof *young);
    memcpy(el->poisson, poisson, (size_t)elements->element_count * sizeof *poisson);
    for (int g = 0; g < elements->group_count; g++) {
        const pl_elastic_group *group = &elements->groups[g];
        for (int e = 0; e < group->block_count * PL_LANES; e++) {
            /* Lanes that fill up the last block take its last element's. */
            int local = e < group->element_count ? e : group->element_count - 1;
            int element = group->element_offset + local;
            lame l = lame_of(group, young[element], poisson[element]);
            pl_element_moduli *moduli = &el->moduli[group->block_offset + e / PL_LANES];
            moduli->mu[e % PL_LANES] = l.mu;
            moduli->lambda[e % PL_LANES] = l.lambda;
        }
    }
    pl_bending_set(&elements->bending, &elements->pattern, bending, &el->bending);
}

void pl_elastic_param_vjp(pl_elastic *el, const double *q, const double *z, double scale,
                          double *dyoung, double *dpoisson, double *dbending)
{
    const pl_elements *elements = el->elements;
    double *by_mu = el->scratch, *by_lambda = el->scratch + elements->slot_count;
    int portions = dyoung || dpoisson ? elements->portion_count : 0;
#pragma omp parallel for num_threads(pl_elastic_threads(el, elements->tangent_cost))                   \
    schedule(dynamic, 1)
    for (int i = 0; i < portions; i++) {
        pl_element_job job = pl_elastic_job(el, &elements->portions[i], q);
        el->backend->parameters(&job, z, by_mu, by_lambda);
    }
    for (int g = 0; portions > 0 && g < elements->group_count; g++) {
        const pl_elastic_group *group = &elements->groups[g];
        for (int e = group->element_offset; e < group->element_offset + group->element_count; e++) {
            lame l = lame_of(group, el->young[e], el->poisson[e]);
            double mu = scale * by_mu[elements->slot[e]], lambda = scale * by_lambda[elements->slot[e]];
            if (dyoung)
                dyoung[e] += l.dmu[0] * mu + l.dlambda[0] * lambda;
            if (dpoisson)
                dpoisson[e] += l.dmu[1] * mu + l.dlambda[1] * lambda;
        }
    }
    if (dbending)
        pl_bending_param_vjp(&elements->bending, q, z, scale, dbending);
}

/* scratch [2, slots] = the directions of mu and lambda. */
static void direction_of_lame(pl_elastic *el, const double *dyoung, const double *dpoisson)
{
    const pl_elements *elements = el->elements;
    memset(el->scratch, 0, 2 * (size_t)elements->slot_count * sizeof *el->scratch);
    for (int g = 0; g < elements->group_count; g++) {
        const pl_elastic_group *group = &elements->groups[g];
        for (int e = group->element_offset; e < group->element_offset + group->element_count; e++) {
            lame l = lame_of(group, el->young[e], el->poisson[e]);
            double d[2] = {dyoung ? dyoung[e] : 0.0, dpoisson ? dpoisson[e] : 0.0};
            el->scratch[elements->slot[e]] = l.dmu[0] * d[0] + l.dmu[1] * d[1];
            el->scratch[elements->slot_count + elements->slot[e]] =
                l.dlambda[0] * d[0] + l.dlambda[1] * d[1];
        }
    }
}

void pl_elastic_param_jvp(pl_elastic *el, const double *q, const double *dyoung, const double *dpoisson,
                          const double *dbending, double scale, double *out)
{
    const pl_elements *elements = el->elements;
    direction_of_lame(el, dyoung, dpoisson);
#pragma omp parallel num_threads(pl_elastic_threads(el, elements->tangent_cost))
    {
        pl_bending_param_jvp(&elements->bending, q, dbending, pl_elastic_bending_force(el));
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < elements->portion_count; i++) {
            pl_element_job job = pl_elastic_job(el, &elements->portions[i], q);
            job.force = el->force;
            el->backend->parameters_forward(&job, el->scratch, el->scratch + elements->slot_count);
        }
        pl_elastic_gather_force(el, true, scale, out);
    }
}
