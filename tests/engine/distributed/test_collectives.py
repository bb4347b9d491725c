"""Collectives of four ranks: the checks of checks_collectives.py; a process without others; the ends of runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ranks import command, environment, names, needs_ranks, outcomes, run

CHECKS = "tests.engine.distributed.checks_collectives"

pytestmark = needs_ranks


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", [*names(CHECKS), "the end"])
@pytest.mark.cases(4)
def test_four_ranks(name: str) -> None:
    assert not outcomes(CHECKS, 4).get(name, "")


def run_ranks(code: str, ranks: int = 3) -> tuple[int, str]:
    return run(command(ranks, "-c", code))


START = """
import sys
from hookscope.engine import Tensor, communication, ops
communication.init()
rank = communication.get_rank()
"""


def test_a_rank_that_fails_ends_all() -> None:
    status, output = run_ranks(START + "if rank == 1: raise ValueError('this one')\nops.AllReduce()(Tensor([1.0]))")
    assert status and "ValueError: this one" in output


def test_a_rank_that_ends_early_is_told_to_those_who_wait_for_it() -> None:
    status, output = run_ranks(START + "if rank == 1: sys.exit()\nops.AllReduce()(Tensor([1.0]))")
    assert status and "rank 0: all_reduce of sum, float32 [1]" in output and "rank 1: the end of the script" in output


def test_an_exchange_without_a_waiter_keeps_no_rank_from_ending() -> None:
    status, output = run_ranks(START + "ops.Send(0, (rank + 1) % 3)(Tensor([1.0]))\nprint('done')")
    assert status == 0 and output.count("done") == 3


def test_what_was_asked_for_and_not_waited_for_is_done_before_the_end() -> None:
    code = START + "x = Tensor([1.0])\nfor _ in range(20): ops.all_reduce(x, async_op=True)\nprint('done')"
    status, output = run_ranks(code)
    assert status == 0 and output.count("done") == 3


def test_a_message_that_nobody_takes_is_told() -> None:
    code = START + "import numpy as np\nif rank == 0: ops.Send(0, 1)(Tensor(np.zeros(5_000_000, np.float32)))"
    status, output = run_ranks(code)
    assert (
        status and "rank 0 ends, and no rank has received its send of float32 [5000000] to rank 1 (<string>:" in output
    )


def test_before_ranks_have_met_they_have_no_numbers() -> None:
    code = "from hookscope.engine import communication\ncommunication.get_rank()"
    message = "the 2 ranks have not met yet: call mindspore.communication.init() first"
    assert f"For 'get_rank', {message}" in run_ranks(code, 2)[1]
    code = "import hookscope.engine as ms\nfrom hookscope.engine import nn\nnet = nn.Dense(2, 1)\n"
    code += "ms.set_auto_parallel_context(parallel_mode='data_parallel')\n"
    code += "nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))"
    assert f"For 'TrainOneStepCell', {message}" in run_ranks(code, 2)[1]


def test_one_process_imports_nothing_of_mpis() -> None:
    code = START + "x = ops.AllReduce()(Tensor([1.0]))\nprint(x, 'mpi4py' in sys.modules, 'mpi4py.MPI' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert process.stdout == "[1.] False False\n"


def test_ranks_without_mpi4py_say_what_is_missing() -> None:
    code = "import importlib.util\nfind = importlib.util.find_spec\n"
    code += "importlib.util.find_spec = lambda name, *a: None if name == 'mpi4py' else find(name, *a)\n" + START
    message = "this process is one of 2 ranks, and they need mpi4py to meet: pip install 'hookscope[parallel]'"
    assert message in run_ranks(code, 2)[1]
