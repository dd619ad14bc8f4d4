"""Gradients against differences."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Iterable, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import _api
from ._channel import INPUTS, WANTED, bits, check_keywords
from ._library import ArgumentError, Array, fill, function_or_none, instance, lib
from ._rollout import LossFunction, LossTerm, _Callback, _term
from ._scene import Scene
from ._state import State

VERDICTS = ("passed", "unresolved", "failed")


@dataclass(frozen=True)
class Check:
    """The derivative along one direction, found in three ways."""

    name: str  #: of what is moved: "friction"
    along_gradient: bool  #: the direction is the gradient itself, not a random one
    adjoint: float
    tangent: float
    difference: float
    uncertainty: float  #: of the difference
    error: float  #: of the adjoint against the difference, relative
    sweep_error: float  #: of the adjoint against the tangent, relative
    step: float  #: of the difference that counts
    verdict: str  #: "passed", "failed", or "unresolved" when the differences are no better than the error


@dataclass(frozen=True)
class CheckResult:
    """The outcome of pliant.check: a Check for each quantity and direction."""

    checks: tuple[Check, ...]
    loss: float
    error: float  #: the largest of those resolved
    sweep_error: float  #: the largest

    @property
    def ok(self) -> bool:
        """Whether none failed."""
        return all(c.verdict != "failed" for c in self.checks)

    def __str__(self) -> str:
        rows = [f"{'':14}{'adjoint':>20}{'tangent':>20}{'difference':>20}{'rel. error':>12}"]
        rows += [f"{c.name:14}{c.adjoint:20.12e}{c.tangent:20.12e}{c.difference:20.12e}{c.error:12.2e}"
                 f"  {c.verdict}" for c in self.checks]
        return "\n".join(rows)


class _Watched:
    """A loss, and whether it had a term at any step, and one that is not without derivatives."""

    terms = slopes = False

    def __init__(self, loss: LossFunction) -> None:
        self._loss = loss

    def __call__(self, step: int, q: Array, v: Array) -> Optional[LossTerm]:
        found = self._loss(step, q, v)
        if found is not None:
            _, dq, dv = found
            self.terms = True
            self.slopes = self.slopes or any(d is not None and bool(np.any(d)) for d in (dq, dv))
        return found


def check(scene: Scene, loss: LossFunction, steps: Optional[int] = None, state: Optional[State] = None, *,
          wanted: Optional[Iterable[str]] = None, directions: Optional[int] = None,
          step: Optional[float] = None, tolerance: Optional[float] = None, seed: Optional[int] = None,
          **inputs: ArrayLike) -> CheckResult:
    """Compares the gradient of a loss with the tangent sweep and with finite differences of rollouts.

    loss: loss(step, q, v) -> (value, dq, dv) or None, as in Rollout.backward. One that depends on nothing, as
    with None at all steps, is an ArgumentError: whatever the gradients are, it would pass.
    state: where to start; the scene's start by default.
    wanted: names from pliant.WANTED; by default all that the scene has. A name of what it lacks is an ArgumentError.
    directions: random ones for each quantity (2); one along the gradient is added. seed: of these (1).
    step: the largest difference, relative to the quantity's size (1e-3); smaller ones follow.
    tolerance: relative error that passes (1e-5).
    inputs: as in Scene.rollout.
    """
    instance(scene, Scene, "scene")
    function_or_none(loss, "loss")
    steps = scene.steps if steps is None else steps
    check_keywords(inputs, INPUTS, check)
    start, callback, watched = state if state is not None else scene.state(), _Callback(), _Watched(loss)
    d = lib.pl_check_def_default()
    fill(d, {}, steps=steps, directions=directions, seed=seed, step=step, tolerance=tolerance)
    names = None if wanted is None else (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if names is not None:
        d.wanted = bits(names)
    keep = scene._inputs(d.inputs, inputs, steps)
    d.loss = _api.pl_loss_fn(callback.guard(_term(watched, scene.vertex_count)))
    out = ctypes.POINTER(_api.pl_check_result)()
    with scene._core as core:
        context = scene._context._pointer
        try:
            callback.call(core, lib.pl_check, scene._sim().pointer, scene._state(start), d, out)
            found = out.contents
            rows = tuple(Check(WANTED[r.channel], r.along_gradient, r.adjoint, r.tangent, r.difference,
                               r.uncertainty, r.error, r.sweep_error, r.step, VERDICTS[r.verdict])
                         for r in found.rows[:found.row_count])
            missing = set(names or ()) - {row.name for row in rows}
            if missing:
                raise ArgumentError(f"wanted: the scene has no {', no '.join(sorted(missing))} to check")
            if not watched.terms:
                raise ArgumentError(f"loss: it is None at all steps, 0 to {steps}: there is nothing to check")
            if not watched.slopes and all(row.difference == 0 for row in rows):
                raise ArgumentError("loss: it depends on nothing, dq and dv are None or 0 at all steps: there is nothing to "
                                    "check")
            return CheckResult(rows, found.loss, found.worst_error, found.worst_sweep_error)
        finally:
            lib.pl_check_destroy(context, out)
