"""Editor: applies the edits of a pause to the captures, and to calls that repeat the edited one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from ..faults import let_pass
from ..watch.value_event import ValueEvent, slots_at
from .breakpoints.expression import take_part, value_of
from .editing import assign

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.tensor import Tensor

    from ..diagnose.examiner import Examiner
    from ..events import Events
    from ..record.recorder import Recorder
    from ..watch.visits import Visit

__all__ = ["Editor"]


class Editor:
    """Last stage of a value: the user's edits.

    Args:
        recorder: replaces captures.
        examiner: checks the conditions on edited values.
        events: notified of edited captures.
    """

    def __init__(self, recorder: Recorder, examiner: Examiner, events: Events) -> None:
        self._recorder = recorder
        self._examiner = examiner
        self._events = events

    def edit(self, event: ValueEvent) -> None:
        """Replace the captures of edited values; values that were not edited keep theirs."""
        recorder, examiner, visit = self._recorder, self._examiner, event.visit
        captures = {capture.slot: capture for capture in event.captures}
        added: list[tuple[str, Tensor]] = []
        for slot, value in event.slots:
            capture = captures.pop(slot, None)
            if capture is None:
                added.append((slot, value))
            elif capture.array is not value._array:
                edited = recorder.replace(capture, value)
                with self._events.faults.at(examiner.SUBJECT):
                    examiner.examine(edited, visit)
        for capture in captures.values():
            recorder.discard(capture)
        of_added = ValueEvent(visit, event.moment, event.direction, added, event.context, origin="edit")
        recorder.record(of_added, examiner)
        self._events.notify("captured")

    def repeat(self, visit: Visit, moment: str, direction: str, call: CellCall) -> None:
        """Repeat the edits of the first call in a repeated one, as a hook would run in the second call too."""
        try:
            self._repeat(ValueEvent(visit, moment, direction, slots_at(call, moment, None), visit.context, call))
        except Exception as error:  # the user's edit ends the run as a hook of theirs would
            let_pass(error)
            raise

    def _repeat(self, event: ValueEvent) -> None:
        visit = event.visit
        assert visit.first is not None
        point, edits = visit.first.edits[event.moment]
        for edit in edits:
            value = edit.value
            if edit.expression is not None:
                names = {**point.names, **visit.names_with([tensor for _, tensor in event.slots])}
                with taps.open_recordings(taps.outer_recordings()):
                    names = {**names, **point.locals, "cell": visit.cell, **event.values}
                    value = value_of(edit.expression, names, take_part)
            assign(event, edit.name, value, edit.expression)
