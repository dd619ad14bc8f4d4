/* `pliant schema`: the JSON Schema of scene files, for editors and for docs/scene.schema.json. */
#include "cli.h"

#include <pliant/io.h>

int cmd_schema(int argc, char **argv)
{
    const cli_command command = {.name = "schema",
                                 .arguments = "",
                                 .summary = "Prints the JSON Schema (draft 2020-12) of scene files."};
    int count, code = cli_parse(&command, argc, argv, &count);
    if (code >= 0)
        return code;
    pl_context *ctx = cli_context(1, false);
    if (!ctx)
        return CLI_FAILED;
    char *text = NULL;
    pl_status status = pl_scene_schema(ctx, &text);
    if (status == PL_OK)
        fputs(text, stdout);
    code = status == PL_OK ? CLI_OK : cli_report(ctx, status);
    pl_free(ctx, text);
    pl_context_destroy(ctx);
    return code;
}
