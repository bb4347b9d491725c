"""Hook functions written in a panel: compilation in the user's namespace, and a log of their output and errors.

The output of a running hook goes to the panel and not to the running cell, since a hook outlives the cell that attached
it. The output of other threads is unchanged.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any, NamedTuple, TypedDict

from hookscope.widgets import texts

__all__ = ["MAX_ENTRIES", "Entry", "Log", "Written", "compile_hook", "error_text", "reporting", "written_of"]

MAX_ENTRIES = 200
_MAX_CHARACTERS = 20_000
_MAX_ENTRY = 2_000
_numbers = itertools.count(1)
_FILE = "<hook "
_WRITTEN = "_hookscope_written"


class Written(NamedTuple):
    """A hook that was written in a panel: the function, its source, and the number in its file name."""

    function: Callable[..., Any]
    source: str
    number: int

    @property
    def first_line(self) -> int:
        """The line in which the function begins; 0 if it is unknown."""
        code = getattr(self.function, "__code__", None)
        return code.co_firstlineno if code is not None and code.co_filename == _file(self.number) else 0


class Position(NamedTuple):
    """A line of the hook with this number; zeros for none."""

    number: int = 0
    line: int = 0


_NO_POSITION = Position()


def _file(number: int) -> str:
    return f"{_FILE}{number}>"


def compile_hook(text: str, namespace: dict[str, Any]) -> Written:
    """Run a text as a notebook cell would be run, and return the last function that it defines.

    Raises:
        SyntaxError: the text is not valid Python.
        ValueError: it defines no function.
        Exception: any exception raised by the text.
    """
    number = next(_numbers)
    filename = _file(number)
    tree = ast.parse(text, filename)
    code = compile(tree, filename, "exec")
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not names:
        raise ValueError("the text must define the hook: a function, def NAME(...):")
    # Tracebacks and the stepper read the source from here, as for a notebook's cell.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(code, namespace)  # the user's own text, written in this session
    return Written(namespace[names[-1]], text, number)


def reporting(written: Written, where: str, log: Log) -> Callable[..., Any]:
    """Return the hook wrapped so that its output and exceptions are logged; it returns and raises the same."""
    function = written.function

    @functools.wraps(function)
    def hook(*args: Any) -> Any:
        try:
            with _printing_to(functools.partial(log.add, where)):
                return function(*args)
        except Exception as error:  # logged here; the engine propagates it
            position = _position_of(error)
            source = linecache.getline(_file(position.number), position.line).strip()
            line = f"\nline {position.line}: {source}" if position.line else ""
            log.add(where, f"{type(error).__name__}: {error}{line}", failed=True, position=position)
            raise

    setattr(hook, _WRITTEN, written)
    return hook


def error_text(error: BaseException) -> tuple[str, int]:
    """Return the error of a rejected text in one line, and the line number in the text; 0 if unknown."""
    if isinstance(error, SyntaxError) and str(error.filename).startswith(_FILE):
        line = error.lineno or 0
        message = f"{type(error).__name__}: {error.msg}"
    else:
        line = _position_of(error).line
        message = texts.error_line(error)
    return (f"line {line}: {message}" if line else message), line


def _position_of(error: BaseException) -> Position:
    """Return the innermost line of written hooks at which an error was raised."""
    positions = [
        Position(int(frame.f_code.co_filename[len(_FILE) : -1]), line)
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(_FILE)
    ]
    return positions[-1] if positions else Position()


def written_of(function: object) -> Written | None:
    """Return the source record of a hook; None if it was not written in a panel."""
    record = getattr(function, _WRITTEN, None)
    return record if isinstance(record, Written) else None


class Entry(TypedDict):
    """The output of one hook, or an error with its number of repetitions, and the line of the hook with this number."""

    where: str
    text: str
    failed: bool
    times: int
    number: int
    line: int


class Log:
    """Bounded log of the output of hooks, newest last.

    Args:
        changed: called after each change, in the thread of the hook.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._entries: deque[Entry] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self.dropped = 0

    def add(self, where: str, text: str, failed: bool = False, position: Position = _NO_POSITION) -> None:
        """Append to the newest entry if it is of the same hook, otherwise add an entry; count repeated errors."""
        with self._lock:
            last = self._entries[-1] if self._entries else None
            same_hook = last is not None and last["where"] == where and last["failed"] == failed
            if last and same_hook and failed and last["text"] == _cut(text):
                last["times"] += 1
            elif last and same_hook and not failed and len(last["text"]) + len(text) <= _MAX_ENTRY:
                last["text"] += text
                self._size += len(text)
            else:
                entry: Entry = {
                    "where": where,
                    "text": _cut(text),
                    "failed": failed,
                    "times": 1,
                    "number": position.number,
                    "line": position.line,
                }
                self._entries.append(entry)
                self._size += len(self._entries[-1]["text"])
            while len(self._entries) > MAX_ENTRIES or self._size > _MAX_CHARACTERS:
                self._size -= len(self._entries.popleft()["text"])
                self.dropped += 1
        self._changed()

    def clear(self) -> None:
        """Clear the log."""
        with self._lock:
            self._entries.clear()
            self._size = self.dropped = 0
        self._changed()

    def entries(self) -> list[Entry]:
        """Return copies of the entries, without line ends at the end of their texts."""
        with self._lock:
            return [{**entry, "text": entry["text"].rstrip("\n")} for entry in self._entries]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ENTRY else text[: _MAX_ENTRY - 1] + "…"


class _Local(threading.local):
    def __init__(self) -> None:
        self.sinks: list[Callable[[str], None]] = []


_local = _Local()
_router_lock = threading.Lock()
_routed = 0


class _Router:
    """Replacement of `sys.stdout` while a hook runs: a thread in a hook writes to its sink, others as before."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text to the thread's sink, or to the original stream."""
        if not _local.sinks and self._stream is None:  # a process without a console
            return len(text)
        if not _local.sinks:
            return int(self._stream.write(text) or 0)
        if text:
            _local.sinks[-1](text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _printing_to(sink: Callable[[str], None]) -> Iterator[None]:
    """Redirect this thread's output inside the context to `sink`, in one piece at its end."""
    global _routed
    with _router_lock:
        _routed += 1
        if not isinstance(sys.stdout, _Router):
            sys.stdout = _Router(sys.stdout)
    pieces: list[str] = []
    _local.sinks.append(pieces.append)
    try:
        yield
    finally:
        _local.sinks.pop()
        with _router_lock:
            _routed -= 1
            if not _routed and isinstance(sys.stdout, _Router):
                sys.stdout = sys.stdout._stream
        if pieces:
            sink("".join(pieces))
