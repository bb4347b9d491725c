"""Compiled or not, a program gives what MindSpore 2.10 gives for it in PyNative mode, call by call.

``recorded_programs.py`` has the programs, and records them. If MindSpore's own graphs differ from its PyNative mode,
the record has their results and the reason, too; here the two must not differ.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from recorded_programs import DIFFERS, FILE, MODES, PROGRAMS, results

RECORDED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
CAPTURES = ("bytecode", "trace")  # MindSpore's answers under these two are not recorded: it ends or hangs in some


def same(actual: Any, want: Any) -> bool:
    """Return whether two results are alike: structure, dtypes, shapes, numbers up to the loss by Adam's 1 - 0.999."""
    if type(actual) is not type(want):
        return False
    if isinstance(want, dict):
        (kind, value), (got_kind, got_value) = *want.items(), *actual.items()
        if kind != got_kind:
            return False
        if kind in ("tuple", "dict", "error", "object"):
            return same(got_value, value)
        some, others = np.array(got_value), np.array(value)
        return some.shape == others.shape and bool(np.allclose(some, others, 1e-4, 1e-6))
    if isinstance(want, list):
        return len(actual) == len(want) and all(map(same, actual, want))
    return bool(actual == want)


@pytest.mark.filterwarnings("ignore:no plan can be made")
@pytest.mark.parametrize("mode", [*MODES, *CAPTURES])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_eagerly_in_mindspore(name: str, mode: str) -> None:
    expected, actual = RECORDED[name]["pynative"], results(name, mode)
    assert [(a, b) for a, b in zip(actual, expected, strict=True) if not same(a, b)] == []


def test_every_program_is_recorded_and_where_mindspore_s_graphs_differ_it_is_said_why() -> None:
    assert list(RECORDED) == list(PROGRAMS)
    assert {name: record["differs"] for name, record in RECORDED.items() if "differs" in record} == DIFFERS
    assert {name for name, record in RECORDED.items() if {"graph", "jit"} & set(record)} == set(DIFFERS)
