/* The contacts of a vertex together: its frame, what they add to the matrix and the right-hand side,
 * and what a solution makes of their forces. The equations are in contact.h. */
#ifndef PL_DEVICE_VERTEX_H
#define PL_DEVICE_VERTEX_H

#define PL_SWEEPS 40   /* over the contacts of a vertex, to put each where its law wants it */
#define PL_SLIGHT 1e-9 /* of 1/rho: springs as weak as that take no part in what balance asks for */

/* out = A B, or A B^T, of 3x3 matrices; out is another. */
static inline void mat3_times(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static inline void mat3_times_t(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] =
                a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
}

static inline void load_frame(PL_GLOBAL const double *record, double frame[9])
{
    for (int i = 0; i < 9; i++)
        frame[i] = record[PL_TOUCH_FRAME + i];
}

/* The direction of slip, d in the world. */
static inline void slip_direction(PL_GLOBAL const double *record, const double frame[9], double d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = record[PL_TOUCH_ALONG] * frame[3 + i] + record[PL_TOUCH_ALONG + 1] * frame[6 + i];
}

/* K in the frame (n, t1, t2); without what leans, and symmetric, if so wanted. */
static inline void spring_matrix(PL_GLOBAL const double *record, bool lean, double k[9])
{
    double kn = record[PL_TOUCH_SPRING], kd = record[PL_TOUCH_SPRING + 1],
           kt = record[PL_TOUCH_SPRING + 2];
    double d[2] = {record[PL_TOUCH_ALONG], record[PL_TOUCH_ALONG + 1]};
    for (int i = 0; i < 9; i++)
        k[i] = 0;
    k[0] = kn;
    for (int i = 0; i < 2; i++) {
        k[3 * (i + 1)] = lean ? -record[PL_TOUCH_LEAN] * kn * d[i] : 0;
        for (int j = 0; j < 2; j++)
            k[3 * (i + 1) + j + 1] = kd * d[i] * d[j] + kt * ((i == j ? 1.0 : 0.0) - d[i] * d[j]);
    }
}

/* The stiffest of a vertex' contacts, or -1. */
static inline int stiffest(int colliders, int v, PL_GLOBAL const int *active,
                           PL_GLOBAL const double *records)
{
    int found = -1;
    double most = -1;
    for (int s = v * colliders; s < (v + 1) * colliders; s++) {
        double k = active[s] ? records[PL_TOUCH_SIZE * (size_t)s + PL_TOUCH_SPRING] : -1;
        if (k > most) {
            most = k;
            found = s;
        }
    }
    return found;
}

/* F: the normal of contact `main`, then that of the next stiffest across it, or the direction of slip.
 */
static inline void vertex_frame(int colliders, int v, int main, PL_GLOBAL const int *active,
                                PL_GLOBAL const double *records, double f[9])
{
    double frame[9], across[3], most = 0;
    PL_GLOBAL const double *record = records + PL_TOUCH_SIZE * (size_t)main;
    load_frame(record, frame);
    for (int i = 0; i < 3; i++)
        f[i] = frame[i];
    slip_direction(record, frame, f + 3);
    for (int s = v * colliders; s < (v + 1) * colliders; s++) {
        PL_GLOBAL const double *r = records + PL_TOUCH_SIZE * (size_t)s;
        if (s == main || !active[s] || !(r[PL_TOUCH_SPRING] > most) ||
            !(r[PL_TOUCH_SPRING] > record[PL_TOUCH_SPRING + 1]))
            continue;
        for (int i = 0; i < 3; i++)
            across[i] = r[PL_TOUCH_FRAME + i];
        pl_axpy3(-pl_dot3(f, across), f, across);
        double length = pl_norm3(across);
        if (length < PL_PARALLEL)
            continue;
        most = r[PL_TOUCH_SPRING];
        for (int i = 0; i < 3; i++)
            f[3 + i] = across[i] / length;
    }
    pl_cross3(f, f + 3, f + 6);
}

