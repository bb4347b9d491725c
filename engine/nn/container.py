"""Containers of cells: SequentialCell, CellList, CellDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..tensors.tensor import Tensor
from .cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


def _prefix(cells: Mapping[str, Cell]) -> str:
    """Return the prefix of a container's parameter names before a child's own name, as in MindSpore.

    It is the text before the first child's name in the name of its first parameter: at the first position that
    matches the second child too, else at the last. If a child contains a list this may be an inner position;
    pretrained checkpoints have the resulting names.
    """
    firsts = [
        (name, parameter.name.split("."))
        for name, cell in cells.items()
        for parameter in list(cell.get_parameters())[:1]
    ]
    if not firsts:
        return ""
    name, parts = firsts[0]
    positions = [position for position, part in enumerate(parts) if part == name]
    if len(firsts) > 1:
        second, second_parts = firsts[1]
        positions = [position for position in positions if second_parts[position : position + 1] == [second]][
            :1
        ] or positions
    return "".join(f"{part}." for part in parts[: positions[-1]]) if positions else ""


class _Indexed(Cell):
    """Children under the names "0", "1", ..., used like a list."""

    def _checked_index(self, index: object) -> int:
        if not isinstance(index, int):
            raise TypeError(
                f"For '{type(self).__name__}', an index must be an int or a slice, but got {type(index).__name__}"
            )
        count = len(self._cells)
        if not -count <= index < count:
            raise IndexError(f"For '{type(self).__name__}', the index must be in [{-count}, {count}), but got {index}")
        return index % count

    def _add_child(self, name: str, cell: Cell, prefix: str) -> None:
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{name}.")
        self._set_child(name, cell)

    def _renew(self, cells: list[Cell], inserted: int = -1) -> None:
        """Renumber the cells; for existing cells only that part of their parameters' names changes."""
        prefix = _prefix(self._cells)
        behind = prefix.count(".") + 1
        self._cells.clear()
        for index, cell in enumerate(cells):
            if index == inserted:
                self._add_child(str(index), cell, prefix)
                continue
            if self._auto_prefix and index > inserted:
                for parameter in cell.get_parameters():
                    parameter.name = f"{prefix}{index}." + ".".join(parameter.name.split(".")[behind:])
            self._set_child(str(index), cell)

    def _checked(self, cell: object, description: str) -> Cell:
        if not isinstance(cell, Cell):
            raise TypeError(f"For '{type(self).__name__}', {description} must be a Cell, but got {type(cell).__name__}")
        return cell

    def __getitem__(self, index: Any) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            return CellList(cells[index])
        return cells[self._checked_index(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        position = self._checked_index(index)
        name = list(self._cells)[position]
        self._add_child(name, self._checked(cell, "an entry"), _prefix(self._cells))

    def __delitem__(self, index: int | slice) -> None:
        cells = list(self._cells.values())
        if not isinstance(index, slice):
            index = self._checked_index(index)
        names = list(self._cells)[index]
        del cells[index]
        for name in names if isinstance(names, list) else [names]:
            del self._cells[name]
        self._renew(cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def append(self, cell: Cell) -> None:
        """Add a cell at the end.

        Args:
            cell: the cell; its parameters are named by its index.

        Raises:
            TypeError: ``cell`` is not a Cell.
        """
        self._add_child(str(len(self._cells)), self._checked(cell, "an appended cell"), _prefix(self._cells))

    def set_grad(self, flag: bool = True) -> None:  # type: ignore[override]  # as in MindSpore
        """Set ``requires_grad`` of this cell and, as in MindSpore for these containers only, of all in it.

        Args:
            flag: the new value; gradients do not depend on it.
        """
        for cell in self._cells.values():
            cell.set_grad(flag)
        super().set_grad(flag)


class SequentialCell(_Indexed):
    """Cells that run one after the other: each gets the output of the previous one.

    Used like a list too: ``net[i]``, slices (again a SequentialCell), ``len``, ``append``, assignment and ``del``.
    A child that was added as an attribute, as in a subclass, or by ``insert_child_to_cell``, is not run
    until one of the last three is used.

    Args:
        *args: the cells; or one list of them, named "0", "1", ...; or one OrderedDict of names and cells.

    Raises:
        TypeError: anything else, or an entry that is not a Cell.
    """

    _chain: tuple[str, ...] = ()
    """The names of the cells that run."""
    _numbered = True
    """Whether names are indices; False if the cells have names, as in a slice."""

    def __init__(self, *args: Cell | list[Cell] | OrderedDict[str, Cell]) -> None:
        super().__init__()
        if len(args) == 1 and not isinstance(args[0], Cell):
            if not isinstance(args[0], list | OrderedDict):
                raise TypeError(
                    f"For '{type(self).__name__}', give Cells, a list or an OrderedDict of them, "
                    f"but got {type(args[0]).__name__}"
                )
            args = args[0]  # type: ignore[assignment]
        self.__dict__["_numbered"] = not isinstance(args, OrderedDict)
        for name, cell in args.items() if isinstance(args, OrderedDict) else enumerate(args):
            self._add_child(str(name), self._checked(cell, f"entry {name}"), "")
        self._link()

    def _link(self) -> None:
        self.__dict__["_chain"] = tuple(self._cells)

    @property
    def cell_list(self) -> list[Cell]:
        """The cells that run, in order."""
        return [self._cells[name] for name in self._chain if name in self._cells]

    def __setitem__(self, index: int, cell: Cell) -> None:
        super().__setitem__(index, cell)
        self._link()

    def __delitem__(self, index: int | slice) -> None:
        if self._numbered:
            super().__delitem__(index)
        else:
            names = list(self._cells)[index if isinstance(index, slice) else self._checked_index(index)]
            for name in names if isinstance(names, list) else [names]:
                del self._cells[name]
        self._link()

    def append(self, cell: Cell) -> None:
        """Add a cell at the end.

        Args:
            cell: the cell; its parameters are named by its index.

        Raises:
            TypeError: ``cell`` is not a Cell.
        """
        super().append(cell)
        self._link()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            # The cells keep their names, as in MindSpore.
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return super().__getitem__(index)

    def construct(self, input_data: Any) -> Tensor:
        """Return the output of the last cell.

        Args:
            input_data: the argument of the first cell.

        Returns:
            The output of the last cell; ``input_data`` if there are no cells.
        """
        cells = self._cells
        for name in self._chain:
            if name in cells:
                input_data = cells[name](input_data)
        return input_data


class CellList(_Indexed):
    """A list of cells; it is not called itself.

    Supports indexing, slices, ``len``, iteration, assignment, ``del`` and ``+=``. The cells are named "0", "1", ... and
    their parameters' names contain the index.

    Args:
        *args: the cells, or one list of them.
        **kwargs: ``auto_prefix``: whether the names of the parameters get the index as a prefix (the default).

    Raises:
        TypeError: an entry is not a Cell, or is a CellDict.
    """

    __cell_as_list__ = True  # as in MindSpore: ``vmap`` gives each cell a separate slice

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        # MindSpore silently ignores several arguments; here they are a list.
        self.extend(args[0] if len(args) == 1 else list(args))

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add cells at the end.

        Args:
            cells: a list of cells.

        Returns:
            This CellList.

        Raises:
            TypeError: ``cells`` is not a list, or an entry is not a Cell or a CellDict.
        """
        if not isinstance(cells, list):
            raise TypeError(f"For 'CellList', 'cells' must be a list of Cells, but got {type(cells).__name__}")
        prefix = _prefix(self._cells)
        for cell in cells:
            if isinstance(cell, CellDict):
                raise TypeError("For 'CellList', an entry must not be a CellDict")
            self._add_child(str(len(self._cells)), self._checked(cell, "an appended cell"), prefix)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Insert a cell before ``index``; the following ones move, and are renamed.

        Args:
            index: an index in [-len, len].
            cell: the cell.

        Raises:
            TypeError: ``index`` is not an int, or ``cell`` is not a Cell.
            IndexError: ``index`` is out of range.
        """
        cells = list(self._cells.values())
        count = len(cells)
        if not isinstance(index, int):
            raise TypeError(f"For '{type(self).__name__}', an index must be an int, but got {type(index).__name__}")
        if not -count <= index <= count:
            raise IndexError(f"For '{type(self).__name__}', the index must be in [{-count}, {count}], but got {index}")
        cells.insert(index, self._checked(cell, "an inserted cell"))
        self._renew(cells, index + count if index < 0 else index)

    def __iadd__(self, cells: Iterable[Cell]) -> CellList:
        return self.extend(cells)

    def construct(self, *inputs: Any) -> Any:
        """Raise NotImplementedError: a list is not called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a CellList is not called: call the cells in it, or use nn.SequentialCell")


class CellDict(Cell):
    """Cells by name; it is not called itself.

    Used like a dictionary: ``cells[name]``, ``len``, ``in``, iteration over names, assignment and ``del``.

    Args:
        *args: the argument of ``update``, or nothing.
        **kwargs: ``auto_prefix``: whether the names of the parameters get the cell's name as a prefix (the default).

    Raises:
        TypeError: a name is not a str, or an entry is not a Cell or a container.
        ValueError: an entry of pairs that is not a pair.
        KeyError: a name is empty or holds a dot.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def update(self, cells: Mapping[str, Cell] | CellDict | Iterable[tuple[str, Cell]]) -> None:
        """Add all entries of a mapping or of pairs; an entry of the same name is replaced.

        Args:
            cells: a mapping from names to cells, a CellDict, or an iterable of pairs (name, cell).

        Raises:
            TypeError: ``cells`` is none of these, a name is not a str, or an entry is not a Cell or a container.
            ValueError: an entry is not a pair.
            KeyError: a name is empty or holds a dot.
        """
        pairs = cells.items() if isinstance(cells, Mapping | CellDict) else cells
        if not isinstance(pairs, Iterable):
            raise TypeError(f"For 'CellDict.update', give a mapping or pairs, but got {type(cells).__name__}")
        for index, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(f"For 'CellDict.update', entry {index} must be a pair, but got {type(pair).__name__}")
            name_and_cell = tuple(pair)
            if len(name_and_cell) != 2:
                raise ValueError(
                    f"For 'CellDict.update', entry {index} must be a pair, but has {len(name_and_cell)} parts"
                )
            self[name_and_cell[0]] = name_and_cell[1]

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
        if isinstance(cell, CellDict | CellList | SequentialCell):
            raise TypeError(f"For 'CellDict', entry '{key}' must be a plain Cell, but got {type(cell).__name__}")
        if self._auto_prefix:
            cell.update_parameters_name(f"{_prefix(self._cells)}{key}.")
        self._set_child(key, cell)

    def __delitem__(self, key: str) -> None:
        self[key]
        del self._cells[key]

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return True  # even without cells, as in MindSpore

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cells))

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def keys(self) -> Iterable[str]:
        """Return the names, in the order of insertion."""
        return self._cells.keys()

    def values(self) -> Iterable[Cell]:
        """Return the cells, in the order of insertion."""
        return self._cells.values()

    def items(self) -> Iterable[tuple[str, Cell]]:
        """Return pairs of names and cells, in the order of insertion."""
        return self._cells.items()

    def pop(self, key: str) -> Cell:
        """Remove a cell and return it.

        Args:
            key: its name.

        Returns:
            The cell.

        Raises:
            KeyError: there is no cell of this name.
        """
        cell = self[key]
        del self[key]
        return cell

    def clear(self) -> None:
        """Remove all cells."""
        for key in list(self._cells):
            del self[key]

    def construct(self, *inputs: Any) -> Any:
        """Raise NotImplementedError: a dictionary is not called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a CellDict is not called: call the cells in it")
