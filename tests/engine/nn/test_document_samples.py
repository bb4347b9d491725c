"""The samples of MindSpore's pages about cells print what the pages show, eagerly and compiled."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.document_samples import FOLDER, Sample, run, samples

PAGES = {path.stem[:3]: samples(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.txt"))}
WITH_SAMPLES = sorted(name for name, result in PAGES.items() if result)
pytestmark = pytest.mark.skipif(not PAGES, reason="MindSpore's pages are not part of this project: set HOOKSCOPE_PAGES")

DRAWN = ("np.random.randn", "net.b[0] = 1.", "for name, param in net", "print(net.b.asnumpy())", "ops.ones_like")
"""Of samples that print numbers which were drawn: what the code begins with, or has."""
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]\d+)?")
PRINTS = "print() is called, and a plan would not print"


@functools.cache
def results(page: str, mode: str) -> list[dict[str, Any]]:
    """Return the results of a page's samples, one list for each mode."""
    return run(PAGES[page], mode)


def expected(sample: Sample) -> str:
    """Return the expected text; docs/differences.md explains where the page has another."""
    text = sample.prints
    if "print(grad_input)\n" in sample.code:  # the page has its two gradients the other way round
        text = (
            text.replace("1.00000000e+00", "_")
            .replace("9.99994993e-01", "1.00000000e+00")
            .replace("_", "9.99994993e-01")
        )
    if 'print("grad output: ", grad_output)' in sample.code:  # what a forward hook adds is inside the range
        text = text.replace(
            "grad output:  (Tensor(shape=[1], dtype=Float32, value= [ 2",
            "grad output:  (Tensor(shape=[1], dtype=Float32, value= [ 1",
        )
    return text


def words(text: str) -> list[str]:
    """Return a text without its numbers, however it is broken into lines."""
    return re.findall(r"\w+|[^\w\s]", NUMBER.sub("0", text))


@pytest.mark.parametrize("mode", ["eager", "graph", "all_graph"])
@pytest.mark.parametrize("page", WITH_SAMPLES)
def test_each_sample_prints_what_its_page_shows(page: str, mode: str) -> None:
    for sample, result in zip(PAGES[page], results(page, mode), strict=True):
        target, printed = expected(sample), result["printed"]
        assert words(printed) == words(target), sample.code
        is_drawn = sample.prints and any(sample.code.startswith(item) or item in sample.code for item in DRAWN)
        if not is_drawn or "[3, 4, 5]" in sample.code or "modify_parameter" in sample.code:
            numbers = [float(item) for item in NUMBER.findall(printed)]
            assert numbers == pytest.approx([float(item) for item in NUMBER.findall(target)], abs=1e-4), sample.code
        # A hook that prints cannot be part of a plan, where a sample that is eager is compiled against its words.
        hook_prints = mode == "all_graph" and "PYNATIVE_MODE" in sample.code
        assert [text for text in result["warnings"] if not (hook_prints and PRINTS in text)] == [], sample.code


def test_there_are_seventy_seven() -> None:
    assert sum(map(len, PAGES.values())) == 77


@pytest.mark.parametrize("page", [name for name in WITH_SAMPLES if "np.random.randn" in PAGES[name][0].code])
def test_the_first_network_is_compiled(page: str) -> None:
    code = (
        "x = Tensor(np.ones((2, 5), np.float32))\nnet.compile(x)\n"
        "print((mindspore.jit(net, fullgraph=True)(x) == net(x)).all())"
    )
    _, result = run([PAGES[page][0], Sample(code, "")], "graph")
    assert result == {"printed": "True\n", "warnings": [], "compiled": {"net": True}}


@pytest.mark.parametrize("page", WITH_SAMPLES)
def test_cells_that_a_sample_calls_are_compiled(page: str) -> None:
    called = {
        "m = Threshold(": "m",
        "y = ms.Tensor([4, 5, 6], ms.float32)\noutput = net(x, y)": "net",
        "\nmodify_parameter()": "modify_parameter",
    }
    outputs = [
        result["compiled"][name]
        for sample, result in zip(PAGES[page], results(page, "graph"), strict=True)
        for text, name in called.items()
        if text in sample.code
    ]
    assert outputs and all(outputs)


def test_a_page_is_read_with_its_samples_and_what_they_print(tmp_path: Path) -> None:
    page = (
        "A page\n\n[1]:\nx = 1\nclass A:\n    def f(self):\n        return 2\n\n    def g(self):\n        return 3\n\n"
        "print([x])\n[1]\n\nIt goes on in words.\n\nprint(x)\n[WARNING] of a log\n\n(1)\nprint(2)\nAnd ends.\n"
    )
    assert samples(page) == [
        Sample(
            "x = 1\nclass A:\n    def f(self):\n        return 2\n\n    def g(self):\n        return 3\n\nprint([x])",
            "[1]",
        ),
        Sample("print(x)", "(1)"),
        Sample("print(2)", ""),
    ]
