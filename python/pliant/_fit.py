"""Fitting: parameters identified from a task."""

from __future__ import annotations

import ctypes
import json
import math
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from . import _api
from ._library import Array, Context, PathLike, default_context, function_or_none, lib, text
from ._parts import Overrides, encode_overrides, plain_json
from ._rollout import _Callback
from ._scene import Scene


@dataclass(frozen=True)
class FitProgress:
    """Where a fit is, after the start and after every iteration."""

    iteration: int
    iterations: int  #: at most
    evaluations: int
    loss: float
    contact_epsilon2: float  #: N m
    values: dict[str, float]  #: by name
    start: int = 0  #: which starting point, from 0
    starts: int = 1
    best_loss: float = math.inf  #: of the starts so far, this one included
    window: int = 0  #: which receding window, from 0
    windows: int = 1


@dataclass(frozen=True)
class FitReason:
    """What speaks against a fit having identified its unknowns."""

    doubt: str  #: bound, residual, direction, convergence, steps, minimum or goal
    text: str  #: in words, with the numbers


@dataclass(frozen=True)
class FitGoal:
    """How near a goal of a control task was reached."""

    text: str  #: in words
    rms: float  #: distance left, m
    largest: float  #: of any point and step, m
    within: float  #: rms that counts as reached, m; 0 when none was stated


@dataclass(frozen=True)
class FitStart:
    """What came of a starting point."""

    initial: dict[str, float]  #: by name
    values: dict[str, float]  #: where it ended
    loss: float  #: there; NaN when its first point could not be simulated
    iterations: int
    stop: str
    refused: bool  #: it ended because a point could not be simulated


@dataclass(frozen=True)
class FitResult:
    """What a fit found. k rows: the start and every iteration; p parameters."""

    identified: bool  #: False: the values below are where it ended, not what the data say
    verdict: str  #: in one sentence
    reasons: tuple[FitReason, ...]  #: why it is not identified, the gravest first
    residual: float  #: root mean square of what is left, m (of velocities m/s)
    stop: str  #: why it ended
    iterations: int
    evaluations: int  #: of all starts, as the next and the times
    refused: int  #: points tried that could not be simulated or differentiated
    starts: tuple[FitStart, ...]
    best: int  #: of the starts: what all else is of
    names: tuple[str, ...]
    units: tuple[Optional[str], ...]
    truth: Array  #: [p], NaN where not known
    loss: Array  #: [k]
    epsilon2: Array  #: [k] N m
    values: Array  #: [k, p]; the last row is the answer
    gradient: Array  #: [k, p] of the loss, in the optimiser's variables
    difference: Array  #: [k, p] the same by differences, NaN where not made
    standard_error: Array  #: [p], NaN where it could not be told
    correlation: Array  #: [p, p]
    seconds: float
    forward_seconds: float
    backward_seconds: float
    rollouts: int
    sweeps: int
    steps: int  #: of a rollout
    tape_bytes: int
    goals: tuple[FitGoal, ...] = ()  #: of a control task
    signals: dict[str, Array] = field(default_factory=dict)  #: inputs found over time, [steps] by name

    @property
    def parameters(self) -> dict[str, float]:
        """The answer by name."""
        return dict(zip(self.names, map(float, self.values[-1])))


def _copy(pointer: Any, *shape: int) -> Array:
    if not pointer or 0 in shape:
        return np.full(shape, np.nan)
    return np.ctypeslib.as_array(pointer, shape).copy()


def _result(r: Any) -> FitResult:
    k, p = r.row_count, r.parameter_count

    def texts(entries: Any) -> tuple[Any, ...]:
        return tuple(e.decode("utf-8", "replace") if e is not None else None for e in entries[:p])

    names = texts(r.names)

    def start(s: Any) -> FitStart:
        return FitStart(dict(zip(names, s.initial[:p])), dict(zip(names, s.values[:p])), s.loss, s.iterations,
                        lib.pl_stop_text(s.stop).decode(), s.refused)

    signals = _copy(r.signals, r.signal_count, r.steps)
    reasons = tuple(FitReason(lib.pl_doubt_name(e.doubt).decode(), e.text.decode("utf-8", "replace"))
                    for e in r.reasons[:r.reason_count])
    return FitResult(
        r.identified, r.verdict.decode("utf-8", "replace"), reasons, r.residual,
        lib.pl_stop_text(r.stop).decode(), r.iterations, r.evaluations, r.refused,
        tuple(map(start, r.starts[:r.start_count])), r.best, names, texts(r.units),
        _copy(r.truth, p), _copy(r.loss, k), _copy(r.epsilon2, k), _copy(r.values, k, p),
        _copy(r.gradient, k, p), _copy(r.difference, k, p), _copy(r.standard_error, p),
        _copy(r.correlation, p, p), r.seconds, r.forward_seconds, r.backward_seconds, r.rollouts, r.sweeps,
        r.steps, r.tape_bytes,
        tuple(FitGoal(g.text.decode("utf-8", "replace"), g.rms, g.largest, g.within)
              for g in r.goals[:r.goal_count]),
        {r.signal_names[i].decode("utf-8", "replace"): signals[i] for i in range(r.signal_count)})


