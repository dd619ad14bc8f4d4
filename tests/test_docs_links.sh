#!/usr/bin/env bash
# What the pages name exists: files they link to, sections of them, and the files of design.md's equations.
. "$(dirname "$0")/common.sh"
cd "$PLIANT_SOURCE"

# A heading's anchor: small letters, no punctuation, dashes for spaces.
anchors()
{
    sed -n '/^```/,/^```/!s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed "s/[^a-z0-9 _-]//g; s/ /-/g"
}

links=0
for page in README.md docs/*.md docs/decisions/*.md; do
    while read -r link; do
        [ -n "$link" ] || continue
        file=${link%%#*} anchor=
        case $link in *'#'*) anchor=${link#*#} ;; esac
        target=$(dirname "$page")/$file
        [ -n "$file" ] || target=$page
        [ -e "$target" ] || fail "$page links to $link, which is not there"
        [ -z "$anchor" ] || anchors "$target" | grep -qxF -- "$anchor" || fail "$page: $file has no section #$anchor"
        links=$((links + 1))
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*://')
done
[ "$links" -gt 40 ] || fail "only $links links found"

files=0
while read -r file; do
    compgen -G "src/$file" >/dev/null || fail "design.md names $file, which is not in src/"
    files=$((files + 1))
done < <(sed -n '/^## Equations and files/,/^## The step/p' docs/design.md | grep '^|' | grep -oE '`[a-z]+/[a-z_*0-9]+\.[ch]`' | tr -d '`')
[ "$files" -gt 40 ] || fail "only $files files found in the table of equations"

for page in docs/decisions/*.md; do
    name=$(basename "$page")
    [ "$name" = README.md ] || grep -qF "($name)" docs/decisions/README.md || fail "the index lacks $name"
done
