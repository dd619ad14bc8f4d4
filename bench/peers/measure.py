"""One scene by one simulator: CPU ms a step of one thread, as JSON on the last line.

    measure.py SIMULATOR SCENE ARMADILLO.npz

The scenes are the same for all: mesh, mass, stiffness, obstacle, time step and number of steps. What
each simulator is told besides stands in SETTINGS.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Callable

import numpy as np

H, STEPS = 0.01, 50
CLOTH = {"young": 1e5, "poisson": 0.3, "density": 1000.0, "thickness": 1e-3, "bending": 1e-4,
         "friction": 0.3, "radius": 0.15, "side": 32}
SOLID = {"young": 1e4, "poisson": 0.3, "density": 1000.0, "friction": 0.3, "height": 0.93, "above": 0.01}

SETTINGS = {
    "pliant": "steps to 1e-10 m, gradients kept (tape); cloth ARAP, solid projective Neo-Hookean",
    "mujoco": "integrator discrete, Newton solver and tolerance as by default, flex with elastic2d both, "
              "pyramidal cones",
    "newton vbd": "10 iterations in each of 5 substeps, collisions found once a step",
    "newton explicit": "semi-implicit Euler, 32 substeps, collisions found once a step",
}


def cloth() -> tuple[np.ndarray, np.ndarray]:
    """side x side vertices, 1 m, squares cut by alternating diagonals, 5 mm above the ball."""
    n = CLOTH["side"]
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.full(n * n, 0.005)], axis=1)
    triangles = []
    for i in range(n - 1):
        for j in range(n - 1):
            a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
            triangles += [[a, b, c], [a, c, d]] if (i + j) % 2 else [[a, b, d], [b, c, d]]
    return vertices, np.array(triangles, dtype=np.int32)


def solid(path: str) -> tuple[np.ndarray, np.ndarray]:
    """The built-in armadillo, made as high as said and put above the floor."""
    with np.load(path) as file:
        vertices, tets = file["vertices"], file["tets"].astype(np.int32)
    low, high = vertices[:, 2].min(), vertices[:, 2].max()
    vertices = (vertices - [0, 0, low]) * (SOLID["height"] / (high - low)) + [0, 0, SOLID["above"]]
    return vertices, tets


def in_plane(scene: dict[str, Any]) -> tuple[float, float]:
    """A sheet's mu and lambda, N/m."""
    young, nu = scene["young"] * scene["thickness"], scene["poisson"]
    return young / (2 * (1 + nu)), young * nu / (1 - nu * nu)


def lame(scene: dict[str, Any]) -> tuple[float, float]:
    young, nu = scene["young"], scene["poisson"]
    return young / (2 * (1 + nu)), young * nu / ((1 + nu) * (1 - 2 * nu))


Step = Callable[[], None]
Places = Callable[[], np.ndarray]


def by_pliant(name: str, path: str) -> tuple[Step, Places]:
    import pliant

    context = pliant.Context(threads=1)
    scene = pliant.Scene(context=context, time_step=H)
    if name == "cloth":
        vertices, triangles = cloth()
        mesh = pliant.Mesh(vertices, triangles=triangles, context=context)
        keys = ("young", "poisson", "density", "thickness", "bending")
        scene.add_body(mesh, model="arap", **{key: CLOTH[key] for key in keys})
        scene.add_collider("sphere", radius=CLOTH["radius"], position=(0, 0, -CLOTH["radius"]),
                           friction=CLOTH["friction"])
    else:
        vertices, tets = solid(path)
        scene.add_body(pliant.Mesh(vertices, tets, context=context), reading="projective",
                       **{key: SOLID[key] for key in ("young", "poisson", "density")})
        scene.add_collider("half_space", friction=SOLID["friction"])
    done: list[Any] = []

    def run() -> None:
        done.append(scene.rollout(STEPS))

    return run, lambda: done[-1].q[-1]


