"""Muscles and chambers from Python: what they take, do, and are differentiated by."""

import numpy as np
import pytest

import pliant
from conftest import centre_loss


@pytest.fixture
def arm(context):
    """A bar held at its left end, with a muscle above and one below."""
    scene = pliant.Scene(gravity=(0, 0, 0), context=context)
    mesh = pliant.Mesh.bar(0.3, 0.1, 0.1, 0.05, context=context)
    mesh.add_group("low", np.flatnonzero(mesh.vertices[mesh.tets].mean(1)[:, 2] < 0), "tet")
    scene.add_body(mesh, name="arm", damping=5)
    scene.add_pin(0, "left")
    assert scene.add_muscle("arm", path=[[0, 0, 0.025], [0.3, 0, 0.025]], radius=0.04) == 0
    assert scene.add_muscle(0, "low", direction=(1, 0, 0), law="force", table=([0, 1], [0.2, 0.3])) == 1
    yield scene
    scene.close()


def tip(scene, q):
    return q[..., scene.bodies[0].mesh.group("right"), 2].mean(-1)


def test_bending(arm):
    assert arm.shape_of("activation", 20) == (20, 2)
    up, down = (tip(arm, arm.rollout(20, activation=a).q)[-1] for a in ([0.5, 0], [-1, 2]))
    assert up > 0.005 and down < -0.005
    own = arm.rollout(20)
    np.testing.assert_allclose(own.q, arm.rollout(20, activation=np.column_stack(
        [np.zeros(20), 0.2 + 0.001 * np.arange(1, 21)])).q, atol=1e-9)
    state = arm.state()
    arm.step(state, activation=[0.1, 0.7])
    assert state.activation.tolist() == [0.1, 0.7]
    assert arm.get("muscle_stiffness").tolist() == [1e5, 1e5]


def test_several_paths(context):
    with pliant.Scene(gravity=(0, 0, 0), context=context) as scene:
        scene.add_body(pliant.Mesh.bar(0.3, 0.1, 0.1, 0.05, context=context))
        strands = [[[0, y, z], [0.3, y, z]] for y, z in ((-0.025, 0.025), (0.025, 0.025), (0, -0.025))]
        scene.add_muscle(0, paths=strands, radius=0.02)
        for strand in strands:
            scene.add_muscle(0, path=strand, radius=0.02)
        with scene.rollout(3, activation=[0.3, 0, 0, 0]) as one, \
                scene.rollout(3, activation=[0, 0.3, 0.3, 0.3]) as three:
            np.testing.assert_allclose(one.q, three.q, atol=1e-9)


def test_gradient(arm):
    result = pliant.check(arm, centre_loss(4), 4, wanted=["activation", "muscle_stiffness"])
    assert result.ok and all(c.verdict == "passed" for c in result.checks), str(result)
    gradient = arm.rollout(4).backward({4: 1.0})
    assert gradient.activation.shape == (4, 2) and gradient.muscle_stiffness.shape == (2,)


def test_tables_are_pairs_or_rows(arm):
    for table in (([0, 0.5], [0.1, 0.2]), [[0, 0.1], [0.5, 0.2]], np.array([[0, 0.1], [0.5, 0.2]])):
        arm.add_muscle(0, "low", direction=(1, 0, 0), table=table)
        assert arm.to_dict()["muscles"][-1]["table"] == [[0, 0.1], [0.5, 0.2]]
    with pytest.raises(pliant.ArgumentError, match="table: 1 values for 2 times"):
        arm.add_force(0, table=([0, 1], [[0, 0, 1]]))


@pytest.mark.parametrize("given, message", [
    (dict(elements=[999], direction=(1, 0, 0)), r"elements\[0\] = 999: body \"arm\" has"),
    (dict(direction=(0, 0, 0)), r"directions\[0\] has length 0"),
    (dict(), "directions: expected one"),
    (dict(path=[[0, 0, 5], [1, 0, 5]], radius=0.1), "the rest shape reaches from"),
    (dict(paths=[[[0, 0, 0], [1, 0, 0]], [[0, 0, 0]]], radius=0.1), r"paths\[1\]: one point"),
    (dict(paths=[[[0, 0, 0], [1, 0]]], radius=0.1), r"paths\[0\]: expected rows of one length"),
    (dict(paths=[[[0, 0, 0], [np.nan, 0, 0]]], radius=0.1), r"paths\[0\]\[1\]\[0\] is not finite"),
    (dict(paths=[], direction=(1, 0, 0)), "paths: expected at least one"),
    (dict(path=[[0, 0, 0], [1, 0, 0]], paths=[[[0, 0, 0], [1, 0, 0]]]), "got both"),
    (dict(direction=(1, 0, 0), activation=1.0), "activation = 1"),
    (dict(direction=(1, 0, 0), law="pull"), "law"),
    (dict(direction=(1, 0, 0), table=([0, 1], [0.1])), "table: 1 values for 2 times"),
    (dict(direction=(1, 0, 0), table=[[0, 0.1, 0]]), r"rows of 2, the time first; got shape \[1, 3\]"),
    (dict(direction=(1, 0, 0), table=([0], [0.1], [1])), r"expected \(times, values\), got 3"),
    (dict(direction=(1, 0), activation=0.1), r"directions: expected shape \[any, 3\]"),
])
def test_refused(arm, given, message):
    with pytest.raises(ValueError, match=message):
        arm.add_muscle("arm", **given)
    with pytest.raises(ValueError, match=r"inputs.activation\[0\] = 1"):
        arm.rollout(1, activation=[1.0, 0.5])


