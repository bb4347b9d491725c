"""Lookup of metrics by name for ``get_metric_fn`` and ``Model(metrics=...)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .metric import METRICS, Metric

__all__ = ["get_metric_fn", "get_metrics", "names"]


def names() -> list[str]:
    """Return the names that ``get_metric_fn`` and ``Model(metrics=...)`` know."""
    return sorted(METRICS)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return the metric of that name.

    Args:
        name: one of ``names()``, such as "accuracy".
        *args: arguments of the metric.
        **kwargs: keyword arguments of the metric.

    Raises:
        KeyError: an unknown name.
    """
    if name not in METRICS:
        raise KeyError(f"For 'get_metric_fn', 'name' must be one of {names()}, but got {name!r}")
    return METRICS[name](*args, **kwargs)


def get_metrics(metrics: Mapping[str, Metric] | set[str] | None) -> dict[str, Metric] | None:
    """Return a dictionary of metrics, from one or from a set of names.

    Args:
        metrics: a dictionary, a set, or None, which is returned.

    Raises:
        TypeError: something else, or an entry that is not a metric.
        KeyError: an unknown name.
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
