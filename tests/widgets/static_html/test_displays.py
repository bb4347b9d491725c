"""Display of tensors, parameters, cells and captures in a notebook: as text their print, as HTML more."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets.static_html import displays


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """Yield a shell like a kernel's: with the extension, and with HTML requested too."""
    shell = InteractiveShell()
    shell.display_formatter.active_types = ["text/plain", "text/html"]
    shell.run_line_magic("load_ext", "hookscope")
    yield shell
    shell.run_line_magic("unload_ext", "hookscope")


def text_of(html: str | None) -> str:
    """Return a page's text, without its style; tags become spaces."""
    assert html is not None
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", html, flags=re.S)).split())


def net() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))


def values() -> list[Any]:
    cell = net()
    with DebugSession(cell) as session:
        cell(Tensor(np.ones((2, 3), np.float32)))
    return [Tensor([1.0, 2.0]), Parameter(Tensor(np.eye(4)), name="eye"), cell, session.captures[0]]


@pytest.mark.parametrize("value", values(), ids=lambda value: type(value).__name__)
def test_text_stays_what_it_prints_and_html_comes_beside_it(shell: InteractiveShell, value: Any) -> None:
    output, _ = shell.display_formatter.format(value)
    assert output["text/plain"] == repr(value)
    assert output["text/html"] == displays.html(value)


@pytest.mark.parametrize("value", values(), ids=lambda value: type(value).__name__)
def test_the_same_value_is_shown_the_same_every_time(value: Any) -> None:
    assert displays.html(value) == displays.html(value)


def test_without_the_extension_nothing_is_left(shell: InteractiveShell) -> None:
    shell.run_line_magic("unload_ext", "hookscope")
    output, _ = shell.display_formatter.format(Tensor([1.0]))
    assert list(output) == ["text/plain"]
    shell.run_line_magic("load_ext", "hookscope")


def test_the_extension_imports_neither_the_engine_nor_the_panels() -> None:
    code = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell().run_line_magic("load_ext", "hookscope")
print([name for name in sys.modules if name.startswith(("hookscope.engine", "hookscope.widgets"))])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_a_tensor_shows_shape_dtype_figures_and_the_corner_of_its_first_matrix() -> None:
    array = np.arange(240, dtype=np.float32).reshape(2, 10, 12)
    array[1, 9, 11] = np.nan
    text = text_of(displays.html(Tensor(array)))
    assert "Tensor 2x10x12 float32" in text
    assert "min max mean std norm zeros NaN 0 238 119" in text
    assert "The first 6 x 8 of [0] 0 1 2 3 4 5 6 7 12 13" in text
    assert " 8 9 10 " not in text


def test_few_elements_are_shown_without_figures() -> None:
    assert text_of(displays.html(Tensor([1.5, float("inf")]))) == "Tensor 2 float32 1.5 inf"


def test_no_figures_are_computed_of_a_large_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_value: object) -> None:
        raise AssertionError("figures of a large tensor")

    monkeypatch.setattr("hookscope.engine.debug.statistics", refuse)
    large = Tensor(np.zeros((1001, 1000), np.float32))
    assert "Figures left out: more than 1,000,000 elements." in text_of(displays.html(large))


def test_of_an_array_on_a_gpu_only_the_corner_is_fetched() -> None:
    class Elsewhere:
        """An array like CuPy's, whose `get` counts the fetched elements."""

        fetched: list[int] = []  # noqa: RUF012

        def __init__(self, array: np.ndarray) -> None:
            self.array = array
            self.shape, self.size, self.ndim, self.dtype = array.shape, array.size, array.ndim, array.dtype
            self.device = type("Device", (), {"id": 0})

        def __getitem__(self, index: Any) -> Elsewhere:
            return Elsewhere(self.array[index])

        def reshape(self, *shape: int) -> Elsewhere:
            return Elsewhere(self.array.reshape(*shape))

        def get(self) -> np.ndarray:
            self.fetched.append(self.size)
            return self.array

    tensor = Tensor._wrap(Elsewhere(np.ones((3, 100, 100), np.float32)))
    text = text_of(displays.html(tensor))
    assert "3x100x100 float32 on GPU 0" in text
    assert "Figures left out: the values are on a GPU." in text
    assert Elsewhere.fetched == [48]


def test_a_parameter_shows_its_name_and_whether_it_is_frozen() -> None:
    frozen = Parameter(Tensor([1.0]), name="head.bias", requires_grad=False)
    assert "Parameter head.bias 1 float32, requires_grad=False" in text_of(displays.html(frozen))


def test_a_cell_shows_what_is_in_it_with_types_and_counts() -> None:
    html = displays.html(net())
    text = text_of(html)
    assert "SequentialCell : 4 cells, 26 parameters" in text
    assert "0 Dense(input_channels=3, output_channels=4, has_bias=True) 16 parameters" in text
    assert html is not None
    assert html.count("<details open>") == 1


def test_a_large_network_is_cut_and_says_so() -> None:
    cell = nn.SequentialCell(*[nn.ReLU() for _ in range(displays.MAX_CELLS + 10)])
    html = displays.html(cell)
    assert "11 more cells left out." in text_of(html)
    assert html is not None
    assert html.count("<details") == html.count("</details>") == 1


def test_the_lists_of_a_deep_network_are_closed_again() -> None:
    deep: nn.Cell = nn.ReLU()
    for _ in range(60):
        deep = nn.SequentialCell(deep)
    html = displays.html(nn.SequentialCell(deep, nn.ReLU()))
    assert html is not None
    assert html.count("<ul") == html.count("</ul>") == 62
    assert html.count("<li>") == html.count("</li>") == 63


def test_a_capture_shows_what_it_is_and_what_was_found() -> None:
    cell = net()
    with DebugSession(cell, conditions=["nan"]) as session:
        cell(Tensor(np.full((2, 3), np.nan, np.float32)))
    text = text_of(displays.html(session.captures[0]))
    assert text.startswith("0#0 forward input[0] 2x3 float32, step 1")
    assert "Conditions: nan" in text


def test_what_a_class_of_the_user_says_itself_comes_first(shell: InteractiveShell) -> None:
    class Mine(nn.Cell):
        def _repr_html_(self) -> str:
            return "<b>mine</b>"

    output, _ = shell.display_formatter.format(Mine())
    assert output["text/html"] == "<b>mine</b>"
