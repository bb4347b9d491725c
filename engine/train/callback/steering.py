"""Callbacks that change the run: a learning rate by a function or on a plateau, and early stopping."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_not_negative, check_one_of, check_type
from ...base.types import Array
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from .base import Callback, InternalCallbackParam, RunContext, loss_of

__all__ = ["EarlyStopping", "LearningRateScheduler", "ReduceLROnPlateau"]

_log = logging.getLogger(__name__)
# Lower is better for these if 'mode' is "auto".
_LESS_IS_BETTER = frozenset(
    (
        "hausdorff_distance",
        "mae",
        "mse",
        "loss",
        "eval_loss",
        "perplexity",
        "mean_surface_distance",
        "root_mean_square_distance",
    )
)


class LearningRateScheduler(Callback):
    """Sets the optimizer's learning rate after each step.

    Args:
        learning_rate_function: a function from the rate and the number of the step to the next rate.
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        # The rate as printed, as in MindSpore: 0.1 and not 0.10000000149.
        text = np.array2string(facts.optimizer.learning_rate.asnumpy(), precision=8, floatmode="maxprec")
        rate = float(text)
        new = self.learning_rate_function(rate, facts.cur_step_num)
        if not math.isclose(rate, new, rel_tol=1e-10):
            facts.optimizer.learning_rate.set_data(Tensor(np.float32(new)))


class _MonitorCallback(Callback):
    """Monitors one value for improvement."""

    def __init__(self, monitor: str, mode: str, min_delta: float, patience: int, verbose: bool) -> None:
        super().__init__()
        caller = type(self).__name__
        check_type(monitor, str, caller, "monitor")
        check_one_of(mode, ("auto", "min", "max"), caller, "mode")
        check_int(patience, caller, "patience", show=repr)
        check_not_negative(patience, caller, "patience")
        check_type(min_delta, int | float, caller, "min_delta", "a number", show=repr)
        check_bool(verbose, caller, "verbose", show=repr)
        self.monitor, self.mode, self.patience, self.verbose = monitor, mode, patience, verbose
        self.min_delta = abs(min_delta)
        self._less = mode == "min" or (mode == "auto" and monitor in _LESS_IS_BETTER)
        self._start_over()

    def _start_over(self) -> None:
        self.wait = 0
        self.best: Any = np.inf if self._less else -np.inf

    def on_train_begin(self, run_context: RunContext) -> None:
        self._start_over()

    def is_improvement(self, value: Array | float, than: Array | float) -> bool:
        """Return whether ``value`` is better than ``than`` by more than ``min_delta``."""
        return bool(value < than - self.min_delta if self._less else value > than + self.min_delta)

    def _value(self, facts: InternalCallbackParam) -> Any:
        """Return the current value; if the run has none of that name, log a line and return None."""
        results = facts.get("eval_results", {})
        value = loss_of(facts.get("net_outputs")) if self.monitor == "loss" else results.get(self.monitor)
        if value is None:
            _log.warning(
                "%s watches '%s', which this run does not give; it gives %s",
                type(self).__name__,
                self.monitor,
                sorted({"loss", *results}),
            )
            return None
        value = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if value.shape != ():
            raise ValueError(f"{type(self).__name__} can watch one number, but '{self.monitor}' has {value.shape}")
        return value


class ReduceLROnPlateau(_MonitorCallback):
    """Multiplies the learning rate by ``factor`` after ``patience`` epochs without improvement of a value.

    Args:
        monitor: "loss", "eval_loss" or the name of a metric.
        factor: a float between 0 and 1.
        patience: epochs without improvement, an int of at least 0.
        verbose: whether to print a line.
        mode: whether less ("min") or more ("max") is better; "auto" by the name of the value.
        min_delta: the minimum improvement that counts.
        cooldown: epochs after a reduction that do not count.
        min_lr: the minimum learning rate.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range, or in training a learning rate that is not one number.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta, patience, verbose)
        check_type(factor, float, "ReduceLROnPlateau", "factor", show=repr)
        if not 0 < factor < 1:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' must be between 0 and 1, but got {factor}")
        if cooldown < 0 or min_lr < 0:
            raise ValueError("For 'ReduceLROnPlateau', 'cooldown' and 'min_lr' must not be negative")
        self.factor, self.cooldown, self.min_lr = factor, cooldown, min_lr
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self.cooldown_counter = 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        rate = facts.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError("ReduceLROnPlateau needs a learning rate that is one number, no schedule and no groups")
        value = self._value(facts)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(value, self.best):
            self.best, self.wait = value, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        current_rate = np.float32(rate.asnumpy())
        if current_rate > self.min_lr:
            new = Tensor(max(current_rate * np.float32(self.factor), np.float32(self.min_lr)))
            rate.set_data(new)
            if self.verbose:
                print(f"Epoch {facts.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
        self.cooldown_counter, self.wait = self.cooldown, 0


class EarlyStopping(_MonitorCallback):
    """Ends training after ``patience`` epochs without improvement of a value.

    Args:
        monitor: "loss", "eval_loss" or the name of a metric.
        min_delta: the minimum improvement that counts.
        patience: epochs without improvement, an int of at least 0.
        verbose: whether to print a line.
        mode: whether less ("min") or more ("max") is better; "auto" by the name of the value.
        baseline: only values better than this count.
        restore_best_weights: restore the parameters of the best epoch.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range, or an unknown mode.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta, patience, verbose)
        check_type(baseline, float | None, "EarlyStopping", "baseline", "a float or None", show=repr)
        if not isinstance(restore_best_weights, bool):
            raise TypeError(f"For 'EarlyStopping', 'restore_best_weights' must be a bool: {restore_best_weights!r}")
        self.baseline, self.restore_best_weights = baseline, restore_best_weights
        self.stopped_epoch = 0
        self.best_weights_param_dict: Any = None

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self.stopped_epoch, self.best_weights_param_dict = 0, None

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        facts = run_context.original_args()
        value = self._value(facts)
        if value is None:
            return
        if self.restore_best_weights and self.best_weights_param_dict is None:
            self._keep_weights(facts)
        self.wait += 1
        if self.is_improvement(value, self.best):
            self.best = value
            if self.restore_best_weights:
                self._keep_weights(facts)
            if self.baseline is None or self.is_improvement(value, self.baseline):
                self.wait = 0
        if self.wait < self.patience:
            return
        self.stopped_epoch = facts.cur_epoch_num
        run_context.request_stop()
        if self.best_weights_param_dict is not None:
            if self.verbose:
                print("Restoring model weights from the end of the best epoch.")
            for name, parameter in facts.train_network.parameters_dict().items():
                parameter.set_data(self.best_weights_param_dict[name])

    def _keep_weights(self, facts: InternalCallbackParam) -> None:
        self.best_weights_param_dict = copy.deepcopy(facts.train_network.parameters_dict())

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")
