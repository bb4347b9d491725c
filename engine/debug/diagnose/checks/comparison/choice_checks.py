"""Check of choices, such as an argmin, that cut weights off from the data that a loss compares with."""

from __future__ import annotations

import sys
from typing import Any

from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from .....base.file_labels import line_text
from ....stop.stepping.user_code import nearest_user_frame
from ...conditions.targets import LostGradientObservation
from ..owners import Owners
from ..watcher import WatcherParts
from .comparisons import Comparison, ComparisonUser, GradientCall, count_in_a_row
from .lineage import Lineage
from .target_checks import shared_path

__all__ = ["ChoiceCheck"]

# Operators whose result is a choice or a step function of their input: no gradient passes.
_CHOICES = frozenset(
    ("argmax", "argmin", "argsort", "ceil", "eq", "floor", "ge", "gt", "le", "lt", "ne", "round", "sign", "topk")
)
# A policy that chooses is trained by the logarithms of its probabilities.
_LOGARITHMS = ("log", "log_softmax", "logsigmoid")
# Gradient calls for the same weights in which this is checked.
_CALLS = 40


class ChoiceCheck(ComparisonUser):
    """Check of weights whose output reaches the data only through a choice.

    So it is in a VQ-VAE without the straight-through estimator: the code is chosen by the encoder's output, the
    decoder's loss gives the encoder no gradient, and another term of the loss, which compares with no data, still does.
    """

    shows = (LostGradientObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._owners = Owners(parts.paths)
        self._in_a_row: dict[tuple[int, int], int] = {}
        self.forget()

    def forget(self) -> None:
        """Forget the gradient call."""
        self._chosen: dict[int, tuple[str, str]] = {}  # bits of weights, and the operator with its line
        self._logged = self._lost = self._reached = 0

    def operator(
        self,
        name: str,
        inputs: tuple[Any, ...],
        outputs: Any,
        attrs: dict[str, Any],
        tracked: set[int],
        call: GradientCall,
    ) -> None:
        """Record the weights that come into a choice or a logarithm, or that meet data."""
        is_choice = name in _CHOICES
        if call.number > _CALLS:
            return
        if not (is_choice or name in _LOGARITHMS):
            self._meet(inputs, tracked)
            return
        weights = 0
        for value in inputs:
            if isinstance(value, Tensor):
                weights |= max(self._lineage.of(value, tracked).weights, 0)
        if not is_choice:
            self._logged |= weights
        elif weights and weights not in self._chosen:
            frame = nearest_user_frame(sys._getframe(1))
            line = "" if frame is None else line_text(frame.f_code.co_filename, frame.f_lineno)
            self._chosen[weights] = name, line

    def _meet(self, inputs: tuple[Any, ...], tracked: set[int]) -> None:
        """Record the weights of a value that an operator joins with data, as an overlap with boxes or masks does."""
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        if len(tensors) < 2:
            return
        origins = [self._lineage.of(tensor, tracked) for tensor in tensors]
        for data, origin in zip(tensors, origins, strict=True):
            if data.size > 1 and not (origin.parameters or origin.draws or isinstance(data, Parameter)):
                for value, other in zip(tensors, origins, strict=True):
                    if other.weights > 0 and not isinstance(value, Parameter):
                        self._reached |= other.weights

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Record the weights that a comparison with data depends on, with and without a gradient."""
        for predicted, expected in comparison.sides:
            prediction, target = comparison.origins[predicted], comparison.origins[expected]
            if prediction.weights > 0 and not target.parameters:
                self._reached |= prediction.weights
                stopped = prediction.weights | prediction.stopped
                self._lost |= prediction.parameters & self._lineage.requested & ~stopped

    def differentiated(self, call: GradientCall) -> None:
        """Check the weights that a choice cuts off from all data."""
        lost = self._lost & ~self._reached & ~self._logged
        bits = next((bits for bits in self._chosen if bits & lost), 0)
        if bits:
            lost &= bits
            parameters = self._lineage.parameters_in(lost)
            owners = [owner for parameter in parameters if (owner := self._owners.of(parameter)) is not None]
            calls = count_in_a_row(self._in_a_row, (call.key, lost), True)
            path = shared_path([owner.path for owner in owners])
            observation = LostGradientObservation([owner.name for owner in owners], *self._chosen[bits], calls)
            self._examiner.observe(observation, path, "the gradient", call.step)
