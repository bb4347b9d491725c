"""Views: a part of a tensor, or the whole in another shape, shares its elements, as in MindSpore.

Arrays are values, and nothing is written into one that somebody may hold: to write is to give a tensor another array
(``Tensor._rebind``). So a view knows its root, the tensor whose elements it has, and the steps that lead from there;
a root knows its views, weakly. Who gets another array hands the values on: a view to its root by ``write_through``, a
root to its views by their steps. Both are operations that an open recording follows, so gradients pass.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.reference_counts import BORROWS, calibrated
from ..base.types import Array, Functions, Value
from ..tape import taps
from ..tape.tape import record, state
from .backend import is_array
from .operator import Operator
from .tensor import Tensor

__all__ = [
    "OWN_REFERENCES",
    "ReshapeOperator",
    "ViewOperator",
    "Written",
    "alias_of",
    "aliases_of",
    "detached_copies",
    "hand_on",
    "is_held_alone",
    "is_own",
    "layout_of",
    "link",
    "outputs_of_node",
    "places_in",
    "put_in",
    "put_together",
    "rename",
    "seen_by_steps",
    "stop_gradient_operator",
]

Layout = np.ndarray[Any, np.dtype[np.int8]]
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
    def chain(self) -> Steps:
        """How it comes from the root."""
        found = []
        view: View | None = self
        while view is not None:
            found.append((view.operator, view.attrs))
            view = view.before
        return tuple(reversed(found))

    @property
    def steps(self) -> Steps:
        """The chain without aliases, which are other names of the same value; it may be empty."""
        return tuple([step for step in self.chain if step[0] is not alias_operator])


class ViewOperator(Operator):
    """An operator whose result shares the elements of its input."""

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        result = super()._run(operands, inputs, attrs)
        source = operands[0]
        if isinstance(source, Tensor) and self._shares(source, result, attrs):
            link(source, result, self, attrs)
        return result

    def _shares(self, source: Tensor, result: Tensor, attrs: dict[str, Any]) -> bool:
        return True


class ReshapeOperator(ViewOperator):
    """``reshape``, which shares where the strides of its input allow it, as in MindSpore, NumPy and PyTorch."""

    def _shares(self, source: Tensor, result: Tensor, attrs: dict[str, Any]) -> bool:
        view = source._view
        is_part = view is not None and view.is_part
        if not is_part and source._layout is None:
            return True
        bare = _unchanged if state.tracer is None else state.tracer.bare
        try:
            layout_of(source, bare).reshape(bare(attrs["shape"]), copy=False)
            shares = True
        except ValueError:
            shares = False
        if state.tracer is not None:
            state.tracer.reshapes_part(source, _root_of(source), result, shares)
        return shares


def _unchanged(value: Any) -> Any:
    return value


def layout_of(tensor: Tensor, bare: Callable[[Any], Any] = _unchanged) -> Layout:
    """Return an array of uninitialized bytes that has the shape and the strides of ``tensor``, counted in elements.

    The strides follow from the program alone: a computed tensor lies row by row, a view as its steps lead there from
    its root. How the array of either lies in memory is the business of kernels, and differs between devices.

    Args:
        tensor: any tensor.
        bare: replaces open lengths in shapes and attributes, of which to ask would make a guard, by those of this run.
    """
    view = tensor._view
    if view is None or not view.is_part:
        return _layout_of_root(tensor, bare)
    layout = _layout_of_root(view.held, bare)
    for operator, attrs in bare(view.steps):
        if operator.name != "getitem":
            layout = operator.kernel(layout, **attrs)
        elif (diagonal := _diagonal(attrs["index"])) is not None:
            layout = layout.diagonal(diagonal, -2, -1)
        else:
            index = None if attrs["index"] is True else attrs["index"]
            parts = index if isinstance(index, tuple) else (index,)
            # Without an ellipsis NumPy gives a number, not a view, where each axis has an int.
            layout = layout[parts if any(part is Ellipsis for part in parts) else (*parts, ...)]
    return layout


def _layout_of_root(tensor: Tensor, bare: Callable[[Any], Any]) -> Layout:
    layout: Layout | None = tensor._layout
    shape = bare(tensor._array.shape)
    return np.empty(shape, np.int8) if layout is None or layout.shape != shape else layout


stop_gradient_operator = ViewOperator("stop_gradient", lambda x: x.view())
alias_operator = ViewOperator("alias", lambda x: x.view(), (lambda F, g, out, x: g,), keeps_dtype=True)


def _diagonal(index: Any) -> int | None:
    """Return the offset of the diagonal that an index of ``ops.diagonal`` picks, or None for one of slices."""
    if not isinstance(index, tuple) or not any(is_array(part) for part in index):
        return None
    places: list[Any] = [getattr(part, "whole", part) for part in index[1:]]  # a traced array lies over another one
    rows, columns = places
    return int(columns[0] - rows[0]) if rows.size else 0


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


def aliases_of(tensors: Sequence[Tensor], arrays: Sequence[Array]) -> list[Tensor]:
    """Return new tensors that share their elements with ``tensors``, and let gradients pass.

    Args:
        tensors: the tensors.
        arrays: their values under the names that the new tensors have on the tape.
    """
    pairs = zip(tensors, arrays, strict=True)
    return [link(source, Tensor._wrap(array), alias_operator, {}) for source, array in pairs]


def detached_copies(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return new tensors of the same values and layouts, which share among themselves what ``tensors`` share.

    Args:
        tensors: the tensors; one that occurs twice has one copy.
    """
    copies = {id(one): Tensor._wrap(one._array) for one in tensors}
    groups: dict[int, list[Tensor]] = {}
    for one in {id(one): one for one in tensors}.values():
        groups.setdefault(id(_root_of(one)), []).append(one)
    for group in groups.values():
        root = _root_of(group[0])
        if len(group) > 1 and id(root) not in copies:
            copies[id(root)] = Tensor._wrap(root._array)
            copies[id(root)]._layout = root._layout
        for one in group:
            copy = copies[id(one)]
            if one is not root and len(group) > 1:
                _link_like(copy, copies[id(root)], one._view)
            elif not one.is_contiguous():
                copy._layout = layout_of(one)
    return [copies[id(one)] for one in tensors]


