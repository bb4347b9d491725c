"""``mindspore.train.metrics``: figures of how well a network does, one family a file."""

from __future__ import annotations

from typing import Any

from .accuracy import Accuracy, Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy
from .confusion_matrix import ConfusionMatrix, ConfusionMatrixMetric
from .error import MAE, MSE, Loss, Perplexity
from .fbeta import F1, Fbeta, Precision, Recall
from .metric import EvaluationBase, Metric, rearrange_inputs
from .occlusion import OcclusionSensitivity
from .overlap import BleuScore, CosineSimilarity, Dice
from .roc import ROC, auc
from .surface import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance

__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "EvaluationBase", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric",
    "OcclusionSensitivity", "Perplexity", "Precision", "Recall", "RootMeanSquareDistance", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "get_metrics", "names",
    "rearrange_inputs",
]  # fmt: skip

_NAMES: dict[str, Any] = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "dice": Dice,
    "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore,
    "cosine_similarity": CosineSimilarity,
    "occlusion_sensitivity": OcclusionSensitivity,
    "topk": TopKCategoricalAccuracy,
    "hausdorff_distance": HausdorffDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "mae": MAE,
    "mse": MSE,
    "loss": Loss,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "perplexity": Perplexity,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
}


def names() -> list[str]:
    """The names that ``get_metric_fn`` and ``Model(metrics=...)`` know."""
    return sorted(_NAMES)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """The metric of that name, made with the arguments.

    Raises:
        KeyError: there is none of that name.
    """
    if name not in _NAMES:
        raise KeyError(f"For 'get_metric_fn', 'name' must be one of {names()}, but got {name!r}")
    return _NAMES[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric] | None:
    """A dictionary of metrics from one, or from a set of names.

    Raises:
        TypeError: something else, or an entry that is no metric.
    """
    if metrics is None:
        return None
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    if not isinstance(metrics, dict):
        raise TypeError(f"'metrics' must be a dict, a set or None, but got {type(metrics).__name__}")
    for name, metric in metrics.items():
        if not isinstance(name, str) or not isinstance(metric, Metric):
            raise TypeError(f"'metrics' must map names to metrics, but got {name!r}: {type(metric).__name__}")
    return metrics
