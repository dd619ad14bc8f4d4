"""What scenes are made of, the words of their definitions, and what their files take from Python."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ._library import ArgumentError, Array, array_of, doubles, text
from ._mesh import Mesh

Reference = Union[int, str]
Table = Union[tuple[ArrayLike, ArrayLike], ArrayLike]  # (times [k] s, values [k, width]), or rows of both
Overrides = Union[Mapping[str, Any], Sequence[str]]

MODELS = ("arap", "corotated", "neo_hookean")
READINGS = ("exact", "projective")
SOLVERS = ("auto", "direct", "lagged", "constant")
INTEGRATORS = ("euler", "bdf2", "tr_bdf2")
SHAPES = ("half_space", "sphere", "box", "cylinder", "capsule", "mesh")
PER = ("vertex", "group", "mass")
LAWS = ("tension", "spring", "force")
WORDS = {"model": ("PL_", MODELS), "reading": ("PL_", READINGS), "solver": ("PL_SOLVER_", SOLVERS),
         "integrator": ("PL_", INTEGRATORS),
         "shape": ("PL_", SHAPES), "per": ("PL_PER_", PER), "law": ("PL_MUSCLE_", LAWS)}


def split_table(table: Table, width: int, name: str) -> tuple[Array, Array]:
    """Times [k] and values [k, width] of a tuple of both, or of rows [time, values...] as scene files have."""
    if isinstance(table, tuple):
        if len(table) != 2:
            raise ArgumentError(f"{name}: expected (times, values), got {len(table)} of them")
        times, values = (array_of(part, f"{name}: {what}") for part, what in zip(table, ("times", "values")))
    else:
        rows = array_of(table, name)
        if rows.ndim != 2 or rows.shape[1] != 1 + width:
            raise ArgumentError(f"{name}: expected (times, values), or rows of {1 + width}, the time first; got shape "
                                f"{list(rows.shape)}")
        times, values = rows[:, 0], rows[:, 1:]
    values = values.reshape(-1, 1) if width == 1 else values
    if len(np.atleast_1d(values)) != times.size:
        raise ArgumentError(f"{name}: {len(np.atleast_1d(values))} values for {times.size} times")
    return doubles(times, (times.size,), f"{name}: times"), doubles(values, (times.size, width), f"{name}: values")


@dataclass(frozen=True)
class Body:
    """A body of a scene: its rows in arrays over vertices and over elements."""

    index: int
    name: str
    mesh: Mesh  #: the scene's own, read only
    vertices: slice
    elements: slice
    cloth: bool
    mass: float  #: kg


@dataclass(frozen=True)
class Collider:
    """A rigid obstacle of a scene, as it was added."""

    index: int
    name: str
    shape: str  #: "half_space", "sphere", "box", "cylinder", "capsule" or "mesh"
    size: Array  #: [3] m: radius and half height, or half extents
    friction: float  #: its own; Scene.get("friction") has the present one of every body
    pose: Array  #: [7] position m, quaternion w, x, y, z; of one that moves, the first
    table: Optional[tuple[Array, Array]]  #: of one that moves: times [k] s, poses [k, 7]
    surface: Optional[Mesh]  #: of a mesh: its closed triangles, the scene's own, read only


def encode_overrides(overrides: Overrides) -> tuple[int, Any]:
    """As the library takes them: how many, and texts "path=value"."""
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                     for key, value in overrides.items()]
    encoded = [text(item, "overrides") for item in overrides]
    return len(encoded), (ctypes.c_char_p * max(len(encoded), 1))(*encoded)


def plain_json(value: Any) -> Any:
    """For json.dumps: arrays and NumPy numbers as what JSON knows."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a scene cannot hold a {type(value).__name__}")
