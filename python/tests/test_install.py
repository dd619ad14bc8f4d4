"""What an installation says when libraries are missing, and that the package's types are consistent."""

import _multiprocessing
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT


def test_missing_libraries_are_named(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake: apt install cmake")
    done = subprocess.run(["cmake", "-S", ROOT / "python", "-B", tmp_path], capture_output=True, text=True,
                          env={**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""})
    assert done.returncode != 0
    for package in ("libjansson-dev", "libopenblas-dev", "liblapacke-dev", "zlib1g-dev"):
        assert package in done.stderr
    assert "sudo apt install" in done.stderr


def test_a_missing_compiler_is_named(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake: apt install cmake")
    done = subprocess.run(["cmake", "-S", ROOT / "python", "-B", tmp_path], capture_output=True, text=True,
                          env={**os.environ, "CC": str(tmp_path / "none")})
    assert done.returncode != 0
    assert "sudo apt install build-essential" in done.stderr and "libsuitesparse-dev" in done.stderr


def test_a_missing_library_is_an_import_error(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import pliant"], capture_output=True, text=True,
                          env={**os.environ, "PLIANT_LIBRARY": str(tmp_path / "none.so")})
    assert done.returncode == 1
    assert "ImportError" in done.stderr and "pip install ." in done.stderr


@pytest.mark.parametrize("library", ["text", "another"])
def test_an_unusable_library_is_an_import_error(tmp_path, library):
    path = tmp_path / "libpliant.so"
    path.write_text("not a library")
    if library == "another":
        path = _multiprocessing.__file__
    done = subprocess.run([sys.executable, "-c", "import pliant"], capture_output=True, text=True,
                          env={**os.environ, "PLIANT_LIBRARY": str(path)})
    assert done.returncode == 1
    assert "ImportError" in done.stderr and "cannot be used" in done.stderr


def test_types(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy: pip install mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
