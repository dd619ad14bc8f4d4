"""Meshes: from arrays, files, generators, surfaces, and the built-in bodies."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api
from ._library import (Array, Context, Handle, MeshError, Owner, PathLike, choice, default_context, double_p,
                       doubles, int_p, integer, integers, lib, real, rows, text, view)

CUTS = ("alternating", "diagonal")
GROUP_KINDS = ("vertex", "tet", "triangle")


@dataclass(frozen=True)
class MeshReport:
    """What Mesh.check found. `first_...` are indices, -1 without any."""

    inverted: int
    first_inverted: int
    degenerate: int
    first_degenerate: int
    duplicate: int
    first_duplicate: int
    unreferenced: int
    first_unreferenced: int
    bad_index: int
    first_bad_index: int
    non_finite: int
    first_non_finite: int
    components: int
    volume: float  #: m^3 of the tets, m^2 of a cloth's triangles
    min_dihedral: float  #: degrees
    max_dihedral: float  #: degrees
    lower: tuple[float, ...]  #: bounding box, m
    upper: tuple[float, ...]


@dataclass(frozen=True)
class Shape:
    """A built-in body: Mesh.shape(name) builds it."""

    name: str
    description: str
    cloth: bool
    vertices: int  #: by default
    lower: tuple[float, ...]  #: it lies within, m
    upper: tuple[float, ...]


def plain(struct: ctypes.Structure) -> dict[str, Any]:
    """A struct's fields as Python values: arrays as tuples, texts as str."""
    values = {}
    for name, *_ in struct._fields_:
        value = getattr(struct, name)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, ctypes.Array):
            value = tuple(value)
        values[name] = value
    return values


def shapes() -> list[Shape]:
    """The built-in bodies."""
    found: list[Shape] = []
    while entry := lib.pl_shape_list(len(found)):
        found.append(Shape(**plain(entry.contents)))
    return found


