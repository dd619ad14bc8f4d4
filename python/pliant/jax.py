"""Simulations as JAX functions, under jit, grad and vmap, in double precision on the CPU.

    jax.config.update("jax_enable_x64", True)
    q, v = pliant.jax.rollout(scene, 100, friction=mu, velocity=v0)

The simulation runs as a callback of the compiled program. What the gradient needs of it cannot stay in
that program, so the reverse pass simulates again.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Optional

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("pliant.jax needs JAX: `pip install jax`") from error

from . import _samples
from ._arrange import arrange
from ._scene import Scene
from ._state import State

_Key = tuple[Scene, int, Optional[State], tuple[str, ...]]


def _batch_of(key: _Key, arrays: tuple[Any, ...]) -> tuple[int, ...]:
    scene, steps, _, names = key
    if not arrays:
        return ()
    return tuple(arrays[0].shape[:arrays[0].ndim - len(scene.shape_of(names[0], steps))])


def _simulate(key: _Key, *arrays: Any) -> tuple[Any, Any]:
    scene, steps, state, names = key
    given = {name: np.asarray(array) for name, array in zip(names, arrays)}
    _, q, v = _samples.run(scene, steps, given, _batch_of(key, arrays), False, state)
    return q, v


def _differentiate(key: _Key, gq: Any, gv: Any, *arrays: Any) -> tuple[Any, ...]:
    scene, steps, state, names = key
    given = {name: np.asarray(array) for name, array in zip(names, arrays)}
    made, _, _ = _samples.run(scene, steps, given, _batch_of(key, arrays), True, state)
    found = _samples.pull(made, given, np.asarray(gq), np.asarray(gv), names)
    return tuple(found[name] for name in names)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rollout(key: _Key, *arrays: Any) -> tuple[Any, Any]:
    scene, steps, _, _ = key
    out = jax.ShapeDtypeStruct((*_batch_of(key, arrays), steps + 1, scene.vertex_count, 3), jnp.float64)
    return jax.pure_callback(partial(_simulate, key), (out, out), *arrays, vmap_method="broadcast_all")


def _forward(key: _Key, *arrays: Any) -> tuple[Any, Any]:
    return _rollout(key, *arrays), arrays


def _backward(key: _Key, arrays: tuple[Any, ...], cotangents: tuple[Any, Any]) -> tuple[Any, ...]:
    if not arrays:
        return ()
    out = tuple(jax.ShapeDtypeStruct(a.shape, jnp.float64) for a in arrays)
    return jax.pure_callback(partial(_differentiate, key), out, *cotangents, *arrays,
                             vmap_method="broadcast_all")


_rollout.defvjp(_forward, _backward)


def rollout(scene: Scene, steps: int, *, state: Optional[State] = None, **arrays: Any) -> tuple[Any, Any]:
    """Positions and velocities q, v [*batch, steps + 1, n, 3] m, m/s as functions of arrays.

    arrays: any of the names in pliant.WANTED, float64, shaped as Scene.shape_of tells: position and
    velocity [n, 3], force [steps, force_count, 3], young [element_count], friction
    [collider_count, body_count], ... They are broadcast to that shape, so that a single number serves for
    a whole parameter; dimensions before it are batch dimensions, as are those of vmap, each sample being a
    simulation of its own. friction of shape [64] is one number for each of a batch of 64; so is another
    parameter if some other argument has that batch, and young [64, 1] is always.
    What is not given is as in the scene. Poses are normalised.
    state: where to start, as far as position and velocity do not say it.
    """
    if not getattr(jax.config, "jax_enable_x64"):
        raise TypeError("simulations are in double precision: "
                        'jax.config.update("jax_enable_x64", True) first')
    given = {name: jnp.asarray(value, None if hasattr(value, "dtype") else jnp.float64)
             for name, value in arrays.items()}
    for name, array in given.items():
        if array.dtype != jnp.float64:
            raise TypeError(f"{name}: expected a float64 array, got {array.dtype}")
    _, shapes = arrange(scene, steps, {name: a.shape for name, a in given.items()}, rollout)
    names = tuple(given)
    full = (jnp.broadcast_to(given[name].reshape(view), shape) for name, (view, shape) in shapes.items())
    return _rollout((scene, int(steps), state, names), *full)


__all__ = ["rollout"]
