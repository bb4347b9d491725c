"""Ring buffer of captures. Their bytes and their number are limited, and so are the bytes of all rings together.

If the arrays exceed the limit, the oldest ones are evicted: the array is released, and the row with its statistics
stays. Values that share memory (a layer's output is the next one's input, a reshape is a view) are counted once in a
ring.

All rings of the process together hold at most 1 GiB, or the largest limit of any of them. Beyond that, a ring that
grows evicts the oldest arrays of all rings.

Computing statistics costs about as much as reading the array. Statistics that were requested while the value existed
are kept. Otherwise they are computed on eviction, as long as that takes at most 0.5 % of the time. This is decided for
whole steps, so that their statistics are comparable.

During a run, values are only noted (``note``). Their captures are created, and the oldest evicted, on the first query
or when an eighth of a limit has been noted. In a batch this takes a third of the time of single captures between two
kernels, which evict this code and its data from the processor's caches.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from hookscope.engine.tensors.tensor import Tensor

from ..argument_checks import positive
from .capture import Capture, forget_figures
from .evicted import EvictedCapture, without_value
from .memory import ArrayMemory
from .size_texts import size_text
from .statistics import load_kernels

if TYPE_CHECKING:
    from ..watch.value_event import ValueEvent
    from ..watch.visits import Visit

__all__ = ["MAX_BYTES", "MAX_CAPTURES", "MAX_TOGETHER", "CaptureRing", "kept_value"]

MAX_BYTES = 256 << 20
MAX_CAPTURES = 20_000
MAX_TOGETHER = 1 << 30

# Cost limit of statistics of evicted values: initial seconds, and a share of the time from then on.
_FIRST_SECONDS = 0.05
_SHARE = 0.005

# The maximum number of values that are noted before captures are created.
_MAX_NOTES = 64

_order = count().__next__
_lock = threading.RLock()  # of every ring, since each may evict from the others


class _Together:
    """Totals of all rings of the process.

    Attributes:
        bytes: the memory that they keep alive, counted in each ring.
        most: the limit of ``bytes``.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.most = MAX_TOGETHER
        self._rings: dict[weakref.ref[CaptureRing], ArrayMemory] = {}

    def join(self, ring: CaptureRing) -> None:
        with _lock:
            self._rings[weakref.ref(ring, self._leave)] = ring._memory
            self.update_limit()

    def _leave(self, ref: weakref.ref[CaptureRing]) -> None:
        with _lock:
            if ref in self._rings:
                self.bytes -= self._rings.pop(ref).bytes
            self.update_limit()

    def update_limit(self) -> None:
        self.most = max([MAX_TOGETHER, *(ring.max_bytes for ring in self.rings())])

    def rings(self) -> list[CaptureRing]:
        # list() creates no object tracked by the garbage collector, whose run could remove a ring during the iteration.
        return [ring for ref in list(self._rings) if (ring := ref()) is not None]

    def make_room(self) -> None:
        """Evict the oldest values of all rings."""
        # Recomputed: an interrupt may have kept a ring from leaving in good order.
        self._rings = {ref: ring._memory for ref in list(self._rings) if (ring := ref()) is not None}
        self.bytes = sum(arrays.bytes for arrays in self._rings.values())
        rings = self.rings()
        while self.bytes > self.most:
            nonempty = [ring for ring in rings if ring._captures]
            if not nonempty:
                break
            min(nonempty, key=lambda ring: ring._captures[0]._order)._evict_oldest()


_together = _Together()


class _Note(NamedTuple):
    """A noted value, before its capture is created."""

    order: int
    index: int  # type: ignore[assignment]  # of the capture, and not the method of tuples
    visit: Visit
    direction: str
    slot: str
    array: Any
    origin: str
    context: str


