"""How often the page redraws during a run (static/pace.js), in Chromium."""

from __future__ import annotations

from playwright.sync_api import Page

from hookscope.widgets.page import WIDGETS

# Drawings that take 20 ms, so that the next one is a second away.
PACE = (WIDGETS / "static" / "pace.js").read_text(encoding="utf-8").replace("export ", "")
BEGIN = """
const pace = createPace();
const drawn = [];
const draw = (what, value) => pace.draw(what, () => {
  drawn.push(value);
  const end = performance.now() + 20;
  while (performance.now() < end);
});
"""


def run(page: Page, script: str) -> object:
    return page.evaluate(f"async () => {{ {PACE} {BEGIN} {script} }}")


def test_the_first_is_drawn_at_once_and_of_the_others_the_last(page: Page) -> None:
    script = "for (let k = 0; k < 30; k++) draw('a', k); const first = [...drawn]; pace.flush(); return [first, drawn];"
    assert run(page, script) == [[0], [0, 29]]


def test_messages_are_all_drawn_in_their_order_among_the_rest(page: Page) -> None:
    script = "draw('a', 0); draw('', 1); draw('a', 2); draw('', 3); draw('a', 4); pace.flush(); return drawn;"
    assert run(page, script) == [0, 1, 3, 4]


def test_what_is_held_back_is_drawn_by_itself(page: Page) -> None:
    wait = "while (drawn.length < 2) await new Promise((done) => setTimeout(done, 5));"
    assert run(page, f"draw('a', 0); draw('a', 1); {wait} return drawn;") == [0, 1]


def test_nothing_is_drawn_once_the_panel_is_gone(page: Page) -> None:
    script = "draw('a', 0); draw('a', 1); pace.destroy(); pace.flush(); return drawn;"
    assert run(page, script) == [0]
