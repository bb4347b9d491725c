"""A run that was started without the notebook, by ``hookscope run --serve``, and that a notebook looks at.

It goes on when nobody looks any more.
"""

from __future__ import annotations

import socket
from typing import Any

from IPython.display import display

from hookscope.engine.debug.remote import Card, RemoteError, cards
from hookscope.engine.debug.remote.addresses import only_on_its_machine

from .fleet import Fleet

__all__ = ["Attached", "choose", "table"]

_WIDGET = "application/vnd.jupyter.widget-view+json"


def choose(name: str | None) -> list[Card]:
    """The cards of the processes of one run.

    Args:
        name: the run's, its script's, or the number of one of its processes; the newest run without.

    Raises:
        ValueError: there is no such run.
    """
    known = cards()
    if not known:
        raise ValueError(
            "no run of yours is served on this machine; hookscope run --serve SCRIPT serves one, "
            "and hookscope.serve() in a process that runs"
        )
    if name is None:
        run = _newest(known)
    else:
        fitting = [card for card in known if name in (card.run, card.what, str(card.pid), card.what.rpartition("/")[2])]
        if not fitting:
            there = ", ".join(dict.fromkeys(f"{card.what} ({card.run})" for card in known))
            raise ValueError(f"no run {name!r} is served; there are {there}")
        run = _newest(fitting)
    return [card for card in known if card.run == run]


def _newest(known: list[Card]) -> str:
    return known[-1].run


def table() -> str:
    """The runs that one can look at, as text; "" where there are none."""
    from tabulate import tabulate

    rows = [(card.run, card.what, card.rank, card.pid) for card in cards()]
    if not rows:
        return ""
    return tabulate(rows, ("run", "script", "rank", "process"))


class Attached:
    """A run that is looked at.

    Attributes:
        fleet: its ranks, or the one process.

    Raises:
        OSError: it does not answer.
    """

    def __init__(self, found: list[Card]) -> None:
        self._name = found[0].what
        for card in found:
            if card.host != socket.gethostname() and only_on_its_machine(card.address):
                raise OSError(
                    f"rank {card.rank} runs on {card.host} and can be looked at only there; "
                    "serve it with an address: --serve-address tcp://HOST:*"
                )
        try:
            self.fleet = Fleet(found)
        except RemoteError as error:
            raise OSError(str(error)) from None

    def show(self) -> None:
        """Show its panel in the running cell's output: of one process its own, of several one with a rank axis."""
        if len(self.fleet.ranks) > 1:
            from hookscope.widgets.ranks import RanksPanel

            panel = RanksPanel(self.fleet, self._name)
            panel.display()
        else:
            self._show_own_panel()

    def _show_own_panel(self) -> None:
        """Show the panel of the one process, and behind it what a saved notebook keeps, renewed at the end."""
        (rank,) = self.fleet.ranks
        told = self.fleet.ask_all("panel")[rank]
        live = {_WIDGET: {"version_major": 2, "version_minor": 0, "model_id": told["model"]}, "text/plain": self._name}
        display(live, raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here
        self._copy: Any = display(  # type: ignore[no-untyped-call]
            told["forms"], raw=True, display_id=True
        )
        self.fleet.when_forms = self._renew

    def _renew(self, rank: int, forms: dict[str, str]) -> None:
        self._copy.update(forms, raw=True)
