"""Functions of ops that are made of others, against numbers recorded from MindSpore 2.10: values and slopes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, flat, wave, weighed

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops


def ints(*values: Any) -> Tensor:
    return Tensor(np.array(values, np.int32))


def sloped(function: Callable[..., Any], *inputs: Tensor) -> list[Any]:
    """Return the outputs, and the gradients of their weighted sum by all inputs."""
    slopes = ms.grad(lambda *x: weighed(function(*x)), tuple(range(len(inputs))))(*inputs)
    return [*flat(function(*inputs)), *flat(slopes)]


def put(function: Callable[..., Any], *arguments: Tensor) -> list[Any]:
    """Return the result of a function that writes into a parameter, and the parameter."""
    table = Parameter(wave(4, 3, k=0.5) + 2.0, "table")
    return [*flat(function(table, *arguments)), table.value()]


X, Y, Z = wave(3, 4), wave(3, 4, k=1.0), wave(3, 4, k=2.0) + 2.0
BATCH, MATS = wave(2, 3, 4, k=0.3), wave(2, 4, 3, k=0.9)
WAVY, VOLUME = wave(1, 4, 6, 6, k=0.2), wave(1, 2, 4, 4, 4, k=0.6)
STRONG = Tensor(np.eye(3, dtype=np.float32) * 3) + wave(3, 3, k=0.4)  # positive definite, if it is made symmetric
PLACES, ROWS = ints([0, 2], [3, 1], [0, 2]), ints(0, 2, 0)
NAMED = ints([0, 1], [2, 3], [0, 1])
UPDATES, NEW = wave(3, 3, k=1.5) + 1.5, wave(3, k=0.7) + 1.5
HOLES = Tensor(np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, np.nan, 0.5, 4.0]], np.float32))

CASES: dict[str, Callable[[], Any]] = {
    "softmin": lambda: sloped(lambda x: ops.softmin(x, 1), X),
    "tanhshrink": lambda: sloped(ops.tanhshrink, X),
    "adaptive_max_pool3d": lambda: ops.adaptive_max_pool3d(VOLUME, (2, 3, 2), True),
    **{
        name: partial(lambda name: getattr(ops, name)(X), name)
        for name in (
            "hfft",
            "ihfft",
            "hfft2",
            "ihfft2",
            "hfftn",
            "ihfftn",
            "ifft2",
            "ifftn",
            "rfftn",
            "irfftn",
            "ifftshift",
        )
    },
    "hfft n": lambda: ops.hfft(X, 5, 0, "ortho"),
    "ihfft n": lambda: ops.ihfft(X, 6, 1, "forward"),
    "irfftn s": lambda: ops.irfftn(BATCH, (4, 5), (0, 2), "ortho"),
    "rfftn s": lambda: ops.rfftn(BATCH, (4, 5), (0, 2), "ortho"),
    "ifftshift dim": lambda: ops.ifftshift(BATCH, (0, 2)),
    "view_as_real": lambda: ops.view_as_real(Tensor(np.array([1 + 2j, 3 - 1j], np.complex64))),
    "is_tensor": lambda: [Tensor(ops.is_tensor(X)), Tensor(ops.is_tensor(3))],
    "scalar_to_tensor": lambda: [ops.ScalarToTensor()(2, ms.float32), ops.scalar_to_tensor(3.0, ms.int32)],
    "assign_add": lambda: put(lambda p: ops.assign_add(p, wave(4, 3))),
    "assign_sub": lambda: put(lambda p: ops.assign_sub(p, wave(4, 3))),
    "addcdiv": lambda: sloped(lambda x, y, z: ops.addcdiv(x, y, z, value=0.7), X, Y, Z),
    "addcmul": lambda: sloped(lambda x, y, z: ops.addcmul(x, y, z, value=0.7), X, Y, Z),
    "approximate_equal": lambda: ops.approximate_equal(X, X + Tensor([1e-6, 1e-4, 2e-2, 0.0]), 1e-3),
    "fmax": lambda: ops.fmax(X, Y),
    "frac": lambda: sloped(ops.frac, X * 5),
    "is_nonzero": lambda: [Tensor(bool(ops.is_nonzero(Tensor([v])))) for v in (0.0, -2.0)],
    "isreal": lambda: ops.isreal(Tensor(np.array([1 + 0j, 1 + 2j], np.complex64))),
    "ldexp": lambda: ops.ldexp(X, Tensor([1.0, -2.0, 3.0, 0.0])),
    "lerp": lambda: sloped(lambda x, y: ops.lerp(x, y, 0.3), X, Y),
    "lerp tensor": lambda: sloped(ops.lerp, X, Y, Z),
    "sgn": lambda: ops.sgn(X - 0.0),
    "truncate_div": lambda: ops.truncate_div(ints(7, -7, 5), ints(2, 2, -3)),
    "truncate_mod": lambda: ops.truncate_mod(ints(7, -7, 5), ints(2, 2, -3)),
    "xdivy": lambda: sloped(ops.xdivy, X, Z),
    "xlogy": lambda: sloped(ops.xlogy, X, Z),
    "gather_d": lambda: sloped(lambda x: ops.gather_d(x, 1, PLACES), X),
    "masked_select": lambda: sloped(lambda x: ops.masked_select(x, Y > 0), X),
    "channel_shuffle": lambda: ops.channel_shuffle(WAVY, 2),
    "pixel_unshuffle": lambda: ops.pixel_unshuffle(WAVY, 3),
    "tensor_split": lambda: [*ops.tensor_split(X, 3, 1), *ops.tensor_split(X, [1, 3], 1)],
    "unstack": lambda: ops.unstack(X, 1),
    "cholesky_inverse": lambda: ops.cholesky_inverse(ops.cholesky(STRONG + STRONG.T)),
    "cholesky_solve": lambda: ops.cholesky_solve(wave(3, 2), ops.cholesky(STRONG + STRONG.T)),
    "logdet": lambda: ops.logdet(STRONG),
    "matrix_power": lambda: [ops.matrix_power(STRONG, n) for n in (0, 1, 3)],
    "matrix_power negative": lambda: ops.matrix_power(STRONG, -2),
    "lu_solve": lambda: ops.lu_solve(wave(3, 2), STRONG, ints(2, 3, 3)),
    "triangular_solve": lambda: ops.MatrixTriangularSolve(lower=True)(STRONG, wave(3, 2)),
    "lp_pool2d": lambda: sloped(lambda x: ops.lp_pool2d(x, 2.0, (2, 3), 2), WAVY),
    "addbmm": lambda: sloped(lambda s, x, y: ops.addbmm(s, x, y, beta=0.5, alpha=2.0), wave(3, 3), BATCH, MATS),
    "baddbmm": lambda: sloped(lambda s, x, y: ops.baddbmm(s, x, y, beta=0.5, alpha=2.0), wave(2, 3, 3), BATCH, MATS),
    "addmm": lambda: sloped(lambda s, x, y: ops.addmm(s, x, y, beta=0.5, alpha=2.0), wave(3, 3), BATCH[0], MATS[0]),
    "addmv": lambda: sloped(lambda s, x, y: ops.addmv(s, x, y, beta=0.5, alpha=2.0), wave(3), BATCH[0], wave(4)),
    "addr": lambda: sloped(lambda s, x, y: ops.addr(s, x, y, beta=0.5, alpha=2.0), wave(3, 4), wave(3), wave(4)),
    "bidense": lambda: sloped(ops.bidense, wave(2, 3), wave(2, 4), wave(5, 3, 4), wave(5)),
    "tensor_dot": lambda: sloped(lambda x, y: ops.tensor_dot(x, y, ((1, 2), (2, 1))), BATCH, MATS),
    "tensor_dot of a number": lambda: ops.tensor_dot(BATCH, MATS[0], 1),
    "vecdot": lambda: sloped(lambda x, y: ops.vecdot(x, y, axis=1), X, Y),
    "expand_as": lambda: X[:1].expand_as(X),
    "repeat_elements": lambda: sloped(lambda x: ops.repeat_elements(x, 2, 1), X),
    "view_as": lambda: X.view_as(wave(2, 6)),
    "index_fill": lambda: sloped(lambda x: ops.index_fill(x, 1, ints(0, 2), 7.0), X),
    "inplace_add": lambda: ops.inplace_add(X, Y[:2], (0, 2)),
    "inplace_sub": lambda: ops.inplace_sub(X, Y[:2], (0, 2)),
    "inplace_update": lambda: ops.inplace_update(X, Y[:2], (0, 2)),
    "masked_scatter": lambda: X.masked_scatter(Y > 0, wave(12, k=3.0)),
    **{
        f"Scatter{kind}": partial(lambda kind: put(getattr(ops, f"Scatter{kind}")(), ROWS, UPDATES), kind)
        for kind in ("Update", "Sub", "Mul", "Div", "Max", "Min", "Add")
    },
    **{
        f"ScatterNd{kind}": partial(
            lambda kind: put(getattr(ops, f"ScatterNd{kind}")(), ints([0], [2], [0]), UPDATES), kind
        )
        for kind in ("Update", "Sub", "Mul", "Div", "Max", "Min", "Add")
    },
    **{
        f"tensor_scatter_{kind}": partial(
            lambda kind: getattr(ops, f"tensor_scatter_{kind}")(
                wave(4, 3, k=0.5) + 2.0, ints([0, 1], [2, 2], [0, 1]), NEW
            ),
            kind,
        )
        for kind in ("sub", "mul", "div", "max", "min", "add")
    },
    "tensor_scatter_update": lambda: ops.TensorScatterUpdate()(X, ints([0, 1], [2, 3]), NEW[:2]),
    "tensor_scatter_add slope": lambda: sloped(lambda x, u: ops.tensor_scatter_add(x, NAMED, u), X, NEW),
    "tensor_scatter_sub slope": lambda: sloped(lambda x, u: ops.tensor_scatter_sub(x, NAMED, u), X, NEW),
    "tensor_scatter_elements": lambda: ops.tensor_scatter_elements(X, ints([0, 2], [3, 1], [2, 0]), wave(3, 2), 1),
    "tensor_scatter_elements add": lambda: ops.tensor_scatter_elements(
        X, ints([0, 0], [1, 1], [2, 3]), wave(3, 2), 1, "add"
    ),
    **{
        f"unsorted_segment_{kind}": partial(
            lambda kind: sloped(lambda x: getattr(ops, f"unsorted_segment_{kind}")(x, ints(1, 0, 1), 3), X), kind
        )
        for kind in ("sum", "max", "min")
    },
    "space_to_batch_nd": lambda: ops.space_to_batch_nd(WAVY, [2, 3], [[1, 1], [0, 3]]),
    "batch_to_space_nd": lambda: ops.batch_to_space_nd(wave(6, 2, 3, 2), [2, 3], [[1, 0], [0, 2]]),
    "select_scatter": lambda: sloped(lambda x, y: ops.select_scatter(x, y, 1, 2), X, NEW),
    "slice_scatter": lambda: sloped(lambda x, y: ops.slice_scatter(x, y, 1, 1, 4, 2), X, wave(3, 2)),
    "sequence_mask": lambda: [ops.sequence_mask(ints(1, 3, 0)), ops.sequence_mask(ints([2, 1]), 4)],
    "bucketize": lambda: [ops.bucketize(X, [-0.5, 0.0, 0.37], right=right) for right in (False, True)],
    "msort": lambda: ops.msort(X),
    "nanmedian": lambda: [*ops.nanmedian(HOLES, 1), *ops.nanmedian(HOLES, 0, True)],
    "top_k": lambda: ops.TopK(sorted=True)(X, 2),
    "bessel_i1": lambda: sloped(ops.bessel_i1, X * 3 + 0.1),
    "bessel_k0": lambda: sloped(ops.bessel_k0, Z),
    "bessel_k1": lambda: sloped(ops.bessel_k1, Z),
    "mvlgamma": lambda: ops.mvlgamma(Z + 2.0, 3),
    "aminmax": lambda: [*ops.aminmax(X, axis=1), *ops.aminmax(X, axis=0, keepdims=True)],
    "clip_by_norm": lambda: [ops.clip_by_norm(X, 1.0), ops.clip_by_norm(X, 100.0), *ops.clip_by_norm([X, Y], 0.5)],
    "pdist": lambda: sloped(lambda x: ops.pdist(x, 2.0), X),
    "renorm": lambda: ops.renorm(X, 2, 0, 1.2),
    "trapz": lambda: [ops.trapz(X), ops.trapz(X, dx=0.5, dim=0), ops.trapz(X, Tensor([0.0, 1.0, 3.0, 4.0]))],
    "max_unpool1d": lambda: ops.max_unpool1d(wave(1, 2, 3), Tensor(np.array([[[0, 3, 5], [1, 2, 4]]])), 2),
    "max_unpool3d": lambda: ops.max_unpool3d(
        wave(1, 1, 1, 1, 2), Tensor(np.array([[[[[3, 12]]]]])), 2, output_size=(2, 2, 4)
    ),
    "reduce_max": lambda: ops.ReduceMax(True)(X, 1),
    "IdentityN": lambda: ops.IdentityN()((X, Y)),
    "Argmin": lambda: ops.Argmin(1)(X),
    "SparseSoftmaxCrossEntropyWithLogits": lambda: [
        ops.SparseSoftmaxCrossEntropyWithLogits(of)(X, ints(3, 0, 1)) for of in (False, True)
    ],
    "SquaredDifference": lambda: sloped(ops.SquaredDifference(), X, Y[:1]),
    "MatrixInverse": lambda: [ops.MatrixInverse(adjoint)(STRONG) for adjoint in (False, True)],
    "SpaceToBatchND": lambda: ops.SpaceToBatchND([2, 2], [[0, 0], [1, 1]])(WAVY),
    "InvertPermutation": lambda: Tensor(ops.InvertPermutation()((2, 0, 3, 1))),
    "SearchSorted": lambda: [
        ops.SearchSorted(ms.int32, right)(Tensor([[0.0, 1.0, 1.0, 2.0]]), Tensor([[1.0, -1.0, 5.0]]))
        for right in (False, True)
    ],
    "Bucketize": lambda: ops.Bucketize([-0.5, 0.0, 0.37])(X),
    "GeLU": lambda: sloped(ops.GeLU(), X),
    "Unstack": lambda: ops.Unstack(1)(X),
    "Renorm": lambda: ops.Renorm(2, 1, 0.9)(X),
    "InplaceUpdateV2": lambda: ops.InplaceUpdate((0, 2))(X, Y[:2]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


def test_xlogy_is_0_where_its_factor_is_and_has_the_logarithm_for_a_slope_where_there_is_one() -> None:
    x, y = Tensor([0.0, 0.0, 0.0, 0.0, 2.0]), Tensor([2.0, 0.0, -1.0, np.inf, 3.0])
    assert ops.xlogy(x, y).tolist() == pytest.approx([0.0] * 4 + [2 * np.log(3.0)])
    of_x, of_y = ms.grad(lambda *v: ops.xlogy(*v).sum(), (0, 1))(x, y)
    assert of_x.tolist() == pytest.approx([np.log(2.0), 0.0, 0.0, 0.0, np.log(3.0)])
    assert of_y.tolist() == pytest.approx([0.0] * 4 + [2 / 3])


def test_the_slope_of_a_bessel_function_at_0() -> None:
    assert ms.grad(lambda x: ops.bessel_i1(x).sum())(Tensor([0.0])).tolist() == [0.5]  # I1 = x / 2 + x ** 3 / 16 + ...
