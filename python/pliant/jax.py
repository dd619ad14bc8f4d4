"""Simulations as JAX functions, under jit, grad, jvp and vmap, in double precision on the CPU.

    jax.config.update("jax_enable_x64", True)
    q, v = pliant.jax.rollout(scene, 100, friction=mu, velocity=v0)

The simulation runs as a callback of the compiled program. What derivatives need of it cannot stay in
that program, so that a sweep simulates again: forward for jvp and linearize, backward for grad and vjp.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Optional, Sequence

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    from jax.core import ShapedArray
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise ImportError("pliant.jax needs JAX: `pip install jax`") from error

from . import _samples
from ._arrange import arrange
from ._channel import WANTED, check_keywords
from ._scene import Scene
from ._state import State

_Key = tuple[Scene, int, Optional[State], tuple[str, ...]]


def _batch_of(key: _Key, arrays: Sequence[Any]) -> tuple[int, ...]:
    scene, steps, _, names = key
    if not arrays:
        return ()
    return tuple(arrays[0].shape[:arrays[0].ndim - len(scene.shape_of(names[0], steps))])


def _simulate(key: _Key, *arrays: Any) -> tuple[Any, Any]:
    scene, steps, state, names = key
    given = {name: np.asarray(array) for name, array in zip(names, arrays)}
    _, q, v = _samples.run(scene, steps, given, _batch_of(key, arrays), False, state)
    return q, v


def _sweep_forward(key: _Key, *operands: Any) -> tuple[Any, ...]:
    scene, steps, state, names = key
    shape = _states_of(key, operands).shape
    arrays = [np.asarray(x) for x in operands]
    given, along = (dict(zip(names, part)) for part in (arrays, arrays[len(names):]))
    return tuple(np.reshape(d, shape) for d in _samples.push(scene, steps, given, along, state))


def _sweep_backward(key: _Key, *operands: Any) -> tuple[Any, ...]:
    scene, steps, state, names = key
    arrays = [np.asarray(x) for x in operands]
    given, (gq, gv) = dict(zip(names, arrays)), arrays[len(names):]
    made, _, _ = _samples.run(scene, steps, given, _batch_of(key, operands), True, state)
    found = _samples.pull(made, given, gq, gv, names)
    return tuple(found[name] for name in names)


def _states_of(key: _Key, arrays: Sequence[Any]) -> Any:
    scene, steps = key[:2]
    return jax.ShapeDtypeStruct((*_batch_of(key, arrays), steps + 1, scene.vertex_count, 3), jnp.float64)


def _linear(name: str, sweep: Callable[..., Any], results: Callable[..., Any]) -> Primitive:
    """A callback (*arrays, *changes; run) that is linear in the changes and takes any batch."""
    p = Primitive(f"pliant_{name}")
    p.multiple_results = True

    def call(*operands: Any, run: _Key) -> Any:
        return jax.pure_callback(partial(sweep, run), results(run, operands), *operands, vmap_method="sequential")

    def shapes(*operands: Any, run: _Key) -> Any:
        return [ShapedArray(s.shape, s.dtype) for s in results(run, operands)]

    def batched(operands: Sequence[Any], axes: Sequence[Any], *, run: _Key) -> Any:
        size = next(x.shape[a] for x, a in zip(operands, axes) if a is not None)
        full = [jnp.broadcast_to(x, (size, *x.shape)) if a is None else jnp.moveaxis(x, a, 0)
                for x, a in zip(operands, axes)]
        found = p.bind(*full, run=run)
        return found, [0] * len(found)

    p.def_impl(call)
    p.def_abstract_eval(shapes)
    mlir.register_lowering(p, mlir.lower_fun(call, multiple_results=True))
    batching.primitive_batchers[p] = batched
    return p


_push = _linear("push", _sweep_forward, lambda key, operands: (_states_of(key, operands),) * 2)
_pull = _linear("pull", _sweep_backward, lambda key, operands: tuple(
    jax.ShapeDtypeStruct(a.shape, jnp.float64) for a in operands[:len(key[3])]))


def _transpose(of: Primitive) -> Callable[..., Any]:
    """Each is the other's: cotangents of the changes from those of the results."""
    def rule(cotangents: Sequence[Any], *operands: Any, run: _Key) -> Any:
        count = len(run[3])
        given = [ad.instantiate_zeros(c) for c in cotangents]
        found = of.bind(*operands[:count], *given, run=run)
        return [None] * count + [c if ad.is_undefined_primal(x) else None
                                 for c, x in zip(found, operands[count:])]
    return rule


ad.primitive_transposes[_push] = _transpose(_pull)
ad.primitive_transposes[_pull] = _transpose(_push)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _rollout(key: _Key, *arrays: Any) -> tuple[Any, Any]:
    out = _states_of(key, arrays)
    return jax.pure_callback(partial(_simulate, key), (out, out), *arrays, vmap_method="broadcast_all")


@_rollout.defjvp
def _along(key: _Key, arrays: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    return _rollout(key, *arrays), tuple(_push.bind(*arrays, *tangents, run=key))


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
    check_keywords(arrays, WANTED, rollout)
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
