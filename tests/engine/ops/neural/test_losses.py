"""Losses against formulas in float64, with every reduction, weights, ignored labels and smoothing."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, mint, nn, ops

Array = np.ndarray[Any, Any]
NUMBERS = np.random.default_rng(4)
LOGITS = NUMBERS.standard_normal((5, 4))
LABELS = np.array([3, 0, -100, 1, 3])
WEIGHT = np.array([0.5, 2.0, 1.0, 0.3])
REDUCTIONS = ["mean", "sum", "none"]


def log_softmax(x: Array) -> Array:
    return np.array([[v - math.log(sum(math.exp(u) for u in row)) for v in row] for row in x])


def class_losses(log_p: Array, labels: Array, weight: Array, smoothing: float) -> tuple[Array, Array]:
    """Return each row's loss and its weight."""
    losses, counts = [], []
    for row, label in zip(log_p, labels, strict=True):
        mask = label != -100
        own = -row[label] * weight[label] if mask else 0.0
        spread = -(row * weight).sum() / len(row) if mask else 0.0
        losses.append((1 - smoothing) * own + smoothing * spread)
        counts.append(weight[label] if mask else 0.0)
    return np.array(losses), np.array(counts)


def reduced(losses: Array, counts: Array, reduction: str) -> Any:
    return {"mean": losses.sum() / counts.sum(), "sum": losses.sum(), "none": losses}[reduction]


def assert_slope(function: Any, x: Array) -> None:
    """Assert the gradient of the sum of a loss, by central differences."""
    want = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * 1e-6
            values.append(function(Tensor(moved)).asnumpy().sum())
        want[index] = (values[0] - values[1]) / 2e-6
    np.testing.assert_allclose(grad(function)(Tensor(x)).asnumpy(), want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_with_class_numbers(reduction: str, weighted: bool, smoothing: float) -> None:
    weight = WEIGHT if weighted else np.ones(4)
    loss = nn.CrossEntropyLoss(Tensor(WEIGHT) if weighted else None, reduction=reduction, label_smoothing=smoothing)
    want = reduced(*class_losses(log_softmax(LOGITS), LABELS, weight, smoothing), reduction)
    np.testing.assert_allclose(loss(Tensor(LOGITS), Tensor(LABELS)).asnumpy(), want, rtol=1e-10)
    assert_slope(lambda x: loss(x, Tensor(LABELS)), LOGITS)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nll_loss(reduction: str, weighted: bool) -> None:
    weight = WEIGHT if weighted else np.ones(4)
    loss = nn.NLLLoss(Tensor(WEIGHT) if weighted else None, reduction=reduction)
    want = reduced(*class_losses(LOGITS, LABELS, weight, 0.0), reduction)
    np.testing.assert_allclose(loss(Tensor(LOGITS), Tensor(LABELS)).asnumpy(), want, rtol=1e-10)
    assert_slope(lambda x: loss(x, Tensor(LABELS)), LOGITS)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_sampled_softmax_over_all_classes_is_the_whole_softmax(reduction: str) -> None:
    weights, biases, inputs = (NUMBERS.standard_normal(shape) for shape in ((6, 3), (6,), (4, 3)))
    labels = np.array([2, 0, 5, 2])
    losses = -log_softmax(inputs @ weights.T + biases)[np.arange(4), labels]
    loss = nn.SampledSoftmaxLoss(6, 6, reduction=reduction)
    arguments = [Tensor(x) for x in (weights, biases, labels, inputs)]
    want = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    np.testing.assert_allclose(loss(*arguments).asnumpy(), want, rtol=1e-6)
    assert_slope(lambda w: loss(w, *arguments[1:]), weights)


def test_only_an_examples_own_labels_are_left_out_of_the_sampled() -> None:
    # Jean et al. 2015: the labels and the sampled classes, by what each is expected to be drawn.
    weights, biases, inputs = (NUMBERS.standard_normal(shape) for shape in ((5, 3), (5,), (2, 3)))
    labels, sampled = [[1, 2], [3, 0]], [0, 4, 2]
    of_labels, of_sampled = np.array([[0.5, 0.3], [0.25, 0.2]]), np.array([0.5, 0.125, 0.7])
    want = []
    for x, own, counts in zip(inputs, labels, of_labels, strict=True):
        scores = weights @ x + biases
        logits = [scores[c] - math.log(n) for c, n in zip(own, counts, strict=True)]
        others = [scores[c] - math.log(n) for c, n in zip(sampled, of_sampled, strict=True) if c not in own]
        total = math.log(sum(math.exp(v) for v in (*logits, *others)))
        want.append(sum(total - v for v in logits) / 2)
    values = (Tensor(sampled), Tensor(of_labels), Tensor(of_sampled))
    loss = nn.SampledSoftmaxLoss(3, 5, 2, values)
    result = loss(Tensor(weights), Tensor(biases), Tensor(labels), Tensor(inputs))
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6)


