"""Origin of an array: the parameter, the cell or the operator that it came from, by the identity of arrays.

An array is looked up among the parameters of the cells, the captures of the session, the outputs of cells on the tape,
the nodes of the tape, and the inputs of the cells that were running. A view is followed to the tensor that it shares
its elements with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape.tape import ArrayPlaceholder, Recording

from ...inert_reads import array_of, is_tensor
from .stack import ErrorStack

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ...record.capture import Capture
    from ...watch.paths import CellPaths

__all__ = ["Origin", "Origins", "shape_text"]

_MOST_STEPS = 4
_MOST_INPUTS = 4
_UNKNOWN = "a result of"
# Entries of the tape that give a value another name, or are not operators.
_PLAIN_NAMES = {"identity", "alias"}


def shape_text(array: Any) -> str:
    """Return a shape as Python writes it."""
    return str(tuple(array.shape))


@dataclass(frozen=True)
class Origin:
    """Origin of an array.

    Attributes:
        text: a noun, such as "the output of conv1"; for an operator with the shape of what it was computed from.
        is_source: whether it is a parameter, an output of a cell or an input, and not the result of an operator.
    """

    text: str
    is_source: bool


class Origins:
    """Index of the arrays that are known when an exception is raised.

    Args:
        stack: the stack of the exception.
        paths: the cells of the session; None without one.
        captures: the captures of the session, oldest first.
    """

    def __init__(self, stack: ErrorStack, paths: CellPaths | None, captures: Iterable[Capture]) -> None:
        self._stack = stack
        self._paths = paths
        self._sources: dict[int, tuple[Any, str]] = {}
        self._nodes: dict[int, tuple[Any, str, tuple[Any, ...]]] = {}
        self.parameters: dict[int, tuple[Any, str]] = {}
        self._roots = self._find_roots()
        for name, array in self._named_parameters():
            self.parameters.setdefault(id(array), (array, name))
        self._add_captures(captures)
        for recording in self._recordings():
            self._add_recording(recording)
        self._add_inputs()

    # Names

    def path_of(self, cell: Cell) -> str:
        """Return the name of a cell: its path in the session, or below the outermost cell; its class for a root.

        A cell of another network has the class of that before its path.
        """
        path = None if self._paths is None else self._paths.path_of(cell)
        return (self._path_on_stack(cell) if path is None else path) or type(cell).__name__

    def _path_on_stack(self, cell: Cell) -> str:
        path = str(cell.__dict__.get("_path", ""))
        for running in self._stack.cells if path else ():
            root = running.cell
            if not root.__dict__.get("_path") and _cell_at(root, path) is cell:
                is_first = self._paths is None and root is self._stack.cells[0].cell
                return path if is_first else f"{type(root).__name__}.{path}"
        return path

    def parameter_of(self, array: Any) -> str:
        """Return the name of the parameter that holds an array; "" if none does."""
        held, name = self.parameters.get(id(array), (None, ""))
        return name if held is array else ""

    def _find_roots(self) -> list[tuple[str, Cell]]:
        if self._paths is not None:
            roots = [("" if index == 0 else self.path_of(root), root) for index, root in enumerate(self._paths.roots)]
        else:
            roots = []
        known = {id(cell) for _, cell in roots}
        for running in self._stack.cells:
            if id(running.cell) not in known and (self._paths is None or self._paths.path_of(running.cell) is None):
                is_first = self._paths is None and running.cell is self._stack.cells[0].cell
                roots.append(("" if is_first else self.path_of(running.cell), running.cell))
                known.add(id(running.cell))
        return roots

    def _named_parameters(self) -> Iterator[tuple[str, Any]]:
        for prefix, root in self._roots:
            for name, parameter in root.parameters_and_names(prefix):
                yield name, array_of(parameter)

    # Sources

    def _add_source(self, array: Any, text: str) -> None:
        if id(array) not in self._sources:
            self._sources[id(array)] = (array, text)

    def _add_captures(self, captures: Iterable[Capture]) -> None:
        # The newest first; of cells that returned one array, the innermost, whose capture is the oldest.
        by_array: dict[int, Capture] = {}
        for capture in captures:
            if capture.direction == "forward" and capture.slot.startswith("output") and capture.origin == "tap":
                by_array.setdefault(id(capture.array), capture)
        for capture in by_array.values():
            self._add_source(capture.array, _output_text(capture.path, capture.cell_type, capture.slot))

    def _recordings(self) -> Iterator[Recording]:
        """Yield the recordings that functions of the engine on the stack hold."""
        yielded: set[int] = set()
        for level in self._stack.levels:
            if not level.is_engine:
                continue
            for value in level.variables.values():
                # A subclass keeps no nodes: it only notes what a recomputed function reads.
                if type(value) is Recording and id(value) not in yielded:
                    yielded.add(id(value))
                    yield value

    def _add_recording(self, recording: Recording) -> None:
        for _, region, has_ended in recording.marks:
            if has_ended:
                for index, array in enumerate(region.outputs):
                    slot = "output" if len(region.outputs) == 1 else f"output[{index}]"
                    cell = region.call.cell
                    self._add_source(array, _output_text(self.path_of(cell), type(cell).__name__, slot))
        for operator, inputs, output, _ in recording.nodes:
            name = getattr(operator, "name", "")
            for array in output if type(output) is tuple else (output,):
                if name and type(array) is not ArrayPlaceholder:
                    self._nodes.setdefault(id(array), (array, name, inputs))

    def _add_inputs(self) -> None:
        """Add the inputs of the outermost cell."""
        if not self._stack.cells or self._stack.cells[0].part != "construct":
            return
        running = self._stack.cells[0]
        variables = self._stack.levels[running.index].variables
        for text, value in inputs_of(running.cell, variables, self.path_of(running.cell)):
            self._add_source(array_of(value), text)

    # Queries

    def of_array(self, array: Any) -> Origin | None:
        """Return the origin of an array; None if it is not known."""
        return self._of(array, None, 0)

    def of_tensor(self, tensor: Any) -> Origin | None:
        """Return the origin of a tensor, which may be a view of another; None if it is not known."""
        return self._of(array_of(tensor), tensor, 0)

    def _of(self, array: Any, tensor: Any, steps: int) -> Origin | None:
        name = self.parameter_of(array)
        if name:
            return Origin(f"the parameter {name}", True)
        held, text = self._sources.get(id(array), (None, ""))
        if held is array:
            return Origin(text, True)
        if steps >= _MOST_STEPS:
            return None
        node = self._nodes.get(id(array))
        if node is not None and node[0] is array:
            return self._of_node(node[1], node[2], steps)
        return self._of_view(array, tensor, steps)

    def _of_node(self, name: str, inputs: tuple[Any, ...], steps: int) -> Origin | None:
        arrays = [value for value in inputs if hasattr(value, "shape") and hasattr(value, "dtype")]
        origins = [
            None if type(value) is ArrayPlaceholder and value() is None else self._of(_resolved(value), None, steps + 1)
            for value in arrays
        ]
        if len(arrays) == 1 and name in _PLAIN_NAMES:
            return origins[0]
        parts = [
            origin.text + (f" {shape_text(value)}" if origin.is_source else "")
            for origin, value in zip(origins, arrays, strict=True)
            if origin is not None and not origin.text.startswith(_UNKNOWN)
        ]
        if not arrays or len(parts) < len(arrays) or len(arrays) > _MOST_INPUTS:
            return Origin(f"{_UNKNOWN} {name}", False)
        return Origin(f"{name} of {' and '.join(dict.fromkeys(parts))}", False)

    def _of_view(self, array: Any, tensor: Any, steps: int) -> Origin | None:
        view = getattr(tensor, "_view", None)
        if view is not None and view.root is not None:
            names = [operator.name for operator, _ in view.steps]
            root = view.root
            if names and len(names) <= _MOST_STEPS and array_of(root).shape == view.of_root:
                origin = self._of(array_of(root), root, steps + 1)
                label = " of ".join(reversed(names))
                if origin is None:
                    return None
                shape = f" {shape_text(array_of(root))}" if origin.is_source else ""
                return Origin(f"{label} of {origin.text}{shape}", False)
        base = getattr(array, "base", None)
        if base is not None and hasattr(base, "dtype") and tensor is None:
            origin = self._of(base, None, steps + 1)
            if origin is not None and origin.is_source:
                return Origin(f"a view of {origin.text} {shape_text(base)}", False)
        return None


def _cell_at(root: Cell, path: str) -> Cell | None:
    """Return the cell at a path below another one; None if there is none."""
    cell: Cell | None = root
    for name in path.split("."):
        cell = None if cell is None else dict.get(cell._cells, name)
    return cell


def _output_text(path: str, kind: str, slot: str) -> str:
    """Return a noun for an output; a cell whose name is only a number has its class as well."""
    is_number = path.rpartition(".")[2].isdigit()
    return f"the {slot} of {path or kind}{f' ({kind})' if is_number else ''}"


def _resolved(value: Any) -> Any:
    return value() if type(value) is ArrayPlaceholder else value


def inputs_of(cell: Cell, variables: dict[str, object], path: str) -> Iterator[tuple[str, Any]]:
    """Yield the tensors among the arguments of a cell's call, each with a noun: "the input x of conv1".

    Args:
        cell: the cell.
        variables: the variables of the function that calls its construct.
        path: the name of the cell.
    """
    construct = getattr(type(cell).construct, "__code__", None)
    names = construct.co_varnames[1 : construct.co_argcount] if construct is not None else ()
    arguments, keywords = variables.get("args"), variables.get("kwargs")
    if type(arguments) is not tuple or type(keywords) is not dict:
        return
    positional = [(names[index] if index < len(names) else str(index), value) for index, value in enumerate(arguments)]
    for name, value in (*positional, *keywords.items()):
        if is_tensor(value):
            yield f"the input {name} of {path}", value