/* D of contact `main` in F, and tau along e2 and e3. */
static inline void main_spring(PL_GLOBAL const double *record, const double f[9], double diagonal[9],
                               double lean[2])
{
    double frame[9], d[3], a[2];
    double kd = record[PL_TOUCH_SPRING + 1], kt = record[PL_TOUCH_SPRING + 2];
    load_frame(record, frame);
    slip_direction(record, frame, d);
    for (int i = 0; i < 9; i++)
        diagonal[i] = 0;
    diagonal[0] = record[PL_TOUCH_SPRING];
    for (int i = 0; i < 2; i++) {
        a[i] = pl_dot3(f + 3 * (i + 1), d);
        lean[i] = record[PL_TOUCH_LEAN] * a[i];
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            diagonal[3 * (i + 1) + j + 1] =
                kd * a[i] * a[j] + kt * ((i == j ? 1.0 : 0.0) - a[i] * a[j]);
}

/* What the contact's frame adds as it follows, per motion of the vertex: delta (I - far kappa) and
 * the force lambda_n kappa - n (kappa lambda_f)^T. */
static inline void follow_terms(PL_GLOBAL const double *record, const double frame[9],
                                const double lambda[3], double motion[9], double force[9])
{
    double tangent[3] = {0, lambda[1], lambda[2]}, friction[3], bent[3], kappa[9];
    for (int i = 0; i < 9; i++)
        kappa[i] = record[PL_TOUCH_CURVATURE + i];
    pl_mat3_tvec(frame, tangent, friction);
    pl_mat3_vec(kappa, friction, bent);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            motion[3 * i + j] = (i == j ? 1.0 : 0.0) - record[PL_TOUCH_FAR] * kappa[3 * i + j];
            force[3 * i + j] = lambda[0] * kappa[3 * i + j] - frame[i] * bent[j];
        }
}

typedef struct vertex_terms {
    double f[9], p[9]; /* F and P */
    double q[9];       /* what contacts add between them, h^2 D and so on */
    double spring[9];  /* what of that the factor has, symmetric */
    double right[3];   /* of the right-hand side, in P's rows */
} vertex_terms;

/* What a contact other than the stiffest adds, or, with q alone, what follows of any. */
static inline void add_touch(double h2, bool main, PL_GLOBAL const double *record,
                             const double lambda[3], const double diagonal[9], vertex_terms *t)
{
    double frame[9], motion[9], force[9], k[9], a[9], b[9], part[9], off[3], pull[3];
    load_frame(record, frame);
    follow_terms(record, frame, lambda, motion, force);
    for (int i = 0; i < 3; i++)
        off[i] = record[PL_TOUCH_OFF + i];
    mat3_times_t(motion, t->f, a);
    if (main) {
        mat3_times(t->f, a, b);
        mat3_times(diagonal, b, part);
        double world[3], in[3];
        pl_mat3_tvec(frame, off, world);
        pl_mat3_vec(t->f, world, in);
        pl_mat3_vec(diagonal, in, pull);
        for (int i = 0; i < 9; i++)
            t->spring[i] += h2 * diagonal[i];
    } else {
        double turned[9], world[3];
        spring_matrix(record, true, k);
        mat3_times(frame, a, b);
        mat3_times(k, b, turned);
        mat3_times_t(t->p, frame, b);
        mat3_times(b, turned, part);
        pl_mat3_vec(k, off, world);
        pl_mat3_vec(b, world, pull);
        spring_matrix(record, false, k);
        mat3_times_t(t->f, frame, b);
        mat3_times(b, k, turned);
        mat3_times_t(turned, b, a);
        for (int i = 0; i < 9; i++)
            t->spring[i] += h2 * a[i];
        mat3_times_t(motion, t->f, a);
    }
    mat3_times_t(force, t->f, a);
    mat3_times(t->p, a, b);
    for (int i = 0; i < 9; i++)
        t->q[i] += h2 * (part[i] - b[i]);
    for (int i = 0; i < 3; i++)
        t->right[i] -= h2 * pull[i];
}

/* Each vertex' F, P, what contacts add to the matrix, their springs in the factor, the right-hand side
 * of the step, and what is left of balance: r - h^2 sum H^T lambda. changed: whether its spring is
 * another than the factor's, `used`. */
