"""Provenance: the operators that produced NaN or infinities, in contrast to those that only propagate them.

A tap checks the output of each operator, forward and backward; this is one quick test while all values are finite. If
they are not, the operator's own inputs decide: if they are finite, the operator is the *producer*. Otherwise the output
has the same origin as the input. Origins are kept by the identity of arrays, which are immutable.

Negative infinities that come from no operator are considered masks, as attention uses them: they are not a fault as
long as nothing but -inf results from them. An operator that makes a NaN from them is a producer.
"""

from __future__ import annotations

import inspect
import linecache
import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ..record.array_table import ByArray
from ..record.capture import cell_name, pick_slot
from ..record.statistics import any_nonfinite, statistics
from ..stop.stepping.user_code import is_user_code, nearest_user_frame
from .checks.operands import array_of, arrays_of, as_tensors, constants_of
from .nonfinite_text import nonfinite_text
from .producer import OUTSIDE, Producer

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall, Gradients

    from ..faults import Faults
    from ..record.counts import Counts
    from ..watch.attachment import Attachment
    from .condition_pauses import ConditionPauses

__all__ = ["Incoming", "Origin", "Provenance"]

_MAX_PRODUCERS = 1_000


class Incoming(NamedTuple):
    """A NaN or an infinity that no operator made: it entered at this cell, as ``message`` describes."""

    path: str
    message: str


class _Mask:
    """The origin of a mask's -inf."""


_MASK = _Mask()
Origin = Producer | Incoming


class _Creation(NamedTuple):
    """The line and the call that made an array."""

    code: CodeType | None
    line: int
    call: tuple[int, Cell] | None


class _Running(threading.local):
    def __init__(self) -> None:
        self.calls: list[CellCall] = []  # the innermost last
        self.back: list[tuple[int, Cell]] = []  # the same for the backward pass
        self.bprops: list[Cell] = []


