"""Samples of special functions, matrices, sparse ones too, Fourier transforms, order and bits; SciPy is a reference."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
from operator_samples import (
    MASK,
    PAIRS,
    SHAPES,
    Array,
    Row,
    Sample,
    along,
    between_integers,
    binary,
    distinct,
    normal,
    positive,
    unary,
)

from hookscope.engine.cpu.arrays.sparse import Positions

__all__ = ["ROWS"]

_numbers = np.random.default_rng(21)


def inside(*shape: int) -> Array:
    """Return numbers in (-0.9, 0.9)."""
    return np.asarray(_numbers.uniform(-0.9, 0.9, shape))


def above_one(*shape: int) -> Array:
    return np.asarray(1.0 + positive(*shape))


def both_signs(*shape: int) -> Array:
    """Return numbers of both signs up to 40, over the seams between series and integrals."""
    return np.asarray(_numbers.uniform(-40, 40, shape))


def up_to_forty(*shape: int) -> Array:
    return np.asarray(_numbers.uniform(0.2, 40, shape))


def integers(*shape: int) -> Array:
    return np.asarray(_numbers.integers(1, 9, shape))


def bools(*shape: int) -> Array:
    return np.asarray(_numbers.integers(0, 2, shape) > 0)


def compared(function: Callable[[Any, Any], Any], draw: Callable[..., Array] = integers) -> Row:
    """Return an operator on two tensors without a gradient."""
    return Row(
        lambda x, y: np.vectorize(function, otypes=[np.result_type(draw(1), draw(1))])(x, y),
        [Sample((draw(*a), draw(*b))) for a, b in PAIRS if 0 not in (*a, *b)],
    )


def comparison(function: Callable[[Any, Any], Any]) -> Row:
    rows = [Sample((integers(*a), integers(*b))) for a, b in PAIRS] + [Sample((normal(2, 2), 0.5))]
    return Row(lambda x, y: np.vectorize(function, otypes=[bool])(x, y), rows)


def tested(function: Callable[[Any], Any]) -> Row:
    """Return rows of a predicate of one number."""
    special = np.array([1.5, -2.0, 0.0, math.nan, math.inf, -math.inf])
    return Row(lambda x: np.vectorize(function, otypes=[bool])(x), [Sample((special,)), Sample((normal(0, 2),))])


def exact(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a function of mpmath's numbers, which have 30 digits here, for each element."""

    def each(*numbers: float) -> float:
        with mp.workdps(30):
            return float(function(*numbers))

    return np.vectorize(each, otypes=[float])


def special(function: Callable[..., Any], draw: Callable[..., Array] = positive, **attrs: Any) -> Row:
    return Row(lambda x, **_: np.asarray(function(x)), [Sample((draw(*shape),), attrs) for shape in SHAPES])


def spd(*shape: int) -> Array:
    """Return symmetric positive definite matrices."""
    x = normal(*shape)
    return x @ x.swapaxes(-1, -2) + 2 * np.eye(shape[-1])


def well(*shape: int) -> Array:
    """Return matrices far from singular, with singular values far apart."""
    x = normal(*shape)
    u, _, v = np.linalg.svd(x, full_matrices=False)
    k = min(shape[-2:])
    return (u * np.arange(1.0, k + 1)) @ v


def determinant(x: Array) -> Array:
    """Return Leibniz's sum over permutations."""
    n, total = x.shape[-1], np.zeros(x.shape[:-2])
    for order in itertools.permutations(range(n)):
        sign = (-1) ** sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
        total = total + sign * np.prod([x[..., i, j] for i, j in enumerate(order)], axis=0)
    return total


def cofactors(x: Array) -> Array:
    out = np.empty_like(x)
    for i, j in np.ndindex(*x.shape[-2:]):
        minor = np.delete(np.delete(x, i, -2), j, -1)
        out[..., j, i] = (-1) ** (i + j) * determinant(minor)
    return out / determinant(x)[..., None, None]


def packed(x: Array) -> Array:
    """Return R, and below it the vectors of Householder's reflections, the sign of each as in LAPACK (xLARFG)."""
    out = x.copy()
    for k in range(min(x.shape)):
        below = out[k:, k].copy()
        if len(below) == 1:
            break  # nothing to be made zero
        beta = -np.sign(below[0]) * np.linalg.norm(below)
        v = below / (below[0] - beta)
        v[0] = 1.0
        tau = (beta - below[0]) / beta
        out[k:, k:] -= tau * np.outer(v, v @ out[k:, k:])
        out[k + 1 :, k] = v[1:]
    return out


