"""What is seen of parameters before their first update: their scale, and whether all units begin alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....base.module_names import is_of_the_engine
from ...record.statistics import Statistics, statistics
from ..conditions.parameters import BeginningSeen

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.tensor import Tensor

    from ...watch.paths import CellPaths
    from .owners import Owner, Owners
    from .watcher import Looks

__all__ = ["InitialValues", "root_mean_square"]

_ROUNDING = 1e-5


class InitialValues:
    """Looks at each parameter once before it learns, and once when its first gradient comes.

    Args:
        cells: the paths and cells of the session.
        owners: whose parameters are.
        wanted: whether a condition about one of these classes is looked for.
        look: tries conditions.
    """

    def __init__(self, cells: CellPaths, owners: Owners, wanted: Callable[..., bool], look: Looks) -> None:
        self._cells = cells
        self._owners = owners
        self._wanted = wanted
        self._look = look
        self._begun: set[int] = set()  # parameters whose first gradient was looked at
        self._scaled_roots = 0

    def step_began(self) -> None:
        """A root cell is called: look at the scales in roots that are new."""
        if self._wanted(BeginningSeen):
            begun = self._scaled_roots if self._begun else 0
            self._look_at_scales(self._cells.roots[begun:])
            self._scaled_roots = len(self._cells.roots)

    def _look_at_scales(self, roots: list[Cell]) -> None:
        if not roots:
            return
        inside = {id(parameter) for root in roots for parameter in root.get_parameters()}
        for key, (path, name, cell, parameter) in self._owners.all().items():
            if key not in inside:
                continue
            # What another one wrote has a scale of its own law; so have embeddings, which nothing sums over.
            known = is_of_the_engine(type(cell)) and "Embedding" not in type(cell).__name__
            if parameter.requires_grad and known:
                figures = statistics(parameter)
                if figures.count and figures.finite == figures.count:
                    self._look(BeginningSeen(figures.shape, root_mean_square(figures)), path, name, 1)

    def gradient_came(self, owner: Owner, before: Any, gradient: Tensor | None, some: bool, step: int) -> None:
        """A gradient came, or None where one was asked for: look at the symmetry of units, the first time.

        Args:
            owner: of the parameter.
            before: its array.
            gradient: what came.
            some: whether that is more than zeros or rounding.
            step: the number of the step.
        """
        if id(owner.parameter) in self._begun:
            return
        self._begun.add(id(owner.parameter))
        if not self._wanted(BeginningSeen) or before.ndim < 2 or len(before) < 2:
            return
        symmetric = ""
        if _alike(before):
            if gradient is None or not some or _alike(gradient._array):
                symmetric = "every unit begins with the same weights and gets the same gradient"
            elif before.any():  # zeros are often meant: the last layer of a branch begins so
                symmetric = "every unit begins with the same weights"
        self._look(BeginningSeen(tuple(before.shape), symmetric=symmetric), owner.path, owner.name, step)


def root_mean_square(figures: Statistics) -> float:
    """Of the finite elements; NaN where there are none."""
    return figures.norm / math.sqrt(figures.finite) if figures.finite else math.nan


def _alike(array: Any) -> bool:
    """Whether all rows are the same, but for rounding."""
    if not array.size:
        return True
    if array.dtype.kind in "bu":  # whose differences are none
        return bool((array == array[:1]).all())
    return bool(abs(array - array[:1]).max() <= _ROUNDING * abs(array).max())
