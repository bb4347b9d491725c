"""Rules for shapes are found by the names of functions: each names a function of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hookscope.engine
from hookscope.engine.compile.trace.shape_rules import _ARRAY_RULES

ENGINE = Path(hookscope.engine.__file__).parent
DEFINED = {
    name
    for folder in ("ops", "nn", "tensors", "cpu", "autograd")
    for path in ENGINE.joinpath(folder).rglob("*.py")
    for name in re.findall(r"^def (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}


@pytest.mark.parametrize("name", [name for name in _ARRAY_RULES if name.strip("_") != name and name[:2] != "__"])
def test_a_rule_for_a_function_of_the_engine_names_one(name: str) -> None:
    assert name in DEFINED
