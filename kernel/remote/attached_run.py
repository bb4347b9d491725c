"""A run that was started by ``hookscope run --serve``, without the notebook that attaches to it.

It continues after the notebook detaches.
"""

from __future__ import annotations

import socket
from typing import Any

from IPython.display import display

from hookscope.engine.debug.remote import Card, RemoteError, cards
from hookscope.engine.debug.remote.addresses import only_on_its_machine

from .fleet import Fleet

__all__ = ["AttachedRun", "choose", "table"]

_WIDGET = "application/vnd.jupyter.widget-view+json"


def choose(name: str | None) -> list[Card]:
    """Return the cards of the processes of one run.

    Args:
        name: the name of the run or its script, or a process id; None is the newest run.

    Raises:
        ValueError: no such run exists.
    """
    served = cards()
    if not served:
        raise ValueError(
            "no run of yours is served on this machine; hookscope run --serve SCRIPT serves one, "
            "and hookscope.serve() in a process that runs"
        )
    if name is None:
        run = _newest(served)
    else:
        matches = [
            card for card in served if name in (card.run, card.what, str(card.pid), card.what.rpartition("/")[2])
        ]
        if not matches:
            listing = ", ".join(dict.fromkeys(f"{card.what} ({card.run})" for card in served))
            raise ValueError(f"no run {name!r} is served; there are {listing}")
        run = _newest(matches)
    return [card for card in served if card.run == run]


def _newest(cards: list[Card]) -> str:
    return cards[-1].run


def table() -> str:
    """Return the served runs as text; "" if there are none."""
    from tabulate import tabulate

    rows = [(card.run, card.what, card.rank, card.pid) for card in cards()]
    if not rows:
        return ""
    return tabulate(rows, ("run", "script", "rank", "process"))


class AttachedRun:
    """A run that the notebook is attached to.

    Attributes:
        fleet: the run's ranks, or its only process.

    Raises:
        OSError: the run does not reply.
    """

    def __init__(self, cards: list[Card]) -> None:
        self._name = cards[0].what
        for card in cards:
            if card.host != socket.gethostname() and only_on_its_machine(card.address):
                raise OSError(
                    f"rank {card.rank} runs on {card.host} and can be looked at only there; "
                    "serve it with an address: --serve-address tcp://HOST:*"
                )
        try:
            self.fleet = Fleet(cards)
        except RemoteError as error:
            raise OSError(str(error)) from None

    def show(self) -> None:
        """Show a panel in the running cell's output: that of the single process, or the ranks' panel for several."""
        if len(self.fleet.ranks) > 1:
            from hookscope.widgets.ranks import RanksPanel

            panel = RanksPanel(self.fleet, self._name)
            panel.display()
        else:
            self._show_own_panel()

    def _show_own_panel(self) -> None:
        """Show the panel of a single process, followed by its static form, which is renewed at the end."""
        (rank,) = self.fleet.ranks
        reply = self.fleet.ask_all("panel")[rank]
        live = {_WIDGET: {"version_major": 2, "version_minor": 0, "model_id": reply["model"]}, "text/plain": self._name}
        display(live, raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here
        self._copy: Any = display(  # type: ignore[no-untyped-call]
            reply["forms"], raw=True, display_id=True
        )
        self.fleet.when_forms = self._renew

    def _renew(self, rank: int, forms: dict[str, str]) -> None:
        self._copy.update(forms, raw=True)
