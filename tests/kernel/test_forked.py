"""A process forked from the kernel has no page that could answer a pause."""

from __future__ import annotations

from kernel_driver import Kernel

WORKER = """
import os
import numpy as np
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
net = nn.ReLU()
with DebugSession(net, breaks=["."]) as session:
    child = os.fork()
    if not child:
        try:
            net(Tensor(np.ones(1, np.float32)))
            told = pause()
        finally:
            os._exit(len(session.skipped_pauses) + 10 * (told is False))
print("worker ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_worker_that_comes_to_a_breakpoint_goes_on(kernel: Kernel, link: str) -> None:
    done = kernel.run(WORKER)
    assert "worker ended with 11" in done.text
    assert kernel.run("print(1 + 1)").text == "2\n"
