"""Data parallel training: all-reduced gradients, sent during the backward pass; equal weights at the start.

Gradients are grouped in buckets, in the order in which they arrive: that of the parameters from the last to the
first. A bucket is sent to the other ranks as soon as it is full; all ranks send the same buckets in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..base.argument_checks import check_positive_int
from ..base.types import Array
from ..distributed import exchange, settings
from ..distributed.worker import Pending
from ..distributed.world import Group
from ..ops import collectives as table
from ..tape.tape import state
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .cell import Cell

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """The sums or means of the gradients of all ranks. In one process they are returned unchanged.

    Takes ``grads``, a tuple of Tensors, one for each parameter, and returns a tuple of Tensors; all ranks get the same
    bits. Sums of half precision are computed in float32.

    Args:
        parameters: the parameters, in the order of their gradients.
        mean: whether sums are divided by ``degree``; None for ``gradients_mean`` of
            ``set_auto_parallel_context``.
        degree: the divisor; None for the number of ranks.
        fusion_type: unused: ``comm_fusion`` of the parameters and of the context determines the buckets.
        group: the name of the group of ranks.

    Raises:
        TypeError: ``degree`` is not an int.
        ValueError: ``degree`` is not above 0, there is no such group, or this process is not in it.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = table.WORLD,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.mean = bool(settings.values["gradients_mean"]) if mean is None else mean
        ranks = table.member("DistributedGradReducer", group)
        self.degree = ranks.size if degree is None else check_positive_int(degree, "DistributedGradReducer", "degree")
        self.__dict__.update(_group=ranks, _parameters=list(parameters), _transfer=None)

    def construct(self, grads: Sequence[Tensor]) -> Sequence[Tensor]:
        group: Group = self._group
        if group.size == 1:
            return grads
        if state.tracer is not None:
            state.tracer.leak("ranks exchange values, which plans do not")
        transfer: _Transfer = self.__dict__["_transfer"] or _Transfer(group, self._parameters)
        self.__dict__["_transfer"] = None
        reduced = transfer.finish(grads)
        if self.mean:
            reduced = [g * (1.0 / self.degree) for g in reduced]
        return tuple(reduced)

    @contextmanager
    def during_backward(self, prepare: Callable[[Tensor], Tensor] | None = None) -> Iterator[None]:
        """Send the next gradients of the parameters as they arrive, inside the block; ``construct`` waits for them.

        Args:
            prepare: returns the Tensor to send, and to pass to ``construct``, for a gradient; always the same one.
        """
        if self._group.size == 1 or state.tracer is not None:
            yield
            return
        transfer = self.__dict__["_transfer"] = _Transfer(self._group, self._parameters)
        hooks = [
            p.register_hook(partial(transfer.add_gradient, prepare, index)) for index, p in enumerate(self._parameters)
        ]
        try:
            yield
        except BaseException:
            self.__dict__["_transfer"] = None  # buckets already sent belong to no step
            raise
        finally:
            for hook in hooks:
                hook.remove()


