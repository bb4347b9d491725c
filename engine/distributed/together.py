"""The end of what all ranks ran: they come together here, however it ended on each, and go on in step.

A rank that comes while another one still asks for something makes that an error there: the ranks do not do the same.
"""

from __future__ import annotations

import threading

from . import mailbox
from .exchange import started
from .worker import Pending, pending_of
from .world import WORLDS, world

__all__ = ["give_up", "in_step"]

_under_way: dict[str, Pending] = {}  # by group: where an interrupt left the waiting


def in_step(what: str) -> None:
    """Wait until all ranks of every group have come here; called on all of them.

    An exchange that a rank still waits for ends with its error there, and it comes, too. After an interrupt a later
    call goes on with the waiting.

    Args:
        what: what has ended, in words.
    """
    mailbox.forget_awaited()
    ours = world()
    # In one order on all ranks; that of all of them last.
    names = [*sorted(name for name in ours.groups if name not in WORLDS), WORLDS[0]]
    for group in (ours.groups[name] for name in names):
        if group.comm is None or group.rank is None:
            continue
        while True:
            pending = _under_way.get(group.name)
            if pending is None:
                pending = _under_way[group.name] = started(what, "", "", group, lambda: None)
            try:
                pending.wait()
            except RuntimeError:  # a rank asked for something else: it was told so, and comes
                del _under_way[group.name]
            else:
                del _under_way[group.name]
                break


def give_up(why: str) -> None:
    """End what the main thread waits for with a RuntimeError; any thread may call this.

    A message is waited for no more. An exchange with a group cannot be taken back from MPI: this process can do no
    other one after it, and each says so.

    Args:
        why: the error's text.
    """
    pending = pending_of(threading.main_thread().ident)
    if pending is None:
        return
    if pending.group:
        world().broken = why
    pending.end(error=RuntimeError(why))
    if not pending.group:
        mailbox.forget_awaited()