def flex_xml(name: str, vertices: np.ndarray, elements: np.ndarray) -> str:
    scene = CLOTH if name == "cloth" else SOLID
    numbers = lambda values: " ".join(f"{x:.9g}" for x in np.ravel(values))
    if name == "cloth":
        mass = scene["density"] * scene["thickness"]
        elasticity = f'thickness="{scene["thickness"]}" elastic2d="both"'
        obstacle = (f'type="sphere" size="{scene["radius"]}" pos="0 0 {-scene["radius"]}" '
                    f'friction="{scene["friction"]}"')
    else:
        edges = vertices[elements[:, 1:]] - vertices[elements[:, :1]]
        mass = scene["density"] * np.abs(np.linalg.det(edges)).sum() / 6
        elasticity = ""
        obstacle = f'type="plane" size="5 5 1" friction="{scene["friction"]}"'
    return f"""<mujoco>
  <option timestep="{H}" integrator="discrete"/>
  <worldbody>
    <geom {obstacle}/>
    <flexcomp name="body" type="direct" dim="{2 if name == 'cloth' else 3}" mass="{mass:.9g}" radius="0.0005"
              point="{numbers(vertices)}" element="{' '.join(map(str, elements.ravel()))}">
      <elasticity young="{scene['young']}" poisson="{scene['poisson']}" {elasticity}/>
      <contact selfcollide="none" friction="{scene['friction']}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def by_mujoco(name: str, path: str) -> tuple[Step, Places]:
    import mujoco

    vertices, elements = cloth() if name == "cloth" else solid(path)
    model = mujoco.MjModel.from_xml_string(flex_xml(name, vertices, elements))
    data = mujoco.MjData(model)

    def run() -> None:
        for _ in range(STEPS):
            mujoco.mj_step(model, data)

    return run, lambda: data.flexvert_xpos


def newton_model(name: str, path: str) -> Any:
    import newton
    import warp as wp

    builder = newton.ModelBuilder()
    place = {"pos": wp.vec3(0, 0, 0), "rot": wp.quat_identity(), "vel": wp.vec3(0, 0, 0), "scale": 1.0}
    if name == "cloth":
        vertices, triangles = cloth()
        mu, lam = in_plane(CLOTH)
        builder.add_cloth_mesh(vertices=[wp.vec3(*v) for v in vertices], indices=triangles.ravel().tolist(),
                               density=CLOTH["density"] * CLOTH["thickness"], tri_ke=mu, tri_ka=lam,
                               tri_kd=0.0, edge_ke=CLOTH["bending"], edge_kd=0.0, particle_radius=0.005,
                               **place)
        shape = builder.default_shape_cfg.copy()
        shape.mu = CLOTH["friction"]
        builder.add_shape_sphere(body=-1, xform=wp.transform(wp.vec3(0, 0, -CLOTH["radius"]),
                                                             wp.quat_identity()),
                                 radius=CLOTH["radius"], cfg=shape)
    else:
        vertices, tets = solid(path)
        mu, lam = lame(SOLID)
        builder.add_soft_mesh(vertices=[wp.vec3(*v) for v in vertices], indices=tets.ravel().tolist(),
                              density=SOLID["density"], k_mu=mu, k_lambda=lam, k_damp=0.0,
                              particle_radius=0.005, **place)
        builder.add_ground_plane()
    builder.color(include_bending=True)
    model = builder.finalize(device="cpu")
    model.soft_contact_ke, model.soft_contact_kd = 1e3, 1e-1
    model.soft_contact_mu = CLOTH["friction"]
    return model


def by_newton(name: str, path: str, explicit: bool) -> tuple[Step, Places]:
    import newton
    import warp as wp

    wp.config.quiet = True
    wp.init()
    with wp.ScopedDevice("cpu"):
        model = newton_model(name, path)
        substeps = 32 if explicit else 5
        solver = (newton.solvers.SolverSemiImplicit(model) if explicit
                  else newton.solvers.SolverVBD(model, iterations=10))
        pipeline = newton.CollisionPipeline(model)
        contacts, control = pipeline.contacts(), model.control()
    states = [model.state(), model.state()]

    def substep(k: int) -> None:
        states[0].clear_forces()
        if k % substeps == 0:
            pipeline.collide(states[0], contacts)
        solver.step(states[0], states[1], control, contacts, H / substeps)
        states.reverse()

    substep(0)  # its kernels are compiled or read
    states[:] = [model.state(), model.state()]

    def run() -> None:
        for k in range(STEPS * substeps):
            substep(k)

    return run, lambda: states[0].particle_q.numpy()


def main(simulator: str, scene: str, path: str) -> None:
    if simulator == "pliant":
        run, places = by_pliant(scene, path)
    elif simulator == "mujoco":
        run, places = by_mujoco(scene, path)
    else:
        run, places = by_newton(scene, path, simulator.endswith("explicit"))
    began = time.process_time()
    run()
    spent = time.process_time() - began
    q = np.asarray(places()).reshape(-1, 3)
    result = {"ms": 1e3 * spent / STEPS, "vertices": len(q), "finite": bool(np.isfinite(q).all()),
              "low": float(q[:, 2].min()), "high": float(q[:, 2].max())}
    if scene == "cloth":
        result["inside"] = float(max(0, CLOTH["radius"] -
                                     np.linalg.norm(q + [0, 0, CLOTH["radius"]], axis=1).min()))
    else:
        result["inside"] = float(max(0, -q[:, 2].min()))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
