"""What is seen of how parameters are used: by which operators, and what comes back at each use of one in a walk.

A recurrent network that its user wrote uses a weight many times within one cell; what becomes of the gradient on that
way shows at no cell's border.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tensors.parameter import Parameter

from ...record.statistics import Statistics, figures
from ..conditions.parameters import FrozenSeen, UseSeen
from ..conditions.values import RepeatedSeen
from .operands import arrays_of
from .owners import owners_in
from .watcher import Watched, Watcher

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["UseWatch"]

# So often a weight is used in one run before its uses count as steps of a sequence.
_STEPS = 4
# Several weights that are more than this share of all are frozen on purpose.
_FEW = 0.25


class UseWatch(Watcher):
    """Looks at which parameters operators are given, and at what comes back at each use of one in a walk."""

    shows = (UseSeen, FrozenSeen, RepeatedSeen)
    observes_operators = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._ran: set[int] = set()  # ids of cells, in this gradient call
        self._used: dict[int, Parameter] = {}  # in this gradient call, by the id of the array
        self._uses: Counter[int] = Counter()  # of weights, by the same
        self._arrived: dict[int, list[Statistics]] = defaultdict(list)  # at each use, in the order of the backward pass

    def cell_enter(self, call: CellCall) -> None:
        """A cell runs."""
        self._ran.add(id(call.cell))

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """An operator ran: note the parameters among what it was given."""
        for given in inputs:
            for one in given if isinstance(given, tuple | list) else (given,):
                if isinstance(one, Parameter):
                    self._used[id(one._array)] = one
                    self._uses[id(one._array)] += 1

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """An operator's gradient rule ran: note what arrived, if it used a weight."""
        for array in arrays_of(inputs):
            if array.ndim > 1 and self._uses[id(array)] >= _STEPS:
                arrived = arrays_of(gradient)
                if arrived:
                    self._arrived[id(array)].append(figures(arrived[0]))

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        if taps.recordings_outside():
            return
        look, step = self._watched.look, self._watched.step()
        # Another thread may be noting more meanwhile.
        used_by_array, ran, came_back = self._used.copy(), self._ran.copy(), self._arrived.copy()
        used = {id(parameter) for parameter in used_by_array.values()}
        came = {id(parameter): gradient is not None for parameter, gradient in pairs}
        owners = list(owners_in(self._watched.cells)) if any(came.values()) else []
        meant = _frozen_on_purpose(used_by_array.values())
        for path, name, cell, parameter in owners:
            if id(parameter) in came:
                unused = not came[id(parameter)] and id(parameter) not in used
                look(UseSeen(unused, id(cell) in ran), path, name, step)
            elif not parameter.requires_grad:
                left = parameter.as_drawn and cell.training and id(parameter) in used - meant
                look(FrozenSeen(not left, parameter.ndim), path, name, step)
            arrived = came_back.get(id(parameter._array), [])
            if len(arrived) >= _STEPS:
                # Which way a sequence was unrolled does not matter: what is far back comes last in the backward pass.
                look(RepeatedSeen(arrived[-1], arrived[0], len(arrived)), path, name, step)
        self._ran.clear()
        self._used.clear()
        self._uses.clear()
        self._arrived.clear()


def _frozen_on_purpose(used: Iterable[Parameter]) -> set[int]:
    """The frozen weights, where so many are; else what is used before any parameter that learns.

    So are a part of a network beside adapters, and the body of one whose head is trained anew.
    """
    used = list(used)
    weights = [parameter for parameter in used if parameter.ndim > 1]
    frozen = {id(parameter) for parameter in weights if not parameter.requires_grad}
    if len(frozen) > 1 and len(frozen) > _FEW * len(weights):
        return frozen
    before = itertools.takewhile(lambda parameter: not parameter.requires_grad, used)
    return {id(parameter) for parameter in before}
