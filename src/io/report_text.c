/* Growing text, escaping, base64: see report_text.h. */
#include "io/report_text.h"

#include <limits.h>
#include <stdio.h>

void pl_text_free(pl_text *text)
{
    pl_free(text->ctx, text->data);
    *text = (pl_text){.ctx = text->ctx};
}

void pl_text_cut(pl_text *text, int length)
{
    text->length = length;
    text->status = PL_OK;
    if (text->data)
        text->data[length] = 0;
}

/* Room for `count` more bytes and the zero; false when that failed, now or before. */
static bool make_room(pl_text *text, size_t count)
{
    if (text->status != PL_OK)
        return false;
    if (count > (size_t)(INT_MAX / 2 - text->length - 1)) {
        text->status = pl_fail(text->ctx, PL_ERROR_MEMORY, "text of more than %d bytes", INT_MAX / 2);
        return false;
    }
    void *data = text->data;
    text->status = pl_grow(text->ctx, &data, &text->capacity, text->length + (int)count + 1, 1);
    text->data = data;
    return text->status == PL_OK;
}

void pl_text_bytes(pl_text *text, const void *bytes, size_t count)
{
    if (!make_room(text, count))
        return;
    if (count)
        memcpy(text->data + text->length, bytes, count);
    text->length += (int)count;
    text->data[text->length] = 0;
}

void pl_text_add(pl_text *text, const char *string)
{
    pl_text_bytes(text, string, strlen(string));
}

void pl_text_format(pl_text *text, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pl_text_bytes(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void pl_text_number(pl_text *text, double value, int digits, const char *otherwise)
{
    if (!isfinite(value)) {
        pl_text_add(text, otherwise);
        return;
    }
    char raw[64], clean[64];
    snprintf(raw, sizeof raw, "%.*g", digits, value);
    int length = 0;
    for (const char *c = raw; *c; c++) {
        if (strchr("0123456789+-e", *c))
            clean[length++] = *c;
        else if (length == 0 || clean[length - 1] != '.')
            clean[length++] = '.'; /* one point for a locale's separator of any number of bytes */
    }
    pl_text_bytes(text, clean, (size_t)length);
}

void pl_text_base64(pl_text *text, const void *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t groups = count / 3 + (count % 3 != 0);
    if (groups > INT_MAX / 8) {
        if (text->status == PL_OK)
            text->status =
                pl_fail(text->ctx, PL_ERROR_MEMORY, "%zu bytes are too many to embed", count);
        return;
    }
    if (!make_room(text, 4 * groups))
        return;
    const unsigned char *b = bytes;
    char *out = text->data + text->length;
    for (size_t i = 0; i < count; i += 3, out += 4) {
        size_t left = count - i;
        unsigned group = b[i] << 16 | (left > 1 ? b[i + 1] : 0u) << 8 | (left > 2 ? b[i + 2] : 0u);
        out[0] = digits[group >> 18];
        out[1] = digits[group >> 12 & 63];
        out[2] = left > 1 ? digits[group >> 6 & 63] : '=';
        out[3] = left > 2 ? digits[group & 63] : '=';
    }
    *out = 0;
    text->length += (int)(4 * groups);
}

unsigned pl_utf8_next(const char **string)
{
    const unsigned char *s = (const unsigned char *)*string;
    if (!*s)
        return 0;
    int more = *s < 0x80 ? 0 : *s >> 5 == 6 ? 1 : *s >> 4 == 14 ? 2 : *s >> 3 == 30 ? 3 : -1;
    static const unsigned first_mask[] = {0x7f, 0x1f, 0x0f, 0x07};
    static const unsigned smallest[] = {0, 0x80, 0x800, 0x10000};
    unsigned c = more < 0 ? 0 : *s & first_mask[more];
    bool good = more >= 0;
    int used = 1;
    for (; good && used <= more; used++) {
        good = s[used] >> 6 == 2;
        if (!good)
            break;
        c = c << 6 | (s[used] & 63u);
    }
    *string += used;
    good = good && c >= smallest[more] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return good ? c : 0xfffd;
}

static void add_utf8(pl_text *text, unsigned c)
{
    char bytes[4];
    int count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 63));
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(lead[count] | c);
    pl_text_bytes(text, bytes, (size_t)count);
}

void pl_text_json(pl_text *text, const char *string)
{
    if (!string) {
        pl_text_add(text, "null");
        return;
    }
    pl_text_add(text, "\"");
    for (unsigned c; (c = pl_utf8_next(&string)) != 0;) {
        if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')
            pl_text_format(text, "\\u%04x", c);
        else
            add_utf8(text, c);
    }
    pl_text_add(text, "\"");
}

void pl_text_xml(pl_text *text, const char *string)
{
    for (unsigned c; (c = pl_utf8_next(&string)) != 0;) {
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            pl_text_format(text, "&#%u;", c);
        else if (c < 0x20 && c != '\t' && c != '\n')
            add_utf8(text, 0xfffd); /* XML has no way to write the other control characters */
        else
            add_utf8(text, c);
    }
}

void pl_text_json_numbers(pl_text *text, const double *values, size_t count, int digits)
{
    pl_text_add(text, "[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            pl_text_add(text, ",");
        pl_text_number(text, values[i], digits, "null");
    }
    pl_text_add(text, "]");
}

void pl_superscript(char *out, int exponent)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    int size = exponent < 0 ? -exponent : exponent;
    strcpy(out, exponent < 0 ? "⁻" : "");
    for (int place = size >= 100 ? 100 : size >= 10 ? 10 : 1; place > 0; place /= 10)
        strcat(out, digits[size / place % 10]);
}

bool pl_colour_parse(const char *text, unsigned char rgb[3])
{
    if (!text || text[0] != '#' || strlen(text) != 7)
        return false;
    for (int i = 0; i < 3; i++) {
        int value = 0;
        for (int k = 1; k < 3; k++) {
            int c = text[2 * i + k] | 0x20;
            bool digit = c >= '0' && c <= '9' && text[2 * i + k] == c;
            if (!digit && (c < 'a' || c > 'f'))
                return false;
            value = 16 * value + (digit ? c - '0' : c - 'a' + 10);
        }
        if (rgb)
            rgb[i] = (unsigned char)value;
    }
    return true;
}

const char *pl_colour_of(int index)
{
    static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#8c6bb1"};
    return palette[(size_t)index % (sizeof palette / sizeof *palette)];
}

const char *pl_report_number(char *out, double x, int digits)
{
    if (!isfinite(x))
        return strcpy(out, "–");
    double size = fabs(x);
    if (size >= 1e-3 && size < 1e7) {
        int decimals = digits - 1 - (int)floor(log10(size));
        snprintf(out, PL_NUMBER_SIZE, "%.*f", decimals > 0 ? decimals : 0, x);
    } else if (size == 0) {
        strcpy(out, "0");
    } else {
        int power = (int)floor(log10(size)),
            used = snprintf(out, PL_NUMBER_SIZE, "%.*f", digits - 1, x / pow(10, power));
        strcpy(out + used, "×10");
        pl_superscript(out + strlen(out), power);
    }
    char *comma = strchr(out, ','); /* some locales' decimal separator */
    if (comma)
        *comma = '.';
    return out;
}
