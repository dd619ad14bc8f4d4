"""Channels: everything a rollout depends on and can be differentiated by, as the library's table has them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence

from . import _api
from ._library import lib

ROLES = ("start", "input", "parameter")
ROWS = {value: name[len("PL_ROW_"):].lower() for name, value in vars(_api).items()
        if name.startswith("PL_ROW_")}


@dataclass(frozen=True)
class Channel:
    """An array of rows, each with `width` numbers; inputs have such an array for every step."""

    index: int
    name: str
    unit: str  #: "" of a pure number
    role: str  #: "start", "input" or "parameter"
    owner: str  #: of its rows: "body", "force", "wind", "pin", "collider"
    row: str  #: what an owner has rows for: "owner" (itself), "vertex", "element" or (every) "body"
    width: int
    gradient_width: int  #: of the derivative's rows
    lower: float  #: range of a parameter,
    upper: float
    above: bool  #: the lower end of which does not belong to it
    owner_index: int  #: of the kind of owner


def _read(index: int) -> Channel:
    c = lib.pl_channel_get(index).contents
    return Channel(index, c.name.decode(), c.unit.decode(), ROLES[c.role], lib.pl_owner_name(c.owner).decode(),
                   ROWS[c.row], c.width, c.gradient_width, c.lower, c.upper, c.above, c.owner)


#: By name, in the library's order.
CHANNELS: dict[str, Channel] = {c.name: c for c in map(_read, range(_api.PL_CHANNEL_COUNT))}
#: What gradients are taken of: the start, inputs and parameters.
WANTED: tuple[str, ...] = tuple(CHANNELS)
#: What drives a step.
INPUTS: tuple[str, ...] = tuple(c.name for c in CHANNELS.values() if c.role == "input")
#: What a scene is parametrised by.
PARAMETERS: tuple[str, ...] = tuple(c.name for c in CHANNELS.values() if c.role == "parameter")


def unknown(name: str, known: Sequence[str]) -> str:
    """What to say of a name that is not among those known."""
    near = difflib.get_close_matches(str(name), known, 1)
    return f"{name!r}: expected one of {', '.join(known)}" + (f"; did you mean {near[0]!r}?" if near else "")


def channel(name: str, known: Sequence[str] = WANTED) -> Channel:
    """The channel of that name, if it is among those known."""
    if name not in known:
        raise ValueError(unknown(name, known))
    return CHANNELS[name]


def check_keywords(given: Iterable[str], known: Sequence[str], function: Callable[..., Any]) -> None:
    """Raises what Python does for keyword arguments that a function does not have, with those it has."""
    for name in given:
        if name not in known:
            named = function.__kwdefaults__ or {}  # type: ignore[attr-defined]
            raise TypeError(f"{function.__name__}: {unknown(name, (*known, *named))}")


def bits(names: Iterable[str]) -> int:
    """A set of channels: pl_channels."""
    mask = 0
    for name in names:
        mask |= 1 << channel(name).index
    return mask

