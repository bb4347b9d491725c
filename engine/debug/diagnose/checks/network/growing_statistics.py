"""Check of running statistics by which values are normalized: sums that grow in every step are not divided."""

from __future__ import annotations

import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hookscope.engine.tape import taps
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from .....base.module_names import is_of_the_engine
from ....record.array_table import ByArray
from ....record.capture import cell_name
from ...conditions.structure import StatisticObservation
from ..operands import sample_of
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["GrowingStatisticWatch"]

# The number of elements of a buffer that are kept of a step, and of values that are compared with it.
_STORED, _MEASURED = 64, 4096
# A statistic grows if it did in this many steps, in nearly all elements, without the steps becoming shorter.
_STEPS, _NEARLY_ALL, _NOT_SLOWER = 16, 0.9, 0.7
# Steps whose directions differ by less are those of a schedule or a counter.
_SAME_DIRECTION = 1e-3
# The buffers are looked up this many gradient calls apart.
_LOOK_UP = 10
_MOST_BUFFERS = 1_000

_Numbers = npt.NDArray[np.float64]


@dataclass(eq=False)
class _Buffer:
    """A tensor of a cell that is no trainable parameter."""

    owner: weakref.ref[Cell]
    path: str
    name: str
    last: weakref.ref[Any] | None = None
    course: deque[_Numbers] = field(default_factory=lambda: deque(maxlen=_STEPS + 1))
    steps: int = 0  # in which it has grown
    evidence: StatisticObservation | None = None  # in this gradient call

    def tensor(self) -> Tensor | None:
        owner = self.owner()
        value = None if owner is None else owner.__dict__.get(self.name)
        return value if isinstance(value, Tensor) else None

    def grows(self) -> bool:
        """Return whether it has grown in enough steps, as sums of data do."""
        if self.steps < _STEPS:
            return False
        course = np.array(self.course)
        lengths = np.diff(np.abs(course).mean(axis=1))
        half = len(lengths) // 2
        if lengths[half:].mean() < _NOT_SLOWER * lengths[:half].mean():
            return False
        changes = np.diff(course, axis=0)
        directions = changes / np.maximum(np.linalg.norm(changes, axis=1, keepdims=True), 1e-300)
        return bool(np.abs(np.diff(directions, axis=0)).max(axis=1).min() > _SAME_DIRECTION)


class _Derived(NamedTuple):
    """A value that depends on a buffer alone: whether it is a root of it, and whether a reciprocal."""

    buffer: _Buffer
    is_root: bool = False
    is_reciprocal: bool = False


