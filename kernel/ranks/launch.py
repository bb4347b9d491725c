"""Launcher: starts the ranks, shows their output, and ends all when one fails.

It imports neither mpi4py nor the engine. When the run ends, by a rank's failure, Ctrl-C, SIGTERM or the death of
mpiexec, the guards give their ranks a moment for a clean end. Then the launcher, which adopts orphaned processes, kills
the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from hookscope.kernel.ranks.guard import GRACE, SOCKET
from hookscope.kernel.ranks.options import Plan
from hookscope.kernel.ranks.output import Screen, Stream
from hookscope.kernel.ranks.processes import adopt_orphans, descendants, kill_descendants, reap, signal_name

__all__ = ["run_ranks"]

_REFUSED = 2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HARD = GRACE + 0.5  # s after which the launcher kills processes that the guards did not
_LAST = 0.5  # s for reading pipes that a process outside the run holds open
_TAIL = 1 << 16  # bytes of mpiexec's own output that are kept


def run_ranks(plan: Plan, options: argparse.Namespace) -> int:
    """Run the script in many ranks.

    Args:
        plan: the number of ranks, and the destinations of their output.
        options: the options of `hookscope run`; those about the script are passed on.

    Returns:
        The exit status: that of the failed rank, else the first nonzero one.

    Raises:
        ValueError: the ranks cannot be started; the message says why.
    """
    if not os.path.isfile(options.script):
        print(f"hookscope run: there is no file {options.script!r}", file=sys.stderr)
        return 2
    if options.json == "-" and plan.ranks > 1:
        raise ValueError(f"--json writes on standard output for one rank, not for {plan.ranks}: give --json=FILE")
    if options.json is not None and not (options.check or options.stop_on):
        raise ValueError("--json writes the findings of --check: give that too")
    mpiexec = _mpiexec()
    label = not (options.json == "-" and plan.ranks == 1)
    if options.serve == "":
        options.serve = f"ranks-{os.getpid()}"
    return _Launch(plan, [_command(options, rank, plan.ranks) for rank in range(plan.ranks)], label).run(mpiexec)


def _mpiexec() -> str:
    folders = (os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin"))
    mpiexec = next((path for folder in folders if (path := shutil.which("mpiexec", path=folder))), None)
    mpiexec = mpiexec or shutil.which("mpiexec")
    install = "pip install 'hookscope[parallel]' mpich"
    if mpiexec is None:
        raise ValueError(f"many ranks are started by mpiexec, which is neither in {folders[0]} nor on PATH: {install}")
    if importlib.util.find_spec("mpi4py") is None:
        raise ValueError(f"many ranks need mpi4py, which {sys.executable} does not have: {install}")
    return mpiexec


def _command(options: argparse.Namespace, rank: int, ranks: int) -> list[str]:
    """Return the command of a rank, with the options about the script."""
    arguments = [f"--check={text}" for text in options.check]
    arguments += [f"--stop-on={text}" for text in options.stop_on]
    arguments += [f"--break={text}" for text in options.breaks]
    if options.serve is not None:
        arguments.append(f"--serve={options.serve}")
    if options.serve_address is not None:
        arguments.append(f"--serve-address={options.serve_address}")
    if options.json is not None:
        arguments.append(f"--json={_for_rank(options.json, rank) if ranks > 1 else options.json}")
    return [*_python(), "-m", "hookscope", "run", *arguments, "--", options.script, *options.arguments]


def _python() -> list[str]:
    """Return this interpreter with its options, as multiprocessing determines them."""
    return [sys.executable, *getattr(subprocess, "_args_from_interpreter_flags", list)()]


def _for_rank(file: str, rank: int) -> str:
    path = Path(file)
    return str(path.with_name(f"{path.stem}.{rank}{path.suffix}"))


def _environment(rank: int, ranks: int) -> dict[str, str]:
    """Return a rank's additions to the environment: as under msrun, its number and the number of ranks."""
    numbers = {"RANK_ID": str(rank), "DEVICE_ID": str(rank), "RANK_SIZE": str(ranks)}
    return {"PYTHONUNBUFFERED": "1", **numbers, **_threads(ranks, os.environ)}


