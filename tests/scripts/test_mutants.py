"""The mutation tester, on a small package: what it changes, what it leaves alone, and what it says of the tests."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.mutation.changes import small_faults

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(300)]  # a call is pytest many times over

SOURCE = {
    "__init__.py": "",
    "sums.py": '''\
"""Sums, at most 7 words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    WIDTH = 1 + 2

__all__ = ["clipped", "shifted"]
LIMIT = 10
NAMES: Literal[3, 4] = 3
TABLE = {
    "double": lambda x: x * 2,
    "half": lambda x: x / 2,
}


@staticmethod
def clipped(value: Literal[5, 6], low: int = 1) -> int:
    """Between 8 and 9."""
    if value > LIMIT and low is not None:
        raise ValueError(f"{value + 1} is more than " + str(LIMIT - 1))
    return max(low, value, key=abs)


def shifted(value):
    return f"{value - 1}"


def unseen(value):
    return value - 100


def endless(count):
    while count > 0:
        count = count - 1
    return count
''',
    "values.py": '''\
"""A function for each type of result."""

import numpy as np


class Thing:
    pass


def decorated(function):
    def inner(*args):
        return function(*args)

    return inner


def number():
    return 2 ** 2


def real():
    return 0.5


def truth():
    return len("a") == 1


def text():
    return "text"


def pair():
    return Thing, 3


def table():
    return {"a": Thing, "b": [1.0]}


def array():
    return np.ones((2, 2), np.float32)


def mask():
    return np.array([True, False])


def scalar():
    return np.array(1.0)


def items():
    yield from ()
    yield 3


def maker():
    return lambda: 3


@decorated
def wrapped():
    return 4


def called_only():
    return 5


def empty():
    return []


def thing():
    return Thing()


def append(to):
    to.append(1)


def append_unseen(to):
    to.append(1)


def image():
    return np.ones((2, 2), np.float32)


def without_dimensions():
    return np.array(1.0)


def never_called():
    return 1


class Counter:
    def count(self):
        return 6

    def uncompared(self):
        return 7