class GrowingStatisticWatch(Watcher):
    """Check of buffers that a trained network writes in every step, and by which it normalizes values.

    A moving average, even one that has just begun, is at most as large as what it averages. So a statistic that grows
    without slowing, and is several times as large as the values that are divided by its root, is a sum. It is followed
    through additions of constants, powers and changes of shape alone: one that is divided by a count is another value.
    """

    shows = (StatisticObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._buffers: list[_Buffer] = []
        self._calls = 0
        self._cell_count = 0
        self._growing: list[_Buffer] = []
        self._derived: ByArray[_Derived] = ByArray()

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Follow the growing buffers to where they normalize values."""
        if not self._growing or not isinstance(outputs, Tensor) or not taps.outer_recordings():
            return
        for index, item in enumerate(inputs[:2]):
            derived = self._derived_of(item)
            if derived is None:
                continue
            other = inputs[1 - index] if len(inputs) > 1 else None
            if isinstance(other, Tensor):
                self._judge(name, index, derived, item, other)
            else:
                result = _after(name, index, derived, other)
                if result is not None:
                    self._derived.put(outputs._array, result)
            return

    def _derived_of(self, item: Any) -> _Derived | None:
        if not isinstance(item, Tensor):
            return None
        for buffer in self._growing:
            tensor = buffer.tensor()
            if tensor is not None and (item is tensor or item._array is tensor._array):
                return _Derived(buffer)
        return self._derived.get(item._array)

    def _judge(self, name: str, index: int, derived: _Derived, item: Tensor, other: Tensor) -> None:
        """Compare a buffer with the values that an operator normalizes by it."""
        is_normalization = (
            (name == "div" and index == 1 and not derived.is_reciprocal)
            or (name == "mul" and derived.is_reciprocal)
            or (name == "sub" and index == 1 and not derived.is_root and not derived.is_reciprocal)
        )
        if not is_normalization or isinstance(other, Parameter) or self._derived_of(other) is not None:
            return
        # A statistic is one for all samples, so it has no axis of them.
        shape = other.shape
        has_samples = len(shape) > 1 and shape[0] > 1 and (item.ndim < len(shape) or item.shape[0] == 1)
        tensor = derived.buffer.tensor()
        if not has_samples or tensor is None or other._array.dtype.kind not in "fV":
            return
        with np.errstate(all="ignore"):  # the user may have turned warnings into errors
            square = float(np.square(sample_of(other._array, _MEASURED)).mean())
            size = square if derived.is_root else square**0.5
            ratio = float(np.abs(sample_of(tensor._array, _STORED)).mean()) / size if size > 0 else 0.0
        buffer = derived.buffer
        if np.isfinite(ratio) and (buffer.evidence is None or ratio > buffer.evidence.ratio):
            buffer.evidence = StatisticObservation(buffer.name, buffer.steps, name, derived.is_root, ratio)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Note the buffers after a gradient call, and report those that grew."""
        if taps.outer_recordings():
            return
        requested = {id(parameter) for parameter, _ in pairs}
        if self._calls % _LOOK_UP == 0 or self._cell_count != self._paths.count:
            self._look_up(requested)
        self._calls += 1
        for buffer in self._growing:
            if buffer.evidence is not None:
                where = f"{cell_name(buffer.path)}.{buffer.name}" if buffer.path else buffer.name
                self._examiner.observe(buffer.evidence, buffer.path, where, self._counts.steps)
                buffer.evidence = None
        for buffer in self._buffers:
            self._note(buffer)
        self._growing = [buffer for buffer in self._buffers if buffer.grows()]

    def _look_up(self, requested: set[int]) -> None:
        known = {(id(buffer.owner()), buffer.name): buffer for buffer in self._buffers}
        self._buffers = []
        for root in self._paths.roots:
            if requested.isdisjoint(id(parameter) for parameter in root.get_parameters()):
                continue
            for _, cell in root.cells_and_names():
                if is_of_the_engine(type(cell)):
                    continue  # whose statistics are averages
                for name, value in tuple(cell.__dict__.items()):
                    if not isinstance(value, Tensor) or (isinstance(value, Parameter) and value.requires_grad):
                        continue
                    if value._array.dtype.kind in "fV" and value._array.size > 1 and len(self._buffers) < _MOST_BUFFERS:
                        path = self._paths.path_of(cell) or ""
                        buffer = known.get((id(cell), name)) or _Buffer(weakref.ref(cell), path, name)
                        self._buffers.append(buffer)
        self._cell_count = self._paths.count

    def _note(self, buffer: _Buffer) -> None:
        """Note the values of a buffer after a step."""
        tensor = buffer.tensor()
        array = None if tensor is None else tensor._array
        if array is None or (buffer.last is not None and buffer.last() is array):
            if buffer.steps:
                buffer.course.clear()
                buffer.steps = 0
            return
        buffer.last = weakref.ref(array)
        with np.errstate(all="ignore"):  # the user may have turned warnings into errors
            numbers = sample_of(array, _STORED).astype(np.float64)
            previous = buffer.course[-1] if buffer.course else None
            if previous is not None and previous.shape == numbers.shape:
                grown = (np.abs(numbers) >= np.abs(previous)) & (numbers * previous >= 0)
                is_grown = grown.mean() >= _NEARLY_ALL and np.abs(numbers).mean() > np.abs(previous).mean()
                if is_grown and np.isfinite(numbers).all():
                    buffer.steps += 1
                else:
                    buffer.course.clear()
                    buffer.steps = 0
        buffer.course.append(numbers)


def _after(name: str, index: int, derived: _Derived, other: Any) -> _Derived | None:
    """Return what an operator makes of a buffer and a number; None if that is another statistic."""
    if name == "rsqrt":
        return derived._replace(is_root=True, is_reciprocal=not derived.is_reciprocal)
    if name == "sqrt" or (name == "pow" and index == 0 and other == 0.5):
        return derived._replace(is_root=True)
    if name == "pow" and index == 0 and other == -0.5:
        return derived._replace(is_root=True, is_reciprocal=not derived.is_reciprocal)
    if name == "reciprocal" or (name == "div" and index == 1 and other == 1) or (name == "pow" and other == -1):
        return derived._replace(is_reciprocal=not derived.is_reciprocal)
    unchanged = ("add", "maximum", "abs", "reshape", "transpose", "broadcast_to", "cast", "stop_gradient")
    return derived if name in unchanged else None
