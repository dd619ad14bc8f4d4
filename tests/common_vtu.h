/* VTU files as the tests read them: tags in pairs, arrays where the header says. */
#ifndef PL_TEST_COMMON_VTU_H
#define PL_TEST_COMMON_VTU_H

#include "common.h"

static inline char *slurp(const char *folder, const char *name, size_t *length)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, *length + 1);
    assert_int_equal(fread(text, 1, *length, file), *length);
    fclose(file);
    return text;
}

/* Tags open and close in pairs up to `end`. */
static inline void check_tags(const char *text, const char *end)
{
    char stack[16][32];
    int depth = 0;
    for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        const char *close = memchr(at, '>', (size_t)(end - at));
        assert_non_null(close);
        char name[32] = "";
        sscanf(at + 1 + (at[1] == '/'), "%31[A-Za-z]", name);
        if (at[1] == '/')
            assert_string_equal(stack[--depth], name);
        else if (at[1] != '?' && close[-1] != '/')
            strcpy(stack[depth++], name);
    }
    assert_int_equal(depth, 2); /* VTKFile and AppendedData are open where the data begins */
}

typedef struct vtu_check {
    char *text;
    size_t length;
    const char *data; /* after the underscore */
    int points, cells;
} vtu_check;

static inline vtu_check open_vtu(const char *folder, const char *name)
{
    vtu_check v = {0};
    v.text = slurp(folder, name, &v.length);
    const char *mark = strstr(v.text, "<AppendedData encoding=\"raw\">\n_");
    assert_non_null(mark);
    v.data = strchr(mark, '_') + 1;
    check_tags(v.text, v.data);
    const char *piece = strstr(v.text, "<Piece");
    assert_int_equal(
        sscanf(piece, "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">", &v.points, &v.cells), 2);
    const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    assert_memory_equal(v.text + v.length - strlen(tail), tail, strlen(tail));
    return v;
}

/* The bytes of a named array, whose size must be as said. */
static inline const void *vtu_array(const vtu_check *v, const char *name, size_t bytes)
{
    char key[64];
    snprintf(key, sizeof key, "Name=\"%s\"", name);
    const char *at = strstr(v->text, key);
    if (!at || at > v->data)
        fail_msg("no array %s", name);
    size_t offset;
    assert_int_equal(sscanf(strstr(at, "offset="), "offset=\"%zu\"", &offset), 1);
    uint64_t size;
    memcpy(&size, v->data + offset, sizeof size);
    assert_int_equal(size, bytes);
    assert_true(v->data + offset + 8 + bytes <= v->text + v->length);
    return v->data + offset + 8;
}

#endif
