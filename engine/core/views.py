"""Views: a part of a tensor, or the whole in another shape, shares its elements, as in MindSpore.

Arrays are values, and nothing is written into one that somebody may hold: to write is to give a tensor another array
(``Tensor._rebind``). So a view knows its root, the tensor whose elements it has, and the steps that lead from there;
a root knows its views, weakly. Who gets another array hands the values on: a view to its root by ``write_through``, a
root to its views by their steps. Both are operations that an open recording follows, so gradients pass.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from . import taps
from .operator import Operator
from .recording import record, state
from .tensor import Tensor
from .types import Array, Functions, Value

__all__ = [
    "OWN_REFERENCES", "ViewOperator", "alias_of", "hand_on", "is_held_alone", "is_own", "link", "seen_by_steps",
    "stop_gradient_operator",
]  # fmt: skip

Steps = tuple[tuple[Operator, dict[str, Any]], ...]
"""Operators with their attributes, each of one array, the first of the root's."""


class View:
    """What a tensor knows of being a view.

    Attributes:
        held: the tensor whose elements it has, which is no view itself; where ``is_part`` is False a weak reference to
            the tensor it was picked from.
        before: what that which it was made of knows of being a view, where that is one.
        operator: what made it.
        attrs: with which attributes.
        shape: its shape, and with that of the root: where one changes, nothing is shared any more.
        of_root: the root's shape.
        is_part: whether writing to the root changes it too; not for ``x[[0, 1]]``, which has elements of its own.
    """

    __slots__ = ("attrs", "before", "held", "is_part", "of_root", "operator", "shape")

    def __init__(
        self,
        held: Any,
        before: View | None,
        operator: Operator,
        attrs: dict[str, Any],
        shape: tuple[int, ...],
        of_root: tuple[int, ...],
        is_part: bool,
    ) -> None:
        self.held = held
        self.before = before
        self.operator = operator
        self.attrs = attrs
        self.shape = shape
        self.of_root = of_root
        self.is_part = is_part

    @property
    def root(self) -> Tensor | None:
        """The tensor whose elements it has; None if it is gone."""
        found: Tensor | None = self.held if self.is_part else self.held()
        return found

    @property
    def steps(self) -> Steps:
        """How it comes from the root."""
        found = []
        view: View | None = self
        while view is not None:
            found.append((view.operator, view.attrs))
            view = view.before
        return tuple(reversed(found))


class ViewOperator(Operator):
    """An operator whose result shares the elements of its input, where NumPy gives a view of it."""

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        result = super()._run(operands, inputs, attrs)
        made, array = result._array, inputs[0]
        if taps.operator_taps:  # in a trace an array lies over that which NumPy made
            made, array = getattr(made, "whole", made), getattr(array, "whole", array)
        base = made.base
        if base is not None and (base is array or base is array.base) and isinstance(operands[0], Tensor):
            link(operands[0], result, self, attrs)
        return result


stop_gradient_operator = ViewOperator("stop_gradient", lambda x: x.view())


def link(source: Tensor, result: Tensor, operator: Operator, attrs: dict[str, Any], is_part: bool = True) -> Tensor:
    """Let ``result``, which ``operator`` made of ``source``, share its elements, and give it back.

    Args:
        source: a tensor, which may be a view itself.
        result: the new tensor.
        operator: an operator of one array.
        attrs: its attributes.
        is_part: whether writing to ``source`` changes ``result``, too.
    """
    root, before = source, source._view
    if before is not None:
        if before.is_part:
            root = before.held
        else:
            before = None
    held = root if is_part else weakref.ref(root)
    result._view = View(held, before, operator, attrs, result._array.shape, root._array.shape, is_part)
    if not is_part:
        return result
    views = root._views
    if views is None:
        root._views = [weakref.ref(result)]
        return result
    views.append(weakref.ref(result))
    if len(views) > 8 and len(views) & (len(views) - 1) == 0:  # at powers of two
        views[:] = [one for one in views if one() is not None]
    return result


def alias_of(source: Tensor) -> Tensor:
    """Another tensor of the same elements; gradients do not pass, and no tap sees it.

    Args:
        source: the tensor.

    Returns:
        a Tensor, also of a Parameter.
    """
    result = Tensor._wrap(source._array.view())
    link(source, result, stop_gradient_operator, {})
    return result


def seen_by_steps(tensor: Tensor, steps: Steps) -> Tensor:
    """A part of a tensor, as the operators make it.

    Args:
        tensor: the tensor.
        steps: how the part comes from it.
    """
    for operator, attrs in steps:
        source, tensor = tensor, operator(tensor, **attrs)
        if tensor._view is None and operator.name == "getitem":  # of which NumPy makes a copy: one element, a diagonal
            link(source, tensor, operator, attrs)
    return tensor


