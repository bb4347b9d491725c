"""Checks of parameters before their first update: their scale, and the symmetry of units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .....base.module_names import is_of_the_engine
from ....record.statistics import Statistics, statistics
from ...conditions.parameters import BeginningObservation

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.tensor import Tensor

    from ....watch.paths import CellPaths
    from ...examiner import Examiner
    from ..owners import Owner, Owners

__all__ = ["InitialValues", "root_mean_square"]

_ROUNDING = 1e-5


class InitialValues:
    """Check of each parameter once before it learns, and once when its first gradient arrives.

    Args:
        cells: the paths and cells of the session.
        owners: the owners of the parameters.
        examiner: checks the conditions on an observation.
    """

    def __init__(self, cells: CellPaths, owners: Owners, examiner: Examiner) -> None:
        self._cells = cells
        self._owners = owners
        self._examiner = examiner
        self._checked: set[int] = set()  # parameters whose first gradient was checked
        self._root_count = 0

    def run_began(self) -> None:
        """Begin a run: check the scales in new roots."""
        if self._examiner.wants(BeginningObservation):
            first_new = self._root_count if self._checked else 0
            self._check_scales(self._cells.roots[first_new:])
            self._root_count = len(self._cells.roots)

    def _check_scales(self, roots: list[Cell]) -> None:
        if not roots:
            return
        parameter_ids = {id(parameter) for root in roots for parameter in root.get_parameters()}
        for key, (path, name, cell, parameter) in self._owners.all().items():
            if key not in parameter_ids:
                continue
            # Cells of other authors may have a scale of their own; so have embeddings, which no operator sums over.
            is_standard = is_of_the_engine(type(cell)) and "Embedding" not in type(cell).__name__
            if parameter.requires_grad and is_standard and not parameter.was_trained:
                figures = statistics(parameter)
                if figures.count and figures.finite == figures.count:
                    self._examiner.observe(
                        BeginningObservation(figures.shape, root_mean_square(figures), is_new=parameter.as_made),
                        path,
                        name,
                        1,
                    )

    def check_gradient(self, owner: Owner, before: Any, gradient: Tensor | None, some: bool, step: int) -> None:
        """Check the symmetry of units at a parameter's first gradient.

        Args:
            owner: the owner of the parameter.
            before: the parameter's array.
            gradient: the gradient; None if it was requested and is missing.
            some: whether the gradient is more than zeros or rounding.
            step: the number of the step.
        """
        if id(owner.parameter) in self._checked:
            return
        self._checked.add(id(owner.parameter))
        if not self._examiner.wants(BeginningObservation) or before.ndim < 2 or len(before) < 2:
            return
        symmetric = ""
        if _equal_rows(before):
            if gradient is None or not some or _equal_rows(gradient._array):
                symmetric = "every unit begins with the same weights and gets the same gradient"
            elif before.any():  # zeros are often intended: the last layer of a branch begins so
                symmetric = "every unit begins with the same weights"
        self._examiner.observe(
            BeginningObservation(tuple(before.shape), symmetric=symmetric), owner.path, owner.name, step
        )


def root_mean_square(figures: Statistics) -> float:
    """Return the root mean square of the finite elements; NaN if there are none."""
    return figures.norm / math.sqrt(figures.finite) if figures.finite else math.nan


def _equal_rows(array: Any) -> bool:
    """Return whether all rows are equal, but for rounding."""
    if not array.size:
        return True
    if array.dtype.kind in "bu":  # they have no subtraction
        return bool((array == array[:1]).all())
    return bool(abs(array - array[:1]).max() <= _ROUNDING * abs(array).max())
