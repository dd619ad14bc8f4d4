"""Gradients against differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._library import Array, doubles
from ._rollout import WANTED, LossFunction
from ._scene import PARAMETERS, Scene


@dataclass(frozen=True)
class Check:
    """One directional derivative: by the adjoint sweep, and by differences."""

    name: str
    adjoint: float
    difference: float
    uncertainty: float  #: of the difference, as its extrapolation tells

    @property
    def error(self) -> float:
        """Relative to the larger of the two."""
        scale = max(abs(self.adjoint), abs(self.difference))
        return abs(self.adjoint - self.difference) / scale if scale > 0 else 0.0


@dataclass(frozen=True)
class CheckResult:
    """The outcome of pliant.check: one Check for each quantity and direction."""

    checks: tuple[Check, ...]
    loss: float

    @property
    def error(self) -> float:
        """The largest relative error."""
        return max((c.error for c in self.checks), default=0.0)

    def __str__(self) -> str:
        rows = [f"{'':14}{'adjoint':>20}{'difference':>20}{'rel. error':>12}"]
        rows += [f"{c.name:14}{c.adjoint:20.12e}{c.difference:20.12e}{c.error:12.2e}" for c in self.checks]
        return "\n".join(rows)


def _extrapolate(f: Callable[[float], float], step: float, levels: int = 5) -> tuple[float, float]:
    """f'(0) by central differences with halved steps, extrapolated (Ridders), and its uncertainty."""
    table: list[list[float]] = []
    best, spread = float("nan"), float("inf")
    for i in range(levels):
        h = step / 2**i
        row = [(f(h) - f(-h)) / (2 * h)]
        for j in range(i):
            row.append(row[j] + (row[j] - table[i - 1][j]) / (4**(j + 1) - 1))
            error = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - table[i - 1][j]))
            if error < spread:
                best, spread = row[j + 1], error
        table.append(row)
    return best, spread


def _turned(pose: Array, twist: Array) -> Array:
    """Poses [., 7] moved by [., 6]: m of translation, and rad about the world's axes."""
    moved = pose.copy()
    moved[..., :3] += twist[..., :3]
    angle = np.linalg.norm(twist[..., 3:], axis=-1, keepdims=True)
    s = np.sinc(angle / (2 * np.pi)) / 2 * twist[..., 3:]  # sin(angle/2) axis
    c, w, x = np.cos(angle / 2), pose[..., 3:4], pose[..., 4:]
    moved[..., 3:4] = c * w - np.sum(s * x, axis=-1, keepdims=True)
    moved[..., 4:] = c * x + w * s + np.cross(s, x)
    return moved


def check(scene: Scene, loss: LossFunction, steps: Optional[int] = None, *,
          wanted: Optional[Iterable[str]] = None, directions: int = 1, step: float = 1e-3, seed: int = 0,
          tolerance: float = 1e-12, position: Optional[ArrayLike] = None, velocity: Optional[ArrayLike] = None,
          **inputs: ArrayLike) -> CheckResult:
    """Compares the gradient of a loss with finite differences, along random directions.

    loss: loss(step, q, v) -> (value, dq, dv) or None, as in Rollout.backward.
    wanted: names from pliant.WANTED; by default the start, the parameters that are not
    zero, and the inputs given.
    directions: how many for each quantity.
    step: largest difference: relative for parameters, in m, m/s or N otherwise; it is halved and the
    results are extrapolated to zero, which also tells their uncertainty.
    tolerance: of the adjoint systems. position, velocity, inputs: as in Scene.rollout.
    """
    steps = scene.steps if steps is None else steps
    start = scene.state()
    base: dict[str, Array] = {
        "position": start.q.copy() if position is None else doubles(position, start.q.shape, "position"),
        "velocity": start.v.copy() if velocity is None else doubles(velocity, start.v.shape, "velocity"),
        **{name: doubles(value, scene.shape_of(name, steps), name) for name, value in inputs.items()},
        **{name: scene.get(name) for name in PARAMETERS},
    }
    if wanted is None:
        # A parameter that is zero has no room for differences on both sides.
        wanted = [name for name in WANTED if name in base and base[name].size
                  and (name not in PARAMETERS or base[name].any())]
    wanted = list(wanted)
    if "vertex_force" in wanted and "vertex_force" not in base:
        base["vertex_force"] = np.zeros(scene.shape_of("vertex_force", steps))
    for name in wanted:
        if name not in base:
            raise ValueError(f"{name}: give its values to have its gradient checked")

    def value(changes: Mapping[str, Array]) -> float:
        at = {**base, **changes}
        arguments: dict[str, Any] = {name: at[name] for name in at if name not in PARAMETERS}
        with scene._with({name: at[name] for name in PARAMETERS}):
            rollout = scene.rollout(steps, tape=False, **arguments)
        terms = (loss(k, rollout.q[k], rollout.v[k]) for k in range(steps + 1))
        return float(sum(term[0] for term in terms if term is not None))

    driven: dict[str, Any] = {name: base[name] for name in base if name not in PARAMETERS}
    rollout = scene.rollout(steps, **driven)
    gradient = rollout.backward(loss=loss, wanted=wanted, tolerance=tolerance)
    random, checks = np.random.default_rng(seed), []
    for name in wanted:
        for _ in range(directions):
            along = random.standard_normal(gradient[name].shape)
            if name in PARAMETERS:
                along *= base[name]

            def moved(h: float) -> dict[str, Array]:
                if name == "collider_pose":
                    return {name: _turned(base[name], h * along)}
                return {name: base[name] + h * along}

            difference, uncertainty = _extrapolate(lambda h: value(moved(h)), step)
            checks.append(Check(name, float(np.sum(gradient[name] * along)), difference, uncertainty))
    return CheckResult(tuple(checks), gradient.loss)
