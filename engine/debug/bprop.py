"""Running one custom ``bprop`` under the stepper, while the operators it runs are recorded.

The line stops are live; the operators are kept, so that what came before the current line can be looked at
again. An exception that comes out of the ``bprop`` is shown where the user's code raised it, also after
"continue".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from hookscope.engine import taps

from .pause import DebugAbort, OperatorRecord, PausePoint
from .points import place, point_at_stop
from .stepper import Stepper, Stop, user_frame

__all__ = ["BpropRun", "OperatorRecorder"]

# Operators kept of one bprop: enough to scroll through, bounded for loops.
_MAX_OPERATORS = 1000


class OperatorRecorder(taps.Tap):
    """Keeps the newest operators that ran, by reference to their values."""

    observes_operators = True

    def __init__(self) -> None:
        self.records: deque[OperatorRecord] = deque(maxlen=_MAX_OPERATORS)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Keep one."""
        self.records.append(OperatorRecord(name, inputs, outputs))


class BpropRun:
    """One call of a ``bprop`` from its first line to its end.

    Args:
        path: the cell's path.
        kind, reason: of the first pause.
        names: the debugger's names for ``evaluate``.
        pause: shows a pause point and returns the command.
        shown: ids of the errors on their way that were shown; runs that nest share it.
    """

    def __init__(
        self,
        path: str,
        kind: str,
        reason: str,
        names: Mapping[str, object],
        pause: Callable[[PausePoint], str],
        shown: set[int],
    ) -> None:
        self._path = path
        self._kind = kind
        self._first_reason: str | None = reason
        self._names = names
        self._pause = pause
        self._shown = shown
        self._recorder = OperatorRecorder()
        self._last_seen: dict[FrameType, dict[str, object]] = {}

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return ``function(*args)``, pausing on the way."""
        taps.attach(self._recorder)
        try:
            return Stepper(self._on_stop).call(function, *args)
        except DebugAbort:
            raise
        except Exception as error:  # whatever the user's bprop raised is shown, then goes on its way
            stop = user_frame(error)
            if stop is not None and id(error) not in self._shown:
                self._shown.add(id(error))
                self._show(stop, f"{type(error).__name__} in the bprop of {place(self._path)}, line {stop.line}")
            raise
        finally:
            taps.detach(self._recorder)
            self._last_seen.clear()

    def _on_stop(self, stop: Stop) -> str:
        reason, self._first_reason = self._first_reason, None
        return self._show(stop, reason or f"in the bprop of {place(self._path)}, line {stop.line}")

    def _show(self, stop: Stop, reason: str) -> str:
        # Neither what the user evaluates now nor what is shown may be recorded or watched.
        with taps.muted():
            point = point_at_stop(
                stop, self._kind, reason, self._path, "bprop", self._names,
                self._recorder.records, self._changed(stop),
            )  # fmt: skip
            command = self._pause(point)
            self._last_seen[stop.frame] = _contents(point.locals)
        if command == "abort" and stop.exception is not None:
            raise DebugAbort("aborted from the debugger") from stop.exception
        return command

    def _changed(self, stop: Stop) -> set[str]:
        before = self._last_seen.get(stop.frame)
        if before is None:
            return set()
        now = _contents(stop.locals())
        return {name for name, content in now.items() if name not in before or before[name] is not content}


def _contents(values: Mapping[str, object]) -> dict[str, object]:
    # A tensor that got other data is still the same object: its array tells.
    return {name: getattr(value, "_array", value) for name, value in values.items()}
