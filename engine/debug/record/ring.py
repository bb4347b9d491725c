"""The captures that are kept: a ring that is bounded by bytes and by count, alone and together with all others.

Where the arrays take more than the bound, the oldest ones are given up: the array goes, the row with its figures stays.
Values that share memory (a layer's output is the next one's input, a reshape is a view) are counted once in a ring.

All rings of the process together hold at most 1 GiB, or as much as the one of them that may hold most: beyond that a
ring that grows makes the others give up, whichever has the oldest array first.

To compute a figure costs about what it costs to read the array. So figures are kept where somebody asked for them
while the value was there, and else computed when it is given up as long as that is cheap: for whole steps, so that they
can be compared, and for no more of them than take 0.5 % of the time.

What passes in a run is only noted (``note``). The captures of it are made, and the oldest given up, by whoever asks for
something here, or when an eighth of a bound has been noted: many together take a third of the time that each alone
takes between two kernels, which push this code and what it looks at out of the processor's caches.
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
from .evicted import GivenUp, given_up
from .memory import HeldArrays
from .size_texts import size_text
from .statistics import load_kernels

if TYPE_CHECKING:
    from ..watch.visits import Visit

__all__ = ["MAX_BYTES", "MAX_CAPTURES", "MAX_TOGETHER", "CaptureRing", "kept_value"]

MAX_BYTES = 256 << 20
MAX_CAPTURES = 20_000
MAX_TOGETHER = 1 << 30

# What the figures of values that are given up may cost: seconds at first, and a share of the time from then on.
_FIRST_SECONDS = 0.05
_SHARE = 0.005

# So many values are noted at most before captures are made of them.
_MOST_NOTED = 64

_order = count().__next__
_lock = threading.RLock()  # of every ring, since each may make the others give up


class _Together:
    """What all rings of the process hold.

    Attributes:
        bytes: the memory that they keep alive, counted in each.
        most: how much that may be.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.most = MAX_TOGETHER
        self._rings: dict[weakref.ref[CaptureRing], HeldArrays] = {}

    def join(self, ring: CaptureRing) -> None:
        with _lock:
            self._rings[weakref.ref(ring, self._leave)] = ring._held
            self.look_at_bounds()

    def _leave(self, ref: weakref.ref[CaptureRing]) -> None:
        with _lock:
            if ref in self._rings:
                self.bytes -= self._rings.pop(ref).bytes
            self.look_at_bounds()

    def look_at_bounds(self) -> None:
        self.most = max([MAX_TOGETHER, *(ring.max_bytes for ring in self.rings())])

    def rings(self) -> list[CaptureRing]:
        # list() makes no object that the collector counts; it would come by, and a ring would leave meanwhile.
        return [ring for ref in list(self._rings) if (ring := ref()) is not None]

    def make_room(self) -> None:
        """Give up the oldest values, whichever ring has them."""
        # Counted anew: an interrupt may have kept a ring from leaving in good order.
        self._rings = {ref: ring._held for ref in list(self._rings) if (ring := ref()) is not None}
        self.bytes = sum(held.bytes for held in self._rings.values())
        rings = self.rings()
        while self.bytes > self.most:
            full = [ring for ring in rings if ring._kept]
            if not full:
                break
            min(full, key=lambda ring: ring._kept[0]._order)._give_up_oldest()


_together = _Together()


class _Noted(NamedTuple):
    """A value that passed, before there is a capture of it."""

    order: int
    index: int  # type: ignore[assignment]  # of the capture, and not the method of tuples
    visit: Visit
    direction: str
    slot: str
    array: Any
    origin: str
    context: str


