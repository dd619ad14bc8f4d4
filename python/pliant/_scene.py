"""Scenes: what they hold, their parameters, and simulating them."""

from __future__ import annotations

import ctypes
import json
import warnings
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, Union
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api
from ._actuators import Actuators
from ._channel import CHANNELS, INPUTS, PARAMETERS, Channel, channel, check_keywords
from ._library import (ArgumentError, Array, Context, Core, Handle, Owner, PathLike, default_context,
                       double_p, doubles, fill, instance, int_p, integer, integers, lib, real, text, vector,
                       view)
from ._mesh import Mesh, plain
from ._parts import (SHAPES, WORDS, Body, Collider, Overrides, Reference, Table, encode_overrides, split_table,
                     plain_json)
from ._state import State, StepInfo

if TYPE_CHECKING:
    from ._rollout import Rollout


def _count(name: str, doc: str) -> Any:
    """A property: one of the numbers in pl_scene_info."""
    def get(scene: Scene) -> int:
        scene._pointer
        return getattr(scene._info, name)
    return property(get, doc=doc)


def devices() -> dict[str, Optional[str]]:
    """Where scenes can be computed (Scene's device): by name, why it cannot be used, or None if it can."""
    found: dict[str, Optional[str]] = {}

    def visit(_user: Any, name: bytes, fault: Optional[bytes]) -> None:
        found[name.decode()] = fault.decode() if fault else None
    context = default_context()
    with context._core:
        lib.pl_devices(context._pointer, _api.pl_device_fn(visit), None)
    return found