def _written(task: Mapping[str, Any], root: Path, place: Path) -> Path:
    """A task given as a dict, as a file; what it names is looked for in `root`."""
    content: dict[str, Any] = {"version": 1, **task}
    scene = content.get("scene")
    if isinstance(scene, Scene):
        content["scene"] = "scene.json"
        scene.save(place / "scene.json")
    elif isinstance(scene, Mapping):
        content["scene"] = "scene.json"
        (place / "scene.json").write_text(json.dumps({"version": 1, **scene}, default=plain_json, indent=1))
    elif isinstance(scene, (str, os.PathLike)):
        content["scene"] = str(root / scene)
    content["loss"] = [{**term, "target": str(root / term["target"])} if "target" in term else term
                       for term in content.get("loss", [])]
    path = place / "task.json"
    path.write_text(json.dumps(content, default=plain_json, indent=1))
    return path


def fit(task: Union[PathLike, Mapping[str, Any]], overrides: Overrides = (), *,
        directory: Optional[PathLike] = None, resume: bool = False, report: bool = True,
        uncertainty: bool = True, progress: Optional[Callable[[FitProgress], Optional[bool]]] = None,
        root: Optional[PathLike] = None, context: Optional[Context] = None) -> FitResult:
    """Runs a fitting task: a task file, or a dict with the content of one.

    In a dict, "scene" may be a Scene or a dict as well, and "version" may be left out; files are looked for in
    `root` (the current directory by default).

    overrides: as in Scene.load; {"optimizer.iterations": 5, "scene.bodies[0].mesh.cell": 0.1}.
    directory: checkpoint, history.csv, result.json and the report go there.
    resume: go on from the directory's checkpoint, bit for bit.
    report: write report.html too. uncertainty: compute standard errors.
    progress: called as progress(FitProgress); False stops with StoppedError.
    """
    function_or_none(progress, "progress")
    with tempfile.TemporaryDirectory() as place:
        if isinstance(task, Mapping):
            task = _written(task, Path(root or ".").resolve(), Path(place))
        return _fit(text(task, "task"), overrides, text(directory, "directory"), resume, report, uncertainty,
                    progress, context or default_context())


def _fit(path: Optional[bytes], overrides: Overrides, directory: Optional[bytes], resume: bool, report: bool,
         uncertainty: bool, progress: Optional[Callable[[FitProgress], Optional[bool]]],
         context: Context) -> FitResult:
    count, items = encode_overrides(overrides)
    callback, stopped = _Callback(), []
    d = lib.pl_fit_def_default()
    d.directory, d.resume, d.report, d.uncertainty = directory, resume, report, uncertainty

    def after_iteration(_user: Any, p: Any) -> None:
        now = p.contents
        names = [name.decode("utf-8", "replace") for name in now.names[:now.parameter_count]]
        if progress is not None and progress(FitProgress(
                now.iteration, now.iterations, now.evaluations, now.loss, now.contact_epsilon2,
                dict(zip(names, now.values[:now.parameter_count])), now.start, now.starts,
                now.best_loss, now.window, now.windows)) is False:
            stopped.append(True)

    kinds: dict[str, Any] = dict(_api.pl_fit_def._fields_)  # type: ignore[arg-type]
    guarded = callback.guard(after_iteration)
    d.progress = kinds["progress"](lambda user, p: None if guarded(user, p) else stopped.append(True))
    d.keep_going = kinds["keep_going"](callback.guard(lambda _user: not stopped))
    loaded, out = ctypes.POINTER(_api.pl_task)(), ctypes.POINTER(_api.pl_fit_result)()
    with context._core as core:
        core.check(lib.pl_task_load(context._pointer, path, count, items, loaded))
        try:
            callback.call(core, lib.pl_task_fit, loaded, d, out)
            return _result(out.contents)
        finally:
            lib.pl_fit_result_free(loaded, out)
            lib.pl_task_destroy(loaded)
