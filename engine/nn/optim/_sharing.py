"""Optimizers whose state is divided among ranks: assignment of parameters, and exchange of their new values.

Parameters are not split, since some rules need a whole parameter, such as LAMB's norms. Each rank updates its
own with the state that it alone keeps; then the ranks exchange the new values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ...base.types import Array
from ...distributed import exchange, settings
from ...distributed.world import Group, check_met, world
from ...ops import collectives as table
from ...tensors.parameter import Parameter, ParameterTuple
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["Elsewhere", "Sharing", "remote_states", "whole_states"]

_EVERYBODY = -1  # owner of a parameter that all ranks update
_TOGETHER = 25 << 20  # bytes per exchange
_COMPILED = ("semi_auto_parallel", "auto_parallel")  # modes without effect, as set_auto_parallel_context warns


@dataclass(frozen=True)
class Elsewhere:
    """Placeholder in an optimizer for a state that another rank keeps.

    Attributes:
        name: the state's name.
        shape: its shape.
        dtype: its dtype.
        rank: the rank that keeps it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    rank: int

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # Python looks them up, even before there is a name
            raise AttributeError(attribute)
        raise AttributeError(
            f"rank {self.rank} keeps '{self.name}', which has no '{attribute}' here; whole_state() of the optimizer "
            f"gathers it, called by all ranks"
        )


State: TypeAlias = Parameter | Elsewhere


class Sharing(Cell):
    """Base of the optimizers: with ``enable_parallel_optimizer`` set at its creation, one keeps a share of its state.

    An attribute that is a ParameterTuple as long as the parameters is treated as their state.
    """

    _support_parallel_optimizer = False
    """Whether a subclass's own ``construct`` uses ``optim_filter`` and calls ``broadcast_params``."""

    def _share(self, parameters: Sequence[Parameter], construct: Any) -> None:
        """Divide parameters among the ranks if that is requested; those already assigned stay so.

        Args:
            parameters: all that the optimizer updates.
            construct: the one that supports shares.

        Raises:
            RuntimeError: the mode has no ranks that train together, the ranks are not connected, or the optimizer has
                its own ``construct`` that does not support shares.
        """
        if not settings.values["enable_parallel_optimizer"] or settings.values["parallel_mode"] in _COMPILED:
            return
        name = type(self).__name__
        if settings.values["parallel_mode"] != settings.DATA_PARALLEL:
            raise RuntimeError(
                f"For '{name}', 'enable_parallel_optimizer' needs parallel_mode=\"data_parallel\", "
                f"but the mode is '{settings.values['parallel_mode']}'"
            )
        check_met(name)
        group = world().everybody
        if group.size == 1:
            return
        if type(self).construct is not construct and not self._support_parallel_optimizer:
            raise RuntimeError(
                f"For '{name}', 'enable_parallel_optimizer' is for optimizers that define 'updated'; one with a "
                f"'construct' of its own looks at 'optim_filter', calls 'broadcast_params', and says so by "
                f"'_support_parallel_optimizer = True'"
            )
        previous = self._shares
        self.__dict__["_shares"] = _Shares.among(group, parameters, previous.owners if previous else ())

    @property
    def _shares(self) -> _Shares | None:
        return self.__dict__.get("_shares")

    def __setattr__(self, name: str, value: Any) -> None:
        shares = self.__dict__.get("_shares")
        is_state = shares is not None and isinstance(value, ParameterTuple) and len(value) == len(shares.owners)
        if is_state and value[0] is not self.__dict__.get("parameters", value)[0]:
            self._take_states(name, value)
        else:
            super().__setattr__(name, value)

    def _take_states(self, name: str, states: Sequence[State]) -> None:
        """Make a state of each parameter an attribute; one on another rank becomes a placeholder.

        Args:
            name: the attribute's name.
            states: one for each parameter.
        """
        shares = self._shares
        if shares is None:
            super().__setattr__(name, ParameterTuple(states))  # type: ignore[arg-type]  # all are on this rank
            return
        local_states = tuple(shares.here(state, index) for index, state in enumerate(states))
        super().__setattr__(name, ParameterTuple(state for state in local_states if isinstance(state, Parameter)))
        self.__dict__[name] = local_states
        self.__dict__.setdefault("_divided", {})[name] = None

    def _local_indices(self) -> Sequence[int]:
        """Return the indices of the parameters that this rank updates."""
        shares, count = self._shares, len(self.parameters)
        return range(count) if shares is None else [index for index in range(count) if shares.is_local(index)]

    def _receive_parameters(self) -> None:
        """Set the parameters that other ranks have updated to their new values."""
        shares = self._shares
        if shares is not None:
            for index, array in shares.exchanged(self.parameters, "parameters"):
                parameter = self.parameters[index]
                parameter._rebind(table.on_device_of(parameter._array, array))

    def whole_state(self) -> dict[str, Tensor]:
        """Return the optimizer's parameters and state by name, gathered from all ranks; all ranks must call this.

        A checkpoint of it is like one of an undivided optimizer, and can be loaded by any number of ranks.

        Returns:
            A dictionary of Tensors. For an undivided optimizer it is ``parameters_dict()``.

        Raises:
            RuntimeError: the other ranks call something else.
        """
        tensors: dict[str, Tensor] = {p.name: p for p in self.get_parameters()}
        shares = self._shares
        if shares is not None:
            for name in self.__dict__.get("_divided", ()):
                states = self.__dict__[name]
                for index, array in shares.exchanged(states, name):
                    tensors[states[index].name] = Tensor._wrap(array)
        return tensors


