#!/usr/bin/env bash
# `pliant grad`, `check`, `study` and `bench` from end to end, in their smallest versions.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
scenes=$PLIANT_SOURCE/scenes

fail()
{
    echo "FAILED: $*" >&2
    [ ! -s err ] || sed 's/^/    /' err >&2
    exit 1
}

# Runs pliant; the exit code must be the first argument. Output goes to ./out.txt and ./err.
expect()
{
    local wanted=$1 code=0
    shift
    "$PLIANT" "$@" >out.txt 2>err || code=$?
    [ "$code" = "$wanted" ] || fail "pliant $* exited with $code instead of $wanted"
}

says() { grep -qF -- "$1" err || fail "stderr does not say '$1'"; }
prints() { grep -qF -- "$1" out.txt || fail "stdout does not say '$1'"; }

for command in grad check study bench; do
    expect 0 $command --help
    prints "usage: pliant $command"
done

# --- grad: friction brakes the block, so the distance falls with it
expect 0 grad "$scenes/slope.json" --steps 6 --loss x --threads 1
prints "friction       collider 0, block"
prints "young          block"
expect 0 grad "$scenes/slope.json" --steps 6 --loss x --wrt friction,young --json --threads 1
prints '"of": "friction"'
if grep -q '"of": "velocity"' out.txt; then fail "--wrt leaves nothing out"; fi
slope=$(sed -n '/"of": "friction"/,/]/p' out.txt | tr -d ' \n' | sed 's/.*"sum":\[\([^]]*\)\].*/\1/')
awk "BEGIN { exit !($slope < 0) }" || fail "friction pushes the block: $slope"
# A limited tape gives the same gradient, bit for bit.
expect 0 grad "$scenes/slope.json" --steps 70 --loss x --wrt friction --json --threads 1
grep '"norm"' out.txt >whole.txt
expect 0 grad "$scenes/slope.json" --steps 70 --loss x --wrt friction --json --memory 0.02 --threads 1
grep '"norm"' out.txt >limited.txt
cmp -s whole.txt limited.txt || fail "a limited tape changes the gradient"
expect 2 grad "$scenes/slope.json" --loss smell
says "expected distance, x, y, z or speed"
expect 2 grad "$scenes/slope.json" --wrt young,taste
expect 2 grad
expect 3 grad nowhere.json

# --- check
few="--steps 3 --directions 0 --sweep 3 --threads 1"
expect 0 check "$scenes/slope.json" $few --wrt velocity,friction
prints "0 of 2 comparisons wrong"
prints "with slipping"
expect 0 check "$scenes/slope.json" $few --wrt friction --json
prints '"failed": 0'
prints '"slip_steps": 3'
expect 2 check "$scenes/slope.json" --wrt nothing
expect 3 check "$scenes/slope.json" --steps 0
expect 3 check nowhere.json

# --- studies: tables and plots
expect 0 study mu-precision horizon memory --quick --out results --threads 1
prints "aims met"
for file in mu-precision.csv mu-precision.md mu-precision.svg mu-precision.png horizon.csv memory.csv; do
    [ -s results/$file ] || fail "$file is missing"
done
expect 2 study astrology
expect 1 study horizon --quick --out /proc/nowhere

# --- bench: Markdown with every part
expect 0 bench elastic adjoint methods --only bar-small --steps 2 --threads 1
prints "| bar-small | 1225 | 5184 |"
prints "## adjoint"
prints "automatic / fastest"
expect 2 bench quickly
