"""Batches: environments run side by side are what they are alone."""

import pickle
import threading

import numpy as np
import pytest

import pliant

from test_process import in_child

STEPS, COUNT = 5, 4


def numbers():
    generator = np.random.default_rng(3)
    return {"friction": np.linspace(0.1, 0.4, COUNT), "young": np.array([1e6, 5e5, 2e5, 8e5]),
            "velocity": 0.3 * generator.standard_normal((COUNT, 1, 3)) * [1, 1, 0],
            "force": generator.standard_normal((COUNT, STEPS, 1, 3))}


def alone(scene, given, e):
    return scene.rollout(STEPS, **{name: value[e] for name, value in given.items()})


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_as_each_alone(slide, workers):
    given = numbers()
    with pliant.Batch(slide, COUNT, workers=workers) as batch:
        assert batch.workers == workers
        rollouts = batch.run(STEPS, **given)
        assert rollouts.q.shape == (COUNT, STEPS + 1, slide.vertex_count, 3)
        assert rollouts.failures == {} and rollouts.bytes > 0
        dq = np.random.default_rng(5).standard_normal(rollouts.q.shape)
        gradient = rollouts.backward(dq, 0.1 * dq)
        for e in range(COUNT):
            one = alone(slide, given, e)
            np.testing.assert_array_equal(rollouts.q[e], one.q)
            np.testing.assert_array_equal(rollouts.v[e], one.v)
            np.testing.assert_array_equal(rollouts.info["contacts"][e], one.info["contacts"])
            single = one.backward(dq[e], 0.1 * dq[e])
            assert set(gradient) == set(single)
            for name in single:
                np.testing.assert_array_equal(gradient[name][e], single[name])
        np.testing.assert_array_equal(batch.q, rollouts.q[:, -1])
        np.testing.assert_array_equal(batch.state(2).contacts, alone(slide, given, 2).state.contacts)


def test_values_for_all_and_runs_that_follow(slide):
    with pliant.Batch(slide, 3) as batch:
        batch.set(friction=0.35, young=[1e6, 1e6, 4e5])
        batch.run(2, tape=False, force=[1.0, 0, 0])
        rollouts = batch.run(3, record=False, force=np.ones((3, 1, 3)))
        assert rollouts.q is None
        first = slide.rollout(2, friction=0.35, young=4e5, force=[1.0, 0, 0])
        second = slide.rollout(3, first.state, friction=0.35, young=4e5, force=np.ones((3, 1, 3)))
        np.testing.assert_array_equal(batch.q[2], second.q[-1])
        batch.reset(1)
        assert batch.state(1).step == 0 and batch.state(2).step == 5
        batch.set_state(first.state)
        assert [batch.state(e).step for e in range(3)] == [2, 2, 2]
        # The tapes outlive what the batch does next.
        dq = np.zeros((3, 4, slide.vertex_count, 3))
        dq[:, -1] = 1.0
        single = second.backward(dq[2], wanted=["velocity"])
        np.testing.assert_array_equal(rollouts.backward(dq, wanted=["velocity"])["velocity"][2], single.velocity)


def test_a_loop_that_resets(slide):
    """Every run of it begins alike; without the reset, it goes on."""
    with pliant.Batch(slide, 2) as batch:
        ends, slopes = [], []
        for _ in range(2):
            batch.reset()
            with batch.run(3, young=[1e6, 2e5]) as rollouts:
                ends.append(rollouts.q[:, -1])
                slopes.append(rollouts.backward(rollouts.q, wanted="young")["young"].sum(1))
        np.testing.assert_array_equal(*ends)
        np.testing.assert_array_equal(*slopes)
        np.testing.assert_array_equal(batch.run(1).q[:, 0], ends[0])
        assert slopes[0].shape == (2,)


def test_contacts_and_forces_as_each_alone(slide):
    given, budget = numbers(), 1
    given["force"][3, 2] = np.nan
    with pliant.Batch(slide, COUNT, workers=2) as batch:
        for limited in (False, True):
            batch.reset()
            rollouts = batch.run(STEPS, keep_going=True, memory_budget=budget if limited else 0, **given)
            for e in range(COUNT - 1):
                one = alone(slide, given, e)
                for step in range(STEPS + 1):
                    np.testing.assert_array_equal(rollouts.contacts(e, step), one.contacts(step))
                expected, found = one.pair_forces(), rollouts.pair_forces(e)
                assert set(found) == set(expected) == {("block", "floor")}
                for name, array in expected["block", "floor"].items():
                    np.testing.assert_array_equal(found["block", "floor"][name], array)
        with pytest.raises(pliant.ArgumentError, match="environment 3: it failed in the run"):
            rollouts.pair_forces(3)
        with pytest.raises(IndexError, match="environment = 4: the batch has 4"):
            rollouts.contacts(4, 1)
        with pytest.raises(pliant.ArgumentError, match="environment 0: step = 6"):
            rollouts.contacts(0, 6)
        with pytest.raises(pliant.ArgumentError, match="a copy, .*: take contacts"):
            pickle.loads(pickle.dumps(rollouts)).contacts(0, 1)


