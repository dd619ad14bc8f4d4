/* What happens, in one line on a terminal; nothing when stderr is a file or a pipe. */
#ifndef PL_CLI_PROGRESS_H
#define PL_CLI_PROGRESS_H

#include <pliant/pliant.h>

/* Draws a line over the last one, cut to the terminal's width. */
void cli_line_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_line_clear(void);

/* A bar of steps. */
typedef struct cli_progress {
    int total;
    double started, last; /* s */
} cli_progress;

cli_progress cli_progress_start(int total);
/* After `done` steps, the last of which gave `info`. Redraws at most ten times a second. */
void cli_progress_update(cli_progress *progress, int done, const pl_step_info *info);

#endif
