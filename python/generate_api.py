"""Writes pliant/_api.py, the ctypes declarations of the C headers.

    python generate_api.py            # after a header has changed
    python generate_api.py --print    # to standard output: the tests compare it with the file

Needs a C compiler and pycparser. Every type, field, constant and function of include/pliant/*.h is
declared in the order of the headers; nothing in _api.py is written by hand.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from pycparser import c_ast, c_parser

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
HEADERS = ["pliant"] + sorted(h.stem for h in (INCLUDE / "pliant").glob("*.h") if h.stem != "pliant")
SCALARS = {
    "void": "None", "int": "c_int", "unsigned": "c_uint", "unsigned int": "c_uint", "double": "c_double",
    "char": "c_char", "_Bool": "c_bool", "size_t": "c_size_t", "unsigned long long": "c_ulonglong",
}

OPENING = '''\
"""ctypes declarations of Pliant's C interface.

Made from include/pliant/*.h by generate_api.py: change those and run it again.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure
from ctypes import c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any
'''


def parse():
    """The syntax tree of all headers, with the two standard ones replaced by a few typedefs."""
    with tempfile.TemporaryDirectory() as directory:
        fake = Path(directory)
        (fake / "stdbool.h").write_text("#define bool _Bool\n")
        (fake / "stddef.h").write_text("typedef unsigned long size_t;\n")
        source = "".join(f"#include <pliant/{name}.h>\n" for name in HEADERS)
        command = ["cc", "-E", "-P", "-nostdinc", "-I", fake, "-I", INCLUDE, "-DPL_API=", "-U__GNUC__", "-"]
        text = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    return c_parser.CParser().parse(text)


def macros():
    """The integer macros: PL_VERSION_... and sizes of arrays."""
    for name in HEADERS:
        for line in (INCLUDE / "pliant" / f"{name}.h").read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "#define" and words[2].isdigit():
                yield words[1], int(words[2])


def is_const(node):
    return "const" in getattr(node, "quals", [])


def integer(node, known):
    """The value of a constant expression: 3, PL_STAGE_COUNT, 1 << 4."""
    if isinstance(node, c_ast.Constant):
        return int(node.value)
    if isinstance(node, c_ast.ID):
        return known[node.name]
    left, right = integer(node.left, known), integer(node.right, known)
    return {"<<": left << right, "+": left + right, "-": left - right}[node.op]


class Writer:
    def __init__(self):
        self.lines = [OPENING]
        self.constants = dict(macros())
        self.opaque, self.complete, self.functions = [], set(), []

    def type(self, node, parameter=False):
        """The ctypes expression of a declarator."""
        if isinstance(node, c_ast.TypeDecl):
            inner = node.type
            if isinstance(inner, c_ast.IdentifierType):
                name = " ".join(inner.names)
                if name not in SCALARS and not name.startswith("pl_"):
                    raise SystemExit(f"{name}: a type that SCALARS does not have")
                return SCALARS.get(name, name)
            return inner.name
        if isinstance(node, c_ast.ArrayDecl):
            if parameter:
                return self.pointer(node.type)
            return f"{self.type(node.type)} * {integer(node.dim, self.constants)}"
        if isinstance(node.type, c_ast.FuncDecl):
            return self.callback(node.type)
        return self.pointer(node.type)

    def pointer(self, target):
        name = self.type(target)
        if name == "None":
            return "c_void_p"
        if name == "c_char" and is_const(target):
            return "c_char_p"
        return f"POINTER({name})"

    def callback(self, function):
        parts = [self.type(function.type)] + [self.type(p.type, True) for p in function.args.params]
        return f"CFUNCTYPE({', '.join(parts)})"

    def enum(self, enum):
        value = 0
        for item in enum.values.enumerators:
            value = integer(item.value, self.constants) if item.value else value
            self.constants[item.name] = value
            self.lines.append(f"{item.name} = {value}")
            value += 1

    def structure(self, name, struct):
        self.declare(name)
        self.complete.add(name)
        self.lines.append(f"{name}._fields_ = [")
        for field in struct.decls:
            self.lines.append(f'    ("{field.name}", {self.type(field.type)}),')
        self.lines.append("]")

    def declare(self, name):
        if name not in self.opaque:
            self.opaque.append(name)
            self.lines.append(f"\n\nclass {name}(Structure):\n    pass\n\n")

    def typedef(self, node):
        if isinstance(node.type, c_ast.PtrDecl):
            self.lines.append(f"{node.name} = {self.type(node.type)}")
            return
        inner = node.type.type
        if isinstance(inner, c_ast.Enum):
            self.enum(inner)
            self.lines.append(f"{node.name} = c_int")
        elif isinstance(inner, c_ast.Struct) and inner.decls:
            self.structure(node.name, inner)
        elif isinstance(inner, c_ast.Struct):
            self.declare(node.name)
        else:
            self.lines.append(f"{node.name} = {self.type(node.type)}")

    def function(self, node):
        parameters = node.type.args.params
        void = len(parameters) == 1 and self.type(parameters[0].type) == "None"
        arguments = [] if void else [self.type(p.type, True) for p in parameters]
        self.functions.append((node.name, self.type(node.type.type), arguments))

    def write(self):
        for name, value in self.constants.items():
            self.lines.append(f"{name} = {value}")
        for node in parse().ext:
            if isinstance(node, c_ast.Typedef) and node.name != "size_t":
                self.typedef(node)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.function(node)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
                self.enum(node.type)
        self.lines.append("\n# name: (result, arguments)\nFUNCTIONS: dict[str, tuple[Any, list[Any]]] = {")
        for name, result, arguments in self.functions:
            self.lines.append(f'    "{name}": ({result}, [{", ".join(arguments)}]),')
        self.lines.append("}\n")
        self.lines.append(
            "\ndef declare(library: ctypes.CDLL) -> ctypes.CDLL:\n"
            '    """Gives the library\'s functions their types."""\n'
            "    for name, (result, arguments) in FUNCTIONS.items():\n"
            "        function = getattr(library, name)\n"
            "        function.restype, function.argtypes = result, arguments\n"
            "    return library")
        return "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    text = Writer().write()
    if "--print" in sys.argv:
        print(text, end="")
    else:
        (HERE / "pliant" / "_api.py").write_text(text)
