"""Scenes from files, dicts and code; states; steps; parameters; what is refused."""

import warnings

import numpy as np
import pytest

import pliant

SLOPE = {
    "bodies": [{"name": "block", "mesh": {"box": {"size": [0.12, 0.12, 0.06], "cell": 0.06}},
                "transform": {"translate": [0, 0, 1e-5]}, "velocity": [0.4, 0.1, 0],
                "material": {"model": "corotated", "young": 1e6}}],
    "forces": [{"body": "block", "value": [0.5, 0, 0], "per": "group"}],
    "colliders": [{"name": "floor", "shape": {"half_space": {}}, "friction": 0.2}],
    "solver": "direct", "tolerance": 1e-13, "steps": 7,
}


def test_dict_and_code_and_file_agree(slide, context, tmp_path):
    import json
    (tmp_path / "slope.json").write_text(json.dumps({"version": 1, **SLOPE}))
    scenes = [slide, pliant.Scene.from_dict(SLOPE, context=context),
              pliant.Scene.load(tmp_path / "slope.json", context=context)]
    assert scenes[1].steps == 7
    ends = [scene.rollout(7).q for scene in scenes]
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[1], ends[2])


def test_arrays_in_dicts_and_overrides(context):
    scene = pliant.Scene.from_dict({**SLOPE, "gravity": np.array([0, 0, -1.0])},
                                   {"bodies.block.material.young": 3e4, "solver": "lagged"}, context=context)
    assert scene.get("young") == pytest.approx(3e4)
    with pytest.raises(pliant.ArgumentError, match=r"bodies\[0\].material.young.*-3"):
        pliant.Scene.from_dict(SLOPE, ["bodies[0].material.young=-3"], context=context)
    with pytest.raises(pliant.ArgumentError, match=r"scene:\d+: gravity: expected an array of 3"):
        pliant.Scene.from_dict({**SLOPE, "gravity": 3}, context=context)


def test_a_block_in_free_fall(context):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.box((1, 1, 1), 1, context=context), velocity=(1, 0, 0))
    state = scene.state()
    for _ in range(10):
        info = scene.step(state)
    # Implicit Euler: z falls by g h^2 (1 + 2 + ... + 10); x moves with 1 m/s.
    fall = 9.81 * 1e-4 * 55
    np.testing.assert_allclose(state.q.mean(0), [0.6, 0.5, 0.5 - fall], atol=1e-9)
    assert state.time == pytest.approx(0.1) and state.step == 10 and info.converged
    assert info.energy_kinetic == pytest.approx(0.5 * scene.mass * (1 + (9.81 * 0.1)**2), rel=1e-9)


def test_state_arrays_are_views(slide):
    state = slide.state()
    q = state.q
    assert q is state.q and not q.flags.owndata
    slide.step(state)
    np.testing.assert_array_equal(q, state.q)
    other = slide.copy(state)
    other.q += 1
    assert np.abs(other.q - q).min() > 0.5
    contacts = state.contacts
    assert len(contacts) and contacts["force_normal"].sum() == pytest.approx(
        9.81 * slide.mass, rel=0.2)  # the first step also lets the block down
    assert set(contacts.dtype.names) >= {"vertex", "collider", "gap", "force_tangent"}
    state.close()
    assert np.isfinite(q).all()


def test_inputs(slide, hanging):
    state = slide.state()
    slide.step(state, vertex_force=np.zeros((slide.vertex_count, 3)), force=[[1.0, 0, 0]])
    still, pushed = slide.rollout(3), slide.rollout(3, force=[[5.0, 0, 0]])
    rows = slide.rollout(3, force=np.broadcast_to([5.0, 0, 0], (3, 1, 3)))
    np.testing.assert_array_equal(pushed.q, rows.q)
    assert pushed.q[-1, :, 0].mean() > still.q[-1, :, 0].mean()
    target = hanging.state().pin_target.copy()
    lifted = hanging.rollout(5, pin_target=target + [0, 0, 0.01])
    left = hanging.bodies[0].mesh.group("left")
    np.testing.assert_allclose(lifted.q[-1, left, 2], target[:, 2] + 0.01, atol=1e-4)


