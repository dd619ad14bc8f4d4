"""A pneumatic arm of silicone against motion capture: fitted to three pressures, the other two predicted.

    python studies/soft_arm.py DIRECTORY

DIRECTORY has the files 100mbar_V3.csv ... 450mbar_V3.csv of the soft arm of ETH Zurich's Soft Robotics Lab
(time in s, then x, y, z in m of four markers at the base and three at the tip). They do not say what the arm is
like inside. The model is therefore a guess: a bar as long as the markers are apart, with one chamber along its side,
and wound by fibres that do not stretch, as such arms are: without them it bursts before it bends that far.
At rest, without gravity, its shape depends on pressure over Young's modulus alone: one curve, computed once. E, and
how far the markers' mean is from the axis of the end plate, on which they sit somewhere, are what fits three
pressures best.

Beside it, what needs no inside: an arc of length L that turns by a p/(1 - p/p_c), as a moment in proportion to
pressure does whose resistance is used up at p_c.
"""

import sys

import numpy as np

import pliant

PRESSURES = {100: 1e4, 200: 2e4, 300: 3e4, 400: 4e4, 450: 4.5e4}  # Pa, by file
FITTED = (100, 300, 450)
LENGTH, SIDE, CELL, YOUNG = 0.105, 0.04, 0.005, 1e5  # m, m, m, Pa
FIBRES = 20  # times E: what resists widening


def measured(directory, mbar):
    """How far the tip has moved while the pressure is on: along the arm and across, m."""
    rows = np.genfromtxt(f"{directory}/{mbar}mbar_V3.csv", delimiter=",", skip_header=1)
    tip = rows[:, 1:].reshape(len(rows), 7, 3)[:, 4:].mean(axis=1)
    moved = tip - tip[:10].mean(axis=0)
    across = np.hypot(moved[:, 1], moved[:, 2])
    on = across > 0.9 * across.max()
    return np.array([moved[on, 0].mean(), across[on].mean()])


def arm(wall):
    """The bar without the tets of its chamber, from one wall to the middle of the section."""
    nodes = [round(LENGTH / CELL) + 1, round(SIDE / CELL) + 1, round(SIDE / CELL) + 1]
    full = pliant.Mesh.grid(nodes, CELL)
    centre = full.vertices[full.tets].mean(axis=1)
    inside = ((centre > [CELL, wall, wall]) & (centre < [LENGTH - CELL, SIDE / 2, SIDE - wall])).all(axis=1)
    kept, tets = np.unique(full.tets[~inside], return_inverse=True)
    return pliant.Mesh(full.vertices[kept], tets.reshape(-1, 4))


def curve(wall, most=1.2, count=60):
    """Pressure over E [count], and of the end face how far it moves along and across [count, 2], and its turn [count]."""
    mesh = arm(wall)
    scene = pliant.Scene(gravity=(0, 0, 0), time_step=1.0)
    scene.add_body(mesh, young=YOUNG, poisson=0.45, damping=50)
    x = mesh.vertices[:, 0]
    scene.add_pin(0, np.flatnonzero(x < 1e-9))
    for way in ((0, 1, 0), (0, 0, 1)):  # around the arm, not along it
        scene.add_muscle(0, direction=way, law="spring", stiffness=FIBRES * YOUNG)
    scene.add_chamber(0, cavity=0)
    end = np.flatnonzero(x > LENGTH - 1e-9)
    state = scene.state()
    ratios, moves, turns = [0.0], [np.zeros(2)], [0.0]
    y = mesh.vertices[end, 1]
    for ratio in np.linspace(0, most, count + 1)[1:]:
        try:
            for _ in range(2):
                scene.step(state, pressure=[ratio * YOUNG])
        except pliant.Error as error:
            print(f"wall {1e3 * wall:g} mm: nothing balances {ratio:.3g} E: {error}", file=sys.stderr)
            break
        u = (state.q[end] - mesh.vertices[end]).mean(axis=0)
        ratios.append(ratio)
        moves.append(np.array([u[0], np.hypot(u[1], u[2])]))
        edge = state.q[end[y > SIDE - 1e-9]].mean(axis=0) - state.q[end[y < 1e-9]].mean(axis=0)
        turns.append(abs(np.arctan2(edge[0], edge[1])))
    return np.array(ratios), np.array(moves), np.array(turns)


def arc(slope, critical, length, mbar):
    """How far the end of an arc has moved, along and across, m; slope in rad/Pa, critical in Pa."""
    pressure = PRESSURES[mbar]
    turn = slope * pressure / (1 - pressure / critical)
    return np.array([length * (np.sin(turn) / turn - 1), length * (1 - np.cos(turn)) / turn])


def fit_arc(data):
    """Slope, critical pressure and length that fit best, by grids that close in."""
    low, high = np.array([1e-6, 4.6e4, 0.03]), np.array([1e-5, 9e4, 0.15])
    for _ in range(12):
        grid = np.meshgrid(*(np.linspace(a, b, 31) for a, b in zip(low, high)), indexing="ij")
        loss = sum(((arc(*grid, m) - data[m][:, None, None, None]) ** 2).sum(axis=0) for m in FITTED)
        at = np.unravel_index(np.argmin(loss), loss.shape)
        best, reach = np.array([g[at] for g in grid]), (high - low) / 6
        low, high = np.maximum(best - reach, [1e-7, 4.55e4, 0.01]), best + reach
    return best


def tell(name, data, model):
    print(name)
    for mbar in PRESSURES:
        left = 1e3 * (model(mbar) - data[mbar])
        print(f"  {mbar} mbar, {'fitted' if mbar in FITTED else 'predicted'}: measured along "
              f"{1e3 * data[mbar][0]:.1f}, across {1e3 * data[mbar][1]:.1f} mm; model less that "
              f"{left[0]:+.1f}, {left[1]:+.1f} mm")


def main():
    directory = sys.argv[1]
    data = {mbar: measured(directory, mbar) for mbar in PRESSURES}
    slope, critical, length = fit_arc(data)
    tell(f"arc: {slope:.3g} rad/Pa, at most {critical:.4g} Pa, {1e3 * length:.1f} mm", data,
         lambda mbar: arc(slope, critical, length, mbar))
    for wall in (0.005, 0.01):
        ratios, moves, turns = curve(wall)

        def model(young, offset, mbar):
            ratio = PRESSURES[mbar] / young
            turn = np.interp(ratio, ratios, turns)
            along, across = (np.interp(ratio, ratios, moves[:, k]) for k in range(2))
            return np.array([along - offset * np.sin(turn), across + offset * (1 - np.cos(turn))])

        candidates = [(young, offset) for young in np.geomspace(max(PRESSURES.values()) / ratios[-1], 1e6, 300)
                      for offset in np.linspace(-SIDE, SIDE, 81)]
        losses = [sum(((model(*c, m) - data[m]) ** 2).sum() for m in FITTED) for c in candidates]
        young, offset = candidates[int(np.argmin(losses))]
        tell(f"wall {1e3 * wall:g} mm: E = {young:.4g} Pa, markers {1e3 * offset:.0f} mm off the axis", data,
             lambda mbar: model(young, offset, mbar))


if __name__ == "__main__":
    main()
