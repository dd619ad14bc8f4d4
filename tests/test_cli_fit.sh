#!/usr/bin/env bash
# `pliant fit` and `pliant suite` from end to end: results, Ctrl-C and --resume, exit codes, tables.
. "$(dirname "$0")/common.sh"

task=$scenes/tasks/bunny_friction.json
small=(--threads 1 --set 'scene.bodies[0].mesh.vertices=120' --set steps=20 --set gradient_check.per_stage=0)

expect 0 fit "$task" "${small[@]}" --set optimizer.method=levenberg_marquardt --out lm --json
grep -q '"value": 0\.[01]' out.txt || fail "no result: $(cat out.txt)"
for file in checkpoint.json history.csv result.json report.html loss.svg parameters.svg; do
    [ -s lm/$file ] || fail "$file is missing"
done
grep -q '"identified": true' out.txt || fail "not identified: $(cat out.txt)"

# A fit that ends elsewhere says so, and so does its exit code.
expect 5 fit "$task" "${small[@]}" --set optimizer.method=lbfgsb \
    --set optimizer.iterations=0 --out start --no-report
prints 'Not identified: '
prints 'not converged (all iterations done)'
grep -q '"identified": false' start/result.json || fail "result.json says otherwise"

# From several starts: all are listed, the best is the result.
expect 0 fit "$task" "${small[@]}" --set optimizer.method=levenberg_marquardt --set starts=3 --no-report \
    --verbose --out starts
prints '  start 3: mu '
[ "$(grep -c '^\* start' out.txt)" = 1 ] || fail "not one best start: $(cat out.txt)"
says 'start 2/3'
grep -q '"starts": \[' starts/result.json || fail "result.json does not list the starts"

# Ctrl-C keeps the last iteration; --resume ends with the same history as never stopping.
descent=("${small[@]}" --set optimizer.rate=1 --set optimizer.iterations=12 --no-report)
expect 5 fit "$task" "${descent[@]}" --out whole
"$PLIANT" fit "$task" "${descent[@]}" --out cut >/dev/null 2>err &
process=$!
until [ -s cut/checkpoint.json ]; do
    kill -0 $process 2>/dev/null || break
    sleep 0.02
done
kill -INT $process 2>/dev/null || true
code=0
wait $process || code=$?
[ "$code" = 130 ] || [ "$code" = 5 ] || fail "interrupted fit ended with $code: $(cat err)"
expect 5 fit "$task" "${descent[@]}" --out cut --resume
cmp whole/history.csv cut/history.csv || fail "resumed history differs"

# Ctrl-C while the target is simulated (here for minutes) ends the command within a step.
"$PLIANT" fit "$task" --threads 1 --set steps=100000 --out early >/dev/null 2>err &
process=$!
until [ -d early ]; do # it is made just before
    kill -0 $process 2>/dev/null || fail "ended by itself: $(cat err)"
    sleep 0.02
done
kill -INT $process
code=0
timeout 60 tail --pid=$process -f /dev/null || fail "does not stop while it simulates the target"
wait $process || code=$?
[ "$code" = 130 ] || fail "interrupted in the target: exit code $code"
grep -q '^pliant: interrupted$' err || fail "said $(cat err)"

# Files beside a task are found also when it is named without a folder.
cp "$scenes/suite/gingerbread_stretch.json" stretch.json
sed 's#"../suite/gingerbread_stretch.json"#"stretch.json"#; s#{"kind": "positions"}#{"kind": "centre_of_mass", "target": "centre.csv"}#' \
    "$scenes/tasks/gingerbread_poisson.json" >beside.json
grep -q centre.csv beside.json || fail "the task has changed"
echo "5, 0, 0, 0" >centre.csv
expect 5 fit beside.json --threads 1 --set steps=5 --set optimizer.iterations=1 \
    --set "scene.bodies[0].mesh.vertices=100"

# What goes wrong is said, with the right exit code.
expect 3 fit "$task" "${descent[@]}" --out cut
grep -q 'there is a fit already' err || fail "overwrites a fit"
mkdir mine && echo mine >mine/result.json
expect 1 fit "$task" "${descent[@]}" --out mine
says "mine/result.json: exists already"
[ "$(ls mine)$(cat mine/result.json)" = result.jsonmine ] || fail "touched somebody's directory"
expect 3 fit none.json
expect 3 fit "$task" --set optimizer.method=magic
grep -q 'levenberg_marquardt' err || fail "the choices are not named"
expect 3 fit "$task" --device nowhere
says 'device "nowhere"'
expect 3 fit "$task" --set 'scene.bodies[0].transform={"translate": [0, 0, -0.01]}'
says "$task: vertex"
expect 2 fit
expect 2 fit "$task" --resume
expect 2 suite no_such_task
expect 2 suite --scale huge
expect 2 suite --method magic
expect 0 fit --schema
cmp out.txt "$PLIANT_SOURCE/docs/task.schema.json" || fail "docs/task.schema.json is out of date"

# Twenty iterations are enough for two of the methods.
expect 5 suite gingerbread_poisson --tasks "$scenes/tasks" --vertices 100 --threads 1 \
    --set steps=20 --set optimizer.iterations=20 --set gradient_check.per_stage=1 --out suite
prints 'Not identified: not converged'
grep -q '2 of 3' suite/found.csv || fail "found.csv does not count the fits that identified: $(cat suite/found.csv)"
for file in suite.md suite.tex found.csv course.csv cost.csv; do
    grep -q gingerbread suite/$file || fail "$file is missing or empty"
done
for file in found course cost; do # a table each, its columns named apart
    [ "$(wc -l <suite/$file.csv)" = 2 ] || fail "$file.csv is not one table"
    [ -z "$(head -1 suite/$file.csv | tr ',' '\n' | sort | uniq -d)" ] || fail "$file.csv names columns alike"
done
expect 0 suite gingerbread_poisson --tasks "$scenes/tasks" --vertices 100 --threads 1 \
    --set steps=20 --method levenberg_marquardt --out one
[ -d one/gingerbread_poisson/levenberg_marquardt ] || fail "the method asked for did not run"
[ ! -d one/gingerbread_poisson/gradient_descent ] || fail "a method not asked for ran"

# Too few steps to get anywhere: the tables and pictures are there all the same.
expect 5 suite seal_crawl --tasks "$scenes/tasks" --vertices 150 --threads 1 --set steps=60 --out control
for file in crawl.md crawl.csv crawl.tex displacement.svg sinusoids/signals.csv windows/signals.csv; do
    [ -s control/seal_crawl/$file ] || fail "$file is missing or empty"
done
grep -q '^windows,60,' control/seal_crawl/crawl.csv || fail "crawl.csv: $(cat control/seal_crawl/crawl.csv)"

expect 0 suite seal_horizon --tasks "$scenes/tasks" --vertices 150 --threads 1 --set steps=60 --out control
grep -q '^360,' control/seal_horizon/horizons.csv || fail "horizons.csv: $(cat control/seal_horizon/horizons.csv)"

# One iteration is too few to lift the ball.
expect 5 suite gripper --tasks "$scenes/tasks" --threads 1 --set optimizer.iterations=1 --out control
for file in lift.md lift.csv lift.tex height.svg start/result.json found/result.json; do
    [ -s control/gripper/$file ] || fail "$file is missing or empty"
done
echo ok
