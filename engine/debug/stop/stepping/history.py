"""The past of a ``bprop`` that is stepped: the lines that it passed and the operators that it ran.

Arrays are never changed in place, so keeping a tensor's array keeps the value. What is kept is bounded by count and by
the bytes of the arrays; the oldest goes first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, TypeGuard

import numpy as np

from hookscope.engine.tensors.tensor import Tensor

from ...record.memory import HeldArrays
from ..pause import OperatorRecord, PausePoint
from ..points import lines_with_code, source_of
from .variables import variables

__all__ = ["BpropHistory", "PastState", "contents"]

_MAX_STATES = 1000
_MAX_OPERATORS = 1000
_MAX_BYTES = 256 << 20
# What is larger is kept by reference: a copy at each line would be felt.
_MAX_ITEMS = 1000
_MAX_ARRAY_BYTES = 1 << 16
_COPIED = (list, tuple, dict, set)
# Frames that are told apart; those that have ended go when there are more, since they hold their variables.
_MAX_CALLS = 16


@dataclass(eq=False, slots=True)
class PastState:
    """One line that a bprop, or a function that it called, was about to run.

    Attributes:
        function, filename, line: where.
        locals: the variables as they were; lists, dictionaries and small NumPy arrays as copies.
        operators: how many operators the bprop had run by then.
        stack: "function, line N" of the functions being stepped, outermost first.
        call: tells calls of one function apart.
        globals: of the function.
        arrays: those that ``locals`` keep alive.
    """

    code: CodeType
    line: int
    locals: dict[str, object]
    operators: int
    stack: list[str]
    call: int
    globals: Mapping[str, object]
    arrays: list[Any]

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.code.co_name

    @property
    def filename(self) -> str:
        """The file of the function."""
        return self.code.co_filename


@dataclass(eq=False, slots=True)
class _Ran:
    record: OperatorRecord
    code: CodeType | None
    globals: Mapping[str, object]
    call: int
    arrays: list[Any]


class BpropHistory:
    """What is kept while one bprop is stepped.

    Args:
        callers: the stepped frames from one outwards.
        outside: the stack around them, as ``PastState.stack`` has it.
        max_states, max_operators, max_bytes: bounds of what is kept.

    Attributes:
        states: the lines, oldest first.
        ran: the number of operators so far.
    """

    def __init__(
        self,
        callers: Callable[[FrameType], Iterable[FrameType]],
        outside: list[str],
        max_states: int = _MAX_STATES,
        max_operators: int = _MAX_OPERATORS,
        max_bytes: int = _MAX_BYTES,
    ) -> None:
        self._callers = callers
        self._outside = outside
        self._max_states = max_states
        self._max_operators = max_operators
        self._max_bytes = max_bytes
        self._held = HeldArrays()
        self._calls: dict[FrameType, int] = {}
        self._numbered = 0
        self._operators: deque[_Ran] = deque()
        self.states: deque[PastState] = deque()
        self.ran = 0

    def passes(self, frame: FrameType) -> None:
        """Keep the line that a frame is about to run."""
        stack = [f"{one.f_code.co_name}, line {one.f_lineno}" for one in self._callers(frame)]
        scope = {name: _kept(value) for name, value in variables(frame).items()}
        state = PastState(
            frame.f_code,
            frame.f_lineno,
            scope,
            self.ran,
            self._outside + stack[::-1],
            self._number(frame),
            frame.f_globals,
            _arrays(scope.values()),
        )
        self.states.append(state)
        self._keep(state)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, path: str, frame: FrameType | None) -> None:
        """Keep an operator that the line of ``frame`` ran."""
        inputs, outputs = tuple([_kept(value) for value in inputs]), _kept(outputs)
        arrays = _arrays((inputs, outputs))
        if frame is None:
            ran = _Ran(OperatorRecord(name, inputs, outputs, path=path), None, {}, 0, arrays)
        else:
            code = frame.f_code
            record = OperatorRecord(name, inputs, outputs, code.co_name, code.co_filename, frame.f_lineno, path)
            ran = _Ran(record, code, frame.f_globals, self._number(frame), arrays)
        self._operators.append(ran)
        self.ran += 1
        self._keep(ran)

    def assigned(self, name: str, value: object) -> None:
        """The newest line runs with another value of a variable, set while the run stood there."""
        if self.states:
            state = self.states[-1]
            self._let_go(state)
            state.locals[name] = _kept(value)
            state.arrays = _arrays(state.locals.values())
            self._keep(state)

    @property
    def records(self) -> list[OperatorRecord]:
        """The operators that are kept, oldest first."""
        return [ran.record for ran in self._operators]

    @property
    def bytes(self) -> int:
        """The memory that is kept alive."""
        return self._held.bytes

    def clear(self) -> None:
        """Forget everything."""
        self.states.clear()
        self._operators.clear()
        self._calls.clear()
        self._held.clear()

    def _number(self, frame: FrameType) -> int:
        number = self._calls.get(frame)
        if number is None:
            if len(self._calls) >= _MAX_CALLS:
                self._calls = {one: self._calls[one] for one in self._callers(frame) if one in self._calls}
            self._numbered += 1
            number = self._calls[frame] = self._numbered
        return number

    def _keep(self, entry: PastState | _Ran) -> None:
        for array in entry.arrays:
            self._held.add(array)
        while len(self.states) > self._max_states:
            self._let_go(self.states.popleft())
        while len(self._operators) > self._max_operators:
            self._let_go(self._operators.popleft())
        while self._held.bytes > self._max_bytes and (self.states or self._operators):
            first_operator = self.ran - len(self._operators)
            if self.states and (not self._operators or self.states[0].operators <= first_operator):
                self._let_go(self.states.popleft())
            else:
                self._let_go(self._operators.popleft())

    def _let_go(self, entry: PastState | _Ran) -> None:
        for array in entry.arrays:
            self._held.remove(array)

    def at_line(self, live: PausePoint, back: int) -> PausePoint:
        """A pause point of the state that lies ``back`` states before where the run stands."""
        state, earlier = live.history[-back], live.history[:-back]
        before = next((one for one in reversed(earlier) if one.call == state.call), None)
        kept = self.records
        point = _point(live, state.code, state.line, state.globals, state)
        point.reason = f"{back} {'line' if back == 1 else 'lines'} back"
        point.back = back
        point.changed = set() if before is None else _changed(before.locals, state.locals)
        point.operators = kept[: max(len(kept) - (self.ran - state.operators), 0)]
        return point

    def at_operator(self, live: PausePoint, index: int) -> tuple[PausePoint, int]:
        """A pause point of the operator ``index`` of those that are kept, and how many states back its line lies."""
        ran, number = self._operators[index], self.ran - len(self._operators) + index
        earlier = [place for place, state in enumerate(live.history) if state.operators <= number]
        its_line = [place for place in earlier if live.history[place].call == ran.call]
        point = _point(live, ran.code, ran.record.line, ran.globals, live.history[its_line[-1]] if its_line else None)
        point.reason = f"operator {ran.record.name}"
        point.operators = self.records[: index + 1]
        point.operator = ran.record
        point.names |= {"inputs": ran.record.inputs, "output": ran.record.outputs, "value": ran.record.outputs}
        nearest = (its_line or earlier or [0])[-1]
        point.back = len(live.history) - nearest
        return point, point.back


def _point(
    live: PausePoint, code: CodeType | None, line: int, names: Mapping[str, object], state: PastState | None
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
        stoppable=frozenset() if code is None else lines_with_code(code),
    )


def _kept(value: object, levels: int = 2) -> object:
    """A value as it is now: later operations in place on it do not show in what is returned."""
    if isinstance(value, Tensor):
        return Tensor._wrap(value._array)
    if isinstance(value, np.ndarray):
        return value.copy() if value.nbytes <= _MAX_ARRAY_BYTES else value
    if not _is_copied(value, levels):
        return value
    if isinstance(value, dict):
        return {key: _kept(item, levels - 1) for key, item in value.items()}
    if isinstance(value, set):
        return set(value)
    items = [_kept(item, levels - 1) for item in value]
    return tuple(items) if isinstance(value, tuple) else items


def _is_copied(value: object, levels: int) -> TypeGuard[Collection[object]]:
    kind = type(value)
    return bool(levels) and kind in _COPIED and len(value) <= _MAX_ITEMS  # type: ignore[arg-type]  # those have a length


def _arrays(values: Iterable[object], levels: int = 2) -> list[Any]:
    """The arrays of the tensors in values that ``_kept`` returned."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value._array)
        elif _is_copied(value, levels):
            found += _arrays(value.values() if isinstance(value, dict) else value, levels - 1)
    return found


def contents(values: Mapping[str, object]) -> dict[str, object]:
    """What tells whether a variable changed: a tensor that got other data is still the same object."""
    return {name: getattr(value, "_array", value) for name, value in values.items()}


def _changed(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    earlier, later = contents(before), contents(now)
    return {name for name, value in later.items() if name not in earlier or not _same(earlier[name], value)}


def _same(one: object, other: object) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):  # perhaps copies of the user's own
        alike = (one.shape, one.dtype) == (other.shape, other.dtype) and one.nbytes <= _MAX_ARRAY_BYTES
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, map(_content, one), map(_content, other)))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(_content(one[key]), _content(other[key])) for key in one)
    return isinstance(one, set) and one == other


def _content(value: object) -> object:
    return getattr(value, "_array", value)