PL_KERNEL(vertices,
          PL_VALUE(int, colliders) PL_VALUE(double, h) PL_ARRAY(int, active) PL_ARRAY(double, records)
              PL_ARRAY(double, lambda) PL_ARRAY(double, residual) PL_ARRAY(double, own)
                  PL_ARRAY(double, used) PL_ARRAY(double, frames) PL_ARRAY(double, lefts)
                      PL_ARRAY(double, terms) PL_ARRAY(double, springs) PL_ARRAY(double, left)
                          PL_ARRAY(double, rhs) PL_ARRAY(double, changed))
{
    double rest[3], h2 = h * h, diagonal[9], lean[2] = {0, 0};
    int main = stiffest(colliders, item, active, records);
    vertex_terms t;
    load3(residual, item, rest);
    for (int i = 0; i < 9; i++) {
        t.f[i] = t.p[i] = i % 4 == 0 ? 1 : 0;
        t.q[i] = t.spring[i] = diagonal[i] = 0;
    }
    for (int i = 0; i < 3; i++)
        t.right[i] = 0;
    if (main >= 0) {
        vertex_frame(colliders, item, main, active, records, t.f);
        main_spring(records + PL_TOUCH_SIZE * (size_t)main, t.f, diagonal, lean);
        for (int i = 0; i < 3; i++) {
            t.p[i] = t.f[i];
            t.p[3 + i] = t.f[3 + i] + lean[0] * t.f[i];
            t.p[6 + i] = t.f[6 + i] + lean[1] * t.f[i];
        }
    }
    for (int s = item * colliders; s < (item + 1) * colliders; s++) {
        double force[3], frame[9], world[3];
        if (!active[s])
            continue;
        load3(lambda, s, force);
        load_frame(records + PL_TOUCH_SIZE * (size_t)s, frame);
        pl_mat3_tvec(frame, force, world);
        pl_axpy3(-h2, world, rest);
        add_touch(h2, s == main, records + PL_TOUCH_SIZE * (size_t)s, force, diagonal, &t);
    }
    double in[3], other = 0;
    for (int i = 0; i < 3; i++) {
        double ratio = (own[item] + t.spring[4 * i]) / (own[item] + used[3 * item + i]);
        other = ratio > PL_OTHER || ratio < 1 / PL_OTHER ? 1 : other;
    }
    pl_mat3_vec(t.p, rest, in);
    for (int i = 0; i < 3; i++)
        in[i] = t.right[i] - in[i];
    store9(t.f, frames, (size_t)item);
    store9(t.p, lefts, (size_t)item);
    store9(t.q, terms, (size_t)item);
    store9(t.spring, springs, (size_t)item);
    store3(rest, left, item);
    store3(in, rhs, item);
    changed[item] = other;
}
PL_END

/* out = F x, x = F^T out, or the same with P: [n, 3] into and out of the vertices' frames */
PL_KERNEL(into_frames, PL_ARRAY(double, frames) PL_ARRAY(double, x) PL_ARRAY(double, out))
{
    double f[9], in[3];
    load9(frames, (size_t)item, f);
    load3(x, item, in);
    pl_mat3_vec(f, in, in);
    store3(in, out, item);
}
PL_END

PL_KERNEL(out_of_frames, PL_ARRAY(double, frames) PL_ARRAY(double, x) PL_ARRAY(double, out))
{
    double f[9], in[3];
    load9(frames, (size_t)item, f);
    load3(x, item, in);
    pl_mat3_tvec(f, in, in);
    store3(in, out, item);
}
PL_END

/* A row of E x */
static inline void row_times(int v, PL_GLOBAL const int *row, PL_GLOBAL const int *col,
                             PL_GLOBAL const double *blocks, PL_GLOBAL const double *x, double sum[3])
{
    for (int i = 0; i < 3; i++)
        sum[i] = 0;
    for (int k = row[v]; k < row[v + 1]; k++) {
        double b[9], at[3], part[3];
        load9(blocks, (size_t)k, b);
        load3(x, col[k], at);
        pl_mat3_vec(b, at, part);
        pl_axpy3(1, part, sum);
    }
}

/* y = L E world + Q x, or with Q^T: the step's matrix with L = P, the adjoint's with L = F and Q^T. */
PL_KERNEL(product,
          PL_VALUE(int, transposed) PL_ARRAY(int, row) PL_ARRAY(int, col) PL_ARRAY(double, blocks)
              PL_ARRAY(double, frames) PL_ARRAY(double, terms) PL_ARRAY(double, world)
                  PL_ARRAY(double, x) PL_ARRAY(double, y) PL_ARRAY(double, state))
{
    double sum[3], f[9], q[9], in[3], part[3];
    if (state[PL_STATE_DONE] != 0)
        return;
    row_times(item, row, col, blocks, world, sum);
    load9(frames, (size_t)item, f);
    load9(terms, (size_t)item, q);
    load3(x, item, in);
    pl_mat3_vec(f, sum, sum);
    if (transposed)
        pl_mat3_tvec(q, in, part);
    else
        pl_mat3_vec(q, in, part);
    pl_axpy3(1, part, sum);
    store3(sum, y, item);
}
PL_END

