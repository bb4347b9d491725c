"""Distances between the borders of two regions in images: Hausdorff, mean, and root mean square distance.

The border of a region consists of its points with a neighbor outside; the distance of a point to the other border is
the minimum over that border's points.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.types import Array
from .metric import Metric, rearrange_inputs, register

__all__ = ["HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance"]

_DISTANCES = ("euclidean", "chessboard", "taxicab")
_PAIRS_AT_ONCE = 1 << 20  # bounds the memory of a comparison of all points with all


class _SurfaceMetric(Metric):
    """Stores the borders of the last pair of images."""

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        if not isinstance(distance_metric, str):
            raise TypeError(f"For '{type(self).__name__}', 'distance_metric' must be a str, got {distance_metric!r}")
        if distance_metric not in _DISTANCES:
            raise ValueError(
                f"For '{type(self).__name__}', 'distance_metric' must be one of {_DISTANCES}, got {distance_metric!r}"
            )
        self.distance_metric = distance_metric
        self.clear()

    def clear(self) -> None:
        self._borders: tuple[Array, Array] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Store one pair of images in place of the last.

        Args:
            *inputs: prediction, truth, and the label of the region, an int or float.

        Raises:
            ValueError: the wrong number of inputs, images of two shapes, or a label that is in neither.
        """
        caller = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(
                f"For '{caller}.update', there must be prediction, truth and label, got {len(inputs)} inputs"
            )
        y_pred, y = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        label = inputs[2]
        if not isinstance(label, int | float):
            raise ValueError(
                f"For '{caller}.update', the label must be an int or float, but got {type(label).__name__}"
            )
        if label not in y_pred and label not in y:
            raise ValueError(f"For '{caller}.update', the label {label} is in neither image")
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise ValueError(
                f"For '{caller}.update', the images must have one shape and not be empty, "
                f"but got {y_pred.shape} and {y.shape}"
            )
        regions = [a if a.dtype == bool else a == label for a in (y_pred, y)]
        self._borders = self._borders_of(*regions)

    def _borders_of(self, y_pred: Array, y: Array) -> tuple[Array, Array]:
        return _border(y_pred), _border(y)

    def _distances(self, backwards: bool = False) -> Array:
        """Return distances from each point of the prediction's border (with ``backwards`` the truth's) to the other
        border."""
        self._need(self._borders is not None)
        assert self._borders is not None
        start, goal = self._borders[::-1] if backwards else self._borders
        points, targets = np.argwhere(start), np.argwhere(goal)
        if not len(points):
            return np.array([])
        if not len(targets):
            return np.full(len(points), np.inf)
        chunk = max(1, _PAIRS_AT_ONCE // len(targets))
        return np.concatenate([self._least(points[i : i + chunk], targets) for i in range(0, len(points), chunk)])

    def _least(self, points: Array, targets: Array) -> Array:
        differences = np.abs(points[:, None, :] - targets[None, :, :])
        if self.distance_metric == "euclidean":
            return np.asarray(np.sqrt(np.square(differences).sum(-1).min(1).astype(float)))
        distances = differences.max(-1) if self.distance_metric == "chessboard" else differences.sum(-1)
        return np.asarray(distances.min(1).astype(np.int32))


def _border(region: Array) -> Array:
    """Return the points of a region at the edge of the image or with a neighbor outside along an axis."""
    return np.asarray(region ^ import_module("scipy.ndimage").binary_erosion(region))


@register("hausdorff_distance")
class HausdorffDistance(_SurfaceMetric):
    """The largest distance from a point of a border to the other border (Hausdorff).

    Args:
        distance_metric: the distance of points: "euclidean", "chessboard" or "taxicab".
        percentile: this percentile (a float) of the distances instead of the largest.
        directed: only from the prediction to the truth.
        crop: consider only the part of the images that contains both regions.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown ``distance_metric``.
    """

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        if percentile is not None and not isinstance(percentile, float):
            raise TypeError(f"For 'HausdorffDistance', 'percentile' must be a float or None, but got {percentile!r}")
        for name, value in (("directed", directed), ("crop", crop)):
            check_bool(value, "HausdorffDistance", name, show=repr)
        super().__init__(distance_metric)
        self.percentile, self.directed, self.crop = percentile, directed, crop

    def _borders_of(self, y_pred: Array, y: Array) -> tuple[Array, Array]:
        if self.crop:
            region = np.argwhere(y_pred | y)
            part = tuple(slice(a, b + 1) for a, b in zip(region.min(0), region.max(0), strict=True))
            y_pred, y = y_pred[part], y[part]
        return _border(y_pred), _border(y)

    def eval(self) -> float:
        forward = self._largest(self._distances())
        return forward if self.directed else max(forward, self._largest(self._distances(backwards=True)))

    def _largest(self, distances: Array) -> float:
        if not distances.size:
            return np.inf
        if not self.percentile:
            return distances.max()
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"For 'HausdorffDistance', 'percentile' must be from 0 to 100, but got {self.percentile}")
        return np.percentile(distances, self.percentile)


class _MeanOfDistances(_SurfaceMetric):
    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        check_bool(symmetric, type(self).__name__, "symmetric", show=repr)
        super().__init__(distance_metric)
        self.symmetric = symmetric


@register("mean_surface_distance")
class MeanSurfaceDistance(_MeanOfDistances):
    """The mean distance from the prediction's border to the truth's.

    Args:
        symmetric: the mean of both directions.
        distance_metric: the distance of points: "euclidean", "chessboard" or "taxicab".

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown ``distance_metric``.
    """

    def eval(self) -> float:
        forward = self._distances()
        if not self.symmetric:
            return forward.mean() if forward.size else np.inf
        back = self._distances(backwards=True)
        return np.mean((forward.mean(), back.mean())) if forward.size and back.size else np.inf


@register("root_mean_square_distance")
class RootMeanSquareDistance(_MeanOfDistances):
    """The square root of the mean of both directions' mean squared distances.

    One direction alone (``symmetric`` off) returns the mean square without its root, as MindSpore and its example do.

    Args:
        symmetric: use both directions.
        distance_metric: the distance of points: "euclidean", "chessboard" or "taxicab".

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown ``distance_metric``.
    """

    def eval(self) -> float:
        forward = self._distances()
        if not forward.size:
            return np.inf
        square = np.square(forward).mean()
        if not self.symmetric:
            return square
        back = self._distances(backwards=True)
        return np.sqrt(np.mean((square, np.square(back).mean()))) if back.size else np.inf
