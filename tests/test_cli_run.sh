#!/usr/bin/env bash
# `pliant run` from end to end: files, JSON, overrides, Ctrl-C, the progress bar, failures and exit codes.
. "$(dirname "$0")/common.sh"

# --- help, version, usage
expect 0 --help
prints "usage: pliant COMMAND"
expect 0 --version
grep -qE '^pliant [0-9]+\.[0-9]+\.[0-9]+$' out.txt || fail "version"
for command in run info schema; do
    expect 0 $command --help
    prints "usage: pliant $command"
    expect 0 help $command
    prints "usage: pliant $command"
done
expect 0 help
prints "usage: pliant COMMAND"
expect 2 help fly
says "unknown command 'fly'"
expect 2
expect 2 fly
says "unknown command 'fly'"
expect 2 run
expect 2 run a.json b.json
expect 2 run a.json --stepps 3
says "unknown option '--stepps'"
expect 2 run a.json --steps many
expect 2 run a.json --steps
expect 2 run a.json --steps -3
expect 2 run a.json --steps -1
expect 2 run a.json --every 0
says "--every: expected at least 1"
expect 2 run a.json --json=yes
expect 2 run -x a.json

# --- a start that cannot be meant
sunk=(--steps 1 --threads 1 --set 'bodies[0].transform={"translate": [0, 0, -0.01]}')
expect 3 run "$scenes/slope.json" "${sunk[@]}"
says "error: $scenes/slope.json: vertex"
says "m inside \"slope\": move them apart, or set bring_out"
expect 0 run "$scenes/slope.json" "${sunk[@]}" --set bring_out=true

# --- a run and its files; nothing on stderr when it is not a terminal
expect 0 run "$scenes/slope.json" --steps 6 --every 3 --out result --threads 1
[ ! -s err ] || fail "stderr of a piped run"
prints "6 steps"
for file in summary.json volume.pvd surface.pvd volume/000000.vtu volume/000003.vtu surface/000006.vtu; do
    [ -s "result/$file" ] || fail "$file is missing"
done
[ "$(ls result/volume | wc -l)" = 3 ] || fail "number of frames"
[ "$(ls -A | grep -c partial)" = 0 ] || fail "a partial directory is left"
grep -q '"outcome": "completed"' result/summary.json || fail "outcome"
[ "$(grep -c '"residual"' result/summary.json)" = 6 ] || fail "one entry per step"
# Each name in a collection is a file.
sed -n 's/.*file="\([^"]*\)".*/\1/p' result/volume.pvd result/surface.pvd | while read -r file; do
    [ -f "result/$file" ] || fail "$file named in a collection"
done

# --- cables, and the trunk that they bend
expect 0 run "$scenes/trunk.json" --steps 20 --every 20 --out trunk --threads 1
prints "20 steps"
for file in cables.pvd cables/000000.vtu cables/000020.vtu; do
    [ -s "trunk/$file" ] || fail "$file is missing"
done
grep -q 'Name="tension"' trunk/cables/000020.vtu || fail "tensions"
[ ! -e result/cables.pvd ] || fail "cables of a scene without some"

# --- an existing directory
expect 1 run "$scenes/slope.json" --steps 1 --out result
says "result: exists already"
says "--force"
touch result/notes.txt result/volume/notes.txt
expect 0 run "$scenes/slope.json" --steps 1 --out result --force
[ "$(ls result/volume)" = "$(printf '000000.vtu\n000001.vtu\nnotes.txt')" ] ||
    fail "not the new output and what was not of the earlier one: $(ls result/volume)"
[ -f result/notes.txt ] || fail "a file of somebody else's is gone"
mkdir mine && touch mine/thesis.tex
expect 1 run "$scenes/slope.json" --steps 1 --out mine --force
[ -f mine/thesis.tex ] || fail "somebody's directory was replaced"
expect 1 run "$scenes/slope.json" --steps 1 --out /proc/nowhere
expect 1 run "$scenes/slope.json" --steps 1 --out mine/thesis.tex/out

# --- results do not depend on the number of threads
for threads in 1 2; do
    expect 0 run "$scenes/ball.json" --steps 3 --every 3 --out threads$threads --threads $threads
done
cmp threads1/volume/000003.vtu threads2/volume/000003.vtu || fail "threads change the result"

# --- JSON and overrides: friction decides between sliding and sticking
expect 0 run "$scenes/slope.json" --steps 10 --json
prints '"outcome": "completed"'
prints '"steps": 10'
energy() { sed -n 's/.*"kinetic": \([0-9.e+-]*\).*/\1/p' out.txt; }
sliding=$(energy)
expect 0 run "$scenes/slope.json" --steps 10 --json --set colliders.slope.friction=0.6 --solver direct
sticking=$(energy)
awk "BEGIN { exit !($sticking < 0.01 * $sliding) }" || fail "friction: $sticking against $sliding"

# --- bad scenes: 3, with the place
expect 3 run nowhere.json
says "nowhere.json: cannot open"
expect 3 run "$scenes/tasks/demo.json"
says "this is a task, which \`pliant fit\` and pl_task_load read, not a scene"
expect 3 fit "$scenes/slope.json"
says "this is a scene, which \`pliant run\` and pl_scene_load read, not a task"
printf '{\n"version": 1,\n"bodies": [{"mesh": {"box": {"size": [1, 1, 1], "cell": 0.5}},\n"material": {"young": -3}}]}' >bad.json
expect 3 run bad.json
says "bad.json:4: bodies[0].material.young: expected a number > 0 (Pa), got -3"
expect 0 run bad.json --steps 0 --set bodies[0].material.young=3
expect 3 run bad.json --set bodies[0].material.young=x
expect 3 run bad.json --set nonsense
expect 3 run "$scenes/slope.json" --solver fastest
says 'expected one of "auto"'
printf '{"version": 1,\n' >bad.json
expect 3 run bad.json
expect 3 info bad.json
expect 3 info nowhere.msh

