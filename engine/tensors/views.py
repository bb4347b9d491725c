"""Views: tensors that share the elements of another tensor, as in MindSpore: a part of it, or a different shape.

Arrays are immutable while anything else may hold them: to write to a tensor is to rebind it to a new array
(``Tensor._rebind``). So a view has a reference to its root, the tensor whose elements it shares, and the steps that
lead from there; a root has weak references to its views. Whichever is rebound propagates its values to the others: a
view to its root by ``write_through``, a root to its views by their steps. An open recording follows both operations,
so that gradients pass.
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
    "WrittenTensors",
    "alias_of",
    "aliases_of",
    "apply_steps",
    "detached_copies",
    "is_sole_holder",
    "layout_of",
    "link",
    "link_to_roots",
    "outputs_of_node",
    "owns_memory",
    "propagate_values",
    "record_roots",
    "rename",
    "root_links",
    "stop_gradient_operator",
]

Layout = np.ndarray[Any, np.dtype[np.int8]]
Steps = tuple[tuple[Operator, dict[str, Any]], ...]
"""Operators of one array with their attributes; the first is applied to the root."""


class View:
    """Relation of a view to its root.

    Attributes:
        root_or_reference: the root, which is not a view itself; if ``is_part`` is False, a weak reference to the tensor
            that the elements were copied from.
        parent: the ``View`` of the tensor that it was made of, if that is a view.
        operator: the operator that made it.
        attrs: the attributes of the operator.
        shape: its shape; if it or the root's changes, nothing is shared any more.
        of_root: the root's shape.
        is_part: whether writing to the root changes it too; not for ``x[[0, 1]]``, which has its own elements.
    """

    __slots__ = ("attrs", "is_part", "of_root", "operator", "parent", "root_or_reference", "shape")

    def __init__(
        self,
        root_or_reference: Any,
        parent: View | None,
        operator: Operator,
        attrs: dict[str, Any],
        shape: tuple[int, ...],
        of_root: tuple[int, ...],
        is_part: bool,
    ) -> None:
        self.root_or_reference = root_or_reference
        self.parent = parent
        self.operator = operator
        self.attrs = attrs
        self.shape = shape
        self.of_root = of_root
        self.is_part = is_part

    @property
    def root(self) -> Tensor | None:
        """The tensor whose elements it shares; None if that is freed."""
        tensor: Tensor | None = self.root_or_reference if self.is_part else self.root_or_reference()
        return tensor

    @property
    def chain(self) -> Steps:
        """The steps from the root."""
        steps = []
        view: View | None = self
        while view is not None:
            steps.append((view.operator, view.attrs))
            view = view.parent
        return tuple(reversed(steps))

    @property
    def steps(self) -> Steps:
        """The chain without aliases, which are other names of the same value; may be empty."""
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
    """``reshape``, which shares elements if the strides of its input allow it, as in MindSpore, NumPy and PyTorch."""

    def _shares(self, source: Tensor, result: Tensor, attrs: dict[str, Any]) -> bool:
        view = source._view
        is_part = view is not None and view.is_part
        if not is_part and source._layout is None:
            return True
        bare = _unchanged if state.tracer is None else state.tracer.plain
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

    The strides follow from the program alone: a computed tensor is row-major, a view has the strides that its steps
    give from its root. The strides of the arrays in memory depend on kernels and differ between devices.

    Args:
        tensor: any tensor.
        bare: replaces open lengths in shapes and attributes, whose values would create a guard, by those of this run.
    """
    view = tensor._view
    if view is None or not view.is_part:
        return _layout_of_root(tensor, bare)
    layout = _layout_of_root(view.root_or_reference, bare)
    for operator, attrs in bare(view.steps):
        if operator.name != "getitem":
            layout = operator.kernel(layout, **attrs)
        elif (diagonal := _diagonal(attrs["index"])) is not None:
            layout = layout.diagonal(diagonal, -2, -1)
        else:
            index = None if attrs["index"] is True else attrs["index"]
            parts = index if isinstance(index, tuple) else (index,)
            # Without an ellipsis NumPy returns a number, not a view, if each axis has an int.
            layout = layout[parts if any(part is Ellipsis for part in parts) else (*parts, ...)]
    return layout


