/*
 * Attachments: springs of compliance c that pull a point of a body to a point of another one, or to one
 * that moves with a collider. A point is a combination of vertices, so that both together are d:
 *
 *     E = |d|^2 / (2 c),     d = sum_k w_k x_k - t,     -dE/dx_k = -(w_k / c) d
 *
 * with weights w of the first point minus those of the second, t = 0; or t = p + R a for a point a in
 * the frame of a collider at (p, R).
 */
#include "terms/term.h"

#include "core/vec.h"

enum { POINT = 4, STENCIL = 2 * POINT };

typedef struct attachment {
    int vertex[STENCIL]; /* of the scene; -1 where there is none */
    double weight[STENCIL];
    int collider;     /* or -1 */
    double anchor[3]; /* a, m */
} attachment;

pl_attachment_def pl_attachment_def_default(void)
{
    return (pl_attachment_def){.collider = -1, .compliance = 1e-6};
}

/* ---- adding one */

/* Where the body's point is at the start, seen from the collider. */
static void find_anchor(const pl_scene *scene, attachment *a)
{
    double pose[7], r[9], x[3] = {0}, arm[3];
    for (int k = 0; k < POINT && a->vertex[k] >= 0; k++)
        pl_axpy3(a->weight[k], scene->q0 + 3 * (size_t)a->vertex[k], x);
    pl_curve_pose_at(&scene->colliders[a->collider].pose, 0, pose);
    pl_quat_to_mat3(pose + 3, r);
    pl_sub3(x, pose, arm);
    pl_mat3_tvec(r, arm, a->anchor);
}

pl_status pl_scene_add_attachment(pl_scene *scene, const pl_attachment_def *def, int *index)
{
    attachment a = {.collider = def->collider};
    for (int k = 0; k < STENCIL; k++)
        a.vertex[k] = -1;
    if (def->collider < -1 || def->collider >= scene->collider_count)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "collider = %d: the scene has %d colliders",
                       def->collider, scene->collider_count);
    PL_TRY(pl_scene_take_point(scene, "points[0]", &def->points[0], a.vertex, a.weight));
    if (def->collider >= 0)
        find_anchor(scene, &a);
    else
        PL_TRY(pl_scene_take_point(scene, "points[1]", &def->points[1], a.vertex + POINT,
                                   a.weight + POINT));
    if (memcmp(a.vertex, a.vertex + POINT, POINT * sizeof *a.vertex) == 0 &&
        memcmp(a.weight, a.weight + POINT, POINT * sizeof *a.weight) == 0)
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT,
                       "points[1]: the same as points[0]: nothing pulls a point to itself");
    for (int k = POINT; k < STENCIL; k++)
        a.weight[k] = -a.weight[k];
    const pl_channel channel = PL_ATTACHMENT_COMPLIANCE;
    return pl_scene_append(scene, PL_OWNER_ATTACHMENT, NULL, &a, sizeof a, 1, &channel,
                           &def->compliance, index);
}

/* ---- asking */

static const attachment *get(const pl_scene *scene, int index)
{
    return (const attachment *)scene->parts[PL_OWNER_ATTACHMENT].items + index;
}

static int count(const pl_scene *scene)
{
    return scene->parts[PL_OWNER_ATTACHMENT].count;
}

static pl_point give_point(const pl_scene *scene, double sign, const int *vertex, const double *weight)
{
    pl_point point = {.body = vertex[0] >= 0 ? scene->body_of[vertex[0]] : 0};
    for (int k = 0; k < POINT && vertex[k] >= 0; k++) {
        point.vertices[k] = vertex[k] - scene->bodies[point.body].vertex_offset;
        point.weights[k] = sign * weight[k];
        point.count++;
    }
    return point;
}

pl_status pl_scene_attachment(const pl_scene *scene, int index, pl_attachment_def *def)
{
    if (index < 0 || index >= count(scene))
        return pl_fail(scene->ctx, PL_ERROR_ARGUMENT, "index = %d: the scene has %d attachments", index,
                       count(scene));
    const attachment *a = get(scene, index);
    *def = (pl_attachment_def){
        .points = {give_point(scene, 1, a->vertex, a->weight),
                   give_point(scene, -1, a->vertex + POINT, a->weight + POINT)},
        .collider = a->collider,
        .compliance = scene->params.values->of[PL_ATTACHMENT_COMPLIANCE][index],
    };
    return PL_OK;
}

/* ---- the term */

static pl_status stencils(const pl_scene *scene, int *rows, int *width, int **index)
{
    *rows = count(scene);
    *width = STENCIL;
    *index = pl_alloc(scene->ctx, STENCIL * (size_t)*rows, sizeof **index);
    for (int a = 0; *index && a < *rows; a++)
        memcpy(*index + STENCIL * a, get(scene, a)->vertex, sizeof get(scene, a)->vertex);
    return *index ? PL_OK : PL_ERROR_MEMORY;
}

static double stiffness(const pl_substep *s, int index)
{
    return 1 / s->matter->values->of[PL_ATTACHMENT_COMPLIANCE][index];
}

/* out += sum_k w_k x_k */
static void gather(const attachment *a, const double *x, double out[3])
{
    for (int k = 0; k < STENCIL; k++)
        if (a->vertex[k] >= 0)
            pl_axpy3(a->weight[k], x + 3 * (size_t)a->vertex[k], out);
}

