/* The context: threads, log, last error. */
#include "core/blas.h"
#include "core/core.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A fork copies the thread that calls it and what OpenMP knows of its workers, but not the workers: the
 * child's next parallel loop would wait for them for ever. Without workers both processes start new
 * ones. Inside a parallel loop nothing can be done: such a child must not come back to it. */
static void dismiss_workers(void)
{
    omp_pause_resource_all(omp_pause_soft);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(dismiss_workers, NULL, NULL);
}

pl_context_def pl_context_def_default(void)
{
    return (pl_context_def){.log_level = PL_LOG_WARNING};
}

static void *libc_realloc(void *user, void *ptr, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, bytes);
}

pl_status pl_context_create(const pl_context_def *def, pl_context **out)
{
    if (!out)
        return PL_ERROR_ARGUMENT;
    *out = NULL;
    pl_context_def d = def ? *def : pl_context_def_default();
    bool libc = !d.realloc;
    if (libc)
        d.realloc = libc_realloc;
    if (d.threads < 0 || d.threads > 1024)
        return PL_ERROR_ARGUMENT;
    int threads = d.threads > 0 ? d.threads : omp_get_num_procs();
    pl_context *ctx = pl_blas_prepare(threads) ? d.realloc(d.realloc_user, NULL, sizeof *ctx) : NULL;
    if (!ctx)
        return PL_ERROR_MEMORY;
    *ctx = (pl_context){.def = d, .libc = libc, .threads = threads, .limits = pl_limits_default()};
    *out = ctx;
    return PL_OK;
}

void pl_context_destroy(pl_context *ctx)
{
    if (ctx)
        ctx->def.realloc(ctx->def.realloc_user, ctx, 0);
}

const char *pl_context_error(const pl_context *ctx)
{
    return ctx ? ctx->error : "no context";
}

int pl_context_threads(const pl_context *ctx)
{
    return ctx->threads;
}

const char *pl_status_name(pl_status status)
{
    static const char *const names[] = {
        [PL_OK] = "ok",
        [PL_ERROR_ARGUMENT] = "bad argument",
        [PL_ERROR_MEMORY] = "out of memory",
        [PL_ERROR_FILE] = "file error",
        [PL_ERROR_PARSE] = "parse error",
        [PL_ERROR_MESH] = "bad mesh",
        [PL_ERROR_CONVERGENCE] = "no convergence",
        [PL_ERROR_NUMERIC] = "numerical breakdown",
        [PL_ERROR_INTERRUPTED] = "interrupted",
    };
    size_t count = sizeof names / sizeof *names;
    return (size_t)status < count ? names[status] : "unknown status";
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *pl_version(void)
{
    return TEXT(PL_VERSION_MAJOR) "." TEXT(PL_VERSION_MINOR) "." TEXT(PL_VERSION_PATCH);
}

pl_status pl_fail(pl_context *ctx, pl_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return status;
}

pl_status pl_fail_within(pl_context *ctx, pl_status status, const char *format, ...)
{
    char inner[PL_MESSAGE_SIZE];
    memcpy(inner, ctx->error, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof ctx->error)
        snprintf(ctx->error + used, sizeof ctx->error - (size_t)used, ": %s", inner);
    return status;
}

void pl_log(pl_context *ctx, pl_log_level level, const char *format, ...)
{
    if (!ctx->def.log || level > ctx->def.log_level)
        return;
    char text[PL_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ctx->def.log(ctx->def.log_user, level, text);
}

double pl_milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}
