"""The panel's JavaScript is one module made of the files in static/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hookscope.widgets import bundle


def test_the_bundle_is_one_module_with_every_file_after_what_it_imports() -> None:
    text = bundle.bundle("panel.js")
    order = re.findall(r"^// (\w+\.js)$", text, re.MULTILINE)
    assert order[-1] == "panel.js"
    for file in order:
        source = (bundle.STATIC / file).read_text(encoding="utf-8")
        needed = re.findall(r'^import .* from "\./([\w.]+)";$', source, re.MULTILINE)
        assert all(order.index(other) < order.index(file) for other in needed)
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert re.findall(r"^export.*", text, re.MULTILINE) == ["export default { render };"]


def test_every_file_of_the_panel_is_in_the_bundle() -> None:
    text = bundle.bundle("panel.js")
    files = {path.name for path in bundle.STATIC.glob("*.js")} - {"types.js"}
    assert files == set(re.findall(r"^// (\w+\.js)$", text, re.MULTILINE))


def test_two_files_may_not_define_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("export function draw() {}\n")
    (tmp_path / "b.js").write_text('import { draw } from "./a.js";\nconst draw = 1;\nexport default { draw };\n')
    with pytest.raises(ValueError, match=r"draw is defined at the top level of both a\.js and b\.js"):
        bundle.bundle("b.js", tmp_path)


def test_an_import_that_cannot_be_inlined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import everything from "https://example.org/x.js";\n')
    with pytest.raises(ValueError, match=r"a\.js: cannot bundle the line 'import everything"):
        bundle.bundle("a.js", tmp_path)


def test_nothing_from_outside_is_loaded_and_no_data_becomes_markup() -> None:
    text = bundle.bundle("panel.js") + (bundle.STATIC / "panel.css").read_text(encoding="utf-8")
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