class CaptureRing:
    """Ring buffer of the newest captures, oldest first; iteration yields those whose values are kept.

    Attributes:
        max_bytes: memory limit of the values in bytes.
        max_captures: limit of the number of captures, including evicted ones.
        replacements: the number of calls of ``replace``.
        on_eviction: called after evictions with the index of the oldest value that is kept, or None.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_captures: int = MAX_CAPTURES) -> None:
        self.max_bytes = positive("max_bytes", max_bytes)
        self.max_captures = positive("max_captures", max_captures)
        self._dropped = self.replacements = 0
        self.on_eviction: Callable[[int | None], None] | None = None
        self.name = os.urandom(3).hex()  # for `kept_value`: unique among the rings of all processes
        self._captures: deque[Capture] = deque()
        self._evicted: deque[EvictedCapture] = deque()
        self._notes: deque[_Note] = deque()
        self._note_bytes = 0
        self._memory = ArrayMemory()
        self._figures = _FiguresInTime()
        self._step = -1
        self._step_bytes = 0  # memory of the newest step
        self._exceeds_limit = False  # whether the newest step lost values to the ring's own limit,
        self._largest_step_bytes = 0  # and the memory of the largest such step
        _together.join(self)

    def append(self, capture: Capture) -> None:
        """Add a capture, and evict the oldest ones beyond the limits."""
        with _lock:
            self._settle()
            capture._order = _order()
            self._append(capture)

    def note(self, event: ValueEvent, index: int) -> int:
        """Note the values of an event, numbered from ``index``; return the next number.

        Their captures are created on first use.
        """
        notes = self._notes
        for slot, value in event.slots:
            array = value._array
            notes.append(
                _new(_Note, (_order(), index, event.visit, event.direction, slot, array, event.origin, event.context))
            )
            index += 1
            self._note_bytes += array.nbytes
            count = len(notes)
            if 8 * self._note_bytes > self.max_bytes or 8 * count > self.max_captures or count >= _MAX_NOTES:
                self._settle()
        return index

    def _settle(self) -> None:
        """Create captures of the noted values."""
        notes = self._notes
        if not notes:
            return
        with _lock:
            self._note_bytes = 0
            while notes:
                order, index, visit, direction, slot, array, origin, context = notes.popleft()
                cell_type, value = type(visit.cell).__name__, Tensor._wrap(array)
                self._append(
                    Capture(
                        index,
                        visit.step,
                        visit.path,
                        cell_type,
                        visit.call,
                        direction,
                        slot,
                        value,
                        origin,
                        context,
                        None,
                        None,
                        order,
                    )
                )
                del array, value  # the next eviction may be this value

    def _append(self, capture: Capture) -> None:
        items, memory = self._captures, self._memory
        if capture.step != self._step:
            self._next_step(capture.step)
        items.append(capture)
        added_bytes = memory.add(capture.value._array)
        if added_bytes:
            self._step_bytes += added_bytes
            _together.bytes += added_bytes
            while memory.bytes > self.max_bytes:
                self._exceeds_limit |= self._evict_oldest() == capture.step
            if _together.bytes > _together.most:
                _together.make_room()
        if len(items) + len(self._evicted) > self.max_captures:
            self._drop_oldest()

    @property
    def _items(self) -> deque[Capture]:
        self._settle()
        return self._captures

    @property
    def _evicted_rows(self) -> deque[EvictedCapture]:
        self._settle()
        return self._evicted

    def replace(self, before: Capture, after: Capture | None) -> None:
        """Replace a capture by another one with the same index, or remove it; an evicted one stays as it is."""
        items, memory = self._items, self._memory
        with _lock:
            if before not in items:
                return
            self.replacements += 1
            position = items.index(before)
            _together.bytes -= memory.remove(before.value._array)
            if after is None:
                del items[position]
                return
            after._order = before._order
            items[position] = after
            _together.bytes += memory.add(after.value._array)

    def _next_step(self, step: int) -> None:
        self._largest_step_bytes = self._a_step_takes()
        self._step, self._step_bytes, self._exceeds_limit = step, 0, False

    def _evict_oldest(self) -> int:
        """Evict one value; return its step."""
        oldest, figures = self._captures.popleft(), self._figures
        step = oldest.step
        cached = oldest._statistics
        is_incomplete = cached is None or not cached.histogram.size
        if is_incomplete and (figures.is_allowed if step == figures.step else figures.begin(step)):
            figures.compute(oldest)
        self._evicted.append(without_value(oldest))
        self._release(oldest)
        return step

    def _drop_oldest(self) -> None:
        if self._evicted:
            self._evicted.popleft()
        else:
            self._release(self._captures.popleft())
        self._dropped += 1

    def _release(self, oldest: Capture) -> None:
        forget_figures(oldest.value._array)
        _together.bytes -= self._memory.remove(oldest.value._array)
        if self.on_eviction is not None:
            self.on_eviction(self._captures[0].index if self._captures else None)

    def set_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        """Set the limits; None keeps one unchanged. Values beyond the new limits are evicted at once.

        Raises:
            ValueError: a bound is not a positive integer.
        """
        new_bytes = self.max_bytes if max_bytes is None else positive("max_bytes", max_bytes)
        new_captures = self.max_captures if max_captures is None else positive("max_captures", max_captures)
        with _lock:
            self._settle()
            if new_bytes > self.max_bytes:  # recompute whether a step fits
                self._exceeds_limit, self._largest_step_bytes = False, 0
            self.max_bytes, self.max_captures = new_bytes, new_captures
            _together.update_limit()
            while self._memory.bytes > new_bytes:
                self._evict_oldest()
            while len(self._items) + len(self._evicted_rows) > new_captures:
                self._drop_oldest()
            _together.make_room()

    def clear(self) -> None:
        """Remove all captures; they do not count as dropped."""
        with _lock:
            self._items.clear()  # the property also settles noted values
            self._evicted_rows.clear()
            _together.bytes -= self._memory.bytes
            self._memory.clear()

    @property
    def dropped(self) -> int:
        """The number of rows that were dropped to stay within ``max_captures``."""
        self._settle()
        return self._dropped

    @property
    def bytes(self) -> int:
        """The memory in bytes that the captures keep alive."""
        self._settle()
        return self._memory.bytes

    @property
    def given_up(self) -> int:
        """The number of captures whose values were evicted."""
        return len(self._evicted_rows)

    @property
    def one_step_takes(self) -> int:
        """The bytes that the captures of one step take, if they do not fit into ``max_bytes``; else 0."""
        self._settle()
        return self._a_step_takes()

    def _a_step_takes(self) -> int:
        return max(self._largest_step_bytes, self._step_bytes if self._exceeds_limit else 0)

    def notes(self) -> list[str]:
        """Return notes on missing values for the reader, one sentence each."""
        notes = []
        if self.one_step_takes:
            needed, limit = size_text(self.one_step_takes), size_text(self.max_bytes)
            notes.append(
                f"The captures of one step take {needed} and do not fit into {limit}: "
                "allow more (--max-bytes), or watch fewer cells (--watch)."
            )
        if self.given_up:
            notes.append(
                f"The values of the {self.given_up:,} oldest were given up: this session may keep "
                f"{size_text(self.max_bytes)}, all together {size_text(_together.most)}. Their figures stay."
            )
        if self.dropped:
            notes.append(f"{self.dropped:,} older dropped, to keep {self.max_captures:,} (--max-captures).")
        return notes

    def latest(self, path: str, slot: str, direction: str) -> Capture | None:
        """Return the newest capture of this cell, slot and direction."""
        for capture in reversed(self._snapshot()):
            if capture.path == path and capture.slot == slot and capture.direction == direction:
                return capture
        return None

    @property
    def oldest_index(self) -> int | None:
        """The index of the oldest capture whose value is kept; None if there is none."""
        with _lock:
            return self._items[0].index if self._items else None

    def rows(self) -> list[Capture | EvictedCapture]:
        """Return every capture, oldest first: the evicted ones, then those whose values are kept."""
        with _lock:
            return [*self._evicted_rows, *self._items]

    def _snapshot(self) -> list[Capture]:
        with _lock:
            return list(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Capture]:
        return iter(self._snapshot())

    def __getitem__(self, index: int) -> Capture:
        with _lock:
            return self._items[index]

    def __repr__(self) -> str:
        given_up = f", {self.given_up} given up" if self.given_up else ""
        return f"CaptureRing({len(self)} captures, {self.bytes} bytes{given_up}, {self.dropped} dropped)"


# The fastest constructor: an attached session calls it for each value.
_new = tuple.__new__


class _FiguresInTime:
    """Statistics of evicted values, computed for whole steps within a share of the time.

    Attributes:
        step: the step whose values are being evicted.
        is_allowed: whether their statistics are computed.
    """

    def __init__(self) -> None:
        self.step = -1
        self.is_allowed = False
        self._allowed = _FIRST_SECONDS
        self._last_time = perf_counter()

    def begin(self, step: int) -> bool:
        """Begin the evictions of another step; return whether its statistics are computed."""
        time = perf_counter()
        # The allowance never exceeds the initial one: after an idle hour a run is not slower than at its start.
        self._allowed = min(_FIRST_SECONDS, self._allowed + _SHARE * (time - self._last_time))
        self.step, self.is_allowed, self._last_time = step, self._allowed >= 0, time
        return self.is_allowed

    def compute(self, capture: Capture) -> None:
        """Compute the statistics of a capture within the allowance."""
        load_kernels()  # once in the process, so not part of the cost of statistics
        begin = perf_counter()
        with suppress(TypeError):  # elements that are not numbers have none
            capture.statistics()
        self._allowed -= perf_counter() - begin


def kept_value(ring: str, index: int) -> Tensor:
    """Return the value of a capture kept in this process: code that "Copy as NumPy" writes for a large value.

    Args:
        ring: ``session.captures.name``.
        index: the capture's index.

    Raises:
        LookupError: the session no longer exists, or has evicted the value.
    """
    match = next((candidate for candidate in _together.rings() if candidate.name == ring), None)
    if match is None:
        raise LookupError(f"kept_value: the session that captured this is gone ({ring!r} is not in this process)")
    for capture in match:
        if capture.index == index:
            return capture.value
    raise LookupError(f"kept_value: the value of capture {index} is not kept any more; copy a newer one")
