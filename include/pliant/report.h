/*
 * Reports and plots: what a run looked like, as files a person opens.
 *
 *  - A pl_report becomes one HTML file that needs nothing else: no network, no other file. It shows
 *    bodies in 3-D with playback, curves, tables, and the outcome of a fit. Parts that were not added
 *    are not shown; with trajectories alone the page is only the viewer.
 *  - A pl_plot becomes an SVG picture, or is shown in a report.
 *  - pl_csv_write writes histories as columns.
 *
 * All text is UTF-8 and may hold any character; what is not UTF-8 is shown as U+FFFD. Values that are
 * not finite are gaps. Colours are "#rrggbb". Files appear whole or not at all.
 */
#ifndef PLIANT_REPORT_H
#define PLIANT_REPORT_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------- plots */

typedef struct pl_plot_line {
    const char *name;   /* NULL = not in the legend */
    const char *colour; /* NULL = the next of a palette that colour-blind readers can tell apart */
    int count;
    const double *x;     /* [count], NULL = 0, 1, 2, ... */
    const double *y;     /* [count]; on a log axis values <= 0 are gaps too */
    const double *error; /* [count] half lengths of error bars, NULL = none */
    bool dashed;
    bool markers; /* a dot on every value */
    bool level;   /* y[0] alone, from side to side of the plot: a true value, a tolerance */
} pl_plot_line;

typedef struct pl_plot {
    const char *title, *x_label, *y_label; /* NULL = none */
    bool log_x, log_y;
    int line_count;
    const pl_plot_line *lines; /* [line_count] */
    double width, height;      /* of the picture; default 640 x 400 */
} pl_plot;

PL_API pl_plot pl_plot_default(void);
/* As SVG; the path ends in .svg. */
PL_API pl_status pl_plot_write(pl_context *ctx, const pl_plot *plot, const char *path);

/* A row of names, then row_count rows of 17 digits; columns[c] is [row_count]. NaN is left empty. */
PL_API pl_status pl_csv_write(pl_context *ctx, const char *path, int column_count,
                              const char *const *names, int row_count, const double *const *columns);

/* ------------------------------------------------------------------------------- reports */

typedef struct pl_report pl_report;

typedef struct pl_report_def {
    const char *title;    /* default "Pliant" */
    const char *subtitle; /* NULL = none */
    int max_frames;       /* a trajectory keeps at most this many frames, evenly chosen; default 300 */
    size_t max_bytes;     /* and these bytes, two frames at least; default 8 MiB */
    double up[3];         /* the picture's upward direction; default (0, 0, 1) */
} pl_report_def;

PL_API pl_report_def pl_report_def_default(void);
/* def NULL = the defaults. */
PL_API pl_status pl_report_create(pl_context *ctx, const pl_report_def *def, pl_report **out);
PL_API void pl_report_destroy(pl_report *report); /* NULL is fine */

/* The page as text, or as a file. The report stays usable. *html is zero-terminated, the caller's,
 * freed with pl_free; length (may be NULL) does not count the zero. */
PL_API pl_status pl_report_html(const pl_report *report, char **html, size_t *length);
PL_API pl_status pl_report_write(const pl_report *report, const char *path);

/* The sentence at the top: what was found, how well, in how long. */
PL_API pl_status pl_report_set_headline(pl_report *report, const char *text);
/* A figure under it: "Young's modulus", "103.2 kPa", "± 0.4 %". note may be NULL. */
PL_API pl_status pl_report_add_fact(pl_report *report, const char *label, const char *value,
                                    const char *note);

/* --- the 3-D view */

/* A moving surface. Overlay several: initial guess, fitted, target. */
typedef struct pl_report_trajectory {
    const char *name;
    const char *colour; /* NULL = the next of the palette */
    double opacity;     /* in (0, 1]; default 1 */
    bool edges;         /* draw the mesh's edges; can be changed in the page */
    bool hidden;        /* not shown until asked for */
    bool forces;        /* of recordings and rollouts: with their contact forces; default true */
    int vertex_count;
    int triangle_count;
    const int *triangles; /* [triangle_count, 3] into the vertices */
    int frame_count;
    const double *frames; /* [frame_count, vertex_count, 3] m; kept to 1/65535 of a frame's extent */
    const double *activation; /* [frame_count, vertex_count], NULL = none: paints the surface, from its
                                 colour at 0 and below to red at the largest */
    double start, time_step;  /* frame i is at start + i time_step, s; default 0 and 0.01 */
} pl_report_trajectory;

PL_API pl_report_trajectory pl_report_trajectory_default(void);
PL_API pl_status pl_report_add_trajectory(pl_report *report, const pl_report_trajectory *trajectory);

/* An obstacle as given to a scene; a table moves it, friction is not shown. */
PL_API pl_status pl_report_add_collider(pl_report *report, const pl_collider_def *collider);

