#!/usr/bin/env bash
# Installs into an empty prefix and builds a C and a C++ program against it: with pkg-config (shared and
# static) and with the CMake package.
. "$(dirname "$0")/common.sh"
if [ "${PLIANT_SANITIZED:-OFF}" = ON ]; then
    echo "not with sanitizers: programs would need their run time too"
    exit 0
fi
cmake --install "$PLIANT_BUILD" --prefix "$work/prefix" >install.log

libdir=$(dirname "$(find "$work/prefix" -name libpliant.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
export LD_LIBRARY_PATH="$libdir"
[ "$(pkg-config --modversion pliant)" = "$("$PLIANT" --version | cut -d' ' -f2)" ]

# Every public header, each alone and all together, from C and from C++.
for header in prefix/include/pliant/*.h; do
    name=$(basename "$header")
    echo "#include <pliant/$name>" | tee -a all.h >one.c
    cp one.c one.cpp
    $CC -std=c17 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags pliant) one.c
    c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags pliant) one.cpp
done

cat >use.c <<'EOF'
#include "all.h"
#include <stdio.h>
int main(void)
{
    pl_context_def def = pl_context_def_default();
    pl_context *ctx = NULL;
    pl_scene *scene = NULL;
    if (pl_context_create(&def, &ctx) != PL_OK)
        return 1;
    const char text[] = "{\"version\": 1, \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cell\": 1}}}]}";
    if (pl_scene_load_text(ctx, text, sizeof text - 1, "text", NULL, 0, NULL, &scene, NULL) != PL_OK) {
        puts(pl_context_error(ctx));
        return 1;
    }
    printf("%g kg\n", pl_scene_get_info(scene).mass);
    pl_scene_destroy(scene);
    pl_context_destroy(ctx);
    return 0;
}
EOF
cp use.c use.cpp
$CC -std=c17 -Wall -Werror use.c -o c_shared $(pkg-config --cflags --libs pliant)
c++ -std=c++11 -Wall -Werror use.cpp -o cpp_shared $(pkg-config --cflags --libs pliant)
$CC -std=c17 use.c -o c_static $(pkg-config --cflags pliant) "$libdir/libpliant.a" \
    $(pkg-config --static --libs pliant | sed 's/-lpliant//')
for program in c_shared cpp_shared c_static; do
    [ "$(./$program)" = "1000 kg" ] || fail "$program printed '$(./$program)'"
done

# The README's program, built by the README's lines and without what this script has set.
awk '/^```c$/ {on = 1; next} /^```/ {on = 0} on' "$PLIANT_SOURCE/README.md" >slope.c
ln -s "$PLIANT_SOURCE/scenes" scenes
ln -s prefix pliant
sed -n '/^    make install/,/^$/s/^    //p' "$PLIANT_SOURCE/README.md" | grep -v '^make install' >lines
[ "$(wc -l <lines)" = 3 ] || fail "README: expected three lines after make install"
env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH HOME="$work" bash -e lines | grep -q "height .* by friction -\?[0-9]" ||
    fail "the README's program does not work"

# Only pl_ names leave the shared library (and a lock that clang makes for OpenMP's reductions).
foreign=$(nm -D --defined-only "$libdir/libpliant.so" | awk '$2 ~ /[TDBR]/ && $3 !~ /^(pl_|[.])/ {print $3}')
[ -z "$foreign" ] || fail "exported: $foreign"

mkdir package
cat >package/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(use LANGUAGES C)
find_package(pliant 0.1 REQUIRED)
add_executable(shared ../use.c)
target_link_libraries(shared pliant::pliant)
add_executable(archive ../use.c)
target_link_libraries(archive pliant::static)
EOF
cmake -G Ninja -S package -B package/build -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$CC" >/dev/null
ninja -C package/build >/dev/null
[ "$(package/build/shared)" = "1000 kg" ]
[ "$(package/build/archive)" = "1000 kg" ]

# The installed command finds what it needs, wherever the tree lies.
mv prefix moved
unset LD_LIBRARY_PATH
moved/bin/pliant --version
