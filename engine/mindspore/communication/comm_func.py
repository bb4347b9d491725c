"""``mindspore.communication.comm_func``: collectives that return new tensors. Arguments are world ranks.

With ``async_op=True`` the returned tensor is valid after ``wait()`` of its handle, and has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops import collectives as table
from ...ops.arguments import check_tensor
from ...tensors.dtype import DType, float32
from ...tensors.tensor import Tensor
from . import in_place
from .handles import CommHandle
from .messages import check_messages, receive_into
from .process_groups import in_group

__all__ = [
    "P2POp",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single_with_output_shape",
    "all_to_all_v_c",
    "all_to_all_with_output_shape",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "gather_into_tensor",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
    "send",
]

Result = tuple[Tensor, CommHandle | None]

all_to_all_v_c = in_place.all_to_all_v_c
isend = in_place.isend
send = in_place.send


def all_reduce(tensor: Tensor, op: str = "sum", group: str = table.WORLD, async_op: bool = False) -> Result:
    """Reduce all ranks' tensors.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group.
        async_op: whether to run in the background.

    Returns:
        The result, and a handle with ``async_op``, else None.

    Raises:
        TypeError: not a tensor, not a bool, or a dtype that does not suit ``op``.
        ValueError: an unknown ``op``, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    process_group, x = table.member("all_reduce", group), check_tensor(tensor, "all_reduce", "tensor")
    reduction = table.check_reduction("all_reduce", op, x)
    return in_place.all_reduced(None, x, reduction, process_group, async_op)


def all_gather_into_tensor(tensor: Tensor, group: str = table.WORLD, async_op: bool = False) -> Result:
    """Concatenate all ranks' tensors along the first axis.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        group: the name of a group.
        async_op: whether to run in the background.

    Returns:
        The result, and a handle with ``async_op``, else None.

    Raises:
        TypeError: not a tensor, or not a bool.
        ValueError: this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "all_gather_into_tensor"
    process_group, x = table.member(caller, group), table.check_rows(caller, tensor, "tensor")
    return in_place.all_gathered(None, x, process_group, async_op)


def reduce_scatter_tensor(tensor: Tensor, op: str = "sum", group: str = table.WORLD, async_op: bool = False) -> Result:
    """Reduce all ranks' tensors and return this rank's share of the first axis.

    Args:
        tensor: the tensor of this rank; the ranks divide its first axis.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group.
        async_op: whether to run in the background.

    Returns:
        The result, and a handle with ``async_op``, else None.

    Raises:
        TypeError: not a tensor, not a bool, or a dtype that does not suit ``op``.
        ValueError: a first axis that the ranks do not divide, an unknown ``op``, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "reduce_scatter_tensor"
    process_group = table.member(caller, group)
    x = table.check_divides(caller, "tensor", table.check_rows(caller, tensor, "tensor"), 0, process_group)
    return in_place.reduce_scattered(None, x, table.check_reduction(caller, op, x), process_group, async_op)


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str = table.WORLD) -> Tensor:
    """Reduce all ranks' tensors on one rank; the others return zeros.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the world rank of the receiver.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group.

    Raises:
        TypeError: not a tensor, not an int, or a dtype that does not suit ``op``.
        ValueError: an unknown ``op``, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, x = table.member("reduce", group), check_tensor(tensor, "reduce", "tensor")
    root, reduction = in_group("reduce", "dst", process_group, dst), table.check_reduction("reduce", op, x)
    return table.reduce(x, root=root, op=reduction, group=process_group.name)


def broadcast(tensor: Tensor, src: int = 0, group: str = table.WORLD) -> Tensor:
    """Broadcast the tensor of one rank.

    Args:
        tensor: the tensor to send; on the other ranks it has the shape and dtype of the message.
        src: the world rank of the tensor's owner.
        group: the name of a group.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, x = table.member("broadcast", group), check_tensor(tensor, "broadcast", "tensor")
    return table.broadcast(x, root=in_group("broadcast", "src", process_group, src), group=process_group.name)


def gather_into_tensor(tensor: Tensor, dst: int = 0, group: str = table.WORLD) -> Tensor:
    """Concatenate all ranks' tensors along the first axis, on one rank; the others return zeros.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the world rank of the receiver.
        group: the name of a group.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "gather_into_tensor"
    process_group, x = table.member(caller, group), table.check_rows(caller, tensor, "tensor")
    return table.gather(x, root=in_group(caller, "dst", process_group, dst), group=process_group.name)


def scatter_tensor(tensor: Tensor, src: int = 0, group: str = table.WORLD) -> Tensor:
    """Scatter one rank's tensor along the first axis.

    Args:
        tensor: the tensor to divide; on the other ranks it has the shape and dtype of that one.
        src: the world rank of the tensor's owner.
        group: the name of a group.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a first axis that the ranks do not divide, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "scatter_tensor"
    process_group = table.member(caller, group)
    x = table.check_divides(caller, "tensor", table.check_rows(caller, tensor, "tensor"), 0, process_group)
    return table.scatter(x, root=in_group(caller, "src", process_group, src), group=process_group.name)


