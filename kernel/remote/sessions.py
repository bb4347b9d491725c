"""Requests about the session of a served process: statistics, pauses, expressions, the panel.

Coordination of several processes is left to the client.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.compare.ranks import RankRecorder
from hookscope.engine.debug.compare.ranks.digests import digest
from hookscope.engine.debug.record.capture import Capture
from hookscope.engine.debug.remote import RequestService
from hookscope.engine.debug.stop.breakpoints.expression import compile_expression, evaluate
from hookscope.engine.debug.stop.pause import describe
from hookscope.engine.distributed.synchronization import give_up
from hookscope.engine.distributed.waiting import rank_state
from hookscope.engine.tape import taps
from hookscope.widgets import texts

from .pages import captures_after, parameters_after

if TYPE_CHECKING:
    from hookscope.engine.debug.record.evicted import EvictedCapture
    from hookscope.engine.debug.record.rows import ParameterRow
    from hookscope.engine.debug.record.statistics import Statistics

__all__ = ["FIGURES", "SessionRequests"]

FIGURES = ("minimum", "maximum", "mean", "std", "norm", "nan", "positive_inf", "negative_inf")
"""The statistics that are sent of a value."""

_MOST_ROWS = 500
_MOST_TEXT = 2000
_MOST_SHORT = 200

Message = dict[str, Any]
Buffers = list[memoryview]


class SessionRequests:
    """Handlers of requests about the session of a process.

    Args:
        served: the server of the process.
        session: returns the served session; None if there is none.
        names: returns the namespace of expressions while nothing is paused.
        runs: returns whether the user's code runs.
    """

    def __init__(
        self,
        served: RequestService,
        session: Callable[[], DebugSession | None],
        names: Callable[[], dict[str, Any]],
        runs: Callable[[], bool],
    ) -> None:
        self._served, self._session, self._names, self._runs = served, session, names, runs
        self._hold_reason = ""
        self._released_number = 0
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

    def _session_or_raise(self) -> DebugSession:
        session = self._session()
        if session is None:
            raise ValueError("there is no session here yet")
        return session

    # Comparison with the sessions of other ranks

    def record(self, session: DebugSession) -> None:
        """Send clients, from now on, records of one session for its comparison with those of other ranks."""
        self.end_recording()
        if self._served.card.ranks > 1:
            number = self._recorders = self._recorders + 1
            self._recorder = RankRecorder(
                session, lambda record: self._served.tell({"type": "record", "session": number, "record": record})
            )

    def end_recording(self, error: BaseException | None = None) -> None:
        """End the recording after the session's code has ended, possibly with an error."""
        if self._recorder is not None:
            if error is not None:
                self._recorder.failed(error)
            self._recorder.close()
            self._last, self._recorder = self._recorder, None  # its details may be requested later

    def _detail(self, client: bytes, message: Message, buffers: Buffers) -> Any:
        step, kind = int(message["step"]), message["kind"]
        recorder = self._recorder or self._last
        return {"step": step, "kind": kind, "rows": None} if recorder is None else recorder.detail(step, kind)

    # Server's thread

    def _status(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """Return the status of the process, without side effects."""
        session = self._session()
        waiting = rank_state()
        status: Message = {"state": "runs" if self._runs() else "idle", "place": "", "reason": "", "step": 0, **waiting}
        if session is not None:
            status |= {"step": session.step, "captured": session.captured, "watching": session.attached}
            losses = session.history.losses
            status["loss"] = _number(losses[-1][1]) if losses else None
            if (point := session.paused) is not None:
                return status | {"state": "paused", "place": point.place, "reason": point.reason, "path": point.path}
        if self._hold_reason:
            return status | {"state": "held", "reason": self._hold_reason}
        if waiting["waits"] is not None:
            return status | {"state": "waits", "reason": waiting["waits"]["what"], "place": waiting["waits"]["line"]}
        return status

    def _interrupt(self, client: bytes, message: Message, buffers: Buffers) -> None:
        """Interrupt the user's code, if it runs, like Ctrl-C."""
        if self._runs():
            self._served.interrupt()

    def _release(self, client: bytes, message: Message, buffers: Buffers) -> None:
        self._released_number = max(self._released_number, int(message["number"]))
        self._served.wake()

    def _resume(self, client: bytes, message: Message, buffers: Buffers) -> None:
        session = self._session_or_raise()
        session.resume(str(message.get("command", "continue")))
        self._served.wake()

    # Thread of the user's code

    def _hold(self, client: bytes, message: Message, buffers: Buffers) -> Any:
        """Hold at a safe point until a release of this number or a later one."""
        number = int(message["number"])
        session = self._session()
        if number <= self._released_number or not self._runs() or (session is not None and session.paused is not None):
            return {"held": False}
        self._served.reply(client, message, {"held": True})
        self._hold_reason = str(message.get("why", "another rank is paused"))
        self._served.tell({"type": "held"})
        try:
            self._served.wait(
                lambda: (
                    self._released_number >= number
                    or client not in self._served.clients
                    or bool(session and session.aborting)
                )
            )
        finally:
            self._hold_reason = ""
            self._served.tell({"type": "goes on"})
        return RequestService.DEFERRED

    def _abort(self, client: bytes, message: Message, buffers: Buffers) -> None:
        self._session_or_raise().abort()
        self._served.wake()

    def _evaluate(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        expression = str(message["expression"])
        session = self._session()
        if session is not None and session.paused is not None:
            with self._served.interruptible():
                value = session.evaluate(expression)
        else:
            with self._served.interruptible(), taps.mute():
                value = evaluate(compile_expression(expression), self._names())
        return {"text": describe(value, _MOST_TEXT), "short": _short(value)}

    def _captures(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """Return a page of the captures of a step, with their statistics."""
        step, text, count = int(message["step"]), str(message.get("text", "")), _count(message)
        rows, total, steps = captures_after(self._session_or_raise(), step, message.get("after"), text, count)
        bits = bool(message.get("bits", True))
        return {
            "total": total,
            "steps": steps,
            "rows": [{**_row(row, bits), "place": position} for position, row in rows],
        }

    def _parameters(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """Return a page of the parameters, with their statistics."""
        text, count = str(message.get("text", "")), _count(message)
        rows, total = parameters_after(self._session_or_raise(), message.get("after"), text, count)
        bits = bool(message.get("bits", True))
        return {"total": total, "rows": [{**_parameter(row, bits), "place": position} for position, row in rows]}

    def _panel(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        """Open this session's panel for a client, replacing its previous one; with ``open`` false, only close that."""
        from hookscope.widgets import DebuggerPanel
        from hookscope.widgets.saved_widget import outside_cells

        key = client, str(message.get("of", ""))
        previous = self._panels.pop(key, None)
        if previous is not None:
            previous.close()
        if not message.get("open", True):
            return {}
        session = self._session_or_raise()
        with outside_cells():
            panel = self._panels[key] = DebuggerPanel(session, namespace=self._names())
        panel.live_form()  # marks it as displayed on a page
        return {"model": panel.model_id, "session": session.name, "forms": self.forms()}

    def _forms(self, client: bytes, message: Message, buffers: Buffers) -> Message:
        return self.forms()

    def forms(self) -> Message:
        """Return the session's forms for a saved notebook, for an output after the live panel's."""
        from hookscope.widgets.static_html.snapshot import copy_behind_live

        return dict(copy_behind_live(self._session_or_raise()))


def _short(value: Any) -> str:
    """Return a short text of a value for a table of ranks; for a scalar, only the number."""
    array = getattr(value, "_array", value)
    if getattr(array, "shape", None) == () and hasattr(array, "item"):
        value = array.item()
    return texts.value_text(value, _MOST_SHORT)


def _count(message: Message) -> int:
    return min(int(message.get("count", 50)), _MOST_ROWS)


def _parameter(row: ParameterRow, bits: bool) -> Message:
    fields: Message = {"name": row.name, "shape": list(row.shape), "dtype": row.dtype, **_figures(row.statistics)}
    return {**fields, "bits": digest(row.array)} if bits else fields


def _row(row: Capture | EvictedCapture, bits: bool = True) -> Message:
    fields: Message = {
        "key": row.key,
        "step": row.step,
        "path": row.path,
        "shape": list(row.shape),
        "dtype": row.dtype,
        "hits": list(row.hits),
    }
    if isinstance(row, Capture):
        fields |= {"bits": digest(row.array)} if bits else {}
        fields |= _figures(row.figures())
    elif row.figures is not None:
        fields |= _figures(row.figures)
    return fields


def _figures(statistics: Statistics) -> Message:
    return {name: _number(getattr(statistics, name)) for name in FIGURES}


def _number(value: Any) -> float | str:
    """Return a number for JSON: as text if it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else str(number)
