"""In a rank: one small record for each training step of a session's network, and its details for who asks.

The recorder is a tap beside the session's own, attached while the session watches. It only looks: what it computes of
values, it computes of the arrays, and keeps digests and figures, never the arrays.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.dataset.base import newest_pass
from hookscope.engine.experimental import optim
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
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter

    from ...events import Event
    from ...session import DebugSession

__all__ = ["RankRecorder"]

_OPTIMIZERS = (nn.Optimizer, optim.Optimizer)
_STATISTICS = ("moving_mean", "moving_variance", "running_mean", "running_var")
_MOST_DRAWS = 32
_FEWEST_DRAWN = 2  # counters of 4 numbers: what is less is a decision that ranks may well take together, and no mask
_LONGEST_ERROR = 2000
_MOST_OF_ONE_BATCH = 8  # steps


class RankRecorder:
    """Makes the records of one rank from now until ``close``, or until the session is gone.

    A step is a gradient call with weights in which the session's network ran. What is called without one, as when a
    rank evaluates, is no step. The record of a step is made when the next one begins, or the session ends to watch.

    Args:
        session: the session. It is not kept alive.
        tell: called with each record, in the thread that trains; see ``records``. It must not change the record. What
            it raises is reported as a fault of the session's, and the run goes on.

    Raises:
        TypeError: ``session`` is no DebugSession.
    """

    def __init__(self, session: DebugSession, tell: Callable[[Record], None]) -> None:
        from ...session import DebugSession

        if not isinstance(session, DebugSession):
            raise TypeError(f"session must be a DebugSession, but got {type(session).__name__}")
        self._details = Details()
        self._tap = _Tap(session, tell, self._details)
        self._unsubscribe = session.observe(self._heard)
        self._gone = weakref.finalize(session, taps.detach, self._tap)
        self._gone.atexit = False
        self._closed = False
        if session.attached:
            taps.attach(self._tap)

    def _heard(self, event: Event) -> None:
        if event == "attached":
            taps.attach(self._tap)
        elif event == "finished":
            taps.detach(self._tap)
            self._tap.finish()

    @property
    def steps(self) -> int:
        """How many steps have ended so far."""
        return self._tap.steps

    def detail(self, step: int, kind: Kind) -> Detail:
        """What a step's digest of this kind was made of; any thread may ask.

        Args:
            step: its number.
            kind: "cells", "parameters" (with the moving statistics), "gradients" or "draws".

        Returns:
            The rows; None in their place where the step is over long ago, or has not ended.

        Raises:
            ValueError: there is no such kind.
        """
        return self._details.of(step, kind)

    def failed(self, error: BaseException) -> None:
        """Tell of an error that no cell raised: of a collective in a loop of the user's own."""
        self._tap.failed("", error)

    def close(self) -> None:
        """Look no more, and tell that this rank has ended; once more changes nothing."""
        if self._closed:
            return
        self._closed = True
        self._unsubscribe()
        self._gone()
        self._tap.finish()
        self._tap.told({"record": "ended", "step": self._tap.steps})