def barrier(group: str = table.WORLD) -> None:
    """Wait for all ranks of a group.

    Args:
        group: the name of a group.

    Raises:
        TypeError: not a str.
        ValueError: this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    table.wait_for_all(table.member("barrier", group))


def recv(tensor: Tensor, src: int = 0, group: str = table.WORLD, tag: int = 0) -> Tensor:
    """Receive a tensor from another rank.

    Args:
        tensor: has the shape and dtype of the message.
        src: the world rank of the sender.
        group: the name of a group that includes both.
        tag: as the sender's.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or an unsupported tag.
        RuntimeError: the message has the wrong shape or dtype.
    """
    into, handle = irecv(tensor, src, group, tag)
    handle.wait()
    return into


def irecv(tensor: Tensor, src: int = 0, group: str = table.WORLD, tag: int = 0) -> tuple[Tensor, CommHandle]:
    """Receive a tensor from another rank; its values are valid after ``wait`` of the handle.

    Args:
        tensor: has the shape and dtype of the message.
        src: the world rank of the sender.
        group: the name of a group that includes both.
        tag: as the sender's.

    Raises:
        TypeError: not a tensor, or not an int.
        ValueError: a rank outside the group, or an unsupported tag.
    """
    into = Tensor._wrap(check_tensor(tensor, "recv", "tensor")._array)
    return into, receive_into(into, src, group, tag)


def all_to_all_with_output_shape(
    output_shape_list: Sequence[Any],
    input_tensor_list: Sequence[Tensor],
    group: str | None = None,
    async_op: bool = False,
) -> tuple[tuple[Tensor, ...], CommHandle | None]:
    """Exchange a tensor with each rank.

    Args:
        output_shape_list: the shape received from each rank, or a tensor of that shape.
        input_tensor_list: this rank's tensor for each.
        group: the name of a group; None for the world.
        async_op: whether to run in the background.

    Returns:
        The tensors, and a handle with ``async_op``, else None.

    Raises:
        TypeError: not tensors, not shapes, or not a bool.
        ValueError: a list of the wrong length, or this process is not in the group.
        RuntimeError: the ranks' calls differ, or a different number of elements than expected is sent.
    """
    caller = "all_to_all_with_output_shape"
    process_group = table.member(caller, group)
    tensors = in_place.tensors_of_ranks(caller, "input_tensor_list", input_tensor_list, process_group)
    if not isinstance(output_shape_list, list | tuple):
        kind = type(output_shape_list).__name__
        raise TypeError(f"For '{caller}', 'output_shape_list' must be a list or tuple of shapes, but got {kind}")
    shapes = [item.shape if isinstance(item, Tensor) else tuple(item) for item in output_shape_list]
    like = tensors[0]._array
    into = tuple([Tensor._wrap(table.on_device_of(like, np.zeros(shape, like.dtype))) for shape in shapes])
    handle = in_place.all_to_all([*into], tensors, group, async_op)
    return into, handle


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Result:
    """Exchange parts with each rank, concatenated along the first axis.

    Args:
        output_shape: the shape of the result, or a tensor of that shape.
        tensor: this rank's parts for each, concatenated.
        output_split_sizes: the length received from each rank; None for equal lengths.
        input_split_sizes: the length sent to each rank; None for equal lengths.
        group: the name of a group; None for the world.
        async_op: whether to run in the background.

    Returns:
        The result, and a handle with ``async_op``, else None.

    Raises:
        TypeError: not a tensor, or not a bool.
        ValueError: lengths that do not fit, or this process is not in the group.
        RuntimeError: the ranks' calls differ, or a different number of elements than expected is sent.
    """
    x = check_tensor(tensor, "all_to_all_single_with_output_shape", "tensor")
    shape = output_shape.shape if isinstance(output_shape, Tensor) else tuple(output_shape)
    into = Tensor._wrap(table.on_device_of(x._array, np.zeros(shape, x._array.dtype)))
    handle = in_place.all_to_all_single(into, x, output_split_sizes, input_split_sizes, group, async_op)
    return into, handle


class P2POp(in_place.P2POp):
    """One message of ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``, or its name.
        tensor: the tensor to send; or a tensor of the message's shape, or that shape.
        peer: the world rank of the other process.
        group: the name of a group that includes both; None for the world.
        tag: distinguishes messages between two ranks, 0 to 32767.
        recv_dtype: the dtype of the message if a shape is passed.

    Raises:
        TypeError: an unknown ``op``, or neither a tensor nor a shape.
        ValueError: a shape without ``recv_dtype``.
    """

    def __init__(
        self,
        op: Callable[..., Any] | str,
        tensor: Tensor | tuple[int, ...],
        peer: int,
        group: str | None = None,
        tag: int = 0,
        *,
        recv_dtype: DType | None = None,
    ) -> None:
        if isinstance(tensor, tuple):
            if recv_dtype is None:
                raise ValueError("For 'P2POp', 'recv_dtype' must be given if 'tensor' is a shape")
            tensor = Tensor._wrap(np.zeros(tensor, recv_dtype.numpy))
        super().__init__(op, tensor, peer, group, tag)
        self.recv_dtype = recv_dtype


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> tuple[Tensor, ...]:
    """Send and receive several messages, and wait for the received ones.

    Args:
        p2p_op_list: the messages.

    Returns:
        For each the received tensor; a zero for one that was sent.

    Raises:
        TypeError: not a list of ``P2POp``.
        ValueError: an empty list.
    """
    into = [
        Tensor(0.0, float32) if operation.sends else Tensor._wrap(operation.tensor._array)
        for operation in check_messages(p2p_op_list, P2POp)
    ]
    handles = [
        isend(operation.tensor, operation.peer, operation.group, operation.tag)
        if operation.sends
        else receive_into(target, operation.peer, operation.group, operation.tag)
        for operation, target in zip(p2p_op_list, into, strict=True)
    ]
    for handle in handles:
        handle.wait()
    return tuple(into)
