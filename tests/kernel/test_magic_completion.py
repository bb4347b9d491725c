"""Tab on the lines of the magics: what it offers, what it replaces, and that it runs no code of the user."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.terminal.ptutils import IPythonPTCompleter
from kernel_driver import Kernel
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.conditions import CONDITIONS, condition_names
from hookscope.engine.debug.stop.breakpoints.breakpoint import MOMENTS
from hookscope.kernel.magics import completion, options

SETUP = """
from mindspore import nn
from hookscope.engine.debug import DebugSession

class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()
        self.dense = nn.Dense(3, 2)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block1 = Block()
        self.block2 = Block()
        self.head = nn.Dense(3, 2)

net, number, debug = Net(), 3, DebugSession(Net())
"""


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.dense = nn.Dense(3, 2)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.block1 = Block()
        self.block2 = Block()
        self.head = nn.Dense(3, 2)


@pytest.fixture(scope="module")
def namespace() -> dict[str, object]:
    return {"net": Net(), "number": 3, "debug": DebugSession(Net()), "_hidden": Net()}


def at_end(text: str, namespace: dict[str, object]) -> completion.Completions:
    lines = text.split("\n")
    return completion.complete(text, len(lines) - 1, len(lines[-1]), namespace)


COMPLETED = [  # the text, the part that is replaced, what is offered for it
    ("%%cell n", "n", ["net"]),
    ("%%cell _", "_", ["_hidden"]),
    ("%cell d", "d", ["debug"]),
    ("%%cell net.bl", "net.bl", ["net.block1", "net.block2"]),
    ("%cell net.block1.", "net.block1.", ["net.block1.relu", "net.block1.dense"]),
    ("%params net.h", "net.h", ["net.head"]),
    ("%hooks n", "n", ["net"]),
    ("gradient = %bprop net.h", "net.h", ["net.head"]),
    ("%train net ", "", ["on", "off"]),
    ("%train net on block*.r", "block*.r", ["block*.relu"]),
    ("%%cell net --ch", "--ch", ["--check"]),
    ("%%cell net -b", "-b", ["-b"]),
    ("%%cell net --train --e", "--e", ["--every"]),
    ("%%cell net --every 2 --e", "--e", ["--eval"]),
    ("%%cell net --break head --br", "--br", ["--break"]),
    ("%cell net --max", "--max", ["--max-bytes", "--max-captures"]),
    ("%%cell net --break block1.", "block1.", ["block1.relu", "block1.dense"]),
    ("%%cell net --break=block1.r", "block1.r", ["block1.relu"]),
    ("%%cell net -b 'block2.d", "block2.d", ["block2.dense"]),
    ("%%cell net.block1 -b r", "r", ["relu"]),
    ("%%cell net -b head:", "", list(MOMENTS)),
    ("%%cell net -b 'head:backward i", "i", ["if "]),
    ("%%cell net -b 'head if nor", "nor", ["norm"]),
    ('%%cell net -b "head if norm > 3 and mi', "mi", ["minimum"]),
    ("%%cell net -b 'head if cell.tr", "", []),
    ("%%cell net -b ops.log1", "ops.log1", ["ops.log10", "ops.log1p"]),
    ("%%cell net -b ops.log:", "", ["forward", "backward"]),
    ("%%cell net -w head:f", "f", ["forward"]),
    ("%%cell net --check na", "na", ["nan"]),
    ("%%cell net --check nan,dead", "dead", ["dead_relu"]),
    ("%%cell net --check=nan,na", "na", []),
    ("%%cell net --check 'nan, dead", "dead", ["dead_relu"]),
    ("%%cell net --check 'nan, if zer", "zer", ["zeros"]),
    ("%%cell net --stop-on ranks_d", "ranks_d", []),
    ("%%cell net --ranks --stop-on ranks_d", "ranks_d", ["ranks_differ"]),
    ("%%cell net --mute na", "na", ["nan"]),
    ("%%cell net --mute nan:he", "he", ["head"]),
    ("%%cell net --device g", "g", ["gpu"]),
    ("%%cell net -o d", "d", ["debug"]),
    ("%ranks s", "s", ["stop"]),
    ("%%ranks --o", "--o", ["--on"]),
    ("number = 4\n%hooks n", "n", ["net"]),
    ("\n%%cell n", "n", ["net"]),
    ("number = 4\n%%cell n", "", []),  # a cell magic begins its cell
    ("%%cell net\nn", "", []),
    ("%%cell net # n", "", []),
    ("%%cell nothing.a", "nothing.a", []),
    ("%%cell number.", "number.", []),
    ("%%cell net more n", "", []),
    ("%%timeit n", "", []),
]


@pytest.mark.parametrize(("text", "fragment", "texts"), COMPLETED)
def test_the_end_of_a_magics_line_is_completed(
    namespace: dict[str, object], text: str, fragment: str, texts: list[str]
) -> None:
    completed = at_end(text, namespace)
    assert completed.texts == texts
    assert completed.fragment == fragment or not texts


def test_every_option_is_offered_and_every_condition(namespace: dict[str, object]) -> None:
    for magic, parser in (("%%cell", options.CELL), ("%cell", options.OPEN), ("%%ranks", options.RANKS_CELL)):
        offered = at_end(f"{magic} -", namespace)[1]
        assert offered == [name for name, _ in parser.named_options()]
    assert "--watch" in at_end("%%cell ", namespace)[1]
    offered = at_end("%%cell net --check ", namespace)[1]
    assert set(offered) == set(condition_names()) > set(CONDITIONS)
    assert at_end("%%cell net --check '", namespace)[1] == [*offered, "if "]  # it has a space
    assert offered[0] == "all"


def test_a_completed_line_is_accepted_by_its_parser(namespace: dict[str, object]) -> None:
    for text, quote in (
        ("%%cell net --break block1.", ""),
        ("%%cell net --check 'nan, dead", "'"),
        ("%%cell net -w head:", ""),
    ):
        fragment, texts = at_end(text, namespace)
        for completed in texts:
            options.CELL.parse_line(f"{text.removeprefix('%%cell ').removesuffix(fragment)}{completed}{quote}")


class Watchful:
    """Counts each look at it that runs code."""

    looks = 0

    def __getattribute__(self, name: str) -> object:
        Watchful.looks += 1
        raise RuntimeError(name)

    __eq__ = __hash__ = __repr__ = __bool__ = __getattribute__  # type: ignore[assignment]


class WatchfulNet(nn.Cell):
    """A network that cannot be looked at after it is made."""

    looks = 0

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ReLU()
        self.twice = self.inner
        type(self).__getattribute__ = WatchfulNet._refuse  # type: ignore[method-assign, assignment]

    def _refuse(self, name: str) -> object:
        WatchfulNet.looks += 1
        raise RuntimeError(name)

    def __hash__(self) -> int:
        raise RuntimeError("hashed")


def test_no_code_of_the_user_runs() -> None:
    namespace: dict[str, object] = {"awkward": Watchful(), "net": WatchfulNet()}
    Watchful.looks = WatchfulNet.looks = 0
    assert at_end("%%cell ", namespace)[1][:2] == ["net", "--watch"]
    assert at_end("%%cell awkward.", namespace)[1] == []
    assert at_end("%%cell net.", namespace)[1] == ["net.inner"]  # each cell has one path
    assert at_end("%%cell net --break ", namespace)[1] == ["inner", "ops.", "exception"]
    assert (Watchful.looks, WatchfulNet.looks) == (0, 0)


def complete(kernel: Kernel, code: str, cursor: int) -> tuple[list[str], str]:
    reply = kernel.query("complete_request", {"code": code, "cursor_pos": cursor})["content"]
    assert reply["status"] == "ok"
    return reply["matches"], code[reply["cursor_start"] : reply["cursor_end"]]


@pytest.mark.parametrize("jedi", [True, False])
def test_a_front_end_is_told_the_range_to_replace(kernel: Kernel, jedi: bool) -> None:
    kernel.run(SETUP)
    kernel.run(f"get_ipython().Completer.use_jedi = {jedi}")
    for before, after, matches, replaced in (
        ("%%cell net --break block1.", " --step\nnet(x)", ["block1.relu", "block1.dense"], "block1."),
        ("%%cell net --check nan,dead", "\nnet(x)", ["dead_relu"], "dead"),
        ("%%cell net --check 'nan, dead", "'\nnet(x)", ["dead_relu"], "dead"),
        ("%%cell net --br", "", ["--break"], "--br"),
        ("number\n%cell ne", "\nnumber", ["net"], "ne"),
        ("%%cell net -b 'block1.dense if n", "' # block1.dense", ["norm", "np"], "n"),
    ):
        assert complete(kernel, before + after, len(before)) == (matches, replaced), before


def test_an_error_of_completion_stays_inside(kernel: Kernel) -> None:
    kernel.run("from hookscope.kernel.magics import completion; completion._VALUES['net'] = lambda *_: 1 / 0")
    kernel.iopub.clear()
    complete(kernel, "%%cell ne", 9)
    assert kernel.run("print('alive')").text == "alive\n"
    assert not any(message["msg_type"] == "stream" and "Error" in str(message) for message in kernel.iopub)
    kernel.run("completion._VALUES['net'] = completion._network")
    assert complete(kernel, "%%cell ne", 9)[0] == ["net"]


def test_the_terminal_of_ipython_completes_them_until_the_extension_is_unloaded() -> None:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "hookscope")
    shell.run_line_magic("reload_ext", "hookscope")
    shell.user_ns["net"] = Net()
    terminal = IPythonPTCompleter(ipy_completer=shell.Completer)

    def offered(text: str) -> list[tuple[str, int]]:
        documents = terminal.get_completions(Document(text), CompleteEvent())
        return [(offer.text, offer.start_position) for offer in documents]

    assert offered("%%cell net --break block1.r") == [("block1.relu", -8)]
    shell.run_line_magic("unload_ext", "hookscope")
    assert shell.Completer.custom_matchers == []
