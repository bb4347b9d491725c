"""Products of vectors, matrices and batches: beside sums term by term, and their gradients beside differences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from function_cases import Array, Case, agrees, listed, same

from hookscope.engine import Tensor, mint, ops

RNG = np.random.default_rng(3)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def summed(terms: Sequence[str], result: str, *operands: Array) -> Array:
    """Add for all values of the letters the product of the operands' elements to that of the result; return it."""
    sizes: dict[str, int] = {}
    for x, term in zip(operands, terms, strict=True):
        for letter, length in zip(term, x.shape, strict=True):
            sizes[letter] = max(length, sizes.get(letter, 1))
    actual = np.zeros([sizes[c] for c in result], np.result_type(*operands))
    for values in itertools.product(*(range(n) for n in sizes.values())):
        at = dict(zip(sizes, values, strict=True))
        product = 1
        for x, term in zip(operands, terms, strict=True):
            product = product * x[tuple(at[c] if n > 1 else 0 for c, n in zip(term, x.shape, strict=True))]
        actual[tuple(at[c] for c in result)] += product
    return actual


# An equation, its expanded form letter by letter, and the lengths of the operands.
EQUATIONS: dict[str, tuple[list[str], str, list[tuple[int, ...]]]] = {
    "ij,jk->ik": (["ij", "jk"], "ik", [(2, 3), (3, 4)]),
    " i j , j k ": (["ij", "jk"], "ik", [(2, 3), (3, 4)]),
    "kj,ji": (["kj", "ji"], "ik", [(2, 3), (3, 4)]),
    "ba": (["ba"], "ab", [(2, 3)]),
    "ii": (["ii"], "", [(3, 3)]),
    "ii->i": (["ii"], "i", [(3, 3)]),
    "iji->j": (["iji"], "j", [(2, 3, 2)]),
    "ij->": (["ij"], "", [(2, 3)]),
    ",->": (["", ""], "", [(), ()]),
    "i,j,k->kji": (["i", "j", "k"], "kji", [(2,), (3,), (2,)]),
    "ij,jk,kl->il": (["ij", "jk", "kl"], "il", [(2, 3), (3, 2), (2, 4)]),
    "ij,jk->ki": (["ij", "jk"], "ki", [(2, 1), (3, 4)]),
    "...ij,...jk->...ik": (["abij", "bjk"], "abik", [(2, 3, 2, 3), (3, 3, 2)]),
    "...i,...i": (["ai", "ai"], "a", [(4, 3), (1, 3)]),
    "i...,j->...ji": (["iab", "j"], "abji", [(2, 3, 2), (2,)]),
    "...->": (["ab"], "", [(2, 3)]),
    "B...,b->b": (["Bxy", "b"], "b", [(2, 2, 2), (3,)]),
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_adds_the_product_of_each_choice_of_letters(equation: str) -> None:
    terms, result, shapes = EQUATIONS[equation]
    operands = [normal(*shape) for shape in shapes]
    want = summed(terms, result, *operands)
    tensors = [Tensor(x) for x in operands]
    same(ops.einsum(equation, *tensors), want)
    same(mint.einsum(equation, tensors), want)
    same(ops.Einsum(equation)(tuple(tensors)), want)
    agrees(lambda *x: ops.einsum(equation, *x), *operands)


def test_einsum_computes_in_the_dtype_that_all_promote_to() -> None:
    x, y = RNG.integers(-5, 5, (2, 3)).astype(np.int32), RNG.integers(-5, 5, (3, 2)).astype(np.float16)
    same(ops.einsum("ij,jk->ik", Tensor(x), Tensor(y)), (x @ y.astype(np.int32)).astype(np.float16))
    same(ops.einsum("ij,jk", Tensor(x), Tensor(x.T.astype(np.int64))), x @ x.T.astype(np.int64))
    same(ops.einsum("ij,jk", Tensor(x + 1j), Tensor(y.astype(np.float64))), (x + 1j) @ y.astype(np.float64))


@pytest.mark.parametrize(
    ("equation", "shapes", "text"),
    [
        ("ij,jk", [(2, 3)], "'ij,jk' names 2 operands, but got 1"),
        ("ijk", [(2, 3)], "'ijk' does not fit an operand of 2 axes"),
        ("i", [(2, 3)], "'i' does not fit an operand of 2 axes"),
        ("...ijk", [(2, 3)], "'...ijk' does not fit an operand of 2 axes"),
        ("ij,jk", [(2, 3), (4, 2)], "'j' has the lengths 3 and 4"),
    ],
)
def test_einsum_refuses_what_does_not_fit(equation: str, shapes: list[tuple[int, ...]], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"For 'einsum', {text}")):
        ops.einsum(equation, *(Tensor(normal(*shape)) for shape in shapes))


