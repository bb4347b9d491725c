"""Metrics against scikit-learn, formulas, and values read off MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk

from hookscope.engine import Tensor, nn, train
from hookscope.engine.train.metrics.metric import METRICS

_R = np.random.default_rng(0)
SCORES = _R.random((40, 3)).astype(np.float32)
LABELS = _R.integers(0, 3, 40)
BEST = SCORES.argmax(1)


def value(name: str, *inputs: Any, **kwargs: Any) -> Any:
    metric = getattr(train, name)(**kwargs)
    metric.clear()
    for batch in inputs:
        metric.update(*batch)
    return metric.eval()


HALVES = [(Tensor(SCORES[i : i + 20]), Tensor(LABELS[i : i + 20])) for i in (0, 20)]


def test_accuracy_precision_recall_and_f_are_scikit_learns() -> None:
    assert value("Accuracy", *HALVES) == pytest.approx(sk.accuracy_score(LABELS, BEST))
    for name, function in (("Precision", sk.precision_score), ("Recall", sk.recall_score), ("F1", sk.f1_score)):
        np.testing.assert_allclose(value(name, *HALVES), function(LABELS, BEST, average=None), rtol=1e-12)
    np.testing.assert_allclose(
        value("Fbeta", *HALVES, beta=2.0), sk.fbeta_score(LABELS, BEST, beta=2.0, average=None), rtol=1e-12
    )


def test_one_hot_labels_count_like_class_numbers() -> None:
    assert value("Accuracy", (Tensor(SCORES), Tensor(np.eye(3)[LABELS]))) == value("Accuracy", *HALVES)


def test_several_labels_at_once_must_all_be_right() -> None:
    guessed, real = np.array([[0, 1], [1, 1], [1, 0]]), np.array([[0, 1], [1, 0], [1, 0]])
    assert value("Accuracy", (Tensor(guessed), Tensor(real)), eval_type="multilabel") == pytest.approx(2 / 3)
    pair = (Tensor(guessed), Tensor(real))  # precision and recall are then of each sample
    np.testing.assert_allclose(value("Recall", pair, eval_type="multilabel"), [1, 1, 1])
    np.testing.assert_allclose(value("Precision", pair, pair, eval_type="multilabel"), [1, 0.5, 1, 1, 0.5, 1])


@pytest.mark.parametrize("k", [1, 2])
def test_top_k_is_scikit_learns(k: int) -> None:
    expected = sk.top_k_accuracy_score(LABELS, SCORES, k=k)
    assert value("TopKCategoricalAccuracy", *HALVES, k=k) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "k"), [("Top1CategoricalAccuracy", 1), ("Top5CategoricalAccuracy", 5)])
def test_top_1_and_top_5_are_those_of_k(name: str, k: int) -> None:
    scores = np.random.default_rng(3).permutation(90).reshape(10, 9) / 90
    labels = np.random.default_rng(4).integers(0, 9, 10)
    expected = sk.top_k_accuracy_score(labels, scores, k=k, labels=np.arange(9))
    assert 0 < expected < 1
    halves = [(Tensor(scores[part]), Tensor(labels[part])) for part in (slice(6), slice(6, None))]
    assert value(name, *halves) == pytest.approx(expected)
    assert value(name, (Tensor(scores), Tensor(np.eye(9)[labels]))) == pytest.approx(expected)
    with pytest.raises(RuntimeError, match=f"'{name}' has no value yet"):
        getattr(train, name)().eval()


def test_roc_and_auc_are_scikit_learns() -> None:
    scores, labels = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1])
    false, true, thresholds = value("ROC", (Tensor(scores), Tensor(labels)), pos_label=1)
    expected = sk.roc_curve(labels, scores, drop_intermediate=False)
    np.testing.assert_allclose(false, expected[0])
    np.testing.assert_allclose(true, expected[1])
    np.testing.assert_allclose(thresholds[1:], expected[2][1:])
    assert train.auc(false, true) == pytest.approx(sk.roc_auc_score(labels, scores))
    curves = value("ROC", (Tensor(SCORES), Tensor(LABELS)), class_num=3)
    for number in range(3):
        expected = sk.roc_curve(number == LABELS, SCORES[:, number], drop_intermediate=False)
        np.testing.assert_allclose(curves[0][number], expected[0])
        np.testing.assert_allclose(curves[1][number], expected[1])


@pytest.mark.parametrize(
    ("normalize", "sk_name"), [("no_norm", None), ("target", "true"), ("prediction", "pred"), ("all", "all")]
)
def test_the_confusion_matrix_is_scikit_learns(normalize: str, sk_name: str | None) -> None:
    result = value("ConfusionMatrix", *HALVES, num_classes=3, normalize=normalize)
    np.testing.assert_allclose(result, sk.confusion_matrix(LABELS, BEST, normalize=sk_name))


def test_figures_of_the_confusion_matrix() -> None:
    guessed = _R.integers(0, 2, (1, 1, 50))
    real = _R.integers(0, 2, (1, 1, 50))
    flat = real.ravel(), guessed.ravel()
    for name, expected in (
        ("sensitivity", sk.recall_score(*flat)),
        ("precision", sk.precision_score(*flat)),
        ("accuracy", sk.accuracy_score(*flat)),
        ("f1 score", sk.f1_score(*flat)),
        ("balanced accuracy", sk.balanced_accuracy_score(*flat)),
        ("matthews correlation coefficient", sk.matthews_corrcoef(*flat)),
        ("threat score", sk.jaccard_score(*flat)),
        ("fowlkes mallows index", np.sqrt(sk.precision_score(*flat) * sk.recall_score(*flat))),
    ):
        result = value("ConfusionMatrixMetric", (Tensor(guessed), Tensor(real)), metric_name=name)
        np.testing.assert_allclose(result, [expected], rtol=1e-6)


@pytest.mark.parametrize(("decrease", "expected"), [("mean", (2 / 3 + 1 / 2 + 1) / 3), ("sum", 2 / 3 + 1 / 2 + 1)])
def test_figures_of_samples_are_put_together_without_those_that_have_none(decrease: str, expected: float) -> None:
    real = np.array([[[1, 1, 1]], [[1, 1, 0]], [[0, 0, 0]], [[1, 0, 0]]])  # the third has no positive, so no recall
    guessed = np.array([[[1, 1, 0]], [[1, 0, 0]], [[1, 1, 1]], [[1, 1, 0]]])
    result = value("ConfusionMatrixMetric", (guessed, real), calculation_method=True, decrease=decrease)
    assert result == pytest.approx(expected)


def test_a_metric_that_is_called_is_that_of_one_batch_alone() -> None:
    metric = train.MAE()
    metric.update(np.array([100.0]), np.array([0.0]))
    assert metric(np.array([1.0, 4.0]), np.array([2.0, 2.0])) == 1.5
    assert metric.eval() == 1.5


@pytest.mark.parametrize(("name", "k"), [("Top1CategoricalAccuracy", 1), ("Top5CategoricalAccuracy", 5)])
def test_the_share_among_the_best_one_or_five_is_scikit_learns(name: str, k: int) -> None:
    scores, labels = _R.random((30, 9)).astype(np.float32), _R.integers(0, 9, 30)
    expected = sk.top_k_accuracy_score(labels, scores, k=k, labels=range(9))
    batches = [(Tensor(scores[i : i + 10]), Tensor(labels[i : i + 10])) for i in (0, 10, 20)]
    assert value(name, *batches) == pytest.approx(expected)


# The definitions (Fawcett 2006, Introduction to ROC analysis; https://en.wikipedia.org/wiki/Confusion_matrix).
FIGURES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sensitivity recall hit_rate true_positive_rate tpr": lambda tp, fp, tn, fn: tp / (tp + fn),
    "specificity selectivity true_negative_rate tnr": lambda tp, fp, tn, fn: tn / (tn + fp),
    "precision positive_predictive_value ppv": lambda tp, fp, tn, fn: tp / (tp + fp),
    "negative_predictive_value npv": lambda tp, fp, tn, fn: tn / (tn + fn),
    "miss_rate false_negative_rate fnr": lambda tp, fp, tn, fn: fn / (tp + fn),
    "fall_out false_positive_rate fpr": lambda tp, fp, tn, fn: fp / (tn + fp),
    "false_discovery_rate fdr": lambda tp, fp, tn, fn: fp / (tp + fp),
    "false_omission_rate for": lambda tp, fp, tn, fn: fn / (tn + fn),
    "prevalence_threshold pt": lambda tp, fp, tn, fn: (
        (np.sqrt(tp / (tp + fn) * (fp / (tn + fp))) - fp / (tn + fp)) / (tp / (tp + fn) - fp / (tn + fp))
    ),
    "threat_score critical_success_index csi ts": lambda tp, fp, tn, fn: tp / (tp + fn + fp),
    "accuracy acc": lambda tp, fp, tn, fn: (tp + tn) / (tp + fp + tn + fn),
    "balanced_accuracy ba": lambda tp, fp, tn, fn: tp / (tp + fn) / 2 + tn / (tn + fp) / 2,
    "f1_score f1": lambda tp, fp, tn, fn: tp / (tp + (fn + fp) / 2),
    "matthews_correlation_coefficient mcc": lambda tp, fp, tn, fn: (
        (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    ),
    "fowlkes_mallows_index fm": lambda tp, fp, tn, fn: np.sqrt(tp / (tp + fp) * (tp / (tp + fn))),
    "informedness bookmaker_informedness bm": lambda tp, fp, tn, fn: tp / (tp + fn) - fp / (tn + fp),
    "markedness deltap mk": lambda tp, fp, tn, fn: tp / (tp + fp) - fn / (tn + fn),
}
_F = np.random.default_rng(3)
GUESSED, REAL = _F.integers(0, 2, (4, 3, 5)), _F.integers(0, 2, (4, 3, 5))
REAL[0, 1] = 0  # no positive: no sensitivity
GUESSED[1, 2] = 0


def counted(guessed: Any, real: Any) -> tuple[Any, Any, Any, Any]:
    tn, fp, fn, tp = sk.confusion_matrix(real.ravel(), guessed.ravel(), labels=[0, 1]).ravel().astype(float)
    return tp, fp, tn, fn


def figures_of(rule: Any, guessed: Any, real: Any) -> Any:
    """Return (N, C), the figure of each sample and class; NaN for a quotient by 0."""
    with np.errstate(all="ignore"):
        return np.array(
            [[rule(*counted(g, r)) for g, r in zip(*pair, strict=True)] for pair in zip(guessed, real, strict=True)]
        )


@pytest.mark.parametrize("names", FIGURES)
def test_each_figure_of_the_confusion_matrix_is_its_definition(names: str) -> None:
    rule = FIGURES[names]
    halves = [(Tensor(GUESSED[part]), Tensor(REAL[part])) for part in (slice(0, 1), slice(1, 4))]
    expected = rule(*counted(GUESSED, REAL))
    for name in names.split():
        for text in {name, name.replace("_", " "), name.upper()}:
            result = value("ConfusionMatrixMetric", *halves, metric_name=text)
            np.testing.assert_allclose(result, [expected], rtol=1e-12)


@pytest.mark.parametrize("name", ["recall", "miss rate", "csi", "f1", "mcc", "pt", "ba", "fm", "bm", "mk"])
def test_a_figure_with_nothing_to_divide_by_is_nan(name: str) -> None:
    nothing = np.zeros((2, 1, 3), int)  # no positives: neither predicted nor real
    assert np.isnan(value("ConfusionMatrixMetric", (nothing, nothing), metric_name=name)).tolist() == [True]


@pytest.mark.parametrize("name", ["sensitivity", "precision", "accuracy"])
@pytest.mark.parametrize("skip_channel", [True, False])
def test_figures_of_each_sample_and_class_become_one_by_their_mean_or_sum(name: str, skip_channel: bool) -> None:
    (rule,) = [rule for names, rule in FIGURES.items() if name in names.split()]
    batches = [(GUESSED, REAL), (GUESSED[:2], REAL[:2])]
    tables = [figures_of(rule, *(a[:, 0 if skip_channel else 1 :] for a in pair)) for pair in batches]
    means = [[np.nanmean(row) for row in table if not np.isnan(row).all()] for table in tables]
    # MindSpore weighs the batches by how many figures each had: the mean of samples, or the sum of all.
    for decrease, numbers in (
        ("mean", [(np.mean(row), len(row)) for row in means]),
        ("sum", [(np.nansum(table), (~np.isnan(table)).sum()) for table in tables]),
    ):
        expected = sum(number * count for number, count in numbers) / sum(count for _, count in numbers)
        result = value(
            "ConfusionMatrixMetric",
            *[(Tensor(g), Tensor(r)) for g, r in batches],
            metric_name=name,
            calculation_method=True,
            decrease=decrease,
            skip_channel=skip_channel,
        )
        assert result == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("decrease", "left"), [("none", 12), ("mean_batch", 3), ("sum_batch", 3), ("mean_channel", 4), ("sum_channel", 4)]
)
def test_a_way_that_leaves_several_figures_is_refused(decrease: str, left: int) -> None:
    with pytest.raises(ValueError, match=f"'decrease' '{decrease}' leaves {left} numbers of a batch"):
        value("ConfusionMatrixMetric", (GUESSED, REAL), calculation_method=True, decrease=decrease)


def test_a_metric_that_is_called_gives_the_value_of_one_batch_alone() -> None:
    metric = train.MAE()
    metric.clear()
    metric.update(Tensor([100.0]), Tensor([0.0]))
    assert metric(Tensor([1.0, 2.0]), Tensor([3.0, 5.0])) == 2.5
    assert metric.eval() == 2.5


def test_metrics_by_name_or_as_they_are() -> None:
    metrics = train.metrics.get_metrics({"mae", "acc"})
    assert metrics is not None and {name: type(item) for name, item in metrics.items()} == {
        "mae": train.MAE,
        "acc": train.Accuracy,
    }
    own = {"mine": train.MAE()}
    assert train.metrics.get_metrics(own) is own and train.metrics.get_metrics(None) is None


def test_errors_and_losses_are_means_over_samples() -> None:
    a, b = SCORES, SCORES[::-1].copy()
    assert value("MAE", (Tensor(a), Tensor(b))) == pytest.approx(np.abs(a - b).sum() / 40)
    assert value("MSE", (Tensor(a), Tensor(b))) == pytest.approx(np.square(a - b).sum() / 40)
    assert value("Loss", (Tensor(0.5),), (Tensor(1.5),)) == 1.0
    expected = np.exp(-np.log(SCORES[np.arange(40), LABELS]).mean())
    assert value("Perplexity", (Tensor(SCORES), Tensor(LABELS))) == pytest.approx(expected, rel=1e-5)


def test_cosine_similarity_is_scikit_learns() -> None:
    rows = np.array([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8.0]])
    from sklearn.metrics.pairwise import cosine_similarity

    np.testing.assert_allclose(value("CosineSimilarity", (rows,), zero_diagonal=False), cosine_similarity(rows))


@pytest.mark.parametrize(
    ("n", "smooth", "expected"),
    [(1, False, 0.8143536762323635), (2, True, 0.7608551323868303), (4, False, 0.48766770743757065)],
)
def test_bleu_is_mindspores(n: int, smooth: bool, expected: float) -> None:
    candidates = [["i", "have", "a", "pen", "on", "my", "desk"], ["a", "b", "c"]]
    references = [
        [["i", "have", "a", "pen", "in", "my", "desk"], ["there", "is", "a", "pen", "on", "the", "desk"]],
        [["a", "b", "d", "e"]],
    ]
    assert value("BleuScore", (candidates, references), n_gram=n, smooth=smooth) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "kwargs", "expected"),
    [
        ("HausdorffDistance", {}, 1.4142135623730951),
        ("HausdorffDistance", {"distance_metric": "taxicab"}, 2),
        ("HausdorffDistance", {"crop": False}, 2.0),
        ("MeanSurfaceDistance", {}, 0.8047378541243649),
        ("MeanSurfaceDistance", {"symmetric": True}, 0.7357022603955158),
        ("RootMeanSquareDistance", {}, 1.0),
        ("RootMeanSquareDistance", {"symmetric": True, "distance_metric": "chessboard"}, 0.816496580927726),
    ],
)
def test_distances_between_borders_are_mindspores(name: str, kwargs: dict[str, Any], expected: float) -> None:
    x = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]])
    y = np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
    label = 0 if name != "HausdorffDistance" or kwargs.get("crop", True) else 1
    assert value(name, (Tensor(x), Tensor(y), label), **kwargs) == pytest.approx(expected)


def test_dice_is_mindspores() -> None:
    a, b = np.array([[0, 1, 1], [1, 0, 1]]), np.array([[0, 1, 0], [1, 1, 1]])
    assert value("Dice", (Tensor(a), Tensor(b))) == pytest.approx(2 * 3 / (4 + 4 + 1e-5) / 2)


def test_occlusion_is_what_a_covered_square_costs() -> None:
    class Mean(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x.reshape((x.shape[0], -1)).sum(1, keepdims=True)

    image = np.ones((1, 3, 3), np.float32)
    result = value("OcclusionSensitivity", (Mean(), image, np.array([0])), margin=1)
    assert result.shape == (3, 3) and result[0, 0] == 1.0 and result[1, 1] == 4.0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: value("Accuracy"), RuntimeError),
        (lambda: value("Accuracy", (Tensor(SCORES),)), ValueError),
        (lambda: value("Accuracy", (Tensor(SCORES), Tensor(LABELS[:3]))), ValueError),
        (lambda: value("Precision", eval_type="x"), TypeError),
        (lambda: value("Fbeta", beta=0), ValueError),
        (lambda: value("TopKCategoricalAccuracy", k=0), ValueError),
        (lambda: value("BleuScore", n_gram=5), ValueError),
        (lambda: value("Dice", smooth=-1), TypeError),
        (lambda: train.get_metric_fn("no such"), KeyError),
        (lambda: train.metrics.get_metrics(["acc"]), TypeError),
    ],
)
def test_bad_input_raises_mindspores_class(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_every_name_makes_a_metric() -> None:
    assert len(train.names()) == 23 and "acc" in train.names()
    assert isinstance(train.get_metric_fn("F1"), train.F1)


_PAIR = (SCORES, LABELS)
_IMAGES = (np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]]), 0)
_BINARY = (_R.integers(0, 2, (1, 1, 50)), _R.integers(0, 2, (1, 1, 50)))
BATCHES: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "Accuracy": ({}, _PAIR),
    "BleuScore": ({}, ([["a", "b", "c", "d"]], [[["a", "b", "c", "e"]]])),
    "ConfusionMatrix": ({"num_classes": 3}, (BEST, LABELS)),
    "ConfusionMatrixMetric": ({"calculation_method": True}, _BINARY),
    "CosineSimilarity": ({}, (SCORES,)),
    "Dice": ({}, _BINARY),
    "F1": ({}, _PAIR),
    "Fbeta": ({"beta": 2.0}, _PAIR),
    "HausdorffDistance": ({}, _IMAGES),
    "Loss": ({}, (Tensor(0.5),)),
    "MAE": ({}, (SCORES, SCORES * 2)),
    "MSE": ({}, (SCORES, SCORES * 2)),
    "MeanSurfaceDistance": ({}, _IMAGES),
    "OcclusionSensitivity": (
        {"margin": 1},
        (nn.SequentialCell(nn.Flatten(), nn.Dense(4, 2)), np.ones((1, 2, 2), np.float32), np.array([0])),
    ),
    "Perplexity": ({}, _PAIR),
    "Precision": ({}, _PAIR),
    "ROC": ({"class_num": 3}, _PAIR),
    "Recall": ({}, _PAIR),
    "RootMeanSquareDistance": ({}, _IMAGES),
    "Top1CategoricalAccuracy": ({}, _PAIR),
    "Top5CategoricalAccuracy": ({}, (np.eye(6), np.arange(6))),
    "TopKCategoricalAccuracy": ({"k": 2}, _PAIR),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_metric_that_is_cleared_has_no_value_and_begins_anew(name: str) -> None:
    settings, batch = BATCHES[name]
    metric = getattr(train, name)(**settings)
    assert metric.indexes is None
    for _ in range(2):
        with pytest.raises(RuntimeError, match=f"'{name}' has no value yet: call 'update' with a batch before 'eval'"):
            metric.eval()
        metric.update(*batch)
        assert np.isfinite(np.concatenate([np.ravel(item) for item in flat(metric.eval())])).all()
        metric.clear()


def flat(result: Any) -> list[Any]:
    return [item for each in result for item in flat(each)] if isinstance(result, tuple | list) else [result]


def test_every_metric_is_cleared_here() -> None:
    kinds = {kind for kind in METRICS.values() if isinstance(kind, type)}  # auc is a function
    assert {kind.__name__ for kind in kinds} | {"Fbeta"} == set(BATCHES)


def test_inputs_can_be_chosen_by_place() -> None:
    metric = train.MAE().set_indexes([2, 0])
    metric.update(Tensor([1.0]), Tensor([9.0]), Tensor([3.0]))
    assert metric.eval() == 2.0


@pytest.mark.parametrize(
    ("predicted", "real", "what"), [([3, 0, 1], [0, 1, 1], "predictions"), ([1, 0], [0, -1], "labels")]
)
def test_a_confusion_matrix_counts_no_class_it_does_not_have(predicted: Any, real: Any, what: str) -> None:
    # MindSpore counts prediction 3 of 2 classes as another pair.
    with pytest.raises(ValueError, match=f"{what} must be from 0 to 1, but go from"):
        train.ConfusionMatrix(2).update(np.array(predicted), np.array(real))


# The edges of each metric, by their definitions


def test_the_roc_of_scores_with_further_axes_is_scikit_learns() -> None:
    scores, labels = np.moveaxis(SCORES.reshape(4, 10, 3), -1, 1), LABELS.reshape(4, 10)
    false, true, thresholds = value("ROC", (Tensor(scores), Tensor(labels)), class_num=3)
    for number in range(3):
        expected = sk.roc_curve(number == LABELS, SCORES[:, number], drop_intermediate=False)
        np.testing.assert_allclose(false[number], expected[0])
        np.testing.assert_allclose(true[number], expected[1])
        np.testing.assert_allclose(thresholds[number], [expected[2][1] + 1, *expected[2][1:]], rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"class_num": 1}, {"pos_label": 1}, {"class_num": 1, "pos_label": 0}])
def test_the_roc_of_two_classes_is_of_label_1_unless_another_is_named(settings: dict[str, int]) -> None:
    scores = np.array([[0.5, 0.2, 0.5, 0.9], [0.2, 0.5, 0.7, 0.2]])  # ties, between labels and among them
    labels = np.array([[1, 0, 0, 1], [1, 1, 0, 0]])
    result = value("ROC", (Tensor(scores), Tensor(labels)), **settings)
    expected = sk.roc_curve(
        labels.ravel(), scores.ravel(), pos_label=settings.get("pos_label", 1), drop_intermediate=False
    )
    np.testing.assert_allclose(result[0], expected[0])
    np.testing.assert_allclose(result[1], expected[1])
    np.testing.assert_allclose(result[2], [0.9 + 1, *expected[2][1:]])  # MindSpore's first: one above the highest


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: train.ROC(class_num=2.5), TypeError, "'class_num' must be an int or None, but got 2.5"),
        (lambda: train.ROC(pos_label=True), TypeError, "'pos_label' must be an int or None, but got True"),
        (
            lambda: value("ROC", (np.ones(2), np.ones(2)), class_num=2),
            ValueError,
            "predictions without a class axis need 'class_num' 1, but got 2",
        ),
        (lambda: value("ROC", (SCORES, LABELS), class_num=2), ValueError, "'class_num' must be the predictions' 3"),
        (lambda: value("ROC", (SCORES, LABELS), class_num=3, pos_label=1), ValueError, "'pos_label' must be None"),
        (lambda: value("ROC", (np.ones(3), np.ones(3))), ValueError, "no label is negative"),
        (lambda: value("ROC", (np.ones(3), np.zeros(3))), ValueError, "no label is positive"),
        (
            lambda: train.ConfusionMatrixMetric(skip_channel=1),
            TypeError,  # type: ignore[arg-type]
            "For 'ConfusionMatrixMetric', 'skip_channel' must be a bool, but got 1",
        ),
        (
            lambda: train.ConfusionMatrixMetric(calculation_method="x"),
            TypeError,  # type: ignore[arg-type]
            "For 'ConfusionMatrixMetric', 'calculation_method' must be a bool, but got 'x'",
        ),
        (
            lambda: train.ConfusionMatrixMetric(metric_name=3),
            TypeError,  # type: ignore[arg-type]
            "For 'ConfusionMatrixMetric', 'metric_name' must be a str, but got 3",
        ),
        (
            lambda: train.ConfusionMatrixMetric(decrease=None),
            TypeError,  # type: ignore[arg-type]
            "For 'ConfusionMatrixMetric', 'decrease' must be a str, but got None",
        ),
        (lambda: train.Loss().update(Tensor([[1.0]])), ValueError, r"have one axis at most, but its shape is \(1, 1\)"),
    ],
)
def test_a_metric_says_what_it_cannot_take(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "x",
    [[0.0, 0.5, 0.5, 2.0, 3.0], [3.0, 2.0, 2.0, 1.0, 0.0], [2.0, 2.0, 2.0, 2.0, 2.0], [0.0, 1.0], [[0.0, 1.0, 4.0]]],
)
def test_an_area_is_positive_whichever_way_the_points_run(x: Any) -> None:
    indices = np.array(x)
    heights = np.array([1.0, 2.0, 5.0, 4.0, 8.0])[: indices.size].reshape(indices.shape)
    expected = abs(np.trapezoid(heights.ravel(), indices.ravel()))
    assert train.auc(indices, heights) == pytest.approx(expected)
    if indices.size > 2:
        shuffled = np.roll(indices.ravel(), 2), np.roll(heights.ravel(), 2)
        order = np.lexsort(shuffled[::-1])
        sorted_area = np.trapezoid(shuffled[1][order], shuffled[0][order])
        assert train.auc(*shuffled, reorder=True) == pytest.approx(sorted_area)


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        ([0.0, 2.0, 1.0], [1.0, 1.0, 1.0], "'x' must rise or fall throughout"),
        ([2.0, 0.0, 1.0], [1.0, 1.0, 1.0], "'x' must rise or fall throughout"),
        ([[0.0, 1.0], [2.0, 3.0]], [0.0, 1.0, 2.0, 3.0], r"one axis, but got the shapes \(2, 2\) and \(4,\)"),
        ([0.0, 1.0, 2.0, 3.0], [[0.0, 1.0], [2.0, 3.0]], r"one axis, but got the shapes \(4,\) and \(2, 2\)"),
        (1.0, [1.0, 2.0], r"one axis, but got the shapes \(\) and \(2,\)"),
        ([1.0, 2.0], 1.0, r"one axis, but got the shapes \(2,\) and \(\)"),
        ([1.0], [1.0], "need the same 2 or more points, but got 1 and 1"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "need the same 2 or more points, but got 2 and 3"),
    ],
)
def test_points_without_an_area_are_refused(x: Any, y: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        train.auc(np.array(x), np.array(y))


def test_perplexity_counts_rows_of_any_axes_and_nothing_less_than_1e_10() -> None:
    probability = np.array([[[0.5, 0.25, 0.25], [0.25, 0.75, 0.0]], [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0]]])
    labels = np.array([[0, 1], [1, 0]])
    expected = np.exp(-(np.log(0.5) + np.log(0.75) + np.log(1e-10) + np.log(0.9)) / 4)
    assert value("Perplexity", (Tensor(probability), Tensor(labels))) == pytest.approx(expected)
    lists = (list(probability), list(labels))
    assert value("Perplexity", lists) == pytest.approx(expected)
    ignored = np.exp(-(np.log(0.5) + np.log(0.9)) / 2)  # the labels that are 0
    assert value("Perplexity", (Tensor(probability), Tensor(labels)), ignore_label=1) == pytest.approx(ignored)


@pytest.mark.parametrize("item", [Tensor(0.5), Tensor([0.5])])
def test_a_loss_has_one_element_and_one_axis_at_most(item: Tensor) -> None:
    assert value("Loss", (item,), (Tensor(1.0),)) == 0.75


def test_a_confusion_matrix_has_zeros_where_there_is_nothing_to_divide_by() -> None:
    guessed, real = np.array([[1, 1], [1, 0]]), np.array([[1, 1], [1, 1]])
    result = value("ConfusionMatrix", (guessed, real), num_classes=2, normalize="target")
    np.testing.assert_array_equal(result, [[0, 0], [0.25, 0.75]])


def test_several_labels_of_more_axes_are_counted_of_each_place() -> None:
    guessed, real = np.random.default_rng(5).integers(0, 2, (2, 4, 3, 5))
    rows = [np.moveaxis(a, 1, -1).reshape(-1, a.shape[1]) for a in (guessed, real)]
    flat = value("Recall", (Tensor(rows[0]), Tensor(rows[1])), eval_type="multilabel")
    hits = (rows[0] * rows[1]).sum(1)
    np.testing.assert_allclose(flat, hits / rows[1].sum(1).clip(1))
    result = value("Recall", (Tensor(guessed), Tensor(real)), eval_type="multilabel")
    np.testing.assert_allclose(result, flat)
    ones = (np.array([1, 0, 1]), np.array([1, 1, 0]))  # one label each
    np.testing.assert_allclose(value("Precision", ones, ones, eval_type="multilabel"), [1, 0, 0, 1, 0, 0])


def test_fbeta_too_refuses_a_batch_of_other_classes_than_the_last() -> None:
    metric = train.Fbeta(2.0)
    metric.update(np.ones((4, 3)), np.ones(4, int))
    with pytest.raises(ValueError, match="For 'Fbeta.update', the last predictions had 3 classes, but these have 4"):
        metric.update(np.ones((4, 4)), np.ones(4, int))


@pytest.mark.parametrize("name", ["Recall", "Precision"])
@pytest.mark.parametrize(
    ("kind", "shapes", "text"),
    [
        ("classification", [(4, 3), (4, 4)], "had 3 classes, but these have 4"),
        ("multilabel", [(4, 2), (4, 3)], "had 2 classes, but these have 3"),
        ("multilabel", [(4,), (4, 2)], "had 1 classes, but these have 2"),
        ("multilabel", [(4, 2), (4,)], "had 2 classes, but these have 1"),
    ],
)
def test_a_batch_of_other_classes_than_the_last_is_refused(name: str, kind: str, shapes: Any, text: str) -> None:
    metric = getattr(train, name)(eval_type=kind)
    first, second = [
        (np.ones(shape, int), np.ones(shape if kind == "multilabel" else shape[:1], int)) for shape in shapes
    ]
    metric.update(*first)
    with pytest.raises(ValueError, match=f"For '{name}.update', the last predictions {text}"):
        metric.update(*second)


def test_bleu_is_held_to_the_reference_of_the_nearest_length() -> None:
    # Papineni et al. 2002: the candidate of 4 words is between references of 3 and of 9; the nearest has 3: no penalty.
    references = [[list("abc"), list("abcdefghi")]]
    assert value("BleuScore", ([list("abcd")], references), n_gram=1) == pytest.approx(1.0)
    assert value("BleuScore", ([list("abcdefgh")], references), n_gram=1) == pytest.approx(np.exp(1 - 9 / 8))


def test_the_root_mean_square_both_ways_is_of_the_distances_there_and_back() -> None:
    from scipy.ndimage import binary_erosion
    from scipy.spatial.distance import cdist

    first, second = np.zeros((9, 9), int), np.zeros((9, 9), int)
    first[1:4, 1:4] = 1
    second[2:8, 3:5] = 1
    borders = [np.argwhere(a & ~binary_erosion(a)) for a in (first, second)]
    apart = cdist(*borders)
    forth, back = apart.min(1), apart.min(0)
    result = value("RootMeanSquareDistance", (Tensor(first), Tensor(second), 1), symmetric=True)
    assert result == pytest.approx(np.sqrt((np.square(forth).mean() + np.square(back).mean()) / 2))


@pytest.mark.parametrize(("losses", "want"), [(([1.0, 2.0, 3.0], 4.0), 3.0), (([1.0], [2.0, 4.0]), 2.0)])
def test_losses_of_a_batch_s_samples_count_with_their_mean(losses: Any, want: float) -> None:
    metric = train.Loss()
    for loss in losses:
        metric.update(Tensor(loss))
    assert metric.eval() == want
