"""Paths of cells: each cell is named by its dotted path below its root.

The first root has the path "". The path of a further root, such as the network's loss function, is the name of its
class, followed by a number if that name is taken. A cell that is reached by two paths has the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...base.nearest_name import suggestion

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["CellPaths", "is_leaf"]


def is_leaf(cell: Cell) -> bool:
    """Return whether a cell is a leaf: it has no inner cells, or parameters or a ``bprop`` of its own."""
    has_own_values = bool(cell.has_custom_bprop) or any(parameter is not None for parameter in cell._params.values())
    return has_own_values or next(iter(cell.cells()), None) is None


class CellPaths:
    """Paths of the roots of a session and of every cell below them."""

    def __init__(self) -> None:
        self.roots: list[Cell] = []
        self._prefixes: list[str] = []
        self._paths: dict[int, str] = {}
        self._cells: dict[int, Cell] = {}  # keeps the ids valid

    def add_root(self, cell: Cell) -> str:
        """Add a root; return its path."""
        prefix = "" if not self.roots else self._unused(type(cell).__name__)
        self.roots.append(cell)
        self._prefixes.append(prefix)
        self.refresh()
        return self._paths[id(cell)]

    def _unused(self, name: str) -> str:
        paths = set(self._paths.values())
        unique, number = name, 2
        while unique in paths:
            unique, number = f"{name}_{number}", number + 1
        return unique

    def refresh(self) -> None:
        """Add cells that joined the network since the last refresh."""
        for prefix, root in zip(self._prefixes, self.roots, strict=True):
            for path, cell in root.cells_and_names():
                if id(cell) not in self._paths:
                    self._paths[id(cell)] = f"{prefix}.{path}" if prefix and path else prefix or path
                    self._cells[id(cell)] = cell

    @property
    def count(self) -> int:
        """The number of known cells."""
        return len(self._paths)

    def path_of(self, cell: Cell) -> str | None:
        """Return the path of a cell, or None if it is below none of the roots."""
        return self._paths.get(id(cell))

    def name_of(self, cell: Cell) -> str:
        """Return the path of a cell, or the name of its class if it is below none of the roots."""
        return self.path_of(cell) or type(cell).__name__

    def __iter__(self) -> Iterator[tuple[str, Cell]]:
        """Yield paths and cells, each root followed by its descendants."""
        self.refresh()
        for prefix, root in zip(self._prefixes, self.roots, strict=True):
            for path, cell in root.cells_and_names():
                yield (f"{prefix}.{path}" if prefix and path else prefix or path), cell

    def cell(self, path: str) -> Cell:
        """Return the cell at a path; "." is the first root.

        Raises:
            ValueError: there is no such cell; the message names the nearest path.
        """
        requested = "" if path == "." else path
        cells = dict(self)
        if requested not in cells:
            raise ValueError(f"no cell {path!r} in this session{suggestion(requested, cells)}")
        return cells[requested]
