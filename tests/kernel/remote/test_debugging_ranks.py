"""A pause over ranks, in a real kernel: one paused rank holds the others, and every end of the pause frees them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kernel_driver import Kernel

SETUP = """%%ranks
from mindspore.communication import init, get_rank
import mindspore as ms
import numpy as np
from mindspore import nn, ops
init()
rank = get_rank()

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.ReLU()
        self.second = nn.ReLU()

    def construct(self, x):
        return self.second(self.first(x)).sum()

net = Net()
x = ms.Tensor(np.ones((2, 3), np.float32))
"""
# The test's requests to the kernel while a cell runs.
ACT = """
import comm, json, time
from hookscope.kernel.magics.rank_magics import ranks_of
link = comm.create_comm(target_name="test")
def act(message):
    fleet = ranks_of(get_ipython()).running_ranks().fleet
    link.send({"value": eval(message["content"]["data"], {"fleet": fleet, **globals()})})
link.on_msg(act)
"""


class Driven:
    """A kernel with two ranks, and the comm by which a test inspects them while a cell runs."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        cell = kernel.execute(ACT)
        assert kernel.result(cell).status == "ok"
        self.link = kernel.comm_opened(cell)

    def do(self, expression: str) -> Any:
        message = self.kernel.comm(self.link, expression)  # type: ignore[arg-type]

        def answer() -> Any:
            messages = [m for m in self.kernel.children(message) if m["msg_type"] == "comm_msg"]
            return messages and (messages[0]["content"]["data"],)

        return self.kernel.until(answer, f"an answer to {expression}")[0]["value"]

    def states(self) -> list[str]:
        statuses = self.do("fleet.try_all('status')")
        return [statuses[str(rank)]["state"] for rank in range(len(statuses))]

    def until_states(self, *states: str) -> None:
        self.kernel.until(lambda: self.states() == list(states), f"states {states}")

    def values(self, expression: str) -> list[str]:
        statuses = self.do(f"fleet.try_all('evaluate', expression={expression!r})")
        return [statuses[str(rank)]["text"] for rank in range(len(statuses))]


@pytest.fixture
def driven(kernel: Kernel) -> Iterator[Driven]:
    output = kernel.run("%ranks 2").text
    if "already" not in output:
        assert kernel.run(SETUP).status == "ok"
    yield Driven(kernel)
    if "ended" in kernel.run("%%ranks\nstill = 1").errors:
        kernel.run("%ranks stop")


def cell(driven: Driven, options: str, body: str = "y = net(x)") -> str:
    return driven.kernel.execute(f"%%cell net --ranks --no-panel {options}\n{body}")


def test_a_breakpoint_pauses_every_rank_and_one_command_lets_all_go_on(driven: Driven) -> None:
    running = cell(driven, "-b second:forward")
    driven.until_states("paused", "paused")
    assert driven.values("output + rank")[1].startswith("Tensor")
    driven.do("fleet.resume('continue')")
    assert driven.kernel.result(running).status == "ok"


def test_a_pause_on_one_rank_holds_the_others_at_their_next_safe_point(driven: Driven) -> None:
    body = "for _ in range(50):\n    total = ops.AllReduce()(net(x))"
    running = cell(driven, "-b 'second:forward if rank == 1 and step == 4'", body)
    driven.until_states("held", "paused")
    before = driven.do("fleet.try_all('status')")
    assert before["1"]["step"] == 4
    assert before["0"]["step"] in (4, 5)
    time.sleep(0.2)
    after = driven.do("fleet.try_all('status')")
    assert [after[rank]["captured"] for rank in "01"] == [before[rank]["captured"] for rank in "01"]  # it is paused
    driven.do("fleet.resume('continue')")
    assert driven.kernel.result(running).status == "ok"


def test_a_step_is_taken_on_every_paused_rank(driven: Driven) -> None:
    running = cell(driven, "-b first:forward")
    driven.until_states("paused", "paused")
    driven.do("fleet.resume('cell')")
    driven.kernel.until(
        lambda: all("second" in status["place"] for status in driven.do("fleet.try_all('status')").values()), "second"
    )
    driven.do("fleet.resume('continue')")
    assert driven.kernel.result(running).status == "ok"


def test_abort_ends_the_cell_on_every_rank(driven: Driven) -> None:
    running = cell(driven, "-b 'second:forward if rank == 0'", "while True:\n    y = net(x)")
    driven.until_states("paused", "held")
    driven.do("fleet.abort()")
    result = driven.kernel.result(running)
    assert result.reply["content"]["evalue"] == "The cell failed on ranks 0 and 1."
    assert "DebugAbort" in result.errors


