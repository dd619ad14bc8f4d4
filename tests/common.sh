# What the shell tests share: a folder of their own to work in, and how to run pliant and look at what it says.
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
