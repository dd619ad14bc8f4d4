/* The scanner behind every mesh reader: see scan.h. */
#define _GNU_SOURCE /* strtod_l, memmem */
#include "mesh/scan.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------- the file */

static pl_status read_all(pl_context *ctx, const char *path, int file, pl_scan *scan)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return pl_fail(ctx, PL_ERROR_FILE, "%s: is a directory, expected a mesh file", path);
    if (!S_ISREG(info.st_mode))
        return pl_fail(ctx, PL_ERROR_FILE, "%s: is not a regular file", path);
    if (info.st_size == 0)
        return pl_fail(ctx, PL_ERROR_PARSE, "%s: is empty, expected a mesh file", path);
    size_t size = (size_t)info.st_size, have = 0;
    char *text = pl_alloc(ctx, size + 1, 1);
    if (!text)
        return PL_ERROR_MEMORY;
    while (have < size) {
        ssize_t got = read(file, text + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            pl_free(ctx, text);
            return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be read after byte %zu: %s", path, have,
                           got < 0 ? strerror(errno) : "it became shorter");
        }
        have += (size_t)got;
    }
    *scan = (pl_scan){.ctx = ctx, .path = path, .text = text, .size = size};
    return PL_OK;
}

pl_status pl_scan_open(pl_context *ctx, const char *path, pl_scan *scan)
{
    /* O_NONBLOCK: a pipe without a writer must not hang the caller. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return pl_fail(ctx, PL_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    pl_status status = read_all(ctx, path, file, scan);
    close(file);
    return status;
}

void pl_scan_close(pl_scan *scan)
{
    if (scan->text)
        pl_free(scan->ctx, scan->text);
    *scan = (pl_scan){0};
}

/* ------------------------------------------------------------------------------- failing */

pl_status pl_scan_fail(const pl_scan *scan, const char *format, ...)
{
    char message[PL_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (scan->binary)
        return pl_fail(scan->ctx, PL_ERROR_PARSE, "%s: byte %zu: %s", scan->path, scan->mark, message);
    size_t line = 1;
    for (size_t i = 0; i < scan->mark; i++)
        line += scan->text[i] == '\n';
    return pl_fail(scan->ctx, PL_ERROR_PARSE, "%s:%zu: %s", scan->path, line, message);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t token_length(const pl_scan *scan, size_t at)
{
    size_t end = at;
    while (end < scan->size && !is_blank(scan->text[end]))
        end++;
    return end - at;
}

pl_status pl_scan_unexpected(const pl_scan *scan, const char *what)
{
    char shown[41];
    size_t length = token_length(scan, scan->mark), kept = length < 40 ? length : 40;
    if (length == 0)
        return pl_scan_fail(scan, "expected %s, found the end of the file", what);
    for (size_t i = 0; i < kept; i++) {
        char c = scan->text[scan->mark + i];
        shown[i] = c > ' ' && c < 127 ? c : '?';
    }
    shown[kept] = 0;
    return pl_scan_fail(scan, "expected %s, found \"%s\"", what, shown);
}

/* ------------------------------------------------------------------------------- words */

/* Skips blanks and comments, marks the next token and returns its length, 0 at the end. */
static size_t next_token(pl_scan *scan)
{
    for (;;) {
        while (scan->at < scan->size && is_blank(scan->text[scan->at]))
            scan->at++;
        if (!scan->comment || scan->at == scan->size || scan->text[scan->at] != scan->comment)
            break;
        pl_scan_skip_line(scan);
    }
    scan->mark = scan->at;
    return token_length(scan, scan->at);
}

bool pl_scan_at_end(pl_scan *scan)
{
    return next_token(scan) == 0;
}

pl_status pl_scan_word(pl_scan *scan, const char *what, pl_word *word)
{
    size_t length = next_token(scan);
    if (length == 0)
        return pl_scan_unexpected(scan, what);
    *word = (pl_word){scan->text + scan->at, length};
    scan->at += length;
    return PL_OK;
}

bool pl_word_is(pl_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

bool pl_word_is_anycase(pl_word word, const char *text)
{
    if (word.length != strlen(text))
        return false;
    for (size_t i = 0; i < word.length; i++) {
        if (tolower((unsigned char)word.start[i]) != tolower((unsigned char)text[i]))
            return false;
    }
    return true;
}

bool pl_scan_accept(pl_scan *scan, const char *text)
{
    size_t length = next_token(scan);
    if (!pl_word_is((pl_word){scan->text + scan->at, length}, text))
        return false;
    scan->at += length;
    return true;
}

void pl_scan_skip_line(pl_scan *scan)
{
    const char *end = memchr(scan->text + scan->at, '\n', scan->size - scan->at);
    scan->at = end ? (size_t)(end - scan->text) + 1 : scan->size;
}

bool pl_scan_skip_to(pl_scan *scan, const char *text)
{
    size_t length = strlen(text);
    const char *found = memmem(scan->text + scan->at, scan->size - scan->at, text, length);
    if (found)
        scan->at = (size_t)(found - scan->text) + length;
    return found != NULL;
}

/* ------------------------------------------------------------------------------- numbers */

pl_status pl_scan_integer(pl_scan *scan, const char *what, int64_t lower, int64_t upper, int64_t *value)
{
    size_t length = next_token(scan), i = 0;
    const char *digit = scan->text + scan->at;
    bool negative = length > 1 && digit[0] == '-';
    if (negative || (length > 1 && digit[0] == '+'))
        i++;
    uint64_t sum = 0;
    for (; i < length && digit[i] >= '0' && digit[i] <= '9' && sum < UINT64_C(1) << 59; i++)
        sum = 10 * sum + (uint64_t)(digit[i] - '0');
    if (length == 0 || i < length)
        return pl_scan_unexpected(scan, what);
    int64_t n = negative ? -(int64_t)sum : (int64_t)sum;
    if (n < lower || n > upper)
        return pl_scan_fail(scan, "%s is %lld, expected %lld to %lld", what, (long long)n,
                            (long long)lower, (long long)upper);
    *value = n;
    scan->at += length;
    return PL_OK;
}

/*
 * Up to 15 digits and a power of ten up to 22 are exact doubles, so one multiplication or division
 * rounds correctly. Returns the length read, 0 when the text is not of that simple kind.
 */
static size_t parse_simple(const char *text, size_t length, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    size_t i = length > 0 && (text[0] == '-' || text[0] == '+');
    int64_t digits = 0;
    int count = 0, after_point = 0;
    bool point = false;
    for (; i < length; i++) {
        if (text[i] == '.' && !point)
            point = true;
        else if (text[i] >= '0' && text[i] <= '9' && ++count <= 15)
            digits = 10 * digits + (text[i] - '0'), after_point += point;
        else
            return 0;
    }
    if (count == 0)
        return 0;
    double size = (double)digits / powers[after_point];
    *value = text[0] == '-' ? -size : size;
    return i;
}

pl_status pl_scan_double(pl_scan *scan, const char *what, double *value)
{
    size_t length = next_token(scan);
    const char *text = scan->text + scan->at;
    double x = 0;
    if (parse_simple(text, length, &x) == 0) {
        char *end = NULL;
        locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        x = c_locale ? strtod_l(text, &end, c_locale) : 0;
        if (c_locale)
            freelocale(c_locale);
        if (length == 0 || end != text + length)
            return pl_scan_unexpected(scan, what);
    }
    if (!isfinite(x))
        return pl_scan_unexpected(scan, "a finite number");
    *value = x;
    scan->at += length;
    return PL_OK;
}

pl_status pl_scan_point(pl_scan *scan, const char *what, double x[3])
{
    for (int d = 0; d < 3; d++)
        PL_TRY(pl_scan_double(scan, what, &x[d]));
    return PL_OK;
}

pl_status pl_scan_check_count(const pl_scan *scan, const char *what, size_t bytes_each, int64_t count)
{
    size_t left = scan->size - scan->at;
    if (count < 0 || count > INT32_MAX / 4)
        return pl_scan_fail(scan, "%s is %lld, expected 0 to %d", what, (long long)count,
                            INT32_MAX / 4);
    if ((size_t)count > left / bytes_each)
        return pl_scan_fail(scan, "%s is %lld, but the %zu bytes left cannot hold so many", what,
                            (long long)count, left);
    return PL_OK;
}

pl_status pl_scan_count(pl_scan *scan, const char *what, size_t bytes_each, int *count)
{
    int64_t value;
    PL_TRY(pl_scan_integer(scan, what, 0, INT64_MAX, &value));
    PL_TRY(pl_scan_check_count(scan, what, bytes_each, value));
    *count = (int)value;
    return PL_OK;
}

pl_status pl_scan_check_index(const pl_scan *scan, const char *what, int64_t base, int count,
                              int64_t value)
{
    if (count == 0)
        return pl_scan_fail(scan, "%s is %lld, but there are none", what, (long long)value);
    if (value < base || value > base + count - 1)
        return pl_scan_fail(scan, "%s is %lld, expected %lld to %lld", what, (long long)value,
                            (long long)base, (long long)(base + count - 1));
    return PL_OK;
}

pl_status pl_scan_index(pl_scan *scan, const char *what, int base, int count, int *index)
{
    int64_t value;
    PL_TRY(pl_scan_integer(scan, what, INT64_MIN, INT64_MAX, &value));
    PL_TRY(pl_scan_check_index(scan, what, base, count, value));
    *index = (int)(value - base);
    return PL_OK;
}

/* ------------------------------------------------------------------------------- bytes */

pl_status pl_scan_bytes(pl_scan *scan, const char *what, size_t count, const void **bytes)
{
    scan->mark = scan->at;
    if (count > scan->size - scan->at)
        return pl_scan_fail(scan, "expected %zu bytes of %s, found %zu before the end of the file",
                            count, what, scan->size - scan->at);
    *bytes = scan->text + scan->at;
    scan->at += count;
    return PL_OK;
}

static uint64_t load_bits(const void *bytes, int size, bool big_endian)
{
    const unsigned char *b = bytes;
    uint64_t bits = 0;
    for (int i = 0; i < size; i++)
        bits |= (uint64_t)b[big_endian ? size - 1 - i : i] << 8 * i;
    return bits;
}

int64_t pl_load_integer(const void *bytes, int size, bool is_signed, bool big_endian)
{
    uint64_t bits = load_bits(bytes, size, big_endian), sign = UINT64_C(1) << (8 * size - 1);
    if (is_signed && size < 8 && (bits & sign))
        bits |= ~((sign << 1) - 1);
    return (int64_t)bits;
}

double pl_load_real(const void *bytes, int size, bool big_endian)
{
    uint64_t bits = load_bits(bytes, size, big_endian);
    double wide;
    if (size == 8) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    uint32_t low = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &low, sizeof narrow);
    return (double)narrow;
}
