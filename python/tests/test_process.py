"""Processes: forks of one that has used its threads, and OpenMP loaded by somebody else first."""

import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

import pliant

FALL = {"version": 1, "colliders": [{"shape": {"half_space": {}}}], "bodies": [
    {"mesh": {"box": {"size": [0.3, 0.3, 0.3], "cell": 0.05}}, "transform": {"translate": [0, 0, 0.001]}}]}

fork = multiprocessing.get_context("fork")


def fall(scene):
    return scene.rollout(3).q[-1].tobytes()


def answer(connection, work):
    try:
        connection.send(work())
    except BaseException as error:
        connection.send(error)


def in_child(work, patience=60):
    """What work() returns in a forked child; what it raises is raised here."""
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=answer, args=(there, work), daemon=True)
    child.start()
    if not here.poll(patience):
        child.kill()
        pytest.fail("the child hangs")
    child.join(patience)
    result = here.recv()
    if isinstance(result, BaseException):
        raise result
    return result


def test_children_work():
    scene = pliant.Scene.from_dict(FALL, context=pliant.Context(threads=2))
    expected = fall(scene)
    assert in_child(lambda: fall(scene)) == expected
    assert in_child(lambda: fall(pliant.Scene.from_dict(FALL, context=pliant.Context(threads=2)))) == expected
    assert fall(scene) == expected
    with fork.Pool(2) as pool:
        assert pool.map(fall_anew, [2, 1, 2]) == [expected] * 3


def fall_anew(threads):
    return fall(pliant.Scene.from_dict(FALL, context=pliant.Context(threads=threads)))


def test_loader_workers():
    torch = pytest.importorskip("torch")
    scene = pliant.Scene.from_dict(FALL, context=pliant.Context(threads=2))
    expected = fall(scene)

    class Falls(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, _):
            return fall(scene)

    loader = torch.utils.data.DataLoader(Falls(), batch_size=2, num_workers=2, timeout=60)
    assert [sample for batch in loader for sample in batch] == [expected] * 4


def test_context_in_use_elsewhere():
    """A context that another thread works with is lost to the child, which says so; others work."""
    context = pliant.Context(threads=1)
    scene, other = (pliant.Scene.from_dict(FALL, context=c) for c in (context, pliant.Context(threads=2)))
    expected = fall(scene)
    inside, leave = threading.Event(), threading.Event()

    def wait_inside(*_):
        inside.set()
        leave.wait()

    thread = threading.Thread(target=lambda: scene.rollout(1, progress=wait_inside), daemon=True)
    thread.start()
    try:
        assert inside.wait(60)
        with pytest.raises(pliant.ClosedError, match="spawn"):
            in_child(lambda: fall(scene))
        assert in_child(lambda: fall(other)) == expected
    finally:
        leave.set()
        thread.join()
    assert in_child(lambda: fall(scene)) == expected


WAITING = """
import ctypes, sys, time
if "first" in sys.argv:
    ctypes.CDLL("libgomp.so.1")
from pliant._library import lib
spent = []
for _ in range(21):  # a team's threads wait for more to do
    lib.GOMP_parallel(ctypes.cast(lib.pl_version, ctypes.c_void_p), None, 2, 0)
    before = time.process_time()
    time.sleep(0.03)
    spent.append(time.process_time() - before)
print(sorted(spent)[10])
"""


@pytest.mark.parametrize("order", ["first", "last"])
def test_waiting_threads_sleep(order):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    made = subprocess.run([sys.executable, "-c", WAITING, order], check=True, capture_output=True, text=True,
                          env=environment)
    assert float(made.stdout) < 0.5e-3
