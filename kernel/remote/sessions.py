"""What a process that is served does with its session when it is asked: figures, pauses, expressions, the panel.

Nothing in here decides what other processes do; whoever looks at several of them does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.compare.ranks import RankRecorder
from hookscope.engine.debug.compare.ranks.digests import digest
from hookscope.engine.debug.record.capture import Capture
from hookscope.engine.debug.remote import Served
from hookscope.engine.debug.stop.expression import compile_expression, evaluate
from hookscope.engine.debug.stop.pause import describe
from hookscope.engine.distributed.together import give_up
from hookscope.engine.distributed.waiting import standing
from hookscope.engine.tape import taps
from hookscope.widgets import texts

from .pages import captures_after, parameters_after

if TYPE_CHECKING:
    from hookscope.engine.debug.record.evicted import GivenUp
    from hookscope.engine.debug.record.rows import ParameterRow
    from hookscope.engine.debug.record.statistics import Statistics

__all__ = ["FIGURES", "SessionRequests"]

FIGURES = ("minimum", "maximum", "mean", "std", "norm", "nan", "positive_inf", "negative_inf")
"""What is told of a value."""

_MOST_ROWS = 500
_MOST_TEXT = 2000
_MOST_SHORT = 200

Message = dict[str, Any]
Buffers = list[memoryview]


class SessionRequests:
    """The requests about the session of a process.

    Args:
        served: what the process offers.
        session: gives the session that is looked at; None where there is none.
        names: gives the variables that an expression knows where nothing is paused.
        runs: tells whether the user's code runs.
    """

    def __init__(
        self,
        served: Served,
        session: Callable[[], DebugSession | None],
        names: Callable[[], dict[str, Any]],
        runs: Callable[[], bool],
    ) -> None:
        self._served, self._session, self._names, self._runs = served, session, names, runs
        self._held = ""
        self._released = 0
        self._panels: dict[tuple[bytes, str], Any] = {}
        self._recorder: RankRecorder | None = None
        self._last: RankRecorder | None = None
        self._recorders = 0
        for kind, act in (
            ("status", self._status),
            ("release", self._release),
            ("resume", self._resume),
            ("detail", self._detail),
            ("interrupt", self._interrupt),
            ("give up", lambda client, message, buffers: give_up(str(message["why"]))),
        ):
            served.on(kind, act, at_once=True)
        for kind, act in (
            ("hold", self._hold),
            ("abort", self._abort),
            ("evaluate", self._evaluate),
            ("captures", self._captures),
            ("parameters", self._parameters),
            ("panel", self._panel),
            ("forms", self._forms),
        ):
            served.on(kind, act)

    def _known(self) -> DebugSession:
        session = self._session()
        if session is None:
            raise ValueError("there is no session here yet")
        return session

    # What makes it comparable with the sessions of other ranks

    def record(self, session: DebugSession) -> None:
        """Tell who looks, from now on, what other ranks' sessions are compared by; of one session at a time."""
        self.end_recording()
        if self._served.card.ranks > 1:
            number = self._recorders = self._recorders + 1
            self._recorder = RankRecorder(
                session, lambda record: self._served.tell({"type": "record", "session": number, "record": record})
            )

    def end_recording(self, error: BaseException | None = None) -> None:
        """The code that the session watched has ended, perhaps with an error."""
        if self._recorder is not None:
            if error is not None:
                self._recorder.failed(error)
            self._recorder.close()
            self._last, self._recorder = self._recorder, None  # what it saw may be asked for later

    def _detail(self, client: bytes, message: Message, buffers: Buffers) -> Any:
        step, kind = int(message["step"]), message["kind"]
        recorder = self._recorder or self._last
        return {"step": step, "kind": kind, "rows": None} if recorder is None else recorder.detail(step, kind)

    # In the server's thread

    def _status(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """How the process stands; only reads."""
        session = self._session()
        stands = standing()
        told: Message = {"state": "runs" if self._runs() else "idle", "place": "", "reason": "", "step": 0, **stands}
        if session is not None:
            told |= {"step": session.step, "captured": session.captured, "watching": session.attached}
            losses = session.history.losses
            told["loss"] = _number(losses[-1][1]) if losses else None
            if (point := session.paused) is not None:
                return told | {"state": "paused", "place": point.place, "reason": point.reason, "path": point.path}
        if self._held:
            return told | {"state": "held", "reason": self._held}
        if stands["waits"] is not None:
            return told | {"state": "waits", "reason": stands["waits"]["what"], "place": stands["waits"]["line"]}
        return told

    def _interrupt(self, client: bytes, message: Message, buffers: Buffers) -> None:
        """Interrupt the user's code, where it runs, as Ctrl-C would."""
        if self._runs():
            self._served.interrupt()

    def _release(self, client: bytes, message: Message, buffers: Buffers) -> None:
        self._released = max(self._released, int(message["number"]))
        self._served.wake()

    def _resume(self, client: bytes, message: Message, buffers: Buffers) -> None:
        session = self._known()
        session.resume(str(message.get("command", "continue")))
        self._served.wake()

    # In the thread that runs the user's code

    def _hold(self, client: bytes, message: Message, buffers: Buffers) -> Any:
        """Stand still, at a safe point, until a release of this number or a later one."""
        number = int(message["number"])
        session = self._session()
        if number <= self._released or not self._runs() or (session is not None and session.paused is not None):
            return {"held": False}
        self._served.reply(client, message, {"held": True})
        self._held = str(message.get("why", "another rank is paused"))
        self._served.tell({"type": "held"})
        try:
            self._served.wait(
                lambda: (
                    self._released >= number or client not in self._served.clients or bool(session and session.aborting)
                )
            )
        finally:
            self._held = ""
            self._served.tell({"type": "goes on"})
        return Served.LATER

    def _abort(self, client: bytes, message: Message, buffers: Buffers) -> None:
        self._known().abort()
        self._served.wake()

    def _evaluate(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        expression = str(message["expression"])
        session = self._session()
        if session is not None and session.paused is not None:
            with self._served.interruptible():
                value = session.evaluate(expression)
        else:
            with self._served.interruptible(), taps.muted():
                value = evaluate(compile_expression(expression), self._names())
        return {"text": describe(value, _MOST_TEXT), "short": _short(value)}

    def _captures(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """A page of the captures of a step, with their figures."""
        step, text, count = int(message["step"]), str(message.get("text", "")), _count(message)
        placed, total, steps = captures_after(self._known(), step, message.get("after"), text, count)
        bits = bool(message.get("bits", True))
        return {"total": total, "steps": steps, "rows": [{**_row(row, bits), "place": place} for place, row in placed]}

    def _parameters(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """A page of the parameters, with their figures."""
        text, count = str(message.get("text", "")), _count(message)
        placed, total = parameters_after(self._known(), message.get("after"), text, count)
        bits = bool(message.get("bits", True))
        return {"total": total, "rows": [{**_parameter(row, bits), "place": place} for place, row in placed]}

    def _panel(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """Open this session's panel for who asks, instead of the one before; with ``open`` false, only close that."""
        from hookscope.widgets import DebuggerPanel
        from hookscope.widgets.kept import of_no_cell

        place = client, str(message.get("of", ""))
        before = self._panels.pop(place, None)
        if before is not None:
            before.close()
        if not message.get("open", True):
            return {}
        session = self._known()
        with of_no_cell():
            panel = self._panels[place] = DebuggerPanel(session, namespace=self._names())
        panel.live_form()  # it is told that a page shows it
        return {"model": panel.model_id, "session": session.name, "forms": self.forms()}

    def _forms(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        return self.forms()

    def forms(self) -> Message:
        """What a saved notebook keeps of the session, in an output behind that of the live panel."""
        from hookscope.widgets.snapshot import copy_behind_live

        return dict(copy_behind_live(self._known()))


def _short(value: Any) -> str:
    """Write a value so that those of several ranks can stand in one line: of a single number that number alone."""
    array = getattr(value, "_array", value)
    if getattr(array, "shape", None) == () and hasattr(array, "item"):
        value = array.item()
    return texts.value_text(value, _MOST_SHORT)


def _count(message: Message) -> int:
    return min(int(message.get("count", 50)), _MOST_ROWS)


def _parameter(row: ParameterRow, bits: bool) -> Message:
    told: Message = {"name": row.name, "shape": list(row.shape), "dtype": row.dtype, **_figures(row.statistics)}
    return {**told, "bits": digest(row.array)} if bits else told


def _row(row: Capture | GivenUp, bits: bool = True) -> Message:
    told: Message = {
        "key": row.key,
        "step": row.step,
        "path": row.path,
        "shape": list(row.shape),
        "dtype": row.dtype,
        "hits": list(row.hits),
    }
    if isinstance(row, Capture):
        told |= {"bits": digest(row.array)} if bits else {}
        told |= _figures(row.figures())
    elif row.figures is not None:
        told |= _figures(row.figures)
    return told


def _figures(found: Statistics) -> Message:
    return {name: _number(getattr(found, name)) for name in FIGURES}


def _number(value: Any) -> float | str:
    """As JSON has it: what is no finite number as text."""
    number = float(value)
    return number if math.isfinite(number) else str(number)
