"""Functions of matrices: determinants, factors, powers and reflections, by what defines them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

RNG = np.random.default_rng(4)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def inverted(x: Array) -> Array:
    """Return the inverse by Cramer's rule with Leibniz's determinants."""
    n = x.shape[-1]
    result = np.empty_like(x)
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(x, j, -2), i, -1)
        result[..., i, j] = (-1) ** (i + j) * determinant(minor) / determinant(x)
    return result


def determinant(x: Array) -> Any:
    total: Any = 0
    for order in itertools.permutations(range(x.shape[-1])):
        odd = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :]) % 2
        total = total + (-1) ** odd * np.prod([x[..., i, j] for i, j in enumerate(order)], axis=0)
    return total


def exponential(x: Array) -> Array:
    """Return mpmath's exponential, with 30 digits."""
    with mp.workdps(30):
        return np.array(mp.expm(mp.matrix(x.tolist())).tolist(), float)


def reflected(vectors: Array, factors: Array) -> Array:
    """Return the product of I - tau v v^H, where v is 1 on the diagonal and 0 above."""
    rows = vectors.shape[0]
    result = np.eye(rows, dtype=vectors.dtype)
    for k, tau in enumerate(factors):
        v = np.concatenate([np.zeros(k), [1.0], vectors[k + 1 :, k]])
        result = result @ (np.eye(rows) - tau * np.outer(v, v.conj()))
    return result


def turned(x: Array) -> Array:
    return x.swapaxes(-1, -2)


SQUARE, THREE = normal(3, 3), normal(2, 3, 3)
TURNS = np.array([[1 + 1j, 2.0, 0.5j], [0.0, 3j, 1.0], [2.0, -1j, 1 - 1j]])
LOWER = np.tril(normal(2, 3, 3), -1) + np.diag([1.0, 2.0, 0.5])
UPPER = turned(LOWER)
POSITIVE = LOWER @ UPPER
SIDES = normal(2, 3, 2)
FULL = LOWER + np.triu(normal(2, 3, 3), 1)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
NEGATIVE = np.array([[1.0, 0.0], [0.0, -4.0]])
TALL = normal(2, 4, 2)
STRETCHES = np.linalg.eigvalsh(turned(TALL) @ TALL)  # the squares of the singular values, the smaller one first
RANK_ONE = np.outer([1.0, 2.0, -1.0], [3.0, 0.5])
TAUS, VECTORS, OTHER = normal(3), normal(4, 3), normal(4, 2)
Q = reflected(VECTORS, TAUS)
TURNED_VECTORS, TURNED_TAUS = VECTORS + 0.5j * normal(4, 3), TAUS - 0.25j
TURNED_Q = reflected(TURNED_VECTORS, TURNED_TAUS)
PIVOTS = np.array([[2, 3, 3], [3, 3, 3]], np.int32)
EXCHANGES = np.array([[1, 2, 0], [2, 0, 1]])  # the rows of A that come first, second and third in L @ U


def assembled(packed: Array) -> Array:
    """Return the matrices whose rows, exchanged, are L @ U."""
    product = (np.tril(packed, -1) + np.eye(3)) @ np.triu(packed)
    result = np.empty_like(product)
    for matrix, rows, order in zip(result, product, EXCHANGES, strict=True):
        matrix[order] = rows
    return result


PACKED = FULL + 2 * np.eye(3)


def f32(values: Any) -> Array:
    return np.asarray(values, np.float32)


BATCHED, BATCHED_TAUS = normal(2, 3, 4, 2), normal(2, 3, 2)
SOLID = normal(2, 3, 4)
MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def normed(x: Array, order: Any, axes: tuple[int, int], keep: bool) -> Array:
    """Return NumPy's norms of matrices."""
    return np.asarray(np.linalg.norm(x, order, axes, keep))


