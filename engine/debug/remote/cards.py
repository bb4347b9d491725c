"""The card of a process that can be looked at: where it listens, and the keys to speak to it, for this user alone.

A card is a file in a folder. Who can read it can do with the process what its owner can; so both belong to one user,
nobody else may open them, and a card of which that is not so is refused.
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
"""Bytes of a card; they have some hundreds."""


@dataclass(frozen=True)
class Card:
    """What one needs to look at a process.

    Attributes:
        address: of its socket, as ZeroMQ writes it.
        server_key: its public key.
        client_key: the public key of who may look,
        client_secret: and the secret one.
        what: what runs there, in words.
        run: the same of all ranks that were started together.
        pid: its process.
        host: the machine.
        rank: its number among the ranks,
        ranks: and how many there are.
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

    def __repr__(self) -> str:  # the secret must not come into a log
        return f"Card({self.what!r}, rank {self.rank} of {self.ranks}, process {self.pid} on {self.host})"


def sessions_folder() -> Path:
    """The folder of the cards of this user's processes, made where it is missing.

    It is ``$HOOKSCOPE_SESSIONS``, or else in ``$XDG_RUNTIME_DIR``, which is for such things, or in the user's cache.

    Raises:
        PermissionError: the folder is another user's, or open to others.
    """
    given, runtime = os.environ.get("HOOKSCOPE_SESSIONS"), os.environ.get("XDG_RUNTIME_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return own_folder(Path(given) if given else Path(runtime or cache) / "hookscope" / "sessions")


def write_card(folder: Path, card: Card) -> Path:
    """Write it into a file that only this user can read, which is whole as soon as it is there; returns its path."""
    path = folder / f"{card.run}-{card.rank}{_ENDING}"
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(card), file)
    part.replace(path)
    return path


def read_card(path: Path) -> Card:
    """Read one.

    Raises:
        PermissionError: the file is another user's, or open to others.
        ValueError: it holds no card.
        OSError: it cannot be read.
    """
    text = read_own(path, _LARGEST)
    try:
        found = json.loads(text)
        card = Card(**found)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{path} holds no card of a process") from None
    for field in dataclasses.fields(Card):
        value = getattr(card, field.name)
        if type(value).__name__ != field.type:
            raise ValueError(f"{path} holds no card of a process: {field.name} is no {field.type}")
    return card


def cards(folder: Path | None = None) -> list[Card]:
    """Those of processes that live, the oldest run first, each by rank; cards of others are removed.

    A process on another machine is taken for one that lives.
    """
    found = []
    for path in sorted((folder or sessions_folder()).glob(f"*{_ENDING}"), key=_age):
        try:
            card = read_card(path)
        except (OSError, ValueError):  # it is none, or has just been removed
            continue
        if card.host == socket.gethostname() and not _lives(card.pid):
            path.unlink(missing_ok=True)
            remove_socket(card)
        else:
            found.append(card)
    runs = {run: place for place, run in enumerate(dict.fromkeys(card.run for card in found))}
    return sorted(found, key=lambda card: (runs[card.run], card.rank))


def remove_card(path: Path, card: Card) -> None:
    """The process has ended, or serves no more."""
    path.unlink(missing_ok=True)
    remove_socket(card)


def remove_socket(card: Card) -> None:
    """Remove the file of a Unix socket, which ZeroMQ leaves where a process was killed."""
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
        return False  # another user's process has the number now
    return True
