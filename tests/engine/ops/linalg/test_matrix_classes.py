"""Logarithms of matrices, least squares, three diagonals, the incomplete beta function: SciPy and MindSpore 2.10."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees
from scipy import linalg, special

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

_numbers = np.random.default_rng(9)
TURNS = _numbers.standard_normal((2, 3, 3)) + 1j * _numbers.standard_normal((2, 3, 3))
TALL, SIDES = _numbers.standard_normal((2, 5, 3)), _numbers.standard_normal((2, 5, 2))
L2 = Tensor(0.5, ms.float64)
NAN = float("nan")
NONE = Tensor(0.0, ms.float64)


def test_the_logarithm_of_a_matrix_is_mindspores_and_scipys() -> None:
    result = ops.MatrixLogarithm()(Tensor(np.array([[1 + 2j, 2 + 1j], [4 + 1j, 5 + 2j]], np.complex64)))
    assert result.dtype is ms.complex64
    np.testing.assert_allclose(
        result.asnumpy(),
        [[0.69155794 + 1.71618368j, 0.64665222 - 0.34928206j], [1.02426076 - 0.88736844j, 1.44677591 + 0.64001119j]],
        rtol=2e-6,
    )  # recorded from MindSpore 2.10
    result = ops.MatrixLogarithm()(Tensor(TURNS))
    np.testing.assert_allclose(result.asnumpy(), [linalg.logm(turn) for turn in TURNS], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose([linalg.expm(item) for item in result.asnumpy()], TURNS, rtol=1e-10, atol=1e-12)
    # MindSpore's, too: the imaginary part is pi for -1, and there is none of a singular matrix.
    minus = ops.MatrixLogarithm()(Tensor(np.diag([-1.0 + 0j, 2])))
    np.testing.assert_allclose(minus.asnumpy(), np.diag([np.pi * 1j, np.log(2)]), atol=1e-15)
    assert np.isnan(ops.MatrixLogarithm()(Tensor(np.diag([0.0 + 0j, 2]))).asnumpy()).all()


@pytest.mark.parametrize("part", [ops.real, ops.imag])
def test_the_logarithm_of_a_matrix_has_the_gradient_of_differences(part: Any) -> None:
    agrees(lambda x, y: part(ops.MatrixLogarithm()(ops.complex(x, y))), TURNS.real, TURNS.imag)


def test_least_squares_are_mindspores() -> None:
    a, b = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), Tensor([[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]])
    wide, side = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), Tensor([[1.0], [2.0]])
    rows = [
        (True, a, b, 0.0, [[-0.0714286, 1.5], [0.5, -0.5]]),
        (True, a, b, 2.0, [[0.1902658, 0.340708], [0.3053095, 0.3141593]]),
        (False, a, b, 2.0, [[-0.0714286, 1.5], [0.5, -0.5]]),
        (True, wide, side, 0.0, [[-0.2285714], [0.1428571], [0.3142857]]),
        (True, wide, side, 2.0, [[0.0404858], [0.1174089], [0.1821862]]),
        (False, wide, side, 0.0, [[-0.2285714], [0.1428571], [0.3142857]]),
        (False, Tensor([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]), Tensor([[1.0], [2.0], [3.0]]), 0.0, [[0.75], [0.75]]),
    ]
    for fast, matrix, rhs, l2, expected in rows:  # recorded from MindSpore 2.10, where it has some 5 digits
        result = ops.MatrixSolveLs(fast)(matrix, rhs, Tensor(l2, ms.float64))
        assert result.dtype is ms.float32
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=2e-5, atol=2e-6)
    turns = Tensor(np.array([[1 + 1j, 2], [3, 4 - 1j], [5, 7]], np.complex64))
    result = ops.MatrixSolveLs()(turns, Tensor(np.array([[1], [2j], [3]], np.complex64)), Tensor(2.0, ms.float64))
    np.testing.assert_allclose(result.asnumpy(), [[0.2677420 + 0.2354840j], [0.1258064 - 0.0677420j]], rtol=1e-5)


@pytest.mark.parametrize("x", [TALL, np.swapaxes(TALL, 1, 2)[:, :, :3], TURNS])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_least_squares_are_those_of_a_matrix_with_more_rows(x: Any, l2: float) -> None:
    b = SIDES[:, : x.shape[1]]
    result = ops.MatrixSolveLs()(Tensor(x), Tensor(b.astype(x.dtype)), Tensor(l2, ms.float64)).asnumpy()
    for item, side, actual in zip(x, b, result, strict=True):
        more = np.concatenate([item, np.sqrt(l2) * np.eye(item.shape[1])])
        expected = np.linalg.lstsq(more, np.concatenate([side, np.zeros((item.shape[1], 2))]))[0]
        np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


def test_least_squares_have_the_gradient_of_differences() -> None:
    agrees(lambda a, b, l2: ops.MatrixSolveLs()(a, b, l2), TALL, SIDES, np.array(0.5))
    agrees(lambda a, b: ops.MatrixSolveLs()(a, b, L2), np.swapaxes(TALL, 1, 2), SIDES[:, :3])
    agrees(lambda a, b: ops.MatrixSolveLs(False)(a, b, NONE), TALL, SIDES)
    a, b = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), Tensor([[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]])
    of_a, of_b = ms.grad(lambda a, b: ops.MatrixSolveLs()(a, b, L2), (0, 1))(a, b)
    np.testing.assert_allclose(  # recorded from MindSpore 2.10
        of_a.asnumpy(), [[-0.1610531, 0.2017791], [-0.4330357, 0.1747236], [0.1982191, -0.2483438]], rtol=1e-4
    )
    np.testing.assert_allclose(of_b.asnumpy(), np.outer([-0.0981128, 0.1132075, 0.1207547], [1, 1]), rtol=1e-4)


def test_the_product_with_three_diagonals_is_that_of_the_whole_matrix() -> None:
    product = ops.TridiagonalMatMul()
    result = product(
        Tensor([[1.0, 2.0, 3.0]]),
        Tensor([[4.0, 5.0, 6.0]]),
        Tensor([[7.0, 8.0, 9.0]]),
        Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    )
    assert result.tolist() == [[7, 12], [33, 48], [57, 72]]  # recorded from MindSpore 2.10
    assert product(*(Tensor([[v]]) for v in (1.0, 4.0, 7.0)), Tensor([[2.0, 3.0]])).tolist() == [[8, 12]]
    above, main, below = (_numbers.standard_normal((2, 1, 4)) + 1j for _ in range(3))
    x = _numbers.standard_normal((2, 4, 3)) - 1j
    full = np.stack(
        [np.diag(a[0, :-1], 1) + np.diag(main[i, 0]) + np.diag(below[i, 0, 1:], -1) for i, a in enumerate(above)]
    )
    np.testing.assert_allclose(product(*map(Tensor, (above, main, below, x))).asnumpy(), full @ x, rtol=1e-12)
    agrees(product, above.real, main.real, below.real, x.real)


def test_the_incomplete_beta_function_is_scipys() -> None:
    a, b = _numbers.uniform(0.1, 9, 40), _numbers.uniform(0.1, 9, 40)
    x = np.concatenate([[0, 1], _numbers.uniform(0, 1, 38)])
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        inputs = [variant.astype(dtype) for variant in (a, b, x)]
        result = ops.Betainc()(*map(Tensor, inputs)).asnumpy()
        assert result.dtype == dtype
        np.testing.assert_allclose(
            result, special.betainc(*(item.astype(np.float64) for item in inputs)), rtol=tolerance
        )
    ends = ops.Betainc()(
        Tensor([1.0, 1, 0, -1, 2, 2, NAN]),
        Tensor([2.0, 2, 1, 1, 0, 2, 1]),
        Tensor([1.0, -0.1, 0.5, 0.5, 0.5, 1.1, 0.5]),
    )
    np.testing.assert_array_equal(ends.asnumpy(), [1, NAN, NAN, NAN, NAN, NAN, NAN])  # as MindSpore 2.10


def test_the_incomplete_beta_function_has_the_density_as_its_gradient() -> None:
    a, b = _numbers.uniform(0.5, 5, 8), _numbers.uniform(0.5, 5, 8)
    agrees(lambda x: ops.Betainc()(Tensor(a), Tensor(b), x), _numbers.uniform(0.1, 0.9, 8))
    result = ms.grad(ops.Betainc(), 2)(
        Tensor([0.3, 0.1, 0.4, 2, 5]), Tensor([0.4, 0.5, 0.9, 3, 0.5]), Tensor([0.2, 0.6, 0.5, 0.99, 0])
    )  # recorded from MindSpore 2.10
    np.testing.assert_allclose(result.asnumpy(), [0.6899629, 0.2211408, 0.6150658, 0.001188, 0], rtol=1e-5)
    # The density of beta(1, 3) is 3 at 0, that of beta(3, 1) is 3 at 1.
    edges = ms.grad(ops.Betainc(), 2)(Tensor([1.0, 3.0]), Tensor([3.0, 1.0]), Tensor([0.0, 1.0]))
    np.testing.assert_allclose(edges.asnumpy(), [3, 3], rtol=1e-6)


def test_the_incomplete_beta_function_has_gradients_by_its_orders_too() -> None:
    # The slopes of x**a, for b of 1, and of 1 - (1 - x)**b, for a of 1, at ends and at large orders too.
    a, x = np.array([0.01, 0.5, 1, 7, 60, 2, 2]), np.array([0.3, 1e-9, 0.999, 0.7, 0.98, 0, 1])
    one = np.ones_like(a)
    expected = x**a * np.log(np.where(x > 0, x, 1))
    result = ms.grad(ops.Betainc(), 0)(*map(Tensor, (a, one, x))).asnumpy()
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-13)
    result = ms.grad(ops.Betainc(), 1)(*map(Tensor, (one, a, 1 - x))).asnumpy()
    np.testing.assert_allclose(result, -expected, rtol=1e-6, atol=1e-13)
    agrees(ops.Betainc(), *(_numbers.uniform(0.5, 5, 8) for _ in range(2)), _numbers.uniform(0.1, 0.9, 8))
    half = Tensor([0.5])
    with pytest.raises(NotImplementedError, match="gradients computed by differences have no gradients"):
        ms.grad(ms.grad(ops.Betainc(), 0), 0)(half, half, half)
    second = ms.grad(ms.grad(lambda x: ops.Betainc()(half, half, x)))(Tensor([0.25]))
    # Of the density x**-1/2 (1-x)**-1/2 / pi.
    slope = (-0.5 * 0.25**-1.5 * 0.75**-0.5 + 0.5 * 0.25**-0.5 * 0.75**-1.5) / np.pi
    np.testing.assert_allclose(second.asnumpy(), [slope], rtol=1e-5)


F32 = Tensor(TALL[0].astype(np.float32))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.MatrixLogarithm()(Tensor(TURNS.real)),
            TypeError,
            "For 'MatrixLogarithm', 'x' must be complex numbers, but got Float64",
        ),
        (lambda: ops.MatrixLogarithm()(Tensor(TURNS[:, :2])), ValueError, "'x' must be square matrices"),
        (lambda: ops.MatrixLogarithm()([[1j]]), TypeError, "'x' must be a Tensor, but got list"),
        (
            lambda: ops.MatrixSolveLs()(F32, Tensor(SIDES[0]), NONE),
            TypeError,
            "For 'MatrixSolveLs', 'rhs' must be Float32 as 'matrix' is, but got Float64",
        ),
        (lambda: ops.MatrixSolveLs()(F32, F32, Tensor(0.0)), TypeError, "'l2_regularizer' must be Float64"),
        (lambda: ops.MatrixSolveLs()(F32, F32, Tensor([0.0], ms.float64)), ValueError, "must have no axes"),
        (lambda: ops.MatrixSolveLs()(F32, F32[:3], NONE), ValueError, "but got (5, 3) and (3, 3)"),
        (lambda: ops.MatrixSolveLs(1)(F32, F32, NONE), TypeError, "'fast' must be a bool, but got int"),
        (lambda: ops.MatrixSolveLs()(Tensor([[1]]), Tensor([[1]]), NONE), TypeError, "single or double precision"),
        (lambda: ops.MatrixSolveLs()(Tensor([[1.0, 1], [1, 1]]), Tensor([[1.0], [2]]), NONE), ValueError, "ingular"),
        (
            lambda: ops.TridiagonalMatMul()(*(Tensor([[1, 2]]),) * 3, Tensor([[1], [2]])),
            TypeError,
            "For 'TridiagonalMatMul', 'rhs' must be floating or complex numbers, but got Int64",
        ),
        (
            lambda: ops.TridiagonalMatMul()(*(Tensor([[1.0, 2.0]]),) * 3, F32),
            ValueError,
            "'superdiag' must have the shape (..., 1, m) for 'rhs' (..., m, n), but got (1, 2) and (5, 3)",
        ),
        (lambda: ops.TridiagonalMatMul()(*(Tensor([[1.0, 2.0]]),) * 3, Tensor(TALL[0])), TypeError, "'rhs' must be Fl"),
        (lambda: ops.TridiagonalMatMul()(*(Tensor([1.0]),) * 4), ValueError, "but got (1,) and (1,)"),
        (lambda: ops.Betainc()(Tensor([1.0, 2.0]), Tensor([1.0]), Tensor([0.5])), ValueError, "must have one shape"),
        (lambda: ops.Betainc()(Tensor([1.0]), Tensor(np.array([1.0])), Tensor([0.5])), TypeError, "'b' must be Float"),
        (lambda: ops.Betainc()(*(Tensor([1.0], ms.float16),) * 3), TypeError, "must be Float32 or Float64, but got"),
        (lambda: ops.Betainc()(1.0, 2.0, 0.5), TypeError, "'a' must be a Tensor, but got float"),
    ],
)
def test_what_is_not_defined_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