''',
}
TESTS = {
    "test_sums.py": """\
import pytest
from tiny import sums


def test_clipped():
    assert sums.clipped(3, 2) == 3
    assert sums.clipped(10) == 10
    assert sums.clipped(0) == 1
    with pytest.raises(ValueError):
        sums.clipped(11)


def test_table():
    assert sums.TABLE["double"](3) == 6


def test_they_can_be_called():
    sums.shifted(1)
    sums.unseen(1)
    assert sums.endless(2) == 0
""",
    "test_values.py": """\
import numpy as np
import pytest
from tiny import values


def test_values():
    assert values.number() == 4
    assert values.real() == 0.5
    assert values.truth() is True
    assert values.text() == "text"
    assert values.pair() == (values.Thing, 3)
    assert values.table() == {"a": values.Thing, "b": [1.0]}
    assert list(values.items()) == [3]
    assert values.maker()() == 3
    assert values.wrapped() == 4
    assert values.Counter().count() == 6


def test_arrays():
    assert values.array().tolist() == [[1, 1], [1, 1]]
    assert values.mask().tolist() == [True, False]
    assert values.scalar() == 1.0


def test_types_and_shapes_stay():
    assert type(values.called_only()) is int
    assert type(values.Counter().uncompared()) is int
    assert values.image().dtype == np.float32
    assert values.image().shape == (2, 2)
    assert type(values.without_dimensions()) is np.ndarray
    assert values.empty() == []
    assert type(values.thing()) is values.Thing
    found = []
    values.append(found)
    assert found == [1]
    values.append_unseen([])


def test_it_fails_without_a_mutant():
    assert values.never_called() == 2
""",
}


@pytest.fixture(scope="module")
def mutants(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Provide the output of a call for the small package."""
    root = tmp_path_factory.mktemp("project")
    for folder, files in (("tiny", SOURCE), ("tests", TESTS)):
        (root / folder).mkdir()
        for name, text in files.items():
            (root / folder / name).write_text(text, encoding="utf-8")

    def tree() -> dict[Path, bytes]:
        return {path: path.read_bytes() for folder in ("tiny", "tests") for path in (root / folder).rglob("*")}

    def call(*arguments: str) -> str:
        before = tree()
        options = ["--root", str(root), "--source", "tiny", "--package", "tiny", "--tests", "tests"]
        environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
        result = subprocess.run(
            [sys.executable, "-m", "scripts.mutants", *arguments, *options],
            cwd=repository,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert tree() == before
        return result.stdout

    return call


@pytest.fixture(scope="module")
def sample(mutants: Callable[..., str]) -> str:
    return mutants("sample", "--count", "1000", "--all")


@pytest.fixture(scope="module")
def results(mutants: Callable[..., str]) -> str:
    return mutants("results", "--workers", "2")


@pytest.mark.parametrize(
    "mutant",
    [
        "branch: value > LIMIT and low is not None -> not (value > LIMIT and low is not None)",
        "branch: value > LIMIT and low is not None -> value > LIMIT or low is not None",
        "comparison: value > LIMIT -> value >= LIMIT",
        "argument: 1 -> 2",
        "constant: 10 -> 11",
        "arithmetic: x * 2 -> x / 2",
    ],
)
def test_a_fault_that_a_test_notices_is_caught(mutant: str, sample: str) -> None:
    lines = [line for line in sample.splitlines() if mutant.replace(" -> ", "  ->  ") in line]
    assert [line.split()[0] for line in lines] == ["failed"]


@pytest.mark.parametrize(
    "mutant", ["value - 100 -> value + 100", "100 -> 101", "max(low, value, key=abs) -> max(low, value)"]
)
def test_one_that_none_notices_survives(mutant: str, sample: str) -> None:
    (line,) = [line for line in sample.splitlines() if mutant.replace(" -> ", "  ->  ") in line]
    assert line.startswith("survived")


def test_one_that_no_test_runs_says_so(sample: str) -> None:
    (line,) = [line for line in sample.splitlines() if "x / 2  ->" in line]
    assert line.startswith("not run")


def test_texts_annotations_errors_and_declarations_are_left_alone(sample: str) -> None:
    numbers = {int(number) for line in sample.splitlines() for number in re.findall(r"sums.*constant: (\d+)", line)}
    assert numbers == {0, 1, 2, 3, 10, 100}
    assert "value + 1  ->" not in sample  # of an error
    assert "LIMIT - 1" not in sample
    assert "value - 1  ->" not in sample  # of a text
    assert "1 + 2" not in sample  # of the type checker


def test_what_never_ends_is_stopped_and_caught(sample: str) -> None:
    (line,) = [line for line in sample.splitlines() if "count - 1  ->" in line]
    assert line.startswith("failed")


def test_a_sample_is_the_seeds(mutants: Callable[..., str]) -> None:
    drawn = [mutants("sample", "--seed", seed, "--count", "5", "--all", "--only", "values") for seed in "112"]
    assert drawn[0] == drawn[1] != drawn[2]


def part(results: str, heading: str) -> set[str]:
    (text,) = [text for text in results.split("\n\n") if text.strip().startswith(heading)]
    return {line.split()[1] for line in text.strip().splitlines()[1:]}


def test_functions_whose_result_no_test_compares_are_listed(results: str) -> None:
    assert part(results, "Functions without a compared result") == {
        "called_only",
        "Counter.uncompared",
        "image",
        "shifted",
        "unseen",
        "without_dimensions",
    }


def test_so_are_those_that_return_nothing_and_are_not_missed(results: str) -> None:
    assert part(results, "Functions that return nothing") == {"append_unseen"}


def test_what_cannot_be_made_false_is_listed_apart(results: str) -> None:
    assert part(results, "Functions whose result has nothing to falsify") == {"empty", "thing"}


def test_a_test_that_fails_anyway_is_no_witness(results: str) -> None:
    assert part(results, "Functions that no test runs") == {"never_called", "<lambda:16>"}


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("f(a, b)", 1),
        ("max(a, b)", 0),
        ("ops.mul(a, b)", 0),
        ("sub(a, b)", 1),
        ("max(a, b, key=c)", 1),
        ("np.swapaxes(x, a, b)", 1),
        ("x.swapaxes(a, b)", 0),
        ("zip(a, strict=True)", 0),
        ("x.astype(a, copy=False)", 0),
        ("f(a, keepdims=True)", 2),
        ("check_int(a, 'f', 'x')", 1),
        ("ints_for(a, f, 'x')", 1),
        ("f('a', 'b')", 0),
        ("f(a, 'b')", 1),
    ],
)
def test_what_changes_no_result_is_no_fault(line: str, faults: int) -> None:
    """``check_int(a, 'f', 'x')`` has one: the value and the name of who asks."""
    assert len(small_faults(ast.parse(f"def function():\n    return {line}"))) == faults
