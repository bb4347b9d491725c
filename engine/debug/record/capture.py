"""Captures: values seen while a network ran.

Arrays in tensors are never changed in place, so a capture is a reference to the array, in a tensor of its own.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.nested import Sparse

from .statistics import Statistics, figures, statistics

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from .evicted import GivenUp

__all__ = ["Capture", "capture_key", "cell_name", "forget_figures", "pick_slot"]


def cell_name(path: str) -> str:
    """A path as people read it: the root's own path is empty."""
    return path or "(root)"


def capture_key(of: Capture | GivenUp) -> str:
    """What a capture is, in words: ``conv1#0 forward output``."""
    context = f" ({of.context})" if of.context else ""
    return f"{cell_name(of.path)}#{of.call} {of.direction} {of.slot}{context}"


@dataclass(eq=False, slots=True)
class Capture:
    """One value that passed.

    Attributes:
        index: running number in its session.
        step: the number of root calls by then.
        path: the cell's dotted path ("" for the root).
        cell_type: the cell's class name.
        call: the number of this call among the cell's calls in the step, from 0.
        direction: "forward" or "backward".
        slot: "input[0]", "output", "output[1]", "grad_output[0]", "grad_input[0]", ...
        value: a tensor around the array that passed.
        origin: "tap", "hook" if a hook of the session saw it, "edit" if the user put it there at a pause,
            "local" if it is what a local variable held there.
        context: how the call came about where the user's code did not just make it: "recomputed", "sample 1" of a
            ``vmap``, "in the bprop of ..."; for gradients also "order 2" (of the gradient of a gradient), or "walk 2"
            of gradients that went back once more.
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
    _hits: list[str] | None = field(default=None, repr=False)  # made for the few that have any
    _statistics: Statistics | None = field(default=None, repr=False)
    _order: int = field(default=0, repr=False)  # among the captures of all sessions

    @property
    def hits(self) -> list[str]:
        """The names of the conditions that held, of those that were switched on."""
        if self._hits is None:
            self._hits = []
        return self._hits

    @property
    def array(self) -> Any:
        """The NumPy or CuPy array; it never changes."""
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
        """The size of the elements."""
        return int(self.array.nbytes)

    @property
    def key(self) -> str:
        """What it is, in words: ``conv1#0 forward output``."""
        return capture_key(self)

    def statistics(self) -> Statistics:
        """The figures of the value, computed when first asked for."""
        if self._statistics is None or not self._statistics.histogram.size:
            self._statistics = _figures(self.array, counted=True)
        return self._statistics

    def figures(self) -> Statistics:
        """The same, perhaps without the histogram."""
        if self._statistics is None:
            self._statistics = _figures(self.array, counted=False)
        return self._statistics


# By the id of an array, for as long as it lives.
_known: dict[int, tuple[weakref.ref[Any], Statistics]] = {}


def _figures(array: Any, counted: bool) -> Statistics:
    """The figures of an array, computed once: the output of one cell is the input of the next, and never changes."""
    key = id(array)
    known = _known.get(key)
    if known is not None and not (counted and not known[1].histogram.size):
        return known[1]
    found = statistics(array) if counted else figures(array)
    with contextlib.suppress(TypeError):  # an array class without weak references: computed again next time
        _known[key] = (weakref.ref(array, lambda _: _known.pop(key, None)), found)
    return found


def forget_figures(array: Any) -> None:
    """An array is kept no more: whoever holds it alone by now may write into it."""
    _known.pop(id(array), None)


def pick_slot(name: str, value: object, tensor: type) -> list[tuple[str, Any]]:
    """The tensors in a value by slot: ``output``, or ``output[1][0]`` inside tuples, lists and dictionaries.

    Of a sparse tensor it is the values: ``output.values``. What is inside itself is passed over there.
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
    """The same of a value inside of others, which are known by their ids."""
    if not isinstance(value, tuple | list | dict):
        yield from _in_tree(name, value, tensor)
    elif id(value) not in around:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _in_circles(f"{name}[{key}]", item, tensor, (*around, id(value)))
