#!/usr/bin/env bash
# Processes that are ended in the middle: under a final name there is a whole output or none, what was there before is
# there still, and a fit goes on from where it was.
. "$(dirname "$0")/common.sh"

endless=(run "$scenes/slope.json" --threads 1 --steps 1000000 --every 1)
short=(run "$scenes/slope.json" --threads 1 --steps 8 --every 1)

# Starts pliant and waits until its files appear.
start()
{
    local sign=$1
    shift
    "$PLIANT" "$@" >out.txt 2>err &
    process=$!
    until ls $sign >/dev/null 2>&1; do
        kill -0 $process 2>/dev/null || break
        sleep 0.01
    done
}

# Its exit code is then in $code.
end()
{
    code=0
    timeout 60 tail --pid=$process -f /dev/null || fail "does not end"
    wait $process 2>/dev/null || code=$?
}

# Every file the manifest names is there, and the last to be written ends as it should.
whole()
{
    [ -s $1/manifest.txt ] || fail "$1 has no manifest"
    while read -r name; do
        case $name in \#*|"") continue ;; esac
        [ -e "$1/$name" ] || fail "$1/$name is missing"
    done < <(grep -E '^[a-z]+[./]' $1/manifest.txt)
    [ "$(tail -c 2 $1/summary.json | tr -d '\n')" = "}" ] || fail "$1/summary.json is cut off"
}

# --- Ctrl-C after another signal ends a run at once, and nothing is left, not even the folders made for it
start 'deep/place/out.partial-*/volume/000001.vtu' "${endless[@]}" --out deep/place/out
kill -STOP $process # so that both arrive before a step is done
kill -HUP $process
kill -INT $process
kill -CONT $process
end
[ $code = 130 ] || fail "a second signal exited with $code"
[ ! -e deep ] || fail "a second signal left $(find deep)"

# --- SIGTERM several times, as timeout sends it, is once
start 'timed.partial-*/volume/000001.vtu' "${endless[@]}" --out timed
for repeat in 1 2 3 4 5; do kill -TERM $process 2>/dev/null || true; done
end
[ $code = 130 ] || fail "SIGTERM exited with $code"
whole timed

# --- an empty directory that was there is there again
mkdir empty
start 'empty.partial-*/volume/000001.vtu' "${endless[@]}" --out empty
kill -STOP $process
kill -HUP $process
kill -INT $process
kill -CONT $process
end
[ "$(ls -d empty*)" = empty ] && [ -z "$(ls -A empty)" ] || fail "left $(ls -d empty*)"

# --- SIGKILL at any moment: the earlier output or the new one, whole, and what others put there
expect 0 "${short[@]}" --out result
echo mine >result/notes.txt
for delay in 0 0.01 0.02 0.03 0.05 0.08 0.1 0.15 0.2 0.3; do
    start 'result.partial-*' "${short[@]}" --out result --force
    sleep $delay
    kill -KILL $process 2>/dev/null || true
    end
    [ $code = 137 ] || [ $code = 0 ] || fail "killed, exited with $code"
    whole result
    # Killed between the exchange and the clean-up, the notes are in the earlier output, which is beside it.
    grep -qx mine result/notes.txt 2>/dev/null || grep -qx mine result.partial-*/notes.txt || fail "the notes are gone"
    [ -e result/notes.txt ] || cp result.partial-*/notes.txt result
    rm -rf result.partial-*
done

# --- a fit: its files are whole, others' are as they were, and it resumes to the same end
task=$scenes/tasks/bunny_friction.json
fit=(fit "$task" --threads 1 --set 'scene.bodies[0].mesh.vertices=60' --set steps=6 --set gradient_check.per_stage=0
    --set optimizer.rate=1 --set optimizer.iterations=8 --no-report)
expect 5 "${fit[@]}" --out straight
mkdir fit
echo mine >fit/notes.txt
for signal in KILL TERM HUP KILL INT KILL; do
    resume=
    [ ! -e fit/checkpoint.json ] || resume=--resume
    start fit/checkpoint.json "${fit[@]}" --out fit $resume
    sleep 0.03
    kill -$signal $process 2>/dev/null || true
    end
    case $code in 5 | 129 | 130 | 137 | 143) ;; *) fail "a fit ended by $signal exited with $code" ;; esac
    grep -qx mine fit/notes.txt || fail "the notes are gone"
    [ ! -e fit/result.json ] || [ "$(tail -c 2 fit/result.json | tr -d '\n')" = "}" ] || fail "result.json is cut off"
done
expect 5 "${fit[@]}" --out fit --resume
cmp straight/history.csv fit/history.csv || fail "the history differs"
