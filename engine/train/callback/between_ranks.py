"""Which of the ranks that train together writes a checkpoint that several of them would write to the same place."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial

import numpy as np

from ...core.types import Array
from ...ops import collectives as table
from ...ranks import exchange, settings
from ...ranks.world import Group, world
from .base import Callback

__all__ = ["Saver", "agreed", "wait_for_writers"]

_DIGEST = 16


class Saver(Callback):
    """A callback that saves during a training, on one rank where several would write the same files."""

    _writes = True
    """Whether this rank writes: another one does where it would write the same files."""

    def _where(self) -> str:
        """Where it saves to; "" where that is not known before the training."""
        raise NotImplementedError


def agreed(callbacks: Sequence[Callback]) -> Group | None:
    """Let the ranks of a training decide who writes: of those that save to one place the first.

    All ranks that train in data parallel call this, whatever their callbacks are.

    Args:
        callbacks: of the training on this rank.

    Returns:
        The ranks, where one writes for another: they wait for each other in the end. None elsewhere.

    Raises:
        RuntimeError: the other ranks do something else.
    """
    group, savers = world().everybody, [one for one in callbacks if isinstance(one, Saver)]
    for saver in savers:
        saver._writes = True
    if not settings.is_data_parallel() or group.size == 1:
        return None
    counts = _gathered(group, np.array([len(savers)]), [1] * group.size).tolist()
    digests = np.zeros((len(savers), _DIGEST), np.uint8)
    for row, saver in zip(digests, savers, strict=True):
        row[:] = _digest(saver._where())
    places = [row.tobytes() for row in _gathered(group, digests, counts)]
    before = sum(counts[: group.rank])  # of the ranks before this one
    for number, saver in enumerate(savers, before):
        saver._writes = places[number] not in places[:before]
    return group if len({*places}) < len(places) else None


def wait_for_writers(group: Group) -> None:
    """At the end of a training, until all ranks have written: what one wrote the others can read.

    Args:
        group: as ``agreed`` gave it.

    Raises:
        RuntimeError: the other ranks do something else, as after an error.
    """
    exchange.started("the end of the training", "", table.line(), group, lambda: None).wait()


def _digest(place: str) -> Array:
    known = hashlib.blake2b(place.encode(), digest_size=_DIGEST).digest() if place else os.urandom(_DIGEST)
    return np.frombuffer(known, np.uint8)


def _gathered(group: Group, x: Array, sizes: Sequence[int]) -> Array:
    what = f"where {[*sizes]} callbacks save to"
    found: Array = exchange.started(
        "all_gather", what, table.line(), group, partial(exchange.all_gather, group, x, sizes)
    ).wait()
    return found
