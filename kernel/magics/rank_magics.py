"""Magics of many ranks: `%ranks`, `%%ranks`, and the implementations of `%%cell --ranks` and `%cell --attach`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from ..pauses.pauser import widgets_are_live
from .options import RANKS, RANKS_CELL, one_line

if TYPE_CHECKING:
    from hookscope.widgets.ranks import RanksPanel

    from ..remote.attached_run import AttachedRun
    from ..remote.child_ranks import ChildRanks
    from ..remote.fleet import Fleet

__all__ = ["NotebookRanks", "RanksMagics", "ranks_of", "served_runs"]

_EXPLANATIONS, _EXPLANATIONS_AFTER_AN_INTERRUPT = 2.0, 0.1  # s


@magics_class
class RanksMagics(Magics):
    """The magics for many ranks that `%load_ext hookscope` registers."""

    shell: Any

    @no_var_expand
    @line_cell_magic
    def ranks(self, line: str, cell: str | None = None) -> None:
        """Start ranks, or run a cell on all of them.

        %ranks N                  start N processes that MPI knows as ranks 0 to N - 1. They live, and keep
                                  their variables, until they are stopped or the kernel ends.
        %ranks                    the ranks that there are, and how they stand.
        %ranks stop               end them.
        %%ranks [--on 0,2]        run the cell on all, or on these; each line of output has its rank's number.

        %%cell NET --ranks runs a cell under the debugger on all of them; NET is a variable there.
        """
        notebook_ranks = ranks_of(self.shell)
        if cell is not None:
            options = RANKS_CELL.parse_line(line)
            ranks = notebook_ranks.running_ranks()
            count = len(ranks.fleet.ranks)
            if options.on and options.on[-1] >= count:
                raise UsageError(f"%%ranks: there is no rank {options.on[-1]}; there are 0 to {count - 1}")
            ranks.run(cell, options.on)
            return
        options = RANKS.parse_line(line)
        if options.what is None:
            print(notebook_ranks.table())
        elif options.what == "stop":
            notebook_ranks.stop()
        else:
            notebook_ranks.start(options.what)


def ranks_of(shell: Any) -> NotebookRanks:
    """Return the ranks of this shell's notebook."""
    if shell not in _ranks:
        _ranks[shell] = NotebookRanks()
    return _ranks[shell]


