"""The debugger at a real terminal: a script in a pseudo-terminal, answered by typing."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import numpy as np
from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugSession

class Twice(nn.Cell):
    def construct(self, x):
        return x * 2.0
    def bprop(self, x, out, dout):
        slope = dout * 2.0
        return (slope,)

net = Twice()
with DebugSession(net, step=True):
    print("result", grad(net)(Tensor(np.ones(1, np.float32))).asnumpy()[0])
"""


def at_terminal(script: Path, terminal: int) -> subprocess.Popen[bytes]:
    # Python 3.13 colors its tracebacks at a terminal.
    environment = {**os.environ, "PYTHON_COLORS": "0"}
    command = [sys.executable, str(script)]
    return subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)


def read_until(terminal: int, text: str) -> str:
    seen = ""
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"{text!r} is missing in {seen!r}"
        seen += os.read(terminal, 4096).decode()
    return seen


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in the standard library")
def test_a_script_in_a_terminal_is_stepped_by_typing(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ours, theirs = pty.openpty()
    process = at_terminal(script, theirs)
    os.close(theirs)
    try:
        assert "bprop of (root), line 10: the bprop begins" in read_until(ours, "(hookscope) ")
        os.write(ours, b"n\n")
        assert "return (slope,)" in read_until(ours, "(hookscope) ")
        for typed in (b"slope = slope * 5.0\n", b"slope\n", b"slope = slope + 1.0\n", b"slope = slope * 2.0\n"):
            os.write(ours, typed)
            read_until(ours, "(hookscope) ")
        os.write(ours, b"c\n")
        assert "result 22.0" in read_until(ours, "result 22.0")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


CELLS = """
import numpy as np
from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugSession

net = nn.SequentialCell(nn.ReLU(), nn.Tanh())
with DebugSession(net, breaks=["0"]) as session:
    for _ in range(2):
        print("result", grad(net)(Tensor(np.zeros(1, np.float32))).asnumpy()[0])
    print("training", net[0].training, session.hooks())
"""

# The typed line, and the words that the answer must contain.
DIALOGUE = [
    ("Next Operator", "operator tanh ran"),
    ("inputs", "Tensor"),
    ("NEXT CELL", "forward of 1"),
    ("stack", "<module>, line 9"),
    ("output[0] + 1", "1"),
    ("contniue", "'contniue' is neither a command nor a name here; the nearest command is 'continue'"),
    ("stpe over", "'stpe over' is neither a command nor a name here; the nearest command is 'step over'"),
    ("break 1:backwards", "moment must be one of"),
    ("break 1:backward", "0:forward, stopped 1 times\n1:backward, stopped 0 times"),
    ("unbreak 1:forwad", "moment must be one of"),
    ("unbreak 0", ""),
    ("hook 0 backward", ""),
    ("train 0 maybe", "train PATH on|off, not 'maybe'"),
    ("train 0 on", ""),
    ("watch 0:forward", "0:forward"),
    ("condition nan", "nan"),
    ("uncondition nann", "no condition 'nann' in this session; the nearest is 'nan'"),
    ("uncondition nan", ""),
    ("captures", "output"),
    ("help", "step over, over, next, n: go on"),
    ("Continue", "backward of 1"),
    ("edit grad_input = (grad_input[0] * 3.0,)", ""),
    ("grad_input[0] = grad_input", "must return tensors, but got tuple as entry 0"),
    ("unhook 0 backward", ""),
    ("Step Out", "backward of (root)"),
    ("hook 1 forward", ""),
    ("train . on", ""),
    ("Abort", "DebugAbort"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in the standard library")
def test_every_word_of_the_buttons_and_the_other_commands_work_at_a_terminal(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "script.py"
    script.write_text(CELLS)
    ours, theirs = pty.openpty()
    process = at_terminal(script, theirs)
    os.close(theirs)
    try:
        assert "forward of 0, line" in read_until(ours, "(hookscope) ")
        for typed, answer in DIALOGUE:
            os.write(ours, f"{typed}\n".encode())
            until = "(hookscope) " if typed != "Abort" else "DebugAbort: aborted from the debugger"
            output = read_until(ours, until).replace("\r", "")
            assert answer in output, (typed, output)
        assert process.wait(60) == 1
    finally:
        process.kill()
        process.wait()
        os.close(ours)


FORKS = """
import os
import numpy as np
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession

net = nn.ReLU()
with DebugSession(net, breaks=["."]) as session:
    child = os.fork()
    if child:
        print("worker ended with", os.waitpid(child, 0)[1])
    net(Tensor(np.ones(1, np.float32)))
    net(Tensor(np.ones(1, np.float32)))
    if not child:
        os._exit(len(session.skipped_pauses))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_worker_does_not_read_its_parents_terminal(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "script.py"
    script.write_text(FORKS)
    ours, theirs = pty.openpty()
    process = at_terminal(script, theirs)
    os.close(theirs)
    try:
        output = read_until(ours, "(hookscope) ")
        assert "was forked from the one that can be answered; kept in skipped_pauses" in output
        assert output.count("forked") == 1 and "worker ended with 512" in output  # two pauses were skipped
        for _ in range(2):
            os.write(ours, b"c\n")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_script_without_a_terminal_says_so_once_and_runs_through(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.run(
        [sys.executable, str(script)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=True
    )
    assert process.stdout == "result 2.0\n"
    assert process.stderr == (
        "hookscope: session: not paused at bprop of (root), line 10 (the bprop begins): "
        "standard input is not a terminal; kept in skipped_pauses\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in the standard library")
def test_a_terminal_that_is_gone_ends_the_pause_and_not_the_run(tmp_path: Path) -> None:
    import pty

    script, end = tmp_path / "script.py", tmp_path / "end"
    script.write_text(SCRIPT.replace('print("result",', f"open({str(end)!r}, 'w').write(str(").replace("[0])", "[0]))"))
    ours, theirs = pty.openpty()
    process = at_terminal(script, theirs)
    os.close(theirs)
    try:
        read_until(ours, "(hookscope) ")
    finally:
        os.close(ours)
    process.wait(60)
    assert end.read_text() == "2.0"


FAILING = """
import numpy as np
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession

class Twice(nn.Cell):
    def construct(self, x):
        doubled = x * 2.0
        raise ValueError("refused")

def train(net):
    rate = 0.5
    return net(Tensor(np.ones(3, np.float32))) * rate

net = Twice()
session = DebugSession(net, breaks=["exception"])
try:
    with session:
        train(net)
except ValueError as error:
    print("caught", error)
session.post_mortem()
print("after", session.shown is not None)
"""

# At the pause, and then in the post mortem.
LOOKS = [
    ("", ["(root), line 9: breakpoint .:exception", "ValueError: refused", "(root) got x: float32 3", "->    9"]),
    ("doubled.shape", ["(3,)"]),
    ("up", ["train, line 13", "->   13"]),
    ("rate", ["0.5"]),
    ("rate = 2.0", [""]),
    ("rate", ["2.0"]),
    ("stack", ["   <module>, line 19", "-> train, line 13", "   Twice.construct, line 9"]),
    ("down", ["Twice.construct, line 9"]),
    ("d", ["there is no function inside this one on the stack"]),
    ("c", ["caught refused", "(root), line 9: the run has failed", "ValueError: refused", "'quit' leaves"]),
    ("doubled", ["value= [ 2.0"]),
    ("u", ["train, line 13"]),
    ("rate", ["2.0"]),
    ("rate = 3.0", ["nothing can be set any more: the run has failed"]),
    ("step over", ["session is not paused"]),
]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in the standard library")
def test_an_exception_and_its_post_mortem_are_looked_at_by_typing(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    ours, theirs = pty.openpty()
    process = at_terminal(script, theirs)
    os.close(theirs)
    try:
        for typed, answers in LOOKS:
            if typed:
                os.write(ours, typed.encode() + b"\n")
            seen = read_until(ours, "(hookscope) ")
            assert all(answer in seen for answer in answers), (typed, seen)
        os.write(ours, b"quit\n")
        assert "after True" in read_until(ours, "after True")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