static inline void load_touch(PL_GLOBAL const double *record, touch *t)
{
    for (int i = 0; i < 9; i++) {
        t->frame[i] = record[PL_TOUCH_FRAME + i];
        t->curvature[i] = record[PL_TOUCH_CURVATURE + i];
    }
    for (int i = 0; i < 3; i++)
        t->drift[i] = record[PL_TOUCH_DRIFT + i];
    t->gap = record[PL_TOUCH_GAP];
}

/* What balance asks of a vertex' contacts beyond what their springs say, shared as they are stiff:
 * push = S^-1 lacks, S = sum of springs, as if the vertex went so much further. */
static inline void share_balance(int colliders, int v, double slight, PL_GLOBAL const int *active,
                                 PL_GLOBAL const double *records, const double lacks[3], double push[3])
{
    double sum[9], inverse[9], frame[9], k[9], a[9], b[9];
    for (int i = 0; i < 9; i++)
        sum[i] = i % 4 == 0 ? slight : 0;
    for (int s = v * colliders; s < (v + 1) * colliders; s++) {
        if (!active[s])
            continue;
        load_frame(records + PL_TOUCH_SIZE * (size_t)s, frame);
        spring_matrix(records + PL_TOUCH_SIZE * (size_t)s, false, k);
        mat3_times(k, frame, a);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                b[3 * i + j] = frame[i] * a[j] + frame[3 + i] * a[3 + j] + frame[6 + i] * a[6 + j];
        for (int i = 0; i < 9; i++)
            sum[i] += b[i];
    }
    pl_inverse3(sum, inverse);
    pl_mat3_vec(inverse, lacks, push);
}

/* The change of a contact's force by its spring for a motion of the vertex, -K (H (I - far kappa) dx +
 * off). */
static inline void spring_force(PL_GLOBAL const double *record, const double frame[9],
                                const double lambda[3], const double move[3], double out[3],
                                double turned[3])
{
    double motion[9], force[9], k[9], world[3], in[3];
    follow_terms(record, frame, lambda, motion, force);
    pl_mat3_vec(motion, move, world);
    pl_mat3_vec(frame, world, in);
    for (int i = 0; i < 3; i++)
        in[i] += record[PL_TOUCH_OFF + i];
    spring_matrix(record, true, k);
    pl_mat3_vec(k, in, out);
    for (int i = 0; i < 3; i++)
        out[i] = -out[i];
    pl_mat3_vec(force, move, turned);
}

/* What is lacking of balance at a vertex after its move, by the springs: their forces are changed by
 * what they say, `part` of it, and what the rest of balance asks for is told, N. */
static inline void push_springs(int colliders, int v, double h, double part, const double dx[3],
                                PL_GLOBAL const int *active, PL_GLOBAL const double *records,
                                PL_GLOBAL double *lambda, double lacks[3])
{
    for (int i = 0; i < 3; i++)
        lacks[i] /= h * h;
    for (int s = v * colliders; s < (v + 1) * colliders; s++) {
        double frame[9], force[3], change[3], turned[3], out[3];
        PL_GLOBAL const double *record = records + PL_TOUCH_SIZE * (size_t)s;
        if (!active[s])
            continue;
        load_frame(record, frame);
        load3(lambda, s, force);
        spring_force(record, frame, force, dx, change, turned);
        pl_mat3_tvec(frame, change, out);
        for (int i = 0; i < 3; i++)
            lacks[i] -= out[i] + turned[i];
        pl_axpy3(part, change, force);
        store3(force, lambda, s);
    }
}

/* A contact's force with its share of the rest, and the nearest point of its law. Against the vertex'
 * own block of E instead of its mass, what slides as a whole and is about to stop would turn around
 * from one correction to the next. */
static inline void meet_law(int s, double mu, double epsilon2, double rho, double part,
                            const double x0[3], const double x[3], const double dx[3],
                            const double push[3], PL_GLOBAL const double *records,
                            PL_GLOBAL double *lambda, PL_GLOBAL double *met)
{
    double frame[9], k[9], in[3], force[3], at[3];
    PL_GLOBAL const double *record = records + PL_TOUCH_SIZE * (size_t)s;
    touch t;
    pl_law law;
    pl_law_point point;
    load_touch(record, &t);
    load_frame(record, frame);
    spring_matrix(record, false, k);
    pl_mat3_vec(frame, push, in);
    pl_mat3_vec(k, in, at);
    load3(lambda, s, force);
    pl_axpy3(part, at, force);
    law.mu = mu;
    law.epsilon2 = epsilon2;
    law.rho = rho;
    law.compliance = 0;
    law.two_way = false;
    exact_delta(&t, x0, x, dx, at);
    for (int i = 0; i < 3; i++)
        at[i] -= (1 - part) * record[PL_TOUCH_OFF + i];
    law_meet(&law, at, force, &point);
    store3(force, lambda, s);
    store3(at, met, s);
}