def _threads(ranks: int, environment: Mapping[str, str]) -> dict[str, str]:
    if environment.get("OMP_NUM_THREADS"):
        return {}
    share = str(max(1, len(os.sched_getaffinity(0)) // ranks))
    return {name: share for name in _THREADS if not environment.get(name)}


def _environment_of_mpiexec() -> dict[str, str]:
    """Return this environment without variables of an enclosing job, restricted to this machine."""
    prefixes = ("PMI_", "PMIX_", "OMPI_COMM_WORLD_", "HYDRA_HOST_FILE", "HYDI_")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(prefixes)}
    environment |= {"HYDRA_LAUNCHER": "fork", "HYDRA_RMK": "user"}
    # A debugger often runs more ranks than cores; Open MPI rejects them by default.
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    return environment


@dataclass
class _Rank:
    number: int
    streams: dict[int, Stream]  # by the pipe's descriptor
    outputs: list[int]  # the rank's descriptors 1 and 2
    report: int  # a file in memory: unlimited, without a reader to wait for, and readable after the guard is killed
    connection: socket.socket | None = None
    received: bytes = b""
    status: int | None = None  # as in subprocess
    at: float = 0.0
    error: str = ""
    text: str = ""
    finished: bool = False
    lost: bool = False  # its guard was killed, and the rank with it
    clean: bool = False
    log: BinaryIO | None = None

    @property
    def failed(self) -> bool:
        return self.status not in (0, None) and not self.finished

    def record_end(self, status: int, at: float) -> None:
        """Record the rank's end, and read its report."""
        head, _, text = os.pread(self.report, os.fstat(self.report).st_size, 0).partition(b"\n")
        try:
            facts = json.loads(head) if head else {}
        except ValueError:  # it was killed while writing
            facts = {}
        self.status, self.at, self.text = status, facts.get("at", at), text.decode("utf-8", "replace")
        self.error, self.finished = facts.get("error", ""), facts.get("finished", False)


@dataclass
class _End:
    """The reason why the run was ended."""

    at: float
    signum: int | None = None  # received by the launcher
    killed_at: float = field(default=0.0)


class _Launch:
    def __init__(self, plan: Plan, commands: Sequence[Sequence[str]], labelled: bool) -> None:
        self.plan, self.commands = plan, commands
        self.screen = Screen(self._wait_to_write)
        self.ranks = [self._rank(number, labelled) for number in range(plan.ranks)]
        self.pipes = {descriptor: stream for rank in self.ranks for descriptor, stream in rank.streams.items()}
        self.unknown: list[tuple[socket.socket, bytearray]] = []  # guards that have not sent their rank
        self.poll = select.poll()
        self.wakeup, self.signals = socket.socketpair()
        self.folder = tempfile.TemporaryDirectory(prefix="hookscope-")  # accessible only to this user
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.mpiexec: subprocess.Popen[bytes] | None = None
        self.mpiexec_status: int | None = None
        self.mpiexec_wrote = b""
        self.mpiexec_output = -1
        self.end: _End | None = None
        self.ignored = [signum for signum in _ENDING if signal.getsignal(signum) == signal.SIG_IGN]
        self.spared = frozenset(descendants(os.getpid()))  # children of the program that became this process by exec

    def _rank(self, number: int, labelled: bool) -> _Rank:
        log = None
        if self.plan.log_dir is not None:
            try:
                os.makedirs(self.plan.log_dir, exist_ok=True)
                log = open(os.path.join(self.plan.log_dir, f"worker_{number}.log"), "wb", buffering=0)  # noqa: SIM115
            except OSError as error:
                raise ValueError(f"--log_dir {self.plan.log_dir}: {error.strerror}") from None
        streams, rank_ends = {}, []
        for descriptor in (1, 2):
            read_end, written_end = os.pipe()
            os.set_blocking(read_end, False)
            streams[read_end] = Stream(
                self.screen,
                descriptor,
                b"[%d] " % number if labelled else b"",
                visible=self.plan.shows(number),
                log=log,
                live=number == 0 and os.isatty(descriptor),
            )
            rank_ends.append(written_end)
        return _Rank(number, streams, rank_ends, os.memfd_create("hookscope-rank"), log=log)

    # Run

    def run(self, mpiexec: str) -> int:
        try:
            with self.folder:
                self._start(mpiexec, self.folder.name)
                while not self._is_over():
                    self._step()
            self._kill_the_rest()
            self._read_the_rest()
            return self._report()
        finally:
            signal.set_wakeup_fd(-1)
            for end in (self.listener, self.wakeup, self.signals):
                end.close()

    def _start(self, mpiexec: str, folder: str) -> None:
        folder_descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        self.listener.bind(f"/proc/self/fd/{folder_descriptor}/{SOCKET}")
        os.close(folder_descriptor)
        self.listener.listen(self.plan.ranks)
        self.listener.setblocking(False)
        for end in (self.wakeup, self.signals):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wakeup.fileno(), warn_on_full_buffer=False)
        for signum in (signal.SIGCHLD, *_ENDING):
            if signum not in self.ignored:
                signal.signal(signum, lambda *_: None)
        adopt_orphans()
        self.mpiexec_output, write_end = os.pipe()
        os.set_blocking(self.mpiexec_output, False)
        # In a session of its own, since the launcher handles Ctrl-C.
        command = [mpiexec, "-n", str(self.plan.ranks), *_python(), "-m", "hookscope.kernel.ranks.guard", folder]
        try:
            self.mpiexec = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                env=_environment_of_mpiexec(),
            )
        except OSError as error:
            raise ValueError(f"{mpiexec} cannot be started: {error.strerror}") from None
        finally:
            os.close(write_end)
        for descriptor in (self.signals.fileno(), self.listener.fileno(), self.mpiexec_output, *self.pipes):
            self.poll.register(descriptor, select.POLLIN)

    def _is_over(self) -> bool:
        if self.mpiexec_status is not None and all(rank.connection is None for rank in self.ranks):
            return True
        return self.end is not None and time.monotonic() > self.end.killed_at > 0

    def _step(self) -> None:
        now = time.monotonic()
        waits = [delay for stream in self.pipes.values() if (delay := stream.look(now)) is not None]
        if self.end is not None:
            waits.append(max(0.0, (self.end.killed_at or self.end.at + _HARD) - now))
        for descriptor, _ in self.poll.poll(min(waits) * 1000 + 1 if waits else None):
            if descriptor in self.pipes:
                self._read(descriptor)
            elif descriptor == self.mpiexec_output:
                self._read_mpiexec()
            elif descriptor == self.signals.fileno():
                self._take_signals()
            elif descriptor == self.listener.fileno():
                self._accept()
            else:
                self._receive_from(descriptor)
        if self.screen.broken:  # like a program whose reader is gone
            self._end(signal.SIGPIPE)
        self._go_on_ending()

    def _go_on_ending(self) -> None:
        if self.end is None or self.end.killed_at:
            return
        connected = [rank for rank in self.ranks if rank.connection is not None]
        if all(rank.clean for rank in connected) or time.monotonic() >= self.end.at + _HARD:
            for rank in connected:
                self._disconnect(rank)
            for connection, _ in self.unknown:  # treated by the guard as the launcher's end
                self.poll.unregister(connection)
                connection.close()
            self.unknown = []
            self.poll.unregister(self.listener)
            self.listener.close()
            # mpiexec ends when its guards have ended, but not if it has not started them yet. Its status matters if it
            # killed them.
            self.end.killed_at = time.monotonic() + (GRACE if any(rank.lost for rank in self.ranks) else GRACE / 4)

    def _end(self, signum: int | None = None) -> None:
        """End all ranks because of a signal, or because one failed."""
        if self.end is None:
            self.end = _End(time.monotonic(), signum)
            # Not SIGHUP: UCX, which MPI uses, prints diagnostics and continues on it.
            signal_to_send = signal.SIGINT if signum == signal.SIGINT else signal.SIGTERM
            for rank in self.ranks:
                self._send_end(rank, signal_to_send if os.fstat(rank.report).st_size else signal.SIGTERM)
        elif signum in _ENDING:
            for rank in self.ranks:  # a second request ends without a delay
                self._send_end(rank, signal.SIGKILL)

    def _send_end(self, rank: _Rank, signum: signal.Signals) -> None:
        if rank.connection is not None:
            with contextlib.suppress(OSError):
                rank.connection.sendall(json.dumps({"end": int(signum)}).encode() + b"\n")

    def _reap(self) -> None:
        ended, _ = reap()
        if self.mpiexec is not None and self.mpiexec.pid in ended:
            self.mpiexec.returncode = self.mpiexec_status = ended[self.mpiexec.pid]

    # Input

    def _take_signals(self) -> None:
        try:
            numbers = self.signals.recv(4096)
        except BlockingIOError:
            return
        if signal.SIGCHLD in numbers:
            self._reap()
            if self.mpiexec_status is not None:
                self._receive_pending()
                if any(rank.connection is not None for rank in self.ranks):
                    self._end()
        for signum in numbers:
            if signum in _ENDING:
                self._end(signum)

    def _receive_pending(self) -> None:
        """Read the guards' messages sent before mpiexec ended, whose signal may be seen first."""
        for rank in self.ranks:
            while rank.connection is not None:
                poll = select.poll()
                poll.register(rank.connection, select.POLLIN)
                if not poll.poll(0):
                    break
                self._hear_rank(rank)

    def _wait_to_write(self, descriptor: int) -> bool:
        """Wait until a descriptor is writable, handling signals; return False if a run that ends waits in vain."""
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        poll.register(self.signals, select.POLLIN)
        while True:
            remaining = None if self.end is None else max(0.0, self.end.at + _HARD + _LAST - time.monotonic())
            ready = dict(poll.poll(None if remaining is None else remaining * 1000))
            if self.signals.fileno() in ready:
                self._take_signals()
            if descriptor in ready:
                return True
            if not ready:
                return False

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        if data:
            self.pipes[descriptor].feed(data)
            return
        self.pipes.pop(descriptor).close()
        self.poll.unregister(descriptor)
        os.close(descriptor)

    def _read_mpiexec(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.mpiexec_output, 1 << 16)
            self.mpiexec_wrote = (self.mpiexec_wrote + data)[-_TAIL:]
            if not data:
                with contextlib.suppress(KeyError):
                    self.poll.unregister(self.mpiexec_output)

    def _accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        self.unknown.append((connection, bytearray()))
        self.poll.register(connection, select.POLLIN)

    def _receive_from(self, descriptor: int) -> None:
        for rank in self.ranks:
            if rank.connection is not None and rank.connection.fileno() == descriptor:
                self._hear_rank(rank)
                return
        for index, (connection, received) in enumerate(self.unknown):
            if connection.fileno() == descriptor:
                try:
                    data = connection.recv(1 << 16)
                except OSError:
                    data = b""
                received += data
                if not data or b"\n" in received:
                    del self.unknown[index]
                    self._greet(connection, bytes(received))
                return

    def _greet(self, connection: socket.socket, received: bytes) -> None:
        """Send a guard its rank's command and descriptors."""
        line, _, rest = received.partition(b"\n")
        number = json.loads(line)["rank"] if line else -1
        if not 0 <= number < len(self.ranks) or self.ranks[number].connection is not None or self.end is not None:
            self.poll.unregister(connection)
            connection.close()
            return
        rank = self.ranks[number]
        rank.connection, rank.received = connection, rest
        job = {
            "command": self.commands[number],
            "environment": _environment(number, self.plan.ranks),
            "ignored": [int(signum) for signum in self.ignored],
        }
        stdin = self._stdin() if number == 0 else os.open(os.devnull, os.O_RDONLY)
        with contextlib.suppress(OSError):  # the guard is gone, which reading detects
            socket.send_fds(connection, [b"\n"], [stdin, *rank.outputs, rank.report])
            connection.sendall(json.dumps(job).encode() + b"\n")
        for descriptor in (stdin, *rank.outputs):
            os.close(descriptor)
        rank.outputs = []
        if not any(rank.outputs for rank in self.ranks):  # all ranks have started; a killed launcher leaves no folder
            self.folder.cleanup()

    def _stdin(self) -> int:
        """Return the launcher's own standard input for rank 0, unless it is a terminal of another process group."""
        try:
            foreign = os.isatty(0) and os.tcgetpgrp(0) != os.getpgrp()
        except OSError:  # a terminal, but not of this session
            foreign = False
        with contextlib.suppress(OSError):  # it is closed
            if not foreign:
                return os.dup(0)
        return os.open(os.devnull, os.O_RDONLY)

    def _hear_rank(self, rank: _Rank) -> None:
        assert rank.connection is not None
        try:
            data = rank.connection.recv(1 << 16)
        except OSError:
            data = b""
        rank.received += data
        *lines, rank.received = rank.received.split(b"\n")
        for line in lines:
            self._take(rank, json.loads(line))
        if not data:
            self._disconnect(rank)
            if rank.status is None:
                rank.lost = True
                rank.record_end(-signal.SIGKILL, time.monotonic())
                self._end()

    def _take(self, rank: _Rank, message: Mapping[str, Any]) -> None:
        if message.get("clean"):
            rank.clean = True
            if not rank.failed:
                self._disconnect(rank)
            return
        rank.record_end(message["status"], message["at"])
        if rank.failed:
            self._end()

    def _disconnect(self, rank: _Rank) -> None:
        if rank.connection is not None:
            self.poll.unregister(rank.connection)
            rank.connection.close()
            rank.connection = None

    # End

    def _kill_the_rest(self) -> None:
        until = time.monotonic() + GRACE
        while kill_descendants(signal.SIGKILL, self.spared) and time.monotonic() < until:
            reap()
            time.sleep(0.005)
        if self.mpiexec is not None and self.mpiexec.returncode is None:  # it is reaped, so do not wait for it
            self.mpiexec.returncode = -signal.SIGKILL

    def _read_the_rest(self) -> None:
        """Read the remaining data of the pipes, which end with the run unless an outside process holds one."""
        for rank in self.ranks:
            for descriptor in rank.outputs:
                os.close(descriptor)
        until = time.monotonic() + _LAST
        while self.pipes and (remaining := until - time.monotonic()) > 0:
            poll = select.poll()
            for descriptor in self.pipes:
                poll.register(descriptor, select.POLLIN)
            for descriptor, _ in poll.poll(remaining * 1000):
                self._read(descriptor)
        for stream in self.pipes.values():
            stream.close()
        self._read_mpiexec()

    def _report(self) -> int:
        """Print the failure, its traceback first; return the exit status."""
        for rank in self.ranks:
            if rank.log is not None:
                with contextlib.suppress(OSError):
                    rank.log.write(rank.text.encode())
                    rank.log.close()
        # A rank that failed after the end began was ended by it.
        failed = [rank for rank in self.ranks if rank.failed and (self.end is None or rank.at <= self.end.at)]
        first = min(failed, key=lambda rank: rank.at, default=None)
        if first is None or (first.lost and not first.error and self.mpiexec_status is not None):
            return self._report_without_failure()
        lines = first.text.rstrip("\n").split("\n") if first.text else []
        self._say("".join(f"[{first.number}] {line}\n" for line in lines))
        status, summary = self._what_happened(first)
        others = [rank for rank in failed if rank is not first and rank.error]
        alike = [rank for rank in others if rank.error == first.error]
        parts = [summary]
        parts += [f"{_ranks_text(alike)} failed alike"] if alike else []
        parts += [f"{_ranks_text([rank])} too: {rank.error}" for rank in others if rank not in alike]
        self._say_ended(parts, [rank for rank in self.ranks if rank is not first and rank not in others])
        return status

    def _report_without_failure(self) -> int:
        """Print the end of a run in which no rank failed by itself; return the exit status."""
        statuses = [rank.status for rank in self.ranks]
        if self.end is not None and self.end.signum is not None:
            if all(status == 0 for status in statuses):
                return 0
            if self.end.signum != signal.SIGPIPE:
                self._say_ended([f"ended by {signal_name(self.end.signum)}"], self.ranks)
            return 128 + self.end.signum
        if self.end is None and None not in statuses:
            return next((status for status in statuses if status), 0)
        self._say(self.mpiexec_wrote.decode("utf-8", "replace"))
        code = self.mpiexec_status or 0
        summary = f"ended with exit status {code}" if code else "ended the run though no rank had failed"
        summary = f"was killed by {signal_name(-code)}" if code < 0 else summary
        missing = [rank for rank in self.ranks if rank.status is None]
        suffix = f" before it had started {_ranks_text(missing)}" if missing else ""
        self._say_ended([f"mpiexec {summary}{suffix}"], [rank for rank in self.ranks if rank not in missing])
        return 128 - code if code < 0 else code or 1

    def _what_happened(self, rank: _Rank) -> tuple[int, str]:
        status = rank.status or 0
        if rank.lost and rank.error:  # it had MPI end the ranks
            status = self.mpiexec_status or 1
        if rank.error and status > 0:
            return status, f"rank {rank.number} raised {rank.error.partition(':')[0]} (exit status {status})"
        if status < 0:
            name = signal_name(-status)
            return 128 - status, f"rank {rank.number} was killed by {name} (exit status {128 - status})"
        return status, f"rank {rank.number} ended with exit status {status}"

    def _say_ended(self, parts: list[str], ranks: Sequence[_Rank]) -> None:
        ended = [rank for rank in ranks if rank.status != 0 and not rank.finished]
        if ended:
            parts = [*parts, f"{_ranks_text(ended)} {'were' if len(ended) > 1 else 'was'} ended"]
        self._say(f"hookscope run: {'; '.join(parts)}\n")

    def _say(self, text: str) -> None:
        self.screen.write(2, text.encode("utf-8", "replace"))


def _ranks_text(ranks: Sequence[_Rank]) -> str:
    numbers = ", ".join(str(rank.number) for rank in ranks)
    return f"rank{'s' if len(ranks) > 1 else ''} {numbers}"
