"""What scenes are made of, and the words of their definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ._library import Array
from ._mesh import Mesh

MODELS = ("arap", "corotated", "neo_hookean")
READINGS = ("exact", "projective")
SOLVERS = ("auto", "direct", "lagged", "constant")
SHAPES = ("half_space", "sphere", "box", "cylinder", "capsule", "mesh")
PER = ("vertex", "group", "mass")
WORDS = {"model": ("PL_", MODELS), "reading": ("PL_", READINGS), "solver": ("PL_SOLVER_", SOLVERS),
         "shape": ("PL_", SHAPES), "per": ("PL_PER_", PER)}


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
