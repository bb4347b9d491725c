"""Requests to the stand-in's device: launches, synchronizations, copies, each with its caller."""

from __future__ import annotations

import collections
import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import hookscope

__all__ = ["Counts", "Event", "copied", "counting", "launched", "opened", "synchronized"]

_FOLDER = str(Path(hookscope.__file__).parent) + "/"


@dataclass(frozen=True, slots=True)
class Event:
    """One request to the device."""

    name: str
    """CuPy's function or method, or "triton:" and the name of a kernel."""
    operator: str | None
    """The innermost operator of the table that ran, with " backward" behind it in its rule; None beside all of them."""
    place: str
    """The nearest line of ours, as "engine/ops/neural/loss.py:111"; "" where no code of ours is on the stack."""
    bytes: int = 0


@dataclass
class Counts:
    """All events while it was open, in order; ``str(counts)`` is a table by location."""

    launches: list[Event] = field(default_factory=list)
    synchronizations: list[Event] = field(default_factory=list)
    to_device: list[Event] = field(default_factory=list)
    to_host: list[Event] = field(default_factory=list)

    def clear(self) -> None:
        """Count from here on."""
        for events in (self.launches, self.synchronizations, self.to_device, self.to_host):
            events.clear()

    def copy(self) -> Counts:
        """Return the counts until now."""
        return Counts(*map(list, (self.launches, self.synchronizations, self.to_device, self.to_host)))

    def totals(self) -> dict[str, int]:
        return {
            "launches": len(self.launches),
            "synchronizations": len(self.synchronizations),
            "to device": len(self.to_device),
            "to host": len(self.to_host),
        }

    def __str__(self) -> str:
        lines = [", ".join(f"{number} {what}" for what, number in self.totals().items())]
        for what, events in (
            ("synchronization", self.synchronizations),
            ("to device", self.to_device),
            ("to host", self.to_host),
            ("launch", self.launches),
        ):
            rows = collections.Counter((e.name, e.operator or "-", e.place) for e in events)
            lines += [f"{number:5} {what:<16}{'  '.join(row)}" for row, number in rows.most_common()]
        return "\n".join(lines)


_open: list[Counts] = []


@contextmanager
def counting() -> Iterator[Counts]:
    """Count until the end of the block; blocks nest."""
    counts = Counts()
    _open.append(counts)
    try:
        yield counts
    finally:
        _open.remove(counts)


def opened() -> list[Counts]:
    """Return all active counts."""
    return list(_open)


def launched(name: str, times: int = 1) -> None:
    """Note the start of so many kernels for a call of ``name``."""
    if _open and times:
        event = _event(name)
        for counts in _open:
            counts.launches.extend([event] * times)


def synchronized(name: str) -> None:
    """Note that the host waited for the device."""
    if _open:
        event = _event(name)
        for counts in _open:
            counts.synchronizations.append(event)


def copied(name: str, to: str, size: int) -> None:
    """Note that ``size`` bytes went to the "device" or to the "host"; the latter waits for the device."""
    if _open:
        event = _event(name, size)
        for counts in _open:
            (counts.to_device if to == "device" else counts.to_host).append(event)
            if to == "host":
                counts.synchronizations.append(event)


@functools.cache
def _operators() -> dict[CodeType, str]:
    """Return the code that runs an operator, and what is said behind its name."""
    from hookscope.engine.tensors.operator import Operator

    return {Operator._compute.__code__: "", Operator.gradients.__code__: " backward"}


def _event(name: str, size: int = 0) -> Event:
    operators = _operators()
    location, frame = "", sys._getframe(2)
    caller: Any = frame
    while caller is not None:
        code = caller.f_code
        if not location and code.co_filename.startswith(_FOLDER):
            location = f"{code.co_filename.removeprefix(_FOLDER)}:{caller.f_lineno}"
        if code in operators:
            return Event(name, caller.f_locals["self"].name + operators[code], location, size)
        caller = caller.f_back
    return Event(name, None, location, size)