def test_classes_are_sampled_evenly_and_the_seed_repeats_them() -> None:
    # Each class has its own logit, a power of 3, so that the loss of the label shows which others were drawn.
    biases = Tensor(np.arange(4.0) * math.log(3.0))
    inputs = (Tensor(np.zeros((4, 1))), biases, Tensor([0]), Tensor([[1.0]]))

    def drawn(seed: int) -> list[int]:
        loss = nn.SampledSoftmaxLoss(1, 4, seed=seed, remove_accidental_hits=False)
        return [round(math.log(math.exp(loss(*inputs).item()) - 1, 3)) for _ in range(400)]

    first = drawn(7)
    assert first == drawn(7) != drawn(8)
    # Six standard deviations of a share of 1/4 in 400 draws.
    assert all(abs(first.count(c) / 400 - 0.25) < 6 * math.sqrt(0.25 * 0.75 / 400) for c in range(4))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_a_loss_of_class_numbers_names_itself_in_its_errors(name: str) -> None:
    loss, labels = getattr(ops, name), Tensor([0, 4, 1, 1, 0])
    for arguments, text in (
        ({"weight": Tensor(WEIGHT)}, r"the class numbers in 'target' must be in \[0, 4\) or -100, but got 4"),
        ({"weight": Tensor(WEIGHT), "ignore_index": 4, "reduction": "all"}, "'reduction' must be 'mean', .* got 'all'"),
        ({"weight": Tensor([1.0]), "ignore_index": 4}, r"'weight' must have the shape \(4,\), but got \(1,\)"),
        ({"label_smoothing": 1.5, "ignore_index": 4}, r"'label_smoothing' must be in \[0, 1\], but got 1.5"),
    ):
        with pytest.raises(ValueError, match=f"For '{name}', {text}"):
            loss(Tensor(LOGITS), labels, **arguments)
        if "label_smoothing" not in arguments and name == "nll_loss":
            with pytest.raises(ValueError, match=f"For 'nll_loss', {text}"):
                mint.nn.functional.nll_loss(Tensor(LOGITS), labels, **arguments)