def test_tables_and_parts(context):
    scene = pliant.Scene(context=context)
    cloth = pliant.Mesh.rectangle(0.3, 0.2, 0.1, context=context)
    scene.add_body(cloth, name="flag", young=1e4, thickness=1e-3, bending=1e-4)
    scene.add_pin("flag", "left", offset=([0, 1], [[0, 0, 0], [0, 0, 1]]))
    scene.add_wind("flag", velocity=(1, 0, 0), drag=0.1)
    scene.add_collider("sphere", radius=0.1, position=(5, 0, 0))
    scene.add_collider("box", half_extents=(1, 1, 1), position=(9, 0, 0))
    scene.add_collider("mesh", surface=pliant.Mesh.box((1, 1, 1), 1, context=context), position=(20, 0, 0))
    assert (scene.body_count, scene.pin_count, scene.wind_count, scene.collider_count) == (1, 1, 1, 3)
    assert scene.bodies[0].cloth and scene.bodies[0].name == "flag"
    rollout = scene.rollout(5)
    np.testing.assert_allclose(rollout.q[-1, cloth.group("left"), 2], 0.05, atol=1e-4)


def test_parts_after_steps(slide, context):
    state = slide.state()
    slide.step(state)
    other = pliant.Mesh.box((0.1, 0.1, 0.1), 0.1, context=context)
    other.transform(translation=(0, 0, 5))
    slide.add_body(other, positions=None)
    with pytest.raises(pliant.ArgumentError, match="new parts"):
        slide.step(state)
    slide.step(slide.state())
    rollout = slide.rollout(1)
    with pytest.raises(pliant.ArgumentError, match=r"new parts while rollouts or .* open: close them, or .*copy"):
        slide.add_force(0)
    rollout.close()
    slide.add_force(0)


def test_pairs_and_starts_after_steps(context):
    scene = pliant.Scene(gravity=(0, 0, 0), context=context)
    box = pliant.Mesh.box((0.1, 0.1, 0.1), 0.1, context=context)
    scene.add_body(box, name="a")
    scene.add_body(box.transform(translation=(0.05, 0.05, 0.15)), name="b", velocity=(0, 0, -1))
    pliant.Batch(scene, 2).close()
    state, start = scene.state(), scene.state().q.copy()
    scene.step(state)
    rollout = scene.rollout(8)
    assert rollout.info["contacts"][-1] > 0
    for change, message in ((lambda: scene.set_body_pair("a", "b", contact=False), "change which bodies touch"),
                            (scene.bring_out, "bring bodies out")):
        with pytest.raises(pliant.ArgumentError, match=f"cannot {message} while rollouts .* close them"):
            change()
        with pytest.raises(pliant.ArgumentError, match=f"cannot {message} inside a callback"):
            scene.rollout(1, progress=lambda step, info: change())
    rollout.close()
    scene.set_body_pair("a", "b", contact=False)
    with scene.rollout(8) as through:
        assert through.info["contacts"][-1] == 0
    scene.step(state)  # a state made before goes on
    scene.set_body_pair("a", "b", contact=True, friction=0.3)
    scene.add_collider("half_space", position=(0, 0, 0.01))
    assert scene.bring_out() == pytest.approx(0.01, rel=1e-3)
    scene.step(scene.state())
    assert scene.bring_out() == 0
    np.testing.assert_allclose(scene.state().q[:8] - start[:8], np.tile([0, 0, 0.01], (8, 1)), atol=1e-5)


def test_parameters(slide):
    slide.set("young", 2e5)
    slide.set("young", np.linspace(1e5, 2e5, slide.element_count), body="block")
    assert slide.get("young")[-1] == 2e5
    slide.set("friction", 0.7)
    slide.set_friction("block", "floor", 0.5)
    assert slide.get("friction").tolist() == [[0.5]]
    slide.set_friction("block", 0, 0.6)
    assert slide.get("friction").tolist() == [[0.6]]
    with pytest.raises(pliant.ArgumentError, match="-1"):
        slide.set("density", -1)
    assert (slide.get("density") == 1000).all()
    with pytest.raises(ValueError, match="'weight'"):
        slide.set("weight", 1)


def test_fields(slide):
    state = slide.state()
    fields = slide.fields(state)
    assert fields["stress"].shape == (slide.element_count, 3, 3)
    np.testing.assert_allclose(fields["von_mises"], 0, atol=1e-6)
    state.q[:, 0] *= 1.01
    assert (slide.fields(state)["von_mises"] > 1e3).all()