def gram_schmidt(x: Array, part: int) -> Array:
    """Return Q or R with the signs of LAPACK's reflections."""
    q, r = np.zeros_like(x), np.zeros((x.shape[-1], x.shape[-1]))
    for j in range(x.shape[-1]):
        v = x[:, j].copy()
        for i in range(j):
            r[i, j] = q[:, i] @ x[:, j]
            v -= r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    sign = np.sign(np.diag(np.linalg.qr(x)[1]))
    return (q * sign, r * sign[:, None])[part]


def square_roots(x: Array) -> Array:
    """Return singular values by the eigenvalues of x.T @ x."""
    k = min(x.shape[-2:])
    return np.sqrt(np.maximum(np.linalg.eigvalsh(x.swapaxes(-1, -2) @ x)[..., ::-1][..., :k], 0))


def lower_triangle(x: Array) -> Array:
    """Return the factor of Cholesky and Banachiewicz, element by element."""
    out = np.zeros_like(x)
    for i in range(x.shape[-1]):
        for j in range(i + 1):
            rest = x[..., i, j] - (out[..., i, :j] * out[..., j, :j]).sum(-1)
            out[..., i, j] = np.sqrt(rest) if i == j else rest / out[..., j, j]
    return out


def contracted(*operands: Array, terms: tuple[str, ...], result: str) -> Array:
    """Return Einstein's sum, term by term."""
    sizes = {c: n for x, t in zip(operands, terms, strict=True) for c, n in zip(t, x.shape, strict=True)}
    out = np.zeros([sizes[c] for c in result])
    for values in itertools.product(*(range(n) for n in sizes.values())):
        at = dict(zip(sizes, values, strict=True))
        product = math.prod(float(x[tuple(at[c] for c in t)]) for x, t in zip(operands, terms, strict=True))
        out[tuple(at[c] for c in result)] += product
    return out


def transformed(x: Array, axis: int, inverse: bool) -> Array:
    n = x.shape[axis]
    matrix = np.exp((2j if inverse else -2j) * math.pi * np.outer(np.arange(n), np.arange(n)) / n)
    return np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)


def met(x: Array, updates: Array, index: Any, how: str) -> Array:
    function: Callable[[float, float], float] = {"mul": operator.mul, "div": operator.truediv, "max": max, "min": min}[
        how
    ]
    out = x.copy()
    for position, value in zip(np.arange(x.size).reshape(x.shape)[index].ravel(), updates.ravel(), strict=True):
        out.flat[position] = function(float(out.flat[position]), float(value))
    return out


def running(x: Array, axis: int, largest: bool) -> Array:
    moved = np.moveaxis(x, axis, -1)
    out = np.zeros(moved.shape, int)
    for index in np.ndindex(moved.shape):
        row = list(moved[index[:-1]][: index[-1] + 1])
        best = max(row) if largest else min(row)
        out[index] = len(row) - 1 - row[::-1].index(best)
    return np.moveaxis(out, -1, axis)


def ordered(x: Array, axis: int, descending: bool) -> Array:
    rows = np.moveaxis(x, axis, -1)
    out = np.zeros(rows.shape, int)
    for index in np.ndindex(rows.shape[:-1]):
        row = [float(v) * (-1 if descending else 1) for v in rows[index]]
        out[index] = [i for _, i in sorted(zip(row, range(len(row)), strict=True))]
    return np.moveaxis(out, -1, axis)


def complexes(*shape: int) -> Array:
    return normal(*shape) + 1j * normal(*shape)


_PAIR = (np.array([0, 0, 1]), np.array([1, 1, 2]))

incomplete = [*(Sample((a, positive(2, 3) * 3)) for a in (2.5, 0.7)), Sample((1.5, positive()))]


def positions(rows: list[int], columns: list[int], shape: tuple[int, int]) -> Positions:
    return Positions(np.array(rows, np.int32), np.array(columns, np.int32), shape)


# Out of order and one place twice; none; and positions of a product of the first with itself.
FEW = positions([2, 0, 0, 2, 0], [1, 3, 0, 1, 1], (3, 4))
NONE = positions([], [], (3, 4))
SOME = positions([0, 2, 1, 0], [0, 0, 1, 2], (3, 3))


def whole(values: Array, where: Positions) -> Array:
    result = np.zeros(where.shape)
    for row, column, value in zip(where.rows, where.columns, values, strict=True):
        result[row, column] += value
    return result


