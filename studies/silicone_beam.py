"""A beam of silicone against motion capture: material identified from two releases, two others predicted.

    python studies/silicone_beam.py DIRECTORY [CELL_MM ...] [--out DIRECTORY]

DIRECTORY has beam_gravity_V2_a.csv, beam_load52_V2_a.csv and the same with _b, of ETH Zurich's Soft Robotics Lab
(time in s, then x, y, z in m of three markers at the tip and three at the base; x is up): a clamped beam of 100 x 30 x
30 mm is let go from the horizontal, by itself or with 52 g at the upper edge of its free end.

A hand lets go: at the first turning point the beam is a tenth to a fifth less far than if it had been free at once. So the simulation
starts there, at rest, in the shape of a beam under as much more weight as it takes to have the tip where it was filmed. Both releases are one body of two
pieces, half beams with a plane of symmetry, so that they have the same unknowns. `pliant.fit` finds these from the heights of
the tip's markers. The 52 g are beads that hang on the edge: they have inertia too.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import pliant

LENGTH, WIDTH, HEIGHT = 0.1, 0.03, 0.03  # m
GRAVITY, DENSITY, WEIGHT = 9.80709, 1070.0, 0.51012  # m/s^2, kg/m^3, N
MARKERS = ((0, HEIGHT), (WIDTH / 2, 0.024), (WIDTH / 2, 0.006))  # on the end face: from the middle, and up, m
APART = 0.1  # between the two pieces, m
STEP = 0.01  # s, as filmed
RUNS = ("gravity", "load52")


def measured(directory, run):
    """Heights [frames, 3] of the tip's markers above where they were before the release, m, and the time of the
    first turning point, in frames."""
    rows = np.genfromtxt(f"{directory}/beam_{run}.csv", delimiter=",", skip_header=1)
    height = rows[:, 1:].reshape(len(rows), 6, 3)[:, :3, 0]
    mean = height.mean(axis=1)
    falling = np.argmax(mean < mean[0] - 1e-3)
    height = height - height[falling - 25:falling - 10].mean(axis=0)
    k = falling + np.argmax(np.diff(mean[falling:]) > 0)
    left, right = mean[k - 1] - mean[k], mean[k + 1] - mean[k]
    return height, k + 0.5 * (left - right) / (left + right)


def at(height, frame):
    """Between frames, by the cubic through four of them."""
    k = int(frame)
    s, p = frame - k, height[k - 1:k + 3]
    return (-s * (s - 1) * (s - 2) / 6 * p[0] + (s + 1) * (s - 1) * (s - 2) / 2 * p[1]
            - (s + 1) * s * (s - 2) / 2 * p[2] + (s + 1) * s * (s - 1) / 6 * p[3])


class Beams:
    """Two half beams, the second with beads at its edge: one body of several pieces."""

    def __init__(self, cell):
        counts = [round(size / cell) for size in (LENGTH, WIDTH / 2, HEIGHT)]
        grid = pliant.Mesh.grid([n + 1 for n in counts], 1.0)
        one = grid.vertices * np.divide((LENGTH, WIDTH / 2, HEIGHT), counts)
        self.size, beam = len(one), 2 * len(one)
        x, y, z = one.T
        edge = np.flatnonzero((x > LENGTH - 1e-9) & (z > HEIGHT - 1e-9))
        share = np.where((y[edge] < 1e-9) | (y[edge] > WIDTH / 2 - 1e-9), 0.5, 1.0)
        corners = 1e-3 * np.array([[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])
        loaded = one + (0, APART, 0)
        beads = (loaded[edge, None] + corners).reshape(-1, 3)
        bead_tets = beam + np.arange(len(beads)).reshape(-1, 4)
        self.mesh = pliant.Mesh(np.concatenate([one, loaded, beads]),
                                np.concatenate([grid.tets, grid.tets + self.size, bead_tets]))
        volume = abs(np.linalg.det(corners[1:] - corners[0])) / 6
        masses = 0.5 * WEIGHT / GRAVITY * share / share.sum()
        self.density = np.append(np.full(2 * len(grid.tets), DENSITY), masses / volume)
        self.hung = list(zip(edge + self.size, bead_tets))
        self.clamped = np.flatnonzero(np.append(x, x) < 1e-9)
        self.middle = np.flatnonzero(np.append(y, y) < 1e-9)
        self.points = np.array([[LENGTH, piece * APART + y, z] for piece in range(2) for y, z in MARKERS])
        self.markers = self.mesh.embed(self.points)

    def scene(self, gravity=GRAVITY, start=None, step=STEP, integrator="tr_bdf2", **material):
        scene = pliant.Scene(gravity=(0, 0, -gravity), time_step=step, integrator=integrator, body_contact=False)
        scene.add_body(self.mesh, density=self.density, mean_volume=True, positions=start, **material)
        scene.add_pin(0, self.clamped)
        scene.add_pin(0, self.middle, normal=(0, 1, 0))
        for vertex, bead in self.hung:
            scene.add_attachment(0, bead, to_body=0, to_vertices=[vertex])
        return scene

    def rest(self, weight, **material):
        """Positions at rest under so many times the weight."""
        scene = self.scene(weight * GRAVITY, step=1.0, integrator="euler", **{**material, "damping": 50.0})
        state = scene.state()
        for _ in range(30):
            before = state.q.copy()
            scene.step(state)
            if abs(state.q - before).max() < 1e-7:
                return state.q.copy()
        raise RuntimeError("the beams do not come to rest")

    def heights(self, q):
        """Of the markers, above the undeformed beam: [2, 3] m."""
        return (self.markers(q) - self.points)[:, 2].reshape(2, 3)

    def start(self, means, **material):
        """Each piece at rest under the weight that gives its markers the mean height asked for."""
        found = self.mesh.vertices.copy()
        for piece, index in enumerate((slice(self.size), slice(self.size, None))):
            before, weight = (0.0, 0.0), 1.5
            while True:
                q = self.rest(weight, **material)
                now = (weight, self.heights(q)[piece].mean())
                if abs(now[1] - means[piece]) < 1e-6:
                    break
                weight += (means[piece] - now[1]) * (now[0] - before[0]) / (now[1] - before[1])
                before = now
            found[index] = q[index]
        return found


class Releases:
    """Two filmed releases, and the scene and targets that belong to them."""

    def __init__(self, directory, which, beams, seconds, **material):
        self.steps, self.beams = round(seconds / STEP), beams
        data = [measured(directory, f"{run}_V2_{which}") for run in RUNS]
        rows = [np.array([at(height, turn + k) for k in range(self.steps + 1)]) for height, turn in data]
        self.heights = np.array(rows)  # [2, steps + 1, 3] m
        self.final = np.array([height[-50:].mean(axis=0) for height, _ in data])  # [2, 3] m
        self.start = beams.start(self.heights[:, 0].mean(axis=1), **material)

    def fit(self, unknowns, material):
        """What pliant.fit finds for unknowns {quantity: keys of the task}; the other quantities are as in material."""
        places = self.beams.markers(self.start)
        rows = [[k, x, y, z + up] for k in range(1, self.steps + 1)
                for (x, y, z), up in zip(self.beams.points, self.heights[:, k].ravel())]
        with tempfile.TemporaryDirectory() as place:
            np.savetxt(Path(place) / "heights.csv", rows, delimiter=",", fmt=["%d"] + 3 * ["%.9g"])
            return pliant.fit({
                "scene": self.beams.scene(start=self.start, **material), "steps": self.steps,
                "unknowns": [{"quantity": name, "initial": material[name], **keys} for name, keys in unknowns.items()],
                "loss": [{"kind": "markers", "points": places.tolist(), "along": [0, 0, 1], "target": "heights.csv"}],
                "optimizer": {"method": "levenberg_marquardt", "iterations": 12, "stop_decrease": 1e-4},
            }, root=place)

    def simulated(self, material):
        """Heights [2, steps + 1, 3] m."""
        rollout = self.beams.scene(start=self.start, **material).rollout(self.steps, tape=False)
        return np.array([self.beams.heights(q) for q in rollout.q]).transpose(1, 0, 2)


def swings(height):
    """Frequency in Hz and damping ratio of mean heights [steps + 1], from turning points that are more than 0.5 mm apart."""
    step = np.diff(height)
    k = np.flatnonzero(step[1:] * step[:-1] < 0) + 1
    left, right = height[k - 1] - height[k], height[k + 1] - height[k]
    when, where = k + 0.5 * (left - right) / (left + right), height[k] - (left - right) ** 2 / (8 * (left + right))
    travel = abs(np.diff(where))
    last = len(travel) if (travel > 5e-4).all() else int(np.argmin(travel > 5e-4))
    decay = -np.polyfit(np.arange(last), np.log(travel[:last]), 1)[0] / np.pi  # log of a half swing's ratio, over pi
    return 0.5 / (STEP * np.diff(when[:last + 1]).mean()), decay / np.hypot(1, decay)


def static_young(beams, finals, material):
    """For each piece the Young's modulus with which it hangs at rest as filmed at the end, Pa."""
    found = []
    for piece, final in enumerate(finals.mean(axis=1)):
        young = material["young"]
        for _ in range(4):
            young *= beams.heights(beams.rest(1.0, **{**material, "young": young}))[piece].mean() / final
        found.append(young)
    return found