WRONG = [
    (lambda s: s.step(s.state(), force=[[np.nan, 0, 0]]), pliant.ArgumentError, "force.*finite"),
    (lambda s: s.step(s.state(), force=[1, 2]), ValueError, r"force: expected shape \[1, 3\], got \[2\]"),
    (lambda s: s.step(s.state(), force="push"), TypeError, "force"),
    (lambda s: s.step(s.state(), force=[[1j, 0, 0]]), TypeError, "complex"),
    (lambda s: s.step(None), TypeError, "State"),
    (lambda s: s.step(pliant.Scene.from_dict(SLOPE).state()), pliant.ArgumentError, "another scene"),
    (lambda s: s.rollout(0), pliant.ArgumentError, "steps = 0"),
    (lambda s: s.rollout(2.5), pliant.ArgumentError, "steps"),
    (lambda s: s.rollout(2**32), ValueError, "steps: 4294967296 is out of range"),
    (lambda s: s.rollout(2, velocity=np.full((s.vertex_count, 3), np.nan)), pliant.ArgumentError, "finite"),
    (lambda s: s.rollout(2, force=np.zeros((3, 1, 3))), ValueError, r"\[2, 1, 3\]"),
    (lambda s: s.set("young", np.nan), pliant.ArgumentError, "young"),
    (lambda s: s.set("young", [1, 2]), ValueError, "young"),
    (lambda s: s.add_pin("nobody", [0]), pliant.ArgumentError, "nobody"),
    (lambda s: s.add_pin("block", [10**6]), pliant.ArgumentError, "1000000"),
    (lambda s: s.add_collider("banana"), ValueError, "banana"),
    (lambda s: s.add_collider("sphere", radius=-1), pliant.ArgumentError, "radius|size"),
    (lambda s: s.add_body(pliant.Mesh.box((1, 1, 1), 1)), pliant.ArgumentError, "another context"),
    (lambda s: s.rollout(1).backward(), TypeError, "either"),
    (lambda s: s.rollout(1).backward(loss=3), TypeError, "loss: expected a function"),
    (lambda s: s.rollout(1).tangent(["friction"]), TypeError, "direction: expected a dict"),
    (lambda s: s.rollout(1).at("end"), TypeError, "step: expected an integer, got str"),
    (lambda s: s.rollout(1).at(2**32), ValueError, "step: 4294967296 is out of range"),
    (lambda s: s.rollout(1).contacts(0.5), TypeError, "step"),
    (lambda s: s.rollout(1, memory_budget=-1), ValueError, "memory_budget: -1"),
    (lambda s: s.rollout(1, progress=7), TypeError, "progress: expected a function, got int"),
    (lambda s: s.add_body("box"), TypeError, "mesh: expected a Mesh, got str"),
    (lambda s: s.add_wind(0, drag="much"), TypeError, "drag"),
    (lambda s: s.add_wind(0.5), TypeError, "body"),
    (lambda s: s.add_collider("sphere", radius=None), TypeError, "radius"),
    (lambda s: s.add_collider("mesh", surface=3), TypeError, "surface: expected a Mesh, got int"),
    (lambda s: s.set_friction(0, 2**32, 0.1), ValueError, "collider: 4294967296"),
    (lambda s: s.set_friction(0, 1, 0.1), pliant.ArgumentError, "collider = 1: the scene has 1"),
    (lambda s: s.set_friction(0, "wall", 0.1), pliant.ArgumentError, "no collider 'wall'; there are: floor"),
    (lambda s: pliant.Scene(max_iterations=2**40), ValueError, "max_iterations"),
    (lambda s: pliant.Scene(tolerance="tight"), TypeError, "tolerance"),
    (lambda s: pliant.Scene(time_step=10**400), ValueError, "time_step: too large"),
    (lambda s: pliant.Context(threads="all"), TypeError, "threads"),
    (lambda s: pliant.Context(log=7), TypeError, "log"),
    (lambda s: pliant.check("scene", None), TypeError, "scene: expected a Scene"),
    (lambda s: pliant.view(3), TypeError, "rollouts: expected a Rollout, got int"),
    (lambda s: s.rollout(1).backward({2: 0.0}), ValueError, "steps 0 to 1"),
    (lambda s: s.rollout(1).backward({1: np.nan}), pliant.NumericError, "finite"),
    (lambda s: s.rollout(1).backward({1: 1.0}, wanted=["mood"]), ValueError, "mood"),
    (lambda s: s.rollout(1, tape=False).backward({1: 1.0}), pliant.ArgumentError, "tape"),
    (lambda s: pliant.Scene(gravity=[0, 1]), ValueError, "gravity"),
    (lambda s: pliant.Scene(time_step=-1), pliant.ArgumentError, "time_step"),
    (lambda s: pliant.Scene.load("nosuch.json"), pliant.FileError, "nosuch.json"),
    (lambda s: pliant.Scene.load(7), TypeError, "path"),
    (lambda s: pliant.Scene.from_dict({"bodies": [object()]}), TypeError, "object"),
]


