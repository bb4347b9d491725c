"""The shortest paths stay as short as they are: the instructions of Python that they execute are counted exactly."""

from __future__ import annotations

import json
import sys

import pytest

from tests.engine import bytecode_counts

RENEW = "python tests/engine/bytecode_counts.py --renew PYTHON3.11 PYTHON3.12 PYTHON3.13"


def difference(counts: dict[str, int], recorded: dict[str, int]) -> str:
    """Return the differences as text; "" if there are none."""
    lines = [
        f"{name}: {recorded.get(name, 'not recorded')} before, {counts.get(name, 'not counted')} now"
        for name in counts | recorded
        if counts.get(name) != recorded.get(name)
    ]
    return "\n".join(lines)


def test_the_shortest_paths_execute_as_many_instructions_as_recorded() -> None:
    version, counts = bytecode_counts.of(sys.executable)
    recorded = json.loads(bytecode_counts.RECORDED.read_text())
    differing = difference(counts, recorded[version])
    assert not differing, (
        f"instructions of Python {version} on paths that each operator goes:\n{differing}\n"
        f"More is a slower engine. If that is intended, or it is less, renew the counts, with an interpreter of each "
        f"version that has the engine's dependencies:\n    {RENEW}"
    )


def test_each_version_of_python_has_its_counts() -> None:
    recorded = json.loads(bytecode_counts.RECORDED.read_text())
    assert list(recorded) == ["3.11", "3.12", "3.13"]
    assert all(counts.keys() == recorded["3.11"].keys() for counts in recorded.values())


def test_what_differs_is_named() -> None:
    assert difference({"a": 1, "b": 3, "new": 5}, {"a": 1, "b": 2, "gone": 4}).splitlines() == [
        "b: 2 before, 3 now",
        "new: not recorded before, 5 now",
        "gone: 4 before, not counted now",
    ]
    assert difference({"a": 1}, {"a": 1}) == ""


def test_an_instruction_more_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookscope.engine.tensors import tensor

    counter = bytecode_counts._Counter()

    def counted() -> int:
        with counter:
            x + x
        return counter.count

    x = tensor.Tensor([1.0, 2.0])
    before = bytecode_counts._settled(
        counted
    )  # the first call may count nothing, since events are enabled for each code object
    assert before > 0
    assert counted() == before
    method = tensor.Tensor.__add__
    code = compile("def longer(x, y):\n    return whole(x, y)", tensor.__file__, "exec")
    names = {"whole": method}
    exec(code, names)
    monkeypatch.setattr(tensor.Tensor, "__add__", names["longer"])
    assert bytecode_counts._settled(counted) > before
