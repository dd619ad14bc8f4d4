"""One scene simulated for a batch of starts, inputs and parameters: what PyTorch and JAX share.

Arrays are named as in pliant.WANTED and shaped [*batch, *shape], with the shape Scene.shape_of tells.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ._channel import PARAMETERS, WANTED, check_keywords
from ._library import Array, fits
from ._rollout import Rollout
from ._scene import Scene


Arranged = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def arrange(scene: Scene, steps: int, given: Mapping[str, Sequence[int]],
            function: Callable[..., Any]) -> tuple[tuple[int, ...], Arranged]:
    """The batch's shape, and for every argument the shape to view it by and the one to broadcast that to.

    Dimensions before an argument's own are the batch's, shared by all. A parameter's own may be left out, one
    number for every sample: where it has fewer dimensions than its own or another argument has that batch.
    """
    check_keywords(given, WANTED, function)
    own = {name: scene.shape_of(name, steps) for name in given}
    views: dict[str, tuple[int, ...]] = {}
    batches: list[tuple[int, ...]] = []
    short = []  # of one number a sample, if others have that batch
    for name, shape in given.items():
        extra = max(len(shape) - len(own[name]), 0)
        if fits(shape[extra:], own[name]):
            views[name] = tuple(shape)
            batches.append(tuple(shape[:extra]))
        elif name in PARAMETERS and 0 not in own[name]:
            views[name] = (*shape, *(1 for _ in own[name]))
            if len(shape) < len(own[name]):
                batches.append(tuple(shape))
            else:
                short.append(name)
        else:
            raise _misfit(name, own[name], shape)
    batch = _joined(batches)
    for name in short:
        if not batch or not fits(given[name], batch):
            raise _misfit(name, own[name], given[name])
    return batch, {name: (views[name], (*batch, *own[name])) for name in given}


def _misfit(name: str, own: Sequence[int], shape: Sequence[int]) -> ValueError:
    return ValueError(f"{name}: expected shape [..., {', '.join(map(str, own))}], got {list(shape)}")


def _joined(batches: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        raise ValueError(f"batch dimensions differ: {', '.join(str(list(b)) for b in batches)}") from None


def _samples(scene: Scene, steps: int, arrays: Mapping[str, NDArray[Any]]) -> Iterator[dict[str, Array]]:
    flat = {name: np.ascontiguousarray(array, np.float64).reshape(-1, *scene.shape_of(name, steps))
            for name, array in arrays.items()}
    for k in range(max((len(a) for a in flat.values()), default=1)):
        yield {name: array[k] for name, array in flat.items()}


def run(scene: Scene, steps: int, arrays: Mapping[str, NDArray[Any]], batch: Sequence[int], tape: bool,
        state: Any = None) -> tuple[list[Rollout], Array, Array]:
    """The rollouts of all samples, and their states q, v [*batch, steps + 1, n, 3]."""
    rollouts = []
    for sample in _samples(scene, steps, arrays):
        if "collider_pose" in sample:
            pose = sample["collider_pose"].copy()
            pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
            sample["collider_pose"] = pose
        rollouts.append(scene.rollout(steps, state, tape=tape, **sample))  # type: ignore[arg-type]
    shape = (*batch, steps + 1, scene.vertex_count, 3)
    if len(rollouts) == 1:
        q, v = rollouts[0].q, rollouts[0].v
    else:
        q, v = np.stack([r.q for r in rollouts]), np.stack([r.v for r in rollouts])
    return rollouts, q.reshape(shape), v.reshape(shape)


def _by_quaternion(pose: Array, twist: Array) -> Array:
    """Derivative by poses [., 7] from that by m and rad [., 6], where the quaternion p is normalised.

    A turn w about the world's axes changes the unit quaternion by (1/2) (0, w) p, so that along unit
    quaternions dL/dp = 2 (0, dL/dw) p, and 1/|p| of it for one of another length.
    """
    length = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    unit, g = pose[..., 3:] / length, twist[..., 3:]
    w, x = unit[..., :1], unit[..., 1:]
    scalar = -np.sum(g * x, axis=-1, keepdims=True)
    vector = w * g + np.cross(g, x)
    return np.concatenate([twist[..., :3], 2 * scalar / length, 2 * vector / length], axis=-1)


def pull(rollouts: Sequence[Rollout], arrays: Mapping[str, NDArray[Any]], gq: Array, gv: Array,
         wanted: Sequence[str]) -> dict[str, Array]:
    """The gradients of the arrays, from those of the states."""
    scene, steps = rollouts[0].scene, rollouts[0].steps
    rows = (len(rollouts), steps + 1, scene.vertex_count, 3)
    gq, gv = np.reshape(gq, rows), np.reshape(gv, rows)
    found: dict[str, list[Array]] = {name: [] for name in wanted}
    samples = _samples(scene, steps, arrays)
    for rollout, sample, dq, dv in zip(rollouts, samples, gq, gv):
        gradient = rollout.backward(dq, dv, wanted=wanted)
        for name in wanted:
            value = gradient[name]
            if name == "collider_pose":
                value = _by_quaternion(sample[name], value)
            found[name].append(value)
    return {name: np.stack(values).reshape(arrays[name].shape) for name, values in found.items()}
