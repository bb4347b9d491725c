"""Recorder of a rank: one small record for each training step of a session's network, and details on request.

The recorder is a second tap next to the session's, attached while the session is. It changes nothing: it computes
digests and figures from the arrays, and keeps these but never the arrays.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.dataset.base import newest_pass
from hookscope.engine.mindspore.experimental import optim
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors import random
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ...diagnose.checks.owners import Owners
from ...faults import log_fault
from ...record.capture import pick_slot
from .details import Details
from .digests import MOST_ROWS, digest, dtype_name, norm, row_digests, text_digest
from .records import Detail, Kind, Record, Row

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter

    from ...events import Event
    from ...session import DebugSession

__all__ = ["RankRecorder"]

_OPTIMIZERS = (nn.Optimizer, optim.Optimizer)
_STATISTICS = ("moving_mean", "moving_variance", "running_mean", "running_var")
_MOST_DRAWS = 32
_FEWEST_DRAWN = 2  # counters of 4 numbers: fewer are a decision that ranks may well take together, not a mask
_LONGEST_ERROR = 2000
_MOST_OF_ONE_BATCH = 8  # steps


class RankRecorder:
    """Recorder of one rank until ``close``, or until the session is gone.

    A step is a gradient call with weights in which the session's network ran. Calls without one, as in an evaluation,
    are not steps. The record of a step is made when the next one begins, or when the session is detached.

    Args:
        session: the session, which is not kept alive.
        tell: called with each record, in the thread that trains; see ``records``. It must not change the record. Its
            exceptions are reported as faults of the session, and the run continues.

    Raises:
        TypeError: ``session`` is not a DebugSession.
    """

    def __init__(self, session: DebugSession, tell: Callable[[Record], None]) -> None:
        from ...session import DebugSession

        if not isinstance(session, DebugSession):
            raise TypeError(f"session must be a DebugSession, but got {type(session).__name__}")
        self._details = Details()
        self._tap = _Tap(session, tell, self._details)
        self._unsubscribe = session.observe(self._on_event)
        self._gone = weakref.finalize(session, taps.detach, self._tap)
        self._gone.atexit = False
        self._closed = False
        if session.attached:
            taps.attach(self._tap)

    def _on_event(self, event: Event) -> None:
        if event == "attached":
            taps.attach(self._tap)
        elif event == "finished":
            taps.detach(self._tap)
            self._tap.finish()

    @property
    def steps(self) -> int:
        """The number of completed steps."""
        return self._tap.steps

    def detail(self, step: int, kind: Kind) -> Detail:
        """Return the rows of a step's digest of this kind; safe to call from any thread.

        Args:
            step: the number of the step.
            kind: "cells", "parameters" (with the moving statistics), "gradients" or "draws".

        Returns:
            The detail, whose rows are None if the step is no longer kept, or is not completed.

        Raises:
            ValueError: there is no such kind.
        """
        return self._details.of(step, kind)

    def failed(self, error: BaseException) -> None:
        """Record an error that no cell raised: of a collective in a loop of the user's own."""
        self._tap.failed("", error)

    def close(self) -> None:
        """Detach the recorder, and record that this rank has ended; a second call has no effect."""
        if self._closed:
            return
        self._closed = True
        self._unsubscribe()
        self._gone()
        self._tap.finish()
        self._tap.emit({"record": "ended", "step": self._tap.steps})


class _Step:
    """Observations of a step so far."""

    def __init__(self, session_step: int, epoch: int, recording: Recording, first_cell: Cell) -> None:
        self.session_step = session_step
        self.first_cell = weakref.ref(first_cell)
        self.recording = weakref.ref(recording)
        self.trained = False
        self.epoch = epoch
        self.inputs: list[Any] = []
        self.rows: list[str] = []
        self.cells: list[tuple[str, int, str, tuple[int, ...], Any]] = []
        self.calls: dict[str, int] = {}
        self.draws: list[Row] = []
        self.parameters: list[Row] = []
        self.gradients: list[Row] = []


