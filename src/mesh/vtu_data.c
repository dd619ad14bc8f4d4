/*
 * One array of a .vtu file is a header and data, as raw bytes or in base64, header numbers of 4 or 8
 * bytes:
 *     plain:      [bytes] data
 *     compressed: [blocks] [block bytes] [bytes of the last block, 0 = full] [compressed bytes of
 * each], then every block by itself as a zlib stream Base64 may be padded between header and data or
 * run on: padding ends a group, not the stream.
 */
#include "mesh/vtu_data.h"

#include <zlib.h>

typedef struct source {
    pl_scan *scan;
    const pl_vtu_block *block;
    const char *what;
    size_t at;
    unsigned char group[3]; /* decoded, not yet taken */
    int have;
} source;

static pl_status fail_short(source *from)
{
    from->scan->mark = from->at;
    return pl_scan_fail(from->scan, "%s has fewer bytes than its header says", from->what);
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Decodes the next four characters into group[], first byte last so that taking it is cheap. */
static pl_status decode_group(source *from)
{
    int value[4], n = 0, padding = 0;
    while (n < 4) {
        if (from->at >= from->block->end)
            return fail_short(from);
        char c = from->scan->text[from->at++];
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            continue;
        value[n] = c == '=' ? 0 : base64_value(c);
        padding += c == '=';
        if (value[n] < 0 || (padding > 0 && (c != '=' || n < 2))) {
            from->scan->mark = from->at - 1;
            return pl_scan_fail(from->scan, "%s: expected base64, found byte %d", from->what,
                                (unsigned char)c);
        }
        n++;
    }
    int bits = value[0] << 18 | value[1] << 12 | value[2] << 6 | value[3];
    const unsigned char bytes[3] = {(unsigned char)(bits >> 16), (unsigned char)(bits >> 8),
                                    (unsigned char)bits};
    from->have = 3 - padding;
    for (int i = 0; i < from->have; i++)
        from->group[from->have - 1 - i] = bytes[i];
    return PL_OK;
}

static pl_status take(source *from, size_t count, void *out)
{
    unsigned char *to = out;
    if (!from->block->base64) {
        if (count > from->block->end - from->at)
            return fail_short(from);
        memcpy(to, from->scan->text + from->at, count);
        from->at += count;
        return PL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (from->have == 0)
            PL_TRY(decode_group(from));
        to[i] = from->group[--from->have];
    }
    return PL_OK;
}

static pl_status take_number(source *from, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    PL_TRY(take(from, (size_t)from->block->header_size, bytes));
    *value = (uint64_t)pl_load_integer(bytes, from->block->header_size, false, from->block->big_endian);
    return PL_OK;
}

static pl_status check_size(source *from, uint64_t found, size_t expected)
{
    if (found == expected)
        return PL_OK;
    return pl_scan_fail(from->scan, "%s has %llu bytes, expected %zu", from->what,
                        (unsigned long long)found, expected);
}

/* ------------------------------------------------------------------------------- zlib */

static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
    return pl_alloc(ctx, count, size);
}

static void zlib_free(void *ctx, void *ptr)
{
    pl_free(ctx, ptr);
}

static pl_status inflate_block(source *from, unsigned char *in, size_t in_size, unsigned char *out,
                               size_t out_size)
{
    pl_context *ctx = from->scan->ctx;
    z_stream stream = {.zalloc = zlib_alloc,
                       .zfree = zlib_free,
                       .opaque = ctx,
                       .next_in = in,
                       .avail_in = (unsigned)in_size,
                       .next_out = out,
                       .avail_out = (unsigned)out_size};
    if (in_size > UINT32_MAX || out_size > UINT32_MAX)
        return pl_scan_fail(from->scan, "%s has a block of more than 4 GB", from->what);
    if (inflateInit(&stream) != Z_OK)
        return PL_ERROR_MEMORY;
    int result = inflate(&stream, Z_FINISH);
    bool whole = result == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (result == Z_MEM_ERROR)
        return PL_ERROR_MEMORY;
    return whole ? PL_OK : pl_scan_fail(from->scan, "%s has a block that zlib cannot read", from->what);
}

/* Takes the compressed blocks; the header says their sizes. */
static pl_status take_blocks(source *from, uint64_t blocks, uint64_t block_size, uint64_t last_size,
                             unsigned char *out)
{
    pl_status status = PL_OK;
    uint64_t *sizes = NULL;
    unsigned char *in = NULL;
    PL_NEW(from->scan->ctx, sizes, blocks, done);
    for (uint64_t b = 0; b < blocks; b++) {
        PL_CHECK(take_number(from, &sizes[b]), done);
        if (sizes[b] > from->block->end - from->block->begin) {
            status = fail_short(from);
            goto done;
        }
    }
    for (uint64_t b = 0; b < blocks; b++) {
        size_t size = b + 1 < blocks ? block_size : last_size;
        pl_free(from->scan->ctx, in);
        PL_NEW(from->scan->ctx, in, sizes[b], done);
        PL_CHECK(take(from, sizes[b], in), done);
        PL_CHECK(inflate_block(from, in, sizes[b], out, size), done);
        out += size;
    }
done:
    pl_free(from->scan->ctx, in);
    pl_free(from->scan->ctx, sizes);
    return status;
}

pl_status pl_vtu_read_block(pl_scan *scan, const pl_vtu_block *block, const char *what, size_t count,
                            void *out)
{
    source from = {.scan = scan, .block = block, .what = what, .at = block->begin};
    uint64_t bytes, block_size, last_size;
    scan->mark = block->begin;
    PL_TRY(take_number(&from, &bytes));
    if (!block->compressed) {
        PL_TRY(check_size(&from, bytes, count));
        return take(&from, count, out);
    }
    uint64_t blocks = bytes, total = 0;
    PL_TRY(take_number(&from, &block_size));
    PL_TRY(take_number(&from, &last_size));
    last_size = last_size == 0 ? block_size : last_size;
    if (blocks > (block->end - block->begin) / 4 || (blocks > 1 && block_size > count) ||
        last_size > block_size)
        return pl_scan_fail(scan, "%s has %llu blocks of %llu bytes, expected %zu bytes in all", what,
                            (unsigned long long)blocks, (unsigned long long)block_size, count);
    if (blocks > 0)
        total = (blocks - 1) * block_size + last_size;
    PL_TRY(check_size(&from, total, count));
    return take_blocks(&from, blocks, block_size, last_size, out);
}
