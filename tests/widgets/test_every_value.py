"""Each view of the panel accepts any value that passes in a network, live, as a static form and in an exported page."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, nn, value_and_grad
from hookscope.engine.debug import DebugSession, statistics
from hookscope.kernel import variables
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.static_html import displays, snapshot
from hookscope.widgets.static_html.export import export_page
from hookscope.widgets.views import VIEWS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine" / "debug"))

from odd_values import DTYPES, KINDS, SHAPES, array, structures

pytestmark = pytest.mark.usefixtures("sent")


class Returning(nn.Cell):
    def construct(self, x: Any, what: Any) -> Any:
        return what(x)


class Within(nn.Cell):
    """A cell that returns a given value, and holds a parameter of the same numbers as its input."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.part = Returning()
        self.held = Parameter(value, name="held")

    def construct(self, x: Any, what: Any) -> Any:
        return self.part(x, what)


def _session(dtype: str) -> DebugSession:
    """Return a session that captured values of a dtype in every shape, kind and structure."""
    session = None
    for shape, kind in itertools.product(SHAPES, KINDS):
        value = array(shape, dtype, kind)
        if value is None:
            continue
        x = Tensor(value)
        if session is None:
            session = DebugSession(Within(x), conditions=["all"])
            session.attach()
        (net,) = session.roots
        net.held.set_data(x, slice_shape=True)
        for name in structures(x) if kind == KINDS[0] else ("alone",):
            net(x, lambda x, name=name: structures(x)[name])
    assert session is not None
    return session


@pytest.fixture(scope="module", params=DTYPES)
def session(request: pytest.FixtureRequest) -> Any:
    session = _session(request.param)
    yield session
    session.detach()


def _look_at_all(panel: DebuggerPanel) -> None:
    for capture in list(panel.session.captures)[::5]:
        panel.selected = capture.index
        panel.sync()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_takes_whatever_has_passed(session: DebugSession, view: str) -> None:
    with np.errstate(all="raise"):
        panel = DebuggerPanel(session, views=[view])
        panel._received(panel, {"type": "hello"}, [])
        _look_at_all(panel)
        for change in ("changed", "captured", "finished"):
            panel._observed(change)
        assert panel._error == ""
        assert "could not be made" not in panel.snapshot_html()
        assert repr(panel).startswith("DebuggerPanel(")
        panel.close()
    assert session.faults == ()


def test_the_exported_page_the_tables_and_the_findings_take_whatever_has_passed(session: DebugSession) -> None:
    with np.errstate(all="raise"):
        page = export_page(session)
        assert "could not be made" not in page
        snapshot.static_forms(session)
        assert str(session.findings()) and session.findings()._repr_html_()
        session.findings().causes()
        session.table()
        for capture in session.captures:
            statistics(capture.value)
            assert displays.html(capture) and displays.html(capture.value)
            assert "cannot be described" not in variables.line(capture.value)
            variables.forms(capture.value)
        assert displays.html(session.roots[0]) and displays.html(session.roots[0].held)
    assert session.faults == ()


LOSSES = (0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("losses", [*itertools.product(LOSSES, repeat=2), LOSSES], ids=str)
def test_a_course_of_the_loss_of_any_numbers_is_drawn(losses: tuple[float, ...]) -> None:
    net = nn.Dense(1, 1)
    session = DebugSession(net)
    with session:
        value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(Tensor(np.ones((1, 1), np.float32)))
    session.history.losses.clear()
    session.history.losses.extend(enumerate(losses, start=1))
    with np.errstate(all="raise"):
        panel = DebuggerPanel(session)
        panel.sync()
        assert panel._error == ""
        assert "nan" not in panel.snapshot_html().split("points=")[-1].partition(">")[0]
        panel.close()
    assert session.faults == ()
