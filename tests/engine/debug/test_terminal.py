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


def read_until(terminal: int, text: str) -> str:
    seen = ""
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"no {text!r} in {seen!r}"
        seen += os.read(terminal, 4096).decode()
    return seen


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in the standard library")
def test_a_script_in_a_terminal_is_stepped_by_typing(tmp_path: Path) -> None:
    import pty

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, str(script)], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        assert "the bprop of (root) begins" in read_until(ours, "(hookscope) ")
        os.write(ours, b"n\n")
        assert "return (slope,)" in read_until(ours, "(hookscope) ")
        os.write(ours, b"slope = slope * 5.0\n")
        read_until(ours, "(hookscope) ")
        os.write(ours, b"c\n")
        assert "result 10.0" in read_until(ours, "result 10.0")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_script_without_a_terminal_says_so_once_and_runs_through(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "result 2.0\n"
    assert done.stderr == (
        "hookscope: session: not paused (the bprop of (root) begins): standard input is not a terminal; "
        "kept in skipped_pauses\n"
    )
