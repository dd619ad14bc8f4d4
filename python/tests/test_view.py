"""What pliant.view puts on the page: bodies, obstacles, contact forces; and what it refuses."""

import base64
import json
import re

import numpy as np
import pytest

import pliant

EVERYTHING = {
    "bodies": [{"name": "block", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cell": 0.05}},
                "transform": {"translate": [0, 0, 1e-4]}, "velocity": [0.3, 0, 0]}],
    "colliders": [
        {"name": "floor", "shape": {"half_space": {}}, "friction": 0.2},
        {"name": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [2, 0, 0]},
        {"name": "crate", "shape": {"box": {"half_extents": [0.1, 0.2, 0.3]}},
         "table": [[0, 3, 0, 0, 1, 0, 0, 0], [0.5, 3, 0, 1, 0, 0, 0, 1]]},
        {"name": "post", "shape": {"cylinder": {"radius": 0.1, "half_height": 0.4}}, "position": [4, 0, 0]},
        {"name": "pill", "shape": {"capsule": {"radius": 0.1, "half_height": 0.2}}, "position": [5, 0, 0]},
        {"name": "stone", "shape": {"mesh": {"box": {"size": [1, 1, 1], "cell": 0.5}}}, "position": [6, 0, 0]},
    ],
    "steps": 10,
}


def data_of(view):
    """What the page's script reads."""
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', view.html, re.S).group(1))["view"]


