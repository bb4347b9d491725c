"""A system that has nothing of Linux's but what every system has: `hide()` takes the rest out of the standard library.

Names of `os`, `signal` and `socket`, whole modules, /proc and /sys, the C library's functions. Other libraries are
imported before: `bring_libraries`. As a plugin of pytest it does both.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib
import io
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
NAMES: dict[Any, tuple[str, ...]] = {
    os: (
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "O_PATH",
        "O_TMPFILE",
        "WNOHANG",
        "chown",
        "fchmod",
        "fchown",
        "fork",
        "forkpty",
        "getegid",
        "geteuid",
        "getgid",
        "getloadavg",
        "getpgid",
        "getpgrp",
        "getuid",
        "killpg",
        "memfd_create",
        "mkfifo",
        "pidfd_open",
        "posix_fadvise",
        "posix_fallocate",
        "posix_spawn",
        "register_at_fork",
        "sched_getaffinity",
        "sched_setaffinity",
        "sched_yield",
        "setpgid",
        "setsid",
        "statvfs",
        "sysconf",
        "uname",
        "wait",
        "waitid",
    ),
    signal: (
        "SIGALRM",
        "SIGCHLD",
        "SIGCONT",
        "SIGHUP",
        "SIGKILL",
        "SIGPIPE",
        "SIGSTOP",
        "SIGUSR1",
        "SIGUSR2",
        "alarm",
        "pthread_kill",
        "pthread_sigmask",
        "setitimer",
        "siginterrupt",
        "sigpending",
        "sigwait",
    ),
    socket: ("AF_UNIX", "SO_PEERCRED", "SO_REUSEPORT", "recv_fds", "send_fds", "socketpair"),
}
LIBRARIES = (
    "asyncio",
    "http.server",
    "multiprocessing.pool",
    "subprocess",
    "tempfile",
    "IPython.core.interactiveshell",
    "ipykernel.ipkernel",
    "ipywidgets",
    "ml_dtypes",
    "numba",
    "safetensors.numpy",
    "scipy.special",
)
FOLDERS = ("/proc/", "/sys/", "/dev/shm")


def hide() -> None:
    """Take away what is Linux's, or POSIX's."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it is an ImportError
    for module, names in NAMES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for owner, name in (
        (builtins, "open"),
        (io, "open"),
        (os, "open"),
        (os, "listdir"),
        (os, "stat"),
        (os, "readlink"),
    ):
        setattr(owner, name, _without_folders(getattr(owner, name)))
    ctypes.CDLL = _without_process(ctypes.CDLL)  # type: ignore[misc]


def _without_folders(function: Callable[..., Any]) -> Callable[..., Any]:
    def elsewhere(path: Any = ".", *arguments: Any, **keywords: Any) -> Any:
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(FOLDERS):
            raise FileNotFoundError(2, "no such file on this system", path)
        return function(path, *arguments, **keywords)

    return elsewhere


def _without_process(library: Any) -> Any:
    class Library(library):  # type: ignore[misc]
        def __init__(self, name: Any, *arguments: Any, **keywords: Any) -> None:
            if name is None:
                raise TypeError("there is no such library")  # as on Windows
            super().__init__(name, *arguments, **keywords)

    return Library


def bring_libraries() -> None:
    """Import what uses such names in parts that it chooses by the platform's name."""
    for name in LIBRARIES:
        importlib.import_module(name)


def pytest_sessionstart() -> None:
    """As a plugin: the tests, and what they import of Hookscope, have to do without."""
    bring_libraries()
    hide()
