/* Writing a file whole or not at all: see output.h. */
#include "mesh/output.h"

#include "core/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BUFFER_SIZE 65536

static pl_status fail_writing(pl_output *output, const char *what, int error)
{
    return pl_fail(output->ctx, PL_ERROR_FILE, "%s: cannot be %s: %s", output->path, what,
                   strerror(error));
}

/* Creates a new file beside its place; other processes and threads take other numbers. */
static pl_status create_temporary(pl_output *output)
{
    size_t size = strlen(output->place) + 64;
    output->temporary = pl_alloc(output->ctx, size, 1);
    if (!output->temporary)
        return PL_ERROR_MEMORY;
    for (int attempt = 0; output->file < 0; attempt++) {
        snprintf(output->temporary, size, "%s.%ld-%d.tmp", output->place, (long)getpid(), attempt);
        output->file = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->file < 0 && (errno != EEXIST || attempt == 1000))
            return fail_writing(output, "written", errno);
    }
    return PL_OK;
}

static void release(pl_output *output)
{
    if (output->plain) {
        uselocale(output->before);
        freelocale(output->plain);
    }
    pl_free(output->ctx, output->buffer);
    pl_free(output->ctx, output->temporary);
    pl_free(output->ctx, output->place);
}

pl_status pl_output_open(pl_context *ctx, const char *path, pl_output *output)
{
    pl_status status = PL_OK;
    *output = (pl_output){.ctx = ctx, .path = path, .file = -1};
    PL_CHECK(pl_whole_place(ctx, path, &output->place), failed);
    PL_NEW(ctx, output->buffer, BUFFER_SIZE, failed);
    output->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!output->plain) {
        status = pl_fail(ctx, PL_ERROR_MEMORY, "out of memory: a locale");
        goto failed;
    }
    output->before = uselocale(output->plain);
    PL_CHECK(create_temporary(output), failed);
    return PL_OK;
failed:
    release(output);
    return status;
}

static void flush(pl_output *output)
{
    for (size_t sent = 0; output->status == PL_OK && sent < output->used;) {
        ssize_t n = write(output->file, output->buffer + sent, output->used - sent);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno != EINTR)
            output->status = fail_writing(output, "written", errno);
    }
    output->used = 0;
}

void pl_output_bytes(pl_output *output, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        size_t room = BUFFER_SIZE - output->used, part = count < room ? count : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        count -= part;
        if (output->used == BUFFER_SIZE)
            flush(output);
    }
}

void pl_output_print(pl_output *output, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text)
        output->status = pl_fail(output->ctx, PL_ERROR_FILE, "%s: a text is too long", output->path);
    else
        pl_output_bytes(output, text, (size_t)length);
}

pl_status pl_output_close(pl_output *output, pl_status status)
{
    flush(output);
    status = status == PL_OK ? output->status : status;
    /* On the disk before the rename, so that a crash leaves the old file or the new one. */
    if (status == PL_OK && fsync(output->file) != 0 && errno != EINVAL)
        status = fail_writing(output, "written", errno);
    if (close(output->file) != 0 && status == PL_OK)
        status = fail_writing(output, "written", errno);
    if (status == PL_OK && rename(output->temporary, output->place) != 0)
        status = fail_writing(output, "put in place", errno);
    if (status != PL_OK)
        unlink(output->temporary);
    release(output);
    return status;
}
