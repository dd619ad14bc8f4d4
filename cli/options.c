/* Option parsing: --name value, --name=value, flags, lists, --help. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int cli_usage(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "pliant %s: ", command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (pliant %s --help)\n", command->name);
    va_end(args);
    return CLI_USAGE;
}

static void print_help(const cli_command *command)
{
    printf("usage: pliant %s [options] %s\n\n%s\n\noptions:\n", command->name, command->arguments,
           command->summary);
    for (int i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        printf("  %-20s %s\n", left, option->help);
    }
    printf("  %-20s %s\n", "--help", "print this");
    if (command->details)
        printf("\n%s\n", command->details);
}

static int set_option(const cli_command *command, const cli_option *option, const char *text)
{
    char *end;
    errno = 0;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)option->target = true;
        break;
    case CLI_INT: {
        long value = strtol(text, &end, 10);
        if (end == text || *end || errno || value < INT_MIN || value > INT_MAX)
            return cli_usage(command, "--%s: expected a whole number, got '%s'", option->name, text);
        *(int *)option->target = (int)value;
        break;
    }
    case CLI_NUMBER: {
        double value = strtod(text, &end);
        if (end == text || *end || !isfinite(value))
            return cli_usage(command, "--%s: expected a number, got '%s'", option->name, text);
        *(double *)option->target = value;
        break;
    }
    case CLI_TEXT:
        *(const char **)option->target = text;
        break;
    case CLI_LIST: {
        cli_list *list = option->target;
        if (list->count == CLI_LIST_MAX)
            return cli_usage(command, "--%s: given more than %d times", option->name, CLI_LIST_MAX);
        list->items[list->count++] = text;
        break;
    }
    }
    return -1;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* Handles the option at argv[*at], moving *at past its argument. */
static int parse_option(const cli_command *command, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    const cli_option *option =
        find_option(command, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!option)
        return cli_usage(command, "unknown option '%s'", argv[*at]);
    const char *text = equals ? equals + 1 : NULL;
    if (option->kind == CLI_FLAG && text)
        return cli_usage(command, "--%s takes no value", option->name);
    if (option->kind != CLI_FLAG && !text) {
        if (*at + 1 >= argc)
            return cli_usage(command, "--%s needs %s", option->name, option->argument);
        text = argv[++*at];
    }
    return set_option(command, option, text);
}

int cli_shorthand(const cli_command *command, cli_list *set, const char *name, const char *text,
                  char room[CLI_SHORTHAND])
{
    if (!text)
        return -1;
    if (set->count == CLI_LIST_MAX)
        return cli_usage(command, "too many overrides");
    if (snprintf(room, CLI_SHORTHAND, "%s=%s", name, text) >= CLI_SHORTHAND)
        return cli_usage(command, "--%s: too long", name);
    set->items[set->count++] = room;
    return -1;
}

int cli_parse(const cli_command *command, int argc, char **argv, int *count)
{
    *count = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            print_help(command);
            return CLI_OK;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            int code = parse_option(command, argc, argv, &i);
            if (code >= 0)
                return code;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            return cli_usage(command, "unknown option '%s'", argv[i]);
        } else {
            argv[++*count] = argv[i];
        }
    }
    if (*count < command->min_arguments)
        return cli_usage(command, "expected %s", command->arguments);
    if (*count > command->max_arguments)
        return cli_usage(command, "unexpected argument '%s'", argv[command->max_arguments + 1]);
    return -1;
}