@pytest.mark.parametrize("call, error, message", WRONG)
def test_wrong_values(slide, call, error, message):
    with pytest.raises(error, match=message):
        call(slide)
    slide.step(slide.state())  # nothing was harmed


def test_a_failed_step_leaves_the_state(slide):
    state = slide.state()
    slide.step(state)
    before = state.q.copy()
    with pytest.raises(pliant.Error):
        slide.step(state, vertex_force=np.full((slide.vertex_count, 3), 1e30))
    np.testing.assert_array_equal(state.q, before)


def test_warnings_go_to_logging(caplog):
    scene = pliant.Scene()
    scene.add_body(pliant.Mesh.box((0.1, 0.1, 0.1), cell=0.1), poisson=0.48)
    scene.step(scene.state())
    assert [(r.name, r.levelname) for r in caplog.records] == [("pliant", "WARNING")]
    assert "mean_volume" in caplog.text


def test_log(tmp_path):
    heard = []
    context = pliant.Context(threads=1, log=lambda level, text: heard.append((level, text)), log_level="debug")
    path = tmp_path / "loose.mesh"
    path.write_text("MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                    "9 9 9 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n")
    pliant.Mesh.read(path, context=context)
    assert any(level == "warning" for level, _ in heard)


def test_defaults_are_the_librarys(context):
    from pliant._library import lib
    made, default = lib.pl_scene_get_def(pliant.Scene(context=context)._pointer), lib.pl_scene_def_default()
    for name, *_ in default._fields_:
        ours, theirs = getattr(made, name), getattr(default, name)
        assert (list(ours) == list(theirs)) if name == "gravity" else ours == theirs, name
    assert made.max_iterations == 100


NOTHING = [  # on a scene without forces, winds and pins
    (lambda s: s.rollout(5, force=np.full((5, 1, 3), 100.0)),
     r"force: expected shape \[5, 0, 3\], got \[5, 1, 3\]"),
    (lambda s: s.rollout(5, force=[1.0, 0, 0]), "force: expected shape"),
    (lambda s: s.rollout(5, wind=1.0), "wind: expected shape"),
    (lambda s: s.step(s.state(), pin_target=np.zeros((1, 3))), r"pin_target: expected shape \[0, 3\]"),
    (lambda s: s.set("compliance", 1e-3), r"compliance: expected shape \[0\], got \[\]"),
    (lambda s: s.rollout(5).tangent({"force": np.ones((5, 1, 3))}), "force: expected shape"),
    (lambda s: pliant.check(s, lambda *_: None, 5, force=np.zeros((5, 1, 3))), "force: expected shape"),
]


@pytest.mark.parametrize("call, message", NOTHING)
def test_nothing_is_broadcast_to_nothing(context, call, message):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.box((0.1, 0.1, 0.1), 0.1, context=context))
    with pytest.raises(ValueError, match=message):
        call(scene)
    scene.rollout(5, force=np.zeros((5, 0, 3)), wind=np.zeros((0, 3)))


def test_bodies_touch_each_other(context):
    scene = pliant.Scene(body_friction=0.3, context=context)
    upper = pliant.Mesh.box((0.1, 0.1, 0.1), 0.05, context=context)
    upper.transform(translation=(0.043, 0.037, 0.1015))
    scene.add_body(pliant.Mesh.box((0.2, 0.2, 0.1), 0.05, context=context), young=1e5)
    scene.add_body(upper, young=1e5)
    scene.add_collider("half_space", position=(0, 0, -1e-4), friction=0.5)
    state = scene.state()
    for _ in range(60):
        scene.step(state)
    between = state.contacts[state.contacts["collider"] < 0]
    assert len(between) and (between["gap"] > 0).all()
    side = np.where(between["vertex"][:, 0] >= len(scene.bodies[0].mesh.vertices), 1, -1)
    carried = (side * between["force_normal"] * between["normal"][:, 2]).sum()
    assert carried == pytest.approx(9.81, rel=0.02)  # a litre of water's weight, faces being nearly level
    blocks, ground = state.pair_forces
    assert (blocks.body, blocks.partner, ground.body, ground.partner) == ("body0", "body1", "body0", "collider0")
    assert ground.collider and not blocks.collider and ground.contacts > 0
    assert (blocks.normal + blocks.friction)[2] == pytest.approx(-9.81, rel=1e-3)
    assert (ground.normal + ground.friction)[2] == pytest.approx(5 * 9.81, rel=1e-3)
    over_time = scene.rollout(3, state).pair_forces()
    assert set(over_time) == {("body0", "body1"), ("body0", "collider0")}
    assert over_time["body0", "collider0"]["normal"][1:, 2] == pytest.approx(5 * 9.81, rel=1e-2)
    assert scene.get("body_friction").shape == (2, 2)
    overlapping = pliant.Scene(body_contact=True, context=context)
    for _ in range(2):
        overlapping.add_body(upper, young=1e5)
    with pytest.raises(pliant.ArgumentError, match="apart"):
        overlapping.step(overlapping.state())


