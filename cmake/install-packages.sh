#!/bin/sh
# Installs the Debian packages the build needs, if any is missing. EXTRA names more of them.
set -eu

needed="build-essential cmake ninja-build pkg-config libsuitesparse-dev libopenblas-dev
        liblapacke-dev libjansson-dev zlib1g-dev libcmocka-dev ${EXTRA:-}"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "not a Debian system: install the equivalents of" $needed "yourself" >&2
    exit 0
fi

missing=
for package in $needed; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT

# Runs apt-get. Another one at work (unattended upgrades) is waited for, 20 minutes at most: apt's own
# timeout knows dpkg's lock, but not those of the package lists and of the archives.
apt() {
    tries=240
    until $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get -o DPkg::Lock::Timeout=1200 "$@" 2>"$messages"; do
        if ! grep -q 'Could not get lock' "$messages" || [ "$tries" -eq 0 ]; then
            cat "$messages" >&2
            return 1
        fi
        [ "$tries" -lt 240 ] || echo "waiting for another apt to finish"
        tries=$((tries - 1))
        sleep 5
    done
}

echo "installing$missing"
apt update -qq
apt install -y -qq --no-install-recommends $missing
