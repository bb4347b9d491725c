"""The magics of many ranks: `%ranks`, `%%ranks`, and what `%%cell --ranks` and `%cell --attach` do."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from ..magic_options import RANKS, RANKS_CELL, one_line
from ..pausing import widgets_come_alive

if TYPE_CHECKING:
    from hookscope.widgets.ranks import RanksPanel

    from .attached import Attached
    from .fleet import Fleet
    from .started import StartedRanks

__all__ = ["NotebookRanks", "RanksMagics", "ranks_of", "served_runs"]

_EXPLANATIONS, _EXPLANATIONS_AFTER_AN_INTERRUPT = 2.0, 0.1  # s


@magics_class
class RanksMagics(Magics):
    """What `%load_ext hookscope` adds for many ranks."""

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
        ours = ranks_of(self.shell)
        if cell is not None:
            options = RANKS_CELL.parse_line(line)
            started = ours.started()
            count = len(started.fleet.ranks)
            if options.on and options.on[-1] >= count:
                raise UsageError(f"%%ranks: there is no rank {options.on[-1]}; there are 0 to {count - 1}")
            started.run(cell, options.on)
            return
        options = RANKS.parse_line(line)
        if options.what is None:
            print(ours.table())
        elif options.what == "stop":
            ours.stop()
        else:
            ours.start(options.what)


def ranks_of(shell: Any) -> NotebookRanks:
    """The ranks of this shell's notebook."""
    if shell not in _ranks:
        _ranks[shell] = NotebookRanks()
    return _ranks[shell]


class NotebookRanks:
    """The ranks that one notebook has started, and the runs that it looks at."""

    def __init__(self) -> None:
        self._started: StartedRanks | None = None
        self._attached: list[Attached] = []

    def start(self, count: int) -> None:
        """Start ranks, unless that many are there.

        Raises:
            UsageError: another number is there, or they cannot be started.
        """
        from .started import start_ranks

        if self._started is not None and not self._started.alive:
            self.stop()
        if self._started is not None:
            there = len(self._started.fleet.ranks)
            if there != count:
                raise UsageError(f"%ranks: there are {there} ranks; %ranks stop ends them")
            print(f"{there} ranks are there already; they keep their variables")
            return
        try:
            self._started = start_ranks(count)
        except RuntimeError as error:
            raise UsageError(f"%ranks: {error}") from None
        print(f"{count} ranks are there: %%ranks runs a cell on all of them, %%cell NET --ranks under the debugger")

    def stop(self) -> None:
        """End them.

        Raises:
            UsageError: there are none.
        """
        if self._started is None:
            raise UsageError("%ranks: there are no ranks; %ranks N starts some")
        self._started.stop()
        self._started = None

    def started(self) -> StartedRanks:
        """The ranks.

        Raises:
            UsageError: there are none, or one has ended.
        """
        if self._started is None:
            raise UsageError("there are no ranks yet: %ranks N starts them")
        if not self._started.alive:
            raise UsageError("the ranks have ended: %ranks N starts new ones")
        return self._started

    def table(self) -> str:
        """How the ranks stand, as text."""
        if self._started is None:
            return "There are no ranks: %ranks N starts some."
        from tabulate import tabulate

        fleet = self._started.fleet
        told = fleet.try_all("status")
        rows = []
        for rank, looked in fleet.ranks.items():
            status = told.get(rank)
            if not isinstance(status, dict):
                rows.append((rank, looked.remote.card.pid, looked.remote.gone or str(status), ""))
            else:
                where = status["place"] or status["reason"]
                rows.append((rank, looked.remote.card.pid, f"{status['state']} {where}".strip(), status["step"]))
        return tabulate(rows, ("rank", "process", "", "step"))

    def run_under_debugger(self, line: str, options: argparse.Namespace, body: str) -> None:
        """Run the body of a `%%cell NET --ranks` on all ranks, with one panel for all of them.

        Raises:
            UsageError: there are no ranks.
            RanksFailed: it failed on some.
        """
        from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS

        from .started import RanksFailed

        started = self.started()
        started.fleet.stop_on = frozenset(options.stop_on) & frozenset(RANK_CONDITIONS)
        with self._panel(started, options.net or "", options.panel):
            seconds = _EXPLANATIONS_AFTER_AN_INTERRUPT
            try:
                started.run(f"%%cell {_line_for_one_rank(line)}\n{body}")
                seconds = _EXPLANATIONS
            except RanksFailed:
                seconds = _EXPLANATIONS
                raise
            finally:
                _tell_findings(started.fleet, seconds)

    @contextmanager
    def _panel(self, started: StartedRanks, name: str, shown: bool) -> Iterator[None]:
        if not shown:
            yield
            return
        from hookscope.widgets.ranks import RanksPanel

        panel = RanksPanel(started.fleet, name)
        if widgets_come_alive():
            panel.display()
        try:
            yield
        finally:
            if not widgets_come_alive():
                _show_static(panel)

    def attach(self, name: str | None) -> None:
        """Look at a run that was not started from here.

        Raises:
            UsageError: there is none, or none of that name.
        """
        from .attached import Attached, choose

        try:
            attached = Attached(choose(name))
        except (ValueError, OSError) as error:
            raise UsageError(f"%cell: --attach: {one_line(error)}") from None
        self._attached = [one for one in self._attached if one.fleet.living]
        self._attached.append(attached)
        attached.show()


def served_runs() -> str:
    """The runs that ``%cell --attach`` can look at, as text; "" where there are none."""
    from .attached import table

    return table()


def _tell_findings(fleet: Fleet, seconds: float) -> None:
    """Say what differs between the ranks, a line for each; so long at most is waited for what explains it."""
    from hookscope.engine.debug.compare.ranks.findings import ranks_text

    for finding in fleet.findings_at_the_end(seconds):
        where = f"step {finding.step}, {ranks_text(finding.ranks)}"
        from hookscope.engine.cpu.telling import tell

        tell(f"hookscope: {finding.condition}: {where}: {finding.message}. {finding.advice}")


def _line_for_one_rank(line: str) -> str:
    """The line of a `%%cell --ranks` as each rank runs it: without a panel and what only all ranks can tell."""
    from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS
    from hookscope.engine.debug.diagnose.conditions import split_conditions

    words: list[str] = []
    given = iter(shlex.split(line, comments=True))
    for word in given:
        option, _, value = word.partition("=")
        if option in ("--check", "--stop-on"):
            left = [one for one in split_conditions(value or next(given, "")) if one not in RANK_CONDITIONS]
            words += [f"{option}={','.join(left)}"] if left else []
        elif word != "--ranks":
            words.append(word)
    if "--no-panel" not in words:
        words.append("--no-panel")
    return shlex.join(words)


def _show_static(panel: RanksPanel) -> None:
    from IPython.display import display

    forms, _ = panel._repr_mimebundle_()
    forms.pop("application/vnd.jupyter.widget-view+json", None)
    display(forms, raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here
    panel.close()


_ranks: WeakKeyDictionary[Any, NotebookRanks] = WeakKeyDictionary()
