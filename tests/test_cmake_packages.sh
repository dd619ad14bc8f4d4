#!/usr/bin/env bash
# Installing packages: another apt's lock is waited for, any other failure is told at once.
. "$(dirname "$0")/common.sh"

# A machine without packages, whose apt-get finds a lock held for the first `locked` calls of each kind.
mkdir bin
stub() { { echo '#!/bin/sh'; cat; } >bin/$1 && chmod +x bin/$1; }
stub dpkg-query <<<'exit 1'
stub id <<<'echo 0'
stub sleep <<<'echo "$1" >>slept'
stub apt-get <<'EOS'
while [ "$1" = -o ]; do shift 2; done
echo "$1" >>called
if [ "$1" = "${broken:-}" ]; then
    echo "E: Unable to locate package" >&2
    exit 100
fi
if [ "$(grep -c "$1" called)" -le "$locked" ]; then
    echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)" >&2
    exit 100
fi
EOS
installs() { # with this many locked calls; the rest is environment
    rm -f called slept
    env locked="$@" PATH="$PWD/bin:$PATH" sh "$PLIANT_SOURCE/cmake/install-packages.sh" >out.txt 2>err
}

installs 0 || fail "without a lock"
[ "$(cat called)" = "$(printf 'update\ninstall')" ] || fail "called $(cat called)"
[ ! -e slept ] || fail "waited for nothing"

installs 3 || fail "does not wait for the lock"
[ "$(wc -l <called)" = 8 ] || fail "called $(cat called)"
[ "$(wc -l <slept)" = 6 ] || fail "slept $(wc -l <slept) times"
prints "waiting for another apt"

! installs 0 broken=install || fail "a failure passes for success"
[ "$(grep -c install called)" = 1 ] || fail "tries again what cannot succeed"
says "Unable to locate package"

! installs 1000 || fail "waits for ever"
says "Could not get lock"
