"""The library's table of channels, as Python shows it."""

import numpy as np
import pytest

import pliant
from pliant import _api
from pliant._library import lib


def test_the_table_is_the_librarys():
    assert len(pliant.CHANNELS) == _api.PL_CHANNEL_COUNT
    for index, (name, channel) in enumerate(pliant.CHANNELS.items()):
        assert lib.pl_channel_find(name.encode()) == index == channel.index
        assert getattr(_api, "PL_" + name.upper()) == index
    assert pliant.WANTED == tuple(pliant.CHANNELS)
    assert set(pliant.WANTED) == {"position", "velocity", *pliant.INPUTS, *pliant.PARAMETERS}
    young, pose = pliant.CHANNELS["young"], pliant.CHANNELS["collider_pose"]
    assert (young.unit, young.role, young.owner, young.row) == ("Pa", "parameter", "body", "element")
    assert (young.lower, young.above) == (0, True)
    assert (pose.role, pose.owner, pose.width, pose.gradient_width) == ("input", "collider", 7, 6)


def test_the_docs_name_them_all(root):
    torch = (root / "docs" / "python.md").read_text(encoding="utf-8").split("## PyTorch")[1].split("\n## ")[0]
    assert [name for name in pliant.WANTED if f"`{name}`" not in torch] == []


def test_shapes(slide, hanging, context):
    n, m = slide.vertex_count, slide.element_count
    expected = {"position": (n, 3), "vertex_force": (5, n, 3), "force": (5, 1, 3), "wind": (5, 0, 3),
                "pin_target": (5, 0, 3), "collider_pose": (5, 1, 7), "young": (m,), "friction": (1, 1),
                "compliance": (0,)}
    assert {name: slide.shape_of(name, 5) for name in expected} == expected
    assert hanging.shape_of("pin_target") == (1, hanging.pin_vertex_count, 3)
    assert pliant.Scene(context=context).shape_of("friction") == (0, 0)
    with pytest.raises(ValueError, match="'yung': expected one of position, .*did you mean 'young'"):
        slide.shape_of("yung")


def test_gradients_have_these_shapes(slide):
    gradient = slide.rollout(2).backward({2: 1.0})
    assert set(gradient) == {name for name in pliant.WANTED if 0 not in slide.shape_of(name)}
    for name, array in gradient.items():
        shape = slide.shape_of(name, 2)
        assert array.shape == ((2, 1, 6) if name == "collider_pose" else shape)
        assert getattr(gradient, name) is array and name in dir(gradient)


def test_parameters_of_parts(context):
    """Every parameter a part has is an argument of the call that adds it."""
    scene = pliant.Scene(context=context)
    cloth = pliant.Mesh.rectangle(0.2, 0.1, 0.1, context=context)
    damping = np.linspace(0, 1, len(cloth.triangles))
    for _ in range(2):
        scene.add_body(cloth, young=2e4, poisson=0.2, density=300, bending=1e-4, damping=damping)
    scene.add_pin(0, "left", compliance=1e-5)
    scene.add_pin(1, "left")
    scene.add_collider("half_space", friction=0.7)
    assert scene.get("bending").tolist() == [1e-4] * scene.element_count
    np.testing.assert_array_equal(scene.get("damping").reshape(2, -1)[1], damping)
    assert scene.get("compliance").tolist() == [1e-5, 1e-9]
    assert scene.get("friction").tolist() == [[0.7, 0.7]]
    scene.set("young", 1e3, body=1)
    assert scene.get("young").reshape(2, -1)[:, 0].tolist() == [2e4, 1e3]
    scene.set("friction", 0.1, body=0)
    assert scene.get("friction").tolist() == [[0.1, 0.7]]
    with pytest.raises(ValueError, match="compliance: belongs to pins"):
        scene.set("compliance", 1e-3, body=0)
    values = scene.get("young")
    values[-1] = -1
    with pytest.raises(pliant.ArgumentError, match="young"):
        scene.set("young", 2 * values)  # the first body's are possible, the second's are not
    assert scene.get("young").reshape(2, -1)[:, 0].tolist() == [2e4, 1e3]


def test_a_rollout_with_parameters_of_its_own(slide):
    slide.set("friction", 0.4)
    slide.set("young", 3e5)
    expected = slide.rollout(5)
    gradient = expected.backward({5: 1.0})
    slide.set("friction", 0.2)
    slide.set("young", 1e6)
    found = slide.rollout(5, friction=0.4, young=3e5)
    np.testing.assert_array_equal(found.q, expected.q)
    again = found.backward({5: 1.0})
    for name in gradient:
        np.testing.assert_array_equal(again[name], gradient[name])
    assert slide.get("friction") == 0.2 and (slide.get("young") == 1e6).all()
    with pytest.raises(pliant.ArgumentError, match="friction = -1"):
        slide.rollout(5, friction=-1)


def test_inputs_a_state_carries(slide, hanging):
    shapes = {name: array.shape for name, array in slide.state().inputs.items()}
    assert shapes == {"pin_target": (0, 3), "collider_pose": (1, 7), "activation": (0,), "cable_length": (0,),
                      "pressure": (0,)}
    state = hanging.state()
    before = state.pin_target.copy()
    hanging.step(state, pin_target=before + 0.01)
    np.testing.assert_array_equal(state.pin_target, before + 0.01)
    with pytest.raises(AttributeError, match="vertex_force"):
        state.vertex_force
    with pytest.raises(AttributeError, match="mood"):
        state.mood


@pytest.mark.parametrize("call, hint", [
    (lambda s: s.step(s.state(), forces=0.0), "step: 'forces': expected one of vertex_force, .*mean 'force'"),
    (lambda s: s.step(s.state(), young=1.0), "step: 'young': expected one of vertex_force"),
    (lambda s: s.rollout(1, frictoin=0.1), "rollout: 'frictoin': .*mean 'friction'"),
    (lambda s: s.rollout(1, memory=7), "rollout: 'memory': .*memory_budget"),
    (lambda s: s.add_body(s.bodies[0].mesh, yung=3), "add_body: 'yung': .*mean 'young'"),
    (lambda s: s.add_body(s.bodies[0].mesh, modle="arap"), "add_body: 'modle': .*mean 'model'"),
    (lambda s: s.add_pin(0, [0], friction=3), "add_pin: 'friction': expected one of compliance"),
    (lambda s: pliant.check(s, lambda *_: None, 1, wind_=0), "check: 'wind_': .*mean 'wind'"),
])
def test_unknown_names(slide, call, hint):
    with pytest.raises(TypeError, match=hint):
        call(slide)