CASES: dict[str, list[Case]] = {
    "MatrixInverse": [
        (lambda: ops.MatrixInverse()(Tensor(THREE)), inverted(THREE)),
        (lambda: ops.MatrixInverse(adjoint=True)(Tensor(TURNS)), inverted(TURNS).T.conj()),
    ],
    "slogdet": [
        (lambda: ops.slogdet(Tensor(THREE)), (np.sign(determinant(THREE)), np.log(abs(determinant(THREE))))),
        (lambda: Tensor(f32(SINGULAR)).slogdet(), (np.float32(0), np.float32(-np.inf))),
        # Both of the dtype of the matrix, as in MindSpore.
        (
            lambda: ops.LogMatrixDeterminant()(Tensor(TURNS)),
            (determinant(TURNS) / abs(determinant(TURNS)), np.complex128(np.log(abs(determinant(TURNS))))),
        ),
    ],
    "logdet": [
        (lambda: ops.logdet(Tensor(POSITIVE)), np.log(determinant(POSITIVE))),
        (lambda: Tensor(f32([NEGATIVE, SINGULAR])).logdet(), f32([np.nan, -np.inf])),
        (lambda: ops.logdet(Tensor(TURNS)), np.log(determinant(TURNS))),
    ],
    "cholesky": [
        (lambda: ops.cholesky(Tensor(POSITIVE)), LOWER),
        (lambda: Tensor(POSITIVE).cholesky(upper=True), UPPER),
        (lambda: ops.Cholesky(upper=True)(Tensor(f32(POSITIVE))), f32(UPPER)),
        (lambda: ops.cholesky(Tensor(np.tril(POSITIVE))), LOWER),
    ],
    "cholesky_inverse": [
        (lambda: ops.cholesky_inverse(Tensor(LOWER)), inverted(POSITIVE)),
        (lambda: Tensor(UPPER).cholesky_inverse(True), inverted(POSITIVE)),
        (lambda: ops.CholeskyInverse(upper=True)(Tensor(UPPER[0])), inverted(POSITIVE[0])),
    ],
    "cholesky_solve": [
        (lambda: ops.cholesky_solve(Tensor(SIDES), Tensor(LOWER)), inverted(POSITIVE) @ SIDES),
        (lambda: Tensor(SIDES).cholesky_solve(Tensor(UPPER), upper=True), inverted(POSITIVE) @ SIDES),
        # One triangle of the factor is read, as by MindSpore and LAPACK.
        (lambda: ops.cholesky_solve(Tensor(SIDES), Tensor(FULL)), inverted(POSITIVE) @ SIDES),
        (lambda: ops.CholeskySolve(upper=True)(Tensor(SIDES[0]), Tensor(FULL[0].T)), inverted(POSITIVE[0]) @ SIDES[0]),
    ],
    "pinv": [
        (lambda: ops.pinv(Tensor(TALL)), inverted(turned(TALL) @ TALL) @ turned(TALL)),
        (lambda: Tensor(turned(TALL)).pinv(), TALL @ inverted(turned(TALL) @ TALL)),
        (lambda: ops.pinv(Tensor(RANK_ONE)), RANK_ONE.T / (RANK_ONE**2).sum()),
        (lambda: ops.pinv(Tensor(np.diag([2.0, 0.5, 0.1])), atol=0.2), np.diag([0.5, 2.0, 0.0])),
        (lambda: ops.pinv(Tensor(np.diag([2.0, 0.5, 0.1])), rtol=0.2), np.diag([0.5, 2.0, 0.0])),
        (lambda: ops.pinv(Tensor(np.diag([2.0, 0.5, 0.1])), atol=0.6, rtol=0.2), np.diag([0.5, 0.0, 0.0])),
        (lambda: ops.pinv(Tensor(POSITIVE), hermitian=True), inverted(POSITIVE)),
        (lambda: ops.pinv(Tensor(np.zeros((2, 3)))), np.zeros((3, 2))),
        (lambda: ops.pinv(Tensor(TURNS)), inverted(TURNS)),
    ],
    "matrix_power": [
        *(
            (lambda n=n: ops.matrix_power(Tensor(THREE), n), np.array([np.linalg.matrix_power(x, n) for x in THREE]))
            for n in (1, 2, 3, 6, 7)
        ),
        (lambda: ops.matrix_power(Tensor(THREE), 0), np.array([np.eye(3)] * 2)),
        (lambda: Tensor(THREE).matrix_power(-3), inverted(THREE) @ inverted(THREE) @ inverted(THREE)),
        (
            lambda: ops.MatrixPower(9)(Tensor(np.array([[1, 1], [1, 0]], np.int32))),
            np.array([[55, 34], [34, 21]], np.int32),
        ),
    ],
    "matrix_exp": [
        (lambda: ops.matrix_exp(Tensor(THREE)), np.array([exponential(x) for x in THREE])),
        (
            lambda: ops.MatrixExp()(Tensor(np.array([[0.0, 30.0], [-30.0, 0.0]]))),
            np.array([[math.cos(30), math.sin(30)], [-math.sin(30), math.cos(30)]]),
        ),
        (lambda: ops.matrix_exp(Tensor(np.diag([0.125, -0.1]))), np.diag(np.exp([0.125, -0.1]))),
        (lambda: ops.matrix_exp(Tensor(np.zeros((2, 2)))), np.eye(2)),
    ],
    "cond": [
        (lambda: ops.cond(Tensor(np.diag([3.0, -0.5, 6.0]))), np.float64(12)),
        (lambda: ops.cond(Tensor(np.diag([3.0, -0.5, 6.0])), 2), np.float64(12)),
        (lambda: ops.cond(Tensor(np.diag([3.0, -0.5, 6.0])), -2), np.float64(1 / 12)),
        (lambda: ops.cond(Tensor(turned(TALL))), np.sqrt(STRETCHES[:, 1] / STRETCHES[:, 0])),
        *(
            (lambda p=p: ops.cond(Tensor(THREE), p), np.array([norm(x) * norm(inverted(x)) for x in THREE]))
            for p, norm in (
                (1, lambda x: abs(x).sum(0).max()),
                (-1, lambda x: abs(x).sum(0).min()),
                (np.inf, lambda x: abs(x).sum(1).max()),
                (-np.inf, lambda x: abs(x).sum(1).min()),
                ("fro", lambda x: np.sqrt((x * x).sum())),
                ("nuc", lambda x: np.sqrt(np.linalg.eigvalsh(x.T @ x)).sum()),
            )
        ),
    ],
    "ormqr": [
        (lambda: ops.ormqr(Tensor(VECTORS), Tensor(TAUS), Tensor(OTHER)), Q @ OTHER),
        (lambda: ops.ormqr(Tensor(VECTORS), Tensor(TAUS), Tensor(OTHER), transpose=True), Q.T @ OTHER),
        (lambda: Tensor(VECTORS).ormqr(Tensor(TAUS), Tensor(OTHER.T), False), OTHER.T @ Q),
        (lambda: ops.Ormqr(left=False, transpose=True)(Tensor(VECTORS), Tensor(TAUS), Tensor(OTHER.T)), OTHER.T @ Q.T),
        (lambda: ops.ormqr(Tensor(VECTORS), Tensor(TAUS[:2]), Tensor(OTHER)), reflected(VECTORS, TAUS[:2]) @ OTHER),
        (lambda: ops.ormqr(Tensor(TURNED_VECTORS), Tensor(TURNED_TAUS), Tensor(OTHER + 0j)), TURNED_Q @ OTHER),
        (
            lambda: ops.ormqr(Tensor(TURNED_VECTORS), Tensor(TURNED_TAUS), Tensor(OTHER + 0j), transpose=True),
            TURNED_Q.conj().T @ OTHER,
        ),
        (lambda: ops.orgqr(Tensor(TURNED_VECTORS), Tensor(TURNED_TAUS)), TURNED_Q[:, :3]),
    ],
    "orgqr": [
        (
            lambda: ops.orgqr(Tensor(BATCHED), Tensor(BATCHED_TAUS)),
            np.array(
                [
                    [reflected(v, t)[:, :2] for v, t in zip(*row, strict=True)]
                    for row in zip(BATCHED, BATCHED_TAUS, strict=True)
                ]
            ),
        )
    ],
    "norm": [
        *(
            (
                lambda p=p, axes=axes, keep=keep: ops.matrix_norm(Tensor(SOLID), p, axes, keep),
                normed(SOLID, p, axes, keep),
            )
            for p in MATRIX_NORMS
            for axes in ((-2, -1), (0, 2), (2, 1))
            for keep in (False, True)
        ),
        *(
            (
                lambda p=p: ops.matrix_norm(Tensor(f32(SOLID)), p, (0, 1), dtype=ms.float64),
                normed(f32(SOLID).astype(np.float64), p, (0, 1), False),
            )
            for p in MATRIX_NORMS
        ),
        (lambda: ops.norm(Tensor(np.array([[3, 0], [0, -4]])), dtype=ms.float64), np.float64(5)),
        (
            lambda: Tensor(f32(SOLID)).norm(3, 1, True, dtype=ms.float64),
            (abs(f32(SOLID).astype(np.float64)) ** 3).sum(1, keepdims=True) ** (1 / 3),
        ),
    ],
    "lu_solve": [
        (lambda: ops.lu_solve(Tensor(SIDES), Tensor(PACKED), Tensor(PIVOTS)), inverted(assembled(PACKED)) @ SIDES),
        (
            lambda: Tensor(SIDES[..., 0]).lu_solve(Tensor(PACKED), Tensor(PIVOTS)),
            (inverted(assembled(PACKED)) @ SIDES)[..., 0],
        ),
        (
            lambda: ops.LuSolve()(Tensor(SIDES[0]), Tensor(PACKED[0]), Tensor(PIVOTS[0])),
            inverted(assembled(PACKED))[0] @ SIDES[0],
        ),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_function_of_matrices_is_what_defines_it(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


def test_the_class_of_qr_gives_lapacks_factors_in_both_forms() -> None:
    for x in (normal(4, 2), normal(3, 3), normal(2, 4)):
        for full, mode in ((False, "economic"), (True, "full")):
            want = tuple(scipy.linalg.qr(x, mode=mode))
            same(ops.Qr(full_matrices=full)(Tensor(x)), want)
    pairs = [scipy.linalg.qr(x, mode="economic") for x in TALL]
    same(ops.Qr()(Tensor(TALL)), tuple(np.array([pair[i] for pair in pairs]) for i in (0, 1)))


def test_the_class_of_eig_gives_vectors_only_on_demand() -> None:
    x = np.array([[2.0, 1.0], [0.0, -3.0]])
    values, vectors = ops.Eig(compute_v=True)(Tensor(x))
    assert sorted(values.tolist(), key=lambda v: v.real) == [-3, 2]
    for value, vector in zip(values.asnumpy(), vectors.asnumpy().T, strict=True):
        np.testing.assert_allclose(x @ vector, value * vector, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(vector), 1.0)
    alone, nothing = ops.Eig()(Tensor(x))
    same(alone, values.asnumpy())
    assert nothing.item() == 0.0


def test_geqrf_and_ormqr_of_complex_matrices_undo_each_other() -> None:
    x = normal(3, 3) + 1j * normal(3, 3)
    packed, factors = ops.geqrf(Tensor(x))
    same(ops.ormqr(packed, factors, ops.triu(packed)), x)
    same(ops.ormqr(packed, factors, Tensor(x), transpose=True), np.triu(packed.asnumpy()))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3)])
