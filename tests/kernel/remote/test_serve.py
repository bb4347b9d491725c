"""`hookscope.serve()`: a script, IPython in a terminal and a kernel that is an engine, observed from outside."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_driver import Kernel

from hookscope.engine.debug.remote import Remote, cards
from hookscope.engine.debug.remote.addresses import tcp_address
from hookscope.kernel.remote.attached_run import AttachedRun

SECONDS = 240.0
NETWORK = """
import hookscope
hookscope.install_as_mindspore()
import numpy as np
import mindspore as ms
from mindspore import nn
net = nn.SequentialCell(nn.ReLU(), nn.ReLU())
x = ms.Tensor(np.ones((2, 3), np.float32))
"""
PAUSES = f"""{NETWORK}
import sys
hookscope.serve(*sys.argv[1:])
from hookscope.engine.debug import DebugSession
with DebugSession(net, breaks=["1:forward if step > 3"]) as session:
    control = [1]
    while control:
        net(x)
print("goes on to its end")
"""
# As ipyparallel's: a kernel of IPython's class that has no page of its own, and a number.
ENGINE = """
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

class Engine(IPythonKernel):
    engine_id = 0

IPKernelApp.launch_instance(kernel_class=Engine)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the cards of this test's processes."""
    monkeypatch.setenv("HOOKSCOPE_SESSIONS", str(tmp_path / "sessions"))
    return tmp_path


class Looker:
    """An observer of the one served process."""

    def __init__(self) -> None:
        (card,) = until(cards, "a card")
        self.message_types: list[str] = []
        self.remote = Remote(card, lambda message, buffers: self.message_types.append(str(message["type"])))
        self.do("hello")

    def do(self, kind: str, **fields: Any) -> Any:
        return self.remote.get(kind, timeout=SECONDS, **fields)

    def state(self) -> str:
        return str(self.do("status")["state"])

    def until_state(self, state: str) -> None:
        until(lambda: self.state() == state, state)


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.01)
    return value


@pytest.fixture
def look() -> Iterator[Callable[[], Looker]]:
    lookers: list[Looker] = []

    def make() -> Looker:
        lookers.append(Looker())
        return lookers[-1]

    yield make
    for looker in lookers:
        looker.remote.leave()


def start(folder: Path, text: str, *arguments: str) -> subprocess.Popen[str]:
    (folder / "script.py").write_text(text)
    return subprocess.Popen(
        [sys.executable, "script.py", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def failure(folder: Path, text: str) -> str:
    process = start(folder, text)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    return errors.splitlines()[-1]


def test_a_script_pauses_for_who_looks_and_is_changed_and_goes_on(folder: Path, look: Callable[[], Looker]) -> None:
    with start(folder, PAUSES) as process:
        looker = look()
        looker.until_state("paused")
        assert looker.do("evaluate", expression="output + 1")["text"].startswith("Tensor")
        looker.do("evaluate", expression="control.clear()")
        assert looker.do("captures", step=looker.do("status")["step"])["total"] > 0
        looker.do("resume")
        out, errors = process.communicate(timeout=SECONDS)
    assert out == "goes on to its end\n"
    assert "%cell --attach in a notebook shows it" in errors
    assert {"paused", "resumed", "forms"} <= set(looker.message_types)
    assert not list((folder / "sessions").iterdir())


def test_a_script_at_which_nobody_looks_pauses_nowhere(folder: Path) -> None:
    with start(folder, PAUSES.replace("while control:", "for _ in range(9):")) as process:
        out, errors = process.communicate(timeout=SECONDS)
    assert out == "goes on to its end\n"
    assert "no client is connected to this process" in errors


def test_the_run_has_the_name_that_was_given(folder: Path, look: Callable[[], Looker]) -> None:
    with start(folder, PAUSES, "job-17") as process:
        looker = look()
        assert looker.remote.card.run == "job-17"
        looker.until_state("paused")
        looker.do("abort")
        process.communicate(timeout=SECONDS)


def test_an_address_can_be_given_that_other_machines_can_connect_to(folder: Path, look: Callable[[], Looker]) -> None:
    text = PAUSES.replace("*sys.argv[1:]", "address='tcp://localhost:*'")
    with start(folder, text) as process:
        looker = look()
        assert looker.remote.card.address.startswith("tcp://127.")
        looker.until_state("paused")
        looker.do("abort")
        process.communicate(timeout=SECONDS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "run='../x'",
            "ValueError: run must be up to 64 letters, digits and _.- and begin with none of .-, got '../x'",
        ),
        ("address='tcp://*:5555'", "ValueError: address must name one address or network interface of this machine"),
        ("address='somewhere'", "ValueError: address must be tcp://HOST:PORT or tcp://HOST:*, got 'somewhere'"),
    ],
)
def test_bad_input_is_one_clear_error(folder: Path, call: str, message: str) -> None:
    assert failure(folder, f"import hookscope\nhookscope.serve({call})").startswith(message)


