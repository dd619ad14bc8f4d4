/* Offsets of bodies that touch themselves, for how near their own parts are at rest. */
#include "sim/model.h"

#include "core/vec.h"

#define SHARE 0.25 /* of what parts of a body are apart at rest, or of its edges: an offset at most */

/* Vertices that hang together by one in between are kept apart too: the offset is less than half of
 * every edge. */
static pl_status fit_to_edges(pl_model *m, int b, const double *rest)
{
    const pl_body *body = &m->scene->bodies[b];
    pl_run of = m->surface->of[b].edges;
    double shortest = INFINITY, along[3];
    for (int i = of.first; i < of.first + of.count; i++) {
        const int *e = m->surface->edge + 2 * i;
        pl_sub3(rest + 3 * (size_t)e[1], rest + 3 * (size_t)e[0], along);
        shortest = fmin(shortest, pl_norm3(along));
    }
    if (body->contact_offset == 0)
        m->offset[b] = fmin(m->offset[b], SHARE * shortest);
    else if (2 * m->offset[b] > shortest)
        return pl_fail(
            m->scene->ctx, PL_ERROR_ARGUMENT,
            "contact_offset = %g m of body \"%s\": with self_contact expected at most %.3g m, half of "
            "its shortest edge",
            body->contact_offset, body->name, shortest / 2);
    return PL_OK;
}

/* A body must not push itself where it is at rest: its offset is less than half of what its parts are
 * apart there. */
static pl_status fit_offsets(pl_model *m, const pl_meet_rules *rules, pl_meet_search *search,
                             const double *rest)
{
    const pl_scene *scene = m->scene;
    for (int b = 0; b < scene->body_count; b++)
        if (scene->touches[b * scene->body_count + b])
            PL_TRY(fit_to_edges(m, b, rest));
    PL_TRY(pl_meet_find(scene->ctx, search, rules, rest, rest, 0));
    for (int k = 0; k < search->count; k++) {
        const pl_meeting *at = &search->found[k];
        int b = scene->body_of[at->vertex[0]];
        const pl_body *body = &scene->bodies[b];
        if (scene->body_of[at->vertex[pl_meeting_count(at->kind) - 1]] != b)
            continue;
        double apart = pl_meet_place(rules, at, rest).distance;
        if (body->contact_offset == 0)
            m->offset[b] = fmin(m->offset[b], SHARE * apart);
        else if (2 * m->offset[b] > apart)
            return pl_fail(
                scene->ctx, PL_ERROR_ARGUMENT,
                "contact_offset = %g m: vertex %d of body \"%s\" is %.3g m from another part of "
                "it at rest; with self_contact expected less than half of that",
                body->contact_offset, at->vertex[0] - body->vertex_offset, body->name, apart);
    }
    return PL_OK;
}

/* Where surfaces are kept further apart than their pieces are long, contacts have no place. Bodies that
 * touch themselves have limits of their own. */
static pl_status check_offsets(const pl_model *m)
{
    for (int b = 0; m->surface && b < m->scene->body_count; b++) {
        double most = m->surface->of[b].edge_length / 2;
        if (m->offset[b] > most && !m->scene->touches[b * m->scene->body_count + b])
            return pl_fail(m->scene->ctx, PL_ERROR_ARGUMENT,
                           "contact_offset = %g m of body \"%s\": expected at most %.3g m, half of its "
                           "mean edge",
                           m->offset[b], m->scene->bodies[b].name, most);
    }
    return PL_OK;
}

pl_status pl_model_fit_offsets(pl_model *m)
{
    pl_status status = PL_OK;
    const pl_scene *scene = m->scene;
    pl_meet_rules rules = pl_model_meet_rules(m);
    pl_meet_search search = {0};
    double *rest = NULL;
    bool any = false;
    PL_TRY(check_offsets(m));
    for (int b = 0; b < scene->body_count; b++)
        any |= scene->touches[b * scene->body_count + b];
    if (!any)
        return PL_OK;
    PL_NEW(scene->ctx, rest, 3 * scene->vertex_count, done);
    for (int b = 0; b < scene->body_count; b++)
        memcpy(rest + 3 * (size_t)scene->bodies[b].vertex_offset, scene->bodies[b].mesh->vertices,
               sizeof *rest * 3 * (size_t)scene->bodies[b].mesh->vertex_count);
    PL_CHECK(pl_meet_search_create(scene->ctx, &rules, scene->vertex_count, rest, &search), done);
    PL_CHECK(fit_offsets(m, &rules, &search, rest), done);
done:
    pl_meet_search_free(scene->ctx, &search);
    pl_free(scene->ctx, rest);
    return status;
}

pl_meet_rules pl_model_meet_rules(const pl_model *m)
{
    return (pl_meet_rules){.surface = m->surface,
                           .body_count = m->scene->body_count,
                           .body_of = m->scene->body_of,
                           .touches = m->scene->touches,
                           .offset = m->offset};
}