class NotebookRanks:
    """The ranks that one notebook has started, and the runs that it is attached to."""

    def __init__(self) -> None:
        self._started: ChildRanks | None = None
        self._attached: list[AttachedRun] = []

    def start(self, count: int) -> None:
        """Start ranks, unless that many are running.

        Raises:
            UsageError: a different number is running, or they cannot be started.
        """
        from ..remote.child_ranks import start_ranks

        if self._started is not None and not self._started.alive:
            self.stop()
        if self._started is not None:
            existing = len(self._started.fleet.ranks)
            if existing != count:
                raise UsageError(f"%ranks: there are {existing} ranks; %ranks stop ends them")
            print(f"{existing} ranks are there already; they keep their variables")
            return
        try:
            self._started = start_ranks(count)
        except RuntimeError as error:
            raise UsageError(f"%ranks: {error}") from None
        print(f"{count} ranks are there: %%ranks runs a cell on all of them, %%cell NET --ranks under the debugger")

    def stop(self) -> None:
        """End the ranks.

        Raises:
            UsageError: no ranks are running.
        """
        if self._started is None:
            raise UsageError("%ranks: there are no ranks; %ranks N starts some")
        self._started.stop()
        self._started = None

    def running_ranks(self) -> ChildRanks:
        """Return the running ranks.

        Raises:
            UsageError: there are no ranks, or a rank has ended.
        """
        if self._started is None:
            raise UsageError("there are no ranks yet: %ranks N starts them")
        if not self._started.alive:
            raise UsageError("the ranks have ended: %ranks N starts new ones")
        return self._started

    def table(self) -> str:
        """Return the status of the ranks as text."""
        if self._started is None:
            return "There are no ranks: %ranks N starts some."
        from tabulate import tabulate

        fleet = self._started.fleet
        replies = fleet.try_all("status")
        rows = []
        for rank, member in fleet.ranks.items():
            status = replies.get(rank)
            if not isinstance(status, dict):
                rows.append((rank, member.remote.card.pid, member.remote.gone or str(status), ""))
            else:
                reason = status["place"] or status["reason"]
                rows.append((rank, member.remote.card.pid, f"{status['state']} {reason}".strip(), status["step"]))
        return tabulate(rows, ("rank", "process", "", "step"))

    def run_under_debugger(self, line: str, options: argparse.Namespace, body: str) -> None:
        """Run the body of a `%%cell NET --ranks` on all ranks, with one panel for all of them.

        Raises:
            UsageError: there are no ranks.
            RanksFailed: the cell failed on some ranks.
        """
        from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS

        from ..remote.child_ranks import RanksFailed

        ranks = self.running_ranks()
        ranks.fleet.stop_on = frozenset(options.stop_on) & frozenset(RANK_CONDITIONS)
        with self._panel(ranks, options.net or "", options.panel):
            seconds = _EXPLANATIONS_AFTER_AN_INTERRUPT
            try:
                ranks.run(f"%%cell {_line_for_one_rank(line)}\n{body}")
                seconds = _EXPLANATIONS
            except RanksFailed:
                seconds = _EXPLANATIONS
                raise
            finally:
                _tell_findings(ranks.fleet, seconds)

    @contextmanager
    def _panel(self, ranks: ChildRanks, name: str, is_shown: bool) -> Iterator[None]:
        if not is_shown:
            yield
            return
        from hookscope.widgets.ranks import RanksPanel

        panel = RanksPanel(ranks.fleet, name)
        if widgets_are_live():
            panel.display()
        try:
            yield
        finally:
            if not widgets_are_live():
                _show_static(panel)

    def attach(self, name: str | None) -> None:
        """Attach to a run that was not started from this notebook.

        Raises:
            UsageError: there is no run, or none of that name.
        """
        from ..remote.attached_run import AttachedRun, choose

        try:
            attached = AttachedRun(choose(name))
        except (ValueError, OSError) as error:
            raise UsageError(f"%cell: --attach: {one_line(error)}") from None
        self._attached = [run for run in self._attached if run.fleet.living]
        self._attached.append(attached)
        attached.show()


def served_runs() -> str:
    """Return the runs that ``%cell --attach`` can attach to, as text; "" if there are none."""
    from ..remote.attached_run import table

    return table()


def _tell_findings(fleet: Fleet, seconds: float) -> None:
    """Print the differences between the ranks, one per line, after waiting up to `seconds` for explanations."""
    from hookscope.engine.debug.compare.ranks.findings import ranks_text

    for finding in fleet.findings_at_the_end(seconds):
        location = f"step {finding.step}, {ranks_text(finding.ranks)}"
        from hookscope.engine.cpu.notices import tell

        tell(f"hookscope: {finding.condition}: {location}: {finding.message}. {finding.advice}")


def _line_for_one_rank(line: str) -> str:
    """Return the line of a `%%cell --ranks` for each rank: without a panel, and without conditions across ranks."""
    from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS
    from hookscope.engine.debug.diagnose.conditions import split_conditions

    tokens: list[str] = []
    arguments = iter(shlex.split(line, comments=True))
    for token in arguments:
        option, _, value = token.partition("=")
        if option in ("--check", "--stop-on"):
            names = [name for name in split_conditions(value or next(arguments, "")) if name not in RANK_CONDITIONS]
            tokens += [f"{option}={','.join(names)}"] if names else []
        elif token != "--ranks":
            tokens.append(token)
    if "--no-panel" not in tokens:
        tokens.append("--no-panel")
    return shlex.join(tokens)


def _show_static(panel: RanksPanel) -> None:
    from IPython.display import display

    forms, _ = panel._repr_mimebundle_()
    forms.pop("application/vnd.jupyter.widget-view+json", None)
    display(forms, raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here
    panel.close()


_ranks: WeakKeyDictionary[Any, NotebookRanks] = WeakKeyDictionary()