class _Tap(taps.Tap):
    """Tap of the recorder."""

    def __init__(self, session: DebugSession, tell: Callable[[Record], None], details: Details) -> None:
        self.owner = weakref.ref(session)
        self._session: Any = self.owner  # returns the session, which exists while the engine sends notifications
        self._tell = tell
        self.steps = 0
        self._details = details
        self._owners: Owners | None = None
        self._step: _Step | None = None
        self._seen: tuple[list[Any], tuple[Row, ...], str, str] = ([], (), "", "")  # of the cells of the previous step
        # The number of rows that data sets had returned when a step began, and the number of steps since it changed.
        self._data_rows = newest_pass()[1], _MOST_OF_ONE_BATCH
        self._told_error = 0  # its id, until a cell is called again

    def report_fault(self, method: str, error: BaseException) -> bool:
        """Report a fault of the recorder."""
        location, session = f"the record of a step for other ranks ({method})", self._session()
        if session is not None:
            return bool(session.report_fault(location, error))
        log_fault(location, error)
        return isinstance(error, Exception)

    # Notifications of the engine

    def cell_enter(self, call: CellCall) -> None:
        """Record a call: the first one of a step, an optimizer, or a cell of the network."""
        session, self._told_error = self._session(), 0
        if isinstance(call.cell, _OPTIMIZERS):
            self._optimizer_called(call)
            return
        outside = taps.outer_recordings()
        if not outside or session.paths.path_of(call.cell) is None:
            return
        self._begin(session, outside[0], call)
        if self._step is not None:
            call.notes[self] = random.position(), len(self._step.draws)

    def cell_exit(self, call: CellCall) -> None:
        """Record the outputs of a cell, and whether it drew random numbers."""
        step, note = self._step, call.notes.get(self)
        if step is None or note is None or call.continues:
            return
        path = self._session().paths.path_of(call.cell)
        number = step.calls.get(path, 0)
        step.calls[path] = number + 1
        for slot, value in pick_slot("output", call.output, Tensor):
            step.cells.append((path, number, slot, value._array.shape, value._array.dtype))
        (seed, position), draws_before = note
        current = random.position()
        # The cell drew, and none of its inner cells did.
        if current[0] == seed and current[1] - position >= _FEWEST_DRAWN and len(step.draws) == draws_before:
            digest_text = text_digest((path, number, seed, position, current[1]))
            step.draws.append({"path": path, "name": "", "call": number, "digest": digest_text})

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Record the exception of a cell: the innermost comes first."""
        self.failed(self._session().paths.name_of(call.cell), error)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Record gradients of weights: the run was a step if the weights are the network's."""
        if self._step is not None and not self._step.trained:
            self._step.trained = any(self._owned().of(parameter) is not None for parameter, _ in pairs)

    # Records

    def _begin(self, session: DebugSession, recording: Recording, call: CellCall) -> None:
        """Record the inputs of the first cell that a gradient call runs, mostly a root, in each of its calls."""
        if self._step is None or self._step.recording() is not recording:
            self.finish()
            self._step = _Step(session.step, self._epoch(), recording, call.cell)
            self._step.parameters = self._parameters()
        elif self._step.first_cell() is not call.cell or call.continues:
            return
        arrays = [tensor._array for tensor in tensors_in((call.args, call.kwargs))]
        self._step.inputs += [array.shape for array in arrays]
        self._step.cells += [("", 0, f"input[{index}]", array.shape, array.dtype) for index, array in enumerate(arrays)]
        if len(self._step.rows) < MOST_ROWS:
            self._step.rows = (self._step.rows + row_digests(arrays))[:MOST_ROWS]

    def _epoch(self) -> int:
        """Return the number of the pass over the data set that feeds the steps; 0 if none does at present."""
        number, count = newest_pass()
        previous, steps = self._data_rows
        self._data_rows = count, steps + 1 if count == previous else 0
        return number if self._data_rows[1] <= _MOST_OF_ONE_BATCH else 0

    def _owned(self) -> Owners:
        if self._owners is None:
            self._owners = Owners(self._session().paths)
        return self._owners

    def _parameters(self) -> list[Row]:
        rows = [
            _row(owner.path, owner.name, owner.parameter._array) | {"statistic": owner.name.endswith(_STATISTICS)}
            for owner in self._owned().all().values()
            if not owner.parameter.layerwise_parallel
        ]
        return rows

    def _optimizer_called(self, call: CellCall) -> None:
        step = self._step
        if step is None:
            return
        gradients = next(iter((*call.args, *call.kwargs.values())), ())
        gradients = (gradients,) if isinstance(gradients, Tensor) else gradients
        for parameter, gradient in zip(call.cell.parameters, gradients, strict=False):
            owner = self._owned().of(parameter)
            if owner is not None and not parameter.layerwise_parallel:
                step.gradients += [_row(owner.path, owner.name, tensor._array) for tensor in tensors_in(gradient)]

    def failed(self, path: str, error: BaseException) -> None:
        """Record an error, once."""
        if self._told_error != id(error):
            self._told_error = id(error)
            self.emit({"record": "failed", "step": self.steps + 1, "path": path, "error": _text_of(error)})

    def finish(self) -> None:
        """End the current step, and record it if it was a training step."""
        step, self._step = self._step, None
        if step is None or not step.trained:
            return
        try:
            self._finish(step)
        except Exception as error:
            if not self.report_fault("finish", error):
                raise

    def emit(self, record: Record) -> None:
        """Pass on a record."""
        try:
            self._tell(record)
        except Exception as error:
            if not self.report_fault("tell", error):
                raise

    def _finish(self, step: _Step) -> None:
        self.steps += 1
        cells, cells_digest, dtypes_digest = self._cells(step.cells)
        parameters = [row for row in step.parameters if not row["statistic"]]
        statistics = [row for row in step.parameters if row["statistic"]]
        self._details.keep(
            self.steps,
            {
                "cells": cells,
                "parameters": tuple(step.parameters),
                "gradients": tuple(step.gradients),
                "draws": tuple(step.draws),
            },
        )
        self.emit(
            {
                "record": "step",
                "step": self.steps,
                "session_step": step.session_step,
                "epoch": step.epoch,
                "inputs": text_digest(step.inputs),
                "cells": cells_digest,
                "dtypes": dtypes_digest,
                "parameters": _digest_of(parameters),
                "statistics": _digest_of(statistics),
                "gradients": _digest_of(step.gradients) if step.gradients else "",
                "draws": [row["digest"] for row in step.draws[:_MOST_DRAWS]],
                "rows": step.rows,
            }
        )

    def _cells(self, cells: list[Any]) -> tuple[tuple[Row, ...], str, str]:
        previous, rows, cells_digest, dtypes_digest = self._seen
        if cells != previous:
            rows = tuple(
                {"path": path, "call": call, "name": slot, "shape": [*shape], "dtype": dtype_name(dtype)}
                for path, call, slot, shape, dtype in cells
            )
            cells_digest = text_digest(row[:4] for row in cells)
            dtypes_digest = text_digest(sorted({(path, slot, dtype_name(dtype)) for path, _, slot, _, dtype in cells}))
            self._seen = cells, rows, cells_digest, dtypes_digest
        return rows, cells_digest, dtypes_digest


def _row(path: str, name: str, array: Any) -> Row:
    return {
        "path": path,
        "name": name,
        "shape": [*array.shape],
        "dtype": dtype_name(array.dtype),
        "digest": digest(array),
        "norm": norm(array),
    }


def _text_of(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
    except Exception as secondary:  # the text of an exception of a user's class
        return f"{type(error).__name__}, whose text raised {type(secondary).__name__}"


def _digest_of(rows: Iterable[Row]) -> str:
    return text_digest(part for row in rows for part in (row["name"], row["digest"]))
