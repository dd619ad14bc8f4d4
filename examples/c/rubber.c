/*
 * Yeoh's material from a tensile test, and the test again, simulated: a cube that is pulled, free at
 * its sides.
 *
 *     rubber FILE [STRETCH]     fits up to this stretch, 4 by default
 *
 * FILE has rows of stretch and nominal stress in MPa ("1.43, 0.29", or "uniaxial, 1.43, 0.29": other
 * modes are left out), or of five columns of which the last two are engineering strain and stress in
 * MPa. What is not such a row is skipped. Least squares of the stress, P = 2 (s - 1/s^2) (c1 + 2 c2 k +
 * 3 c3 k^2), k = s^2 + 2/s - 3.
 */
#include "statics.h"

#define MOST 4096

/* Whether a line is a row of the test: its stretch, and stress in Pa. */
static bool read_row(char *line, double *stretch, double *stress)
{
    double number[5];
    int count = 0;
    char *at = line;
    if (!strncmp(at, "uniaxial,", 9))
        at += 9;
    for (char *c = at; *c; c++)
        *c = *c == ',' || *c == ';' ? ' ' : *c;
    while (count < 5) {
        char *end;
        number[count] = strtod(at, &end);
        if (end == at)
            break;
        at = end;
        count++;
    }
    if (count != 2 && count != 5)
        return false;
    *stretch = count == 5 ? 1 + number[3] : number[0];
    *stress = 1e6 * number[count - 1];
    return *stretch > 1;
}

/* The stress's derivatives by c1, c2, c3. */
static void shares(double s, double out[3])
{
    double k = s * s + 2 / s - 3, pull = 2 * (s - 1 / (s * s));
    out[0] = pull;
    out[1] = 2 * pull * k;
    out[2] = 3 * pull * k * k;
}

/* c of the least squares, by the normal equations, scaled to a diagonal of ones. */
static void fit(int count, const double *stretch, const double *stress, double c[3])
{
    double a[3][4] = {{0}}, scale[3], row[3];
    for (int i = 0; i < count; i++) {
        shares(stretch[i], row);
        for (int k = 0; k < 3; k++) {
            a[k][3] += row[k] * stress[i];
            for (int l = 0; l < 3; l++)
                a[k][l] += row[k] * row[l];
        }
    }
    for (int k = 0; k < 3; k++)
        scale[k] = 1 / sqrt(a[k][k]);
    for (int k = 0; k < 3; k++) {
        a[k][3] *= scale[k];
        for (int l = 0; l < 3; l++)
            a[k][l] *= scale[k] * scale[l];
    }
    for (int k = 0; k < 3; k++)
        for (int l = k + 1; l < 3; l++)
            for (int m = 3; m >= k; m--)
                a[l][m] -= a[l][k] / a[k][k] * a[k][m];
    for (int k = 2; k >= 0; k--) {
        c[k] = a[k][3];
        for (int l = k + 1; l < 3; l++)
            c[k] -= a[k][l] * c[l] / scale[l];
        c[k] *= scale[k] / a[k][k];
    }
}

/* A cube of 1 cm held across three of its faces; the fourth is drawn to x = 1 cm times the stretch. */
static double pull(pl_context *ctx, const double c[3], double stretch)
{
    const double size = 0.01, compliance = 1e-6, poisson = 0.499, time[2] = {0, 20};
    double offset[6] = {0, 0, 0, (stretch - 1) * size, 0, 0}, force = 0;
    pl_scene_def scene_def = pl_scene_def_default();
    scene_def.time_step = 1;
    scene_def.gravity[2] = 0;
    pl_scene *scene = NULL;
    pl_mesh *mesh = NULL;
    check(ctx, pl_scene_create(ctx, &scene_def, &scene));
    check(ctx, pl_mesh_box(ctx, (const double[3]){size, size, size}, size, &mesh));
    pl_body_def body = pl_body_def_default();
    body.mesh = mesh;
    body.young = 4 * c[0] * (1 + poisson);
    body.poisson = poisson;
    body.mean_volume = true;
    body.yeoh2 = c[1];
    body.yeoh3 = c[2];
    check(ctx, pl_scene_add_body(scene, &body, NULL));
    for (int k = 0; k < 4; k++) {
        pl_pin_def pin = pl_pin_def_default();
        int held[4], count = 0;
        for (int i = 0; i < 8; i++)
            if ((i >> k % 3 & 1) == (k == 3))
                held[count++] = i;
        pin.vertex_count = count;
        pin.vertices = held;
        pin.compliance = compliance;
        pin.normal[k % 3] = 1;
        if (k == 3)
            pin.offset = (pl_table){2, time, offset};
        check(ctx, pl_scene_add_pin(scene, &pin, NULL));
    }
    pl_sim *sim = NULL;
    pl_state *state = NULL;
    check(ctx, pl_sim_create(scene, &sim));
    check(ctx, pl_state_create(scene, &state));
    settle(sim, state, NULL, 0, 30);
    for (int i = 1; i < 8; i += 2)
        force += (stretch * size - state->q[3 * i]) / compliance;
    pl_state_destroy(scene, state);
    pl_sim_destroy(sim);
    pl_scene_destroy(scene);
    pl_mesh_free(ctx, mesh);
    return force / (size * size);
}

int main(int argc, char **argv)
{
    static double stretch[MOST], stress[MOST];
    double most = argc > 2 ? atof(argv[2]) : 4, c[3], apart = 0, size = 0;
    char line[512];
    int count = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: rubber FILE [STRETCH]\n");
        return 2;
    }
    while (count < MOST && fgets(line, sizeof line, file))
        if (read_row(line, &stretch[count], &stress[count]) && stretch[count] <= most)
            count++;
    fclose(file);
    if (count < 4) {
        fprintf(stderr, "%s: %d rows up to a stretch of %g are too few\n", argv[1], count, most);
        return 1;
    }
    fit(count, stretch, stress, c);
    for (int i = 0; i < count; i++) {
        double row[3];
        shares(stretch[i], row);
        double found = row[0] * c[0] + row[1] * c[1] + row[2] * c[2];
        apart += (found - stress[i]) * (found - stress[i]);
        size += stress[i] * stress[i];
    }
    printf("%d rows up to %.2f: c1 %.4g, c2 %.4g, c3 %.4g Pa, off by %.1f %% (root mean square)\n",
           count, most, c[0], c[1], c[2], 100 * sqrt(apart / size));
    pl_context *ctx = new_context();
    for (int k = 1; k <= 5; k++) {
        double s = 1 + (most - 1) * k / 5, row[3];
        shares(s, row);
        double want = row[0] * c[0] + row[1] * c[1] + row[2] * c[2], found = pull(ctx, c, s);
        printf("stretch %.2f  formula %.4g MPa  simulated %.4g MPa\n", s, 1e-6 * want, 1e-6 * found);
    }
    pl_context_destroy(ctx);
    return 0;
}