def test_once_more_changes_nothing_and_another_run_is_an_error(folder: Path) -> None:
    text = "import hookscope\nhookscope.serve('one')\nhookscope.serve()\nhookscope.serve('one')\nhookscope.serve('two')"
    assert failure(folder, text) == "RuntimeError: this process is served already, as run 'one'"


def test_two_processes_are_not_the_same_rank_of_a_run(folder: Path, look: Callable[[], Looker]) -> None:
    with start(folder, PAUSES, "one") as process:
        looker = look()
        looker.until_state("paused")
        output = failure(folder, "import hookscope\nhookscope.serve('one')")
        looker.do("abort")
        process.communicate(timeout=SECONDS)
    assert output == f"ValueError: process {process.pid} is rank 0 of run 'one' already: choose a different name"


@pytest.mark.parametrize("address", ["tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:70000", "ipc:///tmp/x", "", 5])
def test_what_is_no_address_is_refused(address: Any) -> None:
    with pytest.raises(ValueError, match="address must be tcp://HOST:PORT"):
        tcp_address(address)


def test_interfaces_and_numbers_stay_and_names_become_numbers() -> None:
    for address in ("tcp://lo:*", "tcp://192.0.2.1:5555", "tcp://[::1]:*"):
        assert tcp_address(address) == address
    assert tcp_address("tcp://localhost:*") == "tcp://127.0.0.1:*"


def test_a_process_that_only_its_own_machine_reaches_is_told_at_once(folder: Path) -> None:
    from hookscope.engine.debug.remote import Card

    card = Card("ipc:///nowhere", "", "", "", "train.py", "run", 1, "elsewhere", 3, 4)
    with pytest.raises(OSError, match="rank 3 runs on elsewhere and can be looked at only there"):
        AttachedRun([card])


def test_a_notebooks_kernel_is_not_served(kernel: Kernel) -> None:
    result = kernel.run("import hookscope\nhookscope.serve()")
    assert (
        result.reply["content"]["evalue"] == "a notebook's kernel has pages of its own: %cell NET opens a panel in it"
    )


def test_an_engine_answers_between_cells_and_pauses_in_them(folder: Path, look: Callable[[], Looker]) -> None:
    with Kernel(["-c", ENGINE, "-f", "{connection_file}"], {"IPYTHONDIR": str(folder / "ipython")}) as engine:
        assert engine.run(f"{NETWORK}\nhookscope.serve()").status == "ok"
        looker = look()
        assert looker.state() == "idle"
        assert looker.do("evaluate", expression="net(x).sum()")["short"] == "6.0"
        cell = engine.execute("%%cell net --no-panel -b 1:forward\nfor step in range(3):\n    y = net(x)")
        looker.until_state("paused")
        assert looker.do("evaluate", expression="output.sum()")["short"] == "6.0"
        looker.do("resume")
        looker.until_state("paused")
        looker.do("abort")
        assert engine.result(cell).status == "error"
        until(lambda: looker.state() == "idle", "idle")
        assert looker.do("panel")["session"] == "net"
        cell = engine.execute("while True:\n    net(x)")
        looker.until_state("runs")
        looker.do("interrupt")
        assert engine.result(cell).reply["content"]["ename"] == "KeyboardInterrupt"


SLOW_CALLBACK = """
import time
def prepare(info):
    time.sleep(0.5)
get_ipython().events.register("pre_run_cell", prepare)
"""


def test_an_interrupt_reaches_the_cell_and_not_what_ipython_calls_before_it(
    folder: Path, look: Callable[[], Looker]
) -> None:
    with Kernel(["-c", ENGINE, "-f", "{connection_file}"], {"IPYTHONDIR": str(folder / "ipython")}) as engine:
        assert engine.run(f"{NETWORK}\nhookscope.serve()").status == "ok"
        assert engine.run(SLOW_CALLBACK).status == "ok"
        looker = look()
        cell = engine.execute("while True:\n    net(x)")
        looker.until_state("runs")
        looker.do("interrupt")
        assert engine.result(cell).reply["content"]["ename"] == "KeyboardInterrupt"


def read_all(terminal: int) -> None:
    """Read from a descriptor until the other end is closed, since a full pipe would block the writer."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)


def test_ipython_in_a_terminal_answers_at_its_prompt(folder: Path, look: Callable[[], Looker]) -> None:
    inside, outside = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "IPython", "--no-banner", "-i", "-c", f"{NETWORK}\nhookscope.serve()"],
        stdin=outside,
        stdout=outside,
        stderr=outside,
        close_fds=True,
        env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), "TERM": "xterm"},
    ) as process:
        os.close(outside)
        threading.Thread(target=read_all, args=(inside,), daemon=True).start()
        looker = look()
        until(lambda: looker.state() == "idle", "the prompt")
        assert looker.do("evaluate", expression="net(x).sum()")["short"] == "6.0"
        process.kill()
