#include "progress.h"
#include "cli.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Of the terminal, or 80 when it does not say. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void cli_line_show(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* A line that wraps cannot be drawn over; the last column may wrap already. */
    fprintf(stderr, "\r%.*s\033[K", columns() - 1, text);
    fflush(stderr);
}

void cli_line_clear(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

cli_progress cli_progress_start(int total)
{
    return (cli_progress){.total = total, .started = cli_seconds(), .last = -1};
}

void cli_progress_update(cli_progress *progress, int done, const pl_step_info *info)
{
    enum { WIDTH = 24 };
    double now = cli_seconds();
    if (now - progress->last < 0.1 && done < progress->total)
        return;
    progress->last = now;
    char bar[WIDTH + 1];
    int filled = (int)((double)WIDTH * done / progress->total);
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[WIDTH] = '\0';
    double each = (now - progress->started) / done;
    int left = (int)(each * (progress->total - done) + 0.5);
    cli_line_show("[%s] %d/%d  ETA %d:%02d  %.1f ms/step  contacts %d  iterations %d", bar, done,
                  progress->total, left / 60, left % 60, 1e3 * each, info->contacts, info->iterations);
}
