"""A session in another process: what such a process serves, and how one that looks at it speaks to it.

One protocol for all: `wire` says what a message is, `cards` who may send one and where, `server` and `client` carry
them. `served` is what a process offers that is looked at from outside.
"""

from .cards import Card, cards, read_card, sessions_folder
from .client import Remote, RemoteError
from .served import RemotePauser, Served
from .wire import WireError

__all__ = [
    "Card",
    "Remote",
    "RemoteError",
    "RemotePauser",
    "Served",
    "WireError",
    "cards",
    "read_card",
    "sessions_folder",
]
