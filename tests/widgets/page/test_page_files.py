"""The page's script and style: every file is part of them, and they load nothing else."""

from __future__ import annotations

import re

from hookscope.widgets import page
from hookscope.widgets.ranks import RanksPanel
from hookscope.widgets.views import VIEWS


def modules(script: str) -> set[str]:
    return set(re.findall(r'^modules\["([\w/.]+)"\] = ', script, re.MULTILINE))


def test_every_file_is_part_of_a_script() -> None:
    files = {path.relative_to(page.WIDGETS).as_posix() for path in page.WIDGETS.rglob("*.js")} - {"static/types.js"}
    of_ranks = {name for name in files if name.startswith("ranks/")}
    made = {"static/views.js", "static/python.js"}
    assert (files | made) - of_ranks == modules(page.script())
    assert of_ranks | {"static/ranks.js"} <= modules(RanksPanel._esm) <= files | {"static/ranks.js"}


def test_every_file_is_part_of_the_style() -> None:
    files = list(page.WIDGETS.rglob("*.css"))
    assert len(files) > len(VIEWS) / 2
    for file in files:
        assert file.read_text(encoding="utf-8") in (RanksPanel._css if file.parent.name == "ranks" else page.style())


def test_nothing_from_outside_is_loaded_and_no_data_becomes_markup() -> None:
    text = page.script() + page.style() + RanksPanel._esm + RanksPanel._css
    text = text.replace('"http://www.w3.org/2000/svg"', "")  # the name of a kind of element; nothing is fetched
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "http:",
        "https:",
        "@import",
        "url(",
    ):
        assert forbidden not in text
