"""Pauses at random: a real kernel, real clients, and random events in any order.

The cell is paused, or works on and answers its panel.

    python tests/kernel/random_pauses.py --pauses 1000 --seed 7

After each pause: every comm was handled once and in order, every request was answered once, every request's "busy" is
followed by one "idle", and the kernel runs cells. A failure names the seed and the actions; the same seed repeats the
actions, though the kernel's own timing differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from kernel_driver import LINK, Kernel, Message

SETUP = (
    LINK
    + """
import numpy as np
from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape.progress import progress
from hookscope.widgets import progress_view
progress_view.LIVE_COMMS.add(link.comm_id)
gone, steps, it = set(), [], None
class Scaled(nn.Cell):
    def construct(self, x):
        return x * 2
    def bprop(self, x, out, dout):
        first = dout * 2
        second = first + 0
        return (second,)
net = nn.SequentialCell([Scaled(), Scaled()])
session = DebugSession(net, step=True)
def train():
    with session:
        return value_and_grad(lambda x: net(x).sum(), grad_position=0)(Tensor(np.ones(3, np.float32)))
def go_on(until):
    with progress("work", None) as steps:
        while not until():
            time.sleep(0.0005)
            steps.advance()
def entered(episode):
    said = []
    def until():
        if not said:
            said.append(1)
            print("paused", episode, flush=True)
        return episode in gone
    return until
def heard(message):
    data = message["content"]["data"]
    log.append(data["number"])
    globals()["do_" + data["do"]](data)
def do_nothing(data): pass
def do_go(data): gone.add(data["episode"])
def do_resume(data): resume()
def do_print(data): print("in a callback"); print("of a comm", file=sys.stderr)
def do_raise(data): raise ValueError("in a callback")
def do_nest(data): pause(entered(data["inner"]))
def do_hang(data):
    print("hanging", data["number"], flush=True)
    while True: pass
def do_step(data):
    if session.paused is not None:
        session.resume(data["command"])
        steps.append(data["command"])
def do_edit(data):
    if session.paused is not None and "first" in session.paused.locals:
        session.assign("first", session.evaluate("first"))
        steps.append("edit")
link.on_msg(heard)
"""
)

KINDS = {
    "cell": "pause(entered({n}))",
    "button": "print('paused', {n}, flush=True); pause()",
    "awaiting": "await asyncio.sleep(0.001)\npause(entered({n}))\nawait asyncio.sleep(0.001)",
    "task": "async def work(): pause(entered({n}))\ntask = asyncio.create_task(work())",
    "worker": "worker = threading.Thread(target=pause, args=[entered({n})]); worker.start(); worker.join()",
    "free worker": "worker = threading.Thread(target=pause, args=[entered({n})]); worker.start()",
    "subshell": "pause(entered({n}))",
    "timeout": "pause(entered({n}), timeout={seconds})",
    "stepping": "print('paused', {n}, flush=True); train()",
    "working": "go_on(entered({n}))",
    "working thread": "worker = threading.Thread(target=go_on, args=[entered({n})]); worker.start(); worker.join()",
    "working in an async cell": "await asyncio.sleep(0.001)\ngo_on(entered({n}))\nawait asyncio.sleep(0.001)",
}
IN_MAIN = {"cell", "button", "awaiting", "task", "timeout", "stepping", "working", "working in an async cell"}
# Queries get no answer here: the cell does not wait, but works on, and answers its panel between two steps.
WORKING = {"working", "working thread", "working in an async cell"}
ENDED = "not it.is_alive()"
STARTS = {
    "worker": ("worker", ENDED),
    "free worker": ("worker", ENDED),
    "working thread": ("worker", ENDED),
    "task": ("task", "it.done()"),
}
QUERIES: dict[str, Message] = {
    "kernel_info_request": {},
    "comm_info_request": {},
    "is_complete_request": {"code": "if 1:"},
    "complete_request": {"code": "told", "cursor_pos": 4},
    "history_request": {"hist_access_type": "tail", "n": 1, "raw": True, "output": False},
}
STEPS = ("over", "into", "out", "continue")


class Counting(Kernel):
    """A kernel that counts its replies."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        super().__init__()

    def _keep_reply(self, message: Message) -> None:
        self.counts[message["parent_header"]["msg_id"]] += 1
        super()._keep_reply(message)