class Scene(Actuators, Owner):
    """Bodies, what holds and drives them, and what they touch.

    A scene can be copied (copy.copy) and pickled; an unpickled one is in the default context.

    Read one with Scene.load or Scene.from_dict, or make an empty one and add to it:

    time_step: s (0.01).
    gravity: [3] m/s^2 (0, 0, -9.81).
    tolerance: a step is solved when no vertex moves more in a Newton step, m (1e-10).
    max_iterations, max_splits: Newton iterations before a step is halved (100), and how often it may be (6).
    contact_epsilon2: gap times force of a contact, N m (0.5e-12).
    contact_margin: distance at which a vertex becomes a contact, m (0 = automatic).
    body_contact: whether bodies touch each other (True), or pass through each other.
    body_friction: Coulomb's coefficient between bodies (0); of single pairs: set_body_pair.
    solver: "auto", "direct", "lagged" or "constant".
    integrator: "euler", or "bdf2" or "tr_bdf2", which are of second order in the time step.
    device: "cpu", or where else steps and gradients are computed: "opencl", "opencl:<part of a name>"
        (pliant.devices() lists them, docs/device.md says what they cover).
    """

    _what = "scene"

    #: What a file says beyond the scene itself: its name, and how many steps to simulate.
    name: str = ""
    steps: int = 100

    def __init__(self, *, time_step: Optional[float] = None, gravity: Optional[ArrayLike] = None,
                 tolerance: Optional[float] = None, max_iterations: Optional[int] = None,
                 max_splits: Optional[int] = None, contact_epsilon2: Optional[float] = None,
                 contact_margin: Optional[float] = None, body_contact: Optional[bool] = None,
                 body_friction: Optional[float] = None, solver: Optional[str] = None,
                 integrator: Optional[str] = None, device: Optional[str] = None,
                 context: Optional[Context] = None):
        d = lib.pl_scene_def_default()
        fill(d, WORDS, time_step=time_step, gravity=gravity, tolerance=tolerance,
             max_iterations=max_iterations, max_splits=max_splits, contact_epsilon2=contact_epsilon2,
             contact_margin=contact_margin, body_contact=body_contact, body_friction=body_friction,
             solver=solver, integrator=integrator, device=device)
        self._create(context, lambda ctx, out: lib.pl_scene_create(ctx, d, out))

    def _create(self, context: Optional[Context], call: Callable[[Any, Any], int]) -> None:
        self._context = context or default_context()
        out = ctypes.POINTER(_api.pl_scene)()
        with self._context._core as core:
            core.check(call(self._context._pointer, out))
            self._own(self._context._make(out, lib.pl_scene_destroy))
            self._count_parts()
        self._workspace: Optional[tuple[Handle, Callable[[], Any]]] = None
        self._pool: Optional[tuple[int, Handle, Callable[[], Any]]] = None
        self._changes = 0  # of parameters and parts so far
        self._layout = uuid4()  # of the present parts, which states and rollouts belong to; copies share it
        self._outputs = _api.pl_scene_file_info(output_every=1, output_volume=True, output_surface=True,
                                                output_colliders=True)

    def _count_parts(self) -> None:
        self._info = lib.pl_scene_get_info(self._pointer)
        scene, channels = self._pointer, CHANNELS.values()
        self._owners = {c.name: lib.pl_scene_owner_count(scene, c.owner_index) for c in channels}
        self._rows = {c.name: lib.pl_scene_row_count(scene, c.index) for c in channels}

    @classmethod
    def load(cls, path: PathLike, overrides: Overrides = (), *, context: Optional[Context] = None) -> Scene:
        """Reads a scene file (docs/scenes.md). overrides: {"bodies[0].material.young": 2e5}."""
        p, (count, items) = text(path, "path"), encode_overrides(overrides)
        return cls._from_file(
            context, lambda ctx, out, info: lib.pl_scene_load(ctx, p, count, items, out, info))

    @classmethod
    def _from_file(cls, context: Optional[Context], call: Callable[[Any, Any, Any], int]) -> Scene:
        scene, info = cls.__new__(cls), _api.pl_scene_file_info()
        scene._create(context, lambda ctx, out: call(ctx, out, info))
        scene.name, scene.steps, scene._outputs = info.name.decode("utf-8", "replace"), info.steps, info
        return scene

    @classmethod
    def _from_text(cls, content: bytes, directory: Optional[bytes], overrides: Overrides,
                   context: Optional[Context]) -> Scene:
        count, items = encode_overrides(overrides)
        return cls._from_file(context, lambda ctx, out, info: lib.pl_scene_load_text(
            ctx, content, len(content), b"scene", directory, count, items, out, info))

    @classmethod
    def from_dict(cls, scene: Mapping[str, Any], overrides: Overrides = (), *,
                  directory: Optional[PathLike] = None, context: Optional[Context] = None) -> Scene:
        """The same from a dict with the content of a scene file; "version" may be left out.

        directory: where mesh files are looked for; the current one by default.
        """
        content = json.dumps({"version": 1, **scene}, default=plain_json, indent=1).encode()
        return cls._from_text(content, text(directory, "directory"), overrides, context)

    # --- as a file

    def _file_info(self) -> Any:
        info = _api.pl_scene_file_info.from_buffer_copy(self._outputs)
        room = _api.pl_scene_file_info.name.size - 1
        info.name = self.name.encode()[:room].decode("utf-8", "ignore").encode()
        info.steps = integer(self.steps, "steps")
        return info

    def _text(self) -> bytes:
        out, info = ctypes.POINTER(ctypes.c_char)(), self._file_info()
        with self._core as core:
            core.check(lib.pl_scene_text(self._pointer, info, out))
            content = ctypes.string_at(out)
            lib.pl_free(self._context._pointer, out)
        return content

    def to_dict(self) -> dict[str, Any]:
        """The content of a scene file (docs/scenes.md) that loads as this scene, to the last bit.

        Meshes are arrays in it, parameters have their present values, the start is the scene's.
        """
        return json.loads(self._text())

    def save(self, path: PathLike) -> None:
        """Writes such a file, for Scene.load and the command line. It appears whole or not at all."""
        p, info = text(path, "path"), self._file_info()
        with self._core as core:
            core.check(lib.pl_scene_save(self._pointer, info, p))

    def __copy__(self) -> Scene:
        return self._restore(self._text(), self._layout, self._context)

    def __deepcopy__(self, _memo: object) -> Scene:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self)._restore, (self._text(), self._layout)

    @classmethod
    def _restore(cls, content: bytes, layout: UUID, context: Optional[Context] = None) -> Scene:
        scene = cls._from_text(content, None, (), context)
        scene._layout = layout
        return scene

    # --- parts

    @contextmanager
    def _changing(self, what: str) -> Iterator[Core]:
        """A turn for what the library refuses while there is a sim: those that the scene keeps for itself go."""
        with self._core:
            self._pointer
            if self._core.busy:
                raise ArgumentError(f"a scene cannot {what} inside a callback")
        self._drop_workspaces()
        with self._core as core:
            try:
                yield core
            except ArgumentError as error:
                if not str(error).endswith("while a sim or parameters made from it exist"):
                    raise
                raise ArgumentError(f"a scene cannot {what} while rollouts or batches made from it are open: close "
                                    "them, or change a copy of the scene (copy.copy)") from None
            self._changes += 1

    def _add(self, function: Any, definition: Any) -> int:
        index = ctypes.c_int()
        with self._changing("get new parts") as core:
            core.check(function(self._pointer, definition, index))
            self._count_parts()
            self._layout = uuid4()
        return index.value

    def add_body(self, mesh: Mesh, *, name: Optional[str] = None, model: Optional[str] = None,
                 reading: Optional[str] = None, thickness: Optional[float] = None,
                 velocity: Optional[ArrayLike] = None, angular_velocity: Optional[ArrayLike] = None,
                 positions: Optional[ArrayLike] = None, velocities: Optional[ArrayLike] = None,
                 lumped_equally: Optional[bool] = None, mean_volume: Optional[bool] = None,
                 self_contact: Optional[bool] = None, contact_offset: Optional[float] = None,
                 **material: ArrayLike) -> int:
        """Adds a body whose rest shape is the mesh, and returns its index.

        model: "neo_hookean" (the default), "corotated" or "arap". reading: "exact" (the default) or
        "projective".
        material: a body's parameters, one number or one for every tet (or cloth triangle): young (1e5 Pa),
        poisson (0.3), density (1000 kg/m^3), bending (0 N m), damping (0 1/s), viscosity (0 Pa s), yeoh2 and
        yeoh3 (0 Pa: c2 k^2 + c3 k^3 in the energy density of rubber, k = |F|^2 - 3).
        thickness: of cloth, m (1e-3).
        mean_volume: whether patches of some five tets resist changes of volume, not each (False): for exact
        Neo-Hookean solids whose Poisson's ratio is above 0.45, where tets lock.
        velocity [3] m/s, angular_velocity [3] rad/s; or positions and velocities [n, 3] of the vertices.
        self_contact: whether it touches itself (False).
        contact_offset: what it adds to how far surfaces are kept apart, m (0 = a hundredth of its edges).
        """
        d = lib.pl_body_def_default()
        with instance(mesh, Mesh, "mesh")._core:
            content = mesh._pointer.contents
            elements, vertices = content.tet_count or content.triangle_count, content.vertex_count
            d.mesh = mesh._pointer
        fill(d, WORDS, name=name, model=model, reading=reading, thickness=thickness, velocity=velocity,
             angular_velocity=angular_velocity, lumped_equally=lumped_equally, mean_volume=mean_volume,
             self_contact=self_contact, contact_offset=contact_offset)
        keep = self._own_parameters(Scene.add_body, d, "body", material, elements)
        for key, rows in (("positions", positions), ("velocities", velocities)):
            if rows is not None:
                keep.append(doubles(rows, (vertices, 3), key))
                setattr(d, key, double_p(keep[-1]))
        if mesh._core is not self._core:
            raise ArgumentError("mesh: made with another context than the scene")
        return self._add(lib.pl_scene_add_body, d)

    @staticmethod
    def _own_parameters(add: Callable[..., int], d: Any, owner: str, given: Mapping[str, ArrayLike],
                        elements: int = 1) -> list[Array]:
        """Fills a definition's parameters, fields of their names; returns what it points to."""
        keep: list[Array] = []
        check_keywords(given, [name for name in PARAMETERS if CHANNELS[name].owner == owner], add)
        for name, value in given.items():
            if CHANNELS[name].row != "element" or np.ndim(value) == 0:
                setattr(d, name, real(value, name))
            else:
                keep.append(doubles(value, (elements,), name))
                setattr(d, name + "_of", double_p(keep[-1]))
        return keep

    def add_pin(self, body: Reference, vertices: Union[str, ArrayLike], *, offset: Optional[Table] = None,
                rotation: Optional[Table] = None, pivot: Optional[ArrayLike] = None,
                normal: Optional[ArrayLike] = None, **parameters: ArrayLike) -> int:
        """Holds vertices (indices, or the name of a group) with springs.

        parameters: a pin's: compliance (1e-9 m/N).
        offset: (times [k] s, values [k, 3] m) added to the initial positions.
        rotation: (times, values [k, 4]: unit axis and rad) about pivot [3], before the offset.
        normal: [3], the direction they are held along, free across it; all directions by default.
        """
        d = lib.pl_pin_def_default()
        d.body = self.body_index(body)
        index = self._vertices(d.body, vertices)
        d.vertex_count, d.vertices = len(index), int_p(index)
        self._own_parameters(Scene.add_pin, d, "pin", parameters)
        keep = [self._table(offset, 3, "offset"), self._table(rotation, 4, "rotation")]
        d.offset, d.rotation = keep[0][0], keep[1][0]
        fill(d, WORDS, pivot=pivot, normal=normal)
        return self._add(lib.pl_scene_add_pin, d)

    def add_force(self, body: Reference, vertices: Union[str, ArrayLike, None] = None, *,
                  value: Optional[ArrayLike] = None, per: Optional[str] = None,
                  table: Optional[Table] = None) -> int:
        """Pushes vertices (all by default) with value [3]: N per "vertex" (default), N in all on the "group",
        or N/kg per "mass". table: (times [k] s, values [k, 3]) instead of value."""
        d = lib.pl_force_def_default()
        d.body = self.body_index(body)
        if vertices is not None:
            index = self._vertices(d.body, vertices)
            d.vertex_count, d.vertices = len(index), int_p(index)
        fill(d, WORDS, per=per, value=value)
        keep = self._table(table, 3, "table")
        d.table = keep[0]
        return self._add(lib.pl_scene_add_force, d)

    def add_wind(self, body: Reference, *, velocity: Optional[ArrayLike] = None,
                 drag: Optional[float] = None, table: Optional[Table] = None) -> int:
        """Blows at a body's surface with velocity [3] m/s and drag (1 N s/m^3). table: (times, [k, 3])."""
        d = lib.pl_wind_def_default()
        d.body = self.body_index(body)
        fill(d, WORDS, velocity=velocity, drag=drag)
        keep = self._table(table, 3, "table")
        d.table = keep[0]
        return self._add(lib.pl_scene_add_wind, d)

    def add_attachment(self, body: Reference, vertices: ArrayLike, *, to_body: Optional[Reference] = None,
                       to_vertices: Optional[ArrayLike] = None, collider: Optional[Reference] = None,
                       weights: Optional[ArrayLike] = None, to_weights: Optional[ArrayLike] = None,
                       compliance: Optional[float] = None) -> int:
        """A spring of compliance (1e-6 m/N) that pulls a point of a body to one of another body, or to
        where it is at the start in the frame of a collider (its name or index).

        vertices: one, or up to four whose weighted mean is the point (equal weights by default).
        """
        if (to_body is None) == (collider is None):
            raise ArgumentError("add_attachment: give either to_body and to_vertices, or collider")
        d = lib.pl_attachment_def_default()
        points = [(body, vertices, weights)] + ([] if to_body is None else [(to_body, to_vertices, to_weights)])
        for point, (of, index, share) in zip(d.points, points):
            self._put_point(point, self.body_index(of), index, share)
        if collider is not None:
            d.collider = self._part_index("collider", collider)
        if compliance is not None:
            d.compliance = real(compliance, "compliance")
        return self._add(lib.pl_scene_add_attachment, d)

    @staticmethod
    def _put_point(point: Any, body: int, vertices: Any, weights: Any) -> None:
        """A point of a body, the weighted mean of up to four of its vertices, into a pl_point."""
        chosen = integers(np.atleast_1d(np.asarray(vertices)), (-1,), "vertices")
        if not 1 <= len(chosen) <= 4:
            raise ArgumentError(f"vertices: expected 1 to 4, got {len(chosen)}")
        point.body, point.count = body, len(chosen)
        point.vertices[:len(chosen)] = chosen.tolist()
        given = np.full(len(chosen), 1 / len(chosen)) if weights is None else doubles(
            weights, (len(chosen),), "weights")
        point.weights[:len(chosen)] = given.tolist()

    def add_collider(self, shape: str, *, name: Optional[str] = None, radius: float = 0.0,
                     half_height: float = 0.0, half_extents: ArrayLike = (0, 0, 0),
                     surface: Optional[Mesh] = None, position: ArrayLike = (0, 0, 0),
                     rotation: ArrayLike = (1, 0, 0, 0), table: Optional[Table] = None,
                     **parameters: ArrayLike) -> int:
        """Adds a rigid obstacle and returns its index.

        shape: "half_space" (z <= 0 of its frame is solid), "sphere" (radius), "box" (half_extents [3]),
        "cylinder" and "capsule" (radius, half_height, about z), "mesh" (surface: a closed one). All in m.
        position [3] m, rotation quaternion w, x, y, z; or table: (times [k] s, poses [k, 7]).
        parameters: a collider's: friction (0.5).
        """
        d = lib.pl_collider_def_default()
        fill(d, WORDS, name=name, shape=shape)
        self._own_parameters(Scene.add_collider, d, "collider", parameters)
        round_size = (real(radius, "radius"), real(half_height, "half_height"), 0)
        d.size = vector(half_extents, 3, "half_extents") if shape == "box" else vector(round_size, 3, "size")
        d.pose = vector(np.concatenate([doubles(position, (3,), "position"),
                                        doubles(rotation, (4,), "rotation")]), 7, "pose")
        keep = self._table(table, 7, "table")
        d.table = keep[0]
        if surface is not None:
            if instance(surface, Mesh, "surface")._core is not self._core:
                raise ArgumentError("surface: made with another context than the scene")
            d.surface = surface._pointer
        return self._add(lib.pl_scene_add_collider, d)

    def set_friction(self, body: Reference, collider: Reference, friction: float) -> None:
        """The coefficient between one body and one collider, instead of the collider's own."""
        b, c, mu = self.body_index(body), self._part_index("collider", collider), real(friction, "friction")
        with self._core as core:
            core.check(lib.pl_scene_set_friction(self._pointer, b, c, mu))
            self._changes += 1

    def set_body_pair(self, body: Reference, other: Reference, *, contact: Optional[bool] = None,
                      friction: Optional[float] = None) -> None:
        """Whether two bodies (or a body and itself) touch, and their coefficient, instead of the scene's.

        A coefficient of bodies that do not touch, as of a body with itself without self_contact, has no effect: a
        warning says so.
        """
        a, b = self.body_index(body), self.body_index(other)
        mu = None if friction is None else real(friction, "friction")
        if contact is not None:
            with self._changing("change which bodies touch") as core:
                core.check(lib.pl_scene_set_body_contact(self._pointer, a, b, bool(contact)))
        if mu is not None:
            with self._core as core:
                core.check(lib.pl_scene_set_body_friction(self._pointer, a, b, mu))
                self._changes += 1
                touch = lib.pl_scene_get_body_contact(self._pointer, a, b)
                first, second = self._part_name("body", a), self._part_name("body", b)
            if not touch:
                who = f"body {first!r} does not touch itself" if a == b else (
                    f"bodies {first!r} and {second!r} do not touch")
                warnings.warn(f"{who}, so friction has no effect: set_body_pair(..., contact=True) lets them touch"
                              + (", as self_contact=True of add_body does" if a == b else ""), stacklevel=2)

    def bring_out(self) -> float:
        """Shifts bodies, as wholes, out of what they start inside of; returns by how far at most, m.

        Neither strains nor velocities change; bodies with pins stay unless others cannot give way. Before
        attachments and cables are added. An ArgumentError names who is in whose way where there is no
        such way out, and all is as it was.
        """
        farthest = ctypes.c_double()
        with self._changing("bring bodies out") as core:
            core.check(lib.pl_scene_bring_out(self._pointer, farthest))
        return farthest.value

    @staticmethod
    def _table(table: Optional[Table], width: int, name: str) -> tuple[Any, Any]:
        if table is None:
            return _api.pl_table(), None
        t, v = split_table(table, width, name)
        return _api.pl_table(len(t), double_p(t), double_p(v)), (t, v)

    def _vertices(self, body: int, vertices: Union[str, ArrayLike]) -> NDArray[np.intc]:
        if isinstance(vertices, str):
            return self.bodies[body].mesh.group(vertices)
        return integers(vertices, (-1,), "vertices")

    # --- what it holds

    def body_index(self, body: Reference) -> int:
        """The index of a body given by name or index."""
        return self._part_index("body", body)

    def _part_name(self, kind: str, index: int) -> str:
        told = getattr(_api, "pl_body_info" if kind == "body" else f"pl_{kind}_def")()
        self._core.check(getattr(lib, f"pl_scene_{kind}")(self._pointer, index, told))
        return told.name.decode("utf-8", "replace")

    def _part_index(self, kind: str, part: Reference) -> int:
        """The index of a body, collider, muscle, cable or chamber given by name or index."""
        with self._core:
            count = lib.pl_scene_owner_count(self._pointer, getattr(_api, f"PL_OWNER_{kind.upper()}"))
            if isinstance(part, str):
                names = [self._part_name(kind, index) for index in range(count)]
                if part not in names:
                    raise ArgumentError(f"no {kind} {part!r}; there are: {', '.join(names) or 'none'}")
                return names.index(part)
        index = integer(part, kind)
        if not 0 <= index < count:
            raise ArgumentError(f"{kind} = {index}: the scene has {count}")
        return index

    @property
    def bodies(self) -> list[Body]:
        """The bodies, in order."""
        found = []
        with self._core as core:
            for index in range(self._info.body_count):
                b = _api.pl_body_info()
                core.check(lib.pl_scene_body(self._pointer, index, b))
                found.append(Body(
                    index, b.name.decode("utf-8", "replace"),
                    Mesh._borrow(self._context, self._handle, b.mesh),
                    slice(b.vertex_offset, b.vertex_offset + b.vertex_count),
                    slice(b.element_offset, b.element_offset + b.element_count), b.cloth, b.mass))
        return found

    def _collider(self, index: int) -> Any:
        """A collider's definition; what it points to is the scene's."""
        d = _api.pl_collider_def()
        with self._core as core:
            core.check(lib.pl_scene_collider(self._pointer, index, d))
        return d

    @property
    def colliders(self) -> list[Collider]:
        """The colliders, in order."""
        found = []
        with self._core:
            for index in range(self._info.collider_count):
                d = self._collider(index)
                rows = d.table.count
                found.append(Collider(
                    index, d.name.decode("utf-8", "replace"), SHAPES[d.shape], np.array(d.size), d.friction,
                    np.array(d.pose),
                    (view(self._handle, d.table.time, (rows,), writeable=False),
                     view(self._handle, d.table.value, (rows, 7), writeable=False)) if rows else None,
                    Mesh._borrow(self._context, self._handle, d.surface) if d.surface else None))
        return found

    body_count: int = _count("body_count", "How many bodies there are.")
    vertex_count: int = _count("vertex_count", "n: vertices of all bodies.")
    element_count: int = _count("element_count", "Tets and cloth triangles of all bodies.")
    pin_count: int = _count("pin_count", "How many pins there are.")
    pin_vertex_count: int = _count("pin_vertex_count", "Vertices of all pins.")
    force_count: int = _count("force_count", "How many forces there are.")
    wind_count: int = _count("wind_count", "How many winds there are.")
    collider_count: int = _count("collider_count", "How many colliders there are.")

    @property
    def mass(self) -> float:
        """kg"""
        with self._core:
            return lib.pl_scene_get_info(self._pointer).mass

    @property
    def time_step(self) -> float:
        """s"""
        with self._core:
            return lib.pl_scene_get_def(self._pointer).time_step

    def shape_of(self, name: str, steps: int = 1) -> tuple[int, ...]:
        """The shape of an input over `steps` steps, of a parameter, or of "position" and "velocity"."""
        c = channel(name)
        if c.role == "input":
            rows: tuple[int, ...] = (steps, self._rows[name])
        else:
            rows = (self._owners[name], self._info.body_count) if c.row == "body" else (self._rows[name],)
        return (*rows, c.width) if c.width > 1 else rows

    # --- parameters

    def get(self, name: str) -> Array:
        """A parameter as an array shaped as shape_of tells: young (Pa), poisson, density (kg/m^3),
        bending (N m), damping (1/s), viscosity (Pa s), yeoh2, yeoh3 (Pa) are [element_count], friction [collider_count, body_count],
        body_friction [body_count, body_count] (of a pair the row of the body that comes first),
        compliance (m/N) [pin_count], attachment_compliance and cable_compliance (m/N) and
        muscle_stiffness (Pa) one each."""
        c = channel(name, PARAMETERS)
        with self._core as core:
            values = np.empty(self.shape_of(name))
            parameters = lib.pl_scene_params(self._pointer)
            for owner, part in self._parts(c, values):
                core.check(lib.pl_params_get(parameters, c.index, owner, part.size, double_p(part)))
        return values

    def set(self, name: str, value: ArrayLike, body: Optional[Reference] = None) -> None:
        """Changes a parameter, for later steps and rollouts: one number, or an array shaped as get's.

        body: only that body's elements (or column of friction).
        """
        with self._core:
            values = self.get(name)
            place = values if body is None else self._part_of_body(channel(name), values, self.body_index(body))
            place[...] = doubles(value, place.shape, name)
            with self._parameters({name: values}):
                pass  # tried on a copy: all values are possible, or none is set
            self._write(lib.pl_scene_params(self._pointer), {name: values})
            self._changes += 1

    def _part_of_body(self, c: Channel, values: Array, body: int) -> Array:
        if c.row == "body":
            return values[:, body]
        if c.owner != "body":
            raise ValueError(f"{c.name}: belongs to {c.owner}s, not to bodies")
        return dict(self._parts(c, values))[body]

    def _parts(self, c: Channel, values: Array) -> Iterator[tuple[int, Array]]:
        """The owners of a channel with their parts of the whole array."""
        first, count = ctypes.c_int(), ctypes.c_int()
        rows = values.reshape(self._rows[c.name], c.width)
        for owner in range(self._owners[c.name]):
            self._core.check(lib.pl_scene_rows(self._pointer, c.index, owner, first, count))
            yield owner, rows[first.value:first.value + count.value].reshape(-1)

    def _write(self, parameters: Any, changes: Mapping[str, Array]) -> None:
        for name, values in changes.items():
            c = channel(name, PARAMETERS)
            for owner, part in self._parts(c, values):
                self._core.check(lib.pl_params_set(parameters, c.index, owner, part.size, double_p(part)))

    @contextmanager
    def _parameters(self, changes: Mapping[str, Array]) -> Iterator[Any]:
        """For a while, the scene's parameters with some changed, as a value of their own: pl_params."""
        with self._core as core:
            out = ctypes.POINTER(_api.pl_params)()
            core.check(lib.pl_params_create(self._pointer, out))
            try:
                self._write(out, changes)
                yield out
            finally:
                lib.pl_params_destroy(out)

    def _inputs(self, inputs: Any, given: Mapping[str, Optional[ArrayLike]],
                steps: Optional[int]) -> dict[str, Array]:
        """Fills pl_inputs, of one step or of some; returns what it points to."""
        keep = {}
        for name, value in given.items():
            if value is not None:
                shape = self.shape_of(name, steps or 1)
                keep[name] = doubles(value, shape if steps is not None else shape[1:], name)
                inputs.of[CHANNELS[name].index] = double_p(keep[name])
        return keep

    # --- simulation

    def state(self) -> State:
        """A new state at the scene's start."""
        return State(self)

    def copy(self, state: State) -> State:
        """An independent copy of a state."""
        made = State(self)
        with self._core as core:
            core.check(lib.pl_state_copy(self._pointer, self._state(state), made._pointer))
        return made

    def _state(self, state: State) -> Any:
        if not isinstance(state, State):
            raise TypeError(f"state: expected a pliant.State, got {type(state).__name__}")
        pointer = state._pointer
        if state._core is not self._core or state._layout != self._layout:
            raise ArgumentError("state: the scene got new parts since it was made" if state._scene is self
                                else "state: made by another scene")
        return pointer

    def _sim(self) -> Handle:
        """The workspace of steps and rollouts, made when first needed."""
        pointer = self._pointer
        if self._workspace is None:
            out = ctypes.POINTER(_api.pl_sim)()
            self._core.check(lib.pl_sim_create(pointer, out))
            sim = self._context._make(out, lib.pl_sim_destroy, self._handle)
            sim.hold()
            self._workspace = (sim, weakref.finalize(self, sim.drop))
        return self._workspace[0]

    def _make_batch(self, environments: int, workers: int) -> Handle:
        out, definition = ctypes.POINTER(_api.pl_batch)(), _api.pl_batch_def(environments, workers)
        self._core.check(lib.pl_batch_create(self._pointer, definition, out))
        return self._context._make(out, lib.pl_batch_destroy, self._handle)

    def _environments(self, count: int) -> Handle:
        """The workspace of batches, made when first needed, and anew for another number of samples."""
        self._pointer
        if self._pool is None or self._pool[0] != count:
            if self._pool is not None:
                self._pool[2]()
            self._pool = None
            made = self._make_batch(count, 0)
            made.hold()
            self._pool = (count, made, weakref.finalize(self, made.drop))
        return self._pool[1]

    def _drop_workspaces(self) -> None:
        if self._workspace is not None:
            self._workspace[1]()
        if self._pool is not None:
            self._pool[2]()
        self._workspace = self._pool = None

    def close(self) -> None:
        """Gives the memory back as soon as nothing else needs it. Later use raises ClosedError."""
        self._drop_workspaces()
        super().close()

    def step(self, state: State, **inputs: Optional[ArrayLike]) -> StepInfo:
        """Advances the state by one time step; on failure it stays as it was.

        inputs, by the names in pliant.INPUTS, replace the scene's own values at the end of the step:
        vertex_force [n, 3] N (added to the scene's forces), force [force_count, 3], wind [wind_count, 3]
        m/s, pin_target [pin_vertex_count, 3] m, collider_pose [collider_count, 7].
        """
        check_keywords(inputs, INPUTS, self.step)
        given, info = _api.pl_inputs(), _api.pl_step_info()
        keep = self._inputs(given, inputs, None)
        with self._core as core:
            core.check(lib.pl_step(self._sim().pointer, self._state(state), given, info))
        return StepInfo(**plain(info))

    def fields(self, state: State) -> dict[str, Array]:
        """Of every element at a state: energy J, stress [., 3, 3] (Cauchy) Pa, von_mises Pa."""
        m = self.element_count
        energy, stress, von_mises = np.empty(m), np.empty((m, 3, 3)), np.empty(m)
        with self._core as core:
            core.check(lib.pl_element_fields(self._sim().pointer, self._state(state), double_p(energy),
                                             double_p(stress), double_p(von_mises)))
        return {"energy": energy, "stress": stress, "von_mises": von_mises}

    def rollout(self, steps: Optional[int] = None, state: Optional[State] = None, *, tape: bool = True,
                record: bool = True, memory_budget: int = 0,
                progress: Optional[Callable[[int, StepInfo], Optional[bool]]] = None,
                **given: Optional[ArrayLike]) -> Rollout:
        """Simulates, and keeps what gradients need.

        steps: how many; by default as the scene's file says.
        state: where to start (left as it is); the scene's start by default.
        tape: False saves memory when no gradient is wanted.
        record: keep rollout.q and rollout.v.
        memory_budget: bytes for the tape, 0 = no limit; beyond it, steps are computed again.
        progress: called as progress(step, info) after every step; False stops with StoppedError.

        given, by the names in pliant.WANTED:
        position, velocity: [n, 3] at the start.
        Inputs: vertex_force [steps, n, 3] N, force [steps, force_count, 3], wind [steps, wind_count, 3] m/s,
        pin_target [steps, pin_vertex_count, 3] m, collider_pose [steps, collider_count, 7]: as in step.
        Arrays that fit already are used where they are: leave them unchanged until after backward.
        Without a row per step (shape [force_count, 3]), the same is used in every step.
        Parameters, shaped as get's: for this rollout alone, the scene's stay as they are.
        """
        from ._rollout import Rollout
        return Rollout(self, self.steps if steps is None else steps, state, given, tape, record, memory_budget,
                       progress)

    def __repr__(self) -> str:
        if self.closed:
            return "<pliant.Scene closed>"
        i = self._info
        return (f"<pliant.Scene {i.body_count} bodies, {i.vertex_count} vertices, {i.element_count} elements, "
                f"{i.collider_count} colliders>")
