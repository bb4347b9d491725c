"""How far long work is, and its Stop: what a panel shows of it, and what the button does.

Work that counts itself (`hookscope.engine.tape.progress`) is shown by what it says. A training loop of the user's own
is known only by the calls that the session sees: steps done, and how many there are in a second.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypedDict

from hookscope.engine.nn import Cell
from hookscope.engine.tape import progress
from hookscope.widgets.messages import Action, MessageError
from hookscope.widgets.throttle import Throttle

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Event
    from hookscope.engine.tape.progress import Work
    from hookscope.widgets.panel import DebuggerPanel

# Seconds that work must have taken to be shown: what is over sooner would only flicker.
_SHOWN_AFTER = 0.3
# Updates a second: what a person can read.
_RATE = 2.0
# Seconds over which speed is measured: it is the speed of now, not the mean since a slow start.
_WINDOW = 10.0

# Seconds without a capture after which a speed is measured anew.
_GAP = 2.0

LIVE_COMMS: set[str] = set()
"""The comms of live panels. A kernel that can answer in a running cell answers these."""

_started_here: list[str] = []  # the work that a panel's button has started, which is one at most


class Progress(TypedDict, total=False):
    """Long work; without `what` there is none, and perhaps a last word on it in `note`."""

    what: str
    text: str
    inner: str
    value: float | None
    can_stop: bool
    stopping: bool
    open_ended: bool
    note: str


@contextmanager
def started_by_button(panel: DebuggerPanel, what: str) -> Iterator[None]:
    """Around work that a panel's button starts. Messages are answered meanwhile, but none starts more of it.

    Raises:
        MessageError: there is such work already.
    """
    if _started_here:
        raise MessageError(f"the {_started_here[0]} is not over yet: wait for it, or stop it")
    _started_here.append(what)
    try:
        with panel.progress_view.inside():
            yield
    finally:
        _started_here.clear()


class Speed:
    """Steps a second, over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def at(self, now: float, done: float) -> float:
        """Note how much is done by now; the speed, 0.0 while it is not known."""
        while len(self._seen) > 1 and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        self._seen.append((now, done))
        begin, before = self._seen[0]
        return (done - before) / (now - begin) if now > begin else 0.0


class _Run:
    """A loop of the user's own: a session sees its steps, and nobody says when it ends."""

    def __init__(self, now: float) -> None:
        self.began = now
        self.last = now
        self.speed = Speed()
        self.thread = threading.current_thread()


