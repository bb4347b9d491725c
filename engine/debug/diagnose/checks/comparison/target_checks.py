"""Checks of targets: their scale, the weights and the random numbers that they come from, their range and shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.nn.optim._existing import holds_any

from ....record.capture import cell_name
from ....record.numbers import ends_of
from ...conditions.loss import BoundedObservation, BroadcastObservation
from ...conditions.network import ModeObservation
from ...conditions.targets import DrawnTargetObservation, TargetScaleObservation, TrainedTargetObservation
from ..owners import Owners
from ..watcher import WatcherParts
from .comparisons import Comparison, ComparisonUser, GradientCall, count_in_a_row
from .lineage import DATA, EXPANDED, NEGATED, Lineage, sample

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

    from .lineage import Origin

__all__ = ["BoundsCheck", "ColumnCheck", "DrawnCheck", "ScaleCheck", "TeacherCheck", "TeacherModeCheck", "shared_path"]

# Gradient calls for the same weights in which values are read.
_FEW_CALLS, _CALLS = 8, 40
# Comparisons in which a network that gives the targets has kept its weights.
_STILL = 10
# Activations with a lower limit of 0.
_NOT_NEGATIVE = ("relu", "exp", "square")
# Random numbers around zero of about the size of one: noise that is to be predicted.
_CENTERED, _SIZE = 0.2, 0.5
# A correlation with an input that random numbers do not have by chance: at least, and in standard deviations.
_RELATED, _DEVIATIONS = 0.1, 5.0


class ScaleCheck(ComparisonUser):
    """Check of the scale of targets, in the first comparisons."""

    shows = (TargetScaleObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._first: dict[tuple[int, int], float] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the targets that depend on no weights."""
        if call.number > _FEW_CALLS or not comparison.is_regression:
            return
        key = call.key, comparison.number
        for predicted, expected in comparison.sides:
            origin, target = comparison.origins[predicted], comparison.origins[expected]
            arrays = comparison.arrays
            if not (origin.weights and origin.flags & DATA) or target.parameters or not _are_real(*arrays):
                continue
            now = _root_mean_square(arrays[predicted])
            first = self._first.setdefault(key, now)
            number = list(self._first).index(key)
            subject = "the targets" if not number else f"the targets of comparison {number + 1}"
            observation = TargetScaleObservation(_root_mean_square(arrays[expected]), first, now)
            self._examiner.observe(observation, "", subject, call.step)


