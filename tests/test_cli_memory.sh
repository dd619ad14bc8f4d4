#!/usr/bin/env bash
# Memory that is short, from far too little to enough: every run ends soon, and well or saying why.
. "$(dirname "$0")/common.sh"
if [ "${PLIANT_SANITIZED:-OFF}" = ON ]; then
    echo "not with sanitizers: they take terabytes of address space"
    exit 0
fi
export OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell} OMP_WAIT_POLICY=passive

starved=0 fine=0
for threads in 1 2; do
    for megabytes in $(seq 70 20 470); do
        code=0
        (ulimit -v $((megabytes * 1000)) && exec timeout -s KILL 60 "$PLIANT" run "$scenes/slope.json" --steps 2 \
            --threads $threads) >out.txt 2>err || code=$?
        case $code in
        0) fine=$((fine + 1)) ;;
        137) fail "$megabytes MB and $threads threads: does not end" ;;
        *)
            starved=$((starved + 1))
            [ -s err ] || fail "$megabytes MB and $threads threads: $code without a word"
            ;;
        esac
    done
done
[ $starved -gt 0 ] && [ $fine -gt 0 ] || fail "limits that tell nothing: $starved starved, $fine fine"

code=0
(ulimit -v 150000 && exec "$PLIANT" run "$scenes/slope.json" --steps 2 --threads 1) >out.txt 2>err || code=$?
[ $code = 1 ] || fail "exited with $code"
says "cannot start: out of memory; BLAS needs 128 MB"
