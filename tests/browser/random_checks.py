"""Promises that hold in each random session, whatever the driver does.

1. Each run ends, or a visible panel can end it.
2. A panel that looks live answers, one whose kernel is gone says so, and a panel is live until its own cell runs again
   or its kernel ends.
3. Every edit that was confirmed took effect, and no other: the run's numbers show it.
4. All captures are in the saved file when no cell runs; otherwise those up to 10 s before the save. A page that was
   loaded again has them from the next watched cell on.
5. No output, no server log and no page contains a traceback or an error.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from playwright.sync_api import Error, expect

from tests.browser.lab import wait_until
from tests.browser.random_notebook import Edit, expected
from tests.browser.random_page import PanelState, Tab
from tests.browser.random_witnessed import Json, Key

if TYPE_CHECKING:
    from tests.browser.random_person import RandomSession

Forms = dict[str, list[int | None]]  # numbers of captures in the static forms of each output of a cell

PATIENCE_SECONDS = 20.0  # for a page to settle; a loaded machine needs as long
RENEWED_SECONDS = 10.0  # how old the saved form may be while a cell runs
ROOT_MODE = "train mode of (root)"
EXPECTED_ERRORS = {"KeyboardInterrupt", "DebugAbort", "CancelledError", "KernelEnding"}
# An interrupt between two cells; and the answer of a cell that was still busy when a restart closed the sockets.
TOLD_BY_IPYKERNEL = re.compile("KeyboardInterrupt|ZMQError: Socket operation on non-socket")
# After a restart the networks may not be made again before another cell runs.
UNDEFINED = re.compile(r"name '(red|blue|go|asyncio|x|witness)' is not defined|'(red|blue)' is not defined")


class BrokenPromiseError(AssertionError):
    """A broken promise."""


class Checks:
    """The checks of one session, and their state.

    Attributes:
        edits: the confirmed ones, by their step.
        uncertain: steps with an edit of which it is unknown whether it was confirmed.
    """

    def __init__(self, session: RandomSession) -> None:
        self.session = session
        self.kernel = session.kernel
        self.edits: dict[Key, list[Edit]] = {}
        self.uncertain: set[Key] = set()
        self._cleared: dict[tuple[str, str], float] = {}  # when the outputs of a cell were cleared, and in which client
        self._interrupts: list[float] = []
        self._log_at = session.server.log.stat().st_size

    # Reports of the driver

    def cleared(self, tab: Tab, indices: Collection[int] | None = None) -> None:
        """Note that the outputs of these cells, or with None of all, are emptied now."""
        for index, cell in enumerate(tab.cells()):
            if indices is None or index in indices:
                self._cleared[tab.client(), cell["id"]] = time.time()

    def interrupted(self) -> None:
        self._interrupts.append(time.time())

    def soon(self, otherwise: str, condition: Callable[[], object]) -> None:
        """Wait for a condition.

        Raises:
            BrokenPromiseError: it does not hold in time.
        """
        try:
            wait_until("", condition, self.session.patience)
        except TimeoutError:
            raise BrokenPromiseError(otherwise) from None

    def soon_in(self, tab: Tab, state: PanelState, what: str, condition: Callable[[PanelState], object]) -> None:
        """Wait for a condition in a panel, or until the panel is removed, or something runs.

        Raises:
            BrokenPromiseError: it does not hold in time.
        """

        def so() -> bool:
            now = next((panel for panel in tab.panels() if panel.mark == state.mark), None)
            return now is None or bool(condition(now)) or self.kernel.cell is not None

        self.soon(f"the panel of {state.label} in {tab.name} {what}, and did not", so)

    def still_answering(self, tab: Tab, state: PanelState, otherwise: str) -> None:
        """Fail if a panel did not answer, unless it was removed, or its kernel is busy or gone.

        Raises:
            BrokenPromiseError: it should have answered.
        """
        now = next((panel for panel in tab.panels() if panel.mark == state.mark), None)
        answers = self.kernel.cell is None or self.kernel.stop is not None
        if answers and now is not None and now.visible and now.enabled and not _says_gone(now):
            raise BrokenPromiseError(f"{otherwise}, in {tab.name}: {now.status} {now.problem}")

    def still_there(self, tab: Tab, state: PanelState, otherwise: str) -> None:
        """Fail if an action on a panel was impossible, unless the panel was just removed, or redrawn.

        Raises:
            BrokenPromiseError: the panel is there and enabled as before.
        """
        now = next((panel for panel in tab.panels() if panel.mark == state.mark), None)
        if now is not None and now.can_go_on and self.kernel.stop is not None:
            raise BrokenPromiseError(f"{otherwise}, in {tab.name}: {now.status}")

    # 1. Each run ends, or a visible panel can end it

    def after_action(self) -> None:
        self.no_errors_in_pages()
        if self.kernel.stop is not None and self.session.online and self.session.open_tabs:
            self.way_out()

    def way_out(self) -> tuple[Tab, PanelState, Json] | None:
        """Return a panel that can end the pause, its tab, and the pause; None if the run continued meanwhile.

        A page that was loaded again has no output in which a kernel could show a panel. There the driver runs another
        cell, which says why it waits.

        Raises:
            BrokenPromiseError: no tab has one.
        """
        began, number, has_requested = time.monotonic(), None, False
        while (stop := self.kernel.stop) is not None:
            if stop["number"] != number:
                began, number = time.monotonic(), stop["number"]
            for tab in reversed(self.session.open_tabs):
                tab.page.bring_to_front()
                state = tab.search(partial(PanelState.ends_pause, position=stop["place"]))
                if state is not None:
                    return tab, state, stop
            if not has_requested and time.monotonic() > began + PATIENCE_SECONDS / 2:
                has_requested = True
                tab = self.session.open_tabs[0]
                self.session.say(f"{tab.name} shows no panel ({tab.status()}): run a cell, to see what is going on")
                self.cleared(tab, [len(tab.cells()) - 1])
                tab.command("notebook:run-cell", len(tab.cells()) - 1)
            if time.monotonic() > began + self.session.patience:
                cell = self.kernel.cell
                where = self._where(cell["id"] if cell else None)
                panels = [f"{panel.label}: {panel.status}" for tab in self.session.open_tabs for panel in tab.panels()]
                raise BrokenPromiseError(
                    f"paused in {stop['place']}, and no panel can end it; the running cell {where}; panels: {panels}"
                )
        return None

    def _where(self, cell: str | None) -> str:
        there = [tab.name for tab in self.session.open_tabs if cell in {cell["id"] for cell in tab.cells()}]
        return f"is in {', '.join(there)}" if there else "was deleted"

    # 2. A panel that looks live answers

    def panels_are_alive(self, tab: Tab) -> None:
        """Check that every panel on the page that looks live answers; answers during a run are tested elsewhere."""
        for panel in tab.panels():
            if self.kernel.cell is not None and self.kernel.stop is None:
                return
            if panel.visible and panel.enabled and not _says_gone(panel):
                self._is_alive(tab, panel)

    def _is_alive(self, tab: Tab, state: PanelState) -> None:
        panel = tab.panel(state)
        try:
            panel.tab("Cells")
            switch = panel.root.get_by_role("switch", name=ROOT_MODE, exact=True)
            if not switch.count():
                return  # no network was called yet
            for _ in range(2):
                time.sleep(1)  # another panel of this network may just have sent the same
                before = switch.get_attribute("aria-checked", timeout=5000)
                switch.click(timeout=5000)
                after = "false" if before == "true" else "true"
                expect(switch).to_have_attribute("aria-checked", after, timeout=self.session.patience * 1000)
        except (Error, AssertionError):
            now = next((panel for panel in tab.panels() if panel.mark == state.mark), None)
            runs = self.kernel.cell is not None and self.kernel.stop is None
            if now is not None and now.visible and now.enabled and not _says_gone(now) and not runs:
                position = "docked" if now.docked else f"in cell {self._index(tab, now.cell)}"
                message = f"the panel of {now.label}, {position} of {tab.name}, looks live and is dead: {now.status}"
                raise BrokenPromiseError(message) from None

    def panels_say_that_their_kernel_is_gone(self) -> None:
        """Check, after a restart and before any run, that no remaining panel looks usable."""
        for tab in self.session.open_tabs:

            def live(tab: Tab = tab) -> list[PanelState]:
                return [panel for panel in tab.panels() if panel.visible and panel.enabled]

            with suppress(TimeoutError):
                wait_until("", lambda: not live(), self.session.patience / 2)
            if live():
                states = [(item.label, item.status, item.problem, item.enabled[:3]) for item in live()]
                raise BrokenPromiseError(f"after a restart, panels of {tab.name} look live: {states}")

    def panels_are_there(self, tab: Tab) -> None:
        """Check that the panel of each cell that opened one in this page, and has not run again since, is live."""
        client, there = tab.client(), {cell["id"]: index for index, cell in enumerate(tab.cells())}
        last = {line["cell"]["id"]: line["cell"] for line in self.kernel.since_start("begin")}
        for session in self.kernel.since_start("session"):
            cell = session["cell"]
            if cell is None or cell["id"] not in there or cell["client"] != client or last.get(cell["id"]) != cell:
                continue
            if self._touched(tab, cell):
                continue
            tab.scroll_to(there[cell["id"]])
            if tab.find(partial(_is_live_in, cell=cell["id"]), self.session.patience / 2) is None:
                raise BrokenPromiseError(f"cell {there[cell['id']]} of {tab.name} opened a panel, which is gone")

    def _touched(self, tab: Tab, cell: Json) -> bool:
        """Return whether the outputs of a cell's run may be gone by its user's doing."""
        end = next((line["at"] for line in self.kernel.since_start("end") if line["cell"] == cell), time.time())
        interrupted = any(cell["begin"] <= at <= end for at in self._interrupts)
        cleared = self._cleared.get((cell["client"], cell["id"]), 0) >= cell["begin"]
        # If a cell is run once more before it has ended, JupyterLab drops further outputs of the first run.
        requests = {cell["id"]: cell["request"] for cell in tab.cells()}
        told_again = requests.get(cell["id"]) not in {None, cell["request"]}
        return interrupted or cleared or told_again

    # 3. Every confirmed edit took effect

    def numbers_are_right(self) -> None:
        for line in self.kernel.lines("step"):
            key = (line["pid"], line["run"], line["step"])
            edits = self.edits.get(key, [])
            numbers = expected(edits, line["bad"])
            if key not in self.uncertain and not numbers.agrees(line["out"], line["dx"]):
                raise BrokenPromiseError(
                    f"{key} gave out {line['out']}, dx {line['dx']}; with {edits} it should be {numbers}"
                )

    # 4. Captures are in the saved file

    def save(self, tab: Tab) -> None:
        """Save in this tab, and check the file."""
        if self.kernel.cell is None:
            with suppress(TimeoutError):
                tab.wait("the last output", lambda: tab.status() == "idle", self.session.patience)
            tab.catch_up()
        began, idle = time.time(), self.kernel.cell is None and tab.status() == "idle"
        ends = len(self.kernel.ended())
        client = tab.client()
        file = self.session.server.root / tab.path
        tab.save()
        if file.stat().st_mtime < began:
            self.session.done["saves that JupyterLab did not make"] += 1
            return
        self.session.done["saves that were looked at"] += 1
        idle = idle and self.kernel.cell is None and len(self.kernel.ended()) == ends
        saved = json.loads(file.read_text(encoding="utf-8"))
        forms = {cell["id"]: [_captures(output) for output in cell.get("outputs", [])] for cell in saved["cells"]}
        last = {line["cell"]["id"]: line["cell"] for line in self.kernel.since_start("begin")}
        for session in self.kernel.sessions:
            cell = session["cell"]
            if cell is None:
                continue
            mine = cell["client"] == client and cell["id"] in forms and last.get(cell["id"]) == cell
            if mine and not self._touched(tab, cell):
                before = self._captured_at(session["serial"], began - RENEWED_SECONDS - 3)
                expected = session["captured"] if idle else before
                count = max((item for item in forms[cell["id"]] if item is not None), default=None)
                if expected and (count is None or count < expected):
                    when = "no cell runs" if idle else f"a cell runs, and that was {RENEWED_SECONDS:g} s ago"
                    message = f"{count} of {expected} captures of {session['roots']} in the panel's cell; {when}"
                    raise BrokenPromiseError(f"saved in {tab.name}: {message}")
            elif cell["client"] != client and idle:
                self._fresh_form(tab, client, session, forms, last)

    def _fresh_form(self, tab: Tab, client: str, session: Json, forms: Forms, last: Json) -> None:
        """Return what this page shows of a session that an earlier page, or another one, has opened."""
        begins = {json.dumps(line["cell"]): line["captured"] for line in self.kernel.since_start("begin")}
        for line in reversed(self.kernel.since_start("end")):
            cell, serial = line["cell"], str(session["serial"])
            capture_count = line["captured"].get(serial, 0)
            if cell["client"] != client or capture_count <= begins[json.dumps(cell)].get(serial, 0):
                continue
            if cell["id"] in forms and last.get(cell["id"]) == cell and not self._touched(tab, cell):
                count = max((item for cell in forms.values() for item in cell if item is not None), default=None)
                if count is None or count < capture_count:
                    message = f"{count} of {capture_count} captures of {session['roots']}"
                    raise BrokenPromiseError(f"saved in {tab.name}, which did not open the panel: {message}")
            return

    def _captured_at(self, serial: int, when: float) -> int:
        lines = [line for line in self.kernel.since_start("captured") if line["at"] <= when]
        return int(lines[-1]["counts"].get(str(serial), 0)) if lines else 0

    # 5. There is no error

    def no_errors_in_pages(self) -> None:
        for tab in self.session.tabs:
            for error in tab.errors:
                if "blob:" in error or "hookscope" in error.lower():
                    raise BrokenPromiseError(f"an error in {tab.name}: {error[:600]}")
            self.session.done["errors of JupyterLab itself"] += len(tab.errors)
            tab.errors.clear()
            if tab.is_open:
                for panel in tab.panels():
                    if "could not be updated" in panel.problem:
                        raise BrokenPromiseError(f"a panel in {tab.name} says: {panel.problem}")

    def outputs_are_clean(self, tab: Tab) -> None:
        for cell, output in tab.outputs():
            where = f"cell {self._index(tab, cell)} of {tab.name}"
            failed = output["output_type"] == "error" and output["ename"] not in EXPECTED_ERRORS
            if failed and not UNDEFINED.search(output["evalue"]):
                raise BrokenPromiseError(f"{where} failed: {output['ename']}: {output['evalue']}")
            text = "".join(output.get("text", ""))
            if re.search(r"Traceback|^hookscope: .*could not", text, re.MULTILINE):
                raise BrokenPromiseError(f"{where} printed: {text[-600:]}")

    def log_is_clean(self) -> None:
        with self.session.server.log.open("rb") as file:
            file.seek(self._log_at)
            text = file.read().decode(errors="replace")
        for part in re.split(r"\n(?=\[)", text):
            if "Traceback" in part and "hookscope" in part and not TOLD_BY_IPYKERNEL.search(part):
                raise BrokenPromiseError(f"the server's log has: {part[-1500:]}")

    # All checks

    def at_the_end(self) -> None:
        self.numbers_are_right()
        for tab in self.session.open_tabs:
            tab.page.bring_to_front()
            self.save(tab)
            self.panels_are_there(tab)
            self.panels_are_alive(tab)
            self.outputs_are_clean(tab)
        self.no_errors_in_pages()
        self.log_is_clean()

    def _index(self, tab: Tab, cell: str | None) -> int | str:
        return next((index for index, item in enumerate(tab.cells()) if item["id"] == cell), "?")


def _is_live_in(panel: PanelState, cell: str) -> bool:
    return panel.cell == cell and panel.visible and not _says_gone(panel)


def _says_gone(panel: PanelState) -> bool:
    return bool(re.search(r"kernel.*(gone|ended)|is gone", panel.status + panel.problem))


def _captures(output: Json) -> int | None:
    """Return the number of captures in the static form of an output; None if the output is not one."""
    data = output.get("data", {})
    html, plain = "".join(data.get("text/html", "")), "".join(data.get("text/plain", ""))
    count = re.search(r"([\d,]+) captures", plain) or re.search(r"Captures: (?:[\d,]+ of )?([\d,]+)", html)
    return int(count[1].replace(",", "")) if count and html else None
