/*
 * Text that grows, for files written in one piece. Appending never fails by itself: the first failure
 * is kept in `status` and later calls do nothing, so that a writer checks once at its end.
 */
#ifndef PL_REPORT_TEXT_H
#define PL_REPORT_TEXT_H

#include "core/core.h"

typedef struct pl_text {
    pl_context *ctx;
    char *data; /* [length] and a zero; NULL while empty */
    int length, capacity;
    pl_status status;
} pl_text;

void pl_text_free(pl_text *text);
/* Cuts back to an earlier length and forgets a failure: how a failed addition is undone. */
void pl_text_cut(pl_text *text, int length);

void pl_text_bytes(pl_text *text, const void *bytes, size_t count);
void pl_text_add(pl_text *text, const char *string);
/* For words and integers; real numbers go through pl_text_number, which no locale changes. */
void pl_text_format(pl_text *text, const char *format, ...) PL_PRINTF(2, 3);
/* %.{digits}g with a decimal point; `otherwise` when the value is not finite. */
void pl_text_number(pl_text *text, double value, int digits, const char *otherwise);
void pl_text_base64(pl_text *text, const void *bytes, size_t count);

/* A quoted JSON string, safe inside an HTML script element too (<, >, & become \u00XX). NULL: null. */
void pl_text_json(pl_text *text, const char *string);
/* Escaped for the content and the quoted attributes of HTML and XML. */
void pl_text_xml(pl_text *text, const char *string);
/* [a,b,c], with null where a value is not finite. */
void pl_text_json_numbers(pl_text *text, const double *values, size_t count, int digits);

/* An exponent in superscript digits; out holds at least 16 bytes. */
void pl_superscript(char *out, int exponent);

/* The next character of UTF-8 text; *string moves past it. 0xFFFD for what is malformed, 0 at the end.
 */
unsigned pl_utf8_next(const char **string);

/* Whether text is "#rrggbb"; rgb (may be NULL) gets the three bytes. */
bool pl_colour_parse(const char *text, unsigned char rgb[3]);
/* The Okabe-Ito palette in an order that suits lines on white and on black; index wraps. */
const char *pl_colour_of(int index);

enum { PL_NUMBER_SIZE = 48 };

/* A number for people in out [PL_NUMBER_SIZE]: `digits` significant ones, an exponent only when it is
 * very large or small; a dash when it is not finite. */
const char *pl_report_number(char *out, double x, int digits);

#endif
