"""The base class of callbacks, the manager that calls several as one, and their arguments."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from ...tensors.tensor import Tensor

__all__ = ["Callback", "RunContext"]


class RunContext:
    """The argument of a callback: facts about the run, and a method to end it.

    Args:
        original_args: the facts by name.

    Raises:
        TypeError: not a dictionary.
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise TypeError(f"For 'RunContext', 'original_args' must be a dict, but got {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """Return the facts, whose entries are attributes too.

        cur_epoch_num, cur_step_num, batch_num, epoch_num, net_outputs, train_network, network, optimizer, loss_fn,
        mode, and so on.
        """
        return self._original_args

    def request_stop(self) -> None:
        """End the run after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Return whether the end of the run was requested."""
        return self._stop_requested


class InternalCallbackParam(dict[str, Any]):
    """The facts of a run: a dictionary whose entries are attributes too."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise _NoSuchFact(f"there is no '{key}' in this run's facts; there are {sorted(self)}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


class _NoSuchFact(KeyError, AttributeError):  # noqa: N818  (a KeyError for MindSpore's users, and hasattr works)
    pass


class Callback:
    """Base of the callbacks: methods that a run calls at its moments.

    Methods ``on_train_*`` and ``on_eval_*`` are called by mode. ``begin``, ``epoch_begin``, ``step_begin`` and their
    ends are called in both modes, unless the method of the mode is overridden. A callback is a context manager.
    """

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def begin(self, run_context: RunContext) -> None:
        """Run before the first epoch of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def epoch_begin(self, run_context: RunContext) -> None:
        """Run before each epoch of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def epoch_end(self, run_context: RunContext) -> None:
        """Run after each epoch of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def step_begin(self, run_context: RunContext) -> None:
        """Run before each step of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def step_end(self, run_context: RunContext) -> None:
        """Run after each step of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def end(self, run_context: RunContext) -> None:
        """Run after the last epoch of training and of evaluation.

        Args:
            run_context: the facts of the run, and the method to end it.
        """

    def on_train_begin(self, run_context: RunContext) -> None:
        """Run before the first epoch of training; calls ``begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Run before each epoch of training; calls ``epoch_begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Run after each epoch of training; calls ``epoch_end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Run before each step of training; calls ``step_begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Run after each step of training; calls ``step_end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Run after the last epoch of training; calls ``end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Run before the first epoch of evaluation; calls ``begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Run before each epoch of evaluation; calls ``epoch_begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Run after each epoch of evaluation; calls ``epoch_end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Run before each step of evaluation; calls ``step_begin`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Run after each step of evaluation; calls ``step_end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Run after the last epoch of evaluation; calls ``end`` unless overridden.

        Args:
            run_context: the facts of the run, and the method to end it.
        """
        self.end(run_context)


MOMENTS = (
    "begin",
    "epoch_begin",
    "epoch_end",
    "step_begin",
    "step_end",
    "end",
    *(
        f"on_{mode}_{moment}"
        for mode in ("train", "eval")
        for moment in ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")
    ),
)


class CallbackManager(Callback):
    """Several callbacks as one, called in their order.

    Raises:
        TypeError: neither a callback nor a list of them.
    """

    def __init__(self, callbacks: Callback | list[Callback] | None) -> None:
        if callbacks is None:
            callbacks = []
        elif isinstance(callbacks, Callback):
            callbacks = [callbacks]
        if not isinstance(callbacks, list):
            raise TypeError(f"'callbacks' must be a Callback or a list of them, but got {type(callbacks).__name__}")
        for callback in callbacks:
            if not isinstance(callback, Callback):
                raise TypeError(f"every entry of 'callbacks' must be a Callback, but got {type(callback).__name__}")
        self._callbacks: list[Callback] = list(callbacks)
        self._stack = ExitStack()

    def __enter__(self) -> CallbackManager:
        with ExitStack() as stack:
            entered = [stack.enter_context(callback) for callback in self._callbacks]
            self._stack = stack.pop_all()
        # A callback may return another in its place, as a context manager may.
        pairs = zip(self._callbacks, entered, strict=True)
        self._callbacks = [new if isinstance(new, Callback) else old for old, new in pairs]
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._stack.__exit__(*exc_info)


def _to_each(moment: str) -> Callable[[CallbackManager, RunContext], None]:
    def call(self: CallbackManager, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, moment)(run_context)

    call.__name__ = moment
    return call


for _moment in MOMENTS:
    setattr(CallbackManager, _moment, _to_each(_moment))


def loss_of(outputs: Any) -> Any:
    """Return the loss among a network's outputs: a lone tensor's mean as a float, otherwise the first output
    unchanged."""
    if isinstance(outputs, tuple | list):
        return outputs[0] if isinstance(outputs[0], Tensor) else outputs
    return float(np.mean(outputs.asnumpy())) if isinstance(outputs, Tensor) else outputs
