"""The page's script and style: every file is part of them, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re

from hookscope.widgets import page
from hookscope.widgets.views import VIEWS


def test_every_file_is_part_of_the_script() -> None:
    files = {path.relative_to(page.HERE).as_posix() for path in page.HERE.rglob("*.js")} - {"static/types.js"}
    made = {"static/views.js", "static/python.js"}
    assert files | made == set(re.findall(r'^modules\["([\w/.]+)"\] = ', page.script(), re.MULTILINE))


def test_every_file_is_part_of_the_style() -> None:
    style = page.style()
    files = list(page.HERE.rglob("*.css"))
    assert len(files) > len(VIEWS) / 2
    assert all(file.read_text(encoding="utf-8") in style for file in files)


def test_nothing_from_outside_is_loaded_and_no_data_becomes_markup() -> None:
    text = page.script() + page.style()
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
