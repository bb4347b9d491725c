"""`when_imported`: a function runs after another module's import, and that module shows no trace of it."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from hookscope.kernel.late_import import when_imported

NAME = "module_of_the_late_import_test"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a module that nobody has imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = list(sys.meta_path)
    file = tmp_path / f"{NAME}.py"
    file.write_text("word = 'whole'\n")
    yield file
    sys.modules.pop(NAME, None)
    sys.meta_path[:] = before


def test_it_runs_once_after_the_import_with_the_whole_module(file: Path) -> None:
    seen: list[str] = []
    when_imported(NAME, lambda module: seen.append(module.word))
    assert seen == []
    module = importlib.import_module(NAME)
    importlib.import_module(NAME)
    assert seen == [module.word] == ["whole"]


def test_it_runs_now_for_a_module_that_is_there(file: Path) -> None:
    module = importlib.import_module(NAME)
    seen: list[ModuleType] = []
    when_imported(NAME, seen.append)
    assert seen == [module]


def test_nothing_of_it_stays(file: Path) -> None:
    before = list(sys.meta_path)
    when_imported(NAME, lambda module: None)
    when_imported(NAME, lambda module: None)
    assert len(sys.meta_path) == len(before) + 1
    module = importlib.import_module(NAME)
    assert sys.meta_path == before
    assert module.__spec__.loader is module.__loader__
    assert type(module.__loader__).__module__ != when_imported.__module__
    assert inspect.getsource(module) == "word = 'whole'\n"


def test_an_import_that_fails_may_be_tried_again(file: Path) -> None:
    file.write_text("raise ValueError('first try')\n")
    seen: list[str] = []
    when_imported(NAME, lambda module: seen.append(module.word))
    with pytest.raises(ValueError, match="first try"):
        importlib.import_module(NAME)
    file.write_text("word = 'second try'\n")
    importlib.import_module(NAME)
    assert seen == ["second try"]
