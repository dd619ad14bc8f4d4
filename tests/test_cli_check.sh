#!/usr/bin/env bash
# `pliant grad`, `check`, `study` and `bench` from end to end, in their smallest versions.
. "$(dirname "$0")/common.sh"

for command in grad check study bench; do
    expect 0 $command --help
    prints "usage: pliant $command"
done

# --- grad: friction brakes the block, so the distance falls with it
expect 0 grad "$scenes/slope.json" --steps 6 --loss x --threads 1
prints "friction       slope, block"
prints "tape: at most"
prints "young          block"
grep -qE '^young .* [-+0-9.e]+  1/Pa$' out.txt || fail "unit of young: $(grep ^young out.txt)"
grep -qE '^velocity .*  1/\(m/s\)$' out.txt || fail "unit of velocity: $(grep ^velocity out.txt)"
grep -qE '^friction .*[0-9]$' out.txt || fail "friction has no unit: $(grep ^friction out.txt)"
# Columns are as wide as what is in them.
expect 0 grad "$scenes/slope.json" --steps 1 --threads 1 --set colliders.slope.name=a_slope_of_a_longer_name
grep -q '^friction       a_slope_of_a_longer_name, block ' out.txt || fail "the name is cut"
ends=$(awk 'seen { match($0, / +[0-9]+ +[-+.0-9e]+  /); print RSTART + RLENGTH } /^of / { seen = 1 }' out.txt | sort -u)
[ "$(echo "$ends" | wc -l)" = 1 ] || fail "columns: $(cat out.txt)"
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
grep -q '"recomputed": [1-9]' out.txt || fail "no step was run again"
cmp -s whole.txt limited.txt || fail "a limited tape changes the gradient"
expect 2 grad "$scenes/slope.json" --loss smell
says "expected distance, x, y, z or speed"
expect 2 grad "$scenes/slope.json" --wrt young,taste
says "friction,"
says "got 'young,taste'"
expect 2 grad "$scenes/slope.json" --steps 0
expect 2 grad
expect 3 grad nowhere.json
expect 3 grad "$scenes/slope.json" --steps 1 --wrt friction,activation # an empty table would look like an answer
says "the scene has no activation to differentiate by"

# --- check
few="--steps 3 --directions 0 --sweep 3 --threads 1"
expect 0 check "$scenes/slope.json" $few --wrt velocity,friction
prints "0 of 2 comparisons wrong"
prints "with slipping"
expect 0 check "$scenes/slope.json" $few --wrt friction --json
prints '"failed": 0'
prints '"slip_steps": 3'
expect 0 check "$scenes/trunk.json" $few --wrt cable_length,cable_compliance
prints "0 of 2 comparisons wrong"
# Without --wrt a device is not asked for what it does not cover.
expect 0 check "$scenes/slope.json" $few --steps 1 --device reference
says "pliant: left out: viscosity, yeoh2 and yeoh3, which devices do not cover"
prints "friction "
expect 3 check "$scenes/slope.json" $few --device reference --wrt viscosity
says "devices do not cover viscosity"
[ "$(wc -l <err)" = 1 ] || fail "says that something is left out"
expect 2 check "$scenes/slope.json" --wrt nothing
expect 3 check "$scenes/slope.json" $few --wrt friction,bending # nothing compared is nothing shown
says "the scene has no bending to check"
expect 3 check "$scenes/slope.json" --steps 0
expect 3 check nowhere.json

# --- studies: tables and plots
expect 0 study mu-precision horizon memory --quick --out results --threads 1
prints "mu-precision: 6 of 6 aims met"
prints "memory: 4 of 4 aims met"
for file in mu-precision.csv mu-precision.md mu-precision.svg horizon.csv memory.csv; do
    [ -s results/$file ] || fail "$file is missing"
done
expect 0 study soak --scenes 9 --seed 3 --out results --threads 1
prints "soak: 6 of 6 aims met"
[ -s results/soak.csv ] || fail "soak.csv is missing"
expect 2 study soak --scenes -1
expect 2 study astrology
expect 1 study horizon --quick --out /proc/nowhere
expect 1 study consistency --quick --out /proc --threads 1
says "error: /proc/consistency.csv: cannot be written"

# --- bench: Markdown with every part
expect 0 bench elastic adjoint methods --only bar-small --steps 2 --threads 1
prints "| bar-small | 1225 | 5184 |"
prints "## adjoint"
prints "automatic / fastest"
expect 2 bench quickly
expect 2 bench --only granite
says "no scene's name contains 'granite'"

# --- bench: the same figures for programs, by which two builds are compared
expect 0 bench adjoint --json --only bar-small --steps 2 --threads 1
prints '"scene": "bar-small"'
prints '"steps": 2'
for key in forward_ms forward_cpu_ms backward_ms backward_cpu_ms iterations solves adjoint_iterations; do
    grep -q "\"$key\": [0-9]" out.txt || fail "no $key"
    ! grep -q "\"$key\": 0\.0," out.txt || fail "$key is nothing"
done
expect 2 bench ratios --json
expect 0 bench adjoint --json --only bar --steps 1 --threads 1 # by its name, which bar-small's contains
[ "$(grep -c '"scene"' out.txt)" = 1 ] || fail "--only NAME takes more than that scene"

expect 0 bench compare "$PLIANT" --only bar-small --only cloth-2k --steps 2 --rounds 2 --limit 50 --threads 1
grep -Eq '^\| bar-small \| 2 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| ' out.txt ||
    fail "no row of bar-small"
prints "| cloth-2k | 2 |"
prints "2 scenes, 0 of them more than 50 times as slow"
# Another build that takes a tenth of the time, and one that knows no such scene.
cat >quick <<END
#!/usr/bin/env bash
"$PLIANT" "\$@" | sed -E 's/(_ms": )([0-9]+)\.([0-9])/\10.\2\3/'
END
echo 'exit 2' >silent
chmod +x quick silent
expect 1 bench compare ./quick --only bar-small --steps 2 --rounds 1 --limit 3 --threads 1 --cpu
grep -Eq "\\*\\*[0-9.]+\\*\\*" out.txt || fail "nothing is marked"
prints "1 scenes, 1 of them more than 3 times as slow"
expect 1 bench compare ./silent --only bar-small --steps 2 --rounds 1 --threads 1
prints "| bar-small | the other failed |"
expect 3 bench compare ./nowhere
says "./nowhere: cannot be run"
expect 2 bench compare
