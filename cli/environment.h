#ifndef PL_CLI_ENVIRONMENT_H
#define PL_CLI_ENVIRONMENT_H

/* Starts the program again, at most twice, with what OpenBLAS and OpenMP should have found in the
 * environment. */
void cli_choose_environment(char **argv);

#endif
