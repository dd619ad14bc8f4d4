"""Rollouts and their derivatives."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Mapping as MappingBase
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api
from ._channel import CHANNELS, INPUTS, PARAMETERS, WANTED, bits, check_keywords
from ._library import (ArgumentError, Array, Core, Handle, Owner, PathLike, double_p, doubles, fill, function_or_none,
                       integer, lib, view)
from ._mesh import plain
from ._scene import Scene
from ._state import State, StepInfo, pair_forces_over_time, told_contacts

ADJOINT_SOLVERS = ("auto", "direct", "krylov", "semi_implicit")
PRECONDITIONERS = ("none", "jacobi", "inverse", "woodbury", "lagged")
ADJOINT_WORDS = {"solver": ("PL_ADJOINT_", ADJOINT_SOLVERS),
                 "preconditioner": ("PL_PRECONDITION_", PRECONDITIONERS)}

LossTerm = tuple[float, Optional[ArrayLike], Optional[ArrayLike]]
LossFunction = Callable[[int, Array, Array], Optional[LossTerm]]
Rows = Union[ArrayLike, Mapping[int, ArrayLike]]


@dataclass(frozen=True)
class AdjointInfo:
    """What a reverse or forward sweep took."""

    loss: float
    iterations: int  #: linear iterations of all steps
    max_iterations: int  #: in the worst step
    factorizations: int
    residual: float  #: largest relative one
    error: float  #: largest estimate of the relative error of a step's adjoint state, by the default solver
    recomputed: int  #: steps run again because the tape was limited
    milliseconds: float


_NO_CONTEXT = Core()  # of copies that are arrays alone


class Gradient(Owner, MappingBase):  # type: ignore[type-arg]
    """Derivatives of a loss by the names in pliant.WANTED, as attributes and as a mapping. Arrays are views.

    They are shaped as Scene.shape_of tells: position, velocity [n, 3] at the start; inputs with a row for
    every step, force [steps, force_count, 3]; parameters young [element_count], friction
    [collider_count, body_count]. collider_pose alone differs: [steps, collider_count, 6] per m of
    translation and per rad about the world's axes through the collider's position.

    loss: the loss's value; info: what the sweep took.

    A gradient can be copied and pickled: a copy's arrays are its own.
    """

    _what = "gradient"

    info: AdjointInfo
    loss: float

    def __init__(self, scene: Scene, steps: int, wanted: Iterable[str]):
        self._wanted = tuple(wanted)
        mask = bits(self._wanted)
        out = ctypes.POINTER(_api.pl_gradient)()
        with scene._core as core:
            owner = scene._pointer
            core.check(lib.pl_gradient_create(owner, steps, mask, out))
            self._own(scene._context._make(out, lambda g: lib.pl_gradient_destroy(owner, g), scene._handle))
        self._arrays: dict[str, Array] = {}
        for name in self._wanted:
            c, shape = CHANNELS[name], scene.shape_of(name, steps)
            if c.gradient_width != c.width:
                shape = (*shape[:-1], c.gradient_width)
            self._arrays[name] = view(self._handle, out.contents.of[c.index], shape)

    def __getattr__(self, name: str) -> Array:
        if name in WANTED:
            self._pointer
            if name in self._arrays:
                return self._arrays[name]
            raise AttributeError(f"the gradient of {name} was not asked for")
        raise AttributeError(name)

    def __getitem__(self, name: str) -> Array:
        self._pointer
        return self._arrays[name]

    def __reduce__(self) -> Any:
        self._pointer
        return self._restore, ({name: array.copy() for name, array in self._arrays.items()},
                               {name: vars(self)[name] for name in ("info", "loss") if name in vars(self)})

    @classmethod
    def _restore(cls, arrays: dict[str, Array], about: dict[str, Any]) -> Gradient:
        made = cls.__new__(cls)
        made._wanted, made._arrays = tuple(arrays), arrays
        vars(made).update(about)
        made._own(Handle(_NO_CONTEXT, None, lambda _: None))
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._wanted]

    def __iter__(self) -> Iterator[str]:
        return iter(self._wanted)

    def __len__(self) -> int:
        return len(self._wanted)


class _Callback:
    """Python functions called from C, where no exception may pass: it is kept until the call is over.

    An interrupt would strike before a callback's first line, outside of any `try`. While the call lasts,
    it is only noted, and raised inside the next callback.
    """

    def __init__(self) -> None:
        self.error: Optional[BaseException] = None
        self._inside = self._interrupted = False

    def guard(self, function: Callable[..., Optional[bool]]) -> Callable[..., bool]:
        def guarded(*arguments: Any) -> bool:
            try:
                self._inside = True
                if self._interrupted:
                    raise KeyboardInterrupt
                return function(*arguments) is not False
            except BaseException as error:
                self._inside = False
                self.error = error
                return False
            finally:
                self._inside = False
        return guarded

    def _on_interrupt(self, *_: Any) -> None:
        self._interrupted = True
        if self._inside:
            raise KeyboardInterrupt

    def call(self, core: Any, function: Callable[..., int], *arguments: Any) -> None:
        """Calls into C, and raises what a callback raised, or what the library says."""
        ours = (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        if ours:
            signal.signal(signal.SIGINT, self._on_interrupt)
        try:
            status = function(*arguments)
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._interrupted and self.error is None:
            raise KeyboardInterrupt
        if self.error is not None:
            raise self.error
        core.check(status)


def _borrowed(pointer: Any, n: int) -> Array:
    """[n, 3] doubles that are valid during a callback."""
    return np.ctypeslib.as_array(pointer, (n, 3))


def _term(loss: LossFunction, n: int) -> Callable[..., bool]:
    """A loss as the library calls it: pl_loss_fn."""
    def term(_user: Any, step: int, q: Any, v: Any, value: Any, out_q: Any, out_v: Any) -> bool:
        found = loss(step, _borrowed(q, n), _borrowed(v, n))
        if found is None:
            return True
        amount, add_q, add_v = found
        value[0] += float(amount)
        for out, add, name in ((out_q, add_q, "dq"), (out_v, add_v, "dv")):
            if add is not None:
                place = _borrowed(out, n)
                place += doubles(add, (n, 3), name)
        return True
    return term


class Rollout(Owner):
    """A simulation of some steps, made by Scene.rollout.

    q, v: [steps + 1, n, 3] m and m/s; row 0 is the start. None with record=False.
    info: [steps] array with the fields of StepInfo.
    state: the State at the end.
    steps: how many. tape: whether it was kept.

    A rollout can be copied and pickled. What it recorded goes along; the tape does not: a copy makes its own, by running again,
    when it is first asked for something from it.
    """

    _what = "rollout"
    _remade = True  # there is a C object, not only what was recorded

    def __init__(self, scene: Scene, steps: int, state: Optional[State],
                 given: Mapping[str, Optional[ArrayLike]], tape: bool, record: bool, memory_budget: int,
                 progress: Optional[Callable[[int, StepInfo], Optional[bool]]]):
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise ArgumentError(f"steps = {steps!r}: expected an integer >= 1")
        steps = integer(steps, "steps")
        check_keywords(given, WANTED, scene.rollout)
        function_or_none(progress, "progress")
        d = lib.pl_rollout_def_default()
        d.steps, d.tape = steps, tape
        d.memory_budget = integer(memory_budget, "memory_budget", ctypes.c_size_t)
        n, here = scene.vertex_count, {name: value for name, value in given.items() if value is not None}
        self._inputs = scene._inputs(d.inputs, {name: here[name] for name in INPUTS if name in here}, steps)
        parameters = {name: doubles(here[name], scene.shape_of(name), name) for name in PARAMETERS
                      if name in here}
        self.scene, self.steps, self.tape = scene, steps, tape
        self.state = scene.state() if state is None else scene.copy(state)
        for name, place in (("position", self.state.q), ("velocity", self.state.v)):
            if name in here:
                place[...] = doubles(here[name], place.shape, name)
        self._begun = (self.state.__copy__(), {**self._inputs, **parameters}, d.memory_budget, scene._changes)
        self.q: Any = None
        self.v: Any = None
        self.info: NDArray[Any] = np.zeros(steps, np.dtype(_api.pl_step_info))
        if record:
            self.q, self.v = np.empty((steps + 1, n, 3)), np.empty((steps + 1, n, 3))
            self.q[0], self.v[0] = self.state.q, self.state.v
        with scene._core:
            self._layout = scene._layout
            if not parameters:
                self._run(d, progress)
                return
            with scene._parameters(parameters) as d.params:
                self._run(d, progress)

    def _run(self, d: Any, progress: Optional[Callable[[int, StepInfo], Optional[bool]]]) -> None:
        scene, callback = self.scene, _Callback()
        q, v, infos, record = self.q, self.v, self.info, self.q is not None
        q_now, v_now, size = self.state.q, self.state.v, ctypes.sizeof(_api.pl_step_info)

        def after_step(_user: Any, step: int, _state: Any, info: Any) -> Optional[bool]:
            ctypes.memmove(infos[step - 1:].ctypes.data, info, size)
            if record:
                q[step], v[step] = q_now, v_now
            return progress(step, StepInfo(**plain(info.contents))) if progress is not None else True

        d.progress = _api.pl_progress_fn(callback.guard(after_step))
        out = ctypes.POINTER(_api.pl_rollout)()
        with scene._core as core:
            sim = scene._sim()
            sim.hold()  # the callback may close the scene
            try:
                callback.call(core, lib.pl_rollout_run, sim.pointer, scene._state(self.state), d, out)
                self._own(scene._context._make(out, lib.pl_rollout_destroy, sim))
                self._sim = sim
            finally:
                sim.drop()

    @property
    def _pointer(self) -> Any:
        if not self._remade and not self.closed:
            self._run_again()
        return super()._pointer

    def _check_unchanged(self) -> None:
        """It can be run again only as it was run."""
        if self._begun[3] != self.scene._changes:
            raise ArgumentError("rollout: the scene's parameters or parts were changed since it was made: copy it, and "
                                "ask a copy for derivatives, before")

    def _run_again(self) -> None:
        start, given, budget, _ = self._begun
        self._check_unchanged()
        with self._core:
            twin = Rollout(self.scene, self.steps, start, given, self.tape, False, budget, None)
            self._remade, self._inputs, self._sim, self._layout = True, twin._inputs, twin._sim, twin._layout
            self._finalizer()
            self._own(twin._handle)

    def __reduce__(self) -> Any:
        super()._pointer  # it is not closed
        self._check_unchanged()
        return self._restore, (self.scene, self.steps, self.tape, self._begun[:3], self.state, self.q, self.v, self.info)

    @classmethod
    def _restore(cls, scene: Scene, steps: int, tape: bool, begun: Any, state: State, q: Any, v: Any,
                 info: NDArray[Any]) -> Rollout:
        made = cls.__new__(cls)
        made.scene, made.steps, made.tape, made.state, made.q, made.v, made.info = (
            scene, steps, tape, state, q, v, info)
        made._begun, made._remade, made._layout = (*begun, scene._changes), False, scene._layout
        made._own(scene._handle)
        return made

    @property
    def bytes(self) -> int:
        """Size of the tape."""
        with self._core:
            return lib.pl_rollout_bytes(self._pointer)

    @property
    def time(self) -> Array:
        """[steps + 1] s"""
        return np.asarray(self.state.time + self.scene.time_step * np.arange(-self.steps, 1), np.float64)

    def at(self, step: int) -> tuple[Array, Array]:
        """Positions and velocities [n, 3] after `step` steps, from the tape (record=False)."""
        n, step = self.scene.vertex_count, integer(step, "step")
        q, v = np.empty((n, 3)), np.empty((n, 3))
        with self._core:
            self._core.check(lib.pl_rollout_state(self._pointer, step, double_p(q), double_p(v)))
        return q, v

    def contacts(self, step: int) -> NDArray[Any]:
        """The contacts after `step` steps, from the tape: an array as State.contacts."""
        step = integer(step, "step")
        self._ready()
        return told_contacts(self.scene._context, lambda count, found: lib.pl_rollout_contacts(
            self._pointer, step, count, found))

    def pair_forces(self) -> dict[tuple[str, str], dict[str, Array]]:
        """Contact forces over time from the tape: a dict by pair of names, (body, other body) or (body, collider),
        of those that touch at some step. (State.pair_forces, of one step, is a list of PairForce.)

        Of each a dict of the arrays "pressing" [steps + 1], "normal" and "friction" [steps + 1, 3], N on the
        first of the two, the body added earlier: 0 where they do not touch, and at the start. As in PairForce.
        Parts of one name cannot be told apart: ArgumentError.
        """
        return pair_forces_over_time(self.scene, self.steps, self.contacts)

    def save(self, directory: PathLike, *, every: Optional[int] = None, volume: Optional[bool] = None,
             surface: Optional[bool] = None, colliders: Optional[bool] = None,
             replace: Optional[bool] = None) -> None:
        """Writes what `pliant run --out` does: VTU files for ParaView and a summary. Needs the tape.

        every: so many steps (1). volume, surface, colliders: elements with stress and energy, boundary
        triangles with contact forces, obstacles (all of them).
        replace: an earlier output in that place (False). The directory appears whole or not at all.
        """
        self._ready()
        d = lib.pl_output_def_default()
        fill(d, {}, directory=os.fspath(directory), every=every, volume=volume, surface=surface,
             colliders=colliders, replace=replace, scene=self.scene.name or None)
        output = ctypes.POINTER(_api.pl_output)()
        infos = ctypes.cast(self.info.ctypes.data, ctypes.POINTER(_api.pl_step_info))
        with self.scene._core as core:
            core.check(lib.pl_output_create(self._sim.pointer, d, output))
            try:
                core.check(lib.pl_output_rollout(output, self._pointer, infos))
                core.check(lib.pl_output_finish(output, _api.PL_OK))
            finally:
                lib.pl_output_destroy(output)

    # --- derivatives

    def _ready(self) -> None:
        self._pointer
        if self.scene._layout != self._layout:
            raise ArgumentError("rollout: the scene got new parts since it was made")

    def _terms(self, dq: Optional[Rows], dv: Optional[Rows]) -> LossFunction:
        """The loss whose derivatives are the given rows: its value is not known, and 0."""
        n = self.scene.vertex_count
        given: list[Callable[[int], Optional[Array]]] = []
        for name, rows in (("dq", dq), ("dv", dv)):
            if isinstance(rows, MappingBase):
                if not set(rows) <= set(range(self.steps + 1)):
                    raise ValueError(f"{name}: the rollout has steps 0 to {self.steps}")
                given.append({k: doubles(row, (n, 3), f"{name}[{k}]") for k, row in rows.items()}.get)
            elif rows is not None:
                given.append(doubles(rows, (self.steps + 1, n, 3), name).__getitem__)
            else:
                given.append(lambda step: None)
        return lambda step, q, v: (0.0, given[0](step), given[1](step))

    def backward(self, dq: Optional[Rows] = None, dv: Optional[Rows] = None, *,
                 loss: Optional[LossFunction] = None, wanted: Optional[Iterable[str]] = None,
                 solver: Optional[str] = None, preconditioner: Optional[str] = None,
                 tolerance: Optional[float] = None, max_iterations: Optional[int] = None) -> Gradient:
        """One reverse sweep: the gradient of a loss of the states.

        dq, dv: the loss's derivatives by q and v, [steps + 1, n, 3], or {step: [n, 3]}.
        loss: instead, a function loss(step, q, v) -> (value, dq, dv) of each step's term, or None for
        steps without one; dq and dv are [n, 3] or None. It is called for steps T, T-1, ..., 0.
        wanted: names from pliant.WANTED; by default all that the scene has.
        solver: "auto" (the default), "direct", "krylov" or "semi_implicit", with preconditioner, tolerance
        (relative residual, 1e-8) and max_iterations (500) of "krylov".
        """
        self._ready()
        if (loss is None) == (dq is None and dv is None):
            raise TypeError("backward: give either dq and dv, or loss")
        function_or_none(loss, "loss")
        function = loss if loss is not None else self._terms(dq, dv)
        if isinstance(wanted, str):
            wanted = (wanted,)
        if wanted is None:
            wanted = [name for name in WANTED if 0 not in self.scene.shape_of(name)]
        gradient, callback = Gradient(self.scene, self.steps, wanted), _Callback()
        term = _term(function, self.scene.vertex_count)
        info = _api.pl_adjoint_info()
        definition = lib.pl_adjoint_def_default()
        fill(definition, ADJOINT_WORDS, solver=solver, preconditioner=preconditioner, tolerance=tolerance,
             max_iterations=max_iterations)
        with self._core:
            callback.call(self._core, lib.pl_rollout_backward, self._pointer, definition,
                          _api.pl_loss_fn(callback.guard(term)), None, gradient._pointer, info)
        gradient.info, gradient.loss = AdjointInfo(**plain(info)), info.loss
        return gradient

    def tangent(self, direction: Mapping[str, ArrayLike], *, solver: Optional[str] = None,
                preconditioner: Optional[str] = None, tolerance: Optional[float] = None,
                max_iterations: Optional[int] = None) -> tuple[Array, Array]:
        """One forward sweep: dq, dv [steps + 1, n, 3], the states' derivatives along a direction.

        direction: name -> array, named and shaped as in Gradient.
        """
        self._ready()
        if not isinstance(direction, MappingBase):
            raise TypeError(f"direction: expected a dict, got {type(direction).__name__}")
        along, n, callback = Gradient(self.scene, self.steps, direction), self.scene.vertex_count, _Callback()
        for name, value in direction.items():
            along[name][...] = doubles(value, along[name].shape, name)
        dq, dv = np.empty((self.steps + 1, n, 3)), np.empty((self.steps + 1, n, 3))

        def visit(_user: Any, step: int, _q: Any, _v: Any, q_now: Any, v_now: Any) -> None:
            dq[step], dv[step] = _borrowed(q_now, n), _borrowed(v_now, n)

        definition = lib.pl_adjoint_def_default()
        fill(definition, ADJOINT_WORDS, solver=solver, preconditioner=preconditioner, tolerance=tolerance,
             max_iterations=max_iterations)
        with self._core:
            callback.call(self._core, lib.pl_rollout_tangent, self._pointer, definition, along._pointer,
                          _api.pl_tangent_fn(callback.guard(visit)), None, None)
        return dq, dv

    def __repr__(self) -> str:
        return f"<pliant.Rollout {'closed' if self.closed else f'{self.steps} steps'}>"
