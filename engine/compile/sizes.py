"""Symbolic sizes: dimensions as expressions of the arguments' dimensions. Plain data.

A size is an int, or a ``Size``: a sum of products of *atoms*, each with an int factor. An atom is a dimension of an
argument, identified by its number, or a quotient or a remainder without such a form. Equal sums are equal objects,
however they were computed: ``(n * 64) // 64`` is ``n``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

__all__ = ["LEAST", "Size", "bounds", "minus", "plus", "quotient", "remainder", "text", "times", "variables_in"]

LEAST = 2
"""Minimum of a symbolic dimension: 0 and 1 are excluded, since an axis of length 1 broadcasts."""

Atom = tuple[Any, ...]
Terms = tuple[tuple[tuple[Atom, ...], int], ...]


@dataclass(frozen=True, slots=True)
class Size:
    """A size that is not a plain number.

    Args:
        terms: sorted pairs of a product (a sorted tuple of atoms) and its int factor.
    """

    terms: Terms

    @staticmethod
    def of(number: int) -> Size:
        """Return the size of a symbolic dimension.

        Args:
            number: number of the dimension in the trace.
        """
        return Size(((((number,),), 1),))


def _terms(size: int | Size) -> dict[tuple[Atom, ...], int]:
    return dict(size.terms) if isinstance(size, Size) else {(): size}


def _sum(terms: dict[tuple[Atom, ...], int]) -> int | Size:
    nonzero = {product: factor for product, factor in terms.items() if factor}
    if nonzero.keys() <= {()}:
        return nonzero.get((), 0)
    return Size(tuple(sorted(nonzero.items(), key=repr)))


def plus(a: int | Size, b: int | Size) -> int | Size:
    """Return the sum of two sizes.

    Args:
        a: the first size.
        b: the second size.
    """
    terms = Counter(_terms(a))
    for product, factor in _terms(b).items():
        terms[product] += factor
    return _sum(terms)


def times(a: int | Size, b: int | Size) -> int | Size:
    """Return the product of two sizes.

    Args:
        a: the first size.
        b: the second size.
    """
    terms: Counter[tuple[Atom, ...]] = Counter()
    for product_a, factor_a in _terms(a).items():
        for product_b, factor_b in _terms(b).items():
            terms[tuple(sorted((*product_a, *product_b), key=repr))] += factor_a * factor_b
    return _sum(terms)


def minus(a: int | Size, b: int | Size) -> int | Size:
    """Return the difference of two sizes.

    Args:
        a: the minuend.
        b: the subtrahend.
    """
    return plus(a, times(b, -1))


def _split(a: int | Size, b: int | Size) -> tuple[int | Size, int | Size]:
    """Return sizes ``q`` and ``r`` with ``a = q * b + r``, where ``q`` collects the evidently divisible terms."""
    quotients: dict[tuple[Atom, ...], int] = {}
    remainders: dict[tuple[Atom, ...], int] = {}
    divisor = list(_terms(b).items())
    for product, factor in _terms(a).items():
        if len(divisor) == 1 and factor % divisor[0][1] == 0:
            exponents = Counter(product)
            exponents.subtract(divisor[0][0])
            if min(exponents.values(), default=0) >= 0:
                quotients[tuple(sorted(exponents.elements(), key=repr))] = factor // divisor[0][1]
                continue
        remainders[product] = factor
    if len(divisor) > 1 and a == b:
        return 1, 0
    return _sum(quotients), _sum(remainders)


def quotient(a: int | Size, b: int | Size) -> int | Size:
    """Return ``a // b``, for a ``b`` other than 0.

    Args:
        a: the dividend.
        b: the divisor.
    """
    quotient_part, rest_part = _split(a, b)
    if isinstance(rest_part, int) and isinstance(b, int):
        return plus(quotient_part, rest_part // b)
    return quotient_part if rest_part == 0 else plus(quotient_part, Size((((("//", rest_part, b),), 1),)))


def remainder(a: int | Size, b: int | Size) -> int | Size:
    """Return ``a % b``, for a ``b`` other than 0.

    Args:
        a: the dividend.
        b: the divisor.
    """
    _, rest_part = _split(a, b)
    if isinstance(rest_part, int) and isinstance(b, int):
        return rest_part % b
    return 0 if rest_part == 0 else Size((((("%", rest_part, b),), 1),))


def bounds(size: int | Size) -> tuple[float, float]:
    """Return a lower and an upper bound of a size.

    Args:
        size: the size.
    """
    low = high = 0.0
    for product, factor in _terms(size).items():
        least, most = 1.0, 1.0
        for atom in product:
            below, above = _bounds_of_atom(atom)
            if below < 0:  # products of such atoms are not analyzed
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
    """Return the numbers of the symbolic dimensions in a size.

    Args:
        size: the size.
    """
    numbers: set[int] = set()
    for product, _ in size.terms if isinstance(size, Size) else ():
        for atom in product:
            numbers |= {atom[0]} if len(atom) == 1 else variables_in(atom[1]) | variables_in(atom[2])
    return numbers


def text(size: int | Size) -> str:
    """Return a size as a Python expression, in which ``n0`` is dimension number 0.

    Args:
        size: the size.
    """
    parts = []
    for product, factor in _terms(size).items():
        names = [f"n{a[0]}" if len(a) == 1 else f"({text(a[1])} {a[0]} {text(a[2])})" for a in product]
        if factor != 1 or not names:
            names.insert(0, f"({factor})" if factor < 0 else str(factor))
        parts.append(" * ".join(names))
    expression = " + ".join(parts) or "0"
    return expression if len(parts) == 1 and expression.isalnum() else f"({expression})"
