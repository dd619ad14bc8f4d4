#!/usr/bin/env bash
# An OpenBLAS that chose its oldest kernels is told to choose better ones, once; a user's choice stays.
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
    const char *core = getenv("OPENBLAS_CORETYPE");
    fprintf(stderr, "core=%s\n", core ? core : "");
}
EOF
$CC -shared -fPIC shim.c -o shim.so
unset OPENBLAS_CORETYPE
told=$(LD_PRELOAD=./shim.so "$PLIANT" --version 2>&1 >/dev/null | tr '\n' ' ')
case "$told" in
"core= core=Haswell " | "core= core=SkylakeX ") ;;
*) fail "started as: $told" ;;
esac
told=$(OPENBLAS_CORETYPE=Nehalem LD_PRELOAD=./shim.so "$PLIANT" --version 2>&1 >/dev/null | tr '\n' ' ')
[ "$told" = "core=Nehalem " ] || fail "started as: $told"
