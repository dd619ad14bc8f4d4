"""The declarations against the headers: text, sizes and offsets, and the library's symbols."""

import ctypes
import shutil
import subprocess
import sys

import pytest

from pliant import _api, _library

pytest.importorskip("pycparser", reason="needs pycparser: pip install pycparser")
if shutil.which("cc") is None:
    pytest.skip("needs a C compiler: apt install build-essential", allow_module_level=True)

STRUCTS = {name: value for name, value in vars(_api).items()
           if isinstance(value, type) and issubclass(value, ctypes.Structure) and hasattr(value, "_fields_")}


def test_declarations_are_those_of_the_headers(root):
    made = subprocess.run([sys.executable, root / "python" / "generate_api.py", "--print"], check=True,
                          capture_output=True, text=True).stdout
    assert made == (root / "python" / "pliant" / "_api.py").read_text(), \
        "a header changed: run python/generate_api.py and look at what the change means for the package"


def test_layout_is_the_compilers(root, tmp_path):
    lines, expected = [], []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, *_ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                         f"sizeof((({name} *)0)->{field}));")
            place = getattr(struct, field)
            expected.append(f"{name}.{field} {place.offset} {place.size}")
    source = tmp_path / "layout.c"
    includes = "".join(f"#include <pliant/{h.name}>\n" for h in (root / "include" / "pliant").glob("*.h"))
    source.write_text(includes + "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "}\n")
    program = tmp_path / "layout"
    subprocess.run(["cc", "-I", root / "include", source, "-o", program], check=True)
    found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(expected) > 200
    assert found == expected


def test_every_exported_function_is_declared():
    if shutil.which("nm") is None:
        pytest.skip("needs nm: apt install binutils")
    symbols = subprocess.run(["nm", "-D", "--defined-only", _library.lib._name], check=True,
                             capture_output=True, text=True).stdout.split()
    exported = {s for s in symbols if s.startswith("pl_")}
    assert exported == set(_api.FUNCTIONS)
