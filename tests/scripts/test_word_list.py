"""Names on the word list are reported with better ones; the product, benchmarks and scripts have none."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def word_list(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    return import_module("word_list")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("found = 1", "found"),
        ("_FOUND: int = 1", "_FOUND"),
        ("def f(place): pass", "place"),
        ("def told(): pass", "told"),
        ("class Kept: pass", "Kept"),
        ("for i, one in []: pass", "one"),
        ("self.shown = 1", "shown"),
        ("import numpy as whole", "whole"),
        ("lambda given: given", "given"),
    ],
)
def test_a_name_on_the_list_is_reported_with_better_ones(
    code: str, name: str, word_list: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_list, "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(f"x = 2\n{code}\n")
    [fault] = word_list.faults_of(tmp_path / "module.py")
    assert fault.startswith(f"module.py:2: {name}: say {word_list.BETTER[name.strip('_').lower()].partition(',')[0]}")


@pytest.mark.parametrize("code", ["findings = 1", "x.found", "f(found=1)", "# found = 1", "'place'"])
def test_uses_of_foreign_names_and_texts_are_not(
    code: str, word_list: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_list, "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(code)
    assert word_list.faults_of(tmp_path / "module.py") == []


def test_modules_and_javascript_are_looked_through(
    word_list: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_list, "ROOT", tmp_path)
    (tmp_path / "shown.js").write_text("const kept = 1;\n// const told = 1;\n")
    assert [line.partition(": say")[0] for line in word_list.faults_of(tmp_path / "shown.js")] == [
        "shown.js:1: shown",
        "shown.js:1: kept",
    ]


def test_product_benchmarks_and_scripts_have_no_such_name(word_list: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert word_list.main([]) == 0, capsys.readouterr().out
