"""History of a thread that is stepped: the lines that it passed and the operators that it ran.

Arrays are never modified in place, so keeping a tensor's array keeps its value. The history is bounded by count and by
the bytes of the arrays; the oldest entries go first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType, NoneType
from typing import Any, TypeGuard

import numpy as np

from hookscope.engine.tensors.tensor import Tensor

from ...inert_reads import array_of, content_of, is_a, is_tensor
from ...record.memory import ArrayMemory
from ..frames import qualified_name
from ..pause import OperatorRecord, PausePoint
from ..points import lines_with_code, source_of, stack_of
from .variables import variables

__all__ = ["LineHistory", "PastState", "contents"]

_MAX_STATES = 1000
_MAX_OPERATORS = 1000
_MAX_BYTES = 256 << 20
# Larger values are kept by reference: a copy at each line would be too slow.
_MAX_ITEMS = 1000
_MAX_ARRAY_BYTES = 1 << 16
_COPIED = (list, tuple, dict, set)
# Most variables are of these classes, whose objects do not change or are held by reference.
_PLAIN = frozenset(
    (int, float, complex, bool, str, bytes, range, type, NoneType, FunctionType, BuiltinFunctionType, ModuleType)
)
# Limit of the frames that are looked through for a line's stack: a deep recursion would be quadratic.
_MAX_STACK = 100
# Limit of distinguished frames; beyond it, ended frames are dropped, since they hold their variables.
_MAX_CALLS = 16


@dataclass(eq=False, slots=True)
class PastState:
    """One line that the thread was about to run.

    Attributes:
        function, filename, line: the location.
        locals: the variables at that time; lists, dictionaries and small NumPy arrays as copies.
        operators: the number of operators that had run.
        outer_stack: "function, line N" of the user's functions around it, outermost first.
        call: distinguishes calls of one function.
        globals: the globals of the function.
        arrays: the arrays that ``locals`` keep alive.
    """

    code: CodeType
    line: int
    locals: dict[str, object]
    operators: int
    outer_stack: list[str]
    call: int
    globals: Mapping[str, object]
    arrays: list[Any]

    @property
    def stack(self) -> list[str]:
        """The user's running functions in the same form, with this one."""
        return [*self.outer_stack, f"{self.function}, line {self.line}"]

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.code.co_name

    @property
    def filename(self) -> str:
        """The file of the function."""
        return self.code.co_filename


@dataclass(eq=False, slots=True)
class _OperatorRun:
    record: OperatorRecord
    code: CodeType | None
    globals: Mapping[str, object]
    arrays: list[Any]


