"""The static forms: safe with hostile names, readable without style, deterministic."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from plain_session import PlainSession, PlainTensor, plain_node

from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugSession, GradientCheck, GradientRow, HookRow
from hookscope.engine.debug.diagnose.coverage import Coverage
from hookscope.widgets import cell_tree_html
from hookscope.widgets.static_html import snapshot

HOSTILE = "<script>alert(1)</script>\"'&\u202ereversed"


class Reader(HTMLParser):
    """A reader that collects the tags and the text of a page, as a browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name == "href" for name, _ in attrs)
        assert all(str(value).startswith("data:image/png;base64,") for name, value in attrs if name == "src")
        if tag in ("td", "th", "caption", "summary"):
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag not in ("td", "th", "caption", "summary")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture
def full(session: PlainSession) -> PlainSession:
    """Return a session with one of everything."""
    session.capture()
    session.capture(origin="hook", hits=["nan"])
    session.pause()
    return session


def test_the_snapshot_shows_stop_cells_captures_and_parameters(full: PlainSession) -> None:
    cells = read(snapshot.panel_html(full)).cells
    for expected in ("Cells", "Captures: 2", "Parameters: 1", "Locals", "Operators run", "hook, nan", "block.weight"):
        assert any(expected in cell for cell in cells), expected


def test_the_snapshot_says_that_it_is_one_and_how_to_get_the_panel(full: PlainSession) -> None:
    assert "A static copy: run the cell again for the live panel." in snapshot.static_forms(full)["text/html"]


def test_hostile_names_stay_text(full: PlainSession) -> None:
    full.nodes.append(plain_node(HOSTILE, 1, HOSTILE, shape=HOSTILE))
    full.rows[0].name = HOSTILE
    full.capture(HOSTILE, slot=HOSTILE, hits=[HOSTILE])
    full.pause(path=HOSTILE, reason=HOSTILE, lines=[HOSTILE], locals={HOSTILE: HOSTILE}, exception=ValueError(HOSTILE))
    full.roots = [type(HOSTILE.replace("\0", ""), (), {})()]
    html = snapshot.panel_html(full)
    page = read(html)
    assert "script" not in page.tags
    assert "\u202e" not in html
    assert any("<script>alert(1)</script>\"'&\\u202ereversed" in cell for cell in page.cells)


def test_the_snapshot_is_self_contained(full: PlainSession) -> None:
    page = read(snapshot.panel_html(full))
    assert not {"script", "link", "iframe", "object"} & set(page.tags)


def test_the_snapshot_is_the_same_every_time(full: PlainSession) -> None:
    assert snapshot.panel_html(full) == snapshot.panel_html(full)


def test_without_style_the_tree_is_indented_and_numbers_are_right_aligned(session: PlainSession) -> None:
    html = cell_tree_html(session.nodes)
    cells = read(html).cells
    assert "\u2003\u2003└ relu" in cells
    assert 'align="right"' in html


def test_of_many_captures_the_marked_and_the_newest_are_written_and_the_rest_is_told(session: PlainSession) -> None:
    marked = session.capture(hits=["nan"], slot="the first")
    captures = [session.capture() for _ in range(300)]
    session.captures.said = ["4 older dropped."]
    html = snapshot.panel_html(session)
    assert "Captures: 80 of 301, those that conditions marked and the newest" in read(html).cells
    assert "4 older dropped." in html
    assert marked.slot in html
    assert [captures[k].computed for k in (0, 220, 221, 299)] == [0, 0, 1, 1]


def test_of_long_tables_only_the_first_is_open(session: PlainSession) -> None:
    for k in range(20):
        session.capture(f"cell{k}")
        session.nodes.append(plain_node(f"cell{k}", 1, "Dense"))
    html = snapshot.panel_html(session)
    assert re.findall(r"<details( open)?><summary><b>(.*?)</b>", html) == [(" open", "Captures: 20"), ("", "Cells: 23")]
    assert "<caption>Parameters: 1</caption>" in html
    session.find("all_zero", "cell0", session.captures[0])
    html = snapshot.panel_html(session)
    # Only the finding is open.
    assert " open" not in re.findall(r"<details( open)?><summary><b>(?:Captures|Cells)", html)


