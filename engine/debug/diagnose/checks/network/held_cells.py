"""Check of cells that run inside a network but are not among its cells, since a plain list or object holds them."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ....record.capture import cell_name
from ...conditions.structure import UnregisteredObservation
from ..operands import flat
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tape.taps import CellCall

__all__ = ["UnregisteredWatch"]

# Limits of the search for the attribute that holds a cell.
_DEPTH, _ITEMS = 3, 2_000


@dataclass(eq=False)
class _Holder:
    """An attribute of a cell in the network that leads to cells outside of it.

    Attributes:
        root, owner: the network, and its cell with the attribute.
        path: the path of the owner.
        attribute, container: as in ``UnregisteredObservation``.
        observation: the last observation, once there was one.
        hides: whether it is a list or tuple of one cell, which hides that cell from the network on purpose.
        cells: the cells in it that ran.
        ran: whether one of them ran in this gradient call.
        feeds: whether the outputs of one went into a weight that this call trains, or its inputs came from one.
    """

    root: weakref.ref[Cell]
    owner: weakref.ref[Cell]
    path: str
    attribute: str
    container: str
    hides: bool
    cells: dict[int, weakref.ref[Cell]] = field(default_factory=dict)
    observation: UnregisteredObservation | None = None
    ran: bool = False
    feeds: bool = False


class _Inside(threading.local):
    call: CellCall | None = None  # the outermost running call of a cell outside of the network
    holder: _Holder | None = None


class UnregisteredWatch(Watcher):
    """Check of cells with trainable parameters that run in a network without being among its cells.

    They are a mistake if they stay as they were made while the network around them is trained: no gradient call asks
    for them, no optimizer holds them, and nothing writes them. In addition, their outputs must reach the loss without a
    stop_gradient, and either go into a weight that is trained or come from one: a random network whose outputs are only
    targets is meant. A list of one cell is a known way to hide it on purpose.
    """

    shows = (UnregisteredObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._inside = _Inside()
        self._holders: dict[tuple[int, str], _Holder] = {}
        self._holder_by_cell: weakref.WeakKeyDictionary[Cell, _Holder | None] = weakref.WeakKeyDictionary()
        self._owned: set[int] = set()  # ids of parameters that a gradient call asked for, or that an optimizer holds
        self._requested: set[int] = set()  # of the current gradient call
        self._outputs: ByArray[frozenset[_Holder]] = ByArray()  # values that depend on outputs of such cells
        self._follows = False

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Record the weights that a gradient call asks for."""
        requested = set(map(id, weights))
        self._owned |= requested
        if not taps.outer_recordings():
            self._requested = requested
            self._follows = False
            for holder in self._holders.values():
                holder.ran = holder.feeds = False

    def cell_enter(self, call: CellCall) -> None:
        """Record a call of a cell that is below no network."""
        cell, inside = call.cell, self._inside
        if isinstance(cell, nn.Optimizer):
            self._owned.update(map(id, cell.parameters))
            return
        if inside.call is not None and call.depth > inside.call.depth:
            return
        inside.call = inside.holder = None
        if not call.depth or call.context or not taps.outer_recordings() or self._paths.path_of(cell) is not None:
            return
        holder = self._holder_of(cell)
        if holder is None:
            return
        inside.call, inside.holder = call, holder
        holder.ran = self._follows = True
        holder.cells.setdefault(id(cell), weakref.ref(cell))
        recordings = taps.outer_recordings()
        for tensor in tensors_in((call.args, call.kwargs)):
            if any(id(tensor._array) in recording.tracked for recording in recordings):
                holder.feeds = True

    def cell_exit(self, call: CellCall) -> None:
        """Mark the outputs of such a cell."""
        inside = self._inside
        if inside.call is call and inside.holder is not None:
            for tensor in tensors_in(call.output):
                known = self._outputs.get(tensor._array) or frozenset()
                self._outputs.put(tensor._array, known | {inside.holder})
            inside.call = inside.holder = None

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """End the call of such a cell."""
        if self._inside.call is call:
            self._inside.call = self._inside.holder = None

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Follow the outputs of such cells."""
        if not self._follows:
            return
        known: frozenset[_Holder] | None = None
        is_trained = False
        for item in flat(inputs):
            if isinstance(item, Parameter):
                is_trained |= id(item) in self._requested
            elif isinstance(item, Tensor):
                holders = self._outputs.get(item._array)
                if holders is not None:
                    known = holders if known is None else known | holders
        if known is None:
            return
        if name == "stop_gradient":
            known = frozenset()  # which is recorded, since its result may be a view of its input
        if is_trained:
            for holder in known:
                holder.feeds = True
        for item in flat(outputs):
            if isinstance(item, Tensor):
                self._outputs.put(item._array, known)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Judge the cells that ran in a gradient call."""
        if taps.outer_recordings() or not self._follows:
            return
        self._follows = False
        reached = frozenset[_Holder]().union(*(self._outputs.get(value._array) or () for value in values))
        requested = {id(parameter): parameter for parameter, _ in pairs}
        self._owned |= requested.keys()
        self._paths.refresh()
        for holder in tuple(self._holders.values()):
            if holder.observation is not None and self._is_trained(self._parameters_of(holder)):
                self._withdraw(holder)
            elif holder.ran and holder.feeds and holder in reached and not holder.hides:
                self._judge(holder, requested)

    def end_session(self) -> None:
        """Withdraw what was trained after all."""
        for holder in tuple(self._holders.values()):
            if holder.observation is not None and self._is_trained(self._parameters_of(holder)):
                self._withdraw(holder)

    def _withdraw(self, holder: _Holder) -> None:
        if holder.observation is not None:
            self._observe(holder, replace(holder.observation, trained=True))
            holder.observation = None

    def _observe(self, holder: _Holder, observation: UnregisteredObservation) -> None:
        subject = f"{cell_name(holder.path)}.{holder.attribute}" if holder.path else holder.attribute
        self._examiner.observe(observation, holder.path, subject, self._counts.steps)

    def _parameters_of(self, holder: _Holder) -> dict[int, Parameter]:
        """Return the trainable parameters of the cells that ran, by id."""
        cells = [cell for cell in (reference() for reference in holder.cells.values()) if cell is not None]
        parameters = [parameter for cell in cells for parameter in cell.get_parameters()]
        return {id(parameter): parameter for parameter in parameters if parameter.requires_grad}

    def _is_trained(self, parameters: dict[int, Parameter]) -> bool:
        return any(key in self._owned or not parameter.as_made for key, parameter in parameters.items())

    def _judge(self, holder: _Holder, requested: dict[int, Parameter]) -> None:
        root, owner = holder.root(), holder.owner()
        cells = [cell for cell in (reference() for reference in holder.cells.values()) if cell is not None]
        if root is None or owner is None or not cells:
            return
        # Until the network around them was changed, the training has not begun.
        own = {id(parameter) for parameter in root.get_parameters()}
        if not any(key in own and not parameter.as_made for key, parameter in requested.items()):
            return
        if any(self._paths.path_of(cell) is not None for cell in cells):
            return  # they have joined the network
        parameters = self._parameters_of(holder)
        if not parameters or not own.isdisjoint(parameters) or self._is_trained(parameters):
            return
        holder.observation = UnregisteredObservation(
            type(owner).__name__, holder.attribute, holder.container, len(cells), len(parameters)
        )
        self._observe(holder, holder.observation)

    # The attribute that holds a cell

    def _holder_of(self, cell: Cell) -> _Holder | None:
        if cell in self._holder_by_cell:
            return self._holder_by_cell[cell]
        holder = None
        if any(parameter.requires_grad for parameter in cell.get_parameters()):
            holder = self._find(cell)
        self._holder_by_cell[cell] = holder
        return holder

    def _find(self, cell: Cell) -> _Holder | None:
        for root in self._paths.roots:
            for _, owner in root.cells_and_names():
                for name, value in tuple(owner.__dict__.items()):
                    if name.startswith("__") or name in ("_cells", "_params", "_buffers", "_hooks"):
                        continue
                    match = _container_of(value, cell, name)
                    if match is not None:
                        attribute, container, hides = match
                        key = id(owner), attribute
                        path = self._paths.path_of(owner) or ""
                        holder = _Holder(weakref.ref(root), weakref.ref(owner), path, attribute, container, hides)
                        return self._holders.setdefault(key, holder)
        return None


