"""Guard process that `mpiexec` starts for a rank: it starts the rank, reports its end, and ends its processes.

It is small, imports neither mpi4py nor the engine, and outlives the rank, so that a killed rank is reported too. All
processes of a rank stay descendants of the guard; when the launcher is gone, the guard ends them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from hookscope.kernel.ranks.processes import adopt_orphans, die_with_parent, kill_descendants, reap
from hookscope.kernel.ranks.script_end import REPORT_VARIABLE, rank_of_environment

__all__ = ["GRACE", "SOCKET", "main"]

SOCKET = "ranks"
GRACE = 1.0  # s for a clean end, before remaining processes are killed
_AGAIN = 0.02  # s between two searches for processes that were forked while their parents were killed


class _Guard:
    def __init__(self, connection: socket.socket, rank: int) -> None:
        self.connection, self.rank = connection, rank
        self.received = b""
        self.wakeup, self.signals = socket.socketpair()
        self.wakeup.setblocking(False)
        self.signals.setblocking(False)
        self.child = 0
        self.ended = False  # the rank itself
        self.failed = False  # or ended with a nonzero status
        self.told_clean = False
        self.deadline: float | None = None

    def start(self) -> None:
        """Request the rank's command from the launcher, and start it."""
        self.send(rank=self.rank)
        _, descriptors, _, _ = socket.recv_fds(self.connection, 1, 4)
        if len(descriptors) != 4:
            raise ConnectionError(errno.EPIPE, os.strerror(errno.EPIPE))
        job = self.receive_first()
        signal.set_wakeup_fd(self.wakeup.fileno())
        for signum in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, lambda *_: None)
        adopt_orphans()
        guard = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            self.become_rank(guard, job, descriptors)
        for descriptor in descriptors:  # held only by the rank, so that its end is detected
            os.close(descriptor)

    def become_rank(self, guard: int, job: dict[str, Any], descriptors: list[int]) -> None:
        try:
            die_with_parent(guard)
            os.setsid()  # so that signals reach the rank's children too
            for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(signum, signal.SIG_IGN if signum in job["ignored"] else signal.SIG_DFL)
            *standard, report = descriptors
            for number, descriptor in enumerate(standard):
                os.dup2(descriptor, number)
                os.close(descriptor)
            os.set_inheritable(report, True)
            os.environ.update(job["environment"])
            os.environ[REPORT_VARIABLE] = str(report)
            os.execv(job["command"][0], job["command"])
        except BaseException as error:
            os.write(2, f"hookscope run: {error}\n".encode(errors="replace"))
        finally:
            os._exit(127)

    def send(self, **message: Any) -> None:
        with contextlib.suppress(OSError):  # the launcher is gone, which reading detects
            self.connection.sendall(json.dumps(message).encode() + b"\n")

    def receive_first(self) -> dict[str, Any]:
        while b"\n" not in self.received:
            data = self.connection.recv(1 << 16)
            if not data:
                raise ConnectionError(errno.EPIPE, os.strerror(errno.EPIPE))
            self.received += data
        line, _, self.received = self.received.partition(b"\n")
        job: dict[str, Any] = json.loads(line)
        return job

    def watch(self) -> None:
        """Return when no process of the rank is left and, after a failure, the launcher has handled the other ranks.

        If this process ended earlier, mpiexec would end the others in its own way.
        """
        poll = select.poll()
        poll.register(self.signals, select.POLLIN)
        poll.register(self.connection, select.POLLIN)
        disconnected = False
        while True:
            ready = poll.poll(None if (remaining := self.time_left()) is None else remaining * 1000)
            if self.signals.fileno() in dict(ready):
                for signum in self.signals.recv(4096):
                    if signum == signal.SIGINT:
                        self.forward(signum)
                    elif signum in (signal.SIGTERM, signal.SIGHUP):
                        self.end(signal.SIGTERM)
            if self.connection.fileno() in dict(ready):
                disconnected = not self.commands()
                if disconnected:
                    poll.unregister(self.connection)
                    self.end(signal.SIGTERM)
            if not self.reap() and self.ended:
                if disconnected or not self.failed:
                    return
                if not self.told_clean:
                    self.told_clean = True
                    self.send(clean=True)
                self.deadline = None
            elif self.deadline is not None and time.monotonic() >= self.deadline:
                kill_descendants(signal.SIGKILL)
                self.deadline = time.monotonic() + _AGAIN

    def time_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def commands(self) -> bool:
        """Execute commands from the launcher; return whether it is still connected."""
        try:
            data = self.connection.recv(1 << 16)
        except OSError:
            return False
        *lines, self.received = (self.received + data).split(b"\n")
        for line in lines:
            self.end(json.loads(line)["end"])
        return bool(data)

    def end(self, signum: int) -> None:
        """End the rank; remaining processes are killed after the grace period, at once for SIGKILL."""
        self.forward(signum)
        until = time.monotonic() + (0 if signum == signal.SIGKILL else GRACE)
        self.deadline = until if self.deadline is None else min(until, self.deadline)

    def forward(self, signum: int) -> None:
        if not self.ended:
            try:
                os.killpg(self.child, signum)
            except (ProcessLookupError, PermissionError):
                os.kill(self.child, signal.SIGKILL)  # it leads no group yet, so no code of the script has run

    def reap(self) -> bool:
        """Record processes that ended; return whether any is left."""
        ended, remaining = reap()
        if self.child in ended:
            self.ended = True
            status = ended[self.child]
            self.failed = status != 0
            self.send(status=status, at=time.monotonic())
            if remaining:
                kill_descendants(signal.SIGTERM)
                until = time.monotonic() + GRACE
                self.deadline = until if self.deadline is None else min(until, self.deadline)
        return remaining


def main(folder: str) -> None:
    """Guard one rank.

    Args:
        folder: the launcher's private folder, which contains its socket.
    """
    # If a part of mpiexec is killed, MPI no longer works.
    die_with_parent(os.getppid(), signal.SIGTERM)
    rank = rank_of_environment()
    if rank is None:
        sys.exit("hookscope run: this mpiexec tells its processes no rank; mpiexec of MPICH and Open MPI does")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # By the folder's descriptor, since the path of a socket is limited in length.
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        connection.connect(f"/proc/self/fd/{descriptor}/{SOCKET}")
        os.close(descriptor)
        guard = _Guard(connection, rank)
        guard.start()
    except OSError as error:
        with contextlib.suppress(OSError):  # it was killed before it could
            os.unlink(os.path.join(folder, SOCKET))
            os.rmdir(folder)
        sys.exit(f"hookscope run: the launcher has ended ({error.strerror})")
    guard.watch()


if __name__ == "__main__":
    main(sys.argv[1])
