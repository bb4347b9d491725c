"""A process that is served: who may speak to it, where what is asked is done, and what becomes of a pause."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zmq

from hookscope.engine import Tensor, nn
from hookscope.engine.core import progress
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.remote import Card, Remote, RemoteError, RemotePauser, Served
from tests.engine.debug.remote.fuzz import fuzz


class Process:
    """A served process that is this one, with its lines about what was refused."""

    def __init__(self, folder: Path, address: str | None = None) -> None:
        self.said: list[str] = []
        self.served = Served("a test", folder=folder, address=address, say=self.said.append)
        self.threads: list[str] = []
        self.served.on("where", self._where)
        self.served.on("where at once", self._where, at_once=True)
        self.served.on("double", lambda client, message, buffers: message["x"] * 2, at_once=True)
        self.served.open()
        self.told: list[dict[str, object]] = []
        self.remotes: list[Remote] = []

    def _where(self, client: bytes, message: dict[str, object], buffers: list[memoryview]) -> str:
        return threading.current_thread().name

    def look(self, card: Card | None = None) -> Remote:
        remote = Remote(card or self.served.card, lambda message, buffers: self.told.append(message))
        self.remotes.append(remote)
        return remote


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path / "sessions")
    yield process
    for remote in process.remotes:
        remote.leave()
    process.served.close()
    progress.answer_with(None)


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_what_only_reads_is_answered_at_once_and_the_rest_where_the_users_code_waits(process: Process) -> None:
    remote = process.look()
    assert remote.get("where at once") == "hookscope server"
    answer = remote.ask("where")
    time.sleep(0.05)
    assert not answer.done()
    assert process.served.wait(answer.done, timeout=10.0)
    assert answer.result() == threading.current_thread().name


def test_what_is_asked_is_done_at_the_safe_points_of_a_run_and_in_nothing_else(process: Process) -> None:
    remote = process.look()
    process.served.answer_at_safe_points()
    net = nn.Dense(2, 2)
    answer = remote.ask("where")
    until(lambda: process.served._inbox)
    assert not answer.done()
    with DebugSession(net):
        net(Tensor(np.ones((1, 2), np.float32)))
    assert answer.result(10.0) == threading.current_thread().name


def test_an_unknown_request_and_one_that_fails_are_told_to_who_asked(process: Process) -> None:
    remote = process.look()
    with pytest.raises(RemoteError, match="there is no request 'nothing'"):
        remote.get("nothing")
    with pytest.raises(RemoteError, match="KeyError: 'x'"):
        remote.get("double")
    assert remote.get("double", x=4) == 8


def test_a_pause_is_answered_by_who_looks(process: Process) -> None:
    remote = process.look()
    remote.get("hello")
    net = nn.Dense(2, 2)
    session = DebugSession(net, breaks=[".:forward"], pauser=RemotePauser(process.served))
    process.served.on("resume", lambda client, message, buffers: session.resume("continue"))
    with session:
        answers = []
        unsubscribe = session.observe(lambda event: answers.append(remote.ask("resume")) if event == "paused" else None)
        net(Tensor(np.ones((1, 2), np.float32)))
        unsubscribe()
    assert len(answers) == 1
    until(lambda: [message["type"] for message in process.told] == ["paused", "resumed"])


def test_without_anybody_who_looks_a_pause_is_noted_and_the_run_goes_on(process: Process) -> None:
    net = nn.Dense(2, 2)
    with DebugSession(net, breaks=[".:forward"], pauser=RemotePauser(process.served)) as session:
        net(Tensor(np.ones((1, 2), np.float32)))
    assert len(session.skipped_pauses) == 1


LOOK = """
import sys, time
from pathlib import Path
from hookscope.engine.debug.remote import Remote, read_card
remote = Remote(read_card(Path(sys.argv[1])), print)
remote.get("hello")
print("looks", flush=True)
time.sleep(60)
"""


def test_a_pause_ends_when_the_last_who_looked_is_killed(process: Process) -> None:
    card = process.served._card_path
    looks = subprocess.Popen([sys.executable, "-c", LOOK, str(card)], stdout=subprocess.PIPE, text=True)
    try:
        assert looks.stdout is not None and looks.stdout.readline() == "looks\n"
        net = nn.Dense(2, 2)
        session = DebugSession(net, breaks=[".:forward"], pauser=RemotePauser(process.served))
        session.observe(lambda event: looks.kill() if event == "paused" else None)
        with session:
            net(Tensor(np.ones((1, 2), np.float32)))
    finally:
        looks.kill()
        looks.communicate()
    assert process.served.clients == []


def test_two_can_look_and_each_gets_its_own_answers(process: Process) -> None:
    first, second = process.look(), process.look()
    asked = [(number, remote.ask("double", x=number)) for number in range(50) for remote in (first, second)]
    assert all(answer.result(10.0) == 2 * number for number, answer in asked)


def test_who_looks_hears_of_the_end(process: Process) -> None:
    remote = process.look()
    remote.get("hello")
    waits = remote.ask("where")
    process.served.close()
    with pytest.raises(RemoteError, match="rank 0 has ended"):
        waits.result(10.0)
    with pytest.raises(RemoteError, match="rank 0 has ended"):
        remote.get("hello")


# Security


def refused(remote: Remote) -> bool:
    with pytest.raises(RemoteError):
        remote.get("hello", timeout=1.0)
    return True


def test_a_wrong_key_is_refused_with_one_line_and_others_go_on(process: Process) -> None:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    card = process.served.card
    assert refused(process.look(replace(card, client_key=public, client_secret=secret)))
    until(lambda: len(process.said) == 1)
    assert process.said == ["a connection or a message was refused: not with the right key, or no message"]
    assert process.look().get("double", x=1) == 2


def test_another_servers_key_is_refused(process: Process) -> None:
    public, _ = (key.decode() for key in zmq.curve_keypair())
    assert refused(process.look(replace(process.served.card, server_key=public)))
    assert process.look().get("double", x=1) == 2


def test_without_curve_nothing_is_heard(process: Process) -> None:
    context = zmq.Context()
    dealer = context.socket(zmq.DEALER)
    dealer.connect(process.served.card.address)
    dealer.send_json({"type": "double", "id": 1, "x": 1})
    assert not dealer.poll(300)
    context.destroy(linger=0)
    assert process.look().get("double", x=1) == 2


def test_a_connection_that_speaks_garbage_is_refused_and_the_run_goes_on(process: Process, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    path = process.served.card.address.removeprefix("ipc://")
    for size in (0, 1, 9, 64, 5000):
        with socket.socket(socket.AF_UNIX) as plain:
            plain.connect(path)
            plain.sendall(b"\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE"[: generator.integers(0, 17)] + generator.bytes(size))
    assert process.look().get("double", x=1) == 2


def test_it_listens_on_the_loopback_where_it_is_told_to(tmp_path: Path) -> None:
    process = Process(tmp_path / "sessions", "tcp://127.0.0.1:*")
    assert process.served.card.address.startswith("tcp://127.0.0.1:")
    remote = process.look()
    assert remote.get("double", x=1) == 2
    remote.leave()
    process.served.close()


def test_a_socket_in_a_folder_with_a_long_path_is_put_elsewhere(tmp_path: Path) -> None:
    process = Process(tmp_path / ("long" * 30))
    remote = process.look()
    assert remote.get("double", x=1) == 2
    remote.leave()
    process.served.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_even_connect(process: Process) -> None:
    path = process.served.card.address.removeprefix("ipc://")
    code = f"import os, socket; os.setuid(65534); socket.socket(socket.AF_UNIX).connect({path!r})"
    tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "PermissionError" in tried.stderr


def test_fuzzed_messages_with_the_right_key_do_nothing_but_be_refused(process: Process) -> None:
    counted = fuzz(process.served.card, 3000, seed=5)
    until(lambda: bool(process.said), 15.0)
    assert counted.sent == 3000
    assert process.look().get("double", x=1) == 2
    assert process.served.wait(lambda: True)


def test_more_requests_than_can_wait_are_refused_and_those_of_who_left_are_dropped(process: Process) -> None:
    first, second = process.look(), process.look()
    for remote in (first, second):
        remote.get("hello")
    asked = [first.ask("where") for _ in range(1500)]
    until(lambda: sum(answer.done() for answer in asked) == 500)
    with pytest.raises(RemoteError, match="1000 requests wait already: it is busy"):
        asked[-1].result()
    first.leave()
    until(lambda: len(process.served.clients) == 1)
    answer = second.ask("where")
    assert process.served.wait(answer.done, timeout=5.0)
    assert answer.result() == threading.current_thread().name