def outputs_of_node(
    returned: Sequence[Tensor], arrays: Sequence[Array], given: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return new tensors for the results of a call that is one node on the tape; they share what its results share.

    A root that was made during the call is unknown to the tape, so gradients could not pass by it. A view of it becomes
    a root itself; several views of one get a new root, to be recorded by ``put_together``.

    Args:
        returned: the tensors that the call returned, computed without a recording.
        arrays: the same values under the names that the node has on the tape.
        given: the tensors that the call got.

    Returns:
        the tensors, and the new roots.
    """
    outputs = [Tensor._wrap(array) for array in arrays]
    outside = {id(_root_of(tensor)) for tensor in given}
    groups: dict[int, list[int]] = {}
    for place, tensor in enumerate(returned):
        root = _root_of(tensor)
        if id(root) in outside or _is_known(root):
            link(tensor, outputs[place], alias_operator, {})
        else:
            groups.setdefault(id(root), []).append(place)
    roots = []
    for places in groups.values():
        root = _root_of(returned[places[0]])
        new_root = next((outputs[place] for place in places if returned[place] is root), None)
        if new_root is None and len(places) > 1:
            new_root = Tensor._wrap(root._array)
            new_root._layout = root._layout
            roots.append(new_root)
        for place in places:
            if new_root is None:
                outputs[place]._layout = layout_of(returned[place])
            elif returned[place] is not root:
                _link_like(outputs[place], new_root, returned[place]._view)
            elif outputs[place] is not new_root:
                link(new_root, outputs[place], alias_operator, {})
    return outputs, roots


def put_together(roots: Sequence[Tensor]) -> None:
    """Record that the values of roots are those of their views.

    Args:
        roots: the new ones of ``outputs_of_node``, whose views are recorded.
    """
    for root in roots:
        for reference in root._views or ():
            view = reference()
            if view is not None and view._view is not None:
                steps = view._view.steps or view._view.chain
                root._array = _applied(write_through, (root._array, view._array), {"steps": steps}, False)


class Written:
    """Which tensors a call that is one node on the tape writes to, of those that it is given and what shares with them.

    Args:
        given: the tensors, before the call.
    """

    def __init__(self, given: Sequence[Tensor]) -> None:
        self._given = list({id(one): one for one in given}.values())
        self._before: dict[int, tuple[Tensor, Array]] = {}
        for root in {id(one): one for one in map(_root_of, given)}.values():
            for one in (root, *[reference() for reference in root._views or ()]):
                if one is not None:
                    self._before[id(one)] = one, one._array

    def undo(self) -> list[tuple[Tensor, Array]]:
        """Put back the arrays that all had, and return the given tensors that were written, with their new arrays."""
        found = [(one, one._array) for one in self._given if _is_written(one, self._before[id(one)][1])]
        for one, array in self._before.values() if found else ():
            if _is_written(one, array):
                one._array = array
        return found

    def pass_on(self) -> None:
        """Let the new values of tensors be, for the tape, other names of the old ones, to which gradients pass."""
        for one, array in self._before.values():
            if _is_written(one, array):
                rename(one, array)


def _is_written(tensor: Tensor, before: Array) -> bool:
    """Return whether a tensor has other values than before, and not another shape, with which it is another tensor."""
    return tensor._array is not before and tensor._array.shape == before.shape


def rename(tensor: Tensor, before: Array) -> None:
    """Let the tape know the array of a tensor as another name of the one that the tensor had before.

    Args:
        tensor: the tensor, which has got its new values.
        before: the array.
    """
    if any(id(before) in recording.tracked for recording in state.recordings):
        tensor._array = tensor._array.view()
        record(alias_operator, (before,), tensor._array, {})


def _root_of(tensor: Tensor) -> Tensor:
    view = tensor._view
    root: Tensor = tensor if view is None or not view.is_part else view.held
    return root


def _is_known(tensor: Tensor) -> bool:
    """Return whether a recording follows the tensor, or it is a Parameter, which no call makes."""
    return type(tensor) is not Tensor or any(id(tensor._array) in recording.tracked for recording in state.recordings)


def places_in(tensors: Sequence[Tensor], roots: Sequence[Tensor]) -> list[tuple[Tensor, View | None] | None]:
    """Return for each tensor which of the roots it is (with None) or is a view of; None for the others.

    Args:
        tensors: the tensors.
        roots: tensors that are not views.
    """
    known = {id(root) for root in roots}
    found = [(_root_of(one), one._view) for one in tensors]
    return [
        (root, None if root is one else view) if id(root) in known else None
        for one, (root, view) in zip(tensors, found, strict=True)
    ]


def put_in(tensors: Sequence[Tensor], places: Sequence[tuple[Tensor, View | None] | None]) -> list[Tensor]:
    """Return the tensors, those that have a place (``places_in``) as the root itself or as the view of it.

    Args:
        tensors: new tensors.
        places: where each belongs.
    """
    found = []
    for tensor, place in zip(tensors, places, strict=True):
        if place is not None and place[1] is not None:
            _link_like(tensor, place[0], place[1])
        found.append(place[0] if place is not None and place[1] is None else tensor)
    return found


def _link_like(tensor: Tensor, root: Tensor, view: Any) -> None:
    """Make ``tensor`` the view of ``root`` that ``view`` is of another root."""
    tensor._view = View(root, view.before, view.operator, view.attrs, view.shape, view.of_root, True)
    root._views = [*(root._views or ()), weakref.ref(tensor)]


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
    written_view = None if written is None else written._view
    for reference in tensor._views or ():
        one = reference()
        if one is None or one is written or one._view is None:
            continue
        if one._view.of_root != tensor._array.shape:
            one._view = None
        elif written_view is not None and _is_same(one._view, written_view):
            one._array = written._array  # type: ignore[union-attr]
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
    if not steps and tensor._array.dtype == root._array.dtype:
        root._array = tensor._array  # the same value: a copy would be another one on the tape
    elif not state.recordings and not is_told and _is_held_by_its_views_alone(root):
        _write(root._array, tensor._array, steps)
    else:
        root._array = _applied(write_through, (root._array, tensor._array), {"steps": steps or view.chain}, is_told)
    hand_on(root, is_told, tensor)


def _is_same(one: View, other: View) -> bool:
    """Return whether two views of one root are aliases of each other."""
    if not (one.is_part and other.is_part) or alias_operator not in (one.operator, other.operator):
        return False
    steps = [[(operator, id(attrs)) for operator, attrs in view.steps] for view in (one, other)]
    return steps[0] == steps[1]


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


class _Owner:
    def __init__(self, array: Array) -> None:
        self.array = array


def _is_alone(bound: int, arrays: list[Array]) -> bool:
    owner = _Owner(arrays.pop())
    array = owner.array
    return sys.getrefcount(array) <= bound


OWN_REFERENCES = calibrated(_is_alone, 2 if BORROWS else 3)
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
    changed = root.copy(order="K")  # as it is where it is written in place
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