M, N, WIDE = normal(2, 3), normal(3, 4), normal(2, 4)
B, C = normal(5, 2, 3), normal(5, 3, 4)
U, V, ROW = normal(2), normal(3), normal(4)
INTS = np.array([[1, -2, 3], [4, 0, -6]])


def batched(x: Array, y: Array, own: int, other: int) -> Array:
    """Return NumPy's sum over one axis of each, entry by entry of the batch."""
    own, other = own % x.ndim - 1, other % y.ndim - 1
    result = np.array([np.tensordot(a, b, ((own,), (other,))) for a, b in zip(x, y, strict=True)])
    return result.reshape(-1, 1) if result.ndim == 1 else result


def dotted(a: tuple[int, ...], b: tuple[int, ...], axes: Any, own: int, other: int) -> Case:
    x, y = normal(*a), normal(*b)
    return lambda: ops.batch_dot(Tensor(x), Tensor(y), axes), batched(x, y, own, other)


def multiplied(a: tuple[int, ...], b: tuple[int, ...], ta: bool, tb: bool) -> Case:
    x, y = normal(*a), normal(*b)
    want = np.matmul(x.swapaxes(-1, -2) if ta else x, y.swapaxes(-1, -2) if tb else y)
    return lambda: ops.matmul(Tensor(x), Tensor(y), ta, tb), want


