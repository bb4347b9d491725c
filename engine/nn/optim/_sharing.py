"""Optimizers whose state is divided among ranks: who changes which parameter, and how all get the new values.

Parameters are divided whole, since some rules look at a whole parameter, such as LAMB's norms. Each rank changes its
own by the state that it alone keeps; then the ranks give each other the new values.
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

__all__ = ["Elsewhere", "Sharing", "kept_elsewhere", "whole_states"]

_EVERYBODY = -1  # changes a parameter that is not divided
_TOGETHER = 25 << 20  # bytes that are exchanged at once
_COMPILED = ("semi_auto_parallel", "auto_parallel")  # modes without effect, as set_auto_parallel_context warns


@dataclass(frozen=True)
class Elsewhere:
    """What stands in an optimizer for a state that another rank keeps.

    Attributes:
        name: of the state.
        shape: its shape.
        dtype: its dtype.
        rank: who keeps it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    rank: int

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # which Python asks for, also before there is a name
            raise AttributeError(attribute)
        raise AttributeError(
            f"rank {self.rank} keeps '{self.name}', which has no '{attribute}' here; whole_state() of the optimizer "
            f"gathers it, called by all ranks"
        )


State: TypeAlias = Parameter | Elsewhere


class Sharing(Cell):
    """Base of the optimizers: one that is made where ``enable_parallel_optimizer`` is set keeps a share of its state.

    A ParameterTuple as long as the parameters, which becomes an attribute, is taken for their state.
    """

    _support_parallel_optimizer = False
    """Whether a ``construct`` of a subclass's own looks at ``optim_filter`` and calls ``broadcast_params``."""

    def _share(self, parameters: Sequence[Parameter], construct: Any) -> None:
        """Divide parameters among the ranks where that is wanted; those that are divided already stay where they are.

        Args:
            parameters: all that the optimizer changes.
            construct: the one that knows of shares.

        Raises:
            RuntimeError: the mode has no ranks that train together, the ranks have not met, or the optimizer has a
                ``construct`` of its own that knows nothing of shares.
        """
        if not settings.kept["enable_parallel_optimizer"] or settings.kept["parallel_mode"] in _COMPILED:
            return
        name = type(self).__name__
        if settings.kept["parallel_mode"] != settings.DATA_PARALLEL:
            raise RuntimeError(
                f"For '{name}', 'enable_parallel_optimizer' needs parallel_mode=\"data_parallel\", "
                f"but the mode is '{settings.kept['parallel_mode']}'"
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
        before = self._shares
        self.__dict__["_shares"] = _Shares.among(group, parameters, before.owners if before else ())

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
        """Make a state of each parameter an attribute; of one that another rank changes what it is like.

        Args:
            name: of the attribute.
            states: one for each parameter.
        """
        shares = self._shares
        if shares is None:
            super().__setattr__(name, ParameterTuple(states))  # type: ignore[arg-type]  # all are here
            return
        held = tuple(shares.here(one, place) for place, one in enumerate(states))
        super().__setattr__(name, ParameterTuple(one for one in held if isinstance(one, Parameter)))
        self.__dict__[name] = held
        self.__dict__.setdefault("_divided", {})[name] = None

    def _own_places(self) -> Sequence[int]:
        """The places of the parameters that this rank changes."""
        shares, count = self._shares, len(self.parameters)
        return range(count) if shares is None else [place for place in range(count) if shares.is_own(place)]

    def _take_others(self) -> None:
        """Give the parameters that other ranks have changed their new values."""
        shares = self._shares
        if shares is not None:
            for place, array in shares.exchanged(self.parameters, "parameters"):
                parameter = self.parameters[place]
                parameter._rebind(table.beside(parameter._array, array))

    def whole_state(self) -> dict[str, Tensor]:
        """The optimizer's parameters and state by name, with what other ranks keep of it; all ranks must call this.

        A checkpoint of it is like one of an optimizer that is not divided, and is loaded by any number of ranks.

        Returns:
            A dictionary of Tensors. Of an optimizer that is not divided it is ``parameters_dict()``.

        Raises:
            RuntimeError: the other ranks do something else.
        """
        found: dict[str, Tensor] = {p.name: p for p in self.get_parameters()}
        shares = self._shares
        if shares is not None:
            for name in self.__dict__.get("_divided", ()):
                states = self.__dict__[name]
                for place, array in shares.exchanged(states, name):
                    found[states[place].name] = Tensor._wrap(array)
        return found


@dataclass(frozen=True)
class _Shares:
    """Who changes which parameters.

    Attributes:
        group: the ranks.
        owners: of each parameter the rank that changes it, or ``_EVERYBODY``.
    """

    group: Group
    owners: tuple[int, ...]

    @classmethod
    def among(cls, group: Group, parameters: Sequence[Parameter], owners: Sequence[int] = ()) -> _Shares:
        """Divide parameters so that ranks have about the same bytes: the largest first, each to who has least."""
        found = [*owners, *[_EVERYBODY] * (len(parameters) - len(owners))]
        filled = [0] * group.size
        for owner, parameter in zip(owners, parameters, strict=False):
            if owner != _EVERYBODY:
                filled[owner] += parameter._array.nbytes
        for place in sorted(range(len(owners), len(found)), key=lambda place: -parameters[place]._array.nbytes):
            if parameters[place].parallel_optimizer and not parameters[place].layerwise_parallel:
                found[place] = filled.index(min(filled))
                filled[found[place]] += parameters[place]._array.nbytes
        return cls(group, tuple(found))

    def __deepcopy__(self, memo: Any) -> _Shares:
        return self

    def is_own(self, place: int) -> bool:
        """Whether this rank changes a parameter."""
        return self.owners[place] in (self.group.rank, _EVERYBODY)

    def here(self, one: State, place: int) -> State:
        """A state as this rank has it: itself, or what it is like."""
        if self.is_own(place) or isinstance(one, Elsewhere):
            return one
        return Elsewhere(one.name, one.shape, one._array.dtype, self.owners[place])

    def exchanged(self, held: Sequence[State], what: str) -> Iterator[tuple[int, Array]]:
        """The values of what other ranks keep, in parts; all ranks go through all of it.

        Args:
            held: of each parameter, or of a state of each: the parameter, or what it is like.
            what: it is, for errors.

        Returns:
            An iterator over pairs of a place and an array of the host's.
        """
        for number, places in enumerate(self._parts(held)):
            dtype, sizes = _dtype(held[places[0]]), [0] * self.group.size
            own = [np.empty(0, dtype)]
            for place in places:
                one = held[place]
                sizes[self.owners[place]] += math.prod(one.shape)
                if isinstance(one, Parameter) and self.owners[place] == self.group.rank:
                    own.append(table.on_host(one._array).reshape(-1))
            flat = np.concatenate(own)
            whole = exchange.started(
                "all_gather",
                f"{what} of an optimizer, {number}: {sizes} of {dtype.name}",
                table.line(),
                self.group,
                partial(exchange.all_gather, self.group, flat, sizes),
            ).wait()
            at = 0
            for place in sorted(places, key=self.owners.__getitem__):
                end = at + math.prod(held[place].shape)
                if self.owners[place] != self.group.rank:
                    yield place, whole[at:end].reshape(held[place].shape).copy()  # and not the whole part with it
                at = end

    def _parts(self, held: Sequence[State]) -> list[list[int]]:
        """The places of what is divided, in parts of one dtype and limited size."""
        parts: list[list[int]] = []
        dtype: Any = None
        filled = 0
        for place, one in enumerate(held):
            if self.owners[place] == _EVERYBODY:
                continue
            size = math.prod(one.shape) * _dtype(one).itemsize
            if _dtype(one) != dtype or filled + size > _TOGETHER:
                parts.append([])
                dtype, filled = _dtype(one), 0
            parts[-1].append(place)
            filled += size
        return parts


def _dtype(one: State) -> np.dtype[Any]:
    return one.dtype if isinstance(one, Elsewhere) else one._array.dtype


def kept_elsewhere(cell: Cell) -> list[str]:
    """The names of what other ranks keep of the state of the optimizers in a cell.

    Args:
        cell: such as a training step.
    """
    held = [vars(one)[name] for one in _sharing(cell) for name in vars(one).get("_divided", ())]
    return [one.name for states in held for one in states if isinstance(one, Elsewhere)]


def whole_states(cell: Cell) -> dict[str, Tensor]:
    """``whole_state`` of the optimizers in a cell that keep a share of it; all ranks must call this.

    Args:
        cell: such as a training step.
    """
    return {name: value for one in _sharing(cell) for name, value in one.whole_state().items()}


def _sharing(cell: Cell) -> list[Sharing]:
    return [one for _, one in cell.cells_and_names() if isinstance(one, Sharing) and one._shares is not None]