def _layout_of_root(tensor: Tensor, bare: Callable[[Any], Any]) -> Layout:
    layout: Layout | None = tensor._layout
    shape = bare(tensor._array.shape)
    return np.empty(shape, np.int8) if layout is None or layout.shape != shape else layout


stop_gradient_operator = ViewOperator("stop_gradient", lambda x: x.view())
alias_operator = ViewOperator("alias", lambda x: x.view(), (lambda F, g, out, x: g,), keeps_dtype=True)


def _diagonal(index: Any) -> int | None:
    """Return the offset of the diagonal that an index of ``ops.diagonal`` selects, or None for one of slices."""
    if not isinstance(index, tuple) or not any(is_array(part) for part in index):
        return None
    rows_and_columns: list[Any] = [
        getattr(part, "plain_array", part) for part in index[1:]
    ]  # a traced array wraps another one
    rows, columns = rows_and_columns
    return int(columns[0] - rows[0]) if rows.size else 0


def link(source: Tensor, result: Tensor, operator: Operator, attrs: dict[str, Any], is_part: bool = True) -> Tensor:
    """Make ``result``, which ``operator`` made of ``source``, a view that shares its elements, and return it.

    Args:
        source: a tensor, which may be a view itself.
        result: the new tensor.
        operator: an operator of one array.
        attrs: its attributes.
        is_part: whether writing to ``source`` changes ``result``, too.
    """
    root, previous = source, source._view
    if previous is not None:
        if previous.is_part:
            root = previous.root_or_reference
        else:
            previous = None
    root_or_reference = root if is_part else weakref.ref(root)
    result._view = View(root_or_reference, previous, operator, attrs, result._array.shape, root._array.shape, is_part)
    if not is_part:
        return result
    views = root._views
    if views is None:
        root._views = [weakref.ref(result)]
        return result
    views.append(weakref.ref(result))
    if len(views) > 8 and len(views) & (len(views) - 1) == 0:  # at powers of two
        views[:] = [view for view in views if view() is not None]
    return result


def alias_of(source: Tensor) -> Tensor:
    """Return another tensor of the same elements; gradients do not pass, and taps are not notified.

    Args:
        source: the tensor.

    Returns:
        a Tensor, also for a Parameter.
    """
    result = Tensor._wrap(source._array.view())
    link(source, result, stop_gradient_operator, {})
    return result


def aliases_of(tensors: Sequence[Tensor], arrays: Sequence[Array]) -> list[Tensor]:
    """Return new tensors that share their elements with ``tensors``, and that gradients pass.

    Args:
        tensors: the tensors.
        arrays: their values, under the names of the new tensors on the tape.
    """
    pairs = zip(tensors, arrays, strict=True)
    return [link(source, Tensor._wrap(array), alias_operator, {}) for source, array in pairs]