class TeacherCheck(ComparisonUser):
    """Check of targets that come from a network that is trained together with the one that makes the prediction."""

    shows = (TrainedTargetObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._owners = Owners(parts.paths)
        self._in_a_row: dict[tuple[int, int], int] = {}
        self._with_data = 0  # bits of weights without a gradient whose values are compared with data
        self._pending: list[tuple[tuple[int, int], Origin, list[Parameter]]] = []

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the weights that the gradient reaches through the target."""
        if call.number > _CALLS:
            return
        key = call.key, comparison.number
        for predicted, expected in comparison.sides:
            prediction, target = comparison.origins[predicted], comparison.origins[expected]
            if not (prediction.weights or target.parameters) and prediction.parameters > 0:
                self._with_data |= prediction.parameters
            if untrained := self._untrained(prediction, target, call):
                self._pending.append((key, target, untrained))
                return
            if self._is_taught(prediction, target, call):
                self._report(key, target, [], call)
                return
        self._in_a_row.pop(key, None)

    def differentiated(self, call: GradientCall) -> None:
        """Report networks that are to learn from data too, but get no gradient, while their teacher does."""
        for key, target, untrained in self._pending:
            bits = sum(1 << self._lineage.index_of(parameter) for parameter in untrained)
            if bits & self._with_data:
                self._report(key, target, untrained, call)

    def forget(self) -> None:
        """Forget the gradient call."""
        self._with_data, self._pending = 0, []

    def _report(self, key: tuple[int, int], target: Origin, untrained: list[Parameter], call: GradientCall) -> None:
        comparisons = count_in_a_row(self._in_a_row, key, True)
        parameters = self._lineage.parameters_in(target.weights)
        path = shared_path([owner.path for owner in map(self._owners.of, parameters) if owner is not None])
        observation = TrainedTargetObservation(self._names(parameters), comparisons, self._names(untrained))
        self._examiner.observe(observation, path, "the target", call.step)

    def _names(self, parameters: list[Parameter]) -> list[str]:
        owners = [self._owners.of(parameter) for parameter in parameters]
        return [
            parameter.name if owner is None else owner.name for parameter, owner in zip(parameters, owners, strict=True)
        ]

    def _untrained(self, student: Origin, teacher: Origin, call: GradientCall) -> list[Parameter]:
        """Return the weights of a value that gets no gradient although its weights are new; [] if that may be meant.

        The gradient reaches the other value instead, whose weights were set before.
        """
        if student.weights or student.stopped or min(student.parameters, teacher.weights) <= 0:
            return []
        if teacher.weights & call.made or student.parameters & teacher.parameters:
            return []
        parameters = self._lineage.parameters_in(student.parameters)
        is_new = all(parameter.as_made and parameter.requires_grad for parameter in parameters)
        return parameters if is_new and not holds_any(parameters) else []

    def _is_taught(self, student: Origin, teacher: Origin, call: GradientCall) -> bool:
        """Return whether one value comes from new weights, and the other one from others, which were set before."""
        if min(student.weights, teacher.weights, teacher.parameters, student.parameters) <= 0:
            return False
        if teacher.flags & NEGATED or teacher.parameters & student.weights or teacher.weights & call.made:
            return False
        new = student.weights & call.made
        return 2 * new.bit_count() >= student.weights.bit_count()


class TeacherModeCheck(ComparisonUser):
    """Check of the modes of a network that gives the targets and is not trained.

    One whose weights move, as an average of those that are trained, may well be in training mode.
    """

    shows = (ModeObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}
        self._weights: dict[tuple[int, int], tuple[int, ...]] = {}  # the ids of the arrays of the weights

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the cells in training mode that the target passed, and the prediction did not."""
        if call.number > _CALLS:
            return
        for predicted, expected in comparison.sides:
            prediction, target = comparison.origins[predicted], comparison.origins[expected]
            only_target = target.modes & ~prediction.modes
            is_apart = target.parameters > 0 and not target.parameters & self._lineage.requested
            if prediction.weights <= 0 or not is_apart or target.modes <= 0 or not only_target:
                continue
            key = call.key, comparison.number
            weights = [weight for weight in self._lineage.parameters_in(target.parameters) if weight.ndim > 1]
            arrays = tuple(id(weight._array) for weight in weights)
            is_set = bool(weights) and not any(weight.as_made for weight in weights)
            previous = self._weights.setdefault(key, arrays)
            self._weights[key] = arrays
            if count_in_a_row(self._in_a_row, key, is_set and previous == arrays) >= _STILL:
                for path, name in self._lineage.modes_in(only_target):
                    observation = ModeObservation(name, training=True, trained=False, teaches=True)
                    self._examiner.observe(observation, path, cell_name(path), call.step)


class DrawnCheck(ComparisonUser):
    """Check of targets that consist of random numbers, in the first comparisons."""

    shows = (DrawnTargetObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check whether the prediction depends on the random numbers in the target."""
        if call.number > _CALLS or not comparison.is_regression:
            return
        for predicted, expected in comparison.sides:
            prediction, target = comparison.origins[predicted], comparison.origins[expected]
            if target.draws <= 0 or target.flags or target.parameters or not prediction.weights:
                continue
            is_apart = prediction.draws >= 0 and not prediction.draws & target.draws
            arrays = comparison.arrays
            is_noise = is_apart and arrays[0].shape == arrays[1].shape and self._is_noise(arrays[expected])
            comparisons = count_in_a_row(self._in_a_row, (call.key, comparison.number), is_noise)
            observation = DrawnTargetObservation(comparisons)
            self._examiner.observe(observation, comparison.path, "the target", call.step)

    def _is_noise(self, target: Any) -> bool:
        """Return whether there are several numbers a sample, around zero, and related to no input."""
        if target.ndim < 2 or target.size <= len(target) or not _are_real(target):
            return False
        numbers = sample(target)
        deviation = float(numbers.std())
        if deviation < _SIZE or abs(float(numbers.mean())) > _CENTERED * deviation:
            return False
        return not any(
            _correlation(numbers, sample(array)) > max(_RELATED, _DEVIATIONS / math.sqrt(numbers.size))
            for array in self._lineage.inputs()
            if array.shape == target.shape and _are_real(array)
        )


class BoundsCheck(ComparisonUser):
    """Check of targets below zero of a prediction that an activation keeps at zero or above."""

    shows = (BoundedObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the range of the targets."""
        if call.number > _CALLS or not comparison.is_regression:
            return
        for predicted, expected in comparison.sides:
            target, array = comparison.origins[expected], comparison.arrays[expected]
            is_bounded = comparison.makers[predicted] in _NOT_NEGATIVE and comparison.origins[predicted].weights
            if not is_bounded or target.weights or array.size < 2 or not _are_real(array):
                continue
            numbers = sample(array)
            ends = ends_of(numbers)
            if ends is None:
                continue
            with np.errstate(all="ignore"):
                share = float((numbers < 0).mean())
            observation = BoundedObservation(0.0, math.inf, *ends, share)
            key = call.key, comparison.number
            comparisons = count_in_a_row(self._in_a_row, key, observation.is_often_beyond)
            observation = BoundedObservation(0.0, math.inf, *ends, share, comparisons)
            self._examiner.observe(observation, "", comparison.name, call.step)


class ColumnCheck(ComparisonUser):
    """Check of differences between a column of predictions, (N, 1), and a vector of targets, (N,)."""

    shows = (BroadcastObservation,)

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the shapes."""
        if comparison.kind != "difference" or call.number > _CALLS:
            return
        shapes = [tuple(array.shape) for array in comparison.arrays]
        column, vector = (0, 1) if len(shapes[0]) == 2 else (1, 0)
        count = shapes[vector][0] if len(shapes[vector]) == 1 else 0
        if count < 2 or shapes[column] != (count, 1):
            return
        # A column that was made of a vector, or one compared with itself, is meant: all pairs are compared.
        origins = comparison.origins
        if any(origin.flags & EXPANDED for origin in origins) or (origins[0].weights and origins[1].weights):
            return
        if not (origins[0].weights or origins[1].weights):
            return
        first, second = comparison.arrays
        if bool((first.reshape(-1) == second.reshape(-1)).all()):
            return
        self._examiner.observe(BroadcastObservation(shapes[0], shapes[1]), "", comparison.name, call.step)


def _are_real(*arrays: Any) -> bool:
    return all(array.dtype.kind in "fViu" and array.size for array in arrays)


def _root_mean_square(array: Any) -> float:
    numbers = sample(array)
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.square(numbers).mean()))


def _correlation(first: Any, second: Any) -> float:
    with np.errstate(all="ignore"):
        first, second = first - first.mean(), second - second.mean()
        norms = float(np.sqrt(np.square(first).sum() * np.square(second).sum()))
        return abs(float((first * second).sum())) / norms if norms > 0 else 0.0


def shared_path(paths: list[str]) -> str:
    """Return the longest path of a cell that all of these are at or below."""
    shared: list[str] = []
    for names in zip(*(path.split(".") for path in paths), strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return ".".join(shared)