class CaptureRing:
    """The newest captures, oldest first; iterating gives those whose values are kept.

    Attributes:
        max_bytes: how much memory the values may take.
        max_captures: how many captures there are at most, those included of which only the row stays.
        replacements: how often ``replace`` was called.
        on_give_up: told of the index of the oldest value that is kept, or None, when older ones have gone.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_captures: int = MAX_CAPTURES) -> None:
        self.max_bytes = positive("max_bytes", max_bytes)
        self.max_captures = positive("max_captures", max_captures)
        self._dropped = self.replacements = 0
        self.on_give_up: Callable[[int | None], None] | None = None
        self.name = os.urandom(3).hex()  # for `kept_value`: no other ring has it, in whatever process
        self._kept: deque[Capture] = deque()
        self._rows_given_up: deque[GivenUp] = deque()
        self._noted: deque[_Noted] = deque()
        self._noted_bytes = 0
        self._held = HeldArrays()
        self._figures = _FiguresInTime()
        self._step = -1
        self._step_bytes = 0  # what the newest step takes
        self._does_not_fit = False  # whether it has lost values to the ring's own bound,
        self._one_step_takes = 0  # and what the largest such step took
        _together.join(self)

    def append(self, capture: Capture) -> None:
        """Keep a capture, and give up the oldest ones as the bounds demand."""
        with _lock:
            self._settle()
            capture._order = _order()
            self._append(capture)

    def note(self, index: int, visit: Visit, direction: str, slot: str, array: Any, origin: str, context: str) -> None:
        """Keep a value; there is a capture of it when somebody looks."""
        self._noted.append(_new(_Noted, (_order(), index, visit, direction, slot, array, origin, context)))
        self._noted_bytes += array.nbytes
        noted = len(self._noted)
        if 8 * self._noted_bytes > self.max_bytes or 8 * noted > self.max_captures or noted >= _MOST_NOTED:
            self._settle()

    def _settle(self) -> None:
        """Make captures of what was noted."""
        noted = self._noted
        if not noted:
            return
        with _lock:
            self._noted_bytes = 0
            while noted:
                order, index, visit, direction, slot, array, origin, context = noted.popleft()
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
                del array, value  # what is given up next may be this

    def _append(self, capture: Capture) -> None:
        items, held = self._kept, self._held
        if capture.step != self._step:
            self._next_step(capture.step)
        items.append(capture)
        grown = held.add(capture.value._array)
        if grown:
            self._step_bytes += grown
            _together.bytes += grown
            while held.bytes > self.max_bytes:
                self._does_not_fit |= self._give_up_oldest() == capture.step
            if _together.bytes > _together.most:
                _together.make_room()
        if len(items) + len(self._rows_given_up) > self.max_captures:
            self._drop_oldest()

    @property
    def _items(self) -> deque[Capture]:
        self._settle()
        return self._kept

    @property
    def _given_up(self) -> deque[GivenUp]:
        self._settle()
        return self._rows_given_up

    def replace(self, before: Capture, after: Capture | None) -> None:
        """Put a capture with the same index, or nothing, in the place of another one; of one that went, nothing."""
        items, held = self._items, self._held
        with _lock:
            if before not in items:
                return
            self.replacements += 1
            place = items.index(before)
            _together.bytes -= held.remove(before.value._array)
            if after is None:
                del items[place]
                return
            after._order = before._order
            items[place] = after
            _together.bytes += held.add(after.value._array)

    def _next_step(self, step: int) -> None:
        self._one_step_takes = self._a_step_takes()
        self._step, self._step_bytes, self._does_not_fit = step, 0, False

    def _give_up_oldest(self) -> int:
        """Give up one value; returns the step that it was of."""
        oldest, figures = self._kept.popleft(), self._figures
        step = oldest.step
        known = oldest._statistics
        missing = known is None or not known.histogram.size
        if missing and (figures.wanted if step == figures.step else figures.begin(step)):
            figures.compute(oldest)
        self._rows_given_up.append(given_up(oldest))
        self._let_go(oldest)
        return step

    def _drop_oldest(self) -> None:
        if self._rows_given_up:
            self._rows_given_up.popleft()
        else:
            self._let_go(self._kept.popleft())
        self._dropped += 1

    def _let_go(self, oldest: Capture) -> None:
        forget_figures(oldest.value._array)
        _together.bytes -= self._held.remove(oldest.value._array)
        if self.on_give_up is not None:
            self.on_give_up(self._kept[0].index if self._kept else None)

    def set_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        """Change the bounds; None leaves one as it is. What no longer fits is given up at once.

        Raises:
            ValueError: a bound is no positive integer.
        """
        now = self.max_bytes if max_bytes is None else positive("max_bytes", max_bytes)
        most = self.max_captures if max_captures is None else positive("max_captures", max_captures)
        with _lock:
            self._settle()
            if now > self.max_bytes:  # whether a step fits is seen anew
                self._does_not_fit, self._one_step_takes = False, 0
            self.max_bytes, self.max_captures = now, most
            _together.look_at_bounds()
            while self._held.bytes > now:
                self._give_up_oldest()
            while len(self._items) + len(self._given_up) > most:
                self._drop_oldest()
            _together.make_room()

    def clear(self) -> None:
        """Forget every capture; they do not count as dropped."""
        with _lock:
            self._items.clear()  # which sees to what was noted
            self._given_up.clear()
            _together.bytes -= self._held.bytes
            self._held.clear()

    @property
    def dropped(self) -> int:
        """How many had to go with their rows, to stay within ``max_captures``."""
        self._settle()
        return self._dropped

    @property
    def bytes(self) -> int:
        """The memory that the captures keep alive."""
        self._settle()
        return self._held.bytes

    @property
    def given_up(self) -> int:
        """How many captures there are of which only the row stays."""
        return len(self._given_up)

    @property
    def one_step_takes(self) -> int:
        """What the captures of one step take, in bytes, if they do not fit into ``max_bytes``; else 0."""
        self._settle()
        return self._a_step_takes()

    def _a_step_takes(self) -> int:
        return max(self._one_step_takes, self._step_bytes if self._does_not_fit else 0)

    def notes(self) -> list[str]:
        """What a reader should know of what is missing, one sentence each."""
        notes = []
        if self.one_step_takes:
            takes, most = size_text(self.one_step_takes), size_text(self.max_bytes)
            notes.append(
                f"The captures of one step take {takes} and do not fit into {most}: "
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
        """The newest capture of this cell, slot and direction."""
        for capture in reversed(self._snapshot()):
            if capture.path == path and capture.slot == slot and capture.direction == direction:
                return capture
        return None

    @property
    def oldest_index(self) -> int | None:
        """The running number of the oldest capture whose value is kept; None if there is none."""
        with _lock:
            return self._items[0].index if self._items else None

    def rows(self) -> list[Capture | GivenUp]:
        """Every capture, oldest first: first those that were given up, then those whose values are kept."""
        with _lock:
            return [*self._given_up, *self._items]

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


# The shortest way there is: a run that watches comes here for each value.
_new = tuple.__new__


class _FiguresInTime:
    """Computes figures of values that are given up, of one step or another, in a share of the time.

    Attributes:
        step: which values are given up now.
        wanted: whether their figures are computed.
    """

    def __init__(self) -> None:
        self.step = -1
        self.wanted = False
        self._allowed = _FIRST_SECONDS
        self._seen = perf_counter()

    def begin(self, step: int) -> bool:
        """Values of another step are given up from now on; returns whether their figures are wanted."""
        now = perf_counter()
        # No more is saved up than there is at first: after an hour of rest a run is not slower than at its start.
        self._allowed = min(_FIRST_SECONDS, self._allowed + _SHARE * (now - self._seen))
        self.step, self.wanted, self._seen = step, self._allowed >= 0, now
        return self.wanted

    def compute(self, capture: Capture) -> None:
        """Have the figures of a capture computed."""
        load_kernels()  # once in the process, and so no part of what figures cost
        begin = perf_counter()
        with suppress(TypeError):  # elements that are no numbers have none
            capture.statistics()
        self._allowed -= perf_counter() - begin


def kept_value(ring: str, index: int) -> Tensor:
    """The value of a capture that a session of this process keeps: what "Copy as NumPy" writes for a large one.

    Args:
        ring: ``session.captures.name``.
        index: the capture's running number.

    Raises:
        LookupError: there is no such session any more, or it has given that value up.
    """
    known = next((one for one in _together.rings() if one.name == ring), None)
    if known is None:
        raise LookupError(f"kept_value: the session that captured this is gone ({ring!r} is none of this process)")
    for capture in known:
        if capture.index == index:
            return capture.value
    raise LookupError(f"kept_value: the value of capture {index} is not kept any more; copy a newer one")
