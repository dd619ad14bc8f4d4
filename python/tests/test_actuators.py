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


def test_gradient(arm):
    result = pliant.check(arm, centre_loss(4), 4, wanted=["activation", "muscle_stiffness"])
    assert result.ok and all(c.verdict == "passed" for c in result.checks), str(result)
    gradient = arm.rollout(4).backward({4: 1.0})
    assert gradient.activation.shape == (4, 2) and gradient.muscle_stiffness.shape == (2,)


@pytest.mark.parametrize("given, message", [
    (dict(elements=[999], direction=(1, 0, 0)), r"elements\[0\] = 999: body \"arm\" has"),
    (dict(direction=(0, 0, 0)), r"directions\[0\] has length 0"),
    (dict(), "directions: expected one"),
    (dict(path=[[0, 0, 5], [1, 0, 5]], radius=0.1), "the rest shape reaches from"),
    (dict(direction=(1, 0, 0), activation=1.0), "activation = 1"),
    (dict(direction=(1, 0, 0), law="pull"), "law"),
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
])
def test_refused_chambers(balloon, given, message):
    with pytest.raises(ValueError, match=message):
        balloon.add_chamber("cube", **given)
