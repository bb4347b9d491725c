"""Infinities in the gradients of a scaled loss, which a dynamic loss scale expects: the update is skipped then.

They are held back until it is known what became of them. They are reported if an update was made with them, or if none
is ever made; a session that pauses for them does so at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.parameter import Parameter

from ..record.statistics import any_nonfinite

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from .conditions import Hit
    from .findings import HitStore
    from .producer import Producer
    from .selection import ConditionSelection

__all__ = ["Overflows"]

_HELD = ("inf", "overflow")
# A constant from here on is a loss scale.
_SCALE = 2.0
_MOST_HITS, _MOST_PARAMETERS = 1_000, 8


class Overflows:
    """Hits that are held back.

    Args:
        selection: the checked conditions.
        hit_store: receives the hits that are a fault.
    """

    loss_scales: Callable[[], tuple[float, ...]] = tuple
    """Returns the constants that the newest loss was multiplied by last."""

    def __init__(self, selection: ConditionSelection, hit_store: HitStore) -> None:
        self._selection = selection
        self._hit_store = hit_store
        self._held: list[tuple[Hit, str | None]] = []
        self._weights: list[tuple[Parameter, weakref.ref[Any]]] = []  # of these hits, with their arrays then
        self._first: dict[int, weakref.ref[Any]] = {}  # by id of a weight: the first array
        self._is_released = False  # the hits of the current gradient call
        self._was_updated = False  # the weights of the hits, before

    def hold(self, hit: Hit, origin: str | None, dtype: str, backward: bool) -> bool:
        """Hold a hit back if it is an overflow of a scaled gradient; return whether it is held.

        Args:
            hit: the hit.
            origin: the path of its origin, as for ``HitStore.keep``.
            dtype: the name of the dtype of the value.
            backward: whether the value is a gradient, or the loss.
        """
        name, producer = hit.condition.name, hit.producer
        if not backward or self._is_released or name in self._selection.pausing or len(self._held) >= _MOST_HITS:
            return False
        if producer is not None and producer.direction != "backward" and not _is_scaled_loss(producer):
            return False
        # A NaN that an infinity before it led to is a part of the overflow.
        is_overflow = name in _HELD if producer is None else not producer.output.nan
        is_half = "float16" in (dtype, producer.output.dtype if producer is not None else "")
        if not is_overflow or not (is_half or max(self.loss_scales(), default=1.0) >= _SCALE):
            return False
        self._held.append((hit, origin))
        return True

    def differentiated(self, pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Note the weights of a gradient call at its end."""
        self._is_released = False
        if self._held and not self._weights:
            chosen = [parameter for parameter, gradient in pairs if gradient is not None and _is_overflown(gradient)]
            chosen = (chosen or [parameter for parameter, _ in pairs])[:_MOST_PARAMETERS]
            self._weights = [(parameter, weakref.ref(parameter._array)) for parameter in chosen]
            self._was_updated = any(self._is_new(parameter) for parameter in chosen)
        for parameter, _ in pairs:
            self._first.setdefault(id(parameter), weakref.ref(parameter._array))

    def run_began(self) -> None:
        """Begin a run: see whether an update was made since."""
        if self._weights:
            self._judge()

    def end_session(self) -> None:
        """End the session: report hits if their weights were never updated."""
        if self._weights:
            self._judge()
        if self._held and not self._was_updated:
            self._release()
        self._held, self._weights = [], []

    def _judge(self) -> None:
        changed = [parameter for parameter, array in self._weights if parameter._array is not array()]
        if not changed:
            return
        if any(any_nonfinite(parameter._array) for parameter in changed):
            self._release()
        self._held, self._weights, self._was_updated = [], [], True

    def _release(self) -> None:
        self._is_released = True
        for hit, origin in self._held:
            self._hit_store.keep(hit, origin)
        self._held = []

    def _is_new(self, parameter: Parameter) -> bool:
        first = self._first.get(id(parameter))
        return first is not None and first() is not parameter._array


def _is_scaled_loss(producer: Producer) -> bool:
    return producer.operator == "mul" and producer.output.count == 1


def _is_overflown(gradient: Tensor) -> bool:
    return any_nonfinite(gradient._array)
