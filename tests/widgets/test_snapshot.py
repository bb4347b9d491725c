"""The static forms: safe with hostile names, readable without style, the same every time."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from plain_session import PlainSession, plain_node

from hookscope.widgets import cell_tree_html, snapshot

HOSTILE = "<script>alert(1)</script>\"'&\u202ereversed"


class Reader(HTMLParser):
    """Collects the tags and the text of a page, as a browser would read them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag in ("td", "th", "caption"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture
def full(session: PlainSession) -> PlainSession:
    """A session with one of everything."""
    session.capture()
    session.capture(origin="hook", hits=["nan"])
    session.pause()
    return session


def test_the_snapshot_shows_stop_cells_captures_and_parameters(full: PlainSession) -> None:
    cells = read(snapshot.panel_html(full)).cells
    for expected in (
        "Cells",
        "Captures: 2",
        "Parameters: 1",
        "Locals",
        "Operators run",
        "hook, nan",
        "block.weight",
    ):
        assert any(expected in cell for cell in cells), expected


def test_the_snapshot_says_that_it_is_one_and_how_to_get_the_panel(full: PlainSession) -> None:
    assert "A static copy: run the cell again for the live panel." in snapshot.static_forms(full)["text/html"]


def test_hostile_names_stay_text(full: PlainSession) -> None:
    full.nodes.append(plain_node(HOSTILE, 1, HOSTILE, shape=HOSTILE))
    full.rows[0].name = HOSTILE
    full.capture(HOSTILE, slot=HOSTILE, hits=[HOSTILE])
    full.pause(
        path=HOSTILE,
        reason=HOSTILE,
        lines=[HOSTILE],
        locals={HOSTILE: HOSTILE},
        exception=ValueError(HOSTILE),
    )
    full.roots = [type(HOSTILE.replace("\0", ""), (), {})()]
    html = snapshot.panel_html(full)
    page = read(html)
    assert "script" not in page.tags
    assert "\u202e" not in html
    assert any("<script>alert(1)</script>\"'&\\u202ereversed" in cell for cell in page.cells)


def test_the_snapshot_is_self_contained(full: PlainSession) -> None:
    page = read(snapshot.panel_html(full))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)


def test_the_snapshot_is_the_same_every_time(full: PlainSession) -> None:
    assert snapshot.panel_html(full) == snapshot.panel_html(full)


def test_without_style_the_tree_is_indented_and_numbers_are_right_aligned(session: PlainSession) -> None:
    html = cell_tree_html(session.nodes)
    cells = read(html).cells
    assert "\u2003\u2003└ relu" in cells
    assert 'align="right"' in html


def test_only_the_first_200_captures_are_written_and_the_rest_is_told(session: PlainSession) -> None:
    captures = [session.capture() for _ in range(300)]
    session.captures.dropped = 4
    html = snapshot.panel_html(session)
    assert "Captures: the first 200 of 300 (4 older ones dropped)" in html
    assert captures[200].computed == 0


def test_the_current_line_is_marked(full: PlainSession) -> None:
    html = snapshot.panel_html(full)
    assert "<mark>→   11      return (dout,)</mark>" in html
    assert "   10  def bprop" in html