def test_friction_of_bodies_that_do_not_touch(context):
    scene = pliant.Scene(context=context)
    box = pliant.Mesh.box((0.1, 0.1, 0.1), 0.1, context=context)
    scene.add_body(box, name="upper")
    scene.add_body(box.transform(translation=(0, 0, 1)), name="lower", self_contact=True)
    with pytest.warns(UserWarning, match="body 'upper' does not touch itself, so friction .* self_contact=True") as told:
        scene.set_body_pair("upper", "upper", friction=0.5)
    assert told[0].filename == __file__
    assert scene.get("body_friction")[0, 0] == 0.5
    scene.set_body_pair("upper", "lower", contact=False)
    with pytest.warns(UserWarning, match="bodies 'lower' and 'upper' do not touch, so friction"):
        scene.set_body_pair(1, 0, friction=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.set_body_pair("upper", "upper", contact=True, friction=0.2)
        scene.set_body_pair("lower", "lower", friction=0.2)
        scene.set_body_pair("upper", "lower", contact=True, friction=0.2)


def test_starts_are_brought_out(context):
    scene = pliant.Scene(body_contact=True, context=context)
    box = pliant.Mesh.box((0.1, 0.1, 0.1), 0.05, context=context)
    scene.add_body(box, velocity=(0, 0.5, 0))
    scene.add_body(box.transform(translation=(0.01, 0.02, 0.09)))
    scene.add_collider("half_space", position=(0, 0, 0.02), friction=0)
    with pytest.raises(pliant.ArgumentError, match=r"0.02 m inside .* call scene.bring_out\(\)"):
        scene.step(scene.state())
    before = scene.state()
    assert scene.bring_out() == pytest.approx(0.031, abs=1e-3)
    state = scene.state()
    shift = state.q - before.q
    assert np.ptp(shift[:27], axis=0).max() < 1e-15 and (state.v == before.v).all()
    scene.step(state)
    assert abs(state.v[:27] - (0, 0.5, 0)).max() < 0.1


def test_pins_along_a_normal_leave_the_rest_free(context):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.grid((2, 2, 2), 0.1, "diagonal", context=context), viscosity=20)
    scene.add_pin(0, np.arange(8), normal=(0, 1, 0))
    assert scene.to_dict()["pins"][0]["normal"] == [0, 1, 0]
    assert scene.get("viscosity").tolist() == [20] * 6
    state = scene.state()
    state.v[:, 1] = 1
    state.v[:, 0] = 1
    start = state.q.copy()
    scene.step(state)
    assert abs(state.q - start)[:, 1].max() < 1e-6
    np.testing.assert_allclose(state.q[:, 0] - start[:, 0], 0.01, rtol=1e-6)


def test_devices():
    found = pliant.devices()
    assert found["cpu"] is None and found["reference"] is None
    assert any(name.startswith("opencl") for name in found)


def test_a_device_steps_as_the_host(context):
    ends = []
    for device in (None, "reference"):
        scene = pliant.Scene(device=device, context=context)
        block = pliant.Mesh.box((0.12, 0.12, 0.06), cell=0.06, context=context).transform(translation=(0, 0, 1e-4))
        scene.add_body(block, young=1e6, velocity=(0.5, 0, 0))
        scene.add_collider("half_space", friction=0.2)
        rollout = scene.rollout(5)
        gradient = rollout.backward({5: np.ones((scene.vertex_count, 3))})
        ends.append((rollout.q[-1], gradient.friction))
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-8
    assert ends[1][1] == pytest.approx(ends[0][1], rel=1e-6)


def test_a_device_that_is_not_there(context):
    scene = pliant.Scene(device="abacus", context=context)
    scene.add_body(pliant.Mesh.box((0.1, 0.1, 0.1), cell=0.1, context=context))
    with pytest.raises(pliant.ArgumentError, match="abacus"):
        scene.rollout(1)