@dataclass(frozen=True)
class _Shares:
    """Assignment of parameters to ranks.

    Attributes:
        group: the ranks.
        owners: for each parameter the rank that updates it, or ``_EVERYBODY``.
    """

    group: Group
    owners: tuple[int, ...]

    @classmethod
    def among(cls, group: Group, parameters: Sequence[Parameter], owners: Sequence[int] = ()) -> _Shares:
        """Divide parameters so that ranks have about the same bytes: the largest first, each to the rank with least."""
        assigned = [*owners, *[_EVERYBODY] * (len(parameters) - len(owners))]
        filled = [0] * group.size
        for owner, parameter in zip(owners, parameters, strict=False):
            if owner != _EVERYBODY:
                filled[owner] += parameter._array.nbytes
        for index in sorted(range(len(owners), len(assigned)), key=lambda index: -parameters[index]._array.nbytes):
            if parameters[index].parallel_optimizer and not parameters[index].layerwise_parallel:
                assigned[index] = filled.index(min(filled))
                filled[assigned[index]] += parameters[index]._array.nbytes
        return cls(group, tuple(assigned))

    def __deepcopy__(self, memo: Any) -> _Shares:
        return self

    def is_local(self, index: int) -> bool:
        """Return whether this rank updates a parameter."""
        return self.owners[index] in (self.group.rank, _EVERYBODY)

    def here(self, state: State, index: int) -> State:
        """Return a state on this rank: itself, or its placeholder."""
        if self.is_local(index) or isinstance(state, Elsewhere):
            return state
        return Elsewhere(state.name, state.shape, state._array.dtype, self.owners[index])

    def exchanged(self, states: Sequence[State], description: str) -> Iterator[tuple[int, Array]]:
        """Return the values that other ranks keep, in parts; all ranks must iterate to the end.

        Args:
            states: for each parameter the parameter or its state, or a placeholder.
            description: a description, for errors.

        Returns:
            An iterator over pairs of an index and an array on the host.
        """
        for number, indices in enumerate(self._parts(states)):
            dtype, sizes = _dtype(states[indices[0]]), [0] * self.group.size
            chunks = [np.empty(0, dtype)]
            for index in indices:
                tensor = states[index]
                sizes[self.owners[index]] += math.prod(tensor.shape)
                if isinstance(tensor, Parameter) and self.owners[index] == self.group.rank:
                    chunks.append(table.on_host(tensor._array).reshape(-1))
            flat = np.concatenate(chunks)
            gathered = exchange.start(
                "all_gather",
                f"{description} of an optimizer, {number}: {sizes} of {dtype.name}",
                table.line(),
                self.group,
                partial(exchange.all_gather, self.group, flat, sizes),
            ).wait()
            offset = 0
            for index in sorted(indices, key=self.owners.__getitem__):
                end = offset + math.prod(states[index].shape)
                if self.owners[index] != self.group.rank:
                    yield (
                        index,
                        gathered[offset:end].reshape(states[index].shape).copy(),
                    )  # without a reference to the whole part
                offset = end

    def _parts(self, states: Sequence[State]) -> list[list[int]]:
        """Return the indices of the divided tensors, in parts of one dtype and limited size."""
        parts: list[list[int]] = []
        dtype: Any = None
        filled = 0
        for index, tensor in enumerate(states):
            if self.owners[index] == _EVERYBODY:
                continue
            size = math.prod(tensor.shape) * _dtype(tensor).itemsize
            if _dtype(tensor) != dtype or filled + size > _TOGETHER:
                parts.append([])
                dtype, filled = _dtype(tensor), 0
            parts[-1].append(index)
            filled += size
        return parts


def _dtype(state: State) -> np.dtype[Any]:
    return state.dtype if isinstance(state, Elsewhere) else state._array.dtype


def remote_states(cell: Cell) -> list[str]:
    """Return the names of the states that other ranks keep, for the optimizers in a cell.

    Args:
        cell: for example a training step.
    """
    state_lists = [
        vars(optimizer)[name] for optimizer in _sharing(cell) for name in vars(optimizer).get("_divided", ())
    ]
    return [optimizer.name for states in state_lists for optimizer in states if isinstance(optimizer, Elsewhere)]


def whole_states(cell: Cell) -> dict[str, Tensor]:
    """Return ``whole_state`` of the optimizers in a cell that keep a share of it; all ranks must call this.

    Args:
        cell: for example a training step.
    """
    return {name: value for optimizer in _sharing(cell) for name, value in optimizer.whole_state().items()}


def _sharing(cell: Cell) -> list[Sharing]:
    return [child for _, child in cell.cells_and_names() if isinstance(child, Sharing) and child._shares is not None]
