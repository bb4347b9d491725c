"""Pauses over ranks at random: breakpoints on some of them, then steps, expressions, interrupts, aborts and deaths.

    python -m tests.kernel.remote.random_rank_pauses --pauses 200 --ranks 4 --seed 7

After each cell every rank has answered or is gone, no process is left of ranks that ended, and the ranks that live
compute the same sum together. A failure names the seed and the actions; the same seed repeats the actions, though the
ranks' own timing differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable

from hookscope.engine.debug.remote import RemoteError
from hookscope.kernel.remote.child_ranks import ChildRanks, RanksFailed, start_ranks
from tests.processes import is_alive

LONGEST = 60.0  # s for one cell, however it ends: a longer one is a hang

SETUP = """
from mindspore.communication import init, get_rank
import mindspore as ms
import numpy as np
from mindspore import nn, ops
init()
rank = get_rank()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)

class Twice(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        first = dout * 2
        second = first + 0
        return (second,)

ms.set_seed(3)
net = nn.SequentialCell(nn.Dense(3, 4), Twice(), nn.ReLU(), nn.Dense(4, 1))
optimizer = nn.SGD(net.trainable_params(), 0.01)
reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)
x = ms.Tensor(np.random.default_rng(rank).standard_normal((4, 3)).astype(np.float32))
"""
TRAIN = """
for number in range(6):
    loss, gradients = gradient(x)
    optimizer(reducer(gradients))
"""
TARGETS = ("0:forward", "1:forward_pre", "1:bprop", "2:backward", "3:forward", "3:backward_pre")
COMMANDS = ("continue", "over", "into", "out", "operator", "cell")


class HangError(Exception):
    """A cell did not end in time."""


def in_time(act: Callable[[], object], what: str) -> BaseException | None:
    """Call a function in a thread and wait for it; return its exception.

    Raises:
        HangError: the call took longer than `LONGEST`.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONGEST)
    if thread.is_alive():
        raise HangError(what)
    return raised[0] if raised else None


class Person:
    """A driver that starts ranks, runs cells, and acts at random at their pauses."""

    def __init__(self, ranks: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.count = ranks
        self.actions: list[str] = []
        self.counted: Counter[str] = Counter()
        self.ranks: ChildRanks | None = None
        self.pids: list[int] = []

    def begin(self) -> ChildRanks:
        """Return the ranks, started anew if they have ended."""
        if self.ranks is None or not self.ranks.alive:
            if self.ranks is not None:
                self.ranks.stop()
            self.ranks = start_ranks(self.count)
            self.pids = [looked.remote.card.pid for looked in self.ranks.fleet.ranks.values()]
            self.ranks.run(SETUP)
        return self.ranks

    def one_cell(self) -> None:
        """Run a cell with a breakpoint on some ranks, and act at random until it ends."""
        ranks, chance = self.begin(), self.chance
        breakpoint_text = chance.choice(TARGETS)
        chosen = chance.sample(range(self.count), chance.randint(1, self.count))
        step = chance.randint(1, 5)
        line = (
            f"%%cell net --no-panel -b '{breakpoint_text} if rank in {chosen} and step == {step}'"
            if ":bprop" not in breakpoint_text
            else (f"%%cell net --no-panel {'--step ' if chance.random() < 0.5 else ''}-b {breakpoint_text}")
        )
        self.actions = [line]
        answers = ranks.fleet.ask("execute", code=f"{line}\n{TRAIN}", looks=True, all=True, cell="x")
        deadline = time.monotonic() + LONGEST
        acts = 0
        while not all(answer.done() for answer in answers.values()):
            if time.monotonic() > deadline:
                raise HangError("the cell did not end")
            time.sleep(chance.random() * 0.02)
            if any(looked.paused for looked in ranks.fleet.ranks.values()):
                self.counted["looks at a pause"] += 1
                acts += 1
                self.act(ranks, acts > 25)
            elif chance.random() < 0.002:
                self.do("interrupt while it runs", ranks.fleet.interrupt)
        self.counted["cells"] += 1
        self.check(ranks)

    def act(self, ranks: ChildRanks, tired: bool) -> None:
        """Take one action at a pause."""
        fleet, chance = ranks.fleet, self.chance
        paused = [looked.rank for looked in fleet.living if looked.paused]
        way = chance.random()
        if tired and way < 0.5:
            self.do("abort", fleet.abort)
        elif way < 0.35:
            command = chance.choice(COMMANDS)
            self.do(command, lambda: fleet.resume(command))
        elif way < 0.55 and paused:
            rank, command = chance.choice(paused), chance.choice(COMMANDS)
            self.do(f"{command} on {rank}", lambda: fleet.resume(command, [rank]))
        elif way < 0.8:
            expression = chance.choice(("rank + 1", "net(x).sum()", "1 / 0", "nothing"))
            self.do(f"evaluate {expression}", lambda: fleet.try_all("evaluate", expression=expression, timeout=2.0))
        elif way < 0.86:
            self.do("interrupt", fleet.interrupt)
        elif way < 0.92:
            self.do("abort", fleet.abort)
        elif way < 0.94:
            pid = chance.choice(self.pids)
            self.do("kill", lambda: os.kill(pid, signal.SIGKILL))
        else:
            self.do("look", lambda: fleet.statuses())

    def do(self, what: str, act: Callable[[], object]) -> None:
        """Take an action; it is no fault if the ranks cannot do it by now."""
        self.actions.append(what)
        self.counted[what.split()[0]] += 1
        error = in_time(act, what)
        if error is not None and not isinstance(error, RemoteError | ValueError | ProcessLookupError):
            raise error

    def check(self, ranks: ChildRanks) -> None:
        """Check, after the cell, that live ranks compute together, and that ended ones have left no process."""
        if ranks.alive:
            error = in_time(lambda: ranks.run("total = float(ops.AllReduce()(ms.Tensor([1.0]))[0])"), "the sum")
            if ranks.alive and error is not None:
                raise error
            if ranks.alive:
                answers = ranks.fleet.try_all("evaluate", expression="total")
                values = [answer["text"] if isinstance(answer, dict) else str(answer) for answer in answers.values()]
                if ranks.alive and values != [str(float(self.count))] * self.count:
                    raise AssertionError(f"the ranks have {values}")
                return
        deadline = time.monotonic() + 10
        while any(map(is_alive, self.pids)):
            if time.monotonic() > deadline:
                raise AssertionError("a process is left of ranks that ended")
            time.sleep(0.02)
        self.counted["ended"] += 1


def run(pauses: int, ranks: int, seed: int) -> Counter[str]:
    """Run this many cells with pauses; return the counts of actions.

    Raises:
        HangError, AssertionError: a check failed; the error has the seed and the actions in the cell.
    """
    person = Person(ranks, seed)
    try:
        while person.counted["cells"] < pauses:
            try:
                person.one_cell()
            except (HangError, AssertionError, RanksFailed) as error:
                error.add_note(f"seed {seed}, cell {person.counted['cells']}: {' | '.join(person.actions)}")
                if person.ranks is not None:
                    error.add_note(f"the ranks stand: {person.ranks.fleet.statuses()}")
                raise
    finally:
        if person.ranks is not None:
            person.ranks.stop()
    return person.counted


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pauses", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    began = time.monotonic()
    print(dict(run(options.pauses, options.ranks, options.seed)), f"{time.monotonic() - began:.0f} s")
