"""A batch as a Gymnasium vector environment: actions are inputs of the scene, rewards a loss of its states.

    env = pliant.gymnasium.Environments(scene, 64, {"force": 2.0}, loss, steps=50)
    observations, _ = env.reset(seed=0)
    observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())

The return of a whole sequence of actions has a gradient: Environments.gradient.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError("pliant.gymnasium needs Gymnasium 1.1 or later: `pip install gymnasium`") from error

from ._batch import Batch, Rollouts
from ._channel import CHANNELS, INPUTS, channel
from ._library import ArgumentError, Array, instance, integer
from ._scene import Scene

Loss = Callable[[Array, Array], tuple[Array, Optional[Array], Optional[Array]]]
Range = Union[float, tuple[ArrayLike, ArrayLike]]
Draw = Callable[[np.random.Generator, int], Mapping[str, ArrayLike]]


class Environments(VectorEnv):  # type: ignore[misc, type-arg]
    """num_envs copies of a scene, stepped together.

    actions: inputs by name (pliant.INPUTS but collider_pose), each with its range: a number, for [-r, r], or
    (low, high). An environment's action has their values one after the other.
    loss: loss(q, v) -> (values, dq, dv) of states q, v [m, n, 3]: values [m], and derivatives [m, n, 3] or None.
    The reward of a step is minus the loss of the state at its end.
    steps: of an episode, after which it is truncated.
    repeat: time steps of the scene for each of these.
    vertices: whose positions and velocities are observed: indices, by default all.
    draw: draw(generator, num_envs) -> values of parameters, position or velocity by name, [num_envs, ...] as
    Batch.run takes them: what environments that begin anew start with.
    workers: as Batch's.

    An episode that ends begins anew in the same step: its last observation is infos["final_obs"]. One whose
    simulation fails is terminated with a reward of 0, and infos["failure"] says why.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, scene: Scene, num_envs: int, actions: Mapping[str, Range], loss: Loss, *, steps: int = 100,
                 repeat: int = 1, vertices: Optional[ArrayLike] = None, draw: Optional[Draw] = None, workers: int = 0):
        self.scene = instance(scene, Scene, "scene")
        self.steps, self.repeat = integer(steps, "steps"), integer(repeat, "repeat")
        if self.steps < 1 or self.repeat < 1:
            raise ArgumentError(f"steps = {steps}, repeat = {repeat}: expected >= 1")
        self.batch = Batch(scene, num_envs, workers=workers)
        self.num_envs, self.loss, self.draw = self.batch.environments, loss, draw
        self.vertices = np.arange(scene.vertex_count) if vertices is None else np.asarray(vertices, int)
        self._shapes: dict[str, tuple[int, ...]] = {}
        lows, highs = [], []
        for name, given in actions.items():
            if channel(name, INPUTS).width != CHANNELS[name].gradient_width:
                raise ArgumentError(f"{name}: cannot be an action")
            shape = self._shapes[name] = scene.shape_of(name, 1)[1:]
            ends = (-given, given) if isinstance(given, (int, float)) else given
            lows.append(np.broadcast_to(np.asarray(ends[0], float), shape).ravel())
            highs.append(np.broadcast_to(np.asarray(ends[1], float), shape).ravel())
        low, high, Box = np.concatenate(lows), np.concatenate(highs), gymnasium.spaces.Box
        self.action_size = len(low)
        self.single_action_space = Box(low, high, dtype=np.float64)
        self.single_observation_space = Box(-np.inf, np.inf, (6 * len(self.vertices),), np.float64)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._done = np.zeros(self.num_envs, int)  # steps of the present episodes
        self._drawn: dict[str, Array] = {}

    def _observed(self, q: Array, v: Array) -> Array:
        chosen = np.concatenate([q[:, self.vertices], v[:, self.vertices]], axis=2)
        return chosen.reshape(self.num_envs, -1)

    def _begin(self, which: Sequence[int]) -> None:
        """Environments back to their start, with new values where they are drawn."""
        states = {e: self.batch.state(e) for e in range(self.num_envs) if e not in which} if self.draw else {}
        for e in which:
            self.batch.reset(e)
            self._done[e] = 0
        if self.draw is None:
            return
        for name, value in self.draw(self.np_random, self.num_envs).items():
            kept = self._drawn.setdefault(name, np.array(value, float))
            kept[list(which)] = np.asarray(value, float)[list(which)]
        self.batch.set(**self._drawn)
        for e, state in states.items():
            self.batch.set_state(state, e)

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[dict[str, Any]] = None) -> tuple[Array, dict[str, Any]]:
        """All episodes begin: observations [num_envs, 6 vertices], position and velocity of one after the other."""
        super().reset(seed=seed)
        self._drawn = {}
        self._begin(range(self.num_envs))
        return self._observed(self.batch.q, self.batch.v), {}

    def _inputs(self, actions: Array) -> dict[str, Any]:
        """Actions [num_envs, steps, size] as inputs of every time step."""
        found: dict[str, Any] = {}
        at = 0
        for name, shape in self._shapes.items():
            size = int(np.prod(shape))
            part = actions[..., at:at + size].reshape(*actions.shape[:2], *shape)
            found[name] = np.repeat(part, self.repeat, axis=1)
            at += size
        return found

    def step(self, actions: ArrayLike) -> tuple[Array, Array, NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of all episodes; actions [num_envs, size]."""
        given = np.asarray(actions, float).reshape(self.num_envs, 1, -1)
        run = self.batch.run(self.repeat, tape=False, record=False, keep_going=True, **self._inputs(given))
        q, v = self.batch.q, self.batch.v
        rewards = -np.asarray(self.loss(q, v)[0], float)
        failed = np.zeros(self.num_envs, bool)
        failed[list(run.failures)] = True
        rewards[failed] = 0
        self._done += 1
        over = (self._done >= self.steps) & ~failed
        infos: dict[str, Any] = {}
        observations = self._observed(q, v)
        ended = np.flatnonzero(failed | over)
        if len(ended):
            infos = {"final_obs": observations, "_final_obs": failed | over}
            self._begin(ended.tolist())
            observations = self._observed(self.batch.q, self.batch.v)
        if run.failures:
            infos["failure"] = np.array([str(run.failures.get(e, "")) for e in range(self.num_envs)], object)
            infos["_failure"] = failed
        return observations, rewards, failed, over, infos

    def gradient(self, actions: ArrayLike) -> tuple[Array, Array]:
        """Returns [num_envs] of sequences of actions [num_envs, steps, size] from where the environments are, and
        their derivatives by the actions. The environments are left where they were."""
        given = np.asarray(actions, float)
        if given.ndim != 3 or given.shape[::2] != (self.num_envs, self.action_size):
            raise ValueError(f"actions: expected shape [{self.num_envs}, any, {self.action_size}], got "
                             f"{list(given.shape)}")
        states = [self.batch.state(e) for e in range(self.num_envs)]
        try:
            run = self.batch.run(self.repeat * given.shape[1], **self._inputs(given))
            return self._pulled(run, given)
        finally:
            for e, state in enumerate(states):
                self.batch.set_state(state, e)

    def _pulled(self, run: Rollouts, actions: Array) -> tuple[Array, Array]:
        returns, dq, dv = np.zeros(self.num_envs), np.zeros_like(run.q), np.zeros_like(run.v)
        for step in range(self.repeat, run.steps + 1, self.repeat):
            value, by_q, by_v = self.loss(run.q[:, step], run.v[:, step])
            returns -= value
            dq[:, step] = 0 if by_q is None else -by_q
            dv[:, step] = 0 if by_v is None else -by_v
        gradient = run.backward(dq, dv, wanted=tuple(self._shapes))
        shape = (self.num_envs, actions.shape[1], self.repeat, -1)
        parts = [gradient[name].reshape(shape).sum(2) for name in self._shapes]
        return returns, np.concatenate(parts, axis=2)

    def close_extras(self, **_: Any) -> None:
        self.batch.close()


__all__ = ["Environments"]