class LineHistory:
    """History of one thread.

    Args:
        callers: returns the stepped frames from one outwards.
        max_states, max_operators, max_bytes: limits of the history.

    Attributes:
        states: the lines, oldest first.
        ran: the number of operators so far.
    """

    def __init__(
        self,
        callers: Callable[[FrameType], Iterable[FrameType]],
        max_states: int = _MAX_STATES,
        max_operators: int = _MAX_OPERATORS,
        max_bytes: int = _MAX_BYTES,
    ) -> None:
        self._callers = callers
        self._max_states = max_states
        self._max_operators = max_operators
        self._max_bytes = max_bytes
        self._memory = ArrayMemory()
        self._calls: dict[FrameType, int] = {}
        self._outer_stacks: dict[FrameType, tuple[FrameType, int, list[str]]] = {}
        self._numbered = 0
        self._operators: deque[_OperatorRun] = deque()
        self.states: deque[PastState] = deque()
        self.ran = 0

    def passes(self, frame: FrameType) -> None:
        """Record the line that a frame is about to run."""
        scope = variables(frame)
        arrays: list[Any] = []
        for name, value in scope.items():
            if type(value) not in _PLAIN:
                scope[name] = snapshot = _snapshot(value)
                arrays += _arrays((snapshot,))
        outer_stack, call = self._outer_stack(frame), self._number(frame)
        state = PastState(frame.f_code, frame.f_lineno, scope, self.ran, outer_stack, call, frame.f_globals, arrays)
        self.states.append(state)
        self._keep(state)

    def _outer_stack(self, frame: FrameType) -> list[str]:
        """Return the stack of the caller, which stays the same from line to line of a function."""
        caller = frame.f_back
        if caller is None:
            return []
        entry = self._outer_stacks.get(frame)
        if entry is None or entry[0] is not caller or entry[1] != caller.f_lineno:
            if len(self._outer_stacks) >= _MAX_CALLS:
                self._outer_stacks.clear()
            entry = self._outer_stacks[frame] = caller, caller.f_lineno, stack_of(caller, _MAX_STACK)
        return entry[2]

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, path: str, frame: FrameType | None) -> None:
        """Record an operator that the line of ``frame`` ran."""
        inputs, outputs = tuple([_snapshot(value) for value in inputs]), _snapshot(outputs)
        arrays = _arrays((inputs, outputs))
        if frame is None:
            ran = _OperatorRun(OperatorRecord(name, inputs, outputs, path=path), None, {}, arrays)
        else:
            code, call = frame.f_code, self._number(frame)
            record = OperatorRecord(name, inputs, outputs, code.co_name, code.co_filename, frame.f_lineno, path, call)
            ran = _OperatorRun(record, code, frame.f_globals, arrays)
        self._operators.append(ran)
        self.ran += 1
        self._keep(ran)

    def assigned(self, name: str, value: object) -> None:
        """Update the newest line with a variable that was assigned at the pause before it runs."""
        if self.states:
            state = self.states[-1]
            self._let_go(state)
            state.locals[name] = _snapshot(value)
            state.arrays = _arrays(state.locals.values())
            self._keep(state)

    @property
    def records(self) -> list[OperatorRecord]:
        """The recorded operators, oldest first."""
        return [ran.record for ran in self._operators]

    @property
    def bytes(self) -> int:
        """The memory in bytes that the history keeps alive."""
        return self._memory.bytes

    def clear(self) -> None:
        """Remove everything."""
        self.states.clear()
        self._operators.clear()
        self._calls.clear()
        self._outer_stacks.clear()
        self._memory.clear()
        self.ran = 0

    def call_of(self, frame: FrameType | None) -> int:
        """Return the number of a running call; 0 if no line and no operator of it is recorded."""
        return 0 if frame is None else self._calls.get(frame, 0)

    def _number(self, frame: FrameType) -> int:
        number = self._calls.get(frame)
        if number is None:
            if len(self._calls) >= _MAX_CALLS:
                self._calls = {caller: self._calls[caller] for caller in self._callers(frame) if caller in self._calls}
            self._numbered += 1
            number = self._calls[frame] = self._numbered
        return number

    def _keep(self, entry: PastState | _OperatorRun) -> None:
        for array in entry.arrays:
            self._memory.add(array)
        while len(self.states) > self._max_states:
            self._let_go(self.states.popleft())
        while len(self._operators) > self._max_operators:
            self._let_go(self._operators.popleft())
        while self._memory.bytes > self._max_bytes and (self.states or self._operators):
            first_operator = self.ran - len(self._operators)
            if self.states and (not self._operators or self.states[0].operators <= first_operator):
                self._let_go(self.states.popleft())
            else:
                self._let_go(self._operators.popleft())

    def _let_go(self, entry: PastState | _OperatorRun) -> None:
        for array in entry.arrays:
            self._memory.remove(array)

    def at_line(self, live: PausePoint, back: int) -> PausePoint:
        """Return a pause point of the state ``back`` states before the pause."""
        state, earlier = live.history[-back], live.history[:-back]
        previous = next((candidate for candidate in reversed(earlier) if candidate.call == state.call), None)
        records = self.records
        point = _point(live, state.code, state.line, state.call, state.globals, state)
        point.reason = f"{back} {'line' if back == 1 else 'lines'} back"
        point.back = back
        point.changed = set() if previous is None else _changed(previous.locals, state.locals)
        point.operators = records[: max(len(records) - (self.ran - state.operators), 0)]
        return point

    def at_operator(self, live: PausePoint, index: int) -> tuple[PausePoint, int]:
        """Return a pause point of the recorded operator ``index``, and the number of states back to its line."""
        ran, number = self._operators[index], self.ran - len(self._operators) + index
        earlier = [position for position, state in enumerate(live.history) if state.operators <= number]
        same_call = [position for position in earlier if live.history[position].call == ran.record.call]
        state = live.history[same_call[-1]] if same_call else None
        point = _point(live, ran.code, ran.record.line, ran.record.call, ran.globals, state)
        point.reason = f"operator {ran.record.name}"
        point.operators = self.records[: index + 1]
        point.operator = ran.record
        point.names |= {"inputs": ran.record.inputs, "output": ran.record.outputs, "value": ran.record.outputs}
        nearest = (same_call or earlier or [0])[-1]
        point.back = len(live.history) - nearest
        return point, point.back


