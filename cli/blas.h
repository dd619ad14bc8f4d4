#ifndef PL_CLI_BLAS_H
#define PL_CLI_BLAS_H

/* Starts the program again with better OpenBLAS kernels if the ones it chose are too old for the CPU.
 */
void cli_choose_blas_core(char **argv);

#endif
