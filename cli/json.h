/* JSON as the commands print it. */
#ifndef PL_CLI_JSON_H
#define PL_CLI_JSON_H

#include <pliant/pliant.h>

#include <jansson.h>

/* Prints an object to stdout and frees it. Returns CLI_OK, or CLI_FAILED when it is NULL: memory ran
 * out. */
int cli_json_print(json_t *object);
/* JSON has no NaN and no infinity: they are null. */
json_t *cli_json_number(double value);
/* A mesh's groups: {"feet": {"vertices": 12}, ...} */
json_t *cli_json_groups(const pl_mesh *mesh);
/* What a group of that kind counts: "vertices", "tets" or "triangles". */
const char *cli_group_unit(pl_group_kind kind);

#endif
