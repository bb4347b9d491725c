"""Listening addresses of a served process: validation of user input for ZeroMQ."""

from __future__ import annotations

import re
import socket

__all__ = ["only_on_its_machine", "tcp_address"]

_FORM = re.compile(r"tcp://(?P<host>\[[0-9a-fA-F:]+\]|[^:/\[\]]+):(?P<port>\*|\d{1,5})")
_ALL = ("*", "0.0.0.0", "[::]")


def tcp_address(text: str) -> str:
    """Return the address, with a number in place of a machine's name.

    Args:
        text: ``tcp://HOST:PORT``: an address of this machine, its name or that of a network interface; ``*`` selects a
            free port.

    Raises:
        ValueError: it is not such an address.
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match["port"] != "*" and int(match["port"]) > 65535):
        raise ValueError(f"address must be tcp://HOST:PORT or tcp://HOST:*, got {text!r}")
    host = match["host"]
    if host in _ALL:
        raise ValueError(
            f"address must name one address or network interface of this machine, got {text!r}: "
            "others could not tell where to connect"
        )
    if not host.startswith("[") and host not in {name for _, name in socket.if_nameindex()}:
        try:
            host = socket.gethostbyname(host)
        except OSError:
            raise ValueError(f"address must name this machine or a network interface of it, got {text!r}") from None
    return f"tcp://{host}:{match['port']}"


def only_on_its_machine(address: str) -> bool:
    """Return whether an address is unreachable from other machines."""
    return address.startswith(("ipc://", "tcp://127.", "tcp://[::1]"))