/* The vertex to where all its laws want it; of several contacts normals have the last word. delta is
 * what it is there. */
static inline void hold_vertex(int colliders, int v, int contacts, const double x0[3],
                               const double x[3], PL_GLOBAL const int *active,
                               PL_GLOBAL const double *records, PL_GLOBAL const double *met,
                               PL_GLOBAL double *delta, double dx[3])
{
    int sweeps = contacts > 1 ? PL_SWEEPS : 2;
    for (int sweep = 0; sweep <= sweeps; sweep++)
        for (int s = v * colliders; s < (v + 1) * colliders; s++) {
            double at[3], goal[3];
            touch t;
            if (!active[s])
                continue;
            load_touch(records + PL_TOUCH_SIZE * (size_t)s, &t);
            exact_delta(&t, x0, x, dx, at);
            load3(met, s, goal);
            int rows = sweep == sweeps ? 0 : contacts > 1 && sweep >= sweeps / 2 ? 1 : 3;
            for (int i = 0; i < rows; i++)
                pl_axpy3(goal[i] - at[i], t.frame + 3 * i, dx);
            store3(at, delta, s);
        }
}

/* A solution of the step's system, `world` [n, 3]: forces change as balance asks, then each pair goes
 * to the nearest on its law, and the vertex, if it is as near as that, to where that is. q + move is
 * then on the law to the last digit; lambda and delta [slots, 3] are what it is there, off [n] how far
 * the vertex had to go. `part` of a solution is made only. */
PL_KERNEL(settle,
          PL_VALUE(int, colliders) PL_VALUE(int, bodies) PL_VALUE(double, h) PL_VALUE(double, epsilon2)
              PL_VALUE(double, near) PL_VALUE(double, part) PL_ARRAY(double, friction)
                  PL_ARRAY(int, body_of) PL_ARRAY(double, mass) PL_ARRAY(double, own)
                      PL_ARRAY(double, q0) PL_ARRAY(double, q) PL_ARRAY(int, row) PL_ARRAY(int, col)
                          PL_ARRAY(double, blocks) PL_ARRAY(double, left) PL_ARRAY(double, world)
                              PL_ARRAY(int, active) PL_ARRAY(double, records) PL_ARRAY(double, lambda)
                                  PL_ARRAY(double, met) PL_ARRAY(double, delta) PL_ARRAY(double, move)
                                      PL_ARRAY(double, off) PL_ARRAY(double, state))
{
    double x0[3], x[3], dx[3], lacks[3], push[3], went[3];
    int contacts = 0;
    if (state[PL_STATE_DONE] == 0)
        return;
    load3(q0, item, x0);
    load3(q, item, x);
    load3(world, item, dx);
    load3(left, item, lacks);
    row_times(item, row, col, blocks, world, push);
    pl_axpy3(1, push, lacks);
    push_springs(colliders, item, h, part, dx, active, records, lambda, lacks);
    share_balance(colliders, item, PL_SLIGHT * own[item] / (h * h), active, records, lacks, push);
    for (int i = 0; i < 3; i++)
        went[i] = dx[i] = part * dx[i];
    store3(dx, move, item);
    for (int s = item * colliders; s < (item + 1) * colliders; s++) {
        if (!active[s])
            continue;
        contacts++;
        meet_law(s, friction[s % colliders * bodies + body_of[item]], epsilon2, h * h / mass[2 * item],
                 part, x0, x, dx, push, records, lambda, met);
    }
    hold_vertex(colliders, item, contacts, x0, x, active, records, met, delta, dx);
    pl_sub3(dx, went, went);
    off[item] = pl_norm3(went);
    /* From further off it is the next correction's to bring it there, with what is around. */
    if (off[item] <= near)
        store3(dx, move, item);
}
PL_END

/* What pulls on the rows of each contact: y = K^T h^2 H z in its frame (n, t1, t2), from z in P's rows.
 */
