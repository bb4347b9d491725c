"""Names for cells: each by its dotted path below the root that it belongs to.

The first root's own path is "". Further roots (a loss function beside the network) go by their class name,
made unique. A cell that is reached by two paths has the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...base.nearest_name import suggestion

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["CellPaths", "is_leaf"]


def is_leaf(cell: Cell) -> bool:
    """Whether a cell computes by itself: it has no cells inside, or parameters or a ``bprop`` of its own."""
    has_own = bool(cell.has_custom_bprop) or any(parameter is not None for parameter in cell._params.values())
    return has_own or next(iter(cell.cells()), None) is None


class CellPaths:
    """The roots of a session and the paths of every cell below them."""

    def __init__(self) -> None:
        self.roots: list[Cell] = []
        self._prefixes: list[str] = []
        self._paths: dict[int, str] = {}
        self._cells: dict[int, Cell] = {}  # keeps the ids valid

    def add_root(self, cell: Cell) -> str:
        """Make a cell a root; returns its path."""
        prefix = "" if not self.roots else self._unused(type(cell).__name__)
        self.roots.append(cell)
        self._prefixes.append(prefix)
        self.refresh()
        return self._paths[id(cell)]

    def _unused(self, name: str) -> str:
        taken = set(self._paths.values())
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        return unique

    def refresh(self) -> None:
        """Look for cells that were added since."""
        for prefix, root in zip(self._prefixes, self.roots, strict=True):
            for path, cell in root.cells_and_names():
                if id(cell) not in self._paths:
                    self._paths[id(cell)] = f"{prefix}.{path}" if prefix and path else prefix or path
                    self._cells[id(cell)] = cell

    @property
    def count(self) -> int:
        """How many cells are known."""
        return len(self._paths)

    def path_of(self, cell: Cell) -> str | None:
        """The path of a cell, or None if it is below no root."""
        return self._paths.get(id(cell))

    def name_of(self, cell: Cell) -> str:
        """The path of a cell, or the name of its class if it is below no root."""
        return self.path_of(cell) or type(cell).__name__

    def __iter__(self) -> Iterator[tuple[str, Cell]]:
        """Paths and cells, each root followed by what is inside it."""
        self.refresh()
        for prefix, root in zip(self._prefixes, self.roots, strict=True):
            for path, cell in root.cells_and_names():
                yield (f"{prefix}.{path}" if prefix and path else prefix or path), cell

    def cell(self, path: str) -> Cell:
        """The cell at a path; "." is the first root.

        Raises:
            ValueError: there is none; the text names the nearest path.
        """
        wanted = "" if path == "." else path
        known = dict(self)
        if wanted not in known:
            raise ValueError(f"no cell {path!r} in this session{suggestion(wanted, known)}")
        return known[wanted]
