/* Elastic elements and bending, by their moduli. */
#include "terms/term.h"

static bool asked(const pl_gradient *g)
{
    return g->of[PL_YOUNG] || g->of[PL_POISSON] || g->of[PL_BENDING];
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    if (asked(g))
        pl_elastic_param_vjp(s->at->matter->elastic, s->q, z, -scale, g->of[PL_YOUNG],
                             g->of[PL_POISSON], g->of[PL_BENDING]);
}

static void jvp(const pl_slope *s, const pl_gradient *d, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    if (asked(d))
        pl_elastic_param_jvp(s->at->matter->elastic, s->q, d->of[PL_YOUNG], d->of[PL_POISSON],
                             d->of[PL_BENDING], -scale, rhs);
}

const pl_term pl_term_elastic = {.name = "elastic", .vjp = vjp, .jvp = jvp};
