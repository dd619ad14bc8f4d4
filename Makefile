# A thin front to CMake and Ninja. `make demo` and `make test` work on a fresh Debian machine.

.DEFAULT_GOAL := release
.PHONY: packages release debug asan clang demo test bench install format clean

PREFIX ?= /usr/local
PROCESSORS := $(shell nproc)

packages:
	@cmake/install-packages.sh

release debug asan: packages
	@test -f build/$@/build.ninja || cmake --preset $@
	@cmake --build --preset $@

clang:
	@EXTRA="clang libomp-dev" cmake/install-packages.sh
	@test -f build/$@/build.ninja || cmake --preset $@
	@cmake --build --preset $@
	@ctest --preset $@ -j $(PROCESSORS)

demo: release
	build/release/bin/pliant run scenes/ball.json --out out/demo --force

# The tests as built for use, then again under the sanitizers (those labelled heavy excepted).
test: release asan
	@ctest --preset release -j $(PROCESSORS)
	@ctest --preset asan -j $(PROCESSORS)

bench: release
	build/release/bin/pliant bench

install: release
	cmake --install build/release --prefix $(PREFIX)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build out
