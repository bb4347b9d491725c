"""Provenance: which operator made a NaN or an infinity, as against those that only pass it on.

A tap looks at what each operator gives, forward and backward; that is one quick test while all is finite. Where
it is not, the operator's own inputs decide: if they are finite, the operator is the *producer*. Else what it gives goes
back to the same origin as its input. Origins are kept by the identity of arrays, which never change.

Infinities below zero that come from no operator are taken for masks, as attention uses them: they are no fault as long
as nothing but -inf comes of them. An operator that makes a NaN of them is a producer.
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
from .checks.operands import array_of, arrays_of, constants_of, shown
from .nonfinite_text import nonfinite_text
from .producer import OUTSIDE, Producer

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall, Gradients

    from ..faults import Faults

__all__ = ["Incoming", "Origin", "Provenance"]

_MAX_PRODUCERS = 1_000


class Incoming(NamedTuple):
    """A NaN or an infinity that no operator made: it came in at this cell, as ``message`` says."""

    path: str
    message: str


class _Mask:
    """The origin of a mask's -inf."""


_MASK = _Mask()
Origin = Producer | Incoming


class _Made(NamedTuple):
    """Which line and which call made an array."""

    code: CodeType | None
    line: int
    call: tuple[int, Cell] | None


class _Running(threading.local):
    def __init__(self) -> None:
        self.calls: list[CellCall] = []  # the innermost last
        self.back: list[tuple[int, Cell]] = []  # the same for the backward pass
        self.bprops: list[Cell] = []


Produced = Callable[[Producer, FrameType | None, dict[str, object]], None]
Place = Callable[[int], tuple[str, int] | None]