CASES: dict[str, list[Case]] = {
    "matmul": [
        multiplied((2, 3), (3, 4), False, False),
        multiplied((3, 2), (3, 4), True, False),
        multiplied((2, 3), (4, 3), False, True),
        multiplied((3, 2), (4, 3), True, True),
        multiplied((5, 3, 2), (5, 3, 4), True, False),
        multiplied((5, 2, 3), (4, 3), False, True),
        multiplied((6, 1, 3, 2), (5, 4, 3), True, True),
        multiplied((3,), (5, 4, 3), False, True),
        multiplied((5, 3, 2), (3,), True, False),
        multiplied((3,), (3,), False, False),
    ],
    "addmm": [
        (lambda: ops.addmm(Tensor(WIDE), Tensor(M), Tensor(N)), WIDE + M @ N),
        (lambda: Tensor(ROW).addmm(Tensor(M), Tensor(N), beta=0.5, alpha=-2), 0.5 * ROW - 2 * (M @ N)),
        (
            lambda: mint.addmm(Tensor(INTS[:, :2]), Tensor(INTS), Tensor(INTS.T), beta=3),
            3 * INTS[:, :2] + INTS @ INTS.T,
        ),
    ],
    "addmv": [
        (lambda: ops.addmv(Tensor(U), Tensor(M), Tensor(V)), U + M @ V),
        (lambda: Tensor(1.0).addmv(Tensor(M), Tensor(V), beta=3, alpha=0.5), 3 + 0.5 * (M @ V)),
        (
            lambda: mint.addmv(Tensor(INTS[:, 0]), Tensor(INTS), Tensor(INTS[1]), alpha=2),
            INTS[:, 0] + 2 * INTS @ INTS[1],
        ),
    ],
    "baddbmm": [
        (lambda: ops.baddbmm(Tensor(WIDE), Tensor(B), Tensor(C)), WIDE + B @ C),
        (lambda: Tensor(B @ C).baddbmm(Tensor(B), Tensor(C), beta=2, alpha=0.5), 2.5 * (B @ C)),
        (lambda: mint.baddbmm(Tensor(ROW), Tensor(B), Tensor(C), beta=0, alpha=3), 3 * (B @ C)),
    ],
    "addbmm": [
        (lambda: ops.addbmm(Tensor(WIDE), Tensor(B), Tensor(C)), WIDE + sum(b @ c for b, c in zip(B, C, strict=True))),
        (
            lambda: mint.addbmm(Tensor(ROW), Tensor(B), Tensor(C), beta=2.0, alpha=-1),
            2 * ROW - sum(b @ c for b, c in zip(B, C, strict=True)),
        ),
    ],
    "outer": [
        (lambda: ops.outer(Tensor(U), Tensor(V)), np.array([[a * b for b in V] for a in U])),
        (lambda: mint.outer(Tensor(INTS[0]), Tensor(V)), np.array([[a * b for b in V] for a in INTS[0]])),
        (lambda: ops.Ger()(Tensor(U.astype(np.float32)), Tensor(np.float32([0, 1]))), np.float32([[0, u] for u in U])),
    ],
    "addr": [
        (
            lambda: ops.addr(Tensor(M), Tensor(U), Tensor(V)),
            np.array([[M[i, j] + U[i] * V[j] for j in range(3)] for i in range(2)]),
        ),
        (lambda: Tensor(V).addr(Tensor(U), Tensor(V), beta=0.5, alpha=-2), 0.5 * V - 2 * U[:, None] * V),
    ],
    "dot": [
        (lambda: ops.dot(Tensor(M), Tensor(N)), M @ N),
        (lambda: Tensor(B).dot(Tensor(C)), summed(["abi", "cid"], "abcd", B, C)),
        (lambda: ops.dot(Tensor(M), Tensor(C)), summed(["bi", "cid"], "bcd", M, C)),
    ],
    "inner": [
        (lambda: ops.inner(Tensor(V), Tensor(V)), np.float64(sum(v * v for v in V))),
        (lambda: Tensor(B).inner(Tensor(M)), summed(["abi", "ci"], "abc", B, M)),
        (lambda: ops.inner(Tensor(2.0), Tensor(INTS)), (2.0 * INTS).astype(np.float32)),
        (lambda: ops.inner(Tensor(M), Tensor(np.float64(-3))), M * -3),
    ],
    "tensor_dot": [
        (lambda: ops.tensor_dot(Tensor(M), Tensor(N), 1), M @ N),
        (lambda: ops.tensor_dot(Tensor(U), Tensor(V), 0), np.array([[a * b for b in V] for a in U])),
        (lambda: ops.tensor_dot(Tensor(B), Tensor(B), 3), np.float64((B * B).sum())),
        (lambda: ops.tensor_dot(Tensor(B), Tensor(C), ((0, 2), (0, 1))), summed(["abc", "acd"], "bd", B, C)),
        (lambda: ops.tensor_dot(Tensor(B), Tensor(C), ([-1, 0], [-2, 0])), summed(["abc", "acd"], "bd", B, C)),
        (lambda: ops.tensor_dot(Tensor(M), Tensor(M), (0, 0)), M.T @ M),
    ],
    "batch_dot": [
        dotted((2, 3), (2, 3), None, 1, 1),
        dotted((2, 3, 4), (2, 4, 5), None, 2, 1),
        dotted((2, 3, 4), (2, 4), None, 2, 1),
        dotted((2, 3), (2, 3, 4), None, 1, 1),
        dotted((2, 3, 4), (2, 3, 5), 1, 1, 1),
        dotted((2, 3, 4), (2, 3, 4), -1, -1, -1),
        dotted((2, 3, 4), (2, 5, 3), (1, 2), 1, 2),
        dotted((2, 3, 4), (2, 4, 3), [-1, -2], -1, -2),
        dotted((2, 3, 4, 5), (2, 5, 4), (2, 2), 2, 2),
    ],
    "vecdot": [
        (
            lambda: ops.vecdot(Tensor(M), Tensor(V)),
            np.array([sum(a * b for a, b in zip(row, V, strict=True)) for row in M]),
        ),
        (lambda: ops.vecdot(Tensor(B), Tensor(M), axis=0), summed(["abc", "xbc"], "bc", B, M[None])),
        (lambda: ops.vecdot(Tensor(B), Tensor(B), axis=-2), (B * B).sum(1)),
        # Of complex vectors the first is conjugated, as by MindSpore: the square of a length is real.
        (lambda: ops.vecdot(Tensor([1 + 1j, 2j]), Tensor([3 + 0j, 1j])), np.complex128(5 - 3j)),
    ],
    "bidense": [
        (lambda: ops.bidense(Tensor(M), Tensor(WIDE), Tensor(C)), summed(["bi", "bj", "kij"], "bk", M, WIDE, C)),
        (
            lambda: ops.bidense(Tensor(B), Tensor(B @ N), Tensor(C), Tensor(C[:, 0, 0])),
            summed(["abi", "abj", "kij"], "abk", B, B @ N, C) + C[:, 0, 0],
        ),
        (lambda: ops.bidense(Tensor(V), Tensor(ROW), Tensor(C)), np.array([V @ item @ ROW for item in C])),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_product_is_its_sum_of_terms(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


GRADIENTS: dict[str, tuple[Callable[..., Tensor], list[Array]]] = {
    "matmul": (lambda x, y: ops.matmul(x, y, True, True), [normal(2, 1, 3, 2), normal(2, 4, 3)]),
    "matmul of a vector": (lambda x, y: ops.matmul(x, y, False, True), [normal(3), normal(2, 4, 3)]),
    "matmul by a vector": (lambda x, y: ops.matmul(x, y, True), [normal(2, 3, 2), normal(3)]),
    "addmm": (lambda x, y, z: ops.addmm(x, y, z, beta=0.5, alpha=-2.0), [ROW, M, N]),
    "addmv": (lambda x, y, z: ops.addmv(x, y, z, beta=0.5, alpha=-2.0), [U, M, V]),
    "baddbmm": (lambda x, y, z: ops.baddbmm(x, y, z, 0.5, -2.0), [WIDE, B[:2], C[:2]]),
    "addbmm": (lambda x, y, z: ops.addbmm(x, y, z, beta=0.5, alpha=-2.0), [ROW, B[:2], C[:2]]),
    "outer": (ops.outer, [U, V]),
    "addr": (lambda x, y, z: ops.addr(x, y, z, beta=0.5, alpha=-2.0), [V, U, V]),
    "dot": (ops.dot, [M, C[:2]]),
    "inner": (ops.inner, [B[:2], M]),
    "tensor_dot": (lambda x, y: ops.tensor_dot(x, y, ((0, 2), (0, 1))), [B[:2], C[:2]]),
    "batch_dot": (lambda x, y: ops.batch_dot(x, y, (1, 2)), [normal(2, 3, 2), normal(2, 2, 3)]),
    "vecdot": (ops.vecdot, [M, V]),
    "bidense": (ops.bidense, [M, WIDE, C[:2], U]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_product_has_the_gradient_of_differences(name: str) -> None:
    function, inputs = GRADIENTS[name]
    agrees(function, *inputs)


def refused(call: Callable[[], Any], text: str) -> Any:
    return pytest.param(call, text, id=text.split("'")[1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        refused(
            lambda: ops.baddbmm(Tensor(M), Tensor(M), Tensor(C)),
            "For 'baddbmm', 'batch1' and 'batch2' must be as many matrices, but got shapes (2, 3) and (5, 3, 4)",
        ),
        refused(
            lambda: ops.addbmm(Tensor(M), Tensor(B), Tensor(N)),
            "For 'addbmm', 'batch1' and 'batch2' must be as many matrices, but got shapes (5, 2, 3) and (3, 4)",
        ),
        refused(lambda: ops.outer(Tensor(M), Tensor(V)), "For 'outer', 'input' must have 1 axes, but got shape (2, 3)"),
        refused(
            lambda: ops.dot(Tensor(V), Tensor(N)),
            "For 'dot', both tensors must have at least 2 axes, but got (3,) and (3, 4)",
        ),
        refused(
            lambda: ops.tensor_dot(Tensor(M), Tensor(N), 3), "For 'tensor_dot', 'axes' must be in [0, 2], but got 3"
        ),
        refused(
            lambda: ops.tensor_dot(Tensor(M), Tensor(N), ((1,), (1,))),
            "For 'tensor_dot', the axes (1,) of (2, 3) and (1,) of (3, 4) must have the same lengths",
        ),
        refused(
            lambda: ops.inner(Tensor(M), Tensor(N)),
            "For 'inner', the axes (1,) of (2, 3) and (1,) of (3, 4) must have the same lengths",
        ),
        refused(
            lambda: ops.cross(Tensor(N), Tensor(N), 1),
            "For 'cross', an axis must have length 3 in both, but got (3, 4) and (3, 4)",
        ),
        refused(
            lambda: ops.cross(Tensor(M), Tensor(M[:, :1])),
            "For 'cross', an axis must have length 3 in both, but got (2, 3) and (2, 1)",
        ),
        refused(
            lambda: ops.cross(Tensor(M[:, :2]), Tensor(M[:, :2])),
            "For 'cross', an axis must have length 3 in both, but got (2, 2) and (2, 2)",
        ),
        refused(lambda: ops.mv(Tensor(V), Tensor(M)), "For 'mv', 'mat' must have 2 axes, but got shape (3,)"),
        refused(
            lambda: ops.dot(Tensor(M), Tensor(M)),
            "For 'dot', the axes (1,) of (2, 3) and (0,) of (2, 3) must have the same lengths",
        ),
    ],
)
def test_a_product_refuses_what_does_not_fit(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        call()


def test_products_of_batches_take_two_matrices_too() -> None:
    a = Tensor(np.arange(9.0, dtype=np.float32).reshape(3, 3))
    # recorded from MindSpore 2.10
    assert ops.addbmm(a, a, a).asnumpy().tolist() == [[126, 163, 200], [129, 166, 203], [132, 169, 206]]
    assert a.baddbmm(a, a).asnumpy().tolist() == [[15, 19, 23], [45, 58, 71], [75, 97, 119]]
    for first, second in ((a[0], a), (a[None], a), (a[None], Tensor(np.ones((2, 3, 3), np.float32)))):
        for call in (ops.addbmm, ops.baddbmm):
            with pytest.raises(ValueError, match="'batch1' and 'batch2' must be as many matrices, but got shapes"):
                call(a, first, second)


def test_conjugate_transpose_orders_the_axes_as_it_is_told() -> None:
    x = (np.arange(24) + 1j * np.arange(24, 0, -1)).reshape(2, 3, 4).astype(np.complex64)
    np.testing.assert_array_equal(ops.ConjugateTranspose()(Tensor(x), (2, 0, 1)).asnumpy(), x.conj().transpose(2, 0, 1))
    real = ops.ConjugateTranspose()(Tensor(x.real.copy()), (1, 0, 2)).asnumpy()
    np.testing.assert_array_equal(real, x.real.transpose(1, 0, 2))
    with pytest.raises(ValueError, match="must be a permutation of the 3 axes"):
        ops.ConjugateTranspose()(Tensor(x), (0, 0, 1))
