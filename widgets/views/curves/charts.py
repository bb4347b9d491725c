"""Charts of a run's numbers: which series share one, how many points are drawn, and a summary in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hookscope.engine.debug import Point, Scalars, Series
from hookscope.engine.debug.record.scalars import thinned
from hookscope.widgets import texts

LOSS, RATE, REST = "loss", "learning rate", "other numbers"

# Charts besides those of losses and learning rates; further series share one.
_MAX_CHARTS = 8
# Points of all series together, and limits of one of them in buckets of up to three points or more.
_MAX_POINTS = 12_000
_BUCKETS = (24, 240)
_MAX_SENTENCES = 4

# Words that tell which data a number is of, not what it is: the same number of several data shares a chart.
_DATA = frozenset(("train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "dev"))
_RATES = frozenset(("lr", "learning rate"))


class Curve(NamedTuple):
    """One series in a chart.

    Attributes:
        name: its name.
        points: the points to draw.
        before: whether it is of the run before.
        series: the series itself.
    """

    name: str
    points: list[Point]
    before: bool
    series: Series


class Chart(NamedTuple):
    """Curves with common axes: the title, and the curves, those of the run before first."""

    title: str
    curves: list[Curve]

    @property
    def has_own_steps(self) -> bool:
        """Whether a point was logged with another step than the session's, which may count something else: epochs."""
        return any(point.step != point.session_step for curve in self.curves for point in curve.points)

    def summary(self) -> str:
        """Describe the curves in words, for readers who cannot see them."""
        current = [curve for curve in self.curves if not curve.before] or self.curves
        sentences = [_sentence(curve) for curve in current[:_MAX_SENTENCES]]
        if len(current) > _MAX_SENTENCES:
            sentences.append(f"and {texts.counted(len(current) - _MAX_SENTENCES, 'more curve')}")
        return ";\n".join(sentences)


def _short(value: float) -> str:
    return f"{value:.4g}"


def _sentence(curve: Curve) -> str:
    series = curve.series
    first, last = series.first, series.last
    assert first is not None
    assert last is not None
    name = f"{curve.name} (run before)" if curve.before else curve.name
    if series.count == 1:
        return f"{name} {_short(last.value)} in step {last.step:,}"
    parts = [f"{name} {_short(first.value)} in step {first.step:,}, {_short(last.value)} in step {last.step:,}"]
    if series.low is not None and series.high is not None:
        if series.low.value == series.high.value:
            parts.append(f"always {_short(series.low.value)}")
        else:
            parts.append(f"lowest {_short(series.low.value)} in step {series.low.step:,}")
            parts.append(f"highest {_short(series.high.value)} in step {series.high.step:,}")
    if series.nonfinite:
        parts.append(f"{series.nonfinite:,} of {texts.counted(series.count, 'value')} not finite")
    return ", ".join(parts)


def chart_of(name: str) -> str:
    """Return the title of the chart that a number of this name belongs to."""
    parts = [word for word in re.split(r"[\W_]+", name.lower()) if word]
    terms = " ".join(word for word in parts if word not in _DATA)
    if any(word.endswith(("loss", "losses")) for word in parts) and "scale" not in parts:
        return LOSS
    if terms.startswith(RATE) or terms in _RATES:
        return RATE
    return terms or name


def charts(scalars: Scalars) -> list[Chart]:
    """Return the charts of a run and of the run before: losses first, then learning rates, then the others."""
    runs = [scalars] if scalars.previous is None else [scalars.previous, scalars]
    count = sum(len(run.series()) for run in runs)
    buckets = min(max(_MAX_POINTS // (3 * max(1, count)), _BUCKETS[0]), _BUCKETS[1])
    curves: dict[str, list[Curve]] = {LOSS: [], RATE: []}
    for run in runs:
        for name, (series, points) in run.rows().items():
            curve = Curve(name, reduced(points, buckets), run is not scalars, series)
            curves.setdefault(chart_of(name), []).append(curve)
    return [Chart(_title(title, rows), rows) for title, rows in _merged(curves).items() if rows]


def _title(title: str, curves: Sequence[Curve]) -> str:
    """Return the title of a chart: of a single number its own name."""
    names = {curve.name for curve in curves}
    return title if len(names) > 1 or title in (LOSS, RATE) else names.pop()


def _merged(curves: Mapping[str, list[Curve]]) -> dict[str, list[Curve]]:
    """Return the curves by chart, with a common chart of those that are too many."""
    titles = list(curves)
    own = titles if len(titles) <= _MAX_CHARTS + 2 else titles[: _MAX_CHARTS + 1]
    merged = {title: curves[title] for title in own}
    rest = [curve for title in titles if title not in own for curve in curves[title]]
    return {**merged, REST: rest} if rest else merged


def reduced(points: Sequence[Point], buckets: int) -> list[Point]:
    """Return points of which each of so many buckets keeps the extremes, the last, and what is not finite."""
    length = -(-len(points) // buckets)
    if length < 2:
        return list(points)
    stretches = (points[begin : begin + length] for begin in range(0, len(points), length))
    selected = [point for stretch in stretches for point in thinned(stretch)]
    return selected if selected[0] is points[0] else [points[0], *selected]
