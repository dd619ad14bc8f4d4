"""Arguments of a batch: which dimensions are the batch's, and what broadcasts to what.

Arrays are named as in pliant.WANTED and shaped [*batch, *shape], with the shape Scene.shape_of tells.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ._channel import PARAMETERS, WANTED, check_keywords
from ._library import fits
from ._scene import Scene

Arranged = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def arrange(scene: Scene, steps: int, given: Mapping[str, Sequence[int]], function: Callable[..., Any],
            environments: tuple[int, ...] = ()) -> tuple[tuple[int, ...], Arranged]:
    """The batch's shape, and for every argument the shape to view it by and the one to broadcast that to.

    environments: what the batch's shape is known to be.

    Dimensions before an argument's own are the batch's, shared by all. A parameter's own may be left out, one
    number for every sample: where it has fewer dimensions than its own or another argument has that batch.
    """
    check_keywords(given, WANTED, function)
    own = {name: scene.shape_of(name, steps) for name in given}
    views: dict[str, tuple[int, ...]] = {}
    batches: dict[str, tuple[int, ...]] = {"environments": environments} if environments else {}
    short = []  # of one number a sample, if others have that batch
    for name, shape in given.items():
        extra = max(len(shape) - len(own[name]), 0)
        if fits(shape[extra:], own[name]):
            views[name] = tuple(shape)
            batches[name] = tuple(shape[:extra])
        elif name in PARAMETERS and 0 not in own[name]:
            views[name] = (*shape, *(1 for _ in own[name]))
            if len(shape) < len(own[name]):
                batches[name] = tuple(shape)
            else:
                short.append(name)
        else:
            raise _misfit(name, own[name], shape)
    batch = _joined(batches)
    for name in short:
        if not batch or not fits(given[name], batch):
            raise _misfit(name, own[name], given[name])
    return batch, {name: (views[name], (*batch, *own[name])) for name in given}


def _misfit(name: str, own: Sequence[int], shape: Sequence[int]) -> ValueError:
    return ValueError(f"{name}: expected shape [..., {', '.join(map(str, own))}], got {list(shape)}")


def _joined(batches: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    known = batches.get("environments")
    try:
        joined = np.broadcast_shapes(*batches.values())
    except ValueError:
        joined = None
    if joined is None or known not in (None, joined):
        differing = ", ".join(f"{name} {list(b)}" for name, b in batches.items() if b)
        raise ValueError(f"batch dimensions differ: {differing}")
    return joined