class _Transfer:
    """The gradients of one step in transit: buckets being filled, and buckets sent."""

    def __init__(self, group: Group, parameters: Sequence[Parameter]) -> None:
        self._group = group
        self._buckets = buckets_of(parameters)
        self._arrays: dict[int, Array] = {}
        self._pending: list[Pending] = []
        self._line = table.line()

    def add_gradient(self, prepare: Callable[[Tensor], Tensor] | None, index: int, gradient: Tensor) -> None:
        """Store a complete gradient, after the user's hooks on its parameter.

        Args:
            prepare: returns the Tensor to send.
            index: the index of its parameter.
            gradient: the gradient.
        """
        self._arrays[index] = (prepare(gradient) if prepare else gradient)._array
        self._send_full()

    def finish(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """Return all reduced gradients.

        Args:
            gradients: the results of the backward pass; if they differ from those that arrived, as after a hook, they
                are sent again.
        """
        replaced_indices = [
            index for index, g in enumerate(gradients) if self._arrays.get(index, g._array) is not g._array
        ]
        for index, g in enumerate(gradients):
            self._arrays.setdefault(index, g._array)
        self._send_full()
        reduced = self._receive(gradients, range(len(self._buckets)), self._pending)
        if replaced_indices:
            self._arrays = {index: g._array for index, g in enumerate(gradients)}
            late = [number for number, bucket in enumerate(self._buckets) if not {*replaced_indices}.isdisjoint(bucket)]
            reduced.update(self._receive(gradients, late, [self._send(number) for number in late]))
        return [reduced[index] for index in range(len(gradients))]

    def _send_full(self) -> None:
        while len(self._pending) < len(self._buckets) and all(
            p in self._arrays for p in self._buckets[len(self._pending)]
        ):
            self._pending.append(self._send(len(self._pending)))

    def _send(self, number: int) -> Pending:
        group = self._group
        arrays = [table.on_host(self._arrays[index]) for index in self._buckets[number]]
        flat = np.concatenate([array.reshape(-1) for array in arrays])
        description = f"sum, gradients {number} of {flat.dtype.name} {[flat.size]}"
        return exchange.start(
            "all_reduce", description, self._line, group, lambda: exchange.all_reduce(group, flat, "sum")
        )

    def _receive(
        self, gradients: Sequence[Tensor], numbers: Sequence[int], pending_list: Sequence[Pending]
    ) -> dict[int, Tensor]:
        reduced: dict[int, Tensor] = {}
        for number, pending in zip(numbers, pending_list, strict=True):
            flat, offset = pending.wait(), 0
            for index in self._buckets[number]:
                like = gradients[index]._array
                part = flat[offset : offset + like.size].reshape(like.shape)
                reduced[index] = Tensor._wrap(table.on_device_of(like, part))
                offset += like.size
        return reduced


def buckets_of(parameters: Sequence[Parameter]) -> list[list[int]]:
    """Return the indices of the gradients that are reduced together, from the last parameter to the first.

    A bucket has one dtype. Parameters with a number of ``Cell.set_comm_fusion`` have a separate bucket for each number;
    for the others ``comm_fusion`` and ``all_reduce_fusion_config`` of ``set_auto_parallel_context`` decide.

    Args:
        parameters: the parameters.
    """
    ends, first, next_limit = settings.bucket_limits()
    buckets: list[list[int]] = []
    previous_key: Any = None
    filled, count = 0, 0
    for index in reversed(range(len(parameters))):
        parameter = parameters[index]
        size = parameter._array.nbytes
        key = (parameter._array.dtype, parameter.comm_fusion)
        if ends is not None:
            is_full = count in ends
        else:
            limit = first if len(buckets) <= 1 else next_limit
            is_full = filled + size > limit if parameter.comm_fusion == 1 else parameter.comm_fusion == 0
        if not buckets or key != previous_key or is_full:
            buckets.append([])
            filled = 0
        buckets[-1].append(index)
        previous_key, filled, count = key, filled + size, count + 1
    return buckets


def take_first_ranks_parameters(network: Cell, group: str = table.WORLD) -> None:
    """Set the parameters of a network to their values on the first rank of a group.

    Args:
        network: the cell; parameters that are ``layerwise_parallel`` stay, and those of cells with
            ``set_broadcast_flag(False)``.
        group: the name of the group of ranks.

    Raises:
        RuntimeError: the ranks' parameters are not the same ones.
    """
    ranks = table.member("parameter_broadcast", group)
    if ranks.size == 1:
        return
    cells = [cell for _, cell in network.cells_and_names() if getattr(cell, "broadcast_flag", True) is False]
    excluded = {id(parameter) for cell in cells for parameter in cell.get_parameters(expand=False)}
    for name, parameter in (network.parameters_broadcast_dict() or {}).items():
        if id(parameter) in excluded:
            continue
        array = table.on_host(parameter._array)
        description = f"rank {ranks.ranks[0]}'s parameter {name}, {array.dtype.name} {[*array.shape]}"
        pending = exchange.start(
            "broadcast", description, table.line(), ranks, partial(exchange.broadcast, ranks, array, 0)
        )
        parameter.set_data(Tensor._wrap(table.on_device_of(parameter._array, pending.wait())))
