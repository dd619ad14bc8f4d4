"""Simulations as PyTorch functions, in double precision on the CPU.

    q, v = pliant.torch.rollout(scene, 100, friction=mu, velocity=v0)
    (q[-1].mean(0) - target).square().sum().backward()
"""

from __future__ import annotations

from typing import Any, Optional

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise ImportError("pliant.torch needs PyTorch: `apt install python3-torch`, or pip's torch") from error

from . import _samples
from ._arrange import arrange
from ._channel import INPUTS, WANTED, check_keywords
from ._scene import Scene
from ._state import State


class _Rollout(torch.autograd.Function):
    """(scene, steps, state, names, batch, *tensors) -> q, v, with a tape when a gradient may be needed."""

    @staticmethod
    def forward(ctx: Any, scene: Scene, steps: int, state: Optional[State], names: tuple[str, ...],
                batch: tuple[int, ...], *tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        arrays = {name: tensor.detach().numpy() for name, tensor in zip(names, tensors)}
        tape = any(ctx.needs_input_grad)
        made, q, v = _samples.run(scene, steps, arrays, batch, tape, state)
        if tape:
            ctx.made, ctx.names = made, names
            ctx.save_for_backward(*tensors)
        # The arrays are the rollouts' own: a network may change its tensors in place, so it gets copies.
        return torch.from_numpy(q.copy()), torch.from_numpy(v.copy())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[Any, ...]:
        gq, gv = grad_outputs
        arrays = {name: tensor.detach().numpy() for name, tensor in zip(ctx.names, ctx.saved_tensors)}
        wanted = [name for name, needed in zip(ctx.names, ctx.needs_input_grad[5:]) if needed]
        found = _samples.pull(ctx.made, arrays, gq.numpy(), gv.numpy(), wanted)
        return (None,) * 5 + tuple(torch.from_numpy(found[name]) if name in found else None
                                   for name in ctx.names)


def rollout(scene: Scene, steps: int, *, state: Optional[State] = None,
            **tensors: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions and velocities q, v [*batch, steps + 1, n, 3] m, m/s as functions of tensors.

    tensors: any of the names in pliant.WANTED, float64, shaped as Scene.shape_of tells: position and
    velocity [n, 3], force [steps, force_count, 3], young [element_count], friction
    [collider_count, body_count], ... They are broadcast to that shape, so that a single number serves for
    a whole parameter; dimensions before it are batch dimensions, each sample being a simulation of its
    own. friction of shape [64] is one number for each of a batch of 64; so is another parameter if some other
    argument has that batch, and young [64, 1] is always.
    What is not given is as in the scene. Poses are normalised.
    state: where to start, as far as position and velocity do not say it.
    """
    check_keywords(tensors, WANTED, rollout)
    given = {}
    for name, value in tensors.items():
        tensor = torch.as_tensor(value, dtype=None if torch.is_tensor(value) else torch.float64)
        if tensor.dtype != torch.float64:
            raise TypeError(f"{name}: expected a float64 tensor, got {tensor.dtype}")
        if tensor.device.type != "cpu":
            raise TypeError(f"{name}: expected a tensor on the CPU, got {tensor.device}")
        given[name] = tensor
    batch, shapes = arrange(scene, steps, {name: tuple(t.shape) for name, t in given.items()}, rollout)
    full = [given[name].reshape(view).expand(shape).contiguous() for name, (view, shape) in shapes.items()]
    return _Rollout.apply(scene, steps, state, tuple(given), batch, *full)


def step(scene: Scene, position: torch.Tensor, velocity: torch.Tensor, *, state: Optional[State] = None,
         **tensors: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """One time step from position, velocity [*batch, n, 3] to those at its end: for closed loops.

    Inputs have no dimension of steps here: force [*batch, force_count, 3].
    """
    for name in tensors:
        if name in INPUTS:
            own = len(scene.shape_of(name)) - 1
            value = tensors[name]
            tensor = torch.as_tensor(value, dtype=None if torch.is_tensor(value) else torch.float64)
            tensors[name] = tensor.unsqueeze(-own - 1) if tensor.dim() >= own else tensor
    q, v = rollout(scene, 1, state=state, position=position, velocity=velocity, **tensors)
    return q[..., 1, :, :], v[..., 1, :, :]


__all__ = ["rollout", "step"]
