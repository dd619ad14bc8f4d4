"""Closing, collecting, threads, exit: safe in any order, and nothing grows."""

import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import pliant
from pliant import _library


def small(context):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.box((0.1, 0.1, 0.1), 0.1, context=context))
    scene.add_collider("half_space")
    return scene


def test_any_order_of_closing():
    for order in itertools.permutations(range(5)):
        context = pliant.Context(threads=1)
        scene = small(context)
        rollout = scene.rollout(2)
        gradient = rollout.backward({2: 1.0})
        views = [rollout.state.q, gradient.position, scene.bodies[0].mesh.vertices]
        objects = [context, scene, rollout, gradient, rollout.state]
        for k in order:
            objects[k].close()
        assert all(o.closed for o in objects)
        assert all(np.isfinite(v).all() for v in views)


def test_closed_objects_say_so():
    context = pliant.Context(threads=1)
    scene = small(context)
    state, rollout, mesh = scene.state(), scene.rollout(1), pliant.Mesh.box((1, 1, 1), 1, context=context)
    gradient = rollout.backward({1: 1.0})
    uses = [(state, lambda: state.q), (state, lambda: scene.step(state)),
            (mesh, lambda: mesh.vertices), (mesh, lambda: scene.add_body(mesh)),
            (gradient, lambda: gradient.position), (rollout, lambda: rollout.backward({1: 1.0})),
            (scene, lambda: scene.rollout(1)), (scene, lambda: scene.vertex_count),
            (scene, lambda: scene.add_collider("half_space")), (context, lambda: context.threads),
            (context, lambda: pliant.Mesh.box((1, 1, 1), 1, context=context))]
    for owner, use in uses:
        owner.close()
        owner.close()
        with pytest.raises(pliant.ClosedError, match=owner._what):
            use()
        repr(owner)


def test_cycles_are_collected():
    scene = small(pliant.Context(threads=1))
    scene.self = scene
    scene.rollouts = [scene.rollout(1)]
    scene.rollouts[0].scene_again = scene
    gone = weakref.ref(scene)
    del scene
    gc.collect()
    assert gone() is None


def test_closing_inside_a_callback(context):
    scene = small(context)
    rollout = scene.rollout(3, progress=lambda step, info: scene.close())
    assert rollout.q.shape[0] == 4 and scene.closed
    scene = small(context)
    rollout = scene.rollout(3)

    def loss(step, q, v):
        rollout.close()
        gc.collect()
        return 0.0, q, None
    assert np.isfinite(rollout.backward(loss=loss).position).all()
    scene = small(context)
    with pytest.raises(pliant.ArgumentError, match="callback"):
        scene.rollout(3, progress=lambda step, info: scene.add_collider("half_space"))


def test_exceptions_pass_through_callbacks(context):
    scene = small(context)

    def stop(step, info):
        raise RuntimeError(f"enough at {step}")
    with pytest.raises(RuntimeError, match="enough at 1"):
        scene.rollout(3, progress=stop)
    with pytest.raises(pliant.StoppedError, match="step 2"):
        scene.rollout(3, progress=lambda step, info: step < 2)
    with pytest.raises(ZeroDivisionError):
        scene.rollout(3).backward(loss=lambda step, q, v: 1 / 0)
    with pytest.raises(ValueError, match="dq: expected shape"):
        scene.rollout(3).backward(loss=lambda step, q, v: (0.0, [1, 2], None))


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_a_thousand_cycles_do_not_grow(context):
    def cycle():
        scene = small(context)
        state = scene.state()
        scene.step(state)
        scene.rollout(1).backward({1: 1.0})
        state.q, scene.bodies
    for _ in range(200):
        cycle()
    gc.collect()
    before, objects = memory(), len(weakref.finalize._registry)
    for _ in range(1000):
        cycle()
    gc.collect()
    assert len(weakref.finalize._registry) == objects
    assert memory() - before < 500_000  # 500 bytes a cycle would show


def test_contexts_do_not_grow():
    def cycle():
        with pliant.Context(threads=1) as context:
            scene = small(context)
            scene.step(scene.state())
    for _ in range(50):
        cycle()
    gc.collect()
    before = memory()
    for _ in range(200):
        cycle()
    gc.collect()
    assert memory() - before < 500_000


def test_the_gil_is_released_while_stepping(context):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.box((1, 1, 1), 0.2, context=context))
    state, counter, seen = scene.state(), [0], [0]
    interval = sys.getswitchinterval()

    def work():  # as many steps as it takes for the other thread to get a core of a busy machine
        while max(seen) <= 3 and len(seen) < 200:
            before = counter[0]
            scene.step(state)
            seen.append(counter[0] - before)
    sys.setswitchinterval(60)  # nobody is made to give way: the count moves only if the step lets go
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            counter[0] += 1
            time.sleep(0)
    finally:
        sys.setswitchinterval(interval)
    assert max(seen) > 3


def test_threads_take_turns_on_one_context_and_collect_each_others_garbage(context):
    scene, errors = small(context), []
    expected = scene.rollout(5).q[-1]

    def work():
        try:
            for _ in range(20):
                mine = small(context)
                assert np.array_equal(mine.rollout(5).q[-1], expected)
                with pytest.raises(pliant.ArgumentError, match="young"):
                    mine.set("young", -1)
                assert np.array_equal(scene.rollout(5).q[-1], expected)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not context._core._trash


AT_EXIT = """
import sys, threading, pliant
context = pliant.Context(threads=1)
scene = pliant.Scene(context=context)
scene.add_body(pliant.Mesh.box((.1, .1, .1), .05, context=context))
state, rollout = scene.state(), scene.rollout(2)
view, gradient = state.q, rollout.backward({2: 1.0})
scene.cycle = [scene, rollout]
class Late:
    def __del__(self):
        try:
            self.scene.step(self.state)
        except pliant.ClosedError:
            pass
        view[0, 0]
late = Late(); late.scene, late.state = scene, state
def work():
    other = scene.state()
    while True:
        scene.step(other)
if "thread" in sys.argv:
    threading.Thread(target=work, daemon=True).start()
    scene.step(state)
print("end")
"""


@pytest.mark.parametrize("argument", ["", "thread"])
def test_interpreter_exit(argument):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", AT_EXIT, argument],
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_interrupt_stops_a_rollout():
    code = ("import os, signal, threading, pliant\n"
            "scene = pliant.Scene(gravity=(0, 0, 0))  # falling for 1e6 steps ends where positions lack digits\n"
            "scene.add_body(pliant.Mesh.box((.1, .1, .1), .05))\n"
            "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "try:\n    scene.rollout(10**6, record=False, tape=False)\n"
            "except KeyboardInterrupt:\n    print('stopped')\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr


def test_a_step_copies_no_array(context):
    """What Python allocates in a step of 1,000 vertices is less than one array of their positions; views stay."""
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.grid((10, 10, 10), 0.05, context=context))
    scene.add_collider("half_space")
    state = scene.state()
    positions, before = state.q, state.q.copy()
    scene.step(state)
    tracemalloc.start()
    scene.step(state)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < peak < positions.nbytes / 2
    assert state.q is positions and not np.array_equal(positions, before)


def test_version():
    assert pliant.__version__ == _library.version
    assert all(hasattr(pliant, name) for name in pliant.__all__)