def picture(path, panels):
    """Measured heights as dots, simulated ones as lines: panels of (title, measured, simulated), m."""
    wide, high, out = 380, 220, []
    for n, (title, real, model) in enumerate(panels):
        x0, y0 = 75 + (n % 2) * (wide + 85), 30 + (n // 2) * (high + 60)
        low, span = min(real.min(), model.min()), np.ptp(np.append(real, model))
        x = x0 + np.arange(len(real)) / (len(real) - 1) * wide

        def y(height, y0=y0, low=low, span=span):
            return y0 + high * (1 - (height - low) / span)

        out.append(f'<rect x="{x0}" y="{y0}" width="{wide}" height="{high}" fill="none" stroke="#aaa"/>'
                   f'<text x="{x0}" y="{y0 - 8}">{title}</text>'
                   f'<text x="{x0 + wide}" y="{y0 + high + 16}" text-anchor="end">{STEP * (len(real) - 1):.2f} s</text>')
        for height in (low, low + span):
            out.append(f'<text x="{x0 - 4}" y="{y(height) + 4:.1f}" text-anchor="end">{1e3 * height:.1f} mm</text>')
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y(model)))
        out.append(f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="#c0392b"/>' for a, b in zip(x, y(real))]
    Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * wide + 180}" height="{2 * high + 130}" '
                          f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
                          + "\n".join(out) + "</svg>\n")


