/*
 * PNG files of 8-bit RGB: every row is stored as its difference to the row above (filter 2), the whole
 * as one deflate block with the fixed code, in which runs of a byte become matches at distance 1.
 * Pictures of lines on white shrink about a hundredfold that way.
 */
#include "io/plot.h"

typedef struct deflater {
    pl_text *out;
    uint32_t bits; /* not yet written, lowest first */
    int count;
    uint32_t sum_a, sum_b; /* Adler-32 */
} deflater;

static void put_bits(deflater *d, uint32_t value, int count)
{
    d->bits |= value << d->count;
    d->count += count;
    while (d->count >= 8) {
        pl_text_bytes(d->out, &(unsigned char){d->bits & 255}, 1);
        d->bits >>= 8;
        d->count -= 8;
    }
}

/* Huffman codes are sent highest bit first. */
static void put_code(deflater *d, uint32_t code, int count)
{
    uint32_t reversed = 0;
    for (int i = 0; i < count; i++)
        reversed |= (code >> i & 1) << (count - 1 - i);
    put_bits(d, reversed, count);
}

/* The fixed code of RFC 1951, section 3.2.6. */
static void put_symbol(deflater *d, unsigned symbol)
{
    if (symbol < 144)
        put_code(d, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(d, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(d, symbol - 256, 7);
    else
        put_code(d, 0xc0 + symbol - 280, 8);
}

/* A match of length 3..258 at distance 1: length symbol 257.., its extra bits, distance symbol 0. */
static void put_run(deflater *d, int length)
{
    static const short base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    int symbol = 28;
    while (base[symbol] > length)
        symbol--;
    put_symbol(d, 257 + (unsigned)symbol);
    int extra = symbol < 8 || symbol == 28 ? 0 : (symbol - 4) / 4;
    put_bits(d, (uint32_t)(length - base[symbol]), extra);
    put_code(d, 0, 5);
}

static void deflate_row(deflater *d, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t run = 1;
        while (i + run < count && run < 259 && bytes[i + run] == bytes[i])
            run++;
        put_symbol(d, bytes[i]);
        if (run > 3)
            put_run(d, (int)run - 1);
        else
            run = 1;
        i += run;
    }
    for (size_t i = 0; i < count; i++) {
        d->sum_a = (d->sum_a + bytes[i]) % 65521;
        d->sum_b = (d->sum_b + d->sum_a) % 65521;
    }
}

static void put_u32(pl_text *out, uint32_t value)
{
    unsigned char bytes[] = {value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255};
    pl_text_bytes(out, bytes, 4);
}

/* CRC-32 of PNG, bit by bit. */
static uint32_t crc(const unsigned char *bytes, size_t count)
{
    uint32_t c = 0xffffffff;
    for (size_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    }
    return ~c;
}

/* Starts a chunk; returns where, for end_chunk, which fills in length and checksum. */
static int begin_chunk(pl_text *out, const char *type)
{
    int at = out->length;
    put_u32(out, 0);
    pl_text_add(out, type);
    return at;
}

static void end_chunk(pl_text *out, int at)
{
    if (out->status != PL_OK)
        return;
    uint32_t length = (uint32_t)(out->length - at - 8);
    for (int i = 0; i < 4; i++)
        out->data[at + i] = (char)(length >> (24 - 8 * i));
    put_u32(out, crc((const unsigned char *)out->data + at + 4, length + 4));
}

void pl_png_encode(pl_text *out, const unsigned char *pixels, unsigned char *row, int width, int height)
{
    pl_text_bytes(out, "\x89PNG\r\n\x1a\n", 8);
    int chunk = begin_chunk(out, "IHDR");
    put_u32(out, (uint32_t)width);
    put_u32(out, (uint32_t)height);
    pl_text_bytes(out, (const unsigned char[]){8, 2, 0, 0, 0}, 5);
    end_chunk(out, chunk);

    chunk = begin_chunk(out, "IDAT");
    pl_text_bytes(out, "\x78\x01", 2);
    deflater d = {.out = out, .sum_a = 1};
    put_bits(&d, 3, 3); /* last block, fixed code */
    size_t stride = 3 * (size_t)width;
    for (int y = 0; y < height; y++) {
        const unsigned char *now = pixels + (size_t)y * stride;
        const unsigned char *above = y ? now - stride : NULL;
        row[0] = 2;
        for (size_t i = 0; i < stride; i++)
            row[1 + i] = (unsigned char)(now[i] - (above ? above[i] : 0));
        deflate_row(&d, row, stride + 1);
    }
    put_symbol(&d, 256);
    put_bits(&d, 0, 7); /* fills the last byte */
    put_u32(out, d.sum_b << 16 | d.sum_a);
    end_chunk(out, chunk);
    end_chunk(out, begin_chunk(out, "IEND"));
}
