/*
 * A sheet that bends but hardly stretches, clamped at one end, against the elastica.
 *
 *     strip drape GAMMA CELLS [grid]
 *         drop over overhang under its own weight, Gamma = density g L^3 / k_b
 *     strip roll CELLS [grid]
 *         the free end under a moment that rolls the sheet to a full circle
 *
 * CELLS columns of equilateral triangles, or with `grid` of squares with alternating diagonals. The
 * bending energy is that of a plate with Poisson's ratio 0, so the sheet stays a cylinder whatever its
 * width. The clamp is the middle of the first column of cells, whose vertices are pinned; then the
 * error falls with the square of the cell.
 */
#include "statics.h"

typedef struct strip {
    pl_context *ctx;
    pl_mesh *mesh;
    pl_scene *scene;
    pl_sim *sim;
    pl_state *state;
    double cell, width; /* of a column of triangles, and of the sheet, m */
} strip;

/* Vertex j of column i of equilateral triangles: odd columns are shifted by half a side and have a
 * vertex more, so that both borders are straight. */
static double place_of(int i, int j, int rows, double side)
{
    double y = i % 2 ? j - 0.5 : j;
    return side * fmin(fmax(y, 0.0), rows);
}

/* [0, columns * cell] x [0, about width] in z = 0. */
static void equilateral_mesh(pl_context *ctx, int columns, double cell, double width, pl_mesh **out)
{
    double side = cell * 2.0 / sqrt(3.0);
    int rows = (int)(width / side + 0.5), vertices = 0, triangles = 0;
    double *x = calloc(3 * (size_t)(columns + 1) * (rows + 2), sizeof *x);
    int *t = calloc(3 * (size_t)columns * (2 * rows + 1), sizeof *t);
    for (int i = 0; i <= columns; i++)
        for (int j = 0; j <= rows + i % 2; j++, vertices++) {
            x[3 * vertices] = i * cell;
            x[3 * vertices + 1] = place_of(i, j, rows, side);
        }
    /* Between columns: always advance on the side whose next vertex is lower. */
    for (int i = 0, a = 0; i < columns; i++) {
        int b = a + rows + 1 + i % 2, a_end = b - 1, b_end = b + rows + (i + 1) % 2, b_first = b;
        while (a < a_end || b < b_end) {
            bool left = b == b_end || (a < a_end && x[3 * (a + 1) + 1] < x[3 * (b + 1) + 1]);
            memcpy(t + 3 * triangles++, (int[3]){a, b, left ? a + 1 : b + 1}, 3 * sizeof *t);
            left ? a++ : b++;
        }
        a = b_first;
    }
    check(ctx, pl_mesh_create(ctx, vertices, x, 0, NULL, triangles, t, out));
    free(x);
    free(t);
}

static double column(const strip *s, int vertex)
{
    return s->mesh->vertices[3 * vertex];
}

/* From the clamp at x = 0 to x = length in the plane z = 0, free to bend from half a cell on. */
static strip make_strip(double length, double width, int cells, bool grid, double bending,
                        double areal_density, double gravity, double time_step)
{
    strip s = {.ctx = new_context(), .cell = length / (cells - 0.5)};
    if (grid)
        check(s.ctx, pl_mesh_rectangle(s.ctx, cells * s.cell, width, s.cell, &s.mesh));
    else
        equilateral_mesh(s.ctx, cells, s.cell, width, &s.mesh);
    s.width = s.mesh->vertices[3 * (s.mesh->vertex_count - 1) + 1];
    pl_mesh_transform(s.mesh, 1.0, (double[4]){1.0, 0.0, 0.0, 0.0},
                      (double[3]){-0.5 * s.cell, 0.0, 0.0});
    pl_scene_def scene_def = pl_scene_def_default();
    scene_def.time_step = time_step;
    scene_def.gravity[2] = -gravity;
    scene_def.tolerance = 1e-9 * length;
    check(s.ctx, pl_scene_create(s.ctx, &scene_def, &s.scene));

    pl_body_def body = pl_body_def_default();
    body.mesh = s.mesh;
    body.model = PL_COROTATED;
    body.thickness = 1e-3 * length;
    body.young = 1e6 * bending / (length * length * body.thickness);
    body.poisson = 0.0;
    body.bending = bending;
    body.density = areal_density / body.thickness;
    check(s.ctx, pl_scene_add_body(s.scene, &body, NULL));

    int *clamped = calloc((size_t)s.mesh->vertex_count, sizeof *clamped), count = 0;
    for (int i = 0; i < s.mesh->vertex_count; i++)
        if (column(&s, i) < 0.75 * s.cell)
            clamped[count++] = i;
    pl_pin_def pin = pl_pin_def_default();
    pin.vertex_count = count;
    pin.vertices = clamped;
    check(s.ctx, pl_scene_add_pin(s.scene, &pin, NULL));
    free(clamped);
    check(s.ctx, pl_sim_create(s.scene, &s.sim));
    check(s.ctx, pl_state_create(s.scene, &s.state));
    return s;
}

