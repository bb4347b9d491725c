"""Synchronization at the end of a common call: all ranks meet here, however it ended on each, and stay in step.

A rank that arrives while another still waits for an exchange causes an error there: the ranks' calls differ.
"""

from __future__ import annotations

import threading

from . import mailbox
from .exchange import start
from .worker import Pending, pending_of
from .world import WORLDS, world

__all__ = ["give_up", "synchronize"]

_under_way: dict[str, Pending] = {}  # by group: exchanges whose wait was interrupted


def synchronize(properties: str) -> None:
    """Wait until all ranks of every group have arrived here; called on all of them.

    An exchange that a rank still waits for ends with its error there, and that rank arrives, too. After an interrupt a
    later call continues to wait.

    Args:
        properties: the name of the ended work, in words.
    """
    mailbox.forget_awaited()
    ours = world()
    # In the same order on all ranks; the group of all ranks last.
    names = [*sorted(name for name in ours.groups if name not in WORLDS), WORLDS[0]]
    for group in (ours.groups[name] for name in names):
        if group.comm is None or group.rank is None:
            continue
        while True:
            pending = _under_way.get(group.name)
            if pending is None:
                pending = _under_way[group.name] = start(properties, "", "", group, lambda: None)
            try:
                pending.wait()
            except RuntimeError:  # a rank requested something else: it gets the error, and arrives
                del _under_way[group.name]
            else:
                del _under_way[group.name]
                break


def give_up(reason: str) -> None:
    """End the main thread's current wait with a RuntimeError; any thread may call this.

    A message is no longer awaited. MPI cannot cancel an exchange with a group: this process cannot perform any
    other exchange after it, and each raises an error.

    Args:
        reason: the error's text.
    """
    pending = pending_of(threading.main_thread().ident)
    if pending is None:
        return
    if pending.group:
        world().broken = reason
    pending.end(error=RuntimeError(reason))
    if not pending.group:
        mailbox.forget_awaited()
