"""The port of the browser tests' server stays reserved from its choice until the server listens there."""

from __future__ import annotations

import socket

import pytest

from tests.browser.lab import reserved_port


def test_a_reserved_port_is_refused_to_others_until_a_server_listens_there() -> None:
    with reserved_port() as port:
        with socket.socket() as other, pytest.raises(OSError, match="already in use"):
            other.bind(("127.0.0.1", port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(("127.0.0.1", port)) as page:
            accepted, address = server.accept()
            accepted.close()
            assert address == page.getsockname()