@pytest.fixture
def balloon(context):
    """A hollow cube, free, under pressure."""
    scene = pliant.Scene(gravity=(0, 0, 0), context=context)
    scene.add_body(pliant.Mesh.hollow_box((0.2, 0.2, 0.2), 0.05, 0.05, context=context), name="cube", damping=5)
    assert scene.add_chamber("cube", pressure=5e3) == 0
    yield scene
    scene.close()


def test_inflation(balloon):
    assert balloon.shape_of("pressure", 9) == (9, 1)
    rest = balloon.bodies[0].mesh.vertices
    np.testing.assert_allclose(balloon.chamber_volumes(rest), [1e-3], rtol=1e-12)
    rollout = balloon.rollout(5)
    assert balloon.chamber_volumes(rollout.q[-1])[0] > 1.05e-3
    assert balloon.chamber_volumes(balloon.rollout(5, pressure=-5e3).q[-1])[0] < 0.95e-3
    assert rollout.backward({5: 1.0}).pressure.shape == (5, 1)
    assert pliant.check(balloon, centre_loss(3), 3, wanted=["pressure"]).ok


def test_gas(context):
    """(p + ambient) V stays what it is at the volume at rest."""
    scene = pliant.Scene(gravity=(0, 0, 0), context=context)
    scene.add_body(pliant.Mesh.hollow_box((0.2, 0.2, 0.2), 0.05, 0.05, context=context), damping=5)
    scene.add_chamber(0, pressure=3e4, gas=True, ambient=9e4)
    state = scene.state()
    for _ in range(5):
        scene.step(state)
    pressure, volume = state.chamber_pressures[0], scene.chamber_volumes(state.q)[0]
    assert pressure < 2.5e4
    np.testing.assert_allclose((pressure + 9e4) * volume, 1.2e5 * 1e-3, rtol=1e-12)
    assert pliant.check(scene, centre_loss(3), 3, wanted=["pressure"]).ok
    again = pliant.Scene.from_dict(scene.to_dict())
    assert again.to_dict()["chambers"][0]["gas"] is True
    with pytest.raises(ValueError, match="inputs.pressure"):
        scene.rollout(1, pressure=-9.1e4)


def test_same_cavity(balloon, context):
    listed = balloon.to_dict()["chambers"][0]["triangles"]
    scene = pliant.Scene(context=context)
    scene.add_body(balloon.bodies[0].mesh)
    scene.add_chamber(0, listed)
    scene.add_chamber(0, inside=(0.1, 0.1, 0.1), table=([0, 1], [0, 5]))
    scene.add_chamber(0, cavity=0)
    assert [c["triangles"] for c in scene.to_dict()["chambers"]] == 3 * [listed]
    scene.close()


@pytest.mark.parametrize("given, message", [
    (dict(cavity=1), 'cavity = 1: body "cube" has 1 cavities'),
    (dict(inside=(0, 0, 0.5)), "not in a cavity"),
    (dict(triangles=[[0, 1, 2]]), "not closed"),
    (dict(triangles=[0, 1, 2]), "triangles: expected shape"),
    (dict(pressure=np.nan), "pressure"),
    (dict(gas=True, ambient=-1), "ambient = -1"),
    (dict(name=""), "name is empty"),
])
def test_refused_chambers(balloon, given, message):
    with pytest.raises(ValueError, match=message):
        balloon.add_chamber("cube", **given)


CORNERS = [(0.05, 0.05), (-0.05, 0.05), (-0.05, -0.05), (0.05, -0.05)]


@pytest.fixture
def pulled(context):
    """A bar held at its left end, with a cable along each edge: sliding, or held at its points."""
    scene = pliant.Scene(gravity=(0, 0, 0), context=context)
    mesh = pliant.Mesh.bar(0.3, 0.1, 0.1, 0.05, context=context)
    scene.add_body(mesh, name="arm", damping=5)
    scene.add_pin(0, "left")
    for i, (y, z) in enumerate(CORNERS):
        chain = [dict(body="arm", at=(x, y, z)) for x in (0, 0.1, 0.2, 0.3)]
        assert scene.add_cable([dict(fixed=(-0.1, y, z))] + chain, segments=i > 1, compliance=1e-7) == i
    yield scene
    scene.close()


