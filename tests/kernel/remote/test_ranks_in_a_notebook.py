"""`%ranks` and `%%ranks` in a real kernel: ranks that outlive a cell, their output, their errors, their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from kernel_driver import Kernel

from tests.processes import is_alive

MEET = """%%ranks
from mindspore.communication import init, get_rank, get_group_size
import mindspore as ms
import numpy as np
from mindspore import nn, ops
init()
"""


@pytest.fixture(scope="module")
def two_ranks(shared_kernel: Kernel) -> Iterator[Kernel]:
    """Yield a kernel with two ranks that have met."""
    assert shared_kernel.run("%ranks 2").text.startswith("2 ranks are there")
    assert shared_kernel.run(MEET).status == "ok"
    yield shared_kernel
    shared_kernel.run("%ranks stop")


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def processes(kernel: Kernel) -> list[int]:
    output = kernel.run("%%ranks\nimport os\nprint(os.getpid())").text
    return [int(line.split()[1]) for line in lines(output)]


def test_each_line_has_its_ranks_number(two_ranks: Kernel) -> None:
    assert lines(two_ranks.run("%%ranks\nprint('a', get_rank())\nprint('b')").text) == [
        "[0] a 0",
        "[0] b",
        "[1] a 1",
        "[1] b",
    ]


def test_a_last_line_is_shown(two_ranks: Kernel) -> None:
    assert lines(two_ranks.run("%%ranks\nget_rank() + 10").text) == ["[0] 10", "[1] 11"]


def test_variables_are_kept_between_cells(two_ranks: Kernel) -> None:
    two_ranks.run("%%ranks\nmine = 5 * get_rank()")
    assert lines(two_ranks.run("%%ranks\nprint(mine)").text) == ["[0] 0", "[1] 5"]


def test_ranks_are_ranks_of_one_mpi(two_ranks: Kernel) -> None:
    output = two_ranks.run("%%ranks\nprint(ops.AllReduce()(ms.Tensor([1.0 + get_rank()])))").text
    assert lines(output) == ["[0] [3.]", "[1] [3.]"]


def test_a_cell_runs_on_some_alone(two_ranks: Kernel) -> None:
    assert two_ranks.run("%%ranks --on 1\nprint(get_rank())").text == "[1] 1\n"


def test_an_error_is_told_with_its_rank_and_its_line_and_fails_the_cell(two_ranks: Kernel) -> None:
    result = two_ranks.run("%%ranks\nif get_rank() == 1:\n    raise ValueError('no good')")
    assert result.status == "error"
    assert result.reply["content"]["evalue"] == "The cell failed on rank 1."
    assert "[1] ValueError: no good" in result.errors.replace("\x1b[31m", "").replace("\x1b[39m", "")
    assert "ranks.py" not in result.errors  # no frame of the debugger's


def test_the_same_error_on_all_ranks_has_one_traceback(two_ranks: Kernel) -> None:
    result = two_ranks.run("%%ranks\n1 / 0")
    assert result.errors.count("Traceback") == 1
    assert result.reply["content"]["evalue"] == "The cell failed on ranks 0 and 1."


def test_a_rich_value_is_shown_under_its_ranks_number(two_ranks: Kernel) -> None:
    result = two_ranks.run("%%ranks --on 0\nfrom IPython.display import HTML\nHTML('<b>bold</b>')")
    (display,) = result.of_type("display_data")
    assert display["content"]["data"]["text/html"] == "<b>bold</b>"
    assert "[0] shows:" in result.text


def test_an_interrupt_reaches_all_ranks(two_ranks: Kernel) -> None:
    cell = two_ranks.execute("%%ranks\nprint('begins')\nimport time\ntime.sleep(60)")
    two_ranks.until(lambda: two_ranks.printed(cell).count("begins") == 2, "both ranks to begin")
    two_ranks.interrupt("signal")
    result = two_ranks.result(cell)
    assert result.status == "error"
    assert result.reply["content"]["ename"] == "KeyboardInterrupt"
    assert lines(two_ranks.run("%%ranks\nprint('lives')").text) == ["[0] lives", "[1] lives"]


def test_an_interrupt_ends_the_cell_though_a_rank_is_stopped(two_ranks: Kernel) -> None:
    """Its process gets no signal; the others wait for it at the end of the cell."""
    first, second = processes(two_ranks)
    cell = two_ranks.execute("%%ranks\nprint('begins')\nimport time\ntime.sleep(600)")
    two_ranks.until(lambda: two_ranks.printed(cell).count("begins") == 2, "both ranks to begin")
    os.kill(second, signal.SIGSTOP)
    try:
        two_ranks.interrupt("signal")
        result = two_ranks.result(cell)
        assert (result.status, result.reply["content"]["ename"]) == ("error", "KeyboardInterrupt")
        output = result.stream("stderr")
        assert "hookscope: the cell has not ended yet on rank" in output
        assert f"process {second} of rank 1 is stopped: kill -CONT {second} lets it go on" in output
        assert f"process {first}" not in output
        for on in ("--on 1", "", "--on 0"):  # not one of them is run later
            again = two_ranks.execute(f"print('now')\nget_ipython().run_cell_magic('ranks', '{on}', 'print(1)')")
            two_ranks.wait_for_text("now", again)
            two_ranks.interrupt("signal")
            assert two_ranks.result(again).status == "error"
    finally:
        os.kill(second, signal.SIGCONT)
    for word in ("lives", "again"):
        assert lines(two_ranks.run(f"%%ranks\nprint('{word}')").text) == [f"[0] {word}", f"[1] {word}"]


def test_more_of_the_same_number_keeps_them(two_ranks: Kernel) -> None:
    two_ranks.run("%%ranks\nkept = 1")
    assert "already" in two_ranks.run("%ranks 2").text
    assert lines(two_ranks.run("%%ranks\nprint(kept)").text) == ["[0] 1", "[1] 1"]


def test_another_number_is_one_clear_error(two_ranks: Kernel) -> None:
    assert "there are 2 ranks; %ranks stop ends them" in two_ranks.run("%ranks 3").errors


def test_the_table_tells_how_they_stand(two_ranks: Kernel) -> None:
    output = two_ranks.run("%ranks").text
    assert "process" in output and output.count("idle") == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%ranks many", "N|stop: must be a whole number, got 'many'"),
        ("%ranks 0", "N|stop: must be 1 or more, got 0"),
        ("%%ranks --on x\n1", "--on: must be numbers of ranks, such as 0,2, got 'x'"),
        ("%%ranks --on 7\n1", "there is no rank 7; there are 0 to 1"),
    ],
)
def test_bad_input_is_one_clear_error(two_ranks: Kernel, line: str, message: str) -> None:
    assert message in two_ranks.run(line).errors


def test_what_subprocesses_and_forked_processes_write_is_shown_too(two_ranks: Kernel) -> None:
    assert lines(two_ranks.run("%%ranks\n!echo from a shell").text) == ["[0] from a shell", "[1] from a shell"]
    forked = (
        "%%ranks --on 1\nimport os\n"
        "if not (child := os.fork()):\n    print('from a fork'); os._exit(0)\n_ = os.waitpid(child, 0)"
    )
    assert two_ranks.run(forked).text == "[1] from a fork\n"


def test_a_rank_that_dies_ends_all_and_the_cell_says_so_and_new_ones_can_be_started(kernel: Kernel) -> None:
    kernel.run("%ranks stop")
    kernel.run("%ranks 2")
    there = processes(kernel)
    cell = kernel.execute("%%ranks\nprint('begins')\nimport time\ntime.sleep(60)")
    kernel.until(lambda: kernel.printed(cell).count("begins") == 2, "both ranks to begin")
    os.kill(there[1], signal.SIGKILL)
    result = kernel.result(cell)
    assert result.status == "error"
    assert "ended while the cell ran" in result.reply["content"]["evalue"]
    assert "hookscope run: rank 1 was killed by SIGKILL" in result.text
    kernel.until(lambda: not any(map(is_alive, there)), "all ranks to end")
    assert "the ranks have ended" in kernel.run("%%ranks\n1").errors
    assert "2 ranks are there" in kernel.run("%ranks 2").text
    kernel.run("%ranks stop")
    assert "there are no ranks yet" in kernel.run("%%ranks\n1").errors
    assert "there are no ranks" in kernel.run("%ranks stop").errors


@pytest.mark.parametrize(
    "meanwhile",
    [
        "",
        "%%ranks\nprint('begins')\nwhile True: pass",
        "%%ranks\nimport time; print('begins')\nwhile 1:\n    try: time.sleep(9)\n    except KeyboardInterrupt: pass",
        MEET + "print('begins')\nops.AllReduce()(ms.Tensor([1.0])) if get_rank() else __import__('time').sleep(60)",
    ],
    ids=["idle", "busy", "takes interrupts", "in a collective"],
)
@pytest.mark.cases(1)
def test_no_process_is_left_when_the_kernel_is_killed(meanwhile: str) -> None:
    with Kernel() as kernel:
        kernel.run("%ranks 2")
        there = processes(kernel)
        pid = int(kernel.run("import os; print(os.getpid())").text)
        if meanwhile:
            cell = kernel.execute(meanwhile)
            kernel.until(lambda: kernel.printed(cell).count("begins") == 2, "both ranks to begin")
        os.kill(pid, signal.SIGKILL)
        kernel.until(lambda: not any(map(is_alive, there)), "both ranks to end")
