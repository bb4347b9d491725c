"""Checks of a loss's terms and of its fall: which terms it has, what each does from step to step, and what moves it."""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tape import taps
from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from .....base.file_labels import line_text
from ....record.array_table import ByArray
from ....record.numbers import number_in
from ....stop.stepping.user_code import nearest_user_frame
from ...conditions.loss_terms import (
    AdvantageObservation,
    DetachedObservation,
    DrownedObservation,
    FallObservation,
    LearnedWeightObservation,
)
from ...conditions.network import LossObservation
from ..watcher import Watcher, WatcherParts
from .course import Course
from .learned_weights import learned_weights
from .numpy_sources import NumpySources
from .policy_terms import attached_values, compares_with_targets, has_signed_factor, nearest_weight
from .terms import Producers, Term, terms_of, value_of

if TYPE_CHECKING:
    from hookscope.engine.tape.tape import GradientComputation, Recording

__all__ = ["LossTermsWatch"]

_PARTS = 5
# The gradient calls in which the structure of a loss is inspected, and afterwards every so many.
_FIRST_CALLS, _EVERY = 5, 20
# The gradient calls in which terms are read, and compared with what was read as numbers; afterwards every so many.
_EACH, _SOME = 60, 5
# A loss above this is not worth a look at the weights.
_DEEP = -10.0
# Weights that share their largest magnitude in at least this part of their elements, and in some, were clipped to it.
_CLIPPED, _FEW = 0.05, 3
_SAMPLE = 4096


class _Call:
    """An outermost gradient call for weights that is being made, and what was read from its tape."""

    def __init__(self, weights: Sequence[Parameter]) -> None:
        self.thread = threading.get_ident()
        self.is_read = True  # whether its terms are read from the tape
        self.weights = {id(weight._array): weight for weight in weights}
        self.requested = frozenset(map(id, weights))
        self.recording: Callable[[], Recording | None] | None = None
        self.last_is_requested = False  # whether the parameter used last is one of the weights
        self.root: Any = None
        self.terms: list[Term] = []
        self.compared: list[bool] = []
        self.sources = NumpySources()


class _Series:
    """The courses of one loss, and those of its terms while it has the same ones."""

    def __init__(self) -> None:
        self.calls = 0
        self.losses = Course()
        self.names: tuple[str, ...] = ()
        self.terms: list[Course] = []
        self.compared: list[bool] = []
        # Of learned weights, by the index of the term: the first factor, and whether it was never negative so far.
        self.first_factors: dict[int, float] = {}
        self.never_negative: dict[int, bool] = {}

    def add(self, loss: float, terms: Sequence[Term]) -> list[float]:
        """Add a step; return the values of the terms."""
        self.losses.add(loss)
        names = tuple(term.leaf.name for term in terms)
        if names != self.names:
            self.names, self.terms, self.compared = names, [Course() for _ in terms], []
        values = [value_of(term) for term in terms]
        for course, value in zip(self.terms, values, strict=True):
            course.add(value)
        return values


