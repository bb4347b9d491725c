"""The debugger panel as a user meets it: located by roles and accessible names, never by class names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Locator, expect


@dataclass
class Panel:
    """One panel, in the output of one notebook cell."""

    root: Locator

    @classmethod
    def in_cell(cls, cell: Locator) -> Panel:
        panel = cls(cell.get_by_role("group", name=re.compile("^Debugger of ")))
        expect(panel.root).to_be_visible()
        return panel

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def tab(self, name: str) -> None:
        """Choose a view; a count may follow its name."""
        self.root.get_by_role("tab", name=re.compile(f"^{name}")).click()

    def view(self, name: str) -> Locator:
        return self.root.get_by_role("tabpanel", name=re.compile(f"^{name}"))

    def tree(self) -> None:
        """Show the tree; a single view has no tab."""
        if self.root.get_by_role("tab").count():
            self.tab("Cells")

    def settings(self, is_open: bool = True) -> None:
        """Return the conditions, which a button of the findings opens."""
        if self.root.get_by_role("tab").count():
            self.tab("Findings")
        button = self.button("Settings")
        if (button.get_attribute("aria-expanded") == "true") != is_open:
            button.click()
        expect(button).to_have_attribute("aria-expanded", str(is_open).lower())

    def toggle_hook(self, kind: str, path: str) -> None:
        """Attach a hook from the tree, or remove it again, and wait until the kernel has confirmed it."""
        self.tree()
        self._toggle(self.button(f"{kind} hook on {path}"), "aria-pressed")

    def toggle_train(self, path: str) -> None:
        self.tree()
        switch = self.root.get_by_role("switch", name=f"train mode of {path}", exact=True)
        self._toggle(switch, "aria-checked")

    def toggle_first(self, role: Literal["button", "switch"], what: str) -> str:
        """Toggle the first control of the tree whose name begins with `what`; return the path of its cell."""
        self.tree()
        control = self.root.get_by_role(role, name=re.compile(f"^{re.escape(what)} ")).first
        self._toggle(control, "aria-pressed" if role == "button" else "aria-checked")
        return (control.get_attribute("aria-label") or "").removeprefix(f"{what} ")

    def _toggle(self, control: Locator, attribute: str) -> None:
        before = control.get_attribute(attribute)
        control.click()
        expect(control).to_have_attribute(attribute, "false" if before == "true" else "true")

    def expect_paused(self, where: str) -> None:
        paused = re.compile(f"paused in .*{re.escape(where)}")
        expect(self.root.get_by_role("status").filter(has_text=paused)).to_be_visible()
        expect(self.button("Step over")).to_be_enabled()

    def is_paused(self) -> bool:
        return self.root.get_by_role("status").filter(has_text="paused in").count() > 0

    def expect_line(self, source: str) -> None:
        """Expect the current line of the stepper to have this source."""
        expect(self.root.locator("[aria-current=true]")).to_contain_text(source)

    def step_over_to(self, source: str) -> None:
        self.button("Step over").click()
        self.expect_line(source)

    def line(self) -> str:
        """Return the current line of the stepper, its number first."""
        return self.root.locator("[aria-current=true]").inner_text()

    def step_over(self) -> None:
        """Step over one line: wait until the stepper has moved on and waits again."""
        before = self.line()
        self.button("Step over").click()
        expect(self.root.locator("[aria-current=true]")).not_to_have_text(before)
        expect(self.button("Step over")).to_be_enabled()

    def expect_local(self, name: str, text: str | re.Pattern[str]) -> None:
        header = self.root.page.get_by_role("rowheader", name=re.compile(rf"^{name}(\s*changed)?$"))
        row = self.root.get_by_role("row").filter(has=header)
        expect(row.get_by_role("cell")).to_contain_text(text)

    def evaluate(self, expression: str, answer: str | re.Pattern[str]) -> None:
        self.root.get_by_role("textbox", name="Evaluate").fill(expression)
        self.button("Evaluate").click()
        log = self.root.get_by_role("log", name="Evaluation results")
        expect(log).to_contain_text(expression)
        expect(log).to_contain_text(answer)

    def select_capture(self, step: int, cell: str, direction: str = "forward", value: str = "output") -> Locator:
        """Click a capture in the Captures tab, wherever it is in the list; return the region that shows it."""
        self.root.get_by_role("searchbox", name="Filter captures").fill(f"{cell} {direction} {value}")
        rows = self.root.get_by_role("grid", name="Captures").get_by_role("row")
        row = rows.filter(has_text=re.compile(f"^{step}\\D"))
        expect(row).to_have_count(1)  # the rows are those of the filter
        row.get_by_role("gridcell").filter(has_text=value).first.click()
        region = self.root.get_by_role("region", name="Selected capture")
        heading = f"{cell}#0 {direction} {value}, step {step}"
        expect(region.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        return region
