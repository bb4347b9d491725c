"""Loss layers with each of their settings, against formulas in float64; their slopes by central differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from hookscope.engine import Tensor, grad, nn, ops

Array = np.ndarray[Any, Any]
Layer = Callable[[str], nn.Cell]

NUMBERS = np.random.default_rng(6)
A, B, C = NUMBERS.standard_normal((3, 5, 4))
CHANCES, SHARES = NUMBERS.uniform(0.1, 0.9, (2, 5, 4))
SHARES[1, 2] = SHARES[3, 0] = 0.0
WEIGHT, EACH = NUMBERS.uniform(0.2, 2, 4), NUMBERS.uniform(0.2, 2, (5, 4))
SIGNS = np.where(NUMBERS.uniform(size=(5, 4)) < 0.5, -1.0, 1.0)
SPREAD = NUMBERS.uniform(0.1, 1, (5, 4))
COUNTS = np.array([[0.0, 1, 2, 5], [3, 0, 0, 1], [1, 1, 4, 2], [0, 7, 1, 0], [2, 2, 2, 9]])
CLASSES = np.array([3, 0, 1, 1, 2])
VOLUME, OF_VOLUME = NUMBERS.standard_normal((2, 3, 2, 4)), NUMBERS.integers(0, 3, (2, 1, 2, 4))


def binary(x: Array, y: Array) -> Array:
    return -(y * np.log(x) + (1 - y) * np.log(1 - x))


def cosines(x: Array, y: Array) -> Array:
    return np.array([row @ other / math.sqrt(row @ row * (other @ other)) for row, other in zip(x, y, strict=True)])


def gaussian(x: Array, y: Array, var: Array, eps: float, full: bool) -> Array:
    held = np.maximum(var, eps)
    return 0.5 * (np.log(held) + (x - y) ** 2 / held) + (0.5 * math.log(2 * math.pi) if full else 0.0)


def stirling(y: Array) -> Array:
    high = np.maximum(y, 1)
    return np.where(y > 1, high * np.log(high) - high + 0.5 * np.log(2 * np.pi * high), 0)


def norm(x: Array, p: float) -> Array:
    return (abs(x) ** p).sum(-1) ** (1 / p)


def triplets(distance: Callable[[Array, Array], Array], swap: bool, margin: float) -> Array:
    far = np.minimum(distance(A, C), distance(B, C)) if swap else distance(A, C)
    return np.maximum(distance(A, B) - far + margin, 0)


def margins(p: int, margin: float, weight: Array) -> Array:
    return np.array(
        [
            sum(weight[own] * max(0.0, margin - row[own] + row[c]) ** p for c in range(4) if c != own) / 4
            for row, own in zip(A, CLASSES, strict=True)
        ]
    )


def focal(x: Array, chosen: Array, weight: Array, gamma: float) -> Array:
    """Return the focal loss of each class, for one-hot ``chosen``."""
    logs = special.log_softmax(x, 1)
    factors = weight.reshape(1, -1, *[1] * (x.ndim - 2))
    return -factors * (1 - np.exp(logs)) ** gamma * logs * chosen


hot = np.eye(4)[CLASSES]
of_volume = focal(VOLUME, np.arange(3)[:, None, None] == OF_VOLUME, WEIGHT[:3], 1.5).sum(1).mean((1, 2))
binaries = -np.where(SIGNS > 0, special.log_expit(A), special.log_expit(-A))
LOSSES: dict[str, tuple[Layer, tuple[Array, ...], Array]] = {
    "BCELoss": (lambda r: nn.BCELoss(reduction=r), (CHANCES, SHARES), binary(CHANCES, SHARES)),
    "BCELoss weighted": (lambda r: nn.BCELoss(Tensor(EACH), r), (CHANCES, SHARES), EACH * binary(CHANCES, SHARES)),
    "HuberLoss": (
        lambda r: nn.HuberLoss(r, 0.7),
        (A, B),
        np.where(abs(A - B) < 0.7, (A - B) ** 2 / 2, 0.7 * abs(A - B) - 0.245),
    ),
    "KLDivLoss": (lambda r: nn.KLDivLoss(r), (A, SHARES), special.xlogy(SHARES, SHARES) - SHARES * A),
    "MarginRankingLoss": (lambda r: nn.MarginRankingLoss(0.3, r), (A, B, SIGNS), np.maximum(0.3 - SIGNS * (A - B), 0)),
    "MarginRankingLoss without margin": (
        lambda r: nn.MarginRankingLoss(reduction=r),
        (A, B, SIGNS),
        np.maximum(-SIGNS * (A - B), 0),
    ),
    "CosineEmbeddingLoss": (
        lambda r: nn.CosineEmbeddingLoss(-0.2, r),
        (A, B, SIGNS[:, 0]),
        np.where(SIGNS[:, 0] > 0, 1 - cosines(A, B), np.maximum(cosines(A, B) + 0.2, 0)),
    ),
    "HingeEmbeddingLoss": (
        lambda r: nn.HingeEmbeddingLoss(0.8, r),
        (A, SIGNS),
        np.where(SIGNS > 0, A, np.maximum(0.8 - A, 0)),
    ),
    "GaussianNLLLoss": (
        lambda r: nn.GaussianNLLLoss(eps=0.4, reduction=r),
        (A, B, SPREAD),
        gaussian(A, B, SPREAD, 0.4, False),
    ),
    "GaussianNLLLoss full": (
        lambda r: nn.GaussianNLLLoss(full=True, reduction=r),
        (A, B, SPREAD),
        gaussian(A, B, SPREAD, 1e-6, True),
    ),
    "PoissonNLLLoss": (lambda r: nn.PoissonNLLLoss(reduction=r), (A, COUNTS), np.exp(A) - COUNTS * A),
    "PoissonNLLLoss full": (
        lambda r: nn.PoissonNLLLoss(full=True, reduction=r),
        (A, COUNTS),
        np.exp(A) - COUNTS * A + stirling(COUNTS),
    ),
    "PoissonNLLLoss of rates": (
        lambda r: nn.PoissonNLLLoss(False, True, 0.1, r),
        (CHANCES, COUNTS),
        CHANCES - COUNTS * np.log(CHANCES + 0.1) + stirling(COUNTS),
    ),
    "TripletMarginLoss": (
        lambda r: nn.TripletMarginLoss(reduction=r),
        (A, B, C),
        triplets(lambda x, y: norm(x - y + 1e-6, 2), False, 1.0),
    ),
    "TripletMarginLoss with each setting": (
        lambda r: nn.TripletMarginLoss(3, True, 0.05, r, 0.4),
        (A, B, C),
        triplets(lambda x, y: norm(x - y + 0.05, 3), True, 0.4),
    ),
    "TripletMarginLoss with a margin of the call": (
        lambda r: nn.TripletMarginLoss(1, reduction=r),
        (A, B, C, np.array(2.5)),
        triplets(lambda x, y: norm(x - y + 1e-6, 1), False, 2.5),
    ),
    "TripletMarginWithDistanceLoss": (
        lambda r: nn.TripletMarginWithDistanceLoss(reduction=r),
        (A, B, C),
        triplets(lambda x, y: norm(x - y + 1e-6, 2), False, 1.0),
    ),
    "TripletMarginWithDistanceLoss with each setting": (
        lambda r: nn.TripletMarginWithDistanceLoss(lambda x, y: ops.abs(x - y).sum(-1), True, r, 0.4),
        (A, B, C),
        triplets(lambda x, y: norm(x - y, 1), True, 0.4),
    ),
    "MultiLabelSoftMarginLoss": (
        lambda r: nn.MultiLabelSoftMarginLoss(reduction=r),
        (A, (SIGNS + 1) / 2),
        binaries.mean(1),
    ),
    "MultiLabelSoftMarginLoss weighted": (
        lambda r: nn.MultiLabelSoftMarginLoss(Tensor(WEIGHT), r),
        (A, (SIGNS + 1) / 2),
        (binaries * WEIGHT).mean(1),
    ),
    "MultiMarginLoss": (lambda r: nn.MultiMarginLoss(reduction=r), (A, CLASSES), margins(1, 1.0, np.ones(4))),
    "MultiMarginLoss with each setting": (
        lambda r: nn.MultiMarginLoss(2, 0.6, r, Tensor(WEIGHT)),
        (A, CLASSES),
        margins(2, 0.6, WEIGHT),
    ),
    "MultiMarginLoss with the weight of the call": (
        lambda r: nn.MultiMarginLoss(1, 1.4, r, Tensor(WEIGHT)),
        (A, CLASSES, EACH[0]),
        margins(1, 1.4, EACH[0]),
    ),
    "FocalLoss": (lambda r: nn.FocalLoss(reduction=r), (A, CLASSES[:, None]), focal(A, hot, np.ones(4), 2.0).sum(1)),
    "FocalLoss of one-hot rows": (lambda r: nn.FocalLoss(Tensor(WEIGHT), 0.5, r), (A, hot), focal(A, hot, WEIGHT, 0.5)),
    "FocalLoss of images": (lambda r: nn.FocalLoss(Tensor(WEIGHT[:3]), 1.5, r), (VOLUME, OF_VOLUME), of_volume),
}


def assert_slopes(function: Callable[[Tensor], Tensor], x: Array) -> None:
    """Assert the gradient of the sum of a function, by central differences."""
    want = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-6
        ahead, behind = (function(Tensor(x + sign * step)).asnumpy().sum() for sign in (1, -1))
        want[index] = (ahead - behind) / 2e-6
    np.testing.assert_allclose(grad(lambda t: function(t).sum())(Tensor(x)).asnumpy(), want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_layer_is_its_formula_with_each_of_its_settings(name: str, reduction: str) -> None:
    make, inputs, losses = LOSSES[name]
    layer = make(reduction)
    want = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    arguments = [Tensor(x) for x in inputs]
    result = layer(*arguments)
    assert result.shape == np.shape(want)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6, atol=1e-9)
    assert_slopes(lambda x: layer(x, *arguments[1:]), inputs[0])


def test_a_divergence_may_be_divided_by_the_samples_alone() -> None:
    losses = LOSSES["KLDivLoss"][2]
    result = nn.KLDivLoss("batchmean")(Tensor(A), Tensor(SHARES))
    np.testing.assert_allclose(result.asnumpy(), losses.sum() / 5, rtol=1e-9)


def test_the_square_and_the_line_of_huber_meet() -> None:
    # 0.5 * d * d and delta * (d - 0.5 * delta) at d = delta, with the slope delta for all d from there on.
    x = np.array([0.5, -0.5, 3.0, -3.0, 0.0])
    layer = nn.HuberLoss("none", 0.5)
    assert layer(Tensor(x), Tensor(np.zeros(5))).tolist() == [0.125, 0.125, 1.375, 1.375, 0.0]
    slope = grad(lambda t: layer(t, Tensor(np.zeros(5))).sum())(Tensor(x))
    assert slope.tolist() == [0.5, -0.5, 0.5, -0.5, 0.0]


def test_hinges_go_by_the_sign_of_the_label() -> None:
    x, labels = Tensor([0.25, 3.0, -1.0, 0.5, 0.75]), Tensor([0.0, 2.0, -3.0, 0.5, -0.5])
    for result in (nn.HingeEmbeddingLoss(1.0, "none")(x, labels), ops.hinge_embedding_loss(x, labels, 1.0, "none")):
        assert result.tolist() == [0.0, 3.0, 2.0, 0.5, 0.25]  # MindSpore 2.10


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 2)])
def test_the_root_of_the_mean_square_is_one_number(shape: tuple[int, ...]) -> None:
    x, y = NUMBERS.standard_normal((2, *shape))
    layer = nn.RMSELoss()
    np.testing.assert_allclose(layer(Tensor(x), Tensor(y)).asnumpy(), np.linalg.norm(x - y) / np.sqrt(x.size))
    assert_slopes(lambda t: layer(t, Tensor(y)), np.asarray(x))


# Dice


def dice(x: Array, y: Array, smooth: float = 1e-5) -> float:
    return float(1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + smooth))


@pytest.mark.parametrize("smooth", [1e-5, 0.5])
def test_dice_is_the_formula_of_its_paper(smooth: float) -> None:
    layer = nn.DiceLoss(smooth)
    np.testing.assert_allclose(layer(Tensor(A), Tensor(B)).asnumpy(), dice(A, B, smooth), rtol=1e-9)
    assert_slopes(lambda x: layer(x, Tensor(B)), A)
    assert layer(Tensor(np.zeros(3)), Tensor(np.zeros(3))).item() == 1.0


WEIGHTS = np.array([[1.0, 2.0], [3.0, 0.5], [0.0, 4.0]])


@pytest.mark.parametrize(
    ("settings", "through", "factors", "ignored"),
    [
        ({}, lambda x: special.softmax(x, -1), None, None),
        ({"activation": None}, lambda x: x, None, None),
        ({"activation": "sigmoid"}, special.expit, None, None),
        ({"activation": ops.tanh, "ignore_indiex": 1}, np.tanh, None, 1),
        ({"activation": None, "weights": WEIGHTS}, lambda x: x, WEIGHTS, None),
        ({"activation": nn.Sigmoid(), "weights": WEIGHTS, "ignore_indiex": 2}, special.expit, WEIGHTS, 2),
    ],
)
def test_dice_of_classes_is_the_weighted_mean_of_the_dice_of_each(
    settings: dict[str, Any], through: Any, factors: Array | None, ignored: int | None
) -> None:
    x, y = NUMBERS.standard_normal((2, 3, 4)), NUMBERS.uniform(size=(2, 3, 4))
    tensors = {name: Tensor(v) if name == "weights" else v for name, v in settings.items()}
    layer = nn.MultiClassDiceLoss(**tensors)
    table = np.ones(3) if factors is None else factors
    each = [dice(through(x)[:, c], y[:, c]) * table[c] for c in range(3) if c != ignored]
    np.testing.assert_allclose(layer(Tensor(x), Tensor(y)).asnumpy(), np.sum(each, 0) / 3, rtol=1e-7)
    assert_slopes(lambda t: layer(t, Tensor(y)), x)


def test_dice_of_classes_has_the_numbers_of_mindspore() -> None:
    x, y = Tensor([[[0.1, 0.2], [0.7, 0.4]]]), Tensor([[[0.0, 1.0], [1.0, 0.0]]])
    np.testing.assert_allclose(nn.MultiClassDiceLoss()(x, y).asnumpy(), 0.270157, rtol=3e-6)
    np.testing.assert_allclose(nn.MultiClassDiceLoss(None, 1, None)(x, y).asnumpy(), 0.309526, rtol=3e-6)
    weighted = nn.MultiClassDiceLoss(Tensor([[1.0, 2.0], [3.0, 4.0]]), activation=None)
    np.testing.assert_allclose(weighted(x, y).asnumpy(), [0.53680611, 0.92209184], rtol=1e-6)


# Connectionist temporal classification


def paths(logs: Array, labels: tuple[int, ...], blank: int) -> float:
    """Return -log of the summed probability of all paths to the labels: repeats joined, blanks left out."""
    total = 0.0
    for path in itertools.product(range(logs.shape[1]), repeat=len(logs)):
        joined = [c for c, _ in itertools.groupby(path)]
        if tuple(c for c in joined if c != blank) == labels:
            total += math.exp(sum(row[c] for row, c in zip(logs, path, strict=True)))
    return -math.log(total) if total else math.inf


LOGS = special.log_softmax(NUMBERS.standard_normal((5, 3, 4)), -1)
STEPS = [5, 4, 3]


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_loss_of_labels_without_places_is_the_sum_over_all_paths(reduction: str, blank: int) -> None:
    labels = [(1, 1), (3,), (1, 3, 1)]
    losses = np.array([paths(LOGS[:t, n], labels[n], blank) for n, t in enumerate(STEPS)])
    lengths = np.array([len(label) for label in labels])
    want = {"mean": (losses / lengths).mean(), "sum": losses.sum(), "none": losses}[reduction]
    layer = nn.CTCLoss(blank, reduction)
    table = np.array([[*label, *(1,) * (3 - len(label))] for label in labels], np.int32)
    flat = np.array([c for label in labels for c in label], np.int32)
    for targets in (table, flat):
        result = layer(Tensor(LOGS), Tensor(targets), Tensor(STEPS), Tensor(lengths))
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-9)
        np.testing.assert_array_equal(layer(Tensor(LOGS), Tensor(targets), STEPS, lengths.tolist()).asnumpy(), result)


def test_labels_that_no_path_becomes_cost_infinity_or_nothing() -> None:
    logs, labels = LOGS[:3, :2], Tensor([[1, 1, 3], [1, 3, 1]])  # equal neighbors need a blank between them
    reference = paths(logs[:, 1], (1, 3, 1), 0)
    inputs = (labels, [3, 3], [3, 3])
    np.testing.assert_allclose(nn.CTCLoss(0, "none")(Tensor(logs), *inputs).asnumpy(), [math.inf, reference], rtol=1e-9)
    layer = nn.CTCLoss(0, "none", zero_infinity=True)
    np.testing.assert_allclose(layer(Tensor(logs), *inputs).asnumpy(), [0, reference], rtol=1e-9)
    slope = grad(lambda x: layer(x, *inputs).sum())(Tensor(logs)).asnumpy()
    assert not slope[:, 0].any() and slope[:, 1].any()