def hand_on(tensor: Tensor, is_told: bool = False, written: Tensor | None = None) -> None:
    """After ``tensor`` got another array: let the others that share its elements have the new values.

    Args:
        tensor: a view, or a tensor that has views.
        is_told: whether taps hear of it.
        written: the view from which it got them, which has them already.
    """
    is_told = is_told and bool(taps.operator_taps)
    for reference in tensor._views or ():
        one = reference()
        if one is None or one is written or one._view is None:
            continue
        if one._view.of_root != tensor._array.shape:
            one._view = None
        elif one._array.base is not tensor._array:
            array = tensor._array
            for operator, attrs in one._view.steps:
                array = _applied(operator, (array,), attrs, is_told)
            one._array = array
    view = tensor._view
    if view is None:
        return
    root, steps = view.root, view.steps
    shares = root is not None and (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
    if root is None or not shares or not _is_writable(steps):
        tensor._view = None
        return
    if not state.recordings and not is_told and _is_held_by_its_views_alone(root):
        _write(root._array, tensor._array, steps)
    else:
        root._array = _applied(write_through, (root._array, tensor._array), {"steps": steps}, is_told)
    hand_on(root, is_told, tensor)


def _is_held_by_its_views_alone(root: Tensor) -> bool:
    """Whether nobody would see the values change but those that are to: the tensor and its views."""
    array = root._array
    if not is_own(array):
        return False
    views = 0
    for reference in root._views or ():
        one = reference()
        if one is not None and one._array.base is array:
            views += 1
            part = one._array
            if sys.getrefcount(part) > OWN_REFERENCES:
                return False
            del part
    return sys.getrefcount(array) <= OWN_REFERENCES + views


def is_own(array: Any) -> bool:
    """Whether an array has memory of its own, and nobody knows its values by a weak reference, as figures are known."""
    if not isinstance(array, np.ndarray) or array.base is not None or not array.flags.writeable:
        return False
    return weakref.getweakrefcount(array) == 0


def _is_own_on_gpu(array: Any) -> bool:
    """The same of an array of a GPU: what others have of its memory holds it, as its ``base``."""
    return not isinstance(array, np.ndarray) and array.base is None and weakref.getweakrefcount(array) == 0


def is_held_alone(tensor: Tensor) -> bool:
    """Whether nobody but the tensor holds its array, so that it may be written to. Who asks must not hold it either."""
    array = tensor._array
    if tensor._view is not None or tensor._views is not None or not (is_own(array) or _is_own_on_gpu(array)):
        return False
    return sys.getrefcount(array) <= OWN_REFERENCES


def _count_own_references() -> int:
    class Owner:
        array = np.zeros(1)

    array = Owner.array
    return sys.getrefcount(array)


OWN_REFERENCES = _count_own_references()
"""How often an array is held that a tensor and one name of a function hold."""


def _is_writable(steps: Steps) -> bool:
    """Whether each element of the view is one of the root's, and no other is."""
    return all(operator.name != "broadcast_to" for operator, _ in steps)


def _applied(operator: Operator, inputs: tuple[Array, ...], attrs: dict[str, Any], is_told: bool) -> Array:
    """An operator's result, recorded."""
    tracer = state.tracer
    output: Array = operator.on_arrays(*inputs, **attrs) if tracer is None else tracer.apply(operator, inputs, attrs)
    if state.recordings and operator.vjps:
        record(operator, inputs, output, attrs)
    if is_told:
        taps.operator_ran(operator.name, tuple(map(Tensor._wrap, inputs)), Tensor._wrap(output), attrs)
    return output


def _write_through_kernel(root: Array, new: Array, steps: Steps) -> Array:
    changed = root.copy()
    _write(changed, new, steps)
    return changed


def _write(array: Array, new: Array, steps: Steps) -> None:
    """Write ``new`` where the steps lead to, into an array of the caller's own."""
    (operator, attrs), *rest = steps
    if not rest and operator.name == "getitem":
        array[attrs["index"]] = new
        return
    part = array[attrs["index"]] if operator.name == "getitem" else operator.kernel(array, **attrs)
    if isinstance(part, np.generic):
        part = np.asarray(part)
    if rest:
        _write(part, new, tuple(rest))
    else:
        part[...] = new
    if operator.name == "getitem" and part.base is None:  # a copy, as of x[[0, 1]]
        array[attrs["index"]] = part
    elif operator.name == "reshape" and not np.may_share_memory(part, array):  # a copy, as the layout demands
        array[...] = part.reshape(array.shape)


def _root_gradient(F: Functions, g: Value, out: Value, root: Value, new: Value, steps: Steps) -> Value:
    gradient: Value = F.write_through(g, F.zeros_like(new), steps=steps)
    return gradient


def _new_gradient(F: Functions, g: Value, out: Value, root: Value, new: Value, steps: Steps) -> Value:
    for operator, attrs in steps:
        g = getattr(F, operator.name)(g, **attrs)
    return g


write_through = Operator(
    "write_through",
    _write_through_kernel,
    (_root_gradient, _new_gradient),
    doc="An array with other elements where the steps of a view lead to.",
    keeps_dtype=True,
)
