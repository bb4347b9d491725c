"""Lengths of axes that vary from call to call, as expressions of those of the arguments. Plain data.

A size is an int, or a ``Size``: a sum of products of *atoms*, each an int times some of them. An atom is a length of an
argument, known by its number, or a quotient or a remainder that cannot be written so. Two sizes that are the same sum
are equal objects, whatever they were computed by: ``(n * 64) // 64`` is ``n``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

__all__ = ["LEAST", "Size", "bounds", "minus", "plus", "quotient", "remainder", "text", "times", "variables_in"]

LEAST = 2
"""What a length is at least that varies: 0 and 1 are lengths of their own kind, for what is one long is broadcast."""

Atom = tuple[Any, ...]
Terms = tuple[tuple[tuple[Atom, ...], int], ...]


@dataclass(frozen=True, slots=True)
class Size:
    """A length that is no plain number.

    Args:
        terms: pairs of a product, as a sorted tuple of atoms, and the int that it is taken times, in order.
    """

    terms: Terms

    @staticmethod
    def of(number: int) -> Size:
        """The length of an argument's axis.

        Args:
            number: of the length in the trace.
        """
        return Size(((((number,),), 1),))


def _terms(size: int | Size) -> dict[tuple[Atom, ...], int]:
    return dict(size.terms) if isinstance(size, Size) else {(): size}


def _sum(terms: dict[tuple[Atom, ...], int]) -> int | Size:
    kept = {product: factor for product, factor in terms.items() if factor}
    if kept.keys() <= {()}:
        return kept.get((), 0)
    return Size(tuple(sorted(kept.items(), key=repr)))


def plus(a: int | Size, b: int | Size) -> int | Size:
    """The sum of two sizes.

    Args:
        a: one.
        b: the other.
    """
    terms = Counter(_terms(a))
    for product, factor in _terms(b).items():
        terms[product] += factor
    return _sum(terms)


def times(a: int | Size, b: int | Size) -> int | Size:
    """The product of two sizes.

    Args:
        a: one.
        b: the other.
    """
    terms: Counter[tuple[Atom, ...]] = Counter()
    for one, by in _terms(a).items():
        for other, factor in _terms(b).items():
            terms[tuple(sorted((*one, *other), key=repr))] += by * factor
    return _sum(terms)


def minus(a: int | Size, b: int | Size) -> int | Size:
    """The difference of two sizes.

    Args:
        a: one.
        b: what is taken from it.
    """
    return plus(a, times(b, -1))


def _split(a: int | Size, b: int | Size) -> tuple[int | Size, int | Size]:
    """Two sizes ``q`` and ``r`` with ``a = q * b + r``, where what is in ``q`` is seen to be divisible."""
    whole: dict[tuple[Atom, ...], int] = {}
    rest: dict[tuple[Atom, ...], int] = {}
    by = list(_terms(b).items())
    for product, factor in _terms(a).items():
        if len(by) == 1 and factor % by[0][1] == 0:
            left = Counter(product)
            left.subtract(by[0][0])
            if min(left.values(), default=0) >= 0:
                whole[tuple(sorted(left.elements(), key=repr))] = factor // by[0][1]
                continue
        rest[product] = factor
    if len(by) > 1 and a == b:
        return 1, 0
    return _sum(whole), _sum(rest)


def quotient(a: int | Size, b: int | Size) -> int | Size:
    """``a // b``, of a ``b`` that is not 0.

    Args:
        a: what is divided.
        b: by what.
    """
    whole, rest = _split(a, b)
    if isinstance(rest, int) and isinstance(b, int):
        return plus(whole, rest // b)
    return whole if rest == 0 else plus(whole, Size((((("//", rest, b),), 1),)))


def remainder(a: int | Size, b: int | Size) -> int | Size:
    """``a % b``, of a ``b`` that is not 0.

    Args:
        a: what is divided.
        b: by what.
    """
    _, rest = _split(a, b)
    if isinstance(rest, int) and isinstance(b, int):
        return rest % b
    return 0 if rest == 0 else Size((((("%", rest, b),), 1),))


def bounds(size: int | Size) -> tuple[float, float]:
    """The least and the most that a size can be, as far as it is seen.

    Args:
        size: the size.
    """
    low = high = 0.0
    for product, factor in _terms(size).items():
        least, most = 1.0, 1.0
        for atom in product:
            below, above = _bounds_of_atom(atom)
            if below < 0:  # a product of such is not looked at
                return -_INFINITE, _INFINITE
            least, most = least * below, (0.0 if 0.0 in (most, above) else most * above)
        low, high = low + factor * (least if factor > 0 else most), high + factor * (most if factor > 0 else least)
    return low, high


_INFINITE = float("inf")


def _bounds_of_atom(atom: Atom) -> tuple[float, float]:
    if len(atom) == 1:
        return LEAST, _INFINITE
    kind, a, b = atom
    low, high = bounds(a)
    if not isinstance(b, int) or b <= 0 or low < 0:
        return -_INFINITE, _INFINITE
    if kind == "%":
        return 0.0, min(high, b - 1)
    return low // b, high if high == _INFINITE else high // b


def variables_in(size: int | Size) -> set[int]:
    """The numbers of the arguments' lengths in a size.

    Args:
        size: the size.
    """
    found: set[int] = set()
    for product, _ in size.terms if isinstance(size, Size) else ():
        for atom in product:
            found |= {atom[0]} if len(atom) == 1 else variables_in(atom[1]) | variables_in(atom[2])
    return found


def text(size: int | Size) -> str:
    """A size as an expression of Python, in which ``n0`` is the length number 0.

    Args:
        size: the size.
    """
    parts = []
    for product, factor in _terms(size).items():
        names = [f"n{a[0]}" if len(a) == 1 else f"({text(a[1])} {a[0]} {text(a[2])})" for a in product]
        if factor != 1 or not names:
            names.insert(0, f"({factor})" if factor < 0 else str(factor))
        parts.append(" * ".join(names))
    found = " + ".join(parts) or "0"
    return found if len(parts) == 1 and found.isalnum() else f"({found})"