static void free_strip(strip *s)
{
    pl_state_destroy(s->scene, s->state);
    pl_sim_destroy(s->sim);
    pl_scene_destroy(s->scene);
    pl_mesh_free(s->ctx, s->mesh);
    pl_context_destroy(s->ctx);
}

/* Mean position of the vertices that lie at x in the rest shape. */
static void mean_of_column(const strip *s, double x, double mean[3])
{
    int count = 0;
    memset(mean, 0, 3 * sizeof *mean);
    for (int i = 0; i < s->mesh->vertex_count; i++)
        if (fabs(column(s, i) - x) < 0.25 * s->cell) {
            for (int k = 0; k < 3; k++)
                mean[k] += s->state->q[3 * i + k];
            count++;
        }
    for (int k = 0; k < 3; k++)
        mean[k] /= count;
}

static void drape(double gamma, int cells, bool grid)
{
    double areal_density = 0.2, tip[3];
    strip s = make_strip(1.0, 1.0, cells, grid, areal_density * 9.81 / gamma, areal_density, 9.81, 0.3);
    int steps = settle(s.sim, s.state, NULL, 1e-8, 2000);
    mean_of_column(&s, 1.0, tip);
    printf("Gamma %g  cells %d  steps %d  H/W %.5f\n", gamma, cells, steps, -tip[2] / tip[0]);
    free_strip(&s);
}

/* Adds the force f to the column at x, shared by the length of border each vertex stands for. */
static void push_column(const strip *s, double x, const double f[3], double *force)
{
    const double *rest = s->mesh->vertices;
    for (int i = 0, before = -1; i < s->mesh->vertex_count; i++) {
        if (fabs(column(s, i) - x) > 0.25 * s->cell)
            continue;
        double share = before < 0 ? 0.0 : 0.5 * (rest[3 * i + 1] - rest[3 * before + 1]) / s->width;
        for (int k = 0; k < 3 && before >= 0; k++) {
            force[3 * i + k] += share * f[k];
            force[3 * before + k] += share * f[k];
        }
        before = i;
    }
}

/* A moment as a couple on the last two columns, normal to the cells between them where they are now. */
static void apply_moment(const strip *s, double length, double moment, double *force)
{
    double end[3], before[3];
    mean_of_column(s, length, end);
    mean_of_column(s, length - s->cell, before);
    double t[2] = {end[0] - before[0], end[2] - before[2]}, f = moment / (t[0] * t[0] + t[1] * t[1]);
    memset(force, 0, 3 * (size_t)s->mesh->vertex_count * sizeof *force);
    push_column(s, length, (double[3]){-f * t[1], 0.0, f * t[0]}, force);
    push_column(s, length - s->cell, (double[3]){f * t[1], 0.0, -f * t[0]}, force);
}

/* The cantilever is 1 wide; a wider sheet gets as much more moment. */
static void roll(int cells, bool grid)
{
    double length = 12.0, rigidity = 1.2e6 * 1e-3 / 12.0, full = 50.0 * acos(-1.0) / 3.0;
    strip s = make_strip(length, 0.25 * length, cells, grid, rigidity, 1.0, 0.0, 3.0);
    double *force = calloc(3 * (size_t)s.mesh->vertex_count, sizeof *force), tip[3];
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = force};
    for (int part = 1; part <= 40; part++) {
        int steps = 0;
        for (double before = 1.0, moved = 1.0; moved > 1e-6 && steps < 1000; steps++) {
            apply_moment(&s, length, full * s.width * part / 40.0, force);
            settle(s.sim, s.state, &inputs, 0.0, 1);
            mean_of_column(&s, length, tip);
            moved = fabs(before - tip[0] - 2.0 * tip[2]);
            before = tip[0] + 2.0 * tip[2];
        }
        double turn = full * part / 40.0 * length / rigidity;
        double u = length - length * sin(turn) / turn, w = length * (1.0 - cos(turn)) / turn;
        if (part % 10 == 0)
            printf("M/M1 %.2f  cells %d  steps %d  -u %.4f (%.4f)  w %.4f (%.4f)  error %.1e L\n",
                   part / 40.0, cells, steps, length - tip[0], u, tip[2], w,
                   hypot(length - tip[0] - u, tip[2] - w) / length);
    }
    free(force);
    free_strip(&s);
}

int main(int argc, char **argv)
{
    bool grid = !strcmp(argv[argc - 1], "grid");
    argc -= grid;
    if (argc == 4 && !strcmp(argv[1], "drape"))
        drape(atof(argv[2]), atoi(argv[3]), grid);
    else if (argc == 3 && !strcmp(argv[1], "roll"))
        roll(atoi(argv[2]), grid);
    else
        return fprintf(stderr, "usage: %s drape GAMMA CELLS [grid] | roll CELLS [grid]\n", argv[0]), 2;
    return 0;
}
