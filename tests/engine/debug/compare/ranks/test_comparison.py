"""Comparison of recorded runs without ranks: findings, the rank at fault, requests for details, and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS, Comparison


def step(number: int, **fields: Any) -> dict[str, Any]:
    """Return the record of a step without faults."""
    same = dict.fromkeys(("inputs", "cells", "dtypes", "parameters", "statistics", "gradients"), "0" * 16)
    record = {"record": "step", "step": number, "session_step": number, "epoch": 0, **same, "draws": [], "rows": []}
    return json.loads(json.dumps(record | fields))


def parameter(name: str, bits: str = "0" * 16, **fields: Any) -> dict[str, Any]:
    path = name.rpartition(".")[0]
    row = {"path": path, "name": name, "shape": [2, 3], "dtype": "float32", "digest": bits, "norm": 1.5}
    return row | {"statistic": False} | fields


def fed(*of_ranks: list[dict[str, Any]]) -> Comparison:
    comparison = Comparison(len(of_ranks))
    for rank, records in enumerate(of_ranks):
        comparison.add(rank, records)
    return comparison


def test_ranks_that_agree_have_no_finding_and_nothing_is_asked() -> None:
    comparison = fed(*[[step(1), step(2), {"record": "ended", "step": 2}]] * 3)
    assert comparison.findings == [] and comparison.wanted() == []


def test_a_rank_that_is_behind_is_no_finding() -> None:
    comparison = fed([step(1), step(2), step(3)], [step(1)])
    assert comparison.findings == []
    comparison.add(1, [step(2), step(3)])
    comparison.add(0, [{"record": "ended", "step": 3}])
    assert comparison.findings == []


def test_a_rank_that_ended_with_fewer_steps_is_one() -> None:
    comparison = fed([step(1), step(2)], [step(1)], [step(1), step(2)])
    comparison.add(1, [{"record": "ended", "step": 1}])
    (finding,) = comparison.findings
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_differ", 2, (1,))
    assert finding.message == "ranks 0 and 2 made step 2, and rank 1 did not"


def test_while_some_ranks_may_still_come_none_has_too_few_steps() -> None:
    comparison = fed([step(1)], [step(1)], [step(1), step(2)])
    comparison.add(0, [{"record": "ended", "step": 1}])
    assert comparison.findings == []
    comparison.add(1, [{"record": "ended", "step": 1}])
    (finding,) = comparison.findings
    assert finding.ranks == (2,)


@pytest.mark.parametrize(
    ("bits", "ranks"),
    [("ab", (0, 1)), ("aab", (2,)), ("aba", (1,)), ("aabb", (0, 1, 2, 3)), ("abcd", (0, 1, 2, 3)), ("abaca", (1, 3))],
)
def test_at_fault_is_who_stands_against_a_majority_and_all_where_there_is_none(bits: str, ranks: Any) -> None:
    comparison = fed(*[[step(1, parameters=item * 16)] for item in bits])
    assert comparison.wanted() == [(1, "parameters")]
    for rank, entry in enumerate(bits):
        rows = [parameter("a.weight"), parameter("b.weight", entry * 16), parameter("c.weight", entry * 16)]
        comparison.add_detail(rank, {"step": 1, "kind": "parameters", "rows": rows})
    (finding,) = comparison.findings
    assert (finding.condition, finding.step, finding.path, finding.name) == ("parameters_differ", 1, "b", "b.weight")
    assert finding.ranks == ranks and "1 more" in finding.message and comparison.wanted() == []


def test_what_follows_from_other_gradients_is_not_told_again() -> None:
    comparison = fed(*[[step(1, gradients=item * 16), step(2, parameters=item * 16)] for item in "ab"])
    assert comparison.wanted() == [(1, "gradients"), (2, "parameters")]
    for kind, number in (("gradients", 1), ("parameters", 2)):
        for rank, entry in enumerate("ab"):
            rows = [parameter("a.weight"), parameter("b.weight", entry * 16)]
            comparison.add_detail(rank, {"step": number, "kind": kind, "rows": rows})
    (finding,) = comparison.findings
    assert (finding.condition, finding.step, finding.name) == ("ranks_differ", 1, "b.weight")


def test_an_optimizer_that_one_rank_did_not_call_is_told() -> None:
    comparison = fed([step(1)], [step(1)], [step(1, gradients="")])
    for rank in range(3):
        rows = [] if rank == 2 else [parameter("a.weight")]
        comparison.add_detail(rank, {"step": 1, "kind": "gradients", "rows": rows})
    (finding,) = comparison.findings
    assert finding.ranks == (2,) and finding.figures[2] == "no optimizer was given it"


def test_what_the_ranks_no_longer_know_is_told_without_a_name() -> None:
    comparison = fed(*[[step(1, parameters=item * 16)] for item in "ab"])
    comparison.add_detail(0, {"step": 1, "kind": "parameters", "rows": None})
    assert comparison.findings == []
    comparison.add_detail(1, {"step": 1, "kind": "parameters", "rows": [parameter("a.weight")]})
    (finding,) = comparison.findings
    assert (finding.step, finding.ranks, finding.name) == (1, (0, 1), "") and "no longer know" in finding.message


def test_details_may_come_in_any_order_and_those_that_nobody_waits_for_are_left() -> None:
    comparison = fed(*[[step(1, gradients=item * 16), step(2, parameters=item * 16)] for item in "ab"])
    comparison.add_detail(1, {"step": 9, "kind": "draws", "rows": []})
    for kind, number in (("parameters", 2), ("gradients", 1)):
        for rank in (1, 0):
            rows = [parameter("a.weight", "ab"[rank] * 16)]
            comparison.add_detail(rank, {"step": number, "kind": kind, "rows": rows})
        assert comparison.wanted() == ([(1, "gradients")] if kind == "parameters" else [])
    (finding,) = comparison.findings
    assert (finding.condition, finding.step) == ("ranks_differ", 1)


def test_a_comparison_may_begin_late() -> None:
    comparison = fed([step(7), step(8)], [step(8), step(9)])
    assert comparison.findings == [] and comparison.wanted() == []
    comparison.add(0, [step(9, parameters="f" * 16)])
    assert comparison.wanted() == [(9, "parameters")]


def test_rows_that_a_rank_repeats_itself_are_the_same_by_chance() -> None:
    rows = [f"{index:016x}" for index in range(6)]
    comparison = Comparison(2)
    for number in range(1, 20):
        for rank in range(2):
            some = [rows[(number * (rank + 2) + index * index) % 6] for index in range(4)]
            comparison.add(rank, [step(number, rows=some)])
    assert comparison.findings == []


@pytest.mark.parametrize(("ranks", "pool", "batch", "epoch"), [(2, 1000, 4, 1), (8, 50, 4, 0), (4, 50, 8, 0)])
def test_samples_that_each_rank_draws_with_replacement_are_no_finding(
    ranks: int, pool: int, batch: int, epoch: int
) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        comparison = Comparison(ranks)
        for number in range(1, 61):
            for rank in range(ranks):
                rows = [f"{index:016x}" for index in rng.integers(0, pool, batch)]
                comparison.add(rank, [step(number, epoch=epoch, rows=rows)])
        assert comparison.findings == []


def test_two_rows_a_pass_are_those_by_which_shards_are_filled_up() -> None:
    comparison = Comparison(2)
    for number in range(1, 31):
        epoch = 1 + (number - 1) // 3
        for rank in range(2):
            own = [f"{epoch:04x}{rank}{number:05x}{index:06x}" for index in range(4)]
            rows = [*own, f"{epoch:015x}a", f"{epoch:015x}b"] if number % 3 == 1 else own
            comparison.add(rank, [step(number, epoch=epoch, rows=rows)])
    assert comparison.findings == []


def test_rows_of_another_epoch_are_no_finding_and_those_of_the_same_are() -> None:
    shards = [[f"{rank}{number:015x}" for number in range(24)] for rank in range(2)]
    comparison = Comparison(2)
    for number in range(1, 7):
        for rank in range(2):
            epoch = (number + 2) // 3
            shard = shards[(rank + epoch) % 2]  # drawn again in each epoch
            rows = shard[(number - 1) % 3 * 8 :][:8]
            comparison.add(rank, [step(number, epoch=epoch + 10 * rank, rows=rows)])
    assert comparison.findings == []
    for number in range(7, 10):
        for rank in range(2):
            rows = shards[0][((number - 7 + rank) % 3) * 8 :][:8]
            comparison.add(rank, [step(number, epoch=3 + 10 * rank, rows=rows)])
    (finding,) = comparison.findings
    assert (finding.condition, finding.step, finding.ranks) == ("ranks_alike", 8, (0, 1))
    assert finding.figures[0].startswith("72 rows") and "the same 24 rows of data in one epoch" in finding.message


def test_each_condition_stands_in_the_documentation() -> None:
    text = Path(__file__).parents[5].joinpath("docs", "many_ranks.md").read_text()
    assert all(f"| `{name}` |" in text for name in RANK_CONDITIONS)


def test_findings_are_plain_data() -> None:
    comparison = fed([step(1)], [step(1), step(2)])
    comparison.add(0, [{"record": "ended", "step": 1}])
    (data,) = [json.loads(json.dumps(finding.data())) for finding in comparison.findings]
    assert data["ranks"] == [0, 1] and data["figures"] == {"0": "1 step", "1": "2 steps"}
    assert set(data) == {"condition", "step", "ranks", "path", "name", "message", "advice", "figures"}


def test_bad_input_is_one_clear_error_and_changes_nothing() -> None:
    comparison = fed([step(1)], [step(1)])
    for rank, record, text in (
        (2, step(2), "rank must be from 0 to 1, but got 2"),
        (True, step(2), "rank must be from 0 to 1, but got True"),
        (0, 3, "a record must be a dict with 'record' in ['step', 'ended', 'failed'], but got 3"),
        (0, {"record": []}, "a record must be a dict with 'record'"),
        (0, {"record": "step"}, "in a record 'step', 'step' must be int, but got nothing"),
        (0, step(2) | {"cells": 5}, "in a record 'step', 'cells' must be str, but got 5"),
        (0, step(2) | {"epoch": True}, "in a record 'step', 'epoch' must be int, but got True"),
        (0, step(2) | {"rows": [1]}, "'draws' and 'rows' must be lists of str"),
        (0, step(2) | {"step": -1}, "'step' must be from 0 to 2**53 - 1, but got -1"),
        (0, step(1), "step 1 of rank 0 came after step 1"),
        (0, {"record": "ended", "step": 0}, "the end of rank 0 after step 0 came after step 1"),
        (0, {"record": "failed", "step": 1, "path": "a"}, "'error' must be str, but got nothing"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            comparison.add(rank, [record])
    for detail, text in (
        ([], "a detail must be a dict with 'kind' in"),
        ({"step": 1, "kind": "others", "rows": []}, "a detail must be a dict with 'kind' in"),
        ({"step": 1, "kind": "draws"}, "in a detail, 'rows' must be list | None, but got nothing"),
        ({"step": 1, "kind": "draws", "rows": [3]}, "a row of a detail must be a dict, but got 3"),
        ({"step": 1, "kind": "draws", "rows": [{"path": "a", "name": ""}]}, "'digest' must be str, but got nothing"),
        ({"step": 1, "kind": "cells", "rows": [{"path": "a", "name": "b", "shape": 3}]}, "'shape' must be list"),
        ({"step": 1, "kind": "cells", "rows": [{"path": "a", "name": "b", "shape": [[]]}]}, "must be a list of int"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            comparison.add_detail(0, detail)
    with pytest.raises(ValueError, match="'ranks'"):
        Comparison(0)
    comparison.add(0, [{"record": "ended", "step": 1}])
    with pytest.raises(ValueError, match="step 2 of rank 0 came after its end"):
        comparison.add(0, [step(2)])
    assert comparison.findings == []


def test_a_collective_that_ranks_do_not_make_alike_is_a_finding_and_other_errors_are_none() -> None:
    comparison = fed([step(1)], [step(1)], [step(1)])
    comparison.add(0, [{"record": "failed", "step": 2, "path": "a", "error": "ValueError: rank 1: no"}])
    assert comparison.findings == []
    text = (
        "RuntimeError: the ranks of group 'mccl_world_group' do not do the same: rank 0: all_reduce of sum, float32 "
        "[2] (a.py:3); rank 1: the end of the script; rank 2: all_reduce of sum, float32 [2] (b.py:9)"
    )
    comparison.add(2, [{"record": "failed", "step": 2, "path": "block.sum", "error": text}])
    (finding,) = comparison.findings
    assert (finding.condition, finding.step, finding.ranks, finding.path) == ("ranks_differ", 2, (1,), "block.sum")
    assert finding.figures[1] == "the end of the script" and finding.figures[2].endswith("(b.py:9)")