class ProgressView:
    """Follows the long work that concerns one session.

    Args:
        session: the session.
        publish: puts what is to be shown on the page; empty for nothing.
        clock: tells the time.
    """

    def __init__(
        self, session: DebugSession, publish: Callable[[Progress], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._session = session
        self._publish = publish
        self._clock = clock
        self._due = Throttle(clock, rate=_RATE)
        self._work: Work | None = None  # the outermost that is shown
        self._speed = Speed()
        self._run: _Run | None = None
        self._unrelated: tuple[Work, int] | None = None  # work of no interest to so many roots
        self._around: Work | None = None  # what was under way when a button of the panel started more
        self._shown: Progress = {}
        self._comm_id = ""
        self._stop_listening: Callable[[], None] | None = None

    def begin(self, comm: Any) -> None:
        """Follow what is under way; `comm` is the panel's."""
        self._stop_listening = progress.listen(self._told)
        self._comm_id = comm.comm_id
        LIVE_COMMS.add(self._comm_id)

    def close(self) -> None:
        """Follow nothing any more."""
        LIVE_COMMS.discard(self._comm_id)
        if self._stop_listening is not None:
            self._stop_listening()
            self._stop_listening = None  # it refers to this view

    # What is shown

    def _told(self, work: Work) -> None:
        if work is self._work and work.ended:
            self._work = None
            self._put({"note": work.stopped()} if work.stopping and work.stoppable else {})
        elif not work.ended and (chain := self._chain(work)):
            self._show(chain)

    def _chain(self, work: Work | None) -> list[Work]:
        """From the outermost work that concerns the session to this one."""
        nested: list[Work] = []
        while work is not None and work is not self._around:
            nested.append(work)
            work = work.outer
        nested.reverse()
        first = next((k for k, one in enumerate(nested) if self._concerns(one)), len(nested))
        return nested[first:]

    def _concerns(self, work: Work) -> bool:
        about, session = work, self._session
        while about.of is None and about.outer is not None:
            about = about.outer
        of = about.of
        if work is self._work or of is session:
            return True
        if of is None:  # about nothing: it is shown wherever somebody watches
            return session.attached
        if not isinstance(of, Cell) or not session.roots:
            return False
        if session.paths.path_of(of) is not None:
            return True
        if self._unrelated != (work, len(session.roots)):  # else known already: a network may have many cells
            cells = {id(cell) for _, cell in of.cells_and_names()}
            if any(id(root) in cells for root in session.roots):
                return True
            self._unrelated = work, len(session.roots)
        return False

    def _show(self, chain: list[Work]) -> None:
        outer, now = chain[0], self._clock()
        if self._work is not outer:
            if now - outer.began < _SHOWN_AFTER:
                return
            self._work, self._run, self._speed = outer, None, Speed()
        elif not self._due.due():
            return
        with self._due.spend():
            self._put(self._lines(chain, now))

    def _lines(self, chain: list[Work], now: float) -> Progress:
        outer = chain[0]
        speed = self._speed.at(now, outer.done)
        left = (outer.total - outer.done) / speed if outer.total is not None and speed else None
        parts = [_counts(outer), outer.detail, pace(speed, outer.unit), "" if left is None else duration(left)]
        return {
            "what": outer.what,
            "text": " · ".join(part for part in parts if part),
            "inner": " · ".join(f"{work.what}: {_counts(work)}" for work in chain[1:]),
            "value": _share(chain),
            "can_stop": self._can_stop(outer.thread) and (outer.stoppable or self._session.attached),
            "stopping": outer.stopping or self._session.aborting,
            "open_ended": False,
        }

    def follow(self, event: Event) -> None:
        """The session tells something."""
        if event == "captured":
            chain = self._chain(progress.current())
            if chain:
                self._show(chain)
            else:
                self._follow_run()
        elif self._run is not None and event in ("paused", "finished"):
            self._end_run()

    def _follow_run(self) -> None:
        now, session = self._clock(), self._session
        run = self._run
        if run is None or run.thread is not threading.current_thread():
            run = self._run = _Run(now)
        if now - run.last > _GAP:
            run.speed = Speed()
        run.last = now
        if now - run.began < _SHOWN_AFTER or not self._due.due():
            return
        speed = run.speed.at(now, session.step)
        with self._due.spend():
            self._put(
                {
                    "what": "running",
                    "text": " · ".join(part for part in (f"step {session.step:,}", pace(speed, "steps")) if part),
                    "inner": "",
                    "value": None,
                    "can_stop": self._can_stop(run.thread),
                    "stopping": session.aborting,
                    "open_ended": True,
                }
            )

    def look(self) -> None:
        """A message has come: perhaps the user's loop is over, which nobody tells."""
        run = self._run
        if run is None:
            return
        over = not self._session.running if run.thread is threading.current_thread() else not run.thread.is_alive()
        if over:
            self._end_run()

    def _end_run(self) -> None:
        self._run = None
        self._put({})

    def _put(self, shown: Progress) -> None:
        if shown != self._shown:
            self._shown = shown
            self._publish(shown)

    def _can_stop(self, thread: threading.Thread) -> bool:
        # Elsewhere a message that comes while the main thread works is read when the work is over.
        return progress.answers() or thread is not threading.main_thread()

    # What the button does

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What begins in here is shown and stopped by itself, whatever it interrupts."""
        before, self._around = self._around, progress.current()
        try:
            yield
        finally:
            self._around = before

    def stop(self) -> None:
        """End what is shown. What is over by now needs nothing."""
        self.look()
        work = self._work
        if work is not None and work.stoppable:
            work.stop()
        elif self._session.attached and (work is not None or self._run is not None):
            self._session.abort()
        else:
            return
        self._put({**self._shown, "stopping": True})


def _counts(work: Work) -> str:
    if work.total is None:
        return f"{work.done:,} {work.unit}" if work.done else ""
    return f"{min(work.done, work.total):,} of {work.total:,} {work.unit}"


def _share(chain: list[Work]) -> float | None:
    """How much of the outermost is done, from 0 to 1; None where nobody knows."""
    share = 0.0
    for work in reversed(chain):
        if not work.total:
            share = 0.0
            continue
        share = min(1.0, (work.done + share) / work.total)
    return share if chain[0].total else None


def pace(speed: float, unit: str) -> str:
    """Write a speed: "85 steps/s", and of slow ones "2.5 s each"."""
    if speed <= 0:
        return ""
    if speed < 1:
        return f"{1 / speed:,.1f} s each"
    return f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.1f} {unit}/s"


def duration(seconds: float) -> str:
    """Write how much time is left: "12 s left", "1 min 43 s left", "2 h 5 min left"."""
    whole = max(1, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min left"
    return f"{minutes} min {rest} s left" if minutes else f"{rest} s left"


def stop_work(panel: DebuggerPanel) -> None:
    """The page's Stop was pressed."""
    panel.progress_view.stop()


def look_at_work(panel: DebuggerPanel) -> None:
    """The page asks whether the loop that it shows still runs."""
    panel.progress_view.look()


ACTIONS = {"stop_work": Action({}, stop_work), "look_at_work": Action({}, look_at_work, background=True)}
