"""Checks of several ranks that wait: their reports, their work meanwhile, and how they synchronize again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from hookscope.engine import Tensor, mint, ops
from hookscope.engine.communication import create_group, destroy_group
from hookscope.engine.distributed import synchronization
from hookscope.engine.distributed.waiting import RankState, rank_state
from hookscope.engine.distributed.worker import set_while_waiting
from hookscope.engine.distributed.world import world

ONE = Tensor([1.0])


def states_when(waits: Callable[[RankState], bool]) -> list[RankState]:
    """Return a list that gets this rank's state, as another thread sees it, once it satisfies a condition."""
    states: list[RankState] = []

    def look() -> None:
        deadline = time.monotonic() + 30
        while not states and time.monotonic() < deadline:
            now = rank_state()
            if waits(now):
                states.append(now)
            time.sleep(0.001)

    threading.Thread(target=look, daemon=True).start()
    return states


def check_a_rank_tells_what_it_waits_for_and_where(rank: int, size: int) -> None:
    states = states_when(lambda now: now["waits"] is not None)
    if rank == 0:
        time.sleep(0.3)
    assert float(ops.AllReduce()(ONE)[0]) == size
    if rank:
        (now,) = states
        waits = now["waits"]
        assert waits is not None
        assert waits["what"].startswith("all_reduce of sum, float32 [1] in group")
        assert "checks_waiting.py" in waits["line"]
        assert waits["ranks"] == list(range(size))
        assert waits["number"] == now["requests"][waits["group"]]
    assert rank_state()["waits"] is None


def check_a_receive_waits_for_its_sender(rank: int, size: int) -> None:
    if rank == 0:
        states = states_when(lambda now: now["waits"] is not None)
        into = Tensor([0.0])
        mint.distributed.recv(into, 1)
        assert states[0]["waits"] is not None
        assert (states[0]["waits"]["group"], states[0]["waits"]["ranks"]) == ("", [1])
        assert float(into[0]) == 5.0
    elif rank == 1:
        time.sleep(0.3)
        mint.distributed.send(Tensor([5.0]), 0)


def check_something_else_is_done_while_a_rank_waits(rank: int, size: int) -> None:
    log: list[str] = []
    set_while_waiting(lambda: log.append(threading.current_thread().name))
    try:
        if rank == 0:
            time.sleep(0.3)
        assert float(ops.AllReduce()(ONE)[0]) == size
    finally:
        set_while_waiting(None)
    if rank:
        assert set(log) == {threading.main_thread().name}


def check_what_is_raised_meanwhile_leaves_the_waiting_and_the_exchange_goes_on(rank: int, size: int) -> None:
    def leave() -> None:
        raise KeyboardInterrupt

    if rank:
        set_while_waiting(leave)
        try:
            with pytest.raises(KeyboardInterrupt):
                ops.AllReduce()(ONE)
        finally:
            set_while_waiting(None)
    else:
        time.sleep(0.3)
        ops.AllReduce()(ONE)
    synchronization.synchronize("the check")
    assert float(ops.AllReduce()(ONE)[0]) == size


def check_ranks_are_in_step_after_one_asked_for_more(rank: int, size: int) -> None:
    if rank == 0:
        for _ in range(3):
            with pytest.raises(RuntimeError, match="do not do the same: rank 0: all_reduce"):
                ops.AllReduce()(ONE)
    synchronization.synchronize("the check")
    assert float(ops.AllReduce()(ONE)[0]) == size


def check_ranks_are_in_step_in_groups_too(rank: int, size: int) -> None:
    create_group("pair", [0, 1])
    if rank == 1:
        with pytest.raises(RuntimeError, match="do not do the same"):
            ops.AllReduce(group="pair")(ONE)
    synchronization.synchronize("the check")
    if rank < 2:
        assert float(ops.AllReduce(group="pair")(ONE)[0]) == 2
    destroy_group("pair")


def check_an_interrupted_receive_takes_no_message_of_later(rank: int, size: int) -> None:
    def leave() -> None:
        raise KeyboardInterrupt

    into = Tensor([0.0])
    if rank == 0:
        set_while_waiting(leave)
        try:
            with pytest.raises(KeyboardInterrupt):
                mint.distributed.recv(Tensor([0.0]), 1)
        finally:
            set_while_waiting(None)
    synchronization.synchronize("the check")
    if rank == 0:
        mint.distributed.recv(into, 1)
        assert float(into[0]) == 7.0
    elif rank == 1:
        mint.distributed.send(Tensor([7.0]), 0)
    synchronization.synchronize("the check")


def check_a_receive_that_is_given_up_ends_with_an_error_and_ranks_go_on(rank: int, size: int) -> None:
    if rank == 0:
        threading.Timer(0.3, synchronization.give_up, ["nobody sends"]).start()
        with pytest.raises(RuntimeError, match="nobody sends"):
            mint.distributed.recv(Tensor([0.0]), 1)
    synchronization.synchronize("the check")
    assert not world().broken
    assert float(ops.AllReduce()(ONE)[0]) == size


def check_giving_up_where_nothing_is_waited_for_does_nothing(rank: int, size: int) -> None:
    synchronization.give_up("nothing")
    assert not world().broken
    assert float(ops.AllReduce()(ONE)[0]) == size
