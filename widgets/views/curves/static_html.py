"""Static HTML of curves: an SVG with axes for each chart, and its summary in words.

The labels of the ticks are attributes that the style sheet shows, since code hosts that remove drawings and styles
would leave their text behind. The words below the chart tell the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookscope.widgets.static_html.markup import MAX_ROWS, Table, text
from hookscope.widgets.views.curves.axes import Axis, axis, tick_text
from hookscope.widgets.views.curves.charts import Chart, Curve, charts

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

WIDTH, HEIGHT = 1000, 200
"""Units of the drawing, which is stretched to the size of its box."""

COLORS, DASHES = 6, 4

# The largest number of charts in a saved notebook, which stays small; the export has all.
_MAX_CHARTS = 4
_MAX_LEGEND = 12
# Ticks of each axis.
_MOST_ACROSS, _MOST_UP = 6, 5
# Share of the height that is free above and below the curves.
_MARGIN = 0.06


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the first charts of a session."""
    rows = charts(session.history.scalars)
    return [_figures(rows[:_MAX_CHARTS])] if rows else []


def export_html(session: DebugSession) -> str:
    """Return all charts of a session; "" for none."""
    rows = charts(session.history.scalars)
    return _figures(rows[:MAX_ROWS]) if rows else ""


def _figures(rows: list[Chart]) -> str:
    common = _axis_of_steps([chart for chart in rows if not chart.has_own_steps])
    figures = [chart_html(chart, None if chart.has_own_steps else common) for chart in rows]
    return f'<div class="hs-charts">{"".join(figures)}</div>'


def _axis_of_steps(rows: Sequence[Chart]) -> Axis | None:
    return axis([float(point.step) for chart in rows for curve in chart.curves for point in curve.points])


def chart_html(chart: Chart, common: Axis | None) -> str:
    """Return one chart as a figure with its title, legend and summary.

    Args:
        chart: the chart.
        common: the axis of the steps that the charts have in common; None for one of its own.
    """
    across = common or _axis_of_steps([chart])
    assert across is not None
    up = axis([point.value for curve in chart.curves for point in curve.points])
    current = [curve for curve in chart.curves if not curve.before]
    names = list(dict.fromkeys(curve.name for curve in [*current, *chart.curves]))
    lines = "".join(_line(curve, names.index(curve.name), across, up) for curve in chart.curves)
    ticks_up = [] if up is None else [(up.position(value), tick_text(value)) for value in up.ticks(_MOST_UP)]
    ticks_across = [(across.position(step), tick_text(step)) for step in _steps(across)]
    grid = "".join(f"M0 {_height(share)}H{WIDTH}" for share, _ in ticks_up)
    label = f"{chart.title} by step"
    legend = "".join(
        f'<span data-color="{k % COLORS}" data-dash="{_dash(k)}">{_SWATCH}{text(name, 80)}</span>&ensp; '
        for k, name in enumerate(names[:_MAX_LEGEND])
    )
    hidden = f"and {len(names) - _MAX_LEGEND} more" if len(names) > _MAX_LEGEND else ""
    dimmed = "dimmed: the run before" if len(current) < len(chart.curves) else ""
    notes = "; ".join(note for note in (hidden, dimmed) if note)
    return (
        f'<figure class="hs-chart"><p><b>{text(chart.title, 80)}</b></p><div class="hs-chart-plot">'
        f'<svg role="img" aria-label="{text(label, 120)}" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" '
        f'width="100%" height="150">'
        f'<path class="hs-chart-grid" d="{grid}"/><path class="hs-chart-axis" d="M0 0V{HEIGHT}H{WIDTH}"/>{lines}</svg>'
        + "".join(_tick("up", f"bottom:{100 * _inside(share):.2f}%", label) for share, label in ticks_up)
        + "".join(_tick("across", f"left:{100 * share:.2f}%", label) for share, label in ticks_across)
        + _tick("name", "left:0", "step")
        + f'</div><p class="hs-legend">{legend}{text(notes)}</p>'
        f"<figcaption>{text(chart.summary())}</figcaption></figure>"
    )


_SWATCH = '<svg width="22" height="8" aria-hidden="true"><path class="hs-chart-line" d="M1 4H21"/></svg> '


def _steps(across: Axis) -> list[float]:
    """Return the ticks of the steps, which are whole numbers."""
    return [step for step in across.ticks(_MOST_ACROSS) if step == round(step)]


def _dash(k: int) -> int:
    return (k + k // COLORS) % DASHES


def _tick(which: str, position: str, label: str) -> str:
    return f'<span class="hs-tick" data-axis="{which}" data-text="{label}" style="{position}"></span>'


def _inside(share: float) -> float:
    return _MARGIN + share * (1 - 2 * _MARGIN)


def _height(share: float) -> float:
    return round(HEIGHT * (1 - _inside(share)), 1)


def _line(curve: Curve, k: int, across: Axis, up: Axis | None) -> str:
    """Return a curve as paths: a line that breaks where a value is not finite or steps go back, and marks of these."""
    line, marks = "", ""
    last_step = math.inf
    is_alone = False
    for point in curve.points:
        x = round(WIDTH * across.position(point.step), 1)
        if up is None or not math.isfinite(point.value):
            marks += f"M{x} {HEIGHT}v-8" if point.value == -math.inf else f"M{x} 0v8"
            line += "h0.01" if is_alone else ""
            last_step, is_alone = math.inf, False
            continue
        continues = point.step >= last_step
        line += "" if continues or not is_alone else "h0.01"
        line += f"{'L' if continues else 'M'}{x} {_height(up.position(point.value))}"
        last_step, is_alone = point.step, not continues
    line += "h0.01" if is_alone else ""
    look = f'data-color="{k % COLORS}" data-dash="{_dash(k)}"{" data-before" if curve.before else ""}'
    faults = f'<path class="hs-chart-fault" d="{marks}"/>' if marks else ""
    return f'<g {look}><path class="hs-chart-line" d="{line}"/>{faults}</g>'
