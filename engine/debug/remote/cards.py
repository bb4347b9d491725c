"""Cards of served processes: the address and the keys of each, readable by this user alone.

A card is a file in a folder. Its readers have the same power over the process as its owner. So the file and the folder
must belong to this user and be closed to others; other cards are rejected.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from hookscope.engine.cpu.ownership import own_folder, read_own

__all__ = ["Card", "cards", "read_card", "remove_card", "sessions_folder", "write_card"]

_ENDING = ".json"
_LARGEST = 1 << 16
"""Limit of the bytes of a card; cards have some hundreds."""


@dataclass(frozen=True)
class Card:
    """Connection data of a served process.

    Attributes:
        address: the address of its socket, in ZeroMQ's notation.
        server_key: its public key.
        client_key: the public key of its clients.
        client_secret: the secret key of its clients.
        what: the program, in words.
        run: common identifier of all ranks that were started together.
        pid: the process ID.
        host: the name of the machine.
        rank: its number among the ranks.
        ranks: the number of ranks.
    """

    address: str
    server_key: str
    client_key: str
    client_secret: str
    what: str
    run: str
    pid: int
    host: str
    rank: int = 0
    ranks: int = 1

    def __repr__(self) -> str:  # the secret must not get into a log
        return f"Card({self.what!r}, rank {self.rank} of {self.ranks}, process {self.pid} on {self.host})"


def sessions_folder() -> Path:
    """Return the folder of the cards of this user's processes; create it if necessary.

    It is ``$HOOKSCOPE_SESSIONS``, or else a folder in ``$XDG_RUNTIME_DIR`` or in the user's cache.

    Raises:
        PermissionError: the folder is another user's, or open to others.
    """
    configured, runtime = os.environ.get("HOOKSCOPE_SESSIONS"), os.environ.get("XDG_RUNTIME_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return own_folder(Path(configured) if configured else Path(runtime or cache) / "hookscope" / "sessions")


def write_card(folder: Path, card: Card) -> Path:
    """Write a card into a file that only this user can read, and that appears only when complete; return its path."""
    path = folder / f"{card.run}-{card.rank}{_ENDING}"
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(card), file)
    part.replace(path)
    return path


def read_card(path: Path) -> Card:
    """Read a card.

    Raises:
        PermissionError: the file is another user's, or open to others.
        ValueError: it does not contain a card.
        OSError: it cannot be read.
    """
    text = read_own(path, _LARGEST)
    try:
        data = json.loads(text)
        card = Card(**data)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{path} is not the card of a process") from None
    for field in dataclasses.fields(Card):
        value = getattr(card, field.name)
        if type(value).__name__ != field.type:
            raise ValueError(f"{path} is not the card of a process: {field.name} is not of type {field.type}")
    return card


def cards(folder: Path | None = None) -> list[Card]:
    """Return the cards of live processes, the oldest run first, each by rank; cards of dead processes are removed.

    A process on another machine is considered alive.
    """
    live = []
    for path in sorted((folder or sessions_folder()).glob(f"*{_ENDING}"), key=_age):
        try:
            card = read_card(path)
        except (OSError, ValueError):  # it is not a card, or was just removed
            continue
        if card.host == socket.gethostname() and not _lives(card.pid):
            path.unlink(missing_ok=True)
            remove_socket(card)
        else:
            live.append(card)
    runs = {run: position for position, run in enumerate(dict.fromkeys(card.run for card in live))}
    return sorted(live, key=lambda card: (runs[card.run], card.rank))


def remove_card(path: Path, card: Card) -> None:
    """Remove the card of a process that has ended, or stopped serving."""
    path.unlink(missing_ok=True)
    remove_socket(card)


def remove_socket(card: Card) -> None:
    """Remove the file of a Unix socket, which ZeroMQ leaves behind when a process is killed."""
    if card.address.startswith("ipc://"):
        with contextlib.suppress(OSError):
            os.unlink(card.address.removeprefix("ipc://"))


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # the number was reused by another user's process
    return True
