#!/usr/bin/env bash
# Runs the fuzzer of build/fuzz over all kinds of files for FUZZ_SECONDS in all (default 60), from the seeds here and
# from what earlier runs found (build/fuzz/corpus), by the random numbers of FUZZ_SEED (default 1; 0 draws one). Inputs that fail are left in build/fuzz/found:
# FUZZ_KIND=kind build/fuzz/pliant_fuzz FILE runs one again.
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=(${FUZZ_KINDS:-$(ls fuzz/seeds)})
workers=$(nproc)
seconds=$((${FUZZ_SECONDS:-60} * workers / ${#kinds[@]}))
export build=$PWD/build/fuzz seconds=$((seconds > 0 ? seconds : 1))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

fuzz() {
    local log=$TMPDIR/$1.log code=0
    mkdir -p "$build/corpus/$1" "$build/found"
    FUZZ_KIND=$1 "$build/pliant_fuzz" -seed=${FUZZ_SEED:-1} -max_total_time=$seconds -timeout=10 -rss_limit_mb=1024 -max_len=8192 \
        -print_final_stats=1 -artifact_prefix="$build/found/$1-" "$build/corpus/$1" "fuzz/seeds/$1" >"$log" 2>&1 || code=$?
    if [ $code = 0 ]; then
        echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    else
        grep -v '^#' "$log" | tail -40
        echo "$1: FAILED"
    fi
    return $code
}
export -f fuzz
printf '%s\n' "${kinds[@]}" | xargs -P "$workers" -I{} bash -c 'fuzz {}'
