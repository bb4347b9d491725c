"""Progress of long work in a panel, and its Stop button.

Work that counts its own steps (`hookscope.engine.tape.progress`) is shown by its counts. A user's own training loop is
known only by the calls that the session observes: the number of steps and the rate.
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

# Seconds before work is shown; shorter work would only flicker.
_SHOWN_AFTER = 0.3
# Updates a second, as fast as a person can read them.
_RATE = 2.0
# Seconds over which speed is measured, so that it is the current speed, not the mean since a slow start.
_WINDOW = 10.0

# Seconds without a capture after which the speed measurement restarts.
_GAP = 2.0

LIVE_COMMS: set[str] = set()
"""Comm identifiers of live panels; a kernel that can reply while a cell runs replies to these."""

_started_here: list[str] = []  # work started by a panel's button, at most one


class Progress(TypedDict, total=False):
    """State of long work; without `what`, none is running, and `note` may have a message about the last work."""

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
    """Run work that a panel's button starts; messages are handled meanwhile, but none can start more such work.

    Raises:
        MessageError: such work is already running.
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
    """Steps a second over the last seconds."""

    def __init__(self) -> None:
        self._seen_work: deque[tuple[float, float]] = deque()

    def at(self, now: float, done: float) -> float:
        """Record the amount done and return the speed; 0.0 while it is unknown."""
        while len(self._seen_work) > 1 and now - self._seen_work[0][0] > _WINDOW:
            self._seen_work.popleft()
        self._seen_work.append((now, done))
        begin, before = self._seen_work[0]
        return (done - before) / (now - begin) if now > begin else 0.0


class _Run:
    """A user's own loop: the session observes its steps, but its end is not reported."""

    def __init__(self, now: float) -> None:
        self.began = now
        self.last = now
        self.speed = Speed()
        self.thread = threading.current_thread()


class ProgressView:
    """Observer of the long work that concerns one session.

    Args:
        session: the session.
        publish: shows the progress on the page; an empty one hides it.
        clock: returns the time in seconds.
    """

    def __init__(
        self, session: DebugSession, publish: Callable[[Progress], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._session = session
        self._publish = publish
        self._clock = clock
        self._due = Throttle(clock, rate=_RATE)
        self._work: Work | None = None  # the outermost work that is shown
        self._speed = Speed()
        self._run: _Run | None = None
        self._unrelated: tuple[Work, int] | None = None  # work unrelated to this many roots
        self._around: Work | None = None  # the work that was running when a button of the panel started more
        self._progress: Progress = {}
        self._comm_id = ""
        self._stop_listening: Callable[[], None] | None = None

    def begin(self, comm: Any) -> None:
        """Start to follow running work; `comm` is the panel's."""
        self._stop_listening = progress.listen(self._follow_work)
        self._comm_id = comm.comm_id
        LIVE_COMMS.add(self._comm_id)

    def close(self) -> None:
        """Stop following work."""
        LIVE_COMMS.discard(self._comm_id)
        if self._stop_listening is not None:
            self._stop_listening()
            self._stop_listening = None  # drops its reference to this view

    # Display

    def _follow_work(self, work: Work) -> None:
        if work is self._work and work.ended:
            self._work = None
            self._put({"note": work.stopped()} if work.stopping and work.stoppable else {})
        elif not work.ended and (chain := self._chain(work)):
            self._show(chain)

    def _chain(self, work: Work | None) -> list[Work]:
        """Return the nested work from the outermost that concerns the session to this one."""
        nested: list[Work] = []
        while work is not None and work is not self._around:
            nested.append(work)
            work = work.outer
        nested.reverse()
        first = next((k for k, item in enumerate(nested) if self._concerns(item)), len(nested))
        return nested[first:]

    def _concerns(self, work: Work) -> bool:
        related, session = work, self._session
        while related.of is None and related.outer is not None:
            related = related.outer
        subject = related.of
        if work is self._work or subject is session:
            return True
        if subject is None:  # about no object: shown in every attached session
            return session.attached
        if not isinstance(subject, Cell) or not session.roots:
            return False
        if session.paths.path_of(subject) is not None:
            return True
        if self._unrelated != (work, len(session.roots)):  # otherwise cached, since a network may have many cells
            cells = {id(cell) for _, cell in subject.cells_and_names()}
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
        remaining = (outer.total - outer.done) / speed if outer.total is not None and speed else None
        parts = [
            _counts(outer),
            outer.detail,
            pace(speed, outer.unit),
            "" if remaining is None else duration(remaining),
        ]
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
        """Handle an event of the session."""
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
        """Check, when a message arrives, whether the user's loop has ended, which no event reports."""
        run = self._run
        if run is None:
            return
        over = not self._session.running if run.thread is threading.current_thread() else not run.thread.is_alive()
        if over:
            self._end_run()

    def _end_run(self) -> None:
        self._run = None
        self._put({})

    def _put(self, content: Progress) -> None:
        if content != self._progress:
            self._progress = content
            self._publish(content)

    def _can_stop(self, thread: threading.Thread) -> bool:
        # Otherwise a message that arrives while the main thread works is read only after the work.
        return progress.answers() or thread is not threading.main_thread()

    # The Stop button

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Show and stop work that begins inside the context by itself, regardless of the work that it interrupts."""
        previous, self._around = self._around, progress.current()
        try:
            yield
        finally:
            self._around = previous

    def stop(self) -> None:
        """Stop the work that is shown; do nothing if it has ended."""
        self.look()
        work = self._work
        if work is not None and work.stoppable:
            work.stop()
        elif self._session.attached and (work is not None or self._run is not None):
            self._session.abort()
        else:
            return
        self._put({**self._progress, "stopping": True})


def _counts(work: Work) -> str:
    if work.total is None:
        return f"{work.done:,} {work.unit}" if work.done else ""
    return f"{min(work.done, work.total):,} of {work.total:,} {work.unit}"


def _share(chain: list[Work]) -> float | None:
    """Return the fraction of the outermost work that is done, from 0 to 1; None if unknown."""
    share = 0.0
    for work in reversed(chain):
        if not work.total:
            share = 0.0
            continue
        share = min(1.0, (work.done + share) / work.total)
    return share if chain[0].total else None


def pace(speed: float, unit: str) -> str:
    """Format a speed: "85 steps/s", or "2.5 s each" if it is slow."""
    if speed <= 0:
        return ""
    if speed < 1:
        return f"{1 / speed:,.1f} s each"
    return f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.1f} {unit}/s"


def duration(seconds: float) -> str:
    """Format the remaining time: "12 s left", "1 min 43 s left", "2 h 5 min left"."""
    total = max(1, round(seconds))
    minutes, rest = divmod(total, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min left"
    return f"{minutes} min {rest} s left" if minutes else f"{rest} s left"


def stop_work(panel: DebuggerPanel) -> None:
    """Handle the page's Stop button."""
    panel.progress_view.stop()


def look_at_work(panel: DebuggerPanel) -> None:
    """Handle the page's request to check whether the loop that it shows still runs."""
    panel.progress_view.look()


ACTIONS = {"stop_work": Action({}, stop_work), "look_at_work": Action({}, look_at_work, background=True)}
