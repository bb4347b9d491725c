"""Root cells of a session that was created without a network: networks, but not the cells that train them.

A training step or a network with its loss wraps a network. The inner network becomes the root, so that its paths do not
depend on the wrapper. If a method is called in place of the network, the network around the called cell becomes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["has_parameters", "is_loss", "may_be_taken", "network_around", "networks_in", "networks_of", "owns_any"]

# The session keeps roots alive: a search may create hundreds of networks, a loop a loss in each step.
_MOST_NETWORKS, _MOST_OTHERS = 50, 10


def networks_in(cell: Cell) -> list[Cell]:
    """Return the cells to watch for an outermost call: the cell itself, or the networks and losses that it wraps."""
    from hookscope.engine import nn

    if isinstance(cell, nn.Optimizer | nn.DynamicLossScaleUpdateCell | nn.FixedLossScaleUpdateCell):
        return []
    inner_cells = list(cell.cells())
    is_wrapper = isinstance(cell, nn.WithLossCell | nn.WithEvalCell | nn.WithGradCell | nn.ForwardValueAndGrad)
    has_loss = (
        any(isinstance(item, nn.LossBase) for item in inner_cells)
        and sum(map(has_parameters, inner_cells)) == 1
        and not any(item is not None for item in cell._params.values())
    )
    if is_wrapper or has_loss or any(isinstance(item, nn.Optimizer) for item in inner_cells):
        return [network for item in inner_cells for network in networks_in(item)]
    return [cell]


def networks_of(function: Callable[..., Any], weights: Sequence[Parameter]) -> list[Cell]:
    """Return the networks with some of these weights that a function leads to, each not a part of another.

    A method such as ``net.loss`` in place of ``construct`` calls inner cells only: what it belongs to is the object of
    the method, a variable of the function's closure, a global name in its code, or an attribute of one of these.
    """
    cells = [cell for cell in _cells_of(function) if owns_any([cell], weights)]
    inner = {id(part) for cell in cells for path, part in cell.cells_and_names() if path}
    networks = [network for cell in cells if id(cell) not in inner for network in networks_in(cell)]
    return list({id(network): network for network in networks}.values())


def _cells_of(function: Callable[..., Any], depth: int = 2) -> list[Cell]:
    from hookscope.engine import nn

    cells: list[Cell] = []
    for value in _leads(function):
        if isinstance(value, nn.Cell):
            cells.append(value)
        elif isinstance(value, MethodType | FunctionType | partial) and value is not function:
            cells += _cells_of(value, depth - 1) if depth else []
        elif not isinstance(value, type | ModuleType | FunctionType | MethodType):
            # An object that holds networks, such as a trainer. A user's class may raise for any attribute.
            with suppress(Exception):
                cells += [
                    item for item in object.__getattribute__(value, "__dict__").values() if isinstance(item, nn.Cell)
                ]
    return cells


def _leads(function: Callable[..., Any]) -> list[Any]:
    """Return the function, the object of a method, and the values of the variables that its code reads."""
    if isinstance(function, partial):
        return [function.func, *function.args, *function.keywords.values()]
    if isinstance(function, MethodType):
        return [function.__self__, function.__func__]
    if not isinstance(function, FunctionType):
        return [function]
    values: list[Any] = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a variable that has no value yet
            values.append(cell.cell_contents)
    names = function.__globals__
    return values + [names[name] for name in function.__code__.co_names if name in names]


def network_around(cell: Cell, candidates: Iterable[Cell]) -> Cell:
    """Return the candidate that a cell is a part of; the cell itself if it is a part of none."""
    for candidate in candidates:
        if any(part is cell for _, part in candidate.cells_and_names()):
            return candidate
    return cell


def owns_any(cells: Iterable[Cell], parameters: Sequence[Parameter]) -> bool:
    """Return whether one of the parameters is a parameter of one of the cells."""
    ids = set(map(id, parameters))
    return any(id(parameter) in ids for cell in cells for parameter in cell.get_parameters())


def has_parameters(cell: Cell) -> bool:
    """Return whether a cell has parameters, so that it is a network and not a loss."""
    return next(iter(cell.get_parameters()), None) is not None


def is_loss(cell: Cell) -> bool:
    """Return whether a cell is a loss of the library or derived from ``LossBase``."""
    from hookscope.engine import nn

    return isinstance(cell, nn.LossBase)


def may_be_taken(cell: Cell, roots: Iterable[Cell]) -> bool:
    """Return whether the limit of roots allows one more cell of its kind."""
    count = sum(has_parameters(root) is has_parameters(cell) for root in roots)
    return count < (_MOST_NETWORKS if has_parameters(cell) else _MOST_OTHERS)
