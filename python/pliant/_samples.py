"""One scene simulated for a batch of starts, inputs and parameters: what PyTorch and JAX share.

Arrays are named as in pliant.WANTED and shaped [*batch, *shape], with the shape Scene.shape_of tells.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._batch import Rollouts, start_run
from ._library import Array, Handle, lib
from ._rollout import Rollout
from ._scene import Scene


def _with_unit_quaternions(arrays: Mapping[str, Array]) -> dict[str, Array]:
    if "collider_pose" not in arrays:
        return dict(arrays)
    pose = arrays["collider_pose"].copy()
    pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return {**arrays, "collider_pose": pose}


def _flat(scene: Scene, steps: int, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(array, np.float64).reshape(-1, *scene.shape_of(name, steps))
            for name, array in arrays.items()}


def run(scene: Scene, steps: int, arrays: Mapping[str, NDArray[Any]], batch: Sequence[int], tape: bool,
        state: Any = None) -> tuple[Union[Rollout, Rollouts], Array, Array]:
    """The rollouts of all samples, and their states q, v [*batch, steps + 1, n, 3].

    One sample has all threads for its own work; several are the environments of a batch.
    """
    flat = _with_unit_quaternions(_flat(scene, steps, arrays))
    count, shape = math.prod(batch), (*batch, steps + 1, scene.vertex_count, 3)
    made: Union[Rollout, Rollouts]
    if count == 1:
        made = scene.rollout(steps, state, tape=tape, **{name: a[0] for name, a in flat.items()})
    elif count == 0:
        raise ValueError(f"batch {list(batch)}: there is no sample in it")
    else:
        with scene._core:
            pool = scene._environments(count)
            _begin(scene, pool, count, state)
            made = start_run(scene, pool, count, steps, flat, tape)
    return made, made.q.reshape(shape), made.v.reshape(shape)


def _begin(scene: Scene, pool: Handle, count: int, state: Any) -> None:
    """All environments at the scene's start, or at a state."""
    scene._core.check(lib.pl_batch_reset(pool.pointer, -1))
    if state is None:
        return
    for e in range(count):
        scene._core.check(lib.pl_state_copy(scene._pointer, scene._state(state),
                                            lib.pl_batch_state(pool.pointer, e)))


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


def pull(made: Union[Rollout, Rollouts], arrays: Mapping[str, NDArray[Any]], gq: Array, gv: Array,
         wanted: Sequence[str]) -> dict[str, Array]:
    """The gradients of the arrays, from those of the states."""
    rows = (-1, made.steps + 1, made.scene.vertex_count, 3)
    dq, dv = np.reshape(gq, rows), np.reshape(gv, rows)
    gradient: Mapping[str, Array]
    if isinstance(made, Rollout):
        gradient = made.backward(dq[0], dv[0], wanted=wanted)
    else:
        gradient = made.backward(dq, dv, wanted=wanted)
    found = {}
    for name in wanted:
        value = gradient[name]
        if name == "collider_pose":
            pose = np.reshape(arrays[name], (*value.shape[:-1], 7))
            value = _by_quaternion(np.asarray(pose, np.float64), value)
        found[name] = np.array(value).reshape(arrays[name].shape)
    return found


def _by_turn(pose: Array, along: Array) -> Array:
    """m and rad [., 6] of a change of poses [., 7]: the transpose of _by_quaternion."""
    length = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    unit, p = pose[..., 3:] / length, along[..., 3:]
    turn = unit[..., :1] * p[..., 1:] - p[..., :1] * unit[..., 1:] - np.cross(p[..., 1:], unit[..., 1:])
    return np.concatenate([along[..., :3], 2 * turn / length], axis=-1)


def push(scene: Scene, steps: int, arrays: Mapping[str, NDArray[Any]], along: Mapping[str, NDArray[Any]],
         state: Any = None) -> tuple[Array, Array]:
    """The changes dq, dv [samples, steps + 1, n, 3] of the states with those of the arrays."""
    changes = _flat(scene, steps, along)
    if "collider_pose" in changes:
        pose = _flat(scene, steps, {"collider_pose": arrays["collider_pose"]})["collider_pose"]
        changes["collider_pose"] = _by_turn(pose, changes["collider_pose"])
    made, _, _ = run(scene, steps, arrays, (len(next(iter(changes.values()))),), True, state)
    if isinstance(made, Rollouts):
        return made.tangent(changes)
    dq, dv = made.tangent({name: a[0] for name, a in changes.items()})
    return dq[None], dv[None]