class Provenance(taps.Tap):
    """Tap that tracks the origins of non-finite values.

    Args:
        attachment: knows the places of calls, and which runs belong to the session; others are ignored.
        counts: the counter of steps.
        pauses: pauses at a producer, if a condition asks for it.
        faults: reports exceptions of this tap.
    """

    observes_operators = True
    observes_bprop = True

    def __init__(self, attachment: Attachment, counts: Counts, pauses: ConditionPauses, faults: Faults) -> None:
        self.producers: deque[Producer] = deque(maxlen=_MAX_PRODUCERS)
        self._new: list[Producer] = []
        self._attachment = attachment
        self._counts = counts
        self._pauses = pauses
        self._faults = faults
        self._running = _Running()
        self._lines: ByArray[_Creation] = ByArray()
        self._origins: ByArray[Origin | _Mask] = ByArray()
        self._latest: Origin | None = None

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of this tap."""
        return self._faults.report_fault(f"the search for what makes a NaN ({method})", error)

    # Queries of the session

    def origin_of(self, array: Any) -> Origin | None:
        """Return the origin of the NaN or the infinity in an array; None for a mask, and if it is not known."""
        origin = self._origins.get(array)
        if origin is None:
            return self._latest  # a sum of gradients, which no operator reports
        return None if isinstance(origin, _Mask) else origin

    def inherit(self, array: Any, origin: Origin | None = None) -> None:
        """Attribute a non-finite array to ``origin``, or to the latest origin."""
        if origin or self._latest:
            self._remember_origin(array, origin or self._latest)  # type: ignore[arg-type]  # one of them is not None

    def is_mask(self, array: Any) -> bool:
        """Return whether the infinities of an array are those of a mask."""
        origin = self._origins.get(array)
        return isinstance(origin, _Mask) or (origin is None and self._latest is None and _only_negative(array))

    def take_new(self) -> list[Producer]:
        """Return the producers since the last call."""
        producers, self._new = self._new, []
        return producers

    # Notifications of the engine

    def cell_enter(self, call: CellCall) -> None:
        """Record the call of a cell."""
        running = self._running
        if call.depth == 0 and not call.context:
            running.back.clear()  # a backward pass that raised left its cells here
        running.calls.append(call)

    def cell_exit(self, call: CellCall) -> None:
        """Record the end of a cell."""
        self._leave(call)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Record the exception of a cell."""
        self._leave(call)

    def _leave(self, call: CellCall) -> None:
        calls = self._running.calls
        while calls and calls[-1].index >= call.index:
            calls.pop()

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> None:
        """Record that the backward pass enters a cell, whose operators run again now if it is recomputed."""
        self._running.back.append((call.index, call.cell))

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> None:
        """Record that the backward pass leaves a cell."""
        back = self._running.back
        if any(index == call.index for index, _ in back):
            while back.pop()[0] != call.index:
                pass

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Check the output of an operator."""
        if not self._attachment.own_run:
            return
        arrays = [outputs._array] if isinstance(outputs, Tensor) else [tensor._array for tensor in tensors_in(outputs)]
        if not arrays:
            return
        if taps.outer_recordings():
            self._remember_line(arrays[0])
        if not any(map(any_nonfinite, arrays)):
            return
        nonfinite = next(array for array in arrays if any_nonfinite(array))
        input_arrays = [tensor._array for tensor in tensors_in((inputs, attrs))]
        constants = [constant for constant in constants_of((inputs, attrs)) if not math.isfinite(constant)]
        culprits = [array for array in input_arrays if any_nonfinite(array)]
        origins = [self._origin_of_input(array) for array in culprits]
        origins += [_MASK if constant == -math.inf else self._incoming("a constant") for constant in constants]
        faults = [origin for origin in origins if not isinstance(origin, _Mask)]
        if faults:
            origin: Origin | _Mask = next(
                (candidate for candidate in faults if isinstance(candidate, Producer)), faults[0]
            )
        elif origins and all(map(_only_negative, arrays)):
            origin = _MASK
        else:
            in_bprop = bool(self._running.bprops)
            frame = nearest_user_frame(sys._getframe(1))
            path, number = self._here()
            origin = self._producer(
                name,
                "backward" if in_bprop else "forward",
                path,
                number,
                frame and frame.f_code,
                frame.f_lineno if frame else 0,
                input_arrays,
                nonfinite,
            )
        self._remember_origins(arrays, origin)
        if isinstance(origin, Producer) and (not faults or _first_nan(nonfinite, culprits)):
            self._tell(origin, nearest_user_frame(sys._getframe(1)), {"inputs": inputs, "output": outputs})

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Check the results of an operator's gradient rule."""
        if not self._attachment.own_run:
            return
        arrays = [array_of(result) for result in gradients]
        if not any(map(any_nonfinite, arrays)):
            return
        nonfinite = next(array for array in arrays if any_nonfinite(array))
        output_gradients, input_arrays, output_arrays = arrays_of(gradient), arrays_of(inputs), arrays_of(output)
        faults: list[Origin] = []
        for array in output_gradients:
            if any_nonfinite(array):
                origin = self._origins.get(array)
                incoming = origin if origin is not None and not isinstance(origin, _Mask) else self._latest
                faults.append(incoming or self._incoming("a gradient"))
        input_origins = [
            self._origin_of_input(array) for array in (*input_arrays, *output_arrays) if any_nonfinite(array)
        ]
        faults += [origin for origin in input_origins if not isinstance(origin, _Mask)]
        if faults:
            source: Origin = next((candidate for candidate in faults if isinstance(candidate, Producer)), faults[0])
        else:
            line = self._lines.get(output_arrays[0]) if output_arrays else None
            code, line_number, call = (line.code, line.line, line.call) if line else (None, 0, None)
            path, call_number = self._place_of(call)
            source = self._producer(
                name, "backward", path, call_number, code, line_number, [*output_gradients, *input_arrays], nonfinite
            )
        self._remember_origins(arrays, source)
        if isinstance(source, Producer) and (
            not faults or _first_nan(nonfinite, [*output_gradients, *input_arrays, *output_arrays])
        ):
            values = {"gradient": gradient, "gradients": gradients, "inputs": inputs, "output": output}
            self._tell(source, None, {name: as_tensors(value) for name, value in values.items()})

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom ``bprop`` and check its results."""
        running = self._running
        running.bprops.append(cell)
        try:
            returned = function(*args)
        finally:
            running.bprops.pop()
        if not self._attachment.own_run:
            return returned
        with taps.mute():
            arrays = [tensor._array for tensor in tensors_in(returned)]
            nonfinite = next((array for array in arrays if any_nonfinite(array)), None)
            if nonfinite is not None and not any(self._origins.get(array) for array in arrays):
                input_arrays = [tensor._array for tensor in tensors_in(args)]
                culprit = next((array for array in input_arrays if any_nonfinite(array)), None)
                if culprit is None:
                    path, number = self._attachment.place_of_bprop(cell)
                    code, line = _written_at(function)
                    origin: Origin = self._producer(
                        "bprop", "backward", path, number, code, line, input_arrays, nonfinite
                    )
                    self._tell(origin, None, {"inputs": args, "output": returned})
                else:
                    origin = self.origin_of(culprit) or self._incoming("an input")
                self._remember_origins(arrays, origin)
        return returned

    # Places and origins

    def _here(self) -> tuple[str, int]:
        if self._running.bprops:
            return self._attachment.place_of_bprop(self._running.bprops[-1])
        return self._place_of(self._call())

    def _call(self) -> tuple[int, Cell] | None:
        """Return the running number and the cell of the innermost call, which keep none of its values alive."""
        running = self._running
        if running.calls:
            return running.calls[-1].index, running.calls[-1].cell
        return running.back[-1] if running.back else None

    def _place_of(self, call: tuple[int, Cell] | None) -> tuple[str, int]:
        if call is None:
            return OUTSIDE, 0
        index, cell = call
        return self._attachment.place_of(index) or (type(cell).__name__, 0)

    def _producer(
        self,
        name: str,
        direction: str,
        path: str,
        number: int,
        code: CodeType | None,
        line: int,
        input_values: Iterable[Any],
        result: Any,
    ) -> Producer:
        figures = statistics(result)
        input_values = list(input_values)
        filename = "" if code is None else code.co_filename
        producer = Producer(
            name,
            direction,
            path,
            number,
            self._counts.steps,
            filename,
            line,
            linecache.getline(filename, line).strip() if line else "",
            [statistics(array) for array in input_values],
            figures,
            "nan" if figures.nan else "inf",
            tuple(map(nonfinite_text, input_values)),
        )
        self.producers.append(producer)
        if len(self._new) < _MAX_PRODUCERS:
            self._new.append(producer)
        return producer

    def _tell(self, origin: Origin, frame: FrameType | None, values: dict[str, object]) -> None:
        if isinstance(origin, Producer):
            self._pauses.pause_at_producer(origin, frame, values)

    def _incoming(self, what: str) -> Incoming:
        path, number = self._here()
        location = "outside the cells" if path == OUTSIDE else f"of {cell_name(path)}#{number}"
        return Incoming(path, f"it came in as {what} {location}")

    def _origin_of_input(self, array: Any) -> Origin | _Mask:
        """Return the origin of a non-finite array; if no operator made it, the place where it entered."""
        origin = self._origins.get(array)
        if origin is None:
            origin = _MASK if _only_negative(array) else self._incoming(self._name_of(array))
            self._remember_origin(array, origin)
        return origin

    def _name_of(self, array: Any) -> str:
        if not self._running.calls:
            return "a constant"
        call = self._running.calls[-1]
        for slot, tensor in (*pick_slot("input", call.args, Tensor), *pick_slot("input", call.kwargs, Tensor)):
            if tensor._array is array:
                return slot
        for name, parameter in call.cell.parameters_and_names():
            if parameter._array is array:
                return f"the parameter {name}"
        return "a constant"

    def _remember_origins(self, arrays: Iterable[Any], origin: Origin | _Mask) -> None:
        for array in arrays:
            if any_nonfinite(array):
                self._remember_origin(array, origin)

    def _remember_origin(self, array: Any, origin: Origin | _Mask) -> None:
        if isinstance(origin, Incoming) and origin.path == OUTSIDE:
            return  # its first entry into a cell is more informative
        self._origins.put(array, origin)
        if not isinstance(origin, _Mask):
            self._latest = origin

    def _remember_line(self, array: Any) -> None:
        frame = nearest_user_frame(sys._getframe(2))
        line = _Creation(frame and frame.f_code, frame.f_lineno if frame else 0, self._call())
        self._lines.put(array, line)


def _written_at(function: Callable[..., Any]) -> tuple[CodeType | None, int]:
    """Return the user's definition of a function; for one of the engine, the line that led to it."""
    unwrapped = inspect.unwrap(function)
    code = getattr(getattr(unwrapped, "__func__", unwrapped), "__code__", None)
    if code is not None and is_user_code(code):
        return code, code.co_firstlineno
    frame = nearest_user_frame(sys._getframe(1))
    return (None, 0) if frame is None else (frame.f_code, frame.f_lineno)


def _only_negative(array: Any) -> bool:
    figures = statistics(array)
    return not (figures.nan or figures.positive_inf)


def _first_nan(result: Any, inputs: list[Any]) -> bool:
    """Return whether a NaN appears for the first time here, from an infinity."""
    return bool(statistics(result).nan) and not any(statistics(array).nan for array in inputs)