class Mesh(Owner):
    """Vertices with tets (a solid) or triangles (a cloth or surface), and named groups of them.

    vertices: [n, 3] m.
    tets: [m, 4] indices, positive volume. A solid's triangles only mark pieces of its boundary.
    triangles: [m, 3] indices, counter-clockwise seen from outside.
    groups: name -> indices of vertices; or name -> (kind, indices) with kind "vertex", "tet", "triangle".

    The attributes of the same names are views of the mesh's own memory.
    """

    _what = "mesh"

    def __init__(self, vertices: ArrayLike, tets: Optional[ArrayLike] = None,
                 triangles: Optional[ArrayLike] = None, groups: Optional[Mapping[str, Any]] = None, *,
                 context: Optional[Context] = None):
        v = rows(vertices, 3, "vertices")
        t = integers(tets if tets is not None else [], (-1, 4), "tets")
        f = integers(triangles if triangles is not None else [], (-1, 3), "triangles")
        for name, index in (("tets", t), ("triangles", f)):
            if index.size and not 0 <= index.min() <= index.max() < len(v):
                worst = index.max() if index.max() >= len(v) else index.min()
                raise MeshError(f"{name}: vertex {worst} is named, there are {len(v)}")
        self._create(context, lambda ctx, out: lib.pl_mesh_create(
            ctx, len(v), double_p(v), len(t), int_p(t), len(f), int_p(f), out))
        for name, group in (groups or {}).items():
            kind, index = group if isinstance(group, tuple) and len(group) == 2 else ("vertex", group)
            self.add_group(name, index, kind)

    def _create(self, context: Optional[Context], call: Callable[[Any, Any], int]) -> None:
        context = context or default_context()
        out = ctypes.POINTER(_api.pl_mesh)()
        with context._core as core:
            ctx = context._pointer
            core.check(call(ctx, out))
            self._own(context._make(out, lambda mesh: lib.pl_mesh_free(ctx, mesh)))
        self._context, self._writeable = context, True

    @classmethod
    def _make(cls, context: Optional[Context], call: Callable[[Any, Any], int]) -> Mesh:
        mesh = cls.__new__(cls)
        mesh._create(context, call)
        return mesh

    @classmethod
    def _borrow(cls, context: Context, owner: Handle, pointer: Any) -> Mesh:
        """A mesh that belongs to a scene: read only."""
        mesh = cls.__new__(cls)
        mesh._own(context._make(pointer, lambda _: None, owner))
        mesh._context, mesh._writeable = context, False
        return mesh

    # --- generators

    @classmethod
    def box(cls, size: ArrayLike, cell: float, *, context: Optional[Context] = None) -> Mesh:
        """Solid from the origin to size [3] m, in cubes of about `cell` m."""
        a, cell = doubles(size, (3,), "size"), real(cell, "cell")
        return cls._make(context, lambda ctx, out: lib.pl_mesh_box(ctx, double_p(a), cell, out))

    @classmethod
    def hollow_box(cls, size: ArrayLike, wall: float, cell: float, *,
                   context: Optional[Context] = None) -> Mesh:
        """The same with walls of round(wall / cell) cells around a hollow."""
        a, wall, cell = doubles(size, (3,), "size"), real(wall, "wall"), real(cell, "cell")
        return cls._make(context, lambda ctx, out: lib.pl_mesh_hollow_box(ctx, double_p(a), wall, cell, out))

    @classmethod
    def grid(cls, nodes: ArrayLike, spacing: float, cut: str = "alternating", *,
             context: Optional[Context] = None) -> Mesh:
        """Solid of nodes [3] nodes a side, spaced `spacing` m.

        cut: "alternating", five tets a cube as in boxes and bars, or "diagonal": six around the same
        diagonal, which is stiffer and bends sideways.
        """
        a, spacing, kind = integers(nodes, (3,), "nodes"), real(spacing, "spacing"), choice(cut, "PL_CUT_", CUTS, "cut")
        return cls._make(context, lambda ctx, out: lib.pl_mesh_grid(ctx, int_p(a), spacing, kind, out))

    @classmethod
    def bar(cls, length: float, width: float, height: float, cell: float, *,
            context: Optional[Context] = None) -> Mesh:
        """Bar along x from 0 to length, m; vertex groups "left" and "right" at its ends."""
        numbers = [real(value, name) for name, value in dict(length=length, width=width, height=height, cell=cell).items()]
        return cls._make(context, lambda ctx, out: lib.pl_mesh_bar(ctx, *numbers, out))

    @classmethod
    def cylinder(cls, radius: float, height: float, cell: float, *,
                 context: Optional[Context] = None) -> Mesh:
        """Cylinder about z from 0 to height, m; vertex groups "bottom" and "top"."""
        numbers = [real(value, name) for name, value in dict(radius=radius, height=height, cell=cell).items()]
        return cls._make(context, lambda ctx, out: lib.pl_mesh_cylinder(ctx, *numbers, out))

    @classmethod
    def ellipsoid(cls, radii: ArrayLike, cell: float, *, context: Optional[Context] = None) -> Mesh:
        """Ellipsoid about the origin with radii [3] (or one for a ball), m."""
        a, cell = doubles(radii, (3,), "radii"), real(cell, "cell")
        return cls._make(context, lambda ctx, out: lib.pl_mesh_ellipsoid(ctx, double_p(a), cell, out))

    @classmethod
    def rectangle(cls, width: float, height: float, cell: float, *,
                  context: Optional[Context] = None) -> Mesh:
        """Cloth in z = 0; vertex groups "left", "right", "bottom", "top", "corner00" to "corner11"."""
        numbers = [real(value, name) for name, value in dict(width=width, height=height, cell=cell).items()]
        return cls._make(context, lambda ctx, out: lib.pl_mesh_rectangle(ctx, *numbers, out))

    @classmethod
    def disc(cls, radius: float, cell: float, *, context: Optional[Context] = None) -> Mesh:
        """Cloth disc about the origin in z = 0; vertex group "rim"."""
        numbers = [real(value, name) for name, value in dict(radius=radius, cell=cell).items()]
        return cls._make(context, lambda ctx, out: lib.pl_mesh_disc(ctx, *numbers, out))

    @classmethod
    def shape(cls, name: str, vertices: int = 0, *, context: Optional[Context] = None) -> Mesh:
        """A built-in body (see pliant.shapes()) with about `vertices` vertices; 0 = its default."""
        n, count = text(name, "name"), integer(vertices, "vertices")
        return cls._make(context, lambda ctx, out: lib.pl_shape_build(ctx, n, count, out))

    # --- files and other libraries

    @classmethod
    def read(cls, path: PathLike, *, context: Optional[Context] = None) -> Mesh:
        """Reads .msh, .mesh, .vtk, .vtu, .node/.ele or .obj."""
        p = text(path, "path")
        return cls._make(context, lambda ctx, out: lib.pl_mesh_read(ctx, p, out))

    @classmethod
    def read_surface(cls, path: PathLike, *, context: Optional[Context] = None) -> Mesh:
        """Reads a triangle surface: .obj, .stl, .ply, or the boundary of anything `read` takes."""
        p = text(path, "path")
        return cls._make(context, lambda ctx, out: lib.pl_surface_read(ctx, p, out))

    def write(self, path: PathLike) -> None:
        """Writes .msh (Gmsh 4.1) or .vtu. The file appears whole or not at all."""
        with self._core as core:
            core.check(lib.pl_mesh_write(self._context._pointer, self._pointer, text(path, "path")))

    @classmethod
    def from_meshio(cls, mesh: Any, *, context: Optional[Context] = None) -> Mesh:
        """From a meshio.Mesh: its tetrahedra and triangles, point and cell sets, and Gmsh's physical groups."""
        if not all(hasattr(mesh, name) for name in ("points", "cells", "point_sets", "cell_sets")):
            raise TypeError(f"mesh: expected a meshio.Mesh, got {type(mesh).__name__}")
        points = np.asarray(mesh.points, float)
        if points.ndim == 2 and points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        blocks: dict[str, list[Any]] = {"tetra": [], "triangle": []}
        first = []  # of every block: its first row in the joined array
        for cells in mesh.cells:
            first.append(sum(len(b) for b in blocks.get(cells.type, [])))
            if cells.type in blocks:
                blocks[cells.type].append(cells.data)
        tets, triangles = (np.vstack(b) if b else None for b in blocks.values())
        if tets is None and triangles is None:
            found = ", ".join(sorted({cells.type for cells in mesh.cells})) or "none"
            raise MeshError(f"mesh: expected cells of type tetra or triangle, got {found}")
        groups: dict[str, Any] = {name: ("vertex", np.asarray(index, np.intp))
                                  for name, index in mesh.point_sets.items()}
        kinds = {"tetra": "tet", "triangle": "triangle"}

        def add(name: str, kind: str, parts: list[NDArray[Any]]) -> None:
            index = np.concatenate(parts) if parts else np.empty(0, int)
            if index.size:
                groups[name if name not in groups else f"{name} ({kind})"] = (kind, index)

        for name, per_block in mesh.cell_sets.items():
            for cell_type, kind in kinds.items():
                add(name, kind, [np.asarray(index, np.intp) + first[k] for k, index in enumerate(per_block)
                                 if index is not None and mesh.cells[k].type == cell_type])
        for name, (tag, dimension) in mesh.field_data.items():
            physical = {3: "tetra", 2: "triangle"}.get(int(dimension))
            tags = mesh.cell_data.get("gmsh:physical")
            if physical is not None and tags is not None and name not in groups:
                add(name, kinds[physical], [np.nonzero(tags[k] == tag)[0] + first[k]
                                            for k in range(len(mesh.cells))
                                            if mesh.cells[k].type == physical])
        return cls(points, tets, triangles, groups, context=context)

    def to_meshio(self) -> Any:
        """The same as a meshio.Mesh; groups become point and cell sets."""
        import meshio
        cells: list[Any] = [(kind, data.copy()) for kind, data in (("tetra", self.tets), ("triangle", self.triangles))
                            if len(data)]
        kinds = {"tetra": "tet", "triangle": "triangle"}
        point_sets, cell_sets = {}, {}
        for name, (kind, index) in self.groups.items():
            if kind == "vertex":
                point_sets[name] = index.copy()
            else:
                cell_sets[name] = [index.copy() if kinds[c] == kind else np.empty(0, np.intc) for c, _ in cells]
        return meshio.Mesh(self.vertices.copy(), cells, point_sets=point_sets, cell_sets=cell_sets)

    def tetrahedralize(self, *, cell: float = 0.0, vertices: int = 0) -> Mesh:
        """Fills a closed surface with tets of about `cell` m, or so many that about `vertices` result."""
        definition = lib.pl_tetrahedralize_def_default()
        definition.cell, definition.vertices = real(cell, "cell"), integer(vertices, "vertices")
        return self._make(self._context, lambda ctx, out: lib.pl_tetrahedralize(
            ctx, self._pointer, definition, out, None))

    def copy(self) -> Mesh:
        """An independent copy."""
        return self._make(self._context, lambda ctx, out: lib.pl_mesh_copy(ctx, self._pointer, out))

    def __copy__(self) -> Mesh:
        return self.copy()

    def __deepcopy__(self, _memo: object) -> Mesh:
        return self.copy()

    def __reduce__(self) -> Any:
        arrays = (self.vertices.copy(), self.tets.copy(), self.triangles.copy())
        return type(self)._restore, (*arrays, list(self._groups()))

    @classmethod
    def _restore(cls, vertices: Array, tets: NDArray[np.intc], triangles: NDArray[np.intc],
                 groups: Sequence[tuple[str, str, NDArray[np.intc]]]) -> Mesh:
        mesh = cls(vertices, tets, triangles)
        for name, kind, index in groups:
            mesh.add_group(name, index, kind)
        return mesh

    # --- content

    def _view(self, name: str, count: int, width: int, dtype: Any) -> NDArray[Any]:
        with self._core:
            struct = self._pointer.contents
            return view(self._handle, getattr(struct, name), (count, width), dtype, self._writeable)

    @property
    def vertices(self) -> Array:
        """[n, 3] m: a view."""
        return self._view("vertices", self._pointer.contents.vertex_count, 3, np.float64)

    @property
    def tets(self) -> NDArray[np.intc]:
        """[tet_count, 4]: a view."""
        return self._view("tets", self._pointer.contents.tet_count, 4, np.intc)

    @property
    def triangles(self) -> NDArray[np.intc]:
        """[triangle_count, 3]: a view."""
        return self._view("triangles", self._pointer.contents.triangle_count, 3, np.intc)

    @property
    def groups(self) -> dict[str, tuple[str, NDArray[np.intc]]]:
        """name -> (kind, indices), copied."""
        return {name: (kind, index) for name, kind, index in self._groups()}

    def _groups(self) -> Iterator[tuple[str, str, NDArray[np.intc]]]:
        with self._core:
            mesh = self._pointer.contents
            for group in mesh.groups[:mesh.group_count]:
                name = ctypes.string_at(group.name).decode("utf-8", "replace")
                yield name, GROUP_KINDS[group.kind], np.array(group.index[:group.count], np.intc)

    def group(self, name: str, kind: str = "vertex") -> NDArray[np.intc]:
        """The indices of a group."""
        found = self.groups.get(name)
        if found is None or found[0] != kind:
            have = ", ".join(repr(n) for n, (k, _) in self.groups.items() if k == kind) or "none"
            raise KeyError(f"no {kind} group {name!r}; there are: {have}")
        return found[1]

    def add_group(self, name: str, index: ArrayLike, kind: str = "vertex") -> None:
        """Adds a named group of "vertex", "tet" or "triangle" indices."""
        self._must_be_writeable()
        i = integers(index, (-1,), f"group {name}")
        with self._core as core:
            core.check(lib.pl_mesh_add_group(self._context._pointer, self._pointer, text(name, "name"),
                                             choice(kind, "PL_GROUP_", GROUP_KINDS, "kind"), len(i), int_p(i)))

    def transform(self, scale: float = 1.0, rotation: ArrayLike = (1, 0, 0, 0),
                  translation: ArrayLike = (0, 0, 0)) -> Mesh:
        """In place: scales, rotates by the quaternion (w, x, y, z), translates [3] m. Returns the mesh."""
        self._must_be_writeable()
        r, t = doubles(rotation, (4,), "rotation"), doubles(translation, (3,), "translation")
        scale, length = real(scale, "scale"), float(np.linalg.norm(r))
        if not np.isfinite([scale, length, *t]).all() or length == 0 or scale <= 0:
            raise ValueError("transform: expected a scale > 0, a rotation other than 0 and finite numbers")
        r = r / length
        with self._core:
            lib.pl_mesh_transform(self._pointer, scale, double_p(r), double_p(t))
        return self

    def check(self) -> MeshReport:
        """Counts what is wrong with the mesh, and measures it."""
        report = _api.pl_mesh_report()
        with self._core as core:
            core.check(lib.pl_mesh_check(self._context._pointer, self._pointer, report))
        return MeshReport(**plain(report))

    def surface(self) -> NDArray[np.intc]:
        """[m, 3] boundary triangles of a solid (outward), or the triangles of a cloth."""
        count, out = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
        with self._core as core:
            ctx = self._context._pointer
            core.check(lib.pl_mesh_surface(ctx, self._pointer, count, out))
            if not count.value:
                return np.empty((0, 3), np.intc)
            found = np.ctypeslib.as_array(out, (count.value, 3)).copy()
            lib.pl_free(ctx, out)
        return found

    def embed(self, points: ArrayLike) -> Embedding:
        """Ties points [k, 3] m to the tets, to be carried along as they move."""
        return Embedding(self, points)

    def _must_be_writeable(self) -> None:
        if not self._writeable:
            raise MeshError("the mesh belongs to a scene: change a copy()")

    def __repr__(self) -> str:
        if self.closed:
            return "<pliant.Mesh closed>"
        mesh = self._pointer.contents
        return (f"<pliant.Mesh {mesh.vertex_count} vertices, {mesh.tet_count} tets, "
                f"{mesh.triangle_count} triangles>")