def _container_of(value: Any, cell: Cell, name: str) -> tuple[str, str, bool] | None:
    """Return where a value holds a cell: the attribute, the kind of the container, and whether it is alone in it."""
    budget = [_ITEMS]

    def holds(part: Any, depth: int) -> bool:
        budget[0] -= 1
        if part is cell:
            return True
        return depth > 0 and budget[0] > 0 and any(holds(item, depth - 1) for item in _items(part))

    if isinstance(value, list | tuple | dict):
        if holds(value, _DEPTH):
            kind = next(kind.__name__ for kind in (list, tuple, dict) if isinstance(value, kind))
            return name, kind, kind != "dict" and len(value) == 1
        return None
    for attribute, part in _attributes(value):
        if part is cell:
            return f"{name}.{attribute}", type(value).__name__, False
        match = _container_of(part, cell, attribute) if isinstance(part, list | tuple | dict) else None
        if match is not None:
            return f"{name}.{match[0]}", match[1], match[2]
    return None


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        yield from tuple(value)
    elif isinstance(value, dict):
        yield from tuple(value.values())
    else:
        yield from (part for _, part in _attributes(value))


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a plain object: not of a cell, a tensor, a class, a function or a module."""
    if isinstance(value, nn.Cell | Tensor | type | ModuleType | FunctionType | MethodType):
        return
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    if isinstance(attributes, dict):
        yield from tuple(attributes.items())
