"""Equal programs give equal bits in processes that differ in all else; ``same_bits`` has the programs.

Here are few processes; ``python tests/engine/same_bits.py`` runs 20.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from same_bits import TRAININGS, WAYS, Process, Result, differences, run

from hookscope.engine.cpu import compiling


def together(*processes: Process) -> list[Result]:
    with ThreadPoolExecutor(2) as pool:
        return [result for result in pool.map(run, processes) if result is not None]


@pytest.mark.ci_only
def test_numbers_of_threads_orders_of_trainings_python_threads_forks_and_interrupts_change_no_bit() -> None:
    names = sorted(TRAININGS)
    results = together(
        *(Process([*names[turn:], *names[:turn]], count) for turn, count in ((0, 1), (3, 2), (5, 4))),
        *(Process(names[::-1], 2, way=way) for way in list(WAYS)[1:]),
    )
    assert [set(result.digests) for result in results] == [set(names)] * 6
    assert not differences(results)
    # A new file of kernels belongs into one of the trainings; what checks a kernel's arguments is in each of them.
    assert set(compiling.files()) - set(results[0].files) <= {"sharing"}


def test_machine_code_of_this_process_or_of_others_and_a_killed_one_change_no_bit(tmp_path: Path) -> None:
    reference = run(Process(["rows"], 1))
    assert reference is not None
    run(Process(["rows"], 2, tmp_path, killed_after=1.0))
    cold = together(Process(["rows"], 1, tmp_path), Process(["rows"], 2, tmp_path, "interrupted"))
    last = together(Process(["rows"], 4, tmp_path))
    assert [result.told != "" for result in (*cold, *last)] == [True, True, False]
    assert not differences([reference, *cold, *last])


def test_other_bits_are_told() -> None:
    first, second = Result({"rows": "a", "images": "a"}, [], ""), Result({"rows": "b", "images": "a"}, [], "")
    assert not differences([first, first])
    assert differences([first, first, second]) == {"rows": {"a", "b"}}
