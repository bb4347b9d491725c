"""Users' text is text in every view: each field is tried with markup, huge and reordering text.

Shown are the static forms, the exported page, what the notebook shows of a value, and the live panel in Chromium.
"""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainSession, PlainTensor, plain_node
from playwright.sync_api import Page

from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.debug import OperatorRecord
from hookscope.widgets.static_html import displays, export, snapshot
from hookscope.widgets.views import hooks
from hookscope.widgets.views.hooks import written_hooks

MARKUP = "</td></title><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
HOSTILE = f"{MARKUP}\u202egnp.exe\u2066\0" + "long" * 250_000
HOSTILE_LIVE = HOSTILE[:50_000]  # enough to see that it is cut; more only takes its time between here and the browser
SEEN = MARKUP[:20]  # what a reader must find of it, as text

# The elements of static pages; each of these is written by us.
TAGS = {
    "style",
    "div",
    "p",
    "b",
    "br",
    "small",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
    "mark",
    "html",
    "head",
    "meta",
    "title",
    "body",
    "main",
    "h1",
    "h2",
    "nav",
    "a",
    "section",
    "span",
    "ul",
    "li",
    "details",
    "summary",
    "code",
    "figure",
    "figcaption",
    "img",
    "svg",
    "path",
    "polyline",
}

Plant = Callable[[PlainSession, str], object]