class LossTermsWatch(Watcher):
    """Check of the terms of each loss that a gradient call for weights differentiates.

    The tape is read at the beginning of the backward pass, when all of it is there.
    """

    shows = (
        FallObservation,
        DrownedObservation,
        DetachedObservation,
        AdvantageObservation,
        LearnedWeightObservation,
        LossObservation,
    )
    observes_operators = True
    observes_readings = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._call: _Call | None = None
        self._series: dict[frozenset[int], _Series] = {}
        self._lines: ByArray[tuple[str, int]] = ByArray()
        self._of_policies: set[frozenset[int]] = set()

    def weighs_by_advantages(self, requested: frozenset[int]) -> bool:
        """Return whether the loss of these weights multiplies log-probabilities by numbers of either sign."""
        return requested in self._of_policies

    # Notifications of the engine

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Begin an outermost gradient call."""
        if not taps.outer_recordings():
            self._call = call = _Call(weights)
            series = self._series.get(call.requested)
            call.is_read = series is None or series.calls < _EACH or (series.calls + 1) % _SOME == 0

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record the lines of sums, the last parameter, and what is made of values from NumPy."""
        call, recordings = self._call, taps.outer_recordings()
        if call is None or not recordings or call.thread != threading.get_ident():
            return
        if call.recording is None:
            call.recording = weakref.ref(recordings[0])
        for value in inputs:
            if isinstance(value, Parameter):
                call.last_is_requested = id(value._array) in call.weights
        if not isinstance(outputs, Tensor) or not call.is_read:
            return
        if name in ("add", "sub") and outputs._array.size <= _SAMPLE:
            frame = nearest_user_frame(sys._getframe(1))
            if frame is not None:
                self._lines.put(outputs._array, (frame.f_code.co_filename, frame.f_lineno))
        if id(outputs._array) not in recordings[0].tracked:
            call.sources.add_operator(inputs, outputs._array, recordings[0])

    def reading(self, tensor: Tensor) -> None:
        """Record a value that is read as numbers in a gradient call."""
        call, recordings = self._call, taps.outer_recordings()
        if call is not None and recordings and call.thread == threading.get_ident():
            call.sources.add_reading(tensor._array, id(tensor._array) in recordings[0].tracked)

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Read the terms of the loss from the tape, at the first operator of the backward pass."""
        call = self._call
        if call is None or call.root is not None or call.recording is None or taps.outer_recordings():
            return
        recording = call.recording()
        if recording is None or call.thread != threading.get_ident():
            return
        call.root = output
        if type(output) is tuple or id(output) not in recording.tracked or not self._attachment.own_run:
            return
        requested = call.requested
        series = self._series.setdefault(requested, _Series())
        series.calls += 1
        if not call.is_read:
            return
        nodes = [
            (made, (getattr(operator, "name", ""), values, others))
            for operator, values, made, others in recording.nodes
        ]
        producers = Producers([*nodes, (output, (name, inputs, attrs))], recording.tracked)
        call.terms = terms_of(output, producers)
        is_inspected = series.calls <= _FIRST_CALLS or series.calls % _EVERY == 0
        if is_inspected:
            call.compared = [compares_with_targets(term, producers) for term in call.terms]
            if any(has_signed_factor(term, producers) for term in call.terms):
                self._of_policies.add(requested)
            self._check_advantage(call, producers)
        if is_inspected or series.first_factors:
            self._check_learned_weights(series, call, producers)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Check the loss and its terms after a gradient call."""
        call = self._call
        if call is None or taps.outer_recordings():
            return
        self._call = None
        series = self._series.get(call.requested)
        if series is None or len(values) != 1 or values[0]._array is not call.root:
            return
        array = values[0]._array
        if array.dtype.kind not in "fV" or not array.size:
            return
        loss = number_in(array) if array.size == 1 else math.nan
        if not call.is_read:
            series.losses.add(loss)
            if array.size == 1:
                self._check_fall(series, call, [parameter for parameter, _ in pairs])
            return
        numbers = series.add(loss, call.terms)
        if call.compared:
            series.compared = call.compared
        if array.size == 1:
            self._check_fall(series, call, [parameter for parameter, _ in pairs])
        self._check_drowned(series, call)
        if series.calls <= _EACH or series.calls % _EVERY == 0:
            self._check_detached(series, call, numbers)

    # Checks

    def _observe(self, observation: Any) -> None:
        self._examiner.observe(observation, "", "loss", self._counts.steps)

    def _check_fall(self, series: _Series, call: _Call, weights: Sequence[Parameter]) -> None:
        """Check the course of the loss; not if another network judges what these weights make, as a critic does."""
        parts = series.losses.parts(_PARTS)
        if parts is None or not call.last_is_requested:
            return
        means = [sum(part) / len(part) for part in parts]
        if not all(map(math.isfinite, means)):
            return
        is_clipped = means[-1] < _DEEP and any(map(_is_clipped, weights))
        term = self._falling(series, call) if means[-1] < _DEEP else ""
        largest = max(map(abs, parts[0]))
        self._observe(FallObservation(means, largest, max(parts[-1]), series.losses.count, term, is_clipped))

    def _falling(self, series: _Series, call: _Call) -> str:
        """Return the term that falls most, in words."""
        if len(call.terms) < 2:
            return ""
        means = [_means(course) for course in series.terms]
        changes = [math.nan if parts is None else parts[-1] - parts[0] for parts in means]
        if not all(map(math.isfinite, changes)):
            return ""
        index = min(range(len(changes)), key=changes.__getitem__)
        term, parts = call.terms[index], means[index] or [math.nan]
        rest = sum(other[-1] for other in means if other is not None) - parts[-1]
        is_subtracted = term.leaf.factor < 0
        location = self._location(term)
        return (
            f"of {len(means)} terms number {index + 1}, which is {'subtracted' if is_subtracted else 'added'}, falls: "
            f"it brings {parts[-1]:.3g} of the last fifth, {parts[0]:.3g} of the first, and the other terms "
            f"{rest:.3g} of the last{f' ({location})' if location else ''}"
        )

    def _check_drowned(self, series: _Series, call: _Call) -> None:
        indices = [index for index, is_distance in enumerate(series.compared) if is_distance]
        if len(indices) < 2 or len(series.compared) != len(series.terms):
            return
        courses = {index: _means(series.terms[index]) for index in indices}
        means = {index: parts for index, parts in courses.items() if parts is not None}
        if len(means) < 2 or not all(math.isfinite(value) for parts in means.values() for value in parts):
            return
        large = max(means, key=lambda index: means[index][0])
        small = min(means, key=lambda index: means[index][0])
        term = call.terms[small]
        steps = series.terms[small].count
        factor = min(abs(term.leaf.written), abs(term.leaf.factor))
        self._observe(DrownedObservation(means[small], means[large], steps, factor, self._location(term)))

    def _check_detached(self, series: _Series, call: _Call, values: Sequence[float]) -> None:
        total = sum(map(abs, values))
        if not call.sources.has_readings or not 0 < total < math.inf:
            return
        for index, (term, value) in enumerate(zip(call.terms, values, strict=True)):
            if term.is_tracked:
                continue
            compared = call.sources.compare(term.array, series.terms[index])
            if compared is not None:
                correlation, steps, shape = compared
                source = f"a value of shape {shape} that the weights make"
                location = self._location(term)
                self._observe(DetachedObservation(abs(value) / total, value, steps, correlation, source, location))

    def _check_advantage(self, call: _Call, producers: Producers) -> None:
        attached = attached_values(call.terms, producers) if len(call.terms) > 1 else None
        if attached is None:
            self._observe(AdvantageObservation(""))
            return
        term, array = attached
        names = {key: weight.name for key, weight in call.weights.items()}
        self._observe(AdvantageObservation(nearest_weight(array, names, producers), self._location(term)))

    def _check_learned_weights(self, series: _Series, call: _Call, producers: Producers) -> None:
        """Check the factors that are learned; of those that share parameters, the one that has fallen least counts."""
        names = {key: weight.name for key, weight in call.weights.items()}
        weights = learned_weights(call.terms, names, producers)
        firsts = {index: series.first_factors.setdefault(index, weight.factor) for index, weight in weights.items()}
        for index, weight in weights.items():
            series.never_negative[index] = series.never_negative.get(index, True) and weight.is_positive
        for index, weight in weights.items():
            group = [other for other in weights if weights[other].names & weight.names]
            least = max(group, key=lambda other: weights[other].factor / max(firsts[other], 1e-30))
            if least == index:
                is_positive = all(series.never_negative[other] for other in group)
                location = self._location(call.terms[index])
                parameters = sorted(weight.names)
                self._observe(
                    LearnedWeightObservation(
                        parameters, firsts[index], weight.factor, is_positive, series.calls, location
                    )
                )

    def _location(self, term: Term) -> str:
        """Return the line where a term is added, in words."""
        line = None if term.sum_array is None else self._lines.get(term.sum_array)
        return "" if line is None else line_text(*line)


def _means(course: Course) -> list[float] | None:
    parts = course.parts(_PARTS)
    return None if parts is None else [sum(part) / len(part) for part in parts]


def _is_clipped(parameter: Parameter) -> bool:
    """Return whether many elements of a weight share its largest magnitude, as after clipping."""
    array = parameter._array
    if array.ndim < 2 or array.size < 8:
        return False
    with np.errstate(all="ignore"):
        sample = np.abs(to_host(array.reshape(-1)[:_SAMPLE]).astype(np.float64))
        largest = sample.max()
        return bool(largest > 0 and (sample >= largest * (1 - 1e-6)).sum() >= max(_FEW, _CLIPPED * sample.size))