PL_KERNEL(pulls, PL_VALUE(int, colliders) PL_VALUE(double, h) PL_ARRAY(int, active)
                     PL_ARRAY(double, records) PL_ARRAY(double, lefts) PL_ARRAY(double, frames)
                         PL_ARRAY(double, z) PL_ARRAY(double, out))
{
    double in[3], f[9], p[9], world[3], y[3] = {0, 0, 0}, frame[9];
    int v = item / colliders, main = stiffest(colliders, v, active, records);
    store3(y, out, item);
    if (!active[item])
        return;
    PL_GLOBAL const double *record = records + PL_TOUCH_SIZE * (size_t)item;
    load3(z, v, in);
    load9(frames, (size_t)v, f);
    load9(lefts, (size_t)v, p);
    load_frame(record, frame);
    if (item == main) {
        double diagonal[9], lean[2], scaled[3];
        main_spring(record, f, diagonal, lean);
        pl_mat3_vec(diagonal, in, scaled);
        pl_mat3_tvec(f, scaled, world);
        pl_mat3_vec(frame, world, y);
    } else {
        double k[9], at[3];
        pl_mat3_tvec(p, in, world);
        pl_mat3_vec(frame, world, at);
        spring_matrix(record, true, k);
        pl_mat3_tvec(k, at, y);
    }
    for (int i = 0; i < 3; i++)
        y[i] *= h * h;
    store3(y, out, item);
}
PL_END

/* q = from + scale move, of a move that was found */
PL_KERNEL(advance, PL_VALUE(double, scale) PL_ARRAY(double, from) PL_ARRAY(double, move)
                       PL_ARRAY(double, q) PL_ARRAY(double, state))
{
    if (state[PL_STATE_DONE] != 0)
        q[item] = from[item] + scale * move[item];
}
PL_END

/* Maxima of a piece of the vertices: [PL_CHUNKS, 4] move, whose, off, springs that changed. */
PL_KERNEL(measure, PL_VALUE(int, n) PL_ARRAY(double, move) PL_ARRAY(double, off)
                       PL_ARRAY(double, changed) PL_ARRAY(double, partial))
{
    double most = -1, worst = 0, farthest = 0, others = 0, by[3];
    for (int v = chunk_begin(n, item); v < chunk_begin(n, item + 1); v++) {
        load3(move, v, by);
        double length = pl_norm3(by);
        if (most == most && !(length <= most)) { /* a NaN stays */
            most = length;
            worst = v;
        }
        if (farthest == farthest && !(off[v] <= farthest))
            farthest = off[v];
        others += changed[v];
    }
    partial[4 * item] = most;
    partial[4 * item + 1] = worst;
    partial[4 * item + 2] = farthest;
    partial[4 * item + 3] = others;
}
PL_END

/* Energies of a piece of the elements, with the first that is infinite: [PL_CHUNKS, 2]. */
PL_KERNEL(measure_energy, PL_VALUE(int, slots) PL_ARRAY(double, energy) PL_ARRAY(double, partial))
{
    double sum = 0, bad = -1;
    for (int s = chunk_begin(slots, item); s < chunk_begin(slots, item + 1); s++) {
        if (bad < 0 && !(energy[s] < HUGE_VAL))
            bad = s;
        sum += energy[s];
    }
    partial[2 * item] = sum;
    partial[2 * item + 1] = bad;
}
PL_END

/* What the host is told of all of it. */
PL_KERNEL(tell, PL_VALUE(int, slots) PL_ARRAY(int, active) PL_ARRAY(double, partial)
                    PL_ARRAY(double, energies) PL_ARRAY(double, bent) PL_ARRAY(double, state))
{
    double most = -1, worst = 0, off = 0, others = 0, sum = 0, bad = -1, contacts = 0;
    (void)item;
    for (int c = 0; c < PL_CHUNKS; c++) {
        if (most == most && !(partial[4 * c] <= most)) {
            most = partial[4 * c];
            worst = partial[4 * c + 1];
        }
        if (off == off && !(partial[4 * c + 2] <= off))
            off = partial[4 * c + 2];
        others += partial[4 * c + 3];
        sum += energies[2 * c] + bent[2 * c];
        if (bad < 0)
            bad = energies[2 * c + 1];
    }
    for (int s = 0; s < slots; s++)
        contacts += active[s] != 0 ? 1 : 0;
    state[PL_STATE_MOVE] = most;
    state[PL_STATE_WORST] = worst;
    state[PL_STATE_OFF] = off;
    state[PL_STATE_CHANGED] = others;
    state[PL_STATE_BAD] = bad;
    state[PL_STATE_ENERGY] = sum;
    state[PL_STATE_CONTACTS] = contacts;
}
PL_END

#endif