@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3), (2, 4, 3, 2), (4, 4, 4)])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_with_probabilities(
    reduction: str, weighted: bool, smoothing: float, shape: tuple[int, ...]
) -> None:
    rows = NUMBERS.standard_normal((math.prod(shape) // 4, 4)), NUMBERS.dirichlet(np.ones(4), math.prod(shape) // 4)
    logits, target = (np.moveaxis(x.reshape(shape[0], *shape[2:], 4), -1, 1).copy() for x in rows)
    log_p, weight = log_softmax(rows[0]), WEIGHT if weighted else np.ones(4)
    losses = -(log_p * ((1 - smoothing) * rows[1] + smoothing / 4) * weight).sum(1)
    loss = nn.CrossEntropyLoss(Tensor(WEIGHT) if weighted else None, reduction=reduction, label_smoothing=smoothing)
    want = reduced(losses.reshape(shape[0], *shape[2:]), np.ones(losses.size), reduction)
    result = loss(Tensor(logits), Tensor(target))
    assert result.shape == np.shape(want)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-10)
    assert_slope(lambda x: loss(x, Tensor(target)), logits)


def test_cross_entropy_takes_axes_after_the_classes() -> None:
    x, labels = NUMBERS.standard_normal((2, 3, 4, 5)), NUMBERS.integers(0, 3, (2, 4, 5))
    result = ops.cross_entropy(Tensor(x), Tensor(labels), reduction="none").asnumpy()
    assert result.shape == (2, 4, 5)
    for index in np.ndindex(labels.shape):
        row = x[index[0], :, index[1], index[2]]
        np.testing.assert_allclose(result[index], math.log(np.exp(row).sum()) - row[labels[index]], rtol=1e-10)


def test_cross_entropy_is_exact_for_large_logits() -> None:
    assert ops.cross_entropy(Tensor([[1000.0, 0.0]]), Tensor([1])).item() == 1000.0


def test_a_batch_in_which_nothing_counts_has_the_mean_nan() -> None:
    assert math.isnan(ops.cross_entropy(Tensor(LOGITS[:1]), Tensor([-100])).item())


def test_the_second_derivative_of_cross_entropy_is_that_of_softmax() -> None:
    direction = NUMBERS.standard_normal((5, 4))
    labels = Tensor(np.abs(LABELS) % 4)

    def slope(x: Any) -> Any:
        return grad(lambda t: ops.cross_entropy(t, labels, reduction="sum"))(x)

    result = grad(lambda t: (slope(t) * Tensor(direction)).sum())(Tensor(LOGITS)).asnumpy()
    p = np.exp(log_softmax(LOGITS))
    np.testing.assert_allclose(result, p * (direction - (p * direction).sum(1, keepdims=True)), rtol=1e-9, atol=1e-12)


def test_softmax_cross_entropy_with_logits_takes_numbers_or_one_hot_rows() -> None:
    labels = np.abs(LABELS) % 4
    want = -log_softmax(LOGITS)[np.arange(5), labels]
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor(LOGITS), Tensor(labels))
    dense = nn.SoftmaxCrossEntropyWithLogits()(Tensor(LOGITS), Tensor(np.eye(4)[labels]))
    np.testing.assert_allclose(sparse.asnumpy(), want, rtol=1e-10)
    np.testing.assert_allclose(dense.asnumpy(), want, rtol=1e-10)


def huber(d: float, beta: float) -> float:
    return 0.5 * d * d / beta if abs(d) < beta else abs(d) - 0.5 * beta


def entropy(x: float, label: float) -> float:
    p = 1 / (1 + math.exp(-x))
    return -(label * math.log(p) + (1 - label) * math.log(1 - p))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("loss", "formula"),
    [
        (nn.MSELoss, lambda x, y: (x - y) ** 2),
        (nn.L1Loss, lambda x, y: abs(x - y)),
        (lambda reduction: nn.SmoothL1Loss(0.7, reduction), lambda x, y: huber(x - y, 0.7)),
        (nn.BCEWithLogitsLoss, entropy),
    ],
    ids=["mse", "l1", "smooth l1", "bce"],
)
def test_elementwise_losses(loss: Any, formula: Any, reduction: str) -> None:
    x, y = NUMBERS.standard_normal((3, 4)), NUMBERS.uniform(0, 1, (3, 4))
    layer = loss(reduction=reduction)
    want = reduced(np.vectorize(formula)(x, y), np.ones(12), reduction)
    np.testing.assert_allclose(layer(Tensor(x), Tensor(y)).asnumpy(), want, rtol=1e-10)
    assert_slope(lambda t: layer(t, Tensor(y)), x)


def test_binary_cross_entropy_does_not_overflow_and_takes_weights() -> None:
    x, y = Tensor([1000.0, -1000.0]), Tensor([0.0, 1.0])
    assert ops.binary_cross_entropy_with_logits(x, y, reduction="none").tolist() == [1000.0, 1000.0]
    assert nn.BCEWithLogitsLoss(weight=Tensor([1.0, 3.0]))(x, y).item() == 2000.0
    half, weight = Tensor([1.0, -1.0], ms.float16), Tensor([1.0, 3.0])
    assert nn.BCEWithLogitsLoss(weight=weight, pos_weight=weight)(half, half).dtype is ms.float16


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_one_sample_needs_no_axis_of_samples(reduction: str, smoothing: float) -> None:
    row, soft = LOGITS[0], np.array([0.1, 0.2, 0.3, 0.4])
    log_p = log_softmax(row[None])[0]
    for target, own in ((Tensor(3), np.eye(4)[3]), (Tensor(soft), soft)):
        result = ops.cross_entropy(Tensor(row), target, reduction=reduction, label_smoothing=smoothing)
        assert result.shape == ()
        want = -(log_p * ((1 - smoothing) * own + smoothing / 4)).sum()
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-10)
    result = ops.nll_loss(Tensor(row), Tensor(3), reduction=reduction)
    assert result.shape == () and result.item() == -row[3]


