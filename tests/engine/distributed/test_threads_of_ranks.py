"""The threads of a rank outlive an MPI error, and no caller waits for one that has ended. MPI is not needed."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from hookscope.engine.distributed import mailbox
from hookscope.engine.distributed.worker import Pending, Worker


class _Fails:
    """A communicator, and a request, whose MPI reports an error."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("MPI_ERR_PROC_FAILED")


def test_a_waiting_receive_gets_the_error_of_mpi() -> None:
    pytest.importorskip("mpi4py")
    waits = [Pending(f"receive {n}", "train.py:1", ranks=(1,)) for n in range(2)]
    like = np.zeros(1, np.float32)
    awaited = mailbox._Receivers(_Fails(), 1, 0, deque((pending, like) for pending in waits))
    assert mailbox._is_over(awaited)
    for number, pending in enumerate(waits):
        with pytest.raises(RuntimeError, match=rf"receive {number} \(train.py:1\): MPI_ERR_PROC_FAILED"):
            pending.wait()


def test_a_message_that_mpi_cannot_send_is_told_and_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    assert mailbox._is_over(mailbox._SentMessage(_Fails(), np.zeros(1, np.uint8), "send of x to rank 1 (train.py:2)"))
    assert capsys.readouterr().err == "hookscope: send of x to rank 1 (train.py:2): MPI_ERR_PROC_FAILED\n"


def test_what_is_asked_of_a_worker_that_has_ended_is_an_error_at_once() -> None:
    """As by a function that a script has registered with atexit before the ranks met."""
    worker = Worker("a test")
    done = worker.ask(Pending("before", ""), lambda: 7)
    worker.end()
    assert done.wait() == 7
    with pytest.raises(RuntimeError, match="after: the ranks have parted, this process ends"):
        worker.ask(Pending("after", ""), lambda: 8).wait()