class RandomPauses:
    """One kernel and the actions on it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.actions: Counter[str] = Counter()
        self.trace: list[str] = []
        self.kernel = Counting()
        self.page = self.kernel.second_client()
        self._set_up()

    def close(self) -> None:
        self.page.client.stop_channels()
        self.kernel.__exit__(None, None, None)

    def _set_up(self) -> None:
        cell = self.kernel.execute(SETUP)
        result = self.kernel.result(cell)
        assert result.status == "ok", result.error_names
        self.link = self.kernel.comm_opened(cell)
        reply = self.kernel.control_reply(self.kernel.send("create_subshell_request", {}, control=True))
        self.subshell = reply["content"]["subshell_id"]
        self.number = 0
        self.lost_at_most = 0  # comms whose callback an interrupt may have ended before it appended to the log

    # One pause

    def pause(self, episode: int) -> None:
        """Make one pause of a random kind, act on it at random, and check the results."""
        self.trace = []
        self.kernel.iopub.clear()
        self.kernel.counts.clear()
        self.comms: list[str] = []
        self.queries: list[str] = []
        self.cells: list[str] = []
        self.restarted = False
        try:
            self._pause(episode)
        except Exception as error:
            steps = "\n  ".join(self.trace)
            raise AssertionError(f"seed {self.seed}, pause {episode}: {error}\n  {steps}") from error

    def _pause(self, episode: int) -> None:
        kind = self.random.choice(list(KINDS))
        self._say(kind)
        self.kind, self.episode, self.inner = kind, episode, 0
        for _ in range(self.random.choice((0, 0, 3))):  # on their way when the pause begins
            self._comm("nothing")
        code = KINDS[kind].format(n=episode, seconds=round(self.random.random() / 20, 3))
        if kind == "subshell":
            content = {"code": code, "silent": False, "allow_stdin": True}
            self.cell = self.kernel.send("execute_request", content, subshell=self.subshell)
        else:
            self.cell = self.kernel.execute(code)
        self.cells.append(self.cell)
        if self.random.random() < 0.8:  # the others arrive while it begins
            self.kernel.until(lambda: f"paused {episode}" in self.kernel.printed(), "the pause")
        for _ in range(self.random.randrange(6)):
            self.random.choice(self._actions())()
        self._end()
        if self.restarted:
            return
        self._settle()
        self._check()

    def _actions(self) -> list[Callable[[], None]]:
        actions = [self._flood, self._flood, self._query, self._query, self._ask_from_another_page]
        actions += [self._queue_a_cell, self._look_at_variables, self._wait, self._raise, self._print]
        if self.kind in IN_MAIN:
            actions += [self._nest, self._hang]
        if self.kind == "stepping":
            actions += [self._step] * 6 + [self._edit] * 3
        return [*actions, self._interrupt] if self.random.random() < 0.3 else actions

    def _say(self, action: str) -> None:
        self.trace.append(action)
        self.actions[action.partition(":")[0]] += 1

    def _comm(self, what: str, **data: object) -> str:
        message = self.kernel.comm(self.link, {"number": self.number, "do": what, **data})
        self.number += 1
        self.comms.append(message)
        self.actions["comms"] += 1
        return message

    def _flood(self) -> None:
        count = self.random.choice((1, 5, 30, 200))
        self._say(f"flood: {count}")
        for _ in range(count):
            self._comm("nothing")
            if self.random.random() < 0.02:
                self._query()

    def _query(self) -> None:
        kind = self.random.choice(list(QUERIES))
        self._say(f"query: {kind}")
        self.queries.append(self.kernel.send(kind, QUERIES[kind]))

    def _ask_from_another_page(self) -> None:
        self._say("another page")
        self.page.iopub.clear()
        if self.kind not in {"timeout", "free worker", "task", "subshell", *WORKING} and self.inner == 0:
            assert self.page.query("comm_info_request", {})["content"]["status"] == "ok"
        else:  # the main shell may be free or not: send the request without waiting for it
            self.page.send("comm_info_request", {})

    def _queue_a_cell(self) -> None:
        self._say("queue a cell")
        self.cells.append(self.kernel.execute(f"print('cell', {len(self.cells)})"))

    def _look_at_variables(self) -> None:
        self._say("variables")
        content = {"seq": 1, "type": "request", "command": "inspectVariables", "arguments": {}}
        assert self.kernel.control_reply(self.kernel.send("debug_request", content, control=True))["content"]["success"]

    def _wait(self) -> None:
        seconds = self.random.random() / 50
        self._say(f"wait: {seconds:.3f}")
        time.sleep(seconds)

    def _raise(self) -> None:
        self._say("raise")
        self._comm("raise")

    def _print(self) -> None:
        self._say("print")
        self._comm("print")

    def _step(self) -> None:
        command = self.random.choice(STEPS)
        self._say(f"step: {command}")
        self._comm("step", command=command)

    def _edit(self) -> None:
        self._say("edit")
        self._comm("edit")

    def _nest(self) -> None:
        self.inner += 1
        self._say(f"nest: {self.inner}")
        self._comm("nest", inner=f"{self.episode}.{self.inner}")

    def _hang(self) -> None:
        self._say("hang")
        number = self.number
        comm = self._comm("hang")
        self.kernel.until(lambda: f"hanging {number}\n" in self.kernel.printed(), "the callback that hangs")
        self._interrupt()
        self.kernel.until(lambda: self.kernel.is_idle(comm), "the end of the callback that hung")

    def _interrupt(self) -> None:
        way = self.random.choice(("signal", "message"))
        self._say(f"interrupt: {way}")
        self.lost_at_most += 1
        self.kernel.interrupt(way)

    def _end(self) -> None:
        chance = self.random.random()
        if chance < 0.03:
            self._say("restart")
            self.kernel.restart()
            self.restarted = True
            self._set_up()
        elif chance < 0.35:
            self._interrupt()

    def _settle(self) -> None:
        """Continue all that still waits, and wait until all messages are answered."""
        for inner in range(self.inner, 0, -1):
            self._comm("go", episode=f"{self.episode}.{inner}")
        self._comm("go", episode=self.episode)
        self._comm("resume")
        if self.kind == "stepping":
            # At most one "continue" for each stop; the stops come one after the other, and so do these.
            def stepped() -> bool:
                self._comm("step", command="continue")
                self.kernel.collect()
                return self.cell in self.kernel.replies

            self.kernel.until(stepped, "the end of the steps")
        for kind, messages in (("cell", self.cells), ("query", self.queries)):
            for index, message in enumerate(messages):
                self._answered(message, f"{kind} {index}")
        for message in [*self.comms, *self.cells, *self.queries]:
            self._idle(message)
        if self.kind in STARTS:
            # By its name, since an interrupt may have ended the cell before it made one.
            name, ended = STARTS[self.kind]
            ask = f"it = globals().pop({name!r}, it)\nprint(it is None or {ended})"
            self.kernel.until(lambda: self._run(ask) == "True\n", f"the end of the {name}")
            self._run("it = None")

    def _answered(self, message: str, what: str) -> None:
        self.kernel.until(lambda: self.kernel.counts[message], f"the reply to {what}")

    def _idle(self, message: str) -> None:
        self.kernel.until(lambda: self.kernel.is_idle(message), "idle")

    def _run(self, code: str) -> str:
        message = self.kernel.execute(code)
        return self.kernel.result(message).text

    def _check(self) -> None:
        kernel = self.kernel
        # A signal may reach the kernel only now, and end this cell.
        text = str(kernel.until(lambda: self._run("print(*log)\nlog.clear()"), "the log"))
        numbers = [int(number) for number in text.split()]
        numbers_sent = range(self.number - len(self.comms), self.number)
        assert numbers == sorted(set(numbers)), f"out of order or twice: {numbers}"
        assert set(numbers) <= set(numbers_sent), "a comm of another pause"
        assert len(numbers_sent) - len(numbers) <= self.lost_at_most, (
            f"lost: {sorted(set(numbers_sent) - set(numbers))}"
        )
        self.actions["callbacks that an interrupt ended before they began"] += len(numbers_sent) - len(numbers)
        self.lost_at_most = 0
        if self.kind == "stepping":
            taken = kernel.until(lambda: self._run("print('taken', *steps)\nsteps.clear()"), "the steps").split()
            self.actions["steps and edits at a stop"] += len(taken) - 1
        for message in [*self.comms, *self.queries, *self.cells]:
            states = kernel.states(message)  # a cell is "busy" again after each comm that came while it was paused
            assert states == ["busy"] * (len(states) - 1) + ["idle"] and len(states) > 1, f"{states} of a request"
        assert {kernel.counts[message] for message in [*self.cells, *self.queries]} == {1}, "answered more than once"
        answered = [message for message in kernel.counts if message in set(self.queries)]
        assert answered == self.queries, "queries answered out of order"
        assert self._run("print(pause(lambda: True))") == "True\n"
        statuses = [m["content"]["execution_state"] for m in kernel.iopub if m["msg_type"] == "status"]
        assert statuses[-1] == "idle", "the kernel looks busy"


def run(pauses: int, seed: int, say: Callable[[str], object] = lambda _: None) -> Counter[str]:
    """Make this many pauses; return the counts of actions.

    Raises:
        AssertionError: a message was lost, repeated or out of order; the error names the seed and the actions.
    """
    random_pauses = RandomPauses(seed)
    try:
        for episode in range(pauses):
            random_pauses.pause(episode)
            if (episode + 1) % 100 == 0:
                say(f"{episode + 1} pauses")
    finally:
        random_pauses.close()
    return random_pauses.actions


def main() -> None:
    parser = argparse.ArgumentParser(description="Pauses at random, with a real kernel.")
    parser.add_argument("--pauses", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.perf_counter()
    done = run(options.pauses, options.seed, print)
    print(f"{options.pauses} pauses in {time.perf_counter() - begin:.0f} s")
    for what, count in sorted(done.items()):
        print(f"{count:8d} {what}")


if __name__ == "__main__":
    main()
