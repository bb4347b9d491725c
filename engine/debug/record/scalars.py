"""Numbers of a training by step, such as losses, metrics and learning rates: bounded, and without losing an extreme.

A series keeps its points in at most `MAX_BUCKETS` buckets of as many consecutive points each. When all are full, each
two are merged. A bucket keeps its smallest, its largest and its last point, and the first NaN and infinities.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["MAX_SERIES", "Point", "Scalars", "Series", "thinned"]

MAX_BUCKETS = 400
"""An even number: a merge makes half as many full ones."""

MAX_SERIES = 200
"""Maximum number of names; a name that contains the step would otherwise make a series each time."""

# Losses of more sets of weights, and more learning rates, are not followed.
_MAX_OF_A_KIND = 24
# Points of one bucket before it is thinned, which takes as long for few points as for some.
_MOST_POINTS = 64


class Point(NamedTuple):
    """One number of a series.

    Attributes:
        step: the step that was passed with it, else that of the session.
        value: the number, which may be NaN or infinite.
        session_step: the session's step at that time.
    """

    step: int
    value: float
    session_step: int


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return the smallest, the largest and the last point, and the first NaN, infinity and negative infinity."""
    if len(points) < 3:
        return list(points)
    selected = {len(points) - 1}
    low = high = -1
    kinds: set[str] = set()
    for k, point in enumerate(points):
        value = point.value
        if math.isfinite(value):
            if low < 0 or value < points[low].value:
                low = k
            if high < 0 or value > points[high].value:
                high = k
        elif (kind := repr(value)) not in kinds:
            kinds.add(kind)
            selected.add(k)
    selected |= {k for k in (low, high) if k >= 0}
    return [points[k] for k in sorted(selected)]


class Series:
    """One number by step, in the order in which its points arrived.

    Attributes:
        count: the number of points so far, including those that were thinned out.
        nonfinite: the number of those that are NaN or infinite.
        first, last: the first and the last point.
        low, high: the points with the smallest and the largest finite value; None before there are any.
    """

    def __init__(self) -> None:
        self.count = 0
        self.nonfinite = 0
        self.first: Point | None = None
        self.last: Point | None = None
        self.low: Point | None = None
        self.high: Point | None = None
        self._buckets: list[list[Point]] = []
        self._width = 1  # points of a full bucket, including those that were thinned out
        self._filled = 0  # of the last bucket

    def add(self, point: Point) -> None:
        """Add a point."""
        self.count += 1
        self.last = point
        if self.first is None:
            self.first = point
        if not math.isfinite(point.value):
            self.nonfinite += 1
        else:
            if self.low is None or point.value < self.low.value:
                self.low = point
            if self.high is None or point.value > self.high.value:
                self.high = point
        if not self._buckets or self._filled == self._width:
            if self._buckets:
                self._buckets[-1] = thinned(self._buckets[-1])
            if len(self._buckets) == MAX_BUCKETS:
                pairs = zip(self._buckets[::2], self._buckets[1::2], strict=True)
                self._buckets = [thinned(before + after) for before, after in pairs]
                self._width *= 2
            self._buckets.append([])
            self._filled = 0
        bucket = self._buckets[-1]
        bucket.append(point)
        self._filled += 1
        if len(bucket) == _MOST_POINTS:
            bucket[:] = thinned(bucket)

    def points(self) -> list[Point]:
        """Return the points that are kept, always with the first and the last one."""
        points = [point for bucket in self._buckets for point in bucket]
        if points and self.first is not None and points[0] is not self.first:
            points.insert(0, self.first)
        return points


class _Kind:
    """Series that the debugger records itself, one for each set of weights: losses, learning rates.

    Args:
        name: the name of the series if there is only one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.series: dict[Hashable, tuple[str, Series]] = {}  # with the weights' common path

    def get(self, key: Hashable, subject: Callable[[], str]) -> Series | None:
        """Return the series of a key, made on first use; None if there are too many."""
        row = self.series.get(key)
        if row is None:
            if len(self.series) == _MAX_OF_A_KIND:
                return None
            row = self.series[key] = (subject(), Series())
        return row[1]

    def by_name(self) -> Iterator[tuple[str, Series]]:
        """Yield the series with their names: that of several tells whose they are."""
        names: dict[str, int] = {}
        for subject, series in self.series.values():
            name = self.name if len(self.series) == 1 or not subject else f"{self.name} of {subject}"
            names[name] = number = names.get(name, 0) + 1
            yield name if number == 1 else f"{name} ({number})", series


class Scalars:
    """All series of a run, by name; any thread may add and read.

    Attributes:
        previous: those of the run before, which the panel shows dimmed; None if there was none.
    """

    def __init__(self) -> None:
        self.previous: Scalars | None = None
        self._losses = _Kind("loss")
        self._rates = _Kind("learning rate")
        self._logged: dict[str, Series] = {}
        # Reentrant: a finalizer may log while this thread adds a point.
        self._lock = threading.RLock()

    def add(self, name: str, point: Point) -> bool:
        """Add a point to the logged series of this name; return False if there are too many names."""
        with self._lock:
            series = self._logged.get(name)
            if series is None:
                if len(self._logged) == MAX_SERIES:
                    return False
                series = self._logged[name] = Series()
            series.add(point)
            return True

    def add_loss(self, weights: Hashable, subject: Callable[[], str], step: int, loss: float) -> None:
        """Add a loss.

        Args:
            weights: identifies the weights that it is differentiated for.
            subject: returns their common path; called for new weights.
            step: the session's step.
            loss: the number.
        """
        self._add_to(self._losses, weights, subject, step, loss)

    def add_rate(self, weights: Hashable, subject: str, step: int, rate: float) -> None:
        """Add the learning rate of these weights, whose common path is ``subject``."""
        self._add_to(self._rates, weights, lambda: subject, step, rate)

    def _add_to(self, kind: _Kind, key: Hashable, subject: Callable[[], str], step: int, value: float) -> None:
        with self._lock:
            series = kind.get(key, subject)
            if series is not None:
                series.add(Point(step, value, step))

    @property
    def count(self) -> int:
        """The number of points so far; it grows with each one."""
        with self._lock:
            return sum(series.count for series in self._all().values())

    def points(self) -> dict[str, list[Point]]:
        """Return the points of each series by its name: losses first, then what was logged, then learning rates."""
        with self._lock:
            return {name: series.points() for name, series in self._all().items()}

    def rows(self) -> dict[str, tuple[Series, list[Point]]]:
        """Return each series with its points, by name."""
        with self._lock:
            return {name: (series, series.points()) for name, series in self._all().items()}

    def series(self) -> dict[str, Series]:
        """Return the series by name, in the order of ``points``."""
        with self._lock:
            return self._all()

    def _all(self) -> dict[str, Series]:
        series_by_name = dict(self._losses.by_name())
        rates = dict(self._rates.by_name())
        for name, series in self._logged.items():
            # A user's "loss" stands beside the one that the debugger recorded.
            series_by_name[f"{name} (logged)" if name in series_by_name or name in rates else name] = series
        return {**series_by_name, **rates}
