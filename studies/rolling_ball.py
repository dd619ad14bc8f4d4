"""A soft ball rolls down 20 degrees with friction 0.5: what takes its acceleration from 5/7 g sin(20 deg).

    python studies/rolling_ball.py

Of balls turned three ways, with cells of 12.5 and 9 mm and steps of 5 to 1.25 ms: the slope of the speed from 0.2 to 1 s; that of
a ball of the simulated inertia I that rolls without loss at the simulated height H of its centre and radius R = v/omega,
g sin / (1 + I/(m H R)); and the energy that is lost, as a share of what the slope gives.
"""

import numpy as np

import pliant

RADIUS, YOUNG, POISSON, DENSITY, G, SLOPE = 0.05, 1e5, 0.3, 1000, 9.81, np.radians(20)
DOWN, INTO = G * np.sin(SLOPE), G * np.cos(SLOPE)


def turned_ball(cell, seed):
    mesh = pliant.Mesh.ellipsoid((RADIUS,) * 3, cell=cell)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    vertices = np.asarray(mesh.vertices) @ (turn * np.sign(np.linalg.det(turn))).T
    vertices[:, 2] += 1e-4 - vertices[:, 2].min()
    return pliant.Mesh(vertices, tets=np.asarray(mesh.tets))


def edges(x, tets):
    return np.stack([x[tets[:, k]] - x[tets[:, 0]] for k in (1, 2, 3)], axis=2)


class Ball:
    """Masses at the vertices, a quarter of each tet's, and the energy of Neo-Hookean tets."""

    def __init__(self, mesh):
        x, self.tets = np.asarray(mesh.vertices), np.asarray(mesh.tets)
        rest = edges(x, self.tets)
        self.volume, self.inverse = np.linalg.det(rest) / 6, np.linalg.inv(rest)
        self.mass = np.zeros(len(x))
        for corner in range(4):
            np.add.at(self.mass, self.tets[:, corner], DENSITY * self.volume / 4)
        self.total = self.mass.sum()

    def centre(self, x):
        return self.mass @ x / self.total

    def spin(self, x, v):
        """Moment of inertia and of momentum about the axis across the slope."""
        x, v = x - self.centre(x), v - self.centre(v)
        return self.mass @ (x[:, 0] ** 2 + x[:, 2] ** 2), self.mass @ (x[:, 2] * v[:, 0] - x[:, 0] * v[:, 2])

    def energy(self, x, v):
        mu, lam = YOUNG / 2 / (1 + POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
        f = edges(x, self.tets) @ self.inverse
        log = np.log(np.linalg.det(f))
        elastic = self.volume @ (mu / 2 * ((f**2).sum((1, 2)) - 3) - mu * log + lam / 2 * log**2)
        place = self.centre(x)
        return self.mass @ (v**2).sum(1) / 2 + elastic + self.total * (INTO * place[2] - DOWN * place[0])


def roll(cell, h, seed):
    scene = pliant.Scene(gravity=(DOWN, 0, -INTO), time_step=h, integrator="tr_bdf2")
    mesh = turned_ball(cell, seed)
    scene.add_body(mesh, young=YOUNG, poisson=POISSON, density=DENSITY)
    scene.add_collider("half_space", friction=0.5)
    rollout, ball = scene.rollout(round(1 / h)), Ball(mesh)
    seen = range(round(0.2 / h), round(1 / h) + 1)
    places = np.array([ball.centre(rollout.q[k]) for k in seen])
    speeds = np.array([ball.centre(rollout.v[k])[0] for k in seen])
    inertia, momentum = np.array([ball.spin(rollout.q[k], rollout.v[k]) for k in seen]).T
    height, radius = places[:, 2].mean(), speeds.sum() / (momentum / inertia).sum()
    lossless = DOWN / (1 + inertia.mean() / (ball.total * height * radius))
    lost = ball.energy(rollout.q[seen[0]], rollout.v[seen[0]]) - ball.energy(rollout.q[-1], rollout.v[-1])
    given = ball.total * DOWN * (places[-1, 0] - places[0, 0])
    return np.polyfit(h * np.arange(len(seen)), speeds, 1)[0], 1e3 * height, lossless, 100 * lost / given


print(f"5/7 g sin: {5 / 7 * DOWN:.3f} m/s^2\n cell   step    found  height  lossless  energy lost")
for cell in (0.0125, 0.009):
    for h in (0.005, 0.0025, 0.00125):
        found, height, lossless, lost = np.mean([roll(cell, h, seed) for seed in (1, 2, 3)], axis=0)
        print(f"{1e3 * cell:4.1f} mm {1e3 * h:4.2f} ms  {found:.3f}  {height:.1f} mm  {lossless:.3f}  {lost:7.1f} %", flush=True)
