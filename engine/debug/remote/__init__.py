"""Sessions in other processes: the service of such a process, and the client of its observer.

All share one protocol: `wire` defines messages, `cards` addresses and keys, `server` and `client` the transport.
`served` is the service of an observed process.
"""

from .cards import Card, cards, read_card, sessions_folder
from .client import Remote, RemoteError
from .served import RemotePauser, RequestService
from .wire import WireError

__all__ = [
    "Card",
    "Remote",
    "RemoteError",
    "RemotePauser",
    "RequestService",
    "WireError",
    "cards",
    "read_card",
    "sessions_folder",
]