def _point(
    live: PausePoint, code: CodeType | None, line: int, call: int, names: Mapping[str, object], state: PastState | None
) -> PausePoint:
    lines, first_line = ((), 0) if code is None else source_of(code)
    return PausePoint(
        "past",
        "",
        live.path,
        live.moment,
        "" if code is None else code.co_filename,
        "" if code is None else code.co_name,
        first_line,
        lines,
        line,
        locals={} if state is None else dict(state.locals),
        stack=[] if state is None else state.stack,
        history=live.history,
        names={**live.names, **names},
        bprop_begins=live.bprop_begins,
        call=call,
        where=_where(live, code, call),
        stoppable=frozenset() if code is None else lines_with_code(code),
    )


def _where(live: PausePoint, code: CodeType | None, call: int) -> str:
    """Return the name of the function; "" if it is the call that is paused, whose cell the live point names."""
    is_paused_call = call == live.call and live.moment in ("construct", "bprop")
    return "" if is_paused_call or code is None else qualified_name(code)


def _snapshot(value: Any, levels: int = 2) -> object:
    """Return a snapshot of a value: later in-place operations on the value do not affect it."""
    if type(value) in _PLAIN:
        return value
    if is_tensor(value):
        return Tensor._wrap(array_of(value))
    if is_a(value, np.ndarray):
        return value.copy() if value.nbytes <= _MAX_ARRAY_BYTES else value
    if not _is_copied(value, levels):
        return value
    if isinstance(value, dict):
        return {key: _snapshot(item, levels - 1) for key, item in value.items()}
    if isinstance(value, set):
        return set(value)
    items = [_snapshot(item, levels - 1) for item in value]
    return tuple(items) if isinstance(value, tuple) else items


def _is_copied(value: object, levels: int) -> TypeGuard[Collection[object]]:
    kind = type(value)
    return bool(levels) and kind in _COPIED and len(value) <= _MAX_ITEMS  # type: ignore[arg-type]  # those have a length


def _arrays(values: Iterable[object], levels: int = 2) -> list[Any]:
    """Return the arrays of the tensors in values that ``_snapshot`` returned."""
    arrays: list[Any] = []
    for value in values:
        if is_tensor(value):
            arrays.append(array_of(value))
        elif _is_copied(value, levels):
            arrays += _arrays(value.values() if isinstance(value, dict) else value, levels - 1)
    return arrays


def contents(values: Mapping[str, object]) -> dict[str, object]:
    """Return the contents of variables for comparison: a tensor that got other data is still the same object."""
    return {name: content_of(value) for name, value in values.items()}


def _changed(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    old_contents, new_contents = contents(before), contents(now)
    return {
        name for name, value in new_contents.items() if name not in old_contents or not _same(old_contents[name], value)
    }


def _same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    if is_a(value, np.ndarray):  # perhaps copies of the user's arrays
        is_comparable = (value.shape, value.dtype) == (other.shape, other.dtype) and value.nbytes <= _MAX_ARRAY_BYTES
        return is_comparable and value.tobytes() == other.tobytes()
    if is_a(value, list, tuple):
        return len(value) == len(other) and all(map(_same, map(content_of, value), map(content_of, other)))
    if is_a(value, dict):
        return value.keys() == other.keys() and all(
            _same(content_of(value[key]), content_of(other[key])) for key in value
        )
    return is_a(value, set) and value == other
