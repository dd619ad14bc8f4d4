/*
 * Inside a report: the pieces of its data, each kept as the JSON text the page will read, so that
 * adding something copies it once and writing the file is joining texts.
 *
 * The page's data:
 *   {"version", "subtitle", "headline", "failed", "facts": [{label, value, note}],
 *    "view": {"up": [3], "trajectories": [...], "colliders": [...], "contacts": [...],
 *             "cables": [...], "points": [...]},
 *    "sections": [{title, note, items: [{kind: "plot" | "table" | "bars" | "matrix", ...}]}]}
 * Large arrays are base64 of little-endian numbers (report_view.c says which).
 */
#ifndef PL_REPORT_H
#define PL_REPORT_H

#include <pliant/report.h>

#include "io/report_text.h"

struct pl_report {
    pl_context *ctx;
    pl_report_def def; /* its strings are `title` and `subtitle` below */
    char *title, *subtitle, *headline;
    bool failed; /* what the headline tells is a failure */
    pl_text facts, trajectories, colliders, contacts, cables,
        points;       /* items with commas between them */
    pl_text sections; /* the last one is still open */
    bool section_open, section_empty;
    int trajectory_count, point_set_count;
};

/* Ends an addition to one of the texts: undone back to `length` when it failed. */
pl_status pl_report_end(pl_text *text, int length);
/* A comma unless the list is empty. */
void pl_report_next(pl_text *list);

/* How many of `count` frames of `bytes` each the report keeps, and which is the k-th of them. */
int pl_report_kept(const pl_report *report, int count, size_t bytes);
int pl_report_frame(int k, int kept, int count);
/* ,"times": of the kept frames; scratch [kept]. */
void pl_report_times(pl_text *t, float *scratch, int kept, int count, double start, double step);

typedef struct pl_report_cables {
    const char *name; /* of the trajectory they belong to, and are hidden with */
    int frame_count, segment_count;
    double *const *frames;   /* [frame_count], each [segment_count, 7]: from, to (m), tension (N) */
    double start, time_step; /* as in a trajectory */
} pl_report_cables;
pl_status pl_report_add_cables(pl_report *report, const pl_report_cables *cables);

/* The page's sources, embedded by cmake/embed.cmake. */
typedef struct pl_embedded {
    const char *name;
    const unsigned char *bytes;
    size_t count;
} pl_embedded;

extern const pl_embedded pl_report_sources[];

#endif
