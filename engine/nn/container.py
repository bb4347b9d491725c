"""Cells that hold cells: SequentialCell, CellList, CellDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


class _Indexed(Cell):
    """Children under the names "0", "1", ..., used like a list."""

    def _place(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(
                f"For '{type(self).__name__}', an index must be an int or a slice, but got {type(index).__name__}"
            )
        count = len(self._cells)
        if not -count <= index < count:
            raise IndexError(f"For '{type(self).__name__}', the index must be in [{-count}, {count}), but got {index}")
        return index % count

    def _renew(self, cells: list[Cell]) -> None:
        for name in list(self._cells):
            self.__dict__.pop(name, None)
        self._cells.clear()
        for place, cell in enumerate(cells):
            self._adopt(str(place), cell)

    def _checked(self, cell: Any, what: str) -> Cell:
        if not isinstance(cell, Cell):
            raise TypeError(f"For '{type(self).__name__}', {what} must be a Cell, but got {type(cell).__name__}")
        return cell

    def __getitem__(self, index: Any) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            return SequentialCell(*cells[index]) if isinstance(self, SequentialCell) else CellList(*cells[index])
        return cells[self._place(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        place = self._place(index)
        name = list(self._cells)[place]
        self._adopt(name, self._checked(cell, "an entry"))

    def __delitem__(self, index: Any) -> None:
        cells = list(self._cells.values())
        if not isinstance(index, slice):
            index = self._place(index)
        del cells[index]
        self._renew(cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end."""
        self._adopt(str(len(self._cells)), self._checked(cell, "what is appended"))
        return self


class SequentialCell(_Indexed):
    """Cells run one after the other.

    Args:
        *args: the cells, or one list of them, or one OrderedDict of names and cells.

    Raises:
        TypeError: something else.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], list | tuple):
            args = tuple(args[0])
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                self._adopt(name, self._checked(cell, f"entry '{name}'"))
            return
        for place, cell in enumerate(args):
            self._adopt(str(place), self._checked(cell, f"entry {place}"))

    def construct(self, x: Any) -> Any:
        for cell in self._cells.values():
            x = cell(x)
        return x

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the flag on this cell and, as in MindSpore for this container alone, on all its cells."""
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return super().set_grad(requires_grad)


class CellList(_Indexed):
    """A list of cells; it is not called itself.

    Raises:
        TypeError: an entry is no Cell.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1 and isinstance(args[0], list | tuple | CellList):
            self.extend(args[0])
        else:
            self.extend(args)

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add cells at the end."""
        if not isinstance(cells, list | tuple | CellList):
            raise TypeError(f"For 'CellList', 'cells' must be a list or tuple of Cells, but got {type(cells).__name__}")
        for cell in cells:
            self.append(cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the place ``index``."""
        cells = list(self._cells.values())
        count = len(cells)
        if not -count <= index <= count:
            raise IndexError(f"For 'CellList', the index must be in [{-count}, {count}], but got {index}")
        cells.insert(index, self._checked(cell, "what is inserted"))
        self._renew(cells)


class CellDict(Cell):
    """Cells by name.

    Raises:
        TypeError: an entry is no Cell.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if args:
            self.update(args[0])

    def update(self, cells: Any) -> None:
        """Take in all entries of a mapping or of pairs."""
        pairs = cells.items() if isinstance(cells, Mapping | CellDict) else cells
        for name, cell in pairs:
            self[name] = cell

    def __getitem__(self, key: str) -> Cell:
        if key not in self._cells:
            raise KeyError(f"For 'CellDict', there is no cell '{key}'")
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"For 'CellDict', a key must be a str, but got {type(key).__name__}")
        if not isinstance(cell, Cell):
            raise TypeError(f"For 'CellDict', entry '{key}' must be a Cell, but got {type(cell).__name__}")
        if not key or "." in key:
            raise KeyError(f"For 'CellDict', a key must not be empty or hold a dot, but got {key!r}")
        self._adopt(key, cell)

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cells))

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._cells.keys()

    def values(self) -> Iterable[Cell]:
        """The cells."""
        return self._cells.values()

    def items(self) -> Iterable[tuple[str, Cell]]:
        """Names and cells."""
        return self._cells.items()

    def pop(self, key: str) -> Cell:
        """Take a cell out."""
        cell = self[key]
        del self[key]
        return cell

    def clear(self) -> None:
        """Take all cells out."""
        for key in list(self._cells):
            del self[key]
