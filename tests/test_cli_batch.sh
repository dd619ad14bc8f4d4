#!/usr/bin/env bash
# `pliant batch`: the same digits for any number of workers, parts and MPI ranks; environments fail alone.
. "$(dirname "$0")/common.sh"

cat >scene.json <<'SCENE'
{"version": 1, "time_step": 0.01, "steps": 4, "max_splits": 1,
 "bodies": [{"name": "block", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cell": 0.05}},
             "transform": {"translate": [0, 0, 0.001]}, "material": {"young": 1e5}}],
 "colliders": [{"shape": {"half_space": {}}, "friction": 0.3}]}
SCENE
cat >task.json <<'TASK'
{"version": 1, "scene": "scene.json",
 "unknowns": [{"name": "E", "quantity": "young", "initial": 2e5, "true": 1e5, "lower": 1e4, "upper": 1e6, "map": "log"},
              {"name": "push", "quantity": "velocity", "direction": [1, 0, 0], "initial": 0.1, "true": 0.5,
               "lower": 0, "upper": 1}],
 "loss": [{"kind": "positions"}]}
TASK

expect 0 batch task.json --environments 7 --workers 1 --out one.csv
prints '7 of 7 environments evaluated, written to one.csv'
[ "$(wc -l <one.csv)" = 8 ] || fail "not a row for each: $(cat one.csv)"
head -1 one.csv | grep -qx 'environment,status,loss,E,push,dloss/dE,dloss/dpush,message' || fail "$(head -1 one.csv)"
grep -q '^0,ok,[0-9.e-]*,200000[.0-9]*,0.1' one.csv || fail "environment 0 is not the task's start: $(cat one.csv)"
expect 0 batch task.json --environments 7 --workers 3
cmp out.txt one.csv || fail "workers change the results"

# Parts, one after the other, are the whole.
for part in 1 2 3; do
    expect 0 batch task.json --environments 7 --part $part/3
    if [ $part = 1 ]; then cat out.txt; else tail -n +2 out.txt; fi >>parts.csv
done
cmp parts.csv one.csv || fail "parts are not the whole"

# One that cannot be simulated does not take the others with it.
crash=(--environments 4 --set 'unknowns[1].upper=1e12' --set 'unknowns[1].direction=[0,0,-1]')
expect 4 batch task.json "${crash[@]}" --out crash.csv
says 'pliant: environment 1: '
prints '1 of 4 environments evaluated, written to crash.csv'
grep -q '^0,ok,' crash.csv || fail "environment 0 is lost: $(cat crash.csv)"
grep -q '^3,no convergence,nan,.*,nan,nan,"' crash.csv || fail "environment 3 is not told of: $(cat crash.csv)"

# A start that none of them can have is said once, and nothing is written.
echo '4,0,0,0' >target.csv
sed 's/0, 0, 0.001/0, 0, -0.02/' scene.json >sunk.json
sed -e 's/scene.json/sunk.json/' -e 's/, "true": [0-9.e]*//' -e 's/"positions"/"centre_of_mass", "target": "target.csv"/' \
    task.json >sunk_task.json
expect 3 batch sunk_task.json --environments 3 --out sunk.csv
says 'pliant: error: sunk_task.json: vertex 0 of body "block", the deepest of 9, starts 0.02 m inside'
[ "$(wc -l <err)" = 1 ] && [ ! -e sunk.csv ] || fail "more than once, or rows"

# What is wrong is said.
expect 2 batch task.json
says '--environments: expected how many, at least 1'
expect 2 batch task.json --environments 4 --part 5/4
says "--part: expected K/N with 1 <= K <= N, got '5/4'"
expect 3 batch missing.json --environments 2
says missing.json
expect 1 batch task.json --environments 2 --out nowhere/results.csv
says 'nowhere/results.csv: cannot be created: No such file'
for part in 1/99999999999 99999999999/99999999999 0/3 1/ 1/3x /3; do
    expect 2 batch task.json --environments 4 --part $part
    says "--part: expected K/N with 1 <= K <= N, got '$part'"
done

# Only a file is replaced, or the file that a link leads to; all else is refused before anything is computed.
mkfifo pipe
expect 1 batch task.json --environments 2 --out pipe
says 'pipe: cannot be replaced: it is a pipe, not a file'
[ -p pipe ] || fail "the pipe is gone"
cp one.csv real.csv
ln -s real.csv link.csv
expect 0 batch task.json --environments 2 --out link.csv
[ -L link.csv ] && [ "$(wc -l <real.csv)" = 3 ] || fail "not the file that the link leads to"

# A task that environments cannot be drawn from is refused as one, and nothing is written.
sed 's/"lower": 0, "upper": 1/"lower": 0/' task.json >unbounded.json
expect 3 batch unbounded.json --environments 3 --out unbounded.csv
says 'pliant: error: unbounded.json: unknown "push": expected "lower" and "upper", between which'
[ ! -e unbounded.csv ] || fail "rows of a bad task: $(cat unbounded.csv)"

# The stiffness of every cloth of a batch; the table of batches.
expect 0 suite cloth_batch --vertices 20 --environments 3 --out suite
prints '3 of 3 stiffnesses found to 1e-3'
[ "$(wc -l <suite/cloth_batch/environments.csv)" = 4 ] || fail "not a row for each"
grep -q '<svg' suite/cloth_batch/loss.svg || fail "no picture of the losses"
expect 0 bench batch --quick --steps 1
grep -q '^| 4 | 4052 | 12156 |.*| 3.4 | 11.9 | 0.82 | 3.1 |$' out.txt || fail "no row of four: $(cat out.txt)"

# Ranks of an MPI job.
if ! command -v mpirun >/dev/null || [ ! -x "$(dirname "$PLIANT")/pliant-mpi" ]; then
    OMPI_COMM_WORLD_SIZE=2 expect 1 batch task.json --environments 2
    says 'build Pliant with an MPI'
    echo "no MPI: ranks are not tested"
    exit 0
fi
if [ "$PLIANT_SANITIZED" = ON ]; then # libraries of MPI leak
    echo "with sanitizers ranks are not tested"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on_ranks() # how many, exit code, arguments
{
    local ranks=$1 wanted=$2 code=0
    shift 2
    timeout 120 mpirun -n "$ranks" --oversubscribe "$PLIANT" "$@" >out.txt 2>err || code=$?
    [ "$code" = "$wanted" ] || fail "$ranks ranks: pliant $* exited with $code instead of $wanted"
}
for ranks in 2 4; do
    on_ranks $ranks 0 batch task.json --environments 7 --out ranks.csv
    cmp ranks.csv one.csv || fail "$ranks ranks change the results"
done
on_ranks 3 0 batch task.json --environments 2 --out few.csv # more ranks than environments
head -3 one.csv | cmp - few.csv || fail "three ranks change the results of two environments"
on_ranks 2 4 batch task.json "${crash[@]}" --out crash2.csv
cmp crash2.csv crash.csv || fail "ranks change what is told of a crash: $(diff crash2.csv crash.csv)"
on_ranks 2 3 batch missing.json --environments 2
says 'rank 1 of 2'
