"""Election of the rank that writes a checkpoint which several ranks would write, and its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...base.types import Array
from ...distributed import exchange, settings
from ...distributed.world import Group, world
from ...nn.cell import Cell
from ...nn.optim._sharing import whole_states
from ...ops import collectives as table
from .base import Callback

__all__ = ["Saver", "choose_writers", "wait_for_writers"]

_DIGEST = 16


class Saver(Callback):
    """A callback that saves during training, on one rank if several would write the same files."""

    _writes = True
    """Whether this rank writes; False if another rank writes the same files."""
    _in_step = False
    """Whether all ranks have such a callback, with the same steps."""

    def _where(self) -> str:
        """Return the location of its checkpoints; "" if unknown before training."""
        raise NotImplementedError

    def _when(self) -> str:
        """Return the steps after which it saves; "" if they depend on something else."""
        raise NotImplementedError

    def _saved(self, network: Cell) -> Any:
        """Return the saved content of a network, including its optimizers' gathered state if all ranks save.

        All ranks call this, also those that do not write.
        """
        states = whole_states(network) if self._in_step else {}
        return {**{p.name: p for p in network.get_parameters()}, **states} if states else network


def choose_writers(callbacks: Sequence[Callback]) -> Group | None:
    """Elect the ranks that write: the first of those that save to one location.

    All ranks of a data-parallel training call this, with any callbacks.

    Args:
        callbacks: the callbacks of the training on this rank.

    Returns:
        The ranks, if one writes for another: they wait for each other in the end. Otherwise None.

    Raises:
        RuntimeError: the other ranks' calls differ.
    """
    group, savers = world().everybody, [callback for callback in callbacks if isinstance(callback, Saver)]
    for saver in savers:
        saver._writes, saver._in_step = True, False
    if not settings.is_data_parallel() or group.size == 1:
        return None
    counts = _gather(group, np.array([len(savers)]), [1] * group.size).tolist()
    digests = np.zeros((len(savers), 2 * _DIGEST), np.uint8)
    for row, saver in zip(digests, savers, strict=True):
        row[:] = np.frombuffer(_digest(saver._where()) + _digest(saver._when()), np.uint8)
    rows = [row.tobytes() for row in _gather(group, digests, counts)]
    locations = [row[:_DIGEST] for row in rows]
    before = sum(counts[: group.rank])  # the savers of the preceding ranks
    for number, saver in enumerate(savers):
        saver._writes = locations[before + number] not in locations[:before]
        if len({*counts}) == 1:
            saver._in_step = len({row[_DIGEST:] for row in rows[number :: len(savers)]}) == 1
    return group if len({*locations}) < len(locations) else None


def wait_for_writers(group: Group) -> None:
    """Wait at the end of training until all ranks have written, so that each can read the others' files.

    Args:
        group: the result of ``choose_writers``.

    Raises:
        RuntimeError: the other ranks' calls differ, as after an error.
    """
    exchange.start("the end of the training", "", table.line(), group, lambda: None).wait()


def _digest(text: str) -> bytes:
    """Return a digest that is equal for equal texts; that of "" equals no other."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST).digest() if text else os.urandom(_DIGEST)


def _gather(group: Group, x: Array, sizes: Sequence[int]) -> Array:
    description = f"where {[*sizes]} callbacks save to"
    return exchange.start(
        "all_gather", description, table.line(), group, partial(exchange.all_gather, group, x, sizes)
    ).wait()