def test_cables_bend(pulled):
    assert pulled.shape_of("cable_length", 20) == (20, 4)
    shorter, longer = np.linspace(0.4, 0.36, 20), np.linspace(0.4, 0.44, 20)
    up = pulled.rollout(20, cable_length=np.column_stack([shorter, shorter, longer, longer]))
    assert tip(pulled, up.q)[-1] > 0.005
    state = pulled.state()
    for length in shorter:
        pulled.step(state, cable_length=[length, length, 0.4, 0.4])
    assert state.cable_length.tolist() == [0.36, 0.36, 0.4, 0.4]
    assert state.tensions(0).shape == (1,) and state.tensions(3).shape == (4,)
    assert state.tensions(0) > 1
    np.testing.assert_array_equal(np.concatenate([state.tensions(i) for i in range(4)]), state.live)
    assert pulled.get("cable_compliance").tolist() == [1e-7] * 4
    np.testing.assert_array_equal(state.tensions("cable3"), state.tensions(3))
    with pytest.raises(ValueError, match="cable = 4: the scene has 4"):
        state.tensions(4)
    with pytest.raises(ValueError, match="no cable 'rope'; there are: cable0, cable1, cable2, cable3"):
        state.tensions("rope")


def test_cable_gradients(pulled):
    length = np.linspace(0.395, 0.385, 4)[:, None] + [0, 0, 0.04, 0.04]  # two are taut, two slack
    result = pliant.check(pulled, centre_loss(4), 4, wanted=["cable_length", "cable_compliance"],
                          cable_length=length)
    assert result.ok and all(c.verdict == "passed" for c in result.checks), str(result)
    gradient = pulled.rollout(4, cable_length=length).backward({4: 1.0})
    assert gradient.cable_length.shape == (4, 4) and gradient.cable_compliance.shape == (4,)


def test_a_weight_hangs_from_a_point_inside(context):
    with pliant.Scene(context=context) as scene:
        mesh = pliant.Mesh.box((0.1, 0.1, 0.1), cell=0.05, context=context)
        scene.add_body(mesh, damping=50)
        scene.add_cable([dict(body=0, at=(0.05, 0.05, 0.06)), dict(fixed=(0.05, 0.05, 0.5))])
        state = scene.state()
        for _ in range(60):
            scene.step(state)
        np.testing.assert_allclose(state.tensions(0), 9.81 * scene.mass, rtol=1e-3)


@pytest.mark.parametrize("points, given, message", [
    ([], {}, "at least two points, not 0"),
    ([dict(body=0, vertex=99), dict(fixed=(0, 0, 1))], {}, r"points\[0\]: vertices\[0\] = 99: body \"arm\""),
    ([dict(fixed=(0, 0, 1)), dict(body="leg", vertex=0)], {}, r"points\[1\]: .*leg"),
    ([dict(body=0, at=(0, 0, 1)), dict(fixed=(0, 0, 1))], {}, r"points\[0\]: at: \[0, 0, 1\] is 0.95 m off"),
    ([dict(body=0, at=(0, 1)), dict(fixed=(0, 0, 1))], {}, r"points\[0\]: at: expected shape"),
    ([dict(body=0, vertex=0, at=(0, 0, 1)), dict(fixed=(0, 0, 1))], {}, r"points\[0\]: expected body with"),
    ([dict(), dict(fixed=(0, 0, 1))], {}, r"points\[0\]: .* got nothing"),
    ([dict(body=0, vertices=[0, 1], weights=[0.5, 0.6]), dict(fixed=(0, 0, 1))], {}, "add up to 1.1"),
    ([dict(body=0, vertices=range(5)), dict(fixed=(0, 0, 1))], {}, "expected 1 to 4, got 5"),
    ([dict(body=0, vertex=0), dict(fixed=(0, 0, 1))], dict(length=-1.0), "length = -1"),
    ([dict(body=0, vertex=0), dict(fixed=(0, 0, 1))], dict(table=([0, 1], [1, 0])), "length in the table = 0"),
    ([dict(body=0, vertex=0), dict(fixed=(0, 0, np.nan))], {}, "not finite"),
    ([dict(body=0, vertex=0), dict(fixed=(0, 0, 1))], dict(compliance=-1.0), "compliance"),
])
def test_cables_refused(arm, points, given, message):
    with pytest.raises(ValueError, match=message):
        arm.add_cable(points, **given)


def test_names(context, tmp_path):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.hollow_box((0.2, 0.2, 0.2), 0.05, 0.05, context=context))
    scene.add_muscle(0, direction=(1, 0, 0), name="back")
    scene.add_cable([dict(body=0, vertex=0), dict(fixed=(0, 0, 1))], name="rope")
    scene.add_chamber(0, name="bulb")
    scene.save(tmp_path / "scene.json")
    text = (tmp_path / "scene.json").read_text()
    assert all(f'"{name}"' in text for name in ("back", "rope", "bulb"))
    assert [scene._part_index(kind, name) for kind, name in (("muscle", "back"), ("chamber", "bulb"))] == [0, 0]
    state = scene.state()
    scene.step(state)
    assert state.tensions("rope").shape == (1,)
    with pytest.raises(pliant.ConvergenceError, match='chamber 0, "bulb", is under'):
        scene.step(state, pressure=[3e7])
    scene.close()