class Embedding(Owner):
    """Points carried by a solid: a detailed surface, markers.

    vertex: [k, 4] and weight: [k, 4]: point i is the sum of weight[i, j] times vertex[i, j].
    """

    _what = "embedding"

    def __init__(self, mesh: Mesh, points: ArrayLike):
        p = rows(points, 3, "points")
        out = ctypes.POINTER(_api.pl_embedding)()
        context = mesh._context
        with mesh._core as core:
            ctx = context._pointer
            core.check(lib.pl_embedding_create(ctx, mesh._pointer, len(p), double_p(p), out))
            self._own(context._make(out, lambda e: lib.pl_embedding_destroy(ctx, e)))
        self._vertices = len(mesh.vertices)

    @property
    def vertex(self) -> NDArray[np.intc]:
        """[k, 4]: a view."""
        e = self._pointer.contents
        return view(self._handle, e.vertex, (e.count, 4), np.intc, False)

    @property
    def weight(self) -> Array:
        """[k, 4]: a view."""
        e = self._pointer.contents
        return view(self._handle, e.weight, (e.count, 4), np.float64, False)

    def __call__(self, q: ArrayLike) -> Array:
        """Points [k, 3] m from the solid's vertex positions q [n, 3]."""
        positions = doubles(q, (self._vertices, 3), "q")
        with self._core:
            points = np.empty((self._pointer.contents.count, 3))
            lib.pl_embedding_apply(self._pointer, double_p(positions), double_p(points))
        return points
