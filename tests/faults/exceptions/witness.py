"""Witness of a run: what each cell received and returned, and which lines of the script ran, apart from the debugger.

With it, ``false_statements`` checks each statement of an explanation against what really happened.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

import numpy as np

from hookscope.engine import Tensor
from hookscope.engine.debug.watch.paths import CellPaths
from hookscope.engine.nn import Cell
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in

__all__ = ["Runnable", "Witness", "false_statements", "user_frame_of"]

Shape = tuple[int, ...]

ROLES = re.compile(
    r"(the (first |second )?(input|operand|tensor|value|index|table|returned gradient|gradient that came)"
    r"|the input \w+ of .*|operand|entry \d+|argument|gamma|labels|target)"
)
"""Names of operands that the user's line has no name for."""
_SHAPE = r"\((?:\d+,(?: \d+(?:, \d+)*)?)?\)"
_LINE = re.compile(rf"  (?P<label>.+?): (?P<shape>{_SHAPE}) (?P<dtype>[A-Z]\w+)(?:, (?P<rest>.*))?")


class Runnable(Protocol):
    """A script: its file and its function."""

    @property
    def file(self) -> str:
        """The file of the script."""
        ...

    @property
    def function(self) -> Callable[[], None]:
        """The function that runs it."""
        ...