def test_smooth_l1_with_beta_0_is_l1() -> None:
    x, y = LOGITS, LOGITS[::-1].copy()
    np.testing.assert_array_equal(ops.smooth_l1_loss(Tensor(x), Tensor(y), beta=0.0).asnumpy(), abs(x - y))


def margin_losses(x: Array, labels: Array, p: int, margin: float) -> Array:
    return np.array(
        [
            sum(max(0.0, margin - row[t] + v) ** p for c, v in enumerate(row) if c != t) / len(row)
            for row, t in zip(x, labels, strict=True)
        ]
    )


def multilabel_losses(x: Array, labels: Array) -> Array:
    losses = []
    for row, numbers in zip(x, labels, strict=True):
        classes = list(itertools.takewhile(lambda n: n >= 0, numbers))
        others = [c for c in range(len(row)) if c not in classes]
        losses.append(sum(max(0.0, 1 - (row[n] - row[o])) for n in classes for o in others) / len(row))
    return np.array(losses)


def norm(x: Array, p: float) -> Any:
    return (abs(x) ** p).sum(-1) ** (1 / p)


A, B, C = np.random.default_rng(9).standard_normal((3, 5, 4))
SIGNS = np.where(np.random.default_rng(2).uniform(size=(5, 4)) < 0.5, -1.0, 1.0)
FORMULAS: dict[str, tuple[Any, Array]] = {
    "huber_loss": (
        lambda r: ops.huber_loss(Tensor(A), Tensor(B), r, 0.7),
        np.where(abs(A - B) <= 0.7, 0.5 * (A - B) ** 2, 0.7 * (abs(A - B) - 0.35)),
    ),
    "kl_div": (lambda r: ops.kl_div(Tensor(A), Tensor(abs(B)), r), abs(B) * (np.log(abs(B)) - A)),
    "gaussian_nll_loss": (
        lambda r: ops.gaussian_nll_loss(Tensor(A), Tensor(B), Tensor(abs(C)), True, reduction=r),
        0.5 * (np.log(abs(C)) + (A - B) ** 2 / abs(C) + math.log(2 * math.pi)),
    ),
    "hinge_embedding_loss": (
        lambda r: ops.hinge_embedding_loss(Tensor(A), Tensor(SIGNS), 0.8, r),
        np.where(SIGNS == 1, A, np.maximum(0.8 - A, 0)),
    ),
    "margin_ranking_loss": (
        lambda r: ops.margin_ranking_loss(Tensor(A), Tensor(B), Tensor(SIGNS), 0.3, r),
        np.maximum(-SIGNS * (A - B) + 0.3, 0),
    ),
    "soft_margin_loss": (lambda r: ops.soft_margin_loss(Tensor(A), Tensor(SIGNS), r), np.log1p(np.exp(-SIGNS * A))),
    "triplet_margin_loss": (
        lambda r: ops.triplet_margin_loss(Tensor(A), Tensor(B), Tensor(C), 0.9, 3.0, 0.0, True, r),
        np.maximum(norm(A - B, 3) - np.minimum(norm(A - C, 3), norm(B - C, 3)) + 0.9, 0),
    ),
    "multi_margin_loss": (
        lambda r: ops.multi_margin_loss(Tensor(A), Tensor([3, 0, 1, 1, 2]), 2, 0.7, None, r),
        margin_losses(A, np.array([3, 0, 1, 1, 2]), 2, 0.7),
    ),
    "multilabel_margin_loss": (
        lambda r: ops.multilabel_margin_loss(Tensor(A), Tensor(np.tile([2, 0, -1, 1], (5, 1))), r),
        multilabel_losses(A, np.tile([2, 0, -1, 1], (5, 1))),
    ),
    "multilabel_soft_margin_loss": (
        lambda r: ops.multilabel_soft_margin_loss(Tensor(A), Tensor((SIGNS + 1) / 2), None, r),
        np.log1p(np.exp(-SIGNS * A)).mean(-1),
    ),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", FORMULAS)
def test_losses_follow_their_formulas(name: str, reduction: str) -> None:
    loss, want = FORMULAS[name]
    np.testing.assert_allclose(loss(reduction).asnumpy(), reduced(want, np.ones(want.size), reduction), rtol=1e-9)


def test_of_one_class_no_other_is_near() -> None:
    result = ops.multilabel_margin_loss(Tensor([[2.0], [3.0]]), Tensor([[-1], [0]]), "none")
    assert result.tolist() == [0.0, 0.0]


SHAPES = (Tensor(LOGITS), Tensor(LOGITS[0]))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        # MindSpore refuses all of these: a target that is broadcast is a mistake as a rule.
        (lambda: ops.smooth_l1_loss(*SHAPES), r"'input' and 'target' must have one shape, but got \(5, 4\) and \(4,\)"),
        (lambda: ops.kl_div(*SHAPES), "'logits' and 'labels' must have one shape"),
        (lambda: ops.soft_margin_loss(*SHAPES), "'input' and 'target' must have one shape"),
        (lambda: ops.binary_cross_entropy_with_logits(*SHAPES), "'input' and 'target' must have one shape"),
        (lambda: ops.huber_loss(Tensor(A), Tensor(B), delta=0.0), "'delta' must be above 0, but got 0.0"),
        (lambda: ops.smooth_l1_loss(Tensor(A), Tensor(B), beta=-1.0), "'beta' must not be negative, but got -1.0"),
        (lambda: ops.gaussian_nll_loss(Tensor(A), Tensor(B), Tensor(B * B), eps=-1.0), "'eps' must be above 0"),
        (lambda: ops.triplet_margin_loss(Tensor(A), Tensor(B), Tensor(C), p=0), "'p' must not be 0"),
        (lambda: ops.multi_margin_loss(Tensor(A), Tensor([0, 1, 2, 3, -1])), r"must be in \[0, 4\)"),
        (lambda: ops.multilabel_margin_loss(Tensor(A), Tensor(np.full((5, 4), 4))), r"must be in \[0, 4\)"),
        (lambda: ops.nll_loss(Tensor(A), Tensor(LABELS), Tensor([1.0, 2.0])), r"'weight' must have the shape \(4,\)"),
    ],
)
def test_shapes_and_settings_that_do_not_fit_are_refused(action: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        action()


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: nn.MSELoss("average"), ValueError, "For 'MSELoss', 'reduction' must be 'mean', 'sum' or 'none'"),
        (lambda: nn.MAELoss()(1.0, Tensor([1.0])), TypeError, "'MAELoss', 'logits' must be a Tensor, but got float"),
        (lambda: nn.MAELoss()(Tensor([1.0]), [1.0]), TypeError, "'MAELoss', 'labels' must be a Tensor, but got list"),
        (lambda: ops.mse_loss(Tensor([1.0]), Tensor([1.0]), "no"), ValueError, "For 'mse_loss', 'reduction' must be"),
        (lambda: ops.cross_entropy(Tensor(LOGITS), [1]), TypeError, "'target' must be a Tensor, but got list"),  # type: ignore[arg-type]
        (
            lambda: ops.cross_entropy(Tensor(LOGITS), Tensor([1, 2])),
            ValueError,
            r"class numbers in 'target' must have the shape \(5,\) for 'input' of shape \(5, 4\), but got \(2,\)",
        ),
        (
            lambda: ops.cross_entropy(Tensor(LOGITS), Tensor(LOGITS[:2])),
            ValueError,
            r"probabilities in 'target' must have the shape \(5, 4\), but got \(2, 4\)",
        ),
        (
            lambda: ops.cross_entropy(Tensor(LOGITS), Tensor([0, 1, 2, 3, 4])),
            ValueError,
            r"labels must lie in \[0, 4\) or equal ignore_index, got 4 in row 4",
        ),
        (
            lambda: ops.nll_loss(Tensor(LOGITS), Tensor([0, 1, 2, 3, -1])),
            ValueError,
            r"the class numbers in 'target' must be in \[0, 4\) or -100",
        ),
        (
            lambda: ops.cross_entropy(Tensor(LOGITS), Tensor(LABELS), label_smoothing=2.0),
            ValueError,
            r"'label_smoothing' must be in \[0, 1\], but got 2.0",
        ),
    ],
)
def test_losses_refuse(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action()


# Functions and classes of one loss each

PROBABILITIES = np.exp(log_softmax(NUMBERS.standard_normal((5, 4))))
WIDE = np.concatenate([LOGITS, [[300.0, -300.0, 0.0, 1.0]]])
CHOSEN = np.array([3, 0, 2, 1, 3, 1])


def test_softmax_cross_entropy_gives_losses_and_gradient() -> None:
    labels = np.concatenate([PROBABILITIES, [[1.0, 0.0, 0.0, 0.0]]])
    losses, gradient = ops.SoftmaxCrossEntropyWithLogits()(Tensor(WIDE), Tensor(labels))
    p = np.exp(WIDE - WIDE.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        want = -np.where(labels > 0, labels * np.log(p), 0).sum(1)
    assert (losses.shape, gradient.shape) == ((6,), (6, 4))
    np.testing.assert_allclose(losses.asnumpy(), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient.asnumpy(), p - labels, rtol=1e-12, atol=1e-12)
    assert_slope(lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, Tensor(PROBABILITIES))[0].sum(), LOGITS)


def test_sparse_softmax_cross_entropy_gives_the_mean_or_its_gradient() -> None:
    labels = Tensor(CHOSEN.astype(np.int32))
    p = np.exp(WIDE - WIDE.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    losses = [np.logaddexp.reduce(row) - row[label] for row, label in zip(WIDE, CHOSEN, strict=True)]
    mean = ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor(WIDE), labels)
    assert mean.shape == () and float(mean) == pytest.approx(sum(losses) / 6, rel=1e-12)
    gradient = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(Tensor(WIDE), labels)
    np.testing.assert_allclose(gradient.asnumpy(), (p - np.eye(4)[CHOSEN]) / 6, rtol=1e-6, atol=1e-9)
    assert_slope(lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, labels), WIDE[:, ::-1].copy())


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("weight", "factor"), [(None, None), ((4,), None), (None, (5, 4)), ((5, 1), (4,))])
def test_binary_cross_entropy_as_a_class(reduction: str, weight: Any, factor: Any) -> None:
    labels = NUMBERS.uniform(0, 1, (5, 4))
    w, c = (1.0 if variant is None else NUMBERS.uniform(0.5, 2, variant) for variant in (weight, factor))
    inputs = [None if item is None else Tensor(value) for item, value in ((weight, w), (factor, c))]
    for scale in (1.0, 100.0):
        x = LOGITS * scale
        # log(sigmoid(x)) = -log(1 + exp(-x))
        want = w * (c * labels * np.logaddexp(0, -x) + (1 - labels) * np.logaddexp(0, x))
        want = {"mean": want.mean(), "sum": want.sum(), "none": want}[reduction]
        result = ops.BCEWithLogitsLoss(reduction)(Tensor(x), Tensor(labels), *inputs)
        assert result.shape == np.shape(want)
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-12)
    assert_slope(lambda x: ops.BCEWithLogitsLoss(reduction)(x, Tensor(labels), *inputs).sum(), LOGITS)


