/* A progress bar on a terminal; nothing when stderr is a file or a pipe. */
#ifndef PL_CLI_PROGRESS_H
#define PL_CLI_PROGRESS_H

#include <pliant/pliant.h>

typedef struct cli_progress {
    bool shown;
    int total;
    double started, last; /* s */
} cli_progress;

cli_progress cli_progress_start(int total);
/* After `done` steps, the last of which gave `info`. Redraws at most ten times a second. */
void cli_progress_update(cli_progress *progress, int done, const pl_step_info *info);
/* Clears the line. */
void cli_progress_end(cli_progress *progress);

#endif
