"""Gradients of decompositions in every form: by finite differences where there is one, else an error that says so."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

RNG = np.random.default_rng(5)


def matrix(*shape: int) -> np.ndarray[Any, Any]:
    """Return a matrix of full rank, with its singular values apart."""
    u, _, v = np.linalg.svd(RNG.standard_normal(shape), full_matrices=False)
    return (u * np.arange(1.0, u.shape[-1] + 1)) @ v


def agrees(function: Any, x: np.ndarray[Any, Any]) -> None:
    """Assert that the gradient of the sum of ``function`` is that of central differences."""
    want = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-5
        high, low = (float(function(Tensor(moved)).sum().item()) for moved in (x + step, x - step))
        want[index] = (high - low) / 2e-5
    np.testing.assert_allclose(ms.grad(lambda v: function(v).sum())(Tensor(x)).asnumpy(), want, rtol=1e-6, atol=1e-7)


def weights(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape))


@pytest.mark.parametrize("shape", [(4, 2), (5, 2), (2, 4, 3), (3, 3), (2, 4), (2, 2, 5)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_r_and_the_first_columns_of_q_have_a_gradient_in_every_form(shape: tuple[int, ...], mode: str) -> None:
    x, k = matrix(*shape), min(shape[-2:])

    def both(v: Tensor) -> Tensor:
        q, r = ops.qr(v, mode)
        return (q[..., :k] * weights(*shape[:-1], k)).sum() + (r[..., :k, :] * weights(*shape[:-2], k, shape[-1])).sum()

    agrees(both, x)


@pytest.mark.parametrize("shape", [(3, 2), (2, 4, 3)])
def test_the_one_column_of_q_that_is_left_has_a_gradient(shape: tuple[int, ...]) -> None:
    agrees(lambda v: ops.qr(v, "complete")[0] * weights(*shape[:-1], shape[-2]), matrix(*shape))


def test_what_does_not_depend_on_the_basis_of_the_columns_left_has_a_gradient() -> None:
    def projected(v: Tensor) -> Tensor:
        others = ops.qr(v, "complete")[0][:, 2:]
        return ops.matmul(others, others.T) * weights(5, 5)

    agrees(projected, matrix(5, 2))


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3), (4, 2), (2, 5), (2, 3, 4)])
def test_a_full_svd_has_the_gradient_of_the_reduced_one(shape: tuple[int, ...]) -> None:
    k = min(shape[-2:])

    def full_sum(v: Tensor) -> Tensor:
        s, u, w = ops.svd(v, True)
        left, right = u[..., :k] * weights(*shape[:-1], k), w[..., :k] * weights(*shape[:-2], shape[-1], k)
        return left.sum() + right.sum() + (s * weights(k)).sum()

    agrees(full_sum, matrix(*shape))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_the_one_singular_vector_that_is_left_has_a_gradient(shape: tuple[int, int]) -> None:
    def full_sum(v: Tensor) -> Tensor:
        _, u, w = ops.svd(v, True)
        return (u * weights(shape[0], shape[0])).sum() + (w * weights(shape[1], shape[1])).sum()

    agrees(full_sum, matrix(*shape))


X = Tensor(matrix(5, 2))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda v: (ops.qr(v, "complete")[0] * weights(5, 5)).sum(), "For 'qr', .* so it has no gradient"),
        (lambda v: (ops.svd(v, True)[1] * weights(5, 5)).sum(), "For 'svd', .* so it has no gradient"),
        (lambda v: (ops.svd(v.T, True)[2] * weights(5, 5)).sum(), "For 'svd', .* so it has no gradient"),
        (lambda v: ops.geqrf(v)[0].sum(), "For 'geqrf', there is no gradient; 'qr' has one"),
        (lambda v: ops.real(ops.eigvals(v[:2])).sum(), "For 'eig', there is no gradient"),
    ],
)
def test_what_has_no_gradient_says_so(call: Any, match: str) -> None:
    with pytest.raises(NotImplementedError, match=match):
        ms.grad(call)(X)


def test_the_basis_of_the_rest_passes_a_gradient_in_float32_where_the_result_does_not_hang_on_it() -> None:
    random = np.random.default_rng(7)
    x, by = random.standard_normal((40, 8)), random.standard_normal((40, 40))
    by += by.T

    def of_rest(v: Tensor) -> Tensor:
        rest = ops.qr(v, "complete")[0][:, 8:]
        return (rest @ rest.T * Tensor(by.astype(np.float32))).sum()

    # The projection on the rest is I - P, P = A inv(A'A) A'; weighed by a symmetric W its slope by A is
    # -2 (I - P) W A inv(A'A).
    back = np.linalg.inv(x.T @ x)
    want = -2 * (np.eye(40) - x @ back @ x.T) @ by @ x @ back
    result = ms.grad(of_rest)(Tensor(x.astype(np.float32)))
    np.testing.assert_allclose(result.asnumpy(), want, atol=1e-4 * abs(want).max())


TIES = np.array([[3.0, -3.0, 1.0], [2.0, 2.0, -2.0]], np.float32)


@pytest.mark.parametrize(
    ("order", "axes", "of_norm", "of_vectors"),
    [
        # MindSpore 2.10: of what ties the first gets the gradient; of matrices a row, or with 1 and -1 a column.
        (np.inf, None, [[1, -1, 1], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]),
        (np.inf, 1, [[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]]),
        (np.inf, (0, 1), [[1, -1, 1], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]),
        (-np.inf, None, [[0, 0, 0], [1, 1, -1]], [[0, 0, 1], [0, 0, 0]]),
        (-np.inf, 1, [[0, 0, 1], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]]),
        (-np.inf, (1, 0), None, [[0, 0, 1], [0, 0, 0]]),
        (1, None, [[1, 0, 0], [1, 0, 0]], [[1, -1, 1], [1, 1, -1]]),
        (-1, (0, 1), [[0, 0, 1], [0, 0, -1]], None),
    ],
)
def test_the_gradient_of_a_norm_goes_to_the_first_of_what_ties(
    order: Any, axes: Any, of_norm: Any, of_vectors: Any
) -> None:
    for function, want in ((ops.norm, of_norm), (ops.vector_norm, of_vectors)):
        if want is not None:
            result = ms.grad(lambda v, f=function: f(v, order, axes).sum())(Tensor(TIES))
            np.testing.assert_array_equal(result.asnumpy(), np.array(want, np.float32))


def test_an_infinite_norm_over_several_axes_is_the_largest_or_the_least_size() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    for axes in ((0, 2), (2, 1), (0, 1, 2), None, (-1,)):
        for order, extreme in ((np.inf, np.max), (-np.inf, np.min)):
            for keep in (False, True):
                result = ops.vector_norm(Tensor(x), order, axes, keep)
                np.testing.assert_array_equal(result.asnumpy(), extreme(abs(x), axis=axes, keepdims=keep))
    assert ops.vector_norm(Tensor(-3.0), np.inf).asnumpy() == 3.0


def test_the_classes_of_decompositions_give_what_the_functions_do() -> None:
    x = matrix(4, 3)
    for full, columns in ((False, 3), (True, 4)):
        q, r = (part.asnumpy() for part in ops.Qr(full)(Tensor(x)))
        assert q.shape == (4, columns) and r.shape == (columns, 3)
        np.testing.assert_allclose(q @ r, x, atol=1e-12)
        np.testing.assert_allclose(q.T @ q, np.eye(columns), atol=1e-12)
        np.testing.assert_array_equal(np.tril(r, -1), 0)
    square = matrix(3, 3)
    values, vectors = (part.asnumpy() for part in ops.Eig(True)(Tensor(square)))
    np.testing.assert_allclose(square @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1)
    np.testing.assert_allclose(ops.Eig()(Tensor(square))[0].asnumpy(), values)
    turned = np.array([[1 + 2j, 3 - 1j], [0, 1j]], np.complex64)
    np.testing.assert_array_equal(Tensor(turned).mH.asnumpy(), turned.conj().T)
    np.testing.assert_array_equal(Tensor(turned).mT.asnumpy(), turned.T)


def split(result: Any) -> list[np.ndarray[Any, Any]]:
    return [part.asnumpy() for part in result]


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_svd_has_numpys_values_and_gives_the_matrix_back(shape: tuple[int, ...]) -> None:
    x, k = matrix(*shape), min(shape[-2:])
    want = np.linalg.svd(x, compute_uv=False)
    np.testing.assert_allclose(ops.svd(Tensor(x), compute_uv=False).asnumpy(), want, rtol=1e-12)
    for full in (False, True):
        s, u, v = split(ops.svd(Tensor(x), full))
        np.testing.assert_allclose(s, want, rtol=1e-12)
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ v[..., :k].swapaxes(-1, -2), x, atol=1e-12)
        for item, rows in ((u, shape[-2]), (v, shape[-1])):
            columns = rows if full else k
            assert item.shape == (*shape[:-2], rows, columns)
            square = item.swapaxes(-1, -2) @ item
            np.testing.assert_allclose(square, np.broadcast_to(np.eye(columns), square.shape), atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
@pytest.mark.parametrize("some", [True, False])
def test_qr_of_a_tensor_is_orthonormal_and_triangular_and_gives_the_matrix_back(
    shape: tuple[int, ...], some: bool
) -> None:
    x = matrix(*shape)
    q, r = split(Tensor(x).qr(some))
    columns = min(shape[-2:]) if some else shape[-2]
    assert (q.shape, r.shape) == ((*shape[:-1], columns), (*shape[:-2], columns, shape[-1]))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    square = q.swapaxes(-1, -2) @ q
    np.testing.assert_allclose(square, np.broadcast_to(np.eye(columns), square.shape), atol=1e-12)
    np.testing.assert_array_equal(r, np.triu(r))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_eigenvalues_and_vectors_belong_to_the_matrix(dtype: Any) -> None:
    x = RNG.standard_normal((2, 4, 4)).astype(dtype)
    w, v = split(ops.eig(Tensor(x)))
    assert w.dtype == v.dtype == np.result_type(dtype, np.complex64)
    tolerance = 1e-4 if dtype in (np.float32, np.complex64) else 1e-11
    np.testing.assert_allclose(x @ v, v * w[:, None, :], atol=tolerance)
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), np.ones((2, 4)), atol=tolerance)
    by_size = lambda values: np.sort_complex(np.round(values.astype(np.complex128), 3))  # noqa: E731
    for result in (w, ops.eigvals(Tensor(x)).asnumpy(), Tensor(x).eigvals().asnumpy()):
        np.testing.assert_allclose(by_size(result), by_size(np.linalg.eigvals(x.astype(np.complex128))), atol=2e-3)


def test_the_power_0_of_any_matrix_is_the_identity() -> None:
    x = np.array([[np.inf, 1.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(ops.matrix_power(Tensor(x), 0).asnumpy(), np.linalg.matrix_power(x, 0))


def test_geqrf_is_lapacks() -> None:
    x = matrix(2, 4, 3)
    packed, factors = (out.asnumpy() for out in ops.geqrf(Tensor(x)))
    for item, h, tau in zip(x, packed, factors, strict=True):
        q = np.eye(4)
        for k in range(3):
            v = np.concatenate([np.zeros(k), [1.0], h[k + 1 :, k]])
            q = q @ (np.eye(4) - tau[k] * np.outer(v, v))
        np.testing.assert_allclose(q @ np.triu(h), item, atol=1e-12)


DEPENDENT = {
    "tall": np.outer([1.0, 2.0, 3.0, -1.0], [1.0, 2.0]),
    "wide": np.outer([1.0, 2.0], [1.0, 2.0, 3.0]),
    "square": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]]),
    "zero": np.zeros((3, 2)),
    "batch": np.stack([np.outer([1.0, 2.0, 3.0], [1.0, 2.0]), np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", DEPENDENT)
def test_lstsq_of_a_lower_rank_is_the_shortest_solution(name: str, dtype: Any) -> None:
    a = DEPENDENT[name]
    b = matrix(*a.shape[:-1], 2)
    want = np.linalg.pinv(a) @ b
    result = ops.lstsq(Tensor(a.astype(dtype)), Tensor(b.astype(dtype)))
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-3 if dtype == np.float32 else 1e-9, atol=1e-6)
    # It is linear in the right sides: the gradient is what the transposed pseudo-inverse makes of what arrives.
    weights = matrix(*want.shape)
    actual = ms.grad(lambda right: (ops.lstsq(Tensor(a), right) * Tensor(weights)).sum())(Tensor(b))
    np.testing.assert_allclose(actual.asnumpy(), np.linalg.pinv(a).swapaxes(-1, -2) @ weights, atol=1e-9)
    with pytest.raises(NotImplementedError, match="For 'lstsq', the rank of 'input' is not full, .* no gradient"):
        ms.grad(lambda left: ops.lstsq(left, Tensor(b)).sum())(Tensor(a))


def test_what_counts_as_0_for_lstsq_hangs_on_the_size_of_a_matrix_not_on_how_many_there_are() -> None:
    a = np.tile(np.diag([1.0, 1e-14]), (500, 1, 1))
    a[0] = np.diag([1.0, 1e-18])  # only this has a singular value within 2 * eps of 0
    result = ops.lstsq(Tensor(a), Tensor(np.ones((500, 2, 1)))).asnumpy()
    want = np.tile([[1.0], [1e14]], (500, 1, 1))
    want[0, 1] = 0
    np.testing.assert_allclose(result, want, rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_the_gradient_of_lstsq_of_full_rank_is_its_slope(shape: tuple[int, int]) -> None:
    a, b = matrix(*shape), matrix(shape[0], 2)
    weights = matrix(shape[1], 2)
    result = ms.grad(lambda left: (ops.lstsq(left, Tensor(b)) * Tensor(weights)).sum())(Tensor(a)).asnumpy()
    for index in np.ndindex(*shape):
        step = np.zeros(shape)
        step[index] = 1e-6
        both = [(np.linalg.pinv(a + s * step) @ b * weights).sum() for s in (1, -1)]
        np.testing.assert_allclose(result[index], (both[0] - both[1]) / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("fast", "l2"), [(False, 0.0), (True, 0.5)])
def test_lstsq_refuses_settings_that_it_does_not_have(fast: bool, l2: float) -> None:
    with pytest.raises(TypeError, match="'fast' must be True and 'l2_regularizer' 0.0, but got"):
        ops.Lstsq(fast, l2)(X, Tensor(np.ones((5, 1))))


def test_lu_unpack_gives_what_is_asked_for() -> None:
    lu, pivots = Tensor(matrix(3, 3)), Tensor([1, 3, 3], ms.int32)
    full = ops.lu_unpack(lu, pivots)
    for data in (True, False):
        for of_pivots in (True, False):
            result = ops.lu_unpack(lu, pivots, data, of_pivots)
            assert [x is None for x in result] == [not of_pivots, not data, not data]  # as MindSpore 2.10
            for item, want in zip(result, full, strict=True):
                assert item is None or (item.asnumpy() == want.asnumpy()).all()  # type: ignore[union-attr]
    assert all(x is not None for x in ops.LuUnpack(False, False)(lu, pivots))


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_what_is_not_finite_is_refused_before_lapack_which_may_not_come_back(bad: float) -> None:
    # In a process of its own: LAPACK's decomposition of a complex matrix with an infinity does not end.
    script = f"""
import numpy as np
from hookscope.engine import Tensor, ops
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    x = np.eye(6, dtype=dtype)
    x[1, 2] = float("{bad}")
    for name in ("svd", "eig", "eigvals", "qr", "pinv", "geqrf", "lstsq"):
        more = (Tensor(np.ones((6, 1), dtype)),) if name == "lstsq" else ()
        try:
            getattr(ops, name)(Tensor(x), *more)
        except ValueError as error:
            known = "eig" if name == "eigvals" else name
            assert f"For '{{known}}', " in str(error) and "must hold neither NaN nor infinity" in str(error), error
        else:
            raise AssertionError((dtype, name))
    assert np.isnan(ops.cond(Tensor(x)).asnumpy()) and np.isnan(ops.norm(Tensor(x), 2).asnumpy())
print("done")
"""
    command = [sys.executable, "-P", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert result.stdout == "done\n", result.stderr


def test_the_norm_of_a_matrix_that_is_not_finite_is_nan_and_of_its_neighbors_a_number() -> None:
    x = np.stack([np.eye(2) * 3, np.full((2, 2), math.inf)])
    np.testing.assert_array_equal(ops.matrix_norm(Tensor(x), 2).asnumpy(), [3.0, math.nan])
