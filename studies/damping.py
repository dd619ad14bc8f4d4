"""Damping and stiffness of a beam, identified with time steps fifty times as long as those the data were made with.

    python studies/damping.py

A clamped beam falls under its own weight, at h = 0.0002 s. From where its end was every 0.01 s, `pliant.fit` finds Young's modulus and a
damping, with steps of 0.01 s and each integrator in turn: mass-proportional damping, then the material's viscosity.
"""

import tempfile
from pathlib import Path

import numpy as np

import pliant

FINE, COARSE, SECONDS = 2e-4, 1e-2, 0.6  # s
YOUNG = 2.35e5  # Pa: swings at 7.6 Hz, as the silicone beam does
DAMPINGS = {"damping": 5.0, "viscosity": 300.0}  # 1/s, Pa s
SIZE, CELL = (0.1, 0.03, 0.03), 0.01  # m


def beam(step, integrator, young, **damping):
    mesh = pliant.Mesh.bar(*SIZE, CELL)
    scene = pliant.Scene(time_step=step, integrator=integrator)
    scene.add_body(mesh, young=young, poisson=0.49, density=1070, mean_volume=True, **damping)
    scene.add_pin(0, "left")
    return scene, mesh


def filmed(integrator="tr_bdf2", **damping):
    """Where the end's vertices are every 0.01 s: [frames, vertices, 3] m."""
    scene, mesh = beam(FINE, integrator, YOUNG, **damping)
    end, state, every, frames = mesh.group("right"), scene.state(), round(COARSE / FINE), []
    for step in range(round(SECONDS / FINE)):
        scene.step(state)
        if (step + 1) % every == 0:
            frames.append(state.q[end].copy())
    return np.array(frames), mesh.vertices[end]


def identify(frames, places, integrator, name):
    rows = [[k + 1, *p] for k, frame in enumerate(frames) for p in frame]
    start = 0.5 * DAMPINGS[name]
    scene, _ = beam(COARSE, integrator, 0.8 * YOUNG, **{name: start})
    with tempfile.TemporaryDirectory() as place:
        np.savetxt(Path(place) / "end.csv", rows, delimiter=",", fmt=["%d"] + 3 * ["%.12g"])
        return pliant.fit({
            "scene": scene, "steps": len(frames),
            "unknowns": [{"quantity": "young", "initial": 0.8 * YOUNG, "map": "log"},
                         {"quantity": name, "initial": start, "lower": 0}],
            "loss": [{"kind": "markers", "points": places.tolist(), "target": "end.csv"}],
            "optimizer": {"method": "levenberg_marquardt", "iterations": 20, "stop_decrease": 1e-6},
        }, root=place).parameters


def main():
    for name, true in DAMPINGS.items():
        frames, places = filmed(**{name: true})
        for integrator in ("euler", "bdf2", "tr_bdf2"):
            found = identify(frames, places, integrator, name)
            print(f"{integrator}: {name} = {found[name]:.4g} ({100 * (found[name] / true - 1):+.1f} %), "
                  f"E = {found['young']:.5g} Pa ({100 * (found['young'] / YOUNG - 1):+.1f} %)", flush=True)


if __name__ == "__main__":
    main()
