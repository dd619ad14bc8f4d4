# A thin front to CMake and Ninja. `make demo` and `make test` work on a fresh Debian machine.

.DEFAULT_GOAL := release
.PHONY: packages release debug asan clang fuzz demo test test-tsan test-faults test-python cuda bench install format clean

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

# Any bytes as scenes, tasks, checkpoints and meshes, for FUZZ_SECONDS in all.
fuzz:
	@EXTRA="clang libclang-rt-dev libomp-dev" cmake/install-packages.sh
	@test -f build/$@/build.ninja || cmake --preset $@
	@cmake --build --preset $@
	@fuzz/run.sh

demo: packages
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build --preset release --target pliant_cli
	@rm -rf out/demo && mkdir -p out
	@build/release/bin/pliant fit scenes/tasks/demo.json --out out/demo
	@echo "Open out/demo/report.html in a browser."

# The tests as built for use, then again under the sanitizers, where small bodies take the ways of large
# ones (those labelled heavy excepted).
# With ranks, and a CPU as an OpenCL device.
test: export EXTRA = libopenmpi-dev openmpi-bin pocl-opencl-icd ocl-icd-libopencl1
test: release asan
	@ctest --preset release -j $(PROCESSORS)
	@ctest --preset asan -j $(PROCESSORS)
	@$(MAKE) --no-print-directory test-python

# The kernels of devices as CUDA C: compiled and linked, where there is a compiler for it.
NVCC ?= $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
cuda:
	@if [ -z "$(NVCC)" ]; then echo "no nvcc: the CUDA build of the kernels is skipped"; else \
	mkdir -p build && $(NVCC) -std=c++17 -fmad=false -arch=sm_80 -Iinclude -Isrc -shared -Xcompiler -fPIC \
	    src/device/kernels/kernels.cu -o build/pliant-kernels.so && echo "build/pliant-kernels.so"; fi

# Contexts in threads of their own, under the thread sanitizer.
test-tsan: packages
	@test -f build/tsan/build.ninja || cmake --preset tsan
	@cmake --build --preset tsan
	@ctest --preset tsan

# Memory that runs out at every allocation, processes that are killed, files of any bytes. All of it is
# part of `test` too.
test-faults: release
	@ctest --preset release -j $(PROCESSORS) -R '_memory$$|_kills$$|fuzz'

# In an environment of its own, which sees Debian's PyTorch: the one from PyPI brings gigabytes of CUDA.
test-python:
	@EXTRA="python3-venv python3-torch libx11-6 libxrender1" cmake/install-packages.sh
	@test -x build/venv/bin/pip || /usr/bin/python3 -m venv --system-site-packages build/venv
	@build/venv/bin/pip install -q --disable-pip-version-check '.[test]'
	@build/venv/bin/python -m pytest

bench: release
	build/release/bin/pliant bench

# What is installed, and no tests.
install: packages
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build --preset release --target pliant pliant_static pliant_cli
	cmake --install build/release --prefix $(PREFIX)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build out
