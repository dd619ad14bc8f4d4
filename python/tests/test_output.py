"""Rollouts as files for ParaView."""

import json

import pytest

import pliant

STEPS = 6


def files(folder, kind):
    return sorted(p.name for p in (folder / kind).iterdir())


def test_a_rollout_is_written_as_by_the_command_line(slide, tmp_path):
    out = tmp_path / "out"
    rollout = slide.rollout(STEPS)
    rollout.save(out, every=2)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["outcome"] == "completed" and len(summary["steps"]) == STEPS
    assert len(files(out, "volume")) == len(files(out, "surface")) == STEPS // 2 + 1
    assert b"von_mises" in (out / "volume" / files(out, "volume")[-1]).read_bytes()
    with pytest.raises(pliant.FileError):
        rollout.save(out)
    rollout.save(out, volume=False, replace=True)
    assert len(files(out, "surface")) == STEPS + 1 and not (out / "volume").exists()


def test_what_is_written_is_the_rollout(slide, tmp_path):
    """With the parameters it was run with, whatever the scene's are by then."""
    one = slide.rollout(STEPS, young=3e5)
    slide.set("young", 3e5)
    two = slide.rollout(STEPS)
    slide.set("young", 1e6)
    one.save(tmp_path / "one")
    two.save(tmp_path / "two")
    for name in files(tmp_path / "one", "volume"):
        assert (tmp_path / "one/volume" / name).read_bytes() == (tmp_path / "two/volume" / name).read_bytes()


def test_refusals(slide, tmp_path):
    with pytest.raises(pliant.ArgumentError, match="without a tape"):
        slide.rollout(2, tape=False).save(tmp_path / "out")
    with pytest.raises(pliant.ArgumentError, match="every"):
        slide.rollout(2).save(tmp_path / "out", every=0)
    assert not (tmp_path / "out").exists()
