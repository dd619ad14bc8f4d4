#!/usr/bin/env bash
# An OpenBLAS that chose its oldest kernels is told to choose better ones and to start no threads,
# OpenMP's threads are told how to wait; a user's choices stay.
. "$(dirname "$0")/common.sh"
if [ "${PLIANT_SANITIZED:-OFF}" = ON ]; then
    echo "not with sanitizers: their run time must be loaded first"
    exit 0
fi
grep -qm1 avx2 /proc/cpuinfo || { echo "this CPU has no better kernels"; exit 0; }
cat >shim.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
char *openblas_get_corename(void)
{
    return "Prescott";
}
__attribute__((constructor)) static void tell(void)
{
    const char *names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY",
                           "GOMP_SPINCOUNT"};
    for (int i = 0; i < 4; i++)
        fprintf(stderr, "%s%s", i ? "," : "", getenv(names[i]) ? getenv(names[i]) : "");
    fprintf(stderr, " ");
}
EOF
$CC -shared -fPIC shim.c -o shim.so
unset OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME

# What it was started with, each time: kernels, threads, policy, spins.
starts() {
    env "$@" LD_PRELOAD=./shim.so "$PLIANT" --version 2>&1 >/dev/null
}

told=$(starts OMP_WAIT_POLICY=passive)
case "$told" in
",,passive, Haswell,1,passive, " | ",,passive, SkylakeX,1,passive, ") ;;
*) fail "started as: $told" ;;
esac
# Waiting is chosen by what else runs: either way is right here.
told=$(starts OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=2)
case "$told" in
"Haswell,2,, Haswell,2,passive, " | "Haswell,2,, Haswell,2,,10000 ") ;;
*) fail "started as: $told" ;;
esac
told=$(starts OPENBLAS_CORETYPE=Nehalem OPENBLAS_NUM_THREADS=1 GOMP_SPINCOUNT=7)
[ "$told" = "Nehalem,1,,7 " ] || fail "started as: $told"
