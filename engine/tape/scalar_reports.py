"""Numbers that the training loop reports, such as metrics, for a debugger that draws them.

Without a listener nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["listeners", "report"]

listeners: list[Callable[[Any, Mapping[str, Any]], None]] = []
"""Called with a network and its numbers by name."""


def report(network: Any, values: Mapping[str, Any]) -> None:
    """Pass numbers to the listeners.

    Args:
        network: the network that they are about.
        values: the numbers by name; a value that is not one number is for no curve.
    """
    for listener in tuple(listeners):
        listener(network, values)
