"""Steps of a training: a step begins with a gradient call for weights that were updated since the call before.

This is how a person counts in a training loop: several gradient calls whose gradients are accumulated are one step, as
are the turns of several optimizers, such as those of a GAN, and a forward pass for evaluation begins none. Before the
first gradient call for weights, each call of the network is a step. Where gradients are computed by hand and no call of
the network begins a step, an update of the same weights does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.nn.optim._existing import holds_any

from ..record.statistics import any_nonfinite

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["TrainingSteps"]

# Gradient calls without an update, in spite of an optimizer, that count as one step until the first update shows how
# many gradients are accumulated: often 2 to 16.
_MOST_ACCUMULATED = 16
# Updates of a critic before one of its generator.
_MOST_TURNS = 10


@dataclass(eq=False)
class _Turn:
    """The gradient calls for one set of weights in a step.

    Attributes:
        weights: the weights, each with its array at the newest call.
        calls: the number of calls.
        is_optimized: whether an optimizer holds one of the weights, so that an update may follow.
        is_skipped: whether a gradient was not finite, so that no update may follow.
    """

    weights: list[tuple[Parameter, Any]]
    calls: int
    is_optimized: bool
    is_skipped: bool = False

    def is_updated(self) -> bool:
        return any(parameter._array is not array for parameter, array in self.weights)


class TrainingSteps:
    """Counter that decides which gradient calls begin a step.

    Attributes:
        has_begun: whether there was a gradient call for weights.
    """

    def __init__(self) -> None:
        self.has_begun = False
        self._turns: dict[frozenset[int], _Turn] = {}  # in this step, by the ids of the weights
        self._newest: _Turn | None = None
        self._steps = 0
        self._before_phase: frozenset[int] | None = None  # of the weights before a new phase, until their next call
        self._seen: set[frozenset[int]] = set()  # the ids of the weights of all calls so far
        self._accumulated = 0  # the largest number of gradient calls before an update so far
        self._updated: set[int] = set()  # ids of the weights that optimizers have updated in this step
        self._step_of_updates = 0

    def begins(self, weights: Sequence[Parameter], forward_runs: int) -> bool:
        """Note a gradient call for weights; return whether it begins a step.

        Args:
            weights: the weights.
            forward_runs: the number of steps before the first gradient call. A single one belongs to the first step: a
                loop that computes the loss, then the gradient, or a look at the shapes.
        """
        is_first, self.has_begun = not self.has_begun, True
        key = frozenset(map(id, weights))
        turn = self._turns.get(key)
        begins = is_first and forward_runs != 1
        if turn is not None:
            if turn.is_updated():
                self._accumulated = max(self._accumulated, turn.calls)
                begins = True
            else:
                may_accumulate = turn.is_optimized and not turn.is_skipped
                begins = not may_accumulate or turn.calls >= (self._accumulated or _MOST_ACCUMULATED)
        elif key == self._before_phase:
            begins, self._before_phase = True, None  # no phase, but turns
        elif self._newest is not None and self._is_new_phase(key, self._newest):
            begins, self._before_phase = True, frozenset(id(parameter) for parameter, _ in self._newest.weights)
        if begins or is_first:
            self._steps += 1
        if begins:
            # The next turns of other optimizers belong to this step; without an update the numbers of calls go on.
            self._turns = {} if turn is None or turn.is_updated() else {key: turn}
        self._seen.add(key)
        arrays = [(parameter, parameter._array) for parameter in weights]
        self._newest = self._turns.get(key)
        if self._newest is None:
            self._newest = self._turns[key] = _Turn(arrays, 1, holds_any(weights))
        else:
            self._newest.weights = arrays
            self._newest.calls += 1
        return begins

    def _is_new_phase(self, key: frozenset[int], newest: _Turn) -> bool:
        """Return whether weights are requested for the first time, after others were trained, not in turns with these.

        Either they are more than those of the newest call, as after layers were unfrozen, or others were trained alone
        in more steps than there are turns of a critic, as before a second phase of the training.
        """
        if key in self._seen or not newest.is_updated():
            return False
        return key > {id(parameter) for parameter, _ in newest.weights} or self._steps > _MOST_TURNS

    def update_begins(self, weights: Sequence[Parameter], forward_runs: int) -> bool:
        """Note an optimizer's call; return whether it begins a step.

        It does if no gradient was ever requested, as where gradients are computed by hand, no call of the network has
        begun a step, and the weights were updated in this step before.

        Args:
            weights: the weights of the optimizer.
            forward_runs: the number of steps so far.
        """
        if self.has_begun:
            return False
        keys = set(map(id, weights))
        begins = not forward_runs or (forward_runs == self._step_of_updates and bool(keys & self._updated))
        step = forward_runs + begins
        if step != self._step_of_updates:
            self._updated, self._step_of_updates = set(), step
        self._updated |= keys
        return begins

    def note_gradients(self, gradients: Iterable[Tensor]) -> None:
        """Note the gradients of the newest call: if one is not finite, a loss scale may skip the update.

        They are read only as long as it is not known whether gradients are accumulated.
        """
        if self._newest is not None and not self._accumulated:
            self._newest.is_skipped = any(any_nonfinite(gradient._array) for gradient in gradients)
