/* `pliant-mpi batch TASK`, which `mpirun -n R pliant batch TASK` becomes. */
#include "cli/cli.h"
#include "cli/environment.h"

#include <string.h>

int main(int argc, char **argv)
{
    cli_choose_environment(argv);
    /* As it was started, or in the place of `pliant`, which passes the command's own arguments. */
    bool named = argc > 1 && strcmp(argv[1], "batch") == 0;
    return cmd_batch(argc - named, argv + named);
}