def test_failures_by_index(slide):
    given = numbers()
    bad = dict(given, force=given["force"].copy())
    bad["force"][1, 2] = np.nan
    with pliant.Batch(slide, COUNT, workers=2) as batch:
        with pytest.raises(pliant.ArgumentError, match="environment 1: .*force") as error:
            batch.run(STEPS, **bad)
        assert list(error.value.failures) == [1]
        batch.reset()
        rollouts = batch.run(STEPS, keep_going=True, **bad)
        assert list(rollouts.failures) == [1] and isinstance(rollouts.failures[1], pliant.ArgumentError)
        assert np.isnan(rollouts.q[1, 3:]).all() and np.isfinite(rollouts.q[1, :3]).all()
        gradient = rollouts.backward(np.ones_like(rollouts.q), wanted=["friction"])
        for e in (0, 2, 3):
            one = alone(slide, given, e)
            np.testing.assert_array_equal(rollouts.q[e], one.q)
            np.testing.assert_array_equal(gradient["friction"][e],
                                          one.backward(np.ones_like(one.q), wanted=["friction"]).friction)
        assert np.isnan(gradient["friction"][1]).all()


def test_tangent_as_each_alone(slide):
    given, generator = numbers(), np.random.default_rng(9)
    along = {"velocity": generator.standard_normal((COUNT, slide.vertex_count, 3)),
             "force": generator.standard_normal((COUNT, STEPS, 1, 3))}
    with pliant.Batch(slide, COUNT, workers=2) as batch:
        rollouts = batch.run(STEPS, record=False, **given)
        dq, dv = rollouts.tangent(along)
        for e in range(COUNT):
            one = alone(slide, given, e).tangent({name: value[e] for name, value in along.items()})
            np.testing.assert_array_equal(dq[e], one[0])
            np.testing.assert_array_equal(dv[e], one[1])


def test_refuses_by_name(slide):
    with pliant.Batch(slide, COUNT) as batch:
        with pytest.raises(ValueError, match=r"batch dimensions differ: environments \[4\], velocity \[3\]"):
            batch.run(STEPS, velocity=np.zeros((3, slide.vertex_count, 3)))
        with pytest.raises(ValueError, match=r"young: expected shape"):
            batch.set(young=np.full(3, 1e5))
        with pytest.raises(pliant.ArgumentError, match="environment 2: young"):
            batch.set(young=[1e5, 1e5, -1, 1e5])
        with pytest.raises(pliant.ArgumentError, match="force: inputs are given to run"):
            batch.set(force=0.0)
        with pytest.raises(TypeError, match="did you mean 'young'"):
            batch.run(STEPS, yuong=1e5)
        with pytest.raises(IndexError, match="environment = 4"):
            batch.state(4)
        with pytest.raises(pliant.ArgumentError, match="without a tape"):
            batch.run(1, tape=False).backward(0.0)
        with pytest.raises(pliant.ArgumentError, match="new parts"):
            slide.add_collider("sphere", radius=1)
    with pytest.raises(pliant.ArgumentError, match="environments = 0"):
        pliant.Batch(slide, 0)
    with pytest.raises(pliant.ClosedError):
        batch.run(1)


def test_budget(slide):
    dq = np.zeros((2, 201, slide.vertex_count, 3))
    dq[:, -1] = 1.0
    with pliant.Batch(slide, 2) as batch:
        whole = batch.run(200, record=False, friction=[0.1, 0.3])
        full = whole.backward(dq, wanted=["friction"])["friction"]
        batch.reset()
        part = batch.run(200, record=False, friction=[0.1, 0.3], memory_budget=whole.bytes // 2)
        assert part.bytes <= whole.bytes // 2
        np.testing.assert_array_equal(part.backward(dq, wanted=["friction"])["friction"], full)


def test_outlives_its_scene_and_is_freed(slide):
    batch = pliant.Batch(slide, 2)
    rollouts = batch.run(2)
    batch.close()
    assert np.isfinite(rollouts.backward(np.ones_like(rollouts.q))["velocity"]).all()
    rollouts.close()
    slide.add_collider("sphere", radius=0.1, position=(9, 0, 0))
    with pytest.raises(TypeError, match="a batch cannot be copied or pickled"):
        pickle.dumps(pliant.Batch(slide, 1))


def test_other_threads_run_meanwhile(slide):
    """The GIL is released."""
    ticks, done = [0], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    with pliant.Batch(slide, 8) as batch:
        before = ticks[0]
        batch.run(40, tape=False)
        during = ticks[0] - before
    done.set()
    thread.join()
    assert during > 0


def test_forked_child(slide):
    given = numbers()
    scene = pickle.loads(pickle.dumps(slide))
    batch = pliant.Batch(scene, COUNT, workers=2)
    expected = batch.run(STEPS, **given).q.tobytes()

    def again():
        batch.reset()
        return batch.run(STEPS, **given).q.tobytes()

    assert in_child(again) == expected
    assert in_child(lambda: pliant.Batch(scene, COUNT, workers=2).run(STEPS, **given).q.tobytes()) == expected
