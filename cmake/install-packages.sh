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
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing
