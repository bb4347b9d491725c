"""Symbolic dimensions: their expressions against Python's arithmetic, and that code which meets one sees an int."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import random
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import pytest

from hookscope.engine.compile.sizes import Size, bounds, minus, plus, quotient, remainder, text, times
from hookscope.engine.compile.trace.lengths import Length, Lengths

OPERATORS = {
    "+": (plus, operator.add),
    "-": (minus, operator.sub),
    "*": (times, operator.mul),
    "//": (quotient, operator.floordiv),
    "%": (remainder, operator.mod),
}


def expression(chance: random.Random, numbers: tuple[int, int], depth: int) -> tuple[Any, int]:
    """Return a random size, and its value."""
    if depth == 0:
        index = chance.randint(0, 2)
        return (Size.of(index), numbers[index]) if index < 2 else (number := chance.randint(-3, 6), number)
    (a, x), (b, y) = (expression(chance, numbers, depth - 1), expression(chance, numbers, chance.randint(0, depth - 1)))
    follow, compute = OPERATORS[chance.choice([sign for sign in OPERATORS if y or sign not in ("//", "%")])]
    return follow(a, b), compute(x, y)


def test_sizes_are_what_python_computes() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        numbers = chance.randint(2, 9), chance.randint(2, 9)
        size, expected = expression(chance, numbers, chance.randint(0, 3))
        assert eval(text(size), {"n0": numbers[0], "n1": numbers[1]}) == expected
        assert Lengths([numbers], [(0, 1)]).number(size) == expected
        low, high = bounds(size)
        assert low <= expected <= high


def test_equal_sums_are_equal_sizes() -> None:
    n, m = Size.of(0), Size.of(1)
    assert quotient(times(n, 64), 64) == n
    assert quotient(times(times(n, m), 64), times(n, 64)) == m
    assert remainder(plus(times(n, 6), 5), 3) == 2
    assert plus(minus(n, m), m) == n
    assert minus(n, n) == 0
    assert quotient(plus(times(4, n), 3), 4) == n


def open_lengths() -> tuple[Lengths, Any, Any]:
    lengths = Lengths([(5, 3), (7,)], [(0,), (0,)])
    return lengths, lengths.of(Size.of(0)), lengths.of(Size.of(1))


EXPRESSIONS = """
n + 1; n - 1; 2 * n; n * m; n // 2; n % 2; n / 2; n**2; 2**n; divmod(n, 2); n == 5; 5 == n; n != 5; n < 7; n < m
n >= m; bool(n); int(n); float(n); complex(n); range(n); [0] * n; n * [0]; "ab" * n; math.sqrt(n); math.floor(n)
math.prod((n, 3)); sum((n, 3)); max(n, 3); min(n, m); sorted((m, n)); str(n); repr((n, 3)); f"{n:03d}"; "%d" % n
"%s" % (n,); {n: 1}; hash(n); (n, 3) == (5, 3); (5, 3) == (n, 3); (n, 3) < (6,); np.prod((n, 3)); np.array((n, 3))
np.array([[n, 3], [m, 2]]); np.zeros((n, 2)).shape; np.int64(3) * n; n * np.int64(3); np.float32(2) * n
np.ones(2, np.float32) * n; n * np.ones(2, np.float32); np.where(np.ones(2) > 0, n, np.float32(1)); np.full(2, n)
np.arange(n); np.linspace(0, 1, n); isinstance(n, int); isinstance(n, bool); isinstance(n, Integral); n.bit_length()
n.real; copy.copy(n); copy.deepcopy((n,)); pickle.loads(pickle.dumps((n, 3))); -n; abs(n); +n; ~n; n & 1; n << 1
n >> 1; n | 1; n ^ 1; n == 5.0; n == "a"; n in (5, 6); n + 1.5; 1.5 * n; n * 1j; slice(n).indices(9)
list(range(9))[n]; list(range(9))[:n]; round(n); Fraction(1, 3) * n; chr(n); bytes(n)
np.broadcast_shapes((n, 1), (1, m)); n.__class__; 10 // n; 10 % n; n - m; m - n; 1 - n; n and 3; not n
math.gcd(n, 10); pow(n, 2, 3); np.int64(n); np.float32(n); np.asarray(n); (n,) + (3,); n is None; n * True
math.ceil(n / 2); n.no_such; n // 0
"""


@pytest.mark.parametrize("source", [item for line in EXPRESSIONS.split("\n") for item in line.split("; ") if item])
def test_code_sees_an_int(source: str) -> None:
    def outcome(n: Any, m: Any) -> Any:
        names = {"np": np, "math": math, "copy": copy, "pickle": pickle, "Fraction": Fraction, "Integral": Integral}
        try:
            return eval(source, {**names, "n": n, "m": m})
        except Exception as error:
            return type(error).__name__, str(error)

    lengths, n, m = open_lengths()
    expected, actual = outcome(5, 7), outcome(n, m)
    lengths.end()
    actual = lengths.settle(actual)
    assert (type(actual), repr(actual)) == (type(expected), repr(expected))


def test_what_is_not_followed_is_for_one_length() -> None:
    for use in (int, float, str, hash, range, math.sqrt, np.zeros, lambda n: n / 2, lambda n: {4: 1}.get(n)):
        lengths, n, _ = open_lengths()
        use(n)
        fits = lengths.fits([(Size.of(0), 3), (Size.of(1),)])
        assert fits((5, 3), (9,))
        assert not fits((6, 3), (9,))


def test_comparisons_are_noted() -> None:
    lengths, n, m = open_lengths()
    assert n < m
    assert n // 2 != 3
    assert (3 * n) // 3 == n
    assert n > 1
    fits = lengths.fits([(Size.of(0), 3), (Size.of(1),)])
    assert len(lengths.guards) == 2  # the guards that it is itself, and above 1, hold for all
    assert fits((5, 3), (6,))
    assert not fits((7, 3), (9,))
    assert not fits((5, 3), (5,))
    assert not fits((5, 4), (7,))
    assert not fits((5, 3, 1), (7,))
    assert not fits((1, 3), (7,))


def test_a_product_that_is_known_pins_no_factor() -> None:
    lengths, n, m = open_lengths()
    assert n * m == 35
    assert n != 4
    fits = lengths.fits([(Size.of(0), 3), (Size.of(1),)])
    assert not fits((35, 3), (1,))
    assert fits((7, 3), (5,))
    assert lengths.are_open


def test_after_its_trace_a_length_is_its_number() -> None:
    lengths, n, _ = open_lengths()
    lengths.end()
    assert type(n + 1) is int
    assert type(n * 2.0) is float
    assert int(n) == 5
    assert not lengths.guards
    assert type(n) is Length
