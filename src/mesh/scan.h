/*
 * A file read whole into memory and a position in it: words and numbers of text, and raw bytes.
 * Parsing does not depend on the locale, and every failure names the file and the line (in binary
 * parts the byte) with what was expected there.
 */
#ifndef PL_MESH_SCAN_H
#define PL_MESH_SCAN_H

#include "core/core.h"

typedef struct pl_scan {
    pl_context *ctx;
    const char *path;
    char *text;      /* [size + 1], ends in NUL */
    size_t size;     /* where reading stops */
    size_t at;       /* next byte */
    size_t mark;     /* start of the last token: where failures point */
    char comment;    /* starts a comment up to the end of the line; NUL = none */
    bool binary;     /* failures name bytes, pl_scan_number reads bytes */
    bool big_endian; /* of binary numbers */
} pl_scan;

/* A piece of the file's text, not ended by NUL. */
typedef struct pl_word {
    const char *start;
    size_t length;
} pl_word;

pl_status pl_scan_open(pl_context *ctx, const char *path, pl_scan *scan);
void pl_scan_close(pl_scan *scan); /* a scan of zeros is fine */

/* PL_ERROR_PARSE with "path:line: " or "path: byte n: " before the message. */
pl_status pl_scan_fail(const pl_scan *scan, const char *format, ...) PL_PRINTF(2, 3);
/* The same as "expected <what>, found <the token at mark>". */
pl_status pl_scan_unexpected(const pl_scan *scan, const char *what);

bool pl_scan_at_end(pl_scan *scan); /* nothing but blanks and comments is left */
pl_status pl_scan_word(pl_scan *scan, const char *what, pl_word *word);
bool pl_scan_accept(pl_scan *scan, const char *text); /* consumes the next word if it is `text` */
pl_status pl_scan_integer(pl_scan *scan, const char *what, int64_t lower, int64_t upper,
                          int64_t *value);
pl_status pl_scan_double(pl_scan *scan, const char *what, double *value); /* finite */
pl_status pl_scan_point(pl_scan *scan, const char *what, double x[3]);
/* A number of things of at least bytes_each each: more than the rest of the file can hold is an
 * error, so that a wrong count cannot ask for absurd memory. */
pl_status pl_scan_count(pl_scan *scan, const char *what, size_t bytes_each, int *count);
pl_status pl_scan_check_count(const pl_scan *scan, const char *what, size_t bytes_each, int64_t count);
/* A reference to one of `count` things numbered from `base`, as an index from 0. */
pl_status pl_scan_index(pl_scan *scan, const char *what, int base, int count, int *index);
pl_status pl_scan_check_index(const pl_scan *scan, const char *what, int64_t base, int count,
                              int64_t value);

void pl_scan_skip_line(pl_scan *scan);                 /* to the start of the next line */
bool pl_scan_skip_to(pl_scan *scan, const char *text); /* to just after `text`; false: not there */
pl_status pl_scan_bytes(pl_scan *scan, const char *what, size_t count, const void **bytes);

bool pl_word_is(pl_word word, const char *text);
bool pl_word_is_anycase(pl_word word, const char *text);

/* One binary number of `size` bytes. */
int64_t pl_load_integer(const void *bytes, int size, bool is_signed, bool big_endian);
double pl_load_real(const void *bytes, int size, bool big_endian);

#endif
