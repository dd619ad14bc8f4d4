"""What the tests share: small scenes with one thread, solved tightly enough for differences."""

from pathlib import Path

import numpy as np
import pytest

import pliant

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def context():
    return pliant.Context(threads=1)


@pytest.fixture
def slide(context):
    """A block that slides on a floor under friction, with a force on it: everything there is a gradient of."""
    scene = pliant.Scene(solver="direct", tolerance=1e-13, context=context)
    mesh = pliant.Mesh.box((0.12, 0.12, 0.06), cell=0.06, context=context)
    scene.add_body(mesh.transform(translation=(0, 0, 1e-5)), name="block", model="corotated", young=1e6,
                   velocity=(0.4, 0.1, 0))
    scene.add_force("block", value=(0.5, 0, 0), per="group")
    scene.add_collider("half_space", name="floor", friction=0.2)
    yield scene
    scene.close()


@pytest.fixture
def hanging(context):
    """A bar held at one end, free of contacts."""
    scene = pliant.Scene(solver="direct", tolerance=1e-13, context=context)
    scene.add_body(pliant.Mesh.bar(0.4, 0.1, 0.1, 0.1, context=context), young=1e5)
    scene.add_pin(0, "left", compliance=1e-6)
    yield scene
    scene.close()


def centre_loss(steps):
    """Of the last state: half the centre's squared distance from a point, and a little of its speed."""
    target = np.array([0.2, 0.1, 0.0])

    def loss(step, q, v):
        if step != steps:
            return None
        away, speed = q.mean(0) - target, v.mean(0)
        value = 0.5 * away @ away + 0.05 * speed @ speed
        return value, np.broadcast_to(away / len(q), q.shape), np.broadcast_to(0.1 * speed / len(q), q.shape)
    return loss
