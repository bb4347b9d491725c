"""Captures: values seen while a network ran, kept in a ring that is bounded by bytes and by count.

Arrays in tensors are never changed in place, so a capture is a reference to the array, in a tensor of its
own. Values that share memory (a layer's output is the next one's input, a reshape is a view) are counted
once.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .held import HeldArrays
from .statistics import Statistics, statistics

if TYPE_CHECKING:
    from hookscope.engine.tensor import Tensor

__all__ = ["Capture", "CaptureRing", "cell_name", "pick_slot"]


def cell_name(path: str) -> str:
    """A path as people read it: the root's own path is empty."""
    return path or "(root)"


@dataclass(eq=False, slots=True)
class Capture:
    """One value that passed.

    Attributes:
        index: running number in its session.
        step: the number of root calls by then.
        path: the cell's dotted path ("" for the root).
        cell_type: the cell's class name.
        call: the number of this call among the cell's calls in the step, from 0.
        direction: "forward" or "backward".
        slot: "input[0]", "output", "output[1]", "grad_output[0]", "grad_input[0]", ...
        value: a tensor around the array that passed.
        origin: "tap", "hook" if a hook of the session saw it, "edit" if the user put it there at a pause.
        context: how the call came about where the user's code did not just make it: "recomputed", "sample 1" of a
            ``vmap``, "in the bprop of ..."; for gradients also "order 2" (of the gradient of a gradient), or "walk 2"
            of gradients that went back once more.
    """

    index: int
    step: int
    path: str
    cell_type: str
    call: int
    direction: str
    slot: str
    value: Tensor
    origin: str = "tap"
    context: str = ""
    _hits: list[str] | None = field(default=None, repr=False)  # made for the few that have any
    _statistics: Statistics | None = field(default=None, repr=False)

    @property
    def hits(self) -> list[str]:
        """The names of the conditions that held, of those that were switched on."""
        if self._hits is None:
            self._hits = []
        return self._hits

    @property
    def array(self) -> Any:
        """The NumPy or CuPy array; it never changes."""
        return self.value._array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> str:
        """The element type, by NumPy's name."""
        return str(self.array.dtype.name)

    @property
    def nbytes(self) -> int:
        """The size of the elements."""
        return int(self.array.nbytes)

    @property
    def key(self) -> str:
        """What it is, in words: ``conv1#0 forward output``."""
        context = f" ({self.context})" if self.context else ""
        return f"{cell_name(self.path)}#{self.call} {self.direction} {self.slot}{context}"

    def statistics(self) -> Statistics:
        """The figures of the value, computed when first asked for."""
        if self._statistics is None:
            self._statistics = _figures(self.array)
        return self._statistics


# By the id of an array, for as long as it lives.
_known: dict[int, tuple[weakref.ref[Any], Statistics]] = {}


def _figures(array: Any) -> Statistics:
    """The figures of an array, computed once: the output of one cell is the input of the next, and never changes."""
    key = id(array)
    if key in _known:
        return _known[key][1]
    found = statistics(array)
    with contextlib.suppress(TypeError):  # an array class without weak references: computed again next time
        _known[key] = (weakref.ref(array, lambda _: _known.pop(key, None)), found)
    return found


class CaptureRing:
    """The newest captures, oldest first: at most ``max_captures``, in at most ``max_bytes`` of arrays.

    Attributes:
        dropped: how many captures had to go to stay within the bounds.
        replacements: how often ``replace`` was called.
    """

    def __init__(self, max_bytes: int, max_captures: int) -> None:
        for name, bound in (("max_bytes", max_bytes), ("max_captures", max_captures)):
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
                raise ValueError(f"{name} must be a positive integer, got {bound!r}")
        self.max_bytes = max_bytes
        self.max_captures = max_captures
        self.dropped = 0
        self.replacements = 0
        self._items: deque[Capture] = deque()
        self._held = HeldArrays()
        self._lock = threading.Lock()

    def append(self, capture: Capture) -> None:
        """Keep a capture, and drop the oldest ones as the bounds demand."""
        items, held = self._items, self._held
        with self._lock:
            items.append(capture)
            held.add(capture.array)
            while items and (len(items) > self.max_captures or held.bytes > self.max_bytes):
                self._drop_oldest()

    def replace(self, before: Capture, after: Capture | None) -> None:
        """Put a capture with the same index, or nothing, in the place of another one; of one that went, nothing."""
        items = self._items
        with self._lock:
            if before not in items:
                return
            self.replacements += 1
            place = items.index(before)
            self._held.remove(before.array)
            if after is None:
                del items[place]
            else:
                self._held.add(after.array)
                items[place] = after

    def _drop_oldest(self) -> None:
        self._held.remove(self._items.popleft().array)
        self.dropped += 1

    def clear(self) -> None:
        """Forget every capture; they do not count as dropped."""
        with self._lock:
            self._items.clear()
            self._held.clear()

    @property
    def bytes(self) -> int:
        """The memory that the captures keep alive."""
        return self._held.bytes

    def latest(self, path: str, slot: str, direction: str) -> Capture | None:
        """The newest capture of this cell, slot and direction."""
        for capture in reversed(self._snapshot()):
            if capture.path == path and capture.slot == slot and capture.direction == direction:
                return capture
        return None

    @property
    def oldest_index(self) -> int | None:
        """The running number of the oldest capture that is kept; None if there is none."""
        with self._lock:
            return self._items[0].index if self._items else None

    def _snapshot(self) -> list[Capture]:
        with self._lock:
            return list(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Capture]:
        return iter(self._snapshot())

    def __getitem__(self, index: int) -> Capture:
        with self._lock:
            return self._items[index]

    def __repr__(self) -> str:
        return f"CaptureRing({len(self)} captures, {self.bytes} bytes, {self.dropped} dropped)"


def pick_slot(name: str, value: object, tensor: type) -> Iterator[tuple[str, Any]]:
    """The tensors in a value by slot: ``output``, or ``output[1][0]`` inside tuples, lists and dictionaries."""
    if isinstance(value, tensor):
        yield name, value
    elif isinstance(value, tuple | list):
        for position, item in enumerate(value):
            yield from pick_slot(f"{name}[{position}]", item, tensor)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from pick_slot(f"{name}[{key}]", item, tensor)