class _Step:
    """What was seen of a step so far."""

    def __init__(self, session_step: int, epoch: int, recording: Recording) -> None:
        self.session_step = session_step
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
    """The recorder's side of the engine."""

    def __init__(self, session: DebugSession, tell: Callable[[Record], None], details: Details) -> None:
        self.owner = weakref.ref(session)
        self._session: Any = self.owner  # gives the session, which is there while the engine tells something
        self._tell = tell
        self.steps = 0
        self._details = details
        self._owners: Owners | None = None
        self._step: _Step | None = None
        self._root_step = session.step  # when a root was called last
        self._root_args: Any = None  # what it was given, until the step has begun
        self._seen: tuple[list[Any], tuple[Row, ...], str, str] = ([], (), "", "")  # of the cells of the step before
        # How many rows data sets had given when a step began, and in how many steps that has been so.
        self._data_rows = newest_pass()[1], _MOST_OF_ONE_BATCH
        self._told_error = 0  # its id, until a cell is called again

    def forgives(self, method: str, error: BaseException) -> bool:
        """Report a fault of the recorder."""
        place, session = f"the record of a step for other ranks ({method})", self._session()
        if session is not None:
            return bool(session.forgives(place, error))
        log_fault(place, error)
        return isinstance(error, Exception)

    # What the engine tells

    def cell_enter(self, call: CellCall) -> None:
        """A cell is called: the first one of a step, an optimizer, or one of the network."""
        session, self._told_error = self._session(), 0
        if isinstance(call.cell, _OPTIMIZERS):
            self._optimizer_called(call)
            return
        if session.step != self._root_step:
            self._root_step, self._root_args = session.step, (call.args, call.kwargs)
        outside = taps.recordings_outside()
        if not outside or session.paths.path_of(call.cell) is None:
            return
        if self._root_args is not None:
            self._begin(session, outside[0])
        if self._step is not None:
            call.notes[self] = random.position(), len(self._step.draws)

    def cell_exit(self, call: CellCall) -> None:
        """A cell has computed."""
        step, noted = self._step, call.notes.get(self)
        if step is None or noted is None or call.continues:
            return
        path = self._session().paths.path_of(call.cell)
        number = step.calls.get(path, 0)
        step.calls[path] = number + 1
        for slot, value in pick_slot("output", call.output, Tensor):
            step.cells.append((path, number, slot, value._array.shape, value._array.dtype))
        (seed, before), drawn = noted
        now = random.position()
        if now[0] == seed and now[1] - before >= _FEWEST_DRAWN and len(step.draws) == drawn:  # and no cell inside did
            of = text_digest((path, number, seed, before, now[1]))
            step.draws.append({"path": path, "name": "", "call": number, "digest": of})

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """A cell raised: the innermost is told first."""
        self.failed(self._session().paths.name_of(call.cell), error)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """The gradients of weights have come: what ran was a step, if they are the network's."""
        if self._step is not None and not self._step.trained:
            self._step.trained = any(self._owned().of(parameter) is not None for parameter, _ in pairs)

    # What it makes of that

    def _begin(self, session: DebugSession, recording: Recording) -> None:
        """A root runs under a gradient call, which may be that of the step that is under way."""
        given, self._root_args = self._root_args, None
        if self._step is None or self._step.recording() is not recording:
            self.finish()
            self._step = _Step(session.step, self._epoch(), recording)
            self._step.parameters = self._parameters()
        arrays = [tensor._array for tensor in tensors_in(given)]
        self._step.inputs += [array.shape for array in arrays]
        self._step.cells += [("", 0, f"input[{place}]", array.shape, array.dtype) for place, array in enumerate(arrays)]
        if len(self._step.rows) < MOST_ROWS:
            self._step.rows = (self._step.rows + row_digests(arrays))[:MOST_ROWS]

    def _epoch(self) -> int:
        """The number of the pass over a data set that feeds the steps; 0 where none does lately."""
        number, count = newest_pass()
        before, steps = self._data_rows
        self._data_rows = count, steps + 1 if count == before else 0
        return number if self._data_rows[1] <= _MOST_OF_ONE_BATCH else 0

    def _owned(self) -> Owners:
        if self._owners is None:
            self._owners = Owners(self._session().paths)
        return self._owners

    def _parameters(self) -> list[Row]:
        rows = [
            _row(one.path, one.name, one.parameter._array) | {"statistic": one.name.endswith(_STATISTICS)}
            for one in self._owned().all().values()
            if not one.parameter.layerwise_parallel
        ]
        return rows

    def _optimizer_called(self, call: CellCall) -> None:
        step = self._step
        if step is None:
            return
        given = next(iter((*call.args, *call.kwargs.values())), ())
        given = (given,) if isinstance(given, Tensor) else given
        for parameter, gradient in zip(call.cell.parameters, given, strict=False):
            owner = self._owned().of(parameter)
            if owner is not None and not parameter.layerwise_parallel:
                step.gradients += [_row(owner.path, owner.name, one._array) for one in tensors_in(gradient)]

    def failed(self, path: str, error: BaseException) -> None:
        """Tell of an error, once."""
        if self._told_error != id(error):
            self._told_error = id(error)
            self.told({"record": "failed", "step": self.steps + 1, "path": path, "error": _text_of(error)})

    def finish(self) -> None:
        """The step that is under way is over: tell of it, if it was one."""
        step, self._step = self._step, None
        if step is None or not step.trained:
            return
        try:
            self._finish(step)
        except Exception as error:
            if not self.forgives("finish", error):
                raise

    def told(self, record: Record) -> None:
        """Hand a record on."""
        try:
            self._tell(record)
        except Exception as error:
            if not self.forgives("tell", error):
                raise

    def _finish(self, step: _Step) -> None:
        self.steps += 1
        cells, of_cells, of_dtypes = self._cells(step.cells)
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
        self.told(
            {
                "record": "step",
                "step": self.steps,
                "session_step": step.session_step,
                "epoch": step.epoch,
                "inputs": text_digest(step.inputs),
                "cells": of_cells,
                "dtypes": of_dtypes,
                "parameters": _digest_of(parameters),
                "statistics": _digest_of(statistics),
                "gradients": _digest_of(step.gradients) if step.gradients else "",
                "draws": [row["digest"] for row in step.draws[:_MOST_DRAWS]],
                "rows": step.rows,
            }
        )

    def _cells(self, cells: list[Any]) -> tuple[tuple[Row, ...], str, str]:
        before, rows, of_cells, of_dtypes = self._seen
        if cells != before:
            rows = tuple(
                {"path": path, "call": call, "name": slot, "shape": [*shape], "dtype": dtype_name(dtype)}
                for path, call, slot, shape, dtype in cells
            )
            of_cells = text_digest(one[:4] for one in cells)
            of_dtypes = text_digest(sorted({(path, slot, dtype_name(dtype)) for path, _, slot, _, dtype in cells}))
            self._seen = cells, rows, of_cells, of_dtypes
        return rows, of_cells, of_dtypes


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
    except Exception as second:  # the text of an exception of a user's class
        return f"{type(error).__name__}, whose text raised {type(second).__name__}"


def _digest_of(rows: Iterable[Row]) -> str:
    return text_digest(part for row in rows for part in (row["name"], row["digest"]))
