#!/usr/bin/env bash
# `pliant fit` and `pliant suite` from end to end: results, Ctrl-C and --resume, exit codes, tables.
set -euo pipefail

pliant=${PLIANT:?the command under test}
source=${PLIANT_SOURCE:?the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# expect CODE COMMAND...: runs it, keeps its output
expect() {
    local want=$1 got=0
    shift
    "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
    [ "$got" = "$want" ] || fail "exit code $got, expected $want: $* ($(cat "$work/stderr"))"
}

task=$source/scenes/tasks/bunny_friction.json
small=(--threads 1 --set 'scene.bodies[0].mesh.vertices=120' --set steps=20 --set gradient_check.per_stage=0)

expect 0 "$pliant" fit "$task" "${small[@]}" --set optimizer.method=levenberg_marquardt --out "$work/lm" --json
grep -q '"value": 0\.[01]' "$work/stdout" || fail "no result: $(cat "$work/stdout")"
for file in checkpoint.json history.csv result.json report.html loss.svg loss.png parameters.svg parameters.png; do
    [ -s "$work/lm/$file" ] || fail "$file is missing"
done

# Ctrl-C keeps the last iteration; --resume ends with the same history as never stopping.
descent=("${small[@]}" --set optimizer.rate=1 --set optimizer.iterations=12 --no-report)
expect 0 "$pliant" fit "$task" "${descent[@]}" --out "$work/whole"
"$pliant" fit "$task" "${descent[@]}" --out "$work/cut" >/dev/null 2>"$work/stderr" &
process=$!
until [ -s "$work/cut/checkpoint.json" ]; do
    kill -0 $process 2>/dev/null || break
    sleep 0.02
done
kill -INT $process 2>/dev/null || true
code=0
wait $process || code=$?
[ "$code" = 130 ] || [ "$code" = 0 ] || fail "interrupted fit ended with $code: $(cat "$work/stderr")"
expect 0 "$pliant" fit "$task" "${descent[@]}" --out "$work/cut" --resume
cmp "$work/whole/history.csv" "$work/cut/history.csv" || fail "resumed history differs"

# Ctrl-C while the target is simulated (here for minutes) ends the command within a step.
"$pliant" fit "$task" --threads 1 --set steps=100000 --out "$work/early" >/dev/null 2>"$work/stderr" &
process=$!
until [ -d "$work/early" ]; do # it is made just before
    kill -0 $process 2>/dev/null || fail "ended by itself: $(cat "$work/stderr")"
    sleep 0.02
done
kill -INT $process
code=0
timeout 60 tail --pid=$process -f /dev/null || fail "does not stop while it simulates the target"
wait $process || code=$?
[ "$code" = 130 ] || fail "interrupted in the target: exit code $code"
grep -q '^pliant: interrupted$' "$work/stderr" || fail "said $(cat "$work/stderr")"

# What goes wrong is said, with the right exit code.
expect 3 "$pliant" fit "$task" "${descent[@]}" --out "$work/cut"
grep -q 'there is a fit already' "$work/stderr" || fail "overwrites a fit"
expect 3 "$pliant" fit "$work/none.json"
expect 3 "$pliant" fit "$task" --set optimizer.method=magic
grep -q 'levenberg_marquardt' "$work/stderr" || fail "the choices are not named"
expect 2 "$pliant" fit
expect 2 "$pliant" fit "$task" --resume
expect 2 "$pliant" suite no_such_task
expect 2 "$pliant" suite --scale huge
expect 2 "$pliant" suite --method magic
expect 0 "$pliant" fit --schema
cmp "$work/stdout" "$source/docs/task.schema.json" || fail "docs/task.schema.json is out of date"

expect 0 "$pliant" suite gingerbread_poisson --tasks "$source/scenes/tasks" --vertices 100 --threads 1 \
    --set steps=20 --set gradient_check.per_stage=1 --out "$work/suite"
for file in suite.md suite.csv suite.tex; do
    grep -q gingerbread "$work/suite/$file" || fail "$file is missing or empty"
done
expect 0 "$pliant" suite gingerbread_poisson --tasks "$source/scenes/tasks" --vertices 100 --threads 1 \
    --set steps=20 --method levenberg_marquardt --out "$work/one"
[ -d "$work/one/gingerbread_poisson/levenberg_marquardt" ] || fail "the method asked for did not run"
[ ! -d "$work/one/gingerbread_poisson/gradient_descent" ] || fail "a method not asked for ran"
echo ok
