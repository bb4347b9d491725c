"""A served process: who may connect, which thread serves requests, and the end of a pause."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zmq

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.remote import Card, Remote, RemoteError, RemotePauser, RequestService
from hookscope.engine.tape import progress
from tests.engine.debug.remote.fuzz import fuzz


class Process:
    """This process as a served one, with its messages about refused connections."""

    def __init__(self, folder: Path, address: str | None = None) -> None:
        self.lines: list[str] = []
        self.served = RequestService("a test", folder=folder, address=address, say=self.lines.append)
        self.threads: list[str] = []
        self.served.on("where", self._where)
        self.served.on("where at once", self._where, at_once=True)
        self.served.on("double", lambda client, message, buffers: message["x"] * 2, at_once=True)
        self.served.open()
        self.messages: list[dict[str, object]] = []
        self.remotes: list[Remote] = []

    def _where(self, client: bytes, message: dict[str, object], buffers: list[memoryview]) -> str:
        return threading.current_thread().name

    def look(self, card: Card | None = None) -> Remote:
        remote = Remote(card or self.served.card, lambda message, buffers: self.messages.append(message))
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
    assert process.served.wait(answer.done, timeout=60.0)
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
    until(lambda: [message["type"] for message in process.messages] == ["paused", "resumed"])


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
    requests = [(number, remote.ask("double", x=number)) for number in range(50) for remote in (first, second)]
    assert all(answer.result(10.0) == 2 * number for number, answer in requests)


def test_an_observer_is_notified_of_the_end(process: Process) -> None:
    remote = process.look()
    remote.get("hello")
    waits = remote.ask("where")
    process.served.close()
    with pytest.raises(RemoteError, match="rank 0 has ended"):
        waits.result(10.0)
    with pytest.raises(RemoteError, match="rank 0 has ended"):
        remote.get("hello")


# Reasons to end, and reasons not to


def descriptors() -> dict[int, str]:
    """Return the open files of this process, by their numbers."""
    files = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            files[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return files


def test_a_connection_that_has_ended_writes_into_no_file_of_the_users(process: Process, tmp_path: Path) -> None:
    """Files that are opened afterwards get the numbers of the descriptors that it closed."""
    before = set(descriptors())
    remote = process.look()
    remote.get("hello")
    process.served.close()
    remote._thread.join(10.0)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open(tmp_path / f"{n}.bin", "w+b", buffering=0)) for n in range(60)]
        assert {file.fileno() for file in files} - before
        remote.tell("anything")
        remote.ask("anything")
        remote.leave()
        process.served.tell({"type": "anything"}, to=b"nobody")
        process.served._server.send(b"nobody", {"type": "anything"})
        process.served.close()
        assert [os.fstat(file.fileno()).st_size for file in files] == [0] * len(files)


def test_a_request_while_a_connection_ends_gets_one_answer(process: Process) -> None:
    """From many threads: each future ends once, by a value or by the error."""
    remote = process.look()
    remote.get("hello")
    answers: list[Future[object]] = []
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            for number in range(300):
                answers.append(remote.ask("double", x=number))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    remote.leave()
    for thread in threads:
        thread.join()
    assert not failed
    for answer in answers:
        assert answer.exception(10.0) is None or isinstance(answer.exception(), RemoteError)
    assert len(answers) == 1200


def test_looking_and_serving_leave_no_descriptor_and_no_thread(tmp_path: Path) -> None:
    def once(index: int) -> None:
        process = Process(tmp_path / f"{index}")
        remote = process.look()
        remote.get("hello")
        remote.leave()
        process.served.close()

    once(0)
    before, threads = len(descriptors()), threading.active_count()
    for position in range(1, 6):
        once(position)
    assert (len(descriptors()), threading.active_count()) == (before, threads)


class _Broken:
    """A standard error stream whose reader is gone, or that is closed."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def write(self, text: str) -> int:
        raise self._error

    flush = write