def cosine(item: Array, other: Array) -> float:
    dot = sum(a * b for a, b in zip(item, other, strict=True))
    lengths = [math.sqrt(sum(a * a for a in x)) for x in (item, other)]
    return float(dot / max(lengths[0] * lengths[1], 1e-8))


@pytest.mark.parametrize(
    ("item", "other", "dim"),
    [((5, 4), (5, 4), 1), ((5, 4), (5, 4), 0), ((5, 4), (5, 4), -2), ((2, 3, 4), (3, 1), 1), ((4,), (2, 4), -1)],
)
def test_cosine_similarity_is_that_of_each_pair_of_vectors(item: Any, other: Any, dim: int) -> None:
    x, y = NUMBERS.standard_normal(item), NUMBERS.standard_normal(other)
    x.ravel()[:1] = 0
    wide = [np.moveaxis(z, dim if dim < 0 else dim - max(x.ndim, y.ndim), -1) for z in np.broadcast_arrays(x, y)]
    want = np.array([cosine(*(z[index] for z in wide)) for index in np.ndindex(wide[0].shape[:-1])])
    result = ops.cosine_similarity(Tensor(x), Tensor(y), dim)
    np.testing.assert_allclose(result.asnumpy(), want.reshape(wide[0].shape[:-1]), rtol=1e-12)
    assert_slope(lambda x: ops.cosine_similarity(x, Tensor(y), dim).sum(), x)


