"""Meshes, scenes and states copied, pickled, and written as scene files."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pliant

WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@pytest.fixture(params=WAYS)
def again(request):
    return WAYS[request.param]


@pytest.fixture
def rich(context):
    """Something of everything."""
    scene = pliant.Scene(time_step=0.005, solver="direct", context=context)
    box = pliant.Mesh.box((0.12, 0.12, 0.06), cell=0.06, context=context)
    young = np.linspace(1e5, 3e5, len(box.tets))
    scene.add_body(box.transform(translation=(0, 0, 1e-5)), name="block", model="corotated", young=young,
                   velocity=(0.4, 0.1, 0))
    cloth = pliant.Mesh.rectangle(0.3, 0.2, 0.1, context=context)
    noise = np.random.default_rng(0).standard_normal(cloth.vertices.shape)
    positions = cloth.vertices + [1, 0, 0.5] + 1e-3 * noise
    scene.add_body(cloth, bending=1e-4, damping=0.1, positions=positions, angular_velocity=(0, 0, 1))
    scene.add_pin(1, "left", compliance=1e-6, offset=([0, 1], [[0, 0, 0], [0, 0, 0.1]]))
    scene.add_force("block", value=(0.5, 0, 0), per="group")
    scene.add_wind(1, velocity=(1, 0, 0), drag=0.1)
    scene.add_collider("half_space", name="floor", friction=0.2)
    scene.add_collider("sphere", radius=0.1, position=(5, 0, 0), rotation=(0.6, 0, 0.8, 0))
    scene.add_collider("mesh", surface=pliant.Mesh.box((1, 1, 1), 1, context=context),
                       table=([0, 1], [[20, 0, 0, 1, 0, 0, 0], [21, 0, 0, 1, 0, 0, 0]]))
    scene.set_friction(1, 0, 0.7)
    scene.add_attachment(1, [0, 1, 2], to_body=0, to_vertices=3, weights=[0.2, 0.3, 0.5], compliance=1e-3)
    scene.add_attachment("block", 0, collider="collider1", compliance=10.0)
    scene.add_muscle("block", [0, 3, 5], direction=[[1, 2, 0], [0, 1, 0], [0.1, 0, 1]], law="spring",
                     stiffness=3e4, table=([0, 0.02], [0.1, 0.3]))
    scene.add_muscle(0, path=[[0, 0.06, 0.03], [0.12, 0.06, 0.03]], radius=0.05, activation=0.2)
    scene.add_cable([dict(body=1, vertices=[0, 1, 2], weights=[0.2, 0.3, 0.5]), dict(body=0, vertex=3)],
                    table=([0, 0.02], [1.1, 1.12]), compliance=1e-2, two_way=True)
    scene.add_cable([dict(fixed=(0, 0, 2)), dict(body="block", at=(0.05, 0.05, 0.05))], segments=True)
    scene.add_body(pliant.Mesh.hollow_box((0.3, 0.3, 0.3), 0.1, 0.1, context=context).transform(
        translation=(0, 3, 1)))
    scene.add_chamber(2, inside=(0.15, 3.15, 1.15), table=([0, 0.02], [0, 500]))
    scene.set("poisson", 0.1 + 0.2, body="block")
    scene.name, scene.steps = "rich", 6
    yield scene
    scene.close()


def assert_same_rollout(scene, twin):
    first, second = scene.rollout(), twin.rollout()
    np.testing.assert_array_equal(first.q, second.q)
    one, other = first.backward({first.steps: 1.0}), second.backward({first.steps: 1.0})
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_meshes(again, context):
    mesh = pliant.Mesh.bar(0.4, 0.1, 0.1, 0.1, context=context)
    mesh.add_group("left", [0, 3], "tet")  # a name may come once for each kind
    twin = again(mesh)
    for name in ("vertices", "tets", "triangles"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(mesh, name))
    expected, found = ([(n, k, i.tolist()) for n, k, i in m._groups()] for m in (mesh, twin))
    assert found == expected and len(expected) == 3
    twin.vertices[:] += 1
    assert np.abs(twin.vertices - mesh.vertices).min() > 0.9


def test_scenes(again, rich):
    twin = again(rich)
    assert (twin.name, twin.steps, twin.time_step) == ("rich", 6, 0.005)
    for name in pliant.PARAMETERS:
        np.testing.assert_array_equal(twin.get(name), rich.get(name))
    assert [b.name for b in twin.bodies] == [b.name for b in rich.bodies]
    assert_same_rollout(rich, twin)
    twin.set("friction", 0.9)
    assert rich.get("friction")[0].tolist() == [0.2, 0.7, 0.2]


def test_borrowed_meshes_become_ones_own(again, slide):
    mesh = slide.bodies[0].mesh
    again(mesh).vertices[:] += 1
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[:] += 1


def test_states_go_on(again, rich):
    state = rich.state()
    for _ in range(3):
        rich.step(state)
    twin_scene, twin = (again(rich), again(state)) if again is copy.copy else again((rich, state))
    assert (twin.time, twin.step) == (state.time, 3)
    np.testing.assert_array_equal(twin.contacts, state.contacts)
    assert len(state.contacts)
    copy.copy(rich).step(state)  # without what the scene remembers of the steps before
    twin_scene.step(twin)
    np.testing.assert_array_equal(twin.q, state.q)
    np.testing.assert_array_equal(twin.collider_pose, state.collider_pose)
    np.testing.assert_array_equal(twin.pin_target, state.pin_target)


@pytest.mark.parametrize("integrator", ["bdf2", "tr_bdf2"])
def test_states_that_look_back_go_on(again, context, integrator):
    body = {"mesh": {"box": {"size": [0.1, 0.1, 0.1], "cell": 0.05}}, "material": {"young": 1e5}}
    spec = {"integrator": integrator, "bodies": [body],
            "pins": [{"body": 0, "vertices": [0, 1, 2]}]}
    scene = pliant.Scene.from_dict(spec, context=context)
    state = scene.state()
    for _ in range(4):
        scene.step(state)
    twin_scene, twin = (again(scene), again(state)) if again is copy.copy else again((scene, state))
    copy.copy(scene).step(state)
    twin_scene.step(twin)
    np.testing.assert_array_equal(twin.q, state.q)
    np.testing.assert_array_equal(twin.v, state.v)


def test_states_of_copies_are_exchanged(rich):
    twin, state = copy.copy(rich), rich.state()
    twin.step(state)
    twin.step(copy.deepcopy(state))
    twin.add_collider("sphere", radius=0.1, position=(9, 9, 9))
    with pytest.raises(pliant.ArgumentError, match="another scene"):
        twin.step(state)
    rich.step(state)
    elsewhere = pickle.loads(pickle.dumps(state))
    with pytest.raises(pliant.ArgumentError, match="another scene"):  # of another context
        rich.step(elsewhere)


def test_gradients(slide, again):
    gradient = slide.rollout(2).backward(loss=lambda step, q, v: (1.5, q, None), wanted=["young", "friction"])
    twin = again(gradient)
    assert list(twin) == ["young", "friction"] and (twin.loss, twin.info) == (gradient.loss, gradient.info)
    expected = gradient.young.copy()
    gradient.young[:] = 0
    np.testing.assert_array_equal(twin.young, expected)
    np.testing.assert_array_equal(again(twin)["friction"], gradient["friction"])
    with pytest.raises(AttributeError, match="not asked for"):
        twin.force
    for one in (gradient, twin):
        one.close()
        with pytest.raises(pliant.ClosedError):
            again(one)


def test_rollouts_of_batches(slide, again):
    force = np.zeros((3, 4, 1, 3))
    force[1, 2] = np.nan
    with pliant.Batch(slide, 3) as batch:
        rollouts = batch.run(4, keep_going=True, force=force)
        twin = again(again(rollouts))
        assert (twin.environments, twin.steps, twin.tape, twin.bytes) == (3, 4, False, 0)
        for name in ("q", "v", "info"):
            np.testing.assert_array_equal(getattr(twin, name), getattr(rollouts, name))
        assert {e: str(error) for e, error in twin.failures.items()} == {1: str(rollouts.failures[1])}
        for sweep in (lambda: twin.backward(0.0), lambda: twin.tangent({"young": 1.0})):
            with pytest.raises(pliant.ArgumentError, match="a copy, and tapes do not go along"):
                sweep()
        rollouts.close()
        with pytest.raises(pliant.ClosedError):
            again(rollouts)


def test_what_cannot_be_copied_says_so(again, slide, context):
    for thing, name in ((context, "context"), (pliant.Batch(slide, 1), "batch")):
        with pytest.raises(TypeError, match=f"a {name} cannot be copied or pickled"):
            again(thing)


def test_scenes_reach_another_process(rich, tmp_path):
    (tmp_path / "scene.pickle").write_bytes(pickle.dumps((rich, rich.state())))
    code = ("import pickle, sys\n"
            f"scene, state = pickle.load(open({str(tmp_path / 'scene.pickle')!r}, 'rb'))\n"
            "scene.step(state)\n"
            "sys.stdout.write(state.q.tobytes().hex())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    state = rich.state()
    rich.step(state)
    assert done.stdout == state.q.tobytes().hex()


def test_dicts_and_files(rich, context, tmp_path):
    description = rich.to_dict()
    assert description["version"] == 1 and description["steps"] == 6 and description["name"] == "rich"
    assert description["bodies"][0]["material"]["poisson"] == 0.1 + 0.2
    assert "damping" not in description["bodies"][0]["material"]  # as by default
    assert_same_rollout(rich, pliant.Scene.from_dict(description, context=context))
    rich.save(tmp_path / "rich.json")
    assert json.loads((tmp_path / "rich.json").read_text()) == description
    loaded = pliant.Scene.load(tmp_path / "rich.json", {"colliders.floor.friction": 0.3}, context=context)
    assert loaded.get("friction")[0].tolist() == [0.3, 0.7, 0.3]
    with pytest.raises(pliant.FileError, match="nowhere"):
        rich.save(tmp_path / "nowhere" / "rich.json")
    with pytest.raises(pliant.ArgumentError, match='name: collider 0 is named "floor" already'):
        rich.add_collider("sphere", name="floor", radius=1, position=(50, 0, 0))


def test_outputs_of_a_file_stay(context):
    scene = pliant.Scene.from_dict({"bodies": [], "outputs": {"every": 3, "volume": False}}, context=context)
    scene.name = "é" * 100
    description = scene.to_dict()
    assert description["outputs"] == {"every": 3, "volume": False}
    assert description["name"] == "é" * 63  # as much as a file's name has room for


def test_meshes_in_dicts(context):
    mesh = pliant.Mesh.box((1, 1, 1), 1, context=context)
    scene = pliant.Scene.from_dict({"bodies": [{"mesh": {"arrays": {
        "vertices": mesh.vertices, "tets": mesh.tets, "vertex_groups": {"low": [0, 1]}}}}]}, context=context)
    np.testing.assert_array_equal(scene.bodies[0].mesh.tets, mesh.tets)
    assert scene.bodies[0].mesh.group("low").tolist() == [0, 1]


def test_rollouts(slide, again):
    """What was recorded goes along; the tape is made again when a gradient asks for it, to the same bits."""
    force = np.random.default_rng(1).standard_normal((5, 1, 3))
    first = slide.rollout(5, slide.rollout(2).state, friction=0.35, force=force)
    twin = again(first)
    np.testing.assert_array_equal(twin.q, first.q)
    np.testing.assert_array_equal(twin.info["contacts"], first.info["contacts"])
    assert twin.state.step == 7 and twin.steps == 5 and not twin.closed
    expected = first.backward({5: 1.0}, wanted=["friction", "force"])
    found = again(twin).backward({5: 1.0}, wanted=["friction", "force"])
    np.testing.assert_array_equal(found.friction, expected.friction)
    np.testing.assert_array_equal(found.force, expected.force)
    assert twin.bytes == first.bytes
    np.testing.assert_array_equal(twin.contacts(3), first.contacts(3))
    twin.close()
    with pytest.raises(pliant.ClosedError):
        twin.bytes
    with pytest.raises(pliant.ClosedError):
        again(twin)
    late = again(first)
    late.scene.set("friction", 0.3)
    with pytest.raises(pliant.ArgumentError, match="changed since it was made"):
        late.backward({5: 1.0})
    slide.set("friction", 0.3)
    with pytest.raises(pliant.ArgumentError, match="changed since it was made"):
        again(first)
