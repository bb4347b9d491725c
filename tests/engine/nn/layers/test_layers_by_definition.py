"""Layers and losses that only pass on to operators, each against its definition in float64 by NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn, ops

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(np.float64)


A, B, C = normal(4, 3), normal(4, 3, seed=1), normal(4, 3, seed=2)
LINE, IMAGE, POSITIVE = normal(2, 3, 6, seed=3), normal(2, 3, 4, 6, seed=4), np.abs(normal(4, 3, seed=5)) + 0.5
SIGNS, NUMBERS = np.sign(normal(4, 3, seed=6)), np.array([[2], [0], [1], [2]])
SQUARE, VOLUME = normal(2, 3, 3, seed=7), normal(1, 2, 4, 4, 6, seed=8)


def log_sigmoid(x: Array) -> Array:
    return -np.log1p(np.exp(-x))


def focal(x: Array, numbers: Array) -> Array:
    logs = np.log(special.softmax(x, 1))
    own = np.take_along_axis(logs, numbers, 1)[:, 0]
    return -((1 - np.exp(own)) ** 2) * own


def stirling(y: Array) -> Array:
    return np.where(y > 1, y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y), 0)


def normalized(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def dice(x: Array, y: Array) -> float:
    return 1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + 1e-5)


def multilabel(x: Array, labels: list[list[int]]) -> Array:
    rows = []
    for row, targets in zip(x, labels, strict=True):
        others = [k for k in range(len(row)) if k not in targets]
        rows.append(sum(max(0.0, 1 - (row[own] - row[k])) for own in targets for k in others) / len(row))
    return np.array(rows)


def patches(x: Array) -> Array:
    """Return windows of 2 x 2 with step 2, as channels in the order row, column, channel."""
    return np.concatenate([x[:, :, i::2, j::2] for i in range(2) for j in range(2)], 1)


NONE = {"reduction": "none"}
CASES: dict[str, tuple[nn.Cell, tuple[Array, ...], Any]] = {
    "LGamma": (nn.LGamma(), (POSITIVE,), special.gammaln(POSITIVE)),
    "DiGamma": (nn.DiGamma(), (POSITIVE,), special.digamma(POSITIVE)),
    "LBeta": (nn.LBeta(), (POSITIVE, POSITIVE[::-1]), special.betaln(POSITIVE, POSITIVE[::-1])),
    "IGamma": (nn.IGamma(), (POSITIVE, POSITIVE[::-1]), special.gammainc(POSITIVE, POSITIVE[::-1])),
    "MatDet": (nn.MatDet(), (SQUARE,), np.linalg.det(SQUARE)),
    "MatInverse": (nn.MatInverse(), (SQUARE,), np.linalg.inv(SQUARE)),
    "MatrixDiag": (nn.MatrixDiag(), (A,), np.stack([np.diag(row) for row in A])),
    "MatrixDiagPart": (nn.MatrixDiagPart(), (IMAGE,), np.diagonal(IMAGE, axis1=-2, axis2=-1)),
    "LogSoftmaxExt of 2 axes": (nn.LogSoftmaxExt(), (A,), np.log(special.softmax(A, 1))),
    "LogSoftmaxExt of 3 axes": (nn.LogSoftmaxExt(), (LINE,), np.log(special.softmax(LINE, 0))),
    "LayerNormExt": (nn.LayerNormExt((3, 6)), (LINE,), normalized(LINE, (1, 2))),
    "InstanceNorm1d": (nn.InstanceNorm1d(3), (LINE,), normalized(LINE, (2,))),
    "InstanceNorm2d": (nn.InstanceNorm2d(3), (IMAGE,), normalized(IMAGE, (2, 3))),
    "SyncBatchNorm": (nn.SyncBatchNorm(3, use_batch_statistics=True), (IMAGE,), normalized(IMAGE, (0, 2, 3))),
    "AvgPool1dExt": (nn.AvgPool1dExt(2), (LINE,), LINE.reshape(2, 3, 3, 2).mean(-1)),
    "AvgPool2dExt": (nn.AvgPool2dExt(2), (IMAGE,), IMAGE.reshape(2, 3, 2, 2, 3, 2).mean((3, 5))),
    "AvgPool3dExt": (nn.AvgPool3dExt(2), (VOLUME,), VOLUME.reshape(1, 2, 2, 2, 2, 2, 3, 2).mean((3, 5, 7))),
    "VirtualDatasetCellTriple": (nn.VirtualDatasetCellTriple(lambda a, b, c: a + b * c), (A, B, C), A + B * C),
    "MaxPool2dExt": (nn.MaxPool2dExt(2), (IMAGE,), IMAGE.reshape(2, 3, 2, 2, 3, 2).max((3, 5))),
    "Unfold": (nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1]), (IMAGE,), patches(IMAGE)),
    "CentralCrop": (nn.CentralCrop(0.5), (IMAGE,), IMAGE[:, :, 1:3, 1:5]),
    "RMSELoss": (nn.RMSELoss(), (A, B), np.sqrt(((A - B) ** 2).mean())),
    "L1LossExt": (nn.L1LossExt(), (A, B), np.abs(A - B).mean()),
    "SoftMarginLoss": (nn.SoftMarginLoss("none"), (A, SIGNS), np.log1p(np.exp(-A * SIGNS))),
    "MarginRankingLoss": (nn.MarginRankingLoss(0.3, "none"), (A, B, SIGNS), np.maximum(0, 0.3 - SIGNS * (A - B))),
    "GaussianNLLLoss": (
        nn.GaussianNLLLoss(full=True, reduction="none"),
        (A, B, POSITIVE),
        0.5 * (np.log(POSITIVE) + (A - B) ** 2 / POSITIVE) + 0.5 * np.log(2 * np.pi),
    ),
    "PoissonNLLLoss of logarithms": (
        nn.PoissonNLLLoss(full=True, reduction="none"),
        (A, 2 * POSITIVE),
        np.exp(A) - 2 * POSITIVE * A + stirling(2 * POSITIVE),
    ),
    "PoissonNLLLoss of rates": (
        nn.PoissonNLLLoss(log_input=False, **NONE),
        (POSITIVE, B),
        POSITIVE - B * np.log(POSITIVE + 1e-8),
    ),
    "MultiLabelSoftMarginLoss": (
        nn.MultiLabelSoftMarginLoss(**NONE),
        (A, (SIGNS > 0) * 1.0),
        -np.where(SIGNS > 0, log_sigmoid(A), log_sigmoid(-A)).mean(1),
    ),
    "MultilabelMarginLoss": (
        nn.MultilabelMarginLoss("none"),
        (A, np.array([[0, 2, -1], [1, -1, 0], [-1, 0, 1], [2, 1, 0]])),
        multilabel(A, [[0, 2], [1], [], [2, 1, 0]]),
    ),
    "TripletMarginWithDistanceLoss": (
        nn.TripletMarginWithDistanceLoss(lambda x, y: ops.reduce_sum(ops.abs(x - y), -1), swap=True, **NONE),
        (A, B, C),
        np.maximum(0, 1 + np.abs(A - B).sum(1) - np.minimum(np.abs(A - C).sum(1), np.abs(B - C).sum(1))),
    ),
    "DiceLoss": (nn.DiceLoss(), (A, B), dice(A, B)),
    "FocalLoss": (nn.FocalLoss(**NONE), (A, NUMBERS), focal(A, NUMBERS)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_its_definition(name: str) -> None:
    layer, inputs, expected = CASES[name]
    result = layer(*[Tensor(x if x.dtype.kind == "i" else x.astype(np.float32)) for x in inputs])
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (nn.Range(5), lambda: np.arange(5)),
        (nn.Range(5, 0, -2), lambda: np.arange(5, 0, -2)),
        (nn.Range(0.5, 2.0, 0.5), lambda: np.arange(0.5, 2.0, 0.5)),
    ],
)
def test_a_range_is_that_of_numpy(layer: nn.Cell, function: Callable[[], Array]) -> None:
    np.testing.assert_array_equal(layer().asnumpy(), function())


def test_products_with_a_jacobian_are_those_of_the_written_out_one() -> None:
    x, v, w = A[0], B[0], C[0]
    jacobian = np.diag(np.cos(x) * x + np.sin(x))
    tensors = [Tensor(variant.astype(np.float32)) for variant in (x, v, w)]

    def function(t: Tensor) -> Tensor:
        return ops.sin(t) * t

    out, forward = nn.Jvp(function)(tensors[0], tensors[1])
    same, backward = nn.Vjp(function)(tensors[0], tensors[2])
    value = np.sin(x) * x
    for result, expected in ((out, value), (forward, jacobian @ v), (same, value), (backward, w @ jacobian)):
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_padding_row_of_embedding_ext_is_zeros_and_gets_no_gradient() -> None:
    layer = nn.EmbeddingExt(4, 2, padding_idx=-3)
    ids = Tensor(np.array([1, 2, 1, 3]))
    table = layer.weight.asnumpy()
    assert table[1].tolist() == [0.0, 0.0] and np.all(table[2] != 0)
    np.testing.assert_array_equal(layer(ids).asnumpy(), table[[1, 2, 1, 3]])
    (result,) = grad(lambda: layer(ids).sum(), None, (layer.weight,))()
    assert result.asnumpy().tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("padding", [None, -4, -1, 0, 3])
def test_embedding_ext_takes_each_setting_in_its_place(padding: int | None) -> None:
    argument = np.arange(1, 9, dtype=np.float64).reshape(4, 2)
    ids = np.array([[0, 3, 3], [2, 0, 1]])
    layer = nn.EmbeddingExt(4, 2, padding, 5.0, 1.0, False, False, Tensor(argument), False, ms.float64)
    # A given table is kept as it is, the padding row too.
    np.testing.assert_array_equal(layer.weight.asnumpy(), argument)
    rows = argument[ids]
    lengths = abs(rows).sum(-1, keepdims=True)
    np.testing.assert_allclose(layer(Tensor(ids)).asnumpy(), rows * np.minimum(5.0 / lengths, 1), rtol=1e-12)
    free = nn.EmbeddingExt(4, 2, padding, _weight=Tensor(argument), dtype=ms.float64)
    weights = np.arange(12.0).reshape(2, 3, 2)
    (result,) = grad(lambda: (free(Tensor(ids)) * Tensor(weights)).sum(), None, (free.weight,))()
    want = np.zeros((4, 2))
    np.add.at(want, ids, weights)
    if padding is not None:
        want[padding] = 0
    np.testing.assert_array_equal(result.asnumpy(), want)
    fresh = nn.EmbeddingExt(4, 2, padding).weight
    assert (fresh.shape, fresh.dtype, fresh.requires_grad) == ((4, 2), ms.float32, True)
    zero = [not row.any() for row in fresh.asnumpy()]
    assert zero == [padding is not None and index == padding % 4 for index in range(4)]
    frozen = nn.EmbeddingExt(4, 2, _freeze=True, dtype=ms.float16).weight
    assert frozen.dtype == ms.float16 and not frozen.requires_grad


def test_a_lookup_of_fields_takes_each_setting_in_its_place() -> None:
    table = np.arange(1, 9, dtype=np.float64).reshape(4, 2) / 4
    layer = nn.MultiFieldEmbeddingLookup(
        4, 2, 2, Tensor(table), "DEVICE", "table_row_slice", [(4, 0)], 1.0, False, "MEAN", ms.float64
    )
    kept = layer.target, layer.slice_mode, layer.manual_shapes, layer.max_norm, layer.sparse
    assert kept == ("DEVICE", "table_row_slice", [(4, 0)], 1.0, False)
    np.testing.assert_array_equal(layer.embedding_table.asnumpy(), table)
    ids, values, fields = np.array([[0, 3, 2]]), np.array([[1.0, 0.5, 2.0]]), np.array([[1, 0, 1]])
    lengths = np.linalg.norm(table, axis=-1, keepdims=True)
    rows = (table * np.minimum(1 / lengths, 1))[ids] * values[..., None]
    want = [[rows[0, 1], (rows[0, 0] + rows[0, 2]) / 2]]
    np.testing.assert_allclose(layer(Tensor(ids), Tensor(values), Tensor(fields)).asnumpy(), want, rtol=1e-12)


@pytest.mark.parametrize("name", ["GetNextSingleOp", "PipelineGradReducer"])
def test_a_layer_for_a_cluster_says_what_to_use_instead(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"nn.{name} needs a .*; "):
        getattr(nn, name)(None)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5])
@pytest.mark.parametrize("axes", [1, 2, 4])
def test_rms_norm_divides_by_the_root_of_the_mean_square(axes: int, epsilon: float) -> None:
    gamma = normal(*IMAGE.shape[-axes:], seed=9)
    over = tuple(range(4 - axes, 4))

    def formula(x: Array) -> Array:
        return x / np.sqrt((x * x).mean(over, keepdims=True) + epsilon) * gamma

    inputs = Tensor(IMAGE), Tensor(gamma)
    for result in (ops.rms_norm(*inputs, epsilon), ops.RmsNorm(epsilon)(*inputs)):
        np.testing.assert_allclose(result[0].asnumpy(), formula(IMAGE), rtol=1e-12)
        np.testing.assert_allclose(result[1].asnumpy(), 1 / np.sqrt((IMAGE**2).mean(over, keepdims=True) + epsilon))
    weights, way = normal(*IMAGE.shape, seed=10), normal(*IMAGE.shape, seed=11)
    slope = grad(lambda x: (ops.rms_norm(x, Tensor(gamma), epsilon)[0] * Tensor(weights)).sum())(Tensor(IMAGE))
    ends = [(formula(IMAGE + step * way) * weights).sum() for step in (1e-6, -1e-6)]
    assert float((slope.asnumpy() * way).sum()) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_rms_norm_of_half_precision_does_not_overflow(dtype: Any) -> None:
    x = np.array([[300.0, 400.0], [-40000.0, 30000.0]])
    result, rstd = ops.rms_norm(Tensor(x, dtype), Tensor([2.0, 1.0], dtype))
    root = np.sqrt((x * x).mean(1, keepdims=True))
    assert (result.dtype, rstd.dtype) == (dtype, ms.float32)
    np.testing.assert_allclose(result.astype(ms.float32).asnumpy(), x / root * [2, 1], rtol=8e-3)
    np.testing.assert_allclose(rstd.asnumpy(), 1 / root, rtol=8e-3)


@pytest.mark.parametrize("shape", [(), (2,), (4, 3), (2, 4, 3)])
def test_a_factor_that_does_not_fit_is_refused_by_rms_norm(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"For 'rms_norm', the shape \(.*\) of 'gamma' must be the end of \(3, 4\)"):
        ops.rms_norm(Tensor(np.ones((3, 4))), Tensor(np.ones(shape)))
