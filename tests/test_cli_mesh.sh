#!/usr/bin/env bash
# `pliant mesh` from end to end: built-in bodies, surfaces, files, reports, failures and exit codes.
. "$(dirname "$0")/common.sh"

expect 0 mesh --help
prints "usage: pliant mesh"
expect 0 mesh --list
for name in armadillo bunny cow tux duck gingerbread seal trunk cube bar sphere curtain towel; do
    grep -q "^$name " out.txt || fail "$name is not listed"
done

# --- a built-in body, and what it carries
expect 0 mesh bunny --vertices 300 -o bunny.msh
prints "dihedral angles"
expect 0 info bunny.msh
prints "group feet: "
mkfifo pipe.msh
ln -s pipe.msh to_pipe.msh
ln -s bunny.msh to_bunny.msh
ln -s nowhere/bunny.msh to_nothing.msh
for place in pipe.msh to_pipe.msh; do
    expect 1 mesh bunny --vertices 300 -o $place
    says "$place: cannot be replaced: it is a pipe, not a file"
    [ -p $place ] || fail "$place is gone"
done
expect 1 mesh bunny --vertices 300 -o to_nothing.msh
says 'to_nothing.msh: cannot be replaced: a link that leads nowhere: No such file'
expect 0 mesh bunny --vertices 400 -o to_bunny.msh
[ -L to_bunny.msh ] || fail "the link is gone"
expect 0 info bunny.msh
prints "solid, 4"
expect 0 mesh bunny --vertices 300 --out bunny.vtu --json
prints '"groups": {'
prints '"ears": {'
expect 0 info bunny.vtu --json
prints '"kind": "solid"'

# --- a surface: a cube, with and without its last triangle
printf 'v %s\n' '0 0 0' '1 0 0' '0 1 0' '1 1 0' '0 0 1' '1 0 1' '0 1 1' '1 1 1' >open.obj
printf 'f %s\n' '1 3 2' '2 3 4' '5 6 7' '6 8 7' '1 2 5' '2 6 5' '3 7 4' '4 7 8' '1 5 3' '3 5 7' '2 4 6' >>open.obj
(cat open.obj; echo 'f 4 8 6') >closed.obj
expect 0 mesh closed.obj --cell 0.1 -o solid.msh --json
prints '"open_edges": 0'
prints '"min_dihedral": '
expect 0 mesh open.obj --cell 0.1
says "warning"
expect 0 mesh open.obj --cell 0.1 --json
prints '"volume_error": null'

# --- what a surface file holds
printf 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n' >one.stl
expect 0 info one.stl
prints "3 vertices, 0 tets, 1 triangles"
prints "area 1 m^2"

# --- failures: a mesh that cannot be written is no bad input, and leaves nothing
expect 1 mesh cube -o nowhere/cube.msh
says "nowhere/cube.msh: cannot be written"
code=0
(ulimit -f 16; exec "$PLIANT" mesh cube -o full.msh) >out.txt 2>err || code=$?
[ $code = 1 ] || fail "a full disk exited with $code"
[ -z "$(ls full* 2>/dev/null)" ] || fail "a full disk left $(ls full*)"
expect 3 mesh cube -o cube.step
says "expected .msh or .vtu"
expect 3 mesh cubee
says "no built-in shape \"cubee\""
expect 3 mesh nowhere.obj
expect 2 mesh
expect 2 mesh cube --cell 0.1
expect 2 mesh cube --vertices -3
expect 2 mesh cube --threads -1
