#include "progress.h"
#include "cli.h"

#include <unistd.h>

cli_progress cli_progress_start(int total)
{
    return (cli_progress){
        .shown = isatty(STDERR_FILENO) != 0, .total = total, .started = cli_seconds(), .last = -1};
}

void cli_progress_update(cli_progress *progress, int done, const pl_step_info *info)
{
    enum { WIDTH = 24 };
    double now = cli_seconds();
    if (!progress->shown || (now - progress->last < 0.1 && done < progress->total))
        return;
    progress->last = now;
    char bar[WIDTH + 1];
    int filled = (int)((double)WIDTH * done / progress->total);
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[WIDTH] = '\0';
    double each = (now - progress->started) / done;
    int left = (int)(each * (progress->total - done) + 0.5);
    fprintf(stderr, "\r[%s] %d/%d  contacts %d  iterations %d  %.1f ms/step  ETA %d:%02d \033[K", bar,
            done, progress->total, info->contacts, info->iterations, 1e3 * each, left / 60, left % 60);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
