"""Rollouts in 3-D, in a notebook or a file."""

from __future__ import annotations

import ctypes
import html
from typing import Any, Optional, Sequence

import numpy as np

from . import _api
from ._library import ArgumentError, PathLike, double_p, instance, int_p, lib, text
from ._rollout import Rollout


class View:
    """A page that plays rollouts. A notebook shows it; save() writes it."""

    def __init__(self, page: str, height: int):
        self.html = page
        self.height = height

    def save(self, path: PathLike) -> None:
        """Writes the page, which needs no other file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="{self.height}" '
                'style="border:0" sandbox="allow-scripts" title="Pliant"></iframe>')

    def __repr__(self) -> str:
        return f"<pliant.View, {len(self.html)} bytes: show it in a notebook, or save(path)>"


def _add_rollout(report: Any, rollout: Rollout, name: Optional[str]) -> int:
    """The surface of all bodies as one trajectory, with the contact forces if there is a tape to have them."""
    style = lib.pl_report_trajectory_default()
    bodies = rollout.scene.bodies
    style.name = text(name or (bodies[0].name if len(bodies) == 1 else "bodies"), "name")
    if rollout.tape or rollout.q is None:
        return lib.pl_report_add_rollout(report, rollout.scene._pointer, rollout._pointer, style)
    surfaces = [b.mesh.surface() + b.vertices.start for b in bodies]
    used, places = np.unique(np.concatenate(surfaces), return_inverse=True)
    frames = np.ascontiguousarray(rollout.q[:, used])
    triangles = np.ascontiguousarray(places, np.intc)
    style.vertex_count, style.triangle_count, style.frame_count = len(used), triangles.size // 3, len(frames)
    style.triangles, style.frames = int_p(triangles), double_p(frames)
    style.start, style.time_step = rollout.time[0], rollout.scene.time_step
    return lib.pl_report_add_trajectory(report, style)


def _add_collider(report: Any, rollout: Rollout, index: int) -> int:
    """An obstacle along its table, or along the rollout's own inputs."""
    d = rollout.scene._collider(index)
    poses = rollout._inputs.get("collider_pose")
    if poses is None:
        return lib.pl_report_add_collider(report, d)
    times, rows = np.ascontiguousarray(rollout.time[1:]), np.ascontiguousarray(poses[:, index])
    d.table = _api.pl_table(len(times), double_p(times), double_p(rows))
    return lib.pl_report_add_collider(report, d)


def view(*rollouts: Rollout, names: Optional[Sequence[str]] = None, title: str = "Pliant",
         height: int = 480) -> View:
    """Plays one or several rollouts, with the colliders of the first one's scene.

    Contact forces are shown on demand (key F); rollouts with tape=False have none.

    names: of the rollouts. height: of the frame in a notebook, pixels.
    """
    if not rollouts:
        raise TypeError("view: expected at least one rollout")
    if names is not None and len(names) != len(rollouts):
        raise ValueError(f"names: expected {len(rollouts)}, got {len(names)}")
    for rollout in rollouts:
        instance(rollout, Rollout, "rollouts")
    first = rollouts[0]
    context = first.scene._context
    for rollout in rollouts:
        rollout._ready()
        if rollout.scene._core is not context._core:
            raise ArgumentError("view: the rollouts' scenes are of different contexts")
    if names is None and len(rollouts) > 1:
        names = [f"rollout {k + 1}" for k in range(len(rollouts))]
    definition = lib.pl_report_def_default()
    definition.title = text(title, "title")
    report, page = ctypes.POINTER(_api.pl_report)(), ctypes.POINTER(ctypes.c_char)()
    with context._core as core:
        core.check(lib.pl_report_create(context._pointer, definition, report))
        try:
            for index in range(first.scene.collider_count):
                core.check(_add_collider(report, first, index))
            for k, rollout in enumerate(rollouts):
                core.check(_add_rollout(report, rollout, names[k] if names else None))
            core.check(lib.pl_report_html(report, page, None))
            content = ctypes.string_at(page).decode("utf-8", "replace")
        finally:
            if page:
                lib.pl_free(context._pointer, page)
            lib.pl_report_destroy(report)
    return View(content, height)
