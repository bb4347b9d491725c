"""A person at a notebook who acts at random, in one or two tabs, and ends all runs at the end.

Each action depends on the seed and on the state of the run: paused, free, closed or offline.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, Error, Page

from tests.browser import random_notebook
from tests.browser.lab import Server, wait_until, write_notebook
from tests.browser.random_checks import PATIENCE_SECONDS, BrokenPromiseError, Checks
from tests.browser.random_page import PanelState, Tab
from tests.browser.random_witnessed import Json, Witnessed

STEP_KEYS = {
    "Step over": "F10",
    "Step into": "F11",
    "Step out": "Shift+F11",
    "Next operator": "F8",
    "Next cell": "Shift+F8",
}
QUIET_SECONDS = 1.0
VIEWS = ("Findings", "Cells", "Captures", "Curves", "Parameters", "Stepper", "Hooks")
MOMENTS = ("forward_pre", "forward", "backward_pre", "backward", "bprop", "")

# Actions, and their relative frequencies.
ANYTIME = {
    **{"edit_source": 1, "delete_cell": 1, "clear_output": 1, "clear_all": 1, "interrupt": 1, "restart": 1},
    **{"close_notebook": 1, "shut_down_and_reopen": 1, "reload": 2, "second_tab": 2, "lose_connection": 1},
    **{"save": 3, "dock": 2, "choose_view": 2, "breakpoint_at": 2, "find_faults": 1, "look_if_alive": 1},
    **{"watch_again": 1, "export": 1},
}
FREE = {"run_cell": 14, "run_all": 3, "stop": 1, "run_twice": 2}
PAUSED = {"evaluate": 3, "edit_values": 8, "step": 8, "look_back": 2, "go_on": 6, "abort": 2, "run_cell": 1}
ANSWERS = """(root) => [...root.querySelectorAll('[role=log][aria-label^=Evaluation] > *')].map(
    (one) => [...one.children].map((part) => part.innerText))"""


@dataclass
class RandomSession:
    """One notebook, one kernel, one or two tabs, and the actions in them."""

    server: Server
    context: BrowserContext
    page: Page
    seed: int
    keep: Collection[int] | None = None
    patience: float = PATIENCE_SECONDS
    tabs: list[Tab] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    online: bool = True
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.path = f"random{self.seed}.ipynb"
        self.rng = random.Random(str(self.seed))
        write_notebook(self.server.root / self.path, random_notebook.cells(self.rng))
        self.kernel = Witnessed(self.server.root / self.path)
        self.checks = Checks(self)

    # The whole session

    def run(self) -> None:
        """Open the notebook, act as the seed says, end all runs, and check everything.

        Raises:
            BrokenPromiseError: something did not hold.
        """
        count = self.rng.randint(8, 20)
        self.tabs = [Tab(self.server, self.page, self.path, "tab 1")]
        self.tabs[0].open()
        wait_until("the kernel", lambda: self.kernel.state, 60)
        self.tabs[0].command("notebook:run-cell", 0)
        wait_until("the first cell", lambda: self.kernel.ended(), 60)
        for number in range(count):
            self.rng = random.Random(f"{self.seed}/{number}")
            if self.keep is None or number in self.keep:
                self.act(number)
                self.checks.after_action()
        self.rng = random.Random(f"{self.seed}/end")
        self.say("end")
        self.end_all()
        self.say("look at all of it")
        self.checks.at_the_end()
        self.say("done")

    def act(self, number: int) -> None:
        """Take one action; which, depends on the seed and on the state of the run."""
        if not self.online and self.rng.random() < 0.6:
            actions: dict[Callable[[], None], int] = {self.find_connection: 1}
        elif not self.open_tabs:
            actions = {self.reopen: 1}
        else:
            weights = ANYTIME | (PAUSED if self.kernel.stop else FREE)
            actions = {getattr(self, name): weight for name, weight in weights.items()}
        action = self.rng.choices(list(actions), list(actions.values()))[0]
        self.say(f"{number} {action.__name__}")
        self.done[action.__name__] += 1
        action()
        time.sleep(self.rng.choice((0, 0, 0.05, 0.3)))  # as a person pauses: events in between are random too

    def say(self, what: str) -> None:
        self.trace.append(f"{time.monotonic() - self.began:5.1f} s  {what}")

    def add(self, what: str) -> None:
        """Add to the description of the last action."""
        self.trace[-1] += f": {what}"

    @property
    def open_tabs(self) -> list[Tab]:
        return [tab for tab in self.tabs if tab.is_open]

    def tab(self) -> Tab:
        chosen = self.rng.choice(self.open_tabs)
        if len(self.tabs) > 1:
            self.add(chosen.name)
        chosen.page.bring_to_front()
        return chosen

    # The notebook

    def a_cell(self, tab: Tab, first: int = 1) -> int:
        index = self.rng.randrange(first, max(first + 1, len(tab.cells())))
        source = tab.cells()[index]["source"]
        self.add(f"cell {index} {source if index else 'the networks'!r}")
        return index

    def run_cell(self) -> None:
        tab = self.tab()
        before = len(self.kernel.lines("begin"))
        index = self.a_cell(tab, 0 if self.rng.random() < 0.15 else 1)
        self.checks.cleared(tab, [index])  # JupyterLab empties a cell's output when a run is requested
        tab.command("notebook:run-cell", index)
        if self.kernel.cell is None and self.online:
            with suppress(TimeoutError):
                wait_until("the cell to begin", lambda: len(self.kernel.lines("begin")) > before, 10)
        self.watch_it_run()

    def run_twice(self) -> None:
        self.run_cell()
        self.run_cell()

    def run_all(self) -> None:
        tab = self.tab()
        self.checks.cleared(tab)
        tab.command("notebook:run-all-cells")
        self.watch_it_run()

    def watch_it_run(self) -> None:
        """Watch for a moment, or until it pauses or ends."""
        seconds = self.rng.choice((0.1, 0.5, 4, 4, 4))
        with suppress(TimeoutError):
            wait_until("", lambda: self.kernel.stop or self.kernel.cell is None, seconds)

    def edit_source(self) -> None:
        tab = self.tab()
        source = random_notebook.run(self.rng)
        tab.set_source(self.a_cell(tab, 2), source)
        self.add(f"now {source!r}")

    def delete_cell(self) -> None:
        tab = self.tab()
        if len(tab.cells()) > 4:
            tab.command("notebook:delete-cell", self.a_cell(tab))

    def clear_output(self) -> None:
        tab = self.tab()
        index = self.a_cell(tab)
        self.checks.cleared(tab, [index])
        tab.command("notebook:clear-cell-output", index)

    def clear_all(self) -> None:
        tab = self.tab()
        self.checks.cleared(tab)
        tab.command("notebook:clear-all-cell-outputs")

    def save(self) -> None:
        if self.online:
            self.checks.save(self.tab())

    def dock(self) -> None:
        tab = self.tab()
        views = tab.page.get_by_role("tab", name="Output View").count()
        if views < 2:  # more of them leave no room for the notebook
            tab.command("notebook:create-output-view", self.a_cell(tab))

    def close_notebook(self) -> None:
        tab = self.tab()
        if self.online:
            saved = self.rng.random() < 0.7
            self.add("saved" if saved else "not saved")
            tab.close(saved)

    def reopen(self) -> None:
        self.be_online()
        self.tabs[0].open()

    def reload(self) -> None:
        tab = self.tab()
        self.be_online()
        tab.reload()

    def second_tab(self) -> None:
        """Open a second tab, saving or with the file on the disk; or close it again."""
        self.be_online()
        if len(self.tabs) > 1:
            self.add("close")
            self.tabs.pop().page.close()
        else:
            if self.rng.random() < 0.7:
                self.add("saved")
                self.open_tabs[0].save()
            self.tabs.append(Tab(self.server, self.context.new_page(), self.path, "tab 2"))
            self.tabs[-1].load("second")

    def lose_connection(self) -> None:
        if self.online:
            self.online = False
            for tab in self.tabs:
                tab.lose_connection()

    def find_connection(self) -> None:
        self.be_online()

    def be_online(self) -> None:
        if not self.online:
            self.online = True
            for tab in self.tabs:
                tab.find_connection()

    # The kernel

    def interrupt(self) -> None:
        if self.online:
            self.checks.interrupted()
            self.tab().command("notebook:interrupt-kernel")
            self.watch_it_run()

    def restart(self) -> None:
        self.be_online()
        pid = self.kernel.pid
        self.tab().command("notebook:restart-kernel")
        wait_until("the new kernel", lambda: self.kernel.pid not in {0, pid}, 60)
        self.checks.panels_say_that_their_kernel_is_gone()
        self.open_tabs[0].command("notebook:run-cell", 0)

    def shut_down_and_reopen(self) -> None:
        self.be_online()
        pid = self.kernel.pid
        for tab in self.open_tabs:
            tab.close(save=True)
        for session in self.server.get("api/sessions"):
            if session["path"] == self.path:
                self.server.delete(f"api/sessions/{session['id']}")
        wait_until("the end of the kernel", lambda: self.kernel.pid == 0, 30)
        for tab in self.tabs:
            tab.open()
        wait_until("the new kernel", lambda: self.kernel.pid not in {0, pid}, 60)
        self.open_tabs[0].command("notebook:run-cell", 0)

    # The panels

    def a_panel(
        self, tab: Tab, condition: Callable[[PanelState], bool] = lambda shown: shown.visible
    ) -> PanelState | None:
        state = [panel for panel in tab.panels() if condition(panel)]
        return self.rng.choice(state) if state else None

    def choose_view(self) -> None:
        tab = self.tab()
        panel = self.a_panel(tab)
        if panel is not None:
            view = self.rng.choice(VIEWS)
            self.add(f"{view} of {panel.label}")
            with suppress(Error):  # the panel may just be taken away
                tab.locator(panel).get_by_role("tab", name=re.compile(f"^{view}")).click(timeout=5000)

    def breakpoint_at(self) -> None:
        tab = self.tab()
        panel = self.a_panel(tab, lambda item: item.visible and bool(item.enabled))
        if panel is not None:
            path, moment = self.rng.choice(("add", "mul", "(root)")), self.rng.choice(MOMENTS)
            self.add(f"{moment or 'none'} of {path} of {panel.label}")
            with suppress(Error):
                tab.panel(panel).tab("Cells")
                choice = tab.locator(panel).get_by_role("combobox", name=f"breakpoint at {path}", exact=True)
                choice.select_option(moment, timeout=2000)

    def find_faults(self) -> None:
        tab = self.tab()
        panel = self.a_panel(tab, lambda item: "Find faults" in item.offered)
        if panel is not None:
            self.add(panel.label)
            with suppress(Error):
                tab.panel(panel).button("Find faults").click(timeout=5000)
            if self.rng.random() < 0.5:
                self.add("pause at nan")
                with suppress(Error, AssertionError):
                    tab.panel(panel).settings()
                    tab.locator(panel).get_by_role("checkbox", name="pause at nan", exact=True).click(timeout=5000)

    def watch_again(self) -> None:
        """Make a panel of a cell that has ended watch its network again."""
        tab = self.tab()
        panel = self.a_panel(tab, lambda item: "Watch again" in item.offered)
        if panel is not None and self.online and self.kernel.cell is None:
            self.add(panel.label)
            self.done["panels that watch again"] += 1
            try:
                tab.panel(panel).button("Watch again").click(timeout=5000)
                self.checks.soon_in(tab, panel, "was told to watch again", lambda now: "Watch again" not in now.offered)
            except Error as error:
                self.checks.still_there(tab, panel, str(error).splitlines()[0])

    def export(self) -> None:
        """Save a panel as a page of its own, while nothing runs or at a pause."""
        tab = self.tab()
        panel = self.a_panel(tab, lambda item: "Export" in item.offered)
        if panel is not None and self.online and (self.kernel.cell is None or self.kernel.stop is not None):
            self.add(panel.label)
            try:
                with tab.page.expect_download(timeout=self.patience * 1000) as download:
                    tab.panel(panel).button("Export").click(timeout=5000)
                page = download.value.path().read_text(encoding="utf-8")
            except Error as error:
                self.checks.still_answering(tab, panel, f"Export saved nothing ({str(error).splitlines()[0]})")
            else:
                self.done["exports"] += 1
                if "</html>" not in page:
                    raise BrokenPromiseError(f"an export of {panel.label} is no whole page: {page[-200:]!r}")

    def look_if_alive(self) -> None:
        if self.online:
            self.checks.panels_are_alive(self.tab())

    def stop(self) -> None:
        """Press the Stop of a run that is not paused."""
        tab = self.tab()
        panel = self.a_panel(tab, lambda item: "Stop" in item.offered)
        if panel is not None:
            self.add(panel.label)
            self.checks.interrupted()
            with suppress(Error):
                tab.panel(panel).button("Stop").click(timeout=2000)

    def paused_panel(self, tab: Tab) -> PanelState | None:
        """Return the panel on the page, among those drawn now, that shows the pause."""
        stop = self.kernel.stop
        return None if stop is None else self.a_panel(tab, lambda item: item.ends_pause(stop["place"]))

    def step(self) -> None:
        name, by_key = self.rng.choice(["Step over"] * 3 + list(STEP_KEYS)), self.rng.random() < 0.3
        for _ in range(self.rng.randint(1, 3)):
            self.press(name, by_key)

    def look_back(self) -> None:
        """Look at steps before this one, and perhaps return; the pause stays as it was, and can be ended."""
        tab, stop = self.tab(), self.kernel.stop
        state = self.paused_panel(tab)
        if state is None or stop is None or not self.online:
            return
        panel = tab.panel(state)
        with suppress(Error):
            panel.root.get_by_role("tab", name="Stepper").click(timeout=5000)
            for name in ["Step back"] * self.rng.randint(1, 3) + ["Step forward"] * self.rng.randint(0, 3):
                if panel.button(name).is_enabled(timeout=2000):
                    panel.button(name).click(timeout=2000)
                    self.done["looks back"] += name == "Step back"
                    self.add(name)
                    time.sleep(0.1)
        now = self.kernel.stop
        if now is None or now["number"] != stop["number"]:
            raise BrokenPromiseError(f"the run went on from {stop['place']} while somebody looked back")

    def go_on(self) -> None:
        self.press("Continue")

    def abort(self) -> None:
        self.checks.interrupted()
        self.press("Abort")

    def press(self, name: str, by_key: bool = False) -> None:
        tab, stop = self.tab(), self.kernel.stop
        panel = self.paused_panel(tab)
        if panel is not None and stop is not None and self.online:
            self.add(f"{name}{' by its key' if by_key else ''} at {stop['place']}")
            self.press_in(tab, panel, stop, name, by_key)

    def press_in(self, tab: Tab, state: PanelState, stop: Json, name: str, by_key: bool = False) -> None:
        """Press one of the stepper's buttons, and check that the run continued."""
        panel = tab.panel(state)
        try:
            panel.root.get_by_role("tab", name="Stepper").click(timeout=5000)
            if by_key:
                panel.root.get_by_role("list", name=re.compile("^Source of")).press(STEP_KEYS[name], timeout=5000)
            else:
                panel.button(name).click(timeout=5000)
        except Error:
            self.checks.still_there(tab, state, f"{name} could not be pressed")
            return
        self.done["presses that let a run go on"] += 1
        self.checks.soon(
            f"{name} was pressed in {tab.name} and the run still stands in {stop['place']}",
            lambda: (self.kernel.stop or {}).get("number") != stop["number"],
        )

    def ask(self, tab: Tab, state: PanelState, text: str) -> str | None:
        """Type a line in the stepper; return its answer, or None if the panel has gone away meanwhile."""
        panel = tab.panel(state)
        answers: list[list[str]] = []

        def answered() -> bool:
            answers[:] = panel.root.evaluate(ANSWERS, timeout=5000)
            return bool(answers) and answers[-1][0].endswith(text)

        try:
            panel.root.get_by_role("tab", name="Stepper").click(timeout=5000)
            if answered():  # the same line again: its answer could not be told from the earlier one
                return None
            box = panel.root.get_by_role("textbox", name="Evaluate")
            box.fill(text, timeout=5000)
            box.press("Enter", timeout=5000)
            wait_until("an answer", answered, self.patience)
        except (Error, TimeoutError) as error:
            self.checks.still_there(tab, state, f"{text!r} was not answered ({str(error).splitlines()[0]})")
            return None
        return answers[-1][1]

    def evaluate(self) -> None:
        tab = self.tab()
        panel = self.paused_panel(tab)
        if panel is not None and self.online:
            number = self.rng.randint(100, 999)
            answer = self.ask(tab, panel, f"{number} * 2")
            self.add(f"{number} * 2 is {answer}")
            if answer is not None and str(number * 2) not in answer:
                raise BrokenPromiseError(f"{number} * 2 was answered with {answer!r}")

    def edit_values(self) -> None:
        """Edit one value or several at the stop; confirmed edits must be in the run's numbers."""
        tab = self.tab()
        stop, panel, key = self.kernel.stop, self.paused_panel(tab), self.kernel.position()
        if stop is None or panel is None or not self.online or not stop["now"]:
            return
        in_bprop = stop["function"] == "bprop" and stop["line"] in random_notebook.BPROP
        if not in_bprop and not stop["passes"]:
            return
        moment = "bprop" if in_bprop else stop["moment"]
        for name, expression in random_notebook.possible_edits(self.rng, moment, stop["line"]):
            answer = self.ask(tab, panel, f"{name} = {expression}")
            self.add(f"{name} = {expression} at {stop['place']} is {answer and answer[:60]!r}")
            if answer is None or (self.kernel.stop or {}).get("number") != stop["number"]:
                self.checks.uncertain.add(key)
                return
            if re.match(r"\w*(Error|Exception)", answer):
                self.notes.append(f"refused: {name} = {expression} at {stop['place']}: {answer}")
                continue
            self.done["confirmed edits"] += 1
            line = stop["line"] if in_bprop else ""
            ran = bool(in_bprop and stop["ran"])
            edit = random_notebook.Edit(stop["path"], moment, line, name, expression, ran)
            self.checks.edits.setdefault(key, []).append(edit)

    # The end

    def end_all(self) -> None:
        """End all runs, as a person would: with the buttons of a panel that is in sight."""
        self.be_online()
        if not self.open_tabs:
            self.tabs[0].open()
        presses, began, quiet = 0, time.monotonic(), 0.0
        while quiet < QUIET_SECONDS:
            if self.kernel.cell is None and not any(tab.status() == "busy" for tab in self.open_tabs):
                quiet += 0.1  # between the cells of Run All it looks idle for a moment
                time.sleep(0.1)
                continue
            quiet = 0.0
            if self.kernel.stop is not None:
                way = self.checks.way_out()
                if way is None:
                    continue
                tab, shown, stop = way
                name = "Continue" if presses < 2 else "Abort"
                self.say(f"press {name} at {stop['place']} in {tab.name}")
                if name == "Abort":
                    self.checks.interrupted()
                self.press_in(tab, shown, stop, name)
                presses += 1
            elif time.monotonic() > began + 3 + 2 * presses:
                self.say("interrupt")
                self.checks.interrupted()
                self.open_tabs[0].command("notebook:interrupt-kernel")
                self.checks.soon("an interrupted run goes on", lambda: self.kernel.cell is None or self.kernel.stop)
                presses += 1
            else:
                time.sleep(0.05)
            if presses > 20:
                raise BrokenPromiseError("the run does not end")

    def leave(self) -> None:
        """Leave JupyterLab unchanged, without this kernel."""
        with suppress(Error):
            self.context.set_offline(False)
            for tab in self.tabs[1:]:
                tab.page.close()
            self.tabs[0].leave()
        for session in self.server.get("api/sessions"):
            self.server.delete(f"api/sessions/{session['id']}")
