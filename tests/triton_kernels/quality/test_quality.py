"""Every GPU kernel compiles for its GPUs, on a machine without one, and holds the bounds of its family's file.

A few cases are compiled every time; all of them, for each GPU, where CI is set or this file is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interpreted import needs_triton

from .bounds import CAPABILITIES, cases, families

pytestmark = needs_triton

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """Provide answers of the process that compiles."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH", "")]))
    environment.update(TRITON_CACHE_DIR=str(tmp_path_factory.mktemp("triton")), PYTHONPATH=path)
    command = [sys.executable, "-m", "tests.triton_kernels.quality", "--answer"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None and process.stdout is not None

        def answer(line: str) -> Any:
            print(line, file=process.stdin, flush=True)
            text = process.stdout.readline()
            assert text, f"the compiler's process ended at {line}; its output is above"
            answered = json.loads(text)
            assert "error" not in answered, answered
            return answered

        yield answer
        process.stdin.close()


def parameters() -> list[Any]:
    results = []
    for family in families():
        for number, case in enumerate(cases(family)):
            for capability in CAPABILITIES:
                if case.only in (0, capability):
                    marks = () if case.quick else pytest.mark.ci_only
                    name = f"{case.name}, {capability}"
                    results.append(pytest.param(family, number, capability, id=name, marks=marks))
    return results


@pytest.mark.parametrize(("family", "number", "capability"), parameters())
def test_a_kernel_holds_its_bounds(ask: Callable[[str], Any], family: str, number: int, capability: int) -> None:
    rows = ask(f"{capability} {family} {number}")
    assert rows
    for reading, broken in rows:
        assert not broken, (reading["kernel"], broken, reading)


@pytest.mark.ci_only
def test_every_operator_of_the_kernels_has_a_case(ask: Callable[[str], Any]) -> None:
    assert set(ask("operators")) == {case.operator for family in families() for case in cases(family)}
