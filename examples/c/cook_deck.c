/*
 * A linear-elastic deck of CalculiX (nodes, linear tets, clamps, u_z = 0 on a node set, nodal loads)
 * against its own result: Cook's membrane of the CoFEA benchmark.
 *
 *     cook_deck DECK.inp RESULT.frd
 *
 * The deck's solution is the derivative of ours with respect to the load at no load, taken here as the
 * central difference of equilibria under +-1e-4 of it.
 */
#include "statics.h"

enum { MOST = 4000 };
static const double SCALE = 1e-4, MM = 1e-3;

typedef struct deck {
    int node_count, tet_count, clamp_count, slide_count, corner;
    int number[MOST]; /* the deck's node numbers */
    double x[3 * MOST], load[3 * MOST], expected[3 * MOST];
    int tets[4 * MOST], clamp[MOST], slide[MOST];
} deck;

static int node_of(const deck *d, int number)
{
    for (int i = 0; i < d->node_count; i++)
        if (d->number[i] == number)
            return i;
    fprintf(stderr, "node %d is not in the deck\n", number);
    exit(1);
}

static bool in_list(int count, const int *list, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

static void read_row(deck *d, const char *section, const char *line)
{
    double v[16] = {0};
    int count = 0;
    for (char *end; count < 16; line = *end == ',' ? end + 1 : end) {
        v[count] = strtod(line, &end);
        if (end == line)
            break;
        count++;
    }
    if (!strcmp(section, "*Node") && count == 4) {
        d->number[d->node_count] = (int)v[0];
        for (int k = 0; k < 3; k++)
            d->x[3 * d->node_count + k] = MM * v[k + 1];
        d->node_count++;
    } else if (!strncmp(section, "*Element", 8) && count == 5) {
        for (int k = 0; k < 4; k++)
            d->tets[4 * d->tet_count + k] = node_of(d, (int)v[k + 1]);
        d->tet_count++;
    } else if (!strcmp(section, "*Nset, Nset=BC")) {
        for (int i = 0; i < count; i++)
            d->clamp[d->clamp_count++] = node_of(d, (int)v[i]);
    } else if (!strcmp(section, "*Nset, Nset=Vertex") && count == 1) {
        d->corner = node_of(d, (int)v[0]);
    } else if (!strcmp(section, "*Nset, Nset=ZSYMM")) {
        for (int i = 0; i < count; i++) {
            int node = node_of(d, (int)v[i]);
            if (!in_list(d->clamp_count, d->clamp, node))
                d->slide[d->slide_count++] = node;
        }
    } else if (!strcmp(section, "*Cload") && count == 3) {
        d->load[3 * node_of(d, (int)v[0]) + (int)v[1] - 1] += v[2];
    }
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void read_deck(const char *path, deck *d)
{
    FILE *file = open_file(path);
    char line[1024], section[1024] = "";
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '*')
            read_row(d, section, line);
        else if (line[1] != '*')
            memcpy(section, line, sizeof line);
    }
    fclose(file);
}

/* Rows of the displacement block are " -1", the node in 10 columns and three numbers of 12. */
static void read_result(const char *path, deck *d)
{
    FILE *file = open_file(path);
    char line[1024];
    bool inside = false;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, " -4  ", 5))
            inside = !strncmp(line + 5, "DISP", 4);
        if (!inside || strncmp(line, " -1", 3) != 0)
            continue;
        for (int k = 2; k >= 0; k--) {
            line[13 + 12 * (k + 1)] = '\0';
            double value = atof(line + 13 + 12 * k);
            line[13 + 12 * k] = '\0';
            d->expected[3 * node_of(d, atoi(line + 3)) + k] = MM * value;
        }
    }
    fclose(file);
}

