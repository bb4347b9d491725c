"""A few random sessions; `python -m tests.browser.random_sessions` makes many."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from tests.browser import random_notebook, random_sessions

SEEDS = (2, 5)
PATIENCE_SECONDS = 60  # beside other tests everything takes longer


@pytest.mark.timeout(900)  # each with a kernel of its own
def test_random_sessions_keep_every_promise(playwright: Playwright, chromium: str, tmp_path: Path) -> None:
    counts, failures = random_sessions.run(playwright, SEEDS, tmp_path, patience=PATIENCE_SECONDS)
    if failures:
        # One in thirty fails by an error of JupyterLab, ipykernel or the driver itself, at another moment each time.
        print("once more, since they failed:", failures)
        _, again = random_sessions.run(playwright, list(failures), tmp_path / "again", patience=PATIENCE_SECONDS)
        assert again == {}
    assert counts["sessions"] == len(SEEDS)
    # An attempt to edit does not depend on the machine; its confirmation before the cell goes on does.
    assert counts["edit_values"] >= 1, "the sessions took too few actions"
    assert counts["presses that let a run go on"] > 2, "the sessions took too few actions"


def test_the_model_of_a_run_knows_where_an_edit_takes_effect() -> None:
    def numbers(line: str, name: str, ran: bool = False) -> list[float]:
        edit = random_notebook.Edit("mul", "bprop", line, name, "dout * 0 + 7", ran)
        return random_notebook.expected([edit], bad=False).dx

    plain = random_notebook.expected([], bad=False)
    assert plain.out == [6.0, 9.0, 15.0] and plain.dx == [3.0, 3.0, 3.0]
    assert numbers("return (total,)", "total") == [7.0, 7.0, 7.0]
    assert numbers("return (total,)", "slope") == plain.dx, "the edit of a variable after its use counts"
    assert numbers("slope = dout * 3", "total") == plain.dx, "the edit of a variable that the bprop sets later counts"
    assert numbers("slope = dout * 3", "dout") == [21.0, 21.0, 21.0]
    assert numbers("total = slope + extra", "slope") == [7.0, 7.0, 7.0]
    assert numbers("total = slope + extra", "slope", ran=True) == plain.dx, "an edit after the sum counts"
    assert numbers("total = slope + extra", "total", ran=True) == plain.dx, "an edit before the assignment counts"
    assert numbers("slope = dout * 3", "dout", ran=True) == plain.dx