class Provenance(taps.Tap):
    """The tap.

    Args:
        place: the path and the number of a call, from its running number; None if it is of no known cell.
        place_of_bprop: the same for the call whose gradient a cell's ``bprop`` computes.
        step: the number of the current step.
        own_run: whether what runs now belongs to what the session watches; the rest is left alone.
        produced: told of each producer, with the user's frame and the values; it may pause.
        faults: reports what raises in here.
    """

    observes_operators = True
    observes_bprop = True

    def __init__(
        self,
        place: Place,
        place_of_bprop: Callable[[Cell], tuple[str, int]],
        step: Callable[[], int],
        own_run: Callable[[], bool],
        produced: Produced,
        faults: Faults,
    ) -> None:
        self.producers: deque[Producer] = deque(maxlen=_MAX_PRODUCERS)
        self._new: list[Producer] = []
        self._place = place
        self._place_of_bprop = place_of_bprop
        self._step = step
        self._own_run = own_run
        self._produced = produced
        self._faults = faults
        self._running = _Running()
        self._lines: ByArray[_Made] = ByArray()
        self._origins: ByArray[Origin | _Mask] = ByArray()
        self._latest: Origin | None = None

    def forgives(self, method: str, error: Exception) -> bool:
        """Report a fault of this tap."""
        return self._faults.forgives(f"the search for what makes a NaN ({method})", error)

    # What the session asks

    def behind(self, array: Any) -> Origin | None:
        """Where the NaN or the infinity in an array began; None for a mask, and where that is not known."""
        origin = self._origins.get(array)
        if origin is None:
            return self._latest  # a sum of gradients, which no operator tells of
        return None if isinstance(origin, _Mask) else origin

    def inherit(self, array: Any, origin: Origin | None = None) -> None:
        """An array is not finite because of ``origin``, or of what was seen last."""
        if origin or self._latest:
            self._remember_origin(array, origin or self._latest)  # type: ignore[arg-type]  # one of them is not None

    def is_mask(self, array: Any) -> bool:
        """Whether the infinities of an array are those of a mask."""
        origin = self._origins.get(array)
        return isinstance(origin, _Mask) or (origin is None and self._latest is None and _only_negative(array))

    def made(self) -> list[Producer]:
        """The producers since this was asked last."""
        new, self._new = self._new, []
        return new

    # What the engine tells

    def cell_enter(self, call: CellCall) -> None:
        """A cell runs."""
        running = self._running
        if call.depth == 0 and not call.context:
            running.back.clear()  # a walk that raised left its cells here
        running.calls.append(call)

    def cell_exit(self, call: CellCall) -> None:
        """A cell has run."""
        self._leave(call)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """A cell raised."""
        self._leave(call)

    def _leave(self, call: CellCall) -> None:
        calls = self._running.calls
        while calls and calls[-1].index >= call.index:
            calls.pop()

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> None:
        """The backward pass enters a cell. If it was to be recomputed, its operators run again now."""
        self._running.back.append((call.index, call.cell))

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> None:
        """The backward pass leaves a cell."""
        back = self._running.back
        if any(index == call.index for index, _ in back):
            while back.pop()[0] != call.index:
                pass

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Look at what an operator gave."""
        if not self._own_run():
            return
        arrays = [outputs._array] if isinstance(outputs, Tensor) else [t._array for t in tensors_in(outputs)]
        if not arrays:
            return
        if taps.recordings_outside():
            self._remember_line(arrays[0])
        if not any(map(any_nonfinite, arrays)):
            return
        bad = next(array for array in arrays if any_nonfinite(array))
        given = [t._array for t in tensors_in((inputs, attrs))]
        constants = [c for c in constants_of((inputs, attrs)) if not math.isfinite(c)]
        culprits = [array for array in given if any_nonfinite(array)]
        origins = [self._origin_of_input(array) for array in culprits]
        origins += [_MASK if c == -math.inf else self._incoming("a constant") for c in constants]
        faults = [origin for origin in origins if not isinstance(origin, _Mask)]
        if faults:
            origin: Origin | _Mask = next((o for o in faults if isinstance(o, Producer)), faults[0])
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
                given,
                bad,
            )
        self._remember_origins(arrays, origin)
        if isinstance(origin, Producer) and (not faults or _first_nan(bad, culprits)):
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
        """Look at what an operator's gradient rule gave."""
        if not self._own_run():
            return
        arrays = [array_of(g) for g in gradients]
        if not any(map(any_nonfinite, arrays)):
            return
        bad = next(array for array in arrays if any_nonfinite(array))
        arrived, given, made = arrays_of(gradient), arrays_of(inputs), arrays_of(output)
        faults: list[Origin] = []
        for array in arrived:
            if any_nonfinite(array):
                origin = self._origins.get(array)
                known = origin if origin is not None and not isinstance(origin, _Mask) else self._latest
                faults.append(known or self._incoming("a gradient"))
        came_in = [self._origin_of_input(array) for array in (*given, *made) if any_nonfinite(array)]
        faults += [origin for origin in came_in if not isinstance(origin, _Mask)]
        if faults:
            found: Origin = next((o for o in faults if isinstance(o, Producer)), faults[0])
        else:
            line = self._lines.get(made[0]) if made else None
            code, number, call = (line.code, line.line, line.call) if line else (None, 0, None)
            path, times = self._place_of(call)
            found = self._producer(name, "backward", path, times, code, number, [*arrived, *given], bad)
        self._remember_origins(arrays, found)
        if isinstance(found, Producer) and (not faults or _first_nan(bad, [*arrived, *given, *made])):
            values = {"gradient": gradient, "gradients": gradients, "inputs": inputs, "output": output}
            self._tell(found, None, {name: shown(value) for name, value in values.items()})

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Look at what a custom ``bprop`` returned."""
        running = self._running
        running.bprops.append(cell)
        try:
            returned = function(*args)
        finally:
            running.bprops.pop()
        if not self._own_run():
            return returned
        with taps.muted():
            arrays = [t._array for t in tensors_in(returned)]
            bad = next((array for array in arrays if any_nonfinite(array)), None)
            if bad is not None and not any(self._origins.get(array) for array in arrays):
                given = [t._array for t in tensors_in(args)]
                culprit = next((array for array in given if any_nonfinite(array)), None)
                if culprit is None:
                    path, number = self._place_of_bprop(cell)
                    code, line = _written_at(function)
                    origin: Origin = self._producer("bprop", "backward", path, number, code, line, given, bad)
                    self._tell(origin, None, {"inputs": args, "output": returned})
                else:
                    origin = self.behind(culprit) or self._incoming("an input")
                self._remember_origins(arrays, origin)
        return returned

    # Places and origins

    def _here(self) -> tuple[str, int]:
        if self._running.bprops:
            return self._place_of_bprop(self._running.bprops[-1])
        return self._place_of(self._call())

    def _call(self) -> tuple[int, Cell] | None:
        """The running number and the cell of the innermost call, which keep none of its values alive."""
        running = self._running
        if running.calls:
            return running.calls[-1].index, running.calls[-1].cell
        return running.back[-1] if running.back else None

    def _place_of(self, call: tuple[int, Cell] | None) -> tuple[str, int]:
        if call is None:
            return OUTSIDE, 0
        index, cell = call
        return self._place(index) or (type(cell).__name__, 0)

    def _producer(
        self,
        name: str,
        direction: str,
        path: str,
        number: int,
        code: CodeType | None,
        line: int,
        given: Iterable[Any],
        bad: Any,
    ) -> Producer:
        figures = statistics(bad)
        given = list(given)
        filename = "" if code is None else code.co_filename
        found = Producer(
            name,
            direction,
            path,
            number,
            self._step(),
            filename,
            line,
            linecache.getline(filename, line).strip() if line else "",
            [statistics(array) for array in given],
            figures,
            "nan" if figures.nan else "inf",
            tuple(map(nonfinite_text, given)),
        )
        self.producers.append(found)
        if len(self._new) < _MAX_PRODUCERS:
            self._new.append(found)
        return found

    def _tell(self, origin: Origin, frame: FrameType | None, values: dict[str, object]) -> None:
        if isinstance(origin, Producer):
            self._produced(origin, frame, values)

    def _incoming(self, what: str) -> Incoming:
        path, number = self._here()
        where = "outside the cells" if path == OUTSIDE else f"of {cell_name(path)}#{number}"
        return Incoming(path, f"it came in as {what} {where}")

    def _origin_of_input(self, array: Any) -> Origin | _Mask:
        """The origin of an array that is not finite; of one that no operator made, it is where it came in."""
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
            return  # where it first enters a cell says more
        self._origins.put(array, origin)
        if not isinstance(origin, _Mask):
            self._latest = origin

    def _remember_line(self, array: Any) -> None:
        frame = nearest_user_frame(sys._getframe(2))
        line = _Made(frame and frame.f_code, frame.f_lineno if frame else 0, self._call())
        self._lines.put(array, line)


def _written_at(function: Callable[..., Any]) -> tuple[CodeType | None, int]:
    """Where the user wrote a function; of one that the engine brings, the line that led to it."""
    plain = inspect.unwrap(function)
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    if code is not None and is_user_code(code):
        return code, code.co_firstlineno
    frame = nearest_user_frame(sys._getframe(1))
    return (None, 0) if frame is None else (frame.f_code, frame.f_lineno)


def _only_negative(array: Any) -> bool:
    figures = statistics(array)
    return not (figures.nan or figures.positive_inf)


def _first_nan(bad: Any, inputs: list[Any]) -> bool:
    """Whether a NaN appears here that was an infinity before."""
    return bool(statistics(bad).nan) and not any(statistics(array).nan for array in inputs)
