"""Ranks of a notebook that make different calls: an error names every rank's call and line, and no rank hangs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernel_driver import Kernel

SETUP = """%%ranks
from mindspore.communication import create_group, get_rank, init
import mindspore as ms
from mindspore import mint, ops
init()
rank, x = get_rank(), ms.Tensor([1.0])
"""
SUM = "%%ranks\nprint(ops.AllReduce()(x))"


@pytest.fixture
def ranks(kernel: Kernel) -> Iterator[Kernel]:
    kernel.run("%ranks 2")
    assert kernel.run(SETUP).status == "ok"
    yield kernel
    kernel.run("%ranks stop")


def add_up(kernel: Kernel) -> list[str]:
    return sorted(kernel.run(SUM).text.splitlines())


def test_a_cell_that_ends_on_one_rank_ends_the_others_collective_with_both_lines(ranks: Kernel) -> None:
    result = ranks.run("%%ranks\nif rank == 0:\n    y = ops.AllReduce()(x)")
    assert result.reply["content"]["evalue"] == "The cell failed on rank 0."
    assert "rank 0: all_reduce of sum, float32 [1] (a cell, line 2); rank 1: the end of the cell" in result.errors
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


def test_an_error_on_one_rank_ends_the_others_collective(ranks: Kernel) -> None:
    result = ranks.run("%%ranks\n1 / 0 if rank else ops.AllReduce()(x)")
    assert result.reply["content"]["evalue"] == "The cell failed on ranks 0 and 1."
    assert "ZeroDivisionError" in result.errors
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


def test_ranks_that_receive_from_each_other_are_told_and_go_on(ranks: Kernel) -> None:
    result = ranks.run("%%ranks\nmint.distributed.recv(x, 1 - rank)")
    report = next(line for line in result.errors.splitlines() if line.startswith("hookscope: deadlock: "))
    assert "rank 0 waits in receive of float32 [1] from rank 1 (a cell, line 1) for rank 1" in report
    assert "rank 1 waits in receive of float32 [1] from rank 0 (a cell, line 1) for rank 0" in report
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


def test_a_receive_from_a_rank_whose_cell_has_ended_is_told(ranks: Kernel) -> None:
    result = ranks.run("%%ranks\nif rank == 0:\n    mint.distributed.recv(x, 1)")
    assert "deadlock: rank 0 waits in receive" in result.errors
    assert "rank 1 waits in the end of the cell" in result.errors
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


def test_groups_in_opposite_order_are_told_and_the_ranks_say_that_new_ones_are_needed(ranks: Kernel) -> None:
    ranks.run("%%ranks\ncreate_group('a', [0, 1]); create_group('b', [0, 1])")
    result = ranks.run("%%ranks\ny = ops.AllReduce(group='ab'[rank])(x)")
    assert "rank 0 waits in all_reduce of sum, float32 [1] in group 'a' (a cell, line 1) for rank 1" in result.errors
    assert "rank 1 waits in all_reduce of sum, float32 [1] in group 'b' (a cell, line 1) for rank 0" in result.errors
    assert "these ranks can no longer exchange arrays, start new ones" in ranks.run(SUM).errors
    ranks.run("%ranks stop")
    ranks.run("%ranks 2")
    ranks.run(SETUP)
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


def test_after_an_interrupt_in_a_collective_the_ranks_are_in_step(ranks: Kernel) -> None:
    cell = ranks.execute("%%ranks\nprint('begins')\nimport time\ntime.sleep(60 * rank)\ny = ops.AllReduce()(x)")
    ranks.until(lambda: ranks.printed(cell).count("begins") == 2, "both ranks to begin")
    ranks.interrupt("signal")
    assert ranks.result(cell).reply["content"]["ename"] == "KeyboardInterrupt"
    assert add_up(ranks) == ["[0] [2.]", "[1] [2.]"]


@pytest.mark.ci_only
def test_a_slow_rank_is_no_deadlock(ranks: Kernel) -> None:
    result = ranks.run("%%ranks\nimport time\ntime.sleep(4 * rank)\nprint(ops.AllReduce()(x))")
    assert sorted(result.text.splitlines()) == ["[0] [2.]", "[1] [2.]"]
    assert result.errors == ""