def test_what_is_wrong_comes_first_then_what_was_looked_for(full: PlainSession) -> None:
    full.add_condition("nan")
    full.add_condition("dead_relu=0.8")
    full.coverage = Coverage(30, 690, ("nan", "dead_relu"))
    summary = "30 steps, 690 captures, 2 conditions: nothing wrong. Looked for: nan, dead_relu=0.8."
    assert summary in snapshot.panel_html(full)
    finding = full.find("dead_relu", "block.relu", full.captures[0])
    html = snapshot.panel_html(full)
    positions = [html.index(part) for part in ("<code>dead_relu</code>", finding.advice, "Looked for:", "Captures: 2")]
    assert positions == sorted(positions)
    assert "nothing wrong" not in html


def test_a_capture_that_a_condition_marked_is_drawn_if_there_is_something_to_see(full: PlainSession) -> None:
    flat = full.capture("flat", hits=["all_zero"])
    flat.value = PlainTensor(np.zeros((3, 3)))
    full.find("all_zero", "flat", flat)
    assert "<img" not in snapshot.panel_html(full)
    full.find("nan", "block", full.captures[1])
    html = snapshot.panel_html(full)
    assert html.count("<img") == 1
    assert "block#0 forward output, step 1: nan. blue below 0" in html


def test_the_losses_are_drawn_by_step(session: PlainSession) -> None:
    for step, loss in ((1, 4.0), (2, 1.0)):
        session.history.add_loss(step, loss, "weights", lambda: "")
    html = snapshot.panel_html(session)
    assert 'aria-label="loss by step"' in html
    assert "loss 4 in step 1, 1 in step 2" in html


def test_hooks_and_gradient_checks_are_shown(session: PlainSession) -> None:
    session.hooks = lambda: [HookRow("block", "forward", "look", True, look_at, "", 0)]
    session.gradient_checks["block"] = GradientCheck(
        "block (Block)",
        "float32",
        [GradientRow("x", "input", (2, 2), "float32", "wrong", "differs from finite differences", None, None, 4)],
    )
    page = read(snapshot.panel_html(session))
    assert {"Hooks: 1", "look", "panel"} <= set(page.cells)
    assert {"gradient of block (Block): wrong for x", "4 of 4", "differs from finite differences"} <= set(page.cells)


def look_at(cell: object, inputs: object, output: object) -> None:
    """Be a hook."""


@pytest.mark.parametrize(
    ("view", "title"), [("cells", "Cells: 3"), ("captures", "Captures: 2"), ("parameters", "Parameters: 1")]
)
def test_of_some_views_only_these_are_shown(full: PlainSession, view: str, title: str) -> None:
    titles = {"Cells: 3", "Captures: 2", "Parameters: 1", "Locals"}
    assert titles & set(read(snapshot.panel_html(full, {view})).cells) == {title}


def test_a_small_network_makes_a_small_copy() -> None:
    net = nn.SequentialCell(nn.Conv2d(1, 8, 3, has_bias=True), nn.ReLU(), nn.Flatten(), nn.Dense(512, 10))
    x = np.random.default_rng(0).normal(size=(32, 1, 8, 8)).astype(np.float32)
    x[0, 0, 0, 0] = np.nan
    with DebugSession(net, conditions=["all"]) as session:
        for _ in range(10):
            grad(lambda x: net(x).sum())(Tensor(x))
    html = snapshot.panel_html(session)
    assert "<img" in html
    assert len(html) < 60_000


def test_the_current_line_is_marked(full: PlainSession) -> None:
    html = snapshot.panel_html(full)
    assert '<mark>→   11      <span class="hs-keyword">return</span> (dout,)</mark>' in html
    assert '   10  <span class="hs-keyword">def</span> bprop' in html
