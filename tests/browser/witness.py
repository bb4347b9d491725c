"""Reports of each kernel of the random sessions; IPython runs this file at its start.

Beside the notebook NAME.ipynb it writes NAME.state.json, the kernel's present state, renewed every few hundredths of a
second even while a cell is paused; and NAME.log.jsonl, one line for each event. So the driver knows the kernel's state
without a request to it and without trusting the page.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

PERIOD_SECONDS = 0.03
BEAT_SECONDS = 0.5


class Witness:
    """The reports of one kernel.

    Attributes:
        run: the number of training loops that have begun.
        step: the present step of the last one.
    """

    def __init__(self, notebook: Path, shell: Any) -> None:
        self.shell = shell
        self.state = notebook.with_suffix(".state.json")
        self.log = notebook.with_suffix(".log.jsonl")
        self.run = self.step = 0
        self._writing = threading.Lock()
        self._depth = 0
        self._cell: dict[str, Any] | None = None
        self._sessions: list[tuple[int, weakref.ref[Any], dict[str, Any] | None]] = []
        self._stops: dict[int, Any] = {}
        self._stop_count = 0
        self._written = ""
        self._beat = 0.0
        self._counts: dict[int, int] = {}
        shell.events.register("pre_run_cell", self._begins)
        shell.events.register("post_run_cell", self._ends)
        self.say("kernel", pid=os.getpid())
        threading.Thread(target=self._watch, daemon=True).start()

    def say(self, kind: str, **fields: Any) -> None:
        """Write one line of the log."""
        line = json.dumps({"kind": kind, "at": time.time(), **fields})
        with self._writing, self.log.open("a") as file:
            file.write(line + "\n")

    def went(self, **fields: Any) -> None:
        """Print and report the numbers of one step of a training loop."""
        print(fields, flush=True)
        self.say("step", pid=os.getpid(), run=self.run, step=self.step, **fields)

    def made(self, session: Any) -> None:
        """Report that the running cell made a debugger's session."""
        serial = len(self._sessions)
        self._sessions.append((serial, weakref.ref(session), self._cell))
        self.say("session", serial=serial, cell=self._cell)

    def _begins(self, *_: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            parent = self.shell.get_parent()
            header, cell = parent.get("header", {}), parent.get("metadata", {}).get("cellId")
            request = {"client": header.get("session"), "request": header.get("msg_id")}
            self._cell = {"id": cell, **request, "begin": time.time()}
            self.say("begin", cell=self._cell, captured=self._captured())

    def _ends(self, *_: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.say("end", cell=self._cell, captured=self._captured())
            self._cell = None

    def _captured(self) -> dict[int, int]:
        sessions = {serial: session() for serial, session, _ in self._sessions}
        return {serial: len(session.captures) for serial, session in sessions.items() if session is not None}

    def _look(self) -> dict[str, Any]:
        sessions = []
        for serial, reference, cell in list(self._sessions):
            session = reference()
            if session is None:
                continue
            point = session.paused
            if point is not None and self._stops.get(serial) is not point:
                self._stop_count += 1
                self._stops[serial] = point
            elif point is None:
                self._stops.pop(serial, None)
            stop = None
            if point is not None:
                at = point.line - point.first_line
                line = point.lines[at].strip() if 0 <= at < len(point.lines) else ""
                stop = {"kind": point.kind, "path": point.path, "moment": point.moment, "function": point.function}
                stop |= {"number": self._stop_count, "line": line, "place": point.place}
                stop |= {"now": session.shown is point, "passes": point.passing is not None}
                stop["ran"] = point.operator is not None
            roots = ", ".join(type(root).__name__ for root in session.roots)
            watches = {"roots": roots, "attached": session.attached, "captured": len(session.captures)}
            sessions.append({"serial": serial, "cell": cell, "stop": stop, **watches})
        return {"pid": os.getpid(), "cell": self._cell, "run": self.run, "step": self.step, "sessions": sessions}

    def _watch(self) -> None:
        try:
            while True:
                time.sleep(PERIOD_SECONDS)
                with contextlib.suppress(RuntimeError):  # something changed while it was read
                    self._write(self._look())
        except NameError:  # the kernel ends, and has cleared the names of its startup files
            return

    def _write(self, state: dict[str, Any]) -> None:
        now, text = time.time(), json.dumps(state)
        if text == self._written and now < self._beat + BEAT_SECONDS:
            return
        temporary = self.state.with_suffix(".tmp")
        temporary.write_text(json.dumps({**state, "at": now}))
        temporary.replace(self.state)
        counts = {session["serial"]: session["captured"] for session in state["sessions"]}
        if counts != self._counts and (now >= self._beat + BEAT_SECONDS or self._cell is None):
            self.say("captured", counts=counts)
            self._counts = counts
        if now >= self._beat + BEAT_SECONDS:
            self._beat = now
        self._written = text


def begin() -> Witness | None:
    """Watch this kernel, if it runs a notebook of the random sessions."""
    from IPython import get_ipython

    notebook, shell = Path(os.environ.get("JPY_SESSION_NAME", "")), get_ipython()  # type: ignore[no-untyped-call]
    if not notebook.name.startswith("random") or shell is None:
        return None
    from hookscope.engine.debug import DebugSession

    witness = Witness(notebook, shell)
    initialize: Any = DebugSession.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        initialize(self, *args, **kwargs)
        witness.made(self)

    DebugSession.__init__ = __init__
    return witness


if "IPython" in sys.modules and __name__ == "__main__":  # not on an import, as in a test
    witness = begin()
