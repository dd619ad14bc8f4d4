"""Pliant: a differentiable simulator for soft bodies in frictional contact.

    scene = pliant.Scene.load("scenes/slope.json")
    rollout = scene.rollout(100)                         # rollout.q [101, n, 3]
    gradient = rollout.backward({100: target_q - rollout.q[100]})
    gradient.friction, gradient.young, gradient.velocity

SI units throughout. `pliant.torch` and `pliant.jax` make simulations parts of networks and of compiled
functions.
"""

import importlib as _importlib
from typing import Any as _Any

from ._batch import Batch, Rollouts
from ._channel import CHANNELS, INPUTS, PARAMETERS, WANTED, Channel
from ._check import Check, CheckResult, check
from ._fit import FitGoal, FitProgress, FitReason, FitResult, FitStart, fit
from ._library import (ArgumentError, ClosedError, Context, ConvergenceError, Error, FileError, MeshError,
                       NumericError, OutOfMemoryError, ParseError, StoppedError, default_context)
from ._library import version as __version__
from ._mesh import Embedding, Mesh, MeshReport, Shape, shapes
from ._parts import Body, Collider
from ._rollout import AdjointInfo, Gradient, Rollout
from ._scene import Scene, devices
from ._state import STAGES, PairForce, State, StepInfo
from ._view import View, view

__all__ = [
    "AdjointInfo", "ArgumentError", "Batch", "Body", "CHANNELS", "Channel", "Check", "CheckResult", "ClosedError",
    "Collider", "Context", "ConvergenceError", "Embedding", "Error", "FileError", "FitGoal", "FitProgress",
    "FitReason", "FitResult", "FitStart", "Gradient", "INPUTS", "Mesh", "MeshError", "MeshReport", "NumericError",
    "OutOfMemoryError", "PARAMETERS", "PairForce", "ParseError", "Rollout", "Rollouts", "STAGES", "Scene", "Shape", "State", "StepInfo",
    "StoppedError", "View", "WANTED", "__version__", "check", "default_context", "devices", "fit", "shapes", "view",
]


def __getattr__(name: str) -> _Any:
    """pliant.torch, pliant.jax and pliant.gymnasium are imported where they are first used."""
    if name in ("torch", "jax", "gymnasium"):
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
