"""A cloth that a robot lifts by a corner, against point clouds of depth cameras: material identified, later frames predicted.

    python studies/real_cloth.py DIRECTORY [tan | navy | paper] [--cells N]

DIRECTORY has lift_tan_25frames_f32.npy and others (DiffCloud, Sundaresan et al. 2022): 25 frames of 3500 points, 0.04 s apart, in
units of 0.35 m, z up, the floor at 0.157. The cloth is a square on its tip, of 0.28 m a side. The robot was cut out of the pictures, and with
it where it went: the corner is led along the highest points of the clouds, an unknown height above them, and where the cloth lay at the
start is unknown along y. Damping stands for the air. The first frames show little of the cloth and parts of the robot; frames 10 to 18 are fitted, 19 to 24 predicted.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import pliant

UNIT, FLOOR, FRAME, STEP = 0.35, 0.157065, 0.04, 0.02  # m, in units of it, s, s
CENTRE, HALF = np.array([0.002, -0.2567]), 0.5611  # of the square on its tip, and half its diagonal, in units
FITTED, PREDICTED, SEEN = range(10, 19), range(19, 25), 120  # frames, and points of each
THICKNESS = 1e-3  # m; only its products count: areal density, and N/m of stretch


def cloud(frames, k):
    """The points of frame k without those above a gap, which are the robot's: m, the floor at 0."""
    points = frames[k].astype(float)
    points = points[np.argsort(points[:, 2])]
    gaps = np.flatnonzero((np.diff(points[:, 2]) > 0.03) & (np.arange(len(points) - 1) > 0.9 * len(points)))
    points = points[:gaps[0] + 1] if len(gaps) else points
    return (points - (0, 0, FLOOR)) * UNIT


def led(frames):
    """Times and how far the lifted corner has come, if it is where the clouds are highest: a quadratic through them, m."""
    corner = np.array([CENTRE[0], CENTRE[1] + HALF, 0]) * UNIT
    tops = np.array([cloud(frames, k)[-10:].mean(axis=0) - corner for k in range(10, 25)])
    line = np.polyfit(np.arange(10, 25), tops, 2)
    way = np.array([[np.polyval(line[:, c], k) for c in range(3)] for k in range(8, 25)])
    return FRAME * np.array([0, 4, *range(8, 25)]), np.concatenate([np.zeros((2, 3)), way])


def cloth(frames, cells, density=200.0, young=3e4, bending=5e-5, damping=5.0):
    side = np.sqrt(2) * HALF * UNIT
    mesh = pliant.Mesh.rectangle(side, side, side / cells)
    x, y, _ = (mesh.vertices - mesh.vertices.mean(axis=0)).T
    on_tip = np.stack([x - y, x + y, 0 * x], axis=1) / np.sqrt(2)
    mesh = pliant.Mesh(on_tip + (*(CENTRE * UNIT), 2e-3), triangles=mesh.triangles)
    scene = pliant.Scene(time_step=STEP, integrator="bdf2", body_contact=False)
    scene.add_body(mesh, density=density, young=young, bending=bending, damping=damping, thickness=THICKNESS)
    scene.add_pin(0, [int(mesh.vertices[:, 1].argmax())], offset=led(frames))
    scene.add_collider("half_space", friction=0.5)
    return scene


def fit(scene, frames, which, unknowns, iterations=10):
    """To some frames; without iterations, what is left of them as the scene is."""
    random, rows = np.random.default_rng(1), []
    for k in which:
        points = cloud(frames, k)
        rows += [[round(k * FRAME / STEP), *p] for p in points[random.choice(len(points), SEEN, replace=False)]]
    with tempfile.TemporaryDirectory() as place:
        np.savetxt(Path(place) / "cloud.csv", rows, delimiter=",", fmt=["%d"] + 3 * ["%.6g"])
        return pliant.fit({
            "scene": scene, "steps": round(max(which) * FRAME / STEP), "unknowns": unknowns,
            "loss": [{"kind": "point_cloud", "target": "cloud.csv"}],
            "optimizer": {"method": "levenberg_marquardt", "iterations": iterations, "stop_decrease": 1e-4},
        }, root=place, uncertainty=iterations > 0)


MATERIAL = {"damping": {"initial": 5.0, "lower": 0, "upper": 100},
            "bending": {"initial": 5e-5, "map": "log", "lower": 1e-7, "upper": 1e-2},
            "young": {"initial": 3e4, "map": "log", "lower": 1e3, "upper": 1e6},
            "density": {"initial": 200.0, "map": "log", "lower": 20, "upper": 2000}}
PLACED = {"held": ("pin_target", [0, 0, 1]), "laid": ("position", [0, 1, 0])}  # above the cloud's top, and along y at the start, m


def asked(material, start):
    """Unknowns of a task, from where an earlier fit has ended."""
    keys = [{"name": name, "quantity": name, **MATERIAL[name]} for name in material]
    keys += [{"name": name, "quantity": quantity, "direction": way, "initial": 0.0}
             for name, (quantity, way) in PLACED.items()]
    return [{**key, "initial": start.get(key["name"], key["initial"])} for key in keys]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("cloth", nargs="?", default="tan", choices=("tan", "navy", "paper"))
    parser.add_argument("--cells", type=int, default=8, help="a side (8)")
    given = parser.parse_args()
    frames = np.load(f"{given.directory}/lift_{given.cloth}_25frames_f32.npy")
    scene = cloth(frames, given.cells)

    def left(which, start):
        """mm rms in some frames."""
        return 1e3 * np.sqrt(fit(scene, frames, which, asked(("damping", "bending", "young"), start), 0).loss[-1])

    print(f"{given.cloth}, {scene.vertex_count} vertices; before: {left(FITTED, {}):.1f} mm, later frames "
          f"{left(PREDICTED, {}):.1f} mm", flush=True)
    found = {}
    for material in (("damping",), ("damping", "bending", "young")):
        result = fit(scene, frames, FITTED, asked(material, found))
        found = result.parameters
        print(f"unknown {', '.join(result.names)}: {1e3 * np.sqrt(result.loss[-1]):.1f} mm, later frames "
              f"{left(PREDICTED, found):.1f} mm, {result.iterations} iterations. {result.verdict}", flush=True)
        for name, error in zip(result.names, result.standard_error):
            print(f"  {name} = {found[name]:.3g} +- {error:.2g}", flush=True)
    result = fit(scene, frames, FITTED, asked(tuple(MATERIAL), found), 1)
    print(f"unknown {', '.join(result.names)}: {result.verdict}")


if __name__ == "__main__":
    main()
