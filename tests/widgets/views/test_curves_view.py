"""The view of curves without a browser: which series share a chart, what the page gets, and the static form."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from plain_session import PlainSession

from hookscope.engine.debug import Point, Scalars
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.static_html import snapshot
from hookscope.widgets.static_html.export import export_page
from hookscope.widgets.views.curves import POINT_NUMBERS
from hookscope.widgets.views.curves.axes import Axis, axis, tick_text
from hookscope.widgets.views.curves.charts import chart_of, charts, reduced
from hookscope.widgets.views.curves.static_html import HEIGHT, WIDTH

pytestmark = pytest.mark.usefixtures("sent")


def add(scalars: Scalars, name: str, *values: float, first: int = 1) -> None:
    for step, value in enumerate(values, first):
        scalars.add(name, Point(step, value, step))


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("loss", ("loss", "val_loss", "Loss/train", "loss of generator", "unscaled loss", "d_loss", "eval_loss")),
        ("learning rate", ("learning rate", "learning rate of 0", "lr", "learning_rate", "lr/train")),
        ("accuracy", ("accuracy", "val_accuracy", "Accuracy/train", "val.accuracy", "test accuracy")),
        ("loss scale", ("loss_scale",)),
        ("val", ("val",)),
        ("%", ("%",)),
    ],
)
def test_the_same_number_of_training_and_validation_shares_a_chart(title: str, names: tuple[str, ...]) -> None:
    assert {chart_of(name) for name in names} == {title}


def test_losses_are_first_and_many_other_numbers_share_one_chart() -> None:
    scalars = Scalars()
    for k in range(20):
        add(scalars, f"metric {k}", 1.0)
    add(scalars, "val_loss", 1.0)
    scalars.add_rate("w", "", 1, 0.1)
    titles = [chart.title for chart in charts(scalars)]
    assert titles[:3] == ["loss", "learning rate", "metric 0"]
    assert titles[-1] == "other numbers"
    assert sum(len(chart.curves) for chart in charts(scalars)) == 22


def test_of_many_points_the_extremes_the_last_and_the_faults_are_sent() -> None:
    values = [math.sin(k) for k in range(5_000)]
    values[1_234], values[2_345], values[3_456] = 9.0, -9.0, math.nan
    points = [Point(step, value, step) for step, value in enumerate(values)]
    steps = [point.step for point in reduced(points, 100)]
    assert {0, 1_234, 2_345, 3_456, 4_999} <= set(steps)
    assert steps == sorted(steps)
    assert len(steps) < 500


def test_the_page_gets_points_as_columns_and_nothing_twice(session: PlainSession) -> None:
    scalars = session.history.scalars
    add(scalars, "val_loss", 2.0, math.nan, first=4)
    scalars.previous = Scalars()
    add(scalars.previous, "val_loss", 3.0)
    panel = DebuggerPanel(session, views=["curves"])
    (chart,) = panel.charts
    assert chart["curves"] == [
        {"name": "val_loss", "length": 1, "before": True},
        {"name": "val_loss", "length": 2, "before": False},
    ]
    columns = np.frombuffer(panel.chart_points, "<f8").reshape(len(POINT_NUMBERS), 3)
    assert columns.tolist()[0] == [1.0, 4.0, 5.0]
    assert columns[1, :2].tolist() == [3.0, 2.0]
    assert math.isnan(columns[1, 2])
    changes: list[Any] = []
    panel.observe(changes.append, ["charts", "chart_points"])
    panel.sync()
    assert changes == []
    add(scalars, "val_loss", 1.0, first=6)
    panel.sync()
    assert {change["name"] for change in changes} == {"charts", "chart_points"}


def test_a_step_without_captures_is_an_error_that_names_those_there_are(session: PlainSession) -> None:
    panel = DebuggerPanel(session)
    for step in (7, 8):
        session.capture(step=step)
    panel._received(panel, {"type": "open_step", "step": 8}, [])
    assert panel.status["error"] == ""
    panel._received(panel, {"type": "open_step", "step": 2}, [])
    assert panel.status["error"] == "no capture of step 2 is kept: those of steps 7 to 8 are"


def test_the_summary_has_first_last_and_extremes_in_words() -> None:
    scalars = Scalars()
    add(scalars, "val_loss", 2.0, 3.0, math.inf, 1.0, 1.5)
    add(scalars, "loss of one step", 0.25, first=9)
    add(scalars, "constant loss", 1.0, 1.0)
    (chart,) = charts(scalars)
    assert chart.summary() == (
        "val_loss 2 in step 1, 1.5 in step 5, lowest 1 in step 4, highest 3 in step 2, 1 of 5 values not finite;\n"
        "loss of one step 0.25 in step 9;\nconstant loss 1 in step 1, 1 in step 2, always 1"
    )


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0, 10.0), [0, 5, 10]),
        ((0.07, 2.9), [1, 2]),
        ((1.0, 1.0), [0.9, 0.95, 1.0, 1.05, 1.1]),
        ((0.0, 0.0), [-1, -0.5, 0, 0.5, 1]),
        ((-1e308, 1e308), [-1e308, -5e307, 0, 5e307, 1e308]),
        ((math.nan, 3.0, 7.0, math.inf), [3, 4, 5, 6, 7]),
    ],
)
def test_ticks_are_round_numbers_inside_the_axis(values: tuple[float, ...], ticks: list[float]) -> None:
    result = axis(values)
    assert result is not None
    assert result.ticks(4) == pytest.approx(ticks)
    assert all(0 <= round(result.position(tick), 9) <= 1 for tick in ticks)


def test_an_axis_of_neighboring_numbers_has_its_ends() -> None:
    assert Axis(0.0, 5e-324).ticks(4) == [0.0, 5e-324]
    assert axis([math.nan]) is None


def test_ticks_are_short() -> None:
    numbers = (0.0, 0.30000000000000004, 100_000.0, 1e-5, -2e300)
    assert [tick_text(number) for number in numbers] == ["0", "0.3", "1e5", "1e-5", "-2e300"]


class Texts(HTMLParser):
    """The text of a page inside its drawings, and its labels of ticks."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.inside = 0
        self.drawn: list[str] = []
        self.ticks: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside += tag == "svg"
        self.ticks += [str(value) for name, value in attributes if name == "data-text"]

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag == "svg"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.drawn.append(data)


