"""What Python adds to a step: time around Scene.step against the time the C step itself measures.

    python bench/python_step.py     with the package installed
"""

import time

import numpy as np

import pliant


def measure(nodes: int, steps: int = 60) -> None:
    context = pliant.Context(threads=1)
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.grid((nodes, nodes, nodes), 0.05, context=context))
    scene.add_force(0, per="mass")
    scene.add_collider("half_space")
    state, force, around, inside = scene.state(), np.zeros((1, 3)), [], []
    for _ in range(steps):
        start = time.perf_counter()
        info = scene.step(state, force=force)
        around.append(1e3 * (time.perf_counter() - start))
        inside.append(sum(info.milliseconds))
    c, added = np.median(inside), np.median(np.subtract(around, inside))
    print(f"{nodes**3:9d} {c:10.3f} {added:10.4f} {100 * added / c:10.2f}")


if __name__ == "__main__":
    print(f"{'vertices':>9} {'C, ms':>10} {'added, ms':>10} {'added, %':>10}")
    for nodes in (3, 5, 10):
        measure(nodes)
