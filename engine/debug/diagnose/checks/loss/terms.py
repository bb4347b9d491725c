"""Terms of a loss: the values that are added and subtracted to make it, read from the tape before the backward pass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hookscope.engine.tensors.backend import to_host

__all__ = ["Leaf", "Node", "Producers", "Term", "number_of", "same_values", "terms_of", "value_of"]

Node = tuple[str, tuple[Any, ...], dict[str, Any]]
"""The name of an operator, its inputs and its attributes."""

# A sum of larger arrays is no sum of terms, but a part of a network, and costs time to add up.
_MAX_ELEMENTS = 4096
_MAX_TERMS = 16
# The longest chain of operators that is followed.
_MAX_LENGTH = 50

_SAME_ELEMENTS = ("reshape", "squeeze", "expand_dims", "flatten", "cast", "identity", "transpose", "contiguous")


class Producers:
    """The operators of a recording, by the arrays that they made.

    Args:
        nodes: pairs of an output, an array or a tuple of them, and the operator with its inputs.
        tracked: ids of the arrays that depend on the weights.
    """

    def __init__(self, nodes: Iterable[tuple[Any, Node]], tracked: set[int]) -> None:
        self._tracked = tracked
        self._nodes: dict[int, Node] = {}
        for output, node in nodes:
            for array in output if type(output) is tuple else (output,):
                self._nodes[id(array)] = node

    def of(self, array: Any) -> Node | None:
        """Return the operator that made an array; None for weights, and for values that do not depend on them."""
        return self._nodes.get(id(array))

    def is_tracked(self, value: Any) -> bool:
        """Return whether a value depends on the weights."""
        return hasattr(value, "dtype") and id(value) in self._tracked

    def number(self, value: Any) -> float | None:
        """Return a value that is one number and does not depend on the weights; None for any other."""
        return None if self.is_tracked(value) else number_of(value)


class Leaf(NamedTuple):
    """The first operator below a term that does more than to scale and to add up.

    Attributes:
        array: its output.
        node: the operator; None for weights and for values that do not depend on them.
        written: the product of Python's numbers, with their signs, between it and the loss.
        factor: what multiplies the mean of its elements in the mean of the loss.
    """

    array: Any
    node: Node | None
    written: float
    factor: float

    @property
    def name(self) -> str:
        """The name of the operator; "" if there is none."""
        return "" if self.node is None else self.node[0]


class Term(NamedTuple):
    """One term of a loss.

    Attributes:
        array: the operand of a sum, an array or a number.
        weight: the term is ``weight`` times the sum of the elements.
        is_tracked: whether it depends on the weights.
        sum_array: the output of the addition or subtraction that it is an operand of; None for the loss itself.
        leaf: the first operator below it that does more than to scale and to add up.
    """

    array: Any
    weight: float
    is_tracked: bool
    sum_array: Any
    leaf: Leaf


def terms_of(loss: Any, producers: Producers) -> list[Term]:
    """Return the terms of a loss: the operands of its outermost additions and subtractions.

    Numbers that factors have in common, means and sums over elements may stand between the loss and the first
    addition, as in ``-(a - b).mean()``.
    """
    terms: list[Term] = []
    pending = [(_Link(loss, 1.0, 1.0), None)]
    while pending:
        link, sum_array = pending.pop()
        if len(terms) + len(pending) < _MAX_TERMS and producers.is_tracked(link.array):
            # Above the first addition a chain may scale and add up; between two additions nothing stands.
            inner = _end_of_chain(link, producers) if sum_array is None else link
            node = producers.of(inner.array)
            if node is not None and node[0] in ("add", "sub") and inner.array.size <= _MAX_ELEMENTS:
                for index in (1, 0):
                    operand, sign = node[1][index], -1.0 if node[0] == "sub" and index else 1.0
                    repeats = inner.array.size / max(getattr(operand, "size", 1), 1)
                    operand_link = _Link(operand, sign * inner.weight * repeats, sign * inner.written)
                    pending.append((operand_link, inner.array))
                continue
        is_tracked = producers.is_tracked(link.array)
        end = _end_of_chain(link, producers) if is_tracked else link
        factor = end.weight * getattr(end.array, "size", 1) / max(loss.size, 1)
        leaf = Leaf(end.array, producers.of(end.array) if is_tracked else None, end.written, factor)
        terms.append(Term(link.array, link.weight, is_tracked, sum_array, leaf))
    return terms


class _Link(NamedTuple):
    """An array in a chain of operators that scale and add up elements.

    Attributes:
        array: the array.
        weight: the weight of the sum of its elements in the loss.
        written: the product of Python's numbers on the way.
    """

    array: Any
    weight: float
    written: float


def _end_of_chain(link: _Link, producers: Producers) -> _Link:
    """Return the last link downwards: by what its array was made does more than to scale and to add up."""
    for _ in range(_MAX_LENGTH):
        below = _below(link, producers)
        if below is None or not producers.is_tracked(below.array):
            break
        link = below
    return link


def _below(link: _Link, producers: Producers) -> _Link | None:
    array, weight, written = link
    node = producers.of(array)
    if node is None:
        return None
    name, inputs, _ = node
    source = inputs[0]
    if name == "neg":
        return _Link(source, -weight, -written)
    if name in ("mul", "div"):
        for index in (1, 0) if name == "mul" else (1,):
            number, other = producers.number(inputs[index]), inputs[1 - index]
            if number is not None and (name == "mul" or number) and getattr(other, "size", 0) == array.size:
                scale = number if name == "mul" else 1 / number
                is_written = isinstance(inputs[index], int | float)
                return _Link(other, weight * scale, written * scale if is_written else written)
        return None
    if name == "mean" and source.size:
        return _Link(source, weight * array.size / source.size, written)
    # Of operators with several results, or that repeat or pick elements, nothing is followed.
    if name == "sum" or (name in _SAME_ELEMENTS and source.size == array.size):
        return _Link(source, weight, written)
    return None


def value_of(term: Term) -> float:
    """Return the value of a term; NaN if it is too large or complex."""
    number = number_of(term.array)
    if number is not None:
        return term.weight * number
    if not 0 < getattr(term.array, "size", 0) <= _MAX_ELEMENTS or term.array.dtype.kind not in "fiubV":
        return math.nan
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        return term.weight * float(to_host(term.array).astype(np.float64).sum())


def same_values(array: Any, producers: Producers) -> Any:
    """Return the array whose elements an array has in another shape or dtype."""
    for _ in range(_MAX_LENGTH):
        node = producers.of(array)
        if node is None or node[0] not in _SAME_ELEMENTS or node[1][0].size != array.size:
            break
        array = node[1][0]
    return array


def number_of(value: Any) -> float | None:
    """Return a Python number, or the element of an array of one real element; None for any other value."""
    if isinstance(value, int | float):
        return float(value)
    if getattr(value, "size", 0) == 1 and getattr(value, "dtype", np.dtype(object)).kind in "fiubV":
        return float(value.item())
    return None