def test_a_saved_notebook_and_the_export_have_axes_and_words(session: PlainSession) -> None:
    session.history.add_loss(1, 2.5, "w", lambda: "")
    session.history.add_loss(2, math.nan, "w", lambda: "")
    session.history.add_loss(3, 0.5, "w", lambda: "")
    for html in (snapshot.panel_html(session), export_page(session)):
        texts = Texts(html)
        assert {"1", "2", "3", "step"} <= set(texts.ticks)
        assert texts.drawn == []  # code hosts that remove drawings would leave it behind
        assert 'aria-label="loss by step"' in html
        assert "loss 2.5 in step 1, 0.5 in step 3, lowest 0.5 in step 3, highest 2.5 in step 1, 1 of 3 values" in html
        assert f"M{WIDTH / 2} 0v8" in html  # the mark of the NaN
        assert html.count("h0.01") == 2  # two dots: the line breaks at it


def test_the_static_line_goes_from_the_first_point_to_the_last(session: PlainSession) -> None:
    add(session.history.scalars, "score", 0.0, 1.0, 4.0)
    html = snapshot.panel_html(session)
    (line,) = re.findall(r'class="hs-chart-line" d="(M0\.0 [^"]*)"', html)
    points = [tuple(map(float, point.split())) for point in re.split("[ML]", line)[1:]]
    assert [x for x, _ in points] == [0.0, WIDTH / 2, WIDTH]
    heights = [y for _, y in points]
    assert heights[0] > heights[1] > heights[2]
    assert heights[1] == pytest.approx(heights[0] + (heights[2] - heights[0]) / 4, abs=0.1)
    assert heights[0] < HEIGHT


def test_static_numbers_by_epoch_have_an_axis_of_their_own(session: PlainSession) -> None:
    add(session.history.scalars, "loss", *(1.0 / step for step in range(1, 101)))
    for epoch in (1, 2):
        session.history.scalars.add("score", Point(epoch, epoch / 2, 50 * epoch))
    lines = re.findall(r'class="hs-chart-line" d="(M0[^"]*)"', snapshot.panel_html(session))
    assert [line.count("L") for line in lines] == [99, 1]
    assert all(f"L{WIDTH:.1f} " in line for line in lines)


def test_names_are_never_markup_in_static_forms(session: PlainSession) -> None:
    add(session.history.scalars, "<b onclick='x'>\"loss", 1.0, 2.0)
    for html in (snapshot.panel_html(session), export_page(session)):
        assert "<b onclick" not in html
        assert "&lt;b onclick" in html


def test_without_numbers_there_is_no_chart(session: PlainSession) -> None:
    assert "<figure" not in snapshot.panel_html(session)
    assert "Training" not in export_page(session)