def by_order(a: float, b: float, x: float, position: float) -> Any:
    """Return the slope of the incomplete beta function by its first or second argument."""
    return mp.diff(
        lambda v: mp.betainc(v if position == 0 else a, b if position == 0 else v, 0, x, regularized=True),
        b if position else a,
    )


ROWS: dict[str, Row] = {
    "acos": unary(math.acos, inside),
    "asin": unary(math.asin, inside),
    "atan": unary(math.atan),
    "acosh": unary(math.acosh, above_one),
    "asinh": unary(math.asinh),
    "atanh": unary(math.atanh, inside),
    "exp2": unary(lambda v: 2**v),
    "cbrt": unary(math.cbrt),
    "log10": unary(math.log10, positive),
    "sinc": unary(lambda v: math.sin(math.pi * v) / (math.pi * v)),
    "atan2": binary(math.atan2, positive),
    "hypot": binary(math.hypot, positive),
    "logaddexp": binary(lambda x, y: math.log(math.exp(x) + math.exp(y))),
    "logaddexp2": binary(lambda x, y: math.log2(2**x + 2**y)),
    "lgamma": special(exact(lambda x: mp.log(abs(mp.gamma(x)))), lambda *s: np.asarray(between_integers(*s))),
    "digamma": special(exact(mp.digamma), lambda *s: np.asarray(positive(*s) * 3)),
    "polygamma": Row(
        lambda x, n: exact(mp.polygamma)(n, x),
        [Sample((positive(*s),), {"n": n}) for s, n in (((3,), 0), ((2, 2), 1), ((), 2), ((0,), 3))],
    ),
    # The exponent's gradient is computed by differences, and has none itself: test_answers_at_edges.py.
    "zeta": Row(exact(mp.zeta), [Sample((3.5, positive(3))), Sample((1.5, positive(2, 3)))]),
    "erfinv": special(exact(mp.erfinv), inside),
    "igamma": Row(exact(lambda a, x: mp.gammainc(a, 0, x, regularized=True)), incomplete),
    "igammac": Row(exact(lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)), incomplete),
    "bessel_i0e": special(exact(lambda x: mp.besseli(0, x) * mp.exp(-abs(x))), both_signs),
    "bessel_i1e": special(exact(lambda x: mp.besseli(1, x) * mp.exp(-abs(x))), both_signs),
    "bessel_j0": special(exact(mp.j0), both_signs),
    "bessel_j1": special(exact(mp.j1), both_signs),
    "bessel_k0e": special(exact(lambda x: mp.besselk(0, x) * mp.exp(x)), up_to_forty),
    "bessel_k1e": special(exact(lambda x: mp.besselk(1, x) * mp.exp(x)), up_to_forty),
    "bessel_y0": special(exact(lambda x: mp.bessely(0, x)), up_to_forty),
    "bessel_y1": special(exact(lambda x: mp.bessely(1, x)), up_to_forty),
    # Matrices.
    "inverse": Row(cofactors, [Sample((well(3, 3),)), Sample((well(2, 3, 3),))]),
    "det": Row(determinant, [Sample((well(3, 3),)), Sample((well(2, 2, 2),))]),
    "slogdet": Row(lambda x: np.log(np.abs(determinant(x))), [Sample((well(3, 3),)), Sample((well(2, 2, 2),))]),
    "cholesky": Row(lower_triangle, [Sample((spd(3, 3),)), Sample((spd(2, 2, 2),))], symmetric=True),
    "solve": Row(
        lambda x, b: cofactors(x) @ b, [Sample((well(3, 3), normal(3, 2))), Sample((well(2, 3, 3), normal(2, 3, 1)))]
    ),
    "shortest_solution": Row(  # of rank 1, where the pseudo-inverse is x.T / sum(x * x)
        lambda x, b: np.swapaxes(x, -1, -2) @ b / (x * x).sum((-2, -1), keepdims=True),
        [Sample((normal(*a, 1) @ normal(*a[:-1], 1, 2), normal(*a, 2))) for a in ((3,), (2, 4))],
        refused=True,  # by the matrix; by the right sides there is one
    ),
    "qr": Row(lambda x: gram_schmidt(x, 0), [Sample((well(3, 3),)), Sample((well(4, 2),))]),
    "svd": Row(square_roots, [Sample((well(*s),)) for s in ((3, 3), (4, 2), (2, 3), (2, 3, 2))]),
    "full_svd": Row(lambda x: np.linalg.svd(x, full_matrices=True)[0], [Sample((well(3, 2),))]),
    "full_qr": Row(lambda x: np.linalg.qr(x, mode="complete")[0], [Sample((well(3, 2),))]),
    "geqrf": Row(packed, [Sample((well(*s),)) for s in ((3, 3), (4, 2), (2, 3))], refused=True),
    "eig": Row(
        lambda x: np.roots(np.poly(x)), [Sample((np.diag([3.0, 2.0, 1.0]) + np.triu(normal(3, 3), 1),))], refused=True
    ),
    "einsum": Row(
        contracted,
        [
            Sample((normal(2, 3), normal(3, 4)), {"terms": ("ij", "jk"), "result": "ik"}),
            Sample((normal(3, 3),), {"terms": ("ii",), "result": "i"}),
            Sample((normal(2, 3),), {"terms": ("ij",), "result": ""}),
            Sample((normal(2, 3), normal(3), normal(2)), {"terms": ("ij", "j", "i"), "result": "ji"}),
            Sample((normal(0, 3), normal(3)), {"terms": ("ij", "j"), "result": "i"}),
        ],
    ),
    # Complex numbers: their gradients have a test of their own.
    "complex": Row(lambda x, y: x + 1j * y, [Sample((normal(2, 3), normal(2, 3)))], complex=True),
    "real": Row(np.real, [Sample((complexes(2, 3),))], complex=True),
    "imag": Row(np.imag, [Sample((complexes(2, 3),))], complex=True),
    "conj": Row(np.conj, [Sample((complexes(2, 3),))], complex=True),
    "zeros_like": Row(np.zeros_like, [Sample((normal(2, 3),)), Sample((np.array([np.inf, -np.inf, np.nan, -1.0]),))]),
    "fft": Row(
        transformed,
        [Sample((complexes(2, 5),), {"axis": a, "inverse": i}) for a in (0, 1) for i in (False, True)],
        complex=True,
    ),
    # Running and ordered.
    "cumprod": along(
        lambda x, axis: np.stack([x.take(range(i + 1), axis).prod(axis) for i in range(x.shape[axis])], axis),
        {"axis": 0},
        {"axis": 1},
        draw=positive,
    ),
    "logcumsumexp": along(lambda x, axis: np.log(np.cumsum(np.exp(x), axis)), {"axis": 0}, {"axis": 1}),
    "scatter_reduce": Row(
        met,
        [Sample((positive(2, 3), positive(3)), {"index": _PAIR, "how": how}) for how in ("mul", "div")]
        + [Sample((distinct(2, 3), distinct(3) + 0.1), {"index": _PAIR, "how": how}) for how in ("max", "min")]
        + [Sample((positive(2, 3), positive(0)), {"index": (np.zeros(0, int), np.zeros(0, int)), "how": "mul"})],
    ),
    "order": along(ordered, *({"axis": a, "descending": d} for a in (0, 1) for d in (False, True))),
    "running_extreme": along(running, *({"axis": a, "largest": d} for a in (0, 1) for d in (False, True))),
    "search": Row(
        lambda edges, values, right: np.array(
            [sum(e <= v if right else e < v for e in edges) for v in values.ravel()]
        ).reshape(values.shape),
        [Sample((np.array([0.0, 1.0, 1.0, 2.0]), np.array([[-1.0, 1.0, 3.0]])), {"right": r}) for r in (False, True)],
    ),
    # Without a gradient.
    "different": Row(
        lambda x, axis: np.array(sorted(set(x.ravel().tolist() if axis is None else map(tuple, x.tolist()))), x.dtype),
        [
            Sample((np.array([[3, 1, 3], [2, 1, 3]]),), {"axis": None}),
            Sample((np.array([[3, 1], [2, 1], [3, 1]]),), {"axis": 0}),
        ],
        refused=True,
    ),
    "runs": Row(
        lambda x, axis: np.array([v for v, _ in itertools.groupby(x.ravel().tolist() if axis is None else x.tolist())]),
        [
            Sample((np.array([[1, 1, 2], [2, 1, 1]]),), {"axis": None}),
            Sample((np.array([[3, 1], [3, 1], [2, 1]]),), {"axis": 0}),
        ],
        refused=True,
    ),
    "sparse_matrix_product": Row(
        lambda values, dense, positions: whole(values, positions) @ dense,
        [Sample((normal(5), normal(4, 2)), {"positions": FEW}), Sample((normal(0), normal(4, 2)), {"positions": NONE})],
    ),
    "sparse_element_product": Row(
        lambda x, y, x_positions, y_positions, positions: (whole(x, x_positions) @ whole(y, y_positions))[
            positions.rows, positions.columns
        ],
        [
            Sample((normal(5), normal(5)), {"x_positions": FEW, "y_positions": FEW.transposed, "positions": SOME}),
            Sample((normal(5), normal(0)), {"x_positions": FEW, "y_positions": NONE.transposed, "positions": SOME}),
        ],
    ),
    "floor_divide": compared(operator.floordiv),
    "gcd": compared(math.gcd),
    "lcm": compared(math.lcm),
    "nextafter": compared(math.nextafter, normal),
    "bitwise_and": compared(operator.and_),
    "bitwise_or": compared(operator.or_),
    "bitwise_xor": compared(operator.xor),
    "bitwise_left_shift": compared(operator.lshift),
    "bitwise_right_shift": compared(operator.rshift),
    "bitwise_not": Row(lambda x: -1 - x, [Sample((integers(2, 3),)), Sample((integers(0),))]),
    "population_count": Row(np.vectorize(lambda n: bin(n).count("1")), [Sample((integers(2, 3),))]),
    "eq": comparison(operator.eq),
    "ne": comparison(operator.ne),
    "lt": comparison(operator.lt),
    "le": comparison(operator.le),
    "gt": comparison(operator.gt),
    "ge": comparison(operator.ge),
    "logical_and": comparison(lambda x, y: bool(x) and bool(y)),
    "logical_or": comparison(lambda x, y: bool(x) or bool(y)),
    "logical_xor": comparison(lambda x, y: bool(x) != bool(y)),
    "logical_not": Row(lambda x: x == 0, [Sample((MASK,)), Sample((integers(3) - 3,))]),
    "isnan": tested(math.isnan),
    "isinf": tested(math.isinf),
    "isfinite": tested(math.isfinite),
    "signbit": tested(lambda v: math.copysign(1.0, v) < 0),
    "all": along(
        lambda x, axis, keepdims: np.logical_and.reduce(x, axis, keepdims=keepdims),
        *({"axis": axis, "keepdims": keep} for axis in (None, (1,), (0, 2)) for keep in (False, True)),
        draw=bools,
    ),
    "any": along(
        lambda x, axis, keepdims: np.logical_or.reduce(x, axis, keepdims=keepdims),
        *({"axis": axis, "keepdims": keep} for axis in (None, (1,), (0, 2)) for keep in (False, True)),
        draw=bools,
    ),
    "argmax": along(
        lambda x, axis, keepdims: np.argsort(x, axis)[:, -1:].squeeze(() if keepdims else 1),
        *({"axis": 1, "keepdims": keep} for keep in (False, True)),
        draw=distinct,
    ),
    "argmin": along(
        lambda x, axis, keepdims: np.argsort(x, axis)[:, :1].squeeze(() if keepdims else 1),
        *({"axis": 1, "keepdims": keep} for keep in (False, True)),
        draw=distinct,
    ),
    "betainc": Row(
        exact(lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)),
        [Sample((positive(2, 3) * 3, positive(2, 3), inside(2, 3) ** 2))],
        refused=True,  # the second by the orders: test_matrix_classes.py has the first ones
    ),
    "betainc_order": Row(
        lambda a, b, x, position: exact(by_order)(a, b, x, position),
        [Sample((positive(3) * 3, positive(3), inside(3) ** 2), {"position": position}) for position in (0, 1)],
        refused=True,
    ),
    "igamma_order": Row(
        exact(lambda s, x: mp.diff(lambda a: mp.gammainc(a, 0, x, regularized=True), s)),
        [Sample((positive(4) * 3, positive(4) * 3))],
        refused=True,
    ),
    "zeta_order": Row(
        exact(lambda s, q: mp.diff(lambda a: mp.zeta(a, q), s)),
        [Sample((1.2 + positive(4) * 3, 0.5 + positive(4)))],
        refused=True,
    ),
    "matrix_logarithm": Row(
        lambda x: np.linalg.eig(x)[1] @ np.diag(np.log(np.linalg.eig(x)[0])) @ np.linalg.inv(np.linalg.eig(x)[1]),
        [Sample((well(3, 3) + 1j * well(3, 3),))],
        complex=True,
    ),
    "nth_element": Row(lambda x, n: np.sort(x, -1)[..., n], [Sample((normal(2, 3, 4),), {"n": n}) for n in (0, 2)]),
    "self_adjoint_eig": Row(lambda x: np.sort(np.linalg.eigvals(x).real, -1), [Sample((spd(3, 3),))], refused=True),
}