/* Contact forces as arrows, hidden until asked for in the page. */
typedef struct pl_report_contacts {
    const char *name; /* of the trajectory they belong to, and are hidden with; NULL = none */
    int frame_count;
    const int *first;        /* [frame_count + 1]: frame i has the contacts first[i] .. first[i+1]-1 */
    const double *point;     /* [first[frame_count], 3] m */
    const double *normal;    /* the same shape: normal force as a world vector, N */
    const double *tangent;   /* the same shape: friction force as a world vector, N */
    double start, time_step; /* as in a trajectory */
} pl_report_contacts;

PL_API pl_status pl_report_add_contacts(pl_report *report, const pl_report_contacts *contacts);

/* Observed points, a frame for each time there are some: the view shows the frame nearest to its own
 * time, paler when that is another. */
typedef struct pl_report_points {
    const char *name;   /* NULL = "observed" */
    const char *colour; /* NULL = the next of the palette, after a fit's three motions */
    bool hidden;        /* not shown until asked for */
    int frame_count;
    const double *times; /* [frame_count] s, ascending */
    const int *first;    /* [frame_count + 1]: frame i has the points first[i] .. first[i+1]-1 */
    const double
        *point; /* [first[frame_count], 3] m; of a large frame 20 000 are kept, evenly chosen */
    const double *model; /* the same shape, or NULL: where a model has them, joined by lines */
} pl_report_points;

PL_API pl_status pl_report_add_points(pl_report *report, const pl_report_points *points);

/* --- a simulation, as it runs or afterwards */

/*
 * What a simulation did: the surface of all bodies, painted by the activation of muscles, the cables
 * and the contact forces, frame by frame. The scene has to exist while it is used. A long one is
 * thinned as it grows: beyond 600 frames every second one is dropped and the pace is halved.
 */
typedef struct pl_recording pl_recording;

PL_API pl_status pl_recording_create(const pl_scene *scene, pl_recording **out);
PL_API void pl_recording_destroy(pl_recording *recording); /* NULL is fine */
/* The start, then the state after every step (or after every so many): evenly spaced in time. */
PL_API pl_status pl_recording_add(pl_recording *recording, const pl_state *state);
/* style gives name, colour, opacity, edges, hidden and forces; its other fields are not used.
 * NULL = default. */
PL_API pl_status pl_report_add_recording(pl_report *report, const pl_recording *recording,
                                         const pl_report_trajectory *style);
/* The same from a rollout of `scene`, which needs its tape. */
PL_API pl_status pl_report_add_rollout(pl_report *report, const pl_scene *scene, pl_rollout *rollout,
                                       const pl_report_trajectory *style);

/* --- curves and tables, shown in the order they are added, under the last section's title */

PL_API pl_status pl_report_add_section(pl_report *report, const char *title, const char *note);
PL_API pl_status pl_report_add_plot(pl_report *report, const pl_plot *plot);
/* cells [row_count, column_count]; a NULL cell is empty. Columns of numbers are aligned right. */
PL_API pl_status pl_report_add_table(pl_report *report, const char *title, int column_count,
                                     const char *const *columns, int row_count,
                                     const char *const *cells);
/* One horizontal bar per value, with its share of the sum: times per stage. */
PL_API pl_status pl_report_add_bars(pl_report *report, const char *title, const char *unit, int count,
                                    const char *const *names, const double *values);
/* A square matrix of values in [-1, 1] as coloured cells: correlations. values [count, count] */
PL_API pl_status pl_report_add_matrix(pl_report *report, const char *title, int count,
                                      const char *const *names, const double *values);

/* --- everything about a fit in one call */

typedef struct pl_report_fit {
    int parameter_count;               /* p, >= 1; with `success` also 0 */
    const char *const *names;          /* [p] */
    const char *const *units;          /* [p], or NULL; entries may be NULL */
    int iteration_count;               /* k, >= 1: row 0 is the initial guess, the last the result */
    int made;                          /* iterations that `seconds` are of; 0 = k - 1 */
    const double *loss;                /* [k] */
    const double *values;              /* [k, p] */
    const double *gradient;            /* [k, p] of the loss, or NULL; in coordinates of your choice, */
    const double *difference_gradient; /* [k, p] the same by differences, or NULL; NaN where not made */
    const double *truth;               /* [p], or NULL; NaN where unknown */
    const double *standard_error;      /* [p], or NULL */
    const double *correlation;         /* [p, p], or NULL */
    double seconds;                    /* of the whole fit; 0 = not shown */
    const char *failure;               /* "Not identified: ..." in place of "Identified ..."; or NULL */
    const char *success; /* the sentence of a fit that does not identify but control, whose loss and
                            true values are not told; or NULL */
    int stage_count;
    const char *const *stages;     /* [stage_count] */
    const double *stage_seconds;   /* [stage_count] */
    int setting_count;             /* of the run: solver, steps, tolerance */
    const char *const *settings;   /* [setting_count, 2] name and value */
    int statistic_count;           /* of the solver: steps, iterations, factorisations */
    const char *const *statistics; /* [statistic_count, 2] name and value */
} pl_report_fit;

/* Adds headline and figures (unless a headline was set), curves, and tables. */
PL_API pl_status pl_report_add_fit(pl_report *report, const pl_report_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
