"""Search for a policy's term in a loss whose advantage is not detached, and for terms that compare with targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .terms import Producers, Term, number_of, same_values

__all__ = ["attached_values", "compares_with_targets", "has_signed_factor", "nearest_weight"]

_LOGARITHMS = ("log", "log_softmax", "logsigmoid")
_PASSES = (
    "getitem",
    "sum",
    "mean",
    "cast",
    "reshape",
    "transpose",
    "squeeze",
    "expand_dims",
    "flatten",
    "exp",
    "clamp",
)
_SQUARES = ("square", "pow")
_DISTANCES = ("square", "pow", "abs", "mul", "where", "sparse_softmax_cross_entropy", "minimum")

# The deepest and the widest search.
_DEPTH, _WIDTH = 14, 60


def attached_values(terms: Sequence[Term], producers: Producers) -> tuple[Term, Any] | None:
    """Return a term that multiplies log-probabilities by targets minus values, and the values.

    The values depend on the weights, and another term fits them to the same targets.
    """
    for term in terms:
        for first, second in _products(term, producers):
            for log_probability, advantage in ((first, second), (second, first)):
                residual = _residual(advantage, producers)
                if residual is None or not is_log_probability(log_probability, producers):
                    continue
                others = [other for other in terms if other is not term]
                if any(_fits(other, residual, producers) for other in others):
                    return term, residual[0]
    return None


def _products(term: Term, producers: Producers) -> list[tuple[Any, Any]]:
    """Return the pairs of operands that both depend on the weights in a product that a term adds up."""
    node = term.leaf.node
    nodes = [node]
    if node is not None and node[0] == "minimum":  # of clipped ratios and others
        nodes = [producers.of(operand) for operand in node[1][:2]]
    return [
        (node[1][0], node[1][1])
        for node in nodes
        if node is not None and node[0] == "mul" and all(map(producers.is_tracked, node[1][:2]))
    ]


def _residual(array: Any, producers: Producers) -> tuple[Any, Any] | None:
    """Return the values and the targets that an array is the difference of, scaled or not."""
    for _ in range(_DEPTH):
        array = same_values(array, producers)
        node = producers.of(array)
        if node is None:
            return None
        name, inputs, _ = node
        tracked = [value for value in inputs[:2] if producers.is_tracked(value)]
        if name == "sub" and len(tracked) == 1:
            (target,) = (value for value in inputs[:2] if value is not tracked[0])
            is_target = number_of(target) is None and hasattr(target, "size")
            return (same_values(tracked[0], producers), target) if is_target else None
        if name not in ("neg", "sub", "mul", "div") or not producers.is_tracked(inputs[0]):
            return None
        if name == "mul" and len(tracked) > 1:
            return None
        array = inputs[0]
    return None


def _fits(term: Term, residual: tuple[Any, Any], producers: Producers) -> bool:
    """Return whether a term is a distance of the same values from the same targets."""
    if term.leaf.name not in _DISTANCES or term.leaf.factor < 0:
        return False
    return any(
        other is not None and other[0] is residual[0] and _is_same(other[1], residual[1])
        for other in (_residual(array, producers) for array in _above(term.leaf.array, producers))
    )


def _is_same(first: Any, second: Any) -> bool:
    return first is second or getattr(first, "base", None) is second or getattr(second, "base", None) is first


def _above(array: Any, producers: Producers) -> list[Any]:
    """Return an array and the tracked arrays before it, a few operators deep."""
    arrays, level = [array], [array]
    for _ in range(4):
        nodes = [producers.of(item) for item in level]
        level = [value for node in nodes if node is not None for value in node[1] if producers.is_tracked(value)]
        arrays += level[:_WIDTH]
    return arrays


def is_log_probability(array: Any, producers: Producers) -> bool:
    """Return whether an array is made of logarithms of probabilities, or of negative squares as Gaussian ones are."""
    pending, count = [(array, 1.0, _DEPTH)], 0
    while pending and count < _WIDTH:
        array, sign, depth = pending.pop()
        count += 1
        node = producers.of(array)
        if node is None or not depth:
            continue
        name, inputs, _ = node
        if name in _LOGARITHMS:
            return True
        tracked = [value for value in inputs[:2] if producers.is_tracked(value)]
        if name in _SQUARES or (name == "mul" and len(tracked) == 2 and _has_same_root(tracked, producers)):
            if sign * _sign_of(tracked, producers) < 0:
                return True
            continue
        for index, value in enumerate(inputs):
            if not producers.is_tracked(value):
                continue
            if name in ("add", "sub"):
                pending.append((value, -sign if name == "sub" and index else sign, depth - 1))
            elif name == "neg":
                pending.append((value, -sign, depth - 1))
            elif name in ("mul", "div") and len(tracked) == 1:
                number = producers.number(inputs[1 - index]) if index < 2 else None
                pending.append((value, -sign if number is not None and number < 0 else sign, depth - 1))
            elif name in _PASSES or (name == "div" and index == 0):
                pending.append((value, sign, depth - 1))
    return False


def _has_same_root(values: Sequence[Any], producers: Producers) -> bool:
    """Return whether two operands are one array, but for a number."""
    first, second = (_without_number(value, producers)[0] for value in values)
    return first is second


def _sign_of(values: Sequence[Any], producers: Producers) -> float:
    """Return the sign of a square, of operands that may be multiplied by a negative number."""
    sign = 1.0
    for value in values if len(values) == 2 else ():
        sign *= _without_number(value, producers)[1]
    return sign


def _without_number(array: Any, producers: Producers) -> tuple[Any, float]:
    node = producers.of(array)
    if node is not None and node[0] == "mul":
        for index in (0, 1):
            number = producers.number(node[1][index])
            if number is not None:
                return node[1][1 - index], -1.0 if number < 0 else 1.0
    return array, 1.0


def compares_with_targets(term: Term, producers: Producers) -> bool:
    """Return whether a term is a distance of something that depends on the weights from something that does not."""
    if term.leaf.name not in _DISTANCES or term.leaf.factor < 0:
        return False
    if term.leaf.name == "sparse_softmax_cross_entropy":
        return True
    return any(_residual(array, producers) is not None for array in _above(term.leaf.array, producers))


def has_signed_factor(term: Term, producers: Producers) -> bool:
    """Return whether a term multiplies log-probabilities, or ratios of them, by numbers of either sign."""
    node = term.leaf.node
    nodes = [node] if node is None or node[0] != "minimum" else [producers.of(operand) for operand in node[1][:2]]
    for node in nodes:
        if node is None or node[0] != "mul":
            continue
        for value, factor in (node[1][:2], node[1][1::-1]):
            if (
                producers.is_tracked(value)
                and not producers.is_tracked(factor)
                and getattr(factor, "size", 0) > 1
                and factor.dtype.kind in "fV"
                and bool((factor > 0).any())
                and bool((factor < 0).any())
                and is_log_probability(value, producers)
            ):
                return True
    return False


def nearest_weight(array: Any, names: Mapping[int, str], producers: Producers) -> str:
    """Return the name of a weight that an array depends on, the nearest one; "" if it depends on none.

    Args:
        array: the array.
        names: the names of the weights, by the ids of their arrays.
        producers: the operators of the recording.
    """
    level, seen = [array], set[int]()
    while level and len(seen) < 10 * _WIDTH:
        for value in level:
            if id(value) in names:
                return names[id(value)]
        seen.update(map(id, level))
        nodes = [producers.of(value) for value in level]
        level = [
            value
            for node in nodes
            if node is not None
            for value in node[1]
            if producers.is_tracked(value) and id(value) not in seen
        ]
    return ""
