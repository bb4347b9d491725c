"""Terms of a loss: the values that are added and subtracted to make it, read from the tape before the backward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        factor: the product of the numbers, with their signs, between it and the loss.
    """

    array: Any
    node: Node | None
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
    pending: list[tuple[Any, float, float, Any]] = [(loss, 1.0, 1.0, None)]
    while pending:
        array, weight, factor, sum_array = pending.pop()
        if len(terms) + len(pending) < _MAX_TERMS and producers.is_tracked(array):
            # Above the first addition a chain may scale and add up; between two additions nothing stands.
            inner, inner_weight, inner_factor = array, weight, factor
            if sum_array is None:
                for inner, step_weight, step_factor in _chain(array, producers):
                    inner_weight, inner_factor = weight * step_weight, factor * step_factor
            node = producers.of(inner)
            if node is not None and node[0] in ("add", "sub") and inner.size <= _MAX_ELEMENTS:
                for index, operand in reversed(list(enumerate(node[1][:2]))):
                    sign = -1.0 if node[0] == "sub" and index else 1.0
                    repeats = inner.size / max(getattr(operand, "size", 1), 1)
                    pending.append((operand, sign * inner_weight * repeats, sign * inner_factor, inner))
                continue
        is_tracked = producers.is_tracked(array)
        last = (array, 1.0, 1.0)
        for last in _chain(array, producers) if is_tracked else ():
            pass
        leaf = Leaf(last[0], producers.of(last[0]) if is_tracked else None, factor * last[2])
        terms.append(Term(array, weight, is_tracked, sum_array, leaf))
    return terms


def _chain(array: Any, producers: Producers) -> Iterator[tuple[Any, float, float]]:
    """Yield the arrays from which this one is made by scaling and adding up its elements alone, itself first.

    Each comes with the weight that the sum of its elements has in the sum of this one's, and the factor in it.
    """
    weight, factor = 1.0, 1.0
    for _ in range(_MAX_LENGTH):
        yield array, weight, factor
        node = producers.of(array)
        if node is None or type(array) is tuple:
            return
        name, inputs, _ = node
        if name == "neg":
            source, scale = inputs[0], -1.0
        elif name in ("mul", "div"):
            first, second = (producers.number(value) for value in inputs[:2])
            if second is not None and (name == "mul" or second):
                source, scale = inputs[0], second if name == "mul" else 1 / second
            elif first is not None and name == "mul":
                source, scale = inputs[1], first
            else:
                return
            if not producers.is_tracked(source) or source.size != array.size:
                return
        elif name == "mean" and inputs[0].size:
            source, scale = inputs[0], 1.0
            weight *= array.size / source.size
        elif name == "sum" or (name in _SAME_ELEMENTS and inputs[0].size == array.size):
            source, scale = inputs[0], 1.0
        else:
            return
        if not producers.is_tracked(source):
            return
        array, weight, factor = source, weight * scale, factor * scale


def value_of(term: Term) -> float:
    """Return the value of a term."""
    number = number_of(term.array)
    if number is not None:
        return term.weight * number
    if term.array.size > _MAX_ELEMENTS:
        return float("nan")
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
