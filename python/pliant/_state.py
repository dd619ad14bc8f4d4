"""States, and what a step says about itself."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api
from ._channel import CHANNELS, INPUTS
from ._library import ArgumentError, Array, Context, Owner, double_p, doubles, lib, real, view
from ._parts import Reference

if TYPE_CHECKING:
    from ._scene import Scene

#: What StepInfo.milliseconds are of.
STAGES = ("local", "assemble", "factor", "solve", "contact", "other")


@dataclass(frozen=True)
class StepInfo:
    """What a step took. Energies in J, lengths in m, forces in N."""

    converged: bool
    iterations: int  #: Newton iterations of all substeps
    inner_iterations: int  #: of the contact solver
    linear_solves: int
    factorizations: int
    splits: int  #: times the step was halved
    choices: int  #: times that two solutions were found and the one of lower incremental potential taken
    contacts: int
    residual: float  #: largest vertex move of the last Newton step, m
    complementarity: float
    cone_violation: float  #: largest |friction force| - mu normal force, N
    penetration: float  #: m
    energy_kinetic: float
    energy_elastic: float
    energy_gravity: float
    milliseconds: tuple[float, ...]  #: of the stages pliant.STAGES


@dataclass(frozen=True)
class PairForce:
    """What a body feels from another, or from a collider, by all their contacts together, N."""

    body: str
    partner: str  #: a body added later, or the same; or a collider
    collider: bool  #: whether the partner is one
    contacts: int
    pressing: float  #: the sum of normal forces' sizes
    normal: Array  #: [3] the sum of normal forces on the body,
    friction: Array  #: [3] and that of friction; the partner feels the opposite


def pair_forces(scene: Scene, contacts: NDArray[Any]) -> list[PairForce]:
    """Contacts of a scene, as State.contacts has them, by pair: those with bodies first."""
    count, out = ctypes.c_int(), ctypes.POINTER(_api.pl_pair_force)()
    bodies, colliders = [b.name for b in scene.bodies], [c.name for c in scene.colliders]
    contacts = np.ascontiguousarray(contacts)
    pointer = ctypes.cast(contacts.ctypes.data, ctypes.POINTER(_api.pl_contact))
    with scene._core as core:
        core.check(lib.pl_pair_forces(scene._pointer, len(contacts), pointer, count, out))
        try:
            return [PairForce(bodies[p.body], bodies[p.other] if p.other >= 0 else colliders[p.collider],
                              p.other < 0, p.contacts, p.pressing, np.array(p.normal), np.array(p.friction))
                    for p in out[:count.value]]
        finally:
            lib.pl_free(scene._context._pointer, out)


def contact_array(pointer: Any, count: int) -> NDArray[Any]:
    """A copy of `count` pl_contacts."""
    layout: Any = np.dtype(_api.pl_contact)
    memory = ctypes.string_at(pointer, count * layout.itemsize) if count else b""
    return np.frombuffer(memory, layout).copy()


def told_contacts(context: Context, call: Callable[[Any, Any], int]) -> NDArray[Any]:
    """The contacts that a call puts into an int and a pointer, as an array."""
    count, found = ctypes.c_int(), ctypes.POINTER(_api.pl_contact)()
    with context._core as core:
        core.check(call(count, found))
        try:
            return contact_array(found, count.value)
        finally:
            lib.pl_free(context._pointer, found)


def pair_forces_over_time(scene: Scene, steps: int,
                          contacts: Callable[[int], NDArray[Any]]) -> dict[tuple[str, str], dict[str, Array]]:
    """Rollout.pair_forces, of the contacts after each of so many steps."""
    found: dict[tuple[str, str], dict[str, Array]] = {}
    names = [body.name for body in scene.bodies] + [collider.name for collider in scene.colliders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(f"several bodies or colliders are called {twice!r}: give each a name of its own")
    for step in range(1, steps + 1):
        for p in pair_forces(scene, contacts(step)):
            table = found.setdefault((p.body, p.partner), {
                "pressing": np.zeros(steps + 1), "normal": np.zeros((steps + 1, 3)),
                "friction": np.zeros((steps + 1, 3))})
            for name, rows in table.items():
                rows[step] = getattr(p, name)
    return found


class State(Owner):
    """Positions, velocities and contacts at one time. Read and write the arrays between steps.

    Made by Scene.state(), for that scene and its copies. States can be copied (copy.copy) and pickled.
    """

    _what = "state"

    def __init__(self, scene: Scene):
        out = ctypes.POINTER(_api.pl_state)()
        with scene._core as core:
            owner = scene._pointer
            core.check(lib.pl_state_create(owner, out))
            self._own(scene._context._make(out, lambda s: lib.pl_state_destroy(owner, s), scene._handle))
        self._scene, self._layout, self._info, self._rows = scene, scene._layout, scene._info, scene._rows
        self._q: Optional[Array] = None
        self._v: Optional[Array] = None

    @property
    def q(self) -> Array:
        """Positions [n, 3] m: a view."""
        if self._q is None:
            self._q = view(self._handle, self._pointer.contents.q, (self._info.vertex_count, 3))
        self._pointer
        return self._q

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self.q[:] = doubles(value, self.q.shape, "q")

    @property
    def v(self) -> Array:
        """Velocities [n, 3] m/s: a view."""
        if self._v is None:
            self._v = view(self._handle, self._pointer.contents.v, (self._info.vertex_count, 3))
        self._pointer
        return self._v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self.v[:] = doubles(value, self.v.shape, "v")

    @property
    def time(self) -> float:
        """s"""
        return self._pointer.contents.time

    @time.setter
    def time(self, value: float) -> None:
        time = real(value, "time")
        if not np.isfinite(time):
            raise ValueError(f"time = {time}: expected a finite number")
        self._pointer.contents.time = time

    @property
    def step(self) -> int:
        """Steps done."""
        return self._pointer.contents.step

    @property
    def inputs(self) -> dict[str, Array]:
        """Inputs that move during a step, where the last one left them: views, also as attributes.
        pin_target [pin_vertex_count, 3] m; collider_pose [collider_count, 7], position and quaternion
        w, x, y, z; activation [muscles]; cable_length [cables] m; pressure [chambers] Pa."""
        given, found = self._pointer.contents.input, {}
        for name in INPUTS:
            c = CHANNELS[name]
            if given[c.index]:
                shape = (self._rows[name], c.width) if c.width > 1 else (self._rows[name],)
                found[name] = view(self._handle, given[c.index], shape)
        return found

    def __getattr__(self, name: str) -> Array:
        found = self.inputs if name in INPUTS else {}
        if name not in found:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return found[name]

    @property
    def contacts(self) -> NDArray[Any]:
        """Contacts of the last step, copied: an array with the fields count, vertex [4], weight [4], collider, normal [3],
        gap (m), force_normal (N) and force_tangent [3] (N)."""
        with self._core:
            state = self._pointer.contents
            return contact_array(state.contacts, state.contact_count)

    @property
    def pair_forces(self) -> list[PairForce]:
        """The contact forces of the last step by pair of bodies, or of a body and a collider: a list of PairForce, one
        for each pair that touches, those of bodies first. (Rollout.pair_forces, over time, is a dict by pair.)"""
        return pair_forces(self._scene, self.contacts)

    @property
    def live(self) -> Array:
        """Tensions of cables in the last step, N: of each its one, or those of its segments."""
        with self._core:
            state = self._pointer.contents
            return view(self._handle, state.live, (state.live_count,))

    def tensions(self, cable: Reference) -> Array:
        """The part of live that is a cable's (its name or index): [1], or one for each segment of one that is held at
        its points."""
        first = ctypes.c_int()
        with self._core:
            count = lib.pl_scene_cable_rows(self._scene._pointer, self._scene._part_index("cable", cable), first)
        return self.live[first.value:first.value + count]

    @property
    def chamber_pressures(self) -> Array:
        """The pressure in each chamber after the last step, Pa above that outside: of those with gas at their volume."""
        found, value = [], ctypes.c_double()
        with self._core as core:
            for chamber in range(lib.pl_scene_owner_count(self._scene._pointer, _api.PL_OWNER_CHAMBER)):
                core.check(lib.pl_chamber_pressure(self._scene._pointer, chamber, self._pointer, value))
                found.append(value.value)
        return np.array(found)

    def __copy__(self) -> State:
        return self._scene.copy(self)

    def __deepcopy__(self, _memo: object) -> State:
        return self._scene.copy(self)

    def __reduce__(self) -> Any:
        inputs = {name: array.copy() for name, array in self.inputs.items()}
        return type(self)._restore, (self._scene, self.q.copy(), self.v.copy(), self.time, self.step, inputs,
                                     self.contacts, self.live.copy(), self._before())

    def _before(self) -> Optional[tuple[float, list[Array]]]:
        """What an integrator looks back at: length of the step that led here, positions and velocities before,
        accelerations now and before where they are kept."""
        with self._core:
            state = self._pointer.contents
            if not state.before_length:
                return None
            shape = self.q.shape
            kept = [state.q_before, state.v_before] + ([state.a, state.a_before] if state.a else [])
            return state.before_length, [view(self._handle, array, shape).copy() for array in kept]

    @classmethod
    def _restore(cls, scene: Scene, *content: Any) -> State:
        state = cls(scene)
        state._assign(*content)
        return state

    def _assign(self, q: Array, v: Array, time: float, step: int, inputs: Mapping[str, Array],
                contacts: NDArray[Any], live: Array, before: Optional[tuple[float, list[Array]]]) -> None:
        """Takes on what another state holds; inputs that are not given stay."""
        inputs = {**self.inputs, **inputs}
        other = _api.pl_state(vertex_count=len(q), q=double_p(q), v=double_p(v), time=time, step=step)
        for name, array in inputs.items():
            other.input[CHANNELS[name].index] = double_p(array)
        other.contact_count = len(contacts)
        other.live_count = len(live)
        other.live = double_p(live)
        if before is not None:
            other.before_length = before[0]
            for name, array in zip(("q_before", "v_before", "a", "a_before"), before[1]):
                setattr(other, name, double_p(array))
        other.contacts = ctypes.cast(contacts.ctypes.data, ctypes.POINTER(_api.pl_contact))
        with self._core as core:
            core.check(lib.pl_state_copy(self._scene._pointer, other, self._pointer))

    def __repr__(self) -> str:
        if self.closed:
            return "<pliant.State closed>"
        return f"<pliant.State {self._info.vertex_count} vertices, step {self.step}, {self.time:g} s>"
