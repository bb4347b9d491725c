"""Members of a cell: children, parameters and buffers by name, and the attributes that all parts of ``Cell`` use.

Each of the three dictionaries also writes its members to the cell's instance attributes, so that ``self.conv`` in a
``construct`` is a plain attribute access, and assignments such as ``net._cells["conv"] = other`` work too.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..tape.hooks import HookEntry
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor

if TYPE_CHECKING:
    from .cell import Cell

__all__ = ["CellBase", "Members"]


class Members(OrderedDict[str, Any]):
    """A dictionary of one kind of member, mirrored in the owner's attributes.

    Args:
        owner: the cell.
        held: pairs of names and members to begin with.
    """

    def __init__(self, owner: CellBase, held: Iterable[tuple[str, Any]] = ()) -> None:
        self._owner = weakref.ref(owner)  # no cycle: a network is freed with its last reference
        super().__init__()
        for name, value in held:
            self[name] = value

    def _attributes(self) -> dict[str, Any]:
        owner = self._owner()
        return {} if owner is None else owner.__dict__

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._attributes()[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._attributes().pop(name, None)

    def pop(self, name: str, *default: Any) -> Any:
        """Remove a member and return it.

        Args:
            name: its name.
            *default: returned if there is no such member.

        Returns:
            The member.

        Raises:
            KeyError: there is none, and no default.
        """
        if name not in self:
            return super().pop(name, *default)
        value = self[name]
        del self[name]
        return value

    def clear(self) -> None:
        """Remove all members."""
        for name in list(self):
            del self[name]

    def move_to_end(self, name: str, last: bool = True) -> None:
        """Move a member to an end of the order.

        Args:
            name: its name.
            last: whether to the end, or to the beginning.

        Raises:
            KeyError: there is no such member.
        """
        value = self[name]
        super().__delitem__(name)
        super().__setitem__(name, value)
        super().move_to_end(name, last)

    def __reduce__(self) -> Any:
        # A copy has no owner until the copied cell adopts it (CellBase.__setstate__).
        return OrderedDict, (list(self.items()),)


class CellBase:
    """The attributes of a cell, declared once for the base classes of ``Cell``."""

    _plain = False
    _cells: OrderedDict[str, Cell]
    _params: OrderedDict[str, Parameter]
    _buffers: OrderedDict[str, Tensor]
    _hooks: dict[str, dict[int, HookEntry]]
    _state_hooks: dict[str, dict[int, Any]]
    _unsaved_buffers: set[str]
    _auto_prefix: bool
    _path: str
    _phase: str
    _flags: dict[str, Any]
    _names_checked: bool
    _recompute: Any
    _offload: int | None
    _saved_tensors_hooks: Any
    mixed_precision_type: Any
    training: bool
    requires_grad: bool

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for kind in ("_cells", "_params", "_buffers"):
            self.__dict__[kind] = Members(self, list(state[kind].items()))

    if TYPE_CHECKING:

        def _refresh(self) -> None: ...
        def cells(self) -> Iterable[Cell]: ...
        def cells_and_names(
            self, cells: set[Cell] | None = None, name_prefix: str = ""
        ) -> Iterator[tuple[str, Cell]]: ...
        def name_cells(self) -> OrderedDict[str, Cell]: ...
        def get_sub_cell(self, target: str) -> Cell: ...
        def get_parameters(self, expand: bool = True) -> Iterator[Parameter]: ...
        def trainable_params(self, recurse: bool = True) -> list[Parameter]: ...
        def parameters_and_names(
            self, name_prefix: str = "", expand: bool = True
        ) -> Iterator[tuple[str, Parameter]]: ...
        def construct(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
