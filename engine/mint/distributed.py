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


_ALONE = "there is one process, which has the value already"
__getattr__ = on_first_use(
    __name__,
    absent=dict.fromkeys(
        (
            "P2POp", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object",
            "all_reduce", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
            "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend",
            "get_global_rank", "get_group_rank", "get_process_group_ranks", "init_process_group", "irecv", "isend",
            "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor",
            "reduce_scatter_tensor_uneven", "scatter", "scatter_object_list", "send", "send_object_list",
        ),
        _ALONE,
    ),
)  # fmt: skip
