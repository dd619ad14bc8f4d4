"""Fits from dicts and files, their callbacks, and how they stop."""

import json
import subprocess
import sys

import numpy as np
import pytest

import pliant
from conftest import ROOT
from test_scene import SLOPE

TASK = {
    "scene": SLOPE,
    "unknowns": [{"name": "mu", "quantity": "friction", "of": "floor", "initial": 0.4, "true": 0.15,
                  "lower": 0.01, "upper": 1}],
    "loss": [{"kind": "positions"}],
    "optimizer": {"iterations": 20, "stop_loss": 1e-24},
}


def test_a_fit_finds_the_friction(context):
    seen = []
    result = pliant.fit(TASK, progress=seen.append, context=context)
    assert result.parameters["mu"] == pytest.approx(0.15, abs=1e-8)
    assert result.identified and result.verdict == "Identified mu" and result.reasons == ()
    assert result.names == ("mu",) and result.truth == pytest.approx([0.15])
    assert [p.iteration for p in seen] == list(range(len(result.loss)))
    assert [p.loss for p in seen] == result.loss.tolist()
    assert seen[0].values == {"mu": pytest.approx(0.4)}
    assert result.values.shape == (len(result.loss), 1) and np.isfinite(result.gradient).all()


def test_a_scene_made_by_calls(slide, context):
    slide.steps = SLOPE["steps"]
    made = pliant.fit({**TASK, "scene": slide}, {"optimizer.iterations": 1}, context=context)
    np.testing.assert_array_equal(made.loss, pliant.fit(TASK, {"optimizer.iterations": 1}, context=context).loss)


def test_files_overrides_and_results(context, tmp_path):
    (tmp_path / "scene.json").write_text(json.dumps({"version": 1, **SLOPE}))
    (tmp_path / "task.json").write_text(json.dumps({"version": 1, **TASK, "scene": "scene.json"}))
    result = pliant.fit(tmp_path / "task.json", {"optimizer.iterations": 1}, directory=tmp_path / "out",
                        context=context)
    assert result.iterations == 1
    assert {"history.csv", "report.html", "result.json"} <= {p.name for p in (tmp_path / "out").iterdir()}
    again = pliant.fit({**TASK, "scene": "scene.json"}, {"optimizer.iterations": 1}, root=tmp_path,
                       context=context)
    np.testing.assert_array_equal(again.loss, result.loss)


def test_a_failed_fit_says_so(context):
    unknown = {**TASK["unknowns"][0], "lower": 0.05, "upper": 0.5, "true": 0.15}
    result = pliant.fit({**TASK, "unknowns": [unknown], "optimizer": {"method": "gradient_descent", "rate": 1e-9,
                                                                      "iterations": 2}}, context=context)
    assert not result.identified and result.verdict.startswith("Not identified: ")
    assert "convergence" in [reason.doubt for reason in result.reasons]
    assert all(reason.text in result.verdict for reason in result.reasons)
    assert result.residual > 0 and result.refused == 0


def test_several_starts(context):
    seen = []
    result = pliant.fit({**TASK, "starts": 3, "seed": 5}, progress=seen.append, context=context)
    assert len(result.starts) == 3 and {p.start for p in seen} == {0, 1, 2}
    assert result.starts[0].initial == {"mu": pytest.approx(0.4)}
    assert 0.01 < result.starts[1].initial["mu"] < 1 and result.starts[1].initial != result.starts[2].initial
    best = result.starts[result.best]
    assert best.loss == min(s.loss for s in result.starts) == seen[-1].best_loss == result.loss[-1]
    assert best.values == result.parameters and best.stop == result.stop


def test_stopping_and_failing(context):
    with pytest.raises(pliant.StoppedError):
        pliant.fit(TASK, progress=lambda p: p.iteration < 1, context=context)

    def fail(progress):
        raise LookupError("mine")
    with pytest.raises(LookupError, match="mine"):
        pliant.fit(TASK, progress=fail, context=context)
    with pytest.raises(pliant.Error, match="unknowns"):
        pliant.fit({**TASK, "unknowns": []}, context=context)
    with pytest.raises(pliant.FileError, match="nosuch"):
        pliant.fit("nosuch.json", context=context)


def test_interrupt_while_the_target_is_simulated():
    code = ("import os, signal, sys, threading, pliant\n"
            f"sys.path.insert(0, {str(ROOT / 'python' / 'tests')!r})\n"
            "from test_fit import TASK\n"
            "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "try:\n    pliant.fit({**TASK, 'steps': 10**6})\n"
            "except KeyboardInterrupt:\n    print('stopped')\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr


def test_control_tells_its_goals_and_signals(context):
    seen = []
    result = pliant.fit(ROOT / "scenes" / "tasks" / "bar_follow.json",
                        {"window.steps": 5, "window.advance": 5, "optimizer.iterations": 2, "steps": 20,
                         "loss[0].path": [[0.02, 0, 0, 0], [0.4, -0.03, 0, 0.05]]},
                        progress=seen.append, context=context)
    goal, = result.goals
    assert 0 < goal.rms <= goal.largest and goal.within == 0.004
    assert goal.text in result.verdict and result.identified == (goal.rms <= 0.004)
    assert set(result.signals) == {"muscle 0", "muscle 1"}
    assert all(s.shape == (20,) and (0 <= s).all() and (s <= 0.7).all() for s in result.signals.values())
    assert sorted({p.window for p in seen}) == [0, 1, 2, 3] and seen[0].windows == 4