# --- a step that cannot converge: 4, and what came before it is kept
expect 4 run "$scenes/bar.json" --set max_iterations=1 --set max_splits=0 --set tolerance=1e-14 --out stuck
grep -q '"outcome": "completed"' stuck/summary.json && fail "outcome of a failed run"
[ -s stuck/volume/000000.vtu ] || fail "the start is missing"

# --- info
expect 0 info "$scenes/slope.json"
prints "body block: solid, 100 vertices, 240 elements, 1.152 kg"
prints "collider slope: half space, friction 0.2"
expect 0 info result/volume/000000.vtu
prints "solid, 100 vertices, 240 tets"
prints "m^3"
expect 0 info "$scenes/slope.json" --json
prints '"name": "block"'
prints '"self_contact": false'
cat >pair.json <<'SCENE'
{"version": 1, "integrator": "bdf2", "device": "reference", "body_friction": 0.3,
 "bodies": [{"name": "a", "mesh": {"box": {"size": [1, 1, 1], "cell": 1}}, "self_contact": true},
            {"name": "b", "mesh": {"box": {"size": [1, 1, 1], "cell": 1}}, "contact_offset": 0.01,
             "transform": {"translate": [2, 0, 0]}},
            {"name": "c", "mesh": {"box": {"size": [1, 1, 1], "cell": 1}}, "transform": {"translate": [4, 0, 0]}}],
 "body_pairs": [{"body": "a", "to_body": "b", "friction": 0.8}, {"body": "a", "to_body": "c", "contact": false}]}
SCENE
expect 0 info pair.json
prints "integrator bdf2, device reference"
prints "body a: solid, 8 vertices, 5 elements, 1000 kg, touches itself"
prints "body b: solid, 8 vertices, 5 elements, 1000 kg, contact offset 0.01 m"
prints "bodies touch each other, friction 0.3"
prints "bodies a and b: touch, friction 0.8"
prints "bodies a and c: pass through each other"
[ "$(grep -c '^bodies ' out.txt)" = 3 ] || fail "pairs: $(cat out.txt)"
expect 0 info pair.json --json
for line in '"integrator": "bdf2"' '"device": "reference"' '"body_friction": 0.29' '"to_body": "c"' '"self_contact": true'; do
    prints "$line"
done

# --- a full disk: an error, nothing left behind
code=0
(ulimit -f 16; exec "$PLIANT" run "$scenes/slope.json" --steps 2 --out full) >out.txt 2>err || code=$?
[ $code = 1 ] || fail "full disk exited with $code"
says "cannot write"
[ -z "$(ls -d full* 2>/dev/null)" ] || fail "a full disk left $(ls -d full*)"
if [ -w /dev/full ]; then
    code=0
    "$PLIANT" run "$scenes/slope.json" --steps 1 --json >/dev/full 2>err || code=$?
    [ $code = 1 ] || fail "stdout on a full disk exited with $code"
fi

# --- Ctrl-C, SIGTERM, a terminal that closes (twice, as they do): stops after a step, keeps a consistent output,
# exits with 130. A reader of its output that goes does not end it.
for signals in INT TERM "HUP HUP" "PIPE INT"; do
    "$PLIANT" run "$scenes/slope.json" --steps 1000000 --every 1000 --out stopped >out.txt 2>err &
    process=$!
    until ls -d stopped.partial-* >/dev/null 2>&1; do
        kill -0 $process 2>/dev/null || fail "ended by itself"
        sleep 0.02
    done
    sleep 0.2
    for signal in $signals; do
        kill -$signal $process 2>/dev/null || true
        [ $signal != PIPE ] || sleep 0.2
    done
    code=0
    wait $process || code=$?
    [ $code = 130 ] || fail "$signals exited with $code"
    says "interrupted after"
    grep -q '"outcome": "interrupted' stopped/summary.json || fail "outcome of an interrupted run"
    [ "$(ls -d stopped*)" = stopped ] || fail "$signals left $(ls -d stopped*)"
    rm -r stopped
done
if command -v nohup >/dev/null; then
    nohup "$PLIANT" run "$scenes/slope.json" --steps 1000000 --every 1000 --out stopped >out.txt 2>err &
    process=$!
    until ls -d stopped.partial-* >/dev/null 2>&1; do sleep 0.02; done
    kill -HUP $process
    sleep 0.3
    kill -0 $process 2>/dev/null || fail "nohup is not respected"
    kill -INT $process
    wait $process || true
fi

# --- the progress bar: only on a terminal, and never wider than it
if command -v script >/dev/null; then
    script -qec "stty cols 40; '$PLIANT' run '$scenes/slope.json' --steps 5" /dev/null >terminal.txt </dev/null || true
    grep -q '5/5  ETA' terminal.txt || fail "no progress bar on a terminal"
    tr '\r' '\n' <terminal.txt | sed 's/\x1b\[K//' | grep '^\[[#.]*\]' >lines.txt
    awk 'length > 39 { exit 1 }' lines.txt || fail "the progress bar wraps: $(cat lines.txt)"
fi
