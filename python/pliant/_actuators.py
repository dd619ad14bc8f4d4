"""What drives a scene's bodies from inside: muscles, cables and chambers."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _api
from ._library import ArgumentError, Array, array_of, double_p, doubles, fill, int_p, integer, integers, lib
from ._library import rows as to_rows
from ._parts import WORDS, Reference, Table

if TYPE_CHECKING:
    from ._scene import Scene


class Actuators:
    """The part of a Scene that adds them."""

    def add_muscle(self: Scene, body: Reference,  # type: ignore[misc]
                   elements: Union[str, ArrayLike, None] = None, *,
                   direction: Optional[ArrayLike] = None, path: Optional[ArrayLike] = None,
                   paths: Optional[Sequence[ArrayLike]] = None, radius: Optional[float] = None,
                   law: Optional[str] = None, stiffness: Optional[float] = None,
                   activation: Optional[float] = None, table: Optional[Table] = None,
                   name: Optional[str] = None) -> int:
        """Puts fibres into the tets of a solid body, and returns the muscle's index.

        elements: tets (indices, or the name of a group of them); without them those whose centre is within
        radius (m) of path [k, 3] (m), a polyline in the rest shape, or of the nearest of several paths; without
        any all.
        direction: of the fibres in the rest shape: [3], or one for each of the listed tets [., 3]; without it
        they run along the path.
        law: "tension" pulls to the length 1 - activation and never pushes (default, activation < 1), "spring"
        pushes as well, "force" pulls in proportion to activation (>= 0) and length. stiffness: Pa (1e5).
        activation: a constant (0). table: (times [k] s, values [k]) instead. name: for messages and tasks.
        """
        d = lib.pl_muscle_def_default()
        arrays: dict[str, Array] = {}
        d.body = self.body_index(body)
        if elements is not None:
            index = (self.bodies[d.body].mesh.group(elements, "tet") if isinstance(elements, str)
                     else integers(elements, (-1,), "elements"))
            d.element_count, d.elements = len(index), int_p(index)
        if paths is not None:
            if path is not None:
                raise ArgumentError("path: expected it or paths, got both")
            lines = [to_rows(line, 3, f"paths[{i}]") for i, line in enumerate(paths)]
            if not lines:
                raise ArgumentError("paths: expected at least one")
            sizes = integers([len(line) for line in lines], (-1,), "paths")
            d.path_count, d.path_sizes = len(sizes), int_p(sizes)
            path = np.concatenate(lines)
        for field, given in (("path", path), ("directions", direction)):
            if given is not None:
                arrays[field] = to_rows(np.atleast_2d(array_of(given, field)), 3, field)
                setattr(d, "point_count" if field == "path" else "direction_count", len(arrays[field]))
                setattr(d, field, double_p(arrays[field]))
        fill(d, WORDS, name=name, radius=radius, law=law, stiffness=stiffness, activation=activation)
        column = self._table(table, 1, "table")
        d.table = column[0]
        return self._add(lib.pl_scene_add_muscle, d)

    def add_cable(self: Scene, points: Sequence[Mapping[str, Any]], *,  # type: ignore[misc]
                  length: Optional[float] = None, compliance: Optional[float] = None, segments: bool = False,
                  two_way: bool = False, table: Optional[Table] = None, name: Optional[str] = None) -> int:
        """Draws a chain of points to a length, and returns the cable's index.

        points: as in scene files: dict(body=, vertex=), dict(body=, vertices=, weights=) with up to four
        vertices, dict(body=, at=[3]) for the point of the body that is there at the start (m), or
        dict(fixed=[3]) for a place in the world (m).
        length: what it is drawn to, m (as long as at the start). table: (times [k] s, values [k]) instead.
        compliance: of the whole length, m/N (1e-6); 0 does not stretch.
        segments: held at its points, each segment with a tension of its own, rather than sliding through them.
        two_way: pushes as well, rather than going slack. name: for messages and tasks.
        """
        d = lib.pl_cable_def_default()
        if not isinstance(points, Sequence):
            raise TypeError(f"points: expected a list of them, got {type(points).__name__}")
        chain = (_api.pl_point * max(len(points), 1))()
        for i, (into, given) in enumerate(zip(chain, points)):
            try:
                self._put_anchor(into, given)
            except (TypeError, ValueError) as error:
                raise ArgumentError(f"points[{i}]: {error}") from None
        d.point_count, d.points = len(points), chain
        d.segments, d.two_way = bool(segments), bool(two_way)
        fill(d, WORDS, name=name, length=length, compliance=compliance)
        column = self._table(table, 1, "table")
        d.table = column[0]
        return self._add(lib.pl_scene_add_cable, d)

    def _put_anchor(self: Scene, into: Any, given: Mapping[str, Any]) -> None:  # type: ignore[misc]
        """A point of a cable into a pl_point."""
        if set(given) == {"fixed"}:
            into.body = -1
            into.position[:] = doubles(given["fixed"], (3,), "fixed").tolist()
        elif set(given) == {"body", "at"}:
            x = doubles(given["at"], (3,), "at")
            with self._core as core:
                core.check(lib.pl_scene_point_at(self._pointer, self.body_index(given["body"]), double_p(x), into))
        elif set(given) == {"body", "vertex"}:
            self._put_point(into, self.body_index(given["body"]), integer(given["vertex"], "vertex"), None)
        elif {"body", "vertices"} <= set(given) <= {"body", "vertices", "weights"}:
            self._put_point(into, self.body_index(given["body"]), given["vertices"], given.get("weights"))
        else:
            raise ArgumentError("expected body with vertex, vertices (and weights) or at, or fixed alone; got "
                                + (", ".join(map(repr, given)) or "nothing"))

    def add_chamber(self: Scene, body: Reference,  # type: ignore[misc]
                    triangles: Union[str, ArrayLike, None] = None, *, inside: Optional[ArrayLike] = None,
                    cavity: Optional[int] = None, pressure: Optional[float] = None,
                    table: Optional[Table] = None, gas: Optional[bool] = None,
                    ambient: Optional[float] = None, name: Optional[str] = None) -> int:
        """Puts a cavity of a body under pressure, and returns the chamber's index.

        Which one: triangles [k, 3] of the body's boundary, closed, or the name of a group of them; or the one
        around the point inside [3] (m) of the rest shape; or by its number (cavity, 0).
        pressure: Pa above that outside, a constant (0); negative draws the walls in.
        table: (times [k] s, values [k] Pa) instead. name: for messages and tasks.
        gas: the amount of gas is given, by the pressure that it has at the volume at rest; ambient: Pa outside
        (101325), for gas.
        """
        d = lib.pl_chamber_def_default()
        d.body = self.body_index(body)
        if triangles is not None:
            if isinstance(triangles, str):
                mesh = self.bodies[d.body].mesh
                triangles = mesh.triangles[mesh.group(triangles, "triangle")]
            listed = integers(triangles, (-1, 3), "triangles")
            d.triangle_count, d.triangles = len(listed), int_p(listed)
        if inside is not None:
            point = doubles(inside, (3,), "inside")
            d.inside = double_p(point)
        fill(d, WORDS, name=name, cavity=cavity, pressure=pressure, gas=gas, ambient=ambient)
        column = self._table(table, 1, "table")
        d.table = column[0]
        return self._add(lib.pl_scene_add_chamber, d)

    def chamber_volumes(self: Scene, q: ArrayLike) -> Array:  # type: ignore[misc]
        """What each chamber encloses at positions q [n, 3], m^3."""
        at, volume = doubles(q, (self.vertex_count, 3), "q"), ctypes.c_double()
        found = []
        with self._core as core:
            for chamber in range(lib.pl_scene_owner_count(self._pointer, _api.PL_OWNER_CHAMBER)):
                core.check(lib.pl_chamber_volume(self._pointer, chamber, double_p(at), volume))
                found.append(volume.value)
        return np.array(found)
