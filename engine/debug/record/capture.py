"""Captures: values recorded while a network ran.

Arrays in tensors are never changed in place, so a capture is a reference to the array, in a tensor of its own.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.nested import Sparse

from ..watch.pattern import ROOT_NAME
from .statistics import Statistics, figures, statistics

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from .evicted import EvictedCapture

__all__ = ["Capture", "capture_key", "cell_name", "forget_figures", "pick_slot"]


def cell_name(path: str) -> str:
    """Return a path for display: the root's own path is empty."""
    return path or ROOT_NAME


def capture_key(of: Capture | EvictedCapture) -> str:
    """Return a capture's description: ``conv1#0 forward output``."""
    context = f" ({of.context})" if of.context else ""
    return f"{cell_name(of.path)}#{of.call} {of.direction} {of.slot}{context}"


@dataclass(eq=False, slots=True)
class Capture:
    """One captured value.

    Attributes:
        index: running number in its session.
        step: the number of the step.
        path: the cell's dotted path ("" for the root).
        cell_type: the cell's class name.
        call: the number of this call among the cell's calls in the step, from 0.
        direction: "forward" or "backward".
        slot: "input[0]", "output", "output[1]", "grad_output[0]", "grad_input[0]", ...
        value: a tensor around the array that passed.
        origin: "tap", "hook" if a hook of the session received it, "edit" if the user assigned it at a pause,
            "local" if it is the value of a local variable.
        context: origin of a call that the user's code did not make directly: "recomputed", "sample 1" of a ``vmap``,
            "in the bprop of ..."; for gradients also "order 2" (of the gradient of a gradient), or "walk 2" for a
            repeated backward pass.
    """

    index: int
    step: int
    path: str
    cell_type: str
    call: int
    direction: str
    slot: str
    value: Tensor
    origin: str = "tap"
    context: str = ""
    _hits: list[str] | None = field(default=None, repr=False)  # created only for captures with hits
    _statistics: Statistics | None = field(default=None, repr=False)
    _order: int = field(default=0, repr=False)  # among the captures of all sessions

    @property
    def hits(self) -> list[str]:
        """The names of the enabled conditions that held."""
        if self._hits is None:
            self._hits = []
        return self._hits

    @property
    def array(self) -> Any:
        """The NumPy or CuPy array; it is immutable."""
        return self.value._array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> str:
        """The element type, by NumPy's name."""
        return str(self.array.dtype.name)

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
        return int(self.array.nbytes)

    @property
    def key(self) -> str:
        """The capture's description: ``conv1#0 forward output``."""
        return capture_key(self)

    def statistics(self) -> Statistics:
        """Return the statistics of the value, computed on first use."""
        if self._statistics is None or not self._statistics.histogram.size:
            self._statistics = _figures(self.array, counted=True)
        return self._statistics

    def figures(self) -> Statistics:
        """Return the statistics of the value, possibly without the histogram."""
        if self._statistics is None:
            self._statistics = _figures(self.array, counted=False)
        return self._statistics


# Statistics by array id, for as long as the array lives.
_known: dict[int, tuple[weakref.ref[Any], Statistics]] = {}


def _figures(array: Any, counted: bool) -> Statistics:
    """Return the statistics of an array, computed once: the output of one cell is the input of the next."""
    key = id(array)
    cached = _known.get(key)
    if cached is not None and not (counted and not cached[1].histogram.size):
        return cached[1]
    result = statistics(array) if counted else figures(array)
    with contextlib.suppress(TypeError):  # an array class without weak references: computed again next time
        _known[key] = (weakref.ref(array, lambda _: _known.pop(key, None)), result)
    return result


def forget_figures(array: Any) -> None:
    """Drop the cached statistics of an array that is not kept any more: its remaining owner may write into it."""
    _known.pop(id(array), None)


def pick_slot(name: str, value: object, tensor: type) -> list[tuple[str, Any]]:
    """Return the tensors in a value by slot: ``output``, or ``output[1][0]`` inside tuples, lists and dictionaries.

    A sparse tensor contributes its values: ``output.values``. A container inside itself is skipped.
    """
    try:
        return list(_in_tree(name, value, tensor))
    except RecursionError:
        return list(_in_circles(name, value, tensor, ()))


def _in_tree(name: str, value: object, tensor: type) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tensor):
        yield name, value
    elif isinstance(value, tuple | list):
        for position, item in enumerate(value):
            yield from _in_tree(f"{name}[{position}]", item, tensor)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _in_tree(f"{name}[{key}]", item, tensor)
    elif isinstance(value, Sparse):
        yield f"{name}.values", value.values


def _in_circles(name: str, value: object, tensor: type, around: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors of a nested value; ``around`` has the ids of the enclosing containers."""
    if not isinstance(value, tuple | list | dict):
        yield from _in_tree(name, value, tensor)
    elif id(value) not in around:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _in_circles(f"{name}[{key}]", item, tensor, (*around, id(value)))