class Witness(taps.Tap):
    """Tap that notes inputs and outputs, and a trace function that notes the lines of a script.

    Args:
        case: the script.
    """

    def __init__(self, case: Runnable) -> None:
        self.case = case
        self.calls: list[tuple[Cell, tuple[Any, ...], dict[str, Any], list[Tensor]]] = []
        self.lines: dict[int, list[int]] = {}
        self._frames: list[FrameType] = []  # so that no id is used twice

    def cell_enter(self, call: taps.CellCall) -> None:
        self.calls.append((call.cell, call.args, call.kwargs, []))
        call.notes[self] = self.calls[-1]

    def cell_exit(self, call: taps.CellCall) -> None:
        call.notes[self][3].extend(Tensor._wrap(tensor._array) for tensor in tensors_in(call.output))

    def trace(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != self.case.file:
            return None
        if event == "call":
            self._frames.append(frame)
            self.lines[id(frame)] = []
        if event == "line":
            self.lines[id(frame)].append(frame.f_lineno)
        return self.trace

    def run(self) -> BaseException | None:
        """Run the script; return its exception."""
        previous = sys.gettrace()
        taps.attach(self)
        sys.settrace(self.trace)
        try:
            self.case.function()
        except BaseException as error:
            return error
        finally:
            sys.settrace(previous)
            taps.detach(self)
        return None


def user_frame_of(error: BaseException, file: str) -> tuple[FrameType, int]:
    """Return the innermost frame of a script on a traceback, and its line."""
    frames = [
        (frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file
    ]
    frames = [pair for pair in frames if pair[0].f_code.co_name not in ("<listcomp>", "<dictcomp>", "<setcomp>")]
    return frames[-1]


def false_statements(text: str, witness: Witness, error: BaseException, paths: CellPaths) -> list[str]:
    """Return the statements of an explanation that are not true of the run."""
    return list(_Statements(witness, error, paths).false(text))


def _is_role(label: str) -> bool:
    """Return whether a name is none that can be evaluated: a role, a shortened expression, or a part of one."""
    return bool(ROLES.fullmatch(label)) or label.endswith("...") or label.count("(") != label.count(")")


class _Statements:
    def __init__(self, witness: Witness, error: BaseException, paths: CellPaths) -> None:
        self.witness = witness
        self.paths = paths
        self.error = error
        self.frame, self.line = user_frame_of(error, witness.case.file)
        self.parameters = {
            f"{path}.{name}" if path else name: parameter
            for path, cell in (*((self._path(call[0]), call[0]) for call in witness.calls), *paths)
            for name, parameter in cell._params.items()
            if parameter is not None
        }

    def false(self, text: str) -> Iterator[str]:
        for line in text.splitlines():
            if line.startswith("It was raised from this"):
                assert self.error.__cause__ is not None
                self.error = self.error.__cause__
                self.frame, self.line = user_frame_of(self.error, self.witness.case.file)
                if type(self.error).__name__ not in line:
                    yield line
            elif line.startswith("  "):
                yield from self._false_operand(line)
            elif re.search(r"(?:^|, )line \d+(?:$|: )", line):
                yield from self._false_heading(line)
            else:
                yield from self._false_sentence(line)

    def _false_heading(self, heading: str) -> Iterator[str]:
        if f"line {self.line}" not in heading:
            yield heading
        cell = re.match(r"(?:\w+ of )?(\S+) \((\w+)\), ", heading)
        if cell and not self._names_path(cell[1], cell[2]):
            yield heading

    def _false_operand(self, line: str) -> Iterator[str]:
        match = _LINE.fullmatch(line)
        if match is None:
            yield f"not an operand: {line}"
            return
        label, rest = match["label"], match["rest"] or ""
        shape: Shape = ast.literal_eval(match["shape"])
        value = self.value_of(label)
        if value is not None and (value.shape != shape or str(value.dtype) != match["dtype"]):
            yield line
        if value is None and not _is_role(label):
            yield f"unknown operand: {line}"
        if rest == "a parameter" and label not in self.parameters:
            yield line
        last_line = self.line
        for part in rest.split("; ") if rest and rest != "a parameter" else []:
            assigned = re.fullmatch(r"(assigned|\w+) in line (\d+): (.*)", part)
            passed = re.fullmatch(r"passed in line (\d+) as (.*)", part)
            computed = re.fullmatch(rf"computed from (\w+) ({_SHAPE})", part)
            returned = re.fullmatch(rf"(\S+) last returned ({_SHAPE}(?: and {_SHAPE})*)", part)
            if assigned:
                name = label if assigned[1] == "assigned" else assigned[1]
                if not self._assigned(name, int(assigned[2]), assigned[3], last_line):
                    yield part
                last_line = int(assigned[2])
            elif passed:
                if not self._passed(int(passed[1]), passed[2]):
                    yield part
            elif computed:
                source = self.value_of(computed[1])
                is_in_label = re.search(rf"\b{computed[1]}\b", label) is not None
                if source is None or source.shape != ast.literal_eval(computed[2]) or not is_in_label:
                    yield part
            elif part.startswith("the value of "):
                holder = self.value_of(part.removeprefix("the value of "))
                if holder is None or value is None or holder.shape != shape or not _are_one(holder, value):
                    yield part
            elif returned:
                shapes = [ast.literal_eval(text) for text in returned[2].split(" and ")]
                if [tensor.shape for tensor in self._outputs(returned[1])[-1]] != shapes:
                    yield part
            elif not self._is_origin(part, shape, value):
                yield part

    def _is_origin(self, text: str, shape: Shape, value: Tensor | None) -> bool:
        direct = re.fullmatch(r"the (output(?:\[\d+\])?) of (\S+)(?: \(\w+\))?", text)
        if direct:
            return self._is_output(direct[2], direct[1], shape, value)
        passed = re.fullmatch(r"the input (\w+) of (\S+)", text)
        if passed:
            return self._is_input(passed[1], passed[2], shape, value)
        # An operator's result: each source in its text must exist with its shape.
        for slot, path, source in re.findall(rf"the (output(?:\[\d+\])?) of (\S+)(?: \([A-Z]\w+\))? ({_SHAPE})", text):
            if not self._is_output(path, slot, ast.literal_eval(source), None):
                return False
        for name, path, source in re.findall(rf"the input (\w+) of (\S+) ({_SHAPE})", text):
            if not self._is_input(name, path, ast.literal_eval(source), None):
                return False
        return True

    def _is_output(self, path: str, slot: str, shape: Shape, value: Tensor | None) -> bool:
        index = int(slot[7:-1]) if "[" in slot else 0
        tensors = [outputs[index] for outputs in self._outputs(path) if len(outputs) > index]
        if value is not None and any(tensor._array is value._array for tensor in tensors):
            return True
        return (value is None or self.is_new(value)) and any(tensor.shape == shape for tensor in tensors)

    def is_new(self, value: Tensor) -> bool:
        """Return whether a value was computed by this check and can have no identity in the run."""
        return getattr(value, "_recomputed", False)

    def _is_input(self, name: str, path: str, shape: Shape, value: Tensor | None) -> bool:
        for cell, args, kwargs, _ in self.witness.calls:
            names = type(cell).construct.__code__.co_varnames[1:]
            numbered = {str(index): value for index, value in enumerate(args)}
            inputs = {**numbered, **dict(zip(names, args)), **kwargs}  # noqa: B905  # more names than arguments
            if self._path(cell) == path and isinstance(inputs.get(name), Tensor) and inputs[name].shape == shape:
                return value is None or self.is_new(value) or inputs[name]._array is value._array
        return False

    def _assigned(self, name: str, line: int, text: str, before: int) -> bool:
        """Return whether a line assigned a variable and none did so after it, before a line ran last."""
        file = self.witness.case.file
        statement = _statement_at(file, line)
        ran = self.witness.lines[id(self.frame)]
        if before not in ran:
            return False
        ran = ran[: len(ran) - ran[::-1].index(before) - 1]
        if statement is None or name not in _bound(statement) or line not in ran:
            return False
        since = ran[len(ran) - ran[::-1].index(line) :]
        lines = linecache.getlines(file)[statement.lineno - 1 : statement.end_lineno]
        is_text = text.removesuffix("...") in " ".join(" ".join(lines).split())
        return is_text and not any(name in _bound_at(file, number) for number in since)

    def _passed(self, line: int, text: str) -> bool:
        """Return whether a caller of the failing function is in the statement at a line, which has this text."""
        file = self.witness.case.file
        callers = [
            number
            for frame, number in traceback.walk_tb(self.error.__traceback__)
            if frame.f_code.co_filename == file and frame is not self.frame
        ]
        statements = [_innermost_statement(file, number) for number in callers]
        nodes = [node for node in statements if node is not None and node.lineno <= line <= (node.end_lineno or 0)]
        texts = [" ".join(" ".join(linecache.getlines(file)[n.lineno - 1 : n.end_lineno]).split()) for n in nodes]
        return any(text.removesuffix("...") in source for source in texts)

    def _false_sentence(self, sentence: str) -> Iterator[str]:
        for axis, label, length in re.findall(
            rf"[Aa]xis (\d+) of (.+?)(?: {_SHAPE})? (?:has the length |has |\()(\d+)\b", sentence
        ):
            value = self.value_of(label)
            if value is None and not _is_role(label):
                yield f"unknown operand {label}: {sentence}"
            if value is not None and value.shape[int(axis)] != int(length):
                yield sentence
        for label, shape in re.findall(rf"((?:self\.)?\w+(?:\(\w+\))?) ({_SHAPE})", sentence):
            value = self.value_of(label)
            if value is not None and value.shape != ast.literal_eval(shape):
                yield sentence
        if " is only assigned in line " in sentence:
            ran = self.witness.lines[id(self.frame)]
            lines = re.findall(r"(?:in|and) line (\d+) \(", sentence)
            if not lines or any(int(line) in ran for line in lines):
                yield sentence
        for shape, number in re.findall(rf"({_SHAPE}), which has (\d+)", sentence):
            if functools.reduce(lambda a, b: a * b, ast.literal_eval(shape), 1) != int(number):
                yield sentence
        for label, low, high in re.findall(r"(.+?) holds numbers from (-?\d+) to (-?\d+)", sentence):
            value = self.value_of(label)
            if value is None or (value.asnumpy().min(), value.asnumpy().max()) != (int(low), int(high)):
                yield sentence

    # Values

    def value_of(self, label: str) -> Tensor | None:
        """Return the value of an operand's name, evaluated in the user's frame; None if it is none of the line's."""
        if label in self.parameters:
            return self.parameters[label]
        entry = re.fullmatch(r"entry (\d+) of (.*)", label)
        expression = f"({entry[2]})[{entry[1]}]" if entry else label
        try:
            value = eval(expression, self.frame.f_globals, dict(self.frame.f_locals))  # a test's own script
        except Exception:
            return None
        if isinstance(value, Tensor) and not re.fullmatch(r"[\w.]+", label):
            value = Tensor._wrap(value._array)
            value.__dict__["_recomputed"] = True
        return value if isinstance(value, Tensor) else None

    def _path(self, cell: Cell) -> str:
        path = self.paths.path_of(cell)
        if path is not None:
            return path or type(cell).__name__
        for called, *_ in self.witness.calls:
            below = {id(inner): name for name, inner in called.cells_and_names()}
            if below.get(id(cell)) and self.paths.path_of(called) is None:
                return f"{type(called).__name__}.{below[id(cell)]}"
        return type(cell).__name__

    def _names_path(self, path: str, kind: str) -> bool:
        """Return whether a path and a class are those of a cell of the session, or of one that was called."""
        cells = [*(cell for _, cell in self.paths), *(call[0] for call in self.witness.calls)]
        return any(type(cell).__name__ == (kind or path) and self._path(cell) == path for cell in cells)

    def _outputs(self, path: str) -> list[list[Tensor]]:
        return [outputs for cell, _, _, outputs in self.witness.calls if self._path(cell) == path and outputs]


@functools.cache
def _tree(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _statement_at(file: str, line: int) -> ast.stmt | None:
    statements = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.stmt) and node.lineno == line]
    return statements[0] if statements else None


def _innermost_statement(file: str, line: int) -> ast.stmt | None:
    """Return the shortest statement around a line."""
    around = [
        node
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return min(around, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def _are_one(first: Tensor, second: Tensor) -> bool:
    return first._array is second._array or bool(np.shares_memory(first._array, second._array))


def _bound_at(file: str, line: int) -> set[str]:
    statement = _statement_at(file, line)
    return set() if statement is None else _bound(statement)


def _bound(statement: ast.stmt) -> set[str]:
    """Return the variables that the first line of a statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    inner = [statement.target] if isinstance(statement, ast.For) else [statement]
    if isinstance(statement, ast.If | ast.While | ast.With | ast.Try):
        inner = []
    nodes = [node for root in inner for node in ast.walk(root)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
