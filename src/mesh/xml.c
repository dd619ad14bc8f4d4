/* Tags and attributes: see xml.h. */
#include "mesh/xml.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

pl_status pl_xml_next(pl_scan *scan, pl_xml_tag *tag)
{
    *tag = (pl_xml_tag){0};
    for (;;) {
        if (!pl_scan_skip_to(scan, "<"))
            return PL_OK;
        scan->mark = scan->at - 1;
        const char *text = scan->text + scan->at; /* ends in NUL at the latest */
        bool comment = strncmp(text, "!--", 3) == 0;
        if (!comment && text[0] != '?' && text[0] != '!')
            break;
        if (!pl_scan_skip_to(scan, comment ? "-->" : ">"))
            return pl_scan_fail(scan, "expected the end of this comment, found the end of the file");
    }
    size_t begin = scan->at;
    if (!pl_scan_skip_to(scan, ">"))
        return pl_scan_fail(scan, "expected the > of this tag, found the end of the file");
    const char *at = scan->text + begin, *end = scan->text + scan->at - 1;
    tag->closing = at < end && *at == '/';
    at += tag->closing;
    tag->empty = at < end && end[-1] == '/';
    end -= tag->empty;
    tag->name.start = at;
    while (at < end && !is_space(*at))
        at++;
    tag->name.length = (size_t)(at - tag->name.start);
    tag->attributes = (pl_word){at, (size_t)(end - at)};
    return tag->name.length > 0 ? PL_OK : pl_scan_fail(scan, "expected the name of a tag");
}

bool pl_xml_attribute(const pl_xml_tag *tag, const char *name, pl_word *value)
{
    const char *at = tag->attributes.start, *end = at + tag->attributes.length;
    while (at < end) {
        while (at < end && is_space(*at))
            at++;
        pl_word key = {at, 0};
        while (at < end && *at != '=' && !is_space(*at))
            at++;
        key.length = (size_t)(at - key.start);
        while (at < end && *at != '"' && *at != '\'')
            at++;
        if (at == end)
            return false;
        const char *begin = at + 1, *close = memchr(begin, *at, (size_t)(end - begin));
        if (!close)
            return false;
        if (pl_word_is(key, name)) {
            *value = (pl_word){begin, (size_t)(close - begin)};
            return true;
        }
        at = close + 1;
    }
    return false;
}

static const struct {
    char c;
    const char *text;
} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};

size_t pl_xml_unescape(char *text, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++, kept++) {
        text[kept] = text[i];
        for (size_t e = 0; text[i] == '&' && e < sizeof escapes / sizeof *escapes; e++) {
            size_t size = strlen(escapes[e].text);
            if (size <= length - i && memcmp(text + i, escapes[e].text, size) == 0) {
                text[kept] = escapes[e].c;
                i += size - 1;
                break;
            }
        }
    }
    return kept;
}

const char *pl_xml_escape(char c)
{
    for (size_t e = 0; e < sizeof escapes / sizeof *escapes; e++) {
        if (escapes[e].c == c)
            return escapes[e].text;
    }
    return NULL;
}
