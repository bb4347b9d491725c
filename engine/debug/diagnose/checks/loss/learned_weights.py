"""Search for weights of losses that are learned without a term that holds them, as in ``(exp(-s) * losses).sum()``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hookscope.engine.tensors.backend import to_host

from .terms import Producers, Term

__all__ = ["LearnedWeight", "learned_weights"]

# The most elements of a factor, and the most operators that make it.
_MOST_ELEMENTS, _MOST_OPERATORS = 64, 12
# The most arrays of the tape that are searched for other uses.
_MOST_ARRAYS = 20_000


class LearnedWeight(NamedTuple):
    """A factor of a term that is made of parameters alone, which reach the loss only by such factors.

    Attributes:
        names: the names of the parameters.
        factor: the mean of its elements.
        is_positive: whether all elements of the factor and of what it multiplies are positive or zero.
    """

    names: frozenset[str]
    factor: float
    is_positive: bool


class _Product(NamedTuple):
    factor: Any
    other: Any
    parameters: set[int]
    divides: bool


def learned_weights(terms: Sequence[Term], names: Mapping[int, str], producers: Producers) -> dict[int, LearnedWeight]:
    """Return the learned weight of each term that has one, by the index of the term.

    Args:
        terms: the terms of a loss.
        names: the names of the requested parameters, by the ids of their arrays.
        producers: the operators of the recording.
    """
    products = {
        index: product
        for index, term in enumerate(terms)
        if term.leaf.factor > 0 and (product := _product_of(term, names, producers)) is not None
    }
    while products:
        rest = [term.leaf.array for index, term in enumerate(terms) if index not in products]
        used = _ancestors([*rest, *(product.other for product in products.values())], producers)
        if used is None:
            return {}
        held = [index for index, product in products.items() if product.parameters & used]
        if not held:
            break
        for index in held:
            del products[index]
    return {index: _weight_of(product, names) for index, product in products.items()}


def _product_of(term: Term, names: Mapping[int, str], producers: Producers) -> _Product | None:
    node = term.leaf.node
    if node is None or node[0] not in ("mul", "div") or len(node[1]) != 2:
        return None
    first, second = node[1]
    for factor, other in ((first, second), (second, first)) if node[0] == "mul" else ((second, first),):
        parameters = _parameters_of(factor, names, producers)
        if parameters and producers.is_tracked(other):
            return _Product(factor, other, parameters, node[0] == "div")
    return None


def _weight_of(product: _Product, names: Mapping[int, str]) -> LearnedWeight:
    numbers, others = _numbers(product.factor), _numbers(product.other)
    with np.errstate(all="ignore"):
        factor = float((1 / numbers if product.divides else numbers).mean())
    is_positive = bool((numbers >= 0).all() and (others >= 0).all())
    return LearnedWeight(frozenset(names[key] for key in product.parameters), factor, is_positive)


def _parameters_of(factor: Any, names: Mapping[int, str], producers: Producers) -> set[int]:
    """Return the ids of the parameters that a factor is made of; empty if anything but numbers comes in beside them."""
    parameters: set[int] = set()
    pending, count = [factor], 0
    while pending:
        array = pending.pop()
        count += 1
        if not 0 < getattr(array, "size", 0) <= _MOST_ELEMENTS or count > _MOST_OPERATORS:
            return set()
        if id(array) in names:
            parameters.add(id(array))
            continue
        node = producers.of(array)
        if node is None:
            return set()
        for value in node[1]:
            if producers.is_tracked(value):
                pending.append(value)
            elif getattr(value, "size", 1) != 1:
                return set()
    return parameters


def _ancestors(arrays: Sequence[Any], producers: Producers) -> set[int] | None:
    """Return the ids of arrays and of all that they were made of; None if these are too many."""
    visited: set[int] = set()
    pending = list(arrays)
    while pending:
        if len(visited) >= _MOST_ARRAYS:
            return None
        array = pending.pop()
        if id(array) in visited or not producers.is_tracked(array):
            continue
        visited.add(id(array))
        node = producers.of(array)
        if node is not None:
            for value in node[1]:
                pending += value if isinstance(value, tuple | list) else (value,)
    return visited


def _numbers(array: Any) -> Any:
    return to_host(array).astype(np.float64)