class Awkward:
    """A value whose `repr` an attacker chose."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def stop(**more: Callable[[str], Any]) -> Plant:
    """Return a stop with one of its fields made from the text."""
    return lambda session, text: session.pause(**{name: make(text) for name, make in more.items()})


def cell(field: str) -> Plant:
    return lambda session, text: session.nodes.append(
        plain_node(**{"path": "x", "depth": 1, "kind": "Cell", field: text})
    )


def finding(field: str) -> Plant:
    def plant(session: PlainSession, text: str) -> None:
        finding = session.find("nan", "block", session.capture())
        setattr(finding, field, text)

    return plant


def hook(field: str) -> Plant:
    def plant(session: PlainSession, text: str) -> None:
        fields = {"path": "block", "kind": "forward", "function": "look", "filename": "a.py", "line": 3}
        row = SimpleNamespace(**{**fields, field: text}, by_session=False, hook=None)
        session.hooks = lambda: [row]  # type: ignore[method-assign]

    return plant


def parameter_name(session: PlainSession, text: str) -> None:
    session.rows[0].name = text


def network(session: PlainSession, text: str) -> None:
    session.roots = [type(text.replace("\0", ""), (), {})()]


def operator(name: str, inputs: tuple[Any, ...]) -> list[OperatorRecord]:
    return [OperatorRecord(name, inputs, PlainTensor(np.ones(2)))]


FIELDS: dict[str, Plant] = {
    "network": network,
    # The live panel reads a cell's name in its path.
    "cell name": lambda session, text: session.nodes.append(plain_node(f"x.{text}", 1, "Cell", name=text)),
    "cell path": cell("path"),
    "cell type": cell("type"),
    "cell output": cell("shape"),
    "parameter name": parameter_name,
    "capture path": lambda session, text: session.capture(text),
    "capture slot": lambda session, text: session.capture(slot=f"input[{text}]"),
    "capture context": lambda session, text: session.capture(context=text),
    "capture marks": lambda session, text: session.capture(hits=[f"if {text}"]),
    "finding path": finding("path"),
    "finding message": finding("message"),
    "finding advice": finding("advice"),
    "own condition": finding("condition"),
    "hook function": hook("function"),
    "hook path": hook("path"),
    "stop reason": stop(reason=str),
    "stop path": stop(path=str),
    "source": stop(lines=lambda text: ["def bprop(self, x, out, dout):\n", f'    """{text}"""\n'], line=lambda _: 11),
    "local name": stop(locals=lambda text: {text: 1}),
    "local text": stop(locals=lambda text: {"x": text}),
    "local repr": stop(locals=lambda text: {"x": Awkward(text)}),
    "operator name": stop(operators=lambda text: operator(text, (1,))),
    "operator input": stop(operators=lambda text: operator("Mul", (Awkward(text),))),
    "exception": stop(exception=ValueError),
}


class Reader(HTMLParser):
    """A page as a browser reads it: it fails at an element that is not ours, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        for name, value in attrs:
            assert not name.startswith("on")
            if name == "src":
                assert value is not None
                assert value.startswith("data:image/png;base64,")
            if name == "href":
                assert value is not None
                assert value.startswith("#")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check_static(html: str) -> str:
    """Read a page, and return its text."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.text)
    assert not {"\u202e", "\u2066", "\0"} & set(text)
    assert len(html) < 100_000, "text was not cut"
    return text


# Fields that a form does not show at all; they must be harmless there too.
NOT_STATIC = {"cell path", "capture context", "hook function", "hook path"}
NOT_EXPORTED = {"cell path", "capture context"}


@pytest.mark.parametrize("field", FIELDS)
def test_in_static_forms(session: PlainSession, field: str) -> None:
    FIELDS[field](session, HOSTILE)
    for form in (snapshot.static_forms(session), snapshot.copy_behind_live(session)):
        text = check_static(form["text/html"])
        assert field in NOT_STATIC or SEEN in text
        assert len(form["text/plain"]) < 10_000


@pytest.mark.parametrize("field", FIELDS)
def test_in_the_exported_page(session: PlainSession, field: str) -> None:
    FIELDS[field](session, HOSTILE)
    text = check_static(export.export_page(session))
    assert field in NOT_EXPORTED or SEEN in text


class Named(nn.Cell):
    """A cell whose `repr` an attacker chose."""

    def extend_repr(self) -> str:
        return HOSTILE


def renamed(name: str, base: type) -> Any:
    return type(name.replace("\0", ""), (base,), {})()


@pytest.mark.parametrize(
    "value",
    [
        Parameter(Tensor([1.0]), name=HOSTILE[:1000]),
        Named(),
        renamed(HOSTILE, nn.Cell),
        nn.SequentialCell(Named(), Named()),
    ],
    ids=["parameter name", "what a cell says of itself", "cell type", "cells inside"],
)
def test_in_what_a_notebook_shows_of_a_value(value: Any) -> None:
    html = displays.html(value)
    assert html is not None
    assert SEEN in check_static(html)


# All that a person can see or hear of a page, and the elements that only the text could have made.
LOOK = """() => {
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  for (const element of document.body.querySelectorAll("*"))
    for (const name of ["title", "aria-label", "aria-description", "placeholder"])
      if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
  return {
    strange: document.body.querySelectorAll("script, img, iframe, [onerror]").length,
    longest: Math.max(...texts.map((text) => text.length)),
    hidden: texts.some((text) => /[\\0\\u202a-\\u202e\\u2066-\\u2069]/.test(text)),
    seen: texts.some((text) => text.includes("</td></title><script")),
  };
}"""


@pytest.mark.parametrize("field", FIELDS)
def test_in_the_live_panel(page: Page, session: PlainSession, sent: list[Any], field: str) -> None:
    FIELDS[field](session, HOSTILE_LIVE)
    assert look_at_each_view(PanelPage(page, session, sent))


def test_answers_and_errors_in_the_live_panel(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause(locals={"text": HOSTILE_LIVE, "value": Awkward(HOSTILE_LIVE)})
    for message in (
        {"type": "evaluate", "expression": f"value  # {HOSTILE_LIVE}"},
        {"type": "evaluate", "expression": "{}[text]"},
        {"type": "attach_hook", "path": HOSTILE_LIVE, "kind": "forward", "source": HOSTILE_LIVE},
        {"type": "show", "view": HOSTILE_LIVE},
    ):
        panel_page.panel._received(panel_page.panel, message, [])
    assert look_at_each_view(panel_page)


def test_the_selected_capture_in_the_live_panel(panel_page: PanelPage, session: PlainSession) -> None:
    session.capture(HOSTILE_LIVE, slot=HOSTILE_LIVE, hits=[HOSTILE_LIVE])
    panel_page.panel._received(panel_page.panel, {"type": "select", "index": 0}, [])
    assert look_at_each_view(panel_page)


def test_a_hook_written_in_the_panel_and_what_it_prints(panel_page: PanelPage, session: PlainSession) -> None:
    source = f'def look(cell, inputs, output):\n    """{HOSTILE_LIVE}"""\n'
    row = {"path": "block", "kind": "forward", "function": "look", "by_session": True, "filename": "", "line": 0}
    text = written_hooks.Written(lambda *_: None, source.replace("\0", ""), 1)
    written = written_hooks.reporting(text, "look", hooks.printed(panel_page.panel).log)
    session.hooks = lambda: [SimpleNamespace(**row, hook=written)]  # type: ignore[method-assign,list-item]
    panel_page.panel.sync()
    printing = written_hooks.Written(lambda *_: print(HOSTILE_LIVE), "", 2)
    print_from_hook = written_hooks.reporting(printing, HOSTILE_LIVE, hooks.printed(panel_page.panel).log)
    print_from_hook()
    panel_page.panel._received(panel_page.panel, {"type": "hook_log"}, [])
    assert look_at_each_view(panel_page)


def look_at_each_view(panel_page: PanelPage) -> bool:
    """Check the visible content of each view; return whether the text was part of it."""
    page, is_shown = panel_page.page, False
    for tab in page.get_by_role("tab").all():
        tab.click()
        for _ in range(2):  # there, and back
            panel_page.carry()
            page.wait_for_timeout(5)
        look = page.evaluate(LOOK)
        assert look["strange"] == 0
        assert look["longest"] < 11_000, "text was not cut"
        assert not look["hidden"]
        is_shown = is_shown or look["seen"]
    assert page.title() == "panel"
    return is_shown
