"""Many environments of one scene, run and differentiated side by side."""

from __future__ import annotations

import ctypes
import signal
import threading
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api
from ._arrange import arrange
from ._channel import CHANNELS, INPUTS, WANTED, bits
from ._library import (ERRORS, ArgumentError, Array, Core, Error, Handle, Owner, double_p, doubles, fill,
                       instance, integer, lib)
from ._rollout import ADJOINT_WORDS
from ._scene import Scene
from ._state import State, pair_forces_over_time, told_contacts


class _Interrupts:
    """Ctrl-C during a call into C, which asks after every step whether to go on."""

    seen = False

    def __call__(self, *_: Any) -> bool:
        return not self.seen

    def _note(self, *_: Any) -> None:
        self.seen = True

    @contextmanager
    def watched(self) -> Iterator[None]:
        ours = (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        if ours:
            signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.seen:
            raise KeyboardInterrupt


def _failures(pool: Any, environments: int) -> dict[int, Error]:
    """What the last call says of the environments that it failed for."""
    found, message = {}, ctypes.c_char_p()
    for e in range(environments):
        status = lib.pl_batch_status(pool, e, message)
        if status != _api.PL_OK:
            found[e] = ERRORS.get(status, Error)((message.value or b"").decode("utf-8", "replace"))
    return found


def _conclude(core: Core, pool: Any, environments: int, status: int, keep: bool) -> dict[int, Error]:
    """The failures of a call, if there may be any; otherwise they are raised."""
    if status == _api.PL_OK:
        return {}
    failures = _failures(pool, environments)
    if keep and failures:
        return failures
    try:
        core.check(status)
    except Error as error:
        error.failures = failures  # type: ignore[attr-defined]
        raise
    return failures


def _index(environment: int, count: int) -> int:
    e = integer(environment, "environment")
    if not 0 <= e < count:
        raise IndexError(f"environment = {e}: the batch has {count}")
    return e


class Rollouts(Owner):
    """A run of all environments of a batch, made by Batch.run.

    q, v: [environments, steps + 1, n, 3] m and m/s; row 0 is the start. None with record=False. NaN where an
    environment did not come to.
    info: [environments, steps] array with the fields of StepInfo.
    failures: what went wrong, by environment: {} if nothing did.

    Rollouts can be copied and pickled. What they recorded goes along; the tapes do not, so a copy has no
    contacts and no derivatives.
    """

    _what = "rollouts"
    _copied = False

    def __init__(self, scene: Scene, pool: Handle, environments: int, steps: int, tape: bool, record: bool,
                 memory_budget: int, keep_going: bool, inputs: Mapping[str, Array]):
        n = scene.vertex_count
        self.scene, self.environments, self.steps, self.tape = scene, environments, steps, tape
        self._pool, self._inputs = pool, dict(inputs)
        self.q: Any = np.full((environments, steps + 1, n, 3), np.nan) if record else None
        self.v: Any = np.full((environments, steps + 1, n, 3), np.nan) if record else None
        self.info: NDArray[Any] = np.zeros((environments, steps), np.dtype(_api.pl_step_info))
        d, out, going_on = lib.pl_batch_run_def_default(), ctypes.POINTER(_api.pl_rollouts)(), _Interrupts()
        d.steps, d.memory_budget = steps, integer(memory_budget, "memory_budget", ctypes.c_size_t)
        d.q, d.v = double_p(self.q), double_p(self.v)
        d.info = ctypes.cast(self.info.ctypes.data, ctypes.POINTER(_api.pl_step_info))
        d.progress = _api.pl_batch_progress_fn(going_on)
        for name, array in inputs.items():
            own = len(scene.shape_of(name, steps))
            d.inputs.of[CHANNELS[name].index] = double_p(array)
            d.inputs_for[CHANNELS[name].index] = environments if array.ndim > own else 1
        with going_on.watched():
            status = lib.pl_batch_run(pool.pointer, d, out if tape else None)
            self._own(scene._context._make(out, lib.pl_rollouts_destroy, pool) if out else pool)
        self.failures = _conclude(scene._core, pool.pointer, environments, status, keep_going)

    @property
    def bytes(self) -> int:
        """Size of the tapes."""
        if not self.tape:
            return 0
        with self._core:
            return lib.pl_rollouts_bytes(self._pointer)

    def contacts(self, environment: int, step: int) -> NDArray[Any]:
        """The contacts of an environment after `step` steps, from its tape: an array as State.contacts."""
        pointer = self._tapes("contacts")
        e, step = _index(environment, self.environments), integer(step, "step")
        return told_contacts(self.scene._context, lambda count, found: lib.pl_rollouts_contacts(
            pointer, e, step, count, found))

    def pair_forces(self, environment: int) -> dict[tuple[str, str], dict[str, Array]]:
        """Contact forces of an environment over time, from its tape, as Rollout.pair_forces."""
        return pair_forces_over_time(self.scene, self.steps, lambda step: self.contacts(environment, step))

    def backward(self, dq: Optional[ArrayLike] = None, dv: Optional[ArrayLike] = None, *,
                 wanted: Optional[Iterable[str]] = None, solver: Optional[str] = None,
                 preconditioner: Optional[str] = None, tolerance: Optional[float] = None,
                 max_iterations: Optional[int] = None) -> dict[str, Array]:
        """One reverse sweep of each: gradients of a loss by name, [environments, *shape] with Scene.shape_of.

        dq, dv: the loss's derivatives by q and v, [environments, steps + 1, n, 3].
        wanted: names from pliant.WANTED; by default all that the scene has.
        Gradients of environments that failed in the run are NaN; one that fails here is raised.
        The others are as in Rollout.backward.
        """
        pointer, scene = self._tapes(), self.scene
        shape = (self.environments, self.steps + 1, scene.vertex_count, 3)
        given = [None if d is None else doubles(d, shape, name) for name, d in (("dq", dq), ("dv", dv))]
        if given[0] is None and given[1] is None:
            raise TypeError("backward: give dq, dv or both")
        if isinstance(wanted, str):
            wanted = (wanted,)
        names = tuple(name for name in WANTED if scene._rows[name]) if wanted is None else tuple(wanted)
        definition = self._definition(solver, preconditioner, tolerance, max_iterations)
        gradient, found = self._room(names)
        with scene._core as core:
            status = lib.pl_rollouts_pull(pointer, definition, double_p(given[0]), double_p(given[1]), gradient,
                                          None)
            for e in self._check_sweep(core, status):
                for array in found.values():
                    array[e] = np.nan
        return found

    def _tapes(self, what: str = "derivatives") -> Any:
        if self._copied:
            raise ArgumentError(f"the rollouts are a copy, and tapes do not go along: take {what} of those that the "
                                "batch made, or run it again")
        if not self.tape:
            raise ArgumentError("the rollouts were run without a tape")
        return self._pointer

    @staticmethod
    def _definition(solver: Optional[str], preconditioner: Optional[str], tolerance: Optional[float],
                    max_iterations: Optional[int]) -> Any:
        definition = lib.pl_adjoint_def_default()
        fill(definition, ADJOINT_WORDS, solver=solver, preconditioner=preconditioner, tolerance=tolerance,
             max_iterations=max_iterations)
        return definition

    def _room(self, names: Sequence[str]) -> tuple[Any, dict[str, Array]]:
        """A pl_gradient of all environments, over arrays of zeros by name."""
        gradient, arrays = _api.pl_gradient(wanted=bits(names), steps=self.steps), {}
        for name in names:
            c, own = CHANNELS[name], self.scene.shape_of(name, self.steps)
            if c.gradient_width != c.width:
                own = (*own[:-1], c.gradient_width)
            arrays[name] = np.zeros((self.environments, *own))
            gradient.of[c.index] = double_p(arrays[name])
        return gradient, arrays

    def _check_sweep(self, core: Core, status: int) -> Iterable[int]:
        """The environments without a tape; what else failed in a sweep is raised."""
        failed = _conclude(core, self._pool.pointer, self.environments, status, True)
        for e, error in failed.items():
            if e not in self.failures:
                raise type(error)(f"environment {e}: {error}")
        return failed

    def tangent(self, direction: Mapping[str, ArrayLike], *, solver: Optional[str] = None,
                preconditioner: Optional[str] = None, tolerance: Optional[float] = None,
                max_iterations: Optional[int] = None) -> tuple[Array, Array]:
        """One forward sweep of each: dq, dv [environments, steps + 1, n, 3], the states' derivatives along a
        direction; NaN of environments that failed in the run.

        direction: name -> array, named and shaped as what backward returns.
        """
        pointer, names = self._tapes(), tuple(direction)
        definition = self._definition(solver, preconditioner, tolerance, max_iterations)
        along, arrays = self._room(names)
        for name, value in direction.items():
            arrays[name][...] = doubles(value, arrays[name].shape, name)
        shape = (self.environments, self.steps + 1, self.scene.vertex_count, 3)
        dq, dv = np.full(shape, np.nan), np.full(shape, np.nan)
        with self.scene._core as core:
            status = lib.pl_rollouts_tangent(pointer, definition, along, double_p(dq), double_p(dv), None)
            self._check_sweep(core, status)
        return dq, dv

    def __reduce__(self) -> Any:
        self._pointer  # they are not closed
        return self._restore, (self.scene, self.environments, self.steps, self.q, self.v, self.info, self.failures)

    @classmethod
    def _restore(cls, scene: Scene, environments: int, steps: int, q: Any, v: Any, info: NDArray[Any],
                 failures: dict[int, Error]) -> Rollouts:
        made = cls.__new__(cls)
        made.scene, made.environments, made.steps, made.tape, made._copied = scene, environments, steps, False, True
        made.q, made.v, made.info, made.failures = q, v, info, failures
        made._own(scene._handle)
        return made

    def __repr__(self) -> str:
        return f"<pliant.Rollouts {self.environments} environments, {self.steps} steps>"


def start_run(scene: Scene, pool: Handle, environments: int, steps: int, given: Mapping[str, Array], tape: bool,
              record: bool = True, memory_budget: int = 0, keep_going: bool = False) -> Rollouts:
    """Sets what is given, [environments, *shape] or for all alike [*shape], and runs; the caller has the turn."""
    for name, array in given.items():
        if name not in INPUTS:
            rows = environments if array.ndim > len(scene.shape_of(name)) else 1
            scene._core.check(lib.pl_batch_set(pool.pointer, CHANNELS[name].index, rows, double_p(array)))
    return Rollouts(scene, pool, environments, steps, tape, record, memory_budget, keep_going,
                    {name: array for name, array in given.items() if name in INPUTS})


class Batch(Owner):
    """Many environments of one scene: each has parameters and a state of its own, all share the rest.

    A pool of workers, one thread each, takes them one after the other. Results are those of the environments
    alone, bit for bit, whatever the number of workers. One that fails leaves the others unharmed.

    environments: how many.
    workers: at the same time; by default as many as the context has threads.

    They begin with the scene's parameters, at its start. While a batch is open its scene gets no new parts.
    """

    _what = "batch"

    def __init__(self, scene: Scene, environments: int, *, workers: int = 0):
        self.scene = instance(scene, Scene, "scene")
        self.environments = integer(environments, "environments")
        with scene._core:
            self._own(scene._make_batch(self.environments, integer(workers, "workers")))

    @property
    def workers(self) -> int:
        """How many there are."""
        with self._core:
            return lib.pl_batch_workers(self._pointer)

    def _arranged(self, given: Mapping[str, ArrayLike], steps: int, function: Any) -> dict[str, Array]:
        """Arrays [environments, *shape], or [*shape] of what is the same for all."""
        arrays = {name: np.asarray(value) for name, value in given.items() if value is not None}
        _, shapes = arrange(self.scene, steps, {name: a.shape for name, a in arrays.items()}, function,
                            (self.environments,))
        found = {}
        for name, (view, shape) in shapes.items():
            own = self.scene.shape_of(name, steps)
            alike = len(view) <= len(own)
            found[name] = doubles(arrays[name].reshape(view), own if alike else shape, name)
        return found

    def set(self, **given: ArrayLike) -> None:
        """Parameters, and position or velocity of the present states: [environments, *shape] with Scene.shape_of,
        one number for each environment, or the same for all."""
        for name in given:
            if name in INPUTS:
                raise ArgumentError(f"{name}: inputs are given to run")
        with self._core as core:
            for name, array in self._arranged(given, 1, self.set).items():
                rows = self.environments if array.ndim > len(self.scene.shape_of(name)) else 1
                core.check(lib.pl_batch_set(self._pointer, CHANNELS[name].index, rows, double_p(array)))

    def reset(self, environment: Optional[int] = None) -> None:
        """An environment (by default all) as it was made: with the scene's present parameters, at its start."""
        which = -1 if environment is None else _index(environment, self.environments)
        with self._core as core:
            core.check(lib.pl_batch_reset(self._pointer, which))

    def state(self, environment: int) -> State:
        """A copy of an environment's state."""
        e, made = _index(environment, self.environments), self.scene.state()
        with self._core as core:
            core.check(lib.pl_state_copy(self.scene._pointer, lib.pl_batch_state(self._pointer, e),
                                         made._pointer))
        return made

    def set_state(self, state: State, environment: Optional[int] = None) -> None:
        """Gives an environment (by default all) a copy of a state."""
        chosen = range(self.environments) if environment is None else [_index(environment, self.environments)]
        with self._core as core:
            for e in chosen:
                core.check(lib.pl_state_copy(self.scene._pointer, self.scene._state(state),
                                             lib.pl_batch_state(self._pointer, e)))

    def _vertices(self, field: str) -> Array:
        n = self.scene.vertex_count
        with self._core:
            return np.stack([np.ctypeslib.as_array(
                getattr(lib.pl_batch_state(self._pointer, e).contents, field), (n, 3))
                for e in range(self.environments)])

    @property
    def q(self) -> Array:
        """Positions [environments, n, 3] m, copied."""
        return self._vertices("q")

    @property
    def v(self) -> Array:
        """Velocities [environments, n, 3] m/s, copied."""
        return self._vertices("v")

    def run(self, steps: Optional[int] = None, *, tape: bool = True, record: bool = True, memory_budget: int = 0,
            keep_going: bool = False, **given: ArrayLike) -> Rollouts:
        """Advances all environments from where they are: the first run from the scene's start, later ones from where
        the last one ended, unless reset or set_state comes between.

        steps: how many; by default as the scene's file says.
        tape: keep what gradients need. record: keep q and v of every step.
        memory_budget: bytes for the tapes of all together, 0 = no limit; beyond it, steps are computed again.
        keep_going: tell of environments that fail in Rollouts.failures; otherwise the first one's error is raised,
        with all of them in its attribute `failures`. The others are advanced either way.
        given, by the names in pliant.WANTED: [environments, *shape] with Scene.shape_of, or what broadcasts to it;
        of a parameter also one number for each environment. Parameters stay for later runs, as with set.
        """
        count = integer(self.scene.steps if steps is None else steps, "steps")
        if count < 1:
            raise ArgumentError(f"steps = {count}: expected an integer >= 1")
        arrays = self._arranged(given, count, self.run)
        with self._core:
            self._pointer
            return start_run(self.scene, self._handle, self.environments, count, arrays, tape, record,
                             memory_budget, keep_going)

    def __repr__(self) -> str:
        return f"<pliant.Batch {'closed' if self.closed else f'{self.environments} environments'}>"
