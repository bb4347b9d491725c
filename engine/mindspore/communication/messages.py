"""Point-to-point messages, addressed by world rank; received values are written into a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...distributed import mailbox
from ...ops import collectives as table
from ...ops.arguments import check_tensor
from ...tensors.tensor import Tensor
from .handles import CommHandle
from .process_groups import check_call, in_group
from .results import gives_new

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]

P = TypeVar("P", bound="P2POp")


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to another rank without waiting for its receipt.

    Args:
        tensor: the tensor.
        dst: the world rank of the receiver.
        group: the name of a group that includes both; None for the world.
        tag: distinguishes messages between two ranks, 0 to 32767.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: this rank itself, a rank outside the group, or an unsupported tag.
    """
    isend(tensor, dst, group, tag)


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """Send a copy of a tensor to another rank; the tensor may change immediately.

    Args:
        tensor: the tensor.
        dst: the world rank of the receiver.
        group: the name of a group that includes both; None for the world.
        tag: distinguishes messages between two ranks, 0 to 32767.

    Returns:
        A handle; its ``wait()`` has nothing to wait for.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: this rank itself, a rank outside the group, or an unsupported tag.
    """
    members, (x,) = check_call("send", group, tensor=tensor)
    to, number = in_group("send", "dst", members, dst), table.check_tag("send", tag)
    if to == members.rank:
        raise ValueError(f"For 'send', 'dst' must be a rank other than this one, but got {dst}")
    return CommHandle(mailbox.send(members, table.on_host(x._array), to, number, table.line()))


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receive a tensor from another rank, written into a tensor.

    Args:
        tensor: receives the values; the message has its shape and dtype.
        src: the world rank of the sender.
        group: the name of a group that includes both; None for the world.
        tag: as the sender's.

    Returns:
        0; a new tensor after ``set_comm_ops_inplace(False)``.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or an unsupported tag.
        RuntimeError: the message has the wrong shape or dtype.
    """
    into = Tensor._wrap(check_tensor(tensor, "recv", "tensor")._array) if "recv" in gives_new else tensor
    receive_into(into, src, group, tag).wait()
    return into if "recv" in gives_new else 0


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Receive a tensor from another rank, written into a tensor by ``wait``.

    Args:
        tensor: receives the values; the message has its shape and dtype.
        src: the world rank of the sender.
        group: the name of a group that includes both; None for the world.
        tag: as the sender's.

    Returns:
        A handle; after ``set_comm_ops_inplace(False)`` a new tensor and a handle.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or an unsupported tag.
    """
    if "irecv" not in gives_new:
        return receive_into(tensor, src, group, tag)
    into = Tensor._wrap(check_tensor(tensor, "irecv", "tensor")._array)
    return into, receive_into(into, src, group, tag)


def receive_into(into: Tensor, src: int, group: str | None, tag: int) -> CommHandle:
    """Receive into a tensor, as ``irecv`` does."""
    members, (x,) = check_call("recv", group, tensor=into)
    source, number = in_group("recv", "src", members, src), table.check_tag("recv", tag)
    like = np.empty(x.shape, x._array.dtype)
    pending = mailbox.receive(members, like, source, number, table.line())
    return CommHandle(pending, lambda array: into._rebind(table.on_device_of(into._array, array)))


class P2POp:
    """One message of ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``, or its name.
        tensor: the tensor to send, or to receive into.
        peer: the world rank of the other process.
        group: the name of a group that includes both; None for the world.
        tag: distinguishes messages between two ranks, 0 to 32767.

    Raises:
        TypeError: an unknown ``op``, or not a tensor.
    """

    def __init__(
        self, op: Callable[..., Any] | str, tensor: Tensor, peer: int, group: str | None = None, tag: int = 0
    ) -> None:
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise TypeError(f"For 'P2POp', 'op' must be isend or irecv, but got {op!r}")
        self.op, self.peer, self.group, self.tag = op, peer, group, tag
        self.tensor = check_tensor(tensor, "P2POp", "tensor")
        self.sends = name == "isend"


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[CommHandle]:
    """Send and receive several messages.

    Args:
        p2p_op_list: the messages.

    Returns:
        A handle for each.

    Raises:
        TypeError: not a list of ``P2POp``.
        ValueError: an empty list.
    """
    return [
        (isend if operation.sends else receive_into)(operation.tensor, operation.peer, operation.group, operation.tag)
        for operation in check_messages(p2p_op_list, P2POp)
    ]


def check_messages(p2p_op_list: Sequence[P], kind: type[P]) -> Sequence[P]:
    """Return the messages, which must be a list of a kind of ``P2POp``; else raise TypeError or ValueError."""
    if not isinstance(p2p_op_list, list | tuple) or not all(isinstance(operation, kind) for operation in p2p_op_list):
        raise TypeError(f"For 'batch_isend_irecv', 'p2p_op_list' must be a list of P2POp, but got {p2p_op_list!r}")
    if not p2p_op_list:
        raise ValueError("For 'batch_isend_irecv', 'p2p_op_list' must hold a P2POp at least")
    return p2p_op_list
