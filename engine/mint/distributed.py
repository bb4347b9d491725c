"""``mindspore.mint.distributed``: there is one process, so there is nobody to send to."""

from __future__ import annotations

from ..core.names import on_first_use

__all__ = ["get_rank", "get_world_size", "is_available", "is_initialized"]


def is_available() -> bool:
    """Whether processes can talk to each other: no.

    Returns:
        False.
    """
    return False


def is_initialized() -> bool:
    """Whether processes talk to each other now: no.

    Returns:
        False.
    """
    return False


def get_rank(group: str | None = None) -> int:
    """The number of this process.

    Args:
        group: the group of processes to count in; ignored, there is one process.

    Returns:
        0.
    """
    return 0


def get_world_size(group: str | None = None) -> int:
    """How many processes there are.

    Args:
        group: the group of processes to count; ignored, there is one process.

    Returns:
        1.
    """
    return 1


__getattr__ = on_first_use(__name__)