def numbers(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


@pytest.fixture(params=["dict", "file"])
def everything(request, context, tmp_path):
    if request.param == "dict":
        return pliant.Scene.from_dict(EVERYTHING, context=context)
    (tmp_path / "scene.json").write_text(json.dumps({"version": 1, **EVERYTHING}))
    return pliant.Scene.load(tmp_path / "scene.json", context=context)


def test_colliders_of_a_scene(everything):
    colliders = everything.colliders
    assert [c.name for c in colliders] == ["floor", "ball", "crate", "post", "pill", "stone"]
    assert [c.shape for c in colliders] == ["half_space", "sphere", "box", "cylinder", "capsule", "mesh"]
    assert colliders[2].size.tolist() == [0.1, 0.2, 0.3] and colliders[0].friction == 0.2
    times, poses = colliders[2].table
    assert times.tolist() == [0, 0.5] and poses.shape == (2, 7) and poses[1, 2] == 1
    assert not poses.flags.writeable and colliders[1].table is None
    stone = colliders[5].surface
    assert len(stone.surface()) == 48 and len(stone.tets) == 0 and colliders[0].surface is None
    everything.close()
    assert poses[1, 2] == 1 and stone.surface().max() < len(stone.vertices)  # still alive
    with pytest.raises(pliant.ClosedError):
        everything.colliders


def test_obstacles_are_drawn(everything):
    shown = data_of(pliant.view(everything.rollout()))
    assert [c["shape"] for c in shown["colliders"]] == ["plane", "sphere", "box", "cylinder", "capsule", "mesh"]
    crate, stone = shown["colliders"][2], shown["colliders"][5]
    assert crate["times"] == [0, 0.5] and crate["poses"][9] == 1
    assert len(numbers(stone["triangles"], "<u4")) == 3 * 48
    assert stone["poses"][:3] == [6, 0, 0]


def test_obstacles_moved_by_inputs(everything):
    poses = np.stack([everything.state().collider_pose] * 10)
    poses[:, 1, 2] = np.linspace(0.1, 1, 10)
    shown = data_of(pliant.view(everything.rollout(collider_pose=poses)))["colliders"][1]
    assert shown["times"] == pytest.approx(0.01 * np.arange(1, 11))
    assert shown["poses"][2::7] == pytest.approx(poses[:, 1, 2])


@pytest.mark.parametrize("budget", [0, 1])
def test_contact_forces(everything, budget):
    heard = []
    rollout = everything.rollout(memory_budget=budget)
    state = everything.state()
    for step in range(10):
        everything.step(state)
        heard.append(state.contacts)
        np.testing.assert_array_equal(rollout.contacts(step + 1), heard[-1])
    assert len(rollout.contacts(0)) == 0 and len(heard[-1]) >= 9
    shown, = data_of(pliant.view(rollout))["contacts"]
    counts, arrows = numbers(shown["counts"], "<u4"), numbers(shown["arrows"], "<f4").reshape(-1, 9)
    assert shown["name"] == "block" and len(counts) == 11 and counts[0] == 0
    last, strong = arrows[len(arrows) - counts[-1]:], heard[-1]["force_normal"] > 1e-6
    np.testing.assert_allclose(last[:, 5], heard[-1]["force_normal"][strong], rtol=1e-6)
    np.testing.assert_allclose(last[:, 6:], heard[-1]["force_tangent"][strong], rtol=1e-5, atol=1e-9)
    with pytest.raises(pliant.ArgumentError, match="0 to 10"):
        rollout.contacts(11)


def test_without_a_tape(everything):
    shown = data_of(pliant.view(everything.rollout(tape=False)))
    assert len(shown["trajectories"]) == 1 and not shown["contacts"]
    with pytest.raises(pliant.ArgumentError, match="tape"):
        everything.rollout(tape=False).contacts(1)
    with pytest.raises(pliant.ArgumentError, match="tape"):
        pliant.view(everything.rollout(tape=False, record=False))


def test_the_same_picture_with_and_without_tape(slide):
    pages = [data_of(pliant.view(slide.rollout(5, **how)))["trajectories"]
             for how in ({}, {"tape": False}, {"record": False}, {"memory_budget": 1})]
    assert pages[0] == pages[1] == pages[2] == pages[3]


def test_parameters_changed_since(slide):
    rollout = slide.rollout(40, memory_budget=1)
    before = data_of(pliant.view(rollout))
    slide.set("friction", 0.9)
    assert data_of(pliant.view(rollout)) == before
    assert slide.get("friction").item() == 0.9


def test_a_page(slide, tmp_path):
    rollout = slide.rollout(5)
    shown = pliant.view(rollout, slide.rollout(5, force=[[3.0, 0, 0]]), names=["as is", "pushed & <quick>"],
                        title="Slide")
    assert shown.html.startswith("<!doctype html>") and "Slide" in shown.html
    frame = shown._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "<!doctype" not in frame
    shown.save(tmp_path / "view.html")
    assert (tmp_path / "view.html").read_text(encoding="utf-8") == shown.html
    unnamed = data_of(pliant.view(rollout, rollout))["trajectories"]
    assert [t["name"] for t in unnamed] == ["rollout 1", "rollout 2"]


def test_refusals(slide, context):
    rollout = slide.rollout(2)
    with pytest.raises(ValueError, match="names"):
        pliant.view(rollout, names=["a", "b"])
    with pytest.raises(TypeError):
        pliant.view()
    other = pliant.Scene(context=pliant.Context(threads=1))
    other.add_body(pliant.Mesh.box((1, 1, 1), 1, context=other._context))
    with pytest.raises(pliant.ArgumentError, match="contexts"):
        pliant.view(rollout, other.rollout(1))
    rollout.close()
    with pytest.raises(pliant.ClosedError):
        pliant.view(rollout)
    with pytest.raises(pliant.ClosedError):
        rollout.contacts(1)


@pytest.mark.parametrize("budget", [0, 1])
def test_cables(context, budget):
    """Every segment at every frame: its ends and its tension."""
    with pliant.Scene(context=context) as scene:
        scene.add_body(pliant.Mesh.box((0.1, 0.1, 0.1), cell=0.05, context=context), name="block")
        scene.add_cable([dict(fixed=(0, 0, 1)), dict(body=0, vertex=0), dict(body=0, vertex=5)], segments=True)
        scene.add_cable([dict(fixed=(1, 0, 1)), dict(body=0, vertices=[3, 4])])
        state, q, live = scene.state(), [], []
        for _ in range(5):
            q.append(state.q.copy())
            live.append(state.live.copy())
            scene.step(state)
        found, = data_of(pliant.view(scene.rollout(4, memory_budget=budget)))["cables"]
    assert found["name"] == "block"
    np.testing.assert_allclose(numbers(found["times"], np.float32), 0.01 * np.arange(5), rtol=1e-6)
    segments = numbers(found["segments"], np.float32).reshape(5, 3, 7)
    q, live = np.array(q), np.array(live)
    top = np.broadcast_to([0, 0, 1.0], (5, 3))
    expected = np.stack([np.concatenate(parts, axis=1) for parts in (
        (top, q[:, 0], live[:, :1]), (q[:, 0], q[:, 5], live[:, 1:2]),
        (top + [1, 0, 0], q[:, 3:5].mean(1), live[:, 2:]))], axis=1)
    assert live[-1].max() > 0.1
    np.testing.assert_allclose(segments, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("budget", [0, 1])
def test_muscles(context, budget):
    """The surface of a muscle is painted by its activation, elsewhere not; of two muscles the stronger shows."""
    with pliant.Scene(gravity=(0, 0, 0), context=context) as scene:
        mesh = pliant.Mesh.bar(0.3, 0.1, 0.1, 0.05, context=context)
        scene.add_body(mesh, name="arm")
        scene.add_pin(0, "left")
        chosen = np.flatnonzero(mesh.vertices[mesh.tets].mean(1)[:, 0] < 0.1)
        scene.add_muscle(0, chosen, direction=(1, 0, 0), table=([0, 0.04], [0, 0.2]))
        scene.add_muscle(0, chosen[:3], direction=(1, 0, 0))
        signal = np.column_stack([np.linspace(0.05, 0.2, 4), [0.1, 0, 0, 0.3]])
        pages = [data_of(pliant.view(scene.rollout(4, memory_budget=budget, **given)))["trajectories"][0]
                 for given in ({}, {"activation": signal})]
    surface = np.unique(mesh.surface())
    inside = [np.isin(surface, mesh.tets[part]) for part in (chosen, chosen[:3])]
    assert 0 < inside[1].sum() < inside[0].sum() < len(surface)
    for page, first, second in ((pages[0], [0, 0.05, 0.1, 0.15, 0.2], [0] * 5),
                                (pages[1], [0, *signal[:, 0]], [0, *signal[:, 1]])):
        largest = max(*first, *second)
        assert page["largest"] == pytest.approx(largest, abs=1e-8)
        painted = numbers(page["activation"], np.uint8).reshape(5, -1)
        expected = np.maximum(np.outer(first, inside[0]), np.outer(second, inside[1]))
        np.testing.assert_allclose(painted, 255 * expected / largest, atol=0.51)


def test_bodies_without_muscles_are_plain(everything):
    assert "activation" not in data_of(pliant.view(everything.rollout()))["trajectories"][0]