@pytest.mark.parametrize(
    "stream", [None, _Broken(BrokenPipeError()), _Broken(ValueError("closed")), _Broken(RuntimeError("a user's"))]
)
def test_a_stranger_ends_nothing_where_lines_cannot_be_told(
    stream: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(tmp_path / "sessions")
    served = RequestService("a run", folder=tmp_path / "told")
    served.on("double", lambda client, message, buffers: message["x"] * 2, at_once=True)
    try:
        monkeypatch.setattr(sys, "stderr", stream)
        public, secret = (key.decode() for key in zmq.curve_keypair())
        refused(process.look(replace(served.card, client_key=public, client_secret=secret)))
        until(lambda: served._server._next_line)  # a line about it was written, or lost
        assert process.look(served.card).get("double", x=2) == 4
    finally:
        monkeypatch.undo()
        served.close()
        for remote in process.remotes:
            remote.leave()
        process.served.close()


def test_a_line_that_cannot_be_told_and_a_request_that_fails_anyhow_end_nothing(tmp_path: Path) -> None:
    class UnspeakableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def nested(*_: object) -> object:
        value: list[object] = []
        for _ in range(100_000):
            value = [value]
        return value

    def fails(*_: object) -> object:
        raise UnspeakableError

    def says_much(*_: object) -> object:
        raise ValueError("x" * (20 << 20))

    def not_told(line: str) -> None:
        raise OSError(line)

    served = RequestService("a run", folder=tmp_path / "sessions", say=not_told)
    for name, act in {"nested": nested, "fails": fails, "says much": says_much}.items():
        served.on(name, act, at_once=True)
    remote = Remote(served.card, lambda message, buffers: None)
    try:
        told = {"nested": "RecursionError", "fails": "UnspeakableError", "says much": "ValueError: xxx"}
        for name, error in told.items():
            with pytest.raises(RemoteError, match=error):
                remote.get(name)
        served._server._refused = 1  # a line is due
        assert remote.get("hello")["pid"] == os.getpid()
    finally:
        remote.leave()
        served.close()


def test_a_pause_ends_when_the_thread_that_serves_has_failed(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = process.look()
    remote.get("hello")

    def fails(*_: object) -> None:
        raise RuntimeError("the socket is at fault")

    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    net = nn.Dense(2, 2)
    session = DebugSession(net, breaks=[".:forward"], pauser=RemotePauser(process.served))

    def break_server(event: str) -> None:
        if event == "paused":
            monkeypatch.setattr(process.served._server, "_round", fails)
            process.served._server._bell.ring()

    session.observe(break_server)
    with session:
        net(Tensor(np.ones((1, 2), np.float32)))
    assert process.served.clients == []


def test_an_observer_that_does_not_read_gets_no_more_messages_and_others_do(
    process: Process, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Such as a stopped kernel: messages to it would otherwise fill the memory of the run."""
    monkeypatch.setattr("hookscope.engine.debug.remote.server._MARK", 1 << 16)
    monkeypatch.setattr("hookscope.engine.debug.remote.server._MAX_BACKLOG", 4 << 20)
    card, served = process.served.card, process.served
    reads = process.look()
    reads.get("hello")
    context = zmq.Context()
    slow = context.socket(zmq.DEALER)
    request.addfinalizer(lambda: (slow.close(0), context.term()))
    slow.curve_serverkey = card.server_key.encode()
    slow.curve_publickey, slow.curve_secretkey = card.client_key.encode(), card.client_secret.encode()
    slow.connect(card.address)
    slow.send_json({"type": "hello", "id": 1})
    until(lambda: len(served.clients) == 2)
    for count in range(1, 500):
        served.tell({"type": "anything"}, [bytes(1 << 16)])
        until(lambda count=count: len(process.messages) == count)
        if len(served.clients) == 1:
            break
    assert count * (1 << 16) >= 4 << 20
    assert reads.get("double", x=3) == 6 and process.lines[-1].endswith("MiB unread, and gets no more messages")
    kinds = []
    while slow.poll(2000) and kinds[-1:] != ["ended"]:
        kinds.append(json.loads(slow.recv_multipart()[0])["type"])
    assert kinds[-1] == "ended" and kinds.count("anything") == count


def test_an_observer_that_reads_slowly_gets_all_messages(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookscope.engine.debug.remote.server._MARK", 1 << 16)
    monkeypatch.setattr("hookscope.engine.debug.remote.server._MAX_BACKLOG", 1 << 20)
    remote = process.look()
    remote.get("hello")
    for number in range(200):  # twelve times as much
        process.served.tell({"type": "anything", "number": number}, [bytes(1 << 16)])
        if number % 4 == 0:  # the next answer shows how much was read: twice four pieces are not too much
            assert remote.get("double", x=1) == 2
    until(lambda: len(process.messages) == 200)
    assert [message["number"] for message in process.messages] == list(range(200))
    assert len(process.served.clients) == 1


@pytest.mark.parametrize("at", [None, "1", -1, 1 << 70, 1.5, True, []])
def test_a_wrong_answer_how_far_it_has_read_is_passed_over(process: Process, at: object) -> None:
    remote = process.look()
    remote.tell("marked", at=at)
    assert remote.get("double", x=1) == 2
    assert all(flow.backlog >= 0 for flow in process.served._server._flows.values())


def test_a_forked_process_takes_nothing_from_the_one_that_serves(process: Process) -> None:
    child = os.fork()
    if child == 0:
        try:
            process.served.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert process.served._card_path is not None and process.served._card_path.exists()
    assert process.look().get("double", x=1) == 2


# Security


def refused(remote: Remote) -> bool:
    with pytest.raises(RemoteError):
        remote.get("hello", timeout=1.0)
    return True


def test_a_wrong_key_is_refused_with_one_line_and_others_go_on(process: Process) -> None:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    card = process.served.card
    assert refused(process.look(replace(card, client_key=public, client_secret=secret)))
    until(lambda: len(process.lines) == 1)
    assert process.lines == ["a connection or a message was refused: not with the right key, or no message"]
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
    until(lambda: bool(process.lines), 15.0)
    assert counted.sent == 3000
    assert process.look().get("double", x=1) == 2
    assert process.served.wait(lambda: True)


def test_more_requests_than_can_wait_are_refused_and_those_of_who_left_are_dropped(process: Process) -> None:
    first, second = process.look(), process.look()
    for remote in (first, second):
        remote.get("hello")
    requests = [first.ask("where") for _ in range(1500)]
    until(lambda: sum(answer.done() for answer in requests) == 500)
    with pytest.raises(RemoteError, match="1000 requests wait already: it is busy"):
        requests[-1].result()
    first.leave()
    until(lambda: len(process.served.clients) == 1)
    answer = second.ask("where")
    assert process.served.wait(answer.done, timeout=60.0)
    assert answer.result() == threading.current_thread().name