def test_svd_of_complex_matrices_gives_v_not_its_conjugate(shape: tuple[int, int], full: bool) -> None:
    x = normal(*shape) + 1j * normal(*shape)
    k = min(shape)
    s, u, v = ops.svd(Tensor(x), full)
    assert (u.shape, v.shape) == (((shape[0],) * 2, (shape[1],) * 2) if full else ((shape[0], k), (shape[1], k)))
    same(ops.matmul(u[:, :k] * s, ops.adjoint(v[:, :k])), x)
    for variant in (u, v):
        same(ops.adjoint(variant) @ variant, np.eye(variant.shape[1]) + 0j)
    agrees(lambda a, b: ops.svd(ops.complex(a, b), full)[0], x.real, x.imag)


@pytest.mark.parametrize("x", [1000.0, 1e6])
def test_matrix_exp_of_what_falls_far_is_zero(x: float) -> None:
    assert ops.matrix_exp(Tensor(np.diag([-x, -x]))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


GRADIENTS: dict[str, tuple[Callable[..., Tensor], list[Array]]] = {
    "MatrixInverse": (ops.MatrixInverse(adjoint=True), [THREE]),
    "slogdet": (lambda x: ops.slogdet(x)[1], [THREE]),
    "logdet": (ops.logdet, [POSITIVE]),
    "cholesky": (lambda x: ops.cholesky(x + ops.swapaxes(x, -1, -2), True), [POSITIVE]),
    "cholesky_inverse": (ops.cholesky_inverse, [LOWER]),
    "cholesky_solve": (ops.cholesky_solve, [SIDES, FULL]),
    "cholesky_solve upper": (lambda b, x: ops.cholesky_solve(b, x, True), [SIDES, FULL]),
    "pinv": (ops.pinv, [TALL[0]]),
    "matrix_power": (lambda x: ops.matrix_power(x, 5), [SQUARE]),
    "matrix_power 0": (lambda x: ops.matrix_power(x, 0), [SQUARE]),
    "matrix_power -2": (lambda x: ops.matrix_power(x, -2), [SQUARE]),
    "matrix_exp": (ops.matrix_exp, [THREE]),
    "cond": (ops.cond, [SQUARE]),
    "cond 1": (lambda x: ops.cond(x, 1), [SQUARE]),
    "Qr": (lambda x: ops.Qr()(x)[1], [TALL]),
    "ormqr": (ops.ormqr, [VECTORS, TAUS, OTHER]),
    "lu_solve": (lambda b, x: ops.lu_solve(b, x, Tensor(PIVOTS)), [SIDES, PACKED]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_function_of_matrices_has_the_gradient_of_differences(name: str) -> None:
    function, inputs = GRADIENTS[name]
    agrees(function, *inputs)


@pytest.mark.parametrize("part", [ops.real, ops.imag])
def test_logdet_of_complex_matrices_has_the_gradient_of_differences(part: Callable[..., Tensor]) -> None:
    agrees(lambda x, y: part(ops.logdet(ops.complex(x, y))), TURNS.real, TURNS.imag)
    agrees(lambda x, y: ops.real(ops.slogdet(ops.complex(x, y))[1]), TURNS.real, TURNS.imag)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.slogdet(Tensor(TALL)),
            ValueError,
            "For 'slogdet', 'input' must be square matrices, but got shape (2, 4, 2)",
        ),
        (lambda: ops.cond(Tensor(SINGULAR), 1), ValueError, "Singular matrix"),
        (lambda: ops.cholesky(Tensor(NEGATIVE)), ValueError, "Matrix is not positive definite"),
        (
            lambda: ops.matrix_power(Tensor(SQUARE), 2.0),
            TypeError,
            "For 'matrix_power', 'n' must be an int, but got float",
        ),
        (lambda: ops.matrix_power(Tensor(SINGULAR), -1), ValueError, "Singular matrix"),
        *(
            (
                lambda p=p: ops.matrix_norm(Tensor(SQUARE), p),
                ValueError,
                f"For 'matrix_norm', 'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {p!r}",
            )
            for p in (3, -3, 0, 0.5, "two")
        ),
        (lambda: ms.Tensor(SQUARE[0]).pinv(), ValueError, "For 'pinv', 'x' must be matrices, but got shape (3,)"),
    ],
)
def test_a_function_of_matrices_refuses_what_it_is_not_defined_for(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
