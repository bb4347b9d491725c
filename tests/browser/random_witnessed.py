"""The reports of a random session's kernel (`witness.py`), as the driver reads them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Key = tuple[int, int, int]


class Witnessed:
    """The kernels of one notebook, and the running one among them."""

    def __init__(self, notebook: Path) -> None:
        self._state = notebook.with_suffix(".state.json")
        self._log = notebook.with_suffix(".log.jsonl")
        self._read: list[Json] = []
        self._at = 0

    @property
    def state(self) -> Json | None:
        """Return the state of the kernel; None without a kernel."""
        try:
            state: Json = json.loads(self._state.read_text())
            os.kill(state["pid"], 0)
        except (FileNotFoundError, ProcessLookupError):
            return None
        # A kernel that starts has a log before it has a state.
        started = self.lines("kernel")
        return state if not started or started[-1]["pid"] == state["pid"] else None

    @property
    def pid(self) -> int:
        state = self.state
        return 0 if state is None else int(state["pid"])

    @property
    def cell(self) -> Json | None:
        """Return the cell that runs, or is paused."""
        state = self.state
        return None if state is None else state["cell"]

    @property
    def sessions(self) -> list[Json]:
        state = self.state
        return [] if state is None else list(state["sessions"])

    @property
    def stop(self) -> Json | None:
        """Return the stop of the run, if it is paused."""
        return next((session["stop"] for session in self.sessions if session["stop"] is not None), None)

    def position(self) -> Key:
        """Return the step of the run: kernel, loop and number."""
        state = self.state or {"pid": 0, "run": 0, "step": 0}
        return state["pid"], state["run"], state["step"]

    def lines(self, kind: str) -> list[Json]:
        """Return the reports of a kind so far, by each kernel of the notebook."""
        if self._log.exists():
            with self._log.open() as file:
                file.seek(self._at)
                while (line := file.readline()).endswith("\n"):
                    self._read.append(json.loads(line))
                    self._at = file.tell()
        return [line for line in self._read if line["kind"] == kind]

    def since_start(self, kind: str) -> list[Json]:
        """Return the same from the running kernel alone."""
        self.lines(kind)
        start = max((index for index, line in enumerate(self._read) if line["kind"] == "kernel"), default=0)
        return [line for line in self._read[start:] if line["kind"] == kind]

    def ended(self) -> list[Json]:
        """Return the cells that have ended."""
        return self.lines("end")