def test_the_cosine_with_nothing_is_0_and_eps_is_the_least_product_of_lengths() -> None:
    zeros, ones = Tensor(np.zeros((2, 3))), Tensor(np.ones((2, 3)))
    assert ops.cosine_similarity(zeros, ones).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(ops.cosine_similarity(ones, ones, 1, 10.0).asnumpy(), [3 / 10] * 2, rtol=1e-12)
    result = grad(lambda x, y: ops.cosine_similarity(x, y).sum(), (0, 1))(zeros, ones)  # other / eps
    np.testing.assert_allclose(result[0].asnumpy(), np.full((2, 3), 1e8), rtol=1e-12)
    assert result[1].tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("margin", [0.0, 0.3, -0.5])
def test_cosine_embedding_loss_draws_together_and_pushes_apart(margin: float, reduction: str) -> None:
    x, y = NUMBERS.standard_normal((2, 6, 3))
    target = np.array([1, -1, 1, -1, 0, -1])
    x[1] = y[1] * 2  # as near as can be, and to be pushed apart
    cosines = [cosine(a, b) for a, b in zip(x, y, strict=True)]
    kinds = {1: lambda c: 1 - c, -1: lambda c: max(0.0, c - margin), 0: lambda c: 0.0}
    want = np.array([kinds[t](c) for c, t in zip(cosines, target.tolist(), strict=True)])
    expected = {"mean": want.mean(), "sum": want.sum(), "none": want}[reduction]
    result = ops.cosine_embedding_loss(Tensor(x), Tensor(y), Tensor(target), margin, reduction)
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-9, atol=1e-12)
    assert_slope(lambda x: ops.cosine_embedding_loss(x, Tensor(y), Tensor(target), margin, reduction).sum(), x)
    single = ops.cosine_embedding_loss(Tensor(x[0]), Tensor(y[0]), Tensor(1), margin, reduction)
    assert single.shape == () and float(single) == pytest.approx(want[0])


def test_ctc_of_one_sample_and_of_targets_longer_than_their_lengths() -> None:
    # recorded from MindSpore 2.10
    chances = [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4]]
    scores = Tensor(np.log(np.array(chances, np.float32)))
    targets, steps, labels = Tensor([1, 2, 1], ms.int32), Tensor([4], ms.int32), Tensor([2], ms.int32)
    for reduction, loss in (("none", 1.751), ("mean", 0.875501), ("sum", 1.751)):
        result = nn.CTCLoss(reduction=reduction)(scores, targets, steps, labels)
        assert result.shape == () and abs(float(result) - loss) < 1e-5
        result = nn.CTCLoss(reduction=reduction)(scores, targets[None], steps, labels)
        assert result.shape == () and abs(float(result) - loss) < 1e-5
    paths = ops.ctc_loss(scores[:, None], targets[None], steps, labels)[1].asnumpy()
    assert paths.shape == (1, 4, 7) and np.isneginf(paths[0, :, 5:]).all()
    assert np.allclose(paths[0, 3, :3], [-6.03228664, -3.19907331, -2.55104637], atol=1e-5)
