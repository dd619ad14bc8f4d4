"""Rollouts and gradients: sweeps against differences and against each other."""

import numpy as np
import pytest

import pliant
from conftest import centre_loss

STEPS = 8


def test_all_gradients_of_a_slide_against_differences(slide):
    result = pliant.check(slide, centre_loss(STEPS), STEPS, directions=1, force=[[0.5, 0, 0]])
    assert {c.name for c in result.checks} == {
        "position", "velocity", "force", "vertex_force", "collider_pose", "young", "poisson", "density",
        "damping", "viscosity", "yeoh2", "yeoh3", "friction"}
    assert result.ok and result.sweep_error < 1e-7, str(result)
    assert all(c.verdict == "passed" and c.error < 1e-6 for c in result.checks
               if c.name in ("friction", "velocity", "force")), str(result)


def test_gradients_of_pins_against_differences(hanging):
    result = pliant.check(hanging, centre_loss(STEPS), STEPS, wanted=["pin_target", "compliance", "young"])
    assert {c.name for c in result.checks} == {"pin_target", "compliance", "young"}
    assert result.ok and all(c.verdict == "passed" for c in result.checks), str(result)


def test_check_finds_a_wrong_gradient(slide):
    right = centre_loss(STEPS)

    def wrong(step, q, v):
        term = right(step, q, v)
        return term and (term[0], 1.001 * term[1], term[2])
    assert not pliant.check(slide, wrong, STEPS, wanted=["velocity"]).ok
    with pytest.raises(pliant.ArgumentError, match="wanted: the scene has no activation, no pressure to check"):
        pliant.check(slide, centre_loss(STEPS), STEPS, wanted=["pressure", "velocity", "activation"])
    with pytest.raises(ZeroDivisionError):
        pliant.check(slide, lambda step, q, v: 1 / 0, STEPS, wanted=["velocity"])


def test_check_refuses_a_loss_that_depends_on_nothing(slide):
    for loss in (lambda *_: None, centre_loss(STEPS)):  # the other has a term at a step that is not reached
        with pytest.raises(pliant.ArgumentError, match="loss: it is None at all steps, 0 to 3"):
            pliant.check(slide, loss, 3, wanted=["velocity"])
    for slope in (None, np.zeros((slide.vertex_count, 3))):
        with pytest.raises(pliant.ArgumentError, match="loss: it depends on nothing"):
            pliant.check(slide, lambda step, q, v: (2.5, slope, None), 3, wanted=["velocity"])
    forgotten = pliant.check(slide, lambda step, q, v: (q.sum(), None, None), 3, wanted=["velocity"])
    assert not forgotten.ok
    unrelated = pliant.check(slide, centre_loss(3), 3, wanted=["damping"], directions=1)
    assert unrelated.ok


def test_rows_functions_and_tangents_agree(slide):
    rollout = slide.rollout(STEPS)
    random = np.random.default_rng(1)
    dq, dv = random.standard_normal(rollout.q.shape), random.standard_normal(rollout.v.shape)
    by_rows = rollout.backward(dq, dv)
    by_function = rollout.backward(loss=lambda k, q, v: (float((q * dq[k]).sum()), dq[k], dv[k]))
    for name in by_rows:
        np.testing.assert_array_equal(by_rows[name], by_function[name])
    assert by_function.loss == pytest.approx((rollout.q * dq).sum(), rel=1e-12)
    for name in ("velocity", "friction", "force"):
        along = random.standard_normal(by_rows[name].shape)
        tangent_q, tangent_v = rollout.tangent({name: along})
        forward = (tangent_q * dq).sum() + (tangent_v * dv).sum()
        assert (by_rows[name] * along).sum() == pytest.approx(forward, rel=1e-6)


def test_a_limited_tape_gives_the_same_bits(slide):
    loss = centre_loss(200)
    full = slide.rollout(200)
    limited = slide.rollout(200, memory_budget=full.bytes // 4)
    assert limited.bytes < full.bytes
    expected, found = full.backward(loss=loss), limited.backward(loss=loss)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
    np.testing.assert_array_equal(limited.at(33)[0], full.q[33])


def test_parameters_may_change_before_backward(slide):
    """One scene in several rollouts: each remembers the parameters it was made with."""
    loss = centre_loss(STEPS)
    expected = slide.rollout(STEPS).backward(loss=loss)
    first = slide.rollout(STEPS)
    slide.set("friction", 0.5)
    slide.set("young", 3e5)
    second = slide.rollout(STEPS)
    found = first.backward(loss=loss)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
    assert slide.get("friction") == 0.5
    assert second.backward(loss=loss).friction != expected.friction


def test_rollouts_leave_the_start_and_go_on(slide):
    start = slide.state()
    first = slide.rollout(3, start)
    assert start.step == 0 and first.state.step == 3
    second = slide.rollout(4, first.state)
    np.testing.assert_allclose(second.q[-1], slide.rollout(7).q[-1], atol=1e-11)
    np.testing.assert_allclose(second.time, 0.03 + 0.01 * np.arange(5))
    assert (first.info["converged"]).all() and first.info["iterations"].min() >= 1


def test_wanted(slide):
    gradient = slide.rollout(2).backward({2: 1.0}, wanted="friction")
    assert list(gradient) == ["friction"] and gradient.friction.shape == (1, 1)
    with pytest.raises(AttributeError, match="not asked"):
        gradient.young
    for solver in ("direct", "krylov"):
        again = slide.rollout(2).backward({2: 1.0}, wanted=["friction"], solver=solver, tolerance=1e-12)
        np.testing.assert_allclose(again.friction, gradient.friction, rtol=1e-6)
