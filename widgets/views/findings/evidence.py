"""Evidence for a cause, small enough for its card: statistics of a value, or a number by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict

from hookscope.engine.debug import CONDITIONS
from hookscope.engine.debug.diagnose.conditions.network import BpropObservation
from hookscope.engine.debug.diagnose.conditions.parameters import GradientObservation, UpdateObservation
from hookscope.widgets import texts
from hookscope.widgets.series import drawable
from hookscope.widgets.static_html import drawings

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Finding, Statistics
    from hookscope.engine.debug.record.capture import Capture
    from hookscope.engine.debug.record.evicted import EvictedCapture


class Evidence(TypedDict):
    """A picture as numbers with a caption; `kind` is "" if there is none.

    For values there are the counts of a histogram with its limits, and separate counts of nonfinite elements. For a
    series there are steps and numbers, None for a nonfinite one.
    """

    kind: Literal["", "values", "series"]
    caption: str
    counts: list[int]
    low: float
    high: float
    nan: int
    positive_inf: int
    negative_inf: int
    points: list[tuple[int, float | None]]


NOTHING: Evidence = {
    "kind": "",
    "caption": "",
    "counts": [],
    "low": 0.0,
    "high": 0.0,
    "nan": 0,
    "positive_inf": 0,
    "negative_inf": 0,
    "points": [],
}


class EvidenceSource:
    """Drawable data of a session, collected once for all of its causes.

    Args:
        session: the session.
        captures: by condition and subject, the index of the oldest capture in the ring buffer that shows it.
    """

    def __init__(self, session: DebugSession, captures: Mapping[tuple[str, str], int]) -> None:
        self._history = session.history
        self._captures = captures
        self._by_index: dict[int, Capture | EvictedCapture] = {}
        self._newest: dict[tuple[str, str], Capture | EvictedCapture] = {}  # by cell and slot
        for capture in session.captures.rows():
            self._by_index[capture.index] = capture
            self._newest[capture.path, capture.slot] = capture

    def evidence(self, finding: Finding) -> Evidence:
        """Return the picture of a finding: of the value that shows it, else of its subject."""
        capture = self._by_index.get(self._captures.get((finding.condition, finding.subject), -1))
        if capture is not None:
            return _values(capture)
        if finding.parameter:
            return self._of_parameter(finding)
        if finding.outside in ("loss", "optimizer") or finding.subject == "loss":
            return _series("the loss", self._history.losses)
        row = CONDITIONS.get(finding.condition)
        backward = finding.backward or (row is not None and BpropObservation in row.seen)
        slot = "grad_input[0]" if backward else "output"
        newest = self._newest.get((finding.path, slot))
        return NOTHING if newest is None or finding.outside else _values(newest)

    def _of_parameter(self, finding: Finding) -> Evidence:
        name = finding.parameter
        row = CONDITIONS.get(finding.condition)
        event_types = () if row is None else row.seen
        if UpdateObservation in event_types:
            return _series(f"update / weight of {name}", self._history.update_ratios.get(name, ()))
        if GradientObservation in event_types:
            return _series(f"gradient norm of {name}", self._history.gradient_norms.get(name, ()))
        return NOTHING


def _values(capture: Capture | EvictedCapture) -> Evidence:
    figures = capture.statistics()
    if figures is None:
        return NOTHING
    caption = f"{capture.key} in step {capture.step}: {_in_words(figures)}"
    edges = figures.edges
    return {
        **NOTHING,
        "kind": "values",
        "caption": caption,
        "counts": [int(count) for count in figures.histogram] if figures.finite else [],
        "low": float(edges[0]) if figures.finite else 0.0,
        "high": float(edges[-1]) if figures.finite else 0.0,
        "nan": figures.nan,
        "positive_inf": figures.positive_inf,
        "negative_inf": figures.negative_inf,
    }


def _in_words(figures: Statistics) -> str:
    """Describe values: their number, nonfinite and zero ones, and the limits of the rest."""
    faults = figures.nan + figures.positive_inf + figures.negative_inf
    special = {"NaN": figures.nan, "inf": figures.positive_inf, "-inf": figures.negative_inf}
    parts = [texts.counted(figures.count, "value")]
    if figures.count and figures.zeros == figures.count:
        return f"{parts[0]}, all 0"
    parts += [f"{count:,} {name}" for name, count in special.items() if count]
    if figures.zeros:
        parts.append(f"{figures.zeros:,} of them 0")
    if figures.finite:
        prefix = "the others " if faults else ""
        parts.append(f"{prefix}from {figures.minimum:.4g} to {figures.maximum:.4g}")
    return ", ".join(parts)


def _series(what: str, series: Iterable[tuple[int, float]]) -> Evidence:
    points = list(series)
    if len(points) < 2:
        return NOTHING
    (first, before), (last, after) = points[0], points[-1]
    caption = f"{what}: {before:.4g} in step {first}, {after:.4g} in step {last}"
    return {**NOTHING, "kind": "series", "caption": caption, "points": drawable(points)}


def evidence_html(evidence: Evidence) -> str:
    """Return the picture for pages that run no script, with its caption below; "" for none."""
    if not evidence["kind"]:
        return ""
    points = [(step, value) for step, value in evidence["points"] if value is not None]
    bars = drawings.histogram(evidence["counts"], evidence["low"], evidence["high"])
    return drawings.figure(drawings.curve(evidence["caption"], points) or bars, evidence["caption"])