static pl_scene *make_scene(pl_context *ctx, const deck *d)
{
    pl_scene_def scene_def = pl_scene_def_default();
    scene_def.time_step = 10.0;
    scene_def.gravity[2] = 0.0;
    scene_def.tolerance = 1e-14;
    pl_scene *scene = NULL;
    check(ctx, pl_scene_create(ctx, &scene_def, &scene));
    pl_mesh *mesh = NULL;
    check(ctx, pl_mesh_create(ctx, d->node_count, d->x, d->tet_count, d->tets, 0, NULL, &mesh));
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.young = 70e6;
    body.poisson = 0.33;
    check(ctx, pl_scene_add_body(scene, &body, NULL));
    pl_mesh_free(ctx, mesh);
    pl_pin_def pin = pl_pin_def_default();
    pin.vertex_count = d->clamp_count;
    pin.vertices = d->clamp;
    pin.compliance = 1e-12;
    check(ctx, pl_scene_add_pin(scene, &pin, NULL));
    pin.vertex_count = d->slide_count;
    pin.vertices = d->slide;
    pin.compliance = 1e-4;
    check(ctx, pl_scene_add_pin(scene, &pin, NULL));
    return scene;
}

/* Displacement under `scale` times the load, into u [n, 3]; returns the steps it took. */
static int equilibrium(pl_context *ctx, pl_scene *scene, const deck *d, double scale, double *u)
{
    int n = d->node_count, pins = d->clamp_count + d->slide_count;
    double *force = calloc(3 * (size_t)n, sizeof *force),
           *target = calloc(3 * (size_t)pins, sizeof *target);
    for (int i = 0; i < 3 * n; i++)
        force[i] = scale * d->load[i];
    for (int i = 0; i < pins; i++)
        memcpy(target + 3 * i,
               d->x + 3 * (i < d->clamp_count ? d->clamp[i] : d->slide[i - d->clamp_count]),
               3 * sizeof *target);
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    check(ctx, pl_sim_create(scene, &sim));
    check(ctx, pl_state_create(scene, &state));
    pl_inputs inputs = {.of[PL_VERTEX_FORCE] = force, .of[PL_PIN_TARGET] = target};
    int steps = settle_in_plane(sim, state, &inputs, d->slide_count, d->slide,
                                target + 3 * d->clamp_count, 1e-13, 20000);
    for (int i = 0; i < 3 * n; i++)
        u[i] = state->q[i] - d->x[i];
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    free(force);
    free(target);
    return steps;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s DECK.inp RESULT.frd\n", argv[0]);
        return 2;
    }
    static deck d;
    static double plus[3 * MOST], minus[3 * MOST];
    read_deck(argv[1], &d);
    read_result(argv[2], &d);
    pl_context *ctx = new_context();
    pl_scene *scene = make_scene(ctx, &d);
    int steps = equilibrium(ctx, scene, &d, SCALE, plus) + equilibrium(ctx, scene, &d, -SCALE, minus);
    double error = 0.0, largest = 0.0, error2 = 0.0, norm2 = 0.0;
    for (int i = 0; i < 3 * d.node_count; i++) {
        plus[i] = (plus[i] - minus[i]) / (2.0 * SCALE);
        double e = plus[i] - d.expected[i];
        error = fmax(error, fabs(e));
        largest = fmax(largest, fabs(d.expected[i]));
        error2 += e * e;
        norm2 += d.expected[i] * d.expected[i];
    }
    const double *u = plus + 3 * d.corner, *e = d.expected + 3 * d.corner;
    printf("%d nodes, %d tets, %d clamped, %d held in z, %d steps\n", d.node_count, d.tet_count,
           d.clamp_count, d.slide_count, steps);
    printf("node %d: u = (%.5f, %.5f, %.1e) mm, expected (%.5f, %.5f, %.1e)\n", d.number[d.corner],
           u[0] / MM, u[1] / MM, u[2] / MM, e[0] / MM, e[1] / MM, e[2] / MM);
    printf(
        "all nodes: largest error %.2e mm = %.1e of the largest displacement; relative L2 error %.1e\n",
        error / MM, error / largest, sqrt(error2 / norm2));
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
    return 0;
}