def test_an_interrupt_ends_the_pause_of_one_and_the_hold_of_the_others(driven: Driven) -> None:
    running = cell(driven, "-b 'second:forward if rank == 0'", "while True:\n    y = net(x)")
    driven.until_states("paused", "held")
    driven.kernel.interrupt("signal")
    assert driven.kernel.result(running).reply["content"]["ename"] == "KeyboardInterrupt"
    assert driven.states() == ["idle", "idle"]


@pytest.mark.parametrize("killed", [0, 1])
def test_a_rank_that_is_killed_during_a_pause_ends_the_cell(driven: Driven, killed: int) -> None:
    pids = driven.do("[looked.remote.card.pid for looked in fleet.ranks.values()]")
    running = cell(driven, "-b 'second:forward if rank == 0'", "while True:\n    y = net(x)")
    driven.until_states("paused", "held")
    os.kill(pids[killed], signal.SIGKILL)
    result = driven.kernel.result(running)
    assert "ended while the cell ran" in result.reply["content"]["evalue"]


def test_watching_changes_no_bit_on_any_rank(driven: Driven) -> None:
    train = """
ms.set_seed(7)
model = nn.SequentialCell(nn.Dense(3, 8), nn.Dropout(p=0.3), nn.ReLU(), nn.Dense(8, 1))
model.set_train()
optimizer = nn.Adam(model.trainable_params(), 0.01)
gradient = ms.value_and_grad(lambda x: (model(x) ** 2).mean(), None, optimizer.parameters)
reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
data = ms.Tensor(np.random.default_rng(rank).standard_normal((16, 3)).astype(np.float32))
for step in range(5):
    loss, gradients = gradient(data)
    optimizer(reducer(gradients))
bits = [p.asnumpy().tobytes().hex() for p in model.trainable_params()] + [loss.asnumpy().tobytes().hex()]
"""
    kernel = driven.kernel
    assert kernel.run(f"%%ranks\nms.set_auto_parallel_context(parallel_mode='data_parallel')\n{train}").status == "ok"
    assert kernel.run("%%ranks\nunwatched = bits").status == "ok"
    watched = kernel.run(f"%%cell --ranks --no-panel --check all -o dbg\n{train}")
    assert watched.status == "ok"
    output = kernel.run("%%ranks\nprint(bits == unwatched, len(dbg.captures) > 20)").text
    assert sorted(output.splitlines()) == ["[0] True True", "[1] True True"]


FAULTY = """
ms.set_seed(7)
model = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 1))
optimizer = nn.SGD(model.trainable_params(), 0.01)
gradient = ms.value_and_grad(lambda x: (model(x) ** 2).mean(), None, optimizer.parameters)
reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
for number in range(12):
    data = ms.Tensor(np.random.default_rng(9 * number + rank).standard_normal((8, 3)).astype(np.float32))
    loss, gradients = gradient(data)
    gradients = reducer(gradients)
    if rank == 1 and number == 4:
        gradients = (gradients[0] * 2, *gradients[1:])
    optimizer(gradients)
"""
MESSAGE = "hookscope: ranks_differ: step 5, ranks 0 and 1: the gradient of "


def test_what_differs_between_ranks_is_told_when_the_cell_ends(driven: Driven) -> None:
    result = driven.kernel.run(f"%%cell model --ranks --no-panel{FAULTY}").errors
    assert MESSAGE in result
    assert "0.weight does not have the same bits on all ranks when the optimizer gets it" in result
    sound = driven.kernel.run(f"%%cell model --ranks --no-panel{FAULTY.replace('number == 4', 'False')}")
    assert (sound.status, sound.errors) == ("ok", "")


def test_a_condition_between_ranks_holds_all_of_them(driven: Driven) -> None:
    slow = FAULTY.replace("optimizer(gradients)", "optimizer(gradients)\n    import time; time.sleep(0.1)")
    running = driven.kernel.execute(f"%%cell model --ranks --no-panel --stop-on ranks_differ{slow}")
    driven.until_states("held", "held")
    statuses = driven.do("fleet.try_all('status')")
    assert all("ranks_differ: the gradient of" in status["reason"] for status in statuses.values())
    assert driven.values("rank") == ["0", "1"]
    driven.do("fleet.resume()")
    assert driven.kernel.result(running).status == "ok"