def detached_copies(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return new tensors of the same values and layouts, which share elements among themselves as ``tensors`` do.

    Args:
        tensors: the tensors; a repeated one has one copy.
    """
    copies = {id(tensor): Tensor._wrap(tensor._array) for tensor in tensors}
    groups: dict[int, list[Tensor]] = {}
    for tensor in {id(tensor): tensor for tensor in tensors}.values():
        groups.setdefault(id(_root_of(tensor)), []).append(tensor)
    for group in groups.values():
        root = _root_of(group[0])
        if len(group) > 1 and id(root) not in copies:
            copies[id(root)] = Tensor._wrap(root._array)
            copies[id(root)]._layout = root._layout
        for tensor in group:
            copy = copies[id(tensor)]
            if tensor is not root and len(group) > 1:
                _link_like(copy, copies[id(root)], tensor._view)
            elif not tensor.is_contiguous():
                copy._layout = layout_of(tensor)
    return [copies[id(tensor)] for tensor in tensors]


def outputs_of_node(
    returned: Sequence[Tensor], arrays: Sequence[Array], arguments: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return new tensors for the results of a call that is one node on the tape; they share elements as its results do.

    A root that was made during the call is not on the tape, so gradients could not pass it. A single view of it becomes
    a root itself; several views get a new root, to be recorded by ``record_roots``.

    Args:
        returned: the tensors that the call returned, computed without a recording.
        arrays: the same values, under their names at the node on the tape.
        arguments: the arguments of the call.

    Returns:
        the tensors, and the new roots.
    """
    outputs = [Tensor._wrap(array) for array in arrays]
    outer_roots = {id(_root_of(tensor)) for tensor in arguments}
    groups: dict[int, list[int]] = {}
    for index, tensor in enumerate(returned):
        root = _root_of(tensor)
        if id(root) in outer_roots or _is_tracked(root):
            link(tensor, outputs[index], alias_operator, {})
        else:
            groups.setdefault(id(root), []).append(index)
    roots = []
    for indices in groups.values():
        root = _root_of(returned[indices[0]])
        new_root = next((outputs[index] for index in indices if returned[index] is root), None)
        if new_root is None and len(indices) > 1:
            new_root = Tensor._wrap(root._array)
            new_root._layout = root._layout
            roots.append(new_root)
        for index in indices:
            if new_root is None:
                outputs[index]._layout = layout_of(returned[index])
            elif returned[index] is not root:
                _link_like(outputs[index], new_root, returned[index]._view)
            elif outputs[index] is not new_root:
                link(new_root, outputs[index], alias_operator, {})
    return outputs, roots


def record_roots(roots: Sequence[Tensor]) -> None:
    """Record that the values of roots consist of those of their views.

    Args:
        roots: the new roots of ``outputs_of_node``, whose views are recorded.
    """
    for root in roots:
        for reference in root._views or ():
            view = reference()
            if view is not None and view._view is not None:
                steps = view._view.steps or view._view.chain
                root._array = _applied(write_through, (root._array, view._array), {"steps": steps}, False)


class WrittenTensors:
    """Tensors that a call, one node on the tape, writes to: its arguments and tensors that share elements with them.

    Args:
        arguments: the arguments, before the call.
    """

    def __init__(self, arguments: Sequence[Tensor]) -> None:
        self._arguments = list({id(tensor): tensor for tensor in arguments}.values())
        self._before: dict[int, tuple[Tensor, Array]] = {}
        for root in {id(tensor): tensor for tensor in map(_root_of, arguments)}.values():
            for tensor in (root, *[reference() for reference in root._views or ()]):
                if tensor is not None:
                    self._before[id(tensor)] = tensor, tensor._array

    def undo(self) -> list[tuple[Tensor, Array]]:
        """Restore all previous arrays, and return the arguments that were written, with their new arrays."""
        written = [
            (tensor, tensor._array) for tensor in self._arguments if _is_written(tensor, self._before[id(tensor)][1])
        ]
        for tensor, array in self._before.values() if written else ():
            if _is_written(tensor, array):
                tensor._array = array
        return written

    def record_renames(self) -> None:
        """Record the new values of tensors as other names of the old ones, so that gradients pass."""
        for tensor, array in self._before.values():
            if _is_written(tensor, array):
                rename(tensor, array)


def _is_written(tensor: Tensor, before: Array) -> bool:
    """Return whether a tensor has different values and the same shape; a different shape is a different tensor."""
    return tensor._array is not before and tensor._array.shape == before.shape


def rename(tensor: Tensor, before: Array) -> None:
    """Record the array of a tensor as another name of its previous array.

    Args:
        tensor: the tensor, with its new values.
        before: the previous array.
    """
    if any(id(before) in recording.tracked for recording in state.recordings):
        tensor._array = tensor._array.view()
        record(alias_operator, (before,), tensor._array, {})


def _root_of(tensor: Tensor) -> Tensor:
    view = tensor._view
    root: Tensor = tensor if view is None or not view.is_part else view.root_or_reference
    return root


def _is_tracked(tensor: Tensor) -> bool:
    """Return whether a recording follows the tensor, or it is a Parameter, which no call creates."""
    return type(tensor) is not Tensor or any(id(tensor._array) in recording.tracked for recording in state.recordings)


def root_links(tensors: Sequence[Tensor], roots: Sequence[Tensor]) -> list[tuple[Tensor, View | None] | None]:
    """Return for each tensor the root that it is (with None) or is a view of; None for the others.

    Args:
        tensors: the tensors.
        roots: tensors that are not views.
    """
    root_ids = {id(root) for root in roots}
    roots_and_views = [(_root_of(tensor), tensor._view) for tensor in tensors]
    return [
        (root, None if root is tensor else view) if id(root) in root_ids else None
        for tensor, (root, view) in zip(tensors, roots_and_views, strict=True)
    ]


def link_to_roots(tensors: Sequence[Tensor], links: Sequence[tuple[Tensor, View | None] | None]) -> list[Tensor]:
    """Return the tensors; each one with an entry of ``root_links`` becomes the root itself or the view of it.

    Args:
        tensors: new tensors.
        links: the root and the view of each, or None.
    """
    results = []
    for tensor, position in zip(tensors, links, strict=True):
        if position is not None and position[1] is not None:
            _link_like(tensor, position[0], position[1])
        results.append(position[0] if position is not None and position[1] is None else tensor)
    return results


def _link_like(tensor: Tensor, root: Tensor, view: Any) -> None:
    """Make ``tensor`` the same view of ``root`` that ``view`` is of another root."""
    tensor._view = View(root, view.parent, view.operator, view.attrs, view.shape, view.of_root, True)
    root._views = [*(root._views or ()), weakref.ref(tensor)]


def apply_steps(tensor: Tensor, steps: Steps) -> Tensor:
    """Return a part of a tensor, made by operators.

    Args:
        tensor: the tensor.
        steps: the steps from the tensor to the part.
    """
    for operator, attrs in steps:
        source, tensor = tensor, operator(tensor, **attrs)
        if tensor._view is None and operator.name == "getitem":  # copied by NumPy: one element, a diagonal
            link(source, tensor, operator, attrs)
    return tensor


def propagate_values(tensor: Tensor, notifies_taps: bool = False, written: Tensor | None = None) -> None:
    """Propagate the new values of a rebound tensor to the tensors that share its elements.

    Args:
        tensor: a view, or a tensor that has views.
        notifies_taps: whether taps are notified.
        written: the view that the values came from, which has them already.
    """
    notifies_taps = notifies_taps and bool(taps.operator_taps)
    written_view = None if written is None else written._view
    for reference in tensor._views or ():
        other = reference()
        if other is None or other is written or other._view is None:
            continue
        if other._view.of_root != tensor._array.shape:
            other._view = None
        elif written_view is not None and _are_aliases(other._view, written_view):
            other._array = written._array  # type: ignore[union-attr]
        elif other._array.base is not tensor._array:
            array = tensor._array
            for operator, attrs in other._view.steps:
                array = _applied(operator, (array,), attrs, notifies_taps)
            other._array = array
    view = tensor._view
    if view is None:
        return
    root, steps = view.root, view.steps
    shares = root is not None and (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
    if root is None or not shares or not _is_writable(steps):
        tensor._view = None
        return
    if not steps and tensor._array.dtype == root._array.dtype:
        root._array = tensor._array  # the same value: a copy would be another value on the tape
    elif not state.recordings and not notifies_taps and _is_only_viewed(root):
        _write(root._array, tensor._array, steps)
    else:
        attrs = {"steps": steps or view.chain}
        root._array = _applied(write_through, (root._array, tensor._array), attrs, notifies_taps)
    propagate_values(root, notifies_taps, tensor)


def _are_aliases(first: View, other: View) -> bool:
    """Return whether two views of one root are aliases of each other."""
    if not (first.is_part and other.is_part) or alias_operator not in (first.operator, other.operator):
        return False
    steps = [[(operator, id(attrs)) for operator, attrs in view.steps] for view in (first, other)]
    return steps[0] == steps[1]


def _is_only_viewed(root: Tensor) -> bool:
    """Return whether only the tensor and its views can observe a change of its values."""
    array = root._array
    if not owns_memory(array):
        return False
    views = 0
    for reference in root._views or ():
        view = reference()
        if view is not None and view._array.base is array:
            views += 1
            part = view._array
            if sys.getrefcount(part) > OWN_REFERENCES:
                return False
            del part
    return sys.getrefcount(array) <= OWN_REFERENCES + views


def owns_memory(array: Any) -> bool:
    """Return whether an array owns its memory, and no weak reference identifies its values."""
    if not isinstance(array, np.ndarray) or array.base is not None or not array.flags.writeable:
        return False
    return weakref.getweakrefcount(array) == 0


def _owns_memory_on_gpu(array: Any) -> bool:
    """Return the same for an array on a GPU: other arrays of its memory hold it, as their ``base``."""
    return not isinstance(array, np.ndarray) and array.base is None and weakref.getweakrefcount(array) == 0


def is_sole_holder(tensor: Tensor) -> bool:
    """Return whether only the tensor holds its array, so that it may be written to; the caller must not hold it."""
    array = tensor._array
    if tensor._view is not None or tensor._views is not None or not (owns_memory(array) or _owns_memory_on_gpu(array)):
        return False
    return sys.getrefcount(array) <= OWN_REFERENCES


class _Owner:
    def __init__(self, array: Array) -> None:
        self.array = array


def _is_unshared(bound: int, arrays: list[Array]) -> bool:
    owner = _Owner(arrays.pop())
    array = owner.array
    return sys.getrefcount(array) <= bound


OWN_REFERENCES = calibrated(_is_unshared, 2 if BORROWS else 3)
"""References to an array that is held by a tensor and one local variable."""


def _is_writable(steps: Steps) -> bool:
    """Return whether each element of the view is exactly one element of the root."""
    return all(operator.name != "broadcast_to" for operator, _ in steps)


def _applied(operator: Operator, inputs: tuple[Array, ...], attrs: dict[str, Any], notifies_taps: bool) -> Array:
    """Return an operator's result, and record it."""
    tracer = state.tracer
    output: Array = operator.on_arrays(*inputs, **attrs) if tracer is None else tracer.apply(operator, inputs, attrs)
    if state.recordings and operator.vjps:
        record(operator, inputs, output, attrs)
    if notifies_taps:
        taps.notify_operator(operator.name, tuple(map(Tensor._wrap, inputs)), Tensor._wrap(output), attrs)
    return output


def _write_through_kernel(root: Array, new: Array, steps: Steps) -> Array:
    copy = root.copy(order="K")  # the same strides as a write in place keeps
    _write(copy, new, steps)
    return copy


def _write(array: Array, new: Array, steps: Steps) -> None:
    """Write ``new`` at the position that the steps lead to, into an array that the caller owns."""
    (operator, attrs), *further_steps = steps
    if not further_steps and operator.name == "getitem":
        array[attrs["index"]] = new
        return
    part = array[attrs["index"]] if operator.name == "getitem" else operator.kernel(array, **attrs)
    if isinstance(part, np.generic):
        part = np.asarray(part)
    if further_steps:
        _write(part, new, tuple(further_steps))
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
    "write_through", _write_through_kernel, (_root_gradient, _new_gradient), keeps_dtype=True
).declare("An array with other elements where the steps of a view lead to.")
