"""What drives a scene's bodies from inside: muscles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._library import Array, double_p, fill, int_p, integers, lib
from ._library import rows as to_rows
from ._parts import WORDS, Reference, Table

if TYPE_CHECKING:
    from ._scene import Scene


class Actuators:
    """The part of a Scene that adds them."""

    def add_muscle(self: Scene, body: Reference,  # type: ignore[misc]
                   elements: Union[str, ArrayLike, None] = None, *,
                   direction: Optional[ArrayLike] = None, path: Optional[ArrayLike] = None,
                   radius: Optional[float] = None, law: Optional[str] = None,
                   stiffness: Optional[float] = None, activation: Optional[float] = None,
                   table: Optional[Table] = None) -> int:
        """Puts fibres into the tets of a solid body, and returns the muscle's index.

        elements: tets (indices, or the name of a group of them); without them those whose centre is within
        radius (m) of path [k, 3] (m), a polyline in the rest shape; without either all.
        direction: of the fibres in the rest shape: [3], or one for each of the listed tets [., 3]; without it
        they run along the path.
        law: "tension" pulls to the length 1 - activation and never pushes (default, activation < 1), "spring"
        pushes as well, "force" pulls in proportion to activation (>= 0) and length. stiffness: Pa (1e5).
        activation: a constant (0). table: (times [k] s, values [k]) instead.
        """
        d = lib.pl_muscle_def_default()
        arrays: dict[str, Array] = {}
        d.body = self.body_index(body)
        if elements is not None:
            index = (self.bodies[d.body].mesh.group(elements, "tet") if isinstance(elements, str)
                     else integers(elements, (-1,), "elements"))
            d.element_count, d.elements = len(index), int_p(index)
        for name, given in (("path", path), ("directions", direction)):
            if given is not None:
                arrays[name] = to_rows(np.atleast_2d(np.asarray(given)), 3, name)
                setattr(d, "point_count" if name == "path" else "direction_count", len(arrays[name]))
                setattr(d, name, double_p(arrays[name]))
        fill(d, WORDS, radius=radius, law=law, stiffness=stiffness, activation=activation)
        column = self._table(_column(table), 1, "table")
        d.table = column[0]
        return self._add(lib.pl_scene_add_muscle, d)


def _column(table: Optional[Table]) -> Any:
    """A table of single numbers, as one of rows of one."""
    return table if table is None else (table[0], np.reshape(table[1], (-1, 1)))