/* out [n, 3] += s w_k f at every vertex */
static void scatter(const attachment *a, double s, const double f[3], double *out)
{
    for (int k = 0; k < STENCIL; k++)
        if (a->vertex[k] >= 0)
            pl_axpy3(s * a->weight[k], f, out + 3 * (size_t)a->vertex[k]);
}

/* R a, the arm of the collider's point about its position, m. */
static void arm_of(const pl_substep *s, const attachment *a, double arm[3])
{
    double r[9];
    pl_quat_to_mat3(s->drive->of[PL_COLLIDER_POSE] + 7 * a->collider + 3, r);
    pl_mat3_vec(r, a->anchor, arm);
}

static void apart(const pl_substep *s, const attachment *a, const double *q, double d[3])
{
    double arm[3];
    memset(d, 0, 3 * sizeof *d);
    gather(a, q, d);
    if (a->collider < 0)
        return;
    arm_of(s, a, arm);
    pl_axpy3(-1, s->drive->of[PL_COLLIDER_POSE] + 7 * a->collider, d);
    pl_axpy3(-1, arm, d);
}

static double energy(const pl_substep *s, const double *q, double scale, double *out)
{
    double sum = 0, d[3];
    for (int i = 0; i < count(s->scene); i++) {
        apart(s, get(s->scene, i), q, d);
        sum += 0.5 * stiffness(s, i) * pl_dot3(d, d);
        scatter(get(s->scene, i), scale * stiffness(s, i), d, out);
    }
    return sum;
}

/* Visits the pairs of vertices of every attachment with (w_k w_l) / c, the second derivative. */
static void for_pairs(const pl_substep *s, double scale, bool blocks, double *out)
{
    for (int i = 0; i < count(s->scene); i++) {
        const attachment *a = get(s->scene, i);
        for (int k = 0; k < STENCIL; k++)
            for (int l = 0; l < STENCIL; l++) {
                double pair = scale * stiffness(s, i) * a->weight[k] * a->weight[l];
                if (a->vertex[k] < 0 || a->vertex[l] < 0)
                    continue;
                if (blocks)
                    pl_blocks_add(s->pattern, a->vertex[k], a->vertex[l], pair, out);
                else
                    out[pl_pattern_find(s->pattern, a->vertex[k], a->vertex[l])] += pair;
            }
    }
}

static void tangent(const pl_substep *s, const double *q, bool clamp, double scale, double *blocks)
{
    (void)q, (void)clamp;
    for_pairs(s, scale, true, blocks);
}

static void constant(const pl_substep *s, double scale, double *matrix)
{
    for_pairs(s, scale, false, matrix);
}

static void multiply(const pl_substep *s, const double *q, const double *x, double scale, double *y)
{
    (void)q;
    for (int i = 0; i < count(s->scene); i++) {
        double d[3] = {0};
        gather(get(s->scene, i), x, d);
        scatter(get(s->scene, i), scale * stiffness(s, i), d, y);
    }
}

static void vjp(const pl_slope *s, const double *z, double scale, pl_gradient *g, double *dq0,
                double *dv0)
{
    (void)dq0, (void)dv0;
    for (int i = 0; i < count(s->at->scene); i++) {
        const attachment *a = get(s->at->scene, i);
        double d[3], on[3] = {0}, arm[3], pose[6], stiff = stiffness(s->at, i);
        gather(a, z, on);
        apart(s->at, a, s->q, d);
        if (g->of[PL_ATTACHMENT_COMPLIANCE])
            g->of[PL_ATTACHMENT_COMPLIANCE][i] += scale * stiff * stiff * pl_dot3(on, d);
        if (a->collider < 0 || !g->of[PL_COLLIDER_POSE])
            continue;
        arm_of(s->at, a, arm);
        for (int k = 0; k < 3; k++)
            pose[k] = scale * stiff * on[k];
        pl_cross3(arm, pose, pose + 3);
        pl_slope_spread_pose(s, g, a->collider, s->at->to, pose);
    }
}

static void jvp(const pl_slope *s, const pl_gradient *direction, const double *dq0, const double *dv0,
                double scale, double *rhs)
{
    (void)dq0, (void)dv0;
    for (int i = 0; i < count(s->at->scene); i++) {
        const attachment *a = get(s->at->scene, i);
        double d[3], arm[3], pose[6], moved[3], stiff = stiffness(s->at, i);
        apart(s->at, a, s->q, d);
        if (direction->of[PL_ATTACHMENT_COMPLIANCE])
            scatter(a, scale * stiff * stiff * direction->of[PL_ATTACHMENT_COMPLIANCE][i], d, rhs);
        if (a->collider < 0 || !direction->of[PL_COLLIDER_POSE])
            continue;
        arm_of(s->at, a, arm);
        pl_slope_blend_pose(s, direction, a->collider, s->at->to, pose);
        pl_cross3(pose + 3, arm, moved);
        pl_axpy3(1, pose, moved);
        scatter(a, scale * stiff, moved, rhs);
    }
}

const pl_term pl_term_attachment = {.name = "attachment",
                                    .stencils = stencils,
                                    .energy = energy,
                                    .tangent = tangent,
                                    .multiply = multiply,
                                    .constant = constant,
                                    .vjp = vjp,
                                    .jvp = jvp};