def compare(title, releases, material):
    """Prints what is left between film and model, and returns the panels of a picture."""
    model, panels = releases.simulated(material), []
    for piece, name in enumerate(("own weight", "+ 0.510 N")):
        real, ours = releases.heights[piece].mean(axis=1), model[piece].mean(axis=1)
        left = np.sqrt(((model[piece] - releases.heights[piece]) ** 2).mean())
        moved = np.sqrt(((releases.heights[piece] - releases.heights[piece].mean(axis=0)) ** 2).mean())
        (f, z), (f_ours, z_ours) = swings(real), swings(ours)
        print(f"  {title}, {name}: {1e3 * left:.2f} mm rms of a motion of {1e3 * moved:.2f}; {f_ours:.3f} Hz (filmed {f:.3f}), "
              f"damping ratio {z_ours:.4f} ({z:.4f})")
        panels.append((f"{title}, {name}: dots filmed, line simulated", real, ours))
    return panels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("cells", nargs="*", type=float, default=[10.0, 5.0], metavar="CELL_MM")
    parser.add_argument("--seconds", type=float, default=0.8, help="of each release (0.8)")
    parser.add_argument("--poisson", action="store_true", help="ask for Poisson's ratio too")
    parser.add_argument("--out", help="an SVG file")
    given = parser.parse_args()
    material = {"young": 2.6e5, "poisson": 0.499, "viscosity": 100.0, "damping": 2.0}
    unknowns = {"young": {"map": "log"}, "viscosity": {"lower": 0}, "damping": {"lower": 0}}
    if given.poisson:
        material["poisson"] = 0.49
        unknowns["poisson"] = {"lower": 0.3, "upper": 0.499}
    panels = []
    for cell in given.cells:
        beams = Beams(1e-3 * cell)
        fitted = Releases(given.directory, "a", beams, given.seconds, **material)
        result = fitted.fit(unknowns, material)
        material.update(result.parameters)
        print(f"cell {cell:g} mm, {2 * beams.size} vertices, {result.iterations} iterations. {result.verdict}", flush=True)
        for name, error in zip(result.names, result.standard_error):
            print(f"  {name} = {material[name]:.4g} +- {error:.2g}")
        static = static_young(beams, fitted.final, material)
        print(f"  at rest in the end, E = {static[0]:.4g} by its own weight, {static[1]:.4g} with the load", flush=True)
        panels = compare("a, fitted", fitted, material)
        panels += compare("b, predicted", Releases(given.directory, "b", beams, given.seconds, **material), material)
    if given.out:
        picture(given.out, panels)


if __name__ == "__main__":
    main()
